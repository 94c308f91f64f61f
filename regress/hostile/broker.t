#!/usr/bin/python3
"""carrel-broker alone, with a lying payload, a lying world and a lying set-up
(brokering.py): S81-S88, V048, V049, V051, V053-V056, V058, V059."""
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

from brokering import *

names = NameServer(WORLD[2])
other = NameServer(WORLD[3])

# Names: nothing of the payload's leaves, only what is allowed is answered

b = Broker("https://allowed.test:443", "http://allowed.test:80",
           "tcp://*.wild.test:7", "tcp://192.0.2.9:5")
ok(b.ready == "", "S83 it is ready", b.ready)
v4, v6 = b.hosts["allowed.test"]
ok(b.ask("allowed.test") == (0, [socket.inet_aton(v4)]),
   "S83 an allowed name has carrel's address")
ok(b.ask("ALLOWED.Test", 28) == (0, [socket.inet_pton(socket.AF_INET6, v6)]),
   "S83 and one of IPv6, in any spelling")
ok(b.ask("allowed.test", tcp=True) == (0, [socket.inet_aton(v4)]),
   "S83 by TCP, too")
for kind, what in ((65, "HTTPS"), (64, "SVCB"), (16, "TXT"), (15, "MX"),
                   (255, "ANY"), (10, "NULL"), (5, "CNAME"), (2, "NS")):
    ok(b.ask("allowed.test", kind) == (0, []),
       "V059 %s of an allowed name: nothing of that type" % what)
for name in ("allowed.tes", "denied.test", "sub.allowed.test",
             "evilallowed.test", "allowed.test.denied.test", "wild.test",
             "test", "evilwild.test", "192.0.2.9", "9.2.0.192.in-addr.arpa",
             "localhost"):
    for tcp in (False, True):
        ok(b.ask(name, tcp=tcp) == (3, []),
           "V049 V059 %s does not resolve%s" % (name, " by TCP" * tcp))
    ok(len(b.saw("resolve", "name " + name, 0.05)) == 2,
       "S83 and is reported: " + name, b.events)
HEAD = struct.pack(">6H", 0x1234, 0x100, 1, 0, 0, 0)
A_IN = b"\0\1\0\1"
for q, name, text in (
        (b"\x0cdenied.test\0\x07allowed\x04test\0", "a NUL", "\\000"),
        (b"\x0callowed.test\0", "a dot in a label", "\\046"),
        (b"\x08\xe2\x80\xaeevil1\x07allowed\x04test\0", "a bidi control",
         "\\226\\128\\174"),
        (b"\x0b\x1b[2Jallowed\x04test\0", "an escape", "\\027"),
        (b"\x08-allowed\x04test\0", "a hyphen", "-allowed"),
        (b"\x01*\x04wild\x04test\0", "a star", "*.wild.test")):
    r = b.ask("", raw=HEAD + q + A_IN)
    ok(r == (3, []), "V048 V049 %s in a name" % name, r)
    ok(b.saw("resolve", text, 0.05), "V048 and nothing of it is hidden: " +
       name, b.events)
for raw, name, want in (
        (HEAD + b"\x07allowed\x04test\0\0\1\0\3", "of another class",
         (5, [])),
        (HEAD + b"\x07allowed\xc0\x0c" + A_IN, "with a pointer", (1, [])),
        (HEAD[:-1] + b"\1", "cut off", (1, [])),
        (HEAD + b"\x07allowed\x04test\0" + A_IN + b"x" * 600, "too long",
         (1, [])),
        (struct.pack(">6H", 1, 0x2800, 1, 0, 0, 0) + b"\x07allowed\x04test\0" +
         A_IN, "of another operation", (4, []))):
    r = b.ask("", raw=raw)
    ok(r == want, "V059 a question %s" % name, r)
ok(b.ask("", raw=b"short", timeout=0.3) is None and
   b.ask("", raw=b"\0\1\x81\x80" + HEAD[4:] + b"\x07allowed\x04test\0" + A_IN,
         timeout=0.3) is None, "V059 no answer to what is no question")
ok(b.ask("allowed.test")[0] == 0, "V059 control: it goes on answering")
r = [b.ask("n%d.wild.test" % i) for i in range(12)]
good = [x for x in r if x[0] == 0 and len(x[1]) == 1]
ok(len(good) == 10 and len({x[1][0] for x in good}) == 10 and
   r[10:] == [(2, []), (2, [])],
   "S81 ten new names a second under a wildcard, each its own address", r)
ok(len(b.saw("resolve", "256 names")) == 1, "S81 then one event", b.events)
ok(b.ask("n3.wild.test") == r[3] and b.made == 20,
   "S81 a name that is known keeps its address", b.made)
ok(b.ask("new.wild.test", 16) == (0, []) and b.made == 20,
   "S81 other types take no name")
