#!/usr/bin/python3
"""S92, R015: what a file, a variable of the host, a path or a word of the
command line holds never comes out raw, on no screen and in no error.

Each carrier puts one odd text somewhere; each screen is then asked for. The
texts hold what moves the cursor, reorders or hides; in front of each stands
"Q7", so that its escaped form can be looked for: a carrier that is on no
screen tests nothing."""
import os
import socket
import unicodedata
from tap import *

# one group at a time: what refuses one kind must not hide the next from us
GROUPS = {
    "controls": "Q7\x1b[2J\x1b[1A\r\a\b\t\x7f\x0b\x0e",
    "C1": "Q7\x80\x85\x9b2J\x9f",
    "bidi": "Q7\u202e\u202a\u2066\u2069\u200f\u061c\u200e",
    "invisible": "Q7\u200b\u200c\u2060\ufeff\u00ad\u2028\u2029\u2800\u3164"
                 "\u034f\u115f\ufe0f\U000e0041",
    "no UTF-8": "Q7\udc9b2J\udcff\udce2\udc80\udcc0\udc80",
    "lines": "Q7\nFILESYSTEM\n  ro        /etc                (carrel)\ncarrel: ",
}
# Zs that shows as a blank may stand between other characters
PLAIN = {" ", "\u00a0", "\u3000", "\n"}


def raw(data):
    """What is in there that no screen may have."""
    text = data.decode("utf-8", "surrogateescape")
    bad = {c for c in text if c not in PLAIN and (
        unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp", "Zs") or
        c in "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufe0f")}
    return bad, text


def errors(p, *options, command=("true",), **kw):
    """What carrel says to these options: to a run, and as a screen."""
    out = []
    for argv in (["explain", *options, "--", *command],
                 ["run", "-v", *options, "--", *command]):
        out.append((argv, p.do(*argv, **kw)))
    return out


def screens(p, *options, command=("true",), **kw):
    """Every way to make carrel speak, with these options."""
    out = errors(p, *options, command=command, **kw)
    for argv in (["run", "-n", *options, "--", *command],
                 ["run", *options, "--", *command]):
        out.append((argv, p.do(*argv, **kw)))
    for argv in (["why", *options, "/usr"], ["why", *options, "/none"],
                 ["why", *options, "--json", "$EDITOR"],
                 ["explain", "--diff", *options, "-p", "@net", "--", *command],
                 ["why", *options, "$PATH"],
                 ["explain", "--json", *options, "--", *command]):
        out.append((argv, p.do(*argv, **kw)))
    argv = ["explain", *options, "--", *command]
    return out + [(argv + ["on a terminal"], p.wide(*argv, **kw))]


def installed(p, *names, **kw):
    """The screens of what is installed, and of these profiles."""
    out = []
    for argv in (["profile", "list"], ["profile", "tree"], ["profile", "dot"],
                 ["config"], ["profile", "list", "--json"],
                 ["config", "--json"], *(["profile", "show", x, *j]
                                         for x in names
                                         for j in ([], ["--json"]))):
        out.append((argv, p.do(*argv, **kw)))
    return out


def judge(name, results, shown=True):
    """No result has anything raw; its escaped form is in one of them."""
    bad, seen = [], False
    for argv, r in results:
        for data in (r.raw, r.rawerr):
            found, text = raw(data)
            if found:
                bad.append((argv, found, r))
            seen |= "Q7\\x" in re.sub(r"\s", "", text)
            # no line of an error, and no heading, is made by a value
            if data is r.rawerr and any(
                    not x.startswith("carrel: ") for x in text.split("\n")
                    if x):
                bad.append((argv, "a line that is not carrel's", r))
            if len(re.findall(r"(?m)^FILESYSTEM", text)) > 1:
                bad.append((argv, "a forged heading", r))
    ok(not bad, "S92 R015 %s: nothing raw" % name, *bad[:2])
    if shown:
        ok(seen, "S92 %s: control: it was there, escaped" % name,
           *[r for _, r in results[:2]])
    return seen


def b(text):
    return text.encode("utf-8", "surrogateescape")


HEAD = b"[profile]\ndescription = test\n"


