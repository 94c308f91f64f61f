#!/usr/bin/python3
"""[limits] by what the kernel counts for a process, and pid 1's clock (S73,
S61, S65, S39, S2b). What a control group counts: uml/cgroup.t."""
import json
from tap import *

HEAD = "[profile]\ndescription = test\n"
SPIN = "while :; do :; done"


def lim(p, *lines, name="lim"):
    p.profile(name, HEAD + "[limits]\n" + "".join(x + "\n" for x in lines))


def told(r, text, line=4, name="lim"):
    """One line for a person that names the limit and who set it."""
    lines = r.err.splitlines()
    return (len(lines) == 1 and lines[0].startswith("carrel: ") and
            "%s of %s, " % (text, name) in lines[0] and
            "/%s.profile:%d" % (name, line) in lines[0])


def clock(p):
    lim(p, "wall-time = 1s")
    r = p.sh("echo %s; exec sleep 60" % MARK, "-p", "lim")
    ok(r.code == 124 and MARK in r.out and told(r, "wall-time = 1s") and
       0.9 < r.secs < 3, "S73 S61 wall-time: a sleeper ends with 124", r)
    r = p.sh("echo %s; exit 7" % MARK, "-p", "lim")
    ok(r.code == 7 and r.out == MARK + "\n" and r.err == "",
       "S73 control: who is in time has a code of his own", r)
    # nothing inside puts it off
    for name, script in (
            ("ignores every signal", "trap '' HUP INT TERM QUIT; sleep 60"),
            ("has stopped itself", "kill -STOP $$"),
            ("stops all that it can", "sleep 60 & kill -STOP -1; sleep 60"),
            ("has left children in sessions of their own",
             "setsid sleep 60 & setsid sh -c 'trap \"\" TERM; sleep 60' & "
             "wait"),
            ("keeps every processor busy",
             "for i in 1 2 3 4 5 6 7 8 9 10; do (%s) & done; wait" % SPIN),
            ("makes and ends processes", "while :; do (:) & done 2>&-"),
            ("would slow pid 1 down", "renice -n 19 -p 1; taskset -p 1 1; "
             "chrt -i -p 0 1; for i in 1 2 3 4; do (%s) & done; wait" % SPIN),
            ("sets limits of its own", "ulimit -t 3600; ulimit -t; "
             "sleep 60")):
        r = p.sh("echo %s; { %s; } >&- 2>&-; sleep 60" % (MARK, script),
                 "-p", "lim")
        ok(r.code == 124 and MARK in r.out and r.secs < 6 and
           told(r, "wall-time = 1s") and not gone(),
           "S73 wall-time ends a payload that " + name, r, gone(0))
    r = p.sh("(sleep 60 &) ; echo " + MARK, "--wait-all", "-p", "lim")
    ok(r.code == 124 and r.secs < 4 and not gone(),
       "S73 wall-time ends what --wait-all waits for", r)
    with open(p.top + "/status", "wb") as f:
        p.do("run", "--status-fd", str(f.fileno()), "-p", "lim", "--",
             "sleep", "60", pass_fds=(f.fileno(),))
    with open(p.top + "/status") as f:
        last = json.loads(f.read().splitlines()[-1])
    ok(last["code"] == 124 and last["by"] == "carrel",
       "S61 --status-fd: it was carrel that ended it", last)


def inside(p):
    """pid 1 of the sandbox of a carrel that was started."""
    for pid, name in sandboxed().items():
        s = status_of(pid)
        if s.get("NSpid", "").split()[-1:] != ["1"]:
            continue
        # in hosted mode the recorder lies between them
        if str(p.pid) in (s["PPid"], status_of(s["PPid"]).get("PPid")):
            return pid
    return None


def asleep():
    """The payload is there."""
    return any(n.startswith("sleep ") for n in sandboxed().values())


