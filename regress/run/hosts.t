#!/usr/bin/python3
"""Hosts that lack something, and hosts that have a lot (V016, V027, R074,
B010)."""
import errno
import os
import statistics
from tap import *

# A feature of the kernel: the call, the errno, what the refusal names; or
# None if carrel can do without. 467 is open_tree_attr(2), Linux 6.15.
LACKS = [
    ("seccomp", "EPERM", "seccomp"), ("seccomp", "ENOSYS", "seccomp"),
    ("seccomp", "EINVAL", "seccomp"),
    ("landlock_create_ruleset", "ENOSYS", "Landlock"),
    ("landlock_create_ruleset", "EOPNOTSUPP", "Landlock"),
    ("landlock_create_ruleset", "EPERM", "Landlock"),
    ("landlock_add_rule", "EPERM", "Landlock"),
    ("landlock_restrict_self", "EPERM", "Landlock"),
    ("clone", "EPERM", "namespaces"), ("clone", "ENOSPC", "namespaces"),
    ("clone", "EUSERS", "namespaces"),
    ("fsopen", "ENOSYS", "tmpfs"), ("fsopen", "EPERM", "tmpfs"),
    ("fsconfig", "EPERM", "tmpfs"), ("fsmount", "EPERM", "tmpfs"),
    ("move_mount", "ENOSYS", "move_mount"),
    ("mount", "EPERM", "mounts private"), ("mount", "EACCES", "private"),
    ("mount_setattr", "ENOSYS", "mount_setattr"),
    ("pivot_root", "EPERM", "pivot_root"), ("umount2", "EPERM", "pivot"),
    ("capset", "EPERM", "capset"), ("prctl", "EPERM", ""),
    ("sethostname", "EPERM", "host name"), ("ioctl", "EPERM", "lo"),
    ("close_range", "ENOSYS", "Linux 5."), ("socketpair", "EMFILE", "pair"),
    ("keyctl", "EPERM", "keyring"), ("signalfd4", "EPERM", ""),
    ("getrandom", "ENOSYS", "getrandom"), ("setitimer", "EPERM", "timer"),
    ("personality", "ENOSYS", "personality"),
    # where Landlock is, openat2 is too
    ("openat2", "ENOSYS", "filter around carrel"),
    ("openat2", "EPERM", "filter around carrel"),
    ("467", "ENOSYS", None), ("467", "EPERM", None),
    ("keyctl", "ENOSYS", None),
    ("vfork", "ENOSYS", "vfork"), ("clone3", "ENOSYS", None),
]

