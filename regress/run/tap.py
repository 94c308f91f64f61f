"""Black-box tests of carrel: TAP for prove(1), a scratch place, a caller.

A test runs as whoever called make. If that is root it becomes the
unprivileged user of the run at once (effective ids only: `with root():`
goes back for the few steps that need it) and everything that it starts is
that user for good.
"""
import contextlib
import fcntl
import os
import pty
import pwd
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import tty

MARK = "MARK-7f3a"
STAGE = os.environ["CARREL_T_STAGE"]
INST = os.environ["CARREL_T_INST"]
SRC = os.environ["CARREL_T_SRC"]
HELPERS = STAGE + "/helpers"
CARREL = INST + "/bin/carrel"
OWN, NOTEXEC, NOTFOUND = 125, 126, 127
IS_ROOT = os.getuid() == 0
HOSTED = os.environ.get("CARREL_T_MODE") == "hosted"
USER = os.environ.get("CARREL_T_USER") or pwd.getpwuid(os.getuid()).pw_name
# carrel leaves to its payload what was ignored (nohup, a shell's "&"): the
# tests begin as if nothing was
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)

PW = pwd.getpwnam(USER)
UID, GID = PW.pw_uid, PW.pw_gid
# a real home if the user is the harness's own, else a place beside it
BASE = PW.pw_dir if IS_ROOT else os.environ["CARREL_T_HOME"]

if IS_ROOT:
    os.setgroups(os.getgrouplist(USER, GID))
    os.setegid(GID)
    os.seteuid(UID)
os.umask(0o022)


@contextlib.contextmanager
def root():
    os.seteuid(0)
    os.setegid(0)
    try:
        yield
    finally:
        os.setegid(GID)
        os.seteuid(UID)


def own_copy(dst):
    """An installation of the user's own. Two programs can only be read by who
    installed them."""
    with root() if IS_ROOT else contextlib.nullcontext():
        shutil.copytree(INST, dst, dirs_exist_ok=True)
        for d, _, names in os.walk(dst):
            for f in [d] + [d + "/" + n for n in names]:
                os.chown(f, UID, GID)
                os.chmod(f, os.stat(f).st_mode & 0o777 | 0o044)



# TAP

_count = 0
_failed = 0
_seed = []  # of this run, told with every failure


def ok(good, name, *why):
    global _count, _failed
    _count += 1
    name = "".join(c if c.isprintable() else "?" for c in name)
    name = name.replace("#", "\\#")
    print("%sok %d - %s" % ("" if good else "not ", _count, name))
    sys.stdout.flush()
    if not good:
        _failed += 1
        diag("FAILED %d: %s" % (_count, name), sys.stderr)
        for w in list(why) + _seed:
            diag(w, sys.stderr)
    return bool(good)


def diag(text, to=sys.stdout):
    """For a person: standard error is shown by prove, the rest with -v."""
    for line in str(text).splitlines()[:40]:
        print("# " + line[:300], file=to)
    to.flush()


def equal(got, want, name, *why):
    return ok(got == want, name, "got  %r" % (got,), "want %r" % (want,), *why)


def skip(name, why):
    global _count
    _count += 1
    print("ok %d - %s # SKIP %s" % (_count, name, why))


def done():
    """Last line of each test."""
    print("1..%d" % _count)
    sys.stdout.flush()
    sys.exit(1 if _failed else 0)


def rng():
    """The same in every run; CARREL_T_SEED=N for another one."""
    seed = int(os.environ.get("CARREL_T_SEED") or 1)
    _seed[:] = ["CARREL_T_SEED=%d repeats it" % seed]
    return random.Random(seed)


# Running things as the caller

class Result:
    def __init__(self, code, out, err, secs):
        self.code, self.secs = code, secs
        self.raw, self.rawerr = out, err
        self.out = out.decode("utf-8", "backslashreplace")
        self.err = err.decode("utf-8", "backslashreplace")

    def __str__(self):
        return "exit %s after %.2f s\nstdout: %s\nstderr: %s" % (
            self.code, self.secs, self.out[-1500:], self.err[-1500:])


def as_user(**kw):
    """Keywords for Popen: for good the unprivileged user."""
    if IS_ROOT:
        kw.update(user=UID, group=GID)  # the groups are set already
    return kw


def sh_code(status):
    """Exit code as a shell shows it."""
    return 128 - status if status < 0 else status


def start(argv, env, cwd, **kw):
    kw.setdefault("stdin", subprocess.DEVNULL)
    kw.setdefault("stdout", subprocess.PIPE)
    kw.setdefault("stderr", subprocess.PIPE)
    return subprocess.Popen(argv, env=env, cwd=cwd, **as_user(**kw))


def finish(p, timeout=60, stdin=None):
    t = time.monotonic()
    try:
        out, err = p.communicate(stdin, timeout)
    except subprocess.TimeoutExpired:
        p.kill()
        out, err = p.communicate()
        return Result("timeout", out or b"", err or b"", timeout)
    return Result(sh_code(p.returncode), out or b"", err or b"",
                  time.monotonic() - t)