time.sleep(1)
b.refuse_to_make = True
ok(b.ask("f.wild.test") == (2, []), "S81 no socket, no answer")
b.refuse_to_make = False
ok(b.ask("g.wild.test")[0] == 0, "S81 and the next name has one")
ok(names.asked == [] and other.asked == [],
   "V059 nobody outside was asked anything", names.asked)
ok(b.end() == 0, "S88 it ends with its monitor")

# Who is connected: the address that was judged, whatever the name says

names.has("public.test", "203.0.113.5")
names.has("loop.test", "127.0.0.1", "::1")
names.has("own.test", HOST4, HOST6)
names.has("priv.test", PRIVATE)
names.has("mapped.test", "::ffff:127.0.0.1", "64:ff9b::7f00:1",
          "2002:7f00:1::1", "::127.0.0.1")
names.has("mappedok.test", "::ffff:203.0.113.5")
names.has("mixed.test", "203.0.113.5", PRIVATE)
names.has("meta.test", "169.254.169.254", "fe80::1", "0.0.0.0", "224.0.0.1",
          "255.255.255.255", "fd00:ec2::254", "100.100.100.200")
names.has("bcast.test", "203.0.113.255")
names.zone[("alias.test", 1)] = [
    ("stranger.test", 1, socket.inet_aton("203.0.113.6")),
    ("alias.test", 5, wire("public.test")),
    ("public.test", 1, socket.inet_aton("203.0.113.5"))]
names.zone[("stray.test", 1)] = [
    ("stranger.test", 1, socket.inet_aton("203.0.113.6"))]
echo = Server("203.0.113.5", 7)
priv = Server(PRIVATE, 7)
stranger = Server("203.0.113.6", 7)
own = []
for a, p in (("127.0.0.1", 7), (HOST4, 7)):
    s = sock(host, socket.SOCK_STREAM, a, p)
    s.settimeout(0.01)
    own.append(s)
every = ("public loop own priv mapped mappedok mixed meta bcast alias stray "
         "nothing").split()
b = Broker(*["tcp://%s.test:7" % n for n in every] +
           ["tcp://%s:7" % HOST4, "tcp://%s:7" % PRIVATE,
            "tcp://203.0.113.6:7"])
PING = b"ping"


def talk(name, six=False, port=7):
    try:
        s = b.connect(name, port, six)
    except ConnectionResetError:
        return "reset"
    except OSError as e:
        return e.strerror
    r = outcome(s, PING, True)
    s.close()
    return r


for name in ("public.test", "mappedok.test", "alias.test", PRIVATE,
             "203.0.113.6"):
    r = talk(name)
    ok(r == PING, "S84 V053 control: %s is reached" % name, r)
ok(talk("public.test", True) == PING,
   "S88 the family outside does not depend on the one inside")
time.sleep(0.2)
n = priv.conns
for name, why in (("loop.test", "loopback"), ("own.test", "own"),
                  ("priv.test", "private"), ("mapped.test", "loopback"),
                  ("meta.test", "at"), ("bcast.test", "broadcast"),
                  (HOST4, "own")):
    r = talk(name)
    ok(r == "reset", "S84 V054 %s is not reached" % name, r)
    e = b.saw("connect", name, 0.1)
    ok(e and all(x.line > 0 and x.rule.startswith("allow = tcp://") and
                 (why in x.resource or why == "at") for x in e),
       "S84 and the report says why: " + name, e)
ok(priv.conns == n, "S84 nobody private saw a connection")
for s in own:
    try:
        s.accept()
        ok(False, "S84 the host saw a connection")
    except socket.timeout:
        ok(True, "S84 the host saw no connection")
ok(talk("mixed.test") == PING and priv.conns == n,
   "V054 of a public and a private address the public one is taken")
ok(talk("stray.test") == "reset" and stranger.conns == 1,
   "V053 an address of somebody else in the answer is passed over")
ok(talk("nothing.test") == "reset", "S88 a name that is not there: a reset")
ok(len(set(names.ports)) > len(names.ports) * 0.9,
   "S83 each question from a port of its own", len(names.ports))
ok({k for _, k in names.asked} == {1, 28} and
   {n for n, _ in names.asked} <= {"%s.test" % n for n in every},
   "S83 only A and AAAA of allowed names are asked", set(names.asked))
ok(b.end() == 0, "S88 it ends")
b = Broker("tcp://priv.test:7 private", "tcp://loop.test:7 private",
           "tcp://own.test:7 private")
ok(talk("priv.test") == PING, "S84 private, where the rule says so")
ok(talk("loop.test") == "reset" and talk("own.test") == "reset",
   "S84 but never the host's own")
b.end()

# Each connection asks again: an address that was withdrawn is not used

names.has("moves.test", "203.0.113.5")
b = Broker("tcp://moves.test:7")
n, m = echo.conns, stranger.conns
ok(talk("moves.test") == PING and echo.conns == n + 1, "V055 control")
names.zone[("moves.test", 1)] = [
    ("moves.test", 1, socket.inet_aton("203.0.113.6"))]
