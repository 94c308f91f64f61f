"""Texts that are compared with files of regress/golden, or written there by
make golden. What differs between hosts is replaced: see plain()."""
import os
from tap import *

DIR = SRC + "/regress/golden"
WRITE = os.environ.get("CARREL_T_GOLDEN") == "write"


def as_root():
    return root() if IS_ROOT else contextlib.nullcontext()


def plain(text, p, *more):
    """Without what another user, place or host would have: the scratch place
    TOP, carrel's installation PREFIX, the stage STAGE, USER, UID, GID."""
    for old, new in list(more) + [(p.top, "TOP"), (INST, "PREFIX"),
                                  (STAGE, "STAGE")]:
        text = text.replace(old, new)
    text = re.sub(r"\b%s\b" % re.escape(USER), "USER", text)
    text = re.sub(r"\buid %d\b" % UID, "uid UID", text)
    return re.sub(r"\bgid %d\b" % GID, "gid GID", text)


def read(name):
    try:
        with as_root(), open(DIR + "/" + name) as f:
            return f.read()
    except FileNotFoundError:
        return ""


def compare(name, got, what):
    """The whole of a file; make golden writes it."""
    if WRITE:
        with as_root(), open(DIR + "/" + name, "w") as f:
            f.write(got)
        diag("wrote %s" % name, sys.stderr)
        return
    want = read(name)
    a, b = want.splitlines(), got.splitlines()
    ok(got == want, "%s: as in golden/%s" % (what, name),
       *(["- " + x for x in a if x not in b][:12] +
         ["+ " + x for x in b if x not in a][:12] +
         ["make golden writes what carrel says now"]))
