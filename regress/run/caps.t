#!/usr/bin/python3
"""Identity, groups and capabilities after the drop, whatever was asked for
(V002-V005), and no user namespace inside (V007). User mode."""
import itertools
import struct
from tap import *

WANT = ("Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd",
        "CapAmb", "NoNewPrivs")
NONE = "0" * 16
BIND = "%016x" % (1 << 10)  # CAP_NET_BIND_SERVICE: the socket factory's

# Every option of run that leaves a payload, and every section that starts
# something or takes another way.
OPTIONS = [["-v"], ["--wait-all"], ["--allow-ptrace"], ["--without-landlock"],
           ["--status-fd", "2"], ["-C", "."], ["-p", "lock"], ["-p", "once"],
           ["-p", "spawn"], ["-p", "limits"], ["-p", "egress"],
           ["-p", "sockets"]]

NS = r"""
import ctypes, errno, os, subprocess, threading
libc = ctypes.CDLL(None, use_errno=True)
X86 = os.uname().machine == "x86_64"
NEWUSER = 0x10000000
me = os.getpid()
def attempt(name, nr, *args):
    r = libc.syscall(nr, *args)
    if os.getpid() != me: os._exit(0)
    if r == 0: print(name, "DONE")
    elif r > 0: os.waitpid(r, 0); print(name, "DONE")
    else: print(name, errno.errorcode[ctypes.get_errno()])
class Args(ctypes.Structure):
    _fields_ = [("flags", ctypes.c_uint64), ("rest", ctypes.c_uint64 * 10)]
got = []
t = threading.Thread(target=got.append, args=(1,))
t.start(); t.join()
child = subprocess.run(["true"]).returncode
attempt("clone", 56 if X86 else 220, NEWUSER | 17, 0, 0, 0, 0)
a = Args(NEWUSER)
a.rest[3] = 17
attempt("clone3", 435, ctypes.byref(a), ctypes.sizeof(a))
fd = os.open("/proc/self/ns/user", os.O_RDONLY)
attempt("setns", 308 if X86 else 268, fd, NEWUSER)
attempt("unshare", 272 if X86 else 97, NEWUSER)
print("MARK", got, child)
"""


def lines(text):
    return {k: v.split() for k, v in (x.split(":", 1) for x in
                                      text.splitlines() if ":" in x)
            if k in WANT}


