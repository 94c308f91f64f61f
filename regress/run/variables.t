#!/usr/bin/python3
"""Profiles and the payload's environment: the five verbs (S40-S56)."""
import os
from tap import *

BASE_PATH = "/usr/bin:/bin:/usr/sbin:/sbin"
VERBS = ("set", "merge", "prepend", "inherit", "sanitise")
HEAD = "[profile]\ndescription = test\n"


def environ(p, name, body, fs=(), include=()):
    """A profile of [environ.*] lines and a little more."""
    p.profile(name, HEAD + "".join("include = %s\n" % i for i in include) +
              ("[fs]\n" + "".join(f + "\n" for f in fs) if fs else "") + body)


def options(*names):
    return [x for n in names for x in ("-p", n)]


def got(p, name, *profiles, **env):
    """The variable inside, "(unset)" if there is none."""
    r = p.do("run", *options(*profiles), "--", "/usr/bin/env", "-0",
             env=dict(p.env, **env))
    d = dict(x.split("=", 1) for x in r.out.split("\0") if x)
    return d.get(name, "(unset)") if r.code == 0 else str(r)


def screen(p, *profiles, **env):
    """Its block ENVIRONMENT."""
    r = p.wide("explain", *options(*profiles), "--", "true",
             env=dict(p.env, **env))
    return r.out.split("\nENVIRONMENT", 1)[-1].split("\n\n", 1)[0]


def row(text, *words):
    """1 if a line of the screen has all of these."""
    return any(all(w in line for w in words) for line in text.splitlines())


