#!/usr/bin/python3
"""S104 V045: what the host's log is told, with a real rsyslogd in a mount
namespace of its own, so that the host's is neither needed nor disturbed."""
import json
from tap import *

RSYSLOGD = "/usr/sbin/rsyslogd"
PY = os.path.realpath("/usr/bin/python3")
CONF = """
global(workDirectory="%(top)s" maxMessageSize="64k")
module(load="imuxsock" SysSock.Use="off")
input(type="imuxsock" Socket="/dev/log" CreatePath="off"
      RateLimit.Interval="0")
template(name="all" type="string" string="%%syslogfacility-text%%.\
%%syslogseverity-text%% %%programname%%: %%msg%%\\n")
authpriv.* action(type="omfile" file="%(top)s/log" template="all")
*.*;authpriv.none action(type="omfile" file="%(top)s/other" template="all")
"""
RECORD = re.compile(r'authpriv\.(info|warning) carrel: ((?: [a-z-]+="(?:[^"\\]|'
                    r'\\\\|\\x[0-9a-f]{2})*")+)')
PAIR = re.compile(r' ([a-z-]+)="((?:[^"\\]|\\\\|\\x[0-9a-f]{2})*)"')


def unescape(text):
    return re.sub(rb"\\(\\|x[0-9a-f]{2})", lambda m: b"\\" if m[1] == b"\\"
                  else bytes([int(m[1][1:], 16)]), text.encode())


class Log:
    """rsyslogd, and carrel beside it, with a /dev that has a log."""

    def __init__(self, p):
        self.p = p
        self.daemon = None

    def __enter__(self):
        with root():
            self.top = tempfile.mkdtemp(prefix="carrel-log.")
            os.chmod(self.top, 0o755)
            self.holder = subprocess.Popen(
                ["unshare", "-m", "--propagation", "private", "sh", "-c",
                 "echo; exec sleep 3600"], stdout=subprocess.PIPE)
            self.holder.stdout.readline()
            dev = self.top + "/dev"
            os.mkdir(dev)
            self.ns("sh", "-ec", """
                mount -t tmpfs -o mode=755 dev $1
                for n in null zero full random urandom tty ptmx; do
                    : > $1/$n; mount --bind /dev/$n $1/$n
                done
                mkdir $1/pts $1/shm
                mount --rbind /dev/pts $1/pts
                ln -s /proc/self/fd $1/fd
                mount --rbind $1 /dev""", "sh", dev)
            with open(self.top + "/conf", "w") as f:
                f.write(CONF % {"top": self.top})
        self.start()
        return self

    def argv(self, *argv):
        return ["nsenter", "-t", str(self.holder.pid), "-m"] + list(argv)

    def ns(self, *argv):
        subprocess.run(self.argv(*argv), check=True)

    def start(self):
        with root():
            self.daemon = subprocess.Popen(
                self.argv(RSYSLOGD, "-n", "-f", self.top + "/conf", "-i",
                          self.top + "/pid"))
        until(lambda: os.path.exists("/proc/%d/root/dev/log" %
                                     self.holder.pid) and self.alive())

    def alive(self):
        """It takes records: a daemon that is killed leaves its socket."""
        with root():
            return subprocess.run(self.argv(
                sys.executable, "-c", "import socket\nsocket.socket(socket."
                "AF_UNIX, socket.SOCK_DGRAM).connect('/dev/log')"),
                stderr=subprocess.DEVNULL).returncode == 0

    def signal(self, sig):
        with root():
            self.daemon.send_signal(sig)
            if sig in (signal.SIGKILL, signal.SIGTERM):
                self.daemon.wait()

    def __exit__(self, *args):
        with root():
            for x in (self.daemon, self.holder):
                x.kill()
                x.wait()
            shutil.rmtree(self.top, ignore_errors=True)

    def popen(self, *argv, cwd=None, carrel=CARREL, **kw):
        kw = dict(dict(stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE), **kw)
        with root():
            return subprocess.Popen(self.argv(
                "sh", "-c", 'cd "$0" && exec "$@"', cwd or self.p.proj,
                "setpriv", "--reuid", str(UID),
                "--regid", str(GID), "--init-groups", carrel, *argv),
                env=self.p.env, **kw)

    def do(self, *argv, **kw):
        return finish(self.popen(*argv, **kw), 60)

    def records(self, want=None, name="log"):
        """All that arrived since the last time: dicts, each of a line."""
        path = self.top + "/" + name
        found = []

        def look():
            try:
                with open(path, "rb") as f:
                    found[:] = f.read().split(b"\n")[:-1]
            except FileNotFoundError:
                found[:] = []
            new = [x for x in found[self.seen:] if b'event="over"' not in x]
            return want is None or len(new) >= want
        self.seen = getattr(self, "seen", 0)
        until(look, 20)
        got = [self.parse(x) for x in found[self.seen:]]
        self.seen = len(found)
        if HOSTED:      # the recorder's part: hosted.t is about that
            for x in got:
                if x.pop("caller", None) != str(UID):
                    x["BAD"] = "no caller"
            got = [x for x in got if x.get("event") != "over"]
        return got

    def parse(self, line):
        m = RECORD.fullmatch(line.decode("utf-8", "replace"))
        if m is None:
            return {"BAD": line}
        pairs = PAIR.findall(m[2])
        got = {k: v for k, v in pairs}
        got["severity"] = m[1]
        if len(got) != len(pairs) + 1 or len(line) > 4200:
            got["BAD"] = line
        return got


