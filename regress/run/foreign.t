#!/usr/bin/python3
"""File systems of the kernel do not come along below a grant."""
from tap import *


def inside(p, prepare, *argv):
    """carrel as the user, in a mount namespace that root prepared."""
    script = """set -e
%s
cd %s
exec setpriv --reuid %d --regid %d --init-groups \\
    env -i HOME=%s PATH=/usr/bin:/bin "$@"
""" % (prepare, p.proj, UID, GID, p.home)
    with root():
        return finish(subprocess.Popen(
            ["unshare", "-m", "sh", "-c", script, "sh", CARREL] + list(argv),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE))


if not IS_ROOT:
    skip("a mount below a grant", "needs root")
    done()
else:
    with Place() as p:
        os.makedirs(p.proj + "/rootfs/proc")
        os.makedirs(p.proj + "/rootfs/sys")
        os.makedirs(p.proj + "/rootfs/data")
        at = p.proj + "/rootfs"
        say = ("run", "--", "sh", "-c", "echo %s; ls rootfs/proc" % MARK)
        r = inside(p, "mount -t tmpfs none %s/data" % at, *say)
        ok(r.code == 0 and MARK in r.out,
           "V015 control: another file system below the target comes along", r)
        for kind, command in (("proc", "mount --bind /proc %s/proc"),
                              ("sysfs", "mount -t sysfs none %s/sys"),
                              ("devpts", "mount -t devpts none %s/sys")):
            r = inside(p, command % at, *say)
            ok(r.code == 125 and MARK not in r.out and at in r.err and
               "unmount it" in r.err,
               "V015 R009 %s below the target is refused" % kind, r)
        p.fs("x", "read = %s -> /r" % at)
        r = inside(p, "mount --bind /proc %s/proc" % at, "run",
                   "--no-defaults", "-p", "@sys", "-p", "x", "--", "echo",
                   MARK)
        ok(r.code == 125 and MARK not in r.out and "/r/proc" in r.err,
           "R009 and below a read grant, by its place inside", r)
        p.unprofile("x")
        p.runs("the next run is fine")
    done()
