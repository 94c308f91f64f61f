#!/usr/bin/python3
"""Programs that people run: a C project, git, python3, perl, bash, node."""
import os
from tap import *


def project(p, n):
    """n C files that call each other, and a makefile."""
    for i in range(n):
        p.write("src/f%03d.c" % i, "#include <stdio.h>\n#include <math.h>\n"
                "int f%03d(int);\nint f%03d(int x) { return x + (int)sqrt("
                "%d.0); }\n" % (i, i, i * i))
    p.write("src/main.c", "#include <stdio.h>\n" + "".join(
        "int f%03d(int);\n" % i for i in range(n)) +
        "int main(void) {\n int s = 0;\n" + "".join(
            " s = f%03d(s);\n" % i for i in range(n)) +
        ' printf("%d\\n", s);\n return 0;\n}\n')
    p.write("Makefile", "O := $(patsubst %.c,%.o,$(wildcard src/*.c))\n"
            "prog: $(O)\n\t@$(CC) -o $@ $(O) -lm\n%.o: %.c\n"
            "\t@$(CC) -O0 -c -o $@ $<\n")
    return sum(range(n))


with Place() as p:
    want = project(p, 200)
    r = p.run("make", "-j2", "-s", timeout=300)
    ok(r.code == 0, "make -j2 of 201 C files (%.1f s)" % r.secs, r)
    r = p.run("./prog")
    equal(r.out, "%d\n" % want, "the program runs inside")
    equal(p.host("./prog").out, "%d\n" % want, "and outside: it stayed")
    r = p.run("make", "-s")
    ok(r.code == 0 and r.secs < 20, "make has nothing to do", r)

    r = p.run("python3", "-c", """
import hashlib, json, os, sqlite3, ssl, subprocess, tempfile, threading, zlib
import multiprocessing as mp
print(json.dumps({"a": hashlib.sha256(b"x").hexdigest()[:8]}))
with tempfile.NamedTemporaryFile() as f: print(f.name.startswith("/tmp/"))
db = sqlite3.connect("x.db"); db.execute("create table t(a)"); db.commit()
with mp.Pool(2) as q: print(q.map(abs, [-1, -2]))
print(subprocess.check_output(["uname", "-s"]).decode().strip())
print(os.path.expanduser("~") == os.environ["HOME"])
""")
    equal(r.out, '{"a": "2d711642"}\nTrue\n[1, 2]\nLinux\nTrue\n',
          "python3 with its library", r)
    r = p.run("python3", "-m", "venv", "--without-pip", "venv")
    r2 = p.run("venv/bin/python", "-c", "import sys; print(sys.prefix)")
    ok(r.code == 0 and r2.out == p.proj + "/venv\n" or
       "ensurepip" in r.out + r.err, "python3 -m venv", r, r2)
    r = p.run("perl", "-MPOSIX", "-e", 'print POSIX::floor(3.7), "\\n"; '
              'print `echo sub`; open F, ">", "perl.out"; print F "x"')
    equal(r.out, "3\nsub\n", "perl with a module", r)
    p.write("s.sh", "#!/bin/bash\nset -euo pipefail\na=(1 2 3)\n"
            "echo ${#a[@]} $(( ${a[2]} * 2 ))\ncat <<X | tr a-z A-Z\nhere\nX\n"
            "diff <(echo a) <(echo a) && echo same\n"
            "trap 'echo bye' EXIT\n", 0o755)
    equal(p.run("./s.sh").out, "3 6\nHERE\nsame\nbye\n", "a bash script")

    git = ("git init -q . && git config user.email a@example.test && "
           "git config user.name a && git add Makefile src && "
           "git commit -q -m one && git status --porcelain | head -2; "
           "git log --oneline | wc -l; git diff --stat; git gc -q; "
           "git clone -q . /tmp/c && ls /tmp/c | wc -l")
    r = p.sh(git, timeout=120)
    ok(r.code == 0 and r.out.splitlines()[-1] == "2" and
       "1" in r.out.splitlines(), "git init, commit, gc, clone", r)
    r = p.host("git", "log", "--format=%s")
    equal(r.out, "one\n", "and the commit stayed")
    for f in (".bashrc", ".gitconfig", ".vscode"):
        ok(not os.path.exists(p.proj + "/" + f),
           "B003 no placeholder %s" % f)
    if p.host("sh", "-c", "command -v node").code == 0:
        where = os.path.realpath(shutil.which("node"))
        if where.startswith("/usr/"):
            r = p.run("node", "-e", "const fs=require('fs'); "
                      "fs.writeFileSync('n.txt','x'); console.log(6*7, "
                      "require('os').cpus().length>0); new (require("
                      "'worker_threads').Worker)('console.log(\"w\")',"
                      "{eval:true})")
            ok(r.code == 0 and r.out.startswith("42") and "w" in r.out,
               "node, files and worker threads", r)
    r = p.sh("tar cf x.tar src && gzip x.tar && tar tzf x.tar.gz | wc -l && "
             "find src -name '*.c' | xargs grep -l sqrt | wc -l && "
             "sort -R Makefile | sort | md5sum | wc -w && sed -i s/O0/O1/ "
             "Makefile && date +%Y | wc -c && df . > /dev/null")
    equal(r.out, "403\n200\n2\n5\n", "the usual tools", r) if r.out.count(
        "\n") else ok(False, "the usual tools", r)
    r = p.run("sh", "-c", "dd if=/dev/zero of=big bs=1M count=64 2>/dev/null "
              "&& cksum < big", timeout=60)
    r2 = p.host("cksum", "big", stdin=subprocess.DEVNULL)
    ok(r.out.split()[:2] == r2.out.split()[:2] and r.code == 0,
       "64 MiB written through", r, r2)
    data = os.urandom(1 << 20)
    r = p.run("cat", stdin=data)
    ok(r.raw == data, "1 MiB of any bytes passes through")

    # B006: noexec mounts stay noexec
    if IS_ROOT:
        with root():
            d = tempfile.mkdtemp(prefix="noexec.", dir=BASE)
            script = """
mount -t tmpfs -o noexec,nosuid,nodev none %(d)s
printf '#!/bin/sh\\necho SCRIPT\\n' > %(d)s/s; cp /bin/true %(d)s/t
chmod 755 %(d)s %(d)s/s %(d)s/t; chown -R %(u)d %(d)s
cd %(d)s; exec setpriv --reuid %(u)d --regid %(g)d --init-groups env -i \\
HOME=%(h)s PATH=/usr/bin:/bin %(c)s run -- sh -c \\
'./t; echo $?; ./s; sh s; touch w && echo W; grep %(d)s /proc/self/mountinfo'
""" % {"d": d, "u": UID, "g": GID, "h": p.home, "c": CARREL}
            r = finish(subprocess.Popen(["unshare", "-m", "sh", "-c", script],
                                        stdin=-3, stdout=-1, stderr=-1,
                                        cwd="/"))
            os.rmdir(d)
        ok(r.out.startswith("126\nSCRIPT\nW\n") and
           r.err.count("Permission denied") == 2 and "noexec" in r.out,
           "B006 a noexec mount stays one", r)
        with root():
            d = tempfile.mkdtemp(prefix="nosuid.", dir=BASE)
            p.fs("ns", "read = %s/in" % d)
            script = """
mount -t tmpfs -o nosuid,nodev,noatime none %(d)s; mkdir %(d)s/in
echo fine > %(d)s/in/f; chmod 777 %(d)s %(d)s/in
cd %(p)s; exec setpriv --reuid %(u)d --regid %(g)d --init-groups env -i \\
HOME=%(h)s PATH=/usr/bin:/bin %(c)s run -p ns -- sh -c \\
'cat %(d)s/in/f; touch %(d)s/in/x; grep %(d)s /proc/self/mountinfo'
""" % {"d": d, "u": UID, "g": GID, "h": p.home, "c": CARREL, "p": p.proj}
            r = finish(subprocess.Popen(["unshare", "-m", "sh", "-c", script],
                                        stdin=-3, stdout=-1, stderr=-1,
                                        cwd="/"))
            os.rmdir(d)
        ok(r.out.startswith("fine\n") and "Read-only" in r.err and
           "noatime" in r.out and r.code == 0,
           "B005 a grant from a nosuid, nodev, noatime mount", r)
done()
