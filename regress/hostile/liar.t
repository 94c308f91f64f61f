#!/usr/bin/python3
"""A parser that lies (liar.c): whatever it says, carrel ends in time with its
own code and a message, and the payload starts only under a good policy
(V034, S101 in part)."""
import lying
from lying import *

p = lying.place


try:
    r = lie("honest")
    ok(r.code == 0 and r.out == MARK + "\n", "V034 control: an honest liar", r)
    r = lie("deaf")
    ok(clean(r) and (r.code == 0) == (MARK in r.out),
       "V034 one that does not listen", r)
    r = lie("wire byte 2 40 65")
    diag("a mutation without meaning: exit %s" % r.code)

    words = []
    for g in ("/", "/proc", "/proc/1", "/proc/self/attr", "/dev", "/dev/null",
              "/dev/shm/x", "/sys", "/sys/fs", "/run/carrel",
              "/run/carrel/bin", "/run/carrel/bin/sh", "relative", "/a/../b",
              "/..", "/a/./b", "//a", "/a/", "/a//b", "", ".", "..",
              "/" + "x" * 256, "/x" * 2100, "/\x1b[2J", "/a\x7f",
              "/\u202eb", "/\u200bb"):
        words.append("set guest " + g)
    all_caught("places inside that nobody may have", words)
    words = ["set source " + s for s in (
        "/", "/proc", "/proc/self/root", "/proc/1/root", "/proc/self/fd/3",
        "/proc/self/cwd", "/sys", "/sys/fs/cgroup", "/dev", "/dev/null",
        "/dev/shm", "/dev/pts", "relative", "..", "/..", "/usr/../etc",
        "/usr/./bin", "//usr", "/usr/", "", "/no/such/place",
        "/usr/share/none/none", p.top + "/fifo", p.top + "/sock",
        p.top + "/toproc", p.top + "/tosock", "/x" * 2100)]
    os.mkfifo(p.top + "/fifo")
    import socket
    sock = socket.socket(socket.AF_UNIX)
    sock.bind(p.top + "/sock")
    os.symlink("/proc", p.top + "/toproc")
    os.symlink(p.top + "/sock", p.top + "/tosock")
    all_caught("sources that nobody may have", words)
    all_caught("fields outside their range", [
        "set kind 0", "set kind 4", "set kind 5", "set kind 6", "set kind 7",
        "set kind 255", "set flags 4", "set flags 8",
        "set flags 128", "set flags 255", "set flags 1", "set flags 2",
        "set size 1", "set verb 0", "set verb 7", "set verb 8",
        "set verb 9", "set verb 10", "set verb 255",
        "set verb 2", "set verb 5", "set profile 1", "set profile 65535",
        "set origins", "set layer 0", "set layer 4", "set layer 255",
        "set layer 2", "set pflags 0", "set pflags 8", "set pflags 255",
        "set kind 2", "set kind 3"])
    # GRANT_OWN, which no honest sender writes: on the wire, with others
    all_caught("grants of carrel's own", [
        "wire byte %d 7 %d" % (GRANT, n) for n in (4, 5, 6, 7)] +
        ["wire byte 2 7 4", "wire byte 2 7 6"])
    for mode in ("grant 4 /run/carrel/bin/t /usr/bin/env 0",
                 "user 4 /run/carrel/bin/t /usr/bin/env 0",
                 "user 5 /run/s %s/sock 0" % p.top):
        r = lie(mode)
        ok(r.code == 0 and r.out == MARK + "\n",
           "V034 control: %s" % mode.replace(p.top, ""), r)
    staged = "/run/carrel/bin"
    all_caught("commands, sockets and devices", [
        "grant 4 %s /usr/bin/env 0" % g for g in (
            staged, staged + "/a/b", staged + "/..", staged + "/a/",
            "/run/carrel/t", "/usr/bin/zz", "/opt/t", staged + "/a\x1b")] +
        ["grant 4 %s/t %s 0" % (staged, s) for s in (
            "/usr", "/etc/passwd", "/proc/self/exe", "/dev/null", "/", "t",
            "/no/such", "-", p.top + "/sock", p.top + "/fifo")] +
        ["grant 4 %s/t /usr/bin/env 1" % staged,
         "grant 5 /run/s %s/sock 0" % p.top, "grant 6 /dev/autofs /dev/autofs 0"]
        + ["user 5 %s 0" % x for x in (
            "/run/s /usr", "/run/s /usr/bin/env", "/run/s %s/fifo" % p.top,
            "/run/s /dev/null", "/run/s /proc/self/fd/3", "/run/s /no/such",
            "/run/carrel/bin/s %s/sock" % p.top, "/dev/s %s/sock" % p.top,
            "/usr/s %s/sock" % p.top, "/proc/s %s/sock" % p.top)]
        + ["user 5 /run/s %s/sock 1" % p.top]
        + ["user 6 %s %s 0" % x for x in (
            ("/dev/null", "/dev/null"), ("/dev/x", "/dev/null"),
            ("/opt/x", "/dev/null"), ("/dev/pts/0", "/dev/pts/0"),
            ("/dev/pts", "/dev/pts"), ("/dev/shm", "/dev/shm"),
            ("/dev", "/dev"), ("/dev/mem", "/dev/mem"),
            ("/dev/port", "/dev/port"), ("/dev/core", "/dev/core"),
            ("/dev/x", "/dev/x"), ("/dev/../etc", "/dev/../etc"),
            ("/etc/x", "/etc/passwd"), ("/dev/cpu", "/dev/cpu"),
            ("/dev/net", "/dev/net"))])
    all_caught("names", ["set name " + n for n in (
        "sys", "@", "@@sys", "@a/b", "@../x", "", "@A", "@-a", "@\x1b[2J",
        "@" + "a" * 64, "@" + "a" * 30000, "@a.b", "@a\x7f")] +
        ["set file relative", "set file", "set file /a/../b"] +
        ["set digest", "set digest " + 63 * "a", "set digest " + 64 * "A",
         "set digest " + 63 * "a" + "/"])
    all_caught("order and masks", [
        "unsorted", "grant 1 /usr/bin /etc 0", "grant 1 /usr/x /usr/y 0",
        "grant 2 /usr/tmp - 65536", "grant 3 /usr/l x 0",
        "grant 1 /opt/lie /usr/lib 0", "grant 1 /opt/lie/in /etc 0",
        "grant 2 /opt/lie - 65536", "grant 1 /usr /usr 0",
        "grant 2 /tmpfs - 0", "grant 2 /tmpfs - 1",
        "grant 2 /tmpfs - 0x7fffffffffffffff", "grant 2 /tmpfs /usr 65536",
        "grant 2 /t - 1073741825", "grant 2 /t - 1099511627777", "grant 3 /l - 0", "grant 3 /l \x1b 0",
        "grant 3 /l x 1", "grant 1 /x - 0"])
    all_caught("records out of turn", ["wire swap %d %d" % (i, k) for i, k in (
        (0, 1), (0, 8), (1, 2), (1, 8), (2, 8), (7, 8), (0, 4))] +
        ["wire drop %d" % i for i in range(RECORDS)] +
        ["wire dup %d" % i for i in range(RECORDS)] +
        ["wire type %d %d" % (i, t) for i in (0, 1, 4, 8) for t in
         (0, 1, 2, 3, 4, 10, 11, 12, 13, 255, 65535)] +
        ["wire type 0 8", "wire type 8 5", "wire type 1 7", "late"])
    all_caught("lengths", ["wire cut %d %d" % (i, n) for i in (0, 1, 5, 8)
                           for n in (1, 5, 6, 7, 9, 99999)] +
               ["wire grow %d %d" % (i, n) for i in (0, 1, 5, 8)
                for n in (1, 6, 300, 32000)] +
               ["wire size %d %d" % (i, n) for i in (0, 1, 5, 8) for n in
                (0, 1, 3, 32763, 65535, 2147483647, 2147483648, 4294967295)])
    # the bytes of one grant: kind, flags, two strings, size, origins
    all_caught("strings", ["wire byte %d 8 %d" % (GRANT, b)
                           for b in (0, 1, 7, 9, 255)] +
               ["wire byte %d 9 255" % GRANT, "wire byte %d 12 0" % GRANT,
                "wire byte 1 8 0", "wire byte 1 10 0", "wire byte 0 6 9",
                "wire byte 8 6 1", "wire byte 8 7 9", "wire byte 8 11 9",
                "wire byte 8 15 1"])
    all_caught("too much", ["huge 65537", "huge 65536", "huge 200000",
                            "flood 200000",
                            "many refusals 257", "empty"])
    all_caught("how it ends", ["early %d %d" % (n, c) for n in (0, 1, 4, 8)
                               for c in (0, 1, 42)] +
               ["exit %d" % c for c in (1, 42, 125, 255)] +
               ["signal %d" % s for s in (9, 15)])
    r = lie("signal 11")
    ok(r.code == OWN and MARK not in r.out and r.err.startswith("carrel: "),
       "V034 a parser that crashes at the end: no run", r)

    # claims on variables: verbs 1 to 5 are set, merge, prepend, inherit,
    # sanitise; the liar's profile is a shipped one
    r = lie("environ honest", "run", "--", "/bin/sh", "-c",
            "echo $LC_ALL $PATH " + MARK)
    ok(r.code == 0 and r.out.startswith("C /opt/lie:/usr/local/bin:/usr/bin:")
       and MARK in r.out, "V034 control: honest claims on variables", r)
    # rules: kinds 1 to 10 are tier, interpreter, library, spawn, unix, once,
    # limit, report, on-violation, allow
    for mode in ("rule 1 0 2", "rule 8 1 0", "rule 9 0 2",
                 "rule 10 1 443 a"):
        r = lie(mode)
        ok(r.code == 0 and r.out == MARK + "\n", "V034 control: " + mode, r)
    all_caught("rules outside their range", ["rule " + x for x in (
        "0 0 0", "11 0 0", "255 0 0", "1 0 0", "1 0 4", "1 1 2", "1 0 2 /a",
        "2 0 0", "2 0 0 /", "2 0 0 a", "2 0 0 /a/../b", "2 0 0 /a\x1b",
        "2 0 1 /a", "2 1 0 /a", "3 0 0 /a/", "4 0 1", "4 1 0", "4 0 0 /a",
        "5 0 1", "6 0 1", "7 0 4096", "7 10 4096", "7 255 4096", "7 1 0",
        "7 1 4096", "7 1 1125899906842625", "7 2 0", "7 3 0", "7 3 819201",
        "7 5 0", "7 6 3", "7 8 0", "7 9 4095", "7 9 4096 /a", "8 0 0",
        "8 3 0", "8 1 1", "9 0 0", "9 0 1", "9 0 4", "10 0 0", "10 0 443 a",
        "10 7 443 a", "10 1 0 a", "10 1 65536 a", "10 1 131515 a",
        "10 1 4294967739 a", "10 1 443", "10 1 443 A", "10 1 443 a.",
        "10 1 443 a..b", "10 1 443 -a", "10 1 443 *", "10 1 443 *.",
        "10 1 443 a\x1b", "10 1 443 127.1", "10 1 443 127.0.0.1",
        "10 1 443 ::1", "10 1 443 [2001:db8::1]", "10 1 443 2001:DB8::1",
        "10 1 443 /etc", "10 6 0 a", "10 6 443 *", "10 6 65536 *")])
    # packs: what is at /workdir is the target and nothing else of the host
    for mode in ("pack %s" % p.proj, "pack %s /workdir/in %s/in 1" % (
            p.proj, p.proj)):
        os.makedirs(p.proj + "/in", exist_ok=True)
        r = lie(mode)
        ok(r.code == 0 and r.out == MARK + "\n", "V034 S13 control: a pack " +
           mode.replace(p.top, ""), r)
    all_caught("packs", ["pack " + x for x in (
        "/etc", p.home, p.top, "/usr",
        *("%s %s" % (p.proj, y) for y in (
            "/etc/x /etc/passwd 1", "/workdir/x /etc 1",
            "/workdir/x %s/y 1" % p.proj, "/workdirs %s 1" % p.proj,
            "/workdir/in %s/../in 1" % p.proj, "/opt/x %s 2" % p.home)))])
    # a profile that is only looked at, with what it says of its tools
    look = ("profile", "lint", "@liar")
    r = lie("described 1,2,0 t text 1", *look)
    ok(r.code in (0, 1) and "tool t.effect" in r.out and clean(r),
       "V034 S94 control: honest tools", r)
    all_caught("profile lint is told lies", [
        "honest", "late", "exit 1", "early 4 0", "huge 200000", "wire dup 8",
        "unsorted", "set guest /proc", "rule 1 0 4"] + [
            "described " + x for x in (
                "0,1,0 t text 1", "3,1,0 t text 1", "1,4,0 t text 1",
                "1,1,3 t text 1", "2,1,0 t text 1", "2,0,0 t \" 1",
                "1,1,0 @t text 1", "1,1,0 T text 1", "1,1,0 t text 0",
                "1,1,0 t text 7", "1,1,0 t text 1 2", "1,1,0 t text 1 0",
                "1,1,0 %s text 1" % ("t" * 64))], look)
    r = lie("described 1,1,0 t text 1")
    ok(caught("", r), "V034 no run is told of tools", r)
    all_caught("variables that nobody may write", ["wish %d %s x" % (v, n)
               for v in (1, 2, 3) for n in (
                   "HOME", "SHELL", "PS1", "CARREL_RUN", "SSH_AUTH_SOCK",
                   "LD_PRELOAD", "LD_LIBRARY_PATH", "BASH_FUNC_x%%",
                   "GIT_SSH", "FOO", "A=B", "1A", "A-B", "\x1b[2J",
                   "A" * 129, "A" * 5000)] +
               ["wish 4 %s" % n for n in (
                   "HOME", "PATH", "LD_AUDIT", "BASH_ENV", "npm_config_x",
                   "CARGO_HOME", "FOO", "NODE_OPTIONS")] +
               ["wish 5 %s" % n for n in ("PATH", "MANPATH", "EDITOR")])
    all_caught("verbs and values", [
        "wish 1 PATH /usr/bin", "wish 0 EDITOR x", "wish 6 EDITOR x",
        "wish 255 EDITOR x", "wish 1 EDITOR", "wish 2 EDITOR x",
        "wish 4 EDITOR x", "wish 2 PATH", "wish 3 PATH", "wish 2 PATH x",
        "wish 2 PATH /a:/b", "wish 2 PATH /a/../b", "wish 2 CLASSPATH /a;/b",
        "wish 1 EDITOR a\x1b[2J", "wish 1 EDITOR \u202e", "wish 1 EDITOR \x7f",
        "wish 1 CARGO_HOME x", "wish 1 EDITOR " + "x" * 4097,
        "environ wish 1 LC_ALL D", "environ wish 1 LC_ALL C",
        "environ wish 3 PATH /usr/games", "environ wish 2 PATH /usr/local/bin"])
    all_caught("records of variables", [
        "environ wire %s" % w for i in (8, 9, 10, 11) for w in (
            "swap %d %d" % (i, 8 + (i - 7) % 4), "swap %d 2" % i,
            "swap %d 12" % i, "drop %d" % i, "dup %d" % i,
            "cut %d 9" % i, "cut %d 7" % i, "grow %d 1" % i,
            "grow %d 300" % i, "size %d 0" % i, "size %d 4294967295" % i,
            "type %d 7" % i, "type %d 8" % i, "type %d 14" % i,
            "type %d 99" % i, "byte %d 6 9" % i, "byte %d 7 255" % i,
            "byte %d 8 255" % i, "byte %d 9 0" % i)])
    all_caught("explain is told lies about variables", [
        "wish 1 HOME x", "wish 9 EDITOR x", "environ wire dup 8",
        "environ wire byte 8 6 77", "environ wish 1 LC_ALL D",
        "wish 1 EDITOR \x1b"], ("explain", "--", "true"))

    # a lie in a refusal is still only text
    for mode in ("refuse %1b[2Jred", "refuse a%0acarrel:%20fine", "refuse %ff",
                 "refuse %e2%80%ae", "many refusals 200"):
        r = lie(mode)
        ok(caught(mode, r) and "\u202e" not in r.err and
           "\ncarrel: fine" not in r.err, "V034 V045 %s" % mode, r.err[:300])
        r = lie(mode, "explain", "--", "true")
        ok(clean(r) and r.code == OWN and
           not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202e]", r.out),
           "R015 V045 explain: %s" % mode, r.out[:300])

    # explain has the same ears
    r = lie("honest", "explain", "--", "true")
    ok(r.code == 0 and "/opt/lie" in r.out, "V034 control: explain", r)
    all_caught("explain is told lies", [
        "set guest /proc", "set source /proc/self/root", "set kind 9",
        "unsorted", "wire swap 0 1", "wire dup 8", "wire size 5 4294967295",
        "rights dir 2 0", "exit 1", "early 4 0", "late", "huge 200000",
        "set name @a/b", "grant 2 /usr/tmp - 65536"],
        ("explain", "--", "true"))

    # seeded mutations of the good policy
    count = int(os.environ.get("CARREL_T_MUTATIONS", "3000"))
    seed = rng().randrange(1 << 30)
    with ThreadPoolExecutor(WORKERS) as pool:
        rs = list(pool.map(lambda n: lie(
            "%smutate %d" % ("environ " if n % 3 == 0 else "", seed + n)),
                           range(count)))
    bad, ran = [], 0
    for n, r in enumerate(rs):
        # a change that leaves a good policy is a good policy
        good = clean(r) and (
            r.code == 0 and r.out == MARK + "\n" or
            r.code in (OWN, NOTEXEC, NOTFOUND) and MARK not in r.out and
            r.err.startswith("carrel: "))
        ran += r.code == 0
        if not good:
            bad.append("mutate %d: %s" % (seed + n, r))
    ok(not bad and ran < count / 2,
       "V034 %d mutations of a policy" % count, "%d ran" % ran, *bad[:6])
    slow = max(r.secs for r in rs)
    ok(slow < LIMIT, "V034 the slowest took %.2f s" % slow)
    # a screen that asks what is installed, and is answered with a policy
    for argv in (("profile", "list"), ("profile", "show", "@sys"),
                 ("profile", "tree", "--json"), ("profile", "dot"),
                 ("config",), ("why", "/usr")):
        all_caught("carrel %s and a parser that does not say what is "
                   "installed" % " ".join(argv),
                   ["honest", "deaf", "wire byte 2 40 65", "wire byte 1 2 9"],
                   argv)
        r = p.do(*argv)
        ok(r.code == 0 and r.out, "V034 control: carrel %s" % " ".join(argv),
           r)
    ok(not gone(2), "V034 no process is left after them", gone(0))
finally:
    p.__exit__()
done()
