#!/usr/bin/python3
"""Profiles: names, layers, includes, defaults, config (S1-S24)."""
import itertools
import os
from tap import *

HOST = "/etc/carrel"

with Place() as p:
    # S24: defaults
    p.write("here", "here\n")
    p.prints("S24 the target is mounted and writable",
             'cat here; touch made; [ "$PWD" = %s ] && echo "$HOME"' % p.proj,
             "here\n%s\n" % p.home)
    ok(os.path.exists(p.proj + "/made"), "S24 and what is written stays")
    p.prints("S24 the home is empty", "ls -A ~ | grep -v proj; touch ~/x && "
             "echo can", "can\n")
    ok(not os.path.exists(p.home + "/x"), "S24 and is no real one")
    r = p.sh("ls -A; pwd; echo %s" % MARK, cwd=p.home)
    ok(r.code == 0 and "proj" not in r.out and MARK in r.out,
       "S24 started in the home: no target", r)
    r = p.sh("ls -A; echo %s" % MARK, cwd=p.top)
    ok(r.code == 0 and "home" not in r.out.split("\n")[0] or
       "CANARY" not in r.out, "S24 started above the home: no target", r)
    for d in (p.home, p.top, "/"):
        p.refused("S24 -C %s is refused with the way to go on" %
                  d.replace(p.top, "TOP"), "-C", d,
                  has=("--no-defaults", "@own-home"))
        p.refused("S24 -p @target in %s is refused" %
                  d.replace(p.top, "TOP"), "-p", "@target",
                  has=("@own-home",), cwd=d)
    r = p.do("run", "--no-defaults", "-p", "@sys", "-p", "@own-home", "--",
             "sh", "-c", "ls -A ~; touch ~/own", cwd=p.home)
    ok(r.code == 0 and "proj" in r.out and os.path.exists(p.home + "/own"),
       "S24 @own-home is the real home", r)
    r = p.do("run", "-p", "@parent", "--", "sh", "-c", "ls ..; touch ../x",
             "-C", p.proj, cwd=p.proj)
    ok(r.code == OWN and "@own-home" in r.err or "home" in r.err,
       "S24 @parent of a project in the home is refused", r)
    os.makedirs(p.proj + "/a/b")
    p.write("a/beside", "beside\n")
    r = p.do("run", "-p", "@parent", "-C", p.proj + "/a/b", "--", "sh", "-c",
             "cat ../beside; touch ../x; touch ./y")
    ok("beside" in r.out and "Read-only" in r.err and r.code == 0,
       "S24 @parent may be read", r)
    r = p.do("run", "-C", p.proj + "/none", "--", "echo", MARK)
    ok(r.code == OWN and "none" in r.err and MARK not in r.out,
       "S60 -C of a directory that is not there", r)
    r = p.do("run", "-C", p.proj + "/here", "--", "echo", MARK)
    ok(r.code == OWN and MARK not in r.out, "S60 -C of a file", r)

    # B027, B028: homes
    os.symlink(p.home, p.top + "/linkhome")
    for spelled in (p.home, p.top + "/linkhome"):
        env = dict(p.env, HOME=spelled)
        for cwd in (p.proj, p.top + "/linkhome/proj"):
            r = p.sh("cat here; ls -A ~/.config ~/../linkhome/.config %s/"
                     ".config" % p.home, env=env, cwd=cwd)
            ok(r.out == "here\n", "B027 HOME=%s cwd=%s" % (
                spelled.replace(p.top, ""), cwd.replace(p.top, "")), r)
    p.fs("h", "read = {home}/proj")
    r = p.do("run", "--no-defaults", "-p", "@sys", "-p", "h", "--", "cat",
             p.proj + "/here", env=dict(p.env, HOME=p.top + "/linkhome"))
    r2 = p.do("run", "--no-defaults", "-p", "@sys", "-p", "h", "--", "cat",
              p.proj + "/here")
    ok(r2.out == "here\n" and r.code == 0 or r.code == 1,
       "B027 {home} works in either spelling", r, r2)
    for home in (None, "", "/", "relative", "/no/such/home", "/root", "/etc",
                 "//", "/tmp/..", "/home/../" + p.home, "\x1b[2J", "/usr"):
        env = {k: v for k, v in p.env.items() if k != "HOME"}
        if home is not None:
            env["HOME"] = home
        r = p.sh('echo "H=$HOME"; ls -A /root 2>&1; ls -A / | head -40; '
                 'ls -A ~ | head; echo ' + MARK, env=env)
        inside = r.out.split("\n")[0]
        ok((r.code == 0 and MARK in r.out and inside.startswith("H=/") and
            inside not in ("H=/", "H=") or r.code == OWN and r.err) and
           "\x1b" not in r.err and ".ssh" not in r.out and
           "lost+found" not in r.out,
           "B028 HOME=%r: the database's, or refused" % home, r)

    # names
    for bad in ("a b", "a.b", "../x", "/etc/x", "", "-p", "\x1b[1A", "a" * 300,
                "A", "a/b", "a\nb", "é", "@", "@@sys", "@../x", "sys@", "a\\b",
                "x" * 64):
        p.refused("R046 -p %r is no name" % bad[:20], "-p", bad)
    p.fs("ok-name9", "read = /usr")
    p.runs("R046 control: a name", "-p", "ok-name9")
    p.fs("x" * 63, "read = /usr")
    p.runs("S10 63 characters", "-p", "x" * 63)
    p.refused("S22 unknown sys suggests @sys", "-p", "sys", has=("@sys",))
    p.refused("unknown @nosuch", "-p", "@nosuch", has=("@nosuch",))

    # V042, R047: nothing is taken from the project
    for f in ("sys.profile", "evil", "evil.profile", ".carrel/evil.profile",
              "profiles.d/evil.profile", ".config/carrel/profiles.d/"
              "evil.profile", "carrel.ini", "carrel.conf", ".carrelrc"):
        p.write(f, "[fs]\nwrite = %s\ndefaults = evil\n" % p.home)
    p.write(p.home + "/.ssh/id", "secret\n")
    p.refused("V042 a profile in the working directory is not found", "-p",
              "evil", has=("evil",))
    r = p.sh("cat ~/.ssh/id; echo " + MARK)
    ok(MARK in r.out and "secret" not in r.out,
       "R047 S7 files in the project change nothing", r)
    for f in ("sys.profile", "evil", "evil.profile", "carrel.ini",
              "carrel.conf", ".carrelrc"):
        os.unlink(p.proj + "/" + f)

    # R044, R045, S11: layers
    p.profile("@sys", "[profile]\ndescription = fake\n[fs]\nwrite = /etc\n")
    r = p.sh("touch /etc/x; cat /etc/shadow; echo " + MARK)
    ok(MARK in r.out and r.err.count("Read-only") == 1,
       "R044 a user's file cannot claim an @: it has no effect", r)
    os.unlink(p.layer + "/@sys.profile")
    p.fs("sys", "read = /usr")
    p.runs("S12 sys and @sys beside each other", "-p", "sys")
    p.unprofile("sys")
    for mode, good in ((0o666, False), (0o646, False), (0o664, None),
                       (0o644, True), (0o600, True), (0o400, True)):
        p.fs("mode", "read = /usr")
        os.chmod(p.layer + "/mode.profile", mode)
        r = p.do("run", "-p", "mode", "--", "echo", MARK)
        if good is None:
            good = PW.pw_name == __import__("grp").getgrgid(GID).gr_name
        ok((r.code == 0 and MARK in r.out) if good else
           (r.code == OWN and MARK not in r.out and "mode.profile" in r.err),
           "S11 a profile of mode %o" % mode, r)
        os.unlink(p.layer + "/mode.profile")
    os.chmod(p.layer, 0o777)
    p.fs("m", "read = /usr")
    p.refused("S11 a layer that others may write", "-p", "m",
              has=("profiles.d",))
    os.chmod(p.layer, 0o755)
    p.runs("S11 control", "-p", "m")
    p.fs("m", "read = /usr")
    os.chmod(p.layer + "/m.profile", 0)
    r = p.do("run", "-p", "m", "--", "echo", MARK)
    ok(r.code == OWN and "m.profile" in r.err, "S22 unreadable is refused", r)
    os.unlink(p.layer + "/m.profile")
    if IS_ROOT:
        p.fs("m", "read = /usr")
        with root():
            os.chown(p.layer + "/m.profile", 54321, 54321)
        p.refused("S11 a profile of another user", "-p", "m",
                  has=("m.profile",))
        with root():
            os.chown(p.layer + "/m.profile", 0, 0)
        p.runs("S11 one of root's", "-p", "m")
        with root():
            os.unlink(p.layer + "/m.profile")
    alt = p.top + "/xdg"
    p.write(alt + "/carrel/profiles.d/x.profile", "[profile]\ndescription = "
            "x\n[fs]\nread = /usr\n")
    p.runs("S11 XDG_CONFIG_HOME is honoured", "-p", "x",
           env=dict(p.env, XDG_CONFIG_HOME=alt))
    p.refused("S11 control: without it", "-p", "x", has=("x",))
    p.runs("S11 a relative XDG_CONFIG_HOME is not used",
           env=dict(p.env, XDG_CONFIG_HOME="xdg"))

    # R048: things that are no files
    os.mkfifo(p.layer + "/fifo.profile")
    r = p.do("run", "-p", "fifo", "--", "echo", MARK, timeout=20)
    ok(r.code == OWN and r.secs < 1 and "fifo.profile" in r.err,
       "R048 a FIFO as a profile: an error at once", r)
    os.unlink(p.layer + "/fifo.profile")
    os.mkdir(p.layer + "/dir.profile")
    r = p.do("run", "-p", "dir", "--", "echo", MARK)
    ok(r.code == OWN and "dir.profile" in r.err, "R048 a directory", r)
    os.rmdir(p.layer + "/dir.profile")
    os.symlink("/dev/zero", p.layer + "/zero.profile")
    r = p.do("run", "-p", "zero", "--", "echo", MARK, timeout=20)
    ok(r.code == OWN and r.secs < 1, "R048 a link to a device", r)
    os.unlink(p.layer + "/zero.profile")

    # S18, R049: includes
    def inc(name, *names, fs=()):
        p.profile(name, "[profile]\ndescription = x\n" +
                  "".join("include = %s\n" % n for n in names) +
                  ("[fs]\n" + "".join(f + "\n" for f in fs) if fs else ""))
    os.makedirs(p.top + "/leaf")
    p.write(p.top + "/leaf/f", "leaf\n")
    inc("leaf", fs=["read = %s/leaf" % p.top])
    inc("l", "leaf")
    inc("r", "leaf", "@sys")
    inc("top", "l", "r")
    r = p.do("run", "--no-defaults", "-p", "top", "--", "cat",
             p.top + "/leaf/f")
    ok(r.out == "leaf\n", "S18 a diamond is fine", r)
    inc("c1", "c2")
    inc("c2", "c3")
    inc("c3", "c1")
    p.refused("R049 a cycle is printed", "-p", "c1", has=("c1", "c2", "c3"))
    inc("self", "self")
    p.refused("R049 a self include", "-p", "self", has=("self",))
    inc("lost", "nowhere")
    p.refused("an include that is not there", "-p", "lost",
              has=("nowhere", "lost.profile"))
    inc("lost2", "sys")
    p.refused("S22 an include of sys suggests @sys", "-p", "lost2",
              has=("@sys",))
    for i in range(1000):
        inc("deep%d" % i, "deep%d" % (i + 1))
    inc("deep1000", fs=["read = /usr"])
    r = p.do("run", "-p", "deep0", "--", "echo", MARK, timeout=20)
    ok(r.code == OWN and MARK not in r.out and r.secs < 1,
       "R049 1,000 deep: refused at once", r)
    p.runs("R049 control: 50 deep", "-p", "deep950")
    p.unprofile()

    # R039, S21: what was put in is not looked at again
    for n in ("{home}", "{target}", "{user}x", "a{tmp}"):
        d = p.proj + "/" + n
        p.write(d + "/in" + p.home + "/f", "odd\n")
        p.fs("exp", "write = {target}/in")
        r = p.do("run", "--no-defaults", "-p", "@sys", "-p", "exp", "-C", d,
                 "--", "sh", "-c", "cat '%s/in%s/f'; ls -A %s/.config" %
                 (d, p.home, p.home), timeout=10)
        ok(r.out == "odd\n" and "No such file" in r.err and r.secs < 2,
           "R039 S21 a directory named %s" % n, r)
    p.fs("exp", "read = {home}/.ssh", "tmpfs = {tmp}/{user}-{uid}",
         "symlink = /opt/t -> {target}")
    r = p.sh("cat ~/.ssh/id; ls -d /tmp/%s-%d; readlink /opt/t" % (USER, UID),
             "-p", "exp")
    equal(r.out, "secret\n/tmp/%s-%d\n%s\n" % (USER, UID, p.proj),
          "S21 placeholders", r)
    p.unprofile("exp")

    # B007, S35
    p.fs("req", "read = %s/missing" % p.top)
    p.refused("B007 S35 a required path that is missing", "-p", "req",
              has=("missing", "req", "req.profile:4"))
    p.fs("opt", "try-read = %s/missing" % p.top,
         "try-write = %s/missing2/x" % p.top)
    p.runs("B007 an optional one is left out", "-p", "opt")
    ok(not os.path.exists(p.top + "/missing2"), "B007 and not made")
    r = p.wide("explain", "-p", "opt", "--", "true")
    ok(r.code == 0 and "missing" in r.out, "B007 explain shows it", r)
    p.unprofile()

    # S3, S4: any order, twice
    for n in ("aa", "bb", "cc", "dd"):
        os.makedirs(p.top + "/" + n)
        p.write(p.top + "/" + n + "/f", n + "\n")
    p.fs("a", "read = %s/aa" % p.top, "read = %s/bb" % p.top)
    p.fs("b", "write = %s/bb" % p.top)
    p.fs("c", "read = %s/cc" % p.top, "tmpfs = /opt/x")
    seen = set()
    for order in itertools.permutations("abc"):
        argv = [x for n in order for x in ("-p", n)] + ["-p", order[0]]
        r = p.wide("explain", *argv, "--", "true")
        seen.add((r.code, r.out, r.err))
    ok(len(seen) == 1 and [*seen][0][0] == 0,
       "R040 explain is the same for every order", len(seen))
    r = p.sh("cat %(t)s/aa/f %(t)s/bb/f; touch %(t)s/bb/x && touch %(t)s/aa/x"
             % {"t": p.top}, "-p", "a", "-p", "b")
    ok(r.out == "aa\nbb\n" and "Read-only" in r.err and
       os.path.exists(p.top + "/bb/x"), "S32 grants join, write wins", r)

    # S19, S20: config
    conf = p.conf + "/config"
    p.fs("extra", "read = %s/cc" % p.top)
    p.write(conf, "[carrel]\ndefaults = @sys\ndefaults = extra\n")
    r = p.sh("cat %s/cc/f; ls -A ~" % p.top)
    ok(r.out == "cc\n" and "proj" not in r.out,
       "S19 S20 the user's list of defaults replaces the built-in one", r)
    r = p.do("run", "-p", "@target", "--", "cat", "here")
    ok(r.out == "here\n", "S19 -p adds to the configured defaults", r)
    r = p.do("run", "--no-defaults", "-p", "@sys", "--", "cat",
             p.top + "/cc/f")
    ok(r.code == 1, "S19 --no-defaults starts from nothing", r)
    for text, why in (("[carrel]\ndefaults = nosuch\n", "nosuch"),
                      ("[carrel]\ndefaults = @sys\nfrob = 1\n", "frob"),
                      ("[fs]\nread = /etc\n", "fs"),
                      ("[profile]\ninclude = @sys\n", "profile"),
                      ("defaults = @sys\n", ":1"),
                      ("[carrel]\ndefaults\n", ":2"),
                      ("[carrel]\n= x\n", ":2"),
                      ("[carrel]\ndefaults =\ndefaults = @sys\n", ":3"),
                      ("[carrel]\ndefaults = @sys\0\n", ":2"),
                      ("[carrel]\nprompt = {home}\n", "prompt"),
                      ("x" * 300000, "config")):
        p.write(conf, text)
        r = p.do("run", "--", "echo", MARK)
        ok(r.code == OWN and MARK not in r.out and "config" in r.err and
           why in r.err, "S20 a broken config is fatal: %r" % text[:20], r)
    os.chmod(conf, 0)
    p.refused("S20 an unreadable config is fatal", has=("config",))
    os.chmod(conf, 0o644)
    p.write(conf, "[carrel]\ndefaults =\n")
    r = p.do("run", "--", "/bin/true")
    ok(r.code == NOTFOUND, "S19 an empty list means none", r)
    os.unlink(conf)
    p.runs("S20 control: an absent one is not")

    # S22: one broken file
    p.profile("broken", "[fs]\nread = /usr\nnonsense\n")
    p.refused("R043 the broken one", "-p", "broken",
              has=("broken.profile:3",))
    inc("uses", "broken")
    p.refused("R043 one that includes it", "-p", "uses",
              has=("broken.profile",))
    p.unprofile("uses", "broken")

    # R076: big and hostile input
    for name, text in (
            ("a long value", "[fs]\nread = /" + "a" * (1 << 20) + "\n"),
            ("a long pattern", "[fs]\nread = /" + "*" * 10000 + "\n"),
            ("10,000 includes", "[profile]\n" + "".join(
                "include = x%d\n" % i for i in range(10000))),
            ("nested quotes", '[fs]\nread = ' + '"' * 3000 + "\n"),
            ("10,000 sections", "[fs]\n" * 10000 + "bad\n"),
            ("a long name", "[" + "f" * 200000 + "]\n"),
            ("257 KiB", "[fs]\n" + "; x\n" * 65800)):
        p.profile("big", text)
        r = p.do("run", "-p", "big", "--", "echo", MARK, timeout=30)
        ok(r.code == OWN and MARK not in r.out and r.secs < 1 and
           len(r.err) < 20000, "R076 %s: refused within a second" % name, r)
    p.unprofile("big")

    # B010: many grants
    for i in range(2000):
        p.write(p.top + "/many/%d" % i, "%d\n" % i)
    p.fs("many", *["read = %s/many/%d" % (p.top, i) for i in range(2000)])
    r = p.do("run", "-p", "many", "--", "sh", "-c",
             "cat %s/many/1999; ls %s/many | wc -l" % (p.top, p.top))
    ok(r.out == "1999\n2000\n", "B010 2,000 grants of single files", r)

    # the host's layer
    if IS_ROOT:
        def hosted(script, *argv):
            """A private /etc with etc/carrel as the script makes it; carrel
            as the user."""
            pre = """set -e
mount -t tmpfs none /mnt
# but for locks, which come and go
tar -C /etc --exclude='*.lock' -cf - . | tar -C /mnt -xf -
mount --bind /mnt /etc
umask 022
mkdir -p /etc/carrel/profiles.d
cd /etc/carrel
%s
cd %s
exec setpriv --reuid %d --regid %d --init-groups \\
    env -i HOME=%s PATH=/usr/bin:/bin "$@"
""" % (script, p.proj, UID, GID, p.home)
            with root():
                return finish(subprocess.Popen(
                    ["unshare", "-m", "sh", "-c", pre, "sh", CARREL,
                     *argv], stdin=-3, stdout=-1, stderr=-1, cwd="/"))
        body = "printf '[profile]\\ndescription = h\\n[fs]\\nread = %s/dd\\n'" \
            % p.top
        probe = ("--", "cat", p.top + "/dd/f")
        r = hosted(body + " > profiles.d/hp.profile", "run", "-p", "hp",
                   *probe)
        ok(r.out == "dd\n", "S11 a host profile", r)
        for what, spoil in (
                ("a user's file", "chown %d profiles.d/hp.profile" % UID),
                ("a file that a group may write",
                 "chmod 664 profiles.d/hp.profile"),
                ("a user's directory", "chown %d profiles.d" % UID),
                ("a directory that all may write", "chmod 777 profiles.d")):
            r = hosted(body + " > profiles.d/hp.profile; " + spoil, "run",
                       "-p", "hp", *probe)
            ok(r.code == OWN and "dd\n" not in r.out and "profiles.d" in r.err,
               "S11 V043 host layer, %s: refused" % what, r)
        p.fs("hp", "read = %s/aa" % p.top)
        r = hosted(body + " > profiles.d/hp.profile", "run", "-p", "hp",
                   "--", "echo", MARK)
        ok(r.code == OWN and MARK not in r.out and
           "/etc/carrel/profiles.d/hp.profile" in r.err and
           p.layer + "/hp.profile" in r.err,
           "R045 S12 one name in two layers: refused, both files named", r)
        p.unprofile("hp")
        r = hosted(body + " > profiles.d/hp.profile; printf '[carrel]\\ndefaults = @sys\\n"
                   "defaults = hp\\n' > carrel.conf", "run", *probe)
        ok(r.out == "dd\n", "S20 the host's defaults", r)
        p.write(conf, "[carrel]\ndefaults = @sys\n")
        r = hosted(body + " > profiles.d/hp.profile; printf '[carrel]\\ndefaults = @sys\\n"
                   "defaults = hp\\n' > carrel.conf", "run", *probe)
        ok(r.code == 1, "S20 the user's defaults replace the host's", r)
        os.unlink(conf)
        r = hosted("echo frob > carrel.conf", "run", "--", "echo", MARK)
        ok(r.code == OWN and "carrel.conf" in r.err and MARK not in r.out,
           "S20 a broken host config is fatal", r)
done()
