#!/usr/bin/python3
"""Hosted mode as it is seen from outside: which mode it is, the same view,
and what the recorder writes. What an attacker gets is hostile/hosted.t."""
import shutil
import struct
from kmsg import *

CAPS = (21, 18, 7, 6, 12, 13, 10, 8)   # of parent/caps.c


def mounts_inside(p, *opts):
    """Where what is mounted with which flags, but for ids and devices."""
    r = p.do("run", *opts, "--", "cat", "/proc/self/mountinfo")
    rows = [x.split() for x in r.out.splitlines()]
    return sorted((x[4], x[5], x[x.index("-") + 1]) for x in rows), r


def capable(path):
    """security.capability of capabilities(7), permitted and effective."""
    bits = sum(1 << c for c in CAPS)
    os.setxattr(path, "security.capability",
                struct.pack("<IIIII", 0x02000001, bits, 0, 0, 0))


def modes(p):
    r = p.wide("explain", "--", "true")
    ok(r.code == 0 and "hosted mode" in r.out and "user mode" not in r.out,
       "S100 explain says which mode it is", r)
    mine = os.readlink("/proc/thread-self/ns/user")
    ask = ["run", "--", "readlink", "/proc/self/ns/user"]
    r = p.do(*ask)
    equal(r.out.strip(), mine, "S100 no user namespace is made")
    r = p.do(*ask[:1], "--user-mode", *ask[1:])
    ok(r.code == 0 and r.out.strip() != mine, "S100 --user-mode makes one", r)
    r = p.wide("explain", "--user-mode", "--", "true")
    ok("user mode" in r.out and "hosted mode" not in r.out,
       "S100 and explain says so", r)
    with root():
        r = finish(subprocess.Popen(
            [CARREL, "explain", "--", "true"], cwd="/", stdin=-3, stdout=-1,
            stderr=-1, env=dict(p.env, HOME="/root", COLUMNS="200")))
    ok("the caller is root" in r.out and "hosted mode" not in r.out,
       "S100 a caller who is root is in user mode, marked", r)
    hosted, r = mounts_inside(p)
    ok(len(hosted) > 20, "S100 control: there are mounts", r)
    equal(hosted, mounts_inside(p, "--user-mode")[0],
          "S100 the same mounts with the same flags in both modes")
    r = p.run("sh", "-c", "id -u; id -G; hostname; grep ^Cap /proc/self/status")
    out = r.out.split("\n")
    ok(out[0] == str(UID) and set(out[1].split()) == set(map(
        str, os.getgrouplist(USER, GID))) and out[2] == "carrel" and
       set(re.findall(r"[0-9a-f]{16}", r.out)) == {"0" * 16},
       "S100 V034 the caller's ids and groups, and no capability", r)


def by_capabilities(p):
    """The second way to install it."""
    other = INST + "/bin/carrel-caps"
    with root():
        shutil.copy(CARREL, other)
        os.chmod(other, 0o755)
        capable(other)
    r = p.host(other, "run", "--", "readlink", "/proc/self/ns/user")
    ok(r.out.strip() == os.readlink("/proc/thread-self/ns/user"),
       "S100 with file capabilities: hosted mode", r)
    with root():
        os.setxattr(other, "security.capability",
                    struct.pack("<IIIII", 0x02000001, 1 << 21, 0, 0, 0))
    r = p.host(other, "run", "--", "echo", MARK)
    ok(r.code == OWN and MARK not in r.out and "chmod u+s" in r.err,
       "S100 with fewer than it needs: refused, with the fix", r)
    with root():
        os.chown(other, 0, 0)       # which takes the capabilities away
        os.chmod(other, 0o2755)
    r = p.host(other, "run", "--", "echo", MARK)
    ok(r.code == OWN and MARK not in r.out,
       "S100 set-group-id is no privilege for carrel: refused", r)
    with root():
        os.unlink(other)


