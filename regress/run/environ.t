#!/usr/bin/python3
"""The payload's environment and what pid 1 shows (S40, S47, S48)."""
import os
from tap import *

DUMP = ("import os, sys\n"
        "sys.stdout.buffer.write(open('/proc/self/environ', 'rb').read())")


def inside(p, *options, **kw):
    r = p.do("run", *options, "--", "python3", "-c", DUMP, **kw)
    ok(r.code == 0, "the payload ran", r) if r.code else None
    return dict(x.split("=", 1) for x in r.out.split("\0") if x)


def neighbours(p, env):
    """S40: what shares a namespace with the payload has no environment and
    no arguments, as root sees it from outside."""
    def namespaces(pid):
        found = set()
        for n in ("user", "mnt", "pid", "ipc", "uts", "net", "cgroup"):
            with contextlib.suppress(OSError):
                found.add(os.readlink("/proc/%s/ns/%s" % (pid, n)))
        return found

    proc = p.start("run", "--", "sh", "-c", "sleep 30 & echo %s; wait" % MARK,
                   env=env)
    proc.stdout.readline()
    seen, bad, own = 0, [], 0
    with root():
        here = namespaces("self")
        pids = [x for x in sandboxed() if depth(status_of(x)) >
                depth(status_of("self"))]
        inside = set().union(*(namespaces(x) for x in pids)) - here
        for pid in filter(str.isdigit, os.listdir("/proc")):
            if not namespaces(pid) & inside:
                continue
            seen += 1
            try:
                text = [open("/proc/%s/%s" % (pid, f), "rb").read()
                        for f in ("environ", "cmdline")]
            except OSError:
                continue
            if b"CARREL_RUN=" in text[0]:   # the payload and its child
                own += b"canary-value" not in text[0]
            elif text[0].strip(b"\0") or text[1].strip(b"\0"):
                bad.append((pid, status_of(pid).get("Name"), text))
    proc.kill()
    finish(proc)
    ok(len(inside) >= (6 if HOSTED else 7) and own == 2 and seen > own and not bad,
       "S40 R021 who shares a namespace with the payload has no environment",
       inside, seen, own, bad)


OWNED = {"HOME", "SHELL", "USER", "LOGNAME", "TMPDIR", "PS1", "PATH", "TERM",
         "LANG", "CARREL", "CARREL_PROFILES", "CARREL_TARGET", "CARREL_RUN",
         # these are @home's
         "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME",
         "XDG_DATA_HOME"}

