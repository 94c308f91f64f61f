#!/usr/bin/python3
"""Hosted mode with a hostile user in it: his set-up, his monitor, and what he
may do to processes with privilege while they live (S100-S105). hosted.c is
linked to the same privileged objects; grab.c is another process of his.

CARREL_T_RACE is the number of starts that are raced (check-long: 5,000)."""
import ctypes
import errno
from kmsg import *

ROUNDS = int(os.environ.get("CARREL_T_RACE", "200"))

if not HOSTED or not IS_ROOT:
    print("1..0 # skip hosted mode is another installation: make check-hosted")
    sys.exit(0)

HOSTILE = INST + "/bin/hostile"
# what parent/serve.c says: permitted to the server, and never more
SERVED = sum(1 << c for c in (21, 18, 7, 6, 12, 13, 10, 8))
BIND = 1 << 10


def hostile(p, *argv, wrap=(), timeout=30):
    return p.host(*wrap, HOSTILE, *map(str, argv), timeout=timeout)


def status(pid):
    """Of a process: uids, the sets, no_new_privs; None if it is gone."""
    try:
        with open("/proc/%d/status" % pid) as f:
            s = dict(x.rstrip("\n").split(":\t") for x in f if ":\t" in x)
        return dict(uid=set(s["Uid"].split()), nnp=s["NoNewPrivs"],
                    dump=os.stat("/proc/%d/environ" % pid).st_uid,
                    threads=s["Threads"], parent=int(s["PPid"]),
                    **{k: int(s["Cap" + k], 16) for k in
                       ("Inh", "Prm", "Eff", "Bnd", "Amb")})
    except (FileNotFoundError, ProcessLookupError):
        return None


def children(pid):
    found = []
    for x in filter(str.isdigit, os.listdir("/proc")):
        s = status(int(x))
        if s and s["parent"] == pid:
            found.append(int(x))
    return sorted(found)


# What the user may try on a process: each prints what the kernel says.
ATTACKS = r"""
import ctypes, errno, os, resource, signal, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(nr, *a):
    r = libc.syscall(ctypes.c_long(nr), *[ctypes.c_long(x) for x in a])
    if r == -1:
        raise OSError(ctypes.get_errno(), "")
    return r
buf = ctypes.create_string_buffer(64)
iov = (ctypes.c_ulong * 2)(ctypes.addressof(buf), 8)
far = (ctypes.c_ulong * 2)(0x400000, 8)
def tries(pid):
    yield "signal 0", lambda: os.kill(pid, 0)
    for s in (signal.SIGTERM, signal.SIGSTOP, signal.SIGCONT, signal.SIGHUP,
              32, 33, 34, signal.SIGKILL):
        yield "signal %d" % s, lambda s=s: os.kill(pid, s)
    for l in (resource.RLIMIT_CPU, resource.RLIMIT_NOFILE, resource.RLIMIT_AS,
              resource.RLIMIT_CORE):
        yield "prlimit %d" % l, lambda l=l: resource.prlimit(pid, l, (0, 0))
        yield "read limit %d" % l, lambda l=l: resource.prlimit(pid, l)
    yield "affinity", lambda: os.sched_setaffinity(pid, {0})
    yield "policy", lambda: os.sched_setscheduler(pid, os.SCHED_IDLE,
                                                  os.sched_param(0))
    yield "priority", lambda: os.setpriority(os.PRIO_PROCESS, pid, 19)
    yield "ioprio", lambda: call(251, 1, pid, 3 << 13)
    yield "setpgid", lambda: os.setpgid(pid, pid)
    yield "seize", lambda: call(101, 0x4206, pid, 0, 0)
    yield "attach", lambda: call(101, 16, pid, 0, 0)
    yield "pidfd_getfd", lambda: call(438, os.pidfd_open(pid), 3, 0)
    yield "vm_readv", lambda: call(310, pid, ctypes.addressof(iov), 1,
                                   ctypes.addressof(far), 1, 0)
    yield "vm_writev", lambda: call(311, pid, ctypes.addressof(iov), 1,
                                    ctypes.addressof(far), 1, 0)
    yield "migrate", lambda: call(256, pid, 0, 0, 0)
    yield "robust list", lambda: call(274, pid, ctypes.addressof(buf),
                                      ctypes.addressof(buf) + 8)
    for f in ("mem", "oom_score_adj", "coredump_filter", "clear_refs",
              "autogroup", "comm"):
        yield "write " + f, lambda f=f: os.open("/proc/%d/%s" % (pid, f),
                                                os.O_WRONLY)
    for f in ("mem", "environ", "maps", "auxv", "io", "stack", "syscall",
              "pagemap"):
        yield "read " + f, lambda f=f: os.read(os.open("/proc/%d/%s" % (pid, f),
                                                       os.O_RDONLY), 1)
    for f in ("root", "cwd", "exe", "ns/mnt", "ns/net", "ns/pid", "fd/0"):
        yield f, lambda f=f: os.open("/proc/%d/%s" % (pid, f), os.O_RDONLY)
    yield "fd", lambda: os.listdir("/proc/%d/fd" % pid)
for pid in map(int, sys.argv[1:]):
    for name, f in tries(pid):
        try:
            f()
            print(pid, name, "done", flush=True)
        except OSError as e:
            print(pid, name, errno.errorcode[e.errno], flush=True)
"""
# No power over anybody: what the kernel tells all, or cannot do
# (SIGCONT goes to all of a session, and stops nothing).
HARMLESS = {"read io", "read stack", "signal 18"}


