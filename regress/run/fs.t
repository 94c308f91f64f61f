#!/usr/bin/python3
"""Commands, sockets and devices; what the next run trusts; the host's own
files of /etc (S7, S30-S39, S48, S54, S55)."""
import os
import socket
import stat
import threading
import tempfile
from tap import *

OWN_HOME = ("--no-defaults", "-p", "@sys", "-p", "@own-home")


def says(p, name, *options, has=(), hasnt=(), code=0):
    """explain shows all of `has` (regular expressions), a line each."""
    r = p.wide("explain", *options, "--", "true")
    missing = [h for h in has if not re.search(h, r.out, re.M)]
    extra = [h for h in hasnt if re.search(h, r.out, re.M)]
    return ok(r.code == code and not missing and not extra, name,
              "missing %r, extra %r" % (missing, extra), r.out[:3000], r.err)


def refuses(p, name, lines, has, control=None, options=()):
    p.fs("x", *lines)
    p.refused(name, *options, "-p", "x", has=("x.profile:4",) + tuple(has))
    if control is not None:
        p.fs("x", *control)
        p.runs(name + ": control", *options, "-p", "x")
    p.unprofile("x")


def commands(p):
    tool = p.write(p.top + "/opt/tool", "#!/bin/sh\necho TOOL $0 $1\n", 0o755)
    other = p.write(p.top + "/opt2/tool", "#!/bin/sh\necho OTHER\n", 0o755)
    p.write(p.top + "/opt/data", "x\n")
    p.fs("a", "command = " + tool, 'command = %s -> "two words"' % tool)
    p.prints("S30 S61 a command is found on PATH by its name",
             'tool; "two words" x; cat %s 2>&1 | grep -c "No such"' % tool,
             "TOOL /run/carrel/bin/tool\nTOOL /run/carrel/bin/two words x\n"
             "1\n", "-p", "a")
    p.prints("S48 the staging directory goes before the base", "echo $PATH",
             "/run/carrel/bin:/usr/bin:/bin:/usr/sbin:/sbin\n", "-p", "a")
    p.prints("S48 S55 and is not there when nothing is staged",
             "echo $PATH; ls -d /run/carrel 2>&1 | grep -c 'No such'",
             "/usr/bin:/bin:/usr/sbin:/sbin\n1\n")
    true = p.write(p.top + "/opt3/true", "#!/bin/sh\necho MINE\n", 0o755)
    p.fs("t", "command = " + true)
    p.prints("S61 where both have it the staged one runs", "env true",
             "MINE\n", "-p", "t")
    before = tree(p.top + "/opt")
    r = p.sh("cd /run/carrel/bin; touch x ../x; echo >> tool; rm -f tool; "
             "mv tool y; chmod 777 tool; ln -s a b; mv /run/carrel /run/c; "
             "mv ../bin ../b; rmdir /run/carrel; tool", "-p", "a")
    ok(r.out == "TOOL /run/carrel/bin/tool\n" and
       len(r.err.splitlines()) == 10 and
       tree(p.top + "/opt") == before,
       "R011 S55 nothing inside can write what is staged", r)
    mine = p.write(p.proj + "/bin/mine", "#!/bin/sh\necho MINE\n", 0o755)
    os.link(mine, p.proj + "/bin/two")
    p.fs("m", "command = " + mine)
    p.refused("S7 S55 a command that has a second name where it may be "
              "written", "-p", "m", "-p", "@target",
              has=("m.profile:4", "a second name", "cp(1)"))
    os.unlink(p.proj + "/bin/two")
    p.prints("S7 control: without it", "mine", "MINE\n", "-p", "m")
    p.fs("run", "tmpfs = /run")
    for weak in ((), ("--without-landlock",)):
        r = p.sh("touch /run/ok; mv /run/carrel /run/c; rm -rf /run/carrel; "
                 "mkdir -p /run/carrel/bin/x /run/carrel/y; touch "
                 "/run/carrel/bin/z; mv /run/carrel/bin /run/carrel/b; tool; "
                 "ls /run /run/carrel /run/carrel/bin", "-p", "a", "-p",
                 "run", *weak)
        ok(r.out == "TOOL /run/carrel/bin/tool\n/run:\ncarrel\nok\n\n"
           "/run/carrel:\nbin\n\n/run/carrel/bin:\ntool\ntwo words\n",
           "S55 nor in a /run that is a writable tmpfs %s" % (weak,), r)
    says(p, "S91 COMMANDS names file and claim", "-p", "a",
         has=(r"staged +/run/carrel/bin/tool from %s +command a:4" % tool,
              r'"/run/carrel/bin/two words" from', r"PATH=/run/carrel/bin:"),
         hasnt=("no executable is staged",))
    says(p, "S91 or that there are none", has=("no executable is staged",))
    p.unprofile("run")

    # conflicts name everybody, in any order
    p.fs("b", "command = " + other)
    p.fs("c", "command = %s/opt/data -> tool" % p.top)
    errs = set()
    for order in ("abc", "cba", "bac"):
        r = p.do("run", *[x for n in order for x in ("-p", n)], "--", "echo",
                 MARK)
        errs.add(r.err)
        ok(r.code == OWN and MARK not in r.out and
           all("%s.profile:4" % n in r.err for n in "abc") and
           "HOST -> NAME" in r.err, "S32 one name for three files: all are "
           "named (%s)" % order, r)
    ok(len(errs) == 1, "S3 with the same bytes", errs)
    p.fs("b", "command = %s -> tool2" % other)
    p.runs("S32 control: another name", "-p", "a", "-p", "b")
    p.fs("b", "command = " + tool)
    p.runs("S32 control: the same file twice", "-p", "a", "-p", "b")
    p.unprofile("a", "b", "c", "t")

    good = ["command = " + tool]
    refuses(p, "S30 a command that is not executable",
            ["command = %s/opt/data" % p.top], ("not executable", "chmod +x"),
            good)
    refuses(p, "S30 a directory of commands", ["command = %s/opt" % p.top],
            ("directory", "the program itself"), good)
    refuses(p, "S35 a command that is not there", ["command = /none/x"],
            ("/none/x", "No such file"), good)
    for name in ("a/b", "..", ".", "/x", "/run/carrel/bin/x"):
        refuses(p, "S30 the name %s" % name,
                ["command = %s -> %s" % (tool, name)],
                ("one component", "bare name"))
    refuses(p, "S33 a command where a bind hides the place",
            ["command = " + tool, "read = /run"], ("/run", "read of x"), good)
    refuses(p, "R011 a bind at the staging directory",
            ["read = %s/opt -> /run/carrel/bin" % p.top], ("/run/carrel",),
            good)
    os.symlink(p.top + "/opt2/tool", p.proj + "/planted")
    refuses(p, "S36 a command by a link in the target",
            ["command = {target}/planted"], ("planted", "symlink"),
            ["command = %s/opt2/tool" % p.top])
    # S7: the file of a command is not writable by another way
    p.fs("x", "command = " + tool, "write = %s/opt" % p.top)
    r = p.sh("cd %s/opt; echo 'echo EVIL' > tool; mv tool t; touch ok; "
             "mv ../opt ../o; tool" % p.top, "-p", "x")
    ok(r.out == "TOOL /run/carrel/bin/tool\n" and "EVIL" not in
       open(tool).read() and os.path.exists(p.top + "/opt/ok"),
       "S7 a command's file in a write grant is pinned", r)
    says(p, "S7 and the screen says so", "-p", "x",
         has=(r"ro +%s +\(carrel\) +<- carrel trusts it" % tool,))
    refuses(p, "S7 a write grant of the file itself",
            ["write = " + tool, "command = " + tool], ("staged as a command",))
    os.symlink(tool, p.top + "/tool-link")
    refuses(p, "S7 a command that leads into a write grant",
            ["write = %s/opt" % p.top, "command = %s/tool-link" % p.top],
            (tool, "staged as a command"),
            ["read = %s/opt" % p.top, "command = %s/tool-link" % p.top])
    r = p.run("tool")
    ok(r.code == NOTFOUND, "S61 control: without the profile it is not found",
       r)


