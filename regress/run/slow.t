#!/usr/bin/python3
"""What takes long says so (S93): on a terminal nothing is silent for more than
a second without a line, and where standard error is none there is no line. The
reader of the profiles is a stand-in that sleeps first, as one on a slow network
home would; the set-up is stopped."""
import stat
from tap import *


def children(pid):
    out = []
    for d in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open("/proc/%s/stat" % d) as f:
                rest = f.read().rsplit(")", 1)[1].split()
            if int(rest[1]) == pid:
                out.append(int(d))
    return out


def name(pid):
    with contextlib.suppress(OSError):
        with open("/proc/%d/cmdline" % pid, "rb") as f:
            return f.read()
    return b""


def on_terminal(p, *argv, meanwhile=None, **kw):
    """The same with a terminal for standard error: what it said, and when."""
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    said, t = [], time.monotonic()

    def drain():
        with contextlib.suppress(OSError):
            while data := os.read(ours, 65536):
                said.append((time.monotonic() - t, data.decode()))
    c = p.start(*argv, stderr=theirs, **kw)
    os.close(theirs)
    reader = threading.Thread(target=drain)
    reader.start()
    if meanwhile:
        meanwhile(c)
    r = finish(c)
    reader.join()
    os.close(ours)
    return r, "".join(x for _, x in said), said[0][0] if said else 0


with Place() as q:
    # an installation of its own, with a reader that takes its time
    inst = q.top + "/inst"
    own_copy(inst)
    parse = inst + "/libexec/carrel/carrel-parse"
    os.rename(parse, parse + "-real")
    q.write(parse, "#!/bin/sh\n/bin/sleep 1.6\nexec %s-real \"$@\"\n" % parse,
            0o755)
    q.write(q.layer + "/e.profile", "[profile]\ndescription = d\n"
            "[example slow]\nrun = sleep 1.5\n")
    slow, fast = q, Place()
    with fast as p:
        slow.carrel = inst + "/bin/carrel"
        for argv, want in ((["run", "--", "true"], 1),
                           (["explain", "--", "true"], 1),
                           (["why", "/usr"], 1), (["profile", "list"], 1),
                           (["config"], 1), (["profile", "lint", "@sys"], 1)):
            r, said, at = on_terminal(slow, *argv)
            ok(r.code == 0 and said.count("still waiting for the profiles") ==
               want and 0.9 < at < 1.5,
               "S93 %s says so after a second, once" % " ".join(argv),
               said, at, r)
            r = slow.do(*argv)
            ok(r.code == 0 and "still" not in r.err,
               "S93 %s: no line where there is no terminal" % " ".join(argv),
               r)
            r, said, at = on_terminal(p, *argv)
            ok(r.code == 0 and "still" not in said,
               "S93 %s: nor where it is quick" % " ".join(argv), said)
        r, said, at = on_terminal(slow, "run", "--", "ls", "-l",
                                  "/proc/self/fd")
        ok(r.code == 0 and " 63 " not in r.out and "pipe" not in
           r.out.replace("1 -> pipe", ""),
           "S62 nothing of that is open inside", r)

        # the set-up is held up
        def hold(c):
            time.sleep(0.5)  # all are there, and the reader sleeps
            who = [x for x in children(c.pid) if b"parse" not in name(x)]
            with (root() if IS_ROOT else contextlib.nullcontext()):
                for x in who:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(x, signal.SIGSTOP)
                time.sleep(3.4)
                for x in who:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(x, signal.SIGCONT)
        r, said, at = on_terminal(slow, "run", "--", "true", meanwhile=hold)
        ok(r.code == 0 and said.count("still looking at what the profiles") ==
           1 and "^C ends it" in said, "S93 a set-up that is slow", said, r)

        # wall time, with -v alone
        p.profile("w", "[profile]\ndescription = d\n[limits]\n"
                  "wall-time = 3s\n")
        for options, want in ((["-v"], ["2", "1"]), ([], [])):
            r, said, at = on_terminal(p, "run", *options, "-p", "w", "--",
                                      "sleep", "20")
            ok(r.code == 124 and
               re.findall(r"(\d+) s of the wall time are left", said) == want,
               "S73 the wall time is counted down: %s" % options, said, r)
        r = p.do("run", "-v", "-p", "w", "--", "sleep", "20")
        ok(r.code == 124 and "are left" not in r.err,
           "S73 not where there is no terminal", r)
        r, said, at = on_terminal(p, "run", "-v", "-p", "w", "--", "true")
        ok(r.code == 0 and "are left" not in said, "S73 nor at once", said)

        # the end of what does not end
        def end(c):
            c.stdout.readline()
            c.send_signal(signal.SIGTERM)
        r, said, at = on_terminal(
            p, "run", "--", "sh", "-c", "trap 'sleep 1.7; exit 5' TERM; "
            "echo up; while :; do sleep 0.1; done", meanwhile=end)
        ok(r.code == 5 and re.search(r"told to end; it is killed in \d s",
                                     said), "S63 who was told to end", said, r)
        # an example that runs long
        shutil.copy(q.layer + "/e.profile", p.layer + "/e.profile")
        r, said, at = on_terminal(p, "profile", "test", "e")
        ok(r.code == 0 and said.count("example slow still runs") == 1 and
           "still waiting" not in said, "S94 an example that runs", said, r)
        r = p.do("profile", "test", "e")
        ok(r.code == 0 and not r.err, "S94 and no terminal", r)
done()
