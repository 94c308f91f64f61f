#!/usr/bin/python3
"""seeds.py: the part of the corpora that was made by hand: an honest stream of
each kind, and lies of one field each. When a record changes, change it here,
run it from the top, and let `make fuzz` find the rest anew."""
import os
import re
import struct

TOP = "regress/fuzz/corpus/"
with open("ipc/record.h") as header:
    NUMBERS = {name: n for n, name in enumerate(
        re.findall(r"^\tRECORD_(\w+)", header.read(), re.M), 1)}
REQUEST, SELECT, CALLER, REQUEST_END, POLICY, PROFILE, GRANT, REFUSAL, \
    POLICY_END, SCREEN, SURVEY, SCREEN_END, ENVIRON, VARIABLE, RULE, EXEC = (
        NUMBERS[x] for x in """REQUEST SELECT CALLER REQUEST_END POLICY PROFILE
        GRANT REFUSAL POLICY_END SCREEN SURVEY SCREEN_END ENVIRON VARIABLE RULE
        EXEC""".split())
BROKER, B_RULE, B_HOST, B_SOCKET, B_END = (
    NUMBERS["BROKER" + x] for x in ("", "_RULE", "_HOST", "_SOCKET", "_END"))
TOOL, DESCRIBED_END = NUMBERS["TOOL"], NUMBERS["DESCRIBED_END"]
EVENT, RUN, KEPT_PROFILE, RUN_END = (
    NUMBERS[x] for x in "EVENT RUN KEPT_PROFILE RUN_END".split())
READ, WRITE, TRY_READ, TRY_WRITE, AS_TMPFS, AS_LINK = 1, 2, 3, 4, 5, 6
AS_COMMAND, AS_SOCKET, AS_DEVICE = 7, 8, 9
BIND, TMPFS, LINK, COMMAND, SOCKET, DEVICE = 1, 2, 3, 4, 5, 6
SET, MERGE, PREPEND, INHERIT, SANITISE = 1, 2, 3, 4, 5
TIER, INTERPRETER, LIBRARY, NO_SPAWN, NO_UNIX, ONCE = 1, 2, 3, 4, 5, 6
LIMIT, REPORT, VIOLATION, EGRESS = 7, 8, 9, 10
MEMORY, WALL_TIME, TMPFS_SUM = 1, 5, 9


def string(s):
    s = s if isinstance(s, bytes) else s.encode()
    return struct.pack("=H", len(s)) + s + b"\0"


def record(kind, *fields):
    body = b"".join(fields)
    return struct.pack("=HI", kind, len(body)) + body


def profile(name="@sys", file="/p/s.profile", layer=1, flags=2, includes=(),
            digest=64 * "7"):
    return record(PROFILE, string(name), string(file), string("d"),
                  string("a"), string(digest), struct.pack("=BBH", layer, flags,
                                           len(includes)),
                  *(struct.pack("=H", i) for i in includes))


def grant(guest, source, verb=READ, kind=BIND, flags=0, size=0, index=0,
          claims=1):
    return record(GRANT, struct.pack("=BB", kind, flags), string(guest),
                  string(source), struct.pack("=QH", size, claims),
                  struct.pack("=HBI", index, verb, 3) * claims)


def refusal(what):
    return record(REFUSAL, string("@sys"), string("/p"),
                  struct.pack("=I", 1), string(what), string("fix"))


def claim(name, verb=SET, values=("x",), index=0):
    return record(ENVIRON, struct.pack("=B", verb), string(name),
                  struct.pack("=H", len(values)), *map(string, values),
                  struct.pack("=HHI", 1, index, 9))


def rule(kind, what=0, number=0, text="", index=0, line=9):
    return record(RULE, struct.pack("=BBQ", kind, what, number), string(text),
                  struct.pack("=HI", index, line))


def policy(grants, refusals=(), profiles=(profile(),), env=(), prompt="",
           rules=()):
    return (record(POLICY, struct.pack("=H", 1), string(prompt)) +
            b"".join(profiles) + b"".join(grants) + b"".join(env) +
            b"".join(rules) + b"".join(refusals) +
            record(POLICY_END, struct.pack("=BIIIIII", len(refusals) > 0,
                                           len(profiles), len(grants),
                                           len(env), len(rules),
                                           len(refusals), 0)))


