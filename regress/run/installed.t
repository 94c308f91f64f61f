#!/usr/bin/python3
"""profile list, show, tree and dot, and config: what is installed (S22, S90,
S92, S93). One file that does not parse takes no other one down."""
import json
import os
import random
import re
from tap import *

SHIPPED = sorted("@" + x[:-8] for x in os.listdir(
    INST + "/share/carrel/profiles") if x.endswith(".profile"))
SCREENS = (["profile", "list"], ["profile", "tree"], ["profile", "dot"],
           ["config"], ["profile", "show", "@sys"])


def keys():
    """Every key that a profile of the user can hold, with a value for it:
    of the table of the parser, so that a new key is here or this fails."""
    with open(SRC + "/child/parser/format.c") as f:
        table = f.read().split("format_profile[] = {")[1].split("};")[0]
    rows = re.findall(r'\{"([\w.]+)", (?:"([\w-]+)"|NULL), \w+, \w+, (\w+)\}',
                      table)
    return [(s, k) for s, k, layers in rows if layers != "OF_CARREL"]


VALUES = {
    "include": "@sys", "tier": "side-effect", "tmpfs": "/t1",
    "symlink": "/l1 -> usr", "command": "/usr/bin/env -> e1",
    "socket": "/srv/s1", "device": "/dev/kvm", "interpreter": "/usr/bin/env",
    "library": "/usr/lib", "spawn": "no", "unix": "no", "once": "yes",
    "memory": "1G", "processes": "5", "cpu": "50%", "cpu-time": "5s",
    "wall-time": "6s", "open-files": "64", "file-size": "2M",
    "core-size": "3K", "report": "exec", "on-violation": "fail",
    "allow": "https://a.example:443", "effect": "none",
    "needs": "read /usr", "run": "true", "stdin": "y", "expect-exit": "4",
    "environ.set": "EDITOR = vi", "environ.merge": "PATH = /usr/games",
    "environ.prepend": "PATH = /usr/bin", "environ.inherit": "CI = yes",
    "environ.sanitise": "INFOPATH = yes"}


def everything():
    """A profile with all of them, and what show must say of each."""
    sections, want = {}, []
    for s, k in keys():
        name = s + " x" if s in ("tool", "example") else s
        line = VALUES[s] if not k else "%s = %s" % (k, VALUES.get(
            k, "/srv/" + k if s == "fs" else "text of " + k))
        if s == "limits" and k == "tmpfs":
            line = "tmpfs = 300M"
        sections.setdefault(name, []).append(line)
        want.append((name, *line.split(" = ", 1)))
    return "".join("[%s]\n%s\n" % (s, "\n".join(lines))
                   for s, lines in sections.items()), want