ok(talk("moves.test") == PING and stranger.conns == m + 1 and
   echo.conns == n + 1, "V055 the name moved: the next connection knows")
names.zone[("moves.test", 1)] = []
ok(talk("moves.test") == "reset" and stranger.conns == m + 1,
   "V055 the name is gone: so is the way")
b.end()

# A name server that lies, is silent, or cuts short


def cut(q, tcp):
    full = names.zone[("public.test", 1)]
    _, at = dns_name(q, 12)
    return q[:2] + struct.pack(
        ">5H", 0x8180 if tcp else 0x8380, 1, 1 if tcp else 0, 0, 0) + \
        q[12:at + 4] + (b"\xc0\x0c" + rr(*full[0])[13:] if tcp else b"")


def nonsense(q, _):
    return q[:2] + b"\x81\x80" + b"\xff" * 300


def failing(q, _):
    _, at = dns_name(q, 12)
    return q[:2] + struct.pack(">5H", 0x8182, 1, 0, 0, 0) + q[12:at + 4]


def loops(q, _):
    _, at = dns_name(q, 12)
    return q[:2] + struct.pack(">5H", 0x8180, 1, 1, 0, 0) + q[12:at + 4] + \
        b"\xc0" + bytes([at + 4]) + struct.pack(">HHIH", 1, 1, 1, 4) + b"abcd"


def tell_from(address, port, change=lambda a: a):
    """Another socket answers, with a stranger's address; the server does not.
    """
    s = sock(world, socket.SOCK_DGRAM, address, port)

    def how(q, _):
        name, at = dns_name(q, 12)
        a = q[:2] + struct.pack(">5H", 0x8180, 1, 1, 0, 0) + q[12:at + 4] + \
            b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 1, 4) + \
            socket.inet_aton("203.0.113.6")
        s.sendto(change(a), (HOST4, names.ports[-1]))
        time.sleep(0.1)
        return None
    return how


def other_id(q, _):
    _, at = dns_name(q, 12)
    return bytes([q[0] ^ 1]) + q[1:2] + struct.pack(
        ">5H", 0x8180, 1, 1, 0, 0) + q[12:at + 4] + b"\xc0\x0c" + struct.pack(
        ">HHIH", 1, 1, 1, 4) + socket.inet_aton("203.0.113.6")


def other_name(q, _):
    return q[:2] + struct.pack(">5H", 0x8180, 1, 1, 0, 0) + wire(
        "denied.test") + b"\0\1\0\1" + rr(
        "public.test", 1, socket.inet_aton("203.0.113.6"))


def always_cut(q, tcp):
    _, at = dns_name(q, 12)
    return q[:2] + struct.pack(">5H", 0x8380, 1, 0, 0, 0) + q[12:at + 4]


b = Broker(*["tcp://%s.test:7" % n for n in ("spoof", "spoof2", "id", "name",
                                             "cut2", "shout", "odd2")])
for name, how in (("spoof", tell_from(WORLD[0], 53)),
                  ("spoof2", tell_from(WORLD[2], 5353)), ("id", other_id),
                  ("name", other_name), ("cut2", always_cut)):
    names.zone[(name + ".test", 1)] = how
    names.zone[(name + ".test", 28)] = ()
    other.has(name + ".test", "203.0.113.5")
for name, what in (("spoof", "another address"), ("spoof2", "another port"),
                   ("id", "another number"), ("name", "another question"),
                   ("cut2", "always cut off")):
    n, m = echo.conns, stranger.conns
    r = talk(name + ".test")
    ok(r == PING and echo.conns == n + 1 and stranger.conns == m,
       "V053 V059 an answer from or with %s is none" % what, r)


def shout(q, _):
    _, at = dns_name(q, 12)
    return q[:2] + struct.pack(">5H", 0x8180, 1, 1, 0, 0) + \
        q[12:at].upper() + q[at:at + 4] + rr(
            "SHOUT.Test", 1, socket.inet_aton("203.0.113.5"))


names.zone[("shout.test", 1)] = shout
names.zone[("odd2.test", 1)] = [
    ("odd2.test", 5, wire("_x.odd2.test")),
    ("_X.odd2.test", 1, socket.inet_aton("203.0.113.5"))]
for name, what in (("shout", "in other letters"),
                   ("odd2", "by an alias that is no host")):
    r = talk(name + ".test")
    ok(r == PING, "S83 an answer %s counts" % what, r)
b.end()
for name, how in (("cut.test", cut), ("fail.test", failing),
                  ("loop2.test", loops), ("dumb.test", None),
                  ("odd.test", nonsense)):
    for kind in (1, 28):
        names.zone[(name, kind)] = how
    other.has(name, "203.0.113.5")
names.zone[("cut.test", 28)] = ()
b = Broker(*["tcp://%s.test:7" % n for n in
             ("cut", "fail", "loop2", "dumb", "odd")])
n = names.tcp_asked
ok(talk("cut.test") == PING and names.tcp_asked == n + 1,
   "S83 what is cut off is asked by TCP")
