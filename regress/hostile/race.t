#!/usr/bin/python3
"""Sources, destinations and the target are exchanged by renameat2(2) while
the set-up works (V012, V013, R019): each run has exactly what was granted or
is refused, and nothing is ever mounted on the host.

CARREL_T_RACE is the number of runs of each race (check-long: 5,000)."""
import os
import socket
from collections import Counter
from tap import *

ROUNDS = int(os.environ.get("CARREL_T_RACE", "200"))
SECONDS = 4 + ROUNDS / 50       # of one race, at the most
RACE = HELPERS + "/race"
FIXED = {"/", "/tmp", "/opt/h"}  # mount points that are in every run


def results(text):
    """What race loop printed: (count, code, stdout, stderr)."""
    found = []
    while text:
        head, text = text.split(b"\n", 1)
        count, code, out, error = map(int, head.split())
        found.append((count, code, text[:out].decode(),
                      text[out:out + error].decode("utf-8",
                                                   "backslashreplace")))
        text = text[out + error:]
    return found


class Race:
    """A place W that may be written, with W/a/b/c in it, and secrets."""

    def __init__(self, p):
        self.p, self.top = p, p.top + "/race"
        shutil.rmtree(self.top, ignore_errors=True)
        self.w, self.secret = self.top + "/W", self.top + "/secret"
        for d in ("", "/a", "/a/b", "/a/b/c"):
            p.write(self.w + d + "/f", "GOOD\n")
        for d in ("", "/a", "/b", "/b/c", "/a/b", "/c"):
            p.write(self.secret + d + "/f", "CANARY\n")


    def run(self, name, grants, a, b, show, options=(), cwd=None, also=(),
            times=(2000, 300), needs=(True, True)):
        """Exchanges a and b. show: path -> what may be seen there."""
        p = self.p
        p.fs("race", "read = %s -> /opt/h" % HELPERS, *grants)
        host = mounts()
        names = sorted(x for x in tree(self.top))
        cmd = [RACE, "loop", ROUNDS, SECONDS, times[0], times[1], a, b,
               CARREL, "run", "--no-defaults", "-p", "race", *options, "--",
               "/opt/h/race", "show", *show]
        r = p.host(*[str(x) for x in cmd], timeout=SECONDS + 60, cwd=cwd)
        bad, ran, refused, why = [], 0, 0, Counter()
        for count, code, out, error in results(r.raw) if r.code == 0 else ():
            if code == 0:
                ran += count
                wrong = self.judge(out, show, also)
            else:
                refused += count
                why[re.sub(r".*?: ", "", error.split("; ")[0])[:70]] += count
                wrong = [] if code == OWN and out == "" and \
                    error.startswith("carrel: ") else ["no refusal"]
            if wrong or "CANARY" in out:
                bad.append("%d times %d: %s\n%s%s" % (count, code, wrong, out,
                                                      error))
        ok(r.code == 0 and ran + refused > 0 and not bad,
           "%s: %d ran, %d refused" % (name, ran, refused), r.err, *bad[:4])
        for text, n in why.most_common(3):
            diag("%5d %s" % (n, text.replace(self.top, "")))
        ok((ran > 0 or not needs[0]) and (refused > 0 or not needs[1]),
           "%s: the race was won and lost" % name, ran, refused, r)
        equal(mounts(), host, "%s: the host's mounts are as before" % name)
        after = sorted(x for x in tree(self.top))
        equal(after, names, "%s: no name came or went" % name)
        with open(self.secret + "/f") as f:
            equal(f.read(), "CANARY\n", "%s: the rest is untouched" % name)
        p.unprofile("race")

    def judge(self, out, show, also):
        wrong = []
        for line in out.splitlines():
            if line.startswith("mount "):
                at = line[6:]
                if at not in FIXED and at not in also and \
                        not (at + "/").startswith(self.w + "/"):
                    wrong.append(line)
                continue
            path, what = line.split(": ", 1) if ": " in line else (line, "")
            allowed = show.get(path)
            if allowed is None or what not in allowed:
                wrong.append(line)
        if len([x for x in out.splitlines()
                if not x.startswith("mount ")]) != len(show):
            wrong.append("not everything was shown")
        return wrong


def link(path, to):
    os.path.lexists(path) and os.unlink(path)
    os.symlink(to, path)
    return path


