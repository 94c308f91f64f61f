"""A carrel-broker without carrel: what the set-up and the monitor say to it is
said by the test, in three network namespaces of its own: the host (where the
broker is), the world (names, servers) and the sandbox (the payload's calls).

Not a test by itself. Import it from a script that runs as root of a user
namespace of its own, see broker.t."""
import ctypes
import os
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

INST = os.environ["CARREL_T_INST"]
BROKER = INST + "/libexec/carrel/carrel-broker"
libc = ctypes.CDLL(None, use_errno=True)
NEWNET, NEWNS = 0x40000000, 0x00020000

# TAP: this runs as another user than tap.py expects

_count = _failed = 0
_then = time.time()


def ok(good, name, *why):
    global _count, _failed, _then
    _count += 1
    now = time.time()
    if now - _then > 2:
        print("# %.1f s" % (now - _then))
    _then = now
    print("%sok %d - %s" % ("" if good else "not ", _count, name))
    if not good:
        _failed += 1
        for line in ["FAILED: " + name] + [repr(w) for w in why]:
            print("# " + line[:600], file=sys.stderr)
    sys.stdout.flush()
    return good


def done():
    print("1..%d" % _count)
    sys.stdout.flush()
    os._exit(1 if _failed else 0)


# Namespaces

def check(n):
    if n == -1:
        e = ctypes.get_errno()
        raise OSError(e, os.strerror(e))


def ns_new():
    """A new network namespace, which is left again; its descriptor."""
    old = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    check(libc.unshare(NEWNET))
    new = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    check(libc.setns(old, NEWNET))
    os.close(old)
    return new


class within:
    """with within(ns): what is made belongs there."""

    def __init__(self, ns):
        self.ns = ns

    def __enter__(self):
        self.old = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        check(libc.setns(self.ns, NEWNET))

    def __exit__(self, *_):
        check(libc.setns(self.old, NEWNET))
        os.close(self.old)


def ip(ns, *lines):
    with within(ns):
        for line in lines:
            subprocess.run(["ip"] + line.split(), check=True)


HOST4, HOST6 = "203.0.113.1", "2001:db8:1::1"
WORLD = ["203.0.113.%d" % n for n in (5, 6, 53, 54)]
WORLD6 = ["2001:db8:1::5", "2001:db8:1::53"]
PRIVATE = "10.77.0.5"
DNS, SOURCE, PREFIX = "198.18.0.2", "198.18.0.1", "fd63:6172:7265:6c00::"

host = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
world = ns_new()
inside = ns_new()


def build():
    ip(host, "link set lo up",
       "link add v0 type veth peer name v1",
       "link set v1 netns /proc/%d/fd/%d" % (os.getpid(), world),
       "addr add %s/24 dev v0" % HOST4,
       "addr add %s/64 dev v0 nodad" % HOST6, "link set v0 up")
    ip(world, "link set lo up", "link set v1 up",
       *(["addr add %s/24 dev v1" % a for a in WORLD] +
         ["addr add %s/64 dev v1 nodad" % a for a in WORLD6] +
         ["addr add %s/32 dev v1" % PRIVATE]))
    ip(host, "route add default via %s" % WORLD[0],
       "route add %s/32 via %s" % (PRIVATE, WORLD[0]))
    ip(inside, "link set lo up", "addr add %s/32 dev lo" % SOURCE,
       "addr add %sc612:1/128 dev lo nodad" % PREFIX,
       "route add local 0.0.0.0/0 dev lo table local src %s" % SOURCE,
       "route add local ::/0 dev lo table local src %sc612:1" % PREFIX)
    check(libc.mount(b"none", b"/", None, 0x44000, None))
    f = tempfile.NamedTemporaryFile("w", prefix="resolv", delete=False)
    f.write("nameserver %s\nnameserver %s\n" % (WORLD[2], WORLD[3]))
    f.close()
    check(libc.mount(f.name.encode(),
                     os.path.realpath("/etc/resolv.conf").encode(), None,
                     0x1000, None))
    os.unlink(f.name)


# The world

def thread(f, *args):
    threading.Thread(target=f, args=args, daemon=True).start()


def sock(ns, kind, address=None, port=0, listen=True, opts=()):
    family = socket.AF_INET6 if ":" in (address or "") else socket.AF_INET
    with within(ns):
        s = socket.socket(family, kind)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        s.setsockopt(socket.IPPROTO_IPV6, 78, 1)  # IPV6_FREEBIND
    for o in opts:
        s.setsockopt(*o)
    if address:
        s.bind((address, port))
    if kind == socket.SOCK_STREAM and address and listen:
        s.listen(1024)
    return s