def by_another_name(p):
    """V011: next to a helper that is the user's."""
    canary = p.top + "/canary"
    fake = p.write(p.top + "/x/libexec/carrel/carrel-parse",
                   "#!/bin/sh\necho > %s\nexit 0\n" % canary, 0o755)
    shutil.copy(fake, p.top + "/x/libexec/carrel/carrel-screen")
    os.makedirs(p.top + "/x/bin")
    name = p.top + "/x/bin/carrel"
    become = ["setpriv", "--reuid", str(UID), "--regid", str(GID),
              "--init-groups"]

    def tried(what, *argv, privately=None):
        how = become + list(argv)
        if privately:
            how = ["unshare", "-m", "sh", "-c", privately + '; exec "$@"',
                   "sh"] + how
        with root():
            r = finish(subprocess.Popen(
                how + ["run", "--", "echo", MARK], cwd=p.proj, env=p.env,
                stdin=-3, stdout=-1, stderr=-1))
        ok(r.code in (0, OWN) and (r.code == 0) == (MARK in r.out) and
           not os.path.exists(canary),
           "V011 S100 by %s: the user's helper is not run" % what, r)
        return r
    os.symlink(CARREL, name)
    ok(tried("a symlink", name).code == 0, "V011 control: it runs")
    os.unlink(name)
    with root():
        try:
            os.link(CARREL, name)
        except OSError:     # another file system
            shutil.copy(CARREL, name)
            os.chmod(name, 0o4755)
    tried("a hard link", name)
    with root():
        os.unlink(name)
    p.write(name, "")
    tried("a bind mount", name,
          privately="mount --bind %s %s" % (CARREL, name))
    tried("a descriptor", "python3", "-c", "import os, sys\n"
          "os.execve(os.open(%r, os.O_PATH), ['carrel'] + sys.argv[1:], "
          "os.environ)" % CARREL)
    r = p.host(fake)
    ok(os.path.exists(canary), "V011 control: run, that helper would tell", r)


def crowded(p):
    """V025: a caller at his limit of processes."""
    ends = {"runs": 0, "is refused": 0}
    ask = "echo %s; grep -E '^(Uid|Cap)' /proc/self/status" % MARK
    for most in (1, 2, 3, 4, 6, 8, 12, 4000):
        r = p.do("run", "--", "sh", "-c", ask, preexec_fn=lambda:
                 resource.setrlimit(resource.RLIMIT_NPROC, (most, most)))
        if r.code == 0:
            good = MARK in r.out and set(re.findall(
                r"Cap...:\t(\w+)", r.out)) == {"0" * 16} and re.search(
                    r"(?m)^Uid:\t%d\t%d\t%d\t%d$" % ((UID,) * 4), r.out)
        else:
            good = "Uid:\t0" not in r.out
        ends["runs" if r.code == 0 else "is refused"] += 1
        ok(good and not gone(5), "V025 a caller who may have %d processes: "
           "nothing, or all of the confinement" % most, r, gone(0))
    ok(all(ends.values()), "V025 control: some ran and some did not", ends)


def environment(p):
    """V022: what a loader or a library would obey."""
    evil = {k: p.top + "/evil" for k in (
        "LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "GCONV_PATH", "LOCPATH",
        "NLSPATH", "HOSTALIASES", "TZDIR", "TMPDIR", "XDG_CONFIG_DIRS")}
    log = p.top + "/log"
    r = p.host(CARREL, "run", "--", "echo", MARK,
               env=dict(p.env, GLIBC_TUNABLES="glibc.malloc.check=3",
                        TZ=p.top + "/evil", RES_OPTIONS="debug", **evil))
    ok(r.code == 0 and r.out == MARK + "\n" and not r.err,
       "V022 S40 an environment for loaders and libraries: as without it", r)
    with root():
        r = finish(subprocess.Popen(
            ["strace", "-f", "-qq", "-u", USER, "-e", "trace=%file", "-o",
             log, "--", CARREL, "run", "--", "true"], cwd=p.proj,
            env=dict(p.env, TZ=p.top + "/evil", **evil), stdin=-3,
            stdout=-1, stderr=-1))
        seen = open(log).read()
    ok("carrel-parse" in seen and "/evil" not in seen,
       "V022 and none of these paths is looked at", r,
       [x for x in seen.split("\n") if "/evil" in x][:3])


