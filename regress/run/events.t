#!/usr/bin/python3
"""S75, S76, S61: what a run tells the outside of what it refused: --events,
the summary, exit code 3, the state of the user and carrel violations. What the
host's log is told is in audit.t."""
import hashlib
import json
import shutil
import struct
import jsonschema
from tap import *

PY = os.path.realpath("/usr/bin/python3")
SHARE = INST + "/share/carrel"
with open(SHARE + "/etc/carrel-events.schema.json") as f:
    SCHEMA = json.load(f)
jsonschema.Draft202012Validator.check_schema(SCHEMA)
VALID = jsonschema.Draft202012Validator(SCHEMA)

# tries to execute each word, as often as the number in front of it says
TRY = """
import os, sys
print(%r, flush=True)
for word in sys.argv[1:]:
    n, path = word.split("*", 1)
    for i in range(int(n)):
        try:
            os.execv(path, [path])
        except OSError as e:
            err = e.errno
    print(err, flush=True)
""" % MARK


def profile(p, *audit, name="ev", report="report = exec\n"):
    return p.profile(name, "[profile]\ndescription = test\n[audit]\n" +
                     report + "".join(x + "\n" for x in audit) +
                     "[exec]\ninterpreter = %s\n" % PY)


def attempt(p, *words, ev=None, name="ev", **kw):
    options = ["--events", ev] if ev else []
    return p.do("run", "-p", name, *options, "--", PY, "-c", TRY, *words, **kw)


def lines(path):
    """Each line of the file, which must be whole and as the schema says."""
    with open(path, "rb") as f:
        data = f.read()
    assert data.endswith(b"\n") or not data, data[-200:]
    found = [json.loads(x) for x in data.decode().splitlines()]
    for x in found:
        VALID.validate(x)
    return found


def of(events, kind):
    return [x for x in events if x["event"] == kind]


def unescape(text):
    """The bytes that a text of an event stands for."""
    out, i = b"", 0
    while i < len(text):
        if text[i] != "\\":
            out += text[i].encode()
            i += 1
        elif text[i + 1] == "\\":
            out += b"\\"
            i += 2
        else:
            assert text[i + 1] == "x", text
            out += bytes([int(text[i + 2:i + 4], 16)])
            i += 4
    return out


def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def file_of(p):
    """What the lines of a run say."""
    ev = p.top + "/ev.jsonl"
    path = profile(p)
    r = attempt(p, "2*/bin/sh", "1*/bin/ls", "1*/no/such", "1*/bin/sh", ev=ev)
    ok(r.code == 0 and r.out == MARK + "\n13\n13\n2\n13\n",
       "S75 the payload gets the ordinary error", r)
    got = lines(ev)
    first, last = got[0], got[-1]
    ok([x["event"] for x in got] == ["start"] + 3 * ["violation"] + ["end"] and
       len({x["run"] for x in got}) == 1, "S75 the lines of a run", *got)
    equal([(x["resource"], x["count"], x["error"], x["rule"], x["surface"])
           for x in of(got, "violation")],
          [("/bin/sh", 1, "EACCES", "interpreter = " + PY, "exec"),
           ("/bin/ls", 1, "EACCES", "interpreter = " + PY, "exec"),
           ("/bin/sh", 2, "EACCES", "interpreter = " + PY, "exec")],
          "S75 the same again is counted; what is not there is none")
    ok(first["command"][:2] == [PY, "-c"] and first["words"] == 7 and
       unescape(first["command"][2]).decode()[:80] == TRY[:80] and
       first["uid"] == UID and first["user"] == USER and
       first["directory"] == p.proj and first["tty"] is None and
       first["report"] == ["egress", "exec"], "S75 who, where and what", first)
    shipped = SHARE + "/profiles/%s.profile"
    equal([(x["name"], x["layer"], x["digest"]) for x in first["profiles"]],
          [("@" + n, "shipped", digest(shipped % n))
           for n in ("home", "sys", "target")] + [("ev", "user", digest(path))],
          "S76 the profiles and the SHA-256 of their bytes")
    ok(all(x["profiles"] == [{"name": "ev", "digest": digest(path)}]
           for x in of(got, "violation")),
       "S75 the profile that answers for it, and its digest")
    ok(last["by"] == "payload" and last["code"] == 0 and
       last["violations"] == 4 and last["lost"] == last["unwritten"] == 0 and
       last["user_ms"] + last["system_ms"] > 0 and last["memory_kib"] > 1000,
       "S75 the end: code, sums and resources", last)
    ok("4 violations" in r.err and "/bin/sh" in r.err and "3 times" in r.err
       and "no/such" not in r.err, "S75 the summary on standard error", r)
    ok(oct(os.stat(ev).st_mode & 0o777) == "0o600", "S75 its mode is 600")

    # a second run appends; the same policy has the same digest
    attempt(p, "1*/bin/sh", ev=ev)
    both = lines(ev)
    starts = of(both, "start")
    ok(both[:len(got)] == got and len(starts) == 2 and
       starts[0]["run"] != starts[1]["run"] and
       starts[0]["policy"] == starts[1]["policy"], "S75 runs are appended")
    p.fs("more", "tmpfs = /opt/x")
    p.do("run", "-p", "ev", "-p", "more", "--events", ev, "--", PY, "-V")
    ok(of(lines(ev), "start")[2]["policy"] != starts[0]["policy"],
       "S75 another policy, another digest")
    p.unprofile("more")
    # what a person weakened is shown
    p.do("run", "-p", "ev", "--allow-ptrace", "--events", ev, "--", PY, "-V")
    equal(of(lines(ev), "start")[3]["weakened"], ["ptrace"],
          "S6 an option that weakens is in the record")
    os.unlink(ev)
    # without [audit] report nothing is seen, and without [exec] there is
    # nothing to be seen
    profile(p, report="")
    attempt(p, "1*/bin/sh", ev=ev)
    equal([x["event"] for x in lines(ev)], ["start", "end"],
          "S75 exec is reported only where a profile asks")
    os.unlink(ev)


