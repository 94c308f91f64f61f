#!/usr/bin/python3
"""S75, [audit] report = fs: what the plan refuses of writing, making, removing
and executing files is an event with the path and the rule, and nothing else
is; the payload notices nothing of it."""
import json
import platform
import jsonschema
from tap import *

PY = os.path.realpath("/usr/bin/python3")
with open(INST + "/share/carrel/etc/carrel-events.schema.json") as f:
    VALID = jsonschema.Draft202012Validator(json.load(f))
X86 = platform.machine() == "x86_64"

# What the payload has to try things with: each line of its standard input is
# code, and its errno is printed; B is the directory.
PRE = r"""
import ctypes, json, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
C = os.O_CREAT
def call(nr, *args):
    a = [ctypes.c_char_p(os.fsencode(x)) if isinstance(x, str) else
         ctypes.c_long(x) for x in args]
    r = libc.syscall(ctypes.c_long(nr), *a)
    if r == -1:
        raise OSError(ctypes.get_errno(), "call %d" % nr)
    return r
def fd(path, flags=os.O_RDONLY):
    return os.open(path, flags)
def run(path):
    pid = os.posix_spawn(path, [path], {})
    os.waitpid(pid, 0)
def sock(path):
    socket.socket(socket.AF_UNIX).bind(path)
def attempt(code, env):
    try:
        exec(code, env)
        return 0
    except OSError as e:
        return e.errno
"""
TRY = PRE + r"""
print(%r, flush=True)
for line in sys.stdin:
    code, B = json.loads(line)
    D = os.open(B, os.O_PATH)
    os.chdir(B)
    print(attempt(code, globals()), flush=True)
    os.close(D)
""" % MARK

