"""Resolution of profiles, once more and simply, from carrel's specification
alone. A selection goes in (class Selection); what comes out is either reasons
why there is no run, or the mounts, the environment and what narrows it."""
import posixpath
import re

import reader
import tables

CAP_TMPFS = 1 << 30


class Selection:
    """What one run is made of; files: (layer, name) -> text."""

    def __init__(self):
        self.files, self.select, self.env = {}, [], {}
        self.defaults, self.implied = True, False
        self.pack = self.config = self.host_config = None
        self.home, self.target = "/home/u", "/home/u/proj"
        self.nodes, self.protect = {}, []


class Reason:
    """Why there is no run: words for it (one is enough), whose lines, and
    which of them may stand in front. One that is not firm may be hidden by
    another reason."""

    def __init__(self, kinds, claims, firm=True, front=None):
        self.kinds = {kinds} if isinstance(kinds, str) else set(kinds)
        self.claims, self.firm = frozenset(claims), firm
        self.front = self.claims if front is None else frozenset(front)

    def __repr__(self):
        return "%s%s %s" % ("" if self.firm else "(perhaps) ",
                            "|".join(sorted(self.kinds)),
                            sorted(self.claims))


class Refused(Exception):
    def __init__(self, reasons):
        super().__init__(reasons)
        self.reasons = reasons


def check(reasons):
    if reasons:
        raise Refused(reasons)


def covers(top, path):
    return top == "/" or path == top or path.startswith(top + "/")


def clean(path):
    return path.startswith("/") and len(path) <= 4095 and (
        path == "/" or all(c not in ("", ".", "..") and len(c) <= 255
                           for c in path[1:].split("/")))


def above(path):
    """The paths strictly above, the deepest first."""
    while path != "/":
        path = posixpath.dirname(path)
        yield path


class Grant:
    """What is wanted at one place inside, and by whom."""

    def __init__(self, kind, guest, source, size):
        self.kind, self.guest = kind, guest
        self.source, self.size = source, size
        self.claims = []  # (profile, verb, line)
        self.output = False
        self.own = False
        self.gone = False

    def wish(self):
        return self.kind, self.guest, self.source, self.size

    def lines(self):
        return {(p, line) for p, _, line in self.claims}

    def writes(self):
        return self.kind == "bind" and any(
            v in ("write", "try-write") for _, v, _ in self.claims)

    def optional(self):
        return self.kind == "bind" and not self.own and all(
            v.startswith("try-") for _, v, _ in self.claims)

    def writers(self):
        return {(p, line) for p, v, line in self.claims
                if v in ("write", "try-write")}