# what [exec] refuses beside programs: each line is one attempt
OTHERS = """
import os, socket, threading
print(%r, flush=True)
for attempt in (os.fork, lambda: os.posix_spawn("/bin/true", ["true"], {}),
                lambda: socket.socket(socket.AF_UNIX),
                lambda: socket.socketpair(),
                lambda: os.execv("/bin/sh", ["sh"]),
                lambda: socket.socket(socket.AF_INET)):
    try:
        pid = attempt()
        if pid == 0:
            os._exit(0)
        print("done", flush=True)
    except OSError as e:
        print(e.errno, flush=True)
t = threading.Thread(target=print, args=("thread",))
t.start(); t.join()
""" % MARK


def rules(p):
    """S75: the line that refused, and whose it is."""
    ev = p.top + "/ev.jsonl"

    def run(*select):
        r = p.do("run", *(x for n in select for x in ("-p", n)), "--events",
                 ev, "--", PY, "-c", OTHERS)
        got = [(x["action"], x["resource"], x["error"], x["rule"], x["line"],
                [y["name"] for y in x["profiles"]], x["count"])
               for x in of(lines(ev), "violation")]
        os.unlink(ev)
        return r, got

    p.profile("told", "[profile]\ndescription = t\n[audit]\nreport = exec\n")
    p.profile("one", "[profile]\ndescription = t\n[exec]\nonce = yes\n")
    p.profile("none", "[profile]\ndescription = t\n[exec]\n\nspawn = no\n"
              "unix = no\n")
    p.profile("few", "[profile]\ndescription = t\n[exec]\ninterpreter = %s\n"
              % PY)
    p.profile("many", "[profile]\ndescription = t\n[exec]\ninterpreter = "
              "/bin/true\ninterpreter = %s\n" % PY)
    r, got = run("told", "one", "none")
    want = MARK + "\n1\n1\n97\n97\n1\ndone\nthread\n"
    ok(r.code == 0 and r.out == want, "S75 what [exec] refuses", r)
    # which call it is depends on the C library
    ok(sum(x[6] for x in got if x[0] == "spawn") == 2 and
       all(x[1] in ("fork", "vfork", "clone") and
           x[2:6] == ("EPERM", "spawn = no", 5, ["none"])
           for x in got if x[0] == "spawn"), "S75 spawn = no", *got)
    equal([x for x in got if x[0] != "spawn"], [
           ("socket", "unix", "EAFNOSUPPORT", "unix = no", 6, ["none"], 1),
           ("exec", "/bin/sh", "EPERM", "once = yes", 4, ["one"], 1),
           ("socket", "unix", "EAFNOSUPPORT", "unix = no", 6, ["none"], 1)],
          "S75 once, spawn and unix by line and profile")
    ok('exec: exec "/bin/sh", once = yes of one, 1 time' in r.err and
       'socket "unix", unix = no of none, 2 times' in r.err,
       "S75 and in the summary", r)
    # nobody wants to be told: the same answers, and no word
    r, got = run("one", "none")
    ok(r.out == want and got == [] and "violations of" not in r.err,
       "S75 without report the same is refused in silence", r)
    # a control: nothing of it is refused
    r, got = run("told")
    ok(r.code == 0 and got == [] and
       r.out == MARK + "\n" + 4 * "done\n",
       "S75 control: without [exec] nothing is", r)
    r, got = run("told", "few", "many")
    equal([x[3:] for x in got if x[0] == "exec" and x[1] == "/bin/sh"],
          [("interpreter = " + PY, 4, ["few"], 1)],
          "S75 of several lists the narrowest is named")
    r, got = run("told", "many")
    equal([x[3:] for x in got if x[1] == "/bin/sh"],
          [("interpreter = /bin/true, " + PY, 4, ["many"], 1)],
          "S75 a list is named as one")
    for name in ("told", "one", "none", "few", "many"):
        p.unprofile(name)