def sockets(p):
    path = p.top + "/s/sock"
    os.makedirs(p.top + "/s")
    s = socket.socket(socket.AF_UNIX)
    s.bind(path)
    s.listen()

    def serve():
        while True:
            try:
                c, _ = s.accept()
                c.sendall(b"hello\n")
                c.close()
            except OSError:
                return
    threading.Thread(target=serve, daemon=True).start()
    ask = ("python3 -c 'import socket, sys; s = socket.socket(socket.AF_UNIX);"
           " s.connect(sys.argv[1]); print(s.recv(99).decode(), end=\"\")' ")
    p.fs("x", "socket = %s" % path, "socket = %s -> /run/agent" % path)
    p.prints("S30 a socket answers under both names",
             ask + path + "; " + ask + "/run/agent; ls " + p.top + "/s",
             "hello\nhello\nsock\n", "-p", "x")
    r = p.sh("chmod 0 /run/agent; touch /run/agent; rm -f /run/agent; "
             "mv /run/agent /run/b; " + ask + "/run/agent", "-p", "x")
    ok(r.out == "hello\n" and stat.S_IMODE(os.stat(path).st_mode) != 0,
       "S30 the node itself cannot be changed", r)
    says(p, "S91 a socket's row", "-p", "x",
         has=(r"socket +/run/agent from %s +socket x:5" % path,))
    p.unprofile("x")
    # read-only is no wall for connect(2), so a person is told
    p.fs("x", "read = %s/s" % p.top)
    says(p, "V060 S91 a directory that holds sockets is marked", "-p", "x",
         has=(r"%s/s +read x:4 +<- holds sockets" % re.escape(p.top),))
    p.unprofile("x")
    r = p.sh(ask + path)
    ok(r.code != 0 and "hello" not in r.out,
       "S30 control: without the grant nobody answers", r)
    good = ["socket = %s -> /run/agent" % path]
    for verb in ("read", "write", "try-read", "try-write"):
        refuses(p, "R018 S37 %s of a socket names the key" % verb,
                ["%s = %s" % (verb, path)],
                ("is a socket", '"socket = %s"' % path), good)
    refuses(p, "S30 socket of a file",
            ["socket = %s" % p.write(p.top + "/s/f", "x")],
            ("is a file", '"read = '), good)
    refuses(p, "S30 socket of a directory", ["socket = %s/s" % p.top],
            ("is a directory", '"read = '), good)
    refuses(p, "S35 a socket that is not there", ["socket = %s/no" % p.top],
            ("No such file",), good)
    refuses(p, "S33 a socket inside another's bind",
            ["socket = %s -> %s/w/s" % (path, p.top), "read = %s/w" % p.top],
            ("would hide", "read of x", "socket of x"), good)
    refuses(p, "S33 a socket in /dev", ["socket = %s -> /dev/log" % path],
            ("/dev",), good)
    os.mkfifo(p.top + "/s/fifo")
    refuses(p, "R019 S37 a FIFO", ["read = %s/s/fifo" % p.top],
            ("is a FIFO", '"socket"'), good)


