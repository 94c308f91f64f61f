#!/usr/bin/python3
"""carrel import bwrap and firejail (S93): the profile that comes of a command line is legal
and gives the same; what cannot be said is a remark."""
from tap import *

with Place() as p:
    p.write("in/file", "inside\n")
    words = ["--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin",
             "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64",
             "/lib64", "--proc", "/proc", "--dev", "/dev",
             "--bind", p.proj + "/in", "/src", "--size", "1048576",
             "--tmpfs", "/scratch", "--ro-bind-try", "/none/there", "/none",
             "--setenv", "EDITOR", "a", "--setenv", "PAGER", "less",
             "--setenv", "LESS", "-R", "--unsetenv", "LESS", "--clearenv",
             "--setenv", "EDITOR", "b", "--setenv", "EDITOR", "vi x",
             "--unshare-all",
             "--die-with-parent"]
    r = p.do("import", "bwrap", "--", *words, "/bin/true", "--bind")
    undone = ["; --setenv %s: an option behind it counts" % x for x in
              ("EDITOR a", "PAGER less", "LESS -R", "EDITOR b")]
    ok(r.code == 0 and not r.err and undone == [
        x for x in r.out.splitlines() if x.startswith("; --")] and
       "/bin/true" in r.out, "S93 all of it can be said", r)
    p.profile("imp", r.out)
    v = p.do("profile", "validate", "imp")
    ok(v.code == 0, "S93 it is legal", v, r.out)
    r = p.do("run", "--no-defaults", "-p", "imp", "--", "sh", "-c",
             "cat /src/file; touch /src/new /scratch/x; echo $EDITOR; "
             "touch /usr/x 2>/dev/null || echo ro; ls /")
    ok(r.code == 0 and r.out.startswith("inside\nvi x\nro\n") and
       os.path.exists(p.proj + "/in/new") and "scratch" in r.out and
       "none" not in r.out.split(), "S93 and a run has the same view", r)

    r = p.do("import", "bwrap", "--", "--ro-bind", "/", "/", "--hostname",
             "x", "--cap-add", "ALL", "--bind", "/a\"b", "/b", "--tmpfs",
             "/proc/x", "--setenv", "BAD NAME", "x", "--setenv", "HOME", "/x", "--uid", "0",
             "--dev-bind", "/srv", "/srv")
    ok(r.code == 0 and all("; " + x in r.out for x in (
        "--ro-bind / /: is the whole host", "--hostname x", "--cap-add ALL",
        "--bind /a\"b", "--tmpfs /proc/x", "--setenv BAD NAME", "--setenv HOME", "--uid 0",
        "--dev-bind /srv")), "S93 what cannot be said is a remark", r)
    ok("allow = *" in r.out and "[environ.inherit]" in r.out,
       "S93 and what bubblewrap does without being told", r)
    p.profile("imp", r.out)
    v = p.do("profile", "validate", "imp")
    ok(v.code == 0, "S93 which leaves a legal profile", v)
    r = p.do("import", "bwrap", "--", "--setenv", "LD_PRELOAD", "/x.so",
             "--size", "1", "--tmpfs", "/a", "--size", "0005000", "--tmpfs",
             "/b", "--symlink", "x", "/a->b")
    ok(r.code == 0 and "; --setenv LD_PRELOAD /x.so: is code: " in r.out and
       "; --size 1 : a tmpfs has" in r.out and "tmpfs = /a\n" in r.out and
       "tmpfs = /b size=5000\n" in r.out and
       'symlink = "/a->b" -> x\n' in r.out, "S93 nor what is refused", r)
    p.profile("imp", r.out)
    v = p.do("profile", "validate", "imp")
    ok(v.code == 0, "S93 and that is legal, too", v)
    r = p.do("import", "bwrap", "--", "--bind", b"/x\x1b[2J\xff", "/x",
             "--setenv", "A", b"\x1b[m", "--hostname", b"a\nb = c")
    ok(r.code == 0 and "\x1b" not in r.out and "\nb = c" not in r.out and
       "\\x1b" in r.out, "S92 nothing raw, and no line of another's", r)
    for bad, want in ((["--frob"], "--frob"), (["--bind", "/x"], "--bind"),
                      (["--setenv"], "--setenv")):
        r = p.do("import", "bwrap", "--", *bad)
        ok(r.code == OWN and want in r.err and not r.out,
           "S93 %s is refused" % " ".join(bad), r)
    # firejail
    os.makedirs(p.home + "/Downloads/ro")
    p.write(p.home + "/ro/f", "ro\n")
    p.write(p.home + "/other", "not granted\n")
    text = ("# a comment\nquiet\ninclude x.local\nnoblacklist ${HOME}/x\n"
            "blacklist ${HOME}/other\nblacklist ${RUNUSER}\n"
            "whitelist ${HOME}/Downloads\nread-only ~/Downloads/ro\n"
            "whitelist ${HOME}/ro/\nread-only ${HOME}/ro\n"
            "whitelist ${HOME}/not there\ncaps.drop all\nnonewprivs\n"
            "seccomp\nprotocol unix,inet\nprivate-tmp\nprivate-dev\n"
            "private-etc passwd,ssl\nnet none\nenv EDITOR=vi x\n"
            "tmpfs /scratch\nrlimit-nofile 64\ntimeout 00:01:02\n")
    p.write("fj", text)
    r = p.do("import", "firejail", "fj")
    notes = [x for x in r.out.split("\n") if x.startswith("; line ")]
    ok(r.code == 0 and not r.err and len(notes) == 1 and
       notes[0].startswith("; line 3: include x.local"),
       "S93 firejail: what can be said is", r)
    p.profile("imp", r.out)
    v = p.do("profile", "validate", "imp")
    ok(v.code == 0, "S93 firejail: it is legal", v, r.out)
    r = p.do("run", "-p", "imp", "--", "sh", "-c",
             "touch ~/Downloads/new /scratch/x; cat ~/ro/f; ls -A ~; "
             "touch ~/ro/x 2>/dev/null || echo ro1; "
             "touch ~/Downloads/ro/x 2>/dev/null || echo ro2; "
             "ulimit -n; echo $EDITOR; head -1 /etc/passwd | grep -c %s; "
             "ls /etc/ssl >/dev/null && echo ssl" % USER)
    ok(r.code == 0 and r.out.split("\n")[:-1] == [
        "ro", "Downloads", "proj", "ro", "ro1", "ro2", "64", "vi x", "1",
        "ssl"] and os.path.exists(p.home + "/Downloads/new"),
       "S93 firejail: and a run has that view", r)
    p.write("fj", "whitelist ${HOME}\nwhitelist ${HOME}/*.x\n"
            "whitelist ${DOWNLOADS}\nread-only /\nread-only /proc\n"
            "env HOME=/x\nenv BAD NAME=x\nrlimit-nofile 0\ntimeout 9\n"
            "net eth0\nblacklist /usr/bin/sudo\nmkdir ~/x\nbind /a,/proc\n"
            "bind /usr/share,/s\ncaps.keep all\n?X: quiet\n"
            "whitelist /a\"b\nprotocol netlink\nwhitelist /srv/\x1b[2J\xff\n")
    r = p.do("import", "firejail", "--", "fj")
    ok(r.code == 0 and all("; line %d: " % i in r.out for i in (
        1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 15, 16, 17, 19)) and
       "; blacklist /usr/bin/sudo: " in r.out and "\x1b" not in r.out and
       "unix = no" in r.out and "allow" not in r.out and
       "try-write = /usr/share -> /s" in r.out,
       "S93 firejail: what cannot be said is a remark", r)
    p.profile("imp", r.out)
    v = p.do("profile", "validate", "imp")
    ok(v.code == 0, "S93 firejail: which leaves a legal profile", v, r.out)
    p.write("fj", "noroot\n")
    r = p.do("import", "firejail", "fj")
    ok("allow = *" in r.out and "home was shown as a whole" in r.out,
       "S93 firejail: what it does without being told", r)
    for name, data in (("frob it", "quiet\nfrob it\n"),
                       ("a case", "Quiet\n"), ("a NUL", "quiet\n\0\n"),
                       ("too much", "#" * 300000)):
        p.write("fj", data)
        r = p.do("import", "firejail", "fj")
        ok(r.code == OWN and r.err.startswith("carrel: ") and not r.out,
           "S93 firejail: %s is refused" % name, r)
    os.mkfifo(p.proj + "/fifo")
    for bad in ("fifo", ".", "none"):
        r = p.do("import", "firejail", bad, timeout=10)
        ok(r.code == OWN and bad in r.err and not r.out,
           "S93 firejail: %s is refused" % bad, r)
    for bad in (["firejail"], ["firejail", "a", "b"], ["firejail", "--"]):
        r = p.do("import", *bad)
        ok(r.code == OWN and not r.out, "S93 import %s" % " ".join(bad), r)
    for bad in ([], ["bwrap"], ["frob", "x"], ["bwrap", "--"]):
        r = p.do("import", *bad)
        ok(r.code == OWN and not r.out, "S93 import %s" % " ".join(bad), r)
    # what the reader would refuse does not get into the profile
    p.write("odd", "env A=b\nenv A=c\nenv LD_PRELOAD=/x\n"
            "rlimit-nofile 999999999\nrlimit-nofile 64\n"
            "rlimit-nofile 65\ntimeout 00:00:05\ntimeout 99:00:00\n")
    r = p.do("import", "firejail", "odd")
    ok(r.code == 0 and "A = b\n" in r.out and "open-files = 64\n" in r.out and
       all("; line %d: " % n in r.out for n in (2, 3, 4, 6, 8)) and
       all("; line %d: " % n not in r.out for n in (1, 5, 7)),
       "S93 firejail: what is refused, and what stands twice, is a remark", r)
    p.profile("imp", r.out)
    v = p.do("profile", "validate", "imp")
    ok(v.code == 0, "S93 firejail: that is legal, too", v, r.out)
done()
