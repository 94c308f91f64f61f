#!/usr/bin/python3
"""SIGKILL of carrel at any moment: everything dies, nothing is left (S64)."""
import os
from tap import *

r0 = rng()


def kill_at(p, seconds):
    """Kills carrel that long after its start; what was left."""
    proc = p.start("run", "--", "sh", "-c",
                   "trap '' TERM HUP INT; setsid sleep 300 & sleep 300 & "
                   "echo %s; wait" % MARK,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(seconds)
    proc.kill()
    proc.wait()
    return gone(2)


with Place() as p:
    p.run("true")
    before = (mounts(), strays(), tree(p.top))
    bad = []
    for i in range(40):
        at = 0.030 * r0.random()
        left = kill_at(p, at)
        if left:
            bad.append((at, left))
    ok(not bad, "R063 SIGKILL at 40 moments of the start: nothing lives", bad)
    bad = []
    for i in range(10):
        at = 0.05 + 0.3 * r0.random()
        left = kill_at(p, at)
        if left:
            bad.append((at, left))
    ok(not bad, "R063 SIGKILL while it runs: nothing lives", bad)

    proc = p.start("run", "--", "sh", "-c", "for i in 1 2 3 4 5 6 7 8; do "
                   "(trap '' TERM; setsid sleep 300) & done; sleep 0.3; "
                   "kill -STOP -1; echo %s; sleep 300" % MARK)
    up = proc.stdout.readline() == (MARK + "\n").encode()
    n = len(sandboxed())
    proc.kill()
    finish(proc)
    left = gone(2)
    ok(up and n >= 9 and not left,
       "R063 stopped and stubborn ones too (%d before)" % n, left)

    # the processes between carrel and the payload, one after the other
    for victim in range(1, 4):
        proc = p.start("run", "--", "sh", "-c",
                       "sleep 300 & echo %s; wait $!" % MARK)
        proc.stdout.readline()
        pids = sorted(x for x in sandboxed() if x != proc.pid)
        try:
            os.kill(pids[-victim], signal.SIGKILL)
        except PermissionError:
            proc.kill()
        r = finish(proc, 10)
        left = gone(2)
        ok(r.code != 0 and r.code != "timeout" and not left,
           "S64 SIGKILL of process %d of the run: no hang, nothing left" %
           victim, r, left)

    # a stopped carrel still dies with its sandbox
    proc = p.start("run", "--", "sh", "-c", "echo %s; sleep 300" % MARK)
    proc.stdout.readline()
    os.kill(proc.pid, signal.SIGSTOP)
    proc.kill()
    finish(proc)
    ok(not gone(2), "S64 killed while stopped", gone(0))

    after = (mounts(), strays(), tree(p.top))
    ok(before[0] == after[0], "R063 the host's mounts are as before")
    equal(sorted(after[1] - before[1]), [], "R063 no file is left")
    changed = [x for x in after[2] if before[2].get(x) != after[2][x]]
    equal(changed, [], "R063 the home is untouched")
    p.runs("R065 and the next run works")
    # the dead parent's zombies are nobody's: init of the host took them
    z = [n for n in sandboxed().values() if " Z" in n]
    equal(z, [], "B021 no zombie under the caller")

    # R066: a kill beside a live run leaves that one alone
    # all of its processes are there before it says so
    live = p.start("run", "--", "sh", "-c",
                   "sleep 3 & echo %s; wait; echo DONE" % MARK)
    live.stdout.readline()
    mine = set(sandboxed())
    proc = p.start("run", "--", "sleep", "300")
    time.sleep(0.2)
    proc.kill()
    proc.wait()
    left = gone(2, before=mine)
    p.run("true")
    r = finish(live, 10)
    ok(not left and r.code == 0 and r.out == "DONE\n",
       "R066 another run goes on", left, r)

# a parser that ends badly when all of its policy is there: nothing is made
with Place() as p:
    inst = p.top + "/inst"
    own_copy(inst)
    parse = inst + "/libexec/carrel/carrel-parse"
    os.rename(parse, parse + "-real")
    for code, what in ((7, "fails"), (0, "control: ends well")):
        p.write(parse, "#!/bin/sh\n%s-real\nsleep 0.5\nexit %d\n" %
                (parse, code), mode=0o755)
        shutil.rmtree(p.home + "/.config", ignore_errors=True)
        r = finish(start([inst + "/bin/carrel", "run", "--no-defaults", "-p",
                          "@sys", "-p", "@own-home", "--", "echo", MARK],
                         p.env, p.proj), 20)
        ok((MARK in r.out) == (code == 0) == os.path.isdir(
            p.home + "/.config/carrel"),
           "S7 V034 the user's directory is made for no parser that %s" % what,
           r)
done()
