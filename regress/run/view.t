#!/usr/bin/python3
"""What is visible inside, and how (S1, S30-S39, S62)."""
import contextlib
import os
import socket
import stat
from tap import *

with Place() as p, Place() as q:
    # S1: nothing is granted
    p.write("tool/hello", "", 0o755)
    with open(HELPERS + "/argv0", "rb") as f:
        p.write("tool/hello", f.read(), 0o755)
    p.fs("one", "read = %s/tool" % p.proj)
    r = p.do("run", "--no-defaults", "-p", "one", "--", p.proj + "/tool/hello")
    ok(r.code == 2 and "usage: argv0" in r.err,
       "S1 one static program and nothing else runs", r)
    r = p.do("run", "--no-defaults", "-p", "one", "--", "/bin/sh")
    ok(r.code == NOTFOUND, "S1 not even a shell without @sys", r)

    # R001: where nothing is granted nothing can be written
    dirs = ["/", "/home", "/usr", "/usr/bin", "/etc", "/var", "/proc", "/sys",
            "/opt", "/run", "/run/carrel", "/dev/pts", "/srv", "/root",
            "/proc/sys/kernel", p.top]
    r = p.sh("".join("touch %s/PROBE 2>&1; " % d for d in dirs) + "echo RAN")
    bad = [x for x in r.out.splitlines()[:-1]
           if not re.search("Read-only|No such file|Permission denied", x)]
    ok(r.code == 0 and r.out.endswith("RAN\n") and not bad and
       len(r.out.splitlines()) == len(dirs) + 1,
       "R001 nothing is writable in %d places" % len(dirs), bad, r)
    r = p.sh("for d in / /usr /etc; do touch $d/PROBE; done; true")
    ok(r.err.count("Read-only file system") == 3,
       "S34 a write to what may be read is EROFS", r)

    # R002
    p.prints("R002 /tmp is private and writable",
             "touch /tmp/PROBE /dev/shm/PROBE && ls /tmp",
             "PROBE\n")
    ok(not os.path.exists("/tmp/PROBE") and
       not os.path.exists("/dev/shm/PROBE"), "R002 nothing on the host")
    r = p.sh("ls -A /tmp /dev/shm; echo x > /dev/PROBE; ls /dev/PROBE")
    ok("PROBE" not in r.out, "R002 nothing in a second run", r)
    ok(not os.path.exists("/dev/PROBE"), "R002 nothing in the host's /dev")

    # R003, R004
    canary = p.write(p.top + "/CANARY", "secret\n")
    for f in (".ssh/id", ".gnupg/x", ".aws/credentials", ".netrc",
              "beside/CANARY", ".bashrc"):
        p.write(p.home + "/" + f, "secret\n")
    p.write("granted", "fine\n")
    for f in ("/CANARY", "/home/.ssh", "/home/.ssh/id", "/home/.gnupg",
              "/home/.aws/credentials", "/home/.netrc", "/home/beside",
              "/home/beside/CANARY", "/home/.bashrc", "/home/.config"):
        r = p.sh("cat %s; stat %s; cat granted" % ((p.top + f,) * 2))
        ok(r.out == "fine\n" and r.err.count("No such file") == 2,
           "R003 %s is not there" % f, r)
    r = p.sh("ls -A ~; ls /home /root 2>&1; ls -d /home/*")
    ok(USER in r.out or not IS_ROOT, "S24 the way to the target is there", r)
    if IS_ROOT:
        others = [x.pw_name for x in pwd.getpwall()
                  if x.pw_dir.startswith("/home/") and x.pw_name != USER]
        ok(not [o for o in others if o in r.out.split()],
           "R003 no other home is there", r)
    p.write("deep/er/x", "")
    p.fs("up", "read = %s/deep" % p.proj)
    r = p.do("run", "--no-defaults", "-p", "@sys", "-p", "up", "-C",
             p.proj + "/deep/er", "--", "sh", "-c",
             "ls %s/deep; ls -A %s; cat %s; cat ../../../../../CANARY; "
             "cat ../../CANARY" % (p.proj, p.proj, canary))
    ok("er\n" in r.out and "deep\n" in r.out and "secret" not in r.out and
       "granted" not in r.out and r.err.count("No such file") == 3,
       "R004 a grant gives the way to it and nothing beside", r)

    # V008, V009, R056, S62: descriptors, working directory
    r = p.run("python3", "-c", "import os; print(sorted(int(x) for x in "
              "os.listdir('/proc/self/fd')))")
    ok(r.out == "[0, 1, 2, 3]\n", "V008 exactly 0, 1, 2 (and the lister's)",
       r)
    fds = [os.open(p.home, os.O_RDONLY), os.open("/", os.O_PATH),
           os.open("/etc/passwd", os.O_RDONLY)]
    r = p.run("python3", "-c", "import os; print(sorted(int(x) for x in "
              "os.listdir('/proc/self/fd')))", pass_fds=fds)
    ok(r.out == "[0, 1, 2, 3]\n", "V008 leaked descriptors are closed", r)

    def leak():
        for n in (3, 63, 255, 700, 1000):
            os.dup2(fds[0], n, inheritable=True)
        resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))
    r = p.run("python3", "-c", "import os; print(sorted(int(x) for x in "
              "os.listdir('/proc/self/fd')))", preexec_fn=leak,
              close_fds=False)
    ok(r.out == "[0, 1, 2, 3]\n",
       "V008 also those above a lowered limit", r)
    bad = []
    for n in list(range(3, 20)) + [fds[0], 63, 255, 1023]:
        r = p.do("run", "-C", "/proc/self/fd/%d" % n, "--", "echo", MARK,
                 pass_fds=fds)
        if r.code != OWN or MARK in r.out or "/proc" not in r.err:
            bad.append((n, str(r)))
    ok(not bad, "V008 a target below /proc/self/fd is refused", bad)
    for d in ("/proc", "/proc/1/root", "/proc/self/cwd", "/sys", "/dev",
              "/dev/shm"):
        p.refused("V008 target %s is refused" % d, "-C", d)
    p.runs("V008 control: an ordinary directory", "-C", p.proj)
    r = p.sh("pwd; ls", cwd="/proc/self")
    ok(p.home not in r.out and r.code in (0, OWN) and
       not re.search(r"^/proc/\d", r.out),
       "V008 started with /proc/self as working directory", r)
    escape = ("import os\n"
              "for path in ('../../../../../../etc/shadow', '../../CANARY',"
              " '../../../CANARY'):\n"
              "    try: print(os.open(path, os.O_RDONLY))\n"
              "    except OSError as e: print(e.errno)\n"
              "print(os.readlink('/proc/self/cwd'))")
    for name, cwd in (("not granted", p.home + "/beside"), ("/", "/"),
                      ("another mount", "/dev/shm"), ("system", "/etc")):
        r = p.do("run", "--no-defaults", "-p", "@sys", "--", "python3", "-c",
                 escape, cwd=cwd)
        ok(r.code == 0 and re.fullmatch(r"(2\n){3}/\S*\n", r.out) and
           "beside" not in r.out,
           "V009 cwd %s: lands inside" % name, r)
    gone_dir = p.proj + "/goner"
    os.mkdir(gone_dir)
    r = p.host("sh", "-c", "cd %s && rmdir %s && %s run --no-defaults -p @sys"
               " -- sh -c 'pwd; ls -A . | head -3; cat ../CANARY; echo %s'" %
               (gone_dir, gone_dir, CARREL, MARK))
    ok((r.code == 0 and MARK in r.out or r.code == OWN) and
       "secret" not in r.out, "V009 cwd deleted", r)
    for how, flags in (("directory", os.O_RDONLY), ("path", os.O_PATH)):
        fd = os.open(p.home, flags)
        for n in (0, 1, 2):
            def place(n=n, fd=fd):
                os.dup2(fd, n)
            r = p.run("sh", "-c", "cat <&0 >/dev/null 2>&1; touch ran; ls",
                      preexec_fn=place)
            ok(not os.path.exists(p.proj + "/ran") and r.code != 0,
               "R056 a %s descriptor on %d is refused" % (how, n), r)
        os.close(fd)
    fd = os.open("/etc/passwd", os.O_PATH)
    r = p.run("touch", "ran", stdin=fd)
    ok(r.code == OWN and not os.path.exists(p.proj + "/ran"),
       "R056 a path descriptor of a file is refused", r)
    os.close(fd)
    with open(p.proj + "/granted") as f:
        r = p.run("cat", stdin=f)
    ok(r.out == "fine\n", "R056 control: a file on stdin", r)
    for fd in fds:
        os.close(fd)

    # /proc, /dev
    r = p.sh("ls /proc | grep -c '^[0-9]'; cat /proc/1/comm; ps ax | wc -l")
    ok(r.code == 0 and int(r.out.split()[0]) <= 6,
       "S38 /proc is the sandbox's own", r)
    masked = ("kcore keys key-users sysrq-trigger config.gz timer_list "
              "sched_debug cmdline modules kallsyms diskstats partitions "
              "interrupts iomem ioports swaps").split()
    r = p.sh("for f in %s; do [ -e /proc/$f ] || continue; "
             "n=$(head -c 100 /proc/$f 2>/dev/null | wc -c); "
             "echo $f $n; (echo x > /proc/$f) 2>/dev/null && echo W $f; done;"
             "echo %s" % (" ".join(masked), MARK))
    ok(r.out.endswith(MARK + "\n") and not
       [x for x in r.out.splitlines()[:-1] if not x.endswith(" 0")],
       "S38 masked files of /proc are empty and fixed", r)
    r = p.sh("for f in kernel/ns_last_pid kernel/core_pattern kernel/hostname"
             " vm/overcommit_memory net/ipv4/ip_forward; do "
             "(echo 1 > /proc/sys/$f) 2>&1; done; (echo b > /proc/sysrq-"
             "trigger) 2>&1; cat /proc/sys/kernel/pid_max; "
             "ls /proc/sys/net/ipv4/conf; cat /proc/net/dev; ls /sys")
    ok(len(re.findall("Read-only|denied|nonexistent|No such", r.out)) >= 5 and
       re.search(r"^\d+$", r.out, re.M) and "eth" not in r.out,
       "R055 /proc/sys is read-only and shows the sandbox's network", r)
    r = p.run("python3", "-c", "import os\nfor f in os.listdir('/dev'):\n"
              " print(f)")
    equal(sorted(r.out.split()), sorted(
        "null zero full random urandom tty pts ptmx shm fd stdin stdout "
        "stderr".split()), "S38 /dev is minimal", r)
    r = p.sh("echo x > /dev/null && head -c 3 /dev/zero | wc -c && "
             "head -c 4 /dev/urandom | wc -c; dd if=/dev/zero "
             "of=/dev/full count=1 2>&1; "
             "python3 -c 'import pty; m, s = pty.openpty(); print(\"PTY\")'")
    ok(r.out.startswith("3\n4\n") and "No space" in r.out and "PTY" in r.out,
       "S38 and it works", r)
    r = p.sh("grep -c . /proc/self/mountinfo; "
             "grep -v nosuid /proc/self/mountinfo; "
             "awk '$5 !~ \"^/dev\" && $6 !~ /nodev/' /proc/self/mountinfo")
    ok(len(r.out.splitlines()) == 1, "S38 every mount is nosuid and nodev",
       r)
    r = p.sh("for f in /etc/passwd /etc/group /etc/hosts /etc/hostname "
             "/etc/resolv.conf; do [ -f $f ] || echo no $f; "
             "(echo x >> $f) 2>/dev/null && echo WROTE $f; done; "
             "cut -d: -f1 /etc/passwd; id -un; whoami; id -gn; "
             "getent hosts localhost")
    names = r.out.split()
    ok("WROTE" not in r.out and "no" not in names and
       {"root", "nobody"} <= set(names) and
       names.count(USER) >= 3 and ("127.0.0.1" in names or "::1" in names),
       "S38 B025 B039 generated /etc: root, the user, nobody", r)
    if IS_ROOT:
        ok(USER in names and "tester" not in names,
           "S38 no other account of the host is named", r)
        gname = os.environ["CARREL_T_GROUP"]
        r = p.sh("cut -d: -f1 /etc/group")
        ok(gname in r.out.split(), "S38 the user's groups are named", r)

    # S34: the prefix stops at '/'
    for d in ("w", "w-evil"):
        os.mkdir(p.top + "/" + d)
        p.write(p.top + "/" + d + "/f", d + "\n")
    p.fs("w", "read = %s/w" % p.top)
    r = p.sh("cat %s/w/f; cat %s/w-evil/f" % (p.top, p.top), "-p", "w")
    ok(r.out == "w\n" and "No such file" in r.err,
       "S34 a grant of w does not cover w-evil", r)

    # guest names, links, tmpfs, try-
    p.fs("alias", "read = %s/w -> /opt/alias/deep" % p.top,
         "tmpfs = /opt/scratch size=1M", "symlink = /opt/link -> alias/deep",
         "try-read = %s/nowhere" % p.top,
         "read = %s/w/f -> /opt/file" % p.top)
    p.prints("S30 HOST -> GUEST, tmpfs, symlink, try-", "cat "
             "/opt/alias/deep/f /opt/link/f /opt/file; ls %s/nowhere 2>&1 | "
             "grep -c 'No such'; touch /opt/scratch/x && ls /opt/scratch; "
             "readlink /opt/link" % p.top, "w\nw\nw\n1\nx\nalias/deep\n",
             "-p", "alias")
    r = p.sh("head -c 2M /dev/zero > /opt/scratch/big; echo $?", "-p", "alias")
    ok("No space" in r.err, "S39 a tmpfs has the size that was asked for", r)
    r = p.sh("df -k /tmp | awk 'NR==2{print $2}'")
    equal(r.out, "%d\n" % (256 * 1024), "S39 and 256 MiB otherwise", r)

    # B001
    p.fs("b1", "read = /usr", "read = /bin", "read = /lib", "try-read = /lib64")
    p.fs("b2", "try-read = /lib64", "read = /lib", "read = /bin", "read = /usr")
    for n in ("b1", "b2"):
        r = p.do("run", "--no-defaults", "-p", n, "--", "/bin/sh", "-c",
                 "echo ok")
        ok(r.code == 0 and r.out == "ok\n", "B001 merged /usr, %s" % n, r)
    # B008
    os.makedirs(p.top + "/g/ro/rw")
    views = []
    for n, lines in (("o1", ("read = %s/g/ro", "write = %s/g/ro/rw")),
                     ("o2", ("write = %s/g/ro/rw", "read = %s/g/ro"))):
        p.fs(n, *[x % p.top for x in lines])
        r = p.sh("touch %s/g/ro/x; touch %s/g/ro/rw/x && awk '$5 ~ \"/g/\""
                 "{print $4, $5, $6}' /proc/self/mountinfo" %
                 (p.top, p.top), "-p", n)
        ok("Read-only" in r.err and r.code == 0,
           "B008 the deepest grant decides (%s)" % n, r)
        views.append(r.out)
        os.unlink(p.top + "/g/ro/rw/x")
    ok(views[0] == views[1] and views[0], "B008 same mounts in either order",
       views)
    p.fs("o3", "write = %s/g" % p.top, "read = %s/g/ro" % p.top,
         "write = %s/g/ro/rw" % p.top)
    r = p.sh("touch %(t)s/g/x && ! touch %(t)s/g/ro/x && touch %(t)s/g/ro/rw/x"
             " && mv %(t)s/g/ro %(t)s/g/moved" % {"t": p.top}, "-p", "o3")
    ok(r.code != 0 and os.path.exists(p.top + "/g/ro/rw/x") and
       os.path.exists(p.top + "/g/x") and not os.path.exists(
           p.top + "/g/ro/x"), "B008 write, read, write: each as granted", r)
    # S33b: a read mount inside a write mount cannot be moved away
    os.makedirs(p.top + "/pin/a/b/keep")
    p.write(p.top + "/pin/a/b/keep/f", "true\n")
    p.fs("pin", "write = %s/pin" % p.top, "read = %s/pin/a/b/keep" % p.top)
    r = p.sh("cd %s/pin; mv a z; mv a/b a/y; rm -rf a; mkdir -p a/b/keep; "
             "echo false > a/b/keep/f; cat a/b/keep/f; touch free" % p.top,
             "-p", "pin")
    ok(r.out == "true\n" and open(p.top + "/pin/a/b/keep/f").read() ==
       "true\n" and os.path.exists(p.top + "/pin/free"),
       "S33b a read mount inside a write mount is pinned", r)

    # B009
    r = p.do("run", "--no-defaults", "-p", "@sys", "-p", "alias", "--",
             "cat", "/opt/file")
    ok(r.out == "w\n", "B009 a file whose parent is missing inside", r)

    # B029, B030
    odd = ["with space", "(par)", "it's", "a&b", "bang!", "#hash", ";semi",
           "per%cent", "dol$lar", "st*r", "com,ma", "co:lon", "se;mi", "eq=ual",
           "back\\slash", "-dash", "~tilde",
           "ünï", "arrow->x"]
    for o in odd:
        os.makedirs(p.top + "/odd/" + o)
        p.write(p.top + "/odd/" + o + "/f", o + "\n")
        path = "%s/odd/%s" % (p.top, o)
        p.fs("odd", 'read = "%s"' % path if re.search("[ >]", o) else
             "read = " + path)
        r = p.do("run", "-p", "odd", "--", "cat", path + "/f")
        ok(r.out == o + "\n", "B029 B030 path %r is granted" % o, r)
        os.makedirs(p.proj + "/" + o, exist_ok=True)
        p.write(o + "/g", o + "\n")
        r = p.do("run", "-C", p.proj + "/" + o, "--", "cat", "g")
        ok(r.out == o + "\n", "B029 target %r" % o, r)
        r = p.sh('[ "$PWD" = "$CARREL_TARGET" ] && pwd', "-C",
                 p.proj + "/" + o)
        equal(r.out, "%s/%s\n" % (p.proj, o), "B029 CARREL_TARGET %r" % o, r)
    p.unprofile("odd")

    # symlinks in what is granted resolve inside
    os.makedirs(p.top + "/links")
    for n, t in (("etc", "/etc/shadow"), ("root", "/"), ("rel",
                 "../CANARY"), ("abs", canary), ("good", p.top + "/w/f")):
        os.symlink(t, p.top + "/links/" + n)
    last = canary
    for i in range(45):
        os.symlink(last, p.top + "/links/c%d" % i)
        last = p.top + "/links/c%d" % i
    p.fs("links", "read = %s/links" % p.top, "read = %s/w" % p.top)
    r = p.sh("cd %s/links; for x in etc rel abs c1 c44; do cat $x; done; "
             "ls root/ | grep -c '^work$'; cat good" % p.top, "-p", "links")
    ok(r.out == "0\nw\n" and "secret" not in r.out and
       len(re.findall("No such|Too many", r.err)) == 5,
       "R005 links lead nowhere but inside", r)

    # B024: supplementary groups
    if IS_ROOT:
        import grp
        lab = grp.getgrnam(os.environ["CARREL_T_GROUP"]).gr_gid
        with root():
            with open(p.proj + "/lab", "w") as f:
                f.write("labfile\n")
            os.chown(p.proj + "/lab", 0, lab)
            os.chmod(p.proj + "/lab", 0o660)
            with open(p.proj + "/neg", "w") as f:
                f.write("negative\n")
            os.chown(p.proj + "/neg", 0, lab)
            os.chmod(p.proj + "/neg", 0o604)
        equal(p.host("cat", "lab").out, "labfile\n", "B024 control: outside")
        equal(p.run("cat", "lab").out, "labfile\n",
              "B024 a supplementary group opens what it opens outside")
        r = p.run("cat", "neg")
        ok(r.code != 0 and "Permission denied" in r.err,
           "V006 a file that denies the group stays denied", r)
        r = p.host("cat", "neg")
        ok(r.code != 0, "V006 control: outside too", r)
        with root():
            r = finish(subprocess.Popen(
                ["setpriv", "--reuid", "54321", "--regid", "54321",
                 "--clear-groups", "cat", p.proj + "/neg"],
                stdout=-1, stderr=-1, stdin=-3))
        ok(r.code == 0, "V006 control: a stranger to the group reads it", r)

    # an unreadable directory is not opened up by the namespace
    os.makedirs(p.top + "/shut/in")
    p.write(p.top + "/shut/in/f", "secret\n")
    os.chmod(p.top + "/shut", 0)
    p.fs("shut", "read = %s/shut/in" % p.top)
    p.refused("S31 what the user cannot reach cannot be granted", "-p", "shut",
              has=("shut/in", "shut.profile"))
    p.fs("shut", "read = %s/shut" % p.top)
    r = p.sh("ls %s/shut; cat %s/shut/in/f; echo %s" %
             (p.top, p.top, MARK), "-p", "shut")
    ok("secret" not in r.out and (r.code == OWN or
                                  "Permission denied" in r.err),
       "S31 a mode 000 directory stays shut", r)
    os.chmod(p.top + "/shut", 0o755)

    # R057-R060, R058: no network
    srv = socket.socket()
    srv.bind(("127.0.0.1", 0))
    srv.listen()
    ab = socket.socket(socket.AF_UNIX)
    ab.bind("\0carrel-t-%d" % os.getpid())
    ab.listen()
    net = """
import socket, os
print(sorted(n for _, n in socket.if_nameindex()))
def t(f, *a):
    try: f(*a); print("CONNECTED")
    except OSError as e: print(e.errno)
t(socket.create_connection, ("127.0.0.1", %d), 2)
t(socket.create_connection, ("192.0.2.1", 80), 2)
s = socket.socket(socket.AF_UNIX)
t(s.connect, "\\0carrel-t-%d")
""" % (srv.getsockname()[1], os.getpid())
    r = p.run("python3", "-c", net)
    ok(r.out.splitlines()[:1] == ["['lo']"] and "CONNECTED" not in r.out and
       len(r.out.split()) == 4, "R057 R058 no network, no abstract socket", r)
    r = p.host("python3", "-c", net)
    ok(r.out.count("CONNECTED") == 2, "R057 control: outside both answer", r)
    r = p.run("python3", "-c", """
import socket
for f, a in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
    s = socket.socket(f); s.bind((a, 0)); s.listen()
    c = socket.create_connection(s.getsockname()[:2]); print("UP")
""")
    equal(r.out, "UP\nUP\n", "R059 its own loopback works", r)
    r = p.run("getent", "hosts", "example.test")
    ok(r.code not in (0, "timeout", OWN) and r.secs < 1,
       "R060 look-ups fail at once", r)

    # R050, R053: what the payload is
    r = p.sh("grep -E '^(NoNewPrivs|Seccomp|Cap...|Uid|Gid):' "
             "/proc/self/status")
    s = dict(x.split(":\t") for x in r.out.splitlines() if ":\t" in x)
    ok(s.get("NoNewPrivs") == "1" and s.get("Seccomp") == "2" and
       all(s.get(c) == "0" * 16 for c in
           ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")) and
       s.get("Uid", "").split() == [str(UID)] * 4 and
       s.get("Gid", "").split() == [str(GID)] * 4,
       "R050 V002 no privilege in any set, the caller's ids", r)
    ask = ("for n in user mnt pid ipc uts net cgroup; do "
           "readlink /proc/self/ns/$n; done")
    r = p.sh(ask)
    mine = p.host("sh", "-c", ask).out.split()
    both = set(r.out.split()) & set(mine)
    # hosted mode does without a user namespace
    ok(len(r.out.split()) == 7 and both == (set(mine[:1]) if HOSTED else set()),
       "S65 seven namespaces of its own", r, mine)
    p.write("threads.py", """
import os, subprocess, threading
n = []
ts = [threading.Thread(target=lambda: n.append(1)) for _ in range(50)]
[t.start() for t in ts]; [t.join() for t in ts]
pid = os.fork()
if pid == 0: os.execv("/bin/true", ["true"])
print(len(n), os.waitpid(pid, 0)[1])
print(os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)[1])
print(subprocess.run(["true"]).returncode)
""")
    equal(p.run("python3", "threads.py").out, "50 0\n0\n0\n",
          "R053 threads, fork, posix_spawn, vfork")

    # R056's cousin: the host's tree cannot be had through /proc
    r = p.sh("ls /proc/1/root/ /proc/1/cwd/ 2>&1; cat /proc/1/root%s "
             "/proc/1/root/etc/shadow 2>&1; echo %s" % (canary, MARK))
    ok(MARK in r.out and "secret" not in r.out and "shadow:" not in
       r.out.replace("/etc/shadow:", ""), "V010 /proc/1/root leads inside", r)

    # V010: carrel's own files
    def content(f):
        with root() if IS_ROOT else contextlib.nullcontext():
            return (open(f, "rb").read(), os.stat(f).st_mtime_ns,
                    os.stat(f).st_mode)

    own = [CARREL] + [INST + "/libexec/carrel/" + x for x in
                      os.listdir(INST + "/libexec/carrel")]
    state = {f: content(f) for f in own}
    r = p.run("python3", "-c", """
import os, time
end = time.time() + 2
while time.time() < end:
    for pid in ["1", "self"] + [x for x in os.listdir("/proc") if x.isdigit()]:
        for fl in (os.O_PATH, os.O_RDWR, os.O_WRONLY | os.O_TRUNC):
            try:
                fd = os.open("/proc/%s/exe" % pid, fl)
                if pid == "1" : print("OPENED", fl)
                for m in (os.O_RDWR, os.O_WRONLY | os.O_TRUNC):
                    try: os.open("/proc/self/fd/%d" % fd, m); print("GOT")
                    except OSError: pass
                os.close(fd)
            except OSError: pass
print("END")
""")
    ok("END" in r.out and "GOT" not in r.out and "OPENED" not in r.out,
       "V010 /proc/*/exe gives nothing to write to", r)
    p.write("self.sh", "#!/proc/self/exe\necho hi\n", 0o755)
    p.run("./self.sh", "doctor")
    ok(state == {f: content(f) for f in own},
       "V010 carrel's files are untouched")

    # SIDE
    before = tree(p.top)
    p.run("true")
    equal(tree(p.top), before, "B003 R013 a run leaves the home as it was")
    for n, t in (("rl", "granted"), ("al", canary), ("dl", "missing/x")):
        os.symlink(t, p.proj + "/" + n)
    listing = tree(p.top)
    for n in ("rl", "al", "dl"):
        p.fs("dest", "read = %s/w/f -> %s/%s" % (p.top, p.proj, n))
        r = p.do("run", "-p", "dest", "--", "echo", MARK)
        ok(r.code == OWN and MARK not in r.out,
           "B002 a destination that is a link (%s)" % n, r)
    p.unprofile("dest")
    now = {k: v for k, v in tree(p.top).items() if "/.config" not in k}
    then = {k: v for k, v in listing.items() if "/.config" not in k}
    equal(now, then, "B002 the host's directory is as before")
    etc = {f: os.stat(f).st_mtime_ns for f in
           ("/etc/passwd", "/etc/group")}
    p.sh("cp /etc/passwd x; (echo y > /etc/group) 2>/dev/null; true")
    equal({f: os.stat(f).st_mtime_ns for f in etc}, etc,
          "V041 the host's /etc is as before")
    p.fs("hostpw", "read = /etc/passwd")
    r = p.do("run", "-p", "hostpw", "--", "cat", "/etc/passwd")
    equal(r.out, open("/etc/passwd").read(),
          "S33 a read of the host's file replaces the generated one")
done()