def dns_name(b, at):
    """The name at an offset, as text; and what is behind it."""
    labels = []
    while b[at]:
        labels.append(b[at + 1:at + 1 + b[at]].decode("latin-1"))
        at += 1 + b[at]
    return ".".join(labels), at + 1


def wire(name):
    return b"".join(struct.pack("B", len(x)) + x.encode()
                    for x in name.split(".")) + b"\0"


def rr(owner, kind, data):
    return wire(owner) + struct.pack(">HHIH", kind, 1, 60, len(data)) + data


class NameServer:
    """zone: (name, type) -> list of (owner, type, data), or a function that
    makes a whole message of the query, or None for silence."""

    def __init__(self, address):
        self.zone, self.asked, self.ports = {}, [], []
        self.udp = sock(world, socket.SOCK_DGRAM, address, 53)
        self.tcp = sock(world, socket.SOCK_STREAM, address, 53)
        self.tcp_asked = 0
        thread(self.serve_udp)
        thread(self.serve_tcp)

    def answer(self, q, tcp):
        name, at = dns_name(q, 12)
        kind = struct.unpack(">H", q[at:at + 2])[0]
        self.asked.append((name.lower(), kind))
        question = q[12:at + 4]
        found = self.zone.get((name.lower(), kind), ())
        if callable(found):
            return found(q, tcp)
        if found is None:
            return None
        known = any(n == name.lower() for n, _ in self.zone)
        return (q[:2] + struct.pack(">5H", 0x8180 | (0 if known else 3), 1,
                                    len(found), 0, 0) + question +
                b"".join(rr(*r) for r in found))

    def serve_udp(self):
        while True:
            q, peer = self.udp.recvfrom(4096)
            self.ports.append(peer[1])
            a = self.answer(q, False)
            if a:
                self.udp.sendto(a, peer)

    def serve_tcp(self):
        while True:
            c, _ = self.tcp.accept()
            self.tcp_asked += 1
            n = struct.unpack(">H", c.recv(2))[0]
            a = self.answer(c.recv(n), True)
            # in pieces, as a network may deliver it
            for part in (struct.pack(">H", len(a))[:1],
                         struct.pack(">H", len(a))[1:] + a[:5], a[5:]):
                c.send(part)
                time.sleep(0.01)
            c.close()

    def has(self, name, *addresses):
        for a in addresses:
            six = ":" in a
            self.zone.setdefault((name, 28 if six else 1), []).append(
                (name, 28 if six else 1,
                 socket.inet_pton(socket.AF_INET6 if six else socket.AF_INET,
                                  a)))


class Server:
    """Listens in the world; what each connection brought is in .got."""

    def __init__(self, address, port, talk=None):
        self.got, self.conns = [], 0
        self.talk = talk or self.echo
        self.s = sock(world, socket.SOCK_STREAM, address, port)
        thread(self.serve)

    def serve(self):
        while True:
            c, _ = self.s.accept()
            self.conns += 1
            got = bytearray()
            self.got.append(got)
            thread(self.one, c, got)

    def one(self, c, got):
        try:
            self.talk(c, got)
        except OSError:
            pass
        c.close()

    @staticmethod
    def echo(c, got):
        while True:
            b = c.recv(65536)
            if not b:
                break
            got += b
            c.sendall(b)


# The set-up and the monitor

REC = {n: 15 + i for i, n in enumerate(
    "BROKER BROKER_RULE BROKER_HOST BROKER_SOCKET BROKER_END READY EVENT"
    .split())}
SCHEMES = {"https": 1, "http": 2, "tls": 3, "tcp": 4, "udp": 5, "*": 6}
LISTENER, FLOW, DNS_LISTENER, DNS_FLOW, OBSERVER, FACTORY = range(1, 7)


def string(s):
    s = s.encode()
    return struct.pack("=H", len(s)) + s + b"\0"


def record(kind, body):
    return struct.pack("=HI", REC[kind], len(body)) + body


def rights(fds):
    return [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
             struct.pack("%di" % len(fds), *fds))]


def pair():
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


