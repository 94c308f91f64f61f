#!/usr/bin/python3
"""S103: carrel-sh as a login shell, with a real sshd, in namespaces of their
own: another /etc, /run and /dev, and a network that is only loopback."""
import hashlib
import select
from tap import *

SH = INST + "/bin/carrel-sh"
CONFDIR = "/etc/carrel"
SETUP = r"""
set -e
top=$1 user=$2 shell=$3
ip link set lo up
mount -t tmpfs none /mnt
tar -C /etc --exclude='*.lock' -cf - . | tar -C /mnt -xf -
mount --bind /mnt /etc
mount -t tmpfs -o mode=755 dev $top/dev
for n in null zero full random urandom tty; do
    : > $top/dev/$n; mount --bind /dev/$n $top/dev/$n
done
mkdir $top/dev/pts $top/dev/shm
mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts $top/dev/pts
ln -s pts/ptmx $top/dev/ptmx
ln -s /proc/self/fd $top/dev/fd
mount --rbind $top/dev /dev
mount -t tmpfs -o mode=755 run /run
mkdir -p /run/sshd $4/profiles.d
rm -f /etc/nologin
sed -i "s|^\($user:.*:\)[^:]*$|\1$shell|" /etc/passwd
# a locked account has no login, whatever its shell
sed -i "s|^$user:!*:|$user:*:|" /etc/shadow
exec python3 -c '
import socket, struct, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
s.bind("/dev/log")
import os
os.chmod("/dev/log", 0o666)
print(flush=True)
with open(sys.argv[1], "ab", 0) as f:
    while True:
        data, anc, _, _ = s.recvmsg(65536, 1024)
        uid = struct.unpack("iII", anc[0][2])[1]
        f.write(b"%d %s\n" % (uid, data.replace(b"\n", b"?")))
' $top/log
"""
SSHD = """
Port 22
ListenAddress 127.0.0.1
HostKey {top}/host
PidFile {top}/sshd.pid
AuthorizedKeysFile {top}/keys
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
AcceptEnv *
Subsystem sftp /usr/lib/openssh/sftp-server
LogLevel ERROR
MaxStartups 100
PermitRootLogin prohibit-password
"""
CLIENT = """
Host there
  HostName 127.0.0.1
  User {user}
Host root
  HostName 127.0.0.1
  User root
Host *
  IdentityFile {top}/key
  IdentitiesOnly yes
  UserKnownHostsFile {top}/known
  StrictHostKeyChecking no
  LogLevel ERROR
  BatchMode yes
"""
CONF = "[default]\nprofile = @sys\nprofile = @own-home\nshell = /bin/bash\n"


class Host:
    def __init__(self, p):
        self.p = p

    def __enter__(self):
        with root():
            self.top = tempfile.mkdtemp(prefix="carrel-login.", dir="/var/tmp")
            os.chmod(self.top, 0o755)
            os.mkdir(self.top + "/dev")
            self.holder = subprocess.Popen(
                ["unshare", "-m", "-n", "--propagation", "private", "sh", "-c",
                 SETUP, "sh", self.top, USER, SH, CONFDIR], stdout=subprocess.PIPE,
                stdin=subprocess.DEVNULL)
            if not self.holder.stdout.readline():
                raise RuntimeError("no namespaces")
        for name in ("key", "host"):
            self.root("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f",
                      self.top + "/" + name)
        with root():
            shutil.copy(self.top + "/key.pub", self.top + "/keys")
            os.chmod(self.top + "/keys", 0o644)
            self.file(self.top + "/ssh", CLIENT.format(top=self.top,
                                                       user=USER))
            self.file(self.top + "/sshd", SSHD.format(top=self.top))
            self.sshd = subprocess.Popen(
                self.argv("/usr/sbin/sshd", "-D", "-e", "-f",
                          self.top + "/sshd"), stdin=subprocess.DEVNULL,
                stderr=open(self.top + "/sshd.log", "wb"))
        self.conf(CONF)
        until(lambda: self.root("ssh", "-F", self.top + "/ssh", "root", "true",
                                check=False).code == 0)
        return self

    def __exit__(self, *args):
        with root():
            for x in (self.sshd, self.holder):
                x.kill()
                x.wait()
            shutil.rmtree(self.top, ignore_errors=True)

    def argv(self, *argv):
        return ["nsenter", "-t", str(self.holder.pid), "-m", "-n", *argv]

    def file(self, path, text):
        with open(path, "w") as f:
            f.write(text)

    def popen(self, *argv, **kw):
        kw = dict(dict(stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, cwd="/",
                       env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
                            "HOME": "/root", "TERM": "xterm",
                            "LANG": "C.UTF-8"}), **kw)
        with root():
            return subprocess.Popen(self.argv(*argv), **kw)

    def root(self, *argv, stdin=None, check=True, timeout=60, **kw):
        """ARGV by root, in there."""
        if stdin is not None:
            kw["stdin"] = subprocess.PIPE
        r = finish(self.popen(*argv, **kw), timeout, stdin)
        if check and r.code != 0:
            raise RuntimeError("%s: %s" % (argv, r))
        return r

    def ssh(self, *argv, **kw):
        return self.root("ssh", "-F", self.top + "/ssh", "there", *argv,
                         check=False, **kw)

    def conf(self, text, name="login.conf", mode="644"):
        self.root("sh", "-c", "cat > $0/%s; chmod %s $0/%s" %
                  (name, mode, name), CONFDIR, stdin=text.encode())

    def records(self, since=0):
        with root():
            with open(self.top + "/log") as f:
                return f.read().split("\n")[:-1][since:]