def devices(p):
    refuses(p, "S37 read of a device names the key", ["read = /dev/kvm"],
            ('"device = /dev/kvm"',))
    os.symlink("/dev/autofs", p.top + "/dev-link")
    for line, has in (
            ("device = /dev/null", ("in every sandbox",)),
            ("device = /dev/pts/0", ("in every sandbox",)),
            ("device = /dev/shm", ("in every sandbox",)),
            ("device = /dev/mem", ("memory",)),
            ("device = /dev/port", ("memory",)),
            ("device = /dev/kmem", ("memory",)),
            ("device = /dev", ("not below /dev",)),
            ("device = /etc/passwd", ("not below /dev",)),
            ("device = %s/dev-link" % p.top, ("not below /dev",)),
            ("device = /dev/none-such", ("No such file",)),
            ("device = /dev/autofs -> /dev/x", ("one path", "same name")),
            ("device = /dev/../dev/autofs", ("clean path",)),
            ("read = /usr -> /dev/x", ("/dev",))):
        refuses(p, "S30 " + line.replace(p.top, ""), [line], has)
    dirs = [d for d in ("/dev/cpu", "/dev/net", "/dev/dri", "/dev/input")
            if os.path.isdir(d)]
    if dirs:
        refuses(p, "S30 a directory of devices", ["device = " + dirs[0]],
                ("a directory", "each character device"))
    else:
        skip("S30 a directory of devices", "none here")
    blocks = ["/dev/" + d for d in os.listdir("/dev") if
              stat.S_ISBLK(os.lstat("/dev/" + d).st_mode)]
    if blocks:
        refuses(p, "R019 S30 a block device", ["device = " + blocks[0]],
                ("a block device", "only character devices"))
    else:
        skip("R019 S30 a block device", "none here")
    try:
        os.close(os.open("/dev/autofs", os.O_RDONLY))
    except OSError as e:
        skip("S30 a device works", str(e))
        return
    # AUTOFS_DEV_IOCTL_VERSION is for everybody
    use = ("import fcntl, os, struct\nfd = os.open('/dev/autofs', 0)\n"
           "b = struct.pack('IIIiQ', 1, 1, 24, -1, 0)\n"
           "print(len(fcntl.ioctl(fd, 0xC0189371, b)))\n")
    p.fs("x", "device = /dev/autofs")
    r = p.do("run", "-p", "x", "--", "python3", "-c", use)
    equal(r.out, "24\n", "S30 a device opens, and its ioctl works (Landlock)",
          r)
    r = p.sh("grep ' /dev/autofs ' /proc/self/mountinfo; rm /dev/autofs; "
             "chmod 777 /dev/autofs; touch /dev/x; ls /dev", "-p", "x")
    first = r.out.splitlines()[0]
    ok("nodev" not in first and "nosuid" in first and "noexec" in first and
       re.search(r" ro,", first) and len(r.err.splitlines()) == 3 and
       len(r.out.split("\n", 1)[1].split()) == 14,
       "S38 it is mounted without nodev, and is all that is added", r)
    says(p, "S91 a device's row", "-p", "x",
         has=(r"device +/dev/autofs +device x:4",))
    p.unprofile("x")
    r = p.do("run", "--", "python3", "-c", use)
    ok(r.code == 1 and "No such file" in r.err,
       "S30 control: without the grant it is not there", r)


ATTACK = """
cd ~ 2>/dev/null || cd /
c=$1
p=$(dirname $c)
echo '[fs]' > $c/profiles.d/evil.profile
echo '[carrel]' > $c/config
echo x >> $c/profiles.d/mine.profile
rm -rf $c/profiles.d $c
mv $c/profiles.d $c/p
mv $c $p/other
mv $p $p.away
mkdir -p $p.new/carrel/profiles.d
echo '[fs]' > $p.new/carrel/profiles.d/evil.profile
mv -T $p.new $p
mv -T $p.new/carrel $c
ln -sfn $p.new/carrel $c
ln -sfnT $p.new $p
rm -rf $p
rmdir $p
python3 - $c $p <<'P'
import ctypes, os, sys
c, p = sys.argv[1:]
libc = ctypes.CDLL(None, use_errno=True)
for a, b in ((p + ".new", p), (p + ".new/carrel", c)):
    for flags in (0, 1, 2):  # plain, NOREPLACE, EXCHANGE
        for x, y in ((a, b), (b, a)):
            libc.renameat2(-100, x.encode(), -100, y.encode(), flags)
P
chmod 777 $c $c/profiles.d
touch $p/free $p.free
echo END
"""


