#!/usr/bin/python3
"""S80-S88 end to end: what [egress] lets out and what it does not, in network
namespaces with servers of our own (netbox.py)."""
import signal
import socket
from tap import *
from netbox import *

CURL = ("curl", "-sS", "--max-time", "8")
TLS = CURL + ("--cacert", "ca.pem")

# each line: does this, and says how it ended and that it was at once
TRY = """
import errno, socket, sys, time
S, D = socket.SOCK_STREAM, socket.SOCK_DGRAM
def tried(what, call):
    t = time.monotonic()
    try:
        call()
        end = "OK"
    except OSError as e:
        end = errno.errorcode.get(e.errno, str(e))
    took = time.monotonic() - t
    print(what, end if took < 1 else "SLOW %.1f %s" % (took, end), flush=True)
def tcp(host, port):
    f = socket.AF_INET6 if ":" in host else socket.AF_INET
    s = socket.socket(f, S)
    s.settimeout(5)
    tried("tcp %s %d" % (host, port), lambda: s.connect((host, port)))
def udp(host, port):
    f = socket.AF_INET6 if ":" in host else socket.AF_INET
    s = socket.socket(f, D)
    s.settimeout(5)
    def call():
        s.connect((host, port))
        s.send(b"x")
        s.recv(10)
    tried("udp %s %d" % (host, port), call)
def opened(f, kind, proto):
    tried("socket %d %d %d" % (f, kind, proto),
          lambda: socket.socket(f, kind, proto))
"""

