#!/usr/bin/python3
"""S75, [audit] report = fs, against a payload that wants to be looked at
wrongly, to be let through by that, to blind or stop whoever looks, or to go on
without him. Nothing hangs, and no answer grants anything."""
import json
from tap import *

WATCHED = "/opt/h/watched"
ROUNDS = int(os.environ.get("CARREL_T_RACE", "400")) * 50


class Watch(Place):
    def __enter__(self):
        self.ro, self.rw = self.top + "/ro", self.top + "/rw"
        self.file = self.write(self.ro + "/file", "precious\n")
        self.write(self.rw + "/file", "mine\n")
        self.grant("report = fs\n")
        self.ev = self.top + "/ev.jsonl"
        return self

    def grant(self, audit):
        self.profile("w", "[profile]\ndescription = test\n[audit]\n" + audit +
                     "[fs]\nread = %s\nwrite = %s\nread = %s -> /opt/h\n" % (
                         self.ro, self.rw, HELPERS))

    def go(self, *argv, **kw):
        kw.setdefault("cwd", self.rw)
        return self.start("run", "-p", "w", "--events", self.ev, "--", *argv,
                          **kw)

    def watched(self, *words, **kw):
        """Result, its lines, and the violations."""
        r = finish(self.go(WATCHED, *words, **kw), 120)
        lines = r.out.splitlines()
        return r, lines[1:] if lines[:1] == [MARK] else None, self.events()

    def events(self):
        with open(self.ev) as f:
            found = [json.loads(x) for x in f]
        os.unlink(self.ev)
        return [x for x in found if x["event"] in ("violation", "lost")]

    def precious(self):
        with open(self.file) as f:
            return f.read() == "precious\n"


def races(p):
    """A path that changes between the look and its use."""
    ro, rw = p.ro + "/file", p.rw + "/file"
    for name, link in (("memory", ()), ("a symlink", (p.rw + "/link",))):
        r, out, found = p.watched("race", ro, rw, str(ROUNDS), *link)
        words = out[0].split() if out else ["?"] * 3
        ok(r.code == 0 and words[0] == "good" and p.precious(),
           "S75 %s: what is opened is what may be" % name, r)
        ok(words[0] == "good" and int(words[1]) > 10 and int(words[2]) > 10,
           "S75 %s: control: it was each of them" % name, words)
        # whatever was told was asked for, and is not what is granted
        found = [x for x in found if x["event"] == "violation"]
        asked = {x["resource"] for x in found}
        ok(asked and asked <= {ro, *link} and
           all(x["rule"] == "read = " + p.ro for x in found),
           "S75 %s: what is told is one of them" % name, *found[:4])
    with open(rw) as f:
        ok("x" in f.read(), "S75 control: the granted one was written")


def crowds(p):
    r, out, found = p.watched("threads")
    ok(r.code == 0 and out == ["good"] and found == [],
       "S75 16 threads at once, 64 in all", r, *found[:3])
    r, out, found = p.watched("forks", "200")
    ok(r.code == 0 and out == ["good"] and found == [],
       "S75 200 processes, half of them killed in a call", r, *found[:3])
    # a static one, and dynamic ones that make others by vfork(2)
    script = ("import os, subprocess\nfor i in range(50):\n"
              " open('v%d' % i, 'w').close()\n"
              " subprocess.run(['/bin/true'], check=True)\n"
              " os.waitpid(os.posix_spawn('/bin/sh', ['sh', '-c', "
              "': > v%d' % i], {}), 0)\nprint('END')")
    r = finish(p.go("python3", "-c", script), 60)
    ok(r.code == 0 and r.out == "END\n" and p.events() == [],
       "S75 vfork and exec", r)


def alarms(p):
    r, out, found = p.watched("alarms", "1")
    ok(r.code == 0 and out == ["good 0 1"] and found == [],
       "S75 signals with SA_RESTART: no call is cut short", r)
    r, out, found = p.watched("alarms", "0")
    ok(r.code == 0 and out and out[0].startswith("good ") and
       out[0].endswith(" 1") and found == [],
       "S75 without it a call is made, or EINTR", r)


def filters(p):
    """S75 A payload's own filters."""
    r, out, found = p.watched("filters")
    ok(r.code == 0 and out == ["listener 16 allow 0 30 ask 38 errno 18"],
       "S75 a listener of its own: EBUSY; asking without one: ENOSYS; other "
       "filters work", r)
    ok(sorted(os.listdir(p.rw)) == ["d1", "file"],
       "S75 and what asks for nobody is not done", os.listdir(p.rw))
    equal([x["resource"] for x in found], ["/usr/d1"],
          "S75 it is seen until it refuses itself")
    p.grant("report = exec\n")
    r, out, found = p.watched("filters")
    ok(r.code == 0 and out == ["listener 0 allow 38 38 ask 38 errno 18"] and
       found == [], "S75 control: without report = fs it gets one", r)
    p.grant("report = fs\n")


