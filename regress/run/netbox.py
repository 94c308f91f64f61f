"""A small internet for the tests of egress, made by root out of two network
namespaces: in `here` carrel is run, with a resolv.conf of its own; `there`
has the name server and the other servers, on documentation addresses. Nothing
of it touches the network of the host, and nothing has a name that outlives
the test."""
import contextlib
import os
import select
import signal
import socket
import ssl
import struct
import subprocess
import tempfile
import threading
import time
from tap import *

DNS, DNS6 = "203.0.113.53", "2001:db8:113::53"
HERE4, HERE6 = "203.0.113.1", "2001:db8:113::1"
A, B = "203.0.113.5", "203.0.113.6"
A6 = "2001:db8:113::5"
PRIVATE = "10.77.0.5"
GREETING = b"HELLO\n"

# name: its addresses; what is not here is NXDOMAIN
NAMES = {
    "api.example.org": [A], "other.example.org": [B],
    "both.example.org": [A, A6], "six.example.org": [A6],
    # the first address does not answer: nobody listens there
    "dead6.example.org": [A, "2001:db8:113::99"],
    "a.wild.example.org": [A], "b.a.wild.example.org": [A],
    "wild.example.org": [A], "evilwild.example.org": [A],
    "loop.example.org": ["127.0.0.1"], "loop6.example.org": ["::1"],
    "mapped.example.org": ["::ffff:127.0.0.1"],
    "link.example.org": ["169.254.169.254"], "zero.example.org": ["0.0.0.0"],
    "multi.example.org": ["224.0.0.1"], "synth.example.org": ["198.18.0.2"],
    "slow.example.org": [A],  # to be kept for a day
    "private.example.org": [PRIVATE], "own.example.org": [HERE4],
    "own6.example.org": [HERE6], "half.example.org": ["127.0.0.1", A],
}


def _answer(query, log):
    """A response to a DNS query: A and AAAA of NAMES (RFC 1035)."""
    labels, i = [], 12
    while query[i]:
        labels.append(query[i + 1:i + 1 + query[i]])
        i += 1 + query[i]
    name = b".".join(labels).decode("latin-1").lower()
    kind = struct.unpack(">H", query[i + 1:i + 3])[0]
    log(name, kind)
    known = NAMES.get(name)
    if known is None and name.endswith(".many.example.org"):
        known = [A]
    family = {1: socket.AF_INET, 28: socket.AF_INET6}.get(kind)
    found = [x for x in known or [] if family == (
        socket.AF_INET6 if ":" in x else socket.AF_INET)]
    rows = b"".join(
        b"\xc0\x0c" + struct.pack(
            ">HHIH", kind, 1, 86400 if name.startswith("slow.") else 1,
            len(d)) + d
        for d in (socket.inet_pton(family, x) for x in found))
    return (query[:2] + (b"\x81\x80" if known is not None else b"\x81\x83") +
            struct.pack(">HHHH", 1, len(found), 0, 0) + query[12:i + 5] + rows)