def caller(cwd="/h/p", home="/h", flags=1):
    return record(CALLER, struct.pack("=III", 1000, 1000, flags),
                  *map(string, ("u", home, "/h", "/o", "/h", "/bin/sh", cwd,
                                "/h/p", "xterm", "", "")),
                  struct.pack("=HI", 1, 1000), string("u"),
                  struct.pack("=H", 1), string("/h/.config/carrel"),
                  struct.pack("=B", 1))


def request(who, flags=0, version=1, pack=""):
    return (record(REQUEST, struct.pack("=HI", version, flags),
                   string("/p") * 5 + string(pack)) + record(SELECT, string("@sys")) + who +
            record(REQUEST_END))


def row(real, links=()):
    return record(SURVEY, struct.pack("=BBBHIQQQ", 1, 0, 0, 0o755, 0, 1, 2, 0),
                  string(real),
                  struct.pack("=B", len(links)), *map(string, links))


def opened(kind, rule, guest, real, of=1, fault=0):
    """What the exec lock found; of: type of the row, 1 a directory."""
    return record(EXEC, struct.pack("=BBI", kind, fault, rule), string(guest),
                  struct.pack("=BBBHIQQQ", of, 0, 0, 0o755, 0, 1, 2, 0),
                  string(real), b"\0")


def variable(name, value):
    return record(VARIABLE, string(name), string(value), b"\0")


def screen(what, rows, who=caller(), words=("make", "a b"), host=()):
    return (record(SCREEN, struct.pack("=HIHBH", 1, 17, 80, 1, 6),
                   string("/h/\x1bev"), struct.pack("=H", len(words)),
                   *map(string, words)) + who + b"".join(host) + what + b"".join(rows) +
            record(SCREEN_END))


def keep(target, name, stream, how=0):
    """how: all in one datagram, or (1) a record a datagram."""
    with open(TOP + target + "/" + name, "wb") as f:
        f.write(bytes([how]) + stream)


GOOD = [grant("/home/u", "", AS_TMPFS, TMPFS, 0, 1 << 20),
        grant("/home/u/p", "/srv/p", TRY_WRITE, BIND, 3),
        grant("/usr", "/usr"),
        grant("/usr/src", "/usr/src", WRITE, BIND, 1),
        grant("/w", "/home/u/w", WRITE, BIND, 1),
        grant("/w/a/b", "/home/u/w/a/b"),
        grant("/x", "usr/bin", AS_LINK, LINK)]
keep("policy", "good", policy(GOOD))
keep("policy", "good-records", policy(GOOD), 1)
keep("policy", "good-refused", policy(GOOD, [refusal("no \x1b[m")]))
for n, path in enumerate(("/proc", "/proc/1", "/dev/null", "/sys/fs",
                          "/run/carrel", "/run/carrel/bin/sh", "/",
                          "/a/../b", "/a//b", "/a\x1bb")):
    keep("policy", "guest-%d" % n, policy([grant(path, "/usr")]))
for n, path in enumerate(("/", "/proc/self/root", "/dev/sda", "/sys",
                          "/a/..", "x")):
    keep("policy", "source-%d" % n, policy([grant("/a", path)]))
USR = grant("/usr", "/usr")
for name, grants in (
        ("hidden-bind", [USR, grant("/usr/lib", "/etc")]),
        ("hidden-tmpfs", [USR, grant("/usr/lib", "", AS_TMPFS, TMPFS, 0,
                                     4096)]),
        ("in-link", [grant("/x", "usr", AS_LINK, LINK),
                     grant("/x/y", "/usr")]),
        ("twice", [USR, grant("/usr", "/etc")]),
        ("unsorted", [USR, grant("/a", "/a")]),
        ("unasked-write", [grant("/usr", "/usr", flags=1)]),
        ("unasked-try", [grant("/usr", "/usr", flags=2)]),
        ("flag", [grant("/usr", "/usr", flags=128)]),
        ("kind", [grant("/usr", "/usr", kind=4)]),
        ("verb", [grant("/usr", "/usr", 9)]),
        ("index", [grant("/usr", "/usr", index=7)]),
        ("unclaimed", [grant("/usr", "/usr", claims=0)]),
        ("own-dirs", [grant("/etc", "/etc"), grant("/home", "/home"),
                      grant("/run", "/run"),
                      grant("/tmp", "/tmp", WRITE, BIND, 1),
                      grant("/var", "/var")])):
    keep("policy", name, policy(grants))