def memory(p):
    r, out, found = p.watched("memory", p.rw)
    ok(r.code == 0 and out == ["14 14 14 14 2 14"] and found == [],
       "S75 paths that are not there: EFAULT and ENOENT as ever", r)
    r, out, found = p.watched("memory", p.ro)
    ok(r.code == 0 and out == ["14 14 14 14 2 14"] and found == [],
       "S75 the same below what may be read", r)


def floods(p):
    """As many attempts as fit into the time: all are counted."""
    for kinds in (1, 1000):
        r, out, found = p.watched("flood", "100000", p.ro + "/new",
                                  str(kinds))
        n = sum(x["count"] for x in found)
        ok(r.code == 0 and out == ["good"] and n == 100000 and
           "100000 violations" in r.err and len(found) < 600,
           "S75 100,000 refusals of %d kinds: all counted" % kinds, r, n,
           len(found))
        ok(kinds == 1 or sum(x["event"] == "lost" for x in found) == 1,
           "S75 of %d kinds: what is lost is counted" % kinds)
        diag("%.2f s for 100,000 of %d kinds" % (r.secs, kinds))
    # what may be written, as fast as it can
    t = time.monotonic()
    r = finish(p.go("python3", "-c", "import os\nfor i in range(100000): "
                    "os.close(os.open('file', 1))\nprint('END')"), 60)
    ok(r.code == 0 and r.out == "END\n" and p.events() == [],
       "S75 100,000 opens for writing", r)
    diag("%.2f s for 100,000 that are granted" % (time.monotonic() - t))


LOOP = "import os\nprint('UP', flush=True)\nwhile True:\n" \
       " os.close(os.open('file', 1))"


def helper_of(proc):
    """Who looks: carrel's child that is in no sandbox."""
    here = depth(status_of("self"))
    for pid in filter(str.isdigit, os.listdir("/proc")):
        s = status_of(pid)
        if s.get("PPid") == str(proc.pid) and depth(s) == here and ours(s):
            return int(pid)
    raise AssertionError("nobody looks")


def deaths(p):
    """Who looks dies, is stopped, or his parent dies."""
    script = LOOP.replace("while True:\n", "while True:\n try:\n ").replace(
        "1))", "1))\n except OSError as e:\n  print(e.errno, flush=True)\n"
        "  os._exit(0)")
    proc = p.go("python3", "-c", script)
    proc.stdout.readline()
    os.kill(helper_of(proc), signal.SIGKILL)
    r = finish(proc, 10)
    ok(r.code == OWN and "ended by itself" in r.err and r.out in ("", "38\n")
       and not gone(), "S75 it is killed: the run ends, nothing is left", r,
       gone(0))
    p.events()
    # whatever the payload does about errors, and in as many processes
    proc = p.go("sh", "-c", "trap '' TERM HUP INT; for i in 1 2 3 4; do "
                "(while :; do : > file; done) & done 2>/dev/null; echo UP; "
                "while :; do : > file; done 2>/dev/null")
    proc.stdout.readline()
    os.kill(helper_of(proc), signal.SIGKILL)
    r = finish(proc, 10)
    ok(r.code == OWN and not gone(), "S75 it is killed: stubborn ones", r,
       gone(0))
    p.events()
    for name, sig in (("carrel is killed", None),
                      ("it is stopped, and carrel killed", signal.SIGSTOP)):
        proc = p.go("python3", "-c", LOOP)
        proc.stdout.readline()
        if sig:
            os.kill(helper_of(proc), sig)
            time.sleep(0.2)
        proc.kill()
        proc.wait()
        ok(not gone(), "S75 %s: nothing is left" % name, gone(0))
        p.events()
    # a control: it goes on as long as nobody is killed, and ends by SIGTERM
    proc = p.go("python3", "-c", LOOP)
    proc.stdout.readline()
    time.sleep(0.3)
    alive = proc.poll() is None
    helper_of(proc)
    proc.terminate()
    r = finish(proc, 10)
    ok(alive and r.code == 143 and not gone() and p.events() == [],
       "S75 control: SIGTERM", r)


for test in (races, crowds, alarms, filters, memory, floods, deaths):
    with Watch() as p:
        test(p)
done()