def codes(p):
    """S61: exit code 3, and --status-fd tells whose it is."""
    ev = p.top + "/ev.jsonl"

    def run(*words):
        rd, wr = os.pipe()
        r = p.do("run", "-p", "ev", "--status-fd", str(wr), "--events", ev,
                 "--", PY, "-c", TRY, *words, pass_fds=(wr,))
        os.close(wr)
        with os.fdopen(rd) as f:
            status = [json.loads(x) for x in f.read().splitlines()]
        events = lines(ev)
        os.unlink(ev)
        bad = [x for x in status if x["event"] == "violation"]
        equal([x["event"] for x in status],
              ["start"] + len(bad) * ["violation"] + ["end"],
              "S75 the lines of --status-fd", status)
        ok([x["surface"] for x in bad] == ["exec"][:len(of(events,
                                                         "violation"))] and
           status[-1]["violations"] == sum(
               x["count"] for x in of(events, "violation")) and
           len({x["run"] for x in status}) == 1,
           "S75 S76 --status-fd says that there were some", status)
        return r, status[-1], events
    for on in ("fail", "kill"):
        profile(p, "on-violation = " + on)
        r, status, events = run("2*/bin/sh")
        ok(r.code == 3 and r.out in (MARK + "\n13\n", MARK + "\n")[
            :1 + (on == "kill")] and
           "on-violation = " + on in r.err,
           "S61 on-violation = %s: 3" % on, r)
        ok((status["by"], status["code"]) == ("carrel", 3) and
           "signal" not in status and events[-1]["by"] == "carrel" and
           events[-1]["code"] == 3 and events[0]["on_violation"] == on,
           "S61 on-violation = %s: by carrel" % on, status, events[-1])
        r, status, events = run("1*/no/such")
        ok(r.code == 0 and status["by"] == "payload" and
           not of(events, "violation"), "S61 %s: control" % on, r)
    # a payload's own 3 is its own
    profile(p, "on-violation = fail")
    rd, wr = os.pipe()
    r = p.do("run", "-p", "ev", "--status-fd", str(wr), "--", PY, "-c",
             "raise SystemExit(3)", pass_fds=(wr,))
    os.close(wr)
    with os.fdopen(rd) as f:
        status = json.loads(f.read().splitlines()[-1])
    ok(r.code == 3 and status["by"] == "payload", "S61 its own 3", r, status)
    # killed at the first: what follows never happens
    profile(p, "on-violation = kill")
    r = p.do("run", "-p", "ev", "--", PY, "-c", TRY + "\nimport time\n"
             "time.sleep(1)\nopen('after', 'w')", "1*/bin/sh")
    ok(r.code == 3 and not os.path.exists(p.proj + "/after") and not gone(),
       "S75 kill: everything inside is dead", r)
    # nor can a payload that fills standard error keep carrel from it
    p.write(p.home + "/file")
    r, w = os.pipe()
    proc = p.start("run", "-p", "ev", "--", PY, "-c", "import os, time\n"
                   "if os.fork() == 0:\n while True: os.write(2, b'x' * 4096)\n"
                   "time.sleep(0.5)\n"
                   "try: os.execv('/bin/sh', ['sh'])\n"
                   "except OSError: pass\ntime.sleep(60)", stderr=w,
                   env=dict(p.env, XDG_STATE_HOME=p.home + "/file"))
    os.close(w)
    left = gone(5.0, before=(proc.pid,)) if until(sandboxed) else "none"
    with os.fdopen(r, "rb") as f:
        err = f.read().lstrip(b"x").decode()
    r = finish(proc, 20)
    ok(not left and r.code == 3 and "cannot be kept" in err,
       "S75 kill: and standard error is full", left, r, err)
    # the strictest of all
    profile(p, "on-violation = fail")
    profile(p, "on-violation = kill", name="other")
    r = p.do("run", "-p", "ev", "-p", "other", "--", PY, "-c", TRY,
             "1*/bin/sh")
    ok(r.code == 3 and "on-violation = kill" in r.err, "S2b kill is stricter",
       r)
    p.unprofile("other")
    # carrel's own failure stays 125
    r = p.do("run", "-p", "ev", "--", "/no/such")
    ok(r.code == NOTFOUND, "S61 not found stays 127", r)
    profile(p, "on-violation = report")
    p.refused("S2 on-violation = report: there is no weaker word", "-p", "ev",
              has=("fail or kill",))
    profile(p, report="report = reads\n")
    p.refused("S75 report = reads: there is no such", "-p", "ev",
              has=("exec or fs",))