def verbs(p):
    """R022, R023, R029, R032, R033, R037: what no profile may say."""
    for ids, sec, line, words in (
            ("R022", "set", "PATH = /usr/bin", ("merge", "prepend")),
            ("R023", "merge", "EDITOR = vi", ("environ.set",)),
            ("R023", "inherit", "PATH = yes", ("merge", "sanitise")),
            ("R023", "sanitise", "EDITOR = yes", ("inherit",)),
            ("S42", "sanitise", "MANPATH = yes", ("merge",)),
            ("S42", "inherit", "CARGO_HOME = yes", ("environ.set",)),
            ("S45", "merge", "MYLIST = /usr", ("environ.set",)),
            ("S14", "inherit", "EDITOR = no", ("negation",)),
            ("S14", "sanitise", "PATH = no", ("negation",)),
            ("S14", "inherit", "EDITOR = vi", ("yes",)),
            ("S14", "sanitise", "PATH = /usr/bin", ("yes",)),
            ("S44", "merge", "PATH = /usr/bin:/usr/sbin",
             ("PATH = /usr/bin", "PATH = /usr/sbin")),
            ("S44", "merge", "PATH =", ("empty element",)),
            ("S52", "set", "CARGO_HOME = x", ("absolute",)),
            ("R032", "set", "A-B = c", ("A-B",)),
            ("R032", "set", "A B = c", ("A B",)),
            ("R032", "set", "1A = c", ("digit",)),
            ("R032", "set", "= c", ()),
            ("R032", "set", "A" * 4096 + " = c", ("too long",)),
            ("R032", "set", "A = x\x1b", ("control",)),
            ("R032", "set", "A = x\x7f", ("control",)),
            ("R032", "set", "A = x\u202e", ("control",)),
            ("R031", "set", "A = x\0--bind /home/u/.ssh", ("NUL",)),
            ("R031", "set", "A\0B = x", ("NUL",)),
            ("B032", "set", "LD_LIBRARY_PATH = /usr/lib", ("code",)),
            ("S46", "set", "GIT_SSH = ssh", ("git runs it",)),
            ("S46", "inherit", "BASH_ENV = yes", ("environ.set",)),
            ("S46", "inherit", "Npm_Config_x = yes", ("npm",)),
            ("S2", "deny", "PATH = /usr", ("nothing subtracts",)),
            ("S2", "unset", "PATH = yes", ("nothing subtracts",)),
            ("R042", "append", "PATH = /usr", ("unknown section",
                                               "[environ.merge]")),
            ("R042", "Set", "A = b", ("unknown section",)),
            ("R042", "inherit ", "CI = yes", ()),
            ("R042", "", "A = b", ("unknown section",))):
        environ(p, "x", "[environ.%s]\n%s\n" % (sec, line), ["read = /usr"])
        p.refused("%s [environ.%s] %s: refused" % (ids, sec, line[:30]),
                  "-p", "x", has=words + (
                      "x.profile:%d" % (5 if sec not in VERBS else 6),))
    environ(p, "x", "[environ.set]\nA = x\\0--bind /home/u/.ssh\n")
    equal(got(p, "A", "x"), "x\\0--bind /home/u/.ssh",
          "R031 control: a backslash is a backslash")
    for name in ("http_proxy", "_", "a1"):
        environ(p, "x", "[environ.set]\n%s = x y; # z\n" % name)
        equal(got(p, name, "x"), "x y; # z", "R032 control: %s" % name)
    for name in ("HOME", "SHELL", "USER", "TERM", "PS1", "CARREL_RUN",
                 "SSH_AUTH_SOCK", "GIT_CONFIG_GLOBAL"):
        for sec, value in (("set", ""), ("set", "x"), ("inherit", "yes"),
                           ("merge", "/usr")):
            environ(p, "x", "[environ.%s]\n%s = %s\n" % (sec, name, value))
            p.refused("R029 S47 %s of %s: refused" % (sec, name), "-p", "x",
                      has=(name, "carrel's own"))
    # R033, R037: the verdict does not depend on the host, a family has no gap
    for name in ("LD_PRELOAD", "LD_AUDIT", "LD_x", "BASH_FUNC_f", "TZDIR",
                 "PS4", "GIT_CONFIG_COUNT"):
        errs = set()
        for verb, value in (("set", "/usr"), ("merge", "/usr"),
                            ("prepend", "/usr"), ("inherit", "yes"),
                            ("sanitise", "yes")):
            environ(p, "x", "[environ.%s]\n%s = %s\n" % (verb, name, value))
            for env in ({}, {name: ""}, {name: "/usr/lib"}):
                r = p.do("run", "-p", "x", "--", "echo", MARK,
                         env=dict(p.env, **env))
                errs.add((verb, r.code, r.out, r.err))
        ok(len(errs) == 5 and all(e[1] == OWN and e[2] == "" and
                                  "is code" in e[3] for e in errs),
           "R033 R037 %s: refused at all verbs, whatever the host has" % name,
           errs)
    p.unprofile("x")


