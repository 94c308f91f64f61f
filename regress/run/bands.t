#!/usr/bin/python3
"""What of the environment is carrel's own, and what no order changes: owned
names, the staging directory, 200 orders of one selection (S3, S47-S49, S55)."""
import os
from tap import *

BASE_PATH = "/usr/bin:/bin:/usr/sbin:/sbin"
HEAD = "[profile]\ndescription = test\n"


def source(path):
    with root() if IS_ROOT else contextlib.nullcontext():
        with open(SRC + "/" + path) as f:
            return f.read()


def owned(p):
    """S47: the table is what the code writes, and nobody else writes it."""
    table = dict((n, int(w)) for n, w in re.findall(
        r'\{"([A-Z0-9_]+)", ([01])\}', source("ipc/owned.c")))
    code = source("child/setup/plan_env.c")
    writers = set(re.findall(
        r'\b(?:own|own_path|plan_env_row|plan_list)\(d, "([A-Z0-9_]+)"', code))
    equal(writers, {n for n, w in table.items() if w},
          "S47 the written rows of the table are the writers of the code")
    ok(len(table) == 21 and not table["SSH_AUTH_SOCK"], "S47 the table",
       table)
    env = dict(p.env, TZ="UTC")
    r = p.do("run", "--no-defaults", "-p", "@sys", "-p", "@target", "--",
             "env", env=env)
    equal({x.split("=")[0] for x in r.out.splitlines()}, writers,
          "S47 and what a payload has", r)
    host = dict(env, **{n: "evil" for n in table
                        if n not in ("HOME", "PATH", "TZ")})
    before = dict(x.split("=", 1) for x in r.out.splitlines())
    for name in sorted(table):
        # what a profile could call it so that it gets through; a key ends
        # at its first "=", so the last one is the name itself
        for spelt in (name, name + " ", name + "\t", name + "\u00a0",
                      name[:-1] + chr(ord(name[-1]) + 0xfee0), name + "\u200b",
                      '"%s"' % name, "$" + name, name + "=x"):
            for verb, value in (("set", "evil"), ("inherit", "yes"),
                                ("merge", "/usr/evil"),
                                ("prepend", "/usr/evil"),
                                ("sanitise", "yes")):
                if name == "PATH" and spelt.strip(" \t") == name and \
                        verb not in ("set", "inherit"):
                    continue
                p.profile("x", HEAD + "[environ.%s]\n%s = %s\n" % (
                    verb, spelt, value))
                r = p.do("run", "-p", "x", "--", "env", env=host)
                if r.code == OWN and r.out == "" and "x.profile:4" in r.err:
                    continue
                ok(False, "S47 R029 %r by %s" % (spelt, verb), r)
        ok(True, "S47 R029 %s: refused at each verb and in each spelling" %
           name)
    # capitals differ: other names, which change nothing of carrel's own
    for spelt in ("home", "Home", "path", "Path", "carrel", "Shell"):
        p.profile("x", HEAD + "[environ.set]\n%s = evil\n" % spelt)
        r = p.do("run", "--no-defaults", "-p", "@sys", "-p", "@target", "-p",
                 "x", "--", "env", env=env)
        got = dict(x.split("=", 1) for x in r.out.splitlines())
        ok(got.get(spelt) == "evil" and all(
            got.get(n) == before[n] for n in before
            if n not in ("CARREL_RUN", "CARREL_PROFILES", "PS1")),
           "R032 control: %s is another name" % spelt, r)
    p.unprofile()