def attacks(p):
    """Files that are not taken, and nothing is left of what was refused."""
    profile(p)
    T = p.top
    control = T + "/fine"

    def bad(name, path, *has, code=OWN):
        before = sorted(os.listdir(T) + os.listdir(p.proj))
        r = p.do("run", "-p", "ev", "--events", path, "--", "echo", MARK)
        ok(r.code == code and MARK not in r.out and "--events" in r.err and
           all(x in r.err for x in has) and
           sorted(os.listdir(T) + os.listdir(p.proj)) == before,
           "S75 --events: " + name, r)
    os.symlink(T + "/victim", T + "/link")
    p.write(T + "/victim", "precious\n")
    bad("a symlink", T + "/link", "symbolic link")
    os.symlink(T + "/none", T + "/dangling")
    bad("a symlink to nothing", T + "/dangling", "symbolic link")
    os.mkfifo(T + "/fifo")
    bad("a FIFO", T + "/fifo", "no regular file")
    fd = os.open(T + "/fifo", os.O_RDONLY | os.O_NONBLOCK)
    bad("a FIFO that somebody reads", T + "/fifo", "no regular file")
    os.close(fd)
    bad("a device", "/dev/null", "no regular file")
    bad("a terminal", "/dev/ptmx", "no regular file")
    bad("a directory", T, "")
    bad("a name that ends in a slash", T + "/x/", "")
    bad("no name", "", "")
    bad("nowhere", T + "/none/x", "No such file")
    bad("a long name", T + "/" + 300 * "n", "too long")
    p.write(T + "/two", "x\n")
    os.link(T + "/two", p.proj + "/two")
    bad("a second name", T + "/two", "another name")
    # what the payload holds open it could write, or open anew
    for name, how in (("output", {"stdout": os.O_WRONLY | os.O_APPEND}),
                      ("error", {"stderr": os.O_WRONLY | os.O_APPEND}),
                      ("input", {"stdin": os.O_RDONLY})):
        for option in ("--events", "--status-fd"):
            for path, good in ((T + "/other", True), (T + "/held", False)):
                p.write(T + "/held", "before\n")
                p.write(T + "/other", "")
                (what, flags), = how.items()
                fd = os.open(path, flags)
                wr = os.open(T + "/held", os.O_WRONLY | os.O_APPEND)
                value = T + "/held" if option == "--events" else str(wr)
                p.do("run", option, value, "--", "sh", "-c", "echo for''ged; "
                     "echo for''ged >&2; touch ran", pass_fds=[wr],
                     **{what: fd})
                os.close(fd)
                os.close(wr)
                with open(T + "/held") as f:
                    held = f.read()
                ran = os.path.exists(p.proj + "/ran")
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(p.proj + "/ran")
                ok("forged" not in held and ran == good and
                   ("before\n" == re.sub("(?m)^carrel: .*\n", "", held)) !=
                   good, "S75 %s is standard %s, too: %s" % (
                       option, name, "control" if good else "refused"), held)
    bad("in the target", "ev", "may write")
    bad("in the target, by the long way", "../proj/./ev", "may write")
    os.symlink(p.proj, T + "/toproj")
    bad("in the target, by a link", T + "/toproj/ev", "may write")
    os.makedirs(T + "/out")
    os.symlink(T + "/out", p.proj + "/logs")
    bad("outside, by a link that a payload may have planted", "logs/ev",
        "may write")
    p.write(p.proj + "/old", "old\n")
    bad("a file of the target", "old", "may write")
    ok(open(T + "/victim").read() == "precious\n" and
       open(T + "/two").read() == "x\n" and not os.path.exists(T + "/none"),
       "S75 nothing was written anywhere")
    if IS_ROOT:
        with root():
            with open(T + "/roots", "w") as f:
                os.fchmod(f.fileno(), 0o666)
        bad("of another user", T + "/roots", "another user")
    for name in os.listdir(p.proj):
        os.unlink(p.proj + "/" + name)
    r = attempt(p, "1*/bin/sh", ev=control)
    ok(r.code == 0 and len(lines(control)) == 3, "S75 control: a file", r)
    # a refused run leaves none, and appends to one that was there
    before = lines(control)
    r = p.do("run", "-p", "nosuch", "--events", T + "/new", "--", "true")
    ok(r.code == OWN and not os.path.exists(T + "/new"),
       "S2 a refused run leaves no file", r)
    r = p.do("run", "-p", "nosuch", "--events", control, "--", "true")
    now = lines(control)
    ok(r.code == OWN and now[:-1] == before and
       now[-1]["event"] == "refused" and now[-1]["code"] == OWN,
       "S104 a refused run is one record", r, now[-1])
    # a payload cannot reach what was opened for it
    r = p.do("run", "-p", "ev", "--events", control, "--", PY, "-c", """if 1:
        import os
        for pid in filter(str.isdigit, os.listdir('/proc')):
            try:
                for fd in os.listdir('/proc/%s/fd' % pid):
                    to = os.readlink('/proc/%s/fd/%s' % (pid, fd))
                    if 'fine' in to or 'log' in to:
                        print('LEAK', pid, fd, to)
            except OSError:
                pass
        print('LOOKED')""")
    equal(r.out, "LOOKED\n", "S62 no process inside shows its descriptor", r)
    if not IS_ROOT:
        return
    proc = p.start("run", "-p", "ev", "--events", control, "--", PY, "-c",
                   "print('UP', flush=True); input()", stdin=subprocess.PIPE)
    proc.stdout.readline()
    has = []
    with root():
        for pid in sandboxed():
            for fd in os.listdir("/proc/%d/fd" % pid):
                if os.readlink("/proc/%d/fd/%s" % (pid, fd)) == control:
                    has.append(pid)
    n = len(sandboxed())
    finish(proc, 20, stdin=b"\n")
    ok(has == [proc.pid] and n >= 3, "S62 nor has it one: the monitor alone",
       has, proc.pid)


# As many as are kept but one, as long as can be, and then the one that counts.
BURST = """
import os
d = "/tmp/" + "/".join(["\x01" * 250] * 15)
os.makedirs(d)
files = [d + "/%04d" % i for i in range(255)]
for f in files:
    open(f, "w").close()
    os.chmod(f, 0o755)
for f in files:
    try: os.execv(f, [f])
    except OSError: pass
try: os.execv("/bin/sh", ["sh"])
except OSError as e: print(e.errno)
"""


def burst(p):
    """Nobody hides one violation behind many, nor fills a disk with them."""
    ev = p.top + "/ev.jsonl"
    state = p.home + "/.local/state/carrel/runs"
    profile(p)
    p.forget()
    r = p.do("run", "-p", "ev", "--events", ev, "--", PY, "-c", BURST)
    got = lines(ev)
    bad = of(got, "violation")
    # a machine that is busy enough still loses some; a socket holds 26
    lost = got[-1]["lost"]
    ok(r.out == "13\n" and len(bad) + lost == 256 and lost < 128 and
       (lost > 0 or bad[-1]["resource"] == "/bin/sh") and
       got[-1]["violations"] == 256, "S75 255 others do not hide one", r,
       len(bad), got[-1])
    equal({len(unescape(x["resource"])) for x in bad} - {7},
          {5 + 15 * 251 + 4}, "S75 control: the others are long, and whole")
    kept, = os.listdir(state)
    ok(os.stat(state + "/" + kept).st_size < 300 * 1024,
       "S76 what is kept of a run is bounded", os.stat(state + "/" + kept))
    r = p.do("violations", "--run", kept, "--json")
    seen = json.loads(r.out)["events"]
    ok(len(seen) == len(bad) and
       all(x["resource"].endswith("...") for x in seen
           if x["resource"] != "/bin/sh"), "S93 and says that it was cut", r)
    os.unlink(ev)
    p.forget()


