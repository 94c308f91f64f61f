#!/usr/bin/python3
"""The screen of each shipped profile is as in regress/golden/explain-*.txt
(S90, S91); make golden writes them anew.

What a host has, or has not, does not count: the row of a try- grant says only
that it is there or not, so all of them are listed as "try", with what they
link to left out; the credentials of NOT GRANTED are left out, and where the
payload starts; likewise the number of directories on the way, the size of
generated files, the shell and the ABI of Landlock; and the pins of carrel's
installation, which is in /tmp for the tests. Columns are two spaces apart."""
import os
import socket
from tap import *
import golden


def normal(text, p):
    text = golden.plain(text, p)
    text = re.sub(r", \d+ bytes\b", ", N bytes", text)
    text = re.sub(r"\b\d+ director(y|ies) that leads? there", "N directories "
                  "that lead there", text)
    text = re.sub(r"\bABI \d+", "ABI N", text)
    text = re.sub(r"(?ms)^NOT GRANTED.*?(?=^\S|\Z)", "NOT GRANTED\n", text)
    text = re.sub(r"\bSHELL=\S+", "SHELL=SHELL", text)
    text = re.sub(r"(?m)^  starts .*\n", "", text)
    text = re.sub(r"(?<=\S)  +", "  ", text)
    text = re.sub(r"(?m)^  \w+  ((?:/|TOP)\S*)(?: -> \S+)?(  try-.*)$",
                  r"  try  \1\2", text)
    text = re.sub(r"(?m)^  (pin  (?!TOP)|ro  PREFIX).*\n", "", text)
    blocks = []
    for block in text.rstrip("\n").split("\n\n"):
        head, *rows = block.split("\n")
        if head == "FILESYSTEM":        # TOP may be anywhere
            rows.sort(key=lambda row: row.split()[1:])
        blocks.append("\n".join([head] + rows))
    return "\n\n".join(blocks) + "\n"


def marks():
    """The marks and reasons that the sources have, but for those of a policy
    that is too large."""
    plan, drops, fs = "", "", ""
    with golden.as_root():
        for f in ("plan_env.c", "plan_list.c"):
            with open(SRC + "/child/setup/" + f) as g:
                plan += g.read()
        with open(SRC + "/child/screen/explain_fs.c") as g:
            fs = g.read()
    found = set(re.findall(r'"(<- [a-z: \']+)', plan))
    found |= set(re.findall(r'return "(it [a-z ]+|only [a-z/ ]+)', plan))
    found |= set(re.findall(r'nothing\[\] = "(.*?)"', plan))
    found |= set(re.findall(r'"(<- [a-z ]+)', fs))
    found |= set(re.findall(r'"%s([a-z][a-z, ]+)', fs))
    return {m.rstrip(" :") for m in found} - {
        "<-", "perhaps also writable", "it is relative to"}


def all_marks(p):
    """One policy of the host and the user that has every mark at once."""
    for d in ("tools/a b", "rw/bin", "x/in", "twin/part", "home/.ssh",
              "home/.config/systemd", "zone"):
        os.makedirs(p.top + "/" + d)
    s = socket.socket(socket.AF_UNIX)
    s.bind(p.top + "/x/agent")
    p.profile("user", """[profile]
description = all that a profile of the user can be marked with
[fs]
read = /usr/bin
read = /etc/group
read = "TOP/tools/a b"
write = TOP/rw
write = {home}/.config
read = {home}/.ssh
read = TOP/x
read = TOP/rw/bin -> /opt/twin
read = TOP/twin
write = TOP/twin/part -> /opt/part
tmpfs = /opt/t
[environ.set]
FOO = {home}/none/of this
PAGER = less -R
CARGO_HOME = /opt/t/cargo
[environ.inherit]
SOME_TOKEN = yes
EDITOR = yes
COLORTERM = yes
CI = yes
[environ.prepend]
PATH = /opt/twin
PATH = /usr/bin/first
[environ.merge]
PATH = TOP/tools/a b
PATH = TOP/rw/bin
NODE_PATH = /opt/t/node
[environ.sanitise]
PATH = yes
INFOPATH = yes
CLASSPATH = yes
TERMINFO_DIRS = yes
XDG_DATA_DIRS = yes
""".replace("TOP", p.top))
    hp = """[profile]
description = all that only a profile of the host can be marked with
[fs]
read = TOP/tools
[environ.set]
GIT_SSH = /usr/bin/ssh
LD_PRELOAD = TOP/tools/x.so
[environ.inherit]
BASH_ENV = yes
TZDIR = yes
""".replace("TOP", p.top)
    env = dict(p.env, PATH=":".join([
        "/srv/none", "/tmp/x", "/proc/self/cwd", "", "rel", "/x/../y",
        "/usr/bin/games", "/srv/no ne", "/opt/t/bin", "/usr/bin"]),
        SOME_TOKEN="hidden", EDITOR="vi -e", CI="x" * 40000, TZ="Europe/Rome",
        CLASSPATH="/usr/bin/a;b:/usr/bin/c", XDG_DATA_DIRS="x" * 40000,
        TERMINFO_DIRS="/" + "x" * 5000, TZDIR=p.top + "/zone",
        INFOPATH="")
    r = p.wide("explain", "--no-defaults", "-p", "user", "-p", "hp", "--",
               "true", env=env, etc={"profiles.d/hp.profile": hp},
               columns=12000)
    s.close()
    text = re.sub(r"x{100,}", "x...", normal(r.out, p))
    ok(r.code == 0 and "hidden" not in text, "S90 all marks: explain", r)
    golden.compare("marks.txt", text, "S54 S91 all marks")
    lacking = sorted(m for m in marks() if m not in text)
    ok(len(marks()) > 20 and not lacking,
       "S91 marks.txt has every mark and reason of the sources", lacking)
    p.unprofile()


