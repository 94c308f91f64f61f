#!/usr/bin/python3
"""What the kernel sees is what the screen said (S5, S90): generated policies
over a tree of the host, of each the rows of explain --json beside a payload's
mounts, opens, writes, executions, environment and listeners. CARREL_T_SAME
says how many."""
import json
import shutil
import socket
from tap import *

R = rng()
COUNT = int(os.environ.get("CARREL_T_SAME") or 40)
INSIDE = HELPERS + "/inside"
DIRS = ["a", "a/bin", "a/lib", "a/lib/deep", "b", "b/bin", "c", "c/d", "c/d/e",
        "home/data", "home/data/x", "home/proj/sub", "home/proj/sub/deep",
        "home/proj/out"]
LINKS = {"a/cur": "lib", "ln": "a", "c/far": "../b", "home/proj/in": "sub"}
PLACES = ["/mnt", "/mnt/x", "/mnt/x/y", "/tmp", "/tmp/x", "/desk", "/desk/a",
          "/tools", "/etc/tools", "/run/x", "/var/tmp", "/etc/hosts"]
HOSTENV = {"NO_COLOR": "", "CI": "1", "FOO": "a b", "PAGER": "less -R",
           "MY_TOKEN": "s3cret\\x", "LC_ALL": "C",
           "PERL5LIB": "/desk:/usr/lib:/none:/tmp/q", "GOPATH": "/mnt/x"}
EGRESS = ["https://a.example:443", "tcp://b.example:2222",
          "udp://c.example:1123", "http://a.example:80",
          "https://*.d.example:8443"]


def make_tree(p):
    for d in DIRS:
        p.write("%s/%s/f" % (p.top, d), "text\n")
        shutil.copy(INSIDE, "%s/%s/run" % (p.top, d))
        os.chmod("%s/%s/run" % (p.top, d), 0o755)
    for name, to in LINKS.items():
        os.symlink(to, "%s/%s" % (p.top, name))
    s = socket.socket(socket.AF_UNIX)
    s.bind(p.top + "/sock")
    return s


class Policy:
    """A few profiles, as they are written."""

    def __init__(self, p):
        self.p, self.granted = p, []

    def path(self):
        r = R.random()
        if r < 0.08:
            return "%s/%s" % (self.p.top, R.choice(list(LINKS)))
        if r < 0.13:
            return self.p.top + R.choice(["/none", "/a/none", "/c/d/none"])
        if r < 0.25:
            return "%s/%s/%s" % (self.p.top, R.choice(DIRS),
                                 R.choice(["f", "run"]))
        return "%s/%s" % (self.p.top, R.choice(DIRS))

    def fs(self):
        out = ["[fs]"]
        for _ in range(R.choice([1, 2, 3, 4])):
            verb = R.choice(["read"] * 5 + ["write"] * 3 + ["try-read"] * 3 +
                            ["try-write", "tmpfs", "symlink", "command",
                             "socket"])
            place = R.choice(PLACES)
            if verb == "tmpfs":
                out.append("tmpfs = %s size=%dM" % (place, R.choice([1, 8])))
            elif verb == "symlink":
                out.append("symlink = %s -> %s" % (place, self.path()))
                continue
            elif verb == "command":
                out.append("command = %s/%s/run -> c%d" % (
                    self.p.top, R.choice(DIRS), R.randrange(3)))
                continue
            elif verb == "socket":
                out.append("socket = %s/sock -> /run/s" % self.p.top)
                continue
            elif R.random() < 0.4:
                out.append("%s = %s -> %s" % (verb, self.path(), place))
            else:
                place = self.path()
                out.append("%s = %s" % (verb, place))
            self.granted.append(place)
        return out

    def environ(self):
        out = []
        if R.random() < 0.5:
            out += ["[environ.inherit]"] + [
                n + " = yes" for n in R.sample(
                    ["NO_COLOR", "CI", "FOO", "PAGER", "MY_TOKEN", "LC_ALL",
                     "BAR"], 2)]
        if R.random() < 0.3:
            out += ["[environ.set]", "EDITOR = " + R.choice(
                ["vi", "", "x y", "a\\b"])]
        if R.random() < 0.4 and self.granted:
            out += ["[environ.%s]" % R.choice(["merge", "prepend"])]
            out += ["%s = %s" % (R.choice(["PATH", "PERL5LIB", "GOPATH"]),
                                 R.choice(self.granted))]
        if R.random() < 0.2:
            out += ["[environ.sanitise]",
                    R.choice(["PATH", "PERL5LIB", "GOPATH"]) + " = yes"]
        return out

    def text(self):
        out = ["[profile]", "description = generated"] + self.fs()
        out += self.environ()
        if R.random() < 0.2:
            out += ["[egress]"] + ["allow = " + a for a in
                                   R.sample(EGRESS, R.choice([1, 2]))]
        return "\n".join(out) + "\n"