def words(value):
    """The words of a command, as bytes."""
    return [b"" if w == "''" else unescape(w) for w in value.split(" ")]


def plain(p, log):
    """The records of a run."""
    r = log.do("run", "--", "sh", "-c", "echo %s; exit 5" % MARK, "two words",
               "", "a'b\"c")
    got = log.records(2)
    ok(r.code == 5 and r.out == MARK + "\n" and not r.err and len(got) == 2 and
       [x["event"] for x in got] == ["start", "end"],
       "S104 a start and an end", r, got)
    a, z = got
    ok(a["user"] == USER and a["uid"] == str(UID) and a["tty"] == "none" and
       a["mode"] == ("hosted" if HOSTED else "user") and a["profiles"] == "@home,@sys,@target" and
       len(a["policy"]) == 64 and a["directory"] == p.proj and
       a["severity"] == "info", "S104 who, where, which profiles", a)
    equal(words(a["command"]), [b"sh", b"-c", b"echo %s; exit 5" %
                                MARK.encode(), b"two words", b"", b"a'b\"c"],
          "S104 the command, word by word")
    ok(a["run"] == z["run"] and z["by"] == "payload" and z["code"] == "5" and
       all(z[x].isdigit() for x in ("wall-ms", "user-ms", "system-ms",
                                    "memory-kib", "violations", "lost",
                                    "untold", "unsent")),
       "S104 the end with code and resources", z)
    r = log.do("run", "-p", "nosuch", "--", "true")
    got = log.records(1)
    ok(r.code == OWN and len(got) == 1 and got[0]["event"] == "refused" and
       got[0]["code"] == "125" and got[0]["command"] == "true" and
       got[0]["severity"] == "warning", "S104 a refused run is one record",
       r, got)
    r = log.do("run", "-C", "/nonexistent", "--", "true")
    got = log.records(1)
    ok(r.code == OWN and len(got) == 1 and got[0]["event"] == "refused",
       "S104 even one that is refused before anything is known", r, got)
    r = log.do("run", "--allow-ptrace", "--without-landlock", "--", "sh", "-c",
               "kill -9 $$")
    got = log.records(2)
    ok(r.code == 137 and got[0]["weakened"] == "landlock,ptrace" and
       got[1]["signal"] == "9", "S6 S104 options that weaken, and a signal",
       r, got)
    for argv in (("explain", "--", "true"), ("doctor",), ("violations",)):
        log.do(*argv)
    r = log.do("run", "--require-audit", "--", "true")
    got = log.records(2)
    ok(r.code == 0 and len(got) == 2, "S104 --require-audit: control; other "
       "commands are not runs", r, got)
    r = finish(log.popen("run", "--", "true", "x" * 120000, cwd=p.proj), 20)
    got = log.records(2)
    ok(len(got) == 2 and len(got[0]["command"]) < 1024 and
       got[0]["command"].endswith("..."), "V045 bounded", got[0])