MINE = (profile("mine", "/c/m.profile", 3),)
for name, grants in (
        ("command", [grant("/run/carrel/bin/x", "/usr/bin/x", AS_COMMAND,
                           COMMAND)]),
        ("command-deep", [grant("/run/carrel/bin/x/y", "/usr/bin/x",
                                AS_COMMAND, COMMAND)]),
        ("socket", [grant("/s", "/run/s", AS_SOCKET, SOCKET)]),
        ("device", [grant("/dev/kvm", "/dev/kvm", AS_DEVICE, DEVICE)]),
        ("device-memory", [grant("/dev/mem", "/dev/mem", AS_DEVICE,
                                 DEVICE)]),
        ("device-other", [grant("/dev/kvm", "/dev/sda", AS_DEVICE, DEVICE)])):
    keep("policy", name, policy(grants, (), MINE))
keep("policy", "shipped-device", policy(
    [grant("/dev/kvm", "/dev/kvm", AS_DEVICE, DEVICE)]))
for name, env in (
        ("env", [claim("EDITOR"), claim("MANPATH", MERGE, ["/usr/man"]),
                 claim("PATH", PREPEND, ["/usr/x", "/usr/y"])]),
        ("env-code", [claim("LD_PRELOAD")]),
        ("env-own", [claim("CARREL_RUN")]),
        ("env-control", [claim("EDITOR", SET, ["a\x1b[m"])]),
        ("env-unsorted", [claim("PAGER"), claim("EDITOR")]),
        ("env-verb", [claim("EDITOR", 6)]),
        ("env-index", [claim("EDITOR", SET, ["x"], 3)])):
    keep("policy", name, policy([USR], (), MINE, env))
TWO = (profile(), profile("mine", "/c/m.profile", 3))
RULES = [rule(TIER, 0, 1), rule(INTERPRETER, text="/usr/bin/x"),
         rule(INTERPRETER, text="/usr/bin/y"),
         rule(INTERPRETER, text="/usr/bin/y", index=1),
         rule(LIBRARY, text="/usr/lib"), rule(NO_SPAWN, index=1),
         rule(NO_UNIX), rule(ONCE), rule(LIMIT, MEMORY, 1 << 26),
         rule(LIMIT, MEMORY, 1 << 27, index=1),
         rule(LIMIT, WALL_TIME, 2000), rule(LIMIT, TMPFS_SUM, 1 << 32),
         rule(REPORT, 1), rule(REPORT, 2, index=1), rule(VIOLATION, 0, 3)]
for name, rules in (
        ("rules", RULES),
        ("rules-unsorted", RULES[::-1]),
        ("rules-apart", [rule(INTERPRETER, text="/a"),
                         rule(INTERPRETER, text="/b", index=1)]),
        ("rules-twice", [rule(LIMIT, MEMORY, 1 << 26),
                         rule(LIMIT, MEMORY, 1 << 27)]),
        ("rules-kind", [rule(11)]),
        ("rules-what", [rule(LIMIT, 10, 5)]),
        ("rules-range", [rule(LIMIT, MEMORY, 1)]),
        ("rules-path", [rule(INTERPRETER, text="/a/../b")]),
        ("rules-text", [rule(ONCE, text="/a")]),
        ("rules-index", [rule(ONCE, index=2)])):
    keep("policy", name, policy([USR], (), TWO, (), "", rules))
keep("policy", "prompt", policy([USR], prompt="a\x1b[m"))
PACK = [rule(NO_UNIX, line=0), rule(REPORT, 2, line=0),
        rule(VIOLATION, 0, 2, line=0)]