with Place() as p:
    x = "[profile]\ndescription = test\n"
    p.profile("lock", x + "[exec]\ninterpreter = /usr/bin/cat\n")
    p.profile("once", x + "[exec]\nonce = yes\n")
    p.profile("spawn", x + "[exec]\nspawn = no\nunix = no\n")
    p.profile("limits", x + "[limits]\nwall-time = 1h\nopen-files = 100\n"
              "file-size = 1M\n")
    p.profile("egress", x + "[egress]\nallow = tcp://192.0.2.1:7\n")
    p.profile("sockets", x + "[egress]\nallow = https://*.example.org:443\n")
    cat = ["--", "cat", "/proc/self/status"]
    want = lines(p.do("run", *cat).out)
    ok(want.get("Uid") == [str(UID)] * 4 and want.get("Gid") ==
       [str(GID)] * 4 and want.get("NoNewPrivs") == ["1"] and
       all(want.get(c) == [NONE] for c in WANT if c.startswith("Cap")),
       "V002 the caller's ids, no capability, no new privilege", want)
    outside = lines(p.host("cat", "/proc/self/status").out)
    ok(outside["NoNewPrivs"] == ["0"] and outside["CapBnd"] != [NONE],
       "V002 control: outside it is otherwise", outside)
    bad, n = [], 0
    for k in (1, 2):
        for some in itertools.combinations(OPTIONS, k):
            r = p.do("run", *sum(some, []), *cat)
            n += 1
            if r.code != 0 or lines(r.out) != want:
                bad.append((some, str(r)))
    ok(not bad, "V002 V005 the same with each of %d options and sections, and "
       "each two" % len(OPTIONS), n, bad[:3])

    # what else there is of carrel while a payload runs
    p.profile("stay", x + "[exec]\nonce = yes\n[limits]\nwall-time = 1h\n"
              "[egress]\nallow = https://*.example.org:443\n"
              "allow = tcp://192.0.2.1:7\n")
    before = set(sandboxed())
    c = p.start("run", "-p", "stay", "--", "sh", "-c", "echo up; read x",
                stdin=subprocess.PIPE)
    c.stdout.readline()
    bad, seen = [], []
    # what the user shall not reach in hosted mode: the factory, the recorder
    uids = [[str(UID)] * 4] + ([["0"] * 4] if HOSTED else [])
    for pid in (set(sandboxed()) | descendants(c.pid)) - before:
        s = status_of(pid)
        caps = {s[k].strip() for k in ("CapPrm", "CapEff")}
        seen.append("%d %s %s" % (pid, s.get("Name", "").strip(),
                                  s.get("CapPrm", "").strip()))
        if not caps <= {NONE, BIND} or s["NoNewPrivs"].strip() != "1" or \
                s["CapInh"].strip() != NONE or s["CapAmb"].strip() != NONE or \
                s["Uid"].split() not in uids or \
                s["Gid"].split() != [str(GID)] * 4:
            bad.append((pid, s))
    c.communicate(b"x\n")
    ok(not bad and len(seen) >= 5, "V002 V005 no process of a run has a "
       "capability, but for binding ports the socket factory", seen, bad)
    ok(sum(BIND in x for x in seen) == 1, "V005 which is one", seen)

    # V003: what a caller has to pass on, and a file that takes it up
    if IS_ROOT:
        with open("/bin/cat", "rb") as f:
            tool = p.write("tool", f.read(), 0o755)
        with root():
            os.setxattr(tool, "security.capability", struct.pack(
                "<IIIII", 0x02000001, 0, 1 << 13, 0, 0))
            shell = ["sh", "-c", "cat /proc/self/status; exec ./tool "
                     "/proc/self/status"]

            def inherit(*argv, more=()):
                return finish(subprocess.Popen(
                    ["setpriv", "--reuid", str(UID), "--regid", str(GID),
                     "--init-groups", "--inh-caps", "+net_raw", *more, "env", "-i",
                     "HOME=" + p.home, "PATH=/usr/bin:/bin"] + list(argv),
                    cwd=p.proj, stdin=-3, stdout=-1, stderr=-1))
            r = inherit(CARREL, "run", "--", *shell)
            control = inherit(*shell)
            # and in ways that an execve(2) of its own would keep
            ways = {
                "ambient": ["--ambient-caps", "+net_raw"],
                "with root's rights gone for good": [
                    "--ambient-caps", "+net_raw", "--securebits",
                    "+noroot,+noroot_locked,+no_setuid_fixup"],
                "with no_new_privs": ["--no-new-privs"]}
            kept = {}
            for name, more in ways.items():
                kept[name] = [inherit(*a, more=more) for a in (
                    [CARREL, "run", "--", *shell], shell)]
        for name, (r, outside) in kept.items():
            if HOSTED and "for good" in name:   # set-user-id gives nothing
                ok(r.code == OWN and "Cap" not in r.out,
                   "V003 what a caller has to pass on, %s: refused" % name, r)
                continue
            ok(r.code == 0 and
               re.findall(r"Cap...:\t(\w+)", r.out) == [NONE] * 10 and
               NONE not in re.findall(r"CapInh:\t(\w+)", outside.out)[:1],
               "V003 what a caller has to pass on, %s: nothing" % name, r,
               outside)
        got = re.findall(r"Cap...:\t(\w+)", r.out)
        ok(r.code == 0 and got == [NONE] * 10, "V003 an inheritable "
           "capability, and a file that would take it up: nothing", r)
        ok("CapPrm:\t%016x" % (1 << 13) in control.out,
           "V003 control: outside it does", control)

        # V004: groups
        group = os.environ["CARREL_T_GROUP"]
        with root():
            for name, mode in (("granted", 0o640), ("other", 0o640)):
                with open(p.proj + "/" + name, "w") as f:
                    f.write(name + "\n")
                shutil.chown(p.proj + "/" + name, "root",
                             group if name == "granted" else "shadow")
                os.chmod(p.proj + "/" + name, mode)
        r = p.sh("cat granted; cat other; grep Groups /proc/self/status")
        ok(r.out.startswith("granted\n") and "other\n" not in r.out and
           "Permission denied" in r.err,
           "V004 the caller's groups are in force, as the manual says", r)
        log = p.top + "/strace"
        r = p.strace(log, ["-e", "trace=setgroups,setresgid,setresuid",
                           "-e", "inject=setgroups:error=EPERM"], CARREL,
                     "run", "--", "cat", "granted")
        with root(), open(log) as f:
            calls = [x for x in f if "setgroups" in x]
        ok(r.out == "granted\n" and not calls,
           "V004 no call changes them, so none can fail", r, calls)

    # V007: user namespaces
    p.write("ns.py", NS)
    r = p.run("python3", "ns.py")
    ok(re.fullmatch(r"clone EPERM\nclone3 ENOSYS\nsetns EPERM\n"
                    r"unshare EPERM\nMARK \[1\] 0\n", r.out),
       "V007 no user namespace inside; threads and processes work", r)
    r = p.host("python3", "ns.py")
    ok(r.out.count("DONE") == 3, "V007 control: outside three of them do", r)
done()
