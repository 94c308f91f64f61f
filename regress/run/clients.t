#!/usr/bin/python3
"""S82, S88, B043 NETLIVE: programs that people use, with their defaults, by
name and through each scheme; and each of them refused at once."""
from tap import *
from netbox import *

H2, SSH, REGISTRY = 8443, 22, 8088
NAME = "api.example.org"
PACKAGE = ('{"name":"thing","dist-tags":{"latest":"1.2.3"},"versions":{"1.2.3"'
           ':{"name":"thing","version":"1.2.3","dist":{"tarball":"http://%s:%d'
           '/thing.tgz"}}}}' % (NAME, REGISTRY))
FETCH = ("fetch('%s').then(r => r.text()).then(console.log)"
         ".catch(e => { console.log(e.cause.code); process.exit(1) })")
JAVA = """
import java.net.*; import java.net.http.*;
public class Get { public static void main(String[] a) throws Exception {
    System.out.println(HttpClient.newHttpClient().send(HttpRequest.newBuilder(
        URI.create(a[0])).build(), HttpResponse.BodyHandlers.ofString())
        .body()); } }
"""
PERL = ("use IO::Socket::INET; my $s = IO::Socket::INET->new(PeerAddr => "
        "$ARGV[0], PeerPort => 80) or die $!; print $s \"GET / HTTP/1.0\\r\\n"
        "Host: $ARGV[0]\\r\\n\\r\\n\"; while (sysread "
        "$s, my $b, 999) { print $b; last if $b =~ /HELLO/ }")
BASH = ("exec 3<>/dev/tcp/%s/80; printf 'GET / HTTP/1.1\\r\\nHost: %s\\r\\n\\r\\n'"
        " >&3; while read -r x <&3; do [ \"$x\" = $'\\r' ] && break; done; "
        "head -c 21 <&3")
ASYNC = ("import asyncio, ssl\n"
         "async def main():\n"
         "    c = ssl.create_default_context(cafile='ca.pem')\n"
         "    r, w = await asyncio.open_connection('%s', 443, ssl=c, "
         "happy_eyeballs_delay=0.1)\n"
         "    w.write(b'GET / HTTP/1.1\\r\\nHost: %s\\r\\n\\r\\n')\n"
         "    print(await r.read(999))\n"
         "asyncio.run(main())")

# what it is, the words of the command, what it prints; %s is the name
CLIENTS = [
    ("wget, http", ["wget", "-qO-", "--tries=1", "http://%s/"], "HELLO"),
    ("wget, https", ["wget", "-qO-", "--tries=1", "--ca-certificate=ca.pem",
                     "https://%s/"], "HELLO"),
    ("curl, a large upload", ["curl", "-sSf", "-T", "large", "--max-time",
                              "20", "http://%s/"], "HELLO"),
    ("curl, HTTP/1.0", ["curl", "-sSf", "-0", "http://%s/"], "HELLO"),
    ("curl, one connection for many", [
        "curl", "-sSf", "-w", "%%{num_connects}", "http://%s/?[1-9]"],
     "HELLO %s0" * 8),
    ("node fetch, http", ["node", "-e", FETCH % "http://%s/"], "HELLO"),
    ("node fetch, https", ["env", "NODE_EXTRA_CA_CERTS=ca.pem", "node", "-e",
                           FETCH % "https://%s/"], "HELLO"),
    ("npm view", ["npm", "view", "thing", "version", "--registry=http://%s:" +
                  str(REGISTRY) + "/", "--fetch-retries=0"], "1.2.3"),
    ("java", ["java", "Get.java", "http://%s/"], "HELLO"),
    ("perl", ["perl", "-e", PERL, "%s"], "HELLO"),
    ("bash", ["bash", "-c", BASH], "HELLO"),
    ("python asyncio", ["python3", "-c", ASYNC], "HELLO"),
    ("git clone, http", ["git", "clone", "-q", "http://%s:" + str(REGISTRY) +
                         "/repo", "w1"], ""),
    ("git clone, https by HTTP/2", [
        "git", "-c", "http.sslCAInfo=ca.pem", "clone", "-q", "https://%s:" +
        str(H2) + "/repo", "w2"], ""),
    ("ssh-keyscan", ["ssh-keyscan", "-T", "3", "%s"], "# %s:22 SSH-2.0-test"),
]

with Place() as p:
    if not IS_ROOT:
        skip("egress", "network namespaces with servers need root")
        done()
    with Net(p) as n:
        n.repository()
        with root():
            with open(n.top + "/www/thing", "w") as f:
                f.write(PACKAGE)
            n.daemon(sys.executable, "-m", "http.server", "--bind", A, "-d",
                     n.top + "/www", str(REGISTRY))
            if shutil.which("nghttpd"):
                n.daemon("nghttpd", "-a", A, "-d", n.top + "/www", str(H2),
                         n.top + "/key", n.top + "/cert")
            n.serve(n.there, "s = Servers(%r)\ns.banner = b'SSH-2.0-test\\r\\n'"
                    "\nthreading.Thread(target=s.tcp, args=(%r, %d, "
                    "s.greet)).start()\nprint('up', flush=True)" % (
                        n.top, B, SSH))
        p.write("Get.java", JAVA)
        p.write("large", b"\0" * (20 << 20))
        n.profile("net", "https://%s:443" % NAME, "http://%s:80" % NAME,
                  "http://%s:%d" % (NAME, REGISTRY),
                  "https://%s:%d" % (NAME, H2),
                  "tcp://other.example.org:%d" % SSH)
        for what, argv, want in CLIENTS:
            if not shutil.which(argv[0], path="/usr/bin:/bin") or (
                    "HTTP/2" in what and not shutil.which("nghttpd")):
                skip("B043 NETLIVE " + what, "not installed")
                continue
            name = "other.example.org" if what == "ssh-keyscan" else NAME
            fill = [x.replace("%s", name).replace("%%", "%") for x in argv]
            r = n.run("net", *fill, timeout=60)
            # ssh-keyscan wants a key, too
            ok(r.code == (what == "ssh-keyscan") and want.replace("%s", name) in r.out + r.err,
               "S82 B043 NETLIVE %s" % what, r)
            no = [x.replace("%s", "both.example.org").replace("%%", "%")
                  .replace("w1", "x1").replace("w2", "x2") for x in argv]
            r = n.run("net", *no, timeout=60)
            ok((r.code != 0 or what == "ssh-keyscan") and "HELLO" not in r.out
               and r.secs < 8 and "name both.example.org" in r.err,
               "S82 B042 NETLIVE %s: refused at once" % what, r)
    ok(not gone(), "S64 nothing is left", sandboxed())
done()