CWD = -100
#   name, action, code; a name that begins with "new" is not there before. The
#   resource is B/name
KINDS = [
    ("open-w", "write", "fd(B + '/open-w', os.O_WRONLY)"),
    ("open-rw", "write", "fd(B + '/open-rw', os.O_RDWR)"),
    ("open-a", "write", "fd(B + '/open-a', os.O_WRONLY | os.O_APPEND)"),
    ("open-t", "write", "fd(B + '/open-t', os.O_RDONLY | os.O_TRUNC)"),
    ("open-c", "write", "fd(B + '/open-c', os.O_WRONLY | C)"),
    ("open-dir", "write", "os.open('open-dir', os.O_WRONLY, dir_fd=D)"),
    ("new-open", "create", "fd(B + '/new-open', os.O_WRONLY | C)"),
    ("new-read", "create", "fd(B + '/new-read', os.O_RDONLY | C)"),
    ("new-excl", "create", "fd(B + '/new-excl', os.O_RDWR | C | os.O_EXCL)"),
    ("new-rel", "create", "fd('new-rel', os.O_WRONLY | C)"),
    ("new-at", "create", "os.open('new-at', os.O_WRONLY | C, dir_fd=D)"),
    ("new-mkdir", "mkdir", "os.mkdir(B + '/new-mkdir')"),
    ("new-mkdirat", "mkdir", "os.mkdir('new-mkdirat', dir_fd=D)"),
    ("new-fifo", "mknod", "os.mkfifo(B + '/new-fifo')"),
    ("new-bind", "bind", "sock(B + '/new-bind')"),
    ("new-bind-rel", "bind", "sock('new-bind-rel')"),
    ("new-symlink", "symlink", "os.symlink('x', B + '/new-symlink')"),
    ("new-symat", "symlink", "os.symlink('x', 'new-symat', dir_fd=D)"),
    ("new-link", "link", "os.link(B + '/old', B + '/new-link')"),
    ("new-linkat", "link", "os.link('old', 'new-linkat', src_dir_fd=D,"
     " dst_dir_fd=D)"),
    ("rename", "rename", "os.rename(B + '/rename', B + '/n1')"),
    ("renameat", "rename", "os.rename('renameat', 'n2', src_dir_fd=D,"
     " dst_dir_fd=D)"),
    ("renameat2", "rename", "call(316, D, 'renameat2', D, 'n3', 1)"),
    ("unlink", "remove", "os.unlink(B + '/unlink')"),
    ("unlinkat", "remove", "os.unlink('unlinkat', dir_fd=D)"),
    ("dir-rmdir", "remove", "os.rmdir(B + '/dir-rmdir')"),
    ("link-unlink", "remove", "os.unlink(B + '/link-unlink')"),
    ("truncate", "truncate", "os.truncate(B + '/truncate', 0)"),
    ("chmod", "chmod", "os.chmod(B + '/chmod', 0o600)"),
    ("chmodat", "chmod", "os.chmod('chmodat', 0o600, dir_fd=D)"),
    ("fchmod", "chmod", "os.fchmod(fd(B + '/fchmod'), 0o600)"),
    ("chown", "chown", "os.chown(B + '/chown', -1, -1)"),
    ("link-lchown", "chown", "os.lchown(B + '/link-lchown', -1, -1)"),
    ("fchown", "chown", "os.fchown(fd(B + '/fchown'), -1, -1)"),
    ("chownat", "chown", "os.chown('chownat', -1, -1, dir_fd=D)"),
    ("utime", "utime", "os.utime(B + '/utime')"),
    ("futimens", "utime", "os.utime(fd(B + '/futimens'))"),
    ("xattr", "xattr", "os.setxattr(B + '/xattr', 'user.a', b'b')"),
    ("fxattr", "xattr", "os.setxattr(fd(B + '/fxattr'), 'user.a', b'b')"),
] + [
    # the calls that the C library does not make any more
    ("x-open", "write", "call(2, B + '/x-open', 1)"),
    ("new-creat", "create", "call(85, B + '/new-creat', 0o644)"),
    ("x-creat", "write", "call(85, B + '/x-creat', 0o644)"),
    ("new-x-mkdir", "mkdir", "call(83, B + '/new-x-mkdir', 0o755)"),
    ("new-x-mknod", "mknod", "call(133, B + '/new-x-mknod', 0o100644, 0)"),
    ("new-x-sym", "symlink", "call(88, 'x', B + '/new-x-sym')"),
    ("new-x-link", "link", "call(86, B + '/old', B + '/new-x-link')"),
    ("x-rename", "rename", "call(82, B + '/x-rename', B + '/n4')"),
    ("x-renameat", "rename", "call(264, D, 'x-renameat', D, 'n5')"),
    ("x-unlink", "remove", "call(87, B + '/x-unlink')"),
    ("dir-x-rmdir", "remove", "call(84, B + '/dir-x-rmdir')"),
    ("x-chmod", "chmod", "call(90, B + '/x-chmod', 0o600)"),
    ("x-chown", "chown", "call(92, B + '/x-chown', -1, -1)"),
    ("link-x-lchown", "chown", "call(94, B + '/link-x-lchown', -1, -1)"),
    ("x-utime", "utime", "call(132, B + '/x-utime', 0)"),
    ("x-utimes", "utime", "call(235, B + '/x-utimes', 0)"),
    ("x-futimesat", "utime", "call(261, D, 'x-futimesat', 0)"),
] * X86


def prepare(p, base):
    for name, _, _ in KINDS:
        path = base + "/" + name
        if name.startswith("dir-"):
            os.makedirs(path)
        elif name.startswith("link-"):
            os.symlink("old", path)
        elif not name.startswith("new"):
            p.write(path, "text\n")
    p.write(base + "/old", "old\n")


def events(path):
    with open(path) as f:
        found = [json.loads(x) for x in f]
    for x in found:
        VALID.validate(x)
    os.unlink(path)
    return found


def seen(path):
    return [x for x in events(path) if x["event"] in ("violation", "lost")]


def profile(p, *lines, name="w", report="report = fs\n", audit=""):
    return p.profile(name, "[profile]\ndescription = test\n[audit]\n" +
                     report + audit + "[fs]\n" +
                     "".join(x + "\n" for x in lines))


