#!/usr/bin/python3
"""Every refusal, once, word for word as in regress/golden/refusals.txt (S2).

And the other way round: each text of two words or more in the sources below
must be in there, or in EXEMPT with the reason. So a new refusal without a row
here fails. make golden writes the file anew."""
import os
import socket
import struct
from tap import *
import golden

# Where texts for a person are.
SOURCES = ("child/parser/%s.c", """ceiling claim config coupling egress environ expand
    format graph judge layers pack reader resolve rule sandbox select tier tool value
    variable"""), (
    "child/monitor/%s.c", """account ask bound ceiling events events_file helper launch
    learn missing monitor monitor_control monitor_helpers monitor_patience
    options outcome outside patience"""), (
    "child/setup/%s.c", """network pack plan plan_env plan_exec plan_judge
    plan_list plan_own plan_pack plan_shape plan_start plan_trust"""), (
    "parent/%s.c", "start"), (
    "child/shared/%s.c", "ceiling ceiling_judge")

# (file, a regular expression for the whole text): why it is not below.
EXEMPT = [
    (".*", r"out of memory", "memory does not run out here"),
    ("reader", r"internal: .*|report this as a bug", "inih would have to err"),
    ("expand", r"\{user\} in .*|use \{uid\}|.* there is no target directory|"
     "name a directory with -C DIR", "the caller has a name and a target: "
     "unit/test_expand.c"),
    ("layers", r"have root run .*|must belong to root .*|profile .* is "
     "defined twice.*|rename one of them|belongs to another user",
     "only root can make it: run/profiles.t S11, S12"),
    ("pack", r"there is no target directory for .*|name a directory with -C "
     r"DIR", "the caller has a target: unit/test_pack.c"),
    ("ceiling|ceiling_judge", r".*", "only root can make a ceiling: "
     "run/ceiling.t, unit/test_ceiling.c"),
    ("value", r"write one path of the host, .*", "of a ceiling"),
    ("egress", r"write each of SCHEME, .*", "of a ceiling"),
    ("sandbox", r"add landlock to lsm=.*|use Linux 5.13 or .*|weaken this "
     ".*", "another kernel: unit/test_sandbox.c"),
    ("sandbox", r"core size|open files|processor time|lift the limits .*",
     "a caller's low limits: unit/test_sandbox.c, run/start.t V024"),
    ("claim", r"write another path|.* cannot be the text of a symbolic link",
     "its length depends on the home's: unit/test_resolve.c"),
    ("account", r"the home of .* has no place inside.*|the working "
     "directory's path is too long or odd.*|-C .* is not a directory.*",
     "the kernel has no such path"),
    ("helper", r"descriptors of .*", "a call that fails"),
    ("helper", r"vfork: .*|; too many processes, or .*|; a filter around .*",
     "the parser cannot be started: run/hosts.t V026"),
    ("account|start|monitor|monitor_helpers|launch|helper|ask", r"(getgroups|sigaction.*|"
     r"sigprocmask|setitimer|getrlimit|setrlimit|personality|no_new_privs|"
     r"socketpair|fork|signalfd|waitpid|close_range|a session keyring): .*|"
     r"timer slack: .*|"
     r"cannot ask .*|start .*",
     "a call that fails: hostile/failclosed.t"),
    ("start", r"close_range: .* later", "hostile/failclosed.t"),
    ("monitor_control", r"unexpected message .*|a bad message from inside.*",
     "pid 1 would have to lie"),
    ("learn", r"keep what was learned: .*|wait for .*|-o %s: %s; name a new "
     r"file|%s is there .*|-o %s: %s; what was learned follows here|"
     r"carrel-learned", "a call that fails, or a payload that makes the file: "
     "run/learn.t"),
    ("patience|monitor_patience", r"still .*|the payload was told .*|%lld s of .*|"
     r"%s; \^C ends it", "what takes long, on a terminal: run/slow.t"),
    ("missing", r"%s: tracing other processes .*", "run/threads.t S70"),
    ("monitor_helpers", r"what answers for .*", "run/exec.t S6"),
    ("monitor_helpers|outcome", r"cannot start what answers .*|; another sandbox around .*|"
     r"cannot give the payload .*", "a call that fails: "
     "hostile/failclosed.t, unit/test_notify.c"),
    ("events|monitor_helpers", r"--require-audit: .*|/dev/log: .*", "the host's "
     "log is there or not: run/audit.t"),
    ("events", r"--events .* lines are missing|%llu violation.*|  %s: .*|"
     r"  and %.*|  which ends .*|no match", "run/events.t has violations"),
    ("events_file", r"belongs to another user", "run/events.t"),
    ("monitor_helpers", r"a bad event from a helper.*", "a helper would have to: "
     "unit/test_event.c"),
    ("outcome", r"the arguments and the environment are too long .*",
     "run/exit.t B010"),
    ("ask", r"%s(was|used|crashed|find the|failed|gave|has not|ended|does not).*|"
     r"(was|used|crashed) .*|%s .*|the policy has more than .*|"
     r"out of memory for the policy", "a parser that fails: hostile/lies.t"),
    ("plan", r"the grants lie too deep for their number: .*",
     "some thousand grants: hostile/lies.t, unit/test_bounds.c"),
    ("network", r"tell carrel-broker %s|make .*|let the .*|the socket .*",
     "a call that fails: hostile/failclosed.t"),
    ("network", r"\[egress\] allows more than .*",
     "more than 1,024 sockets: run/egress.t"),
    ("network", r"carrel-broker is not ready .*", "run/egress.t R061"),
    ("network", r"what is allowed|which hosts are allowed|of its sockets",
     "parts of the first of these"),
    ("outside", r"%s %s %d while .*|was ended by signal|ended with|the socket "
     r"factory", "run/egress.t R062"),
    ("launch", r"set dumpable: .*", "a call that fails"),
    ("launch", r"hosted mode writes to .*", "run/hosted.t S104"),
    ("launch", r"new namespaces: .*", "unit/test_cause.c, run/start.t V027"),
    ("helper", r"%s has a second name, a hard link, .*", "run/install.t S7"),
    ("helper", r"the path of carrel's installation is too long",
     "longer than a path that the kernel takes"),
    ("plan_judge|start", r"File name too long|of no known kind",
     "unit/test_plan.c; the kernel has no such file"),
    ("start", r"the hard limit of the core size is 0, .*",
     "a host with a core handler: run/start.t S65"),
    ("plan_env|plan_list", r"<- .*|\(not shown\)|nothing grants it|it is .*|"
     r"it has a .*|it holds .*|only .* is there|element by element",
     "on a screen: run/variables.t"),
    ("bound", r"the wall time is over.*|a limit ended .*",
     "the ends of a run: run/limits.t, uml/cgroup.t"),
    ("bound", r"%s: cannot be enforced here: %s",
     "what this host lacks: uml/cgroup.t, unit/test_cgroup.c"),
    ("bound", r"unexpected limits %d from inside; the run ends",
     "pid 1 would have to lie: unit/test_limit.c"),
    ("format|pack|rule", r"there are more than %d lines in \[egress\], .*",
     "thousands of lines: unit/test_rule.c"),
    ("variable", r"write one element only", "no list of now can be set"),
    ("plan_judge", r"a block device|take it out: only character .*|"
     r"name each character .*|write .*device = .*|device = %s: leads to .*",
     "devices that not every host has: run/fs.t, unit/test_plan.c"),
    ("plan_trust", r"create it first: mkdir -p|a payload could make it",
     "an /etc that the caller may write: run/fs.t S7, unit/test_plan.c"),
]


