"""What the tests of lying parsers share: copies of the installation in which
carrel-parse is liar.c, and what is expected of carrel each time."""
import os
import queue
from concurrent.futures import ThreadPoolExecutor
from tap import *

LIMIT = 12      # PARSER_SECONDS and two more
RECORDS = 9     # of the honest policy: head, profile, 6 grants, end
GRANT = 5       # one of the grants
WORKERS = 4

place = Place()
trees = queue.Queue()


def plant(count):
    """That many more copies: as many lies can be told at a time."""
    for _ in range(count):
        top = tempfile.mkdtemp(prefix="lie", dir=place.top)
        own_copy(top)
        os.unlink(top + "/libexec/carrel/carrel-parse")
        shutil.copy(HELPERS + "/liar", top + "/libexec/carrel/carrel-parse")
        trees.put(top)


plant(WORKERS)


def lie(mode, *argv, timeout=30):
    """carrel with a parser in this mode."""
    top = trees.get()
    try:
        with open(top + "/libexec/carrel/mode", "w",
                  errors="surrogateescape") as f:
            f.write(mode + "\n")
        return finish(start([top + "/bin/carrel"] + list(
            argv or ("run", "--", "/bin/sh", "-c", "echo " + MARK)),
            place.env, place.proj), timeout)
    finally:
        trees.put(top)


def clean(r):
    """No crash of carrel's own, nothing raw, one message a line."""
    return (isinstance(r.code, int) and r.secs < LIMIT + 2 and
            not re.search(r"AddressSanitizer|runtime error|"
                          r"ended from outside|without a word|"
                          r"crashed", r.err) and
            not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", r.err) and
            r.code not in (132, 134, 135, 136, 139))


def caught(mode, r):
    return (clean(r) and r.code == OWN and MARK not in r.out and
            r.err.startswith("carrel: "))


def all_lies(modes, argv=(), workers=WORKERS):
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda m: lie(m, *argv), modes))


def all_caught(name, modes, argv=(), workers=WORKERS):
    rs = all_lies(modes, argv, workers)
    bad = ["%s: %s" % (m, r) for m, r in zip(modes, rs) if not caught(m, r)]
    ok(not bad, "V034 %s (%d lies)" % (name, len(modes)), *bad[:6])