for name, grants, rules, who in (
        ("pack", [grant("/workdir", "/home/u/proj"),
                  grant("/workdir/o", "/home/u/proj/o", WRITE, flags=9)],
         [rule(TIER, 0, 1)] + PACK, profile("+x", "/t/x.profile", 4, 1)),
        ("pack-elsewhere", [grant("/workdir", "/t")], PACK,
         profile("+x", "/t/x.profile", 4, 1)),
        ("pack-of-the-host", [grant("/etc/x", "/etc/x"),
                              grant("/workdir", "/home/u/proj")], PACK,
         profile("+x", "/t/x.profile", 4, 1)),
        ("pack-unconfined", [grant("/workdir", "/home/u/proj")], PACK[:2],
         profile("+x", "/t/x.profile", 4, 1)),
        ("pack-unmarked", [grant("/workdir", "/home/u/proj")], PACK,
         profile("x", "/t/x.profile", 4, 1)),
        ("read-only", [grant("/w", "/w", WRITE, flags=1)], [rule(TIER, 0, 1)],
         profile())):
    keep("policy", name, policy(grants, (), [who], rules=rules))
keep("policy", "string-end", record(POLICY, struct.pack("=H", 1), string("")) +
     record(PROFILE, struct.pack("=H", 60), b"x"))

keep("request", "good", request(caller()))
for n, who in enumerate((caller("x"), caller("/a/.."), caller(home=""),
                         caller(flags=8))):
    keep("request", "caller-%d" % n, request(who))
keep("request", "flags", request(caller(), 16))
keep("request", "pack", request(caller(), 4, pack="/t/x.profile"))
keep("request", "version", request(caller(), 0, 2))
keep("request", "after", request(caller()) + record(REQUEST_END))
keep("request", "string-end", record(CALLER, struct.pack("=III", 1, 1, 0),
                                     struct.pack("=H", 50), b"x"))

keep("screen", "good", screen(policy([USR, grant("/x", "/h/.ssh")]),
                              [row("/usr"), row("/h/.ssh")]))
keep("screen", "env", screen(
    policy([USR], (), MINE, [claim("LANG", INHERIT, []),
                             claim("PATH", SANITISE, [])]),
    [row("/usr")], host=[variable("LANG", "\x1b[2J\x9b"),
                         variable("PATH", "/a:/\x1b::x")]))
LOCK = [rule(INTERPRETER, text="/usr/bin/x"), rule(LIBRARY, text="/usr/lib"),
        rule(NO_SPAWN)]
for name, found in (
        ("exec", [opened(1, 0, "/usr/bin/x", "/usr/bin/x\x1b[m", 2),
                  opened(2, 0, "/lib/ld.so", "/usr/lib/ld.so", 2),
                  opened(3, 0, "", "/usr/lib"), opened(4, 0, "", "/none"),
                  opened(5, 1, "/usr/lib", "/usr/lib")]),
        ("exec-fault", [opened(1, 0, "/usr/bin/x", "", 0, 3)]),
        ("exec-kind", [opened(6, 0, "/usr/bin/x", "/usr/bin/x", 2)]),
        ("exec-rule", [opened(5, 0, "/usr/lib", "/usr/lib")]),
        ("exec-index", [opened(1, 3, "/usr/bin/x", "/usr/bin/x", 2)]),
        ("exec-guest", [opened(1, 0, "/usr/../x", "/usr/bin/x", 2)])):
    keep("screen", name, screen(policy([USR], (), MINE, (), "", LOCK),
                                [row("/usr")] + found))
keep("screen", "escapes", screen(
    policy([grant("/x", "/h/\x9b\x1b]0;x\x07\u202e")], (),
           [profile(file="/p/\x1b[1A")]),
    [row("/h/\x1b[3J", ["/l\r\n"])], caller("/h/\x1b[2J\x9b"),
    ("\x1b[2J", "\x7f")))
keep("screen", "refused", screen(
    policy([grant("/proc", "/\x1b")], [refusal("\x1b[2J\n")]), []))
keep("screen", "string-end", record(
    SCREEN, struct.pack("=HIHBH", 1, 0, 0, 1, 6), string(""),
    struct.pack("=HH", 1, 40), b"x"))


def tool(kind=1, name="t", text="x", stdin="", effect=1, expect=0, needs=(),
         index=0):
    return record(TOOL, struct.pack("=BHI", kind, index, 3), string(name),
                  string(text), string(stdin),
                  struct.pack("=BBH", effect, expect, len(needs)),
                  *(struct.pack("=B", v) + string(x) + struct.pack("=I", 4)
                    for v, x in needs))


