#!/usr/bin/python3
"""S88, B041-B047 NETLIVE end to end: connections that last, that are many,
that are slow, and what a person learns of those that never came to be."""
import json
from tap import *
from netbox import *

CURL = ("curl", "-sS", "--max-time", "8")
LARGE = int(os.environ.get("CARREL_T_MIB", 1024))  # there and back
CROWD = int(os.environ.get("CARREL_T_CROWD", 10000))
FLOWS = 1024  # at a time, carrel(7)
PUMP, H2 = 7001, 8443

# connects all at once, keeps what is answered until told, and then closes
MANY = """
import resource, select, socket, sys, time
def crowd(n, address):
    resource.setrlimit(resource.RLIMIT_NOFILE,
                       (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    poll, open_, answered, late = select.epoll(), {}, 0, None
    for i in range(n):
        s = socket.socket()
        s.setblocking(False)
        s.connect_ex((address, 7))
        open_[s.fileno()] = s
        poll.register(s, select.EPOLLOUT)
    quiet, held = time.monotonic(), []
    closing = False
    while answered < n:
        for fd, what in poll.poll(0.2):
            if what & select.EPOLLIN and open_[fd].recv(9) == b"x":
                answered += 1
                quiet = time.monotonic()
                poll.unregister(fd)
                held.append(open_.pop(fd))
            elif what & select.EPOLLOUT:
                open_[fd].send(b"x")
                poll.modify(fd, select.EPOLLIN)
            elif what & (select.EPOLLHUP | select.EPOLLERR):
                sys.exit("one was ended")
        if not closing and time.monotonic() - quiet > 1:
            print(answered, flush=True)
            sys.stdin.readline()
            closing = True
        if closing:
            for s in held: s.close()
            held = []
    print(answered, flush=True)
"""


def memory(n):
    """PSS of the one carrel-broker, in kB."""
    for pid, name in sandboxed().items():
        if name.split()[0] == "carrel-broker":
            with root(), open("/proc/%d/smaps_rollup" % pid) as f:
                return sum(int(x.split()[1]) for x in f
                           if x.startswith("Pss:"))