def commands(p, h):
    """B034: the string as the shell inside takes it."""
    r = h.ssh("echo one && echo two >&2; exit 7")
    ok(r.code == 7 and r.out == "one\n" and r.err == "two\n",
       "S103 a command: output, errors and exit code", r)
    for command, want in (
            ("date >/dev/null && echo ok", "ok\n"),
            ("echo $((1+1)) | cat", "2\n"),
            ("printf '%s|' \"a b\" 'c  d' \"e\\\"f\" '$HOME' '*'",
             "a b|c  d|e\"f|$HOME|*|"),
            ("mkdir -p 'sp ace' && ls -d sp*; rmdir 'sp ace'", "sp ace\n"),
            ("echo '\xe4\u6f22\t;#'", "\xe4\u6f22\t;#\n"),
            ("cat <<'X'\na\n b\nX", "a\n b\n"), ("true", ""), (" ", ""),
            ("echo $0", "/bin/bash\n"),
            ("shopt -q login_shell && echo login || echo not", "not\n"),
            ("pwd", p.pw_dir + "\n"), ("echo $SHELL $HOME $USER", "/bin/bash "
                                       "%s %s\n" % (p.pw_dir, USER)),
            ("id -un", USER + "\n")):
        r = h.ssh(command)
        ok(r.code == 0 and r.out == want and not r.err,
           "B034 B037 LOGIN ssh host %r" % command[:30], r)
    r = h.ssh("kill -9 $$")
    equal(r.code, 137, "S61 a signal is an exit code")
    data = rng().randbytes(3 << 20) + bytes(range(256))
    r = h.ssh("cat", stdin=data)
    ok(r.code == 0 and r.raw == data and not r.err,
       "B035 LOGIN 3 MiB of bytes both ways, and nothing else", len(r.raw),
       r.err)
    ok(p.pw_dir not in h.ssh("cat /etc/shadow").out, "no shadow")
    r = h.ssh("cat /etc/shadow; ls /root /var/log; grep Cap /proc/self/status")
    ok("root:" not in r.out and "CapEff:\t0000000000000000" in r.out and
       r.err.count("No such file") == 3, "S103 what is not granted is not there",
       r)
    r = h.ssh(stdin=b"echo $-; shopt login_shell; echo end\n")
    ok(r.code == 0 and "login_shell    \ton" in r.out and
       r.out.endswith("end\n") and "i" not in r.out.split("\n")[0],
       "B036 LOGIN no command and no terminal: a login shell that reads", r)