def described(tools, what=policy([grant("/w", "/w", WRITE, flags=1)],
                                 rules=[rule(EGRESS, 1, 443, "*.example")]),
              count=None):
    return what + b"".join(tools) + record(DESCRIBED_END, struct.pack(
        "=I", len(tools) if count is None else count))


ODD = tool(2, "e", 'sh -c "a b"', "in", 0, 3, [(2, "/w/x"), (6, "*")])
keep("described", "good", described([tool(effect=3, needs=[
    (1, "/w"), (3, "x"), (6, "https://a.example:443")]), ODD]))
for name, stream in (
        ("none", described([])), ("kind", described([tool(3)])),
        ("index", described([tool(index=1)])),
        ("name", described([tool(name="@t")])),
        ("effect", described([tool(effect=4)])),
        ("no-command", described([tool(2, text='"', effect=0)])),
        ("expect-of-a-tool", described([tool(expect=1)])),
        ("need", described([tool(needs=[(7, "/x")])])),
        ("count", described([ODD], count=2)),
        ("many", described([tool()] * 1025)),
        ("no-end", described([ODD])[:-10]),
        ("twice", described([ODD]) + described([])),
        ("a pack", described([ODD], policy(
            [grant("/workdir", "/t"), grant("/workdir/o", "/t/o", WRITE,
                                            flags=9)], (),
            [profile("+x", "/t/x.profile", 4, 1)],
            rules=[rule(TIER, 0, 1), rule(NO_UNIX, line=0), rule(REPORT, 2, line=0),
                   rule(VIOLATION, 0, 2, line=0)]))),
        ("refused", described([], policy([], [refusal("no")])))):
    keep("described", name.replace(" ", "-"), stream)


def elf(loader=b"/lib/ld.so\0", at=176, machine=None, phnum=2, ident=b""):
    """A program of two segments, the second of which names its loader."""
    machine = machine or {"x86_64": 62}.get(os.uname().machine, 183)
    head = (ident or b"\x7fELF\2\1\1") + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", 3, machine, 1, 0, 64, 0, 0, 64, 56, phnum, 0, 0, 0)
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 200, 200, 1)
    return head + load + struct.pack("<IIQQQQQQ", 3, 4, at, 0, 0, len(loader),
                                     len(loader), 1) + loader


for name, data in (("good", elf()), ("static", elf(phnum=1)),
                   ("far", elf(at=1 << 40)), ("other", elf(machine=3)),
                   ("many", elf(phnum=65535)), ("unended", elf(b"/x")),
                   ("long", elf(b"/" * 5000)), ("script", b"#!/bin/sh\n"),
                   ("short", elf()[:64]), ("32", elf(ident=b"\x7fELF\1\1\1"))):
    with open(TOP + "elf/" + name, "wb") as f:
        f.write(data)


def b_rule(scheme=1, private=0, port=443, host="a.example"):
    return record(B_RULE, struct.pack("=BBH", scheme, private, port),
                  string(host), struct.pack("=HI", 0, 4))


def b_host(name, at=0):
    return record(B_HOST, string(name), struct.pack("=I", at))


def b_socket(kind=1, host=0, port=443):
    return record(B_SOCKET, struct.pack("=BHH", kind, host, port))


def broker(rules=(b_rule(),), hosts=(b_host("a.example", 0xc6120100),),
           sockets=(b_socket(),), version=1, uses=0):
    return (record(BROKER, struct.pack("=HB", version, uses)) + b"".join(rules) +
            b"".join(hosts) + b"".join(sockets) +
            record(B_END, struct.pack("=III", len(rules), len(hosts),
                                      len(sockets))))