def attempts(p, *tries, options=("-p", "w"), **kw):
    """Runs the code of each (code, directory): errnos and what was seen."""
    ev = p.top + "/ev.jsonl"
    r = p.do("run", *options, "--events", ev, "--", PY, "-c", TRY,
             stdin="".join(json.dumps(x) + "\n" for x in tries).encode(), **kw)
    lines = r.out.split("\n")
    assert r.code == 0 and lines[0] == MARK, r
    return [int(x) for x in lines[1:-1]], seen(ev), r


def kinds(p):
    ro, rw = p.top + "/ro", p.top + "/rw"
    prepare(p, ro)
    prepare(p, rw)
    profile(p, "read = " + ro, "write = " + rw)
    errs, found, r = attempts(p, *[(k[2], ro) for k in KINDS])
    by = {x["resource"]: x for x in found}
    ok(len(errs) == len(KINDS) and len(found) == len(KINDS) == len(by),
       "S75 each call that is refused is one event", len(errs), len(found),
       sorted(set(ro + "/" + k[0] for k in KINDS) ^ set(by)), r)
    for (name, action, _), err in zip(KINDS, errs):
        x = by.get(ro + "/" + name, {})
        ok(err in (13, 30) and x.get("surface") == "fs" and
           x.get("action") == action and x["count"] == 1 and
           x["error"] == {13: "EACCES", 30: "EROFS"}[err] and
           x["rule"] == "read = " + ro and x["line"] == 6 and
           x["rule_profile"] == "w" and x["profiles"][0]["name"] == "w",
           "S75 fs: %s: path, error and rule" % name, err, x)
    ok("fs: write \"%s/open-w\", read = %s of w, 1 time" % (ro, ro) in
       r.err and
       "%d violations" % len(KINDS) in r.err, "S75 the summary", r)
    # the same where it may be written: the control of each
    p.forget()
    errs, found, r = attempts(p, *[(k[2], rw) for k in KINDS])
    equal(errs, [0] * len(KINDS), "S75 control: each call works", r)
    ok(found == [] and "violation" not in r.err,
       "S75 control: what is granted is no event", *found[:3])
    # without the key nothing is seen
    profile(p, "read = " + ro, report="report = exec\n")
    errs, found, r = attempts(p, (KINDS[0][2], ro))
    ok(errs == [30] and found == [], "S75 without report = fs: nothing", errs,
       found)