def attacked(p, pids):
    r = p.host("python3", "-c", ATTACKS, *map(str, pids))
    rows = [x.split(" ", 1)[1].rsplit(" ", 1) for x in r.out.splitlines()]
    return [n for n, e in rows if e not in
            ("EPERM", "EACCES", "ESRCH") and n not in HARMLESS], rows


class Live:
    """A hostile run that stays at one step until it is let go."""

    def __init__(self, p, what, marker):
        self.c = start([HOSTILE, what], p.env, p.proj, stdin=subprocess.PIPE)
        self.lines = []
        while not self.lines or not self.lines[-1].startswith(marker):
            line = self.c.stdout.readline().decode()
            if line == "":
                break
            self.lines.append(line.rstrip())
        words = dict(x.split(" ", 1) for x in self.lines if " " in x)
        self.launcher = self.c.pid
        self.recorder = int(words.get("recorder", 0))
        self.inside = int(words.get("born", "0 0").split()[1])

    def end(self):
        self.c.stdin.close()
        self.c.stdin = None
        return finish(self.c)


def table(p):
    """/proc at each step: who has what (parent/serve.c)."""
    def user(s, name):
        ok(s and s["uid"] == {str(UID)} and s["nnp"] == "1" and
           s["dump"] == 0 and not any(s[k] for k in
                                      ("Inh", "Prm", "Eff", "Bnd", "Amb")),
           "S105 %s: the user, without anything, not dumpable" % name, s)

    def none(s, name):
        ok(s and s["uid"] == {"0"} and s["nnp"] == "1" and s["dump"] == 0 and
           not any(s[k] for k in ("Inh", "Prm", "Eff", "Bnd", "Amb")),
           "S105 %s: uid 0 and no capability at all" % name, s)

    live = Live(p, "idle", "recorder")
    s = status(live.recorder)
    user(status(live.launcher), "the launcher, before it asks")
    until(lambda: status(live.recorder)["uid"] == {"0"})
    s = status(live.recorder)
    ok(s["uid"] == {"0"} and s["Eff"] == 0 and s["Inh"] == s["Amb"] == 0 and
       s["Bnd"] == SERVED and s["dump"] == 0 and
       s["Prm"] & ~(SERVED | 1 << 23 | 1 << 24) == 0,
       "S105 the recorder before: all permitted, none in effect", s)
    wrong, rows = attacked(p, [live.recorder])
    ok(not wrong and len(rows) > 40, "S105 V001 PTRACE the recorder before: out of "
       "reach", wrong)
    live.end()

    live = Live(p, "wait", "born")
    time.sleep(0.1)
    mine = children(live.recorder)
    ok(len(mine) == 1, "S105 the recorder has the server alone", mine)
    server = mine[0] if mine else 0
    s = status(server)
    ok(s and s["uid"] == {"0"} and s["Eff"] == 0 and s["Prm"] == SERVED and
       s["Bnd"] == SERVED and not s["Inh"] | s["Amb"] and s["dump"] == 0,
       "S105 the server: eight permitted, none in effect", s)
    ok(live.inside in children(server), "S105 the set-up is its child",
       children(server))
    none(status(live.recorder), "the recorder while the root is built")
    user(status(live.inside), "the set-up")
    user(status(live.launcher), "the launcher")
    wrong, rows = attacked(p, [live.recorder, server])
    ok(not wrong and len(rows) > 80,
       "S105 V001 PTRACE recorder and server: out of reach", wrong)
    ok(status(server) and status(live.recorder),
       "S105 both live on after that")
    live.end()

    live = Live(p, "pivot", "born")
    until(lambda: len(children(live.recorder)) == 2 and
          status(server) is None)
    until(lambda: live.inside in children(live.recorder))
    mine = children(live.recorder)
    factory = [x for x in mine if x != live.inside]
    ok(len(mine) == 2 and live.inside in mine and len(factory) == 1,
       "S105 after the pivot the server is gone", mine, live.lines)
    s = status(factory[0]) if factory else None
    ok(s and s["uid"] == {"0"} and s["Prm"] == s["Eff"] == BIND and
       s["Bnd"] == 0 and s["nnp"] == "1" and s["dump"] == 0,
       "S105 the socket factory: binding alone", s)
    none(status(live.recorder), "the recorder of a run")
    user(status(live.inside), "what was the set-up")
    wrong, rows = attacked(p, [live.recorder] + factory)
    ok(not wrong, "S105 recorder and factory: out of reach", wrong)
    live.end()
    ok(until(lambda: not factory or status(factory[0]) is None),
       "S105 no factory is left behind")

    own = start(["sleep", "60"], p.env, p.proj)
    wrong, rows = attacked(p, [own.pid])
    ok("signal 9" in wrong and "affinity" in wrong and "prlimit 0" in wrong,
       "S105 control: on a process of his own they work", rows)
    finish(own)