def staging(p):
    """S55, R011: nobody mounts at the staging directory, or writes it."""
    tool = p.write(p.top + "/bin/tool", "#!/bin/sh\necho TOOL\n", 0o755)
    os.makedirs(p.top + "/evil/carrel/bin")
    p.write(p.top + "/evil/carrel/bin/tool", "#!/bin/sh\necho EVIL\n", 0o755)
    evil = p.top + "/evil"
    p.fs("c", "command = " + tool)
    try_it = ("tool; echo x > /run/carrel/bin/tool; touch /run/carrel/x; "
              "mkdir -p /run/carrel/bin/y; mv /run/carrel /run/c; "
              "rm -rf /run/carrel; tool")
    for what, *lines in (
            ("tmpfs", "tmpfs = /run/carrel/bin"),
            ("tmpfs with a size", "tmpfs = /run/carrel/bin size=4K"),
            ("tmpfs in it", "tmpfs = /run/carrel/bin/x"),
            ("tmpfs of its parent", "tmpfs = /run/carrel"),
            ("tmpfs beside it", "tmpfs = /run/carrel/lib"),
            ("write", "write = %s -> /run/carrel/bin" % evil),
            ("read", "read = %s -> /run/carrel/bin" % evil),
            ("try-write", "try-write = %s -> /run/carrel/bin" % evil),
            ("try-write of nothing", "try-write = /none -> /run/carrel/bin"),
            ("write of its parent", "write = %s -> /run/carrel" % evil),
            ("write of a parent", "write = %s -> /run" % evil),
            ("read of a parent", "read = %s -> /run" % evil),
            ("write of the host's", "write = /run"),
            ("symlink", "symlink = /run/carrel/bin -> %s" % evil),
            ("symlink of its parent", "symlink = /run/carrel -> %s" % evil),
            ("symlink of a parent", "symlink = /run -> %s" % evil),
            ("write by a symlink", "symlink = /s -> /run/carrel",
             "write = %s -> /s/bin" % evil),
            ("tmpfs by a symlink", "symlink = /s -> run", "tmpfs = /s/carrel"),
            ("a spelling", "tmpfs = /run/./carrel/bin"),
            ("another one", "tmpfs = /run//carrel/bin"),
            ("and one more", "tmpfs = /run/x/../carrel/bin"),
            ("the end", "tmpfs = /run/carrel/bin/"),
            ("a socket", "socket = %s -> /run/carrel/bin/s" % tool),
            ("another name", "command = %s -> ../x" % tool)):
        p.fs("x", *lines)
        r = p.refused("S55 R011 %s: refused" % what, "-p", "c", "-p", "x",
                      has=(".profile:4",))
    # what is all right stays so, and is as good
    for what, *lines in (("a tmpfs at /run", "tmpfs = /run"),
                         ("something beside it", "tmpfs = /run/x"),
                         ("another name that begins so",
                          "tmpfs = /run/carrel-x size=1M",
                          "tmpfs = /run/carre size=1M")):
        p.fs("x", *lines)
        r = p.sh(try_it, "-p", "c", "-p", "x")
        equal(r.out, "TOOL\nTOOL\n", "S55 control: %s, and it is sealed" %
              what, r)
    r = p.sh("echo $PATH", "-p", "c")
    equal(r.out, "/run/carrel/bin:" + BASE_PATH + "\n",
          "S48 with a command it is on PATH", r)
    p.unprofile("c")
    r = p.sh("echo $PATH; ls -d /run/carrel", "-p", "x")
    ok(r.out == BASE_PATH + "\n", "S48 without, it is not, nor is it there",
       r)
    # a name that could be its own is marked like any other
    p.profile("x", HEAD + "[fs]\ntmpfs = /run\n[environ.merge]\n"
              "PATH = /run/carrel/bin\n")
    r = p.wide("explain", "-p", "x", "--", "true")
    ok(re.search(r"element +/run/carrel/bin +merge x:6 +<- writable from "
                 "inside", r.out), "S54 its name without it is marked", r)
    p.fs("c", "command = " + tool)
    r = p.wide("explain", "-p", "x", "-p", "c", "--", "true")
    ok(re.search(r"element +/run/carrel/bin +merge x:6 and \(carrel\) *$",
                 r.out, re.M), "S54 with it there is nothing to mark", r)
    r = p.sh(try_it, "-p", "x", "-p", "c")
    equal(r.out, "TOOL\nTOOL\n", "S55 for then it is sealed", r)
    p.unprofile()