def none(p):
    """What is refused for another reason, or is not clear, is no event."""
    ro, rw = p.top + "/ro", p.top + "/rw"
    os.makedirs(ro + "/d")
    os.makedirs(rw + "/closed")
    p.write(ro + "/f")
    os.symlink("/etc/none", ro + "/dangling")
    p.write(rw + "/mine", mode=0o444)
    p.write(rw + "/x", "#!/nowhere\n", mode=0o644)
    os.chmod(rw + "/closed", 0o555)
    p.write(rw + "/y")
    os.symlink(ro + "/none/of/this", rw + "/nowhere")
    profile(p, "read = " + ro, "write = " + rw)
    tries = [
        ("missing file, to write", "fd(B + '/no', os.O_WRONLY)", ro, 2),
        ("missing file, to read", "fd(B + '/no')", ro, 2),
        ("missing directory", "fd(B + '/no/x', os.O_WRONLY | C)", ro, 2),
        ("missing directory", "os.mkdir(B + '/no/x')", ro, 2),
        ("what is a file", "os.mkdir(B + '/f/x')", ro, 20),
        ("what exists", "os.mkdir(B + '/d')", ro, 17),
        ("what exists", "fd(B + '/f', os.O_WRONLY | C | os.O_EXCL)", ro, 17),
        ("what exists", "os.symlink('x', B + '/dangling')", ro, 17),
        ("what exists", "os.link(B + '/f', B + '/d')", ro, 17),
        ("reading with O_CREAT", "fd(B + '/f', os.O_RDONLY | C)", ro, 0),
        ("reading", "fd(B + '/f')", ro, 0),
        ("O_PATH", "fd(B + '/f', os.O_PATH | os.O_RDWR)", ro, 0),
        ("a directory to write", "fd(B + '/d', os.O_WRONLY)", ro, 21),
        ("a symlink with O_NOFOLLOW",
         "fd(B + '/dangling', os.O_WRONLY | os.O_NOFOLLOW)", ro, 40),
        ("between two mounts", "os.rename(B + '/f', %r)" % (rw + "/f"), ro,
         18),
        ("a rename of nothing", "os.rename(B + '/no', B + '/no2')", ro, 30),
        ("an unlink of nothing", "os.unlink(B + '/no')", ro, 30),
        ("the modes of a file", "fd(B + '/mine', os.O_WRONLY)", rw, 13),
        ("the modes of a directory", "os.mkdir(B + '/closed/x')", rw, 13),
        ("the modes of a directory",
         "fd(B + '/closed/x', os.O_WRONLY | C)", rw, 13),
        ("another's file", "fd('/proc/1/oom_score_adj', os.O_WRONLY)", rw,
         None),
        ("no mode to execute", "os.execv(B + '/y', ['y'])", rw, 13),
        ("a null device", "fd('/dev/null', os.O_WRONLY)", rw, 0),
        ("a file of procfs", "fd('/proc/self/comm', os.O_WRONLY)", rw, 0),
        ("what a link leads to and is not there",
         "fd(B + '/nowhere', os.O_WRONLY | C)", rw, 2),
        ("no file", "sock('\\0name')", ro, 0),
        ("no unix socket", "socket.socket().bind(('127.0.0.1', 0))", ro, 0),
        ("what exists", "sock('f')", ro, 98),
        ("no path", "call(257, -100, 0, 1)" if X86 else "fd('', 1)", rw,
         14 if X86 else 2),
        ("an empty path", "fd('', os.O_WRONLY | C)", rw, 2),
        ("a path that is too long", "fd('/' + 5000 * 'x', os.O_WRONLY)", rw,
         36),
        ("a name that is too long", "fd(300 * 'x', os.O_WRONLY | C)", ro, 36),
        ("a bad descriptor", "os.open('x', 1 | C, dir_fd=999)", rw, 9),
        ("a bad descriptor", "os.fchmod(999, 0o600)", rw, 9),
        ("an unknown name", "os.execv(B + '/no', ['no'])", ro, 2),
        ("a directory", "os.execv(B + '/d', ['d'])", ro, 13),
    ]
    errs, found, r = attempts(p, *[(t[1], t[2]) for t in tries])
    for t, err in zip(tries, errs):
        ok(err == t[3] or t[3] is None and err in (2, 13),
           "S75 no violation: %s: %s" % (t[0], t[1]), err)
    equal([(x["action"], x["resource"]) for x in found], [],
          "S75 and none of these is an event", r)
    # deeper than any path is long
    for base, want in ((rw, 0), (ro, 30)):
        os.chdir(base)
        for i in range(25):
            os.mkdir(200 * "n")
            os.chdir(200 * "n")
        os.chdir("/")
    deep = "for i in range(25): os.chdir(200 * 'n')\n"
    errs, found, r = attempts(
        p, (deep + "os.mkdir('x'); os.rmdir('x'); fd('x', 1 | C)", rw),
        (deep + "os.mkdir('x')", ro))
    ok(errs == [0, 30] and [(x["event"], x["count"]) for x in found] ==
       [("lost", 1)], "S75 deeper than any path is long: counted", errs,
       *found)
    # the control: they would have been seen
    errs, found, r = attempts(p, ("fd(B + '/f', os.O_WRONLY)", ro),
                              ("os.mkdir(B + '/d/new')", ro))
    ok(errs == [30, 30] and len(found) == 2, "S75 control: an event each",
       errs, found)


