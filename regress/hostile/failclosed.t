#!/usr/bin/python3
"""Every system call that carrel makes before the payload runs fails once,
each time in another run (V026): either nothing runs, or all of the
confinement stands.

The calls come from a trace, so one that is new is tried by itself."""
import errno
import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from tap import *

REPORT = "/opt/h/report"

INJECT = HELPERS + "/inject"
WHO = ("carrel", "set-up", "parser", "payload", "notifier")
# Calls that fail because memory is short, or that the C library makes to
# start or end a process: not the set-up's to answer for.
SKIP = {"exit", "exit_group", "rt_sigreturn", "brk", "mmap", "munmap",
        "mremap", "mprotect", "arch_prctl", "set_tid_address",
        # cannot fail, so what it returns is no error
        "umask"}
# The fork of a C library blocks signals with it, and does not look at the
# result.
SKIP_OF = {(0, "rt_sigprocmask")}
# Without a standard descriptor there is nowhere to write to.
QUIET = {"fcntl of the carrel"}
# No run may go on when one of these fails.
PROTECTS = ((0, "clone"), (0, "vfork"), (1, "unshare"), (0, "socketpair"),
            (1, "pivot_root"), (1, "umount2"), (1, "mount"),
            (1, "move_mount"), (1, "fsopen"), (1, "fsconfig"), (1, "fsmount"),
            (1, "seccomp"), (1, "capset"), (1, "capget"),
            (1, "landlock_create_ruleset"), (1, "sethostname"),
            (1, "landlock_add_rule"), (1, "prctl"),
            (1, "landlock_restrict_self"), (1, "ioctl"), (1, "write"),
            (1, "mkdirat"), (1, "symlinkat"), (1, "mknodat"),
            (0, "getrandom"), (3, "setpgid"), (2, "seccomp"),
            (2, "landlock_create_ruleset"), (2, "landlock_add_rule"),
            (2, "close_range"), (2, "landlock_restrict_self"),
            (2, "prlimit64"))
# What is not known is not given: no account, no target; that is no less.
# A pid 1 that has ended shows no command line.
# Without its answer an attempt to execute, or to write, fails in another way.
NO_LESS = (r"env (USER|LOGNAME|SHELL|CARREL_TARGET)=|cwd /|"
           r"write to \S+: E(NOSYS|ROFS|ACCES)|"
           r"execve: E(NOSYS|PERM|NOENT)|/proc/1/cmdline: [01] bytes")
# An older kernel does not have them.
MAY_LACK = {"openat2", "open_tree", "open_tree_attr", "mount_setattr",
            "close_range", "landlock_create_ruleset", "seccomp", "keyctl"}