for name, what in (("fail.test", "fails"), ("loop2.test", "points at itself"),
                   ("dumb.test", "is silent"), ("odd.test", "is nonsense")):
    t = time.time()
    r = talk(name)
    ok(r == PING and time.time() - t < 4.5,
       "S83 the next server is asked when one %s" % what, r, time.time() - t)
b.end()

# TLS: the name in the hello is the name that was resolved


def sni(name, kind=0):
    n = name if isinstance(name, bytes) else name.encode()
    return b"\0\0" + struct.pack(">HHBH", len(n) + 5, len(n) + 3, kind,
                                 len(n)) + n


def hello(ext):
    h = b"\3\3" + bytes(32) + b"\0\0\2\x13\1\1\0" + struct.pack(
        ">H", len(ext)) + ext
    return b"\1\0" + struct.pack(">H", len(h)) + h


def rec(h, part=16384):
    return b"".join(b"\x16\3\1" + struct.pack(">H", len(h[i:i + part])) +
                    h[i:i + part] for i in range(0, len(h), part))


names.has("allowed.test", "203.0.113.5")
tls = Server("203.0.113.5", 443)
b = Broker("https://allowed.test:443", "tls://*.wild.test:443",
           "tls://203.0.113.5:443")


def tls_try(data, name="allowed.test", pause=0):
    s = b.connect(name, 443, timeout=8)
    if pause:
        for i in range(len(data)):
            s.send(data[i:i + 1])
            time.sleep(pause)
        s.shutdown(socket.SHUT_WR)
        r = outcome(s)
    else:
        r = outcome(s, data, True)
    s.close()
    return r


good = rec(hello(sni("allowed.test")))
ok(tls_try(good) == good, "S85 control: the name that was resolved")
ok(tls_try(good + b"more") == good + b"more", "S85 and all that follows")
up = rec(hello(sni("ALLOWED.test")))
ok(tls_try(up) == up, "V058 in any case")
part = rec(hello(sni("allowed.test")), 16)
ok(tls_try(part) == part, "V058 in several records")
ok(tls_try(good, pause=0.002) == good, "V058 byte by byte")
dot = rec(hello(sni("allowed.test.")))
ok(tls_try(dot) == dot, "V058 with a dot at its end")
grease = rec(hello(b"\x1a\x1a\0\0" + sni("allowed.test") + b"\0\x10\0\5\0\3"
                   b"\2h2"))
ok(tls_try(grease) == grease, "V058 among other extensions")
ech = rec(hello(sni("allowed.test") + b"\xfe\x0d\0\4abcd"))
ok(tls_try(ech) == ech, "V058 with a hidden name: the outer one counts")
time.sleep(0.2)
n = tls.conns
for data, what, why in (
        (rec(hello(sni("denied.test"))), "another name",
         "the server name is denied.test"),
        (rec(hello(sni("sub.allowed.test"))), "a name below",
         "the server name is sub.allowed.test"),
        (rec(hello(b"")), "no name", "no server name"),
        (rec(hello(sni("allowed.test") + sni("denied.test"))), "two names",
         "a bad TLS hello"),
        (rec(hello(sni("allowed.test", 1))), "a name of another kind",
         "a bad TLS hello"),
        (rec(hello(sni(b"allowed.test\0.denied.test"))), "a NUL",
         "a bad TLS hello"),
        (rec(hello(sni("allowed.test.."))), "two dots",
         "the server name is allowed.test.."),
        (rec(hello(sni(" allowed.test"))), "a blank",
         "the server name is  allowed.test"),
        (rec(hello(sni("allowed.test:443"))), "a port",
         "the server name is allowed.test:443"),
        (rec(hello(sni("*.test"))), "a wildcard", "the server name is *.test"),
        (rec(hello(sni("\u0430llowed.test"))), "another script",
         "the server name is \u0430llowed.test"),
        (rec(hello(sni("allowed.test\r\nX: y"))), "a new line",
         "the server name is allowed.test\r\nX: y"),
        (rec(hello(sni("a" * 256))), "256 bytes", "a bad TLS hello"),
        (rec(hello(sni("x" + ".allowed.test" * 19))), "a long name",
         "the server name is x.allowed.test"),
        (rec(hello(b"\0\0\0\x1f\0\x1d\0\0\x0callowed.test\0\0\x0b"
                   b"denied.test")), "two names in one list",
         "a bad TLS hello"),
        (rec(hello(b"\xfe\x0d\0\4abcd")), "a hidden name alone",
         "no server name"),
        (rec(hello(sni("denied.test") + b"\xfe\x0d\0\4abcd")),
         "another outer name", "the server name is denied.test"),
        (b"\x80\x2e\1\3\1\0\x15\0\0\0\x10" + bytes(37), "SSL 2", "not TLS"),
        (b"\x16\xfe\xff" + bytes(60), "DTLS", "not TLS"),
        (b"\x15\3\1\0\2\1\0", "an alert", "not TLS"),
        (b"\0" * 32, "zeros", "not TLS"),
        (rec(hello(sni("203.0.113.5"))), "an address",
         "the server name is 203.0.113.5"),
        (rec(hello(sni("allowed.test")), 6), "too many records",
         "a bad TLS hello"),
        (b"GET / HTTP/1.1\r\nHost: allowed.test\r\n\r\n", "plain HTTP",
         "not TLS"),
        (b"SSH-2.0-x\r\n", "SSH", "not TLS"),
        (b"\x16\3\1\xff\xff" + bytes(100), "an endless record",
         "a bad TLS hello")):
    r = tls_try(data)
    ok(r == "reset", "V056 V058 %s: a reset" % what, r)
    ok(b.saw("tls", "tcp allowed.test:443: " + why, 0.05),
       "S85 and a report: " + what, b.events[-3:])
