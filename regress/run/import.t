#!/usr/bin/python3
"""carrel import bwrap (S93): the profile that comes of a command line is legal
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
    for bad in ([], ["bwrap"], ["frob", "x"], ["bwrap", "--"]):
        r = p.do("import", *bad)
        ok(r.code == OWN and not r.out, "S93 import %s" % " ".join(bad), r)
done()