def scalars(p):
    # R030, S43
    environ(p, "i", "[environ.inherit]\nNO_COLOR = yes\nCOLORTERM = yes\n")
    equal(got(p, "NO_COLOR", "i", NO_COLOR=""), "", "R030 set and empty")
    equal(got(p, "NO_COLOR", "i"), "(unset)", "R030 unset")
    equal(got(p, "NO_COLOR"), "(unset)", "R030 control: nobody inherits")
    ok(row(screen(p, "i"), "unset", "COLORTERM", "inherit i:5",
           "not set on this host"), "R030 and the screen says so")
    # R032: bytes of the host come as they are, and no screen shows them raw
    odd = "a\nb\x1b[2J\u202e"
    equal(got(p, "COLORTERM", "i", COLORTERM=odd), odd,
          "R032 a value of the host is carried as it is")
    text = screen(p, "i", COLORTERM=odd)
    ok("a\\x0ab\\x1b[2J" in text and "\u202e" not in text and
       "\x1b" not in text, "R032 S92 and escaped on the screen", text)
    # R034, S51
    environ(p, "a", "[environ.set]\nEDITOR = vi\n")
    environ(p, "b", "[environ.set]\nEDITOR = nano\n")
    environ(p, "c", "[environ.set]\nEDITOR = vi\n")
    environ(p, "h", "[environ.inherit]\nEDITOR = yes\n")
    equal(got(p, "EDITOR", "a", "c", "h", EDITOR="vi"), "vi",
          "R023 R034 equal values agree")
    equal(got(p, "EDITOR", "a", "h"), "vi",
          "S43 R023 what is unset on the host cannot disagree")
    r1 = p.refused("R034 two values: refused", "-p", "a", "-p", "b",
                   has=('"vi" (set of a', '"nano" (set of b', "EDITOR"))
    r2 = p.refused("R034 the other way round", "-p", "b", "-p", "a")
    ok(r1 and r2 and r1.err == r2.err, "R034 the same bytes")
    env = dict(p.env, EDITOR="emacs")
    r1 = p.refused("R023 S51 set against inherit: refused", "-p", "a", "-p",
                   "h", env=env, has=("set of a", "inherit of h", "emacs"))
    r2 = p.refused("R023 S51 the other way round", "-p", "h", "-p", "a",
                   env=env)
    ok(r1 and r2 and r1.err == r2.err, "R023 S51 the same bytes")
    r = p.wide("explain", "-p", "h", "-p", "a", "--", "true", env=env)
    ok(r.code == OWN and "REFUSED" in r.out and "emacs" in r.out,
       "S51 S90 explain shows it", r)
    env["EDITOR"] = ""
    p.refused("S43 S51 an empty value is a value", "-p", "a", "-p", "h",
              env=env, has=("inherit of h",))
    # marks
    environ(p, "m", "[environ.set]\nFOO = {home}/x\nPAGER = less\n"
            "[environ.inherit]\nGH_TOKEN = yes\n")
    text = screen(p, "m", GH_TOKEN="hidden-value")
    ok(row(text, "FOO", "set m:4", "<- unchecked"), "S45 unchecked", text)
    ok(row(text, "GH_TOKEN", "inherit m:7", "<- credential"),
       "S54 credential", text)
    ok("hidden-value" not in text, "S54 its value is on no screen", text)
    ok(row(text, "PAGER", "set m:5", "<- programs run it"),
       "S46 PAGER is marked", text)
    equal(got(p, "GH_TOKEN", "m", GH_TOKEN="hidden-value"), "hidden-value",
          "S54 control: inside it is there")
    equal(got(p, "FOO", "m"), p.home + "/x", "S21 placeholders")
    # R017: a value that names what is not there
    environ(p, "m", "[environ.set]\nCARGO_HOME = /opt/none/cargo\n"
            "FOO = /opt/none\nBAR = /usr\n[environ.merge]\n"
            "NODE_PATH = /opt/none\n[environ.inherit]\nEDITOR = yes\n",
            ["try-read = /opt/none"], ["@sys"])
    text = screen(p, "m", EDITOR="/opt/none/vi")
    for name in ("CARGO_HOME=", "FOO=", "element", "EDITOR="):
        ok(row(text, name, "/opt/none", "<- not granted (0 grants inside)"),
           "R017 %s: what nothing grants is marked" % name, text)
    ok(not row(text, "BAR=/usr", "not granted"), "R017 control", text)
    ok(all("(carrel)" in x or "element by element" in x or re.search(
        r" (set|merge|inherit) (m|@home):\d+", x) for x in text.splitlines()[1:]),
       "R017 no row without a claimant", text)
    p.unprofile()