ok(tls.conns == n, "V058 and the server saw nothing", tls.conns - n)
bare = rec(hello(b""))
ok(tls_try(bare, "203.0.113.5") == bare,
   "S81 to a literal the hello names nobody")
ok(tls_try(good, "203.0.113.5") == "reset", "S81 and must not")
t = time.time()
s = b.connect("allowed.test", 443, timeout=8)
ok(outcome(s, good[:20]) == "reset" and 4 < time.time() - t < 7,
   "S85 a hello that never ends: five seconds", time.time() - t)
names.has("a.wild.test", "203.0.113.5")
names.has("b.wild.test", "203.0.113.5")
b.hosts["a.wild.test"] = (socket.inet_ntoa(b.ask("a.wild.test")[1][0]), 0)
wild = rec(hello(sni("a.wild.test")))
ok(tls_try(wild, "a.wild.test") == wild, "S85 under a wildcard")
ok(tls_try(rec(hello(sni("b.wild.test"))), "a.wild.test") == "reset",
   "S85 a name that fits the wildcard only is another name")
ok(b.end() == 0, "S88 it ends")

# Two rules for one place: unchecked bytes, and TLS that may reach further

names.has("both.test", PRIVATE)
names.has("both2.test", "203.0.113.5")
privtls = Server(PRIVATE, 443)
b = Broker("tcp://both.test:443", "https://both.test:443 private",
           "tcp://both2.test:443", "https://both2.test:443 private")
both = rec(hello(sni("both.test")))
ok(tls_try(both, "both.test") == both,
   "S84 a rule that checks may say private, another one beside it")
ok(tls_try(b"plain", "both.test") == "reset" and
   tls_try(good, "both.test") == "reset",
   "S84 what only the other one allows does not get there")
ok(tls_try(b"plain", "both2.test") == b"plain",
   "S80 but to where that one leads")
s = b.connect("both2.test", 443)
time.sleep(0.5)
ok(outcome(s, b"late", True) == b"late", "S85 whoever speaks first")
ok(b.end() == 0, "S88 it ends")

# HTTP: each request


def http_server(c, got):
    """Answers each head that it sees, as one that knows no better."""
    while True:
        x = c.recv(65536)
        if not x:
            return
        got += x
        for _ in range(x.count(b"\r\n\r\n")):
            c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")


def switcher(c, got):
    while b"\r\n\r\n" not in got:
        got += c.recv(65536)
    c.sendall(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 101 Go\r\n"
              b"Upgrade: x\r\n\r\n")
    Server.echo(c, got)


web = Server("203.0.113.5", 80, http_server)
sw = Server("203.0.113.5", 81, switcher)
b = Broker("http://allowed.test:80", "http://allowed.test:81")
OKHEAD = b"Host: allowed.test\r\n"
GET = b"GET / HTTP/1.1\r\n" + OKHEAD + b"\r\n"
EVIL = b"GET /evil HTTP/1.1\r\nHost: denied.test\r\n\r\n"
HI = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"


def http_try(*parts, port=80):
    s = b.connect("allowed.test", port, timeout=3)
    r = []
    for p in parts:
        try:
            s.sendall(p)
            r.append(s.recv(65536))
        except OSError as e:
            r.append(type(e).__name__)
            break
    s.close()
    return r


ok(http_try(GET, GET, GET) == [HI] * 3, "S85 control: kept alive")
r = http_try(GET, EVIL)
ok(r == [HI, "ConnectionResetError"], "V058 the second request names another",
   r)
NONE = b"GET /none HTTP/1.1\r\nHost: denied.test\r\n--"
body = b"POST / HTTP/1.1\r\n" + OKHEAD + b"Content-Length: %d\r\n\r\n" % (
    len(NONE)) + NONE
ok(http_try(body, GET) == [HI, HI], "S85 what is inside a body is no request")
chunked = b"PUT / HTTP/1.1\r\n" + OKHEAD + \
    b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
r = outcome(b.connect("allowed.test", 80), chunked + EVIL)
# a reset may overtake what was on its way
ok(r == "reset" or (r[0] == "reset" and (HI + HI).startswith(r[1])),
   "V058 a request behind the last chunk is one", r)
