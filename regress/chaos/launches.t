#!/usr/bin/python3
"""Launches in a world that falls apart: SIGKILL, SIGSTOP and SIGCONT, no
descriptors, processes or memory left (prlimit), a full disk below what is
kept, each at a random moment of a start or a run. A run ends as a whole one or
with a known code, none hangs, and nothing is left of any.

CARREL_T_CHAOS is the number of launches (check-chaos: 10,000). What has to
have happened is tried first, without luck; of the random ones only what may
not be is judged."""
import ctypes
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from tap import *

ROUNDS = int(os.environ.get("CARREL_T_CHAOS", "300"))
SH = os.path.realpath("/bin/sh")
# refused by the exec lock, so that the run has something to keep
SCRIPT = "echo %s; /usr/bin/env 2>/dev/null; exit 7" % MARK
WHOLE = 7
# what a payload of few descriptors, processes or bytes comes to by itself:
# its loader's 127 and 1, the shell's 2, the kernel's signals in an execve(2)
STARVED = {1, 2, NOTEXEC, NOTFOUND, 128 + 6, 128 + 9, 128 + 11}
LIMITS = {
    "descriptors": (resource.RLIMIT_NOFILE, (0, 3, 4, 5, 6, 8, 10, 12, 16)),
    "processes": (resource.RLIMIT_NPROC, (0, 1, 2, 3)),
    "memory": (resource.RLIMIT_AS, [n << 16 for n in (1, 4, 8, 16, 32, 64)]),
}
MAY = {"kill": {WHOLE, OWN, 128 + 9}, "stop": {WHOLE}, "disk": {WHOLE},
       **{name: STARVED | {WHOLE, OWN} for name in LIMITS}}


def own_mounts():
    """This test's mounts are its own from here on."""
    libc = ctypes.CDLL(None, use_errno=True)
    with root():
        if libc.unshare(0x20000) != 0:  # CLONE_NEWNS
            raise OSError(ctypes.get_errno(), "unshare")
        subprocess.run(["mount", "--make-rprivate", "/"], check=True)


class Disk:
    """A small one, with room for the runs that are kept."""

    def __init__(self, path):
        self.path, self.filler = path, path + "/filler"
        os.makedirs(path)
        with root():
            subprocess.run(["mount", "-t", "tmpfs", "-o",
                            "size=2m,mode=755,uid=%d,gid=%d" % (UID, GID),
                            "none", path], check=True)

    def fill(self):
        with contextlib.suppress(OSError), open(self.filler, "ab", 0) as f:
            while f.write(b"x" * 4096):
                pass

    def empty(self):
        with contextlib.suppress(OSError):
            os.truncate(self.filler, 0)

    def end(self):
        with root():
            subprocess.run(["umount", self.path], check=True)


def below(pid):
    """pid and what it started, as far as it is still there."""
    found, at = [pid], 0
    while at < len(found):
        with contextlib.suppress(OSError), \
                open("/proc/%d/task/%d/children" % (found[at], found[at])) as f:
            found += map(int, f.read().split())
        at += 1
    return found


def hit(pid, sig):
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, sig)


def groups():
    """Control groups that carrel made for our user."""
    found = set()
    for d, dirs, files in os.walk("/sys/fs/cgroup"):
        with contextlib.suppress(OSError):
            if os.path.basename(d).startswith("carrel") and \
                    os.lstat(d).st_uid == UID:
                found.add(d)
    return found


class Chaos:
    def __init__(self, p, disk):
        self.p, self.disk = p, disk

    def launch(self, script=SCRIPT, **kw):
        return self.p.start("run", "-p", "c", "--", "sh", "-c", script, **kw)

    def kill(self, r, q):
        hit(r.choice(below(q.pid)), signal.SIGKILL)

    def stop(self, r, q):
        who = r.choice(below(q.pid))
        hit(who, signal.SIGSTOP)
        time.sleep(r.uniform(0, 0.02))
        hit(who, signal.SIGCONT)
        # who had a stopped child may have stopped with it
        while q.poll() is None:
            for pid in reversed(below(q.pid)):
                hit(pid, signal.SIGCONT)
            time.sleep(0.005)

    def limit(self, r, q, kind):
        what, values = LIMITS[kind]
        n = r.choice(values)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            resource.prlimit(r.choice(below(q.pid)), what, (n, n))

    def one(self, seed):
        """(kind, code, what was wrong or "")"""
        r = random.Random(seed)
        kind = r.choice([k for k in MAY if k != "disk" or self.disk])
        if kind == "disk" and r.random() < 0.3:
            self.disk.fill()
        q = self.launch()
        time.sleep(r.uniform(0, 1) ** 2 * 0.03)
        if kind == "disk":
            self.disk.fill()
        elif kind in LIMITS:
            self.limit(r, q, kind)
        else:
            getattr(self, kind)(r, q)
        x = finish(q, 60)
        if kind == "disk":
            self.disk.empty()
        good = x.code in MAY[kind] and "Sanitizer" not in x.err and \
            (x.code != OWN or "carrel: " in x.err) and \
            (x.code != WHOLE or MARK in x.out)
        return kind, x.code, "" if good else "%s, seed %d: %s" % (
            kind, seed, x)

    def limited(self, kind, value):
        q = self.p.host("prlimit", "--%s=%d" % (kind, value), "--",
                        CARREL, "run", "-p", "c", "--", "sh", "-c", SCRIPT)
        return q