def interactive(p, h):
    pid, fd = pty.fork()
    if pid == 0:
        os.setresgid(0, 0, 0)
        os.setresuid(0, 0, 0)
        a = h.argv("ssh", "-F", h.top + "/ssh", "-tt", "there")
        os.execvpe(a[0], a, {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
                             "TERM": "xterm", "HOME": "/root"})
    seen = b""

    def expect(mark, seconds=15):
        nonlocal seen
        end = time.monotonic() + seconds
        while mark not in seen and time.monotonic() < end:
            if select.select([fd], [], [], 0.2)[0]:
                try:
                    seen += os.read(fd, 65536)
                except OSError:
                    break
        found = mark in seen
        before = seen
        seen = seen.split(mark, 1)[-1] if found else seen
        return found, before[-600:]

    def say(text):
        os.write(fd, text)
    expect(b"$ ")
    say(b"PS1='%''% '; stty -echo; echo rea''dy; test -t 0 && echo ter''minal\n")
    good, text = expect(b"ready")
    ok(good, "S103 interactive: a shell", text)
    good, text = expect(b"terminal")
    ok(good, "S103 and a terminal", text)
    say(b"echo $TERM $-; shopt login_shell\n")
    good, text = expect(b"xterm")
    ok(good, "S103 TERM", text)
    good, text = expect(b"login_shell    \ton")
    ok(good, "S103 a login shell", text)
    say(b"sleep 1000\n")
    time.sleep(0.5)
    say(b"\x1a")
    good, text = expect(b"Stopped")
    ok(good, "S63 ^Z stops the job", text)
    say(b"jobs; bg; echo a''a\n")
    good, text = expect(b"aa")
    ok(good and b"sleep 1000 &" in text, "S63 bg", text)
    say(b"fg\n")
    time.sleep(0.5)
    say(b"\x03")
    expect(b"%% ", 3)
    say(b"echo code $?\n")
    good, text = expect(b"code 130")
    ok(good, "S63 fg and ^C", text)
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 77, 0, 0))
    time.sleep(0.5)
    say(b"stty size\n")
    good, text = expect(b"33 77")
    ok(good, "S63 the size of the window", text)
    say(b"exit 5\n")
    expect(b"logout", 5)
    until(lambda: os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG |
                            os.WNOWAIT) is not None)
    _, status = os.waitpid(pid, 0)
    os.close(fd)
    equal(os.waitstatus_to_exitcode(status), 5, "S103 and its exit code")


def transfers(p, h):
    """B035"""
    with root():
        data = rng().randbytes(5 << 20)
        with open(h.top + "/big", "wb") as f:
            f.write(data)
    want = hashlib.sha256(data).hexdigest()
    opts = ("-q", "-F", h.top + "/ssh")

    def same(name, path):
        r = h.ssh("sha256sum < %s; rm -rf %s" % (path, path))
        ok(r.out.split(" ")[0] == want, "B035 LOGIN %s: the same bytes" % name,
           r)
    for name, flag in (("scp, by sftp", ()), ("scp of old", ("-O",))):
        r = h.root("scp", *opts, *flag, h.top + "/big", "there:up",
                   check=False)
        ok(r.code == 0 and not r.err, name, r)
        r = h.root("scp", *opts, *flag, "there:up", h.top + "/down",
                   check=False)
        with root():
            got = open(h.top + "/down", "rb").read() if r.code == 0 else b""
        ok(got == data, "B035 LOGIN %s back" % name, r)
        same(name, "up")
    r = h.root("sftp", *opts, "-b", "-", "there", check=False, stdin=(
        "put %s/big up\nls up\nget /etc/shadow\n" % h.top).encode())
    ok(r.code != 0 and "up" in r.out and "not found" in r.err,
       "B035 LOGIN sftp, inside", r)
    same("sftp", "up")
    r = h.root("rsync", "-a", "-e", "ssh -F %s/ssh" % h.top, h.top + "/big",
               "there:up", check=False)
    ok(r.code == 0 and not r.err, "B035 LOGIN rsync", r)
    same("rsync", "up")
    git = dict(env={"PATH": "/usr/bin:/bin", "HOME": h.top,
                    "GIT_SSH_COMMAND": "ssh -F %s/ssh" % h.top,
                    "GIT_CONFIG_GLOBAL": "/dev/null"})
    h.ssh("git init -q --bare repo.git")
    r = h.root("sh", "-ec", """
        rm -rf $1/w $1/w2
        git init -q $1/w; cd $1/w; echo text > file; git add file
        git -c user.name=n -c user.email=e commit -qm one
        git push -q there:repo.git HEAD:refs/heads/main
        git clone -q -b main there:repo.git $1/w2
        cmp $1/w/file $1/w2/file; echo same""", "sh", h.top, check=False, **git)
    ok(r.code == 0 and r.out == "same\n", "B035 LOGIN git push and clone", r)
    h.ssh("rm -rf repo.git")


