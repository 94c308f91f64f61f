"""Selections of profiles out of a seeded generator. What it draws from is
small, so that things meet: the same paths, names and values come again."""
import os

from model import Selection

HERE = os.path.dirname(os.path.abspath(__file__))
SHIPPED = {}
for _n in ("sys", "home", "target", "own-home", "parent", "rust", "net",
           "tmp-shared"):
    with open("%s/../../profiles/%s.profile" % (HERE, _n)) as _f:
        SHIPPED[_n] = _f.read()

WORLD = {}
for _p in """/ /usr /usr/bin /usr/lib /usr/share /usr/local /usr/local/go
/usr/local/go/bin /opt /opt/a /opt/a/bin /opt/a/lib /opt/b /opt/b/bin /home
/home/u /home/u/proj /home/u/proj/sub /home/u/proj/sub/deep /home/u/proj/out
/home/u/data /home/u/data/x /home/u/.cargo /home/u/.cargo/bin /home/u/.config
/home/u/.config/carrel /home/u/.config/carrel/profiles.d /home/u/.local
/home/u/.local/state /home/u/.local/state/carrel /srv /srv/x /srv/x/y /srv/x/y/z
/srv/w /etc /etc/ssl /etc/ssl/certs /etc/carrel /var /var/lib /var/lib/db
/run /run/u /dev /tmp /data""".split():
    WORLD[_p] = "d"
WORLD.update({
    "/usr/bin/tool": "x", "/usr/bin/python3": "x", "/opt/a/bin/tool": "x",
    "/opt/a/text": "f", "/home/u/data/f": "f", "/home/u/proj/run": "x",
    "/etc/passwd": "f", "/etc/hosts": "f", "/etc/resolv.conf": "l/run/u/res",
    "/run/u/res": "f", "/etc/services": "f", "/etc/localtime": "l/usr/share/z",
    "/usr/share/z": "f", "/run/s.sock": "s", "/run/u/agent": "s",
    "/srv/fifo": "p", "/dev/kvm": "c", "/dev/sda": "b", "/dev/fuse": "c",
    "/dev/lnk": "l/dev/kvm",
    "/bin": "lusr/bin", "/lib": "lusr/lib", "/srv/ln": "lx/y",
    "/srv/abs": "l/opt/a", "/srv/loop": "lloop", "/srv/dangling": "l/none/x",
    "/srv/up": "l../data", "/home/u/proj/evil": "l/srv/x",
    "/home/u/proj/in": "lsub", "/home/u/link": "ldata",
    "/home/u/data/to-opt": "l/opt/a", "/opt/a/cur": "l/opt/b",
    "/opt/a/usr": "l/usr/lib", "/srv/w/conf": "l/home/u/.config"})
PROTECT = ["/home/u/.config/carrel", "/home/u/.local/state/carrel",
           "/etc/carrel"]

PATHS = """/usr /usr/bin /usr/lib /opt /opt/a /opt/a /opt/a/bin /opt/a/bin
/opt/a/lib /opt/b /opt/b/bin /srv /srv/x /srv/x /srv/x/y /srv/x/y/z /srv/w
{home}/data {home}/data {home}/data/x {target} {target}/sub {target}/sub/deep
{target}/out /var/lib/db /data /etc/hosts /etc/services {home}/.cargo
/opt/a/text {home}/data/f""".split()
ODD = """/bin /lib /srv/ln /srv/abs /srv/up {target}/evil {target}/evil/y
{target}/in {target}/in/deep {home}/link {home}/link/x {home}/data/to-opt
/opt/a/cur /opt/a/cur/bin /opt/a/usr /srv/loop /srv/dangling /none /opt/none
{home}/data/none {target}/none {target}/sub/none /srv/fifo /run/s.sock
/srv/w/conf /srv/w/conf/carrel /etc /home /run/u/agent {home}
{home}/.config {home}/.config/carrel /etc/carrel /etc/passwd
{target-parent} /opt/a/text/x /srv/ln/z /etc/resolv.conf /etc/localtime
/home/u/.local /home/u/.local/state/carrel /home/u/proj /home/u/proj/sub""" \
    .split()