# What the screen says

def rows_of(j, title):
    return [r for b in j["blocks"] if b["title"] == title for r in b["rows"]]


def unescape(text):
    return re.sub(r"\\(x([0-9a-f]{2})|\\)",
                  lambda m: chr(int(m[2], 16)) if m[2] else "\\", text)


class Screen:
    def __init__(self, j):
        self.at = {}  # place -> (tag, source or text)
        for r in rows_of(j, "FILESYSTEM"):
            tag, text = r["tag"], r["text"]
            if tag in ("dirs", "absent", "same"):
                continue
            if tag == "dev":
                self.dev = text.partition(": ")[2].split()
                continue
            if tag == "proc":
                self.proc = text.partition(": ")[2].replace(
                    " (ro)", "").split()
                continue
            place = r.get("path") or re.split(" of |, | -> ", text)[0]
            what = r.get("source", "")
            if tag == "link":
                what = text.partition(" -> ")[2]
            elif tag == "tmpfs" and text.endswith("read-only"):
                what = "ro"
            self.at[place] = (tag, what)
        for r in rows_of(j, "COMMANDS"):
            m = re.fullmatch(r"(\S+) from (\S+)", r["text"])
            self.at[m[1]] = ("ro", m[2])
        self.env = {r["name"]: unescape(r["value"]) if "value" in r else None
                    for r in rows_of(j, "ENVIRONMENT") if r["tag"] == "set"}
        self.net = [r["text"].split(",")[0].split(" ")[0]
                    for r in rows_of(j, "NETWORK") if r["tag"] == "allow"]

    def deepest(self, path):
        while path not in self.at:
            path = os.path.dirname(path)
        return (path,) + self.at[path]

    def expect(self, path):
        """type, and the results of reading, writing and executing."""
        place, tag, what = self.deepest(path)
        rest = path[len(place):] if place != "/" else path
        if tag in ("ro", "rw"):
            return self.in_bind(what + rest, tag == "rw")
        if tag == "pin":
            up = self.deepest(os.path.dirname(place))
            while up[1] == "pin":
                up = self.deepest(os.path.dirname(up[0]))
            return self.in_bind(up[2] + path[len(up[0]):], True)
        if rest not in ("", "/"):
            if tag == "tmpfs":
                return self.in_tmpfs(path, what == "ro")
            return None  # through a link, or below a file
        if tag == "link":
            return ("l", "ELOOP", "-", "-")
        if tag == "made":
            return ("f", "OK", "EACCES", "-")  # its mode is 0444
        if tag == "tmpfs":
            return ("d", "OK", "EROFS" if what == "ro" else "OK", "-")
        if tag == "socket":
            return ("s", "ENXIO", "-", "-")
        return None

    def in_tmpfs(self, path, ro):
        """Nothing is there but the directories that lead to others."""
        if any(p.startswith(path + "/") for p in self.at):
            return ("d", "OK", "EROFS" if ro else "OK", "-")
        up = os.path.dirname(path)
        if up not in self.at and not any(
                p.startswith(up + "/") for p in self.at):
            return ("ENOENT", "ENOENT", "ENOENT", "-")
        return ("ENOENT", "ENOENT", "EROFS" if ro else "OK", "-")

    @staticmethod
    def in_bind(source, rw):
        top = os.path.realpath(source)
        if source != top and os.path.realpath(os.path.dirname(source)) + \
                "/" + os.path.basename(source) != top:
            return None  # through a link that may lead elsewhere inside
        ro = "OK" if rw else "EROFS"
        if os.path.isdir(top):
            return ("d", "OK", ro, "-")
        if os.path.isfile(top):
            x = os.access(top, os.X_OK, effective_ids=True)
            if not os.access(top, os.W_OK, effective_ids=True):
                ro = "EACCES"  # the mode is asked first
            return ("x" if x else "f", "OK", ro, "OK" if x else "-")
        if os.path.isdir(os.path.dirname(top)) and not os.path.lexists(top):
            return ("ENOENT", "ENOENT", ro, "-")
        return None


