#!/usr/bin/python3
"""carrel explain (S3, S5, S90-S92): what it says is what a run does."""
import itertools
import os
from tap import *


def flat(text):
    """Without the places where lines are broken."""
    return re.sub(r"\s+", "", text)


with Place() as p:
    for i in range(6):
        p.write(p.top + "/d%d/f" % i, "%d\n" % i)
        os.makedirs(p.top + "/d%d/sub" % i)
    p.fs("a", "read = %s/d0" % p.top, "tmpfs = /opt/t size=2M")
    p.fs("b", "read = %s/d1" % p.top, "write = %s/d0/sub" % p.top)
    p.profile("c", "[profile]\ndescription = test\ninclude = a\n[fs]\n"
              "read = %s/d2 -> /opt/guest\n" % p.top)
    p.fs("d", "write = %s/d3" % p.top, "symlink = /opt/l -> guest")
    p.fs("e", "try-read = %s/none" % p.top, "read = %s/d1" % p.top)
    p.fs("f", "read = %s/d4" % p.top)

    # R040, S3
    rand = rng()
    seen = set()
    names = list("abcdef")
    for i in range(30):
        rand.shuffle(names)
        extra = rand.sample(names, 2)
        r = p.do("explain", *[x for n in names + extra for x in ("-p", n)],
                 "--", "true")
        seen.add((r.code, r.out, r.err))
    ok(len(seen) == 1 and next(iter(seen))[0] == 0,
       "R040 30 shuffles of six profiles: the same bytes", len(seen),
       next(iter(seen))[2])
    text = next(iter(seen))[1]
    for block in ("TARGET", "PROFILES", "FILESYSTEM", "NETWORK",
                  "ENVIRONMENT", "CONFINEMENT"):
        ok(re.search("^%s" % block, text, re.M), "S91 block %s" % block,
           text[:600])
    ok("(carrel)" in text and "@sys" in text, "S91 provenance", text[:600])
    for want in (p.top + "/d0", p.top + "/d1", "/opt/guest", "/opt/t",
                 p.top + "/d3", "/opt/l", p.proj, p.top + "/none"):
        ok(flat(want) in flat(text), "S91 %s is shown" % want.replace(p.top, ""))
    # refused policies: same bytes in any order, exit 125, told as refused
    p.fs("x", "tmpfs = /opt/guest")
    seen = set()
    for i in range(30):
        order = ["c", "x", "b", "e"]
        rand.shuffle(order)
        r = p.do("explain", *[x for n in order for x in ("-p", n)], "--",
                 "true")
        seen.add((r.code, r.out, r.err))
    one = next(iter(seen))
    ok(len(seen) == 1 and one[0] == OWN,
       "R040 S90 a refused policy: 125 and the same bytes in 30 orders",
       len(seen), one)
    lines = [x for x in one[1].splitlines() if x.strip()]
    ok(lines and "refused" in lines[0].lower() and
       "refused" in lines[-1].lower() or "/opt/guest" in one[2],
       "S90 it says so first and last", one[1][:300], one[1][-300:])
    ok("/opt/guest" in one[1] + one[2] and " c" in one[1] + one[2],
       "S90 with the reason")
    seen = set()
    for order in itertools.permutations(["c", "x", "b"]):
        r = p.do("run", *[x for n in order for x in ("-p", n)], "--", "echo",
                 MARK)
        seen.add((r.code, r.out, r.err))
    ok(len(seen) == 1 and next(iter(seen))[0] == OWN,
       "R034 S3 refusals of run are the same bytes in any order", seen)
    p.unprofile("x")
    r = p.do("run", "-n", "-p", "a", "--", "touch", "ran")
    r2 = p.do("explain", "-p", "a", "--", "touch", "ran")
    ok(r.code == 0 and r.out == r2.out and not os.path.exists(
        p.proj + "/ran"), "S90 run -n is explain", r)
    r = p.do("explain")
    ok(r.code == 0, "S90 explain without a command", r)

    # R013: starts nothing, writes nothing
    env = dict(p.env, XDG_RUNTIME_DIR=p.top + "/rt", TMPDIR=p.top + "/tmp")
    os.makedirs(p.top + "/rt")
    os.makedirs(p.top + "/tmp")
    shutil.rmtree(p.conf)
    before, stray = tree(p.top), strays()
    r = p.do("explain", "--", "true", env=env)
    ok(r.code == 0, "R013 explain", r)
    equal(tree(p.top), before, "R013 leaves no file")
    equal(strays(), stray, "R013 nowhere")
    ok(not gone(1), "R013 and no process", gone(0))
    log = p.top + "/strace"
    r = p.strace(log, ["-e", "trace=execve,clone,clone3,unshare,mount,"
                       "move_mount,fsopen,setns,pivot_root"],
                 CARREL, "explain", "--", "/bin/true")
    seen = open(log).read()
    names = {os.path.basename(x) for x in
             re.findall(r'execve\("([^"]+)"', seen)}
    ok(names == {"carrel", "carrel-parse", "carrel-screen"} and
       not re.search(r"CLONE_NEW|unshare\(|mount\(|fsopen|pivot", seen),
       "S90 explain starts its two helpers, no namespace, no mount",
       names, seen[:1500])

    # S5, R014: every mount that a run has is on the screen, and its mode
    p = Place()
    os.makedirs(p.top + "/r/sub")
    os.makedirs(p.top + "/w")
    p.fs("m", "read = %s/r" % p.top, "write = %s/w" % p.top,
         "tmpfs = /opt/t", "write = %s/r/sub" % p.top)
    r = p.do("run", "-p", "m", "--", "awk", "{print $5, $6}",
             "/proc/self/mountinfo")
    screen = p.do("explain", "-p", "m", "--", "true").out
    absent = []
    for line in r.out.splitlines():
        guest = line.split()[0].replace("\\040", " ")
        if guest == "/" or guest.startswith(("/proc/", "/dev/")):
            continue
        if flat(guest) not in flat(screen):
            absent.append(line)
    ok(r.code == 0 and len(r.out.splitlines()) > 8 and not absent,
       "R014 every mount of a run is on the screen", absent, screen)
    r = p.do("run", "-p", "m", "--", "env")
    for line in r.out.splitlines():
        name, value = line.split("=", 1)
        if name in ("_", "PWD", "SHLVL", "OLDPWD", "CARREL_RUN"):
            continue
        if not (name in screen and
                flat(value.replace("\\", "\\\\")) in flat(screen)):
            absent.append(line)
    ok(not absent, "R014 every variable too", absent, screen)

    # without a terminal lines are broken at 80, and what follows is indented
    r = p.do("explain", "--", "true", "x" * 70 + " FILESYSTEM " + "y" * 99)
    ok(r.code == 0 and max(map(len, r.out.splitlines())) <= 80 and
       re.findall("^[A-Z].*FILESYSTEM|^FILESYSTEM", r.out, re.M) ==
       ["FILESYSTEM"], "S92 no line is longer than 80", r)
    p.profile("m", "[profile]\ndescription = x%sFILESYSTEM%sro  /usr\n" %
              (" " * 79, " " * 70))
    r = p.do("explain", "-p", "m", "--", "true")
    ok(r.code == 0 and "\\x20" in r.out and
       len(re.findall("^FILESYSTEM", r.out, re.M)) == 1,
       "S92 blanks in a description cannot move a word to the first column",
       r)
    for bad in ("[fs]\nread = x" + " " * 300 + "FILESYSTEM",
                "[fs]\nread = \"x" + " ro" * 1200 + "\"",
                "[fs]\nfoo  bar = x", "[x" + "  " * 900 + "]"):
        p.profile("m", bad + "\n")
        r = p.refused("S92 an odd value", "-p", "m", has=("m.profile:",))
        ok("  " not in r.err and max(map(len, r.err.splitlines())) < 1600,
           "S92 its blanks are shown, and not more than is needed of it", r)

    # S6, S75: what the outside learns, and who wanted that
    def rows(*options):
        text = p.wide("explain", *options, "--", "true").out
        text = text[text.index("\nCONFINEMENT"):text.index("\nNOT GRANTED")]
        return [re.sub(" +", " ", x.strip()) for x in text.splitlines()]
    plain = rows()
    p.profile("au", "[profile]\ndescription = t\n[audit]\nreport = exec\n"
              "on-violation = fail\n")
    p.profile("av", "[profile]\ndescription = t\n[audit]\n\nreport = exec\n"
              "on-violation = kill\n")
    for want, options in (
            ("report egress: each attempt that is refused (carrel)", ()),
            ("violation is told, and changes nothing (carrel)", ()),
            ("log the host's, if there is one (carrel)", ()),
            ("report exec: each attempt that [exec] refuses "
             "report au:4, report av:5", ("-p", "au", "-p", "av")),
            ("violation is told, and the run ends with 3 on-violation au:5",
             ("-p", "au")),
            ("violation ends everything inside, and the run with 3 "
             "on-violation av:6", ("-p", "au", "-p", "av")),
            ("log the host's; what it does not take ends the run "
             "--require-audit", ("--require-audit",)),
            ('events "/tmp/e v.jsonl" --events',
             ("--events", "/tmp/e v.jsonl")),
            ("calls an allow-list; ptrace inside the sandbox is on it "
             "--allow-ptrace <- weaker than the default",
             ("--allow-ptrace",)),
            ("landlock off: the mounts are the only wall around files, "
             "abstract sockets and signals are not scoped "
             "--without-landlock <- weaker than the default",
             ("--without-landlock",))):
        got = rows(*options)
        ok(want in got and (want in plain) == (options == ()),
           "S6 S75 explain %s" % " ".join(options), want, *got)
    ok(not os.path.exists("/tmp/e v.jsonl"), "S90 and makes no such file")
    p.unprofile("au", "av")

    # R015, S92: nothing raw from a file, a path or a variable
    for c in ("\x1b[1A", "\r", "\a", "\x9b", "\u202e", "\u200b", "\x7f"):
        d = p.proj + "/odd" + c + "x"
        os.makedirs(d)
        for argv in (("explain", "-C", d, "--", "true"),
                     ("explain", "--", "x" + c),
                     ("explain", "-p", "no" + c, "--", "true"),
                     ("run", "-C", d, "--", "no" + c),
                     ("run" + c,), ("run", "--" + c), ("doctor", c)):
            r = p.do(*argv, env=dict(p.env, TERM="x" + c, LANG=c, TZ=c,
                                     HOME=p.home))
            ok(c not in r.out + r.err and
               c.encode() not in r.raw + r.rawerr,
               "R015 S92 %r of carrel %s" % (c, argv[0][:7]), r)
    p.__exit__()


def many_reasons():
    """More reasons than are kept: every screen says that there are more."""
    with Place() as p:
        p.profile("x", "[profile]\ndescription = x\n" + "".join(
            "include = n%d\n" % i for i in range(300)))
        for argv in (("explain", "-p", "x", "--", "true"),
                     ("explain", "--json", "-p", "x", "--", "true"),
                     ("why", "-p", "x", "/usr"), ("run", "-p", "x", "true")):
            r = p.do(*argv)
            ok(r.code == OWN and r.err.count("unknown profile") == 256 and
               "\ncarrel: and 44 reasons more\n" in r.err,
               "S90 %s: 44 reasons more" % " ".join(argv[:2]),
               r.err[-300:])
        r = p.do("explain", "-p", "x", "--", "true")
        ok(re.search(r"and 44 reasons more\n", r.out),
           "S90 on the screen as well", r.out[-300:])


many_reasons()
done()
