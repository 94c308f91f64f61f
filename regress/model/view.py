"""The second half of the model: what the host has, and what a sandbox then
holds. See model.py."""
import posixpath

import model
import tables
from model import Grant, Reason, Refused, above, check, covers

OWN_ROOM = (16 << 20) + (64 << 20)  # of "/" and /dev/shm, carrel(7)


class Found:
    """Where a path of the host leads: what is there, and by which links."""

    def __init__(self, nodes, path):
        self.links, self.err, self.real, self.kind = [], None, "", None
        todo = [c for c in path.split("/") if c]
        at = ""
        while todo:
            c = todo.pop(0)
            kind = nodes.get(at or "/")
            if kind is None or kind[0] != "d":
                self.err = "absent"
                return
            if c == "..":
                at = posixpath.dirname(at) if at else ""
                at = "" if at == "/" else at
                continue
            nxt = at + "/" + c
            kind = nodes.get(nxt)
            if kind is None:
                self.err = "absent"
                return
            if kind[0] != "l":
                at = nxt
                continue
            if len(self.links) == 40:
                self.err = "loop"
                return
            self.links.append(nxt)
            todo = [x for x in kind[1:].split("/") if x] + todo
            if kind[1] == "/":
                at = ""
        self.real = at or "/"
        self.kind = nodes[self.real][0]


class Mount:
    """kind, and ro: True, False, or None where nothing is said of it."""

    def __init__(self, kind, ro=None, source="", claims=(), size=0,
                 maybe=False, real=""):
        self.kind, self.ro, self.source = kind, ro, source
        self.claims, self.size = frozenset(claims), size
        self.maybe, self.real = maybe, real