def records(p, log):
    time.sleep(0.5)     # the last of what was before
    log.read()
    r = p.do("run", "--", "sh", "-c", "echo %s; exit 7" % MARK)
    got = log.records()
    ok(r.code == 7 and [x["event"] for x in got] == ["start", "end", "over"],
       "S104 start and end of the monitor's, and the recorder's own", r,
       [(x["when"], x["event"]) for x in got])
    ok(all(x["facility"] == 10 for x in got) and got[0]["mode"] == "hosted" and
       got[0]["user"] == USER and got[1]["code"] == "7" and
       int(got[2]["memory-kib"]) > 0 and got[2]["unwritten"] == "0",
       "S104 authpriv, who, which mode, how it ended, what it used", got)
    c = p.start("run", "--", "sh", "-c", "echo up; sleep 100",
                stdout=subprocess.PIPE)
    c.stdout.readline()
    c.kill()
    finish(c)
    got = log.records()
    ok([x["event"] for x in got] == ["start", "over"] and not gone(),
       "S104 the monitor is killed: its end is recorded, and nothing is left",
       got, gone(0))
    c = p.start("run", "--", "sh", "-c", "echo up; exit 3",
                stdout=subprocess.PIPE)
    c.stdout.readline()
    os.kill(c.pid, signal.SIGSTOP)
    got = log.records()
    ok(got[-1:] and got[-1]["event"] == "over",
       "S104 it is stopped: the end is recorded all the same", got)
    os.kill(c.pid, signal.SIGCONT)
    finish(c)
    log.records("end")
    r = p.do("run", "-p", "nosuch", "--", "true")
    got = log.records()
    ok(r.code == OWN and [x["event"] for x in got] == ["refused", "over"],
       "S104 a refused run: that, and its end", r, got)
    r = p.do("run", "--user-mode", "--", "echo", MARK)
    time.sleep(0.2)
    log.found = []
    log.read()
    ok(r.code == 0 and not log.found,
       "S104 control: user mode writes nothing there", r, log.found)


def no_log(p):
    """Without a log of any kind."""
    hide = "mount -t tmpfs none /dev; mkdir /dev/pts; " + "".join(
        "mknod -m 666 /dev/%s c %s; " % x for x in (
            ("null", "1 3"), ("zero", "1 5"), ("full", "1 7"),
            ("random", "1 8"), ("urandom", "1 9"), ("tty", "5 0")))
    become = ("exec setpriv --reuid %d --regid %d --init-groups %s run -- "
              "echo %s" % (UID, GID, CARREL, MARK))
    for more, good in (("", False), ("mknod /dev/kmsg c 1 11; ", True)):
        with root():
            r = finish(subprocess.Popen(
                ["unshare", "-m", "sh", "-c", hide + more + become],
                cwd=p.proj, env=p.env, stdin=-3, stdout=-1, stderr=-1))
        if good:
            ok(r.code == 0 and r.out == MARK + "\n",
               "S104 control: with the kernel's it runs", r)
        else:
            ok(r.code == OWN and MARK not in r.out and "/dev/kmsg" in r.err
               and "--user-mode" in r.err,
               "S104 no log at all: no run, and the fix", r)


if not HOSTED:
    print("1..0 # skip hosted mode is another installation: make check-hosted")
    sys.exit(0)
with Place() as p:
    modes(p)
    by_capabilities(p)
    by_another_name(p)
    environment(p)
    crowded(p)
    if is_the_log():
        records(p, Kmsg())
        no_log(p)
    else:
        skip("S104", "the kernel's log is not the one")
done()