def literals(path):
    """The string literals of a C file, neighbours joined, with a macro
    between them as one %s."""
    with golden.as_root(), open(SRC + "/" + path) as f:
        text = f.read()
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"(?m)^#include.*$", " ", text)
    one = r'"(?:[^"\\\n]|\\.)*"'
    for m in re.finditer(r"(?:[A-Z_]+\s+)?%s(?:\s*(?:[A-Z_]+\s*)?%s)*"
                         r"(?:\s*[A-Z_]{4,}\b)?" % (one, one), text):
        parts = re.findall(r'%s|[A-Z_]+' % one, m[0])
        yield "".join(x[1:-1] if x[0] == '"' else "%s" for x in parts)


def pattern(text):
    """What a printed message with this text matches."""
    text = re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(
        m[1], m[1]), text)
    out = ""
    for part in re.split(r"(%[-.*0-9]*(?:ll|l|z)?[a-z]|%%)", text):
        out += ".*" if re.fullmatch(r"%.*[a-z]", part) else \
            "%" if part == "%%" else re.escape(part)
    return out


def words(text):
    """How many words of its own a text has."""
    return len([x for x in re.split(r"\s+|\\.", text)
                if re.fullmatch(r"[(\"]*[A-Za-z][a-z-]+[:;,.)\"]*", x)])


HEAD = "[profile]\ndescription = test\n"


class Book:
    """The refusals in their order."""

    def __init__(self, p):
        self.p, self.text = p, ""

    def add(self, name, *argv, code=OWN, carrel=None, cut=False, **kw):
        """carrel ARGV ends with this code; its words are kept. cut: not what
        follows the first ";", which is advice about this host."""
        p = self.p
        p.carrel, old = carrel or CARREL, p.carrel
        r = p.do(*argv, **kw)
        p.carrel = old
        err = golden.plain(r.err, p)
        if cut:
            err = re.sub(r"(?m)(: Operation not permitted); .*", r"\1", err)
        ok(r.code == code and MARK not in r.out and
           all(x.startswith("carrel: ") for x in err.splitlines()),
           "%s: refused" % name, r)
        # how much fits depends on how long TOP is
        err = re.sub(r"v{20,}[v/.]*", "v...", err)
        err = re.sub(r"({home}){10,}", "{home}...", err)
        err = re.sub(r"(; tmpfs of x, [^;()]*:\d+){9,}", "; ...", err)
        err = re.sub(r"\band \d{2,} more", "and N more", err)
        self.text += "== %s\n%s" % (name, err)

    def keep(self, name):
        """The row as it is in the file: here it cannot be made."""
        m = re.search(r"^== %s\n.*?(?=^== |\Z)" % re.escape(name),
                      golden.read("refusals.txt"), re.M | re.S)
        skip("%s: refused" % name, "the caller cannot make it")
        self.text += m[0] if m else ""

    def file(self, name, body, *argv, raw=False):
        """A profile with this text."""
        self.p.write(self.p.layer + "/x.profile",
                     body if isinstance(body, bytes) else HEAD + body)
        self.add(name, "run", "--no-defaults", *(argv or ("-p", "x")), "--",
                 "echo", MARK)
        self.p.unprofile()

    def fs(self, name, *lines, other=(), default=False):
        """[fs] lines; other: those of a second profile."""
        self.p.fs("x", *lines)
        argv = ["-p", "x"]
        if other:
            self.p.fs("y", *other)
            argv += ["-p", "y"]
        self.add(name, "run", *([] if default else ["--no-defaults"]), *argv,
                 "--", "echo", MARK)
        self.p.unprofile()