def stopped(p):
    """S63: the clock runs while carrel, or pid 1, is stopped."""
    lim(p, "wall-time = 1s")
    c = p.start("run", "-p", "lim", "--", "sleep", "60")
    until(asleep)
    one = inside(c)
    os.kill(c.pid, signal.SIGSTOP)
    end = until(lambda: status_of(one).get("State", "Z")[0] == "Z", 4)  # reaped, or not
    os.kill(c.pid, signal.SIGCONT)
    r = finish(c, 5)
    ok(end and r.code == 124, "S63 wall-time while carrel is stopped: all "
       "inside ends, and carrel says so when it goes on", r)
    c = p.start("run", "-p", "lim", "--", "sleep", "60")
    until(asleep)
    with root() if IS_ROOT else contextlib.nullcontext():
        os.kill(inside(c), signal.SIGSTOP)
    r = finish(c, 8)
    ok(r.code == 124 and not gone(),
       "S73 wall-time while pid 1 is stopped: carrel's own clock", r)


def kernel(p):
    lim(p, "cpu-time = 1s")
    r = p.sh("echo %s; %s" % (MARK, SPIN), "-p", "lim")
    ok(r.code == 152 and MARK in r.out and told(r, "cpu-time = 1s"),
       "S73 S61 cpu-time: SIGXCPU", r)
    # a shell cannot ignore it before it is set
    r = p.do("run", "-p", "lim", "--", "python3", "-c",
             "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\n"
             "print('%s', flush=True)\nwhile True: pass" % MARK)
    ok(r.code == 137 and MARK in r.out and told(r, "cpu-time = 1s"),
       "S73 cpu-time: who ignores it is killed a second later", r)
    r = p.sh("sleep 1.5; echo " + MARK, "-p", "lim")
    ok(r.code == 0 and MARK in r.out and r.err == "",
       "S73 control: waiting takes no processor time", r)
    r = p.sh("kill -XCPU $$", "-p", "@tmp-shared")
    ok(r.code == 152 and r.err == "",
       "S61 control: without a limit a signal is only a signal", r)

    lim(p, "cpu-time = 1m")
    r = p.sh("kill -XCPU $$", "-p", "lim")
    ok(r.code == 152 and r.err == "",
       "S61 a payload does not make a limit say that it ended it", r)

    lim(p, "open-files = 16")
    r = p.sh("ulimit -Sn; ulimit -Hn; ulimit -n 17 2>&- || echo no; "
             "exec python3 -c \"\nl = []\ntry:\n  while True: "
             "l.append(open('/dev/null'))\nexcept OSError as e: "
             "print(e.errno)\"", "-p", "lim")
    equal(r.out, "16\n16\nno\n24\n", "S73 open-files: EMFILE, and it cannot "
          "be raised", r)
    r = p.sh("ulimit -Sn; ulimit -Hn", "-p", "lim", preexec_fn=lambda:
             resource.setrlimit(resource.RLIMIT_NOFILE, (12, 64)))
    equal(r.out, "12\n16\n", "S65 open-files: what is less already stays", r)

    lim(p, "file-size = 1M")
    r = p.run("true", timeout=9)
    r = p.do("run", "-p", "lim", "--", "dd", "if=/dev/zero", "of=big",
             "bs=1M", "count=4")
    ok(r.code == 153 and "signal 25" in r.err and
       "file-size = 1M of lim, " in r.err and
       os.stat(p.proj + "/big").st_size == 1 << 20,
       "S73 S61 file-size: SIGXFSZ", r)
    r = p.do("run", "-p", "lim", "--", "dd", "if=/dev/zero", "of=big2",
             "bs=1M", "count=1", "status=none")
    ok(r.code == 0 and r.err == "", "S73 control: a file of that size", r)
    lim(p, "file-size = 0")
    r = p.sh("echo %s; echo x > zero" % MARK, "-p", "lim")
    ok(r.code != 0 and not os.path.exists(p.proj + "/zero") or
       os.stat(p.proj + "/zero").st_size == 0,
       "S73 file-size = 0: nothing is written", r)

    for lines, want in (((), "1 1"), (("core-size = 8K",), "8192 8192")):
        lim(p, *lines)
        r = p.sh("grep -i core /proc/self/limits; ulimit -c unlimited 2>&-; "
                 "grep -i core /proc/self/limits", "-p", "lim")
        equal([" ".join(x.split()[4:6]) for x in r.out.splitlines()],
              [want, want], "S65 core-size: %s, for good" % want, r)