with Place() as p:
    if not IS_ROOT:
        skip("egress", "network namespaces with servers need root")
        done()
    with Net(p) as n:
        n.profile("net", "https://api.example.org:443",
                  "http://api.example.org:80", "tcp://api.example.org:7",
                  "tcp://api.example.org:%d" % PUMP, "tcp://%s:7" % A,
                  "https://api.example.org:%d" % H2,
                  "tcp://api.example.org:9",
                  "http://six.example.org:80")
        pump = p.top + "/tool"
        os.mkdir(pump)
        shutil.copy(HELPERS + "/pump", pump)
        pump += "/pump"
        with root():
            n.daemon(HELPERS + "/pump", "serve", A, str(PUMP))

        # large, each byte looked at
        p.profile("large", "[profile]\ndescription = x\n[fs]\nread = %s/tool\n"
                  "[egress]\nallow = tcp://%s:%d\n" % (p.top, A, PUMP))
        for what in ("put", "get"):
            r = n.run("large", pump, what, A, str(PUMP), "60", str(LARGE))
            ok(r.code == 0 and r.out == "%d\n" % (LARGE << 20),
               "S88 B047 NETLIVE %d MiB %s, byte for byte" % (
                   LARGE, {"put": "up", "get": "down"}[what]), r)
            diag("%.1f s" % r.secs)

        # HTTP/2 and websockets, over both schemes
        if shutil.which("nghttpd"):
            with root():
                n.daemon("nghttpd", "-a", A, "-d", n.top + "/www", str(H2),
                         n.top + "/key", n.top + "/cert")
            r = None
            for _ in range(20):
                r = n.run("net", *CURL, "--cacert", "ca.pem", "--http2", "-w",
                          "%{http_version} %{num_connects}", *(
                              ["https://api.example.org:%d/big" % H2] * 3),
                          "-o", "/dev/null", "-o", "/dev/null", "-o",
                          "/dev/null")
                if r.code != 7 and r.code != 35:
                    break
                time.sleep(0.1)
            ok(r.code == 0 and r.out == "2 12 02 0",
               "S88 HTTP/2 by curl, three requests in one connection", r)
        else:
            skip("S88 HTTP/2 by curl", "no nghttpd")
        WS = ("import socket, ssl\n"
              "s = socket.create_connection(('api.example.org', %d), 9)\n"
              "%s"
              "s.sendall(b'GET / HTTP/1.1\\r\\nHost: api.example.org\\r\\n"
              "Connection: Upgrade\\r\\nUpgrade: websocket\\r\\n\\r\\n')\n"
              "data = b''\n"
              "while b'\\r\\n\\r\\n' not in data: data += s.recv(999)\n"
              "print(data.split()[1])\n"
              "for i in range(3):\n"
              "    s.sendall(b'\\x82\\x05hello'); print(s.recv(99))\n")
        for scheme, port, wrap in (
                ("http", 80, ""), ("https", 443,
                 "c = ssl.create_default_context(cafile='ca.pem')\n"
                 "s = c.wrap_socket(s, server_hostname='api.example.org')\n")):
            r = n.py("net", WS % (port, wrap))
            equal(r.out, "b'101'\n" + "b'\\x82\\x05hello'\n" * 3,
                  "S88 B041 NETLIVE a websocket over %s" % scheme, r.err)

        # git with its defaults, over both schemes (files, no service)
        n.repository()
        with root():
            n.daemon(sys.executable, "-m", "http.server", "--bind", A, "-d",
                     n.top + "/www", "8088")
        n.profile("git", "http://api.example.org:8088",
                  "https://api.example.org:%d" % H2)
        for url in ("http://api.example.org:8088",
                    "https://api.example.org:%d" % H2):
            if url.startswith("https") and not shutil.which("nghttpd"):
                continue
            r = n.run("git", "git", "-c", "http.sslCAInfo=ca.pem",
                      "ls-remote", url + "/repo")
            ok(r.code == 0 and "refs/heads/main" in r.out,
               "B043 NETLIVE git: " + url.split(":")[0], r)

        # each family inside with each outside
        for flag, name in (("-4", "six"), ("-6", "six"), ("-4", "api"),
                           ("-6", "api")):
            r = n.run("net", *CURL, flag, "http://%s.example.org/" % name)
            ok(r.code == 0 and "HELLO" in r.out,
               "S88 B044 NETLIVE %s inside, %s outside" % (
                   flag, "IPv6" if name == "six" else "IPv4"), r)
        r = n.py("net", "import socket\n"
                 "s = socket.socket(socket.AF_INET6); s.settimeout(5)\n"
                 "s.connect(('::ffff:%s', 7)); s.send(b'hi')\n"
                 "print(s.recv(9))\n" % A)
        ok(r.out == "b'hi'\n", "V052 NETADDR a literal, mapped", r)

        # many
        p.forget()
        proc = n.start("run", "-p", "net", "--", "python3", "-c", MANY +
                       "crowd(%d, %r)" % (FLOWS, A), stdin=subprocess.PIPE)
        equal(proc.stdout.readline(), b"%d\n" % FLOWS,
              "S88 %d connections at a time" % FLOWS)
        kb = memory(n)
        ok(kb is not None and kb <= 3072,
           "S88 and the broker has 3 MB at the most", kb)
        r = finish(proc, 30)
        ok(r.code == 0 and not r.err, "S88 control: nothing is reported", r)
        proc = n.start("run", "-p", "net", "--", "python3", "-c", MANY +
                       "crowd(%d, %r)" % (CROWD, A), stdin=subprocess.PIPE)
        first = proc.stdout.readline()
        equal(first, b"%d\n" % FLOWS, "S88 of %d the others wait" % CROWD)
        kb = memory(n)
        ok(kb is not None and kb <= 3072, "S88 and cost nothing", kb)
        proc.stdin.write(b"\n")
        proc.stdin.flush()
        r = finish(proc, 60)
        ok(r.code == 0 and r.out == "%d\n" % CROWD,
           "S88 and each has its turn: none is refused or lost", r)
        ok("as many TCP connections as there may be" in r.err and
           r.secs < 30, "S88 and it is reported", r)
        diag("%.1f s" % r.secs)

        # what is allowed and is not there
        n.profile("far", "tcp://api.example.org:99",
                  "http://gone.example.org:80", "tcp://192.0.2.1:1",
                  "https://api.example.org:443",
                  more="[audit]\non-violation = fail\n")
        ev = p.top + "/far.jsonl"

        def far(code, *options):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(ev)
            r = n.do("run", "-p", "far", "--events", ev, *options, "--",
                     "python3", "-c", "import socket, sys\n" + code)
            with open(ev) as f:
                return r, [x for x in map(json.loads, f)
                           if x["event"] in ("unreached", "violation")]
        TRY = ("def t(h, p):\n"
               "    try:\n"
               "        s = socket.create_connection((h, p), 5)\n"
               "        s.recv(1)\n"
               "    except OSError as e: print(type(e).__name__)\n")
        r, got = far(TRY + "t('api.example.org', 99)\n" * 3 + "sys.exit(7)")
        # a reset may come so early that the other family is tried as well
        want = re.escape('carrel:   connect "tcp api.example.org:99 (%s)": '
                         'ECONNREFUSED, ' % A)
        ok(r.code == 7 and r.out == "ConnectionResetError\n" * 3 and
           re.fullmatch("carrel: what is allowed could not be reached:\n" +
                        want + r"[3-6] times\n", r.err),
           "S82 S88 nobody listens there: a reset, and one line", r)
        ok(len(got) == 2 and got[0]["count"] == 1 < got[1]["count"] and
           got[0]["error"] == "ECONNREFUSED" and got[0]["rule"] ==
           "allow = tcp://api.example.org:99" and got[0]["line"] == 6 and
           got[0]["resource"] == "tcp api.example.org:99 (%s)" % A,
           "S75 and lines in the file of events", got)
        r, got = far(TRY + "t('api.example.org', 99)")
        ok(r.code == 0 and r.err == "" and len(got) == 1,
           "S82 who copes with it is not bothered", r, got)
        r, got = far(TRY + "t('api.example.org', 99)", "-v")
        ok(r.code == 0 and re.search(want + r"[12] times?\n", r.err),
           "S82 but with -v", r)
        r, got = far(TRY + "s = socket.create_connection(('gone.example.org',"
                     "80), 5)\ns.send(b'GET / HTTP/1.1\\r\\nHost: "
                     "gone.example.org\\r\\n\\r\\n')\n"
                     "try: s.recv(1)\n"
                     "except OSError: sys.exit(7)")
        ok(r.code == 7 and 'connect "tcp gone.example.org:80: there is no such '
           'name": EHOSTUNREACH, ' in r.err and
           got[0]["error"] == "EHOSTUNREACH",
           "S82 the name is not there", r, got)
        with root():
            n.root("ip", "route", "add", "unreachable", "192.0.2.1/32")
        r, got = far(TRY + "t('192.0.2.1', 1); sys.exit(7)")
        ok(r.code == 7 and 'connect "tcp 192.0.2.1:1": ENETUNREACH, ' in r.err, "S82 no way leads there", r)
        with root():
            n.root("ip", "route", "del", "unreachable", "192.0.2.1/32")
            n.inside(n.there, "ip", "route", "add", "blackhole",
                     "192.0.2.0/24")
        r, got = far(TRY.replace(", 5)", ", 5); s.settimeout(1.5)") +
                     "t('192.0.2.1', 1); sys.exit(7)")
        ok(r.code == 7 and r.out == "TimeoutError\n" and
           'connect "tcp 192.0.2.1:1": ETIMEDOUT, ' in r.err,
           "S82 nobody answers, and the payload gave up", r)
        n.profile("dgram", "udp://api.example.org:99", "udp://%s:98" % A)
        r = n.py("dgram", "import socket, sys\n"
                 "for a in (('api.example.org', 99), (%r, 98)):\n"
                 "    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
                 "    s.settimeout(0.5); s.connect(a)\n"
                 "    for i in range(2):\n"
                 "        try: s.send(b'x'); s.recv(9)\n"
                 "        except OSError: pass\n"
                 "sys.exit(7)" % A)
        ok(r.code == 7 and all(
            'send "udp %s": ECONNREFUSED, 1 time\n' % x in r.err
            for x in ("api.example.org:99", A + ":98")),
           "S82 a datagram that nobody listens for outside", r)
        n.name_servers("203.0.113.77")
        r, got = far(TRY + "t('api.example.org', 99); sys.exit(7)")
        ok("no name server has an answer" in r.err or "TimeoutError" in r.out,
           "S82 no name server", r)
        n.name_servers(DNS)
        r, got = far(TRY + "t('api.example.org', 80); sys.exit(7)")
        ok(r.code == 3 and got[0]["event"] == "violation" and
           'if that is meant, add "allow = http://api.example.org:80" to a '
           'profile' in r.err and "reached" not in r.err,
           "S75 control: a violation is one, and names the line to add", r)
        run = re.search(r"[0-9a-f]{32}", n.do("violations").out).group()
        r = n.do("violations", "--run", run)
        said = "".join(r.out.split())
        ok("addtoaprofile:allow=http://api.example.org:80" in said and
           "addtoaprofile:allow=tcp://api.example.org:99" not in said, "S76 S75 the screen names it, too", r)
        r = n.do("violations", "--json", "--run", run)
        equal(json.loads(r.out)["events"][0].get("fix"),
              "allow = http://api.example.org:80", "S76 and its JSON", r)
        r = n.run("far", "getent", "hosts", "other.example.org")
        ok('add "allow = https://other.example.org:443" to a profile' in r.err,
           "S75 of a name the usual port is named", r)
    ok(not gone(), "S64 nothing is left", sandboxed())
done()
