#!/usr/bin/python3
"""carrel why (S93): which grant makes something visible, writable, executable
or reachable, or which profile would and the line to add. What it says is what
a run does."""
import json
from tap import *

with Place() as p:
    def why(*argv, code=0, **kw):
        """The rows before the hints, and all of it."""
        r = p.wide("why", *argv, **kw)
        rows = [x.split(None, 1) for x in r.out.split("\n\n")[0].split("\n")
                if x.startswith("  ")]
        if not (r.code == code and r.out.startswith("WHY  ") == (code == 0)):
            ok(False, "S93 why %s: exit %d" % (" ".join(argv), code), r)
        return rows, r

    def says(name, rows, r, *want):
        ok(all(any(tag == row[0] and text in row[1] for row in rows)
               for tag, text in want), "S93 " + name, want, rows, r)

    def inside(script, *options):
        return p.do("run", *options, "--", "sh", "-c", script).code == 0

    p.write("file", "x")
    p.profile("m", "[profile]\ndescription = d\n[fs]\n"
              "read = /usr/share -> /s\nwrite = {target}/file -> /w\n"
              "symlink = /l -> s\ntmpfs = /scratch\n"
              "[environ.set]\nEDITOR = vi\n"
              "[environ.merge]\nPATH = /s\n"
              "[egress]\nallow = https://*.A.example:443\n"
              "allow = tcp://10.1.2.3:9 private\n")
    p.fs("other", "try-read = /opt")

    # what it says of a path is what a run finds
    for path, options in (
            ("/usr/bin/env", ()), ("/bin/sh", ()), ("/etc/shadow", ()),
            ("/etc/passwd", ()), ("/s", ("-p", "m")), ("/s", ()),
            ("/w", ("-p", "m")), ("/l", ("-p", "m")),
            ("/scratch", ("-p", "m")), ("/dev/null", ()), ("/proc/self", ()),
            (p.proj + "/file", ()), (p.proj + "/none", ()), (p.home, ()),
            (p.home + "/.ssh", ()), ("/opt", ("-p", "other")), ("/opt", ()),
            ("/", ()), ("/root", ())):
        rows, r = why(*options, path)
        seen = any(x[0] == "yes" and x[1].startswith("visible") for x in rows)
        j = json.loads(p.do("why", "--json", *options, path).out)
        ok(seen == inside("[ -e %s ]" % path, *options) == j["granted"],
           "S93 why %s %s: visible is what a run sees" % (
               " ".join(options), path.replace(p.top, "")), rows, r)
        writable = any(x[0] == "yes" and x[1].startswith("writable")
                       for x in rows)
        if path not in ("/dev/null", "/proc/self") and seen:
            ok(writable == inside("[ -w %s ]" % path, *options),
               "S93 and writable, too: %s" % path.replace(p.top, ""), rows, r)
        ok(seen or "ADD" in r.out or path.startswith(p.proj),
           "S93 where it is not, what to add: %s" % path.replace(p.top, ""),
           r)
    rows, r = why("-p", "m", "/w")
    says("with who granted it", rows, r, ("yes", "write m:5"))
    rows, r = why("-p", "m", "/l/doc")
    says("through a link", rows, r, ("link", "/l -> s"),
         ("yes", "/usr/share/doc"), ("no", "writable"))
    rows, r = why("/opt")
    ok("user      other: try-read = /opt" in r.out and
       "[fs]      read = /opt\n" in r.out, "S93 which profile would", r)
    rows, r = why("-p", "other", "/opt")
    ok("\nPROFILES" not in r.out, "S93 and not if it takes part", r)
    rows, r = why("/usr/bin/env")
    ok("@sys" in r.out and "executable" in r.out, "S93 executable", r)
    p.profile("lock", "[profile]\ndescription = d\n[exec]\n"
              "interpreter = /usr/bin/env\n")
    rows, r = why("-p", "lock", "/usr/bin/env")
    says("an interpreter", rows, r, ("yes", "executable"))
    rows, r = why("-p", "lock", "/usr/bin/id")
    says("and what is none", rows, r, ("no", "executable"))
    rows, r = why("/etc/shadow")
    ok("cannot read it yourself" in r.out, "S93 what no grant changes", r)
    for path in ("/sys/kernel", "/proc/kcore"):
        rows, r = why(path)
        ok("ADD" not in r.out or "never" in r.out, "S37 never: " + path, r)

    # hosts
    for host, options, granted, want in (
            ("b.a.example", ("-p", "m"), 1, "allow m:13"),
            ("B.A.Example.:443", ("-p", "m"), 1, "allow m:13"),
            ("b.a.example:80", ("-p", "m"), 0,
             "allow = http://b.a.example:80"),
            ("a.example", ("-p", "m"), 0, "allow = https://a.example:443"),
            ("c.a.example", (), 0, "m: allow = https://*.A.example:443"),
            ("github.com", (), 0, "@github: allow"),
            ("github.com:22", ("-p", "@net"), 1, "allow @net:"),
            ("10.1.2.3:9", ("-p", "m"), 1, "private addresses, too"),
            ("10.1.2.3:8", ("-p", "@net"), 0,
             "allow = tcp://10.1.2.3:8 private"),
            ("[fe80::1]:22", (), 0, "never"),
            ("[2a00::1]:22", (), 0, "allow = tcp://[2a00::1]:22"),
            ("2a00::1", ("-p", "@net"), 1, "allow @net"),
            ("127.0.0.1:80", ("-p", "@net"), 0, "never")):
        rows, r = why(*options, host)
        j = json.loads(p.do("why", "--json", *options, host).out)
        ok(any(x[0] == "yes" for x in rows) == bool(granted) == j["granted"]
           and want in r.out, "S93 why %s %s" % (" ".join(options), host), r)

    # variables
    for name, options, granted, want in (
            ("PATH", (), 1, "/usr/bin"), ("PATH", ("-p", "m"), 1, "merge m:"),
            ("EDITOR", ("-p", "m"), 1, "set to vi"),
            ("EDITOR", (), 0, "m: EDITOR = vi"),
            ("CI", (), 0, "CI = yes"), ("HOME", (), 1, "(carrel)"),
            ("CARREL_X", (), 0, ""), ("PYTHONPATH", (), 0, "PYTHONPATH")):
        rows, r = why(*options, "$" + name)
        ok(any(x[0] == "yes" for x in rows) == bool(granted) and
           want in r.out and granted == inside('[ "${%s+x}" ]' % name,
                                               *options),
           "S93 why %s $%s" % (" ".join(options), name), r)
    p.profile("tok", "[environ.inherit]\nGITHUB_TOKEN = yes\n")
    r = p.do("why", "-p", "tok", "$GITHUB_TOKEN",
             env=dict(p.env, GITHUB_TOKEN="s3cret"))
    ok(r.code == 0 and "s3cret" not in r.out and "not shown" in r.out,
       "S57 a credential is not shown", r)

    # what is no question, and what has no answer
    for bad in (["a/b"], ["/usr/"], ["/usr/../etc"], ["$1"], ["$"], ["a b"],
                ["host:0"], ["host:99999"], ["host:x"], [], ["/usr", "/etc"],
                [""], ["--run"], ["--run", "x", "-p", "m", "/usr"]):
        r = p.do("why", *bad)
        ok(r.code == OWN and not r.out and r.err.startswith("carrel: "),
           "S93 why %s is refused" % " ".join(bad), r)
    p.fs("no", "read = /srv/none/there")
    r = p.do("why", "-p", "no", "/usr")
    ok(r.code == OWN and not r.out and "no.profile" in r.err,
       "S93 of a run that would not start there is no answer", r)
    p.profile("broken", "frob\n")
    r = p.do("why", "/opt")
    ok(r.code == 0 and "broken.profile" in r.err and "other: try-read" in
       r.out, "S22 a bad file is told, and the rest is looked at", r)
done()
