"""A profile as text, taken apart: one fault is enough to refuse the file."""
import ipaddress
import re

import tables

HOLDERS = ("home", "target", "target-parent", "user", "uid", "tmp")
TIERS = {"read-only": 1, "side-effect": 2, "unrestricted": 3}
SIZES = {"": 1, "K": 2 ** 10, "M": 2 ** 20, "G": 2 ** 30}
TIMES = {"s": 1, "m": 60, "h": 3600}
LIMITS = {  # key: number, units, the least and the most
    "memory": (1, SIZES, None, None), "processes": (2, {"": 1}, None, None),
    "cpu": (3, {"%": 1}, None, None), "cpu-time": (4, TIMES, None, None),
    "wall-time": (5, {"ms": 1, "s": 1000, "m": 60000, "h": 3600000},
                  None, None),
    "open-files": (6, {"": 1}, None, None),
    "file-size": (7, SIZES, None, None),
    "core-size": (8, SIZES, None, None), "tmpfs": (9, SIZES, None, None)}
FS = ("read", "write", "try-read", "try-write", "tmpfs", "symlink", "command",
      "socket", "device")


class Fault(Exception):
    """Why a line is refused: one or several words for it."""

    def __init__(self, *kinds):
        super().__init__(kinds)
        self.kinds = kinds


class Profile:
    def __init__(self, name, layer):
        self.name, self.layer = name, layer
        self.includes, self.grants, self.env, self.rules = [], [], [], []
        self.tools = {}
        self.packs = False


def words(value):
    """Words with blanks between; double quotes keep one together."""
    out, rest = [], value.strip(" ")
    while rest:
        if rest[0] == '"':
            end = rest.find('"', 1)
            if end == -1 or rest[end + 1:end + 2] not in ("", " "):
                raise Fault("syntax")
            out.append((rest[1:end], True))
            rest = rest[end + 1:].lstrip(" ")
            continue
        word, _, rest = rest.partition(" ")
        if '"' in word or word != "->" and "->" in word:
            raise Fault("syntax")
        out.append((word, False))
        rest = rest.lstrip(" ")
    return out


def check_holders(text):
    """Of a path: every brace belongs to a placeholder that there is."""
    left = text
    for h in HOLDERS:
        left = left.replace("{%s}" % h, "\0")
    if "{" in left or "}" in left:
        raise Fault("placeholder")


def path_words(value, arrow):
    """One path, or two with an arrow between where arrow says so."""
    ws = words(value)
    arrows = [i for i, w in enumerate(ws) if w == ("->", False)]
    if len(ws) == 3 and arrows == [1] and arrow:
        got = [ws[0][0], ws[2][0]]
    elif len(ws) == 1 and not arrows and arrow != "must":
        got = [ws[0][0], None]
    else:
        raise Fault("syntax")
    for g in got:
        if g is not None:
            if g == "":
                raise Fault("syntax")
            check_holders(g)
    return got


def size(text):
    m = re.fullmatch(r"(\d+)([KMG]?)", text)
    if not m or not 4096 <= int(m[1]) * SIZES[m[2]] <= 2 ** 40:
        raise Fault("syntax")
    return int(m[1]) * SIZES[m[2]]


def read_fs(p, key, value, line):
    if key not in FS:
        raise Fault("unknown")
    if key in ("socket", "device") and p.layer in ("shipped", "pack") or \
            key == "command" and p.layer == "pack":
        raise Fault("layer")
    if value == "":
        raise Fault("empty")
    if p.layer == "pack" and "{target" in value:
        raise Fault("layer")
    grant_size = 0
    if key == "tmpfs":
        ws = words(value)
        grant_size = 256 << 20
        if len(ws) == 2 and ws[1][0].startswith("size="):
            grant_size = size(ws[1][0][5:])
        elif len(ws) != 1:
            raise Fault("syntax")
        if ws[0][0] == "" or ws[0] == ("->", False):
            raise Fault("syntax")
        check_holders(ws[0][0])
        left, right = ws[0][0], None
    elif key == "device":
        left, right = path_words(value, "")
    else:
        left, right = path_words(value, "must" if key == "symlink" else "may")
    if p.layer == "pack" and key not in ("tmpfs", "symlink"):
        inside = left == "/workdir" or left.startswith("/workdir/")
        if right is not None or "{" in left or not inside or \
                left == "/workdir" and key.endswith("write"):
            raise Fault("pack")
    p.grants.append((key, left, right, grant_size, line))