def orders(p):
    """S3, S49, R040: 200 orders of one selection, some names twice: the same
    bytes on every screen and in every error."""
    p.profile("a", HEAD + "include = @sys\n[environ.merge]\nPATH = /usr/b\n"
              "PATH = /usr/a\nNODE_PATH = /usr/n\n[environ.inherit]\n"
              "CI = yes\nEDITOR = yes\n[fs]\nread = %s/w -> /opt/w\n" % p.top)
    p.profile("b", HEAD + "include = @sys\n[environ.merge]\nPATH = /usr/a\n"
              "PATH = /usr/c\n[environ.set]\nEDITOR = vi\nFOO = x\n"
              "[fs]\nwrite = %s/w\n" % p.top)
    p.profile("c", HEAD + "include = @sys\ninclude = a\n[environ.sanitise]\n"
              "PATH = yes\n[environ.prepend]\nPATH = /usr/c\nPATH = /usr/z\n")
    p.profile("d", HEAD + "include = @sys\n[environ.prepend]\nPATH = /usr/c\n"
              "PATH = /usr/z\nINFOPATH = /usr/i\n[fs]\ntmpfs = /opt/t\n")
    p.profile("e", HEAD + "include = @rust\ninclude = b\n[environ.inherit]\n"
              "GH_TOKEN = yes\n[environ.merge]\nINFOPATH = /usr/j\n")
    os.makedirs(p.top + "/w")
    env = dict(p.env, CI="1", EDITOR="vi", PATH="/usr/q:/usr/a:/tmp",
               GH_TOKEN="t", INFOPATH="/usr/k")
    rand = rng()

    def all_orders(names, *argv, **kw):
        seen = set()
        for _ in range(200):
            order = names + rand.choices(names, k=rand.randrange(4))
            rand.shuffle(order)
            r = p.do(argv[0], *[x for n in order for x in ("-p", n)],
                     *argv[1:], **kw)
            seen.add((r.code, r.out, r.err))
        return seen
    names = list("abcde") + ["@python"]
    seen = all_orders(names, "explain", "--", "true", env=env)
    one = next(iter(seen))
    ok(len(seen) == 1 and one[0] == 0 and
       "/usr/c:/usr/z:/home-tools" in re.sub(r"\s", "", one[1]),
       "S3 R040 200 orders: one screen", len(seen), one)
    seen = all_orders(names, "run", "-v", "--", "sh", "-c",
                      "env | grep -v CARREL_RUN", env=env)
    one = next(iter(seen))
    ok(len(seen) == 1 and one[0] == 0 and "FOO=x\n" in one[1] and
       "left out" in one[2] and "also writable" in one[2],
       "S3 S5 200 orders: one environment, and one -v", len(seen), one)
    ok("PATH=/usr/c:/usr/z:/home-tools/python/bin:/home-tools/rust/bin:"
       "/usr/a:/usr/b:/usr/q:" + BASE_PATH + "\n" in one[1],
       "S48 the bands of PATH", one)
    # everything that can be in conflict, at once
    p.profile("f", HEAD + "[environ.set]\nEDITOR = nano\nFOO = y\n"
              "[environ.prepend]\nPATH = /usr/z\nINFOPATH = /usr/x\n"
              "[environ.merge]\nNODE_PATH = /opt/nowhere\n"
              "[fs]\nread = /usr\nread = %s -> /opt/t\n" % p.top)
    for cmd in ("run", "explain"):
        seen = all_orders(names + ["f"], cmd, "--", "echo", MARK, env=env)
        one = next(iter(seen))
        ok(len(seen) == 1 and one[0] == OWN and (
            MARK not in one[1] or cmd == "explain"),
           "S3 R034 R035 200 orders: one refusal of %s" % cmd, len(seen), one)
    want = [r'"FOO" is set to different values: "x" \(set of b, .*"y" '
            r'\(set of f', r'"EDITOR" is set to different values: "vi" \(set '
            r'of b, .*"nano" \(set of f|"nano" \(set of f.*"vi" \(set of b',
            r'"PATH" is prepended with different sequences: "/usr/c" "/usr/z" '
            r'\(prepend of c, .*; prepend of d, .*\), "/usr/z" \(prepend of f',
            r"/opt/nowhere", r"/opt/t"]
    ok(all(re.search(w, one[2]) for w in want) and "inherit of a" in one[2],
       "S49 each conflict is told, with every claimant", one[2])
    # the host decides about one of them: set against inherit
    p.unprofile("f")
    env["EDITOR"] = "emacs"
    seen = all_orders(names, "run", "--", "echo", MARK, env=env)
    one = next(iter(seen))
    ok(len(seen) == 1 and one[0] == OWN and "set of b" in one[2] and
       "inherit of a" in one[2] and "emacs" in one[2],
       "S51 200 orders: one refusal by the host's value", len(seen), one)
    p.unprofile()


with Place() as p:
    owned(p)
    staging(p)
    orders(p)
done()
