#!/usr/bin/python3
"""The state that carrel is started in (S62, S65; LDENV, ARGV, NOTTY)."""
import os
import resource
import itertools
from tap import *

with Place() as p, Place() as q:
    # V024: closed descriptors
    for n in range(1, 4):
        for subset in itertools.combinations((0, 1, 2), n):
            def shut(subset=subset):
                for fd in subset:
                    os.close(fd)
            r = p.sh("echo out; echo err >&2; touch ran; ls -l /proc/self/fd"
                     " > fds", preexec_fn=shut)
            fds = open(p.proj + "/fds").read() if os.path.exists(
                p.proj + "/fds") else ""
            ok(os.path.exists(p.proj + "/ran") and all(
                ("%d -> /dev/null" % fd) in fds for fd in subset if fd != 1),
               "V024 descriptors %r closed: /dev/null" % (subset,), r, fds)
            for f in ("ran", "fds"):
                os.path.exists(p.proj + "/" + f) and os.unlink(
                    p.proj + "/" + f)
            # a refusal is not written into somebody's file
            before = tree(p.top)
            r = p.do("run", "-p", "nosuch", "--", "touch", "ran",
                     preexec_fn=shut)
            ok(r.code == OWN and tree(p.top) == before,
               "V024 %r closed and a refusal: no file is written" % (subset,),
               r)

    # V024: limits
    for name, value in (("FSIZE", 0), ("NOFILE", 4), ("NOFILE", 10),
                        ("NPROC", 1), ("STACK", 65536), ("AS", 1 << 22),
                        ("DATA", 1 << 16), ("MEMLOCK", 0), ("CPU", 5),
                        ("SIGPENDING", 0), ("MSGQUEUE", 0)):
        def limit(name=name, value=value):
            resource.setrlimit(getattr(resource, "RLIMIT_" + name),
                               (value, value))
        before = tree(p.top)
        r = p.do("run", "--", "/bin/true", preexec_fn=limit, timeout=30)
        ok((r.code in (0, OWN, NOTEXEC, NOTFOUND) or r.code >= 128) and
           r.code != "timeout" and tree(p.top) == before and
           (r.code == 0 or r.err or r.code >= 128) and not gone(2),
           "V024 RLIMIT_%s=%d: runs or says why" % (name, value), r)
    # hard limits below what the reader of profiles would give itself
    for name, enough, little, how in (
            ("AS", 64 << 20, 8 << 20, "ulimit -v"),
            ("NOFILE", 12, 8, ""), ("CPU", 4, 0, "")):
        def limit(value):
            return lambda: resource.setrlimit(
                getattr(resource, "RLIMIT_" + name), (value, value))
        r = p.do("explain", "--", "true", preexec_fn=limit(enough))
        ok(r.code == 0, "V024 hard %s of %d is enough" % (name, enough), r)
        r = p.do("explain", "--", "true", preexec_fn=limit(little))
        ok(r.code >= OWN and how in r.err,
           "V024 hard %s of %d is not" % (name, little), r)
    for soft, hard in ((100, 200), (64, 64)):
        r = p.sh("ulimit -Sn; ulimit -Hn", preexec_fn=lambda: resource.
                 setrlimit(resource.RLIMIT_NOFILE, (soft, hard)))
        equal(r.out, "%d\n%d\n" % (soft, hard),
              "S65 open files as the caller's", r)
    r = p.sh("ulimit -Sc; ulimit -Hc; grep -i core /proc/self/limits",
             preexec_fn=lambda: resource.setrlimit(
                 resource.RLIMIT_CORE, resource.getrlimit(
                     resource.RLIMIT_CORE)))
    ok(re.search(r"core file size +1 +1 +bytes", r.out),
       "S65 core size is 1 byte, soft and hard", r)
    for mask in (0, 0o27, 0o77):
        r = p.sh("umask; touch u; mkdir ud; stat -c %a u ud; rmdir ud; rm u",
                 preexec_fn=lambda m=mask: os.umask(m))
        equal(r.out, "%04o\n%o\n%o\n" % (mask, 0o666 & ~mask, 0o777 & ~mask),
              "S65 umask %o is the caller's" % mask, r)
    r = p.sh("find / -path /proc -prune -o -perm -002 ! -perm -1000 ! -type l "
             "! -path '/dev/*' -print 2>/dev/null",
             preexec_fn=lambda: os.umask(0))
    equal(r.out, "", "V024 umask 0: nothing of carrel's is writable by all")

    # signals
    def blocked():
        signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64))
        for s in (signal.SIGCHLD, signal.SIGUSR1, signal.SIGALRM,
                  signal.SIGPIPE, signal.SIGTERM):
            signal.signal(s, signal.SIG_IGN)
    r = p.sh("grep -E '^Sig(Blk|Ign|Pnd)' /proc/self/status; "
             "sh -c 'exit 3'; echo $?; kill -TERM $$; echo lived",
             preexec_fn=blocked, restore_signals=False)
    ok(r.code == 143 and "lived" not in r.out and "\n3\n" in r.out and
       re.search(r"SigBlk:\s0+\n", r.out),
       "V024 S65 every signal blocked and ignored before: normal inside", r)
    def pending():
        signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64))
        for s in (signal.SIGTERM, signal.SIGALRM, signal.SIGUSR1,
                  signal.SIGINT):
            os.kill(os.getpid(), s)
    r = p.do("run", "--", "echo", MARK, preexec_fn=pending)
    ok(r.code == 0 and r.out == MARK + "\n",
       "S65 pending signals are discarded", r)
    def timer():
        signal.setitimer(signal.ITIMER_REAL, 0.3, 0.1)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.01, 0.01)
        signal.setitimer(signal.ITIMER_PROF, 0.01, 0.01)
    r = p.sh("sleep 1; for i in 1 2 3 4 5 6 7 8 9; do :; done; echo " + MARK,
             preexec_fn=timer)
    ok(r.code == 0 and r.out == MARK + "\n",
       "V024 S65 interval timers are cleared", r)
    r = p.host("setarch", "-R", "-L", CARREL, "run", "--", "sh", "-c",
               "cat /proc/self/personality")
    ok(r.code == 0 and r.out.strip() == "00000000" or
       "Permission denied" in r.err, "S65 personality is reset", r)
    r = p.sh("cat /proc/self/timerslack_ns")
    r2 = p.host("python3", "-c", "import ctypes, os, sys; ctypes.CDLL(None)."
                "prctl(29, 999999999); os.execv(sys.argv[1], sys.argv[1:])",
                CARREL, "run", "--", "cat", "/proc/self/timerslack_ns")
    ok(r2.out == r.out and "999999999" not in r2.out,
       "S65 timer slack is reset", r2)

    # V018, V019: argv[0]
    arg = HELPERS + "/argv0"
    for mode in ("none", "empty", "empties"):
        r = p.host(arg, mode, CARREL, env={"x": "/tmp/evil"})
        ok(r.code == OWN and r.out == "" and "evil" not in r.err and
           r.err.startswith("carrel: "), "V018 argv: %s" % mode, r)
    for name in ("carrel", "-carrel", "carreledit", "-", "--", "A" * 65536,
                 "a/b/c", "carrel run", "\x1b[2J", "x) S 1 1 1 34823 ",
                 "a\nb", "carrel-sh"):
        r = p.host(arg, "name=" + name, CARREL, "run", "--", "echo", MARK)
        ok(r.code in (0, OWN) and (r.code == 0) == (MARK in r.out) and
           "\x1b" not in r.err, "V019 V037 argv[0] %r" % name[:20], r)
        if name in ("carrel", "carreledit", "A" * 65536, "a/b/c"):
            ok(r.code == 0, "V019 and nothing depends on it: %r" % name[:20],
               r)
    for name in ("carrel", "-carrel", "carreledit", "-"):
        r = p.host(arg, "name=" + name, CARREL, "run", "-p", "a\\", "--",
                   "echo", MARK + "\\")
        ok(r.code == OWN and MARK not in r.out,
           "V019 arguments that end in a backslash, %r" % name, r)

    # working directory odd
    r = p.host("sh", "-c", "mkdir gone && cd gone && rmdir ../gone && "
               "exec %s run --no-defaults -p @sys -- pwd" % CARREL)
    ok(r.code == 0 and r.out == "/\n", "V009 a deleted working directory", r)
    os.makedirs(p.proj + "/dark/in")
    os.chmod(p.proj + "/dark", 0)
    r = finish(p.start("run", "--", "pwd", cwd=p.proj))
    ok(r.code == 0, "a shut directory in the target", r)
    os.chmod(p.proj + "/dark", 0o755)
    deep = p.proj
    for i in range(30):
        deep += "/" + "d" * 120
    os.makedirs(deep)
    r = p.host("sh", "-c", "cd %s && exec %s run -- sh -c 'echo %s; pwd'" %
               (deep, CARREL, MARK))
    ok(r.code in (0, OWN) and (r.code == OWN) == (MARK not in r.out),
       "a target of 3,600 bytes", r)

    # B040: a bare environment
    r = p.run("sh", "-c", 'echo "$HOME $USER $SHELL"', env={})
    ok(r.code == 0 and r.err == "" and USER in r.out,
       "B040 an empty environment", r)

    # B026: root
    if IS_ROOT:
        with root():
            d = tempfile.mkdtemp(prefix="carrel-root.", dir="/tmp")
            r = finish(subprocess.Popen(
                [CARREL, "run", "--", "sh", "-c", "id -u; grep CapEff "
                 "/proc/self/status; cat /etc/shadow; touch /usr/x; "
                 "touch here; chown 1:1 here; echo %s" % MARK], cwd=d,
                env=p.env, stdin=-3, stdout=-1, stderr=-1))
            shutil.rmtree(d)
        ok((r.code == 0 and MARK in r.out and "0000000000000000" in r.out and
            "root:" not in r.out and not os.path.exists("/usr/x")) or
           r.code == OWN, "B026 started as root: no power inside", r)

    # V003: inheritable capabilities
    if IS_ROOT:
        with root():
            r = finish(subprocess.Popen(
                ["setpriv", "--reuid", str(UID), "--regid", str(GID),
                 "--init-groups", "--inh-caps", "+net_raw", "env", "-i",
                 "HOME=" + p.home, "PATH=/usr/bin:/bin", CARREL, "run", "--",
                 "grep", "^Cap", "/proc/self/status"], cwd=p.proj, stdin=-3,
                stdout=-1, stderr=-1))
        ok(r.code == 0 and re.findall(r"\t(\w+)", r.out) == ["0" * 16] * 5,
           "V003 an inheritable capability is not passed on", r)

    # B013: carrel inside carrel
    r = p.do("run", "--", CARREL, "run", "--", "echo", MARK)
    ok(r.code != 0 and MARK not in r.out, "B013 not in the view: not run", r)
    q.fs("self", "read = " + INST)
    q.env["PATH"] = p.env["PATH"]
    r = q.do("run", "-p", "self", "--", CARREL, "run", "--", "echo", MARK)
    ok(r.code == OWN and MARK not in r.out and "carrel: " in r.err,
       "B013 carrel inside carrel: refused with a reason", r)
    r = q.do("run", "-p", "self", "--", CARREL, "--version")
    ok(r.code == 0, "B013 control: it starts inside", r)
    r = q.do("run", "-p", "self", "--", CARREL, "doctor")
    said = re.sub(r"\n {4}", " ", r.out)
    ok(r.code == 1 and "also carrel's own, nothing can be started" in said and
       "[limits]" not in said and "sysctl -w user" not in said,
       "B013 S95 doctor inside carrel: why, and no advice that is none", r)
    if IS_ROOT:
        with root():
            r = finish(subprocess.Popen(
                ["unshare", "-U", "--", CARREL, "run", "--", "echo", MARK],
                cwd=p.proj, env=p.env, stdin=-3, stdout=-1, stderr=-1))
        ok(r.code in (0, OWN) and (r.code == 0) == (MARK in r.out),
           "B013 in a namespace without a map", r)
    r = p.host("unshare", "-Ur", "--", CARREL, "run", "--", "sh", "-c",
               "id -u; grep CapEff /proc/self/status")
    ok(r.code == 0 and "0000000000000000" in r.out or r.code == OWN,
       "B013 in a namespace with one id", r)

    # V027, R074: a host that cannot. In the user namespaces of these tests
    # nobody is the root that hosted mode's ceiling has to belong to.
    if IS_ROOT and not HOSTED:
        for ns in ("user", "net", "mnt", "pid"):
            f = "/proc/sys/user/max_%s_namespaces" % ns
            script = ("echo 0 > %s; exec setpriv --reuid 0 %s run -- echo %s"
                      % (f, CARREL, MARK))
            # in a user namespace of its own the limit is its own
            r = p.host("unshare", "-Ur", "sh", "-c", script)
            ok(r.code == OWN and MARK not in r.out and
               "max_%s_namespaces" % ns in r.err,
               "V027 R074 max_%s_namespaces=0: refused and named" % ns, r)
            r = p.host("unshare", "-Ur", "sh", "-c",
                       script.replace("run -- echo " + MARK, "doctor"))
            ok(r.code != 0 and "max_%s_namespaces" % ns in r.out + r.err,
               "R074 doctor says so: %s" % ns, r)
    r = p.do("doctor")
    ok(r.code == 0 and p.run("true").code == 0,
       "R074 doctor says yes, and a run works", r)
    # B012: a /proc with something mounted over a part of it
    r = p.host("unshare", "-Urm", "sh", "-c",
               "mount --bind /dev/null /proc/uptime && exec %s run -- echo %s"
               % (CARREL, MARK))
    ok(r.code == OWN and MARK not in r.out and
       (HOSTED or "proc" in r.err), "B012 a masked "
       "/proc: refused with the reason", r)
done()