with Place() as p:
    r = Race(p)
    w = r.w
    # by its own name the path may lead elsewhere inside while it is raced,
    # but only to what is inside
    inside = {"GOOD", "ENOENT", "ENOTDIR", "ELOOP", "ENOTCONN"}

    # (a) a source in a place that may be written, seen at another place
    for to in (r.secret, "/", "../../..", "../secret"):
        r.run("V012 V013 a source and a link to %s" % to.replace(r.top, ""),
              ["write = " + w, "read = %s/a -> /opt/x" % w], w + "/a",
              link(w + "/a.alt", to), {"/opt/x/f": {"GOOD"},
                                       "/opt/x/b/f": {"GOOD"},
                                       w + "/f": {"GOOD"}}, also={"/opt/x"})
    # the same, mounted where it is: source and destination are raced
    for to in (r.secret, "/", "../../.."):
        r.run("V012 a re-grant and a link to %s" % to.replace(r.top, ""),
              ["write = " + w, "read = %s/a" % w], w + "/a",
              link(w + "/a.alt", to), {w + "/a/f": inside,
                                       w + "/f": {"GOOD"}})
    r.run("V012 a write grant in a read grant and a link",
          ["read = " + w, "write = %s/a" % w], w + "/a",
          link(w + "/a.alt", r.secret), {w + "/a/f": inside,
                                         w + "/f": {"GOOD"}})
    # where nothing may be written a link is followed, but never to the root
    for to in ("/", "../../../../../../../..", "/proc/1/root"):
        r.run("V013 a source elsewhere and a link to %s" % to,
              ["read = %s/a -> /opt/x" % w], w + "/a",
              link(w + "/a.alt", to), {"/opt/x/f": {"GOOD"}},
              also={"/opt/x"})

    # (b) a parent of a source
    for to in (r.secret, "/", "../secret/../secret"):
        r.run("V013 a parent and a link to %s" % to.replace(r.top, ""),
              ["write = " + w, "read = %s/a/b -> /opt/x" % w], w + "/a",
              link(w + "/a.alt", to), {"/opt/x/f": {"GOOD"},
                                       "/opt/x/c/f": {"GOOD"}},
              also={"/opt/x"})
    # (c) a parent of a destination, which is pinned
    for to in (r.secret, "/", "../../.."):
        r.run("V012 S33b a pinned parent and a link to %s" %
              to.replace(r.top, ""),
              ["write = " + w, "read = %s/a/b/c" % w], w + "/a",
              link(w + "/a.alt", to), {w + "/a/b/c/f": inside,
                                       w + "/f": {"GOOD"}})
    os.unlink(w + "/a.alt")
    shutil.copytree(w + "/a", w + "/a.alt")
    r.run("V012 S33b a pinned parent and another directory",
          ["write = " + w, "read = %s/a/b/c" % w], w + "/a", w + "/a.alt",
          {w + "/a/b/c/f": {"GOOD"}, w + "/f": {"GOOD"}},
          times=(300, 300))
    shutil.rmtree(w + "/a.alt")
    r.run("V012 the mount point itself and a link",
          ["write = " + w, "read = %s/a/b" % w], w + "/a/b",
          link(w + "/b.alt", "/"), {w + "/a/b/f": inside,
                                    w + "/f": {"GOOD"}})
    os.unlink(w + "/b.alt")

    # (d) the target
    t = r.top + "/T"
    p.write(t + "/f", "GOOD\n")
    for to in (r.secret, "/", "../../.."):
        alt = link(r.top + "/T.alt", to)
        r.run("V012 the target and a link to %s" % to.replace(r.top, ""),
              [], t, alt, {"f": inside, t + "/f": inside},
              options=("-p", "@target"), cwd=t, also={t, alt})
    alt = link(r.top + "/T.alt", w)
    r.run("V012 -C DIR and a link: the one or the other",
          [], t, alt, {"f": {"GOOD"}}, options=("-p", "@target", "-C", t),
          also={t, alt})

    # (e) a file
    for to in (r.secret + "/f", "/etc/passwd", "../../../../f"):
        r.run("V013 a file and a link to %s" % to.replace(r.top, ""),
              ["write = " + w, "read = %s/f -> /opt/x" % w], w + "/f",
              link(w + "/f.alt", to), {"/opt/x": {"GOOD"},
                                       w + "/a/f": {"GOOD"}},
              also={"/opt/x"})
    os.unlink(w + "/f.alt")
    os.mkfifo(w + "/f.alt")
    r.run("R019 a file and a FIFO", ["read = %s/f -> /opt/x" % w], w + "/f",
          w + "/f.alt", {"/opt/x": {"GOOD"}}, also={"/opt/x"})
    r.run("R019 a re-granted file and a FIFO",
          ["write = " + w, "read = %s/f" % w], w + "/f", w + "/f.alt",
          {w + "/f": {"GOOD", ""}})
    os.unlink(w + "/f.alt")
    s = socket.socket(socket.AF_UNIX)
    s.bind(w + "/f.alt")
    r.run("R019 a file and a socket", ["read = %s/f -> /opt/x" % w], w + "/f",
          w + "/f.alt", {"/opt/x": {"GOOD"}}, also={"/opt/x"})
    ok(not gone(2), "no process is left", gone(0))
done()
