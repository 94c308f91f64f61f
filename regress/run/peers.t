#!/usr/bin/python3
"""What bubblewrap does for its command lines, and what carrel does with the
profile that import makes of them: the same, or what regress/peers/README.md
says. Where bubblewrap is installed it is asked, too."""
import shutil
from tap import *

BWRAP = shutil.which("bwrap")
BASE = ["--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin",
        "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64",
        "--proc", "/proc", "--dev", "/dev", "--unshare-all"]


def result(r):
    return r.out if r.code == 0 else "%sexit %s\n" % (r.out, r.code)


class Peers:
    """One case after the other, in a place of its own each."""

    def __init__(self):
        self.told = set()

    def profile(self, p, options):
        r = p.do("import", "bwrap", "--", *BASE, *options)
        if r.code != 0:
            return "import: %s" % r
        p.profile("imp", r.out)
        return None

    def carrel(self, p, options, script, more=(), env=None):
        bad = self.profile(p, options)
        if bad:
            return bad
        return result(p.do("run", "--no-defaults", "-p", "imp", *more, "--",
                           "sh", "-c", script, env=env))

    def peer(self, p, options, script, env=None):
        return result(p.host(BWRAP, *BASE, *options, "sh", "-c", script,
                             env=env))

    def case(self, name, options, script, want, theirs=None, row=None,
             more=(), env=None, make=None):
        """Both print want; or bubblewrap prints theirs, and row is the one of
        the table that says why."""
        outcomes = []
        for what in ("carrel", "bubblewrap"):
            if what == "bubblewrap" and BWRAP is None:
                skip("%s: bubblewrap" % name, "it is not installed")
                continue
            with Place() as p:
                p.write("d/file", "there\n")
                p.write("d/sub/file", "below\n")
                if make:
                    make(p)
                opts = [o.replace("PROJ", p.proj) for o in options]
                e = dict(p.env, **(env or {}))
                if what == "carrel":
                    got = self.carrel(p, opts, script, more, e)
                    expect = want
                else:
                    got = self.peer(p, opts, script, e)
                    expect = want if theirs is None else theirs
                got += "".join("outside: %s\n" % x for x in (
                    "new", "moved") if os.path.exists("%s/d/%s" % (p.proj, x)))
            if callable(expect):
                ok(expect(got), "%s: %s" % (name, what), got)
            else:
                equal(got, expect, "%s: %s" % (name, what))
            outcomes.append(got)
        if row:
            self.told.add(row)
        return outcomes


t = Peers()

# The same.
t.case("what is bound read-only can be read, not written",
       ["--ro-bind", "PROJ/d", "/d"],
       "cat /d/file; (echo x > /d/new) 2>/dev/null || echo no", "there\nno\n")
t.case("what is bound is the host's own", ["--bind", "PROJ/d", "/d"],
       "echo x > /d/new && echo yes", "yes\noutside: new\n")
t.case("a bind has the place that it was given",
       ["--ro-bind", "PROJ/d/sub", "/x/y/z"], "cat /x/y/z/file; ls /x/y",
       "below\nz\n")
t.case("a single file", ["--ro-bind", "PROJ/d/file", "/x/f"],
       "cat /x/f; ls /x", "there\nf\n")
t.case("what is not there is no error with -try",
       ["--ro-bind-try", "PROJ/none", "/n", "--bind-try", "PROJ/none", "/m"],
       "ls -d /n /m 2>/dev/null | wc -l", "0\n")
t.case("nothing else of the host is there", [],
       "ls -d /home /root /etc/shadow /var 2>/dev/null | wc -l", "0\n")
t.case("a tmpfs is empty, writable and gone", ["--tmpfs", "/t"],
       "ls /t | wc -l; echo x > /t/f && cat /t/f", "0\nx\n")
t.case("a size of a tmpfs", ["--size", "1048576", "--tmpfs", "/t"],
       "head -c 2000000 /dev/zero > /t/f 2>/dev/null; wc -c < /t/f",
       "1048576\n")
t.case("a directory is made, with those above it", ["--dir", "/a/b/c"],
       "test -d /a/b/c && echo yes", "yes\n")
t.case("a symlink holds its text", ["--symlink", "../d/file", "/l/x"],
       "readlink /l/x", "../d/file\n")
t.case("/dev has what programs expect", [],
       "for f in null zero full random urandom tty fd stdin stdout stderr shm "
       "pts ptmx; do test -e /dev/$f || test -h /dev/$f || echo no $f; done; "
       "head -c 3 /dev/zero | wc -c; ls /dev/sda /dev/mem 2>/dev/null", lambda
       got: got.startswith("3\n"))
t.case("/proc is of the processes inside", [],
       "test $(ls -d /proc/[0-9]* | wc -l) -lt 6 && echo few", "few\n")
t.case("there is no network but lo", [],
       "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '", "lo\n")
t.case("a variable that is set", ["--clearenv", "--setenv", "EDITOR", "a  b"],
       'echo "$EDITOR"', "a  b\n")
t.case("a variable that is not wanted", ["--clearenv"],
       'echo "[$FOO]"', "[]\n", env={"FOO": "x"})
t.case("the payload has no capability and gets none", [],
       "grep -E 'Cap(Eff|Prm|Bnd)|NoNewPrivs' /proc/self/status | "
       "tr -d '0\\t\\n'; echo", "CapPrm:CapEff:CapBnd:NoNewPrivs:1\n",
       theirs=lambda got: "CapEff:" in got and "NoNewPrivs:1" in got)
t.case("what may not be read outside may not be inside",
       ["--ro-bind", "PROJ/d", "/d"],
       "cat /d/secret 2>/dev/null || echo no", "no\n",
       make=lambda p: p.write("d/secret", "s\n", 0))