MANY = """import os, time
n = 0
try:
    while n < 50:
        if os.fork() == 0: time.sleep(60); os._exit(0)
        n += 1
except OSError as e: print('errno', e.errno)
print('made', n)"""


def processes(p):
    """Counted for this sandbox alone, whatever else the user runs."""
    lim(p, "processes = 5")
    if HOSTED:  # the kernel would count all of the user's: a control group
        r = p.do("run", "-p", "lim", "--", "echo", MARK)
        ok(r.code == 0 or (r.code == OWN and "lim.profile:4" in r.err and
                           "cannot be enforced here" in r.err),
           "S73 processes: held by a control group, or refused", r)
        return
    for _ in range(2):
        r = p.do("run", "-p", "lim", "--", "python3", "-c", MANY)
        equal(r.out, "errno 11\nmade 4\n",
              "S73 processes: five with the payload, and no more", r)
    both = [p.start("run", "-p", "lim", "--", "python3", "-c", MANY)
            for _ in range(2)]
    equal([finish(x).out for x in both], ["errno 11\nmade 4\n"] * 2,
          "S73 processes: two runs beside each other")
    r = p.do("run", "-p", "lim", "--", "python3", "-c",
             "import threading, time\nn = 0\ntry:\n  while n < 50: "
             "threading.Thread(target=time.sleep, args=(9,), daemon=True)."
             "start(); n += 1\nexcept RuntimeError: print('threads', n + 1)")
    ok(r.out == "threads 5\n", "S73 processes: threads count", r)
    r = p.do("run", "-p", "lim", "--", "bash", "-c",
             "ulimit -u 50 2>&-; ulimit -u")
    equal(r.out, "6\n", "S73 processes: it cannot be raised", r)
    # with a broker, and with a socket factory in the user namespace
    for allow in ("https://a.example.com:443", "https://*.example.com:443"):
        p.profile("net", HEAD + "[egress]\nallow = %s\n" % allow)
        r = p.do("run", "-p", "lim", "-p", "net", "--", "python3", "-c", MANY)
        equal(r.out, "errno 11\nmade 4\n",
              "S73 processes: five with %s" % allow, r)
    p.unprofile("net")
    r = p.do("run", "-p", "@tmp-shared", "--", "python3", "-c", MANY)
    ok("made 50" in r.out, "S73 control: without a limit", r)
    r = p.do("run", "-p", "lim", "--", "echo", MARK, preexec_fn=lambda:
             resource.setrlimit(resource.RLIMIT_NPROC, (4, 4)))
    ok(r.code in (0, OWN) or r.code > 128, "S73 a caller with less", r)
    lim(p, "processes = 30", "wall-time = 2s")
    r = p.sh("echo %s; b() { b | b & }; (b 2>&-) & exec sleep 60" % MARK, "-p", "lim")
    ok(r.code == 124 and MARK in r.out and r.secs < 6 and not gone(),
       "S73 S61 a fork bomb ends with its wall time", r, gone(0))


def groups(p):
    """S6: what a control group must hold is held, or nothing starts."""
    for line in ("memory = 64M", "cpu = 50%"):
        lim(p, line)
        r = p.do("run", "-p", "lim", "--", "echo", MARK)
        ok(r.code == 0 and r.out == MARK + "\n" or
           r.code == OWN and r.out == "" and told(r, line) and
           "cannot be enforced here: " in r.err and "; " in r.err,
           "S6 %s: enforced, or refused with what would help" % line, r)
        shown = p.wide("explain", "-p", "lim", "--", "true")
        ok(shown.code == 0 and (r.code == 0) == (
            "<- a run stops here" not in shown.out),
           "S6 and explain says which", shown)
        said = p.do("doctor").out
        said = re.sub(r"\n {4}", " ", said)
        ok(re.search(r"^(ok|--) +\[limits\] %s: " % line.split()[0], said,
                     re.M)[1] == ("ok" if r.code == 0 else "--"),
           "S95 and so does doctor", said)