keep("broker", "good", broker())
for name, stream in (
        ("more", broker(hosts=[b_host("192.0.2.7"),
                               b_host("a.example", 0xc6120100)],
                        sockets=[b_socket(1, 1), b_socket(2, 0, 53),
                                 b_socket(3, 0, 0), b_socket(8, 0, 0)])),
        ("everything", broker([b_rule(6, 0, 0, "*")], [], [])),
        ("wildcard", broker([b_rule(host="*.a.example")], [], [])),
        ("version", broker(version=2)), ("scheme", broker([b_rule(7)])),
        ("no-port", broker([b_rule(port=0)])),
        ("host", broker([b_rule(host="a.example.")])),
        ("private", broker([b_rule(private=2)])),
        ("own", broker(hosts=[b_host("a.example", 0xc6120002)])),
        ("twice", broker(hosts=[b_host("a.example", 0xc6120100),
                                b_host("b.example", 0xc6120100)])),
        ("unsorted", broker(hosts=[b_host("b.example", 0xc6120101),
                                   b_host("a.example", 0xc6120100)])),
        ("kind", broker(sockets=[b_socket(9, 0, 0)])),
        ("index", broker(sockets=[b_socket(1, 1)])),
        ("of-no-host", broker(sockets=[b_socket(4, 0, 53)])),
        ("end", broker()[:-12] + struct.pack("=III", 1, 1, 2))):
    keep("broker", name, stream)
keep("broker", "one-more", broker(), 2)
keep("broker", "one-less", broker(), 3)


def kept(profiles=1, events=(), run=32 * "a", version=1):
    return (record(RUN, struct.pack("=H", version), string(run),
                   struct.pack("=Q", 1700000000123), string("sh -c x")) +
            profiles * record(KEPT_PROFILE, string("mine"),
                              string("/m.profile"), string(64 * "7"),
                              struct.pack("=BI", 3, 7)) +
            b"".join(events) + record(RUN_END, struct.pack("=QQI", 7, 2, 3)))


def event(action="exec", profile=65535, rule="", resource="/bin/sh\x1b[2J",
          count=2, flags=0, surface=2, line=0):
    return record(EVENT, struct.pack("=BBHIII", surface, flags, profile, line,
                                     13, count),
                  string(action), string(resource), string(rule))


for name, stream in (
        ("good", kept(2, [event(), event("connect", 1, "tcp://x:1", "y", 1, 0,
                                         1, 4)])),
        ("flag", kept()), ("run", kept(run="../x")),
        ("version", kept(version=2)), ("many", kept(513)),
        ("index", kept(1, [event(profile=1)])),
        ("lost", kept(1, [event("", flags=1, resource="")])),
        ("order", kept() + event())):
    keep("kept", name, stream)


CATALOGUE, ITEM, LINE, FAULT, CATALOGUE_END = (
    NUMBERS[x] for x in
    "CATALOGUE ITEM LINE FAULT CATALOGUE_END".split())


def item(name="@sys", kind=3, state=1, layer=1, digest=64 * "a"):
    return record(ITEM, struct.pack("=BBB", kind, state, layer), string(name),
                  string("/p"), string(digest if kind == 3 else ""))


def line(of=1, flags=0, key="read", value="/usr\x1b[m", inside="/usr"):
    return record(LINE, struct.pack("=IIB", of, 3, flags), string("fs"),
                  string(key), string(value), string(inside))


def catalogue(items=None, lines=(line(), line(0xffffffff, 1)), verdict=0,
              version=1):
    items = [item("", 1), item()] if items is None else items
    return (record(CATALOGUE, struct.pack("=H", version)) + b"".join(items) +
            b"".join(lines) +
            record(FAULT, struct.pack("=B", verdict), string("x"),
                   string("/p"), struct.pack("=I", 1), string("no \x1b[m"),
                   string("fix")) +
            record(CATALOGUE_END, struct.pack("=III", len(items), len(lines),
                                              1)))


for name, stream in (
        ("good", catalogue()), ("version", catalogue(version=2)),
        ("verdict", catalogue(verdict=2)),
        ("of-none", catalogue(lines=[line(2)])),
        ("of-bad", catalogue([item("", 1), item(state=3)])),
        ("unsorted", catalogue([item("b", layer=3), item("a", layer=3)])),
        ("name", catalogue([item("", 1), item("../x")])),
        ("claims", catalogue([item("", 1), item("@x", layer=3)])),
        ("lines", catalogue(lines=[line(1), line(0)])),
        ("flags", catalogue(lines=[line(flags=4)])),
        ("digest", catalogue([item("", 1), item(digest="zz")]))):
    keep("catalogue", name, stream)