t.case("the exit code", [], "exit 7", "exit 7\n")
t.case("a signal", [], "kill -TERM $$", "exit 143\n")
t.case("who calls is who runs", ["--bind", "PROJ/d", "/d"], "id -u; id -g",
       "%d\n%d\n" % (UID, GID))
t.case("a read-only bind in a writable one stays so",
       ["--bind", "PROJ/d", "/d", "--ro-bind", "PROJ/d/sub", "/d/sub"],
       "(echo x > /d/sub/file) 2>/dev/null || echo no; echo y > /d/new",
       "no\noutside: new\n")
t.case("a writable bind in a read-only one",
       ["--ro-bind", "PROJ/d", "/d", "--bind", "PROJ/d/sub", "/d/sub"],
       "(echo x > /d/new) 2>/dev/null || echo no; echo y > /d/sub/n && "
       "echo yes", "no\nyes\n")

# What differs, each a row of the table.
t.case("the last of two at one place", ["--ro-bind", "PROJ/d", "/x",
                                        "--tmpfs", "/x"],
       "ls /x | wc -l", "exit 125\n", "0\n", row="order")
t.case("a bind over a part of another", ["--ro-bind", "PROJ/d", "/d",
                                         "--tmpfs", "/d/sub"],
       "ls /d/sub | wc -l", "exit 125\n", "0\n", row="hiding")
t.case("a bind whose place is a symlink",
       ["--dir", "/t", "--symlink", "t", "/l", "--ro-bind", "PROJ/d", "/l"],
       "ls /t | wc -l", "exit 125\n", lambda got: got in ("2\n", "exit 1\n"),
       row="order")
t.case("the whole host", ["--ro-bind", "/", "/h"], "test -d /h/etc && "
       "echo all", "exit 1\n", "all\n", row="whole")
t.case("the environment of the caller", [], 'echo "[$FOO]"', "[]\n", "[x]\n",
       env={"FOO": "x"}, row="environment")
t.case("a name of carrel's own", ["--setenv", "TMPDIR", "/x"],
       'echo "$TMPDIR"', "/tmp\n", "/x\n", row="owned")
t.case("code in the environment", ["--setenv", "LD_PRELOAD", "/none.so"],
       "echo ${LD_PRELOAD-unset}", "unset\n", lambda got: "/none.so" in got,
       row="code")
t.case("what is above a read-only bind is moved away",
       ["--bind", "PROJ/d", "/d", "--ro-bind", "PROJ/d/up/sub", "/d/up/sub"],
       "mv /d/up /d/moved 2>/dev/null && echo moved || echo held", "held\n",
       "moved\noutside: moved\n", row="pin",
       make=lambda p: p.write("d/up/sub/f", "x\n"))
t.case("a user namespace inside", [],
       "unshare -U true 2>/dev/null && echo yes || echo no", "no\n",
       lambda got: got in ("yes\n", "no\n"), row="nested")
t.case("a path that leads through a planted link",
       ["--bind", "PROJ/d", "/d", "--ro-bind", "PROJ/d/link", "/k"],
       "cat /k/key", "exit 125\n", "key\n", row="planted",
       make=lambda p: (p.write(p.top + "/keys/key", "key\n"),
                       os.symlink(p.top + "/keys", p.proj + "/d/link")))
t.case("the root itself", [], "(echo x > /new) 2>/dev/null && echo yes || "
       "echo no", "no\n", "yes\n", row="root")
t.case("the directory where it starts", ["--chdir", "/usr"], "pwd", "/\n",
       "/usr\n", row="chdir")
t.case("the name of the host", ["--hostname", "box"],
       "cat /proc/sys/kernel/hostname", "carrel\n", "box\n", row="hostname")
t.case("another user inside", ["--uid", "0", "--gid", "0"], "id -u",
       "%d\n" % UID, "0\n", row="uid")
t.case("a socket of the host as a file", ["--ro-bind", "PROJ/s", "/s"],
       "test -S /s && echo yes", "exit 125\n", "yes\n", row="socket",
       make=lambda p: p.host("python3", "-c", "import socket, sys; "
                             "socket.socket(socket.AF_UNIX)"
                             ".bind(sys.argv[1])", p.proj + "/s"))
t.case("what is not there", ["--ro-bind", "PROJ/none", "/n"], "echo ran",
       "exit 125\n", "exit 1\n", row="exit")
t.case("the setuid bit", ["--bind", "PROJ/d", "/d"],
       "chmod u+s /d/file 2>/dev/null && echo yes || echo no", "no\n",
       "yes\n", row="setid")

# Its words, and what they are worth here.
with Place() as p:
    tool = p.write("bin/--odd--", "#!/bin/sh\necho odd\n", 0o755)
    p.fs("odd", "read = " + p.proj)
    r = p.do("run", "-p", "odd", "--", tool)
    ok(r.out == "odd\n", "V021 a command may begin with dashes", r)
    r = p.do("run", "-p", "odd", "--", "--dev-bind", "/dev", "/dev", "true")
    ok(r.code == NOTFOUND, "V021 behind -- nothing is an option", r)
    for option in ("--bind-fd", "--frob"):
        r = p.do("import", "bwrap", "--", option, "x", "y")
        ok(r.code == OWN and option in r.err, "%s is refused by name" % option,
           r)

with contextlib.ExitStack() as stack:
    if IS_ROOT:
        stack.enter_context(root())
    with open(SRC + "/regress/peers/README.md") as f:
        rows = re.findall(r"^\| `([a-z]+)` \|", f.read(), re.M)
equal(sorted(t.told), sorted(rows), "the table has what differs, no more")
done()