def listed_home(p):
    """HOME is another one here than in the user database."""
    listed = PW.pw_dir
    if not IS_ROOT or p.env["HOME"] == listed:
        skip("S7 the home of the database", "only where HOME is another")
        return
    plant = ("c=%s/.config; mkdir -p $c/carrel/profiles.d; "
             "touch $c/carrel/config $c/carrel/profiles.d/evil.profile; "
             "mv $c $c.away; touch %s/ok; echo %s" % (listed, p.proj, MARK))
    p.fs("listed", "write = " + listed)
    r = p.do("run", "--no-defaults", "-p", "@sys", "-p", "listed", "--", "sh",
             "-c", plant)
    conf = listed + "/.config"
    ok(r.out == MARK + "\n" and os.path.isdir(conf + "/carrel/profiles.d") and
       not os.path.exists(conf + "/carrel/config") and
       not os.listdir(conf + "/carrel/profiles.d"),
       "S7 the place of a run without this HOME is protected, too", r)
    # with HOME in another tree: what holds HOME is judged for that alone
    far = tempfile.mkdtemp(prefix="carrel-check.", dir="/var/tmp")
    env = dict(p.env, HOME=far)
    os.makedirs(far + "/.config/carrel/profiles.d")
    p.write(far + "/.config/carrel/profiles.d/listed.profile",
            "[profile]\ndescription = x\n[fs]\nread = %s\n" % listed)
    r = p.wide("explain", "--no-defaults", "-p", "listed", "--", "true",
               env=env)
    ok(re.search(r"ro +%s +read listed:\d+ +<- covers credentials" % listed,
                 r.out), "S37 it is a home as well", r)
    r = p.do("run", "-C", listed, "-p", "@target", "--", "echo", MARK, env=env)
    ok(r.code == OWN and "is the home directory or holds it" in r.err and
       MARK not in r.out, "S24 it is no target by -C", r)
    r = p.do("run", "-v", "--", "echo", MARK, cwd=listed, env=env)
    ok(r.code == 0 and r.out == MARK + "\n" and
       "no target is mounted: %s is or holds your home" % listed in r.err,
       "S24 nor by being there, and that is told", r)
    shutil.rmtree(far)
    # S11: one that is not the caller's counts for nothing
    foreign = p.top + "/foreign"
    os.makedirs(foreign + "/.config/carrel/profiles.d")
    p.write(foreign + "/.config/carrel/profiles.d/theirs.profile",
            "[profile]\ndescription = x\n[fs]\ntmpfs = /opt/theirs\n")
    for name, uid in (("another user's", 0), ("control: the caller's", UID)):
        with root():
            os.chown(foreign, uid, -1)
        r = p.do("run", "-p", "theirs", "--", "sh", "-c",
                 "echo $HOME; ls -d /opt/theirs", env=dict(p.env,
                                                           HOME=foreign))
        ok((r.code == 0 and r.out == foreign + "\n/opt/theirs\n") if uid else
           (r.code == OWN and r.out == "" and "theirs" in r.err),
           "S11 a HOME that is %s" % name, r)
    p.unprofile("listed")
    shutil.rmtree(conf, ignore_errors=True)


