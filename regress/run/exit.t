#!/usr/bin/python3
"""Exit codes (S61), --status-fd, and what is an option and what is not."""
import contextlib
import json
import os
import resource
from tap import *


def with_status(p, *argv, **kw):
    """Runs carrel with --status-fd on a pipe; the lines, parsed."""
    r, w = os.pipe()
    proc = p.start("run", "--status-fd", str(w), "--", *argv, pass_fds=(w,),
                   **kw)
    os.close(w)
    res = finish(proc)
    with os.fdopen(r) as f:
        lines = f.read().splitlines()
    try:
        return res, [json.loads(x) for x in lines]
    except ValueError:
        diag("no JSON: %r" % lines)
        return res, []


with Place() as p:
    for code in (0, 1, 2, 3, 77, 124, 125, 126, 127, 128, 200, 255, 257):
        r = p.sh("echo %s; exit %d" % (MARK, code % 256))
        ok(r.code == code % 256 and r.out == MARK + "\n",
           "B019 exit(%d) is passed on" % code, r)
    for name in ("HUP", "INT", "QUIT", "ABRT", "KILL", "SEGV", "PIPE",
                 "ALRM", "TERM", "USR1", "SYS", "BUS"):
        n = getattr(signal, "SIG" + name)
        r = p.sh("echo %s; kill -%s $$" % (MARK, name))
        ok(r.code == 128 + n and r.out == MARK + "\n",
           "B018 death by SIG%s is 128+%d" % (name, n), r)
    r = p.sh("ulimit -c unlimited; kill -ABRT $$")
    ok(r.code == 134 and not [x for x in os.listdir(p.proj) if "core" in x],
       "B018 no core file is written", r)

    # carrel's own codes
    r = p.run("no-such-program-x")
    ok(r.code == NOTFOUND and r.err.startswith("carrel: ") and
       "no-such-program-x" in r.err and "/usr/bin:/bin" in r.err,
       "B020 B033 not found: 127, naming the PATH inside", r)
    p.write("plain.txt", "text\n")
    r = p.run("./plain.txt")
    ok(r.code == NOTEXEC and "plain.txt" in r.err,
       "B020 not executable: 126", r)
    r = p.run("./no/such")
    ok(r.code == NOTFOUND and "./no/such" in r.err,
       "B020 a path that is not there: 127", r)
    r = p.run("/usr/bin")
    ok(r.code == NOTEXEC, "B020 a directory: 126", r)
    p.write("lost.sh", "#!/opt/none/interp\necho hi\n", 0o755)
    r = p.run("./lost.sh")
    ok(r.code in (NOTEXEC, NOTFOUND) and "/opt/none/interp" in r.err,
       "B033 a missing interpreter is named", r)
    p.write("ok.sh", "#!/bin/sh\necho %s $1\n" % MARK, 0o755)
    r = p.run("./ok.sh", "a b")
    ok(r.code == 0 and r.out == MARK + " a b\n",
       "B033 control: a script whose interpreter is there", r)
    r = p.do("run", "-p", "no-such-profile", "--", "echo", MARK)
    ok(r.code == OWN and "no-such-profile" in r.err and MARK not in r.out,
       "B020 carrel's own failure: 125", r)
    os.mkdir(p.top + "/hostbin")
    p.write(p.top + "/hostbin/hostonly", "#!/bin/sh\necho %s\n" % MARK, 0o755)
    env = dict(p.env, PATH=p.top + "/hostbin:" + p.env["PATH"])
    r = p.run("hostonly", env=env)
    ok(r.code == NOTFOUND, "R036 a program on the host's PATH only: 127", r)
    equal(p.host(p.top + "/hostbin/hostonly").out, MARK + "\n",
          "R036 control: it runs outside")

    # --status-fd tells carrel's 125 from the payload's
    for verb in (("explain",), ("run", "-n")):
        r, w = os.pipe()
        proc = p.start(*verb, "--status-fd", str(w), "--", "true",
                       pass_fds=(w,))
        os.close(w)
        res = finish(proc)
        with os.fdopen(r) as f:
            ok(res.code == 0 and "TARGET" in res.out and f.read() == "",
               "status-fd: %s is no run, and tells of none" % " ".join(verb),
               res)
    r, ev = with_status(p, "sh", "-c", "exit 125")
    ok(r.code == 125 and [e.get("event") for e in ev] == ["start", "end"] and
       ev[1].get("by") == "payload" and ev[1].get("code") == 125,
       "B020 status-fd: 125 by the payload", ev, r)
    ok(len(ev) == 2 and all(e.get("v") == 1 for e in ev) and
       re.fullmatch("[0-9a-f]{32}", ev[0].get("run", "")) and
       ev[0]["run"] == ev[1].get("run"), "status-fd: one run, 128 bits", ev)
    r, ev2 = with_status(p, "sh", "-c", "kill -TERM $$")
    ok(len(ev2) == 2 and ev2[1].get("code") == 143 and
       ev2[1].get("signal") == 15, "status-fd: the signal", ev2, r)
    ok(ev2 and ev and ev2[0].get("run") != ev[0].get("run"),
       "status-fd: every run has another number", ev, ev2)
    r, ev = with_status(p, "./lost.sh", cwd=p.home)
    ok(r.code != 0 and not any(e.get("by") == "payload" for e in ev),
       "status-fd: nothing is the payload's when none ran", ev, r)
    r = p.do("run", "--status-fd", "77", "--", "echo", MARK)
    ok(r.code == OWN and MARK not in r.out and "77" in r.err,
       "status-fd: a closed descriptor is refused", r)
    for bad in ("x", "-1", "", "1x", "99999999999", "+1", " 2"):
        r = p.do("run", "--status-fd", bad, "--", "echo", MARK)
        ok(r.code == OWN and MARK not in r.out,
           "V036 status-fd %r is refused" % bad, r)

    # a pipe that is full, as a payload that shares it can make it, does not
    # make carrel deaf; not even one that another user has made
    for who in (contextlib.nullcontext, root) if IS_ROOT else (
            contextlib.nullcontext,):
        with who():
            r, w = os.pipe()
        os.set_blocking(w, False)
        with contextlib.suppress(BlockingIOError):
            while os.write(w, bytes(4096)):
                pass
        os.set_blocking(w, True)
        proc = p.start("run", "--status-fd", str(w), "--", "sh", "-c",
                       "echo %s; exec sleep 60" % MARK, pass_fds=(w,))
        os.close(w)
        up = proc.stdout.readline() == (MARK + "\n").encode()
        os.kill(proc.pid, signal.SIGTERM)
        left = gone(5.0, before=(proc.pid,))
        with os.fdopen(r, "rb") as f:
            data = f.read().replace(b"\0", b"")
        res = finish(proc, 20)
        ev = [json.loads(x) for x in data.splitlines()]
        ok(up and not left and res.code == 143 and
           [e.get("event") for e in ev] == ["start", "end"] and
           ev[1].get("signal") == 15,
           "status-fd: what is full is written to when it is not", left, ev,
           res)

    # options, operands, usage
    for cmd in ((), ("run",), ("shell",), ("explain",), ("doctor",)):
        r = p.do(*cmd, "--help")
        ok(r.code == 0 and "carrel" in r.out and not r.err,
           "S60 carrel %s --help" % " ".join(cmd), r)
        r = p.do(*cmd, "--version")
        ok(r.code == 0 and re.match(r"carrel [0-9]", r.out),
           "S60 carrel %s --version" % " ".join(cmd), r)
    for bad in (("frobnicate",), ("run", "--no-such-option", "--", "true"),
                ("run", "-Z"), ("run", "-p"), ("run", "-C"), ("",), ()):
        r = p.do(*bad)
        ok(r.code == OWN and r.err.startswith("carrel: "),
           "S60 carrel %r is a usage error" % (bad,), r)
    r = p.do("run", "sh", "-c", "echo $0 $1", "-p", "--help")
    ok(r.code == 0 and r.out == "-p --help\n",
       "S60 options after the first operand are the command's", r)
    for odd in ("--bind", "-p", "--net=host", "-", "--", "--help"):
        r = p.run(odd, "x")
        ok(r.code == NOTFOUND, "V021 command %r is only looked for" % odd, r)
    r = p.run("printf", "%s|", "--", "-p", "x", "--bind", "/", "/")
    ok(r.code == 0 and r.out == "--|-p|x|--bind|/|/|",
       "V021 the command's arguments are its own", r)
    for odd in ("x;touch CANARY2", "$(touch CANARY2)", "`touch CANARY2`",
                "|touch CANARY2", "-x;touch CANARY2"):
        for a in (["run", "--", odd], ["run", "-p", odd, "--", "true"],
                  ["run", "-C", odd, "--", "true"],
                  ["run", "--status-fd", odd, "--", "true"]):
            r = p.do(*a)
            ok(r.code in (OWN, NOTFOUND) and
               not os.path.exists(p.proj + "/CANARY2"),
               "V020 no shell sees %r in %s" % (odd, a[1]), r)

    # sizes
    many = ["%0100d" % i for i in range(5000)]
    r = p.run("sh", "-c", 'printf "%s\\n" $# "$1" "${5000}"', "sh", *many)
    ok(r.code == 0 and r.out.split() == ["5000", many[0], many[-1]],
       "B010 5,000 arguments of 100 bytes", r)
    r = p.run("sh", "-c", "echo $#", "sh", *["x"] * 10000)
    ok(r.code == 0 and r.out == "10000\n", "V019 10,000 arguments", r)
    big = "A" * (128 * 1024 - 1)
    r = p.run("sh", "-c", 'echo ${#1}', "sh", big)
    ok(r.code == 0 and r.out == "%d\n" % len(big), "V019 a long argument", r)
    odd = [b"a\\", b"\xff\xfe", b"\xc3\x28", b"\x1b[31m", b"a\nb", b"", b" "]
    r = p.run("printf", "%s|", *odd)
    ok(r.raw == b"".join(x + b"|" for x in odd),
       "V019 arguments arrive byte by byte", repr(r.raw))
    r = p.run(b"\xff\x1b[2Jno")
    ok(r.code == NOTFOUND and b"\x1b" not in r.rawerr and
       b"\xff" not in r.rawerr, "V045 an odd name is escaped in messages", r)
    # the most that the kernel takes, then a larger environment inside
    def small():
        resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, 1 << 20))

    def line(n):
        return ["run", "--", "/bin/sh", "-c", "echo " + MARK, "sh"] + \
            ["x" * 100000] * (n // 100000) + ["x" * (n % 100000)]

    def fits(n):
        try:
            return p.do("--version", *line(n)[1:], env={},
                        preexec_fn=small).code == 0
        except (OSError, subprocess.SubprocessError):
            return False
    lo, hi = 100000, 300000
    while hi - lo > 1:
        mid = (lo + hi) // 2
        lo, hi = (mid, hi) if fits(mid) else (lo, mid)
    r = p.do(*line(lo - 2), env={}, preexec_fn=small)
    # where root may not raise limits, hosted mode runs under no low ones
    ok(r.code == NOTEXEC and "too long" in r.err and MARK not in r.out or
       HOSTED and r.code == OWN and MARK not in r.out,
       "B010 too much for exec: 126 and says so", r)
    r = p.do(*line(lo - 20000), env={}, preexec_fn=small)
    ok(r.code == 0 and MARK in r.out or HOSTED and r.code == OWN,
       "B010 control: a little less", r)
done()
