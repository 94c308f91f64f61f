#!/usr/bin/python3
"""The terminal (S63): a real bash outside on a pty, bash and others inside."""
import os
import shlex
from tap import *
from terminal import Terminal

FULL = r"""
import signal, sys, time, os
def winch(*a):
    s = os.get_terminal_size(0)
    os.write(1, b"WINCH %d %d\n" % (s.lines, s.columns))
signal.signal(signal.SIGWINCH, winch)
os.write(1, b"READY\n")
end = time.time() + 20
while time.time() < end: time.sleep(0.1)
"""

STI = r"""
import fcntl, os, errno
for name in ("0", "1", "2", "/dev/tty"):
    try:
        fd = int(name) if name.isdigit() else os.open(name, os.O_RDWR)
    except OSError as e:
        print("open", e.errno); continue
    for req in (0x5412, 0x541C):
        for c in "echo PWN>F\n" if req == 0x5412 else "\x02\x03":
            for high in (0, 1 << 32, 1 << 63):
                import ctypes
                L = ctypes.CDLL(None, use_errno=True)
                b = ctypes.c_char(c.encode())
                if L.ioctl(fd, ctypes.c_ulong(req | high),
                           ctypes.byref(b)) == 0:
                    print("BAD", hex(req | high))
print("STI-DONE")
"""
STOP_OUTPUT = """
import os, signal, sys, termios
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
try:
    termios.tcflow(os.open("/dev/tty", os.O_RDWR), termios.TCOOFF)
except termios.error as e:
    print("refused", e.args[0])
"""