with Place() as p:
    if not IS_ROOT:
        skip("egress", "network namespaces with servers need root")
        done()
    with Net(p) as n:
        n.profile("net", "https://api.example.org:443",
                  "http://api.example.org:80", "tcp://api.example.org:22",
                  "tcp://api.example.org:7", "udp://api.example.org:7",
                  "tcp://api.example.org:9", "tcp://api.example.org:13",
                  "tcp://api.example.org:17",
                  "http://*.wild.example.org:80",
                  "https://both.example.org:443", "tcp://%s:7" % A,
                  "http://six.example.org:80",
                  "https://dead6.example.org:443")

        # it works, without the payload's help
        r = n.run("net", *TLS, "https://api.example.org/")
        ok(r.code == 0 and r.out == "HELLO api.example.org" and not r.err,
           "S82 B042 NETLIVE curl over https", r)
        r = n.run("net", *CURL, "http://api.example.org/")
        ok(r.code == 0 and r.out == "HELLO api.example.org",
           "S82 curl over http", r)
        r = n.py("net", "import urllib.request as u, ssl\n"
                 "c = ssl.create_default_context(cafile='ca.pem')\n"
                 "print(u.urlopen('https://api.example.org/', context=c)"
                 ".read())")
        ok(r.out == "b'HELLO api.example.org'\n", "S82 B043 NETLIVE python", r)
        if os.path.exists("/usr/bin/node"):
            r = n.run("net", "node", "-e", "require('https').get({host:"
                      "'api.example.org', ca: require('fs').readFileSync("
                      "'ca.pem')}, r => r.on('data', d => console.log(''+d)))")
            ok(r.out == "HELLO api.example.org\n", "S82 B043 NETLIVE node", r)
        else:
            skip("S82 B043 NETLIVE node", "not installed")
        r = n.run("net", "sh", "-c", "printf 'GET / HTTP/1.1\\r\\nHost: "
                  "api.example.org\\r\\n\\r\\n' | openssl s_client -quiet "
                  "-verify_quiet -CAfile ca.pem -servername api.example.org "
                  "-connect api.example.org:443 -ign_eof & sleep 1; kill $!")
        ok("HELLO api.example.org" in r.out, "S82 openssl s_client", r)
        r = n.py("net", "import socket\n"
                 "s = socket.create_connection(('api.example.org', 22), 5)\n"
                 "print(s.recv(99))")
        ok(r.out == "%r\n" % GREETING,
           "S85 B046 NETLIVE a server that speaks first", r)
        r = n.py("net", "import socket\n"
                 "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
                 "s.settimeout(5)\n"
                 "s.sendto(b'x', ('api.example.org', 7))\n"
                 "print(s.recvfrom(99)[0])")
        ok(r.out == "b'ECHO x'\n", "S80 udp", r)
        r = n.py("net", "import socket\n"
                 "s = socket.create_connection((%r, 7), 5)\n"
                 "s.send(b'hi'); print(s.recv(9), s.getpeername()[0])" % A)
        ok(r.out == "b'hi' %s\n" % A, "S81 an address", r)
        for name in ("both", "dead6"):
            r = n.run("net", *TLS, "https://%s.example.org/" % name)
            ok(r.code == 0 and r.secs < 3,
               "S88 B044 NETLIVE %s: a family that does not answer" % name, r)
        r = n.run("net", *CURL, "-4", "http://six.example.org/")
        ok(r.code == 0 and "HELLO six" in r.out,
           "S88 IPv4 inside, IPv6 outside", r)

        # host, port and protocol must all match (V056), and by name alone
        for what, argv in (
                ("another name", TLS + ("https://other.example.org/",)),
                ("another port", CURL + ("http://api.example.org:8080/",)),
                ("its address", CURL + ("http://%s/" % A,)),
                ("its IPv6 address", CURL + ("http://[%s]/" % A6,)),
                ("http where https is", CURL + (
                    "http://api.example.org:443/",)),
                ("https where http is", TLS + (
                    "https://api.example.org:80/",)),
                ("another name in TLS", TLS + (
                    "--connect-to", "other.example.org:443:api.example.org:"
                    "443", "https://other.example.org/")),
                ("another Host", CURL + ("-f", "-H", "Host: other.example.org",
                                         "http://api.example.org/"))):
            control = finish(n.host(*argv))
            r = n.run("net", *argv)
            ok(r.code != 0 and "HELLO" not in r.out and r.secs < 5,
               "V056 NETPROTO %s: refused" % what, r)
            if what not in ("http where https is", "https where http is"):
                ok(control.code == 0, "control: %s is there" % what, control)
        log = n.log("tcp")
        ok("%s 8080" % A in log, "control: the servers keep a log")
        r = n.run("net", *CURL, "http://other.example.org/")
        ok(re.search(r'^carrel: \d+ violations.*\ncarrel:   egress: resolve '
                     r'"name other\.example\.org"', r.err, re.M),
           "a violation is told on an indented line", r)

        # wildcards (V049)
        for name, good in (("a.wild", 1), ("b.a.wild", 1), ("wild", 0),
                           ("evilwild", 0), ("x.a.wild", 0)):
            url = "http://%s.example.org/" % name
            r = n.run("net", *CURL, url)
            ok(("HELLO" in r.out) == bool(good),
               "S81 V049 NETNAME %s: %s" % (name, "let out" if good else
                                            "refused"), r)
        r = n.run("net", *CURL, "http://API.Example.Org./")
        ok("HELLO" in r.out, "V050 NETNAME upper case and a dot at the end", r)

        # where no rule leads (S84)
        reach = ("loop", "loop6", "mapped", "link", "zero", "multi", "synth",
                 "private", "own", "own6")
        n.profile("reach", *("http://%s.example.org:%d" % (
            x, 8081 if "own" in x else 80) for x in reach + ("half",)))
        n.profile("wide", *("http://%s.example.org:%d private" % (
            x, 8081 if "own" in x else 80) for x in reach))
        for x in reach:
            url = "http://%s.example.org:%d/" % (x, 8081 if "own" in x else
                                                 80)
            r = n.run("reach", *CURL, url)
            ok(r.code not in (0, 28) and "HELLO" not in r.out,
               "S84 V054 NETADDR %s: out of reach" % x, r)
            r = n.run("wide", *CURL, url)
            ok(("HELLO" in r.out) == (x == "private"),
               "S84 private: %s" % x, r)
        for url in ("http://127.0.0.1/", "http://%s:8081/" % HERE4,
                    "http://[%s]:8081/" % HERE6,
                    "http://private.example.org/"):
            host = url.replace("private.example.org", PRIVATE)
            ok(finish(n.host(*CURL, host)).code == 0, "control: %s" % url)
        r = n.run("reach", *CURL, "http://half.example.org/")
        ok("HELLO" in r.out, "V054 the public one of two addresses works", r)

        # everything else ends at once (S82)
        r = n.py("net", TRY + """
tcp(%(A)r, 22); tcp("198.51.100.7", 80); tcp("169.254.169.254", 80)
tcp("10.0.0.1", 1); tcp("2001:db8::1", 443); tcp("::ffff:198.51.100.7", 80)
tcp(%(DNS)r, 53); tcp(%(H)r, 8081); tcp("127.0.0.1", 80)
udp(%(A)r, 9); udp("2001:db8::1", 443); udp(%(DNS)r, 53)
udp("224.0.0.251", 5353); udp("255.255.255.255", 67)
udp("api.example.org", 443); tcp("::%(A)s", 22); tcp("fe80::1", 80)
opened(2, 3, 1); opened(2, 2, 1); opened(17, 3, 3); opened(10, 3, 58)
opened(2, 3, 255); opened(40, 1, 0)
""" % {"A": A, "DNS": DNS, "H": HERE4})
        lines = r.out.splitlines()
        good = ("ECONNREFUSED", "EACCES", "EPERM", "ENETUNREACH", "EINVAL",
                "EAFNOSUPPORT", "ESOCKTNOSUPPORT")
        ok(len(lines) == 23 and all(x.endswith(good) for x in lines),
           "S82 B042 NETLIVE V052 NETADDR refused at once, whatever it is", r)
        # what the kernel refused is told, but for its own 127.0.0.1
        for what in ("tcp %s:22" % A, "tcp 198.51.100.7:80", "tcp 10.0.0.1:1",
                     "tcp 169.254.169.254:80", "tcp [2001:db8::1]:443",
                     "udp %s:9" % A, "udp [2001:db8::1]:443",
                     "udp %s:53" % DNS):
            ok(what in r.err, "S75 S82 reported: %s" % what, r.err)
        ok("violations" in r.err and "127.0.0.1" not in r.err,
           "S75 what is inside is not reported", r.err)

        # what the kernel would drop without a word: source routing, and
        # segments that are signed
        r = n.py("net", TRY + """
def option(level, name, value, host, port):
    f = socket.AF_INET6 if ":" in host else socket.AF_INET
    s = socket.socket(f, S)
    s.settimeout(3)
    def call():
        s.setsockopt(level, name, value)
        s.connect((host, port))
    tried("option %%d %%d" %% (level, name), call)
def at(host):
    return bytes([10, 0]) + bytes(6) + socket.inet_pton(10, host)
for last in ("2001:db8::9", "2001:db8::1"):
    route = b"".join(socket.inet_pton(10, x) for x in (last, "2001:db8::1"))
    option(41, 57, bytes([0, 4, 4, 1, 1, 0, 0, 0]) + route, last, 443)
key = bytes(4) [:2] + bytes([3, 0]) + bytes(4) + b"key".ljust(80, b"\\0")
for name in (14, 32):
    option(6, name, at("2001:db8::9").ljust(128, b"\\0") + key,
           "2001:db8::9", 443)
option(0, 4, bytes([131, 11, 4, 198, 51, 100, 1, 198, 51, 100, 2, 0]),
       "198.51.100.2", 443)
option(6, 1, (1).to_bytes(4, "little"), %r, 22)
""" % A)
        equal(r.out.split("\n"), ["option 41 57 EPERM"] * 2 + [
            "option 6 14 EPERM", "option 6 32 EPERM", "option 0 4 EPERM",
            "option 6 1 ECONNREFUSED", ""],
            "S82 what would time out in silence fails at once", r)

        # its own network is its own (S87)
        r = n.py("net", "import socket\n"
                 "for f, a in ((socket.AF_INET, '127.0.0.1'), "
                 "(socket.AF_INET6, '::1'), (socket.AF_INET, '192.0.2.9')):\n"
                 "    s = socket.socket(f); s.bind((a, 0)); s.listen()\n"
                 "    c = socket.create_connection(s.getsockname()[:2], 2)\n"
                 "    print(s.accept()[0].send(b'x'), c.recv(1))")
        ok(r.out == "1 b'x'\n" * 3, "S87 R059 NETNS its own listeners", r)
        r = n.run("net", "cat", "/etc/resolv.conf")
        ok(r.out.splitlines()[1:] == ["nameserver 198.18.0.2"],
           "S83 resolv.conf has one server and no search", r)

        # connections that last, and ends of all kinds
        CALL = ("import socket, time, hashlib\n"
                "def call(port):\n"
                "    return socket.create_connection(('api.example.org', "
                "port), 9)\n")
        r = n.py("net", CALL + "s = call(80)\n"
                 "s.send(b'GET / HTTP/1.1\\r\\nHost: api.example.org\\r\\n"
                 "Upgrade: websocket\\r\\nConnection: Upgrade\\r\\n"
                 "\\r\\n')\n"
                 "print(s.recv(999).split()[1])\n"
                 "for i in range(3):\n"
                 "    time.sleep(2); s.send(b'%d' % i); print(s.recv(9))")
        equal(r.out, "b'101'\nb'0'\nb'1'\nb'2'\n",
              "S88 B041 NETLIVE a websocket that pauses is not cut", r)
        r = n.py("net", CALL + "s = call(9)\n"
                 "s.sendall(b'y' * 300000); s.shutdown(socket.SHUT_WR)\n"
                 "data = b''\n"
                 "while more := s.recv(65536): data += more\n"
                 "print(data[:7], len(data))")
        equal(r.out, "b'300000 ' %d\n" % ((1 << 20) + 7),
              "S88 B047 NETLIVE the client ends its side first", r)
        r = n.py("net", CALL + "s = call(13)\n"
                 "print(s.recv(99), s.recv(99)); time.sleep(0.5)\n"
                 "s.sendall(b'y' * 300000); s.close()")
        ok(r.code == 0 and r.out == "%r b''\n" % GREETING and
           until(lambda: n.log("early").split() == ["300000"]),
           "S88 B047 NETLIVE the server ends its side first", r,
           n.log("early"))
        r = n.py("net", CALL + "s = call(17); print(s.recv(99)); s.send(b'x')\n"
                 "try: print(s.recv(9))\n"
                 "except ConnectionResetError: print('reset')")
        equal(r.out, "%r\nreset\n" % GREETING,
              "S88 B047 NETLIVE a reset gets through", r)
        r = n.py("net", CALL + "import threading\n"
                 "s = call(7); block = bytes(range(256)) * 256\n"
                 "def send():\n"
                 "    for i in range(1024): s.sendall(block)\n"
                 "    s.shutdown(socket.SHUT_WR)\n"
                 "threading.Thread(target=send).start()\n"
                 "h, n = hashlib.sha256(), 0\n"
                 "while more := s.recv(1 << 18): h.update(more); n += len(more)\n"
                 "want = hashlib.sha256()\n"
                 "for i in range(1024): want.update(block)\n"
                 "print(n, h.digest() == want.digest())")
        equal(r.out, "%d True\n" % (64 << 20),
              "S88 B047 NETLIVE 64 MiB there and back, byte for byte", r)
        for port in (":80", "", ":080", ":081", ":65536", ":+80", ": 80", ":8080",
                     ":80,443", ":80abc", ":-80", ":0"):
            r = n.py("net", CALL + "s = call(80)\n"
                     "s.send(b'GET / HTTP/1.1\\r\\nHost: api.example.org" +
                     port + "\\r\\n\\r\\n')\n"
                     "try: print(s.recv(99).split(b' ')[0])\n"
                     "except OSError: print('closed')")
            ok(("HTTP/1.1" in r.out) == (port in ("", ":80")),
               "V057 NETPROTO Host with the port %r" % port, r)

        # what explain says is what there is (R014)
        for profile in ("net", "@github"):
            r = p.wide("explain", "-p", profile)
            told = sorted(set(re.findall(
                r"allow +(?:https|http|tcp)://([^*\s]+):(\d+)", r.out)))
            r = n.run(profile, "cat", "/proc/net/tcp")
            here = [x.split()[1] for x in r.out.splitlines()[1:]
                    if x.split()[3] == "0A"]
            equal(sorted(int(x.split(":")[1], 16) for x in here),
                  sorted([53] + [int(x[1]) for x in told]),
                  "R014 SCREEN %s: the listeners are those of explain" %
                  profile, r)

        # names (S83)
        n.run("net", "getent", "hosts", "secret-data.evil.example.org")
        n.run("net", "getent", "hosts", "sub.api.example.org")
        n.run("net", "getent", "hosts", "api")
        r = n.run("net", "getent", "ahosts", "localhost")
        ok("127.0.0.1" in r.out, "B039 ETC localhost is its own", r)
        log = n.log("dns")
        ok("api.example.org 1" in log, "control: the name server keeps a log")
        ok(not any(x in log for x in ("secret", "sub.", "\napi ",
                                      "localhost")),
           "S83 B039 V059 NETDNS only what is allowed reaches the resolver, "
           "and no search domain is tried", log)
        ASK = ("import socket, sys\n"
               "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
               "s.settimeout(5)\n"
               "for name in sys.argv[1:]:\n"
               "    q = b'\\0\\7\\1\\0\\0\\1' + bytes(6) + b''.join(\n"
               "        bytes([len(x)]) + x.encode() for x in name.split("
               "'.')) + b'\\0\\0\\1\\0\\1'\n"
               "    s.sendto(q, ('198.18.0.2', 53))\n"
               "    a = s.recv(999)\n"
               "    print(int.from_bytes(a[-10:-6], 'big'), '.'.join(map("
               "str, a[-4:])))\n")
        r = n.run("net", "python3", "-c", ASK, "api.example.org",
                  "a.wild.example.org")
        ok(re.fullmatch(r"0 198\.18\.\d+\.\d+\n0 198\.19\.0\.0\n", r.out),
           "S83 an address of carrel's is not to be kept", r)
        r = n.run("@net", "python3", "-c", ASK, "api.example.org",
                  "slow.example.org")
        ok(r.out == "1 %s\n300 %s\n" % (A, A),
           "S83 S86 V055 NETADDR no other for longer than the outside says", r)
        n.name_servers(DNS6)
        r = n.run("net", *CURL, "http://api.example.org/")
        ok(r.code == 0 and "HELLO" in r.out,
           "B045 NETLIVE a host with an IPv6 name server alone", r)
        n.name_servers(DNS)

        # everything public (S86)
        def everything(*argv, **kw):
            return n.run("@net", *argv, **kw)
        for what, argv in (
                ("a name", TLS + ("https://api.example.org/",)),
                ("another name", TLS + ("https://other.example.org/",)),
                ("another port", CURL + ("http://api.example.org:8080/",)),
                ("an address", CURL + ("http://%s/" % A,)),
                ("an IPv6 address", CURL + ("http://[%s]/" % A6,))):
            r = everything(*argv)
            ok(r.code == 0 and "HELLO" in r.out, "S86 * %s" % what, r)
        r = everything("python3", "-c", "import socket\n"
                       "for f, a in ((socket.AF_INET, %r), (socket.AF_INET6, "
                       "%r), (socket.AF_INET, 'api.example.org')):\n"
                       "    s = socket.socket(f, socket.SOCK_DGRAM)\n"
                       "    s.settimeout(5); s.connect((a, 7))\n"
                       "    for i in range(3):\n"
                       "        s.send(b'%%d' %% i); print(s.recv(9))" %
                       (A, A6))
        ok(r.out == "".join("b'ECHO %d'\n" % i for i in range(3)) * 3,
           "S86 * udp by address and by name", r)
        for url in ("http://127.0.0.1/", "http://%s:8081/" % HERE4,
                    "http://[%s]:8081/" % HERE6, "http://%s/" % PRIVATE,
                    "http://private.example.org/", "http://[::1]/",
                    "http://loop.example.org/", "http://169.254.169.254/",
                    "http://mapped.example.org/", "http://own.example.org:8081/"):
            r = everything(*CURL, url)
            ok(r.code not in (0, 28) and "HELLO" not in r.out,
               "S86 * %s: out of reach" % url, r)
        r = everything("python3", "-c", TRY + """
tcp("10.0.0.1", 80); tcp("169.254.169.254", 80); tcp("127.0.0.1", 80)
tcp("192.168.1.1", 22); udp("10.0.0.1", 53); opened(2, 3, 1)
""")
        lines = r.out.splitlines()
        ok(len(lines) == 6 and all(x.endswith(good) for x in lines),
           "S86 * what is private is refused at once", r)
        r = everything("python3", "-c", "import socket\n"
                       "l = socket.socket(); l.bind(('0.0.0.0', 8080))\n"
                       "l.listen()\n"
                       "for a in ('127.0.0.1', %r):\n"
                       "    c = socket.create_connection((a, 8080), 2)\n"
                       "    print(l.accept()[0].send(b'x'), c.recv(1))" % A)
        ok(r.out == "1 b'x'\n" * 2, "S86 * its own listeners are its own", r)

        # without rules there is no network (S1)
        r = n.do("run", "--", *CURL, "http://api.example.org/")
        ok(r.code != 0 and r.secs < 2, "S80 R060 NETNS no list: nothing", r)
        r = n.do("run", "--", "cat", "/proc/net/dev")
        ok(r.out.count(":") == 1 and "lo:" in r.out,
           "R057 NETNS no list: only lo", r)

        # many at once
        r = n.py("net", "import socket\n"
                 "c = [socket.create_connection(('api.example.org', 7), 20) "
                 "for i in range(200)]\n"
                 "for i in range(5):\n"
                 "    for x in c: x.send(b'%d' % i)\n"
                 "    for x in c: assert x.recv(9) == b'%d' % i\n"
                 "print('all')", timeout=60)
        ok(r.out == "all\n", "S88 B047 NETLIVE 200 streams at once", r)
        r = n.py("net", "import socket\n"
                 "for i in range(1000):\n"
                 "    s = socket.create_connection(('api.example.org', 7), 9)\n"
                 "    s.send(b'x'); assert s.recv(9) == b'x'; s.close()\n"
                 "print('all')", timeout=60)
        ok(r.out == "all\n", "S88 1,000 connections", r)

        # what serves it ends with the run, and the run with it
        ok(not gone(), "S64 nothing is left of the runs", sandboxed())
        LONG = ("import socket, sys\n"
                "s = socket.create_connection(('api.example.org', 7), 9)\n"
                "socket.getaddrinfo('a.wild.example.org', 80)\n"
                "print('up', flush=True)\n"
                "try: print(repr(s.recv(9)), flush=True)\n"
                "except OSError as e: print(type(e).__name__, flush=True)\n"
                "s = socket.socket(); s.settimeout(5)\n"
                "print(s.connect_ex(('198.18.1.0', 7)), flush=True)\n")

        def helpers():
            found = {}
            for pid in {x for one in sandboxed()
                        for x in {one} | descendants(one)}:
                s = status_of(pid)
                # neither what is inside, nor hosted mode's recorder
                if len(s.get("NSpid", "").split()) == 1 and \
                        (s["Seccomp"] == "2" or s["Uid"].split()[0] != "0"):
                    found.setdefault(s["Name"], []).append(pid)
            return found

        def factories():
            """It has the monitor's name, and one capability."""
            return [x for x in helpers().get("carrel", ()) if
                    int(status_of(x)["CapPrm"], 16) == 1 << 10]

        def killed(sig, name):
            proc = n.start("run", "-p", "net", "--", "python3", "-c", LONG)
            proc.stdout.readline()
            who = helpers().get(name, [])
            if name == "carrel":
                who = factories()
            with root():
                for x in who:
                    os.kill(x, sig)
            return who, finish(proc, 20)
        p.forget()
        who, r = killed(signal.SIGKILL, "carrel-broker")
        ok(len(who) == 1 and "ConnectionResetError\n111\n" in r.out and
           r.secs < 5, "S88 R062 NETNS the broker dies: resets, no hangs", r)
        ok(r.code == OWN and r.err.count("carrel:") == 1 and
           "carrel-broker was ended by signal 9" in r.err,
           "S88 R062 NETNS the run is reported as failed", r)
        proc = n.start("run", "-p", "net", "--", "python3", "-c", LONG)
        proc.stdout.readline()
        ok(set(helpers()) == {"carrel", "carrel-broker"} and
           len(helpers()["carrel"]) == 2,
           "control: monitor, factory and broker run", helpers())
        # what serves it can do little (S101, S105)
        of = {"carrel-broker": helpers()["carrel-broker"][0],
              "factory": factories()[0]}
        for who, caps in (("carrel-broker", 0), ("factory", 1 << 10)):
            s = status_of(of[who])
            got = [int(s[x], 16) for x in ("CapInh", "CapPrm", "CapEff",
                                           "CapBnd", "CapAmb")]
            ok(s["NoNewPrivs"] == "1" and s["Seccomp"] == "2" and
               got[:3] in ([0, caps, caps],) and got[4] == 0 and
               (who != "factory" or got[3] == 0),
               "S105 %s: no more than it needs" % who, s)
        with root():
            root_of = os.listdir("/proc/%d/root/" % of["factory"])
            files = {os.readlink("/proc/%d/fd/%s" % (of[x], f)).split(":")[0]
                     for x in of for f in os.listdir("/proc/%d/fd" % of[x])}
            same = [os.readlink("/proc/%d/ns/net" % of["factory"]) ==
                    os.readlink("/proc/%d/ns/net" % x)
                    for x in (proc.pid, of["carrel-broker"])]
        equal(root_of, [], "S81 the factory's root is empty")
        ok(not [f for f in files if f.startswith("/") and
                not f.startswith(("/dev/null", "/proc"))],
           "S101 neither holds a file of the host", files)
        equal(same, [False, False], "S81 the factory alone is inside")
        with root():
            os.kill(proc.pid, signal.SIGKILL)
        finish(proc, 5)
        ok(not gone(3), "S64 the monitor dies: nothing is left", sandboxed())
        # one that never gets ready, and one that is not there
        mine = p.top + "/inst"
        own_copy(mine)
        broker = mine + "/libexec/carrel/carrel-broker"
        with open(broker, "w") as f:
            f.write("#!/bin/sh\nexec sleep 600\n")
        p.carrel = mine + "/bin/carrel"
        r = n.run("net", "echo", MARK)
        ok(r.code == OWN and MARK not in r.out and 4 < r.secs < 9 and
           "carrel-broker is not ready after 5 s" in r.err,
           "R061 NETNS a broker that hangs: no run, a bounded wait", r)
        p.carrel = CARREL
        ok(not gone(3), "R061 NETNS and it is gone, too", sandboxed())
        n.profile("many", *("tcp://h%d.example.org:%d" % (i // 512, 1 + i)
                            for i in range(1024)))
        r = n.run("many", "echo", MARK)
        ok(r.code == OWN and "fewer" in r.err and MARK not in r.out,
           "S80 more sockets than there may be", r)
        n.profile("many", *("tcp://h%d.example.org:%d" % (i // 512, 1 + i)
                            for i in range(1000)))
        r = n.run("many", "echo", MARK)
        ok(r.code == 0 and MARK in r.out, "control: 1,000 hosts and ports", r)
        # resolv.conf by three links, absolute and relative, into elsewhere
        with root():
            for d in ("u", "w", "run"):
                os.makedirs(n.top + "/" + d)
            n.root("umount", "/etc/resolv.conf")
            n.root("mount", "-t", "overlay", "o", "-o", "lowerdir=/etc,"
                   "upperdir=%s/u,workdir=%s/w" % (n.top, n.top), "/etc")
            n.root("sh", "-c", "ln -sf static/resolv.conf /etc/resolv.conf; "
                   "mkdir -p /etc/static; ln -s %s/run/a /etc/static/"
                   "resolv.conf; ln -s ../resolv.conf %s/run/a" %
                   (n.top, n.top))
        r = n.run("net", "getent", "hosts", "api.example.org")
        ok(r.code == 0 and "api.example.org" in r.out,
           "B004 FS resolv.conf behind links, with egress", r)
        r = n.run("net", *CURL, "http://api.example.org/")
        ok("HELLO" in r.out, "B004 FS and the broker follows them", r)
        r = n.do("run", "--", "getent", "hosts", "api.example.org")
        ok(r.code != 0 and r.secs < 1, "B004 FS without: at once", r)
        p.forget()
        r = n.run("net", "sh", "-c", "kill -INT $$")
        ok(r.code == 130 and r.err == "", "R062 NETNS ^C: nothing is said", r)
    ok(not gone(), "S64 nothing is left", sandboxed())
done()