def lists(p):
    for d, word in (("m", "MERGED"), ("f", "FRONT"), ("h", "HOST")):
        p.write(p.top + "/%s/bin/tool" % d, "#!/bin/sh\necho %s\n" % word,
                0o755)
        p.write(p.top + "/%s/bin/only-%s" % (d, d),
                "#!/bin/sh\necho %s\n" % word, 0o755)
    m, f, h = (p.top + "/%s/bin" % d for d in "mfh")
    environ(p, "m", "[environ.merge]\nPATH = %s\n" % m, ["read = " + m])
    environ(p, "f", "[environ.prepend]\nPATH = %s\n" % f, ["read = " + f])
    equal(got(p, "PATH", "m"), m + ":" + BASE_PATH, "S48 merge")
    equal(got(p, "PATH", "m", "f"), ":".join((f, m, BASE_PATH)),
          "S48 prepend goes before merge")
    equal(got(p, "PATH", "f", "m"), ":".join((f, m, BASE_PATH)),
          "S3 in any order")
    # R036, S61: the payload is looked for inside
    env = dict(p.env, PATH=h + ":" + BASE_PATH)
    r = p.do("run", "-p", "m", "--", "only-h", env=env)
    ok(r.code == NOTFOUND and "only-h" in r.err and m in r.err,
       "R036 B033 only on the host's PATH: not found, and where", r)
    r = p.host("only-h", env=env)
    ok(r.out == "HOST\n", "R036 control: the host has it", r)
    r = p.do("run", "-p", "m", "--", "only-m", env=env)
    ok(r.out == "MERGED\n", "R036 only inside: it runs", r)
    r = p.do("run", "-p", "m", "--", "tool", env=env)
    ok(r.out == "MERGED\n", "R036 S61 both have it: the profile's copy", r)
    r = p.do("run", "-p", "m", "-p", "f", "--", "tool", env=env)
    ok(r.out == "FRONT\n", "R036 S61 the one in front", r)
    p.write(p.top + "/m/bin/script", "#!/opt/none/perl\n", 0o755)
    r = p.do("run", "-p", "m", "--", "script")
    ok(r.code in (NOTEXEC, NOTFOUND) and "/opt/none/perl" in r.err,
       "B033 a script whose interpreter is not granted", r)
    # S48, S55: what is staged comes below what profiles add
    environ(p, "s", "[environ.sanitise]\nPATH = yes\n", [
        "command = %s/only-h" % h, "command = %s/tool" % h])
    equal(got(p, "PATH", "m", "s", PATH="/run/carrel/bin/x:/usr/games"),
          ":".join((m, "/usr/games", "/run/carrel/bin", BASE_PATH)),
          "S48 staging goes between sanitise and the base")
    equal(got(p, "PATH", "s", PATH="/usr/games:/run/carrel/bin"),
          ":".join(("/usr/games", "/run/carrel/bin", BASE_PATH)),
          "S48 also when the host's list names it")
    r = p.sh("only-h; tool", "-p", "m", "-p", "s")
    ok(r.out == "HOST\nMERGED\n", "S48 S61 so a merged copy runs first", r)
    # R035, S50
    environ(p, "g", "[environ.prepend]\nPATH = %s\n" % m, ["read = " + m])
    r1 = p.refused("R035 two sequences: refused", "-p", "f", "-p", "g",
                   has=('"%s" (prepend of f' % f, '"%s" (prepend of g' % m))
    r2 = p.refused("R035 the other way round", "-p", "g", "-p", "f")
    ok(r1 and r2 and r1.err == r2.err, "R035 the same bytes")
    # R024, S52
    environ(p, "n", "[environ.merge]\nPATH = /opt/nowhere/bin\n")
    r = p.refused("R024 no grant: refused", "-p", "n",
                  has=("n.profile:4", "/opt/nowhere/bin"))
    environ(p, "n", "[environ.merge]\nPATH = %s\n" % m)
    p.refused("R024 S52 the grant of another profile does not count", "-p",
              "n", "-p", "m", has=("n.profile:4",))
    environ(p, "n", "[environ.merge]\nPATH = %s\n" % m, include=["m"])
    equal(got(p, "PATH", "n"), m + ":" + BASE_PATH,
          "R024 S52 control: one that is included does")
    # provenance, element by element
    text = screen(p, "m", "f")
    ok(row(text, "element", f, "prepend f:6") and
       row(text, "element", m, "merge m:6") and
       row(text, "element", "/usr/bin", "(carrel)"), "R017 S91 provenance", text)
    p.unprofile()