class Model:
    def __init__(self, s):
        self.s = s
        self.members, self.flags = {}, {}
        self.grants = []
        self.rules = []  # (profile, key, what, number, text, line)
        self.claims = []  # (verb, name, value or sequence, {(p, line)})
        base = s.home
        if base == "/" or any(covers(d, base) for d in
                              ("/bin", "/etc", "/lib", "/usr", "/sbin")):
            base = "/home/u"
        self.guest_home = base

    # Which profiles take part

    def holds_home(self, d):
        return d != "" and (covers(d, self.s.home) or
                            covers(d, self.guest_home))

    def layer_of(self, name):
        if name[0] == "@":
            return "shipped"
        if name[0] == "+":
            return "pack"
        there = [x for x in ("host", "user") if (x, name) in self.s.files]
        return there[0] if len(there) == 1 else "both" if there else None

    def text_of(self, name):
        layer = self.layer_of(name)
        return self.s.files.get((layer, name.lstrip("@+")))

    def defaults(self):
        s = self.s
        if s.pack:
            return [("@sys", None)]
        if not s.defaults:
            return []
        names = None
        for place in (s.config, s.host_config):
            if place is None or names is not None:
                continue
            got = [(ln.partition("=")[2].strip(), i) for i, ln in
                   enumerate(place.split("\n"), 1)
                   if ln.startswith("defaults")]
            if got:
                names = [g for g in got if g[0] != ""]
        if names is None:
            names = [("@sys", None), ("@home", None), ("@target", None)]
        if s.implied and self.holds_home(s.target):
            names = [n for n in names if n[0] != "@target"]
        return names

    def load(self):
        s, reasons, queue = self.s, [], []
        for n in s.select:
            queue.append((n, "asked", (n, 0)))
        if s.pack:
            queue.append(("+" + s.pack, "asked", ("+" + s.pack, 0)))
        for n, line in self.defaults():
            queue.append((n, "default", ("", line or 0)))
        while queue:
            name, flag, who = queue.pop(0)
            if not re.fullmatch("[@+]?[a-z0-9][a-z0-9-]{0,62}", name):
                reasons.append(Reason("misnamed", {who}))
                continue
            layer = self.layer_of(name)
            if layer == "both":
                if name not in self.flags:
                    reasons.append(Reason("two-layers", {(name, 0)}))
                self.flags.setdefault(name, set()).add(flag)
                continue
            text = self.text_of(name)
            if text is None:
                reasons.append(Reason("no-such", {who}))
                continue
            self.flags.setdefault(name, set()).add(flag)
            if name in self.members:
                continue
            p, fault = reader.read(name, layer, text)
            self.members[name] = p
            if fault:
                reasons.append(Reason(fault[0], {(name, fault[1])}))
                continue
            for inc, line in p.includes:
                queue.append((inc, "implied", (name, line)))
        check(reasons)
        self.judge_includes()

    def closure(self, name):
        seen, queue = {name}, [name]
        while queue:
            for inc, _ in self.members[queue.pop()].includes:
                if inc not in seen:
                    seen.add(inc)
                    queue.append(inc)
        return seen

    def judge_includes(self):
        reasons, cyclic = [], set()
        for name, p in self.members.items():
            if p.layer == "pack":
                for inc, line in p.includes:
                    if not self.members[inc].packs:
                        reasons.append(Reason("not-for-packs", {(name, line)}))
            for inc, line in p.includes:
                if name in self.closure(inc):
                    cyclic.add((name, line))
        if cyclic:
            # one or several rings: each is printed as one
            reasons.append(Reason("cycle", cyclic))
        check(reasons)

    # What they grant

    def expand(self, text, inside):
        """In one pass: what is put in is not looked at again."""
        s = self.s
        what = {"home": self.guest_home if inside else s.home,
                "target": s.target, "user": "u", "uid": "1000", "tmp": "/tmp",
                "target-parent": posixpath.dirname(s.target)}
        out, i = "", 0
        while i < len(text):
            for h, v in what.items():
                if text.startswith("{%s}" % h, i):
                    if h.startswith("target") and s.target == "":
                        raise reader.Fault("no-target")
                    # "/" and what follows it
                    i += len(h) + 2
                    if v == "/" and text[i:i + 1] == "/":
                        v = ""
                    out += v
                    break
            else:
                out += text[i]
                i += 1
        return out

    def guest(self, text):
        g = self.expand(text, True)
        if not clean(g):
            raise reader.Fault("path")
        if g == "/" or any(covers(d, g) for d in
                           ("/proc", "/dev", "/sys", "/run/carrel")):
            raise reader.Fault("reserved")
        return g

    def source(self, text):
        h = self.expand(text, False)
        if not clean(h):
            raise reader.Fault("path")
        if h == "/" or any(covers(d, h) for d in ("/proc", "/dev", "/sys")):
            raise reader.Fault("source")
        return h

    @staticmethod
    def device(path):
        if not clean(path):
            raise reader.Fault("path")
        own = tables.NODES + list(tables.DEV_LINKS) + ["pts", "shm"]
        if not path.startswith("/dev/") or \
                any(covers("/dev/" + n, path) for n in own) or \
                path in ("/dev/mem", "/dev/kmem", "/dev/port", "/dev/core",
                         "/dev/kcore"):
            raise reader.Fault("device")
        return path

    def make(self, p, verb, left, right, size):
        if verb == "tmpfs":
            return Grant("tmpfs", self.guest(left), "", size)
        if verb == "symlink":
            return Grant("symlink", self.guest(left),
                         self.expand(right, True), 0)
        if verb == "device":
            d = self.device(self.expand(left, False))
            return Grant("device", d, d, 0)
        if p.layer == "pack":
            src = self.s.target + left[len("/workdir"):]
            return Grant("bind", self.guest(left), self.source(src), 0)
        src = self.source(left)
        if verb == "command":
            name = posixpath.basename(src) if right is None else \
                self.expand(right, True)
            if "/" in name or name in ("", ".", ".."):
                raise reader.Fault("command")
            return Grant("command", "/run/carrel/bin/" + name, src, 0)
        kind = "socket" if verb == "socket" else "bind"
        return Grant(kind, self.guest(right if right is not None else left),
                     src, 0)

    def is_output(self, p, guest):
        """A tool of the same profile says that it writes there."""
        for t in p.tools.values():
            if t["effect"] == "write":
                for need, _ in t["needs"]:
                    word, _, path = need.partition(" ")
                    if word == "write" and covers(
                            self.expand(path.strip('"'), True), guest):
                        return True
        return False

    def judge_tools(self, reasons):
        """What a tool needs is named by a path inside."""
        for name, p in self.members.items():
            for t in p.tools.values():
                for need, line in t["needs"]:
                    try:
                        path = self.expand(need.partition(" ")[2].strip('"'),
                                           True)
                        if not clean(path):
                            raise reader.Fault("path")
                    except reader.Fault as f:
                        reasons.append(Reason(f.kinds, {(name, line)}))

    def gather(self, reasons):
        wishes = {}
        for name in sorted(self.members):
            p = self.members[name]
            lines = list(p.grants)
            if p.layer == "pack":
                lines.insert(0, ("read", "/workdir", None, 0, 0))
            for verb, left, right, size, line in lines:
                try:
                    g = self.make(p, verb, left, right, size)
                except reader.Fault as f:
                    reasons.append(Reason(f.kinds, {(name, line)}))
                    continue
                g = wishes.setdefault(g.wish(), g)
                g.claims.append((name, verb, line))
                g.output = g.output or (verb.endswith("write") and
                                        self.is_output(p, g.guest))
        self.grants = sorted(wishes.values(),
                             key=lambda g: g.guest.split("/"))

    def at(self, guest):
        return [g for g in self.grants if g.guest == guest]

    def judge_places(self, reasons):
        by = {}
        for g in self.grants:
            by.setdefault(g.guest, []).append(g)
        for guest, here in by.items():
            up = next((by[a] for a in above(guest) if a in by), None)
            if len(here) > 1:
                reasons.append(Reason("conflict", set().union(
                    *(g.lines() for g in here))))
                continue
            if up is None or len(up) > 1:
                continue
            g, a = here[0], up[0]
            if a.kind == "tmpfs":
                continue
            if a.kind == "bind" and g.kind in ("bind", "socket") and \
                    a.source + guest[len(a.guest):] == g.source:
                continue
            reasons.append(Reason("hidden", g.lines() | a.lines()))

    # What the environment is

    def covered(self, name, path):
        """The profile and what it includes grant it; links by name first."""
        inside = self.closure(name)
        mine = [g for g in self.grants
                if any(p in inside for p, _, _ in g.claims)]
        links = {g.guest: g.source for g in mine if g.kind == "symlink"}
        others = {g.guest for g in mine if g.kind != "symlink"}
        for _ in range(41):
            at = next((x for x in [path] + list(above(path)) if x in links),
                      None)
            if at is None:
                return any(x in others for x in [path] + list(above(path)))
            path = posixpath.normpath(posixpath.join(
                posixpath.dirname(at), links[at]) + path[len(at):])
            if path.startswith("//"):
                path = path[1:]
        return False

    def variable(self, p, verb, name, value, line, coupled):
        """The value of one line of [environ.*], judged."""
        path = tables.path_valued(name)
        if path:
            if value == "":
                raise reader.Fault("empty")
            reader.check_holders(value)
        else:
            for w in re.findall(r"\{([a-z-]+)\}", value):
                if w not in reader.HOLDERS:
                    raise reader.Fault("placeholder")
        value = self.expand(value, True)
        if path and not clean(value):
            raise reader.Fault("path")
        if name in tables.LISTS:
            sep, alt = tables.LISTS[name][:2]
            if sep in value or alt and alt in value:
                raise reader.Fault("separator")
        if path and coupled and name not in tables.UNCOUPLED and \
                not self.covered(p.name, value):
            raise reader.Fault("uncovered")
        return value

    def gather_environ(self, reasons, coupled):
        claims = {}
        for name in sorted(self.members):
            p, fronts = self.members[name], {}
            for verb, var, value, line in p.env:
                if verb in ("inherit", "sanitise"):
                    claims.setdefault((verb, var, ()), set()).add((name, line))
                    continue
                try:
                    value = self.variable(p, verb, var, value, line, coupled)
                except reader.Fault as f:
                    reasons.append(Reason(f.kinds, {(name, line)}))
                    continue
                if verb == "prepend":
                    fronts.setdefault(var, (line, []))[1].append(value)
                    continue
                key = verb, var, (value,)
                if not any(n == name for n, _ in claims.get(key, ())):
                    claims.setdefault(key, set()).add((name, line))
            for var, (line, values) in fronts.items():
                claims.setdefault(("prepend", var, tuple(values)),
                                  set()).add((name, line))
        self.claims = claims

    def of(self, *verbs_and_name):
        *verbs, name = verbs_and_name
        return [(k, c) for k, c in self.claims.items()
                if k[0] in verbs and k[1] == name]

    def judge_environ(self, reasons):
        for name in {k[1] for k in self.claims}:
            if len(self.of("set", name)) > 1:
                reasons.append(Reason("set-apart", set().union(
                    *(c for _, c in self.of("set", "inherit", name)))))
            if len(self.of("prepend", name)) > 1:
                reasons.append(Reason("fronts", set().union(
                    *(c for _, c in self.of("prepend", name)))))

    # What narrows

    def gather_rules(self, reasons):
        bad = False
        for name in sorted(self.members):
            p, seen = self.members[name], set()
            for key, what, number, text, line in p.rules:
                if key in ("interpreter", "library"):
                    try:
                        text = self.expand(text, True)
                        if not clean(text) or text == "/":
                            raise reader.Fault("path")
                    except reader.Fault as f:
                        reasons.append(Reason(f.kinds, {(name, line)}))
                        bad = True
                        continue
                # what a profile says twice it says once
                if (key, what, number, text) in seen:
                    continue
                seen.add((key, what, number, text))
                self.rules.append((name, key, what, number, text, line))
            if p.layer == "pack":
                self.rules += [(name, "unix", 0, 0, "", 0),
                               (name, "report", 2, 0, "", 0),
                               (name, "on-violation", 0, 2, "", 0)]
        return bad

    def common(self, key):
        """The intersection of those that name any, or None."""
        sets = {}
        for name, k, _, _, text, _ in self.rules:
            if k == key:
                sets.setdefault(name, set()).add(text)
        return set.intersection(*sets.values()) if sets else None

    def judge_rules(self, reasons):
        for key in ("interpreter", "library"):
            if self.common(key) == set():
                reasons.append(Reason("none-left", {
                    (r[0], r[5]) for r in self.rules if r[1] == key}))
                return

    def least(self, key, what=0):
        got = [r[3] for r in self.rules if r[1] == key and
               (key not in reader.LIMITS or r[2] == what)]
        return min(got) if got else None

    def judge_tier(self, reasons):
        tier = self.least("tier")
        for name, key, what, number, _, line in self.rules:
            if key == "allow" and (tier == 1 or
                                   number == "*" and tier != 3):
                reasons.append(Reason("tier", {(name, line)}))
        for name, p in self.members.items():
            own = [r for r in p.rules if r[0] == "tier"]
            for t in p.tools.values() if own and own[0][2] == 1 else ():
                if t["effect"] == "network":
                    reasons.append(Reason("tier", {(name, t["line"])}))
        if tier != 1:
            return
        for g in self.grants:
            if g.kind in ("socket", "device"):
                reasons.append(Reason("tier", g.lines()))
            elif g.writes() and not g.output:
                reasons.append(Reason("tier", g.writers()))
        for (verb, _, _), c in self.claims.items():
            if verb in ("inherit", "sanitise"):
                reasons.append(Reason("tier", c))

    def judge_target(self):
        reasons, s = [], self.s
        parent = posixpath.dirname(s.target)
        for name, d in (("@target", s.target),
                        ("@parent", parent)):
            if name in self.members and s.target and self.holds_home(d):
                reasons.append(Reason("home", {(name, 0)}))
        if "@target" in self.members and s.target == "/etc":
            reasons.append(Reason("home", {("@target", 0)}))
        return reasons

    def judge_pack_exec(self, reasons):
        for name, key, _, _, text, line in self.rules:
            if key in ("interpreter", "library") and name[0] == "+":
                inside = self.closure(name) | {"@sys"}
                inside.discard(name)
                if not any(covers(g.guest, text) and g.kind != "symlink" and
                           any(p in inside for p, _, _ in g.claims)
                           for g in self.grants):
                    reasons.append(Reason("pack", {(name, line)}))

    def resolve(self):
        s = self.s
        self.load()
        if s.pack and (self.holds_home(s.target) or s.target == ""):
            raise Refused([Reason("pack-target", {("+" + s.pack, 0)})])
        home = self.judge_target()
        lines, places, tiers = [], [], []
        self.gather(lines)
        self.judge_tools(lines)
        self.gather_environ(lines, not lines)
        self.judge_environ(places)
        if not self.gather_rules(lines):
            self.judge_rules(places)
        if not lines and not places:
            self.judge_pack_exec(places)
        # where something is wrong already, no more needs to be told
        self.judge_tier(tiers)
        for r in tiers:
            r.firm = not (home or lines or places)
        shape = []
        self.judge_places(shape)
        for r in shape:
            r.firm = not home
        check(home + lines + places + tiers + shape)
        total = sum(g.size for g in self.grants)
        if total > (self.least("tmpfs", 9) or CAP_TMPFS):
            raise Refused([self.sum_reason()])

    def sum_reason(self):
        """S39: all that have a size, and who limits them."""
        who = {(r[0], r[5]) for r in self.rules if r[1] == "tmpfs"}
        return Reason("sum", who.union(
            *(g.lines() for g in self.grants if g.size)))
