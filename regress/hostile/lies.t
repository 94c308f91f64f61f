#!/usr/bin/python3
"""Every way in which the protocol of carrel-ipc(7) lets a parser lie, one by
one: each time carrel ends with its own code, in time, with a message of its
own, and nothing was started or is left (V034, R061, S101 in part)."""
import lying
from lying import *

p = lying.place
POLICY, PROFILE, GRANTS, REFUSAL, END = 5, 6, 7, 8, 9   # record types
LAST = RECORDS - 1
TYPES = list(range(16)) + [127, 128, 255, 256, 65535]
own_type = {0: POLICY, 1: PROFILE, LAST: END}


def all_broken(name, modes, says, argv=(), workers=WORKERS):
    """Caught, and for the right reason: an honest refusal has the same code."""
    rs = all_lies(modes, argv, workers)
    bad = ["%s: %s" % (m, r) for m, r in zip(modes, rs)
           if not caught(m, r) or says not in r.err or
           len(r.err.splitlines()) != 1]
    ok(not bad, "V034 %s (%d lies)" % (name, len(modes)), *bad[:6])


BREAKS = "does not keep to the protocol"

try:
    r = lie("honest")
    ok(r.code == 0 and r.out == MARK + "\n", "V034 control: an honest liar", r)
    r = lie("refused honest")
    ok(r.code == OWN and "an honest no" in r.err and BREAKS not in r.err,
       "V034 control: an honest refusal", r)
    r = lie("deaf")
    # it may have gone before it could be asked
    ok(clean(r) and r.code == (0 if r.out == MARK + "\n" else OWN),
       "V034 control: a deaf one", r)

    # which records, in which order
    all_broken("each record twice", ["wire dup %d" % i for i in (0, LAST)] +
               ["again %d" % t for t in (POLICY, PROFILE, GRANTS, END)] +
               ["again-joined %d" % t for t in (POLICY, PROFILE, GRANTS, END)]
               + ["refused again %d" % t for t in (POLICY, REFUSAL, END)] +
               ["refused again-joined %d" % t for t in (REFUSAL, END)], BREAKS)
    all_caught("each in the place of each other",
               ["wire swap %d %d" % (i, k) for i in range(RECORDS)
                for k in range(i + 1, RECORDS)])
    all_caught("each type in the place of each",
               ["wire type %d %d" % (i, t) for i in range(RECORDS)
                for t in TYPES if t != own_type.get(i, GRANTS)])
    all_broken("a verdict that is none",
               ["wire byte %d 6 %d" % (LAST, v) for v in (1, 2, 128, 255)] +
               ["refused wire byte %d 6 %d" % (RECORDS, v)
                for v in (0, 2, 128, 255)], BREAKS)
    all_broken("counts that are not the list's",
               ["wire byte %d %d %d" % (LAST, 7 + 4 * k + b, 77)
                for k in range(6) for b in range(4)] +
               ["refused wire byte %d 27 1" % RECORDS], BREAKS)
    all_broken("versions", ["wire byte 0 6 %d" % v for v in (0, 2, 255)] +
               ["wire byte 0 7 %d" % v for v in (1, 255)], BREAKS)
    all_broken("empty datagrams", ["hollow %d" % n for n in (0, 2, 3)], BREAKS)

    # what a field may hold
    bits = [1 << b for b in range(8)]
    all_caught("flag bits", ["set flags %d" % b for b in bits + [3, 255]] +
               ["set pflags %d" % b for b in bits[3:] + [0, 15, 255]] +
               ["set layer %d" % n for n in (0, 2, 3, 4, 128, 255)] +
               ["set kind %d" % n for n in (0, 2, 3, 4, 6, 7, 128, 255)])
    strings = [(1, k) for k in range(4)] + [(GRANT, k) for k in range(2)]
    refusal = [(LAST, k) for k in range(4)]
    filled = [(1, 0), (1, 1), (GRANT, 0), (GRANT, 1)]
    all_broken("NUL in strings", ["string nul %d %d" % s for s in filled] +
               ["refused string nul %d %d" % s for s in refusal] +
               ["string unended %d %d" % s for s in filled] +
               ["refused string unended %d %d" % s for s in refusal], BREAKS)
    all_broken("lengths of strings",
               ["%sstring length %d %d %d" % (w, i, k, n)
                for w, where in (("", strings), ("refused ", refusal))
                for i, k in where for n in (255, 4097, 8193, 32768, 65535)],
               BREAKS)
    all_broken("lengths of lists",
               ["count %d %d" % (i, n) for i in (1, GRANT)
                for n in (2, 512, 513, 1024, 1025, 32768, 65535)], BREAKS)
    all_broken("lengths of records",
               ["wire size %d %d" % (i, n) for i in range(RECORDS) for n in
                (32763, 65535, 2147483647, 2147483648, 4294967295)], BREAKS)

    # cut at each byte: the stream as one datagram, and less of it
    rs, n, step = [], 0, 64
    while not any("(exit 77)" in r.err for r in rs[-step:]):
        rs += all_lies(["stop %d" % k for k in range(n, n + step)])
        n += step
    cut = [r for r in rs if "(exit 77)" not in r.err]
    bad = ["%d bytes: %s" % (k, r) for k, r in enumerate(cut)
           if not caught("", r) or
           not (BREAKS in r.err or "before the end of its policy" in r.err)]
    ok(not bad and len(cut) > 300, "V034 cut at each of %d bytes" % len(cut),
       *bad[:6])

    # too much: one more than the most, and the control
    all_broken("lists that are too long", [
        "lots profiles 513", "lots includes 513", "lots origins 1025",
        "lots grants 32769", "lots refusals 257"], BREAKS)
    r = lie("lots refusals 256")
    ok(r.code == OWN and BREAKS not in r.err, "V034 control: 256 refusals", r)
    r = lie("lots profiles 512")
    ok(clean(r) and BREAKS not in r.err, "V034 control: 512 profiles", r)
    all_broken("more than POLICY_BYTES_MAX", ["deep 6000 1024"],
               "more than 64 MiB")
    # the longest paths that fit: judging them takes no longer than reading
    r = lie("deep 16000 1")
    ok(caught("deep", r) and "/proc/x" in r.err and r.secs < LIMIT,
       "V034 16,000 paths of 4,095 bytes: %.2f s" % r.secs, r)

    # and their plan does not grow without end: a directory is a step
    for argv in ((), ("explain", "--", "true")):
        r = lie("bushy 200", *argv)
        ok(caught("bushy", r) and "too deep" in r.err and r.secs < LIMIT,
           "V034 400,000 directories on the way%s: %.2f s" %
           (" explain" * bool(argv), r.secs), r)
    r = lie("bushy 2")
    ok(r.code in (NOTEXEC, NOTFOUND) and "too deep" not in r.err,
       "V034 control: 4,000 directories", r)

    # descriptors
    kinds = ("null", "dir", "path", "memfd", "socket", "pipe", "peer", "self")
    all_broken("descriptors", ["rights %s %d %d" % (k, n, at) for k in kinds
                               for n in (1, 3, 253)
                               for at in (0, 3, LAST)], BREAKS)
    all_broken("descriptors, to explain", ["rights %s 1 0" % k for k in kinds],
               BREAKS, ("explain", "--", "true"))

    # how it ends, and which of parent and set-up hears of it first
    ends = (("31", "(SIGSYS)"), ("9", "(SIGKILL)"), ("24", "(SIGXCPU)"),
            ("11", "(SIGSEGV)"), ("6", "(SIGABRT)"), ("15", "signal 15"),
            ("-125", "gave up without a policy"), ("-1", "(exit 1)"))
    for how, says in ends:
        # `clean` refuses "crashed", which is right here
        for argv in ((), ("explain", "--", "true")):
            modes = ["die %s %d %d" % (how, order, n) for order in (0, 1, 2)
                     for n in (0, 4, RECORDS)]
            rs = all_lies(modes, argv, len(modes))
            bad = ["%s: %s" % (m, r) for m, r in zip(modes, rs)
                   if r.code != OWN or MARK in r.out or r.secs > LIMIT or
                   not r.err.startswith("carrel: carrel-parse ") or
                   says not in r.err or len(r.err.splitlines()) != 1]
            ok(not bad, "V034 S92 it says how it ended: %s%s" %
               (says, " explain" * bool(argv)), *bad[:6])
    all_broken("exit 0 before END", ["die 0 %d %d" % (o, n) for o in (0, 2)
                                     for n in range(RECORDS)],
               "before the end of its policy")
    all_broken("the same, to explain", ["die 0 0 %d" % n
                                        for n in range(RECORDS)],
               "before the end of its policy", ("explain", "--", "true"))

    # what is the same user's may be killed by it: nothing goes on then
    for mode, code in (("kill parent 9", 137), ("kill parent 15", 143),
                       ("kill others 9", OWN)):
        r = lie(mode)
        ok(r.code == code and MARK not in r.out and r.secs < LIMIT,
           "V034 %s: no run" % mode, r)
    ok(not gone(5), "V034 no process is left", gone(0))

    # time: all at once, for each waits for the deadline
    late = "has not ended after 10 s"
    words = ["-p", "x" * 4000] * 250
    timed = [("quiet %d %d" % (n, c), ()) for n in range(RECORDS + 1)
             for c in range(3)]
    timed += [("quiet %d %d" % (n, c), ("explain", "--", "true"))
              for n in (0, 4, RECORDS) for c in range(3)]
    timed += [(m, a) for m in ("trickle", "stay", "hangup", "orphan", "slow 8",
                               "slow 60") for a in
              ((), ("explain", "--", "true"))]
    # more than the socket holds: the parent has to wait until it is read
    timed += [("slow 8", ["run"] + words + ["--", "echo", MARK]),
              ("slow 60", ["run"] + words + ["--", "echo", MARK])]
    plant(len(timed) - WORKERS)
    with ThreadPoolExecutor(len(timed)) as pool:
        rs = list(pool.map(lambda t: lie(t[0], *t[1]), timed))
    for (m, a), r in zip(timed, rs):
        ok(caught(m, r) and late in r.err and r.secs <= LIMIT,
           "V034 R061 %s %s: ends in time" % (m, " ".join(a)[:12]), r)
    # a parser that hangs is killed; what it forked ends when it likes
    ok(not gone(5), "V034 no process is left", gone(0))
finally:
    p.__exit__()
done()
