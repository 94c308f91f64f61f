#!/usr/bin/python3
"""Descriptors that somebody outside hands in (R056, S71): on standard input,
or over a unix socket that the payload was given (SCM_RIGHTS)."""
import array
import os
import socket
from tap import *

# Inside: receives descriptors over standard input and tries each way on.
TAKE = r"""
import array, errno, os, socket, sys
s = socket.socket(fileno=0)
data, anc, _, _ = s.recvmsg(1, socket.CMSG_SPACE(16))
assert data == b"x"
fds = array.array('i')
fds.frombytes(anc[0][2][:len(anc[0][2]) // 4 * 4])
path, listed = fds[0], fds[1]
print("MARK", len(fds))
def attempt(name, f):
    try:
        r = f()
        print(name, "DONE", r if isinstance(r, (bytes, list)) else "")
    except OSError as e:
        print(name, errno.errorcode[e.errno])
for kind, fd in (("path", path), ("dir", listed)):
    attempt(kind + " read", lambda: os.read(
        os.open("CANARY", os.O_RDONLY, dir_fd=fd), 9))
    attempt(kind + " up", lambda: os.read(
        os.open("../CANARY", os.O_RDONLY, dir_fd=fd), 9))
    attempt(kind + " write", lambda: os.open("CANARY", os.O_WRONLY,
                                             dir_fd=fd))
    attempt(kind + " create", lambda: os.open("new", os.O_CREAT | os.O_WRONLY,
                                              0o644, dir_fd=fd))
    attempt(kind + " mkdir", lambda: os.mkdir("newdir", dir_fd=fd))
    attempt(kind + " link", lambda: os.symlink("x", "newlink", dir_fd=fd))
    attempt(kind + " unlink", lambda: os.unlink(kind + "-1", dir_fd=fd))
    attempt(kind + " rename", lambda: os.rename(
        kind + "-2", "gone", src_dir_fd=fd, dst_dir_fd=fd))
    attempt(kind + " truncate", lambda: os.truncate(
        "/proc/self/fd/%d/%s-3" % (fd, kind), 0))
    attempt(kind + " exec", lambda: os.posix_spawn(
        "/proc/self/fd/%d/tool" % fd, ["tool"], {}))
    attempt(kind + " list", lambda: os.listdir("/proc/self/fd/%d" % fd))
    def inside():
        os.fchdir(fd)
        return os.read(os.open("CANARY", os.O_RDONLY), 9)
    attempt(kind + " chdir", inside)
    os.chdir("/")
attempt("dir reopen", lambda: os.open("/proc/self/fd/%d" % listed,
                                      os.O_RDONLY))
attempt("path reopen", lambda: os.open("/proc/self/fd/%d" % path,
                                       os.O_RDONLY))
"""


def hand_in(p, top, *options):
    """What TAKE prints when it is handed two descriptors of top."""
    ours, theirs = socket.socketpair()
    fds = [os.open(top, os.O_PATH), os.open(top, os.O_RDONLY)]
    c = p.start("run", *options, "--", "python3", "-uc", TAKE, stdin=theirs)
    theirs.close()
    ours.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                           array.array("i", fds))])
    r = finish(c)
    ours.close()
    for fd in fds:
        os.close(fd)
    return r


with Place() as p:
    top = p.home + "/outside"
    p.write(top + "/CANARY", "secret")
    p.write(p.home + "/CANARY", "secret")
    for n in range(6):
        p.write(top + "/%s-%d" % (("path", "dir")[n % 2], 1 + n // 2), "x")
    p.write(top + "/tool", "#!/bin/sh\nexit 0\n", 0o755)
    before = tree(top)
    r = hand_in(p, top)
    got = r.out.splitlines()
    ok(got[:1] == ["MARK 2"], "R056 two descriptors came in", r)
    bad = [x for x in got[1:] if not x.endswith(("EACCES", "EXDEV"))]
    ok(len(got) == 27 and not bad and "secret" not in r.out,
       "R056 S71 a directory that is handed in opens nothing", bad, r)
    equal(tree(top), before, "R056 S71 and nothing changed there")
    r = hand_in(p, top, "--without-landlock")
    got = [x for x in r.out.splitlines() if " DONE" not in x]
    # what a name of its own does once may be done already
    ok(all(x.endswith(("MARK 2", "EEXIST", "ENOENT")) for x in got) and
       "path read DONE b'secret'" in r.out and "path exec DONE" in r.out and
       "dir up DONE b'secret'" in r.out and len(got) < 6,
       "R056 control: without Landlock it would", got, r)

    # S62: not on standard input itself
    for fd, what in ((os.open(top, os.O_RDONLY), "a directory"),
                     (os.open(top, os.O_PATH), "a path")):
        r = p.run("echo", MARK, stdin=fd)
        ok(r.code == OWN and MARK not in r.out and "descriptor 0" in r.err,
           "R056 S62 %s on standard input is refused" % what, r)
        os.close(fd)
    with open(top + "/CANARY") as f:
        r = p.run("sh", "-c", "cat; cat /proc/self/fd/0; echo x > "
                  "/proc/self/fd/0", stdin=f)
        ok(r.out == "secret" and r.err.count("Permission denied") == 2,
           "S62 a file on standard input is read, and not opened again", r)
done()