def files(p, group, odd):
    """Carriers that are files of the user."""
    # where a value may stand in a profile; %s is the odd text
    one = odd.replace("\n", "\\n")    # a line is a line
    seen = 0
    for what, body in (
            ("a description", "[profile]\ndescription = %s\n"),
            ("an abuse", "[profile]\nabuse = %s\n"),
            ("an include", "[profile]\ninclude = %s\n"),
            ("a section", "[%s]\nread = /usr\n"),
            ("a section behind a dot", "[environ.%s]\nA = b\n"),
            ("a key", "[fs]\n%s = /usr\n"),
            ("a line without a key", "%s\n"),
            ("a path", "[fs]\nread = /srv/%s\n"),
            ("a quoted path", "[fs]\nread = \"/srv/%s x\"\n"),
            ("a path inside", "[fs]\nread = /usr -> /%s\n"),
            ("a try- path", "[fs]\ntry-read = /srv/%s\n"),
            ("a tmpfs", "[fs]\ntmpfs = /%s size=%s\n"),
            ("a symlink's text", "[fs]\nsymlink = /x -> %s\n"),
            ("a symlink", "[fs]\nsymlink = /%s -> /usr\n"),
            ("a command", "[fs]\ncommand = /usr/bin/true -> %s\n"),
            ("a command's source", "[fs]\ncommand = /%s/x\n"),
            ("a socket", "[fs]\nsocket = /srv/%s\n"),
            ("a device", "[fs]\ndevice = /dev/%s\n"),
            ("a placeholder", "[fs]\nread = {%s}\n"),
            ("a name of a variable", "[environ.set]\n%s = x\n"),
            ("a name that is inherited", "[environ.inherit]\n%s = yes\n"),
            ("a value", "[environ.set]\nEDITOR = %s\n"),
            ("a value of an owned name", "[environ.set]\nHOME = %s\n"),
            ("a path in a variable", "[environ.set]\nCARGO_HOME = /%s\n"),
            ("an element", "[environ.merge]\nPATH = /%s\n"),
            ("an element in front", "[environ.prepend]\nPATH = /%s\n"),
            ("what is no yes", "[environ.inherit]\nCI = %s\n"),
            ("a way out", "[egress]\n%s = %s\n"),
            ("a tool's name", "[tool %s]\neffect = none\n"),
            ("a tool's description", "[tool x]\ndescription = %s\n"),
            ("a tool's effect", "[tool x]\neffect = %s\n"),
            ("a need", "[tool x]\nneeds = write /%s\n"),
            ("a need of the network", "[tool x]\nneeds = allow %s\n"),
            ("an example", "[example x]\nrun = cat %s\n"),
            ("an exit code", "[example x]\nrun = cat\nexpect-exit = %s\n"),
            ("what an example says", "[example x]\nrun = sh -c \"cat; "
             "exit 1\"\nstdin = %s\n")):
        p.write(p.layer + "/x.profile", b(body.replace("%s", one)))
        # an empty name and the like are refused with nothing to show
        seen += judge("%s in %s" % (group, what), errors(p, "-p", "x") + [
            (v, p.do("profile", *v.split(), "x"))
            for v in ("validate", "lint", "lint --strict", "lint --json",
                      "test", "test --json")] +
            installed(p, "x"), shown=False)
        # what a pack is told
        p.write("x.profile", b(body.replace("%s", one)))
        judge("%s in %s of a pack" % (group, what),
              errors(p, "-f", "x.profile"), shown=False)
    if group in ("C1", "bidi", "invisible"):   # others are refused unseen
        ok(seen > 15, "S92 control: %s was there, escaped, in %d" % (
            group, seen))
    p.unprofile()
    for what, body in (("a default", "[carrel]\ndefaults = %s\n"),
                       ("a prompt", "[carrel]\nprompt = %s\n"),
                       ("a key of the configuration", "[carrel]\n%s = x\n"),
                       ("a section of the configuration", "[%s]\n")):
        p.write(p.conf + "/config", b(body.replace("%s", one)))
        judge("%s in %s" % (group, what), screens(p) + installed(p),
              shown=False)
        judge("%s in %s, a shell" % (group, what),
              [(["shell"], p.do("shell"))], shown=False)
    os.unlink(p.conf + "/config")


