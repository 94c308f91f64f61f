#!/usr/bin/python3
"""What is shipped below share/carrel/etc works as it says: with rsyslogd,
logrotate, the parser of AppArmor and systemd's of accounts and directories."""
from tap import *

ETC = INST + "/share/carrel/etc/"
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


def tool(name, test):
    if shutil.which(name, path=PATH) is None:
        skip(test, "no " + name)
        return None
    return shutil.which(name, path=PATH)


def by_root(argv, **kw):
    with root():
        return finish(subprocess.Popen(argv, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, cwd="/", **kw))


SEND = """import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.connect(sys.argv[1])
for x in sys.argv[2:]: s.send(x.encode())
"""


def rsyslog(daemon):
    """S104: what the kernel stamped decides, and not what is said."""
    with root():
        top = tempfile.mkdtemp(prefix="carrel-log.")
        os.chmod(top, 0o755)
        sample = open(ETC + "rsyslog.d/carrel.conf").read()
        line = re.search(r"module\(load=\"imuxsock\".*\)", sample)[0]
        with open(top + "/conf", "w") as f:
            f.write('global(workDirectory="%s")\n' % top)
            f.write(line.replace(")", ' SysSock.Name="%s/socket")\n' % top))
            f.write(sample.replace("/var/log/", top + "/"))
            f.write('*.* action(type="omfile" file="%s/rest")\n' % top)
        proc = subprocess.Popen([daemon, "-n", "-f", top + "/conf", "-i",
                                 top + "/pid"], stderr=subprocess.PIPE)
    try:
        until(lambda: os.path.exists(top + "/socket"))
        with root():
            os.chmod(top + "/socket", 0o666)
        send = [sys.executable, "-c", SEND, top + "/socket"]
        by_root(send + ['<86>Dec  1 00:00:00 carrel[1]: event="start" run="a"',
                        "<86>Dec  1 00:00:00 other[1]: not ours",
                        "<14>Dec  1 00:00:00 carrel[1]: another facility"])
        finish(start(send + [
            '<86>Dec  1 00:00:00 carrel[1]: event="end" run="a" uid="0"',
            '<86>Dec  1 00:00:00 carrel[1]: @cee: {"uid": "0"} $!uid=0'],
            dict(PATH=PATH), "/"))

        def read(name):
            with root(), contextlib.suppress(FileNotFoundError):
                return open(top + "/" + name).read()
            return ""
        until(lambda: read("carrel-users.log").count("\n") == 2 and
              "facility" in read("rest"))
        trusted, users = read("carrel.log"), read("carrel-users.log")
        ok(trusted.count("\n") == 1 and ' uid=0  event="start" run="a"' in
           trusted, "S104 rsyslog: a record of root's", trusted, users)
        ok(users.count("\n") == 2 and users.count(" uid=%d " % UID) == 2,
           "S104 rsyslog: a user's is told apart, whatever it says", users)
        rest = read("rest")
        ok("not ours" in rest and "another facility" in rest and
           "event=" not in rest, "S104 rsyslog: the rest goes where it went",
           rest)
    finally:
        with root():
            proc.kill()
            proc.communicate()
            shutil.rmtree(top, ignore_errors=True)


def logrotate(program):
    with root():
        top = tempfile.mkdtemp(prefix="carrel-log.")
        text = open(ETC + "logrotate.d/carrel").read()
        text = text.replace("/var/log/", top + "/").replace("weekly", "size 1")
        with open(top + "/conf", "w") as f:
            f.write(text)
        with open(top + "/carrel.log", "w") as f:
            f.write("a record\n")
    r = by_root([program, "-s", top + "/state", top + "/conf"])
    with root():
        left = os.stat(top + "/carrel.log")
        ok(r.code == 0 and not r.err and left.st_size == 0 and
           left.st_mode & 0o777 == 0o640 and
           open(top + "/carrel.log.1").read() == "a record\n",
           "S104 logrotate", r)
        shutil.rmtree(top)


def apparmor(program):
    """Before 4.0 a parser knows neither that abi nor userns."""
    text = open(ETC + "apparmor.d/carrel").read()
    ok("profile carrel %s/bin/carrel" % INST.replace(STAGE + "/inst", "") in
       text and "userns," in text and "@" not in text,
       "AppArmor: this installation, and userns", text)
    if not os.path.exists("/etc/apparmor.d/abi/4.0"):
        text = text.replace("abi <abi/4.0>,", "").replace("userns,", "")
    with tempfile.NamedTemporaryFile("w", suffix=".aa") as f:
        f.write(text)
        f.flush()
        os.chmod(f.name, 0o644)
        r = by_root([program, "-Q", "-K", f.name])
        ok(r.code == 0, "AppArmor: it is read", r)
    with tempfile.NamedTemporaryFile("w", suffix=".aa") as f:
        f.write(text.replace("profile carrel", "profil carrel"))
        f.flush()
        r = by_root([program, "-Q", "-K", f.name])
        ok(r.code != 0, "AppArmor: control, a mistake is not", r)


def accounts(program):
    with root():
        top = tempfile.mkdtemp(prefix="carrel-root.")
        os.mkdir(top + "/etc")
    for i in range(2):
        r = by_root([program, "--root", top, ETC + "sysusers.d/carrel.conf"])
    with root():
        try:
            passwd = open(top + "/etc/passwd").read()
        except OSError:
            passwd = ""
        ok(r.code == 0 and re.fullmatch(
            r"_carrel:x:\d+:\d+:[^:]*:/var/lib/carrel:/usr/sbin/nologin\n",
            passwd), "sysusers: the account, once", r, passwd)
        shutil.rmtree(top)


if not IS_ROOT:
    skip("samples", "needs root")
    done()
for name, test in (("rsyslogd", rsyslog), ("logrotate", logrotate),
                   ("apparmor_parser", apparmor),
                   ("systemd-sysusers", accounts)):
    found = tool(name, test.__name__)
    if found:
        test(found)
done()
