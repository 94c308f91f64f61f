#!/usr/bin/python3
"""[exec]: the exec lock, once, spawn and unix (S72, S2b, S6), with real
programs; each way around it beside the same without the lock."""
import glob
import os
import shutil
import time
from tap import *

HEAD = "[profile]\ndescription = test\n[exec]\n"
PY = os.path.realpath("/usr/bin/python3")
LOADER = (glob.glob("/lib64/ld-linux*.so*") +
          glob.glob("/lib/ld-linux*.so*"))[0]
LIB = os.path.dirname(os.path.realpath(LOADER))

# What every attempt begins with. RUNS is printed by what must not run.
PRE = r"""
import ctypes, errno, mmap, os, sys
LOADER = %r
PROJ = os.getcwd()
libc = ctypes.CDLL(None, use_errno=True)
def call(nr, *args):
    r = libc.syscall(nr, *args)
    if r < 0: raise OSError(ctypes.get_errno(), "call %%d" %% nr)
    return r
def copied(src, dst, mode=0o755):
    os.makedirs(os.path.dirname(dst), exist_ok=True)
    with open(src, "rb") as f, open(dst, "wb") as g: g.write(f.read())
    os.chmod(dst, mode)
    return dst
print("MARK", flush=True)
""" % LOADER

# name: what it does, in python, inside. It prints RUNS if it gets around.
AROUND = {
    "another program": "os.execv('/bin/echo', ['echo', 'RUNS'])",
    "a shell": "os.execv('/bin/sh', ['sh', '-c', 'echo RUNS'])",
    "a copy of the interpreter in /tmp":
        "os.execv(copied(sys.executable, '/tmp/x/python3'), "
        "['p', '-c', 'print(\"RUNS\")'])",
    "a copy of the interpreter in the target":
        "os.execv(copied(sys.executable, PROJ + '/python3'), "
        "['p', '-c', 'print(\"RUNS\")'])",
    "a copy in /dev/shm":
        "os.execv(copied('/bin/echo', '/dev/shm/echo'), ['e', 'RUNS'])",
    "ld.so and a planted program":
        "copied('/bin/echo', PROJ + '/evil')\n"
        "os.execv(LOADER, ['ld.so', './evil', 'RUNS'])",
    "ld.so and a planted program in /tmp":
        "copied('/bin/echo', '/tmp/evil')\n"
        "os.execv(LOADER, ['ld.so', '/tmp/evil', 'RUNS'])",
    "ld.so and a program of the system":
        "os.execv(LOADER, ['ld.so', '/usr/bin/perl', '-e', "
        "'print \"RUNS\\n\"'])",
    "ld.so and a program on standard input":
        "os.execv(LOADER, ['ld.so', '/proc/self/fd/0', 'RUNS'])",
    "a program on standard input":
        "os.execve(0, ['echo', 'RUNS'], {})",
    "ld.so and a preloaded object":
        "copied('/usr/bin/echo', '/tmp/e')\n"
        "os.execve(LOADER, ['ld.so', '--preload', '/tmp/e', '/tmp/e', "
        "'RUNS'], {'LD_LIBRARY_PATH': '/tmp'})",
    "memfd and fexecve":
        "fd = os.memfd_create('x', 0)\n"
        "os.write(fd, open('/bin/echo', 'rb').read())\n"
        "os.execve(fd, ['echo', 'RUNS'], {})",
    "memfd by its name in /proc":
        "fd = os.memfd_create('x', 0)\n"
        "os.write(fd, open('/bin/echo', 'rb').read())\n"
        "os.execv('/proc/self/fd/%d' % fd, ['echo', 'RUNS'])",
    "memfd that is sealed noexec, and ld.so":
        "fd = call(319, b'x', 8) if os.uname().machine == 'x86_64' else "
        "os.memfd_create('x', 8)\n"
        "os.write(fd, open('/bin/echo', 'rb').read())\n"
        "os.execv(LOADER, ['ld.so', '/proc/self/fd/%d' % fd, 'RUNS'])",
    "a file without a name":
        "fd = os.open('/tmp', os.O_TMPFILE | os.O_RDWR, 0o755)\n"
        "os.write(fd, open('/bin/echo', 'rb').read())\n"
        "ro = os.open('/proc/self/fd/%d' % fd, os.O_RDONLY)\n"
        "os.close(fd)\n"
        "os.execve(ro, ['echo', 'RUNS'], {})",
    "a script with another interpreter":
        "open('s', 'w').write('#!/bin/sh\\necho RUNS\\n')\n"
        "os.chmod('s', 0o755)\n"
        "os.execv('./s', ['s'])",
    "a script with another interpreter in /usr":
        "os.execv('/usr/bin/ldd', ['ldd', '--version'])",
    "another program by /proc/self/root":
        "os.execv('/proc/self/root/bin/echo', ['echo', 'RUNS'])",
    "another program by a descriptor":
        "fd = os.open('/bin/echo', os.O_PATH)\n"
        "os.execve(fd, ['echo', 'RUNS'], {})",
    "a hard link to another program":
        "os.link(PROJ + '/echo', PROJ + '/python')\n"
        "os.execv(PROJ + '/python', ['python', 'RUNS'])",
    "a symlink that is called like it":
        "os.symlink('/bin/echo', PROJ + '/link')\n"
        "os.execv(PROJ + '/link', ['python3', 'RUNS'])",
    "dlopen of a planted object":
        "ctypes.CDLL(copied(ZLIB, PROJ + '/evil.so')).zlibVersion\n"
        "print('RUNS')",
    "dlopen of a planted object in /tmp":
        "ctypes.CDLL(copied(ZLIB, '/tmp/evil.so')).zlibVersion\n"
        "print('RUNS')",
    "dlopen of a planted object in /dev/shm":
        "ctypes.CDLL(copied(ZLIB, '/dev/shm/evil.so')).zlibVersion\n"
        "print('RUNS')",
    "dlopen of one that was deleted":
        "fd = os.open(copied(ZLIB, '/tmp/gone.so'), os.O_RDONLY)\n"
        "os.unlink('/tmp/gone.so')\n"
        "ctypes.CDLL('/proc/self/fd/%d' % fd).zlibVersion\n"
        "print('RUNS')",
    "a planted object, mapped":
        "f = open(copied(ZLIB, '/tmp/m.so'), 'rb')\n"
        "mmap.mmap(f.fileno(), 4096, mmap.MAP_PRIVATE, "
        "mmap.PROT_READ | mmap.PROT_EXEC)\n"
        "print('RUNS')",
    "a planted object, mapped and then made executable":
        "f = open(copied(ZLIB, '/tmp/m.so'), 'r+b')\n"
        "m = mmap.mmap(f.fileno(), 4096, mmap.MAP_PRIVATE)\n"
        "a = ctypes.addressof(ctypes.c_char.from_buffer(m))\n"
        "libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, "
        "ctypes.c_int]\n"
        "if libc.mprotect(a, 4096, 5) != 0:\n"
        "    raise OSError(ctypes.get_errno(), 'mprotect')\n"
        "print('RUNS')",
}