def trusted(p):
    conf, up = p.conf, os.path.dirname(p.conf)
    p.fs("mine", "tmpfs = /opt/mine")
    p.write(p.conf + "/config", "[carrel]\ndefaults = @sys\n")

    def attacked(q, name, c, *options, cwd=None):
        """The attack ran, and what the next run reads is what it was."""
        q.write(q.top + "/attack.sh", ATTACK)
        q.fs("attack", "read = %s/attack.sh -> /attack.sh" % q.top)
        before = tree(c)
        top = os.lstat(os.path.dirname(c)).st_ino
        os.utime(os.path.dirname(c))
        r = q.do("run", *options, "-p", "attack", "--", "sh", "/attack.sh",
                 c, cwd=cwd)
        now = tree(c)
        ok(r.out.endswith("END\n") and r.code == 0 and now == before and
           len(now) > 0 and not os.path.islink(c) and
           os.lstat(os.path.dirname(c)).st_ino == top and
           os.path.exists(os.path.dirname(c) + ".free"), name,
           sorted(set(before) ^ set(now)), r)
        q.unprofile("attack")

    attacked(p, "S7 S33b own-home: the configuration is as before", conf,
             *OWN_HOME)
    r = p.do("run", "--no-defaults", "-p", "@sys", "-p", "evil", "--", "echo",
             MARK)
    ok(r.code == OWN and "unknown profile" in r.err,
       "S7 the next run knows no profile of the payload's", r)
    attacked(p, "S7 a target that holds the configuration", conf,
             "--no-defaults", "-p", "@sys", "-p", "@target", "-C", up,
             cwd=up)
    p.fs("over", "write = %s" % p.top)
    attacked(p, "S7 a write grant far above it", conf, "--no-defaults", "-p",
             "@sys", "-p", "over")
    p.fs("over", "write = %s -> /mnt/all" % p.top)
    r = p.do("run", "--no-defaults", "-p", "@sys", "-p", "over", "--", "sh",
             "-c", "c=/mnt/all/home/.config; touch $c/carrel/x; mv $c $c.z; "
             "touch $c/y && echo " + MARK)
    ok(r.out == MARK + "\n" and r.err.count("Read-only") == 1 and
       "busy" in r.err and os.path.isdir(conf),
       "S7 under another name inside", r)
    p.unprofile("over")
    says(p, "S7 the screen says what is pinned", *OWN_HOME,
         has=(r"ro +%s +\(carrel\) +<- carrel trusts it$" % conf,
              r"pin +%s, which cannot be renamed +\(carrel\)" % up))
    says(p, "S7 and nothing where nothing is covered",
         hasnt=("carrel trusts it",))
    # S4 and joins: a profile that reads it already
    p.fs("r", "read = {home}/.config/carrel")
    says(p, "S7 a read grant is enough", *OWN_HOME, "-p", "r",
         has=(r"ro +%s +read r:4" % conf,),
         hasnt=(r"%s .*carrel trusts it" % conf,))
    attacked(p, "S7 and protects as well", conf, *OWN_HOME, "-p", "r")
    p.unprofile("r")

    # a write grant of it, or below it
    for line in ("write = {home}/.config/carrel",
                 "write = {home}/.config/carrel/profiles.d",
                 "write = {home}/.config/carrel/config",
                 "write = {home}/.config/carrel -> /mnt/x",
                 "try-write = {home}/.config/carrel/none"):
        refuses(p, "S7 " + line, [line],
                ("carrel trusts", "grant it with read"),
                [line.replace("write", "read")])
    r = p.refused("S7 a target that is the configuration", "-C", conf, "-p",
                  "@target",
                  has=("@target", "carrel trusts"))
    os.symlink(p.home, p.top + "/alias")
    refuses(p, "S7 by a link to what holds it",
            ["write = %s/alias/.config" % p.top, "write = %s/alias/proj" %
             p.top], (conf, "carrel trusts"),
            ["write = %s/alias/proj" % p.top], options=("--no-defaults", "-p",
                                                        "@sys"))
    refuses(p, "S7 by a link to it",
            ["write = %s/alias/.config/carrel" % p.top],
            (conf, "carrel trusts"))

    # XDG_CONFIG_HOME, and the place of a run without it
    env = dict(p.env, XDG_CONFIG_HOME=p.home + "/xdg")
    os.makedirs(p.home + "/xdg/carrel/profiles.d")
    r = p.do("run", *OWN_HOME, "--", "sh", "-c",
             "touch ~/xdg/carrel/x ~/.config/carrel/x; mv ~/xdg ~/z; "
             "touch ~/xdg/ok; echo " + MARK, env=env)
    ok(r.out == MARK + "\n" and r.err.count("Read-only") == 2 and
       "busy" in r.err and os.path.exists(p.home + "/xdg/ok"),
       "S7 XDG_CONFIG_HOME is protected, and so is the other place", r)

    listed_home(p)

    # carrel's own installation
    mine = p.top + "/inst"
    own_copy(mine)
    before = tree(mine)
    p.fs("inst", "write = " + mine)
    q = p.carrel
    p.carrel = mine + "/bin/carrel"
    r = p.do("run", "--no-defaults", "-p", "@sys", "-p", "inst", "--", "sh",
             "-c", "cd %s; echo > bin/carrel; mv bin b; rm -rf libexec/carrel"
             " share/carrel; mv libexec l; mv share s; mv share/carrel s; "
             "touch share/carrel/profiles/x.profile; touch ok; echo %s" %
             (mine, MARK))
    now = tree(mine)
    bad = [k for k, v in before.items() if stat.S_ISREG(v[0]) and
           now.get(k) != v or k not in now]
    ok(r.out == MARK + "\n" and mine + "/ok" in now and not bad and
       not [k for k in now if k.endswith("x.profile")],
       "S7 carrel's programs and shipped profiles are as before", bad, r)
    for d in ("bin/carrel", "libexec/carrel", "share/carrel/profiles"):
        p.fs("inst", "write = %s/%s" % (mine, d))
        p.refused("S7 a write grant of %s" % d, "-p", "inst",
                  has=("inst.profile:4", d, "carrel trusts"))
    p.carrel = q
    p.runs("S7 control: of what is not this carrel's", "-p", "inst")
    p.unprofile()