# What the kernel says

def sections(out):
    found, now = {}, None
    for line in out.split("\n"):
        if line.startswith("== "):
            now = found.setdefault(line[3:], [])
        elif now is not None and line:
            now.append(line)
    return found


def outside_mounts():
    found = []
    for line in mounts().splitlines():
        f = line.split(" ")
        found.append((f[4], f[3], f[2]))
    return found


HOST = outside_mounts()


def in_filesystem(real):
    """(device, path in it) of a path of the host, as mountinfo has it."""
    best = max((m for m in HOST if m[0] == "/" or real == m[0] or
                real.startswith(m[0] + "/")), key=lambda m: len(m[0]))
    rest = real[len(best[0]):] if best[0] != "/" else real
    return best[2], (best[1].rstrip("/") + rest) or "/"


def judge_mounts(screen, lines):
    bad, seen = [], set()
    for line in lines:
        f = line.split(" ")
        place, opts, kind = f[4], f[5].split(","), f[f.index("-") + 1]
        seen.add(place)
        if "nosuid" not in opts:
            bad.append("%s is not nosuid" % place)
        if place.startswith(("/dev/", "/proc")) or place == "/dev":
            name = place.split("/", 2)[2] if place.count("/") > 1 else ""
            if name and name not in (screen.dev if place[1] == "d"
                                     else screen.proc):
                bad.append("%s is on no screen" % place)
            continue
        if "nodev" not in opts:
            bad.append("%s is not nodev" % place)
        tag, what = screen.at.get(place, ("none", ""))
        if tag == "none":
            bad.append("%s (%s) is on no screen" % (place, kind))
        elif tag in ("ro", "rw"):
            want = in_filesystem(os.path.realpath(what))
            if (f[2], f[3]) != want:
                bad.append("%s is %s of %s, not %s" % (
                    place, f[3], f[2], want))
            if opts[0] != tag:
                bad.append("%s is %s, the screen says %s" % (
                    place, opts[0], tag))
        elif tag == "tmpfs":
            if kind != "tmpfs" or (opts[0] == "ro") != (what == "ro"):
                bad.append("%s: %s %s" % (place, kind, opts))
        elif tag == "pin" and opts[0] != "rw" or \
                tag not in ("pin", "socket"):
            bad.append("%s is a mount, the screen says %s" % (place, tag))
    for place, (tag, _) in screen.at.items():
        if tag in ("ro", "rw", "tmpfs", "pin", "socket") and \
                place not in seen:
            bad.append("%s is on the screen, and no mount" % place)
    return bad


def judge_env(screen, lines):
    got = dict(unescape(x).split("=", 1) for x in lines)
    bad = ["%s: on one side only" % n for n in set(got) ^ set(screen.env)]
    for n in set(got) & set(screen.env):
        want = screen.env[n]
        if n == "CARREL_RUN":
            good = re.fullmatch("[0-9a-f]{32}", got[n])
        elif want is None:  # a credential: no screen has it
            good = got[n] == HOSTENV[n]
        else:
            good = got[n] == want
        if not good:
            bad.append("%s is %r, the screen says %r" % (n, got[n], want))
    return bad


def ports(lines, state):
    out = set()
    for line in lines[1:]:
        f = line.split()
        if f[3] == state:
            out.add(int(f[1].rpartition(":")[2], 16))
    return out


def judge_net(screen, s):
    tcp, udp = set(), set()
    for allow in screen.net:
        scheme, _, place = allow.partition("://")
        if "*" not in place:  # those are made when somebody asks
            (udp if scheme == "udp" else tcp).add(
                int(place.rpartition(":")[2]))
    if screen.net:
        tcp.add(53)
        udp.add(53)
    bad = []
    for want, four, six, state in ((tcp, "tcp", "tcp6", "0A"),
                                   (udp, "udp", "udp6", "07")):
        got = ports(s[four], state) | ports(s[six], state)
        if got != want:
            bad.append("%s: %s, the screen says %s" % (
                four, sorted(got), sorted(want)))
    names = [x.split(":")[0].strip() for x in s["interfaces"][2:]]
    if names != ["lo"]:
        bad.append("interfaces: %s" % names)
    return bad


