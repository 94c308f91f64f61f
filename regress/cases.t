#!/usr/bin/python3
"""CASES.md names every case once, in order, and the files that it names are
there and hold the case's number. Part of make check-static; no build is
needed."""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = (["V%03d" % n for n in range(1, 62)] +
         ["B%03d" % n for n in range(1, 48)] +
         ["R%03d" % n for n in range(1, 77)])
# What is done later, and what is never; a row may name one beside its files.
STEPS = {"agent", "audit", "egress", "environment", "hosted", "login shell",
         "other kernels", "proof", "screens"}
count = failed = 0


def ok(good, name, *why):
    global count, failed
    count += 1
    print("%sok %d - %s" % ("" if good else "not ", count, name))
    if not good:
        failed += 1
        for w in why:
            print("# %s" % (w,), file=sys.stderr)


def tests():
    for d in ("hostile", "run", "uml", "unit"):
        for name in sorted(os.listdir(HERE + "/" + d)):
            if name.endswith(".t") or name.startswith("test_"):
                yield d + "/" + name


rows, order = {}, []
with open(HERE + "/CASES.md") as f:
    for line in f:
        m = re.fullmatch(r"\| ([VBR]\d{3}) \| (.+?) \| ([A-Z0-9]+)(: .+)? \|\n",
                         line)
        if m:
            order.append(m[1])
            rows[m[1]] = (m[2], (m[4] or ": ")[2:])
        elif line.startswith("| ") and not line.startswith("| id"):
            ok(False, "a row of CASES.md", line)
ok(order == CASES, "CASES.md has the %d cases in order" % len(CASES),
   sorted(set(CASES) ^ set(order)),
   [x for x in order if order.count(x) > 1])

held = {}
for path in tests():
    with open(HERE + "/" + path, encoding="utf-8") as f:
        held[path] = set(re.findall(r"\b[VBR]\d{3}\b", f.read()))
for case in CASES:
    where, note = rows.get(case, ("", ""))
    files = re.findall(r"`([^`]+)`", where)
    lacking = [x for x in files if case not in held.get(x, ())]
    unnamed = [x for x in held if case in held[x] and x not in files]
    step = re.fullmatch(r"(.+) step", where)
    good = not lacking and (
        files and where == ", ".join("`%s`" % x for x in files) or
        step and step[1] in STEPS or where.startswith("not in carrel: "))
    ok(good, "%s: %s" % (case, where), "no such file, or not in it: %s" %
       lacking)
    if unnamed:
        print("# %s is also in %s" % (case, ", ".join(unnamed)))
print("1..%d" % count)
sys.exit(1 if failed else 0)