def memory(p):
    """S39: what all tmpfs may have together, and a disk filler."""
    p.profile("lim", HEAD + "[fs]\ntmpfs = /fill size=4M\n")
    r = p.do("run", "-p", "lim", "--", "sh", "-c", "echo %s; dd if=/dev/zero "
             "of=/fill/x bs=1M count=99 2>&1; stat -c %%s /fill/x" % MARK)
    ok(r.code == 0 and "No space left" in r.out and
       r.out.splitlines()[-1] == str(4 << 20),
       "S39 a disk filler gets ENOSPC", r)
    p.fs("big", "tmpfs = /big size=1536M")
    p.refused("S39 more than 1G in all is refused", "-p", "big",
              has=("more than 1G", "tmpfs of big", "size="))
    lim(p, "tmpfs = 4G")
    p.runs("S39 [limits] tmpfs allows more", "-p", "lim", "-p", "big")
    lim(p, "tmpfs = 400M", name="less")
    p.refused("S39 S2b [limits] tmpfs: the least of all", "-p", "lim",
              "-p", "less", has=("more than 400M (tmpfs = 400M of less, ",
                                 "/less.profile:4)"))
    p.unprofile("big")
    p.refused("S39 and it is of all that carrel mounts", "-p", "less",
              has=("more than 400M", "(carrel)"))
    lim(p, "tmpfs = 64K", name="less")
    p.refused("S39 even without any other", "--no-defaults", "-p", "less",
              has=("raise the limit", "/less.profile:4)"))
    lim(p, "tmpfs = 600M", name="less")
    p.runs("S39 control: enough", "-p", "less")


# Every way to make a file longer that some interface has, one a word. What is
# longer than the limit in the end lies; who is killed by SIGXFSZ did not.
LONGER = r"""
import ctypes, mmap, os, signal, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
MIB = 1 << 20
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
src = os.open("src", os.O_RDWR)
way = sys.argv[1]
fd = os.open("by-" + way, os.O_RDWR | os.O_CREAT)

def aio():
    ctx = ctypes.c_ulong(0)
    assert libc.syscall(206, 8, ctypes.byref(ctx)) == 0
    buf = ctypes.create_string_buffer(MIB)
    cb = ctypes.create_string_buffer(struct.pack(
        "QIIHHIQQqQII", 0, 0, 0, 1, 0, fd, ctypes.addressof(buf), MIB,
        MIB // 2, 0, 0, 0))
    one = ctypes.c_void_p(ctypes.addressof(cb))
    libc.syscall(209, ctx, 1, ctypes.byref(one))
    events = ctypes.create_string_buffer(64)
    libc.syscall(208, ctx, 1, 1, events, None)
    res = struct.unpack_from("q", events.raw, 16)[0]
    if res < 0:
        raise OSError(-res, "aio")

def mapped():
    os.write(fd, b"x" * MIB)
    m = mmap.mmap(fd, 2 * MIB, access=mmap.ACCESS_WRITE)

def child():
    if os.fork() == 0:
        os.execvp("dd", ["dd", "if=/dev/zero", "of=by-child", "bs=1M",
                         "count=2", "status=none"])
    raise OSError(os.waitstatus_to_exitcode(os.wait()[1]) and 27, "child")

def spliced():
    r, w = os.pipe()
    os.write(w, b"x" * 4096)
    os.splice(r, fd, 4096, offset_dst=MIB - 100)
    os.splice(r, fd, 4096)

def raised():
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (2 * MIB, 2 * MIB))

ways = {
    "write": lambda: [os.write(fd, b"x" * MIB) for _ in range(2)],
    "pwrite": lambda: os.pwrite(fd, b"x", MIB),
    "pwritev": lambda: os.pwritev(fd, [b"x"], MIB + 7),
    "append": lambda: [os.write(os.open("by-append", os.O_WRONLY |
                                        os.O_APPEND), b"x" * 700000)
                       for _ in range(2)],
    "truncate": lambda: os.ftruncate(fd, MIB + 1),
    "fallocate": lambda: os.posix_fallocate(fd, MIB, 10),
    "sendfile": lambda: [os.sendfile(fd, src, 0, MIB) for _ in range(2)],
    "copy": lambda: [os.copy_file_range(src, fd, MIB, 0, MIB // 2 + i * MIB)
                     for i in range(2)],
    "splice": spliced, "aio": aio, "mmap": mapped, "child": child,
    "raise": raised,
}
try:
    ways[way]()
    print("done")
except (OSError, ValueError) as e:
    print(getattr(e, "errno", None) or "refused")
if way == "raise":
    ways["pwrite"]()
"""
WAYS = ("write pwrite pwritev append truncate fallocate sendfile copy splice "
        "aio mmap child raise").split()


