#!/usr/bin/python3
"""carrel profile validate, lint and test (S94, S93), of a NAME and of a pack."""
import json
import os
import re
import shutil
import socket
from tap import *

GOOD = """[profile]
description = a pack
abuse = It can write rubbish.
tier = side-effect
[fs]
write = /workdir/out
[tool build]
description = writes the result
effect = write
needs = write /workdir/out
[example build]
run = touch /workdir/out/x
needs = write /workdir/out
"""
PACKS = INST + "/share/carrel/packs"
# what is granted would fit read-only, so strict wants to hear that
STRICT = GOOD.replace("side-effect", "read-only")


def last(r):
    """Errors and warnings, as the last line has them."""
    m = re.fullmatch(r"(?:ok|no)  .*: (\d+) errors?, (\d+) warnings?",
                     r.out.splitlines()[-1] if r.out else "")
    return (int(m[1]), int(m[2])) if m else None


def says(name, r, code, counts, *words):
    """Exit code, the counts, which are those of the lines, and the words."""
    lines = r.out.splitlines()
    n = tuple(len([x for x in lines if x.startswith(w + " ")])
              for w in ("err", "warn"))
    missing = [w for w in words if not any(w in x for x in lines)]
    ok(r.code == code and last(r) == counts and n == counts and not missing
       and r.err == "", "S94 " + name, missing, n, r)


def verb(p, v, text, options=(), name="x.profile", **kw):
    p.write(name, text)
    return p.do("profile", v, *options, "-f", name, **kw)


def uses(p):
    """Reads, commands, sockets and devices; a profile of each layer."""
    os.makedirs(p.top + "/d/sub", exist_ok=True)
    p.write(p.top + "/d/f", "x")
    p.write(p.top + "/d/sub/g", "x")
    tool = shutil.copy(os.path.realpath("/bin/true"), p.top + "/tool")
    s = socket.socket(socket.AF_UNIX)
    s.bind(p.top + "/s")
    s.listen(8)
    d, sock = p.top + "/d", p.top + "/s"
    head = ("[profile]\ndescription = d\nabuse = a\n[fs]\nread = %s\nread = %s/sub -> "
            "/sub\nsocket = %s\ncommand = %s\ndevice = /dev/autofs\n"
            "[audit]\nreport = fs\n[example e]\n" % (d, d, sock, tool))
    ask = ("run = python3 -c \"import socket; socket.socket(socket.AF_UNIX)."
           "connect('%s')\"\n" % sock)
    dev = "run = sh -c \"exec 9</dev/autofs; true\"\n"
    cat = "run = cat %s/f\n" % d
    cases = (
        ("read", cat, "read %s" % d, "read %s/f" % d),
        ("read of a file", cat, "read %s/f" % d, "read %s/f" % d),
        ("read by an open directory", "run = ls %s\n" % d, "read %s" % d,
         "read %s" % d),
        ("read by another name", "run = cat /sub/g\n", "read /sub",
         "read /sub/g"),
        ("read by chdir", "run = sh -c \"cd %s && cat f\"\n" % d,
         "read %s" % d, "read %s/f" % d),
        ("read by exec", "run = sh -c \"/sub/g; true\"\n", "read /sub",
         "exec /sub/g"),
        ("command", "run = tool\n", "command tool",
         "exec /run/carrel/bin/tool"),
        ("socket", ask, "socket %s" % sock, "connect %s" % sock),
        ("device", dev, "device /dev/autofs", "read /dev/autofs"))
    idle = "run = true\n"
    for layer in ("user", "host"):
        def test(text):
            if layer == "user":
                p.profile("u", text)
                return p.do("profile", "test", "u")
            return p.etc({"profiles.d/u.profile": text}, "profile", "test", "u")
        for what, run, need, used in cases:
            if layer == "host" and what not in ("read", "command", "socket"):
                continue
            says("%s: %s: declared and used" % (layer, what),
                 test(head + run + "needs = %s\n" % need), 0, (0, 0))
            says("%s: %s: declared and not used" % (layer, what),
                 test(head + idle + "needs = %s\n" % need), 0, (0, 1),
                 "needs = %s: declared and not used" % need)
            r = test(head + run)
            n = 1 if what in ("socket", "device", "command") else 0
            says("%s: %s: used and not declared" % (layer, what), r, n,
                 (n, 1 - n), "used and not declared: fs: " + used)
        if layer == "user":
            p.unprofile("u")
        if not IS_ROOT:
            break
    # one that carrel ships is run as any other one
    f = INST + "/share/carrel/profiles/trial.profile"
    with root():
        shutil.copy(p.profile("u", head.replace(
            "device = /dev/autofs\n", "").replace("socket = %s\n" % sock, "")
            .replace("command = %s\n" % tool, "")
            .replace(d, "/usr/share/doc").replace("/usr/share/doc/sub",
                                                  "/usr/share/misc") +
            idle + "needs = read /sub\n"), f)
    p.unprofile("u")
    try:
        r = p.do("profile", "test", "@trial")
    finally:
        with root():
            os.unlink(f)
    ok("read /sub: declared and not used" in r.out, "S94 of one that is "
       "shipped", r)
    # the option itself
    ev = p.write("ev", "")
    r = p.do("run", "--uses", "/x", "--", "true")
    ok(r.code == 125 and "--events" in r.err, "S94 --uses needs --events", r)
    r = p.do("run", "--events", p.top + "/ev", "--uses", "x", "--", "true")
    ok(r.code == 125 and "absolute" in r.err, "S94 --uses of no place", r)
    r = p.do("run", "--events", p.top + "/ev", "--uses", "", "-p", "@sys",
             "--no-defaults", "--", "cat", "/etc/hosts", "/usr/bin/env",
             stdout=-3)
    lines = [json.loads(x) for x in open(p.top + "/ev")]
    ok(r.code == 0 and [x for x in lines if x["event"] == "use" and
                        x["action"] == "read" and x["surface"] == "fs"],
       "S94 --uses tells the grants", r, lines)