def plain(target, name, data):
    """No stream of records: the bytes as they are."""
    with open(TOP + target + "/" + name, "wb") as f:
        f.write(data)


for name, data in (
        ("good", event()),
        ("egress", event("connect", 1, "tcp://x:1", "y", 1, 0, 1, 4)),
        ("note", event("connect", flags=2, surface=1)),
        ("lost", event("", flags=1, resource="")),
        ("surface", event(surface=9)), ("flags", event(flags=4)),
        ("count", event(count=0)), ("action", event("A b")),
        ("rule", event(rule="x = y")), ("two", event() + event()),
        ("ready", b"\0" + record(NUMBERS["READY"], string(""))),
        ("not-ready", b"\0" + record(NUMBERS["READY"], string("no \x1b[m"))),
        ("ready-twice", b"\0" + 2 * record(NUMBERS["READY"], string("")))):
    plain("event", name, data)

ASK = struct.pack("=BBH", 0, 0, 443) + bytes((127, 0, 0, 1)) + bytes(12)
for name, data in (
        ("ask", b"\0" + ASK), ("ask6", b"\0\1\1" + ASK[2:]),
        ("ask-kind", b"\0\2" + ASK[1:]), ("ask-short", b"\0" + ASK[:-1]),
        ("ask-long", b"\0" + ASK + b"x"), ("ask-fd", b"\1" + ASK),
        ("enter", b"\2\1"), ("enter-bool", b"\2\2"), ("enter-one", b"\1\1"),
        ("enter-three", b"\3\1"), ("enter-seven", b"\7\1")):
    plain("pass", name, data)

for name, data in (
        ("usual", "# a\nnameserver 192.0.2.1\nnameserver\t2001:db8::1\n"
                  "search x\noptions rotate\n"),
        ("many", "".join("nameserver 192.0.2.%d\n" % n for n in range(6))),
        ("scope", "nameserver fe80::1%lo\nnameserver fe80::1%nothing\n"),
        ("broken", "nameserver\nnameserver x\nnameserver 1.2.3\0.4\n"),
        ("long", "nameserver " + 300 * "1" + "\n"), ("empty", ""),
        ("cut", "; x\nnameserver 192.0.2.1")):
    plain("servers", name, data.encode())

with open("child/screen/import.c") as source:
    WORDS = re.findall(r'^    \{"(--[a-z0-9-]+)", (\d)', source.read(), re.M)


def words(*options):
    """--option word ...: a byte, and each word with a NUL."""
    names = [w for w, n in WORDS]
    return b"".join(bytes([names.index(o[0])]) +
                    b"".join(w.encode() + b"\0" for w in o[1:])
                    for o in options)


for name, options in (
        ("binds", (("--ro-bind", "/usr", "/usr"), ("--bind", "/a b", "/c"),
                   ("--symlink", "usr/bin", "/bin"), ("--proc", "/proc"),
                   ("--dev", "/dev"))),
        ("tmpfs", (("--size", "4096"), ("--tmpfs", "/tmp"),
                   ("--tmpfs", "/home/u"))),
        ("env", (("--clearenv",), ("--setenv", "EDITOR", "vi -e"),
                 ("--setenv", "A\nB", "x"), ("--setenv", "LD_PRELOAD", "/x"),
                 ("--unsetenv", "A"))),
        ("odd", (("--bind", "/a -> /b", "/c;d"), ("--bind", "/\"", "/'"),
                 ("--ro-bind", "/\x1b[m", "/\u202e"), ("--tmpfs", "x"),
                 ("--bind", "{home}", "/{x}"), ("--symlink", "", "/a"))),
        ("net", (("--unshare-all",), ("--share-net",))),
        ("say", (("--perms", "0700"), ("--file", "3", "/x")))):
    plain("import", name, words(*options))

with open("child/screen/import_firejail.c") as source:
    FIREJAIL = re.findall(r'^    \{"([a-z0-9.-]+)", FATE', source.read(), re.M)