def sanitised(p):
    m = p.top + "/m/bin"
    environ(p, "s", "[environ.sanitise]\nPATH = yes\nINFOPATH = yes\n",
            ["read = " + m, "tmpfs = /opt/t", "symlink = /opt/l -> /usr"])
    # R025
    path = ":".join((m, "/tmp/bin", "/srv/none", "/opt/t/x", "/usr/games",
                     "/opt/l/bin"))
    equal(got(p, "PATH", "s", PATH=path),
          ":".join((m, "/usr/games", "/opt/l/bin", BASE_PATH)),
          "R025 what is granted stays, in the host's order")
    text = screen(p, "s", PATH=path)
    ok(row(text, "/tmp/bin", "sanitise s:8", "only an empty writable tmpfs")
       and row(text, "/opt/t/x", "only an empty writable tmpfs") and
       row(text, "/srv/none", "nothing grants it"),
       "R025 each drop with its reason", text)
    r = p.do("run", "-v", "-p", "s", "--", "true",
             env=dict(p.env, PATH=path))
    ok('PATH: "/srv/none"' in r.err and "nothing grants it" in r.err,
       "S53 -v tells, too", r)
    r = p.do("run", "-p", "s", "--", "true", env=dict(p.env, PATH=path))
    ok(r.code == 0 and r.err == "", "S53 a plain run does not", r)
    # R026: a program planted where magic links lead
    p.write("id", "#!/bin/sh\necho PLANTED\n", 0o755)
    env = dict(p.env, PATH="/proc/self/cwd:/proc/self/root/%s:%s" %
               (p.proj, BASE_PATH))
    r = p.do("run", "-p", "s", "--", "id", "-u", env=env)
    equal(r.out, "%d\n" % UID, "R026 the real id runs")
    r = p.do("run", "-p", "s", "--", "sh", "-c", "id -u", env=env)
    equal(r.out, "%d\n" % UID, "R026 also from a shell inside")
    ok(row(screen(p, "s", **env), "/proc/self/cwd", "only /proc or /dev"),
       "R026 the reason")
    r = p.do("run", "-p", "s", "--", "sh", "-c",
             "PATH=/proc/self/cwd:$PATH; id", env=env)
    equal(r.out, "PLANTED\n", "R026 control: with it the planted one runs")
    # R027: no empty element is ever made
    p.write("victim", "#!/bin/sh\necho VICTIM\n", 0o755)
    bad = ["/proc/self/cwd", "/srv/none", "", "/tmp/x", "."]
    for i in range(len(bad) + 1):
        path = ":".join(bad[:i] + [m] + bad[i:])
        r = p.do("run", "-p", "s", "--", "sh", "-c",
                 'echo "$PATH"; victim', env=dict(p.env, PATH=path))
        ok(r.out == m + ":" + BASE_PATH + "\n" and r.code == NOTFOUND,
           "R027 one survivor at place %d" % i, r)
        # the list with what is dropped cut out of the string
        naive = ":".join("" if x in bad else x for x in path.split(":"))
        r = p.sh("PATH='%s'; victim" % naive, "-p", "s")
        equal(r.out, "VICTIM\n",
              "R027 control: edited as a string it finds what is planted", r)
    r = p.sh('PATH=$PATH: ; victim')
    equal(r.out, "VICTIM\n", "R027 control: an empty element finds it")
    # R028
    for what, path in (("all dropped", "/tmp:/proc/self/cwd:"),
                       ("empty", ""), ("only separators", ":::")):
        equal(got(p, "PATH", "s", PATH=path), BASE_PATH,
              "R028 PATH %s: carrel's own" % what)
        equal(got(p, "INFOPATH", "s", INFOPATH=path), "(unset)",
              "R028 another list %s: unset" % what)
    equal(got(p, "INFOPATH", "s"), "(unset)", "R028 unset: unset")
    equal(got(p, "INFOPATH", "s", INFOPATH="/usr/share/info"),
          "/usr/share/info", "R028 control")
    e = {k: v for k, v in p.env.items() if k != "PATH"}
    r = p.do("run", "-p", "s", "--", "sh", "-c", "echo $PATH", env=e)
    equal(r.out, BASE_PATH + "\n", "R028 R029 no PATH at all on the host")
    p.unprofile()