with Place() as p:
    WITHOUT = HELPERS + "/without"
    RUN = ["run", "--no-defaults", "-p", "h", "--", "/opt/h/report"]
    os.makedirs(p.proj + "/a/b")
    p.fs("h", "read = %s -> /opt/h" % HELPERS, "write = " + p.proj,
         "read = %s/a/b" % p.proj)

    def report(r):
        """A report, without the one filter more that these runs have."""
        return re.sub(r"(Seccomp_filters:)\s+\d+", r"\1", r.out)

    plain = p.host(WITHOUT, "uselib", "1", CARREL, *RUN)
    ok(plain.code == 0 and MARK in plain.out, "V027 control: a call that "
       "nobody makes", plain)
    # no_new_privs came with the filter: so it is user mode, wherever
    equal(report(plain), report(p.do(*RUN[:1], "--user-mode", *RUN[1:])),
          "V027 control: as without it")
    for call, name, word in LACKS:
        r = p.host(WITHOUT, call, str(getattr(errno, name)), CARREL, *RUN,
                   timeout=30)
        if word is None:
            ok(r.code == 0 and report(r) == report(plain),
               "V027 no %s (%s): does without, and is as confined" %
               (call, name), r)
        else:
            ok(r.code == OWN and MARK not in r.out and
               r.err.startswith("carrel: ") and word in r.err,
               "V027 no %s (%s): refused, and named" % (call, name), r)
    # a person may weaken one thing, by name, and no other
    r = p.host(WITHOUT, "landlock_create_ruleset", str(errno.ENOSYS), CARREL,
               "run", "--without-landlock", *RUN[1:])
    ok(r.code == 0 and "layers left: 100" in r.out and
       report(r).replace("left: 100", "left: 15") ==
       report(plain), "V027 --without-landlock: without it, and only it", r)
    weak = r
    r = p.host(WITHOUT, "openat2", str(errno.ENOSYS), CARREL, "run",
               "--without-landlock", *RUN[1:])
    ok(r.code == 0 and report(r) == report(weak).replace("left: 100",
                                                         "left: 16"),
       "V027 then openat2 is not needed either", r)
    r = p.host(WITHOUT, "seccomp", "1", CARREL, "run", "--without-landlock",
               *RUN[1:])
    ok(r.code == OWN and MARK not in r.out, "V027 and nothing else", r)
    r = p.host(WITHOUT, "landlock_create_ruleset", str(errno.ENOSYS), CARREL,
               "explain", "--without-landlock", "--", "true")
    ok(r.code == 0 and "without-landlock" in r.out,
       "V027 explain says that it is off", r)
    for call in ("landlock_create_ruleset", "seccomp"):
        r = p.host(WITHOUT, call, str(errno.ENOSYS), CARREL, "doctor")
        ok(r.code != 0 and call.split("_")[0] in r.out.lower(),
           "R074 V027 doctor says no without %s" % call, r)

    # B038: a program that wants a shell where none is granted
    ok("system(3): 127\n" in plain.out, "B038 no shell: 127", plain)
    r = p.do("run", "-p", "h", "--", "/opt/h/report")
    ok("system(3): 3\n" in r.out, "B038 @sys has one", r)
    r = p.wide("explain", "--no-defaults", "-p", "h")
    ok(re.search(r"SHELL=\S+ +\(carrel\) +<- not granted \(0 grants inside\)",
                 r.out), "B038 the screen says that the shell is not there", r)
    r = p.do("run", "--no-defaults", "-p", "h", "--", "sh", "-c", "true")
    ok(r.code == NOTFOUND and "sh: not found inside" in r.err and
       "@sys" in r.err, "B038 and so does a run that wants one", r)

    # R012: carrel's own files never land in a directory of the host
    for f in ("passwd", "hosts", "other"):
        p.write(p.top + "/etc/" + f, "the host's\n")
    before = tree(p.top + "/etc")
    p.fs("etc", "write = %s/etc -> /etc" % p.top,
         "read = %s -> /opt/h" % HELPERS)
    r = p.do("run", "--no-defaults", "-p", "etc", "--", "/opt/h/race", "show",
             "/etc", "/etc/passwd")
    ok(r.code == 0 and "/etc: . .. hosts other passwd\n" in r.out and
       "/etc/passwd: the host's\n" in r.out,
       "R012 a write grant of /etc has what the host's has", r)
    equal(tree(p.top + "/etc"), before, "R012 and nothing of carrel's")
    p.fs("etc", "write = %s/etc/passwd -> /etc/passwd" % p.top,
         "read = %s -> /opt/h" % HELPERS)
    r = p.do("run", "--no-defaults", "-p", "etc", "--", "/opt/h/race", "show",
             "/etc", "/etc/passwd")
    ok(r.code == 0 and "/etc/passwd: the host's\n" in r.out and
       "resolv.conf" in r.out, "R012 control: one file, and carrel's others",
       r)
    equal(tree(p.top + "/etc"), before, "R012 and the host's is as before")
    p.unprofile("etc")

    # B010: a small tmpfs full of mount points
    p.fs("small", "tmpfs = /opt/s size=4K", "read = %s -> /opt/h" % HELPERS,
         *["read = /usr -> /opt/s/%d" % i for i in range(3000)])
    r = p.do("run", "--no-defaults", "-p", "small", "--", "/opt/h/argv0")
    ok(r.code == 2 and "usage: argv0" in r.err,
       "B010 3,000 grants in a tmpfs of a page", r)
    p.unprofile("small")

    # B010: 20,000 grants of single files
    os.makedirs(p.top + "/many")
    for i in range(20000):
        with open("%s/many/%05d" % (p.top, i), "w") as f:
            f.write("%d\n" % i)
    names = []
    for k in range(4):  # a profile may have 256 KiB
        names += ["-p", "many%d" % k]
        p.fs("many%d" % k, *["read = %s/many/%05d" % (p.top, i)
                             for i in range(k * 5000, k * 5000 + 5000)])
    t = time.monotonic()
    r = p.do("run", *names, "--", "sh", "-c", "cat %s/many/19999 "
             "%s/many/00000; ls %s/many | wc -l" % ((p.top,) * 3),
             timeout=120)
    ok(r.code == 0 and r.out == "19999\n0\n20000\n",
       "B010 20,000 grants of single files", r)
    diag("20,000 grants: %.0f ms" % ((time.monotonic() - t) * 1000))

    def few():
        resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))
    r = p.do("run", *names, "--", "cat", p.top + "/many/19999",
             preexec_fn=few, timeout=120)
    ok(r.code == 0 and r.out == "19999\n", "B010 with 1,024 descriptors", r)
    for k in range(4, 8):
        names += ["-p", "many%d" % k]
        p.fs("many%d" % k, *["read = /opt/x/%d/%d" % (k, i)
                             for i in range(5000)])
    p.refused("B010 more than 32,768: the limit is named", *names,
              has=("32768",))
    p.unprofile(*names[1::2])
    shutil.rmtree(p.top + "/many")

    if not IS_ROOT:
        skip("V016 B010 odd mounts of the host", "needs root")
        done()

    def elsewhere(script, argv, timeout=120):
        """In a mount namespace that root made so; ARGV as the caller."""
        with root():
            return finish(subprocess.Popen(
                ["unshare", "-m", "--propagation", "private", "sh", "-ec",
                 script + "\nexec setpriv --reuid %d --regid %d "
                 "--init-groups env -i HOME=%s PATH=/usr/bin:/bin \"$@\"" %
                 (UID, GID, p.home), "sh"] + argv, cwd=p.proj, stdin=-3,
                stdout=-1, stderr=-1), timeout)

    # V016: what stands in for /dev/null on the host
    for name, script in (
            ("a regular file", "echo evil > /mnt/n; mount --bind /mnt/n "
             "/dev/null"),
            ("a FIFO", "mkfifo /mnt/n; mount --bind /mnt/n /dev/null"),
            ("another device", "mount --bind /dev/zero /dev/null"),
            ("a link", "mkdir /mnt/d; ln -s /proc/sys/kernel/core_pattern "
             "/mnt/d/null; for f in zero full random urandom tty; do "
             "touch /mnt/d/$f; mount --bind /dev/$f /mnt/d/$f; done; "
             "mount --rbind /mnt/d /dev")):
        # setpriv and env need no /dev/null
        r = elsewhere("mount -t tmpfs none /mnt\n" + script,
                      [CARREL] + RUN[:4] + ["--", "/opt/h/report"], 20)
        ok(r.code == OWN and MARK not in r.out and "/dev/" in r.err,
           "V016 the host's /dev/null is %s: refused" % name, r)
    r = elsewhere("mount -t tmpfs none /mnt",
                  [CARREL] + RUN)
    ok(r.code == 0 and MARK in r.out, "V016 control: with the host's", r)

    # B004: resolv.conf by way of links into /run; nobody grants /run
    for hops in (1, 2, 3):
        way = ["/etc/resolv.conf"] + ["/etc/hop%d" % i for i in
                                      range(1, hops)] + ["/run/x/stub"]
        links = "".join("ln -sfn %s %s\n" % (
            to if i % 2 else "../" + to[1:], at) for i, (at, to) in
            enumerate(zip(way, way[1:])))
        r = elsewhere("mount -t tmpfs none /mnt\ncp -a /etc/. /mnt\n"
                      "mount --bind /mnt /etc\nmount -t tmpfs none /run\n"
                      "mkdir /run/x\necho nameserver 192.0.2.1 > "
                      "/run/x/stub\n" + links,
                      [CARREL, "run", "--", "sh", "-c", "cat "
                       "/etc/resolv.conf; ls /run; getent hosts localhost "
                       "| grep -c localhost; timeout 1 getent hosts "
                       "example.test; echo $?"], 20)
        ok(r.code == 0 and "192.0.2.1" not in r.out and "x\n" not in r.out and
           r.out.endswith("1\n2\n"),
           "B004 resolv.conf with %d links: its own, and fails at once" %
           hops, r)

    # 4,000 mounts: the launch costs no more than the namespace's copy does
    floor = HELPERS + "/floor"
    time_it = ("import subprocess, sys, time\n"
               "both = {'carrel': sys.argv[1:], 'floor': ['%s', '--ro', '%s',"
               " '/h', '--', '/h/argv0', 'x']}\n"
               "ms = {name: [] for name in both}\n"
               "for i in range(60):\n"
               "    for name, argv in both.items():\n"
               "        t = time.perf_counter()\n"
               "        subprocess.run(argv, stdout=-3, stderr=-3)\n"
               "        ms[name].append((time.perf_counter() - t) * 1000)\n"
               "for name in both: print(name, sorted(ms[name])[6])\n" %
               (floor, HELPERS))
    cost = {}
    for many in (0, 4000):
        r = elsewhere("mount -t tmpfs none /mnt\nmkdir /mnt/s\n"
                      "python3 -c 'import os\nfor i in range(%d): "
                      "os.mkdir(\"/mnt/%%d\" %% i)'\n"
                      "python3 -c 'import ctypes, os\n"
                      "L = ctypes.CDLL(None)\nfor i in range(%d): "
                      "assert L.mount(b\"/mnt/s\", b\"/mnt/%%d\" %% i, None, "
                      "4096, None) == 0'" % (many, many),
                      ["/usr/bin/python3", "-c", time_it, CARREL, "run",
                       "--no-defaults", "-p", "h", "--", "/opt/h/argv0", "x"])
        rows = [x.split() for x in r.out.splitlines()]
        ok(r.code == 0 and len(rows) == 2, "%d mounts: measured" % many, r)
        for name, ms in rows:
            cost[many, name] = float(ms)
    more = {n: cost[4000, n] - cost[0, n] for n in ("carrel", "floor")}
    diag("without: carrel %.2f ms, floor %.2f ms; 4,000 mounts add %.2f and "
         "%.2f ms" % (cost[0, "carrel"], cost[0, "floor"], more["carrel"],
                      more["floor"]))
    r = elsewhere("mount -t tmpfs none /mnt\nmkdir /mnt/s\npython3 -c "
                  "'import ctypes, os\nL = ctypes.CDLL(None)\n"
                  "for i in range(4000):\n"
                  " os.mkdir(\"/mnt/%d\" % i)\n"
                  " assert L.mount(b\"/mnt/s\", b\"/mnt/%d\" % i, None, 4096,"
                  " None) == 0'", [CARREL] + RUN)
    ok(r.code == 0 and "/mnt" not in r.out, "and none of them is inside", r)
done()