BAD = """/ /proc /proc/self /dev/kvm /sys/fs relative /a/../b /a//b /a/ {hom}
/a{b /run/carrel /run/carrel/bin {home}x{ "/odd""".split()
GUESTS = """/mnt /mnt/x /mnt/x/y /tmp /tmp/x /desk /desk/a /desk/a/b /opt/a
/opt/b /srv/x /data {home}/data {home}/g /tools /tools/bin {tmp}/y
/etc/hosts /etc /workdir /var/tmp /run /run/x""".split()
BAD_GUESTS = """/ /proc /proc/x /dev/x /sys /run/carrel/bin /run/carrel rel
/a/../b {nope} /mnt/ /dev/kvm""".split()
LISTS = """PATH PATH PATH MANPATH PYTHONPATH PERL5LIB CLASSPATH GOPATH
XDG_DATA_DIRS INFOPATH NODE_PATH PKG_CONFIG_PATH""".split()
SANITISED = """PATH PATH PERL5LIB CLASSPATH GOPATH XDG_DATA_DIRS
INFOPATH""".split()
INHERITED = """EDITOR PAGER NO_COLOR CI COLORTERM LC_ALL LC_TIME FOO BAR
MY_TOKEN A_1""".split()
WRONG_LISTS = "LD_LIBRARY_PATH LD_PRELOAD CDPATH GOFLAGS".split()
ROWS = """EDITOR PAGER NO_COLOR CI COLORTERM LC_ALL LC_TIME XDG_CACHE_HOME
CARGO_HOME BASH_ENV ENV PIP_CONFIG_FILE""".split()
SCALARS = ROWS + ["FOO", "BAR", "MY_TOKEN", "A_1"]
ODD_NAMES = """HOME PATH TERM GH_HOST CARREL_RUN LD_AUDIT GIT_DIR PS2 CARGO_X
npm_config_a NPM_CONFIG_B NPM_CONFIG_USERCONFIG PIP_INDEX_URL PYTHONSTARTUP
BASH_FUNC_x RUSTC_WRAPPER LESSOPEN 1A A-B GIT_CONFIG_SYSTEM LS_COLORS""".split()
VALUES = ["", "1", "vi", "a b", "x;y", "{user}", "{uid}", "{tmp}", "{}", "a{b"]
HOSTENV = {
    "PATH": ["/usr/bin:/opt/a/bin", "/opt/b/bin::.:/proc/self:/usr/bin",
             "/opt/a/bin/:/opt//b/bin:/tmp/x:/mnt/x", "", "/srv/x/../y:/dev/q",
             "/none:/run/carrel/bin:/home/u/data:/desk/a"],
    "PERL5LIB": ["/opt/a/lib", "", "/srv/x:/none"],
    "CLASSPATH": ["/opt/a;/b:/opt/a", "/opt/b:/usr/lib"],
    "GOPATH": ["/home/u/go:/opt/a", ""], "XDG_DATA_DIRS": ["/usr/share:/x"],
    "INFOPATH": ["/opt/a:"], "EDITOR": ["vi", "", "emacs"],
    "PAGER": ["", "1"], "NO_COLOR": ["", "1"], "CI": ["1"],
    "FOO": ["", "vi", "1"], "BAR": ["1"], "MY_TOKEN": ["secret"],
    "LC_ALL": ["C", ""], "A_1": ["a b"]}
EGRESS = """https://example.org:443 https://example.org:443
https://Example.ORG.:443 https://*.example.org:443 tcp://10.1.2.3:22
http://example.org:80 udp://ntp.example.net:123 tls://a.b:1""".split() + [
    "https://git.corp:443 private", "tcp://[2001:db8::1]:22"]
BAD_EGRESS = """https://example.org https://example.org:0 ftp://x.y:21
tcp://0x7f.1:22 tcp://010.1.2.3:22 https://-x.org:443 https://example.org:65536
tcp://[::ffff:1.2.3.4]:22 https://*:443 example.org:443""".split()
LIMITS = [("memory", "64M"), ("memory", "1G"), ("processes", "64"),
          ("cpu", "50%"), ("cpu-time", "30s"), ("cpu-time", "1m"),
          ("wall-time", "5m"), ("wall-time", "500ms"), ("open-files", "256"),
          ("file-size", "1G"), ("core-size", "4096"), ("tmpfs", "2G"),
          ("tmpfs", "600M"), ("tmpfs", "900M")]
BAD_LIMITS = [("memory", "lots"), ("cpu", "50"), ("wall-time", "5"),
              ("nice", "5"), ("processes", "4k"), ("tmpfs", "-1")]


