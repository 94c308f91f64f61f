#!/usr/bin/python3
"""Packs (S13): one file of a stranger, named with -f. It gets the target at
/workdir, read-only but for what it lists, and nothing else of the host."""
import os
import re
import stat
from tap import *

HEAD = "[profile]\ndescription = a pack\n"


def pack(p, body="", name="x.profile"):
    """Writes the pack; its path."""
    return p.write(name, HEAD + body)


def refuses(p, why, body, line, *words, control=None, options=()):
    f = pack(p, body)
    has = (f + (":%d" % line if line else ""),) + words
    r = p.refused("S13 %s: refused" % why, "-f", f, *options, has=has)
    if r:
        ok("; " in r.err, "S13 %s: says how to go on" % why, r)
    if control is not None:
        pack(p, control)
        p.runs("S13 %s: control" % why, "-f", f, *options)


with Place() as p:
    f = pack(p, "[fs]\nwrite = /workdir/out\n")
    p.write("src/a.txt", "source\n")
    p.write(p.top + "/secret", "secret\n")

    # what it sees
    r = p.sh("pwd; cat src/a.txt; echo $CARREL_PROFILES $CARREL_TARGET; ls /",
             "-f", f)
    ok(r.code == 0 and r.out.startswith(
        "/workdir\nsource\n+x @sys /workdir\n") and
       set(r.out.split()[5:]) <= {"bin", "dev", "etc", "lib", "lib32", "lib64",
                                  "libx32", "proc", "sbin", "tmp", "usr",
                                  "workdir"},
       "S13 the target at /workdir, @sys and nothing else", r)
    for what in (p.home, p.proj, p.top + "/secret", p.layer, "/etc/shadow"):
        r = p.sh("cat %s || ls %s; echo %s" % (what, what, MARK), "-f", f)
        ok(MARK in r.out and "No such file" in r.err and "secret" not in r.out,
           "S13 %s is not there" % os.path.basename(what), r)
    r = p.sh("touch out/y && echo %s; touch z; touch src/z" % MARK, "-f", f)
    ok(r.code != 0 and r.out == MARK + "\n" and
       r.err.count("Read-only file system") == 2 and
       os.path.exists(p.proj + "/out/y") and
       not os.path.exists(p.proj + "/z"), "S13 S34 what it lists is writable",
       r)
    p.fs("mine", "read = %s/secret" % p.top)
    p.prints("S13 -p beside a pack", "cat %s/secret" % p.top, "secret\n",
             "-f", f, "-p", "mine")
    r = p.do("run", "-f", f, "-p", "@target", "--", "sh", "-c",
             "touch %s/byhand && echo %s" % (p.proj, MARK))
    ok(r.code == 0 and r.out == MARK + "\n", "S13 -p @target beside it", r)
    os.unlink(p.proj + "/byhand")
    p.unprofile()
    p.runs("S13 --no-defaults changes nothing", "-f", f, "--no-defaults")
    p.write(p.conf + "/config", "[carrel]\ndefaults = @own-home\n")
    r = p.sh("ls -d %s/src || echo %s" % (p.proj, MARK), "-f", f)
    ok(r.out == MARK + "\n", "S13 no default of the configuration counts", r)
    os.unlink(p.conf + "/config")
    r = p.do("shell", "-f", f, stdin=b"pwd\n")
    ok(r.out == "/workdir\n", "S13 carrel shell -f", r)
    # from where it is started, with and without -C
    r = p.do("run", "-f", "../x.profile", "--", "cat", "a.txt",
             cwd=p.proj + "/src")
    ok(r.code == 0 and r.out == "source\n", "S13 a relative path", r)
    r = p.do("run", "-f", "x.profile", "-C", "src", "--", "ls")
    ok(r.code == 0 and r.out == "a.txt\nout\n", "S13 with -C, as a shell "
       "completes it", r)
    os.rmdir(p.proj + "/src/out")
    for argv in (("explain",), ("run", "-n"), ("shell", "-n")):
        r = p.wide(*argv, "-f", f, *(["--", "true"] if argv[0] != "shell"
                                     else []))
        ok(r.code == 0 and re.search(r"(?m)^  pack +\+x +asked for with -f\n",
                                     r.out) and
           re.search(r"(?m)^  ro +/workdir from %s +read \+x\n" % p.proj,
                     r.out) and
           re.search(r"(?m)^  rw +/workdir/out from \S+ +write \+x:4\n",
                     r.out) and
           re.search(r"(?m)^  unix +no unix sockets +unix \+x\n", r.out) and
           re.search(r"(?m)^  report +fs: each write.* report \+x\n", r.out)
           and re.search(r"(?m)^  violation +makes the exit code 3 +on-violation "
                     r"\+x\n", r.out), "S90 %s -f" % " ".join(argv), r)

    # what is missing is made, by the user, and never through a link
    pack(p, "[fs]\nwrite = /workdir/a/b/c\n")
    before = tree(p.proj)
    r = p.wide("explain", "-f", f, "--", "true")
    ok(r.code == 0 and tree(p.proj) == before and
       re.search(r"(?m)^  makes +/workdir/a/b/c from ", r.out),
       "S90 explain makes nothing, and says what is made", r)
    r = p.do("run", "-f", f, "--", "sh", "-c", "touch a/b/c/x; touch a/b/x",
             umask=0o027)
    s = os.stat(p.proj + "/a/b/c")
    ok(os.path.exists(p.proj + "/a/b/c/x") and
       not os.path.exists(p.proj + "/a/b/x") and s.st_uid == UID and
       stat.S_IMODE(s.st_mode) == 0o750, "S13 a missing write is made as the "
       "user, with the umask", oct(s.st_mode), r)
    for t, why in ((p.home, "a directory"), ("/", "the root"),
                   (p.proj + "/src", "one of the tree"),
                   (p.top + "/none", "nothing")):
        os.symlink(t, p.proj + "/link")
        for body, at in (("write = /workdir/link", "link itself"),
                         ("write = /workdir/link/new", "link on the way"),
                         ("read = /workdir/link", "read of the link"),
                         ("try-read = /workdir/link/.config", "try-read"),
                         ("try-write = /workdir/link/.config", "try-write")):
            pack(p, "[fs]\n%s\n" % body)
            p.refused("S13 S36 a link to %s: %s" % (why, at), "-f", f,
                      has=("x.profile:4", "/link is a symlink"))
        os.unlink(p.proj + "/link")
    ok(not os.path.exists(p.home + "/new") and
       not os.path.exists(p.proj + "/src/new") and
       not os.path.exists(p.top + "/none"), "S13 nothing was made there")
    pack(p, "[fs]\nwrite = /workdir/link/new\n")
    p.runs("S13 a link: control", "-f", f)
    ok(os.path.isdir(p.proj + "/link/new"), "S13 control: it was made")
    # V012: nor when somebody is faster; real and link change places all along
    os.makedirs(p.proj + "/real")
    os.makedirs(p.home + "/prey")
    os.symlink(p.home + "/prey", p.proj + "/lure")
    swap = start(["python3", "-c", "import ctypes, sys\n"
                  "x = ctypes.CDLL(None).renameat2\nwhile True:\n"
                  " x(-100, b'real', -100, b'lure', 2)\n"], p.env, p.proj)
    pack(p, "[fs]\n" + "".join("write = /workdir/real/%d\n" % i
                              for i in range(40)))
    ran = refused = odd = 0
    for i in range(int(os.environ.get("CARREL_T_RACE", "60")) // 2):
        r = p.do("run", "-f", f, "--", "sh", "-c", "echo %s; for d in real/*; "
                 "do touch $d/x; done" % MARK)
        ran += MARK in r.out
        refused += r.code == OWN
        odd += "Traceback" in r.err or r.code not in (0, 1, 3, OWN)
        for d in ("/real", "/lure"):
            if not os.path.islink(p.proj + d):
                shutil.rmtree(p.proj + d + "/", ignore_errors=True)
                os.makedirs(p.proj + d, exist_ok=True)
    swap.kill()
    swap.wait()
    equal(os.listdir(p.home + "/prey"), [], "V012 S13 nothing was made behind "
          "a link that came and went", ran, refused)
    ok(refused > 0 and odd == 0, "V012 control: it was refused at times, and "
       "ran at others", ran, refused, odd)
    for d in ("/real", "/lure"):
        if os.path.islink(p.proj + d):
            os.unlink(p.proj + d)
        else:
            shutil.rmtree(p.proj + d, ignore_errors=True)
    # a refusal leaves nothing behind
    p.fs("bad", "read = %s/none" % p.top)
    pack(p, "[fs]\nwrite = /workdir/never\n")
    p.refused("S2 refused for another reason", "-f", f, "-p", "bad",
              has=("bad.profile:4",))
    ok(not os.path.exists(p.proj + "/never"), "S2 nothing was made for it")
    p.unprofile()
    pack(p, "[fs]\nwrite = /workdir/src/a.txt/x\n")
    p.refused("S13 below a file", "-f", f, has=("x.profile:4", "Not a dir"))
    os.makedirs(p.proj + "/shut")
    os.chmod(p.proj + "/shut", 0o555)
    pack(p, "[fs]\nwrite = /workdir/shut/x\n")
    p.refused("S13 where nobody may make it", "-f", f,
              has=("x.profile:4", "cannot be made: Permission denied"))
    os.chmod(p.proj + "/shut", 0o755)
    p.runs("S13 where nobody may make it: control", "-f", f)
    pack(p, "[fs]\ntry-write = /workdir/maybe\n")
    p.runs("S13 try-write makes nothing", "-f", f)
    ok(not os.path.exists(p.proj + "/maybe"), "S13 it is not made")

    # a limit that this host cannot hold
    pack(p, "[fs]\nwrite = /workdir/never\n[limits]\nmemory = 1G\n")
    r = p.do("run", "-f", f, "--", "echo", MARK)
    ok((r.code == 0) == os.path.exists(p.proj + "/never") == (MARK in r.out),
       "S2 a limit that refuses the run comes before what is made", r)

    # what it may not say
    good = "[fs]\nwrite = /workdir/out\n"
    for key in ("read", "write", "try-read", "try-write"):
        for path in ("/etc/passwd", "/", "{home}/.ssh", "/workdir-evil/x",
                     "{target}/out", "/workdir/../etc", "/workdir/{user}"):
            refuses(p, "%s = %s" % (key, path), "[fs]\n%s = %s\n" %
                    (key, path), 4, "%s = " % key,
                    control=good if key == "read" else None)
        refuses(p, "%s with another name" % key,
                "[fs]\n%s = /workdir/out -> /workdir/in\n" % key, 4,
                "another name")
    for key in ("write", "try-write"):
        refuses(p, "%s of everything" % key, "[fs]\n%s = /workdir\n" % key, 4,
                "whole target")
    for sec, line, word in (
            ("fs", "command = /usr/bin/env", "a program of the host"),
            ("fs", "socket = /run/x", "a program of the host"),
            ("fs", "device = /dev/fuse", "a device of the host"),
            ("environ.inherit", "EDITOR = yes", "a value of the host"),
            ("environ.sanitise", "PATH = yes", "a value of the host"),
            ("environ.set", "FOO = x", "a pack names no other"),
            ("environ.set", "LD_PRELOAD = /x", "is code"),
            ("environ.set", "EDITOR = {target}/x", "names a place of the "
             "host"),
            ("profile", "packs = yes", "carrel ships")):
        refuses(p, "%s in [%s]" % (line, sec), "[%s]\n%s\n" % (sec, line), 4,
                word, control="[environ.set]\nEDITOR = vi\n")
    p.fs("mine", "read = /usr")
    refuses(p, "include of the user's", "include = mine\n", 3,
            "a profile of the host or of the user",
            control="include = @home\n")
    p.unprofile()
    for name in ("@net", "@own-home", "@target", "@github"):
        refuses(p, "include = " + name, "include = %s\n" % name, 3,
                "does not say packs = yes", control="include = @sys\n")
    # and what it may include does not bring what it may not
    shipped = {}
    with root() if IS_ROOT else contextlib.nullcontext():
        for x in os.listdir(INST + "/share/carrel/profiles"):
            with open(INST + "/share/carrel/profiles/" + x) as g:
                shipped["@" + x[:-8]] = g.read()
    may = {x for x, t in shipped.items() if "\npacks = yes\n" in t}
    for name in sorted(may):
        inner = re.findall(r"(?m)^include = (\S+)$", shipped[name])
        ok(set(inner) <= may and not re.search(
            r"(?m)^(write|try-write|socket|device|allow) =", shipped[name]),
           "S13 %s is fit for packs" % name, inner)
        pack(p, "include = %s\n" % name)
        r = p.do("explain", "-f", f, "--", "true")
        ok(r.code == 0 and "included by +x" in " ".join(r.out.split()),
           "S13 a pack with " + name, r)
    ok({"@sys", "@home", "@python", "@node", "@rust", "@go"} <= may,
       "S13 the languages are for packs", may)
    for body in ("interpreter = /workdir/tool", "library = /opt/lib"):
        refuses(p, body, "[exec]\n%s\n" % body, 4, "nothing that it includes "
                "grants it", control="[exec]\ninterpreter = /usr/bin/echo\n")
    # what a profile is, a pack is too
    refuses(p, "an unknown key", "[fs]\nmask = /workdir/x\n", 4, "mask")
    refuses(p, "a long file", "#" * 300000 + "\n", 0, "256 KiB")
    p.write("x.profile", b"\xef\xbb\xbf" + HEAD.encode())
    p.refused("S14 a BOM in a pack", "-f", f, has=(f + ":1", "byte order"))
    p.write("x.profile", HEAD.encode() + b"[fs]\nread = /workdir/\x1b[1A\n")
    p.refused("S14 a control character in a pack", "-f", f, has=(f + ":4",))
    p.write("x.profile", HEAD + "[fs]\nread = /workdir/%s\n" % ("v" * 5000))
    p.refused("S16 a long value in a pack", "-f", f, has=(f + ":4", "4096"))

    # the file itself
    pack(p, good)
    for name in ("pack.ini", "X.profile", "@x.profile", ".profile"):
        g = p.write(name, HEAD + good)
        p.refused("S10 a pack called %s" % name, "-f", g, has=("NAME.profile",))
    p.refused("S13 no such pack", "-f", "none.profile", has=("no such file",))
    p.refused("S13 no such directory", "-f", "none/x.profile",
              has=("name the file",))
    p.refused("S13 a directory", "-f", "src/..", has=("-f",))
    os.symlink("x.profile", p.proj + "/y.profile")
    p.refused("S7 a link to a pack", "-f", "y.profile", has=("symbolic link",))
    os.unlink(p.proj + "/y.profile")
    os.mkfifo(p.proj + "/y.profile")
    p.refused("S7 a FIFO as a pack", "-f", "y.profile", has=("regular file",))
    os.unlink(p.proj + "/y.profile")
    os.link(p.proj + "/x.profile", p.proj + "/y.profile")
    p.refused("S7 a second name of a pack", "-f", "y.profile",
              has=("second name",))
    os.unlink(p.proj + "/y.profile")
    p.refused("S13 two packs", "-f", f, "-f", f, has=("one pack",))
    p.refused("S13 a pack by its mark", "-p", "+x", has=("not the name",))
    p.runs("S13 the file: control", "-f", f)
    # S7: what the next run reads, this one does not write
    pack(p, "[fs]\nwrite = /workdir/d\n", "d/x.profile")
    for options, at in (((), "d/x.profile"),
                        (("-p", "@target"), p.proj + "/d/x.profile")):
        r = p.do("run", "-f", "d/x.profile", *options, "--", "sh", "-c",
                 "echo %s; touch d/new; echo evil > %s; rm -f %s; mv d e; "
                 "mv %s/d %s/e" % (MARK, at, at, p.proj, p.proj))
        with open(p.proj + "/d/x.profile") as g:
            ok(MARK in r.out and "evil" not in g.read() and
               os.path.exists(p.proj + "/d/new"),
               "S7 S33b a pack in a write grant is pinned: %s" % (options,), r)
        os.unlink(p.proj + "/d/new")
    pack(p, "[fs]\nwrite = /workdir/x.profile\n")
    p.refused("S7 a pack that would write itself", "-f", f,
              has=("x.profile:4", "trusts in the next run"))

    # V014: what one run made leads no other one elsewhere
    p.write(p.home + "/.ssh/id", "CANARY\n")
    os.makedirs(p.proj + "/d/data", exist_ok=True)
    a = pack(p, "[fs]\nwrite = /workdir/d\n")
    c = pack(p, "[fs]\nwrite = /workdir/d/data\n", name="second.profile")
    p.runs("V014 the second pack: control", "-f", c)
    r = p.do("run", "-f", a, "--", "sh", "-c", "rmdir d/data && ln -s %s/.ssh "
             "d/data && echo %s" % (p.home, MARK))
    ok(r.out == MARK + "\n" and os.path.islink(p.proj + "/d/data"),
       "V014 the first run plants a link", r)
    r = p.refused("V014 S36 the second run is refused", "-f", c,
                  has=("second.profile:4", "/d/data is a symlink"))
    ok(r and "CANARY" not in r.err, "V014 and shows nothing")
    os.unlink(p.proj + "/d/data")
    # R047, V042: of the tree only the file that was named is read
    p.write("profiles.d/home.profile", HEAD + "[fs]\nread = /etc\n")
    for name in (".carrel/profiles.d/mine.profile", "mine.profile", "mine",
                 "carrel.ini", "config"):
        p.write(name, HEAD + "[fs]\nread = %s/secret\n" % p.top)
    g = pack(p, "include = @home\n")
    r = p.sh("cat %s/secret || ls /etc/shadow || echo %s" % (p.top, MARK),
             "-f", g)
    ok(r.out == MARK + "\n", "R047 what lies in a pack's tree is not read", r)
    p.refused("V042 nor by its bare name", "-f", g, "-p", "mine",
              has=("unknown profile",))

    # the home
    pack(p, good)
    for cwd, options in ((p.home, ()), (p.proj, ("-C", p.home)),
                         (p.proj, ("-C", p.top))):
        p.refused("S24 the home is no pack's target: %s" % (options,), "-f", f,
                  *options, cwd=cwd, has=("home directory",))
    p.runs("S24 the home: control", "-f", f, "-C", p.proj)

    # what comes with a pack
    pack(p, "")
    r = p.do("run", "-f", f, "--", "python3", "-c", "import socket\n"
             "print('%s', flush=True)\nsocket.socket(socket.AF_UNIX)" % MARK)
    ok(MARK in r.out and r.code == 1 and "not supported" in r.err,
       "S70 a pack has no unix sockets", r)
    r = p.do("run", "--", "python3", "-c", "import socket\n"
             "socket.socket(socket.AF_UNIX)")
    ok(r.code == 0, "S70 control: without a pack", r)
    for body, want in (("", 3), ("[audit]\non-violation = fail\n", 3),
                       ("[audit]\non-violation = kill\n", 3)):
        pack(p, "[egress]\nallow = tcp://192.0.2.1:80\n" + body)
        r = p.do("run", "-f", f, "--", "python3", "-c", "import socket, time\n"
                 "print('%s', flush=True)\ntry:\n socket.create_connection(("
                 "'192.0.2.1', 81))\nexcept OSError: time.sleep(1)" % MARK)
        equal((r.code, r.out), (want, MARK + "\n"),
              "S13 a violation fails a pack %r" % body, r)
        p.forget()
    # files are watched, too, whatever else it wants to be reported
    for body in ("", "[audit]\nreport = exec\n[exec]\nspawn = no\n"):
        pack(p, "[fs]\nwrite = /workdir/out\n" + body)
        r = p.do("run", "-f", f, "--", "python3", "-c", "import os\n"
                 "open('out/y', 'w')\nprint('%s', flush=True)\n"
                 "open('src/z', 'w')" % MARK)
        ok(r.code == 3 and r.out == MARK + "\n" and re.search(
            r'fs: create "/workdir/src/z", read = /workdir of \+x, 1 time',
            r.err), "S13 S75 a write that it does not list fails a pack %r" %
           body, r)
        r = p.do("run", "-f", f, "--", "python3", "-c", "import os\n"
                 "open('out/y', 'w')\nprint('%s', flush=True)\n"
                 "os.path.exists('src/z')" % MARK)
        equal((r.code, r.out), (0, MARK + "\n"),
              "S75 control: what it lists %r" % body, r)
        p.forget()
    # python's own attempt, and how to do without it
    p.write("mod.py", "x = 1\n")
    for body, want in (("", 3),
                       ("[environ.set]\nPYTHONDONTWRITEBYTECODE = 1\n", 0)):
        pack(p, body)
        r = p.do("run", "-f", f, "--", "python3", "-c", "import sys\n"
                 "sys.path.insert(0, '.')\nimport mod\nprint('%s')" % MARK)
        equal((r.code, r.out), (want, MARK + "\n"),
              "S13 S75 a module in a pack %r" % body, r)
        p.forget()
    p.profile("x", HEAD + "[egress]\nallow = tcp://192.0.2.1:80\n")
    r = p.do("run", "-p", "x", "--", "python3", "-c", "import socket\n"
             "try:\n socket.create_connection(('192.0.2.1', 81))\n"
             "except OSError: print('%s')" % MARK)
    equal((r.code, r.out), (0, MARK + "\n"), "S13 control: no pack", r)
    p.forget()
    p.unprofile()
    # a profile of the same name, and a flag of its version
    p.fs("x", "read = /usr")
    pack(p, "[limits]\ncpu-time = 10s\n")
    r = p.do("run", "-f", f, "-p", "x", "--", "sh", "-c",
             "ulimit -t; echo $CARREL_PROFILES")
    ok(r.out == "10\n+x @sys x\n", "S13 S12 a pack and a profile of one name",
       r)
    # any order, same bytes
    p.fs("y", "tmpfs = /opt/y")
    a = p.wide("explain", "-f", f, "-p", "x", "-p", "y", "--", "true")
    c = p.wide("explain", "-p", "y", "-f", f, "-p", "x", "-p", "y", "--",
               "true")
    ok(a.code == 0 and a.out == c.out, "S3 -f and -p in any order", a, c)
    ok(not gone(), "nothing is left behind")
done()