def longer(p):
    """No way to make a longer file than file-size lets."""
    p.write("longer.py", LONGER)
    p.write("src", "s" * (1 << 20))

    def sizes(*options):
        got = {}
        for way in WAYS:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(p.proj + "/by-" + way)
            r = p.do("run", *options, "--", "python3", "longer.py", way)
            got[way] = (os.stat(p.proj + "/by-" + way).st_size, r.out.strip(),
                        r)
        return got
    lim(p, "file-size = 1M")
    got = sizes("-p", "lim")
    free = sizes()
    for way in WAYS:
        size, out, r = got[way]
        ok(size <= 1 << 20 and (out or r.code == 153),
           "S73 file-size: not longer by %s" % way, size, r)
        # it is a way: without a limit the file is longer, or as it says
        if way not in ("mmap", "raise"):
            ok(free[way][0] > 1 << 20, "S73 control: it would be by " + way,
               free[way][0], free[way][2])


# Takes what all of the host share as long as there is any, and says how many.
TERMINALS = """
import os
held = []
try:
    while len(held) < 5000:
        held.append(os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY))
except OSError as e:
    print(e.errno)
print(len(held))
"""


def shared(p):
    """A run cannot take all terminals of the host."""
    nofile = (resource.RLIMIT_NOFILE, (6000, 6000))
    r = p.do("run", "--", "python3", "-c", TERMINALS,
             preexec_fn=lambda: resource.setrlimit(*nofile))
    equal(r.out, "28\n256\n", "S73 a run has 256 terminals, and no more", r)
    r = p.do("run", "--", "python3", "-c", "import os, pty\n"
             "os.write(pty.openpty()[1], b'x'); print('%s')" % MARK)
    ok(r.out == MARK + "\n", "S73 control: a terminal works", r)


def strictest(p):
    lim(p, "wall-time = 9s", "open-files = 32", "cpu-time = 1m", name="a")
    lim(p, "cpu-time = 2s", "wall-time = 1s", "open-files = 64", name="b")
    for argv in (("-p", "a", "-p", "b"), ("-p", "b", "-p", "a", "-p", "b")):
        r = p.sh("ulimit -n; ulimit -t; sleep 60", *argv)
        ok(r.code == 124 and r.out == "32\n2\n" and
           told(r, "wall-time = 1s", 5, "b"),
           "S2b S3 the least of all, and who asked: %s" % " ".join(argv), r)
        r = p.wide("explain", *argv, "--", "true")
        rows = re.search(r"^LIMITS\n(.*?)\n\n", r.out, re.M | re.S)[1]
        rows = [re.sub(r"  +", "  ", x.strip()) for x in rows.splitlines()]
        ok(r.code == 0 and
           any(re.match(r"wall-time +1s .*  wall-time b:5$", x)
               for x in rows) and
           any(re.match(r"open-files +32 .*  open-files a:5$", x)
               for x in rows) and
           any(re.match(r"cpu-time +2s .*  cpu-time b:4$", x) for x in rows)
           and not any("a:4" in x or "a:6" in x or "b:6" in x for x in rows),
           "S91 explain names who narrowed: %s" % " ".join(argv), rows, r)


with Place() as p:
    clock(p)
    stopped(p)
    kernel(p)
    processes(p)
    groups(p)
    memory(p)
    p.unprofile()
    longer(p)
    shared(p)
    p.unprofile()
    strictest(p)
    ok(not gone(), "nothing is left", gone(0))
done()