class Writer:
    """One profile being written, a section after the other."""

    def __init__(self, r, layer, wild):
        self.r, self.layer, self.wild = r, layer, wild
        self.lines = []
        self.granted = []

    def odd(self, chance=0.05):
        return self.wild and self.r.random() < chance

    def add(self, key, value):
        self.lines.append("%s = %s" % (key, value))
        if self.odd(0.03):
            self.lines.append(self.r.choice(["", "; a line", "#"]))

    def path(self):
        r = self.r
        if self.layer == "pack" and not self.odd():
            return "/workdir" + r.choice(["/sub", "/out", "/sub/deep", "",
                                          "/none", "/run", "/evil"])
        if self.odd(0.02):
            return r.choice(BAD)
        if self.odd(0.15):
            return r.choice(ODD)
        return r.choice(PATHS)

    def guest(self):
        if self.odd(0.04):
            return self.r.choice(BAD_GUESTS)
        return self.r.choice(GUESTS)

    def bind(self, verb):
        r, p = self.r, self.path()
        if self.layer != "pack" and r.random() < 0.25:
            g = self.guest()
            arrow = " -> " if not self.odd(0.02) else r.choice(["->", " "])
            self.add(verb, p + arrow + g)
            self.granted.append(g)
        else:
            self.add(verb, p)
            self.granted.append(p)

    def fs(self):
        r = self.r
        self.lines.append("[fs]")
        for _ in range(r.choice([1, 1, 2, 2, 3, 5])):
            verb = r.choice(["read"] * 6 + ["write"] * 3 + ["try-read"] * 3 +
                            ["try-write", "tmpfs", "tmpfs", "symlink",
                             "command"])
            if self.odd(0.08):
                verb = r.choice(["socket", "device", "command"])
            if verb in ("read", "write", "try-read", "try-write"):
                self.bind(verb)
            elif verb == "tmpfs":
                g = self.guest()
                self.add(verb, g + r.choice(
                    ["", "", " size=64M", " size=4K", " size=128M"] +
                    [" size=1", " 64M", " size=700M"] * self.odd(0.1)))
                self.granted.append(g)
            elif verb == "symlink":
                self.add(verb, "%s -> %s" % (self.guest(), r.choice(
                    ["/opt/a", "x", "../data", "/none", "{home}/data"])))
            elif verb == "command":
                self.add(verb, r.choice(
                    ["/usr/bin/tool", "/opt/a/bin/tool", "/usr/bin/python3",
                     "{target}/run"]) + r.choice(
                    ["", "", " -> t", " -> tool", " -> other"] +
                    [" -> a/b"] * self.odd(0.1)) if not self.odd() else
                    r.choice(["/opt/a", "/opt/a/text", "/none/t"]))
            elif verb == "socket":
                self.add(verb, r.choice(
                    ["/run/s.sock", "/run/u/agent -> /run/x/agent",
                     "/opt/a/text", "/run/none"]))
            else:
                self.add(verb, r.choice(
                    ["/dev/kvm", "/dev/fuse", "/dev/lnk", "/dev/sda",
                     "/dev/null", "/dev/mem", "/opt/a", "/dev/none"]))

    def value(self, path):
        r = self.r
        if path:
            if self.odd(0.04):
                return r.choice(["", "rel", "/a/../b", "/x:/y", "/none/q",
                                 "{nope}/x"])
            if self.granted and r.random() < 0.96:
                return r.choice(self.granted) + r.choice(["", "", "/bin"])
            return r.choice(PATHS)
        return r.choice(VALUES)

    def one_list(self, verb):
        name = self.r.choice(LISTS if verb != "sanitise" else SANITISED)
        if self.odd(0.04):
            name = self.r.choice(WRONG_LISTS + SCALARS)
        if verb == "sanitise":
            if name not in self.seen:
                self.add(name, "yes" if not self.odd(0.03) else "no")
            self.seen.add(name)
            return
        for _ in range(self.r.choice([1, 1, 2, 3])):
            self.add(name, self.value(True))

    def one_scalar(self, verb):
        r = self.r
        name = r.choice(INHERITED if verb == "inherit" else
                        ROWS if self.layer in ("shipped", "pack") else SCALARS)
        if self.odd(0.06):
            name = r.choice(ODD_NAMES + LISTS)
        if name in self.seen and not self.odd(0.05):
            return
        self.seen.add(name)
        if verb == "inherit":
            self.add(name, "yes" if not self.odd(0.03) else "no")
        else:
            self.add(name, self.value(name.endswith("_HOME") or
                                      name.startswith("PIP_") or
                                      name in ("BASH_ENV", "ENV")))

    def environ(self):
        r = self.r
        for verb in r.sample(["set", "merge", "prepend", "inherit",
                              "sanitise"], r.choice([1, 1, 2, 3])):
            if self.layer in ("shipped", "pack") and not self.odd() and \
                    verb in ("sanitise", "inherit"):
                continue
            if not self.granted and verb in ("merge", "prepend") and \
                    not self.odd(0.2):
                continue
            self.lines.append("[environ.%s]" % verb)
            self.seen = set()
            for _ in range(r.choice([1, 2, 3])):
                if verb in ("set", "inherit"):
                    self.one_scalar(verb)
                else:
                    self.one_list(verb)

    def rules(self):
        r = self.r
        if r.random() < 0.3:
            self.lines.append("[egress]")
            for _ in range(r.choice([1, 1, 2])):
                self.add("allow", r.choice(EGRESS if not self.odd(0.1) else
                                           BAD_EGRESS + ["*"]))
        if r.random() < 0.15:
            self.lines.append("[exec]")
            for key in r.sample(["spawn", "unix", "once"], r.choice([1, 2])):
                self.add(key, ("yes" if key == "once" else "no")
                         if not self.odd(0.1) else "maybe")
            if r.random() < 0.2:
                for _ in range(r.choice([1, 2])):
                    self.add("interpreter", r.choice(
                        ["/usr/bin/python3", "/opt/a/bin/tool"]))
        if r.random() < 0.2:
            self.lines.append("[limits]")
            for key, v in dict(r.sample(
                    LIMITS + BAD_LIMITS * self.odd(0.2), 2)).items():
                self.add(key, v)
        if r.random() < 0.15:
            self.lines.append("[audit]")
            self.add("report", r.choice(["exec", "fs"]))
            if r.random() < 0.5:
                self.add("on-violation", r.choice(["fail", "kill"]))

    def text(self, others):
        r = self.r
        self.lines = ["[profile]"]
        self.add("description", "generated")
        for o in r.sample(others, min(len(others), r.choice([0, 0, 0, 1, 2]))):
            self.add("include", o)
        if self.odd(0.03):
            self.add("include", r.choice(["none", "@none", "Bad", "@sys"]))
        if r.random() < 0.08:
            self.add("tier", r.choice(["side-effect", "unrestricted",
                                       "read-only"]))
        if r.random() < 0.85:
            self.fs()
        if r.random() < 0.6:
            self.environ()
        self.rules()
        if r.random() < 0.08 and self.granted:
            self.lines.append("[tool t]")
            self.add("effect", r.choice(["write", "write", "none",
                                         "network"]))
            self.add("needs", "write " + r.choice(self.granted))
        if self.odd(0.01):
            self.lines.insert(r.randrange(len(self.lines)), r.choice(
                [" indented = x", "no equals", "[fs.deny]", "= x",
                 "[fs]", "mask = /x"]))
        return "\n".join(self.lines) + "\n"