class View(model.Model):
    """What a sandbox of the selection holds: mounts, env, lists, drops."""

    def __init__(self, s):
        super().__init__(s)
        self.mounts, self.absent, self.blamed = {}, set(), []
        self.env, self.lists, self.drops, self.unset = {}, {}, {}, set()

    def protect(self):
        """S7: what the next run trusts is read-only inside."""
        trusted = [(p, False) for p in self.s.protect]
        trusted += [(g.source, True) for g in self.grants
                    if g.kind == "command"]
        reasons, told = [], set()
        own = {}
        writers = [g for g in self.grants if g.writes()]
        for path, _ in sorted(set(trusted)):
            for g in writers:
                if covers(path, g.source):
                    if g.wish() not in told:
                        reasons.append(Reason("trusted", g.writers()))
                    told.add(g.wish())
                elif covers(g.source, path):
                    guest = g.guest + path[len(g.source):]
                    deepest = next(
                        (x[0] for x in (self.at(a) for a in
                                        [guest] + list(above(guest))) if x),
                        None)
                    if deepest is g:
                        own[guest] = path
        check(reasons)
        for guest, path in own.items():
            # within another one of the same write grant it is there already
            if any(a in own for a in above(guest)):
                continue
            g = Grant("bind", guest, path, 0)
            g.own = True
            self.grants.append(g)
        self.grants.sort(key=lambda g: g.guest.split("/"))

    def blame(self, reasons, g, kind, more=()):
        """Of one grant the first reason is enough."""
        mine = g.lines() or self.parent(g).lines()
        reasons.append(Reason(kind, mine.union(more), g not in self.blamed,
                              mine))
        self.blamed.append(g)

    def judge_type(self, g):
        kind = g.found.kind
        if g.kind == "bind":
            return kind in "dfx"
        if g.kind == "socket":
            return kind == "s"
        if g.kind == "command":
            return kind == "x"
        return kind == "c" and g.found.real.startswith("/dev/")

    def survey(self):
        """S35 to S37: each source is there, is what it shall be, and no link
        that an earlier payload may have made leads to it."""
        reasons = []
        writers = [g for g in self.grants if g.writes()]
        for g in self.grants:
            g.found = None
            if g.kind in ("tmpfs", "symlink"):
                continue
            g.found = Found(self.s.nodes, g.source)
            if g.found.err:
                g.gone = True
                if g.optional() and g.found.err == "absent":
                    self.absent.add(g.guest)
                elif not g.own:
                    self.blame(reasons, g, "missing")
            elif not self.judge_type(g):
                self.blame(reasons, g, "type")
            pack = [p for p, _, _ in g.claims if p[0] == "+"]
            if pack and any(covers(self.s.target, x) for x in g.found.links):
                self.blame(reasons, g, "pack-link")
        for g in self.grants:
            if g.found is None or g.found.err:
                continue
            for link in g.found.links:
                by = [w for w in writers
                      if covers(w.source, link) or
                      w.found.real and covers(w.found.real, link)]
                if by:
                    self.blame(reasons, g, "diverted", set().union(
                        *(w.lines() for w in by)))
                    break
        return reasons

    def parent(self, g):
        """The grant right above, whether it is there or not."""
        for a in above(g.guest):
            here = [x for x in self.at(a)]
            if here:
                return here[0]
        return None

    def standing(self, g):
        """The deepest grant above that is there."""
        for a in above(g.guest):
            here = [x for x in self.at(a) if not x.gone]
            if here:
                return here[0]
        return None

    def judge_shape(self, reasons):
        for g in self.grants:
            up = self.standing(g)
            if g.guest in self.absent and up is not None and \
                    up.writes() and not g.writes():
                self.blame(reasons, g, "could-be-made")
            if g.gone or g.found is None or g.found.err or up is None or \
                    up.kind != "bind" or up.found.err:
                continue
            below = g.guest[len(up.guest):]
            if g.found.real != up.found.real + below:
                g.elsewhere = True
                if g.writes() or not self.shown(g.found.real):
                    self.blame(reasons, g, "link-inside")

    def shown(self, real):
        """The host's path is inside by its own name, for reading."""
        for a in [real] + list(above(real)):
            for g in self.at(a):
                if not g.gone:
                    return g.kind == "bind" and not g.writes() and \
                        g.guest == g.source and g.found.real == g.source
        return False

    def judge_trusted(self, reasons):
        """S7 by where things really are."""
        trusted = list(self.s.protect)
        trusted += [g.found.real for g in self.grants
                    if g.kind == "command" and not g.found.err]
        for g in self.grants:
            if not g.writes() or g.gone or g.found.err:
                continue
            for path in trusted:
                for top in {g.source, g.found.real}:
                    if covers(path, top):
                        self.blame(reasons, g, "trusted")
                    elif covers(top, path):
                        guest = g.guest + path[len(top):]
                        deepest = next(
                            (y for x in [guest] + list(above(guest))
                             for y in self.at(x) if not y.gone or y.own), None)
                        if deepest is g:
                            self.blame(reasons, g, "trusted")

    # The mounts

    def put(self, guest, mount):
        self.mounts[guest] = mount

    def base(self):
        m = self.mounts
        m["/"] = Mount("tmpfs", True)
        for n in tables.NODES:
            m["/dev/" + n] = Mount("node")
        for n, to in tables.DEV_LINKS.items():
            m["/dev/" + n] = Mount("symlink", source=to)
        m["/dev/pts"] = Mount("devpts")
        m["/dev/shm"] = Mount("tmpfs", False)
        m["/proc"] = Mount("proc")
        for n in tables.MASKED:
            m["/proc/" + n] = Mount("mask", True)
        m["/proc/sys"] = Mount("pin", True)

    def draw(self):
        self.base()
        there = {g.guest: g for g in self.grants
                 if not g.gone and not (g.own and g.found.err)}

        def held(path):
            """By a grant at it, or by one above that is no tmpfs."""
            if path in there:
                return True
            up = next((there[a] for a in above(path) if a in there), None)
            return up is not None and up.kind != "tmpfs"

        if not held("/tmp"):
            self.put("/tmp", Mount("tmpfs", False, size=256 << 20))
        for n in tables.GENERATED:
            if not held("/etc/" + n) and not any(
                    covers("/etc/" + n, g) for g in there):
                self.put("/etc/" + n, Mount("file", None))
        if any(g.kind == "command" for g in there.values()):
            self.put("/run/carrel", Mount("tmpfs", True))
        for guest, g in there.items():
            self.put(guest, self.mount_of(g))
        for guest, g in there.items():
            if g.found is None or g.writes() or \
                    getattr(g, "elsewhere", False):
                continue
            for a in above(guest):
                up = next((there[x] for x in [a] + list(above(a))
                           if x in there), None)
                if up is None or not up.writes():
                    break
                if a not in there:
                    self.put(a, Mount("pin", False))

    def mount_of(self, g):
        if g.kind == "tmpfs":
            return Mount("tmpfs", False, "", g.claims, g.size)
        if g.kind == "symlink":
            return Mount("symlink", None, g.source, g.claims)
        ro = True if g.kind == "command" else \
            not g.writes() if g.kind == "bind" else None
        link = g.kind == "bind" and g.source in g.found.links
        return Mount("bind", ro, g.source, g.claims, real=g.found.real,
                     maybe="gone" if getattr(g, "elsewhere", False) else
                     "link" if link and ro else "")

    def judge_sum(self, reasons):
        total = OWN_ROOM + sum(m.size for m in self.mounts.values())
        if "/run/carrel" in self.mounts:
            total += 64 << 10
        limit = self.least("tmpfs", 9)
        if total > (limit or model.CAP_TMPFS):
            reasons.append(self.sum_reason())

    # The environment

    def means_something(self, path):
        """S53 of a clean path: None, or why it is dropped."""
        if covers("/proc", path) or covers("/dev", path):
            return "kernel"
        if path == "/run/carrel/bin":
            # S55: nothing else is ever taken for it, so no bind above it is
            return None if "/run/carrel" in self.mounts else "nothing"
        at = next(x for x in [path] + list(above(path)) if x in self.mounts)
        m = self.mounts[at]
        if at == "/" or at == "/run/carrel":
            return "nothing"
        if m.kind == "tmpfs":
            return "tmpfs"
        return None

    def sanitised(self, name):
        sep, alt = tables.LISTS[name][:2]
        keep, drop = [], []
        for e in self.s.env.get(name, "").split(sep):
            why = None
            if e == "":
                why = "empty"
            elif alt and alt in e:
                why = "separator"
            elif e[0] != "/":
                why = "relative"
            elif ".." in e.split("/"):
                why = "dots"
            else:
                why = self.means_something("/" + "/".join(
                    c for c in e.split("/") if c not in ("", ".")))
            if why is None:
                keep.append(e)
            else:
                drop.append((e, why))
        if self.s.env.get(name, "") == "":
            return [], []
        return keep, drop

    def make_list(self, name):
        out, drops = [], []

        def add(value, who):
            for v, w in out:
                if v == value:
                    w.update(who)
                    return
            out.append((value, set(who)))

        for (_, _, values), c in self.of("set", name) + \
                self.of("prepend", name):
            for v in values:
                add(v, c)
        for (_, _, values), c in sorted(
                self.of("merge", name),
                key=lambda x: x[0][2][0].encode()):
            add(values[0], c)
        for _, c in self.of("sanitise", name):
            keep, drops = self.sanitised(name)
            for v in keep:
                add(v, c)
        if name == "PATH":
            if "/run/carrel" in self.mounts:
                add("/run/carrel/bin", {"(carrel)"})
            for v in tables.BASE:
                add(v, {"(carrel)"})
        self.lists[name], self.drops[name] = out, drops
        if out:
            self.env[name] = tables.LISTS[name][0].join(v for v, _ in out)
        else:
            self.unset.add(name)

    def make_scalar(self, name, reasons):
        sets, inherits = self.of("set", name), self.of("inherit", name)
        value = self.s.env.get(name) if inherits else None
        if sets:
            want = sets[0][0][2][0]
            if value is not None and value != want:
                reasons.append(Reason("set-apart",
                                      sets[0][1] | inherits[0][1]))
            value = want
        if value is None:
            self.unset.add(name)
        else:
            self.env[name] = value

    def target_inside(self):
        if self.s.target:
            for g in self.grants:
                if g.kind == "bind" and not g.gone and \
                        not getattr(g, "elsewhere", False) and \
                        g.source == self.s.target:
                    return g.guest
        return None

    def environ(self, reasons):
        chosen = sorted(n for n, f in self.flags.items()
                        if f & {"asked", "default"})
        self.env.update(HOME=self.guest_home, SHELL="/bin/sh", USER="u",
                        LOGNAME="u", TMPDIR="/tmp", TERM="xterm",
                        LANG="C.UTF-8", CARREL_PROFILES=" ".join(chosen),
                        CARREL=None, CARREL_RUN=None, PS1=None)
        at = self.target_inside()
        if at is not None:
            self.env["CARREL_TARGET"] = at
        for name in sorted({k[1] for k in self.claims} | {"PATH"}):
            if name in tables.LISTS:
                self.make_list(name)
            else:
                self.make_scalar(name, reasons)

    def run(self):
        """None, or the reasons."""
        try:
            self.resolve()
            if self.common("interpreter") is not None:
                return None
            self.protect()
            reasons = self.survey()
            self.judge_shape(reasons)
            self.judge_trusted(reasons)
            self.draw()
            self.judge_sum(reasons)
            self.environ(reasons)
            check(reasons)
        except Refused as r:
            return r.reasons
        return None