class Servers:
    """Runs in `there`, in a process of its own; logs go to files."""

    def __init__(self, top):
        self.top = top
        self.lock = threading.Lock()

    def log(self, name, *words):
        with self.lock, open(self.top + "/" + name, "a") as f:
            f.write(" ".join(map(str, words)) + "\n")

    def dns(self, addr):
        s = socket.socket(socket.AF_INET6 if ":" in addr else socket.AF_INET,
                          socket.SOCK_DGRAM)
        s.bind((addr, 53))
        while True:
            data, peer = s.recvfrom(4096)
            with contextlib.suppress(IndexError, struct.error):
                s.sendto(_answer(data, lambda *w: self.log("dns", *w)), peer)

    def tcp(self, addr, port, serve, tls=False):
        s = socket.socket(socket.AF_INET6 if ":" in addr else socket.AF_INET)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind((addr, port))
        s.listen(4096)
        ctx = None
        if tls:
            ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            ctx.load_cert_chain(self.top + "/cert", self.top + "/key")
        while True:
            c, peer = s.accept()
            self.log("tcp", addr, port)
            threading.Thread(target=self.one, args=(c, ctx, serve),
                             daemon=True).start()

    def one(self, c, ctx, serve):
        with contextlib.suppress(OSError, ssl.SSLError):
            with ctx.wrap_socket(c, server_side=True) if ctx else c as c:
                serve(c)

    def http(self, c):
        data = b""
        while True:
            while b"\r\n\r\n" not in data:
                more = c.recv(65536)
                if not more:
                    return
                data += more
            head, data = data.split(b"\r\n\r\n", 1)
            if b"upgrade: websocket" in head.lower():
                c.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: "
                          b"websocket\r\nConnection: Upgrade\r\n\r\n")
                return self.echo(c)
            host = [x.split(b":", 1)[1].strip() for x in head.split(b"\r\n")
                    if x.lower().startswith(b"host:")]
            body = b"HELLO " + b",".join(host)
            c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" %
                      (len(body), body))

    def echo(self, c):
        while data := c.recv(65536):
            c.sendall(data)

    banner = GREETING

    def greet(self, c):
        """The server speaks first, as in ssh."""
        c.sendall(self.banner)
        c.recv(1)

    def late(self, c):
        """Answers when the client has said all, and a second later."""
        n = 0
        while data := c.recv(65536):
            n += len(data)
        time.sleep(1)
        c.sendall(b"%d " % n + b"x" * (1 << 20))

    def early(self, c):
        """Says all it has to say first, and then listens."""
        c.sendall(GREETING)
        c.shutdown(socket.SHUT_WR)
        n = 0
        while data := c.recv(65536):
            n += len(data)
        self.log("early", n)

    def reset(self, c):
        c.sendall(GREETING)
        c.recv(1)
        c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                     struct.pack("ii", 1, 0))

    def udp(self, addr, port):
        s = socket.socket(socket.AF_INET6 if ":" in addr else socket.AF_INET,
                          socket.SOCK_DGRAM)
        s.bind((addr, port))
        while True:
            data, peer = s.recvfrom(65536)
            s.sendto(b"ECHO " + data, peer)

    def run(self):
        for f, *a in (
                (self.dns, DNS), (self.dns, DNS6),
                (self.tcp, A, 443, self.http, True),
                (self.tcp, B, 443, self.http, True),
                (self.tcp, A6, 443, self.http, True),
                (self.tcp, A, 80, self.http), (self.tcp, A, 8080, self.http),
                (self.tcp, A6, 80, self.http),
                (self.tcp, PRIVATE, 80, self.http),
                (self.tcp, "127.0.0.1", 80, self.http),
                (self.tcp, A, 22, self.greet), (self.tcp, A, 7, self.echo),
                (self.tcp, A, 9, self.late), (self.tcp, A, 13, self.early),
                (self.tcp, A, 17, self.reset),
                (self.udp, A, 7), (self.udp, A6, 7)):
            threading.Thread(target=f, args=a, daemon=True).start()
        print("up", flush=True)
        signal.pause()


def _ip(*words):
    subprocess.run(["ip"] + list(words), check=True)