def names_of(r):
    """(layer, name) of the profiles that are written."""
    out = [("user", n) for n in "abcd"[:r.choice([1, 2, 2, 3, 4])]]
    if r.random() < 0.4:
        out.append(("host", "h"))
    if r.random() < 0.1:
        out.append(("shipped", "s"))
    if r.random() < 0.02:
        out.append(("host", "a"))
    return out


def config(r):
    if r.random() < 0.9:
        return None
    return "[carrel]\n" + "".join(
        "defaults = %s\n" % n for n in r.choice(
            [[""], ["@sys"], ["@sys", "@target"], ["a"], ["@sys", "none"]]))


def selection(r):
    """One selection. Most have nothing odd on purpose."""
    s = Selection()
    wild = r.random() < 0.4
    s.nodes, s.protect = dict(WORLD), list(PROTECT)
    for n, text in SHIPPED.items():
        s.files["shipped", n] = text
    here = names_of(r)
    if r.random() < 0.12:
        s.pack = "p"
        here.append(("pack", "p"))
    for layer, name in here:
        others = ["@" + n if la == "shipped" else n for la, n in here
                  if la != "pack" and (n != name or la != layer)]
        if layer == "shipped":
            others = ["@sys", "@home"]
        elif layer == "pack":
            others = ["@sys", "@home", "@rust"] + ["a"] * wild
        elif not (wild and r.random() < 0.1):
            # forward only, so that there is no ring
            others = [o for o in others if o > name or o[0] == "@"]
        s.files[layer, name] = Writer(r, layer, wild).text(others)
    mine = [n if la != "shipped" else "@" + n for la, n in here
            if la != "pack"]
    s.select = r.sample(mine, r.randint(0 if s.pack else 1, len(mine)))
    s.select += r.sample(["@sys", "@home", "@target", "@own-home", "@parent",
                          "@rust", "@tmp-shared", "@net"][:8 if wild else 7],
                         r.choice([0, 0, 0, 1, 2]))
    if wild and r.random() < 0.03:
        s.select.append(r.choice(["zzz", "@a", "sys", "Bad/Name", "@none"]))
    r.shuffle(s.select)
    s.defaults = r.random() < 0.4
    s.config, s.host_config = config(r), config(r)
    s.implied = r.random() < 0.5
    s.target = r.choice(["/home/u/proj"] * 12 + ["/home/u", "/srv/x", "/home",
                                                 "/data", "/etc"])
    s.home = r.choice(["/home/u"] * 20 + ["/usr/local", "/"])
    for n, values in HOSTENV.items():
        if r.random() < 0.6:
            s.env[n] = r.choice(values)
    return s
