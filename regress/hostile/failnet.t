#!/usr/bin/python3
"""What failclosed.t does, for a run with a way into the network: each call with
which the set-up makes the network fails once, and each of the socket factory
(V026). Nothing runs then, or what runs can reach no more than it should."""
import errno
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from tap import *

INJECT = HELPERS + "/inject"
# of the set-up: how sockets, routes and the factory's root are made, and how
# it talks with the broker
CALLS = {"socket", "bind", "listen", "setsockopt", "sendto", "sendmsg",
         "recvmsg", "recvfrom", "poll", "ioctl", "fsopen", "fsconfig",
         "fsmount"}
SKIP = {"exit", "exit_group", "rt_sigreturn", "brk", "mmap", "munmap",
        "mprotect", "mremap", "rt_sigprocmask", "gettid"}
PAYLOAD = """
import errno, socket
print(%r)
def tried(what, f, kind, addr):
    s = socket.socket(f, kind)
    s.settimeout(5)
    try:
        s.connect(addr)
        end = s.recv(9) if kind == socket.SOCK_STREAM else "connected"
    except OSError as e:
        end = errno.errorcode.get(e.errno, e)
    print(what, end)
for a in ("192.0.2.1", "127.0.0.1", "198.18.0.3", "10.0.0.1"):
    tried(a, socket.AF_INET, socket.SOCK_STREAM, (a, 80))
tried("v6", socket.AF_INET6, socket.SOCK_STREAM, ("2001:db8::1", 80))
tried("multicast", socket.AF_INET, socket.SOCK_DGRAM, ("224.0.0.1", 80))
for kind, proto in ((socket.SOCK_RAW, 1), (socket.SOCK_DGRAM, 1)):
    try: socket.socket(socket.AF_INET, kind, proto); print("raw")
    except OSError as e: print("raw", errno.errorcode[e.errno])
for name in ("x.elsewhere.example", "a.wild.example"):
    try: print(name, len(socket.getaddrinfo(name, 80)) > 0)
    except OSError: print(name, "none")
print(open("/etc/resolv.conf").read())
print(sorted(socket.if_nameindex()))
""" % MARK

with Place() as p:
    p.profile("net", "[profile]\ndescription = test\n[egress]\n"
              "allow = tcp://a.example:7\nallow = udp://a.example:7\n"
              "allow = tcp://*.wild.example:7\n")
    RUN = ["run", "-p", "net", "--", "python3", "-c", PAYLOAD]
    plain = p.do(*RUN)
    ok(plain.code == 0 and plain.out.startswith(MARK) and
       plain.out.count("ECONNREFUSED") == 5 and
       "a.wild.example True" in plain.out, "V026 a good run", plain)
    equal(p.do(*RUN).out, plain.out, "V026 two good runs report the same")
    log = p.top + "/trace"
    r = p.host(INJECT, "trace", log, CARREL, *RUN)
    ok(r.code == 0 and r.out == plain.out, "V026 traced it runs the same", r)
    with open(log) as f:
        calls = [(int(a), int(b), c, int(d)) for a, b, c, d in
                 (x.split() for x in f)]
    by = {}
    for who, nr, name, n in calls:
        by.setdefault(who, {})[name] = n
    setup = [w for w in by if "pivot_root" in by[w]]
    factory = [w for w in by if "setns" in by[w]]
    ok(len(setup) == 1 and len(factory) == 1 and
       by[factory[0]]["setns"] == 2 and "chroot" in by[factory[0]],
       "V026 the trace shows set-up and factory", by)

    lines = plain.out.splitlines()
    no_wild = plain.out.replace("a.wild.example True", "a.wild.example none")

    def judge(r):
        """What is wrong with a run in which something failed, or ''."""
        if r.code == "timeout":
            return "hangs"
        if MARK not in r.out:
            return "" if r.code == OWN and r.err.startswith("carrel: ") else \
                "exit %s and no payload" % r.code
        if r.code == OWN and plain.out.startswith(r.out):
            return ""           # ended when it was noticed
        if r.code == OWN and r.err:
            return "" if r.out in (plain.out, no_wild) else "differs"
        return "" if r.code == 0 and r.out in (plain.out, no_wild) else "differs"

    jobs = []
    for who, nr, name, count in calls:
        if (who in setup and name in CALLS) or (
                who in factory and name not in SKIP):
            jobs += [(who, nr, name, n) for n in range(1, count + 1)]
    ran, refused = Counter(), Counter()

    def inject(job):
        who, nr, name, n = job
        r = p.host(INJECT, "fail", str(who), str(nr), str(n),
                   str(errno.EPERM), CARREL, *RUN, timeout=40)
        (ran if MARK in r.out else refused)[who, name] += 1
        return job, judge(r), r
    with ThreadPoolExecutor(3) as pool:
        results = list(pool.map(inject, jobs))
    bad = ["%s %d of %d: %s\n%s" % (name, n, who, wrong, r)
           for (who, nr, name, n), wrong, r in results if wrong]
    ok(not bad, "V026 %d calls failed, one a run: %d did not run, %d ran with "
       "the network that they should have" % (
           len(jobs), sum(refused.values()), sum(ran.values())), *bad[:8])
    for who, name in [(setup[0], x) for x in (
            "bind", "listen", "setsockopt", "fsopen")] + [
            (factory[0], x) for x in (
                "setns", "chroot", "fchdir", "capset", "seccomp")]:
        ok(refused[who, name] > 0 and ran[who, name] == 0,
           "V026 no run without %s of %s" % (
               name, "the set-up" if who in setup else "the factory"),
           refused[who, name], ran[who, name])
    ok(not gone(5), "V026 no process is left", gone(0))
done()