def in_terminal(p, log):
    """V037: the terminal by the kernel's number."""
    os.makedirs(p.top + "/bin", exist_ok=True)
    for name in ("x) S 1 1 1 34823 ", "a\nb"):
        at = p.top + "/bin/" + name
        if not os.path.exists(at):
            os.symlink(CARREL, at)
        a, b = pty.openpty()
        tty_name = os.ttyname(b)
        proc = log.popen("run", "--", "true", carrel=at, stdin=b, stdout=b,
                         stderr=b,
                         preexec_fn=lambda: (
                             os.setsid(), fcntl.ioctl(b, termios.TIOCSCTTY,
                                                      0)),
                         pass_fds=())
        os.close(b)
        proc.wait()
        os.close(a)
        got = log.records(2)
        equal([x.get("tty") for x in got][:1] + [x.get("event") for x in got],
              [tty_name[len("/dev/"):], "start", "end"],
              "V037 IDNAME the terminal, by a carrel with an odd name", got)


def violations(p, log):
    path = p.profile("ev", "[profile]\ndescription = t\n[audit]\nreport = exec"
                     "\non-violation = fail\n[exec]\ninterpreter = %s\n" % PY)
    r = log.do("run", "-p", "ev", "--", PY, "-c", """if 1:
        import os
        for p in ['/bin/sh'] * 5 + ['/bin/ls', '/no/such']:
            try: os.execv(p, [p])
            except OSError: pass""")
    got = log.records(5)
    ok(r.code == 3 and [x["event"] for x in got] == [
        "start", "violation", "violation", "violation", "end"],
       "S104 violations are told", r, got)
    ok([(x["resource"], x["count"], x["error"], x["rule"], x["surface"],
         x["profiles"].startswith("ev:")) for x in got[1:4]] ==
       [("/bin/sh", "1", "EACCES", "interpreter = " + PY, "exec", True),
        ("/bin/ls", "1", "EACCES", "interpreter = " + PY, "exec", True),
        ("/bin/sh", "4", "EACCES", "interpreter = " + PY, "exec", True)] and
       got[4]["by"] == "carrel" and got[4]["code"] == "3" and
       got[4]["violations"] == "6", "S104 and counted", got)
    # of files: whose rule it was, and who answers for it
    p.profile("fs", "[profile]\ndescription = t\n[audit]\nreport = fs\n")
    r = log.do("run", "-p", "fs", "--", "sh", "-c", "mkdir /usr/a; mkdir /b")
    got = log.records(4)
    equal([(x["surface"], x["action"], x["resource"], x["error"], x["rule"],
            x.get("rule-profile"), x["profiles"].split(":")[0])
           for x in got[1:3]],
          [("fs", "mkdir", "/usr/a", "EROFS", "read = /usr", "@sys", "fs"),
           ("fs", "mkdir", "/b", "EROFS", "no match", None, "fs")],
          "S104 S75 report = fs in the log", r, *got)
    p.unprofile("fs")
    # so many that a log would drown
    r = log.do("run", "-p", "ev", "--", PY, "-c", """if 1:
        import os
        for i in range(2000):
            f = '/tmp/%d' % i
            open(f, 'w'); os.chmod(f, 0o755)
            try: os.execv(f, [f])
            except OSError: pass""")
    time.sleep(0.3)
    got = log.records()
    told = [x for x in got if x["event"] == "violation"]
    end = got[-1]
    ok(20 <= len(told) < 120 and end["violations"] == "2000" and
       int(end["untold"]) + len(told) >= 256 and
       int(end["lost"]) == 2000 - 256 and end["unsent"] == "0" and
       [x["event"] for x in got if "BAD" in x] == [],
       "S104 a bound on the rate, and what was not told is counted",
       len(told), end)
    os.unlink(path)
    p.forget()