class Place:
    """A home with a project directory in it, and who runs carrel there."""

    def __init__(self, carrel=CARREL, base=None):
        self.top = tempfile.mkdtemp(prefix="t.", dir=base or BASE)
        os.chmod(self.top, 0o755)
        self.home = self.top + "/home"
        self.proj = self.home + "/proj"
        self.conf = self.home + "/.config/carrel"
        self.layer = self.conf + "/profiles.d"
        self.carrel = carrel
        os.makedirs(self.proj)
        os.makedirs(self.layer)
        self.env = {
            "HOME": self.home, "USER": USER, "LOGNAME": USER,
            "SHELL": "/bin/bash", "TERM": "xterm",
            "PATH": "/usr/bin:/bin:/usr/sbin:/sbin",
        }

    def __enter__(self):
        return self

    def __exit__(self, *args):
        subprocess.run(["chmod", "-R", "u+rwX", self.top],
                       stderr=subprocess.DEVNULL, **as_user())
        if IS_ROOT:
            with root():
                shutil.rmtree(self.top, ignore_errors=True)
        else:
            shutil.rmtree(self.top, ignore_errors=True)

    def write(self, path, data="", mode=0o644):
        """path is taken from the project; missing directories are made."""
        path = os.path.join(self.proj, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(data if isinstance(data, bytes) else data.encode())
        os.chmod(path, mode)
        return path

    def profile(self, name, text):
        return self.write(self.layer + "/" + name + ".profile", text)

    def fs(self, name, *lines):
        """A profile of [fs] lines."""
        return self.profile(name, "[profile]\ndescription = test\n[fs]\n" +
                            "".join(x + "\n" for x in lines))

    def unprofile(self, *names):
        for n in names or [x[:-8] for x in os.listdir(self.layer)]:
            os.unlink(self.layer + "/" + n + ".profile")

    def forget(self):
        """No profile is flagged any more, so that nothing warns."""
        shutil.rmtree(self.home + "/.local/state/carrel", ignore_errors=True)

    def start(self, *argv, env=None, cwd=None, **kw):
        e = self.env if env is None else env
        return start([self.carrel] + list(argv), e, cwd or self.proj, **kw)

    def do(self, *argv, timeout=60, stdin=None, **kw):
        """carrel ARGV"""
        if stdin is not None and not isinstance(stdin, int) and \
                not hasattr(stdin, "fileno"):
            kw["stdin"] = subprocess.PIPE
        elif stdin is not None:
            kw["stdin"], stdin = stdin, None
        return finish(self.start(*argv, **kw), timeout, stdin)

    def wide(self, *argv, env=None, columns=1000, etc=None, **kw):
        """carrel ARGV with a terminal of 1000 columns for standard output,
        where no row is broken, and without colours; etc as of etc()."""
        ours, theirs = pty.openpty()
        tty.setraw(theirs)
        fcntl.ioctl(theirs, termios.TIOCSWINSZ,
                    struct.pack("HHHH", 24, columns, 0, 0))
        out = []

        def drain():
            with contextlib.suppress(OSError):  # EIO: nobody holds theirs
                while data := os.read(ours, 65536):
                    out.append(data)
        kw.update(stdout=theirs, env=dict(self.env if env is None else env,
                                          NO_COLOR="1"))
        p = self.start(*argv, **kw) if etc is None else \
            self.start_etc(etc, *argv, **kw)
        os.close(theirs)
        reader = threading.Thread(target=drain)
        reader.start()
        r = finish(p)
        reader.join()
        os.close(ours)
        return Result(r.code, b"".join(out), r.rawerr, r.secs)

    def run(self, *argv, **kw):
        """carrel run -- ARGV"""
        return self.do("run", "--", *argv, **kw)

    def sh(self, script, *options, **kw):
        """carrel run OPTIONS -- sh -c SCRIPT"""
        return self.do("run", *options, "--", "sh", "-c", script, **kw)

    def host(self, *argv, **kw):
        """ARGV outside, as the same caller."""
        timeout = kw.pop("timeout", 60)
        return finish(start(list(argv), kw.pop("env", None) or self.env,
                            kw.pop("cwd", None) or self.proj, **kw), timeout)

    def start_etc(self, files, *argv, env=None, **kw):
        script = """set -e
mount -t tmpfs none /mnt
# but for locks and the like, which come and go
tar -C /etc --exclude='*.lock' --exclude=./carrel -cf - . 2>/dev/null | tar -C /mnt -xf -
mount --bind /mnt /etc
umask 022
mkdir -p /etc/carrel/profiles.d
cd "$1"; shift
while [ "$1" != -- ]; do printf '%%s' "$2" > "/etc/carrel/$1"; shift 2; done
shift
exec setpriv --reuid %d --regid %d --init-groups env -i "$@"
""" % (UID, GID)
        words = [w for f in files.items() for w in f]
        e = ["%s=%s" % x for x in (env or self.env).items()]
        kw.setdefault("stdout", subprocess.PIPE)
        with root():
            return subprocess.Popen(
                ["unshare", "-m", "sh", "-c", script, "sh", self.proj, *words,
                 "--", *e, self.carrel, *argv], stdin=subprocess.DEVNULL,
                stderr=subprocess.PIPE, cwd="/", **kw)

    def etc(self, files, *argv, env=None):
        """carrel ARGV as the caller, with a private /etc in which
        carrel/NAME has these texts. Only for root."""
        return finish(self.start_etc(files, *argv, env=env))

    def strace(self, log, options, *argv, env=None):
        """strace of carrel as the caller; where it can, by root, who reads
        the arguments of processes that are not dumpable too."""
        env = env or self.env
        argv = ["-f", "-qq", "-o", log] + list(options) + ["--"] + list(argv)
        if not IS_ROOT:
            return self.host("strace", *argv, env=env)
        with root():
            return finish(subprocess.Popen(
                ["strace", "-u", USER] + argv, env=env, cwd=self.proj,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE))

    def refused(self, name, *options, has=(), cmd="run", **kw):
        """A refusal: carrel's exit code, MARK absent, one message with all
        of `has`, nothing raw on the terminal."""
        r = self.do(cmd, *options, "--", "echo", MARK, **kw)
        missing = [h for h in has if h not in r.err]
        lines = r.err.splitlines()
        raw = re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e"
                        r"\u200b-\u200f\u2066-\u2069]", r.err)
        good = (r.code == OWN and MARK not in r.out and not missing and
                lines and all(x.startswith("carrel: ") for x in lines) and
                not raw)
        return ok(good, name, "missing %r" % missing if missing else "", r) \
            and r

    def runs(self, name, *options, **kw):
        """The positive control of a refusal."""
        r = self.do("run", *options, "--", "echo", MARK, **kw)
        return ok(r.code == 0 and r.out == MARK + "\n", name, r)

    def prints(self, name, script, want, *options, **kw):
        """A shell script inside prints exactly want, then MARK."""
        r = self.sh(script + "\necho " + MARK, *options, **kw)
        return ok(r.code == 0 and r.out == want + MARK + "\n", name,
                  "want %r" % want, r)


