#!/usr/bin/python3
"""A step of the set-up that fails means no payload (S6, V026, V004): faults are
injected into every call that builds or confines."""
import os
from tap import *

CALLS = """clone clone3 fork vfork socketpair socket sendto sendmsg recvmsg
fsopen fsconfig fsmount open_tree mount_setattr move_mount mount pivot_root
umount2 fchdir mkdirat mknodat symlinkat openat2 sethostname prctl capset
seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self
keyctl personality close_range setrlimit prlimit64 pipe2 pipe signalfd4
setgroups setresuid setresgid setitimer umask""".split()
# May fail once without harm: openat2 looks at sources of which some are
# optional, and what cannot be reached is left out; personality first asks;
# umask cannot fail.
TOLERATED = {"openat2", "personality", "umask"}


def injected(p, call, n, error="EPERM"):
    return p.strace("/dev/null", ["-e", "inject=%s:error=%s:when=%d" %
                                  (call, error, n), "-e", "trace=" + call],
                    CARREL, "run", "--", HELPERS + "/argv0")


with Place() as p:
    # a payload that makes few calls of its own: it prints its usage
    p.fs("h", "read = " + HELPERS)
    os.makedirs(p.conf, exist_ok=True)
    p.write(p.conf + "/config", "[carrel]\ndefaults = @sys\ndefaults = h\n"
            "defaults = @target\n")

    def started(r):
        return "usage: argv0" in r.err
    r = injected(p, "fsopen", 999)
    ok(r.code == 2 and started(r), "V026 control: no fault, it runs", r)
    if not IS_ROOT:
        # strace of a caller cannot follow what is not dumpable
        skip("V026 faults in every call", "needs root")
    else:
        ran, dumb, count = [], [], 0
        for call in CALLS:
            for n in list(range(1, 7)) + [9, 14, 20, 30]:
                r = injected(p, call, n)
                count += 1
                if r.code == 2 and started(r):
                    ran.append((call, n))
                    if n > 6:
                        break
                elif r.code == "timeout" or not r.err:
                    dumb.append((call, n, str(r)))
        log = p.top + "/strace"
        p.strace(log, ["-e", "trace=" + ",".join(CALLS)], CARREL, "run", "--",
                 HELPERS + "/argv0")
        called = {c for c in CALLS if re.search(r"\b%s\(" % c,
                                                open(log).read())}
        dangerous = {c for c, n in ran if n == 1} & called
        diag("called: %s\ntolerated: %s" % (sorted(called), ran))
        ok(len(called) > 20, "V026 control: they are called", called)
        ok(not dumb, "V026 every failure has a message (%d faults)" % count,
           *dumb[:8])
        equal(sorted(dangerous - TOLERATED), [],
              "V026 V004 no payload when a step fails")
    ok(not gone(2), "V026 nothing is left", gone(0))
done()