with Place() as p:
    b = Book(p)
    p.write("plain", "x\n")
    T = p.top
    # the text of a profile
    for name, body in (
            ("without a name", "[tool]\neffect = none\n"),
            ("with an odd name", "[tool X]\neffect = none\n"),
            ("twice", "[tool x]\neffect = none\n[tool x]\n"
             "effect = none\n"),
            ("with two effects", "[tool x]\neffect = none\n"
             "effect = none\n"),
            ("with another effect", "[tool x]\neffect = all\n"),
            ("that needs no more than a path", "[tool x]\nneeds = /a\n"),
            ("that needs a command by its path",
             "[tool x]\nneeds = command /a\n"),
            ("that needs a lot", "[tool x]\n" + "needs = read /a\n" * 257)):
        b.file("a tool " + name, body)
    b.file("many tools", "".join("[tool t%d]\neffect = none\n" % i
                                 for i in range(1025)))
    for name, body in (
            ("that runs nothing", "stdin = x\n"),
            ("with odd quotes", 'run = "x\n'),
            ("with another exit", "run = x\nexpect-exit = 256\n")):
        b.file("an example " + name, "[example x]\n" + body)
    b.file("a report that there is not", "[audit]\nreport = reads\n")
    b.file("an unknown section", "[files]\nread = /usr\n")
    b.file("a section that subtracts", "[fs.deny]\nread = /usr\n")
    for line in ("write = {home}/proj", "socket = /run/x"):
        b.file("read-only, and " + line, "tier = read-only\n[fs]\n%s\n" %
               line)
    b.file("read-only, and inherited", "tier = read-only\n"
           "[environ.inherit]\nCI = yes\n")
    b.file("read-only, and a way out", "tier = read-only\n[egress]\n"
           "allow = https://example.org:443\n")
    b.file("read-only, and a tool of the network", "tier = read-only\n"
           "[tool x]\neffect = network\n")
    b.file("an unknown key", "[fs]\nraed = /usr\n")
    b.file("a key that subtracts", "[fs]\nmask = /usr\n")
    b.file("a key that is carrel's own", "packs = yes\n")
    b.file("no value", "[fs]\nread =\n")
    b.file("twice", "description = again\n")
    b.file("an include that is no name", "include = a/b\n")
    b.file("NUL", (HEAD + "[fs]\nread = /u\0sr\n").encode())
    b.file("carriage return", "[fs]\r\n")
    b.file("no UTF-8", HEAD.encode() + b"# \xff\n")
    b.file("a control character", "[fs]\nread = /\x1busr\n")
    b.file("no section", "[fs\n")
    b.file("a long section", "[%s]\n" % ("s" * 60))
    b.file("a long value", "[fs]\nread = /%s\n" % ("v" * 4096))
    b.file("a tab", "[fs]\nread = /a\tb\n")
    b.file("no equals sign", "[fs]\nread /usr\n")
    b.file("no key", "[fs]\n= /usr\n")
    b.file("outside a section", b"read = /usr\n")
    b.file("no key but words", "[fs]\na b = /usr\n")
    b.file("indented", "[fs]\n read = /usr\n")
    b.file("too long a file", "#" * 300000 + "\n")
    b.file("a BOM", ("\ufeff" + HEAD).encode())
    # values
    for name, line in (
            ("an odd quote", 'read = "/a'),
            ("a quote inside", 'read = /a"b'),
            ("an arrow inside", "read = /a->/b"),
            ("many words", "read = /a /b /c /d"),
            ("an arrow at the front", "read = -> -> /b"),
            ("an empty path", 'read = ""'),
            ("two paths", "read = /a /b"),
            ("a link without an arrow", "symlink = /a"),
            ("a tmpfs of two", "tmpfs = /a -> /b"),
            ("a tmpfs and a word", "tmpfs = /a mode=1"),
            ("a tmpfs of no size", "tmpfs = /a size=1Q"),
            ("a place that is carrel's", "tmpfs = /proc/x"),
            ("the whole host", "read = / -> /host"),
            ("a kernel interface", "read = /proc/1"),
            ("a brace", "read = /a{b"),
            ("an unknown placeholder", "read = {hom}/b"),
            ("too long when filled in", "read = %s/b" % ("{home}" * 600)),
            ("relative", "read = a/b"),
            ("a tilde", "read = ~/x"),
            ("a tilde alone", "read = ~"),
            ("not clean", "read = /usr//bin/."),
            ("dots", "read = /usr/../etc"),
            ("a socket below /dev", "socket = /dev/log"),
            ("a device as a file", "read = /dev/fuse"),
            ("the memory as a file", "read = /dev/mem"),
            ("a device that is there", "device = /dev/null"),
            ("a device elsewhere", "device = /usr"),
            ("a device of two", "device = /dev/a -> /dev/b"),
            ("a command that is no name", "command = /usr/bin/env -> a/b"),
            ("a command of three", "command = /usr/bin/env a b"),
            ("no such command", "command = /usr/bin/no-such-x"),
            ("no such socket", "socket = /run/no-such-x"),
            ("no such device", "device = /dev/no-such-x"),
            ("a command that is a directory", "command = /usr/bin"),
            ("a command that cannot run", "command = {home}/proj/plain"),
            ("a socket that is a file", "socket = /etc/passwd")):
        b.fs(name, line)
    for name, body in (
            ("code", "[environ.set]\nLD_PRELOAD = /x\n"),
            ("a list that nobody knows", "[environ.merge]\nFOO = /x\n"),
            ("a scalar as a list", "[environ.merge]\nEDITOR = x\n"),
            ("a place of the host", "[environ.inherit]\nCARGO_HOME = yes\n"),
            ("a list as a scalar", "[environ.set]\nPATH = /x\n"),
            ("not to be sanitised", "[environ.sanitise]\nMANPATH = yes\n"),
            ("a list without verbs", "[environ.merge]\nCDPATH = /x\n"),
            ("no name of a variable", "[environ.set]\n1A = x\n"),
            ("carrel's variable", "[environ.set]\nHOME = /x\n"),
            ("carrel's for later", "[environ.set]\nSSH_AUTH_SOCK = /x\n"),
            ("inherit of no", "[environ.inherit]\nCI = no\n"),
            ("inherit of more", "[environ.inherit]\nCI = 1\n"),
            ("a separator", "[environ.merge]\nPATH = /a:/b\n"),
            ("only a separator", "[environ.merge]\nPATH = :\n"),
            ("an empty element", "[environ.merge]\nPATH =\n"),
            ("an empty path of a variable", "[environ.set]\nCARGO_HOME =\n"),
            ("not granted", "[environ.merge]\nPATH = /opt/nowhere/bin\n"),
            ("much in front", "[fs]\nread = /usr\n[environ.prepend]\n" +
             "".join("PATH = /usr/%d\n" % i for i in range(65))),
            ("many lines", "[environ.set]\n" + "".join(
                "A%d = x\n" % i for i in range(4097))),
            ("a placeholder in a value", "[environ.set]\nEDITOR = {hom}/x\n"),
            ("a time without a unit", "[limits]\nwall-time = 5\n"),
            ("a short time", "[limits]\ncpu-time = 0s\n"),
            ("too many open files", "[limits]\nopen-files = 99999999\n"),
            ("a size that is none", "[limits]\nfile-size = 1T\n"),
            ("a limit twice", "[limits]\ntmpfs = 1G\ntmpfs = 2G\n"),
            ("a share of nothing", "[limits]\ncpu = 0%\n"),
            ("no process", "[limits]\nprocesses = 0\n")
            ):
        b.file(name, body)
    os.makedirs(p.proj + "/a:b")
    os.makedirs(p.proj + "/a\x1bb")
    b.file("a separator that was filled in", "[fs]\nread = {target}\n"
           "[environ.merge]\nPATH = {target}/bin\n", "-p", "x", "-C",
           p.proj + "/a:b")
    b.file("a control that was filled in", "[environ.set]\nEDITOR = "
           "{target}\n", "-p", "x", "-C", p.proj + "/a\x1bb")
    for n in "xyz":
        p.profile(n, HEAD + "[environ.set]\n" + "".join(
            "%s%d = x\n" % (n, i) for i in range(2000)))
    b.add("many claims", "run", "--no-defaults", "-p", "x", "-p", "y", "-p",
          "z", "--", "echo", MARK)
    for n, value in ("x", "vi"), ("y", "nano"), ("z", "ed"):
        p.profile(n, HEAD + "[environ.set]\nEDITOR = %s\n" % value)
    b.add("set to more than one", "run", "--no-defaults", "-p", "x", "-p",
          "y", "-p", "z", "--", "echo", MARK)
    p.profile("z", HEAD + "[environ.inherit]\nEDITOR = yes\n")
    b.add("set to more than one, and inherited", "run", "--no-defaults", "-p",
          "x", "-p", "y", "-p", "z", "--", "echo", MARK)
    p.profile("y", HEAD + "[environ.inherit]\nEDITOR = yes\n")
    b.add("set and inherited", "run", "--no-defaults", "-p", "x", "-p", "y",
          "--", "echo", MARK, env=dict(p.env, EDITOR="joe"))
    for n in "xy":
        p.profile(n, HEAD + "[fs]\nread = /usr\n[environ.prepend]\n"
                  "PATH = /usr/%s\n" % n)
    b.add("two in front", "run", "--no-defaults", "-p", "x", "-p", "y", "--",
          "echo", MARK)
    p.profile("x", HEAD + "[fs]\nread = /usr\n[environ.merge]\n" + "".join(
        "PATH = /usr/%02d%s\n" % (i, ("/" + "v" * 200) * 19)
        for i in range(40)))
    b.add("a long list", "run", "--no-defaults", "-p", "x", "--", "echo",
          MARK)
    p.unprofile()
    p.fs("x", "command = /usr/bin/env -> e")
    p.fs("y", "command = /usr/bin/id -> e")
    b.add("two commands of one name", "run", "--no-defaults", "-p", "x", "-p",
          "y", "--", "echo", MARK)
    p.fs("y", "read = {home}/proj -> /run")
    b.add("a place that holds commands", "run", "--no-defaults", "-p", "x",
          "-p", "y", "--", "echo", MARK)
    p.unprofile()
    # names
    b.add("no such profile", "run", "-p", "nosuch", "--", "echo", MARK)
    b.add("no such shipped one", "run", "-p", "@nosuch", "--", "echo", MARK)
    b.add("the @ forgotten", "run", "-p", "sys", "--", "echo", MARK)
    b.add("no name", "run", "-p", "a/b", "--", "echo", MARK)
    b.file("too many profiles", "".join("include = n%d\n" % i
                                        for i in range(512)) )
    b.file("too many includes", "".join("include = n%d\n" % i
                                        for i in range(513)))
    for k, n in enumerate("xyz"):
        p.profile(n, HEAD + "".join("include = n%d\n" % i for i in
                                    range(k * 200, k * 200 + 200)))
    b.add("too many of them together", "run", "--no-defaults", "-p", "x", "-p",
          "y", "-p", "z", "--", "echo", MARK)
    names = []
    for i in range(17):
        names += ["-p", "n%d" % i]
        p.profile("n%d" % i, HEAD + "#" * 250000 + "\n")
    b.add("too much of them", "run", "--no-defaults", *names, "--", "echo",
          MARK)
    for i in range(7):
        p.fs("n%d" % i, *["tmpfs = /a%d" % i] * 10000)
    b.add("too many lines of them", "run", "--no-defaults", *names[:14], "--",
          "echo", MARK)
    p.unprofile()

    def few():
        resource.setrlimit(resource.RLIMIT_AS, (12 << 20, 12 << 20))
    b.add("too low a limit", "run", "--", "echo", MARK, preexec_fn=few)
    for n, i in (("a", "b"), ("b", "a")):
        p.profile(n, HEAD + "include = %s\n" % i)
    b.add("a cycle", "run", "-p", "a", "--", "echo", MARK)
    p.unprofile()
    for i in range(70):
        p.profile("n%d" % i, HEAD + ("include = n%d\n" % (i + 1)
                                     if i < 69 else ""))
    b.add("a chain", "run", "-p", "n0", "--", "echo", MARK)
    p.unprofile()
    # files
    x = p.layer + "/x.profile"
    use = ("run", "-p", "x", "--", "echo", MARK)
    os.symlink("y", x)
    b.add("a link", *use)
    os.unlink(x)
    os.mkfifo(x)
    b.add("a FIFO", *use)
    os.unlink(x)
    p.fs("x", "read = /usr")
    for mode, name in ((0, "unreadable"), (0o666, "writable by others"),
                       (0o664, "writable by a group")):
        os.chmod(x, mode)
        if mode == 0o664:       # not the one that is named after the user
            p.host("sh", "-c", "for g in $(id -G); do chgrp $g %s; done" % x)
            if os.stat(x).st_gid == GID:
                b.keep(name)
                continue
        b.add(name, *use)
    os.chmod(x, 0o644)
    os.link(x, p.top + "/second")
    b.add("a second name", "run", "-p", "x", "--", "true")
    os.unlink(p.top + "/second")
    os.chmod(p.layer, 0o777)
    b.add("a directory that others may write", *use)
    os.chmod(p.layer, 0o755)
    p.unprofile()
    # packs
    def pack(name, body, *argv, file="x.profile", **kw):
        p.write(file, body if isinstance(body, bytes) else HEAD + body)
        b.add(name, "run", "-f", file, *argv, "--", "echo", MARK, **kw)
    for name, line in (
            ("of the host", "read = /etc/passwd"),
            ("with two names", "read = /workdir/a -> /a"),
            ("with a placeholder", "read = /workdir/{user}"),
            ("that names the target", "tmpfs = {target}"),
            ("of all of it", "write = /workdir"),
            ("that writes itself", "write = /workdir/x.profile"),
            ("with a command", "command = /usr/bin/env"),
            ("with a socket", "socket = /run/x"),
            ("with a device", "device = /dev/fuse"),
            ("with a file on the way", "write = /workdir/plain/x")):
        pack("a pack " + name, "[fs]\n%s\n" % line)
    for name, body in (
            ("that inherits", "[environ.inherit]\nCI = yes\n"),
            ("that sanitises", "[environ.sanitise]\nPATH = yes\n"),
            ("with an unknown variable", "[environ.set]\nFOO = x\n"),
            ("for packs", "packs = yes\n"),
            ("with a profile of the user's", "include = mine\n"),
            ("with what is not for packs", "include = @net\n"),
            ("with a program of its own", "[exec]\ninterpreter = "
             "/workdir/x\n")):
        pack("a pack " + name, body)
    os.symlink("/etc", p.proj + "/etc")
    pack("a pack that a link leads on", "[fs]\nread = /workdir/etc/ssl\n")
    os.unlink(p.proj + "/etc")
    os.mkdir(p.proj + "/shut", 0o555)
    pack("a pack that nobody can serve", "[fs]\nwrite = /workdir/shut/x\n")
    os.rmdir(p.proj + "/shut")
    pack("a pack with an odd name", "", file="x.pack")
    pack("a pack in the home", "", "-C", p.home)
    b.add("no such pack", "run", "-f", "nosuch.profile", "--", "echo", MARK)
    b.add("no such place of a pack", "run", "-f", "no/x.profile", "--",
          "echo", MARK)
    b.add("no file of a pack", "run", "-f", "..", "--", "echo", MARK)
    b.add("a long name of a pack", "run", "-f", "x" * 5000, "--", "echo",
          MARK)
    b.add("an empty name of a pack", "run", "-f", "", "--", "echo", MARK)
    b.add("two packs", "run", "-f", "x.profile", "-f", "x.profile", "--",
          "echo", MARK)
    os.unlink(p.proj + "/x.profile")
    # the configuration
    def config(name, text):
        p.write(p.conf + "/config", text)
        b.add(name, "run", "--", "echo", MARK)
        os.unlink(p.conf + "/config")
    config("empty and not", "[carrel]\ndefaults =\ndefaults = @sys\n")
    config("a default that is no name", "[carrel]\ndefaults = a/b\n")
    config("too many defaults", "[carrel]\n" + "".join(
        "defaults = n%d\n" % i for i in range(257)))
    config("two prompts", "[carrel]\nprompt = x\nprompt = y\n")
    config("a long prompt", "[carrel]\nprompt = %s\n" % ("x" * 257))
    config("an odd prompt", "[carrel]\nprompt = {x}\n")
    # one selection
    b.file("a claim too often", "[fs]\n" + "read = /usr\n" * 1025)
    for n in "xyz":
        p.fs(n, *["tmpfs = /%s%d" % (n, i) for i in range(11000)])
    b.add("too many grants", "run", "--no-defaults", "-p", "x", "-p", "y",
          "-p", "z", "--", "echo", MARK)
    p.unprofile()
    b.add("the home as target", "run", "-C", p.home, "--", "echo", MARK)
    b.add("the home as parent", "run", "-p", "@parent", "--", "echo", MARK)
    os.makedirs(T + "/data/sub")
    os.makedirs(T + "/other")
    p.write(T + "/data/f", "f\n")
    b.fs("a conflict", "read = %s/data -> /opt/x" % T,
         other=["read = %s/other -> /opt/x" % T])
    b.fs("a conflict of sizes and links", "tmpfs = /opt/x size=4096",
         "tmpfs = /opt/x size=3M", "symlink = /opt/x -> a",
         "tmpfs = /opt/x size=1G")
    b.fs("a conflict with a default", "read = %s/data -> /tmp/x" % T,
         "read = %s/data -> {home}" % T, default=True)
    b.fs("a conflict of many", *["tmpfs = /opt/x size=1M"] * 300,
         other=["tmpfs = /opt/x size=2M"])
    b.fs("a tmpfs in a bind", "read = %s/data" % T,
         other=["tmpfs = %s/data/sub" % T])
    b.fs("a bind in a link", "symlink = /opt/l -> x",
         "read = %s/data -> /opt/l/x" % T)
    # what is found on the host
    b.fs("a source that is not there", "read = %s/none" % T,
         "write = %s/none2" % T)
    b.fs("one that two want", "read = %s/none" % T,
         other=["try-write = %s/none" % T])
    b.fs("a file in the way", "read = %s/data/f/x" % T)
    os.makedirs(T + "/shut/in")
    os.chmod(T + "/shut", 0)
    b.fs("one that cannot be reached", "read = %s/shut/in" % T)
    os.chmod(T + "/shut", 0o755)
    os.symlink("loop", T + "/loop")
    b.fs("a loop", "read = %s/loop" % T)
    os.symlink("lost", T + "/dangling")
    b.fs("a link to nothing", "read = %s/dangling" % T)
    s = socket.socket(socket.AF_UNIX)
    # its path must be short
    with tempfile.TemporaryDirectory(dir=T) as d:
        os.chdir(d)
        s.bind("sock")
        os.chdir("/")
        os.rename(d + "/sock", T + "/sock")
    os.mkfifo(T + "/fifo")
    os.symlink("/dev/null", T + "/todev")
    os.symlink("/", T + "/toroot")
    b.fs("a socket", "read = %s/sock" % T)
    b.fs("a FIFO as source", "try-read = %s/fifo" % T)
    b.fs("a device", "try-write = %s/todev" % T)
    b.fs("a link to the whole host", "read = %s/toroot" % T)
    b.fs("too much memory", "tmpfs = /opt/a size=1G", "tmpfs = /opt/b")
    b.fs("too much with carrel's own", "tmpfs = /opt/a size=1G")
    b.file("too much for a profile", "[fs]\ntmpfs = /opt/a size=2G\n"
           "[limits]\ntmpfs = 1G\n")
    b.file("less than carrel needs", "[limits]\ntmpfs = 1M\n")
    os.symlink("../other", T + "/data/link")
    b.fs("a link in a bind", "read = %s/data" % T, "read = %s/data/link" % T)
    b.fs("absent where it could be made", "write = %s/data" % T,
         "try-read = %s/data/none" % T)
    b.fs("a link that may be planted", "write = %s/data" % T,
         "read = %s/data/link -> /opt/x" % T)
    # what the next run trusts
    os.symlink(p.conf, T + "/toconf")
    b.fs("a link to what carrel trusts", "write = %s/toconf" % T)
    p.write(T + "/tools/tool", "#!/bin/sh\n", 0o755)
    os.symlink("tools", T + "/totools")
    b.fs("a link to a command", "write = %s/totools" % T,
         "command = %s/tools/tool" % T)
    p.write(T + "/tools/two", "#!/bin/sh\n", 0o755)
    os.link(T + "/tools/two", T + "/tools/other")
    b.fs("a command with a second name", "write = %s/tools" % T,
         "command = %s/tools/two" % T)
    os.unlink(T + "/tools/other")
    os.symlink(".", T + "/here")
    b.fs("another way to a command", "write = %s/here/tools" % T,
         "command = %s/tools/tool" % T)
    b.fs("another way to what carrel trusts",
         "write = %s/here%s" % (T, p.conf[len(T):]))
    own = ("run", "--no-defaults", "-p", "@own-home", "--", "echo", MARK)
    os.rename(p.conf, T + "/conf")
    os.chmod(p.home + "/.config", 0o555)
    b.add("what could be made", *own)
    os.chmod(p.home + "/.config", 0o755)
    for name, make in (
            ("what could be replaced", lambda: os.symlink(T + "/conf",
                                                          p.conf)),
            ("what is no directory", lambda: os.mkfifo(p.conf)),
            ("what cannot be reached", lambda: os.symlink("carrel", p.conf))):
        make()
        b.add(name, *own, env=dict(p.env, XDG_CONFIG_HOME=T + "/xdg"))
        os.unlink(p.conf)
    os.rename(T + "/conf", p.conf)
    # [egress]
    for name, value in (
            ("no form", "example.org:443"),
            ("a host alone", "example.org"),
            ("an unknown scheme", "ftp://example.org:21"),
            ("no port", "https://example.org"),
            ("no port of tcp", "tcp://[2001:db8::1]"),
            ("an impossible port", "https://example.org:65536"),
            ("a path", "https://example.org:443/x"),
            ("a word behind", "https://example.org:443 public"),
            ("colons", "tcp://2001:db8::1:443"),
            ("other brackets", "tcp://[192.0.2.1]:443"),
            ("a mapped address", "tcp://[::ffff:192.0.2.1]:443"),
            ("an octal address", "tcp://0300.0.2.1:443"),
            ("too many numbers", "tcp://192.0.2.1.1:443"),
            ("loopback", "tcp://127.0.0.1:443"),
            ("localhost", "tcp://localhost:443"),
            ("another script", "https://b\u00fccher.example:443"),
            ("half a wildcard", "https://w*.example.org:443"),
            ("no name", "https://-x.example.org:443"),
            ("everything private", "* private"),
            ("everything", "*")):
        b.file(name, "[egress]\nallow = %s\n" % value)
    p.profile("w", HEAD + "tier = side-effect\n")
    p.profile("x", HEAD + "tier = unrestricted\n[egress]\nallow = *\n")
    b.add("a lower tier", "run", "-p", "w", "-p", "x", "--", "echo", MARK)
    p.unprofile()
    p.profile("x", HEAD + "[egress]\n" + "".join(
        "allow = tcp://a.example:%d\n" % (i + 1) for i in range(1025)))
    b.add("many rules", "run", "-p", "x", "--", "echo", MARK)
    # [exec]
    py = os.path.realpath("/usr/bin/python3")
    p.write(T + "/data/prog", "x", 0o755)
    p.write(T + "/data/secret", "x", 0o755)
    os.chmod(T + "/data/secret", 0o111)
    p.write(T + "/data/other", b"\x7fELF\1\1\1" + bytes(60), 0o755)
    elf = (b"\x7fELF\2\1\1" + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", 3, 62 if os.uname().machine == "x86_64" else 183, 1,
        0, 64, 0, 0, 64, 56, 1, 0, 0, 0) + struct.pack(
            "<IIQQQQQQ", 3, 4, 120, 0, 0, 13, 13, 1) + b"/none/ld.so.1"[:12] +
        b"\0")
    p.write(T + "/data/loose", elf, 0o755)
    os.symlink(T + "/other/f", T + "/data/out")
    p.write(T + "/other/f", "x", 0o755)
    os.symlink("prog", T + "/data/planted")
    for name, exec_, fs in (
            ("spawn = yes", "spawn = yes", ""),
            ("unix = yes", "unix = yes", ""),
            ("once = no", "once = no", ""),
            ("once twice", "once = yes\nonce = yes", ""),
            ("an interpreter without a place", "interpreter = python3", ""),
            ("one with two places", "interpreter = /a -> /b", ""),
            ("the root as a library", "library = /", ""),
            ("an interpreter that is not inside", "interpreter = /opt/x", ""),
            ("one that is not there", "interpreter = D/none", "read = D"),
            ("one that is a directory", "interpreter = D", "read = D"),
            ("one that is not executable", "interpreter = D/f", "read = D"),
            ("one that cannot be read", "interpreter = D/secret", "read = D"),
            ("one of another machine", "interpreter = D/other", "read = D"),
            ("one whose loader is not inside", "interpreter = D/loose",
             "read = D"),
            ("one that leads outside", "interpreter = D/out", "read = D"),
            ("a library that is a file",
             "interpreter = D/prog\nlibrary = D/f", "read = D"),
            ("a library that is not there",
             "interpreter = D/prog\nlibrary = D/none", "read = D"),
            ("one that could be written", "interpreter = D/prog",
             "write = D"),
            ("one that is written elsewhere", "interpreter = /opt/x/prog",
             "read = D -> /opt/x\nwrite = D"),
            ("one that a link may divert", "interpreter = D/planted",
             "write = D\nread = D/planted -> /opt/x")):
        b.file(name, ("[exec]\n%s\n[fs]\n%s\n" % (exec_, fs)).replace(
            "D", T + "/data"))
    p.profile("y", HEAD + "[exec]\ninterpreter = /opt/a\nlibrary = /opt/b\n")
    b.file("no interpreter in common", "[exec]\ninterpreter = /opt/b\n",
           "-p", "x", "-p", "y")
    p.profile("x", HEAD + "[exec]\ninterpreter = %s\n" % py)
    b.add("none of the interpreters", "run", "-p", "x", "--", "ls",
          code=NOTEXEC)
    p.unprofile()
    # the command line
    p.write(T + "/one", "")
    os.link(T + "/one", T + "/two")
    for name, argv in (
            ("no command", []),
            ("an unknown command", ["frobnicate"]),
            ("an option before the command", ["-p", "@sys", "run", "true"]),
            ("an output of run", ["run", "-o", "x", "true"]),
            ("an output without a name", ["learn", "-o", T + "/", "true"]),
            ("an output in no directory", ["learn", "-o", T + "/none/x",
                                           "true"]),
            ("an output that is there", ["learn", "-o", T + "/one", "true"]),
            ("an output below a file", ["learn", "-o", T + "/one/x", "true"]),
            ("learn that runs nothing", ["learn", "-n", "true"]),
            ("no verb of profile", ["profile"]),
            ("another verb of profile", ["profile", "frob", "x"]),
            ("list of one", ["profile", "list", "x"]),
            ("dot for a program", ["profile", "dot", "--json"]),
            ("config of one", ["config", "x"]),
            ("show of two", ["profile", "show", "x", "y"]),
            ("why of nothing", ["why"]),
            ("why of two", ["why", "/usr", "/etc"]),
            ("why of a run with options", ["why", "--run", "x", "-p", "y",
                                           "/usr"]),
            ("a run of explain", ["explain", "--run", "x"]),
            ("a difference of nothing", ["explain", "--diff", "true"]),
            ("import of nothing", ["import", "bwrap"]),
            ("import of no file", ["import", "firejail"]),
            ("import of another", ["import", "frob", "--", "--bind"]),
            ("a run for a program", ["run", "--json", "true"]),
            ("validate of nothing", ["profile", "validate"]),
            ("lint of two", ["profile", "lint", "a", "b"]),
            ("test of two", ["profile", "test", "-f", "a", "b"]),
            ("an unknown option", ["run", "--frob", "--", "true"]),
            ("an option without its value", ["run", "-p"]),
            ("a descriptor that is not open", ["run", "--status-fd", "77",
                                               "--", "true"]),
            ("too many -p", ["run"] + ["-p", "@sys"] * 257 + ["true"]),
            ("uses of no place", ["run", "--events", T + "/e", "--uses", "x",
                                  "true"]),
            ("too many uses", ["run"] + ["--uses", "/x"] * 257 + ["true"]),
            ("uses without events", ["run", "--uses", "/x", "true"]),
            ("a long -p", ["run", "-p", "n" * 5000, "true"]),
            ("doctor and more", ["doctor", "x"]),
            ("violations and more", ["violations", "x"]),
            ("violations of what", ["violations", "--run"]),
            ("events to a link", ["run", "--events", T + "/toroot", "true"]),
            ("events to a directory", ["run", "--events", T, "true"]),
            ("events to a socket", ["run", "--events", T + "/sock", "true"]),
            ("events to a FIFO", ["run", "--events", T + "/fifo", "true"]),
            ("events to nowhere", ["run", "--events", T + "/none/x",
                                   "true"]),
            ("events to two names", ["run", "--events", T + "/two", "true"]),
            ("events where the payload is", ["run", "--events", "ev", "true"]),
            ("shell and a command", ["shell", "true"]),
            ("an empty command", ["run", "--", ""]),
            ("-C of the kernel", ["run", "-C", "/proc/self", "--", "true"]),
            ("-C of the configuration", ["run", "-C", "/etc", "--", "true"]),
            ("-C of a device", ["run", "-C", "/dev/shm", "--", "true"]),
            ("-C of nothing", ["run", "-C", T + "/none", "--", "true"]),
            ("-C of a file", ["run", "-C", T + "/data/f", "--", "true"])):
        b.add(name, *argv)
    r = p.host(HELPERS + "/argv0", "none", CARREL)
    b.text += "== no name\n" + r.err
    r = p.host(HELPERS + "/argv0", "name=-carrel", CARREL)
    b.text += "== as a login shell\n" + r.err.replace(USER, "USER")
    for given in (["-p", "@net"], ["file"], ["-c"], ["--user-mode"]):
        r = p.host(HELPERS + "/argv0", "name=carrel-sh", CARREL, *given)
        b.text += "== carrel-sh %s\n" % " ".join(given) + r.err
    with open(T + "/out", "a") as f:
        b.add("events to standard output", "run", "--events", T + "/out",
              "--", "true", stdout=f)
        b.add("events to standard input", "run", "--events", T + "/out",
              "--", "true", stdin=os.open(T + "/out", os.O_RDONLY))
        os.dup2(f.fileno(), 60)
        b.add("a status in standard output", "run", "--status-fd", "60",
              "--", "true", stdout=f, pass_fds=[60])
        os.close(60)
    fd = os.open(T, os.O_RDONLY)
    b.add("a directory as input", "run", "--", "true", stdin=fd)
    os.close(fd)
    fd = os.open(T + "/data/f", os.O_PATH)
    b.add("a path as input", "run", "--", "true", stdin=fd)
    os.close(fd)
    fd = os.eventfd(0)
    b.add("an event as input", "run", "--", "true", stdin=fd)
    os.close(fd)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        b.add("a network as input", "run", "--", "true", stdin=s)
    equal(p.do("--help").code, 0, "--help")
    b.text += "== --help\n" + p.do("--help").out
    with open("/dev/full", "w") as full:
        b.add("no space for the help", "--help", stdout=full)
    r = p.do("run", "-v", "--", "true", cwd=p.home)
    ok(r.code == 0, "no target", r)
    b.text += "== no target\n" + golden.plain(r.err, p)
    # with "carrel/profiles.d" behind it longer than a path
    b.add("a place for profiles that is too long", "run", "--", "echo", MARK,
          env=dict(p.env, XDG_CONFIG_HOME="/" + "a/" * 2041 + "a"))
    # a command that is not there
    b.add("nowhere", "run", "--", "no-such-x", code=NOTFOUND)
    b.add("no such path", "run", "--", "./no-such-x", code=NOTFOUND)
    b.add("no shell", "run", "--no-defaults", "--", "env", code=NOTFOUND)
    p.write(T + "/bin/only-here", "#!/bin/sh\n", 0o755)
    b.add("only outside", "run", "--", "only-here", code=NOTFOUND,
          env=dict(p.env, PATH=T + "/bin"))
    p.write(p.home + "/.cargo/bin/cargo", "#!/bin/sh\n", 0o755)
    b.add("a tool of the home", "run", "--", "cargo", code=NOTFOUND,
          env=dict(p.env, PATH=p.home + "/.cargo/bin"))
    p.write("lost", "#!/opt/none/interp -x\n", 0o755)
    b.add("no interpreter", "run", "--", "./lost", code=NOTFOUND)
    p.write("script", "echo hi\n", 0o755)
    b.add("a script without a first line", "run", "--", "./script",
          code=NOTEXEC)
    p.write("text", "x\n")
    b.add("not executable", "run", "--", "./text", code=NOTEXEC)
    # the program around it
    mine = T + "/inst"
    own_copy(mine)
    parse = mine + "/libexec/carrel/carrel-parse"
    p.write(mine + "/share/carrel/profiles/own.profile", "[profile]\n"
            "packs = no\n")
    own = ("run", "--no-defaults", "-p", "@own", "--", "echo", MARK)
    b.add("no is no value", *own, carrel=mine + "/bin/carrel")
    p.write(mine + "/share/carrel/profiles/own.profile", "[profile]\n"
            "packs = 1\n")
    b.add("only yes is", *own, carrel=mine + "/bin/carrel")
    for name, body in (
            ("sanitise in a shipped one", "[environ.sanitise]\nPATH = yes\n"),
            ("a name without a row", "[environ.set]\nFOO = x\n"),
            ("a socket in a shipped one", "[fs]\nsocket = /run/x\n")):
        p.write(mine + "/share/carrel/profiles/own.profile", body)
        b.add(name, *own, carrel=mine + "/bin/carrel")
    for call, n, name in (("prctl", 3, "no_new_privs of the parser"),
                          ("prlimit64", 1, "limits of the parser"),
                          ("prlimit64", 2, "lower limits of the parser"),
                          ("landlock_restrict_self", 1,
                           "Landlock of the parser"),
                          ("seccomp", 1, "the parser's filter")):
        b.add(name, "fail", "2", call, str(n), "1", CARREL, "run", "--",
              "echo", MARK, carrel=HELPERS + "/inject")
    b.add("no process group", "fail", "3", "setpgid", "1", "1", CARREL,
          "run", "--", "echo", MARK, carrel=HELPERS + "/inject")
    b.add("no word from inside", "fail", "1", "signalfd4", "1", "1", CARREL,
          "run", "--", "echo", MARK, carrel=HELPERS + "/inject")
    b.add("no word to the set-up", "fail", "0", "sendto", "2", "1", CARREL,
          "run", "--", "echo", MARK, carrel=HELPERS + "/inject")
    b.add("no poll", "fail", "0", "poll", "1", "1", CARREL, "run", "--",
          "echo", MARK, carrel=HELPERS + "/inject")
    p.profile("x", HEAD + "[egress]\nallow = tcp://a.example:1\n")
    broker = mine + "/libexec/carrel/carrel-broker"
    shutil.copy("/bin/false", broker)
    net = ("run", "-p", "x", "--", "echo", MARK)
    b.add("a broker that ends", *net, carrel=mine + "/bin/carrel")
    os.unlink(broker)
    b.add("no broker", *net, carrel=mine + "/bin/carrel")
    p.unprofile()
    os.unlink(parse)
    b.add("no parser", "run", "--", "echo", MARK,
          carrel=mine + "/bin/carrel")
    proc = p.start("run", "--", "sh", "-c", "echo up; exec sleep 60")
    proc.stdout.readline()
    pid1 = [x for x in sandboxed() if status_of(x).get("NSpid", "").split()
            [-1:] == ["1"]]
    with golden.as_root():
        for x in pid1:
            os.kill(x, signal.SIGKILL)
    r = finish(proc, 20)
    ok(r.code == OWN, "killed from outside", r, pid1)
    b.text += "== killed from outside\n" + r.err

    golden.compare("refusals.txt", b.text, "S2 every refusal")

    # each text of the sources is in there
    used, count = set(), 0
    for where, names in SOURCES:
        for name in names.split():
            for text in literals(where % name):
                if words(text) < 2 or "\\x" in text:
                    continue
                count += 1
                if re.search(pattern(text), b.text):
                    continue
                why = [e for e in EXEMPT if re.fullmatch(e[0], name) and
                       re.fullmatch(e[1], text, re.S)]
                used |= {e[:2] for e in why}
                ok(why, "%s: a golden row for %r" % (where % name, text[:90]),
                   "add a case to run/messages.t, then make golden")
    ok(count > 150, "control: %d texts were looked for" % count)
    equal([e[:2] for e in EXEMPT if e[:2] not in used], [],
          "no exemption is left over")
    ok(not re.search(pattern("this text is in no message"), b.text),
       "control: a text that is not there is not found")
done()