def read_environ(p, verb, name, value, line):
    layer = p.layer
    if verb in ("inherit", "sanitise") and layer == "pack":
        raise Fault("layer")
    if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name):
        raise Fault("name")
    if name in tables.OWNED and name != "PATH":
        raise Fault("owned")
    if tables.code(name, verb) and layer != "host":
        raise Fault("code")
    if layer == "shipped" and verb == "sanitise":
        raise Fault("verb")
    if layer in ("shipped", "pack") and not tables.known(name):
        raise Fault("row")
    if verb not in tables.verbs(name):
        raise Fault("verb")
    if verb in ("inherit", "sanitise"):
        if value != "yes":
            raise Fault("yes", "twice")
    elif layer == "pack" and "{target" in value:
        raise Fault("layer")
    if name in tables.LISTS and verb not in ("inherit", "sanitise"):
        if value == "":
            raise Fault("empty")
        sep, alt = tables.LISTS[name][:2]
        if sep in value or alt and alt in value:
            raise Fault("separator")
    if verb in ("set", "inherit", "sanitise") and \
            any(e[0] == verb and e[1] == name for e in p.env):
        raise Fault("twice")
    p.env.append((verb, name, value, line))


def read_limit(p, key, value, line):
    if key not in LIMITS:
        raise Fault("unknown")
    if value == "":
        raise Fault("empty")
    what, units = LIMITS[key][:2]
    m = re.fullmatch(r"(\d+)([a-zA-Z%]*)", value)
    if not m or m[2] not in units:
        raise Fault("value")
    p.rules.append((key, what, int(m[1]) * units[m[2]], "", line))


def host_of(text):
    """The canonical host, or Fault."""
    if text.startswith("["):
        try:
            a = ipaddress.IPv6Address(text[1:-1])
        except ValueError:
            raise Fault("egress") from None
        if a.ipv4_mapped or not text.endswith("]"):
            raise Fault("egress")
        return "[%s]" % a
    name = text.lower()
    if name.endswith("."):
        name = name[:-1]
    wild = name.startswith("*.")
    if wild:
        name = name[2:]
    labels = name.split(".")
    if not wild and re.fullmatch(r"[0-9.]+", name):
        try:
            return str(ipaddress.IPv4Address(name))
        except ValueError:
            raise Fault("egress") from None
    for label in labels:
        if not re.fullmatch("[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", label):
            raise Fault("egress")
    if re.fullmatch("[0-9]+|0x[0-9a-f]*", labels[-1]):
        raise Fault("egress")
    return ("*." if wild else "") + name


def read_egress(p, key, value, line):
    if key != "allow":
        raise Fault("unknown")
    if value == "":
        raise Fault("empty")
    if value == "*":
        p.rules.append(("allow", 6, "*", "", line))
        return
    m = re.fullmatch(r"(https|http|tls|tcp|udp)://(.+):([1-9][0-9]{0,4})"
                     r"( +private)?", value)
    if not m or int(m[3]) > 65535:
        raise Fault("egress")
    host = host_of(m[2])
    p.rules.append(("allow", m[1], (host, int(m[3]), bool(m[4])), "", line))


def once(p, key):
    if any(r[0] == key for r in p.rules):
        raise Fault("twice")