class Event:
    def __init__(self, b):
        kind, n, self.surface, self.flags, self.profile, self.line, self.err, \
            self.count = struct.unpack("=HIBBHIII", b[:22])
        assert kind == REC["EVENT"] and n == len(b) - 6, b
        at, texts = 22, []
        for _ in range(3):
            n = struct.unpack("=H", b[at:at + 2])[0]
            texts.append(b[at + 2:at + 2 + n].decode("utf-8", "replace"))
            at += n + 3
        assert at == len(b)
        self.action, self.resource, self.rule = texts

    def __repr__(self):
        return "<%d %s %r err %d x%d rule %r line %d>" % (
            self.surface, self.action, self.resource, self.err, self.count,
            self.rule, self.line)


def is_address(h):
    return ":" in h or h.replace(".", "").isdigit()


def attach(s, family, proto):
    """The filter of parent/listen.c, in instructions of bpf(4)."""
    code = [(0xb1, 0, 0, 0)] if family == socket.AF_INET else []
    if proto == 6:  # a reset without a sequence number
        code += [(0x50, 0, 0, 13), (0x45, 0, 3, 4), (0x40, 0, 0, 4),
                 (0x15, 0, 1, 0)]
    else:  # unreachable
        code += [(0x50, 0, 0, 0), (0x15, 0, 1, 3 if proto == 1 else 1)]
    code += [(6, 0, 0, 0xffffffff), (6, 0, 0, 0)]
    raw = ctypes.create_string_buffer(
        b"".join(struct.pack("=HBBI", *c) for c in code))
    s.setsockopt(socket.SOL_SOCKET, 26, struct.pack(
        "@HP", len(code), ctypes.addressof(raw)))  # SO_ATTACH_FILTER