def made_first():
    """S7: what is missing is made before a payload can make it."""
    with Place() as p:
        shutil.rmtree(p.home + "/.config")
        before = tree(p.home)
        says(p, "S7 explain says what a run would make", *OWN_HOME,
             has=(r"ro +%s +\(carrel\) +<- carrel trusts it, a run makes it"
                  % p.conf, r"pin +%s/.config," % p.home))
        equal(tree(p.home), before, "S90 and makes nothing")
        p.run("true")
        equal(tree(p.home), before, "S7 nor does a run that covers no place "
              "of it")
        r = p.do("run", *OWN_HOME, "--", "sh", "-c",
                 "mkdir -p ~/.config/carrel/profiles.d/x; mv ~/.config ~/z; "
                 "touch ~/.config/carrel/config; touch ~/.config/free; "
                 "echo " + MARK)
        made = {k[len(p.home):]: stat.S_IMODE(v[0]) for k, v in
                tree(p.home).items() if "/.config" in k}
        ok(r.out == MARK + "\n" and made == {
            "/.config": 0o700, "/.config/carrel": 0o700,
            "/.config/carrel/profiles.d": 0o700, "/.config/free": 0o644} and
           os.stat(p.conf).st_uid == UID,
           "S7 the directory is made first, as the user, mode 700", made, r)
        says(p, "S7 the next screen has it as it is", *OWN_HOME,
             hasnt=("a run makes it",), has=("<- carrel trusts it",))
        # planted links
        for what, link in ((p.home + "/.config", p.top + "/else"),
                           (p.home + "/.config/carrel", p.top + "/else")):
            shutil.rmtree(p.home + "/.config", ignore_errors=True)
            os.makedirs(os.path.dirname(what), exist_ok=True)
            for there in (True, False):
                shutil.rmtree(link, ignore_errors=True)
                if there:
                    os.makedirs(link + "/carrel/profiles.d")
                if os.path.islink(what):
                    os.unlink(what)
                os.symlink(link, what)
                had = tree(p.top)
                p.refused("S7 S36 %s is a link%s" % (
                    what[len(p.home):], "" if there else ", to nothing"),
                    *OWN_HOME, has=("@own-home", p.conf))
                equal(tree(p.top), had, "S7 nothing is made through it")
            os.unlink(what)
        os.makedirs(p.conf)
        p.runs("S7 control: directories", *OWN_HOME)
        shutil.rmtree(p.home + "/.config")
        p.write(p.home + "/.config", "a file")
        p.refused("S7 a file where the directory should be", *OWN_HOME,
                  has=(p.conf,))
        os.unlink(p.home + "/.config")
        os.mkdir(p.home + "/.config", 0o500)
        p.refused("S7 a directory that cannot be written now, but by its "
                  "owner later", *OWN_HOME, has=("@own-home", p.conf))
        os.chmod(p.home + "/.config", 0o700)
        p.runs("S7 control: with mode 700", *OWN_HOME)
        # a link inside what is pinned cannot be changed, and where it leads
        # is pinned too
        shutil.rmtree(p.home + "/.config")
        os.makedirs(p.conf)
        os.makedirs(p.home + "/dot/p")
        os.symlink(p.home + "/dot/p", p.layer)
        r = p.do("run", *OWN_HOME, "--", "sh", "-c",
                 "touch ~/dot/p/x; ln -sfn /tmp ~/.config/carrel/profiles.d; "
                 "mv ~/dot ~/d2; touch ~/dot/ok; echo " + MARK)
        ok(r.out == MARK + "\n" and not os.path.exists(p.home + "/dot/p/x")
           and os.readlink(p.layer) == p.home + "/dot/p" and
           os.path.exists(p.home + "/dot/ok"),
           "S7 a link in the pinned directory, and where it leads", r)


def private(p, script, *options, prepare=""):
    """carrel in a mount namespace that root prepares."""
    with root():
        argv = ["unshare", "-m", "sh", "-ec", prepare +
                "\nexec setpriv --reuid=%d --regid=%d --groups=%s "
                "env -i HOME=%s PATH=/usr/bin:/bin %s run %s -- sh -c \"$0\""
                % (UID, GID, ",".join(map(str, os.getgrouplist(USER, GID))),
                   p.home, CARREL, " ".join(options)), script]
        q = subprocess.Popen(argv, cwd=p.proj, stdin=-3, stdout=-1, stderr=-1)
        return finish(q)


def host_place(p, etc, bind):
    """S7: /etc/carrel is not there, and now somebody could make it."""
    p.fs("x", "write = /etc")
    p.fs("usr", "read = /usr", "try-read = /bin", "try-read = /lib",
         "try-read = /lib64")
    with root():
        os.chown(etc, UID, GID)
    r = private(p, "echo " + MARK, "--no-defaults", "-p", "usr", "-p", "x",
                prepare=bind)
    ok(r.code == OWN and MARK not in r.out and "/etc/carrel" in r.err and
       "create it first: mkdir -p /etc/carrel" in r.err and "x.profile:4" in r.err and
       not os.path.exists(etc + "/carrel"),
       "S7 a place of the host's that a payload could make", r)
    with root():
        os.makedirs(etc + "/carrel/profiles.d")
    r = private(p, "mkdir /etc/carrel/x; touch /etc/ok; echo " + MARK,
                "--no-defaults", "-p", "usr", "-p", "x", prepare=bind)
    ok(r.out == MARK + "\n" and "Read-only" in r.err and
       os.path.exists(etc + "/ok"), "S7 control: when it is there", r)
    with root():
        os.chown(etc, 0, 0)
        shutil.rmtree(etc + "/carrel")
    p.unprofile("x", "usr")


