#!/usr/bin/python3
"""S75, S83, S88: who comes to no end holds carrel-broker up no longer than a
bound, and what is refused in an odd form is reported all the same."""
import os
import sys

if "CARREL_T_BOX" not in os.environ:
    if os.getuid() == 0:
        import pwd
        pw = pwd.getpwnam(os.environ["CARREL_T_USER"])
        os.setgroups([pw.pw_gid])
        os.setresgid(pw.pw_gid, pw.pw_gid, pw.pw_gid)
        os.setresuid(pw.pw_uid, pw.pw_uid, pw.pw_uid)
    os.environ["CARREL_T_BOX"] = "yes"
    os.execvp("unshare", ["unshare", "-Urnm", sys.executable, __file__])

import socket
import struct
import time
from brokering import *

ALLOWED = "203.0.113.5"


class Dribbler(NameServer):
    """Says that it is cut off, and by TCP never comes to an end; or sends
    what answers nothing for ever."""

    def serve_udp(self):
        while True:
            q, peer = self.udp.recvfrom(4096)
            name, at = dns_name(q, 12)
            if name.startswith("cut"):
                self.udp.sendto(q[:2] + struct.pack(
                    ">5H", 0x8380, 1, 0, 0, 0) + q[12:at + 4], peer)
            else:
                thread(self.stray, peer)

    def stray(self, peer):
        for _ in range(60):
            self.udp.sendto(b"stray", peer)
            time.sleep(0.3)

    def serve_tcp(self):
        while True:
            c, _ = self.tcp.accept()
            thread(self.dribble, c)

    @staticmethod
    def dribble(c):
        try:
            c.send(b"\xff")
            for _ in range(60):
                c.send(b"\xff")
                time.sleep(0.3)
        except OSError:
            pass


names, other = Dribbler(WORLD[2]), NameServer(WORLD[3])
for n in ("a.test", "cut.test", "stray.test"):
    other.has(n, ALLOWED)


def never_reads(c, got):
    time.sleep(60)


def fds(b):
    return len(os.listdir("/proc/%d/fd" % b.pid))


def cpu(b):
    with open("/proc/%d/stat" % b.pid) as f:
        return sum(map(int, f.read().rsplit(")", 1)[1].split()[11:13]))


def comes_down(b, to, seconds):
    """Its descriptors, when they stayed that few for half a second: before it
    accepts what is waiting there are few, too."""
    end, low = time.time() + seconds, 0
    while low < 10 and time.time() < end:
        time.sleep(0.05)
        low = low + 1 if fds(b) <= to else 0
    return to if low == 10 else fds(b)