def race(p):
    plain = p.top + "/plain"
    shutil.copy(HELPERS + "/hosted", plain)
    os.chmod(plain, 0o755)
    for file, hosted in ((HOSTILE, True), (plain, False)):
        r = p.host(HELPERS + "/grab", str(ROUNDS), str(10 + ROUNDS // 20),
                   file, file, "fds", timeout=60 + ROUNDS // 10)
        m = re.search(r"rounds (\d+) ran (\d+) won (\d+)", r.out)
        n, ran, won = map(int, m.groups()) if m else (0, 0, 0)
        if hosted:
            ok(n > 0 and ran == n and won == 0, "S105 V001 PTRACE %d starts are "
               "raced: none is read, traced or taken from" % n, r)
        else:
            ok(won > 0, "S105 control: without privilege it is", r)


def records(p, log):
    for what, why in (
            ("forge", "S104 the set-up cannot speak for the server"),
            ("hand-out", "S104 who keeps the set-up's end keeps no end "
             "unwritten")):
        r = hostile(p, what)
        pid = int(re.search(r"recorder (\d+)", r.out)[1])
        got = log.records(of=pid)
        ok("over 0" in r.out and [x.get("event") for x in got] == ["over"],
           why, r, got)
    r = hostile(p, "forge-end")
    pid = int(re.search(r"recorder (\d+)", r.out)[1])
    got = log.records(of=pid)
    ok([x.get("event") for x in got] == ["over"] and
       got[0]["unwritten"] == "1" and "memory-kib" in got[0],
       "S104 a monitor cannot write that a run is over", r, got)
    t = time.monotonic()
    c = start([HOSTILE, "trickle"], p.env, p.proj)
    pid = int(c.stdout.readline().split()[1])
    got = log.records(of=pid)
    secs = time.monotonic() - t
    ok([x for x in got if x.get("event") == "over"] and secs < 5 and
       c.poll() is None, "S104 one that goes on and on does not put the end "
       "off", "%.1f s" % secs, got)
    finish(c)
    r = hostile(p, "flood", timeout=60)
    pid = int(re.search(r"recorder (\d+)", r.out)[1])
    got = log.records(of=pid)
    ok([x for x in got if x.get("event") == "over"],
       "S104 nor one that floods, and the kernel's own bound of one "
       "descriptor's records holds none back", r, got[-3:])
    with open("/proc/sys/kernel/printk_devkmsg") as f:
        diag("%d records, printk_devkmsg %s" % (len(got), f.read().strip()))
    for wrap in (("nice", "-n", "19"), ("taskset", "1"), ("chrt", "-i", "0"),
                 ("prlimit", "--cpu=1:1"), ("choom", "-n", "1000", "--")):
        c = start([*wrap, HOSTILE, "wait"], p.env, p.proj,
                  stdin=subprocess.PIPE)
        first = c.stdout.readline().decode().split()
        lines = ""
        while "born" not in lines:
            line = c.stdout.readline().decode()
            if line == "":
                break
            lines += line
        if not first or "born 0" not in lines:
            ok("born" in lines and wrap[0] == "prlimit",
               "S105 a limit that root cannot lift here: no run", lines)
        else:
            pid = int(first[1])
            with open("/proc/%d/limits" % pid) as f:
                cpu = [x.split()[3:5] for x in f if "cpu time" in x][0]
            with open("/proc/%d/oom_score_adj" % pid) as f:
                oom = int(f.read())
            equal((os.getpriority(os.PRIO_PROCESS, pid),
                   os.sched_getscheduler(pid), len(os.sched_getaffinity(pid)),
                   cpu, oom <= 0),
                  (0, 0, os.cpu_count(), ["unlimited"] * 2, True),
                  "S105 %s of the caller's is not the recorder's" % wrap[0])
        c.stdin.close()
        c.stdin = None
        finish(c)


def server(p):
    r = hostile(p, "fds")
    ok(re.findall(r"fd (\S+)", r.out) == ["socket:", "/", "socket:"] or
       sorted(re.findall(r"fd (\S+)", r.out)) == ["/", "socket:", "socket:"],
       "S105 the set-up has its own descriptors", r)
    r = hostile(p, "factories", 3)
    equal(re.findall(r"op 10: (\w+)", r.out), ["done", "EBUSY", "EBUSY"],
          "S105 one socket factory a run", r)
    r = hostile(p, "unread")
    ok("sent 1" in r.out and "over 0" in r.out,
       "S105 who reads no answer is left", r)
    # lengths, types, and descriptors that none expects
    for type, size, nfds in ((0, 64, 0), (11, 64, 0), (255, 64, 0),
                             (5, 0, 0), (5, 7, 0), (5, 128, 0), (1, 64, 0),
                             (1, 64, 2), (2, 64, 3), (5, 64, 1), (6, 64, 3)):
        r = hostile(p, "raw", type, size, nfds)
        ok("over" in r.out and ": done, done" not in r.out,
           "S105 question %d of %d bytes with %d descriptors: none" %
           (type, size, nfds), r)
    # what is not of the new mount namespace, or is no place for a mount
    p.write("fifo.py")
    os.mkfifo(p.proj + "/fifo")
    host = mounts()
    mine = "/proc/%d" % os.getpid()
    for path, opens in (("/", 0), ("/etc/passwd", 0), ("/proc", 0),
                        ("/proc/self/ns/mnt", 1), ("/proc/self/ns/net", 1),
                        ("/proc/1/root", 0), ("/dev/null", 1),
                        ("/proc/self/exe", 0), (mine + "/cwd", 0)):
        r = hostile(p, "with-given", path, *["x"] * opens)
        got = re.findall(r"given: (?:op 3: \w+\n)?op (\d): (\w+)|op 4: (\w+)",
                         r.out)
        ok("over" in r.out and not re.search(r"op [124]: done", r.out),
           "S105 HOST nothing is done with the host's %s" % path, r, got)
    equal(mounts(), host, "S105 the host's mounts are as before")
    r = hostile(p, "with", "/usr")
    ok("op 1: done" in r.out and "op 4: done" in r.out,
       "S105 control: with its own there is", r)


def uncover(p):
    """A directory that root hid below a mount."""
    d = p.top + "/cover"
    p.write(d + "/hidden/secret", "CANARY\n")
    p.write(d + "/file", "GOOD\n")
    script = ("mount -t tmpfs none %s/hidden; exec setpriv --reuid %d "
              "--regid %d --clear-groups %s uncover %s " %
              (d, UID, GID, HOSTILE, d))
    for name, want in (("hidden/secret", False), ("file", True)):
        with root():
            r = finish(subprocess.Popen(
                ["unshare", "-m", "sh", "-c", script + name], env=p.env,
                stdin=-3, stdout=-1, stderr=-1))
        if want:
            ok("GOOD" in r.out, "S105 control: a descriptor lasts", r)
        else:
            ok("op 5: done" in r.out and "CANARY" not in r.out,
               "S105 what lies below a mount stays hidden after the pivot", r)


def environment(p):
    """What execve(2) keeps of the caller's."""
    off = ("import ctypes, os, sys; ctypes.CDLL(None).prctl(26, 2, 0, 0, 0); "
           "os.execv(sys.argv[1], sys.argv[1:])")
    r = hostile(p, "fds", wrap=("python3", "-c", off))
    ok("over 0" in r.out, "S105 a caller without clocks: reset", r)
    r = hostile(p, "fds", wrap=("setpriv", "--no-new-privs"))
    ok("no hosted mode" in r.err, "S100 under no_new_privs: no privilege", r)
    r = hostile(p, "fds", wrap=("strace", "-o", "/dev/null"))
    ok("set-up" not in r.out, "S105 under a tracer of the user's: none", r)
    r = hostile(p, "fds", wrap=("prlimit", "--nofile=4:4"))
    ok("CANARY" not in r.out and not gone(), "S105 few descriptors: it ends",
       r)
    big = dict(p.env, **{"X%d" % i: "x" * 100000 for i in range(18)})
    r = p.host(HOSTILE, "fds", env=big)
    ok("over 0" in r.out, "S105 control: a large environment", r)


with Place() as p:
    with root():
        shutil.copy(HELPERS + "/hosted", HOSTILE)
        os.chmod(HOSTILE, 0o4755)
    table(p)
    server(p)
    uncover(p)
    environment(p)
    race(p)
    if is_the_log():
        records(p, Kmsg())
    else:
        skip("S104", "the kernel's log is not the one")
    ok(not gone(3), "S105 no process is left", gone(0))
    with root():
        os.unlink(HOSTILE)
done()