def forged(p, log):
    """V045: 1,000 hostile strings, and never a line that is not carrel's."""
    r0 = rng()
    p.profile("ev", "[profile]\ndescription = t\n[audit]\nreport = exec\n"
              "[exec]\ninterpreter = %s\n" % PY)
    parts = [b"\n", b"\r", b"\x1b[2J", b"\x9b", b"\x7f", "\u202e".encode(),
             b"\xff\xc3", b'"', b"'", b" ", b"  ", b"\\", b"\\x0a", b"\\x22",
             b"\n<86>Nov 30 12:00:00 carrel[1]: event=\"end\" run=\"x\"",
             b'" event="end', b"=", b"%n%s", b"#012", b"\t", b"\x01\x02",
             "\u2028".encode(), "\u00e4\u6f22".encode(), b"x" * 300,
             b"authpriv.info carrel: event=\"start\"", b"a", b"<13>"]

    def some(most):
        return b"".join(r0.choice(parts) for i in range(
            r0.randrange(1, 6)))[:most].replace(b"\0", b"")
    strings, bad, forgeries = 0, [], 0
    for i in range(100):
        command = [some(90) for k in range(5)]
        paths = [some(200).replace(b"/", b"_") for k in range(4)]
        where = p.top.encode() + b"/d" + some(100).replace(b"/", b"_")
        os.makedirs(where, exist_ok=True)
        with open(p.top + "/try.py", "wb") as f:
            f.write(b"import os\n" + b"".join(
                b"f = b'/tmp/' + %r + b'%d'\nopen(f, 'w'); os.chmod(f, 0o755)"
                b"\ntry: os.execv(f, [f])\nexcept OSError: pass\n" % (x, k)
                for k, x in enumerate(paths)))
        code = open(p.top + "/try.py").read()
        r = log.do("run", "--no-defaults", "-p", "@sys", "-p", "ev", "--", PY,
                   "-c", code, *map(os.fsdecode, command),
                   cwd=os.fsdecode(where))
        got = log.records(6)
        strings += len(command) + len(paths) + 1
        want = [b"/tmp/" + x + b"%d" % k for k, x in enumerate(paths)]
        forgeries += sum("BAD" in x for x in got)
        if r.code != 0 or [x.get("event") for x in got] != [
                "start"] + 4 * ["violation"] + ["end"] or len(
                    {x["run"] for x in got}) != 1:
            bad.append((command, paths, r, got))
            continue
        if [unescape(x["resource"]) for x in got[1:5]] != want or \
                unescape(got[0]["directory"]) != where:
            bad.append(("bytes", want, got))
        os.rmdir(where)
    # each of the command's words alone, where it is not cut
    for i in range(0, len(parts), 3):
        command = [x[:200] for x in parts[i:i + 3]]
        log.do("run", "--", "true", *map(os.fsdecode, command))
        got = log.records(2)
        strings += len(command)
        if len(got) != 2 or words(got[0]["command"])[1:] != command:
            bad.append((command, got))
    ok(strings >= 1000 and not bad and not forgeries,
       "V045 AUDIT %d hostile strings: one record each, and their bytes" %
       strings, *bad[:3])
    others = []
    if os.path.exists(log.top + "/other"):
        with open(log.top + "/other", "rb") as f:
            others = [x for x in f.read().splitlines()
                      if not re.match(rb"syslog\.\w+ rsyslogd: ", x)]
    equal(others, [], "V045 AUDIT nothing arrived under another facility")
    p.unprofile("ev")
    p.forget()