def unfinished(top):
    return [d + "/" + f for d, dirs, files in os.walk(top) for f in files
            if f.startswith(".")]


def judge_state(p, launch, name):
    """What is kept is whole: the screen reads each of it. A file that was to
    take another one's place may lie there for a while."""
    top = p.home + "/.local/state/carrel"
    for sub in ("flagged", "runs"):
        p.write("%s/%s/.new-old" % (top, sub))
        p.write("%s/%s/.new-young" % (top, sub))
    for f in unfinished(top):
        if not f.endswith("young"):
            os.utime(f, (1000, 1000))
    r = finish(launch())
    ok(r.code == WHOLE and MARK in r.out, name + ": the next run is whole", r)
    equal(sorted(unfinished(top)), sorted(
        "%s/%s/.new-young" % (top, sub) for sub in ("flagged", "runs")),
        name + ": no unfinished file stays, but for another run's")
    for f in unfinished(top):
        os.unlink(f)
    # a flag is a name, and stays empty where the disk has no room
    for d, dirs, files in os.walk(top + "/flagged"):
        for f in files:
            if os.path.getsize(d + "/" + f) == 0:
                os.unlink(d + "/" + f)
    r = p.do("violations", "--json")
    ok(r.code == 0 and r.err == "", name + ": what is kept is whole", r)


with Place() as p:
    if IS_ROOT:
        own_mounts()
        # the parent may be made by carrel, the disk may not
        disk = Disk(p.home + "/.local/state")
    else:
        disk = None
    p.profile("c", "[profile]\ndescription = test\n[audit]\nreport = exec\n"
              "[exec]\ninterpreter = %s\n" % SH)
    c = Chaos(p, disk)

    # without luck
    r = finish(c.launch())
    ok(r.code == WHOLE and MARK in r.out, "control: a launch", r)
    r = p.do("violations")
    ok(r.code == 0 and "/usr/bin/env" in r.out, "control: it is kept", r)
    p.forget()
    for kind, value in (("nofile", 3), ("nproc", 0), ("as", 1 << 20)):
        r = c.limited(kind, value)
        # what cannot even be mapped the kernel ends before it begins
        unmapped = kind == "as" and r.code == 128 + signal.SIGSEGV
        ok((r.code == OWN and "carrel: " in r.err or unmapped) and
           MARK not in r.out, "no %s left: refused" % kind, r)
    q = c.launch("echo %s; exec sleep 100" % MARK)
    q.stdout.readline()
    hit(q.pid, signal.SIGKILL)
    r = finish(q, 10)
    ok(r.code == 128 + 9 and not gone(3), "carrel is killed: all is gone", r)
    q = c.launch("echo %s; read x; exit 7" % MARK, stdin=subprocess.PIPE)
    q.stdout.readline()
    hit(q.pid, signal.SIGSTOP)
    q.stdin.write(b"x\n")
    q.stdin.close()
    q.stdin = None
    time.sleep(0.2)
    stopped = q.poll() is None
    hit(q.pid, signal.SIGCONT)
    r = finish(q, 10)
    ok(stopped and r.code == WHOLE, "carrel is stopped and goes on", r)
    if disk:
        disk.fill()
        r = finish(c.launch())
        ok(r.code == WHOLE and MARK in r.out, "a full disk stops no run", r)
        disk.empty()
        judge_state(p, c.launch, "a full disk")
    else:
        skip("a full disk", "needs root")

    # at random moments
    p.forget()
    first = rng().randrange(1 << 30)
    before = (mounts(), strays(), groups())
    count, bad = Counter(), []
    with ThreadPoolExecutor(4) as pool:
        for kind, code, what in pool.map(c.one, range(first, first + ROUNDS)):
            count[kind, code] += 1
            if what:
                bad.append(what)
    for (kind, code), n in sorted(count.items(), key=str):
        diag("%-12s ends with %-8s %5d" % (kind, code, n))
    ok(not bad, "%d launches end with a known code" % ROUNDS, *bad[:8])
    ok(not gone(5), "no process is left", gone(0))
    equal(mounts(), before[0], "the mounts are as before")
    equal(sorted(strays() - before[1]), [], "no file is left")
    equal(sorted(groups() - before[2]), [], "no control group is left")
    judge_state(p, c.launch, "at random moments")
    if disk:
        disk.end()
done()