def trouble(p):
    """A full disk, a closed standard error, a limit, SIGKILL."""
    profile(p)
    ev = p.top + "/ev.jsonl"
    if IS_ROOT:
        small = p.top + "/small"
        os.mkdir(small)
        with root():
            subprocess.run(["mount", "-t", "tmpfs", "-o",
                            "size=16k,mode=777", "small", small], check=True)
        try:
            with open(small + "/fill", "wb") as f:
                f.write(bytes(8 * 1024))
            proc = p.start("run", "-p", "ev", "--events", small + "/ev", "--",
                           PY, "-c", "import os\nfor i in range(61):\n"
                           " f = '/tmp/%d' % i; open(f, 'w')\n"
                           " os.chmod(f, 0o755)\n"
                           " if i == 60: print('FULL', flush=True); input()\n"
                           " try: os.execv(f, [f])\n except OSError: pass\n"
                           "print('END')", stdin=subprocess.PIPE)
            proc.stdout.readline()
            until(lambda: not subprocess.run(
                ["sh", "-c", "echo >> %s/more" % small],
                stderr=subprocess.DEVNULL).returncode == 0)
            with open(small + "/ev", "rb") as f:
                full = f.read()
            os.unlink(small + "/fill")
            r = finish(proc, 20, stdin=b"\n")
            ok(r.out == "END\n" and r.code == 0 and "No space left" in r.err
               and "lines are missing" in r.err and
               "61 violations" in r.err,
               "S75 a full disk: the run goes on, and what is missing is told",
               r)
            with open(small + "/ev", "rb") as f:
                data = f.read()
            whole = full[:full.rindex(b"\n") + 1].decode().splitlines()
            for x in whole:
                VALID.validate(json.loads(x))
            ok(2 < len(whole) < 62 and data.startswith(full),
               "S75 and what is there is whole but for the last line",
               len(whole), full[-100:])
            later = data[len(full):]
            ok(not full.endswith(b"\n") and later.startswith(b"\n") and
               [json.loads(x)["event"] for x in later[1:].splitlines()] ==
               ["violation", "end"], "S75 when there is room again a line "
               "begins anew", full[-60:], later[:200])
            with open(small + "/ev", "ab") as f:
                f.write(b"{torn")
            data += b"{torn"
            r = attempt(p, "1*/bin/sh", ev=small + "/ev")
            with open(small + "/ev", "rb") as f:
                now = f.read()[len(data):]
            ok(now.startswith(b"\n") and
               [json.loads(x)["event"] for x in now.split(b"\n") if x] ==
               ["start", "violation", "end"],
               "S75 the next run begins a line of its own", now[:200])
            # who fills the disk first is flagged all the same
            for name in os.listdir(small):
                os.unlink(small + "/" + name)
            env = dict(p.env, XDG_STATE_HOME=small)
            with contextlib.suppress(OSError):
                with open(small + "/fill", "wb", buffering=0) as f:
                    while f.write(bytes(4096)):
                        pass
            r = attempt(p, "1*/bin/sh", env=env)
            ok(r.code == 0 and "cannot be kept" in r.err and
               "violated before" not in r.err,
               "S76 a full disk: it is told that no record can be kept", r)
            r = attempt(p, "1*/no/such", env=env)
            ok("profile ev (" in r.err and "violated before" in r.err,
               "S76 but the version is flagged", r)
            r = p.do("violations", env=env)
            ok("no record can be read" in r.out and "no version" not in r.out,
               "S76 and in the list", r)
        finally:
            with root():
                subprocess.run(["umount", "-l", small], check=True)
    # a limit of the caller's for the size of files
    r = p.host("sh", "-c", "ulimit -f 1; exec \"$@\"", "sh", CARREL, "run",
               "-p", "ev", "--events", ev, "--", PY, "-c", TRY,
               *("1*/bin/sh",) * 3 + tuple(
                   "1*" + x for x in ("/bin/ls", "/bin/cat", "/bin/true")))
    ok(r.code == 0 and r.out.startswith(MARK) and "File too large" in r.err,
       "S75 ulimit -f does not end the monitor", r)
    os.unlink(ev)
    # standard error is closed, full, or nobody reads it
    for name, to in (("closed", "2>&-"), ("full", "2>/dev/full"),
                     ("broken", "2> >(exec 0<&-; exec sleep 0)")):
        r = p.host("bash", "-c", "exec \"$@\" " + to, "sh", CARREL, "run",
                   "-p", "ev", "--events", ev, "--", PY, "-c", TRY,
                   "1*/bin/sh")
        ok(r.code == 0 and r.out == MARK + "\n13\n" and
           [x["event"] for x in lines(ev)] == ["start", "violation", "end"],
           "S75 standard error is %s: the file has it all" % name, r)
        os.unlink(ev)
    # the summary comes when the payload is dead, and cannot be faked before
    r = p.do("run", "-p", "ev", "--", PY, "-c", TRY + "\n"
             "sys.stderr.write('carrel: 0 violations\\n')", "1*/bin/sh",
             stderr=subprocess.STDOUT)
    ok(r.out.index("carrel: 0") < r.out.index("carrel: 1 violation"),
       "S75 the summary is the last", r)
    # SIGKILL of the monitor
    proc = p.start("run", "-p", "ev", "--events", ev, "--", PY, "-c", TRY +
                   "\nprint('UP', flush=True)\nimport time; time.sleep(60)",
                   "1*/bin/sh")
    until(lambda: os.path.exists(ev) and b'"violation","t' in open(ev, "rb").read())
    proc.kill()
    proc.wait()
    ok(not gone() and [x["event"] for x in lines(ev)] ==
       ["start", "violation"], "S75 SIGKILL of the monitor: whole lines, no "
       "end, nothing lives", lines(ev))
    r = p.do("run", "-p", "ev", "--", PY, "-V")
    ok("violated before" in r.err, "R065 S76 and the profile is flagged", r)
    os.unlink(ev)