time.sleep(0.2)
n = web.conns
for bad, why in (
        (EVIL, "another Host"), (b"GET / HTTP/1.1\r\n\r\n", "no Host"),
        (b"GET / HTTP/1.1\r\n" + OKHEAD * 2 + b"\r\n", "more than one Host"),
        (b"CONNECT allowed.test:80 HTTP/1.1\r\n" + OKHEAD + b"\r\n",
         "CONNECT"),
        (b"GET / HTTP/1.1\r\nHost: allowed.test:443\r\n\r\n", "another Host"),
        (b"GET / HTTP/1.1\r\nHost: allowed.test:080\r\n\r\n", "another Host"),
        (b"GET / HTTP/1.1\r\nHost: x@allowed.test\r\n\r\n", "another Host"),
        (b"GET / HTTP/1.1\r\nHost: allowed.test\0\r\n\r\n",
         "a control character in a header"),
        (b"GET / HTTP/1.1\r\nX: y\r\n " + OKHEAD + b"\r\n",
         "a header line that is none"),
        (b"GET http://x@allowed.test/ HTTP/1.1\r\n" + OKHEAD + b"\r\n",
         "a target at another host"),
        (b"GET https://allowed.test/ HTTP/1.1\r\n" + OKHEAD + b"\r\n",
         "a target that is no path"),
        (b"POST / HTTP/1.1\r\n" + OKHEAD + b"Transfer-Encoding: chunked\r\n"
         b"Transfer-Encoding: identity\r\n\r\n", "other than chunked"),
        (b"POST / HTTP/1.1\r\n" + OKHEAD + b"Content-Length: 4\r\n"
         b"Content-Length: 40\r\n\r\n", "said twice"),
        (b"GET http://denied.test/ HTTP/1.1\r\n" + OKHEAD + b"\r\n",
         "a target at another host"),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "no request of HTTP/1"),
        (good, "no request of HTTP/1"),
        (b"GET / HTTP/1.1\nHost: allowed.test\n\n", "CRLF"),
        (b"GET / HTTP/1.1\r\n" + OKHEAD + b"Content-Length: 1\r\n"
         b"Transfer-Encoding: chunked\r\n\r\n", "said twice")):
    r = http_try(bad + (b"\r\n\r\n" if bad is good else b""))
    ok(r == ["ConnectionResetError"], "V051 V056 V058 refused: " + why, r)
    ok(b.saw("http", why, 0.05), "S85 and reported: " + why, b.events[-3:])
ok(web.conns == n and not any(b"evil" in g for g in web.got),
   "V058 and no server saw any of it")
WS = b"GET / HTTP/1.1\r\n" + OKHEAD + b"Upgrade: x\r\n\r\n"
r = outcome(b.connect("allowed.test", 81), WS + EVIL + b"raw", True)
ok(b"101 Go" in r and r.endswith(EVIL + b"raw"),
   "S88 the server switched: from there on it is theirs", r)
H2C = b"GET / HTTP/1.1\r\n" + OKHEAD + b"Connection: Upgrade, HTTP2-Settings" \
    b"\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n"
r = http_try(GET, H2C + EVIL)
ok(r[0] == HI and b"evil" not in bytes(web.got[-1]),
   "V058 h2c asked for in a later request opens nothing", r)