def hostile(p, h):
    """V046, V047"""
    bad = {"LC_X": "() { :;}; touch %s/CANARY2" % p.pw_dir,
           "BASH_ENV": p.pw_dir + "/evil", "ENV": p.pw_dir + "/evil",
           "LD_PRELOAD": "/evil.so", "TERM": "x\x1b[2J", "PATH": "/evil",
           "BASH_FUNC_ls%%": "() { echo EVIL; }", "XDG_CONFIG_HOME": "/tmp",
           "SSH_ORIGINAL_COMMAND": "x", "IFS": "/", "SHELLOPTS": "xtrace"}
    h.ssh("echo 'touch ~/CANARY2' > evil")
    names = sum((["-o", "SendEnv=" + k] for k in bad), [])
    env = dict(bad, HOME="/root")
    env["PATH"] = "/usr/bin:/bin:/evil"
    argv = ["ssh", "-F", h.top + "/ssh"] + names + ["there",
                                                    "env; ls CANARY2 -d"]
    r = h.root(*argv, check=False, env=env)
    got = dict(x.split("=", 1) for x in r.out.split("\n") if "=" in x)
    ok(set(got) <= {"SHELL", "PWD", "LOGNAME", "USER", "HOME", "LANG", "TERM",
                    "TMPDIR", "PATH", "SHLVL", "_", "CARREL", "CARREL_RUN",
                    "CARREL_PROFILES", "CARREL_TARGET", "TZ"} and
       got.get("TERM") == "dumb" and "evil" not in r.out and "No such file" in
       r.err, "V046 LOGIN only what is carrel's own reaches the shell", r)
    h.ssh("rm -f evil")
    for command in ("git-upload-pack --help | head -1; cat /root/.profile",
                    "printf '!cat /root/.profile\\nq\\n' | ed 2>&1 || "
                    "cat /root/.profile",
                    "exec sh -c 'exec sh -ic \"cat /root/.profile\"'",
                    "awk 'BEGIN { system(\"cat /root/.profile\") }'",
                    "find /bin/sh -exec cat /root/.profile ';'",
                    "/bin/carrel-sh -c 'cat /root/.profile'; %s -c "
                    "'cat /root/.profile'" % SH):
        r = h.ssh(command)
        ok("mesg" not in r.out and "bashrc" not in r.out,
           "V047 LOGIN %s" % command[:24], r)
    ok("bashrc" in h.root("cat", "/root/.profile").out, "V047 LOGIN control")


def widening(p, h):
    """The user narrows and never widens."""
    h.ssh("mkdir -p .config/carrel/profiles.d; echo fine")
    write = ("import os\nd = os.path.expanduser('~/.config/carrel')\n"
             "os.makedirs(d + '/profiles.d', exist_ok=True)\n"
             "open(d + '/profiles.d/more.profile', 'w').write('[profile]\\n"
             "description = m\\n[fs]\\nread = /var\\n')\n"
             "open(d + '/config', 'w').write('[carrel]\\ndefaults = @sys\\n"
             "defaults = more\\n')\n")
    r = h.ssh("python3 -c %s" % ("'" + write.replace("'", "'\\''") + "'"))
    ok("Read-only" in r.err, "S7 S103 carrel's directory cannot be written", r)
    by_user = ["setpriv", "--reuid", USER, "--regid", str(GID),
               "--init-groups"]
    h.root(*by_user, "env", "HOME=" + p.pw_dir, "python3", "-c", write)
    r = h.ssh("ls -d /var/log; echo $CARREL_PROFILES")
    ok("/var/log\n" not in r.out and "@own-home @sys\n" in r.out,
       "S103 a profile and defaults of the user's are not read", r)
    # broken ones either
    h.root(*by_user, "sh", "-c", "echo broken > $0/.config/carrel/config",
           p.pw_dir)
    r = h.ssh("echo still")
    ok(r.out == "still\n" and not r.err, "S103 nor a broken one", r)
    h.root("rm", "-rf", p.pw_dir + "/.config/carrel")
    for words in (["-p", "@net"], ["--user-mode"], ["--without-landlock"],
                  ["run", "--", "id"], ["-C", "/"], ["/etc/profile"]):
        r = h.root(*by_user, SH, *words, check=False)
        ok(r.code == OWN and not r.out and "is not for a login shell" in r.err,
           "B036 LOGIN %s is a usage error" % words[0], r)
    r = h.root(*by_user, "sh", "-c", "ulimit -f 0; exec %s -c 'echo x > y'" %
               SH, check=False)
    ok(r.code != 0, "S103 limits of the caller's narrow", r)
    h.ssh("rm -f y")
    r = h.root(*by_user, "env", "HOME=/root", "XDG_CONFIG_HOME=/root", SH,
               "-c", "echo $HOME", check=False, cwd=p.pw_dir)
    ok(r.out == p.pw_dir + "\n", "S103 HOME is the database's", r)