with golden.as_root():
    shipped = sorted(x[:-8] for x in os.listdir(INST +
                                                "/share/carrel/profiles")
                     if x.endswith(".profile"))
with Place() as p:
    ok(len(shipped) >= 6, "the shipped profiles", shipped)
    target = p.proj + "/above/target"
    os.makedirs(target)
    for name in shipped:
        r = p.wide("explain", "--no-defaults", "-p", "@" + name, "-C", target,
                 "--", "true")
        ok(r.code == 0, "S90 @%s: explain" % name, r)
        golden.compare("explain-%s.txt" % name, normal(r.out, p),
                       "S91 @" + name)
    packs = INST + "/share/carrel/packs"
    with golden.as_root():
        names = sorted(x[:-8] for x in os.listdir(packs))
    equal(names, ["bundle", "fetch", "fmt"], "the shipped packs")
    for name in names:
        r = p.wide("explain", "-f", "%s/%s.profile" % (packs, name), "-C",
                   target, "--", "true")
        ok(r.code == 0, "S90 S13 the pack %s: explain" % name, r)
        golden.compare("explain-pack-%s.txt" % name, normal(r.out, p),
                       "S91 S13 the pack " + name)
    r = p.wide("explain", "-C", target, "--", "true")
    golden.compare("explain.txt", normal(r.out, p), "S91 the defaults")
    # a golden without a profile is one that nobody reads
    with golden.as_root():
        left = {x[8:-4] for x in os.listdir(golden.DIR)
                if x.startswith("explain-")} - set(shipped) - {
                    "pack-" + x for x in names}
    equal(left, set(), "every golden belongs to a profile")
    if IS_ROOT:
        all_marks(p)
    else:
        skip("S54 S91 all marks at once", "needs a profile of the host")
    # what is dropped above is really there
    ok("NOT GRANTED" in r.out and "ABI" in r.out and "absent" in r.out,
       "control: the rows that are not compared", r)
    # the picture in the README, whatever program drew it
    with golden.as_root():
        dot, svg, readme = [open(SRC + "/" + x).read() for x in (
            "profiles/profiles.dot", "profiles/profiles.svg", "README.md")]
    r = p.do("profile", "dot", env=dict(p.env, XDG_CONFIG_HOME="/nonexistent"))
    equal(r.out, dot, "S93 profiles.dot is as it is drawn now; make docs "
          "writes it anew")
    want = {x.replace('"', "").replace(" -> ", "->") for x in
            re.findall(r'(?m)^  ("@[a-z-]+"(?: -> "@[a-z-]+")?)', dot)}
    have = {x.replace("&#45;", "-").replace("&gt;", ">")
            for x in re.findall(r"<title>(@.*?)</title>", svg)}
    equal(have, want, "S93 and so is profiles.svg")
    ok(len(want) > 15 and "](profiles/profiles.svg)" in readme and
       "<script" not in svg and "href" not in svg,
       "S93 control: it shows something, in the README", want)
with Place() as p:
    # the pictures of the README, by regress/shots
    for name, argv in (("explain", ["explain", "--", "true"]),
                       ("doctor", ["doctor"]),
                       ("why", ["why", "/usr/bin/env"])):
        with golden.as_root():
            with open(SRC + "/man/%s.svg" % name) as f:
                picture = f.read()
        heads = set(re.findall(r'font-weight="bold"[^>]*>([A-Z]+)<', picture))
        r = p.wide(*argv)
        ok(heads and all(re.search(r"(?m)^%s\b" % h, r.out) for h in heads),
           "S91 the blocks of %s.svg are those of the screen; regress/shots "
           "draws it anew" % name, heads, r)
done()