def flood(p):
    """100,000 violations, the same and different ones."""
    profile(p)
    ev = p.top + "/ev.jsonl"
    r = p.do("run", "-p", "ev", "--events", ev, "--", PY, "-c", """if 1:
        import os
        for i in range(100000):
            try: os.execv('/bin/sh', ['sh'])
            except OSError as e: pass
        print('END')""", timeout=120)
    got = lines(ev)
    n = sum(x["count"] for x in of(got, "violation")) + sum(
        x["count"] for x in of(got, "lost"))
    ok(r.code == 0 and r.out == "END\n" and n == 100000 ==
       got[-1]["violations"] and len(got) <= 5,
       "S75 100,000 of the same: all are counted", r, *got[-4:])
    diag("%.1f s for 100,000" % r.secs)
    os.unlink(ev)
    r = p.do("run", "-p", "ev", "--events", ev, "--", PY, "-c", """if 1:
        import os
        for i in range(3000):
            f = '/tmp/%d' % i
            open(f, 'w'); os.chmod(f, 0o755)
        for k in range(3):
            for i in range(3000):
                try: os.execv('/tmp/%d' % i, ['x'])
                except OSError as e: pass
        print('END')""", timeout=120)
    got = lines(ev)
    v, lost = of(got, "violation"), sum(x["count"] for x in of(got, "lost"))
    ok(r.code == 0 and r.out == "END\n" and
       len({x["resource"] for x in v}) == 256 and len(v) <= 512 and
       sum(x["count"] for x in v) + lost == 9000 == got[-1]["violations"] and
       got[-1]["lost"] == lost > 0 and os.path.getsize(ev) < 400000,
       "S75 9,000 of 3,000: 256 are kept, the rest is counted", r, got[-1])
    ok(r.err.count("\n") < 20 and "violations --run" in r.err and
       "no more is known" in r.err, "S75 the summary is bounded", r)
    os.unlink(ev)
    state = p.home + "/.local/state/carrel"
    ok(all(os.path.getsize(x) < 200000 for x in tree(state)
           if os.path.isfile(x)), "S76 and so is the state")