with Place() as p:
    # validate
    says("validate a pack", verb(p, "validate", GOOD), 0, (0, 0))
    f = p.proj + "/x.profile"
    for text, at, key, word in (
            ("[fs]\nread = /etc/passwd\n", ":2:", "fs.read", "path of the "
             "host"),
            ("[fs]\nmask = /x\n", ":2:", "fs.mask", "unknown key"),
            ("[nope]\n", ":1:", "nope", "unknown section"),
            ("[profile]\ntier = read-only\n[egress]\n"
             "allow = https://example.org:443\n", ":4:", "egress.allow",
             "no place in the tier"),
            ("[profile]\ntier = read-only\n[tool fetch]\neffect = network\n",
             ":3:", "tool fetch", "has effect = network"),
            ("[profile]\ninclude = @nope\n", ":2:", "profile.include",
             "unknown profile")):
        r = verb(p, "validate", text)
        says("validate %r" % text, r, 1, (1, 0),
             "err %s %s%s " % (key, f, at), word)
        r = verb(p, "lint", text)
        says("lint %r" % text, r, 1, (1, 0), word)
        r = verb(p, "test", text)
        says("test %r" % text, r, 1, (1, 0), word)
    says("validate: all of it at once", verb(
        p, "validate", "[profile]\ntier = read-only\n[egress]\n" + "".join(
            "allow = https://%s.example:443\n" % x for x in "ab")), 1, (2, 0))
    p.profile("mine", "[profile]\ndescription = d\n[fs]\nread = {target}\n")
    says("validate a NAME", p.do("profile", "validate", "mine"), 0, (0, 0))
    says("validate a NAME that is not there",
         p.do("profile", "validate", "none"), 1, (1, 0), "unknown profile")
    p.profile("bad", "[fs]\nraed = /usr\n")
    says("validate a NAME that is not well", p.do(
        "profile", "validate", "bad"), 1, (1, 0), "err fs.raed ",
         "bad.profile:2: ")
    for name in ("sys", "home", "target", "own-home", "parent", "net", "rust"):
        says("validate @" + name, p.do("profile", "validate", "@" + name), 0,
             (0, 0))
    # not where it is asked, nor what the person prefers
    for cwd in (p.home, "/", p.proj):
        r = p.do("profile", "validate", "-f", f, cwd=cwd)
        equal((r.code, last(r)), (1, (2, 0)), "S94 the same in " + cwd, r)
    p.write(p.conf + "/config", "broken\n")
    says("a configuration that is broken", p.do(
        "profile", "validate", "mine"), 0, (0, 0))
    os.unlink(p.conf + "/config")
    p.unprofile("bad")

    # lint
    says("lint", verb(p, "lint", GOOD), 0, (0, 1), "warn profile.tier")
    says("lint --strict", verb(p, "lint", GOOD, ["--strict"]), 1, (1, 0),
         "err profile.tier", "read-only fits")
    says("lint --strict of what is in order", verb(
        p, "lint", STRICT, ["--strict"]), 0, (0, 0))
    wild = "[profile]\ndescription = w\n[egress]\n" \
        "allow = https://*.example.org:443\nallow = tcp://192.0.2.1:80\n"
    says("lint of wildcards", verb(p, "lint", wild), 0, (0, 3),
         "warn egress.allow %s:4: " % f, "every name below example.org",
         "warn egress.allow %s:5: " % f, "an address")
    says("lint --strict of wildcards", verb(
        p, "lint", wild, ["--strict"]), 1, (5, 0), "err egress.allow",
         "example.org", "err profile.abuse", "no tool and no example")
    says("lint of a need", verb(p, "lint", STRICT.replace(
        "needs = write /workdir/out\n[ex", "needs = write /workdir/out\n"
        "needs = allow https://example.org:443\n[ex")), 1, (1, 1),
         "err tool build.needs %s:11: " % f, "nor what it includes")
    says("lint of a NAME", p.do("profile", "lint", "mine"), 0, (0, 1))

    # for a program
    for v, text, code, counts in (("validate", GOOD, 0, (0, 0)),
                                  ("lint", GOOD, 0, (0, 1)),
                                  ("validate", "[nope]\n", 1, (1, 0)),
                                  ("test", GOOD, 0, (0, 0))):
        r = verb(p, v, text, ["--json"])
        j = json.loads(r.out)
        n = tuple(len([m for m in j["messages"] if m["weight"] == w])
                  for w in ("error", "warning"))
        ok(r.code == code and (j["errors"], j["warnings"]) == counts == n and
           j["v"] == 1 and j["profile"] == p.proj + "/x.profile" and j["verb"] == v and
           all(m["key"] and m["text"] for m in j["messages"]),
           "S93 %s --json %r" % (v, text[:10]), r)
    ok(j["messages"][0]["weight"] == "ok" and "line" not in j["messages"][0],
       "S93 test --json: what was run", j)

    # test
    os.makedirs(p.proj + "/out", exist_ok=True)
    r = verb(p, "test", GOOD)
    says("test", r, 0, (0, 0), "ok  example build touch")
    ok(os.path.exists(p.proj + "/out/x"), "S94 it ran in the target")
    ex = GOOD[:GOOD.index("[example")] + "[example e]\n"
    for body, code, counts, words in (
            ("run = sh -c \"exit 3\"\nexpect-exit = 3\n", 0, (0, 0), ()),
            ("run = sh -c \"echo said; exit 3\"\n", 1, (1, 0),
             ("err example e.run", "ended with 3, and 0 is expected",
              "it said: said")),
            ("run = grep -x hello\nstdin = hello\n", 0, (0, 0), ()),
            ("run = cat /workdir/out/x\n", 0, (0, 1),
             ("warn example e.needs", "used and not declared: fs: read "
              "/workdir/out/x")),
            ("run = cat /workdir/out/x\nneeds = read /workdir/out\n", 0,
             (0, 0), ()),
            # a look is of use, and needs no need
            ("run = test -e /workdir/out/x\n", 0, (0, 0), ()),
            ("run = test -e /workdir/out/x\nneeds = read /workdir/out/x\n",
             0, (0, 0), ()),
            ("run = true\nneeds = read /workdir/out\nneeds = read /workdir\n",
             0, (0, 2), ("read /workdir/out: declared and not used",
                         "read /workdir: declared and not used")),
            # writing is not reading, nor the other way round
            ("run = cat /workdir/out/x\nneeds = write /workdir/out\n", 0,
             (0, 1), ("write /workdir/out: declared and not used",)),
            ("run = touch /workdir/out/x\nneeds = read /workdir/out\n", 1,
             (1, 0), ("used and not declared: fs: write /workdir/out",)),
            ("run = true\nneeds = write /workdir/out\n", 0, (0, 1),
             ("warn example e.needs", "declared and not used")),
            # granted, and not declared
            ("run = sh -c \"echo x > /workdir/out/y\"\n", 1, (1, 0),
             ("err example e.needs", "used and not declared: fs: write "
              "/workdir/out/y")),
            # not granted at all
            ("run = sh -c \"touch /workdir/z; true\"\n", 1, (1, 0),
             ("used and not declared: fs: create /workdir/z",)),
            ("run = no-such-program\n", 1, (1, 0), ("ended with 127",)),
            ("run = sh -c \"kill -9 $$$$\"\n", 1, (1, 0), ("ended with",))):
        says("test %r" % body, verb(p, "test", ex + body.replace(
            "$$$$", "$$")), code, counts, *words)
    # the network
    net = GOOD.replace("[tool", "[egress]\nallow = https://a.example:443\n"
                       "allow = https://b.example:443\n[tool")
    net = net[:net.index("[example")] + "[example e]\n"
    ask = "run = sh -c \"getent hosts %s; true\"\n"
    for body, code, counts, words in (
            (ask % "a.example" + "needs = allow https://a.example:443\n", 0,
             (0, 0), ()),
            (ask % "a.example", 1, (1, 0),
             ("err example e.needs", "used and not declared: egress: resolve",
              "a.example")),
            ("run = true\nneeds = allow https://b.example:443\n", 0, (0, 1),
             ("needs = allow https://b.example:443: declared and not used",))):
        says("test of the network %r" % body, verb(p, "test", net + body),
             code, counts, *words)
    # a NAME, with another one of the user's
    p.profile("base", "[profile]\ndescription = b\n[fs]\nread = /usr\n"
              "try-read = /bin\ntry-read = /lib\ntry-read = /lib64\n")
    p.profile("mine", "[profile]\ndescription = d\ninclude = base\n[fs]\n"
              "write = {target}/out\n[example e]\nrun = touch %s/out/n\n"
              "needs = write {target}/out\n[example f]\n"
              "run = sh -c \"touch %s/out/m\"\n" % (p.proj, p.proj))
    r = p.do("profile", "test", "mine")
    says("test of a NAME", r, 0, (0, 1), "ok  example e touch",
         "used and not declared: fs: write %s/out/m" % p.proj)
    os.makedirs(p.proj + "/src")
    r = p.do("profile", "test", "-C", p.proj + "/src", "mine")
    ok(r.code == 1 and "No such file" in r.out, "S94 test -C", r)
    says("test without an example", p.do("profile", "test", "@sys"), 0,
         (0, 1), "nothing was run")
    uses(p)
    # the packs that carrel ships
    for name, n in (("fmt", 2), ("bundle", 2), ("fetch", 0)):
        f = PACKS + "/%s.profile" % name
        says("the pack %s: validate" % name,
             p.do("profile", "validate", "-f", f), 0, (0, 0))
        says("the pack %s: lint --strict" % name,
             p.do("profile", "lint", "--strict", "-f", f), 0, (0, 0))
        if n == 0:
            continue
        r = p.do("profile", "test", "-f", f)
        says("the pack %s: test" % name, r, 0, (0, 0))
        equal(r.out.count("ok  example "), n, "S94 the pack %s: its examples" %
              name, r)
    ok(os.path.exists(p.proj + "/out/source.tar"), "S13 what a pack wrote")
    if IS_ROOT:
        from netbox import Net
        with Net(p) as net:
            with root():
                net.root("mount", "--bind", net.top + "/cert",
                         "/etc/ssl/certs/ca-certificates.crt")
            r = net.do("profile", "test", "-f", PACKS + "/fetch.profile")
            says("the pack fetch: test", r, 0, (0, 0), "ok  example page",
                 "ok  example nothing-asked")
            ok("api.example.org" in net.log("dns"), "S94 control: the name "
               "was asked for outside", net.log("dns"))
            r = net.do("run", "-f", PACKS + "/fetch.profile", "--", "wget",
                       "-q", "-T", "5", "-t", "1", "-O", "-",
                       "https://other.example.org/")
            ok(r.code == 3 and "other.example.org" in r.err and
               "other" not in net.log("dns"), "S13 S82 the pack fetch: another "
               "host", r)
            p.forget()
    else:
        skip("the pack fetch", "network namespaces with servers need root")
    # nothing is remembered, and nothing left behind
    r = p.do("violations")
    ok("no version of a profile was violated" in r.out, "S94 S76 no violation "
       "of an example is remembered", r)
    equal([x for x in os.listdir("/tmp") if x.startswith("carrel-test-") and
           os.stat("/tmp/" + x).st_uid == UID], [], "S94 nothing is left in "
          "/tmp")
    ok(not gone(), "nothing is left behind")
    # the command line
    for argv in (["profile"], ["profile", "frob", "mine"], ["profile", "lint"],
                 ["profile", "validate", "a", "b"],
                 ["profile", "validate", "--strict", "mine"],
                 ["profile", "lint", "-C", "/", "mine"],
                 ["profile", "validate", "-f", f, "mine"],
                 ["profile", "validate", "-f", f, "-f", f]):
        r = p.do(*argv)
        ok(r.code == OWN and r.out == "" and r.err.startswith("carrel: "),
           "S93 " + " ".join(argv), r)
    r = p.do("profile", "--help")
    ok(r.code == 0 and "carrel profile validate" in r.out, "S60 profile --help",
       r)
done()