def judge_paths(screen, lines):
    bad, n = [], 0
    for line in lines:
        path, *got = line.split("\t")
        if path[:1] != "/":
            return ["the payload says %r" % line], n
        want = screen.expect(path)
        if want is not None:
            n += 1
            if tuple(got) != want:
                bad.append("%s: %s, the screen says %s" % (path, got, want))
    return bad, n


def paths_to_try(p, screen):
    out = set(screen.at)
    for place, (tag, source) in screen.at.items():
        if tag in ("ro", "rw", "tmpfs") and place != "/":
            out |= {place + x for x in ("/f", "/run", "/none", "/sub")}
        out.add(os.path.dirname(place))
    for d in DIRS:
        out |= {"%s/%s%s" % (p.top, d, x) for x in ("", "/f", "/run")}
    out |= {p.top, p.top + "/sock", "/etc/passwd", "/etc/shadow", "/root",
            "/etc/hosts", "/none", "/tmp/f", "/run/carrel/bin/new", "/usr",
            "/home", p.home + "/.config", p.layer + "/a.profile"}
    return sorted(x for x in out if x != "/" and
                  not x.startswith(("/proc", "/dev")))


def one(p, number, tally):
    names = list("abc")[:R.choice([1, 2, 2, 3])]
    for n in names:
        p.profile(n, Policy(p).text())
    options = ["--no-defaults", "-p", "probe"]
    for n in names:
        options += ["-p", n]
    for extra in ("@home", "@target"):
        if R.random() < 0.3:
            options += ["-p", extra]
    env = dict(p.env, **{k: v for k, v in HOSTENV.items()
                         if R.random() < 0.7})
    r = p.do("explain", "--json", *options, "--", "inside", env=env)
    if r.code == OWN:
        tally["refused"] += 1
        run = p.do("run", *options, "--", "inside", env=env)
        return [] if run.code == OWN and MARK not in run.out else [str(run)]
    screen = Screen(json.loads(r.out))
    tries = paths_to_try(p, screen)
    run = p.do("run", *options, "--", "inside", env=env,
               stdin="".join(x + "\0" for x in tries).encode())
    if run.code != 0 or not run.out.startswith(MARK + "\n"):
        return ["the run: %s" % run]
    s = sections(run.out)
    bad, n = judge_paths(screen, s["paths"])
    bad += judge_mounts(screen, s["mounts"]) + judge_env(screen, s["env"])
    bad += judge_net(screen, s)
    tally["accepted"] += 1
    tally["paths"] += n
    tally["mounts"] += len(s["mounts"])
    tally["variables"] += len(s["env"])
    tally["listening"] += bool(screen.net)
    return ["policy %d: %s" % (number, b) for b in bad]


with Place() as p:
    # nothing of the host is known to the kernel by another name
    sock = make_tree(p)
    p.fs("probe", "command = " + INSIDE)
    tally = dict.fromkeys(("accepted", "refused", "paths", "mounts",
                           "variables", "listening"), 0)
    bad, made = [], 0
    while tally["accepted"] < COUNT and made < 20 * COUNT and not bad:
        made += 1
        bad = one(p, made, tally)
        if bad:
            for n in "abc":
                with contextlib.suppress(OSError):
                    with open("%s/%s.profile" % (p.layer, n)) as f:
                        bad += ["--- " + n] + f.read().split("\n")
        p.unprofile(*[x[:-8] for x in os.listdir(p.layer)
                      if x != "probe.profile"])
    ok(not bad and tally["accepted"] == COUNT,
       "S5 S90 R014 %d policies: the kernel sees what the screen said" % COUNT,
       *bad[:38])
    ok(tally["refused"] > COUNT / 10, "S90 and what it refuses does not run",
       tally)
    diag(", ".join("%s %d" % x for x in tally.items()))
    sock.close()
done()