def etc_of_the_host(p):
    files = ("passwd", "group", "hosts", "hostname", "resolv.conf")
    for f in files:
        host = "/etc/" + f
        if not os.path.exists(host):
            skip("S38 a read of the host's %s" % f, "not here")
            continue
        p.fs("x", "read = " + host)
        r = p.do("run", "-p", "x", "--", "cat", host)
        equal(r.out, open(host).read(), "S38 a read of the host's %s" % f, r)
        says(p, "S38 the screen says that %s is the host's" % f, "-p", "x",
             has=(r"ro +%s .*read x:4 .*<- replaces the generated %s"
                  % (host, host),), hasnt=(r"made +%s," % host,))
        p.fs("x", "read = %s -> %s" % (
            p.write(p.top + "/mine-" + f, "mine\n"), host))
        r = p.do("run", "-p", "x", "--", "cat", host)
        equal(r.out, "mine\n", "S38 or another file at %s" % host, r)
    p.fs("x", "read = /etc")
    says(p, "S38 a directory that holds all of them", "--no-defaults", "-p",
         "x", has=[r"replaces the generated /etc/" + f for f in files
                   if os.path.exists("/etc/" + f)], hasnt=("made +/etc/",))
    p.unprofile("x")
    says(p, "S38 control: they are generated", has=[
        r"made +/etc/%s," % f for f in files], hasnt=("replaces",))
    if not IS_ROOT:
        skip("B004 V041 V016 in a mount namespace", "needs root")
        return

    # B004: links of two and three hops, absolute and relative
    etc = p.top + "/etc"
    with root():
        shutil.rmtree(etc, ignore_errors=True)
        os.makedirs(etc + "/static")
        for f in ("passwd", "group", "nsswitch.conf", "ld.so.cache"):
            if os.path.exists("/etc/" + f):
                shutil.copy("/etc/" + f, etc + "/" + f)
        os.makedirs(p.top + "/run")
        with open(p.top + "/run/stub", "w") as f:
            f.write("nameserver 192.0.2.53\n")
    bind = "mount --bind %s /etc\n" % etc
    for name, links in (
            ("one", [("resolv.conf", p.top + "/run/stub")]),
            ("two", [("resolv.conf", "static/resolv.conf"),
                     ("static/resolv.conf", p.top + "/run/stub")]),
            ("three", [("resolv.conf", "/etc/static/resolv.conf"),
                       ("static/resolv.conf", "../hop"),
                       ("hop", p.top + "/run/stub")]),
            ("dangling", [("resolv.conf", "static/none")])):
        with root():
            for n in ("resolv.conf", "static/resolv.conf", "hop"):
                with contextlib.suppress(OSError):
                    os.unlink(etc + "/" + n)
            for n, to in links:
                os.symlink(to, etc + "/" + n)
        t = time.monotonic()
        r = private(p, "cat /etc/resolv.conf; getent hosts x.test; echo $?",
                    prepare=bind)
        ok(r.code == 0 and r.out == "# carrel: no network is granted\n2\n" and
           time.monotonic() - t < 3, "B004 %s: generated, no /run, and names "
           "fail at once" % name, r)
        p.fs("x", "read = /etc/resolv.conf")
        r = private(p, "cat /etc/resolv.conf; ls /run %s/run 2>&1 | grep -c "
                    "'No such'; echo %s" % (p.top, MARK), "-p", "x",
                    prepare=bind)
        ok(r.code == OWN and MARK not in r.out if name == "dangling" else
           r.out == "nameserver 192.0.2.53\n2\n" + MARK + "\n",
           "B004 %s: the host's own, through the links" % name, r)
        p.unprofile("x")

    # V041, R012: a generated file never lands on the host
    for kind in ("regular", "link", "missing"):
        with root():
            for n in ("resolv.conf", "hosts", "passwd"):
                with contextlib.suppress(OSError):
                    os.unlink(etc + "/" + n)
                if kind == "regular":
                    shutil.copy("/etc/passwd", etc + "/" + n)
                elif kind == "link":
                    os.symlink(p.top + "/run/stub", etc + "/" + n)
            state = tree(etc), tree(p.top + "/run")
        for verb in ("read", "write"):
            p.fs("x", "%s = /etc" % verb)
            r = private(p, "ls -la /etc; cat /etc/hosts /etc/passwd; "
                        "(echo x >> /etc/hosts; echo x > /etc/resolv.conf) "
                        "2>/dev/null; echo " + MARK, "--no-defaults", "-p",
                        "x", "-p", "usr", prepare=bind) if p.fs(
                            "usr", "read = /usr", "try-read = /bin",
                            "try-read = /lib", "try-read = /lib64") else None
            with root():
                now = tree(etc), tree(p.top + "/run")
            ok(r.code == 0 and MARK in r.out and now == state,
               "V041 R012 %s of /etc, the files are %s: the host's are as "
               "before" % (verb, kind), r)
        p.unprofile("x", "usr")
    host_place(p, etc, bind)
    # a directory of the caller's where carrel would generate files
    os.makedirs(p.top + "/fake-etc")
    p.write(p.top + "/fake-etc/hosts", "mine\n")
    p.fs("x", "write = %s/fake-etc -> /etc" % p.top)
    p.fs("usr", "read = /usr", "try-read = /bin", "try-read = /lib",
         "try-read = /lib64")
    before = tree(p.top + "/fake-etc")
    r = p.do("run", "--no-defaults", "-p", "usr", "-p", "x", "--", "sh", "-c",
             "cat /etc/hosts; ls /etc; echo " + MARK)
    ok(r.out == "mine\nhosts\n" + MARK + "\n" and
       tree(p.top + "/fake-etc") == before,
       "R012 a write grant at /etc gets no generated file", r)
    p.unprofile()

    # V016: what the host calls /dev/null
    with root():
        os.makedirs(p.top + "/dn")
        open(p.top + "/dn/file", "w").close()
        os.mkfifo(p.top + "/dn/fifo")
        os.symlink("/proc/sys/kernel/core_pattern", p.top + "/dn/link")
    core = open("/proc/sys/kernel/core_pattern").read()
    for name, how in (
            ("a file", "mount --bind %s/dn/file /dev/null\n" % p.top),
            ("a FIFO", "mount --bind %s/dn/fifo /dev/null\n" % p.top),
            ("zero", "mount --bind /dev/zero /dev/null\n"),
            ("a link", "mount -t tmpfs none /dev\nmkdir /dev/pts\nfor d in "
             "zero:5 full:7 random:8 urandom:9; do mknod -m 666 "
             "/dev/${d%:*} c 1 ${d#*:}; done; mknod -m 666 /dev/tty c 5 0\n"
             "ln -s /proc/sys/kernel/core_pattern /dev/null\n"
             "mknod /dev/kmsg c 1 11\nexec 2>&1\n")):
        r = private(p, "echo %s; echo x > /dev/null; cat /proc/keys | wc -c" %
                    MARK, prepare=how)
        ok(r.code == OWN and MARK not in r.out and
           "/dev/null" in r.out + r.err, "V016 the host's /dev/null is %s"
           % name, r)
    equal(open("/proc/sys/kernel/core_pattern").read(), core,
          "V016 core_pattern is as before")
    r = private(p, "echo %s; cat /proc/keys | wc -c; (echo x > /proc/keys) "
                "2>/dev/null || echo SHUT" % MARK, prepare=":\n")
    equal(r.out, MARK + "\n0\nSHUT\n", "V016 control: a mask is empty and "
          "cannot be written", r)