def programs_below(*dirs):
    """ELF programs, linked dynamically, in trees of the system's libraries."""
    found = []
    for top in dirs:
        for d, _, files in os.walk(top):
            for n in files:
                path = d + "/" + n
                if ".so" in n or os.path.islink(path) or \
                        not os.access(path, os.X_OK):
                    continue
                with open(path, "rb") as f:
                    head = f.read(4096)
                if head[:4] == b"\x7fELF" and b"ld-linux" in head:
                    found.append(path)
                    break
            if len(found) == 6:
                return found
    return found


def attempt(p, name, code, *options):
    p.host("sh", "-c", "rm -rf evil* python* link s m.so")
    with open("/bin/echo", "rb") as stdin:
        r = p.do("run", *options, "--", PY, "-c",
                 PRE + "ZLIB = %r\n" % ZLIB + code, stdin=stdin)
    if not r.out.startswith("MARK"):
        diag("%s: not even tried: %s" % (name, r))
    return r


def around(p, name, code, *lock):
    """Refused with the lock, runs without it."""
    r = attempt(p, name, code, *lock)
    ok(r.out == "MARK\n" and r.code != 0, "S72 %s: refused" % name, r)
    # Landlock alone keeps away what is on the host's own mounts
    r = attempt(p, name, code, "-p", "open", *(
        ["--without-landlock"] if "standard input" in name else []))
    ok(r.out.startswith("MARK\n") and
       ("RUNS" in r.out or "ldd" in r.out),
       "S72 control: %s, without the lock" % name, r)


ZLIB = os.path.realpath(glob.glob(LIB + "/libz.so.1")[0])