with Place() as p:
    env = inside(p)
    equal(set(env), OWNED, "S47 exactly carrel's own names and @home's")
    equal(set(inside(p, "--no-defaults", "-p", "@sys", "-p", "@target")),
          {n for n in OWNED if not n.startswith("XDG_")},
          "S47 without @home exactly carrel's own")
    want = {"HOME": p.home, "SHELL": "/bin/bash", "USER": USER,
            "LOGNAME": USER, "TMPDIR": "/tmp", "TERM": "xterm",
            "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin:/usr/sbin:/sbin",
            "CARREL_TARGET": p.proj}
    if not IS_ROOT:
        want["SHELL"] = PW.pw_shell
    equal({k: env.get(k) for k in want}, want, "S47 and their values")
    ok(all(x in env.get("CARREL_PROFILES", "") for x in
           ("@sys", "@home", "@target")), "S47 CARREL_PROFILES", env)
    ok(re.fullmatch("[0-9a-f]{32}", env.get("CARREL_RUN", "")),
       "S47 CARREL_RUN is 128 bits", env)
    ok(inside(p).get("CARREL_RUN") != env.get("CARREL_RUN"),
       "S47 and another one each time")
    ok(env.get("PS1") and "\x1b" not in env["PS1"], "S56 PS1 is carrel's",
       env)

    # R020: nothing of the caller's
    dirty = dict(p.env, SECRET_TOKEN="s3cr3t", SSH_AUTH_SOCK="/tmp/agent",
                 DBUS_SESSION_BUS_ADDRESS="unix:path=/x", LD_PRELOAD="",
                 XDG_RUNTIME_DIR="/run/user/1", PS1="evil", CARREL="evil",
                 BASH_ENV="/tmp/x", PYTHONPATH="/tmp", CARREL_RUN="evil",
                 TMPDIR="/var/tmp", SHELL="/tmp/sh", USER="root",
                 LOGNAME="root", IFS="x", ENV="/x", LC_ALL="xx")
    dirty.update({"R%03d" % i: "random%d" % i for i in range(500)})
    got = inside(p, env=dirty)
    equal(set(got), OWNED, "R020 nothing of the caller's is inside")
    same = {k: v for k, v in got.items() if k != "CARREL_RUN"}
    equal(same, {k: v for k, v in env.items() if k != "CARREL_RUN"},
          "R020 and nothing of it has an effect")
    r = p.host("env", env=dirty)
    ok("s3cr3t" in r.out, "R020 control: outside they are there")

    # TERM, LANG, TZ by a strict grammar
    for name, value, want in (
            ("TERM", "screen-256color", "screen-256color"),
            ("TERM", "x/../y", "dumb"), ("TERM", "", "dumb"),
            ("TERM", "a" * 65, "dumb"), ("TERM", "\x1b[2J", "dumb"),
            ("TERM", "a b", "dumb"), ("TERM", None, "dumb"),
            ("LANG", "de_DE.UTF-8", "de_DE.UTF-8"), ("LANG", "../x",
                                                     "C.UTF-8"),
            ("LANG", "a\nb", "C.UTF-8"), ("LANG", None, "C.UTF-8"),
            ("TZ", "Europe/Vienna", "Europe/Vienna"),
            ("TZ", "/etc/x", None), ("TZ", ":/tmp/x", None),
            ("TZ", "../../x", None), ("TZ", None, None), ("TZ", "", None),
            ("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", "CET-1CEST,M3.5.0,M10.5.0/3"
             )):
        e = {k: v for k, v in p.env.items() if k != name}
        if value is not None:
            e[name] = value
        equal(inside(p, env=e).get(name), want,
              "S47 B031 %s=%r" % (name, value and value[:20]))

    # R021: pid 1
    secret = dict(p.env, CANARY="canary-value")
    script = """
import os
n = 0
for pid in os.listdir("/proc"):
    if not pid.isdigit(): continue
    for f in ("environ", "cmdline"):
        try:
            d = open("/proc/%s/%s" % (pid, f), "rb").read()
        except OSError as e:
            print(pid, f, e.errno); continue
        n += 1
        if b"canary-" + b"value" in d or (pid == "1" and d.strip(b"\\0")):
            print("LEAK", pid, f, d[:200])
print("READ", n)
"""
    r = p.run("python3", "-c", script, env=secret)
    ok(r.code == 0 and "LEAK" not in r.out and
       int(r.out.split()[-1]) >= 2, "R021 pid 1 shows nothing", r)
    r = p.run("python3", "-c", script, "--hidden-word", env=secret,
              cwd=p.proj)
    ok("LEAK" not in r.out, "R021 nor the host's command line", r)
    r = p.sh("cat /proc/1/environ /proc/1/cmdline 2>/dev/null | tr -d '\\0' "
             "| wc -c")
    equal(r.out, "0\n", "R021 not a byte")
    proc = p.start("run", "--", "sh", "-c", "echo %s; sleep 5" % MARK,
                   env=secret)
    proc.stdout.readline()
    mine = [x for x in sandboxed() if status_of(x).get("Name") == "carrel"]
    leak = []
    for pid in mine:
        if pid == proc.pid:
            continue
        for f in ("environ", "cmdline", "mem", "maps", "root", "cwd"):
            r = p.host("cat" if f not in ("root", "cwd") else "ls",
                       "/proc/%d/%s" % (pid, f))
            if "canary-value" in r.out or (r.code == 0 and f == "mem"):
                leak.append((pid, f, r.out[:100]))
    proc.kill()
    finish(proc)
    ok(mine and not leak, "R021 seen from outside as the same user", leak)

    if IS_ROOT:
        neighbours(p, secret)
    # S40: every program of carrel's starts with nothing
    log = p.top + "/strace"
    for argv in (("run", "--", "true"), ("explain", "--", "true")):
        r = p.strace(log, ["-e", "trace=execve,execveat"], CARREL, *argv,
                     env=secret)
        n = dict((os.path.basename(f), int(k)) for f, k in re.findall(
            r'execve(?:at)?\((?:\S+, )?"([^"]+)".*/\* (\d+) vars? \*/',
            open(log).read()))
        mine = {f: k for f, k in n.items() if f.startswith("carrel-")}
        ok(r.code == 0 and n.get("carrel", 0) > 5 and mine and
           not any(mine.values()),
           "S40 carrel %s: its helpers have no environment" % argv[0], n, r)

    # V022, V023: carrel reads nothing that the environment names
    trap = p.write(p.top + "/trap/lib.so", "x")
    evil = {n: trap for n in
            ("LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "GCONV_PATH",
             "LOCPATH", "NLSPATH", "HOSTALIASES", "TZDIR", "MALLOC_TRACE",
             "RESOLV_HOST_CONF", "GETCONF_DIR", "LD_ORIGIN_PATH",
             "XDG_DATA_DIRS", "BASH_ENV", "ENV", "PYTHONPATH")}
    evil.update(p.env, LD_DEBUG="all", GLIBC_TUNABLES="glibc.malloc.check=3",
                LD_DEBUG_OUTPUT=p.top + "/trap/debug", TZ=":" + trap,
                TMPDIR=p.top + "/trap", LOCALDOMAIN="x", RES_OPTIONS="debug")
    log = p.top + "/strace"
    r = p.strace(log, ["-e", "trace=execve,execveat"], CARREL, "run", "--",
                 "true")
    seen = open(log).read()
    names = [os.path.basename(x) for x in
             re.findall(r'execve(?:at)?\((?:\S+, )?"([^"]+)"', seen)]
    ok(r.code == 0 and names[:1] == ["carrel"] and
       set(names) - {"true"} == {"carrel", "carrel-parse"} and
       ("true" in names or not IS_ROOT),
       "V020 carrel executes its parser and the payload, nothing else",
       names, r)
    r = p.strace(log, [x for k, v in evil.items() if k != "HOME"
                       for x in ("-E", k + "=" + v)] +
                 ["-e", "trace=%file", "-s", "300"], CARREL, "run", "--",
                 "/bin/true")
    seen = open(log).read()
    ok(r.code == 0 and "carrel-parse" in seen and "/etc/passwd" in seen,
       "V022 control: strace sees what is opened", r, seen[:800])
    hits = [x for x in seen.splitlines() if "trap" in x and
            'execve("%s"' % CARREL not in x]
    ok(not hits, "V022 no file is opened that the environment names",
       *hits[:5])
    equal(sorted(os.listdir(p.top + "/trap")), ["lib.so"],
          "V022 and none is written")
    p.run("true", env=dict(p.env, BIG="x" * 120000))
    e = {"K%d" % i: "v" * 100 for i in range(5000)}
    e.update(p.env)
    equal(set(inside(p, env=e)), OWNED, "V022 5,000 variables")
    # entries that no shell makes
    odd = ("import os, ctypes\n"
           "L = ctypes.CDLL(None)\n"
           "E = [b'x=/tmp/evil', b'novalue', b'=', b'=x', b'HOME=%s', "
           "b'HOME=/second', b'', b'PATH=/usr/bin:/bin', b'A=1', b'A=2']\n"
           "e = (ctypes.c_char_p * (len(E) + 1))(*E, None)\n"
           "A = [b'carrel', b'run', b'--', b'/usr/bin/env']\n"
           "a = (ctypes.c_char_p * (len(A) + 1))(*A, None)\n"
           "L.execve(b'%s', a, e)\n" % (p.home, CARREL))
    r = p.host("python3", "-c", odd)
    ok(r.code == 0 and "HOME=%s\n" % p.home in r.out and "evil" not in r.out
       and "novalue" not in r.out and "A=" not in r.out.replace("=A", ""),
       "V018 V022 odd and double entries: the first HOME counts", r)
    # B025: no row in the database
    if IS_ROOT:
        with root():
            d = tempfile.mkdtemp(prefix="uid.", dir=BASE)
            os.chown(d, 54321, 54321)
            r = finish(subprocess.Popen(
                ["setpriv", "--reuid", "54321", "--regid", "54321",
                 "--clear-groups", "env", "-i", "HOME=" + d,
                 "PATH=/usr/bin:/bin", CARREL, "run", "--", "sh", "-c",
                 'whoami; id -u; echo "$HOME $USER $SHELL"'], stdin=-3,
                stdout=-1, stderr=-1, cwd=d))
            r2 = finish(subprocess.Popen(
                ["setpriv", "--reuid", "54321", "--regid", "54321",
                 "--clear-groups", "env", "-i", "PATH=/usr/bin:/bin", CARREL,
                 "run", "--", "sh", "-c", 'whoami; echo "$HOME"'], stdin=-3,
                stdout=-1, stderr=-1, cwd="/usr"))
            shutil.rmtree(d)
        ok(r.code == 0 and r.out.split()[1:2] == ["54321"] and d in r.out and
           "Success" not in r.err, "B025 a uid without a name", r)
        ok(r2.code in (0, OWN) and "Success" not in r2.err and
           (r2.code or re.search(r"\n/home/\S+\n", r2.out)),
           "B025 and without HOME", r2)
        # what passwd(5) calls the home may end in a slash
        with root():
            r = finish(subprocess.Popen(
                ["unshare", "-m", "--propagation", "private", "sh", "-ec",
                 "mount -t tmpfs none /mnt\n"
                 "printf '%s:x:%d:%d::%s/:/bin/sh\\n' > /mnt/p\n"
                 "chmod 755 /mnt; chmod 644 /mnt/p\n"
                 "mount --bind /mnt/p /etc/passwd\n"
                 'exec setpriv --reuid %d --regid %d --clear-groups env -i '
                 'PATH=/usr/bin:/bin "$@"' % (USER, UID, GID, p.home, UID,
                                              GID),
                 "sh", CARREL, "run", "--", "sh", "-c", 'echo "$HOME"'],
                stdin=-3, stdout=-1, stderr=-1, cwd=p.proj))
        ok(r.code == 0 and r.out == p.home + "\n",
           "B025 the database's home without the slash at its end", r)
done()