def reset(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


# The end that came together with the beginning

b = Broker("http://a.test:80", "tls://a.test:443")
first = fds(b)
# what waits for the rest of a hello is let go after 5 s by itself
for port, part, most in ((80, b"GET / HT", 20),
                         (443, b"\x16\x03\x01", 4.5)):
    os.kill(b.pid, 19)
    for _ in range(50):
        s = b.connect("a.test", port)
        s.send(part)
        s.close()
    os.kill(b.pid, 18)
    n = comes_down(b, first, most)
    ok(n <= first, "S88 half a hello and an end, port %d: nothing is left" %
       port, first, n)
ok(not b.seen(), "S75 and nothing is reported: there was no violation",
   b.events)
ok(b.end() == 0, "S88 it ends")

# A reset behind bytes that nobody takes

Server(ALLOWED, 9000, never_reads)
b = Broker("tcp://%s:9000" % ALLOWED)
first = fds(b)
held = []
for _ in range(5):
    s = b.connect(ALLOWED, 9000)
    s.settimeout(0.5)
    try:
        while True:
            s.send(b"x" * 65536)
    except socket.timeout:
        held.append(s)
up = fds(b)
ok(up >= first + 10, "control: they are held", first, up)
for s in held:
    reset(s)
n = comes_down(b, first + 2, 3)
ok(n <= first + 2, "S88 the payload resets what no server reads: it is over",
   first, n)
ok(b.end() == 0, "S88 it ends")

# Urgent bytes, which splice(2) does not pass

Server(ALLOWED, 7)
b = Broker("tcp://%s:7" % ALLOWED, "tls://a.test:443")
s = b.connect(ALLOWED, 7, timeout=2)
for part, flags in ((b"ab", 0), (b"X", socket.MSG_OOB), (b"cd", 0)):
    s.send(part, flags)
    time.sleep(0.05)
r = outcome(s, b"ef", True)
ok(r in (b"abcdef", b"abXcdef"), "S88 what follows an urgent byte arrives", r)
# a name of any bytes is told as it is

odd = bytes(range(1, 256))
ext = b"\0\0" + struct.pack(">HHBH", len(odd) + 5, len(odd) + 3, 0,
                            len(odd)) + odd
body = b"\3\3" + bytes(32) + b"\0\0\2\x13\1\1\0" + \
    struct.pack(">H", len(ext)) + ext
hello = b"\1" + struct.pack(">I", len(body))[1:] + body
s = b.connect("a.test", 443)
r = outcome(s, b"\x16\3\1" + struct.pack(">H", len(hello)) + hello)
ok(r == "reset" and b.saw("tls", "the server name is "),
   "S85 a name of odd bytes is refused and reported", r, b.events)
ok(b.end() == 0, "S88 it ends")

# Name servers that talk and do not answer

b = Broker("*")
for n in ("stray.test", "cut.test"):
    t = time.time()
    r = b.ask(n, timeout=8)
    ok(r == (0, [socket.inet_aton(ALLOWED)]) and time.time() - t < 6,
       "S83 the next server is asked in time: " + n, r, time.time() - t)
ok(b.end() == 0, "S88 it ends")

# No descriptors: it waits, and does not ask again and again

b = Broker(*["tcp://*.wild.test:%d" % i for i in range(1000, 1040)],
           "tcp://a.test:7", files=900)
code, i = 0, 0
while code == 0 and i < 30:
    code = b.ask("n%d.wild.test" % i)[0]
    i += 1
    time.sleep(0.11)  # more than ten a second are refused for that
ok(code == 2 and fds(b) >= 899, "control: there are no more descriptors",
   code, i, fds(b))
s = sock(inside, socket.SOCK_STREAM)
s.connect((DNS, 53))
t = cpu(b)
time.sleep(1)
t = cpu(b) - t
ok(t < 20, "S88 who cannot be accepted does not make it spin", t)
ok(b.ask("a.test")[0] == 0, "S88 and the others are served")
s.close()
ok(b.end() == 0, "S88 it ends")

# An answer of the socket factory that comes too late is nobody else's


class Late(Broker):
    wait = 2.3

    def factory(self, s):
        def late(data, *more):
            time.sleep(self.wait)
            self.wait = 0
            try:
                s.sendmsg(data, *more)
            except BrokenPipeError:
                pass

        class Slow:
            recv, send, sendmsg = s.recv, s.send, staticmethod(late)
        super().factory(Slow)


b = Late("tcp://*.wild.test:7")
b.ask("late.wild.test", timeout=4)
time.sleep(0.6)
r = b.ask("next.wild.test")
ok(r == (2, []), "S83 a socket that came late stands for no other name", r)
ok(b.end() == 0, "S88 it ends")

# Refusals in odd forms

b = Broker("tcp://a.test:7")
RECORD = bytes((7, 39, 4)) + bytes(36) + b"\x01"  # as long as options can be
for name, proto, option, where in (
        ("control", 0, None, ("203.0.113.9", 1001)),
        ("all options", 0, RECORD, ("203.0.113.9", 1002)),
        ("UDP-Lite", 136, None, ("203.0.113.9", 1003))):
    try:
        with within(inside):
            s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, proto)
    except OSError as e:
        ok(proto == 136, "control: no " + name + " here", e)
        continue
    if option:
        s.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, option)
    s.sendto(b"x", where)
    ok(len(b.saw("send", "udp %s:%d" % where)) == 1,
       "S82 reported: " + name, b.events)
for a in ("64:ff9b::7f00:1", "2002:7f00:1::"):
    try:
        b.connect(a, 80)
    except ConnectionRefusedError:
        pass
    ok(len(b.saw("connect", "]:80")) and any(a in e.resource
                                             for e in b.events),
       "S82 reported: loopback inside of " + a, b.events)
ok(b.end() == 0, "S88 it ends")
done()