def rest(p):
    # S37
    p.write(p.home + "/.ssh/id", "x")
    p.fs("x", "read = {home}/.ssh")
    says(p, "S37 a credential directory is marked", "-p", "x",
         has=(r"ro +%s/.ssh .*<- covers credentials" % p.home,))
    says(p, "S37 so is the whole home", *OWN_HOME,
         has=(r"rw +%s +write @own-home:\d+ +<- covers credentials"
              % p.home,))
    says(p, "S37 control: the target is not", hasnt=("covers credentials",))
    # S39
    p.fs("x", "tmpfs = /opt/a size=600M")
    p.fs("y", "tmpfs = /opt/b size=500M", "tmpfs = /opt/c size=8K")
    p.refused("S39 the sum names each and who asked for it", "--no-defaults",
              "-p", "@sys", "-p", "x", "-p", "y", has=(
                  "/opt/a 600 MiB (tmpfs of x", "/opt/b 500 MiB (tmpfs of y",
                  "/opt/c 1 MiB (tmpfs of y", "size=", "x.profile:4",
                  "y.profile:5"))
    p.fs("y", "tmpfs = /opt/b size=100M", "tmpfs = /opt/c size=8K")
    p.refused("S39 and so it does with carrel's own", "--no-defaults",
              "-p", "@sys", "-p", "x", "-p", "y", has=(
                  "/opt/a 600 MiB (tmpfs of x", "/opt/b 100 MiB (tmpfs of y",
                  "/opt/c 1 MiB (tmpfs of y", "/tmp 256 MiB (carrel)",
                  "size=", "x.profile:4", "y.profile:5"))
    p.fs("y", "tmpfs = /opt/b size=50M")
    p.runs("S39 control: 650M are fine", "--no-defaults", "-p", "@sys", "-p",
           "x", "-p", "y")
    # S54
    p.unprofile("y")
    p.fs("x", "read = /usr/share -> %s/a" % p.home,
         "read = /usr/lib -> %s/b" % p.home)
    says(p, "S54 HOME that nothing grants counts what is in it",
         "--no-defaults", "-p", "@sys", "-p", "x",
         has=(r"HOME=%s .*<- not granted \(2 grants inside\)" % p.home,))
    says(p, "S54 PATH and SHELL too", "--no-defaults", "-p", "x",
         has=(r"element +/usr/bin .*<- not granted \(0 grants inside\)",
              r"SHELL=.*<- not granted \(0 grants inside\)"))
    says(p, "S54 control: with the defaults HOME, PATH and SHELL are there",
         has=("HOME=", "PATH="), hasnt=("not granted \\(",))
    # S33
    os.makedirs(p.top + "/data/sub")
    p.fs("x", "read = %s/data" % p.top)
    p.fs("y", "tmpfs = %s/data/sub" % p.top)
    p.refused("S33 both sides are named", "-p", "x", "-p", "y", has=(
        "%s/data/sub" % p.top, "inside", "tmpfs of y", "y.profile:4",
        "read of x", "x.profile:4"))
    p.fs("y", "tmpfs = /opt/data/sub")
    p.runs("S33 control: elsewhere", "-p", "x", "-p", "y")
    p.unprofile()


with Place() as place:
    commands(place)
    sockets(place)
    devices(place)
    rest(place)
    trusted(place)
made_first()
with Place() as place:
    etc_of_the_host(place)
ok(not gone(1), "nothing runs after all this", gone(0))
done()