def writable(p):
    """R038, S55: who may write where programs are looked for."""
    shipped = sorted(x[:-8] for x in os.listdir(
        INST + "/share/carrel/profiles") if x.endswith(".profile"))
    ok("sys" in shipped and len(shipped) > 3, "S55 the shipped profiles")
    os.makedirs(p.proj + "/sub", exist_ok=True)
    script = ("echo %s; IFS=:; for d in $PATH; do mkdir -p $d 2>/dev/null; "
              "touch $d/planted 2>/dev/null && echo LEAK $d; "
              "( : > $d/planted2 ) 2>/dev/null && echo LEAK $d; done; true" %
              MARK)
    for name in shipped:
        opt = ["--no-defaults", "-p", "@sys", "-p", "@" + name, "-C",
               p.proj + "/sub"]
        r = p.wide("explain", *opt, "--", "true")
        ok(r.code == 0 and "writable from inside" not in r.out,
           "S55 @%s puts nothing writable on PATH" % name, r)
        r = p.do("run", *opt, "--", "sh", "-c", script)
        ok(r.code == 0 and r.out == MARK + "\n",
           "R038 @%s: no element of PATH can be written" % name, r)
    os.makedirs(p.proj + "/bin", exist_ok=True)
    environ(p, "w", "[environ.merge]\nPATH = {target}/bin\n",
            include=["@target"])
    text = screen(p, "w")
    ok(row(text, "element", p.proj + "/bin", "<- writable from inside"),
       "R038 S54 control: one that can is marked", text)
    r = p.do("run", "-p", "w", "--", "sh", "-c", script)
    ok("LEAK %s/bin" % p.proj in r.out, "R038 control: and is writable", r)
    environ(p, "t", "[environ.prepend]\nPATH = /opt/t/in/ro\nPATH = /opt/t/in"
            "\n", ["tmpfs = /opt/t", "read = /usr/share -> /opt/t/in/ro"])
    text = screen(p, "t")
    ok(row(text, "/opt/t/in ", "<- writable from inside") and
       not row(text, "/opt/t/in/ro", "writable"),
       "S54 a directory of carrel's in a tmpfs, too", text)
    p.unprofile()