def places(p, h):
    """What the host runs for the user outside."""
    names = (".ssh", ".config/systemd", ".config/carrel",
             ".config/environment.d", ".forward", ".procmailrc",
             ".pam_environment")
    h.root("sh", "-c", 'cd "$0" && rm -rf .ssh .config .forward .procmailrc '
           '.pam_environment', p.pw_dir)
    for n in names:
        r = h.ssh("echo x > %s/x || echo x >> %s; mv %s .moved; rm -rf %s; "
                  "ln -sf /tmp %s 2>&1; ls -d %s" % ((n,) * 6))
        ok(r.out.endswith(n + "\n") and "Read-only" in r.err and
           re.search("busy|mv: .*Read-only", r.err),
           "S103 %s is pinned" % n, r)
    r = h.ssh("mv .config .c; echo x > .config/other && cat .config/other; "
              "echo free > free && cat free; rm free .config/other")
    ok("busy" in r.err and r.out == "x\nfree\n", "S103 control: what lies "
       "beside them is not", r)
    with root():
        kinds = {n: os.lstat(p.pw_dir + "/" + n) for n in names}
    ok(all(s.st_uid == UID and s.st_mode & 0o77 == 0 for s in kinds.values())
       and not os.path.isdir(p.pw_dir + "/.forward"),
       "S103 made as the user, for the user", kinds)


def elsewhere(p, h):
    """su, and what has no terminal."""
    r = h.root("su", "-", USER, "-c", "echo $HOME; shopt login_shell",
               check=False)
    ok(r.code == 0 and r.out == p.pw_dir + "\nlogin_shell    \ton\n",
       "B036 LOGIN su - USER -c", r)
    r = h.root("su", USER, "-c", "echo $HOME; exit 3", check=False)
    ok(r.code == 3 and r.out == p.pw_dir + "\n", "B036 LOGIN su USER -c", r)
    r = h.root("su", "-", USER, stdin=b"echo in; shopt login_shell\n",
               check=False)
    ok(r.code == 0 and r.out == "in\nlogin_shell    \ton\n",
       "B036 LOGIN su - USER", r)
    r = h.root("setsid", "setpriv", "--reuid", USER, "--regid", str(GID),
               "--init-groups", "env", "-i", "SHELL=" + SH, SH, "-c",
               "id -un; tty", check=False, cwd=p.pw_dir)
    ok(r.out == USER + "\nnot a tty\n", "B036 LOGIN as from cron(8)", r)
    r = h.root("su", "-", "root", "-c", "echo root is free", check=False)
    ok(r.out == "root is free\n", "S103 root is unaffected", r)