def unfold(text):
    """The rows of a screen whose lines were broken at blanks."""
    return re.sub(r"\n {13,}", " ", text)


# What is left behind

def status_of(pid):
    try:
        with open("/proc/%s/status" % pid) as f:
            return dict(x.split(":\t", 1) for x in f.read().splitlines()
                        if ":\t" in x)
    except (OSError, ValueError):
        return {}


def depth(s):
    return len(s.get("NSpid", "").split())


def ours(s):
    return s.get("Uid", "").split()[:1] == [str(UID)]


def sandboxed():
    """Our user's processes that are carrel's or live in a pid namespace
    below this one: pid -> name. A dead one that only the host's init has
    yet to notice does not count."""
    here, found = depth(status_of("self")), {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        s = status_of(pid)
        if not ours(s) or not (depth(s) > here or
                               s["Name"].startswith("carrel")):
            continue
        if s["State"][0] == "Z" and s["PPid"] != str(os.getpid()) and \
                not ours(status_of(s["PPid"])):
            continue
        found[int(pid)] = s["Name"] + " " + s["State"]
    return found


def descendants(pid):
    """All below a process, whoever they belong to: hosted mode's are root's."""
    parents = {int(x): status_of(x).get("PPid") for x in os.listdir("/proc")
               if x.isdigit()}
    found, todo = set(), [str(pid)]
    while todo:
        one = todo.pop()
        kids = [x for x, p in parents.items() if p == one]
        found.update(kids)
        todo += map(str, kids)
    return found


def gone(seconds=2.0, before=()):
    """Waits until no process of a sandbox is left; what is, if any."""
    end = time.monotonic() + seconds
    while True:
        left = {p: n for p, n in sandboxed().items() if p not in before}
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.01)


def until(cond, seconds=10.0):
    end = time.monotonic() + seconds
    while not cond():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def tree(top):
    """Every path below top with type, size and time of change."""
    found = {}
    for d, dirs, files in os.walk(top):
        for n in dirs + files:
            p = os.path.join(d, n)
            s = os.lstat(p)
            found[p] = (s.st_mode, s.st_size, s.st_mtime_ns, s.st_ino)
    return found


def strays():
    """Files of our user in the places where programs leave things."""
    found = set()
    for top in ("/tmp", "/var/tmp", "/dev/shm", "/run/user/%d" % UID):
        try:
            names = os.listdir(top)
        except OSError:
            continue
        for n in names:
            with contextlib.suppress(OSError):
                p = top + "/" + n
                if os.lstat(p).st_uid == UID and p not in (STAGE, BASE):
                    found.add(p)
    return found


def mounts():
    with open("/proc/self/mountinfo") as f:
        return f.read()