def words(p, group, odd):
    """Carriers that are words of the command line, and its own name."""
    for argv in ([odd], ["run" + odd], ["run", "--" + odd], ["run", "-" + odd],
                 ["run", "-p", odd, "--", "true"],
                 ["explain", "-p", "@" + odd], ["profile", "x" + odd],
                 ["profile", "show", odd], ["why", odd], ["why", "/" + odd],
                 ["import", odd], ["import", "bwrap", "--" + odd],
                 ["import", "bwrap", "--", "--bind", odd, "/x" + odd],
                 ["import", "bwrap", "--setenv", "A" + odd, odd],
                 ["import", "bwrap", "--hostname", odd],
                 ["import", "bwrap", "--tmpfs", "/x", odd],
                 ["why", "$" + odd],
                 ["why", odd + ".a:1"], ["run", "-C", "/srv/" + odd],
                 ["run", "--status-fd", odd, "--", "true"],
                 ["explain", "--events", odd, "--", "true"],
                 ["run", "--events", odd, "--", "true"],
                 ["run", "--", "/srv/" + odd], ["run", "--", odd],
                 ["run", "-f", odd, "--", "true"],
                 ["run", "-f", odd + "/x.profile", "--", "true"],
                 ["profile", odd], ["profile", "validate", odd],
                 ["profile", "lint", "-f", odd + ".profile"],
                 ["explain", "--", "true", odd], ["--" + odd],
                 ["learn", "-o", "/none" + odd + "/x", "true"]):
        judge("%s in the words %s" % (group, [x for x in argv if x != odd]),
              [(argv, p.do(*map(b, argv)))])
    judge("%s in what no command takes" % group,
          [(["doctor"], p.do("doctor", b(odd)))] +
          [(argv, p.do(*argv, b(odd))) for argv in (
              ["profile", "list"], ["profile", "dot"], ["config"],
              ["profile", "tree", "--json"], ["why", "--json", "/usr"])] +
          [(["why", "--json"], p.do("why", "--json", b("/" + odd)))],
          shown=False)
    r = p.host("python3", "-c", "import os, sys\nos.execv(%r, "
               "[os.fsencode(sys.argv[1]), b'frob'])" % CARREL, b(odd))
    judge("%s in carrel's own name" % group, [("argv[0]", r)], shown=False)


def variables(p, group, odd):
    """Carriers that are variables of the host."""
    p.profile("v", HEAD.decode() + "[environ.inherit]\nCI = yes\nOWN = yes\n"
              "LC_ALL = yes\nEDITOR = yes\n[environ.sanitise]\nPATH = yes\n"
              "INFOPATH = yes\nCLASSPATH = yes\n")
    p.profile("w", HEAD.decode() + "[environ.set]\nEDITOR = vi\n")
    for name in ("CI", "OWN", "LC_ALL", "EDITOR", "PATH", "INFOPATH",
                 "CLASSPATH"):
        value = odd if "PATH" not in name else "/srv/%s:%s:/usr/%s" % (
            odd, odd, odd)
        judge("%s in the host's %s" % (group, name),
              screens(p, "-p", "v", env=dict(p.env, **{name: b(value)})))
    judge("%s in an inherited value that disagrees" % group, screens(
        p, "-p", "v", "-p", "w", env=dict(p.env, EDITOR=b(odd))))
    for name in ("TERM", "LANG", "TZ", "HOME", "XDG_CONFIG_HOME", "SHELL",
                 "USER", "LOGNAME", "PS1", "TMPDIR", "NO_COLOR", "COLUMNS",
                 "PWD", "LC_MESSAGES"):
        for value in (odd, "/" + odd):
            r = errors(p, env=dict(p.env, **{name: b(value)}))
            r += [(["doctor"], p.do("doctor", env=dict(
                p.env, **{name: b(value)})))]
            judge("%s in the host's %s" % (group, name), r, shown=False)
    p.unprofile()