def fail_each(p, ns, more, told, processes, protects, known=()):
    """The policy "inject" and more, in which each call fails once, but those
    that an earlier one made as often (known). told: what the report says of
    it; protects: without which there is no run. Returns all calls."""
    RUN = ["run", "--no-defaults", "-p", "inject"] + more + [
        "--", REPORT] + ns

    plain = p.do(*RUN)
    ok(plain.code == 0 and plain.out.startswith(MARK) and
       "the host's" not in plain.out, "V026 the report of a good run", plain)
    for want in told + (
            "self NoNewPrivs:\t1", "self Seccomp:\t2", "layers left: 15",
            "lo: up", "descriptor 2\n", "write to /: EROFS",
            "unshare: EPERM", "host carrel\n"):
        ok(want in plain.out, "V026 control: it tells %r" % want, plain)
    ok("descriptor 3" not in plain.out, "V026 control: no descriptor", plain)
    equal(p.do(*RUN).out, plain.out, "V026 two good runs report the same")
    weak = p.do(*(RUN[:1] + ["--without-landlock"] + RUN[1:]))
    ok("layers left: 16" in weak.out, "V026 R075 control: without Landlock it "
       "shows", weak)
    if more:
        weak = p.do(*(RUN[:4] + RUN[RUN.index("--"):]))
        ok(MARK in weak.out and not [x for x in told if x in weak.out],
           "V026 R075 control: without the profile it shows", weak)

    ran, refused, quiet = Counter(), Counter(), []

    def judge(who, name, n, r):
        """What is wrong with a run in which something failed, or ''."""
        if r.code == "timeout":
            return "hangs"
        if MARK in r.out:
            a, b = ([x for x in text.splitlines() if not re.match(NO_LESS, x)]
                    for text in (plain.out, r.out))
            if r.code != 0 and "\n".join(a).startswith("\n".join(b)):
                return ""       # ended when it was noticed
            if a != b:
                return "weaker: %s" % [x for x in a + b
                                       if x not in a or x not in b]
            ran[who, name] += 1
            return ""
        refused[who, name] += 1
        if r.code != (NOTEXEC if (who, name) == (3, "execve") else OWN):
            return "exit %d and no payload" % r.code
        if not r.err.startswith("carrel: "):
            quiet.append("%s of the %s" % (name, WHO[who]))
        return ""

    # every call of the launcher, the parser, the set-up and the payload's
    # process up to its first own instruction
    host, log = mounts(), p.top + "/trace"
    r = p.host(INJECT, "trace", log, CARREL, *RUN)
    ok(r.code == 0 and r.out == plain.out, "V026 traced it runs the same", r)
    with open(log) as f:
        calls = [(int(a), int(b), c, int(d)) for a, b, c, d in
                 (x.split() for x in f)]
    names = {c[2] for c in calls}
    for must in ("clone", "unshare", "vfork", "pivot_root", "umount2", "mount", "move_mount",
                 "fsopen", "fsconfig", "fsmount", "mount_setattr", "prctl",
                 "seccomp", "landlock_create_ruleset", "landlock_add_rule",
                 "landlock_restrict_self", "socketpair", "sendto", "capset",
                 "sethostname", "ioctl", "write", "keyctl", "close_range",
                 "openat2", "fchdir", "prlimit64", "setpgid", "signalfd4"):
        ok(must in names, "V026 the trace shows %s" % must, sorted(names))
    equal({c[0] for c in calls}, set(range(processes)),
          "V026 the trace shows each process")

    def inject(job):
        who, nr, name, n, error = job
        r = p.host(INJECT, "fail", str(who), str(nr), str(n), str(error),
                   CARREL, *RUN, timeout=30)
        return job, judge(who, name, n, r), r

    jobs = []
    for who, nr, name, count in calls:
        if name in SKIP or (who, name) in SKIP_OF or \
                (who, nr, name, count) in known:
            continue
        jobs += [(who, nr, name, n, errno.EPERM) for n in range(1, count + 1)]
        if name in MAY_LACK:
            jobs += [(who, nr, name, n, errno.ENOSYS) for n in range(1, count + 1)]
    t = time.monotonic()
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(inject, jobs))
    bad = ["%s %d of the %s, error %d: %s\n%s" %
           (name, n, WHO[who], error, wrong, r.err[-300:])
           for (who, nr, name, n, error), wrong, r in results if wrong]
    ok(not bad, "V026 %d calls failed, one a run: %d did not run, %d ran with "
       "all of the confinement" %
       (len(jobs), sum(refused.values()), sum(ran.values())), *bad[:12])
    diag("%.0f s" % (time.monotonic() - t))
    for who, nr, name, count in calls:
        if name not in SKIP:
            diag("%-8s %-24s %4d calls %4d refused %4d ran" %
                 (WHO[who], name, count, refused[who, name], ran[who, name]))
    # these protect: no run may go on when one of them fails
    for who, name in protects:
        ok(refused[who, name] > 0 and ran[who, name] == 0,
           "V026 no run without %s of the %s" % (name, WHO[who]),
           refused[who, name], ran[who, name])
    equal(sorted(set(quiet) - QUIET), [], "V026 every failure has a message")
    equal(mounts(), host, "V026 the host's mounts are as before")
    ok(not gone(3), "V026 no process is left", gone(0))
    return calls


with Place() as p:
    ns = p.host("sh", "-c", "for n in user mnt pid ipc uts net cgroup; do "
                "readlink /proc/self/ns/$n; done").out.split()
    os.makedirs(p.proj + "/a/b/keep")
    p.write("data/f", "f\n")
    p.fs("inject", "read = %s -> /opt/h" % HELPERS, "write = %s" % p.proj,
         "read = %s/a/b/keep" % p.proj, "read = %s/data/f -> /opt/f" % p.proj,
         "tmpfs = /opt/t size=1M", "symlink = /opt/l -> t")
    calls = fail_each(p, ns, [], ("memfd_create: done", "unix socket: done",
                                  "execve: ENOENT"), 4, PROTECTS)
    # [exec]: the lock, who answers for once = yes, and the narrow filters
    p.profile("lock", "[profile]\ndescription = x\n[exec]\n"
              "interpreter = %s\nlibrary = /opt/h\nunix = no\nonce = yes\n" %
              REPORT)
    fail_each(p, ns, ["-p", "lock"],
              ("memfd_create: EPERM", "unix socket: EAFNOSUPPORT",
               "execve: EPERM", "mount /opt/h/report ",
               "/opt/t / rw,nosuid,nodev,noexec"), 5,
              ((3, "seccomp"), (3, "sendmsg"), (1, "seccomp"),
               (1, "move_mount"), (1, "landlock_add_rule"), (4, "prctl"),
               (4, "close_range")), calls)
    # [audit]: who looks at what writes
    p.profile("watch", "[profile]\ndescription = x\n[audit]\nreport = fs\n")
    fail_each(p, ns, ["-p", "watch"], ("self Seccomp_filters:\t2",), 5,
              ((3, "seccomp"), (3, "sendmsg"), (4, "prctl"),
               (4, "close_range")), calls)
    # [limits]: what the kernel counts for a process, and the clock
    p.profile("lim", "[profile]\ndescription = x\n[limits]\n"
              "wall-time = 60s\nopen-files = 99\ncpu-time = 50s\n"
              "file-size = 1G\n")
    fail_each(p, ns, ["-p", "lim"],
              ("files 99 99\n", "cpu 50 51\n",
               "file size %d %d\n" % (1 << 30, 1 << 30)), 4,
              ((1, "timerfd_create"), (1, "timerfd_settime"),
               (3, "prlimit64")), calls)
done()
