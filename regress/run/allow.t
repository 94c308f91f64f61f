#!/usr/bin/python3
"""S80, S81: what stands in [egress], as written: nothing is started but
explain, and for a refusal not even that."""
from tap import *

HEAD = "[profile]\ndescription = test\n[egress]\n"


def rows(p, *lines):
    """The rows of NETWORK for these lines of [egress]."""
    p.profile("x", HEAD + "".join("allow = %s\n" % x for x in lines))
    r = p.wide("explain", "-p", "x")
    text = r.out.split("NETWORK", 1)[-1].split("ENVIRONMENT", 1)[0]
    return r, [" ".join(x.split()) for x in text.splitlines()
               if x.strip().startswith("allow")]


with Place() as p:
    for value, shown in (
            ("https://example.org:443", "https://example.org:443"),
            ("http://a-1.example.org:80", "http://a-1.example.org:80"),
            ("tls://example.org:1", "tls://example.org:1"),
            ("tcp://localhost.example:65535",
             "tcp://localhost.example:65535"),
            ("udp://example.org:53", "udp://example.org:53"),
            ("tcp://db:5432", "tcp://db:5432"),
            ("https://EXAMPLE.Org.:443", "https://example.org:443"),
            ("https://*.Example.org:443", "https://*.example.org:443"),
            ("https://xn--bcher-kva.example:443",
             "https://xn--bcher-kva.example:443"),
            ("tcp://10.1.2.3:1", "tcp://10.1.2.3:1"),
            ("tcp://203.0.113.5:1 private", "tcp://203.0.113.5:1 private"),
            ("tcp://[2001:DB8:0:0::1]:1", "tcp://[2001:db8::1]:1"),
            ("tcp://[fd00::1]:1", "tcp://[fd00::1]:1")):
        r, got = rows(p, value)
        ok(r.code == 0 and len(got) == 1 and
           got[0].startswith("allow " + shown + ",") and
           got[0].endswith("allow x:4") or "<-" in got[0],
           "S80 %s" % value, got, r)

    # one claim a line, joined over profiles, each with who asked
    p.profile("y", HEAD + "allow = tcp://a.example:1\n")
    r, got = rows(p, "tcp://a.example:1", "tcp://b.example:1",
                  "tcp://a.example:1")
    equal(len(got), 2, "S80 the same twice is one row", got)
    r = p.wide("explain", "-p", "y", "-p", "x")
    ok("allow x:4, allow y:4" in " ".join(r.out.split()),
       "S91 a row names all who asked", r)

    p.profile("z", "[profile]\ndescription = test\ntier = side-effect\n")
    r = p.wide("explain", "-p", "z", "-p", "@github")
    ok("tier side-effect tier z:3" in " ".join(r.out.split()),
       "S91 S74 the tier and who said so", r)
    r = p.wide("explain", "-p", "@net")
    text = " ".join(r.out.split())
    ok("allow *, unchecked allow @net:" in text and
       "<- everything public" in text and "tier unrestricted tier @net:" in
       text, "S86 S91 everything is marked", r)
    p.refused("S74 everything beside a lower tier", "-p", "z", "-p", "@net",
              has=("needs the tier unrestricted", "z.profile:3"))
    p.runs("control: with its own tier", "-p", "@net")

    BAD = {
        "V057 NETPROTO": [
            "https://example.org:%s" % x for x in (
                "0", "65536", "99999", "443abc", "+443", "0443", "", "443,80",
                "-1", "4 43", "0x1bb", "*", "443:80", "18446744073709552059")],
        "V050 NETNAME": [
            "tcp://%s:1" % x for x in (
                "a.example..", ".a.example", "a..example", ".", "")],
        "V049 NETNAME": [
            "tcp://%s:1" % x for x in (
                "*", "*.", "*.*.example", "a.*.example", "w*.example",
                "-a.example", "a-.example", "*a.example", "**.example")],
        "V051 NETNAME": [
            "tcp://%s" % x for x in (
                "a.example%0d%0aX:1", "user:pw@a.example:1",
                "user@a.example:1", "a.example:443#", "a.example:443/",
                "a.example:443/x", "a.example?x:1", "a.example\\b:1",
                "a_b.example:1", "a.example:1:2", "a.exa mple:1")],
        "V052 NETADDR": [
            "tcp://%s:1" % x for x in (
                "2130706433", "0x7f000001", "127.1", "0", "0177.0.0.1",
                "0x7f.1", "1.2.3.4.5", "256.1.1.1", "01.2.3.4",
                "[::ffff:192.0.2.10]", "[::ffff:c000:20a]", "::1",
                "[fe80::1%lo]", "[]", "[192.0.2.10]", "[2001:db8::g]")],
        "S84": [
            "tcp://%s:1" % x for x in (
                "127.0.0.1", "127.9.9.9", "0.0.0.0", "169.254.169.254",
                "224.0.0.1", "255.255.255.255", "240.0.0.1", "198.18.0.2",
                "198.19.1.1", "168.63.129.16", "100.100.100.200", "[::]",
                "[::1]", "[fe80::1]", "[ff02::1]", "[fd00:ec2::254]",
                "[64:ff9b::7f00:1]", "[2002:7f00:1::]",
                "[fd63:6172:7265:6c00::1]", "[::7f00:1]", "localhost",
                "x.localhost", "*.localhost", "LOCALHOST.")],
        "S80": [
            "example.org", "https://example.org", "example.org:443",
            "ftp://example.org:21", "HTTPS://example.org:443",
            "ssh://example.org:22", "//example.org:443", "https:example.org",
            "https:/example.org:443", "https://example.org:443 public",
            "https://example.org:443 private private", "* private",
            "https://example.org:443 https://b.example:443", "*://*:*"],
        "S81": [
            "https://b\u00fccher.example:443",
            "https://\u0435xample.org:443", "https://%s.example:443" %
            ("a" * 64), "https://%s:443" % ".".join(["abcdefg"] * 33)],
    }
    for case, values in BAD.items():
        for v in values:
            p.profile("x", HEAD + "allow = %s\n" % v)
            p.refused("%s %s" % (case, v[:60]), "-p", "x",
                      has=("x.profile:4", "; "))
    for raw, what in ((b"tcp://a.example\0.b.example:1", "a NUL"),
                      (b"tcp://a.exa\rmple:1", "a carriage return"),
                      (b"tcp://a.exa\x1bmple:1", "an escape")):
        p.profile("x", HEAD.encode() + b"allow = " + raw + b"\n")
        p.refused("V048 V051 NETNAME %s" % what, "-p", "x",
                  has=("x.profile:4",))

    # the network is closed without the section (V044)
    p.profile("x", "[profile]\ndescription = test\n[egress]\n")
    r = p.wide("explain", "-p", "x")
    ok("none a network of its own" in " ".join(r.out.split()),
       "V044 CONF an empty section allows nothing", r)
    for key in ("deny", "block", "allow-all"):
        p.profile("x", HEAD + "%s = tcp://a.example:1\n" % key)
        p.refused("S2 V044 CONF %s" % key, "-p", "x", has=("unknown key",))

    # the host of many rules
    p.profile("x", HEAD + "".join("allow = tcp://h%d.example:1\n" % i
                                  for i in range(1025)))
    p.refused("S80 1,025 rules", "-p", "x", has=("more than 1024", "fewer"))
    r, got = rows(p, *("tcp://h%d.example:1" % i for i in range(1024)))
    equal(len(got), 1024, "control: 1,024 rules", r.err)
done()