r = http_try(H2C + b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
ok(not any(b"PRI" in g for g in web.got),
   "V058 HTTP/2 before the server agreed does not get there", r)
r = http_try(WS + EVIL)
ok(r[0] in (HI, HI[:-2], "ConnectionResetError"), "S85 it did not", r)
ok(not any(b"evil" in g for g in web.got),
   "S85 then the next request is looked at")
ok(b.end() == 0, "S88 it ends")

# Streams


def source(c, got):
    c.sendall(BIG)


def sink_first(c, got):
    while True:
        x = c.recv(1 << 20)
        if not x:
            break
        got += x
    c.sendall(b"%d" % len(got))


def never(c, got):
    time.sleep(30)


def abort(c, got):
    c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


BIG = bytes(range(256)) * (64 << 12)
src = Server("203.0.113.5", 9001, source)
sink = Server("203.0.113.5", 9002, sink_first)
silent = Server("203.0.113.5", 9003, never)
aborts = Server("203.0.113.5", 9004, abort)
names.has("six.test", "2001:db8:1::5", "203.0.113.5")
six = Server("2001:db8:1::5", 9005)
four = Server("203.0.113.5", 9006)
names.has("lost.test", "2001:db8:2::1", "203.0.113.5")
ip(host, "route add blackhole 192.0.2.66/32")
b = Broker(*["tcp://public.test:%d" % p for p in (
    7, 9001, 9002, 9003, 9004, 9009)] +
    ["tcp://six.test:9005", "tcp://six.test:9006", "tcp://lost.test:7",
     "tcp://192.0.2.66:7"])
s = b.connect("public.test", 9001)
r = outcome(s)
ok(r == BIG, "S88 64 MiB come through whole", len(r))
s = b.connect("public.test", 9002)
s.sendall(BIG)
s.shutdown(socket.SHUT_WR)
r = outcome(s)
ok(r == b"%d" % len(BIG) and sink.got[-1] == BIG,
   "S88 64 MiB go out whole, and the answer comes after the end", r)
s = b.connect("public.test", 7)
for part in (b"a", b"bc", b"x" * 70000):
    s.sendall(part)
    s.send(b"!", socket.MSG_OOB)
    time.sleep(0.05)
s.send(b"end")
r = outcome(s, b"", True)
ok(r == b"abc" + b"x" * 70000 + b"end",
   "S88 urgent bytes are passed over, and hold nothing up", len(r), r[-9:])
t = time.time()
ok(talk("public.test", port=9004) == "reset",
   "S88 a reset outside is one inside")
ok(talk("public.test", port=9009) == "reset" and time.time() - t < 2,
   "S88 nobody listens: a reset, at once")
ok(talk("192.0.2.66") == "reset", "S88 no route: a reset")
ok(talk("six.test", port=9005) == PING and six.conns == 1,
   "S88 IPv6 outside, IPv4 inside")
ok(talk("six.test", port=9006) == PING, "S88 IPv4 where IPv6 refuses")
t = time.time()
ok(talk("lost.test") == PING and time.time() - t < 1.5,
   "S88 IPv4 where IPv6 is lost", time.time() - t)


def rss():
    with open("/proc/%d/statm" % b.pid) as f:
        return int(f.read().split()[1]) * 4


slow = [b.connect("public.test", 9001) for _ in range(80)]
time.sleep(1)
ok(rss() < 16384, "S88 80 slow readers take no memory", rss())
ok(talk("public.test") == PING, "S88 and hold nobody up")
for s in slow[:2]:
    r = outcome(s)
    ok(r == BIG, "S88 a slow reader gets all of it") if s is slow[0] else None
for s in slow:
    s.close()
many = [b.connect("public.test", 7) for _ in range(300)]
for i, s in enumerate(many):
    s.sendall(b"%d" % i)
    s.shutdown(socket.SHUT_WR)
r = [outcome(s) for s in many]
ok(r == [b"%d" % i for i in range(300)], "S88 300 at a time, each its own", r)
held = b.connect("public.test", 9003)
held.sendall(PING)
time.sleep(0.1)
os.kill(b.pid, signal.SIGKILL)
ok(outcome(held) == "reset", "S88 the broker dies: a reset, not a hang")
os.waitpid(b.pid, 0)
# what is refused inside is told to the monitor, with what it was
b = Broker("tcp://public.test:7", "udp://public.test:7")
for a, port, what in (("203.0.113.5", 22, "tcp 203.0.113.5:22"),
                      ("169.254.169.254", 80, "tcp 169.254.169.254:80"),
                      ("2001:db8::7", 443, "tcp [2001:db8::7]:443"),
                      ("public.test", 8080, "tcp public.test:8080")):
    t = time.time()
    try:
        b.connect(a, port)
        ok(False, "S82 refused: " + what)
    except ConnectionRefusedError:
        ok(time.time() - t < 0.5, "S82 refused at once: " + what)
    e = b.saw("connect", what)
    ok(len(e) == 1 and e[0].err == 111 and e[0].rule == "",
       "S75 and reported: " + what, b.events)
for a, what in (("203.0.113.9", "udp 203.0.113.9:53"),
                ("2001:db8::9", "udp [2001:db8::9]:53")):
    with within(inside):
        s = socket.socket(socket.AF_INET6 if ":" in a else socket.AF_INET,
                          socket.SOCK_DGRAM)
    s.sendto(b"x", (a, 53))
    ok(len(b.saw("send", what)) == 1, "S82 reported: " + what, b.events)
n = len(b.seen())
try:
    b.connect("127.0.0.1", 1)
except ConnectionRefusedError:
    pass
ok(len(b.seen()) == n, "S87 what happens on its own loopback is not",
   b.events[n:])

# Datagrams

echo_udp = sock(world, socket.SOCK_DGRAM, "203.0.113.5", 7)


def udp_echo():
    while True:
        d, peer = echo_udp.recvfrom(65536)
        echo_udp.sendto(b"%d " % peer[1] + d, peer)


thread(udp_echo)


def dgram(six=False):
    with within(inside):
        s = socket.socket(socket.AF_INET6 if six else socket.AF_INET,
                          socket.SOCK_DGRAM)
    s.settimeout(2)
    return s


to4, to6 = ((b.hosts["public.test"][i], 7) for i in (0, 1))
s, s2, s6 = dgram(), dgram(), dgram(True)
ports = set()
for x, to in ((s, to4), (s2, to4), (s6, to6)):
    for i in range(3):
        x.sendto(b"n%d" % i, to)
    got = [x.recvfrom(65536) for i in range(3)]
    ports |= {g[0].split()[0] for g in got}
    ok(sorted(g[0].split()[1] for g in got) == [b"n0", b"n1", b"n2"] and
       all(g[1][:2] == to for g in got),
       "S86 datagrams, answered from where they were sent to", got)
ok(len(ports) == 3, "S88 each sender has a flow of its own", ports)
s.sendto(b"x" * 60000, to4)
ok(len(s.recv(65536)) > 60000, "S88 large ones, too")
spoof = sock(world, socket.SOCK_DGRAM, "203.0.113.6", 7)
spoof.sendto(b"evil", (HOST4, int(sorted(ports)[0])))
s.settimeout(0.3)
try:
    ok(False, "S84 from elsewhere nothing comes in", s.recv(100))
except socket.timeout:
    ok(True, "S84 from elsewhere nothing comes in")
crowd = [dgram() for _ in range(260)]
for x in crowd:
    x.sendto(b"c", to4)
    x.settimeout(0.05)
answered = 0
for x in crowd:
    try:
        x.recv(100)
        answered += 1
    except socket.timeout:
        pass
ok(answered == 253 and b.saw("drop", "256 UDP flows"),
   "S88 256 flows at a time, and a report", answered, b.events[-2:])
ok(b.end() == 0, "S88 it ends")

# Quotas

b = Broker("tcp://public.test:9003", "tcp://public.test:7", files=1200)
ok(b.ready == "", "S88 few descriptors: ready", b.ready)
conns = []
for _ in range(150):
    s = b.connect("public.test", 9003)
    conns.append(s)
e = b.saw("wait", "TCP connections")
ok(len(e) >= 1, "S88 a quota that is reached is reported", b.events)
s = b.connect("public.test", 7)
s.settimeout(0.5)
ok(outcome(s, PING) == "timeout", "S88 who comes then waits")
for x in conns:
    x.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    x.close()
s.settimeout(5)
s.shutdown(socket.SHUT_WR)
ok(outcome(s) == PING, "S88 until there is room again")
ok(b.end() == 0, "S88 it ends")
b = Broker("tcp://public.test:7", files=64)
ok(b.ready and "open files" in b.ready, "S88 too few: it says so", b.ready)
os.waitpid(b.pid, 0)

# 64 that are not answered yet

ip(host, "route add 192.0.2.0/24 via %s" % WORLD[1])
ip(world, "route add blackhole default")
names.has("hang.test", "192.0.2.1")
b = Broker("tcp://hang.test:7", "tcp://public.test:7")
conns = [b.connect("hang.test", 7) for _ in range(70)]
ok(b.saw("wait", "64 connections"), "S88 64 pending, and a report", b.events)
s = b.connect("public.test", 7)
s.settimeout(0.5)
ok(outcome(s, PING) == "timeout", "S88 more wait their turn")
for x in conns:
    x.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    x.close()
s.settimeout(5)
s.shutdown(socket.SHUT_WR)
ok(outcome(s) == PING, "S88 who went away holds nobody up")
b.end()

# A set-up that lies

for what in ("garbage", "early end", "wrong socket", "no listener",
             "two ends", "silence"):
    b = Broker("tcp://public.test:7", honest=False)
    recs = b.records()
    if what == "garbage":
        b.setup.send(b"\xff" * 100)
    elif what == "early end":
        b.setup.send(recs[0][0])
        b.setup.close()
    elif what in ("wrong socket", "no listener", "two ends"):
        for data, s in recs:
            if s is not None and what == "wrong socket":
                s = sock(inside, socket.SOCK_DGRAM)
            if s is not None and what == "no listener" and \
                    s.type == socket.SOCK_STREAM:
                s = sock(inside, socket.SOCK_STREAM)
            b.setup.sendmsg([data * (1 + (what == "two ends" and s is None and
                                          data == recs[-1][0]))],
                            rights([s.fileno()]) if s else [])
    else:
        b.monitor.close()
    t = time.time()
    pid, status = 0, 0
    while time.time() - t < (8 if what == "silence" else 3) and not pid:
        pid, status = os.waitpid(b.pid, os.WNOHANG)
        time.sleep(0.01)
    for s in b.socks:
        s.close()
    ok(pid and os.waitstatus_to_exitcode(status) == 125,
       "S101 a set-up that lies (%s): it ends with 125" % what, status)

b = Broker("tcp://public.test:7")
with open("/proc/%d/status" % b.pid) as f:
    status = dict(x.split(":\t", 1) for x in f.read().splitlines()
                  if ":\t" in x)
ok(status["Seccomp"] == "2" and status["NoNewPrivs"] == "1",
   "S71 it is confined", status)
ok(int(status["VmRSS"].split()[0]) < 2048, "S88 and small at rest",
   status["VmRSS"])
os.close(b.monitor.detach())
ok(os.waitstatus_to_exitcode(os.waitpid(b.pid, 0)[1]) == 0,
   "S88 the monitor is gone: it ends")
done()