def read_word(p, section, key, value, line):
    wants = {("exec", "spawn"): "no", ("exec", "unix"): "no",
             ("exec", "once"): "yes"}
    if (section, key) in wants:
        if value == "":
            raise Fault("empty")
        if value != wants[section, key]:
            raise Fault("value")
        once(p, key)
        p.rules.append((key, 0, 0, "", line))
    elif section == "exec" and key in ("interpreter", "library"):
        if value == "":
            raise Fault("empty")
        if p.layer == "pack" and "{target" in value:
            raise Fault("layer")
        p.rules.append((key, 0, 0, path_words(value, "")[0], line))
    elif (section, key) == ("audit", "report"):
        if value == "":
            raise Fault("empty")
        if value not in ("exec", "fs"):
            raise Fault("value")
        p.rules.append((key, ("exec", "fs").index(value) + 1, 0, "", line))
    elif (section, key) == ("audit", "on-violation"):
        if value == "":
            raise Fault("empty")
        if value not in ("fail", "kill"):
            raise Fault("value")
        once(p, key)
        p.rules.append((key, 0, ("fail", "kill").index(value) + 2, "", line))
    else:
        raise Fault("unknown")


def read_profile(p, key, value, line, seen):
    if key not in ("description", "abuse", "include", "packs", "tier"):
        raise Fault("unknown")
    if key == "packs" and p.layer != "shipped":
        raise Fault("layer")
    if value == "":
        raise Fault("empty")
    if key == "include":
        if not re.fullmatch("@?[a-z0-9][a-z0-9-]{0,62}", value):
            raise Fault("name", "layer")
        if p.layer == "pack" and value[0] != "@":
            raise Fault("layer")
        p.includes.append((value, line))
        return
    if key == "packs" and value != "yes":
        raise Fault("yes")
    if key == "tier" and value not in TIERS:
        raise Fault("value")
    if key in seen:
        raise Fault("twice")
    seen.add(key)
    if key == "tier":
        p.rules.append(("tier", 0, TIERS[value], "", line))
    p.packs = p.packs or key == "packs"


def read_tool(p, name, key, value, line):
    t = p.tools[name]
    if key not in ("description", "effect", "needs"):
        raise Fault("unknown")
    if key == "effect":
        if value not in ("none", "write", "network"):
            raise Fault("value")
        t["effect"] = value
    elif key == "needs":
        check_holders(value)
        t["needs"].append((value, line))


def read_line(p, section, key, value, line, seen):
    if section == "profile":
        read_profile(p, key, value, line, seen)
    elif section == "fs":
        read_fs(p, key, value, line)
    elif section.startswith("environ."):
        read_environ(p, section[8:], key, value, line)
    elif section == "egress":
        read_egress(p, key, value, line)
    elif section == "limits":
        once(p, key)
        read_limit(p, key, value, line)
    elif section in ("exec", "audit"):
        read_word(p, section, key, value, line)
    else:
        read_tool(p, section[5:], key, value, line)


def read(name, layer, text):
    """(profile, None), or (profile, (kinds, line)) of the first fault."""
    p, section, seen = Profile(name, layer), None, set()
    for line, raw in enumerate(text.split("\n"), 1):
        try:
            if raw == "" or raw[0] in ";#":
                continue
            if raw[0] in " \t":
                raise Fault("syntax")
            if raw[0] == "[":
                section = raw.strip()[1:-1]
                if section not in (
                        "profile", "fs", "environ.set", "environ.merge",
                        "environ.prepend", "environ.inherit",
                        "environ.sanitise", "egress", "exec", "limits",
                        "audit") and not section.startswith("tool "):
                    raise Fault("unknown")
                if section.startswith("tool "):
                    p.tools[section[5:]] = {
                        "effect": "none", "needs": [], "line": line}
                continue
            key, eq, value = raw.partition("=")
            if not eq or key.strip() == "" or section is None:
                raise Fault("syntax")
            read_line(p, section, key.strip(), value.strip(" "), line, seen)
        except Fault as f:
            # a line may have two faults, of which one is told
            more = ("layer",) if layer == "pack" and "{target" in raw else ()
            return p, (f.kinds + more, line)
    return p, None