with Place() as p:
    p.profile("open", "[profile]\ndescription = test\n")
    p.profile("lock", HEAD + "interpreter = %s\n" % PY)
    with open("/bin/echo", "rb") as f:
        p.write("echo", f.read(), 0o755)
    for name, code in AROUND.items():
        around(p, name, code, "-p", "lock")

    # the mounts alone, which FACTS of the design count on
    for name in ("another program", "ld.so and a planted program",
                 "ld.so and a program of the system", "memfd and fexecve",
                 "a script with another interpreter",
                 "dlopen of a planted object"):
        r = attempt(p, name, AROUND[name], "--without-landlock", "-p", "lock")
        ok(r.out == "MARK\n" and r.code != 0,
           "S72 %s: refused by the mounts alone" % name, r)

    # subtrees of library directories hold programs
    found = programs_below(LIB, "/usr/lib/git-core", "/usr/lib/gcc",
                           "/usr/libexec")
    for prog in found:
        code = ("os.dup2(1, 2)\nos.execv(LOADER, ['ld.so', %r, "
                "'--version'])" % prog)
        r = attempt(p, prog, code, "-p", "lock")
        ok("failed to map segment" in r.out and r.code == 127,
           "S72 ld.so and %s: refused" % prog, r)
        r = attempt(p, prog, code, "-p", "open")
        ok("failed to map" not in r.out, "S72 control: %s" % prog, r)
    ok(len(found) > 1, "S72 there were programs to try", found)

    # what the manual says is not refused
    r = attempt(p, "libc", "os.execv(LOADER, ['ld.so', %r])" %
                (LIB + "/libc.so.6"), "-p", "lock")
    ok("GNU C Library" in r.out,
       "S72 documented: ld.so runs what lies in a library directory", r)
    r = attempt(p, "libc", "os.execv(%r, ['libc'])" % (LIB + "/libc.so.6"),
                "-p", "lock")
    ok("GNU" not in r.out and "Permission" in r.err,
       "S72 but that cannot be executed itself", r)
    r = attempt(p, "anon", "m = mmap.mmap(-1, 4096, prot=7)\n"
                "print('MAPPED')", "-p", "lock")
    ok("MAPPED" in r.out, "S72 documented: anonymous memory may be code", r)

    r = attempt(p, "stdin", AROUND["ld.so and a program on standard input"],
                "--without-landlock", "-p", "lock")
    ok("RUNS" in r.out, "S72 documented: without Landlock a program on "
       "standard input runs through ld.so", r)

    # what is inside, and how
    r = p.do("run", "-p", "lock", "--", PY, "-c",
             "for l in open('/proc/self/mountinfo'):\n"
             "    f = l.split()\n"
             "    if 'noexec' not in f[5]: print(f[4])")
    want = sorted([PY, LIB, os.path.realpath(LOADER)] +
                  [x for x in (LIB + "/glibc-hwcaps",
                               "/usr/lib/" + os.path.basename(PY),
                               "/usr/lib64/" + os.path.basename(PY))
                   if os.path.isdir(x)])
    equal(sorted(r.out.split()), want, "S72 every other mount is noexec", r)

    # a command that is none of them
    r = p.do("run", "-p", "lock", "--", "ls")
    ok(r.code == NOTEXEC and "ls\" cannot be executed" in r.err and
       "interpreter = /usr/bin/ls" in r.err.replace("= /bin", "= /usr/bin"),
       "S61 S72 a command that is no interpreter: 126, and what to add", r)
    r = p.do("run", "-p", "lock", "--", "no-such")
    ok(r.code == NOTFOUND, "S61 one that is not there stays 127", r)
    p.write("s.py", "#!%s\nprint('x')\n" % PY, 0o755)
    r = p.do("run", "-p", "lock", "--", "./s.py")
    ok(r.code == NOTEXEC and "none of them" in r.err,
       "S72 a script is named with its interpreter", r)
    equal(p.do("run", "-p", "lock", "--", PY, "s.py").out, "x\n",
          "S72 which then runs it")
    r = p.do("run", "-p", "lock", "--", "/usr/bin/python3", "-c",
             "import sys; print(sys.executable)")
    equal(r.out, "/usr/bin/python3\n", "S72 by a symlink to it", r)

    # S2b: the intersection, and everything else if anyone says so
    p.profile("more", HEAD + "interpreter = %s\ninterpreter = /bin/sh\n" % PY)
    r = p.do("run", "-p", "more", "--", "sh", "-c", "echo fine")
    equal(r.out, "fine\n", "S2b two interpreters, one profile", r)
    r = p.do("run", "-p", "more", "-p", "lock", "--", "sh", "-c", "echo no")
    ok(r.code == NOTEXEC and r.out == "",
       "S2b another profile names only one of them", r)
    p.profile("other", HEAD + "interpreter = /usr/bin/perl\n")
    p.refused("S2b none in common", "-p", "lock", "-p", "other",
              has=("lock", "other", "interpreter"))

    # modules that are compiled
    r = p.do("run", "-p", "lock", "--", PY, "-c",
             "import ctypes, ssl, sqlite3, decimal, _bz2, threading; "
             "print(ssl.OPENSSL_VERSION[:7], decimal.Decimal(1) / 4)")
    equal(r.out, "OpenSSL 0.25\n", "S72 python3 with its own modules", r)
    mod = glob.glob("/usr/lib*/%s/lib-dynload/_bz2.*.so" %
                    os.path.basename(PY)) + glob.glob(
        "/usr/lib*/%s/lib-dynload/_lzma.*.so" % os.path.basename(PY))
    if mod:
        with open(mod[0], "rb") as f:
            p.write("mods/" + os.path.basename(mod[0]), f.read())
        name = os.path.basename(mod[0]).split(".")[0]
        load = ("import sys; sys.path.insert(0, 'mods'); import %s as m; "
                "print('mods/' in m.__file__)" % name)
        p.profile("mods", HEAD + "interpreter = %s\nlibrary = {target}/mods\n"
                  "[fs]\nread = {target}/mods\n" % PY)
        r = p.do("run", "-p", "mods", "--", PY, "-c", load)
        equal(r.out, "True\n", "S72 python3 and a library of one's own", r)
        r = p.do("run", "-p", "lock", "--", PY, "-c", load)
        ok("failed to map segment" in r.err,
           "S72 which is not loaded without that line", r)
        r = p.do("run", "-p", "mods", "--", "sh", "-c", "echo x > mods/y")
        ok(r.code == NOTEXEC, "S72 and no shell can be reached", r)
        r = p.do("run", "-p", "mods", "--", PY, "-c", "open('mods/y', 'w')")
        ok("Read-only" in r.err, "S33b the library is pinned", r)
    perl = p.host("perl", "-MConfig", "-e", "print $Config{archlibexp}, ' ', "
                  "join ' ', grep { -d \"$_/auto\" } @INC").out.split()
    if perl:
        use = ("perl", "-MPOSIX", "-MList::Util=sum", "-MSocket", "-e",
               'print POSIX::floor(3.7) + sum(1, 2), "\\n"; print -e '
               '"/bin/sh" ? "there\\n" : ""; print "RUNS\\n" if system("/bin/'
               'echo RUNS") == 0; exec "/bin/echo", "RUNS"')
        p.profile("perl", HEAD + "interpreter = /usr/bin/perl\n" + "".join(
            "library = %s\n" % x for x in sorted(set(perl))
            if os.path.realpath(x) == x))
        r = p.do("run", "-p", "perl", "--", *use)
        equal(r.out, "6\nthere\n", "S72 perl with compiled modules", r)
        p.profile("bare", HEAD + "interpreter = /usr/bin/perl\n")
        r = p.do("run", "-p", "bare", "--", *use)
        ok(r.code != 0 and "failed to map segment" in r.err,
           "S72 perl, without the library lines", r)
    if os.path.exists("/usr/bin/node") and p.host("gcc", "--version").code == 0:
        p.write("m.c", "void *napi_register_module_v1(void *e, void *x);\n"
                "void *napi_register_module_v1(void *e, void *x)\n"
                "{ (void)e; return x; }\n")
        p.host("mkdir", "node")
        r = p.host("gcc", "-shared", "-fPIC", "-o", "node/m.node", "m.c")
        ok(r.code == 0, "a module for node", r)
        script = ("const t = require('worker_threads'); try { require("
                  "'./node/m.node'); console.log('LOADED') } catch (e) "
                  "{ console.log(e.code) }; const c = require('child_process'"
                  ").spawnSync('/bin/echo', ['RUNS']); console.log(c.error &&"
                  " c.error.code, String(c.stdout)); new t.Worker("
                  "'console.log(\"worker\")', {eval: true})")
        node = HEAD + "interpreter = /usr/bin/node\n"
        p.profile("node", node)
        p.profile("nodes", node + "library = {target}/node\n[fs]\n"
                  "read = {target}/node\n")
        r = p.do("run", "-p", "nodes", "--", "node", "-e", script)
        ok(r.out.startswith("LOADED\nEACCES") and "RUNS" not in r.out and
           "worker" in r.out, "S72 node with a compiled module", r)
        r = p.do("run", "-p", "node", "--", "node", "-e", script)
        ok(r.out.startswith("ERR_DLOPEN_FAILED\n") and "worker" in r.out,
           "S72 node, without the library line", r)
        r = p.do("run", "-p", "open", "--", "node", "-e", script)
        ok("LOADED" in r.out and "RUNS" in r.out, "S72 control: node", r)

    # S72, S7: under a write grant
    p.write("bin/python", b"", 0o755)
    with open(PY, "rb") as f:
        p.write("bin/python", f.read(), 0o755)
    p.profile("mine", HEAD + "interpreter = {target}/bin/python\n")
    p.refused("S72 an interpreter that could be written", "-p", "mine",
              has=("bin/python", "granted for writing", "@target",
                   "mine.profile:4", "read"))
    p.profile("pinned", HEAD + "interpreter = {target}/bin/python\n[fs]\n"
              "read = {target}/bin\n")
    r = p.do("run", "-p", "pinned", "--", "./bin/python", "-c", "print('x')")
    equal(r.out, "x\n", "S72 S33b a pinned one is fine", r)
    r = p.do("run", "-p", "pinned", "--", "./bin/python", "-c",
             "import os; os.rename('bin', 'was')")
    ok("busy" in r.err, "S33b and cannot be moved away", r)
    os.link(p.proj + "/bin/python", p.proj + "/other")
    p.refused("S72 nor written by a hard link", "-p", "pinned",
              has=("bin/python", "a second name", "@target"))
    os.unlink(p.proj + "/other")
    p.profile("twice", HEAD + "interpreter = /opt/py/bin/python\n[fs]\n"
              "read = {target} -> /opt/py\n")
    p.refused("S7 one that is written by another name", "-p", "twice",
              has=("writable inside", "bin/python"))
    p.profile("lib", HEAD + "interpreter = %s\nlibrary = {target}/mods\n" % PY)
    p.refused("S72 a library that could be written", "-p", "lib",
              has=("library", "granted for writing"))
    for name, line, word in (
            ("absent", "interpreter = /usr/bin/no-such", "No such file"),
            ("outside", "interpreter = /srv/x", "not inside"),
            ("directory", "interpreter = /usr/bin", "no file"),
            ("file", "interpreter = %s\nlibrary = %s" % (PY, PY),
             "no directory"),
            ("not executable", "interpreter = /usr/lib/os-release",
             "not executable")):
        p.profile("bad", HEAD + line + "\n")
        p.refused("S72 %s" % name, "-p", "bad", has=("bad.profile", word))
    p.runs("S72 control", "-p", "open")

    # spawn = no
    p.profile("spawn", HEAD + "spawn = no\n")
    script = """
import os, subprocess, threading
got = []
t = [threading.Thread(target=got.append, args=(i,)) for i in range(20)]
[x.start() for x in t]; [x.join() for x in t]
print(len(got))
for f in (os.fork, lambda: subprocess.run(["true"]), lambda: os.system("true"),
          lambda: os.posix_spawn("/bin/true", ["true"], {}),
          lambda: os.forkpty()):
    try:
        r = f()
        if r == 0 and f is os.fork: os._exit(0)
        print("refused" if r in (-1, 127 << 8) else "made")
    except OSError as e: print(e.errno)
os.execv("/bin/echo", ["echo", "still"])
"""
    r = p.do("run", "-p", "spawn", "--", PY, "-uc", script)
    equal(r.out, "20\n1\n1\nrefused\n1\n1\nstill\n",
          "S72 spawn = no: threads and execve, no new process", r)
    r = p.do("run", "-p", "open", "--", PY, "-uc", script)
    ok(r.out.startswith("20\nmade\n") and r.out.endswith("still\n"),
       "S72 control: without it", r)
    r = p.do("run", "-p", "spawn", "--", "sh", "-c", "ls | cat; echo $?")
    ok("fork" in r.err and r.code != 0, "S72 spawn = no: no pipelines", r)

    # unix = no
    p.profile("unix", HEAD + "unix = no\n")
    script = """
import socket
for f in (lambda: socket.socket(socket.AF_UNIX),
          lambda: socket.socketpair(),
          lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM),
          lambda: socket.socket(socket.AF_INET)):
    try: f(); print("made")
    except OSError as e: print(e.errno)
"""
    r = p.do("run", "-p", "unix", "--", PY, "-c", script)
    equal(r.out, "97\n97\n97\nmade\n", "S70 unix = no: the others stay", r)
    equal(p.do("run", "-p", "open", "--", PY, "-c", script).out, "made\n" * 4,
          "S70 control: without it")

    # each directory beside an interpreter is a mount: so many, and no more
    many = p.top + "/many"
    os.mkdir(many)
    shutil.copy("/bin/echo", many + "/echo")
    for i in range(4097):
        os.mkdir("%s/%d" % (many, i))
    p.profile("many", HEAD + "interpreter = %s/echo\nlibrary = %s\n[fs]\n"
              "read = %s\n" % (many, many, many))
    r = p.do("run", "-p", "many", "--", many + "/echo", MARK)
    ok(r.code == OWN and MARK not in r.out and "make noexec what is in " +
       many in r.err, "S72 more directories than can be covered: refused", r)
    os.rmdir(many + "/0")
    r = p.do("run", "-p", "many", "--", many + "/echo", MARK)
    ok(r.code == 0 and r.out == MARK + "\n", "S72 control: one less", r)
    p.unprofile("many")
    shutil.rmtree(many)

    # once = yes
    p.profile("once", HEAD + "once = yes\n")
    r = p.do("run", "-p", "once", "--", "sh", "-c", "echo a; ls; echo $?; "
             "exec ls")
    ok(r.out == "a\n126\n" and r.code == 126,
       "S72 once = yes: the command, and then none", r)
    # who answers keeps little of what the caller may
    c = p.start("run", "-p", "once", "--", "sleep", "5")
    served = []
    for _ in range(200):
        try:
            kids = open("/proc/%d/task/%d/children" % (c.pid, c.pid)).read()
            st = [dict(x.split(":", 1) for x in open("/proc/%s/status" % k))
                  for k in kids.split()]
        except OSError: # one of them ended
            continue
        served = [s for s in st if s["Name"].strip() == "carrel" and
                  s["Seccomp"].strip() == "2" and
                  s["NoNewPrivs"].strip() == "1" and
                  s["NSpid"].split() == s["Pid"].split()]
        if served:
            break
        time.sleep(0.01)
    ok(len(served) == 1, "S72 S6 the process that answers is confined", st)
    c.kill()
    finish(c)
    r = p.do("run", "-p", "once", "--", "ls", "-d", "/usr")
    equal(r.out, "/usr\n", "S72 looking along PATH is no attempt", r)
    r = p.do("run", "-p", "once", "--", "no-such-program")
    ok(r.code == NOTFOUND and "not found inside" in r.err,
       "S61 a command that is not there is 127 as ever", r)
    p.write("noexec", "x")
    r = p.do("run", "-p", "once", "--", "./noexec")
    ok(r.code == NOTEXEC, "S61 one that is no program is 126", r)
    p.write("script", "#!/bin/sh\necho script\n", 0o755)
    equal(p.do("run", "-p", "once", "--", "./script").out, "script\n",
          "S72 a script and its interpreter are one attempt")
    for name in ("another program", "memfd and fexecve",
                 "ld.so and a program of the system",
                 "a program on standard input"):
        r = attempt(p, name, AROUND[name], "-p", "once")
        ok(r.out == "MARK\n" and "not permitted" in r.err,
           "S72 once = yes: %s" % name, r)
    r = attempt(p, "itself", "os.execv(sys.executable, [sys.executable, '-c',"
                " 'print(\"RUNS\")'])", "-p", "once")
    ok(r.out == "MARK\n" and "not permitted" in r.err,
       "S72 once = yes: not even itself", r)
    r = p.do("run", "-p", "once", "--", PY, "-uc",
             "import os, threading\n"
             "def go():\n"
             "    try: os.execv('/bin/echo', ['echo', 'RUNS'])\n"
             "    except OSError as e: os.write(1, b'%d\\n' % e.errno)\n"
             "t = [threading.Thread(target=go) for i in range(20)]\n"
             "[x.start() for x in t]; [x.join() for x in t]\n"
             "[os.fork() == 0 and (go(), os._exit(0)) for i in range(20)]\n"
             "[os.wait() for i in range(20)]")
    equal(sorted(r.out.split()), ["1"] * 40,
          "S72 once = yes: threads and children", r)
    r = p.do("run", "-p", "once", "-p", "spawn", "-p", "unix", "-p", "lock",
             "--", PY, "-c", "import threading; t = threading.Thread(target="
             "print, args=('t',)); t.start(); t.join()")
    equal(r.out, "t\n", "S2b all of them together", r)

    # who answers: outside, and by itself
    def reach(name):
        return until(lambda: os.path.exists(p.proj + "/" + name))
    c = p.start("run", "-p", "once", "--", "sh", "-c", "echo > begun; while ! "
                "read x < go; do :; done 2>&-; ls; echo $? > code; "
                "while :; do :; done")
    ok(reach("begun"), "a payload under once = yes")
    os.kill(c.pid, signal.SIGSTOP)
    p.write("go.new", "x\n")
    os.rename(p.proj + "/go.new", p.proj + "/go")
    ok(reach("code"), "S72 a monitor that is stopped keeps nobody waiting")
    os.kill(c.pid, signal.SIGCONT)
    c.terminate()
    r = finish(c)
    ok(r.code == 143 and not gone(), "S64 and all of it ends", r, gone())
    c = p.start("run", "-p", "once", "--", "sh", "-c", "echo > two; "
                "while :; do :; done")
    reach("two")
    c.kill()
    finish(c)
    ok(not gone(), "S64 also when the monitor is killed", gone())
    c = p.start("run", "-p", "once", "--", "sh", "-c", "echo > three; "
                "while :; do ls; done")
    reach("three")
    kids = [int(x) for x in open("/proc/%d/task/%d/children" %
                                 (c.pid, c.pid)).read().split()]
    if HOSTED:  # the recorder's child, the set-up, for the recorder
        own = [x for x in kids if ours(status_of(x))]
        kids = own + [x for x in descendants(c.pid) if
                      int(status_of(x)["PPid"]) in set(kids) - set(own)]
    inner = {x for x in kids if depth(status_of(x)) > depth(
        status_of(c.pid))}
    ok(len(kids) == 2 and len(inner) == 1, "the set-up, and who answers",
       kids, inner)
    os.kill((set(kids) - inner).pop(), signal.SIGKILL)
    r = finish(c)
    ok(r.code == OWN and "ended by itself" in r.err and not gone(),
       "S6 when it is killed the run ends, loudly", r)

    # explain: CONFINEMENT, and who asked
    p.profile("all", HEAD + "interpreter = %s\nlibrary = /usr/lib/git-core\n"
              "spawn = no\nunix = no\nonce = yes\n" % PY
              if os.path.isdir("/usr/lib/git-core") else
              HEAD + "interpreter = %s\nspawn = no\nunix = no\nonce = yes\n" %
              PY)
    r = p.wide("explain", "-p", "all", "-p", "lock", "--", PY)
    text = r.out[r.out.index("CONFINEMENT"):]
    for tag, words in (("runs", PY), ("runs", "the loader"),
                       ("loads", LIB + " and the files in it"),
                       ("noexec", "every other mount"),
                       ("once", "last execve"), ("spawn", "only threads"),
                       ("unix", "no unix sockets")):
        ok(re.search(r"(?m)^  %s +.*%s" % (tag, re.escape(words)), text),
           "S91 explain: %s %s" % (tag, words), text)
    ok("interpreter all:4, interpreter lock:4" in text and
       "spawn all:" in text and "(carrel) for interpreter" in text,
       "S2b explain names who narrowed", text)
    r = p.wide("explain", "-p", "mine", "--", "x")
    ok(r.code == OWN and "REFUSED" in r.out and "interpreter mine:4" not in
       r.err, "S90 a refused lock is drawn", r)
    r = p.wide("explain", "-p", "lock", "-p", "other", "--", "x")
    ok(r.code == OWN and re.search(r"runs +\S+python\S* +interpreter lock:4",
                                   r.out) and
       re.search(r"runs +/usr/bin/perl +interpreter other:4", r.out),
       "S90 one without anything in common shows the claims", r)

done()