for name, lines in (
        ("paths", (("whitelist", "${HOME}/a b"), ("read-only", "/usr"),
                   ("read-write", "~/x->y"), ("blacklist", "/boot"),
                   ("tmpfs", "/tmp/x"), ("bind", "/a,/b"))),
        ("lists", (("private-etc", "passwd,group,x y,../z"),
                   ("private-opt", ","))),
        ("env", (("env", "A=b"), ("env", "A=c"), ("env", "LD_PRELOAD=/x"),
                 ("env", "=x"), ("env", "HOME=/x"))),
        ("limits", (("rlimit-nofile", "64"), ("rlimit-as", "0x10"),
                    ("rlimit-fsize", "99999999999999999999"),
                    ("timeout", "00:01:00"))),
        ("net", (("net", "none"), ("protocol", "unix,inet")))):
    plain("firejail", name, b"\n".join(
        bytes([FIREJAIL.index(d)]) + text.encode() for d, text in lines))


# ceiling: who the lines are for, what they say, and what is wrong with that
CEILING, C_LINE, C_FAULT, C_END = (
    NUMBERS["CEILING" + x] for x in ("", "_LINE", "_FAULT", "_END"))


def c_line(who=1, kind=2, what=READ, number=0, name="", text="/"):
    return record(C_LINE, struct.pack("=BBBQ", who, kind, what, number),
                  string(name), string(text), struct.pack("=I", 3))


def ceiling(*lines, faults=0, version=1, file="/etc/c", count=None):
    return (record(CEILING, struct.pack("=H", version), string(file)) +
            b"".join(lines) +
            record(C_FAULT, string(""), string(file), struct.pack("=I", 1),
                   string("no \x1b[m"), string("fix")) * faults +
            record(C_END, struct.pack("=II", len(lines) if count is None
                                      else count, faults)))


for name, stream in (
        ("good", ceiling(c_line(), c_line(2, 1, 0, name="lab", text=""),
                         c_line(3, 3, 0, 443, "u", "*"),
                         c_line(1, 3, 6, 0, "", "*"),
                         c_line(1, 4, 1, 1 << 20, text=""),
                         c_line(1, 5, 1, 1, text=""),
                         c_line(1, 6, 0, text=""))),
        ("good-fault", ceiling(faults=1)), ("empty", ceiling()),
        ("version", ceiling(version=2)), ("file", ceiling(file="etc")),
        ("count", ceiling(c_line(), count=2)),
        ("who", ceiling(c_line(4, name="x"))),
        ("nobody", ceiling(c_line(2))),
        ("path", ceiling(c_line(text="/a/../b"))),
        ("verb", ceiling(c_line(what=TRY_READ))),
        ("host", ceiling(c_line(1, 3, 4, 5, text="a b"))),
        ("limit", ceiling(c_line(1, 4, 10, 5, text=""))),
        ("tier", ceiling(c_line(1, 5, 1, 3, text="")))):
    keep("ceiling", name, stream)
for name, text in (
        ("good", "[ceiling]\nallow-user = u\n[everyone]\nread = /\n"
         "write = {home}/x\nallow = *://*:* private\nmemory = 1G\n"
         "require = spawn no\n[group lab]\ndevice = /dev/kvm\n"
         "[user u]\nallow = *\nrequire = audit\n"),
        ("bad", "[everyone]\nread = {target}\n"),
        ("twice", "[user u]\ncpu = 5%\n[user u]\ncpu = 6%\n")):
    with open(TOP + "ceilingconf/" + name, "w") as f:
        f.write(text)

LOGIN, LOGIN_END = NUMBERS["LOGIN"], NUMBERS["LOGIN_END"]


def login(shell="/bin/sh", what="", names=("a", "@sys"), fix="", count=None,
          version=1):
    return (record(LOGIN, struct.pack("=HI", version, 3), string(shell),
                   string(what), string(fix)) +
            b"".join(record(SELECT, string(x)) for x in names) +
            record(LOGIN_END, struct.pack("=I", len(names) if count is None
                                          else count)))


for name, stream in (
        ("good", login()), ("refused", login("", "no \x1b[m", (), "fix")),
        ("both", login("/bin/sh", "no")), ("neither", login("", "", ())),
        ("relative", login("sh")), ("name", login(names=("../x",))),
        ("count", login(count=1)), ("version", login(version=2))):
    keep("told", name, stream)