def places(p):
    """How a path is spelled, where it leads, and whose rule refused."""
    ro, rw = p.top + "/ro", p.top + "/rw"
    p.write(ro + "/a/f")
    p.write(ro + "/pinned/f")
    p.write(rw + "/sub/f")
    p.write(rw + "/held/f")
    os.symlink(ro + "/a/f", rw + "/link")
    os.symlink("link", rw + "/link2")
    os.symlink(ro + "/a/new", rw + "/to-new")
    os.symlink("to-new", rw + "/to-link")
    os.symlink(ro, rw + "/dir")
    os.symlink("../ro/a", rw + "/up")
    profile(p, "read = " + ro + "/a", "write = " + rw,
            "read = %s/held" % rw)
    profile(p, "read = %s/pinned" % ro, name="second", report="")
    tries = [
        # code, directory, action, resource, rule, profile
        ("fd('../ro/a/f', 1)", rw, "write", rw + "/../ro/a/f", "/a", "w"),
        ("fd(B + '/link', 1)", rw, "write", rw + "/link", "/a", "w"),
        ("fd('link2', 1)", rw, "write", rw + "/link2", "/a", "w"),
        ("fd('to-new', 1 | C)", rw, "create", rw + "/to-new", "/a", "w"),
        ("fd('to-link', 1 | C)", rw, "create", rw + "/to-link", "/a", "w"),
        ("fd('dir/pinned/f', 1)", rw, "write", rw + "/dir/pinned/f",
         "/pinned", "second"),
        ("fd('./up/f', 1)", rw, "write", rw + "/up/f", "/a", "w"),
        ("os.mkdir('up/n/')", rw, "mkdir", rw + "/up/n/", "/a", "w"),
        ("os.open('f', 1, dir_fd=fd(%r))" % (ro + "/a"), rw, "write",
         ro + "/a/f", "/a", "w"),
        ("os.chmod(fd('/proc/self/fd/%d' % fd('link')), 0o600)", rw, "chmod",
         ro + "/a/f", "/a", "w"),
        ("fd('/proc/self/fd/%d' % fd('link'), 1)", rw, "write", None, "/a",
         "w"),
        ("fd('/dev/fd/%d' % fd('link'), 1)", rw, "write", None, "/a", "w"),
        ("fd('held/f', 1)", rw, "write", rw + "/held/f", "+held", "w"),
        ("os.rename('held/f', 'held/g')", rw, "rename", rw + "/held/f",
         "+held", "w"),
        ("fd('/usr/bin/new', 1 | C)", rw, "create", "/usr/bin/new",
         "read = /usr", "@sys"),
        ("fd('/bin/new', 1 | C)", rw, "create", "/bin/new", "read = /usr",
         "@sys"),
        ("fd('/etc/passwd', 1 | os.O_TRUNC)", rw, "write", "/etc/passwd",
         "no match", None),
        ("fd('/new', 1 | C)", rw, "create", "/new", "no match", None),
        ("os.mkdir('/dev/new')", rw, "mkdir", "/dev/new", "no match", None),
        ("os.mkdir('/etc/new')", rw, "mkdir", "/etc/new", "no match", None),
        ("fd(%r, 1)" % ("/" + "./" * 1900 + ro + "/a/f"), rw, "write",
         "/" + "./" * 1900 + ro + "/a/f", "/a", "w"),
        ("fd(B, 1 | os.O_TMPFILE)", ro + "/a", "create", ro + "/a", "/a",
         "w"),
    ]
    errs, found, r = attempts(p, *[t[:2] for t in tries],
                              options=("-p", "w", "-p", "second"))
    ok(len(found) == len(tries) and all(errs), "S75 an event each", errs,
       *[x["resource"][:80] for x in found])
    for t, x in zip(tries, found):
        rule = t[4] if t[4][0] not in "/+" else \
            "read = " + (ro + t[4] if t[4][0] == "/" else rw + "/held")
        ok(x["action"] == t[2] and x["rule"] == rule and
           x["resource"] == (t[3] or x["resource"]) and
           x.get("rule_profile") == t[5], "S75 whose rule: " + t[0][:60], x)
    # a shipped default answers for nothing, and who goes beyond it does
    equal([[y["name"] for y in x["profiles"]] for x in found
           if x["resource"].startswith(("/usr/bin", rw + "/dir"))],
          [["second"], ["second", "w"]], "S76 who answers")


SECRET = r"""
def secret(path):
    n = libc.syscall(447, 0)
    os.ftruncate(n, 4096)
    libc.mmap.restype = ctypes.c_void_p
    a = libc.mmap(None, ctypes.c_size_t(4096), 3, 1, n, ctypes.c_long(0))
    ctypes.memmove(a, os.fsencode(path) + b"\0", len(path) + 1)
    os.close(n)
    return a
"""


