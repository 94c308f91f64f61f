#!/usr/bin/python3
"""Signals without a terminal: S63, S64, B023, R064, R068."""
import os
from tap import *

NAMES = ("TERM", "INT", "HUP", "QUIT", "USR1", "USR2")


def started(p, script, **kw):
    """A run whose payload has printed MARK."""
    proc = p.start("run", "--", "sh", "-c", script, start_new_session=True,
                   **kw)
    line = proc.stdout.readline()
    return proc, line == (MARK + "\n").encode()


with Place() as p:
    for name in NAMES:
        n = getattr(signal, "SIG" + name)
        proc, up = started(p, "trap 'echo GOT; exit 7' %s; echo %s; "
                           "while :; do sleep 0.05; done" % (name, MARK))
        os.kill(proc.pid, n)
        r = finish(proc, 20)
        ok(up and r.code == 7 and r.out == "GOT\n",
           "B023 SIG%s to carrel reaches the payload once" % name, r)
        proc, up = started(p, "echo %s; exec sleep 30" % MARK)
        os.kill(proc.pid, n)
        r = finish(proc, 20)
        ok(up and r.code == 128 + n and r.secs < 5,
           "B023 SIG%s without a handler is 128+%d" % (name, n), r)
        proc, up = started(p, "trap 'echo GOT; exit 7' %s; echo %s; "
                           "while :; do sleep 0.05; done" % (name, MARK))
        os.killpg(proc.pid, n)
        r = finish(proc, 20)
        ok(up and r.code == 7 and r.out == "GOT\n",
           "B023 SIG%s to the group arrives once" % name, r)
    ok(not gone(), "B023 no process is left", gone(0))

    proc, up = started(p, "trap 'echo bye; exit 7' INT; echo %s; "
                       "while :; do sleep 0.05; done" % MARK)
    os.killpg(proc.pid, signal.SIGINT)
    r = finish(proc, 20)
    ok(up and r.code == 7 and r.out == "bye\n",
       "R068 the trap's output, then its code", r)
    equal(p.sh("exit 42").code, 42, "R068 42")
    equal(p.sh("kill -TERM $$").code, 143, "R068 143")

    # many signals at once: nothing is lost on the way to the end
    proc, up = started(p, "trap : USR1; trap 'exit 9' USR2; echo %s; "
                       "while :; do sleep 0.02; done" % MARK)
    for i in range(500):
        os.kill(proc.pid, signal.SIGUSR1)
    os.kill(proc.pid, signal.SIGUSR2)
    r = finish(proc, 20)
    ok(up and r.code == 9, "500 signals in a row", r)

    # a payload that will not go is killed after the grace; one that stopped
    # itself neither stops carrel nor outlives it
    stubborn, up = started(p, "trap '' TERM; echo %s; "
                           "while :; do sleep 0.2; done" % MARK)
    proc, up2 = started(p, "echo %s; kill -STOP $$; echo on" % MARK)
    time.sleep(0.5)
    s = status_of(proc.pid)
    ok(up2 and s.get("State", "?")[0] != "T",
       "S63 the payload stops, carrel does not", s.get("State"))
    t = time.monotonic()
    os.kill(stubborn.pid, signal.SIGTERM)
    os.kill(proc.pid, signal.SIGTERM)
    r = finish(stubborn, 30)
    secs = time.monotonic() - t
    ok(up and r.code == 137 and 9 <= secs <= 13,
       "S63 SIGTERM ignored: everything is killed after 10 s", secs, r)
    r = finish(proc, 5)
    ok(r.code in (137, 143) and r.out == "",
       "S63 SIGTERM and a stopped payload: it ends too", r)
    ok(not gone(), "S63 and nothing is left", gone(0))

    # INT and TERM early, at every moment of the start
    r0 = rng()
    marker = p.proj + "/beat"
    bad = []
    for i in range(40):
        sig = (signal.SIGINT, signal.SIGTERM)[i % 2]
        # a background job of a shell ignores INT; this one does not
        proc = p.start("run", "--", "sh", "-c",
                       "while :; do echo x > beat; sleep 0.1; done",
                       start_new_session=True,
                       preexec_fn=lambda: signal.signal(signal.SIGINT,
                                                        signal.SIG_DFL))
        time.sleep(0.4 * r0.random() if i >= 20 else 0.03 * r0.random())
        os.kill(proc.pid, sig)
        r = finish(proc, 20)
        end = time.time()
        left = gone(2)
        time.sleep(0.12)
        late = os.path.exists(marker) and os.stat(marker).st_mtime > end + .01
        if left or late or r.code not in (128 + sig, OWN):
            bad.append((i, sig.name, r.code, left, late, r.err))
    ok(not bad, "R064 INT and TERM at 40 moments: no survivor", bad)

    # B021, B022, S64: what a payload leaves behind
    r = p.sh("for i in $(seq 100); do (sleep 0.2 &) ; done; sleep 1; "
             "grep -h ^State /proc/[0-9]*/status | grep -c Z; echo " + MARK)
    ok(r.code == 0 and r.out == "0\n" + MARK + "\n",
       "B021 100 orphans are reaped", r)
    r = p.sh("(sleep 0.3 & exec true) ; sleep 300 & setsid sleep 300 & "
             "echo " + MARK)
    ok(r.code == 0 and r.secs < 3 and not gone(),
       "B022 carrel ends with the payload and takes the rest along", r)
    t = time.monotonic()
    r = p.do("run", "--wait-all", "--", "sh", "-c",
             "(sleep 1; echo LATE) & exit 5")
    ok(r.code == 5 and "LATE" in r.out and time.monotonic() - t >= 1,
       "B022 --wait-all waits for descendants", r)
    r = p.run("sh", "-c", "exec >&- 2>&-; sleep 300 & exit 4")
    ok(r.code == 4 and r.secs < 3, "B022 also with its output closed", r)

    # R054: nobody outside can be reached
    other = p.start("--version", stdout=subprocess.DEVNULL)
    other.wait()
    victim = subprocess.Popen(["sleep", "300"], **as_user())
    r = p.sh("kill -9 -1; kill -9 %d; kill -9 %d; echo alive" %
             (victim.pid, os.getpid()))
    ok(victim.poll() is None, "R054 kill(-1) stays inside", r)
    r = p.sh("kill -0 %d 2>/dev/null && echo seen; echo %s" %
             (victim.pid, MARK))
    ok(r.out == MARK + "\n", "R054 a host's pid means nothing inside", r)
    victim.kill()
    victim.wait()
done()
