#!/usr/bin/python3
"""S86: allow = *, in network namespaces with servers of our own (netbox.py)."""
from tap import *
from netbox import *

CURL = ("curl", "-sS", "--max-time", "8")
UDP = """
import socket, sys
for a, p in %r:
    s = socket.socket(socket.AF_INET6 if ":" in a else socket.AF_INET,
                      socket.SOCK_DGRAM)
    s.settimeout(2)
    s.connect((a, p))
    try:
        for i in range(3):
            s.send(b"n%%d" %% i)
            print(a, s.recv(100).decode())
    except OSError as e:
        print(a, type(e).__name__)
"""

with Place() as p:
    if not IS_ROOT:
        skip("egress", "network namespaces with servers need root")
        done()
    with Net(p) as n:
        ALL = "tier = unrestricted\n"
        n.profile("all", "*", more=ALL)
        n.profile("mixed", "*", "tcp://private.example.org:80 private",
                  "https://api.example.org:443", more=ALL)
        r = n.run("all", *CURL, "http://other.example.org/", "-o", "/dev/null",
                  "-w", "%{http_code}")
        ok(r.code != 0, "S86 control: nobody listens at other:80", r)
        for what, url, more in (
                ("by name", "http://api.example.org/", ()),
                ("at another port", "http://api.example.org:8080/", ()),
                ("by address", "http://%s/" % A, ()),
                ("by TLS", "https://api.example.org/", ("--cacert", "ca.pem")),
                ("with another Host", "http://api.example.org/",
                 ("-H", "Host: x.example.org"))):
            r = n.run("all", *CURL, *more, url)
            ok(r.code == 0 and "HELLO" in r.out, "S86 reached " + what, r)
        r = n.run("all", "getent", "ahosts", "api.example.org")
        ok(A in r.out, "S86 a name has the address that it has", r)
        r = n.run("all", "getent", "hosts", "none.example.org")
        ok(r.code == 2, "S86 and one that is not there has none", r)
        for what, url in (
                ("a private address", "http://%s/" % PRIVATE),
                ("a private one by name", "http://private.example.org/"),
                ("this host", "http://%s:8081/" % HERE4),
                ("this host by name", "http://own.example.org:8081/"),
                ("this host's loopback", "http://127.0.0.1/"),
                ("its loopback by name", "http://loop.example.org/"),
                ("metadata", "http://169.254.169.254/"),
                ("carrel's own addresses", "http://198.18.7.7/"),
                ("a mapped one", "http://[::ffff:127.0.0.1]/"),
                ("this host by IPv6", "http://[%s]:8081/" % HERE6)):
            r = n.run("all", *CURL, url)
            ok(r.code not in (0, 28) and "HELLO" not in r.out and r.secs < 3,
               "S86 not reached: " + what, r)
        r = n.py("all", UDP % ([(A, 7), (A, 7), (A, 9)],))
        ok(r.out.count(A + " ECHO n") == 6,
           "S86 datagrams, to any port", r)
        # what is out of reach is so at once, for datagrams as well
        r = n.py("all", """if 1:
            import errno, socket, time
            for a in %r:
                f = socket.AF_INET6 if ":" in a else socket.AF_INET
                for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                    t = time.monotonic()
                    s = socket.socket(f, kind)
                    s.settimeout(3)
                    try:
                        s.connect((a, 81))
                        s.send(b"x")
                        s.recv(1)
                    except OSError as e:
                        end = errno.errorcode.get(e.errno, str(e))
                    if time.monotonic() - t > 1 or end not in (
                            "ECONNREFUSED", "EACCES", "ENETUNREACH", "EINVAL"):
                        print(a, kind, end)
            print("all")
            """ % (["10.0.0.1", "100.64.0.1", "127.0.0.2", "168.63.129.16",
                    "169.254.169.254", "172.16.0.1", "192.0.0.8", "192.88.99.1",
                    "192.168.0.1", "198.18.0.1", "198.18.0.2", "240.0.0.1",
                    "255.255.255.255", "224.0.0.1", "0.0.0.1", "::2", "::7f00:1",
                    "::ffff:10.0.0.1", "64:ff9b:1::1", "100::1", "1fff::1",
                    "4000::1", "5f00::1", "fc00::1", "fd00::1",
                    "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1"],))
        equal(r.out, "all\n", "S82 S86 what is out of reach is so at once",
              r.err)
        r = n.run("mixed", *CURL, "http://private.example.org/")
        ok("HELLO" in r.out, "S86 beside a rule for a private name", r)
        r = n.run("mixed", *CURL, "http://api.example.org/")
        ok("HELLO" in r.out, "S86 a name of a rule at another port", r)
        r = n.run("mixed", *CURL, "-k", "--connect-to",
                  "other.example.org:443:api.example.org:443",
                  "https://other.example.org/")
        ok("HELLO" in r.out, "S86 what * allows no check forbids", r)
        r = n.py("mixed", UDP % ([("api.example.org", 7)],))
        ok(r.out.count("api.example.org ECHO n") == 3,
           "S86 datagrams to a name of a rule", r)
done()
