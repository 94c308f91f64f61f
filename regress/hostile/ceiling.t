#!/usr/bin/python3
"""S102 against those who lie: a parser of the ceiling that says anything but
one. Each time nothing runs, in time, and a message says why."""
import copy
import lying
from lying import *

p = lying.place
FILE = "/etc/carrel/ceiling.conf"
# the liar's own: 0 the head, 1 to 3 lines, 4 the end
HEAD, LINE, FAULT, END = 34, 35, 36, 37
LAST = 4
NOTHING = "nothing runs here without the ceiling of this host"
RUN = ("run", "--", "/bin/sh", "-c", "ulimit -n; echo " + MARK)
EXPLAIN = ("explain", "--", "true")


def begin(mode, argv, top, text="; the liar does not read it"):
    with open(top + "/libexec/carrel/mode", "w") as f:
        f.write(mode + "\n")
    who = copy.copy(p)
    who.carrel = top + "/bin/carrel"
    return who.start_etc({"ceiling.conf": text}, *argv)


def tell(modes, argv=RUN):
    """All at once: most of what counts is time."""
    while trees.qsize() < min(len(modes), 8):
        plant(1)
    rs, tops = [], [trees.get() for _ in range(trees.qsize())]
    for at in range(0, len(modes), len(tops)):
        some = list(zip(modes[at:], tops))
        rs += [finish(x) for x in [begin(m, argv, t) for m, t in some]]
    for t in tops:
        trees.put(t)
    return rs


def all_refused(name, modes, says=(NOTHING,), argv=RUN):
    rs = tell(modes, argv)
    bad = ["%s: %s" % (m, r) for m, r in zip(modes, rs)
           if not caught(m, r) or not any(s in r.err for s in says)]
    ok(not bad, "V034 S102 %s (%d lies)" % (name, len(modes)), *bad[:6])


if not IS_ROOT:
    skip("S102", "only root can make a ceiling")
    done()
try:
    r = tell(["honest"])[0]
    ok(r.code == 0 and r.out == "64\n" + MARK + "\n",
       "V034 S102 control: an honest liar's ceiling", r)
    r = tell(["ceiling honest"])[0]
    ok(r.code == 0 and r.out == "64\n" + MARK + "\n",
       "V034 S102 control: the same, asked for the lie", r)
    r = tell(["ceiling line 1 2 1 0 - /usr"])[0]
    ok(r.code == 0, "V034 S102 control: a good line", r)
    r = tell(["ceiling honest"], EXPLAIN)[0]
    ok(r.code == 0 and "CEILING" in r.out, "V034 S102 control: explain", r)

    for argv in (RUN, EXPLAIN):
        to = " to explain" * (argv == EXPLAIN)
        all_refused("records that are none" + to, [
            "ceiling wire %s" % w for w in (
                "drop 0", "drop 1", "drop 4", "dup 0", "dup 1", "dup 4",
                "swap 0 1", "swap 3 4", "cut 1 8", "cut 4 3", "grow 1 3",
                "grow 4 1", "size 0 65535", "byte 0 6 0", "byte 0 6 2")] + [
            "ceiling wire type %d %d" % (i, t) for i in range(5)
            for t in (0, 5, 7, 9, HEAD, LINE, FAULT, END, END + 1, 65535)
            if t != (HEAD if i == 0 else END if i == LAST else LINE)],
            argv=argv)
        all_refused("lines that are none" + to, ["ceiling line " + x for x in (
            "0 2 1 0 - /", "4 2 1 0 a /", "1 0 1 0 - /", "1 7 0 0",
            "1 2 0 0 - /", "1 2 3 0 - /", "1 2 255 0 - /", "1 2 1 0 - usr",
            "1 2 1 0 - /a/../b", "1 2 1 9 - /", "1 2 1 0 a /",
            "2 2 1 0 - /", "3 2 1 0 - /", "1 1 0 0", "1 3 7 1 - *",
            "1 3 6 1 - *", "1 3 4 70000000 - a.b", "1 3 4 5 - 127.0.0.1",
            "1 4 0 64", "1 4 10 64", "1 4 1 18446744073709551615",
            "1 5 1 3", "1 5 9 0", "1 5 10 0", "1 6 0 1", "1 6 1 0")],
            argv=argv)
        all_refused("how it ends" + to, [
            "ceiling early 2 0", "ceiling early 2 1", "ceiling early 0 125",
            "ceiling exit 1", "ceiling exit 125", "ceiling signal 9",
            "ceiling signal 11", "ceiling signal 31", "ceiling late",
            "ceiling empty", "ceiling huge 200000", "ceiling flood 5000"],
            argv=argv)
        # together, each waits for the deadline
        t = time.monotonic()
        all_refused("what is silent" + to, [
            "ceiling silence", "ceiling half", "ceiling trickle",
            "ceiling stay", "ceiling hangup", "ceiling orphan"],
            ("after 10 s", "has not ended after"), argv)
        ok(time.monotonic() - t < LIMIT + 6, "R061 S102 it ends in time" + to,
           time.monotonic() - t)
    rs = tell(["ceiling mutate %d" % n for n in range(60)])
    bad = [str(r) for r in rs if not clean(r) or
           (r.code != 0 and (r.code != OWN or MARK in r.out))]
    ok(not bad, "V034 S102 mutations: a good ceiling or no run", *bad[:4])
    ok(not gone(5), "V034 no process is left", gone(0))
finally:
    p.__exit__()
done()