def hidden(p):
    """Ways and memory in which whoever looks from outside would be blind."""
    ro, rw = p.top + "/ro", p.top + "/rw"
    p.write(ro + "/f")
    p.write(rw + "/f")
    os.symlink("/proc/self/cwd", ro + "/magic")
    os.symlink("/proc/self/cwd/n4", rw + "/new")
    os.symlink("/dev/stdout", rw + "/in")
    profile(p, "read = " + ro, "write = " + rw)
    ways = [("fd('/proc/self/cwd/f', 1)", "write", "/proc/self/cwd/f"),
            ("fd('/proc/thread-self/cwd/f', 1)", "write",
             "/proc/thread-self/cwd/f"),
            ("fd('/proc/self/root%s/f', 1)" % ro, "write",
             "/proc/self/root%s/f" % ro),
            ("fd('/proc/%d/cwd/f' % os.getpid(), 1)", "write", None),
            ("fd('magic/f', 1)", "write", ro + "/magic/f"),
            ("os.mkdir('magic/n1')", "mkdir", ro + "/magic/n1"),
            ("fd('magic/n2', 1 | C)", "create", ro + "/magic/n2"),
            ("os.unlink('/proc/self/fd/%d/f' % D)", "remove", None),
            ("os.rename('magic/f', 'magic/n3')", "rename", ro + "/magic/f"),
            ("fd('%s/new', 1 | C)" % rw, "create", rw + "/new"),
            ("os.chmod('/proc/self/cwd/f', 0o600)", "chmod",
             "/proc/self/cwd/f")]
    errs, found, r = attempts(p, *[(w[0], ro) for w in ways])
    ok(errs == [30] * len(ways) and
       [x["action"] for x in found] == [w[1] for w in ways] and
       all(w[2] in (None, x["resource"]) for w, x in zip(ways, found)),
       "S75 links of procfs lead nowhere unseen", errs, *found)
    # the control: where it may be written none of it is one
    errs, found, r = attempts(
        p, *[(w[0], rw) for w in ways if "magic" not in w[0] and
           "/root" not in w[0]],
        ("fd(B + '/in', 1)", rw), ("fd('/dev/stdout', 1)", rw),
        ("fd('/proc/self/no', 1)", rw), ("fd('/proc/self/cwd/no/n', 1)", rw))
    ok(errs[0] == 0 and errs[-2:] == [2, 2] and found == [] and
       "violations of" not in r.err and "violation of" not in r.err,
       "S75 control: the same where it may be written", errs, r)
    if X86:
        ev = p.top + "/ev.jsonl"
        code = PRE + SECRET + "import os\nprint(%r, flush=True)\n" % MARK
        for path, lost in ((ro + "/f", 1), ("", 0)):
            r = p.do("run", "-p", "w", "--events", ev, "--", PY, "-c", code +
                     ("a = secret(%r)" % path if path else "a = 4096") +
                     "\nr = libc.syscall(2, ctypes.c_void_p(a), 1)\n"
                     "print(ctypes.get_errno())")
            ok(r.out == MARK + "\n%d\n" % (30 if lost else 14) and
               events(ev)[-1]["violations"] == lost,
               "S75 a path that only the kernel can read: %d" % lost, r)
    # the directory of another process, which is not taken for its own
    ev = p.top + "/ev.jsonl"
    code = """import os
print(%r, flush=True)
os.chdir(%r)
if os.fork() == 0:
    os.chdir(%r)
    try:
        os.open("/proc/%%d/cwd/f" %% os.getppid(), os.O_WRONLY)
        os._exit(0)
    except OSError as e:
        os._exit(e.errno)
print(os.waitstatus_to_exitcode(os.wait()[1]))
"""
    r = p.do("run", "-p", "w", "--events", ev, "--", PY, "-c",
             PRE + code % (MARK, ro, rw))
    ok(r.out == MARK + "\n30\n" and events(ev)[-1]["violations"] == 1,
       "S75 by the directory of another process: not clear, and counted", r)