class Net:
    """with Net(place) as n: n.do("run", ...) as Place.do, but in `here`."""

    def __init__(self, place):
        self.p = place
        self.procs = []

    def hold(self, *options):
        p = subprocess.Popen(["unshare"] + list(options) + ["sh", "-c",
                             "echo; exec sleep 3600"], stdout=subprocess.PIPE)
        p.stdout.readline()
        self.procs.append(p)
        return p.pid

    def __enter__(self):
        with root():
            self.top = tempfile.mkdtemp(prefix="carrel-net.")
            os.chmod(self.top, 0o755)
            self.here = self.hold("-n", "-m")
            self.there = self.hold("-n")
            self.wires()
            self.name_servers(DNS)  # and we are root no more
        with root():
            self.root("mount", "--bind", self.top + "/resolv.conf",
                      "/etc/resolv.conf")
            names = ",".join("DNS:" + n for n in NAMES)
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes",
                 "-keyout", self.top + "/key", "-out", self.top + "/cert",
                 "-days", "2", "-subj", "/CN=test", "-addext",
                 "subjectAltName=" + names], check=True,
                stderr=subprocess.DEVNULL)
            os.chmod(self.top + "/cert", 0o644)
            os.mkdir(self.top + "/www")
            with open(self.top + "/www/big", "wb") as f:
                f.write(bytes(1 << 20))
            self.serve(self.there, "Servers(%r).run()" % self.top)
            # what the host itself has, and no sandbox may reach
            self.serve(self.here, "s = Servers(%r)\nthreading.Thread(target="
                       "s.tcp, args=('127.0.0.1', 80, s.http)).start()\n"
                       "threading.Thread(target=s.tcp, args=(%r, 8081, "
                       "s.http)).start()\nthreading.Thread(target=s.tcp, "
                       "args=(%r, 8081, s.http)).start()\n"
                       "print('up', flush=True)" % (self.top, HERE4, HERE6))
        self.cert = self.p.write("ca.pem", open(self.top + "/cert").read())
        return self

    def wires(self):
        def each(pid, *lines):
            for x in lines:
                self.inside(pid, "ip", *x.split())
        each(self.here, "link set lo up",
             "link add v0 type veth peer name v1 netns %d" % self.there,
             "addr add %s/24 dev v0" % HERE4,
             "addr add %s/64 dev v0 nodad" % HERE6, "link set v0 up")
        each(self.there, "link set lo up", "link set v1 up",
             *("addr add %s/24 dev v1" % x for x in (A, B, DNS)),
             *("addr add %s/64 dev v1 nodad" % x for x in (A6, DNS6)),
             "addr add %s/32 dev v1" % PRIVATE)
        each(self.here, "route add default via " + A,
             "-6 route add default via " + A6)

    def inside(self, pid, *argv):
        """As root, in one of the two."""
        subprocess.run(["nsenter", "-t", str(pid), "-n", "-m"] + list(argv),
                       check=True)

    def root(self, *argv):
        self.inside(self.here, *argv)

    def serve(self, pid, code):
        p = subprocess.Popen(
            ["nsenter", "-t", str(pid), "-n", sys.executable, "-c",
             "import threading\nfrom netbox import *\nos.seteuid(0)\n"
             "os.setegid(0)\n" + code],
            stdout=subprocess.PIPE)
        p.stdout.readline()
        self.procs.append(p)

    def daemon(self, *argv):
        """A server of another kind, in `there`; waits for nothing but a word
        or, if it says none, a moment."""
        p = subprocess.Popen(["nsenter", "-t", str(self.there), "-n"] +
                             list(argv), stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL)
        self.procs.append(p)
        select.select([p.stdout], [], [], 1)

    def repository(self):
        """One of git below www, as plain files."""
        at = self.top + "/www/"
        with root():
            for argv in (
                    ("git", "init", "-q", "--bare", at + "repo"),
                    ("git", "-C", at, "init", "-q", "work"),
                    ("git", "-C", at + "work", "-c", "user.name=x", "-c",
                     "user.email=x", "commit", "-q", "--allow-empty", "-m",
                     "first"),
                    ("git", "-C", at + "work", "push", "-q", at + "repo",
                     "HEAD:refs/heads/main"),
                    ("git", "-C", at + "repo", "symbolic-ref", "HEAD",
                     "refs/heads/main"),
                    ("git", "-C", at + "repo", "update-server-info"),
                    ("chmod", "-R", "a+rX", at)):
                subprocess.run(argv, check=True)

    def __exit__(self, *args):
        with root():
            for p in self.procs:
                p.kill()
                p.wait()
            subprocess.run(["rm", "-rf", self.top])

    def name_servers(self, *servers):
        """What resolv.conf of `here` says: nothing of it is for inside."""
        with root(), open(self.top + "/resolv.conf", "w") as f:
            f.write("search example.org\noptions ndots:5\n" + "".join(
                "nameserver %s\n" % x for x in servers))

    def log(self, name):
        try:
            with open(self.top + "/" + name) as f:
                return f.read()
        except FileNotFoundError:
            return ""

    def enter(self, cwd):
        """A mount namespace is entered at its root."""
        return ["nsenter", "-t", str(self.here), "-n", "-m", "setpriv",
                "--reuid", USER, "--regid", str(GID), "--init-groups",
                "env", "-C", cwd]

    def start(self, *argv, env=None, cwd=None, **kw):
        """carrel ARGV"""
        return self.host(self.p.carrel, *argv, env=env, cwd=cwd, **kw)

    def host(self, *argv, env=None, cwd=None, **kw):
        """ARGV as the caller in `here`: the positive control of a refusal."""
        kw.setdefault("stdin", subprocess.DEVNULL)
        kw.setdefault("stdout", subprocess.PIPE)
        kw.setdefault("stderr", subprocess.PIPE)
        with root():
            return subprocess.Popen(
                self.enter(cwd or self.p.proj) + list(argv),
                env=env or self.p.env, **kw)

    def do(self, *argv, timeout=60, **kw):
        return finish(self.start(*argv, **kw), timeout)

    def run(self, profile, *argv, **kw):
        """carrel run -p PROFILE -- ARGV"""
        return self.do("run", "-p", profile, "--", *argv, **kw)

    def py(self, profile, code, **kw):
        """carrel run -p PROFILE -- python3 -c CODE"""
        return self.run(profile, "python3", "-c", code, **kw)

    def profile(self, name, *allow, more=""):
        return self.p.profile(name, "[profile]\ndescription = test\n" + more +
                              "[egress]\n" + "".join(
                                  "allow = %s\n" % x for x in allow))
