#!/usr/bin/python3
"""Every command of README.md: a block marked as sh runs from its first to its
last line, and prints what a "# -> TEXT" behind a command says, in order."""
import os
from tap import *


def blocks():
    with (root() if IS_ROOT else contextlib.nullcontext()):
        with open(SRC + "/README.md") as f:
            return re.findall(r"^```sh\n(.*?)^```$", f.read(), re.M | re.S)


with Place() as p:
    p.write(p.home + "/.profile", "secret\n")
    shutil.rmtree(p.conf)
    os.makedirs(p.top + "/checkout/build")
    os.symlink(INST + "/bin", p.top + "/checkout/build/bin")
    env = dict(p.env, PATH=os.path.dirname(CARREL) + ":" + p.env["PATH"])
    found = blocks()
    ok(len(found) >= 6, "README.md has commands", len(found))
    for b in found:
        if b.startswith("make run"):
            ok(b == "make run\n", "make run stands alone")
            continue
        name = b.splitlines()[0][:60]
        want = re.findall(r"^# -> (.*)$", b, re.M)
        r = p.host("sh", "-ec", b + ":\n", env=env, cwd=p.top + "/checkout")
        text, missing = r.out + r.err, []
        for w in want:
            # what was found is used up, but both streams are one screen
            if w not in text:
                missing.append(w)
        ok(r.code == 0 and not missing and "secret" not in text,
           "README: %s" % name, missing, r)
done()