def execs(p):
    """What may not be executed, alone and beside report = exec."""
    rw = p.top + "/rw"
    p.write(rw + "/tool", "#!/bin/true\n", mode=0o755)
    p.write(rw + "/text", "text\n", mode=0o644)
    lock = "[exec]\ninterpreter = %s\n" % PY
    tries = [("os.execv('/bin/sh', ['sh'])", rw),
             ("os.execv('./tool', ['tool'])", rw),
             ("os.execve(fd('tool'), ['tool'], {})", rw),
             ("os.execv('text', ['text'])", rw),
             ("os.execv('/no/such', ['such'])", rw),
             ("os.mkdir('/usr/new')", rw)]
    seen_by = {
        "fs": [("fs", "exec", "/bin/sh", "no match"),
               ("fs", "exec", rw + "/tool", "no match"),
               ("fs", "exec", rw + "/tool", "no match"),
               ("fs", "mkdir", "/usr/new", "read = /usr")],
        "exec": [("exec", "exec", "/bin/sh", "interpreter = " + PY),
                 ("exec", "exec", "./tool", "interpreter = " + PY),
                 ("exec", "exec", "", "interpreter = " + PY),
                 ("exec", "exec", "text", "interpreter = " + PY)]}
    seen_by["exec\nreport = fs"] = seen_by["exec"] + seen_by["fs"][3:]
    for report, want in seen_by.items():
        profile(p, "write = " + rw, report="report = %s\n" % report)
        p.profile("lock", "[profile]\ndescription = t\n" + lock)
        errs, found, r = attempts(p, *tries, options=("-p", "w", "-p", "lock"))
        got = [(x["surface"], x["action"], x["resource"], x["rule"])
               for x in found for i in range(x["count"])]
        ok(errs == [13, 13, 13, 13, 2, 30] and sorted(got) == sorted(want),
           "S75 an exec lock and report = " + report.replace("\n", ", "),
           errs, *got)
    # without a lock what is inside is executed, and where carrel's own mounts
    # are noexec it is not
    profile(p, "write = " + rw)
    errs, found, r = attempts(
        p, ("run(B + '/tool')", rw), ("run('/bin/true')", rw),
        ("os.symlink('/bin/true', 's')", rw), ("run(B + '/s')", rw),
        ("os.execv('text', ['text'])", rw))
    ok(errs == [0, 0, 0, 0, 13] and found == [],
       "S75 control: without a lock none is one", errs, *found)


def counted(p):
    """on-violation, the state, and what is said of the run."""
    ev = p.top + "/ev.jsonl"
    tries = "; ".join(("echo %s" % MARK, "mkdir /usr/new", "mkdir /usr/new",
                       "touch /etc/new", "sleep 0.2", "echo AFTER"))
    for on, code, after in (("", 0, True), ("on-violation = fail\n", 3, True),
                            ("on-violation = kill\n", 3, False)):
        p.profile("w", "[profile]\ndescription = t\n[audit]\nreport = fs\n"
                  + on)
        r = p.sh(tries, "-p", "w", "--events", ev)
        found = events(ev)
        ok(r.code == code and r.out.startswith(MARK) and
           ("AFTER" in r.out) == after and not gone() and
           found[0]["report"] == ["egress", "fs"] and
           # what is killed may be a little further than the first
           found[-1]["violations"] in ((3,) if after else (1, 2, 3)) and
           'fs: mkdir "/usr/new", read = /usr of @sys' in r.err,
           "S75 report = fs, %s" % (on.strip() or "only reported"), r)
        r = p.sh("mkdir new && rmdir new; test ! -e /no", "-p", "w")
        ok(r.code == 0 and "violations of" not in r.err,
           "S75 control: none of it", r)
    r = p.do("violations", "--json")
    kept = json.loads(r.out)["runs"]
    ok(r.code == 0 and len(kept) == 3, "S76 they are kept", r)
    r = p.do("violations", "--run", kept[0]["run"], "--json")
    one = json.loads(r.out)
    ok("/usr/new" in r.out and '"fs"' in r.out and "@sys" in r.out,
       "S76 carrel violations: path, surface and whose rule", r, one)
    r = p.do("run", "-p", "w", "--", "true")
    ok("violated before" in r.err and "profile w" in r.err and
       "profile @sys" not in r.err, "S76 w is flagged, what is shipped never",
       r)
    r = p.do("explain", "-p", "w")
    ok(re.search(r"report .*fs: each write.*report w:4", unfold(r.out)),
       "S91 explain shows it, and who asked", r)


