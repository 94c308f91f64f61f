#!/usr/bin/python3
"""Starts under signals (V035): within its first 20 ms carrel, the parser or
the set-up gets one. Each run is a whole one, or ends with carrel's own code
or 128+N; none hangs, none crashes, and nothing is left.

CARREL_T_STORM is the number of starts (check-long: 20,000)."""
import os
from collections import Counter
from tap import *

ROUNDS = int(os.environ.get("CARREL_T_STORM", "400"))
SECONDS = 10 + ROUNDS / 20


def results(text):
    """What race storm printed: (count, code, stdout, stderr)."""
    while text:
        head, text = text.split(b"\n", 1)
        count, code, out, error = map(int, head.split())
        yield (count, code, text[:out].decode("utf-8", "backslashreplace"),
               text[out:out + error].decode("utf-8", "backslashreplace"))
        text = text[out + error:]


with Place() as p:
    p.fs("h", "read = %s -> /opt/h" % HELPERS)
    before = (mounts(), strays(), tree(p.top))
    r = p.host(HELPERS + "/race", "storm", str(ROUNDS), str(SECONDS), CARREL,
               "run", "--no-defaults", "-p", "h", "--", "/opt/h/argv0",
               timeout=SECONDS + 60)
    codes, bad = Counter(), []
    for count, code, out, error in results(r.raw) if r.code == 0 else ():
        codes[code] += count
        # argv0 without arguments ends with 2 and its usage
        whole = code == 2 and "usage: argv0" in error
        by = code - 128 in (1, 2, 3, 10, 12, 13, 14, 15)
        own = code == OWN and error.startswith("carrel: ")
        if not (whole or by or own) or "AddressSanitizer" in error:
            bad.append("%d times %d: %s%s" % (count, code, out, error))
    ok(r.code == 0 and not bad, "V035 %d starts under signals: %s" %
       (sum(codes.values()), dict(codes)), r.err, *bad[:8])
    # which of the ends is luck; that a parser's death is carrel's own end is
    # hostile/lies.t's
    ok(codes[2] > 0 and sum(codes.values()) > codes[2],
       "V035 control: whole runs, and ended ones", codes)
    ok(not gone(3), "V035 no process is left", gone(0))
    after = (mounts(), strays(), tree(p.top))
    equal(after[0], before[0], "V035 the host's mounts are as before")
    equal(sorted(after[1] - before[1]), [], "V035 no file is left")
    equal(after[2], before[2], "V035 the home is as before")
done()