def hosted(p):
    """Profiles of the host (S46, S47, B031, B032), in a private /etc."""
    def run(body, *argv, **env):
        return p.etc({"profiles.d/hp.profile": HEAD + body}, *argv, env=dict(
            HOME=p.home, PATH="/usr/bin:/bin", **env))
    for name, value, why in (
            ("LD_BIND_NOW", "1", "the dynamic loader obeys it"),
            ("GIT_SSH", "/usr/bin/ssh", "git runs it"),
            ("PS4", "x", "a shell expands it")):
        body = "[environ.set]\n%s = %s\n" % (name, value)
        r = run(body, "explain", "-p", "hp", "--", "true")
        ok(r.code == 0 and row(unfold(r.out), name + "=", "set hp:4", "<- code:",
                               why), "S46 the host sets %s" % name, r)
        r = run(body, "run", "-p", "hp", "--", "printenv", name)
        equal(r.out, value + "\n", "B032 S46 and it reaches the payload")
    lib = "[fs]\nread = %s/m\n[environ.set]\nLD_PRELOAD = %s/m/x.so\n" % (
        p.top, p.top)
    r = run(lib, "run", "-p", "hp", "--", "/bin/sh", "-c", "echo $LD_PRELOAD")
    ok(r.out == p.top + "/m/x.so\n", "B032 one element of LD_PRELOAD", r)
    r = run(lib.replace("read = %s/m" % p.top, "read = /usr"), "run", "-p",
            "hp", "--", "true")
    ok(r.code == OWN and "granted neither" in r.err,
       "S52 a profile of the host grants what it names, too", r)
    body = "[environ.inherit]\nTZDIR = yes\nBASH_ENV = yes\n"
    r = run(body, "explain", "-p", "hp", "--", "true", TZDIR="/srv/zones")
    ok(row(unfold(r.out), "TZDIR=/srv/zones", "<- code:") and
       row(unfold(r.out), "unset", "BASH_ENV", "<- code:"),
       "B031 S46 what the host lets in is marked", r)
    r = run("[environ.set]\nHOME = /x\n", "run", "-p", "hp", "--", "true")
    ok(r.code == OWN and "carrel's own" in r.err,
       "S47 nor does the host write carrel's own names", r)


with Place() as p:
    verbs(p)
    scalars(p)
    lists(p)
    sanitised(p)
    writable(p)
    if IS_ROOT:
        hosted(p)

    # S54: what nothing grants is told with what lies in it
    r = p.wide("explain", "--no-defaults", "-p", "@sys", "-p", "@target", "--",
             "true")
    ok(re.search(r"HOME=.*<- not granted \(1 grant inside\)", r.out),
       "S54 HOME", r.out)
    r = p.wide("explain", "--no-defaults", "--", "true")
    ok(re.search(r"element +/usr/bin .*<- not granted \(0 grants inside\)",
                 r.out) and
       re.search(r"SHELL=.*<- not granted \(0 grants inside\)", r.out),
       "S54 PATH and SHELL", r.out)
    # B031: TZ without the file that it names
    env = dict(p.env, TZ="Europe/Vienna")
    r = p.do("run", "--", "date", "+%Z", env=env)
    ok(r.out in ("CET\n", "CEST\n"), "B031 control: the zone is there", r)
    p.fs("bin", "read = /usr/bin", "try-read = /usr/lib", "try-read = /lib",
         "try-read = /lib64", "try-read = /usr/lib64")
    r = p.do("run", "--no-defaults", "-p", "bin", "--", "date", "+%Z",
             env=env)
    ok(r.out == "UTC\n", "B031 S47 without its file it is UTC, and says so",
       r)
    r = p.wide("explain", "--no-defaults", "-p", "bin", "--", "true", env=env)
    ok(re.search(r"unset +TZ .*zone of the host is not granted", r.out),
       "B031 and the screen tells", r.out)
    environ(p, "z", "[environ.inherit]\nTZDIR = yes\n")
    p.refused("B031 TZDIR is code: refused", "-p", "z", has=("TZDIR",))

    # S56
    conf = p.conf + "/config"
    p.write(conf, "[carrel]\nprompt = <{lock}|{profiles}|{target}> {cwd}\n")
    equal(got(p, "PS1", PS1="evil"),
          "<[carrel]|@home @sys @target|%s> \\w " % p.proj,
          "S56 the prompt is a preference")
    d = p.write("$(touch x)/y", "")
    r = p.do("run", "-C", os.path.dirname(d), "--", "sh", "-c",
             "echo \"$PS1\"")
    ok("$" not in r.out and "`" not in r.out,
       "S56 a directory's name in it is only text", r)
    for bad in ("{home}", "{", "a\x1b[1A", ""):
        p.write(conf, "[carrel]\nprompt = %s\n" % bad)
        p.refused("S56 prompt = %r: refused" % bad, has=("config:2",))
    os.unlink(conf)
done()