def trouble(p, log):
    """The log goes away, stands still, comes back."""
    long = ("run", "--", "sh", "-c", "echo up; read x; echo down")
    log.records()

    def during(what, *options):
        proc = log.popen(long[0], *options, *long[1:], stdin=subprocess.PIPE)
        up = proc.stdout.readline()
        what()
        proc.stdin.write(b"\n")
        proc.stdin.close()
        proc.stdin = None
        r = finish(proc, 20)
        return up == b"up\n", r
    up, r = during(lambda: log.signal(signal.SIGKILL))
    ok(up and r.code == 0 and r.out == "down\n" and "records are missing" in
       r.err, "S104 the log is gone: the run goes on, and it is said", r)
    r = log.do("run", "--", "echo", MARK)
    ok(r.code == 0 and r.out == MARK + "\n" and not r.err,
       "S104 no log: silently fine in user mode", r)
    r = log.do("run", "--require-audit", "--", "echo", MARK)
    ok(r.code == OWN and MARK not in r.out and "--require-audit" in r.err and
       "start the host's log daemon" in r.err,
       "S6 V027 no log and --require-audit: refused, with the fix", r)
    log.start()
    log.records(1)
    r = log.do("run", "--require-audit", "--", "echo", MARK)
    ok(r.code == 0 and r.out == MARK + "\n", "S104 --require-audit: control",
       r)
    up, r = during(lambda: log.signal(signal.SIGKILL), "--require-audit",
                   "--events", p.top + "/ended")
    ok(up and r.code == OWN and "/dev/log" in r.err,
       "S104 --require-audit and the end cannot be told: 125", r)
    with open(p.top + "/ended") as f:
        end = json.loads(f.readlines()[-1])
    ok((end["event"], end["code"], end["by"]) == ("end", OWN, "carrel"),
       "S104 and so says its last line elsewhere", end)
    log.start()
    log.records()

    def restart():
        log.signal(signal.SIGTERM)
        log.start()
    up, r = during(restart, "--require-audit")
    got = log.records(2)
    ok(up and r.code == 0 and not r.err and got[-1]["event"] == "end",
       "S104 a daemon that was started anew gets the end", r, got)
    # it stands still: its socket fills up
    log.signal(signal.SIGSTOP)
    n = 0
    for n in range(2000):
        r = log.do("run", "--", "true")
        if r.err:
            break
    ok(r.code == 0 and "records are missing" in r.err and r.secs < 2,
       "S104 a log that takes nothing keeps no run waiting (%d runs)" % n, r)
    r = log.do("run", "--require-audit", "--", "sh", "-c", "echo " + MARK)
    ok(r.code == OWN and MARK not in r.out and r.secs < 10 and
       "took nothing" in r.err, "S104 --require-audit: nothing starts that "
       "the log did not take", r)
    log.signal(signal.SIGCONT)
    until(lambda: log.do("run", "--require-audit", "--",
                         "true").code == 0, 30)
    r = log.do("run", "--require-audit", "--", "true")
    ok(r.code == 0, "S104 and when it goes on, so does carrel", r)
    time.sleep(0.5)
    got = log.records()
    ok(all("BAD" not in x for x in got), "V045 all of it is whole", got[:3])


with Place() as p:
    r = p.do("run", "--require-audit", "--", "echo", MARK)
    if os.path.exists("/dev/log") or HOSTED:
        ok(r.code in (0, OWN), "S104 the host's own log", r)
    else:
        ok(r.code == OWN and MARK not in r.out and "/dev/log" in r.err,
           "S104 this host has no log, and --require-audit wants one", r)
    if not IS_ROOT:
        skip("S104", "a log of our own needs root")
    else:
        with Log(p) as log:
            plain(p, log)
            in_terminal(p, log)
            violations(p, log)
            forged(p, log)
            trouble(p, log)
    ok(not gone(), "S64 nothing is left", sandboxed())
done()