def paths(p, group, odd):
    """Carriers that are names of directories and files of the host."""
    d = p.top + "/d" + odd.replace("/", "-")
    for sub in ("in", "home/.config/carrel/profiles.d", "home/proj"):
        os.makedirs(b(d + "/" + sub))
    judge("%s in the target" % group, screens(p, "-C", b(d)))
    judge("%s in the working directory" % group, screens(p, cwd=b(d)))
    env = dict(p.env, HOME=b(d + "/home"))
    judge("%s in the home" % group, screens(
        p, env=env, cwd=b(d + "/home/proj")))
    p.write(d + "/home/.config/carrel/profiles.d/x.profile", "frob\n")
    judge("%s in the path of a profile" % group, screens(
        p, "-p", "x", env=env) + installed(p, "x", env=env))
    p.write(d + "/home/.config/carrel/config", "frob\n")
    judge("%s in the path of the configuration" % group, screens(
        p, env=env) + installed(p, env=env))
    p.write(d + "/home/.config/carrel/profiles.d/%s.profile" %
            odd.replace("/", "-"), "[profile]\n")
    judge("%s in the name of a profile" % group, installed(p, odd, env=env))
    # where links lead, and what they are
    link = p.top + "/link"
    for what, to in (("a directory", d + "/in"), ("nowhere", d + "/none"),
                     ("a program", d + "/prog"), ("a socket", d + "/sock")):
        if what == "a program":
            p.write(to, "#!/bin/sh\n", 0o755)
        if what == "a socket":
            s = socket.socket(socket.AF_UNIX)
            here = os.open(b(d), os.O_PATH)
            s.bind("/proc/self/fd/%d/sock" % here)
            os.close(here)
            s.close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(link)
        os.symlink(b(to), link)
        for line in ("read = %s", "write = %s -> /w", "try-read = %s",
                     "command = %s -> c", "socket = %s -> /s"):
            p.fs("l", line % link)
            judge("%s in what a link leads to, %s: %s" % (
                group, what, line.split()[0]), errors(p, "-p", "l"),
                shown=False)
    os.unlink(link)
    os.symlink(b(d + "/in"), link)
    p.fs("l", "read = %s" % link)
    judge("%s in where a grant led" % group, screens(p, "-p", "l"))
    # a script whose interpreter is odd, and one that is not executable
    p.unprofile()
    p.write("script", b"#!/srv/" + b(odd.replace("\n", " ")) + b"\n", 0o755)
    p.write("n" + odd.replace("/", "-"), "x", 0o644)
    judge("%s in the interpreter of a script" % group,
          screens(p, command=("./script",)), shown=False)
    judge("%s in a program that cannot be executed" % group,
          screens(p, command=(b("./n" + odd.replace("/", "-")),)))
    p.write("fj", b"whitelist /srv/" + b(odd.replace("\n", " ")) +
            b"x\nenv A=" + b(odd.replace("\n", " ")) + b"\n")
    judge("%s in what is imported" % group,
          [(["import"], p.do("import", "firejail", "fj"))], shown=False)
    judge("%s in the name of what is imported" % group,
          [(["import"], p.do("import", "firejail", b(d)))])
    # what a run lacked, which is a file
    out = p.top + "/learned"
    for options in ([], ["--json"]):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(out)
        argv = ["learn", "-o", out, *options, "--", "test", "-e", b(d + "/in")]
        r = p.do(*argv)
        with open(out, "rb") as f:
            r.raw = f.read().replace(b"\\\\", b"\\")  # JSON's own
        judge("%s in what was learned %s" % (group, options), [(argv, r)])
    # the record of the status has its own escapes
    rd, wr = os.pipe()
    r = p.do("run", "--status-fd", str(wr), "-C", b(d), "--", b(odd),
             pass_fds=[wr])
    os.close(wr)
    with os.fdopen(rd, "rb") as f:
        status = f.read()
    ok(not raw(status)[0] and b'"event":"end"' in status,
       "S92 %s in the status: nothing raw" % group, status, r)


for group, odd in GROUPS.items():
    ok(raw(b(odd))[0] or group == "lines", "the judge knows %s" % group, odd)
    with Place() as p:
        files(p, group, odd)
        words(p, group, odd)
        variables(p, group, odd)
        paths(p, group, odd)
done()
