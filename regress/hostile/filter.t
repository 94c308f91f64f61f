#!/usr/bin/python3
"""The system-call filter from inside (S63, S65, S70): every call, and what a
filter must tell apart by arguments. The control is the same prober with the
same namespaces and no filter."""
import fcntl
import os
import pty
import struct
import termios
from tap import *

# Injection into a terminal: each request on standard input, then a mark.
INJECT = r"""
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
for request in (0x5412, 0x5412 | 1 << 32, 0x541c, 0x541c | 1 << 32):
    byte = ctypes.c_char(b"\x03")
    r = libc.ioctl(0, ctypes.c_ulong(request), ctypes.byref(byte))
    print(hex(request), errno.errorcode[ctypes.get_errno()] if r else "done")
print("MARK")
"""
CONFINED = HELPERS + "/confined"


def table(text):
    """{name: verdict} of a complete run of the prober, else None."""
    lines = [x for x in text.splitlines() if not x.startswith("#")]
    if lines[:1] != ["begin"] or lines[-1:] != ["end"]:
        return None
    return dict(x.split(" ", 1) for x in lines[1:-1])


def golden():
    path = SRC + "/regress/golden/filter.txt"
    with root() if IS_ROOT else contextlib.nullcontext():
        with open(path) as f:
            return table(f.read())


def on_terminal(argv):
    """What argv prints with a new controlling terminal as its input, and how
    many bytes wait to be read there afterwards."""
    outer, inner = pty.openpty()
    attrs = termios.tcgetattr(inner)
    attrs[3] &= ~(termios.ICANON | termios.ISIG)  # every byte counts
    termios.tcsetattr(inner, termios.TCSANOW, attrs)

    def control():
        os.setsid()
        fcntl.ioctl(inner, termios.TIOCSCTTY, 0)

    r = finish(start(argv, p.env, p.proj, stdin=inner, preexec_fn=control))
    n, = struct.unpack("i", fcntl.ioctl(inner, termios.FIONREAD, b"1234"))
    os.close(outer)
    os.close(inner)
    return r, n


with Place() as p:
    with open(HELPERS + "/prober", "rb") as f:
        p.write("prober", f.read(), 0o755)
    want = golden()
    control = table(p.host(CONFINED, "-c", "./prober").out)
    r = p.run("./prober")
    inside = table(r.out)
    if ok(inside is not None, "the prober ends inside", r) and \
            ok(control is not None, "and without a filter"):
        if os.uname().machine == "x86_64":
            for name in sorted(set(want) | set(inside)):
                w, got = want.get(name), inside.get(name)
                # an older kernel
                if w == "ok" and control.get(name) in (
                        "ENOSYS", "EPROTONOSUPPORT"):
                    w = control[name]
                if w != got:
                    diag("%s: %s instead of %s" % (name, got, w))
                    inside[name] = None
            ok(None not in inside.values(), "S70 every call as in the table")
        cases = {"unshare:newuser": "V007 ", "clone:newuser": "V007 ",
                 "clone3": "V007 ", "setns": "V007 ",
                 "x32": "V028 ", "i386:getpid": "V028 ",
                 "i386:unshare": "V028 ", "i386:keyctl": "V028 ",
                 "i386:ptrace": "V028 ", "i386:mount": "V028 ",
                 "i386:bpf": "V028 ", "i386:execve": "V028 ",
                 "i386:io_uring_setup": "V029 ",
                 "i386:io_uring_enter": "V029 ",
                 "i386:io_uring_register": "V029 ",
                 "io_uring_setup": "V029 ", "io_uring_enter": "V029 ",
                 "io_uring_register": "V029 ", "kcmp": "R052 ",
                 "process_vm_readv": "R052 ", "pidfd_getfd": "R052 ",
                 "process_madvise": "R052 "}
        for name in ("ptrace", "keyctl", "add_key", "bpf", "perf_event_open",
                     "mount", "setns", "kcmp", "process_vm_readv",
                     "unshare:newuser", "ioctl:TIOCSTI-high",
                     "fchmod:setuid", "socket:vsock", *cases):
            if name not in inside and os.uname().machine != "x86_64":
                continue
            # a kernel that lacks the call itself shows no difference
            ok(inside.get(name) in ("EPERM", "ENOSYS", "EAFNOSUPPORT") and
               (control.get(name) == "ENOSYS" or
                control.get(name) != inside[name]),
               cases.get(name, "") + "R051 %s is refused by the filter" %
               name, control.get(name))

    r = p.run("cat", "/proc/self/status")
    seen = dict(x.split(":\t", 1) for x in r.out.splitlines() if ":\t" in x)
    for name, value in (("NoNewPrivs", "1"), ("Seccomp", "2"),
                        ("CapInh", "0" * 16), ("CapPrm", "0" * 16),
                        ("CapEff", "0" * 16), ("CapBnd", "0" * 16),
                        ("CapAmb", "0" * 16)):
        equal(seen.get(name), value, "R050 %s" % name)

    p.write("inject.py", INJECT)
    r, n = on_terminal([CARREL, "run", "--", "python3", "inject.py"])
    ok(r.out.count("EPERM\n") == 4 and "MARK" in r.out,
       "V030 V031 no way to type into the terminal, by 32 or 64 bits", r)
    equal(n, 0, "and nothing waits to be read there")
    r, n = on_terminal([CONFINED, "-c", "python3", "inject.py"])
    with open("/proc/sys/dev/tty/legacy_tiocsti") as f:
        legacy = f.read().strip() == "1"
    ok("MARK" in r.out and r.out.count("EPERM\n") < 4 and
       (n > 0 or not legacy), "R075 which the control can", r, n)

done()