def names(p):
    """What a payload calls its files is told, and is no line of carrel's."""
    bad = ["\x1b[2J", "\u202egpj.x", "a\ncarrel: 0 violations", "\x7f\x9b1m",
           "\"} {\"v\":1", "a  b", "\\x41", "\u200b", 255 * "n"]
    profile(p)
    errs, found, r = attempts(
        p, *[("os.mkdir(%r)" % ("/usr/" + x), p.proj) for x in bad],
        ("os.mkdir(b'/usr/\\xff\\xfe')", p.proj), cwd=p.proj,
        options=("-p", "w", "-p", "@target"))
    ok(errs == 10 * [30] and len(found) == 10, "S92 an event each", errs,
       *found)
    told = "".join(x["resource"] for x in found)
    ok(not re.search(r"[^\x20-\x7e]", told) and "\\x1b[2J" in told and
       "\\xe2\\x80\\xae" in told and "\\\\x41" in told and
       "\\xff\\xfe" in told and 200 * "n" in told,
       "S92 as text without anything raw", told)
    ok(not re.search(r"[^\x20-\x7e\n]", r.err) and
       all(x.startswith("carrel: ") for x in r.err.splitlines()) and
       r.err.count("\ncarrel: 0 viol") == 0 and "10 violations" in r.err,
       "S92 and so is the summary", r)


def programs(p):
    """What people run is the same with it: output, exit code, files."""
    profile(p)
    p.write("m.orig", "#include <stdio.h>\nint main(void) { puts(\"hello\"); "
            "return 7; }\n")
    p.write("Makefile", "all: m n\nm n: m.c\n\t$(CC) -o $@ $<\n"
            "clean:\n\trm -f m n\n")
    p.write("pkg/__init__.py", "x = 42\n")
    script = """set -e
rm -rf .git *.o m n pkg/__pycache__ t t.tar
cp m.orig m.c
gcc -c m.c -o m.o; gcc m.o -o m; code=0; ./m || code=$?; echo gcc $code
rm m; make -s -j4; ls m n; make -s clean; make -q clean || echo make $?
git init -q .; git config user.name a; git config user.email a@b
git add m.c Makefile; git commit -q -m one
git checkout -q -b two; echo x >> m.c; git commit -q -a -m two
git merge-base HEAD HEAD~1 > /dev/null; git gc -q; git log --format=%s
git stash list; git status --porcelain
python3 -c 'import pkg; print(pkg.x)'; ls pkg/__pycache__ | wc -l
mkdir t; cp -a pkg t; tar cf t.tar t; (cd t && tar xf ../t.tar); find t | wc -l
sed -i s/x/y/ m.c; install -m 755 m.c t/i; mv t/i t/j; chmod 600 t/j
touch -d @0 t/j; stat -c '%a %Y' t/j
cat /no/such 2>&1 || echo cat $?; mktemp -d > /dev/null; echo "$0" > /dev/null
"""
    plain, with_it = [p.sh(script, *options) for options in (
        (), ("-p", "w", "--events", p.top + "/ev.jsonl"))]
    ok(plain.code == 0 and "gcc 7" in plain.out and "two\none" in plain.out,
       "S75 control: they work without it", plain)
    ok(with_it.code == 0 and with_it.out == plain.out and
       with_it.err == plain.err,
       "S75 gcc, make, git, python, tar and the like are as without it",
       plain, with_it)
    equal(seen(p.top + "/ev.jsonl"), [], "S75 and they violate nothing")


with Place() as p:
    kinds(p)
with Place() as p:
    hidden(p)
with Place() as p:
    execs(p)
with Place() as p:
    counted(p)
with Place() as p:
    names(p)
with Place() as p:
    programs(p)
with Place() as p:
    none(p)
with Place() as p:
    places(p)
done()
