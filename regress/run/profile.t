#!/usr/bin/python3
"""carrel profile validate, lint and test (S94, S93), of a NAME and of a pack."""
import json
import os
import re
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
            ("run = cat /workdir/out/x\n", 0, (0, 0), ()),
            ("run = true\nneeds = write /workdir/out\n", 0, (0, 1),
             ("warn example e.needs", "declared and not used")),
            # granted, and not declared
            ("run = sh -c \"echo x > /workdir/out/y\"\n", 1, (1, 0),
             ("err example e.needs", "used and not declared: fs: create "
              "/workdir/out/y")),
            # not granted at all
            ("run = sh -c \"touch /workdir/z; true\"\n", 1, (1, 0),
             ("used and not declared: fs: create /workdir/z",)),
            ("run = no-such-program\n", 1, (1, 0), ("ended with 127",)),
            ("run = sh -c \"kill -9 $$$$\"\n", 1, (1, 0), ("ended with",))):
        says("test %r" % body, verb(p, "test", ex + body.replace(
            "$$$$", "$$")), code, counts, *words)
    ok(not os.path.exists(p.proj + "/out/y"), "S94 it was not written")
    # the network: what is not declared is not there
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
    says("test of a NAME", r, 1, (1, 1), "ok  example e touch",
         "used and not declared: fs: create %s/out/m" % p.proj)
    ok(os.path.exists(p.proj + "/out/n") and
       not os.path.exists(p.proj + "/out/m"), "S94 only what is declared")
    os.makedirs(p.proj + "/src")
    r = p.do("profile", "test", "-C", p.proj + "/src", "mine")
    ok(r.code == 1 and "No such file" in r.out, "S94 test -C", r)
    says("test without an example", p.do("profile", "test", "@sys"), 0,
         (0, 1), "nothing was run")
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