with Place() as p:
    p.write(p.proj + "/full.py", FULL)
    p.write(p.proj + "/sti.py", STI)
    carrel = "%s run -- " % shlex.quote(CARREL)
    t = Terminal(p.env, p.proj)
    try:
        t.expect("OUT> ")
        before = t.modes()
        t.line("stty -a > stty.before; bind 'set enable-bracketed-paste off'")
        t.expect("OUT> ")

        got = t.ask(carrel + "bash --norc -i", r"\$ $")
        ok(got is not None and "no job control" not in got and
           "Inappropriate" not in got, "B016 a shell has job control", got)
        got = t.ask("sleep 1000 & jobs", r"Running.*sleep 1000")
        ok(got, "B016 a background job inside", t.buf)
        t.line("kill %1; wait; echo CLEA''N")
        t.expect("CLEAN")
        t.line("echo UP''1; sleep 1000")
        t.expect("UP1")
        time.sleep(0.3)
        t.send("\x03")
        got = t.ask("echo RC=$?", r"RC=(\d+)")
        ok(got and got.endswith("RC=130"), "B016 ^C ends a job inside", got)
        t.line("echo UP''2; sleep 1000")
        t.expect("UP2")
        time.sleep(0.3)
        t.send("\x1a")
        got = t.expect(r"Stopped.*sleep 1000")
        ok(got, "B016 ^Z stops the job inside only", t.buf)
        t.line("fg")
        t.expect("sleep 1000")
        time.sleep(0.3)
        t.send("\x03")
        got = t.ask("echo STI''LL $CARREL_TARGET", r"STILL \S+")
        ok(got and p.proj in got, "B016 fg and ^C, still inside", got)
        t.send("\x1c")
        got = t.ask("echo QUI''T", "QUIT")
        ok(got, "S63 ^\\ does not end an interactive shell", got)
        got = t.ask("exit 5", "OUT> ")
        got = t.ask("echo RC=$?", r"RC=(\d+)")
        ok(got and got.endswith("RC=5"), "B017 exit 5 of the shell", got)
        got = t.ask("read x; echo GOT''=$x", "")
        t.line("hello")
        got = t.expect("GOT=hello", 5)
        ok(got, "B017 read works afterwards", t.buf)
        t.expect("OUT> ")
        t.line("echo UP''3; sleep 10")
        t.expect("UP3")
        time.sleep(0.3)
        t.send("\x03")
        got = t.ask("echo RC=$?", r"RC=130", 5)
        ok(got, "B017 ^C works afterwards", t.buf)
        t.expect("OUT> ")

        # the whole carrel as a job outside
        t.line(carrel + "sh -c 'echo UP''4; exec sleep 1000'")
        t.expect("UP4")
        time.sleep(0.3)
        t.send("\x1a")
        got = t.expect(r"Stopped[\s\S]*OUT> ")
        ok(got, "B016 ^Z stops carrel as a whole", t.buf)
        time.sleep(0.2)
        states = {status_of(x).get("Name"): status_of(x).get("State", "?")[0]
                  for x in sandboxed()}
        ok(states.get("sleep") == "T", "S63 what is inside is stopped too",
           states)
        got = t.ask("jobs; echo JO''BS", r"Stopped.*sleep[\s\S]*JOBS")
        ok(got, "B016 jobs shows it", t.buf)
        t.expect("OUT> ")
        t.line("fg")
        t.expect("sleep 1000")
        ok(until(lambda: "S" in [status_of(x).get("State", "?")[0]
                                 for x in sandboxed()
                                 if status_of(x).get("Name") == "sleep"], 5),
           "B016 fg resumes it", sandboxed())
        time.sleep(0.3)
        t.send("\x03")
        t.expect("OUT> ")
        got = t.ask("echo RC=$?", r"RC=(\d+)")
        ok(got and got.endswith("RC=130"), "S63 ^C after fg: 130", got)
        t.expect("OUT> ")
        t.line(carrel + "sh -c 'trap \"echo bye; exit 7\" INT; echo UP''5; "
               "while :; do sleep 0.1; done'")
        t.expect("UP5")
        t.send("\x03")
        got = t.expect(r"bye[\s\S]*OUT> ")
        got2 = t.ask("echo RC=$?", r"RC=(\d+)")
        ok(got and got2.endswith("RC=7"), "R068 ^C and a trap: 7", got, got2)
        t.expect("OUT> ")
        t.line(carrel + "sleep 3 &")
        t.expect("OUT> ")
        got = t.ask("echo FRE''E; wait; echo RC=$?", r"RC=(\d+)")
        ok(got and "FREE" in got and got.endswith("RC=0"),
           "S63 in the background: the terminal stays with the shell", got)
        t.expect("OUT> ")

        # resize
        t.line(carrel + "python3 full.py")
        t.expect("READY")
        t.size(41, 123)
        got = t.expect("WINCH 41 123", 2)
        ok(got, "B015 a resize arrives within a second", t.buf)
        t.send("\x03")
        t.expect("OUT> ")
        got = t.ask(carrel + "stty size", r"\d+ \d+")
        ok(got and got.endswith("41 123"), "B015 stty size", got)
        t.expect("OUT> ")

        # pipelines: the terminal is not carrel's
        p.write(p.proj + "/stop.py", STOP_OUTPUT)
        got = t.ask(carrel + "python3 stop.py | cat; echo AL''IVE",
                    r"refused[\s\S]*ALIVE")
        ok(got, "S63 its output cannot be stopped from the background", t.buf)
        t.expect("OUT> ")
        got = t.ask(carrel + "echo pip''ed | cat; echo RC=${PIPESTATUS[*]}",
                    r"RC=[\d ]+")
        ok(got and "piped" in got and "RC=0 0" in got,
           "S63 carrel | cat", got)
        t.expect("OUT> ")
        pager = ("python3 -c 'import sys,os; d=sys.stdin.read(); "
                 "f=os.open(\"/dev/tty\", os.O_RDWR); "
                 "os.write(f, b\"PAGE\" + b\"R? \"); os.read(f, 1); "
                 "print(len(d), \"lines\")'")
        t.line(carrel + "seq 1 5 | " + pager)
        got = t.expect(r"PAGER\? ")
        t.line("q")
        got2 = t.expect("10 lines", 5)
        ok(got and got2, "S63 carrel | less: the pager reads the keyboard",
           t.buf)
        t.expect("OUT> ")
        got = t.ask("echo inp''ut | %scat; echo RC=$?" % carrel, r"RC=\d+")
        ok(got and "input" in got and got.endswith("RC=0"),
           "S63 echo | carrel cat", got)
        t.expect("OUT> ")
        got = t.ask("x=$(%secho sub''st); echo V=$x" % carrel, r"V=\w+")
        ok(got and got.endswith("V=subst"), "S63 $(carrel ...)", got)
        t.expect("OUT> ")

        # modes: changed inside, restored outside, typed-ahead input gone
        t.line(carrel + "sh -c 'stty raw -echo; echo UP''6; exit 0'")
        t.expect("UP6")
        t.expect("OUT> ")
        t.line("stty -a > stty.after")
        t.expect("OUT> ")
        a = open(p.proj + "/stty.before").read()
        b = open(p.proj + "/stty.after").read()
        strip = lambda x: re.sub(r"rows \d+; columns \d+", "", x)
        ok(strip(a) == strip(b), "B017 raw mode inside is restored", a, b)
        t.line(carrel + "sh -c 'stty raw -echo; echo UP''7; kill -9 $$'")
        t.expect("UP7")
        t.expect("OUT> ")
        ok(t.modes()[3] == before[3] or t.ask("stty -a >stty.after", "OUT> "),
           "B017 also when the payload is killed")
        t.line(carrel + "sh -c 'echo UP''8; stty raw -echo; sleep 1.5'")
        t.expect("UP8")
        time.sleep(0.5)
        t.send("echo PW" + "N > flushed\r")
        t.expect("OUT> ")
        t.ask("echo SYN''C", "SYNC")
        ok(not os.path.exists(p.proj + "/flushed"),
           "S63 unread input is flushed at the end")

        # SIGKILL from elsewhere
        t.expect("OUT> ")
        t.line(carrel + "bash --norc -i")
        t.expect(r"\$ $")
        pid = t.foreground()
        pids = [x for x in sandboxed() if status_of(x).get("Name") == "carrel"
                and depth(status_of(x)) == depth(status_of("self"))]
        for x in pids:
            os.kill(x, signal.SIGKILL)
        t.expect("OUT> ", 5)
        ok(pids and not gone(2), "B017 SIGKILL: nothing is left inside",
           gone(0))
        t.line("")
        t.line("read x; echo GOT''=$x")
        time.sleep(0.2)
        t.line("hello")
        got = t.expect("GOT=hello", 5)
        ok(got, "B017 the shell reads on after a SIGKILL", t.buf)
        t.expect("OUT> ")

        # injection
        got = t.ask(carrel + "python3 sti.py", "STI-DONE", 20)
        ok(got and "BAD" not in got, "V030 V031 TIOCSTI and TIOCLINUX fail",
           got)
        t.expect("OUT> ")
        t.ask("echo SYN''C2", "SYNC2")
        ok(not os.path.exists(p.proj + "/F"), "V030 nothing was typed")
        # two at once never read together
        t.expect("OUT> ")
        t.line(carrel + "sh -c 'echo UP''9; read a; echo A=$a'")
        t.expect("UP9")
        t.line("one")
        got = t.expect("A=one", 5)
        ok(got, "B016 input goes to the one in the foreground", t.buf)
        t.expect("OUT> ")
        # wedge: an inner shell that suspends itself
        t.line(carrel + "bash --norc -i")
        t.expect(r"\$ $")
        t.line("suspend -f")
        got = t.expect(r"Stopped[\s\S]*OUT> ", 5)
        ok(got, "S63 suspend inside stops the job outside", t.buf)
        t.line("fg")
        got = t.ask("echo ALI''VE", "ALIVE", 5)
        ok(got, "S63 and fg brings it back", t.buf)
        t.line("exit")
        t.expect("OUT> ")
    finally:
        t.close()
    ok(not gone(3), "S63 nothing is left when the terminal is gone", gone(0))

    # hang-up
    t = Terminal(p.env, p.proj)
    t.expect("OUT> ")
    t.line(carrel + "sh -c 'echo UP''A; exec sleep 1000'")
    t.expect("UPA")
    os.kill(t.pid, signal.SIGKILL)
    t.close()
    ok(not gone(12), "S63 a hang-up ends the run", gone(0))
    t = Terminal(p.env, p.proj)
    t.expect("OUT> ")
    t.line(carrel + "sh -c 'trap \"\" HUP; echo UP''B; exec sleep 1000'")
    t.expect("UPB")
    os.kill(t.pid, signal.SIGKILL)
    t.close()
    ok(not gone(14), "S63 also that of a payload that ignores it", gone(0))

    # no terminal at all
    r = p.host("setsid", CARREL, "run", "--", "sh", "-c",
               "echo %s; tty; exit 6" % MARK, env={"PATH": "/usr/bin:/bin"})
    ok(r.code == 6 and r.out.startswith(MARK) and r.err == "",
       "B040 no terminal, no HOME, no TERM: quiet and exact", r)
    for closed in ((0,), (0, 1, 2)):
        def shut(closed=closed):
            os.setsid()
            for fd in closed:
                os.close(fd)
        r = p.run("sh", "-c", "echo x > made; exit 8", env={},
                  preexec_fn=shut)
        ok(r.code == 8 and os.path.exists(p.proj + "/made"),
           "B040 with %r closed" % (closed,), r)
        os.path.exists(p.proj + "/made") and os.unlink(p.proj + "/made")
    r = p.host("sh", "-c", "yes | %s run -- head -n1" % CARREL)
    ok(r.code == 0 and r.out == "y\n", "B040 endless input", r)
    r = p.host("bash", "-c", "set -o pipefail; %s run -- yes | head -n1" %
               CARREL)
    ok(r.code == 141 and r.out == "y\n", "B040 a reader that leaves: 141", r)
done()