with Place() as p:
    r = p.do("profile", "list")
    ok(r.code == 0 and not r.err and all(
        re.search(r"(?m)^  %s " % x, r.out) for x in SHIPPED),
       "S93 list has each shipped profile", r)
    ok(re.search(r"(?m)^  @sys .*<- a default$", r.out) and
       not re.search(r"(?m)^  @go .*default", r.out), "S24 and the defaults",
       r)
    ok(INST in r.out and p.layer in r.out, "S93 and where they lie", r)

    # each key
    text, want = everything()
    p.profile("all", text)
    r = p.wide("profile", "show", "all")
    ok(len(want) > 35, "control: the table was read", want)
    for section, key, value in want:
        at = r.out.find("\n[%s]\n" % section)
        ok(at >= 0 and re.search(r"(?m)^  %s +%s( |$)" % (
            re.escape(key), re.escape(value)), r.out[at:]),
           "R016 S93 show has %s of [%s]" % (key, section), r)
    ok(p.layer + "/all.profile" in r.out and r.code == 0 and
       "legal" in r.out, "S93 show: where it lies, and that it is legal", r)
    j = json.loads(p.do("profile", "show", "all", "--json").out)
    equal(sorted((x["section"], x["key"], x["value"])
                 for x in j["profiles"][0]["lines"]), sorted(want),
          "S93 show --json has the same")
    p.unprofile()

    p.profile("few", "[profile]\ndescription = d\n[fs]\nread = /usr\n")
    few = p.wide("profile", "show", "few").out
    ok("read" in few and not [k for s, k, v in want if s not in
                              ("profile", "fs") and "\n[%s]" % s in few],
       "R016 and shows nothing of a section that is not there", few)
    p.unprofile()

    # the verdict needs no target and no host
    p.profile("t", "[profile]\ndescription = d\n[fs]\nread = {target}/no\n"
              "read = {home}/.x -> /x\n[egress]\nallow = tcp://B.Example:1\n")
    for cwd in (p.proj, p.home, "/"):
        r = p.wide("profile", "show", "t", cwd=cwd)
        ok(r.code == 0 and "legal" in r.out, "S93 show in %s" % (
            cwd.replace(p.top, "")), r)
    ok("= /x," in r.out and "= tcp://b.example:1," in r.out,
       "S93 what a line comes to", r)
    p.fs("u", "read = /srv -> /a", "tmpfs = /a")
    r = p.do("profile", "show", "u")
    ok(r.code == 1 and "refused" in r.out and "/a" in r.err and
       "u.profile" in r.err, "S93 show of one that is not legal", r)
    p.unprofile()

    # unknown names
    r = p.do("profile", "show", "sys")
    ok(r.code == 1 and "did you mean @sys?" in r.err and not r.out,
       "S22 S93 sys suggests @sys", r)
    p.fs("mytool", "read = /srv")
    r = p.do("profile", "show", "mytoll")
    ok(r.code == 1 and "did you mean mytool?" in r.err,
       "S93 the nearest name is suggested", r)
    r = p.do("profile", "show", "wholly-other")
    ok(r.code == 1 and "unknown profile" in r.err and "mean" not in r.err,
       "S93 and no name that is not near", r)
    for bad in ([], ["frob"], ["list", "x"], ["show"], ["show", "a", "b"],
                ["dot", "--json"], ["list", "-p", "@sys"]):
        r = p.do("profile", *bad)
        ok(r.code == OWN and r.err.startswith("carrel: ") and not r.out,
           "S93 profile %s" % " ".join(bad), r)

    # tree and dot
    p.profile("a", "[profile]\ninclude = b\ninclude = @sys\n")
    p.profile("b", "[profile]\ninclude = @home\ninclude = none\n")
    p.profile("y", "[profile]\ninclude = z\n")
    p.profile("z", "[profile]\ninclude = y\n")
    r = p.do("profile", "tree")
    ok("\n  a\n    b\n      @home <- a default\n"
       "      none <- unknown\n    @sys <- a default\n" in r.out and r.code == 0,
       "S93 tree: below each what it includes", r)
    ok("\n  y\n    z\n      y <- a cycle\n" in r.out,
       "S18 S93 tree shows a cycle and ends", r)
    r = p.do("profile", "dot")
    ok('  "a" -> "b";\n' in r.out and '"@sys" [shape=box, style=bold]' in r.out
       and r.out.startswith("digraph") and r.out.endswith("}\n"),
       "S93 dot has nodes and arrows", r)
    p.unprofile()

    # S22: bad ones are told, and the rest is there
    good = {" ".join(x): p.do(*x) for x in SCREENS}
    bad = {"broken": "frob\n", "key": "[fs]\nraed = /usr\n",
           "esc": "[environ.set]\nXX = a\x1b[1Ab\n", "Upper": "[profile]\n",
           "nul": b"[fs]\nread = /u\0\n", "huge": b"#" * 300000}
    for name, text in bad.items():
        p.profile(name, text)
    os.symlink("/etc/passwd", p.layer + "/link.profile")
    os.mkfifo(p.layer + "/fifo.profile")
    os.mkdir(p.layer + "/dir.profile")
    p.profile("other", "[profile]\n")
    os.chmod(p.layer + "/other.profile", 0o666)
    p.fs("good", "read = /srv")
    for argv in SCREENS:
        r = p.do(*argv)
        name = " ".join(argv)
        missing = [x for x in list(bad) + ["link", "fifo", "dir", "other"]
                   if "/%s.profile" % x not in r.err]
        ok(r.code == 1 and not missing, "S22 %s tells each bad file" % name,
           missing, r)
        if argv[0] != "config":
            ok("@sys" in r.out and ("good" in r.out or "show" in argv),
               "S22 %s: the rest is there" % name, r)
        ok("\x1b" not in r.out + r.err, "S92 %s: nothing raw" % name, r)
        ok(good[name].code == 0 and not good[name].err,
           "S22 %s: control" % name, good[name])
    r = p.do("profile", "list", "--json")
    j = json.loads(r.out)
    ok(r.code == 1 and {x["name"]: x["state"] for x in j["profiles"]}[
        "key"] == "refused" and len(j["refused"]) == 10,
       "S22 S93 list --json has both", r)
    r = p.do("profile", "show", "key")
    ok(r.code == 1 and "cannot be read" in r.out and r.err.count(
        "key.profile:2") == 1, "S22 show of a bad one says why, once", r)
    r = p.do("run", "--", "echo", MARK)
    ok(r.code == 0 and MARK in r.out,
       "S22 shipped profiles survive a bad file of the user", r)
    p.refused("S22 and for running it is fatal", "-p", "key",
              has=("key.profile:2",))
    for n in ("link", "fifo"):
        os.unlink(p.layer + "/%s.profile" % n)
    os.rmdir(p.layer + "/dir.profile")
    p.unprofile()

    # config
    r = p.do("config")
    ok(r.code == 0 and all(re.search(r"(?m)^  defaults +%s +\(carrel\)$" % x,
                                     r.out) for x in
                           ("@sys", "@home", "@target")),
       "S20 config: what is built in", r)
    p.write(p.conf + "/config", "[carrel]\ndefaults = @sys\nprompt = x> \n")
    r = p.wide("config")
    ok(r.code == 0 and re.search(r"(?m)^  defaults +@sys +%s:2$" % re.escape(
        p.conf + "/config"), r.out) and "@home" not in r.out,
       "S20 config: the user's replace them", r)
    j = json.loads(p.do("config", "--json").out)
    ok(j["defaults"] == ["@sys"] and j["prompt"] == "x>" and j["v"] == 1,
       "S93 config --json", j)
    j = json.loads(p.do("profile", "list", "--json").out)
    equal([x["name"] for x in j["profiles"] if x["default"]], ["@sys"],
          "S20 and list marks those")
    p.write(p.conf + "/config", "[carrel]\ndefaults =\n")
    j = json.loads(p.do("config", "--json").out)
    equal(j["defaults"], [], "S19 config: an empty list is none")
    p.write(p.conf + "/config", "[carrel]\nfrob = 1\n")
    for argv in SCREENS:
        r = p.do(*argv)
        ok(r.code == 1 and "config:2" in r.err and r.out,
           "S22 %s with a broken configuration" % " ".join(argv), r)
    os.unlink(p.conf + "/config")

    # the order in which a directory has its files leaves no trace
    rand, one = rng(), {}
    names = ["p%d" % i for i in range(30)]
    for n in range(12):
        rand.shuffle(names)
        for x in names:
            p.fs(x, "read = /srv/" + x)
        for argv in SCREENS[:4]:
            one.setdefault(" ".join(argv), set()).add(p.do(*argv).out)
        p.unprofile()
    ok(all(len(x) == 1 for x in one.values()),
       "S3 the same bytes in 12 orders of the directory",
       {k: len(x) for k, x in one.items()})

    # width
    p.profile("long", "[profile]\ndescription = %s\n" % ("many words " * 30))
    for argv in SCREENS:
        r = p.wide(*argv, columns=40) if argv[-1] != "dot" else p.do(*argv)
        ok(argv[-1] == "dot" or max(map(len, r.out.splitlines())) <= 40,
           "S91 %s in 40 columns" % " ".join(argv), r)

if IS_ROOT:
    # S12: the same name in two layers is refused, and both are shown
    with Place() as p:
        with root():
            os.makedirs("/etc/carrel/profiles.d", exist_ok=True)
            with open("/etc/carrel/profiles.d/t9twice.profile", "w") as f:
                f.write("[profile]\n")
        try:
            p.profile("t9twice", "[profile]\n")
            r = p.do("profile", "list")
            ok(r.code == 1 and r.out.count("\n  t9twice ") == 2 and
               r.err.count("defined twice") == 1, "S12 S22 two of one name", r)
        finally:
            with root():
                os.unlink("/etc/carrel/profiles.d/t9twice.profile")
                with contextlib.suppress(OSError):  # others may use it
                    os.removedirs("/etc/carrel/profiles.d")
done()
