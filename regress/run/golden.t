#!/usr/bin/python3
"""The screen of each shipped profile is as in regress/golden/explain-*.txt
(S90, S91); make golden writes them anew.

What a host has, or has not, does not count: the row of a try- grant says only
that it is there or not, so all of them are listed as "try", with what they
link to left out; the credentials of NOT GRANTED are left out, and where the
payload starts; likewise the number of directories on the way, the size of
generated files, the shell and the ABI of Landlock; and the pins of carrel's
installation, which is in /tmp for the tests. Columns are two spaces apart."""
import os
from tap import *
import golden


def normal(text, p):
    text = golden.plain(text, p)
    text = re.sub(r", \d+ bytes\b", ", N bytes", text)
    text = re.sub(r"\b\d+ director(y|ies) that leads? there", "N directories "
                  "that lead there", text)
    text = re.sub(r"\bABI \d+", "ABI N", text)
    text = re.sub(r"(?ms)^NOT GRANTED.*?(?=^\S|\Z)", "NOT GRANTED\n", text)
    text = re.sub(r"\bSHELL=\S+", "SHELL=SHELL", text)
    text = re.sub(r"(?m)^  starts .*\n", "", text)
    text = re.sub(r"(?<=\S)  +", "  ", text)
    text = re.sub(r"(?m)^  \w+  ((?:/|TOP)\S*)(?: -> \S+)?(  try-.*)$",
                  r"  try  \1\2", text)
    text = re.sub(r"(?m)^  (pin  (?!TOP)|ro  PREFIX).*\n", "", text)
    blocks = []
    for block in text.rstrip("\n").split("\n\n"):
        head, *rows = block.split("\n")
        if head == "FILESYSTEM":        # TOP may be anywhere
            rows.sort(key=lambda row: row.split()[1:])
        blocks.append("\n".join([head] + rows))
    return "\n\n".join(blocks) + "\n"


with golden.as_root():
    shipped = sorted(x[:-8] for x in os.listdir(INST +
                                                "/share/carrel/profiles")
                     if x.endswith(".profile"))
with Place() as p:
    ok(len(shipped) >= 6, "the shipped profiles", shipped)
    target = p.proj + "/above/target"
    os.makedirs(target)
    for name in shipped:
        r = p.wide("explain", "--no-defaults", "-p", "@" + name, "-C", target,
                 "--", "true")
        ok(r.code == 0, "S90 @%s: explain" % name, r)
        golden.compare("explain-%s.txt" % name, normal(r.out, p),
                       "S91 @" + name)
    r = p.wide("explain", "-C", target, "--", "true")
    golden.compare("explain.txt", normal(r.out, p), "S91 the defaults")
    # a golden without a profile is one that nobody reads
    with golden.as_root():
        left = {x[8:-4] for x in os.listdir(golden.DIR)
                if x.startswith("explain-")} - set(shipped)
    equal(left, set(), "every golden belongs to a profile")
    # what is dropped above is really there
    ok("NOT GRANTED" in r.out and "ABI" in r.out and "absent" in r.out,
       "control: the rows that are not compared", r)
done()