def flags(p):
    """S76: later runs of the same version warn; carrel violations lists."""
    state = p.home + "/.local/state/carrel"
    p.forget()
    path = profile(p)
    was = open(path).read()

    def warned(**kw):
        r = p.do("run", "-p", "ev", "--", PY, "-V", **kw)
        assert r.code == 0, r
        return "violated before" in r.err
    ok(not warned() and not os.path.exists(state),
       "S76 control: no warning and no state without a violation")
    r = p.do("violations")
    ok(r.code == 0 and "no version of a profile" in r.out, "S76 none", r)
    ev = p.top + "/ev.jsonl"
    attempt(p, "3*/bin/sh", ev=ev)
    run = lines(ev)[0]["run"]
    os.unlink(ev)
    ok(warned() and warned(), "S76 each later run warns")
    r = p.do("explain", "-p", "ev", "--", "true")
    ok("violated before" in r.err, "S76 and explain does", r)
    r = p.do("run", "--", "true")
    ok(not r.err, "S76 but not one without the profile", r)
    r = p.do("violations")
    ok(r.code == 0 and all(x in r.out for x in (
        "ev " + digest(path)[:12], run, "/bin/sh", "3 times",
        "still this version")), "S93 violations lists it", r)
    r = p.do("violations", "--json")
    got = json.loads(r.out)
    ok(r.code == 0 and got["flagged"][0]["name"] == "ev" and
       got["flagged"][0]["digest"] == digest(path) and
       got["flagged"][0]["current"] is True and
       got["runs"][0]["run"] == run and got["runs"][0]["violations"] == 3,
       "S93 violations --json", r)
    r = p.do("violations", "--run", run)
    ok(r.code == 0 and "/bin/sh" in r.out and "charged with 3" in r.out,
       "S93 violations --run", r)
    r = p.do("violations", "--run", run, "--json")
    got = json.loads(r.out)
    ok(r.code == 0 and got["events"] == [{
        "surface": "exec", "action": "exec", "resource": "/bin/sh",
        "error": "EACCES", "rule": "interpreter = " + PY, "profile": "ev",
        "line": 6, "count": 3}],
       "S93 violations --run --json", r)
    for bad in (32 * "0", "x", "../" + run, run[:-1], "\x1b[2J"):
        r = p.do("violations", "--run", bad)
        ok(r.code == 1 and "no violations of run" in r.err and
           "\x1b" not in r.err, "S93 a run that is not known: %r" % bad, r)
    # until it changes, by one byte; and back again
    p.write(path, was + "; changed\n")
    ok(not warned(), "S76 another version does not warn")
    ok("changed since" in p.do("violations").out, "S93 and the list says so")
    p.write(path, was)
    ok(warned(), "S76 the old version warns again")
    os.unlink(path)
    p.write(p.layer + "/other.profile", was)
    r = p.do("run", "-p", "other", "--", PY, "-V")
    ok("violated before" in r.err, "S76 its bytes under another name, too", r)
    os.rename(p.layer + "/other.profile", path)
    # elsewhere
    env = dict(p.env, XDG_STATE_HOME=p.top + "/xdg")
    ok(not warned(env=env), "S76 XDG_STATE_HOME has its own")
    attempt(p, "1*/bin/sh", env=env)
    ok(warned(env=env) and os.path.isdir(p.top + "/xdg/carrel/flagged"),
       "S76 and keeps it")
    shutil.rmtree(p.top + "/xdg")
    ok(warned(env=dict(p.env, XDG_STATE_HOME="relative")),
       "S76 a relative one does not count")
    # eight at once
    p.forget()
    procs = [p.start("run", "-p", "ev", "--", PY, "-c", TRY, "1*/bin/sh",
                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
             for i in range(8)]
    for proc in procs:
        proc.wait()
    r = p.do("violations", "--json")
    got = json.loads(r.out)
    ok(r.code == 0 and len(got["runs"]) == 8 and len(got["flagged"]) == 1 and
       not [x for x in tree(state) if ".new" in x],
       "S76 V039 eight runs at once", r)
    # which profiles answer
    p.fs("bystander", "tmpfs = /opt/x")
    p.forget()
    p.do("run", "-p", "ev", "-p", "bystander", "--", PY, "-c", TRY,
         "1*/bin/sh")
    got = json.loads(p.do("violations", "--json").out)
    equal([x["name"] for x in got["flagged"]], ["ev"],
          "S76 a profile without [exec] does not answer for it")
    p.unprofile("bystander")


def replaced(p):
    """V038: the state is taken away, and another one put there, while a run
    is under way."""
    state = p.home + "/.local/state/carrel"
    out = p.top + "/elsewhere"
    profile(p)
    p.write(out + "/canary", "canary\n")

    def other_owner():
        with root():
            os.mkdir(state, 0o755)
    ways = [("gone", lambda: None, True),
            ("an empty one", lambda: os.mkdir(state, 0o700), True),
            ("one for everybody", lambda: (os.mkdir(state),
                                           os.chmod(state, 0o777)), False),
            ("a link elsewhere", lambda: os.symlink(out, state), False),
            ("a link elsewhere within", lambda: (
                os.mkdir(state, 0o700), os.symlink(out, state + "/runs"),
                os.symlink(out, state + "/flagged")), False),
            ("a file", lambda: p.write(state, "x"), False)]
    if IS_ROOT:
        ways.append(("one of another user", other_owner, False))
    for name, make, good in ways:
        p.forget()
        attempt(p, "1*/bin/sh")
        proc = p.start("run", "-p", "ev", "--", PY, "-c",
                       "import os\nprint('%s', flush=True)\n"
                       "def go():\n try: os.execv('/bin/sh', ['sh'])\n"
                       " except OSError as e: print(e.errno, flush=True)\n"
                       "input(); go(); input(); go()" % MARK,
                       stdin=subprocess.PIPE)
        proc.stdout.readline()
        os.rename(state, state + ".away")
        make()
        proc.stdin.write(b"\n")
        proc.stdin.flush()
        r = finish(proc, 20, stdin=b"\n")
        ok(r.code == 0 and r.out == "13\n13\n" and
           ("cannot be kept" in r.err) != good,
           "V038 a run whose state becomes %s goes on" % name, r)
        r = attempt(p, "1*/bin/sh")
        ok(r.code == 0 and ("violated before" in r.err) == good and
           ("cannot be kept" in r.err) != good and
           sorted(os.listdir(out)) == ["canary"],
           "V038 the next one has a fresh one, or says why not: " + name, r)
        if good:
            ok(os.stat(state).st_mode & 0o777 == 0o700 and
               os.stat(state).st_uid == UID, "V038 a private one: " + name)
        with root() if IS_ROOT else contextlib.nullcontext():
            if os.path.islink(state) or os.path.isfile(state):
                os.unlink(state)
            shutil.rmtree(state, ignore_errors=True)
            shutil.rmtree(state + ".away")


def hostile_state(p):
    """V038-V040, R065-R067: no state stops a run, or makes anything err."""
    state = p.home + "/.local/state/carrel"
    path = profile(p)
    d = digest(path)

    def nasty(name, make, warns=False, listed=1):
        if os.path.lexists(state) and (os.path.islink(state) or
                                       not os.path.isdir(state)):
            os.unlink(state)
        p.forget()
        os.makedirs(os.path.dirname(state), exist_ok=True)
        make()
        before = tree(p.top + "/out")
        r = attempt(p, "1*/bin/sh")
        ok(r.code == 0 and r.out == MARK + "\n13\n" and
           ("violated before" in r.err) == warns and
           tree(p.top + "/out") == before, "V039 R066 a run with " + name, r)
        r = p.do("violations")
        ok(r.code == listed and "\x1b" not in r.out + r.err,
           "V039 violations with " + name, r)
        r = p.do("violations", "--json")
        ok(r.code == listed and json.loads(r.out)["v"] == 1,
           "V039 violations --json with " + name, r)

    def two(*make):
        os.mkdir(state, 0o700)
        for sub in ("flagged", "runs"):
            os.mkdir(state + "/" + sub, 0o700)
            for i, x in enumerate(make):
                x(state + "/" + sub + "/" +
                  (d if sub == "flagged" else 32 * str(i)))
    out = p.top + "/out"
    shutil.rmtree(out, ignore_errors=True)
    p.write(out + "/canary", "canary\n")
    nasty("nothing", lambda: None, listed=0)
    nasty("a link in the place of the state", lambda: os.symlink(out, state))
    nasty("a FIFO there", lambda: os.mkfifo(state))
    nasty("a file there", lambda: p.write(state, "x"))
    nasty("a directory for everybody", lambda: (
        os.mkdir(state), os.chmod(state, 0o777)), listed=0)
    nasty("a link to a dead place", lambda: os.symlink("/nonexistent/x",
                                                       state))
    nasty("no right to write", lambda: (os.mkdir(state, 0o700),
                                        os.chmod(state, 0o500)), listed=0)
    os.chmod(state, 0o700)
    nasty("empty files", lambda: two(lambda f: p.write(f, "")), True)
    nasty("torn files", lambda: two(lambda f: p.write(
        f, struct.pack("=HI", 23, 4096) + b"x")), True)
    nasty("text", lambda: two(lambda f: p.write(f, "\x1b[2J\n" * 99)), True)
    nasty("links in the place of files", lambda: two(
        lambda f: os.symlink(out + "/canary", f)), True)
    nasty("links to nothing", lambda: two(
        lambda f: os.symlink(out + "/none", f)), False)
    nasty("FIFOs", lambda: two(os.mkfifo), True)
    nasty("directories", lambda: two(os.mkdir), True)
    nasty("a big file", lambda: two(lambda f: os.truncate(
        p.write(f, "x"), 1 << 30)), True)
    nasty("links in the place of directories", lambda: (
        os.mkdir(state, 0o700), os.symlink(out, state + "/runs"),
        os.symlink(out, state + "/flagged")))
    nasty("many files", lambda: two(*[lambda f: p.write(f, "x")] * 9), True)
    nasty("odd names", lambda: two(lambda f: p.write(f, "x"), lambda f:
                                   p.write(os.path.dirname(f) + "/\x1b[2J",
                                           "x")), True)
    p.forget()
    ok(open(out + "/canary").read() == "canary\n" and
       sorted(os.listdir(out)) == ["canary"],
       "V040 R067 STATE nothing was followed")
    # a payload that can write the home cannot write the state
    attempt(p, "1*/bin/sh")
    p.fs("home", "write = {home}")
    r = p.do("run", "--no-defaults", "-p", "@sys", "-p", "home", "--", "sh",
             "-c", "s=$HOME/.local/state/carrel; echo %s; rm -rf $s; "
             "touch $s/x $s/runs/x; mv $s $s.away; mv $HOME/.local $HOME/l; "
             "ln -s /tmp $s/flagged/x; ls $s/flagged" % MARK)
    ok(r.out == "%s\n%s\n" % (MARK, d) and r.err.count("Read-only") >= 3 and
       "busy" in r.err, "S7 the state is read-only inside", r)
    p.unprofile("home")
    r = p.do("run", "--", "sh", "-c", "echo %s; touch xdg/carrel/x; "
             "mv xdg y" % MARK, env=dict(p.env, XDG_STATE_HOME=p.proj +
                                         "/xdg"))
    ok(r.out == MARK + "\n" and "Read-only" in r.err and "busy" in r.err,
       "S7 nor is that of XDG_STATE_HOME in the target", r)
    shutil.rmtree(p.proj + "/xdg")
    ok(json.loads(p.do("violations", "--json").out)["flagged"][0]["digest"] ==
       d, "S7 and is as it was")


HOSTILE = ["a\nb", "a\rb", "\x1b[2J\x1b]0;x\x07", "\x9b31m", "\x7f", "\u202ex",
           "\u2066y\u2069", "\u200bz", "a  b", "\\x41", "\\", '"', "'",
           '","event":"end","v":1}', "x\n<84>Nov 30 12:00:00 carrel[1]: "
           'event="end"', "%s%n%x", "\u2028", "\ufeff", "\u0301", "=",
           'a" b="c', "..", "...", "\U000e0041"]


def text(p):
    """S92 V045: no event and no screen emits what can deceive."""
    profile(p)
    ev = p.top + "/ev.jsonl"
    raw = [x.encode() for x in HOSTILE] + [b"\xff\xfe", b"\xc3", b"\x80\x9b",
                                          b"\xed\xa0\x80"]
    r = p.do("run", "-p", "ev", "--events", ev, "--", PY, "-c", """if 1:
        import os, sys
        for x in sys.argv[1:]:
            f = b'/tmp/' + os.fsencode(x).replace(b'/', b'_')
            open(f + b'.', 'w'); os.chmod(f + b'.', 0o755)
            try: os.execv(f + b'.', [x])
            except OSError as e: pass
        print('END')""", *map(os.fsdecode, raw))
    with open(ev, "rb") as f:
        data = f.read()
    got = lines(ev)
    want = [b"/tmp/" + x.replace(b"/", b"_") + b"." for x in raw]
    equal([unescape(x["resource"]) for x in of(got, "violation")], want,
          "V045 each path is one line, and can be recovered", r)
    equal([unescape(x) for x in got[0]["command"][3:]], raw,
          "V045 each word of the command, too")
    ok(len(data.splitlines()) == len(data.split(b"\n")) - 1 == len(raw) + 2,
       "V045 no line more")

    def safe(name, out):
        bad = [c for c in out if ord(c) < 32 and c != "\n" or
               0x7f <= ord(c) < 0xa0 or c in "\u202e\u2066\u2069\u200b\u2028"
               "\ufeff\U000e0041\ufffd"]
        ok(not bad, "S92 " + name, bad, out[:300])
    safe("events", data.decode())
    safe("the summary", r.err)
    run = got[0]["run"]
    for argv in (["violations"], ["violations", "--json"],
                 ["violations", "--run", run],
                 ["violations", "--run", run, "--json"]):
        r = p.do(*argv)
        safe(" ".join(argv[:1] + argv[-1:]), r.out + r.err)
    got = json.loads(p.do("violations", "--run", run, "--json").out)
    equal([unescape(x["resource"]) for x in got["events"]], want,
          "S93 and the state has the same bytes")
    os.unlink(ev)
    # long ones are cut
    r = p.do("run", "-p", "ev", "--events", ev, "--", PY, "-c", "pass",
             "x" * 100000, *["y"] * 200)
    got = lines(ev)
    ok(got[0]["words"] == 204 and len(got[0]["command"]) == 64 and
       len(got[0]["command"][3]) < 300, "V045 a long command is cut", got[0])
    os.unlink(ev)


with Place() as p:
    file_of(p)
    rules(p)
    codes(p)
    burst(p)
    attacks(p)
    trouble(p)
    flood(p)
    flags(p)
    replaced(p)
    hostile_state(p)
    text(p)
    ok(not gone(), "S64 nothing is left", sandboxed())
done()