def configured(p, h):
    """login.conf: who, and what if it is wrong."""
    for text, want in (
            ("[user %s]\nprofile = @sys\nprofile = @home\n[default]\n"
             "profile = none\n" % USER, "/bin/sh @home @sys\n"),
            ("[group %s]\nprofile = @sys\nshell = /bin/dash\n[group other]\n"
             "profile = none\n[default]\nprofile = none\n" %
             os.environ["CARREL_T_GROUP"], "/bin/dash @sys\n"),
            ("[default]\nprofile = @sys\nprofile = site\n",
             "/bin/sh @sys site\n")):
        h.conf("[profile]\ndescription = s\n[fs]\nread = /srv\n",
               "profiles.d/site.profile")
        h.conf(text)
        r = h.ssh("echo $SHELL $CARREL_PROFILES")
        ok(r.out == want, "S103 login.conf: %s" % text.split("\n")[0], r)
    n = len(h.records())
    for name, text, has in (
            ("no section", "[user nobody]\nprofile = @sys\n", "no section"),
            ("a key that there is not", CONF + "deny = x\n", "login.conf:5"),
            ("another's section", CONF + "[user nobody]\nprofle = @sys\n",
             "login.conf:6"),
            ("no profile", "[default]\n", "names no profile"),
            ("bytes", "\x00\x01", "NUL"), ("empty", "", "no section"),
            ("a profile that there is not", "[default]\nprofile = nosuch\n",
             "nosuch"),
            ("a user's profile", "[default]\nprofile = more\n", "more"),
            ("a shell that is not inside", "[default]\nprofile = @sys\n"
             "shell = /opt/none\n", "/opt/none")):
        h.conf(text)
        r = h.ssh("echo " + MARK)
        ok(r.code in (OWN, NOTFOUND) and MARK not in r.out and has in r.err,
           "S103 a broken login.conf: %s" % name, r)
        until(lambda: any('code="12' in x for x in h.records(n)), 5)
        got = h.records(n)
        n += len(got)
        ok(got and all(x.startswith("0 ") for x in got) and any(
            'event="refused"' in x or 'event="end"' in x for x in got),
           "S103 S104 and a record of root's: %s" % name, *got)
    for name, how in (("writable", "chmod 666"), ("of a user", "chown " + USER),
                      ("absent", "rm"), ("a link", "sh -c 'mv $0 $0.o; ln -s "
                                         "$0.o $0'"),
                      ("unreadable", "chmod 600")):
        h.conf(CONF)
        h.root("sh", "-c", how + " %s/login.conf" % CONFDIR)
        r = h.ssh("echo " + MARK)
        ok(r.code == OWN and MARK not in r.out and "login.conf" in r.err,
           "S103 login.conf is %s" % name, r)
        h.root("rm", "-f", CONFDIR + "/login.conf")
    r = h.root("ssh", "-F", h.top + "/ssh", "root", "echo root is free",
               check=False)
    ok(r.out == "root is free\n", "S103 root logs in meanwhile", r)
    h.conf(CONF)
    r = h.ssh("echo " + MARK)
    ok(r.out == MARK + "\n", "S103 control: a right one", r)
    # not setuid: refused, and never without a sandbox
    h.root("sh", "-c", "cp $0/bin/carrel $1/carrel-sh; chmod 755 $1/carrel-sh",
           INST, h.top)
    r = h.root("setpriv", "--reuid", USER, "--regid", str(GID),
               "--init-groups", h.top + "/carrel-sh", "-c", "echo " + MARK,
               check=False)
    ok(r.code == OWN and MARK not in r.out and "needs hosted mode" in r.err,
       "S103 without hosted mode there is no login", r)


def sample(p, h):
    """The block for sshd that is shipped."""
    conf = open(INST + "/share/carrel/etc/ssh/carrel.conf").read()
    with root():
        h.file(h.top + "/sshd2", SSHD.format(top=h.top) + conf.replace(
            "Match Group carrel", "Match Group " +
            os.environ["CARREL_T_GROUP"]))
    r = h.root("/usr/sbin/sshd", "-T", "-f", h.top + "/sshd2", "-C",
               "user=%s,host=h,addr=127.0.0.1" % USER, check=False)
    ok(r.code == 0 and {"disableforwarding yes", "permittunnel no",
                        "permituserrc no", "permituserenvironment no",
                        "forcecommand none"} <= set(r.out.split("\n")),
       "S103 the block for sshd", r)
    r = h.root("/usr/sbin/sshd", "-T", "-f", h.top + "/sshd2", "-C",
               "user=root,host=h,addr=127.0.0.1", check=False)
    ok(r.code == 0 and "disableforwarding no" in r.out.split("\n"),
       "S103 control: for others it says nothing", r)


if os.environ.get("CARREL_T_MODE") != "hosted" or not IS_ROOT:
    skip("S103 carrel-sh", "CARREL_T_MODE=hosted, as root")
    done()
for x in ("/usr/sbin/sshd", "/usr/bin/ssh", "/usr/bin/rsync"):
    if not os.path.exists(x):
        skip("S103 carrel-sh", "no " + x)
        done()
with Host(PW) as h:
    for test in (commands, interactive, transfers, hostile, widening, places,
                 elsewhere, configured, sample):
        test(PW, h)
done()