class Broker:
    """rules: "scheme://host:port[ private]". hosts get addresses in order."""

    def __init__(self, *rules, files=None, honest=True, args=()):
        self.events, self.socks = [], []
        self.setup, theirs = pair()
        self.monitor, theirs4 = pair()
        with within(host):
            self.pid = self.spawn(theirs, theirs4, files, args)
        theirs.close()
        theirs4.close()
        self.rules = [self.rule(r) for r in rules]
        names = sorted({r[1] for r in self.rules
                        if r[1][0] != "*"})
        self.hosts = {}
        for i, n in enumerate(names):
            self.hosts[n] = (n, n) if is_address(n) else (
                "198.18.1.%d" % i, "%sc612:1%02x" % (PREFIX, i))
        self.names = names
        if honest:
            self.start()

    @staticmethod
    def spawn(three, four, files, args):
        pid = os.fork()
        if pid:
            return pid
        if files:
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
        a, b = os.dup(three.fileno()), os.dup(four.fileno())
        a = os.dup2(a, 20)
        b = os.dup2(b, 21)
        os.dup2(a, 3)
        os.dup2(b, 4)
        os.closerange(5, 64)
        os.execve(BROKER, ["carrel-broker"] + list(args), {})

    @staticmethod
    def rule(text):
        if text == "*":
            return "*", "*", 0, 0
        text, _, private = text.partition(" ")
        scheme, _, rest = text.partition("://")
        h, _, port = rest.rpartition(":")
        return scheme, h.strip("[]"), int(port), 1 if private else 0

    def records(self):
        """The stream, and the sockets of its records."""
        out = [(record("BROKER", struct.pack("=HB", 1, 0)), None)]
        for i, (scheme, h, port, private) in enumerate(self.rules):
            out.append((record("BROKER_RULE", struct.pack(
                "=BBH", SCHEMES[scheme], private, port) + string(h) +
                struct.pack("=HI", 0, i + 1)), None))
        for n in self.names:
            v4 = 0 if is_address(n) else struct.unpack(
                ">I", socket.inet_aton(self.hosts[n][0]))[0]
            out.append((record("BROKER_HOST", string(n) +
                               struct.pack("=I", v4)), None))
        for s, kind, h, port in self.sockets():
            self.socks.append(s)
            out.append((record("BROKER_SOCKET", struct.pack(
                "=BHH", kind, h, port)), s))
        out.append((record("BROKER_END", struct.pack(
            "=III", len(self.rules), len(self.names), len(self.socks))),
            None))
        return out

    def sockets(self):
        seen = set()
        for i, n in enumerate(self.names):
            for scheme, h, port, _ in self.rules:
                udp = scheme == "udp"
                if h not in (n, "*" + n[n.find("."):]) or (
                        n, port, udp) in seen:
                    continue
                seen.add((n, port, udp))
                for a in set(self.hosts[n]):
                    yield sock(inside, socket.SOCK_DGRAM if udp else
                               socket.SOCK_STREAM, a, port), (
                        FLOW if udp else LISTENER), i, port
        yield sock(inside, socket.SOCK_DGRAM, DNS, 53), DNS_FLOW, 0, 0
        yield sock(inside, socket.SOCK_STREAM, DNS, 53), DNS_LISTENER, 0, 0
        for family, proto in ((socket.AF_INET, 6), (socket.AF_INET, 1),
                              (socket.AF_INET6, 6), (socket.AF_INET6, 58)):
            with within(inside):
                s = socket.socket(family, socket.SOCK_RAW, proto)
            attach(s, family, proto)
            yield s, OBSERVER, 0, 0
        ours, theirs = pair()
        thread(self.factory, ours)
        yield theirs, FACTORY, 0, 0

    made = 0
    refuse_to_make = False

    def factory(self, s):
        while True:
            q = s.recv(64)
            if not q:
                return
            udp, six, port = struct.unpack("=BBH", q[:4])
            a = socket.inet_ntop(socket.AF_INET6 if six else socket.AF_INET,
                                 q[4:20 if six else 8])
            if self.refuse_to_make:
                s.send(struct.pack("=I", 24))
                continue
            self.made += 1
            m = sock(inside, socket.SOCK_DGRAM if udp else
                     socket.SOCK_STREAM, a, port)
            m.setblocking(False)
            s.sendmsg([struct.pack("=I", 0)], rights([m.fileno()]))
            m.close()

    def start(self):
        for data, s in self.records():
            if s is not None:
                s.setblocking(False)
            self.setup.sendmsg([data], rights([s.fileno()]) if s else [])
        for s in self.socks:
            s.close()
        self.ready = self.answer()

    def answer(self):
        """What it says when it is ready: "", or why not; None: it ended."""
        self.setup.settimeout(5)
        b = self.setup.recv(65536)
        return b[8:-1].decode() if b else None

    def seen(self, wait=0.3):
        """Events until none came for so long; all of this broker."""
        while select.select([self.monitor], [], [], wait)[0]:
            b = self.monitor.recv(65536)
            if not b:
                break
            self.events.append(Event(b))
        return self.events

    def saw(self, action, resource, wait=0.3):
        return [e for e in self.seen(wait)
                if e.action == action and resource in e.resource]

    def end(self):
        """As the monitor ends it: its exit code."""
        self.monitor.shutdown(socket.SHUT_WR)
        t = time.time()
        while time.time() - t < 5:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.002)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        return "hung"

    # What a payload does

    def connect(self, name, port, six=False, timeout=5):
        a = self.hosts[name][1 if six else 0] if name in self.hosts else name
        s = sock(inside, socket.SOCK_STREAM, a if ":" in a else None)
        if ":" in a:
            s.close()
            with within(inside):
                s = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
        s.settimeout(timeout)
        s.connect((a, port))
        return s

    def ask(self, name, kind=1, raw=None, tcp=False, timeout=5):
        """(rcode, [data]) of the answer; None: there is none."""
        q = raw if raw is not None else (
            struct.pack(">6H", 0x1234, 0x100, 1, 0, 0, 0) + wire(name) +
            struct.pack(">HH", kind, 1))
        s = sock(inside, socket.SOCK_STREAM if tcp else socket.SOCK_DGRAM)
        s.settimeout(timeout)
        s.connect((DNS, 53))
        try:
            if tcp:
                s.send(struct.pack(">H", len(q)) + q)
                n = s.recv(2)
                if len(n) < 2:
                    return None
                a = s.recv(struct.unpack(">H", n)[0])
            else:
                s.send(q)
                a = s.recv(4096)
        except (socket.timeout, ConnectionError):
            return None
        finally:
            s.close()
        at, out = 12, []
        if struct.unpack(">H", a[4:6])[0]:
            _, at = dns_name(a, 12)
            at += 4
        for _ in range(struct.unpack(">H", a[6:8])[0]):
            n = struct.unpack(">H", a[at + 10:at + 12])[0]
            out.append(a[at + 12:at + 12 + n])
            at += 12 + n
        return a[3] & 15, out


def outcome(s, data=None, end=False):
    """What comes back until the end: bytes; or "reset", "timeout"."""
    got = bytearray()
    try:
        if data is not None:
            s.sendall(data)
        if end:
            s.shutdown(socket.SHUT_WR)
        while True:
            b = s.recv(1 << 20)
            if not b:
                return bytes(got)
            got += b
    except OSError as e:
        how = "timeout" if isinstance(e, socket.timeout) else "reset"
        return (how, bytes(got)) if got else how


build()
