#!/usr/bin/python3
"""The examples of carrel-profile(5) are what carrel does: each profile is
written where it says, each command is run and prints what stands below it;
a piece of a profile is accepted."""
import os
import socket
from tap import *


def blocks(text):
    """The literal displays, each with the heading it stands under."""
    head = ""
    for m in re.finditer(r"(?ms)^\.S[hs] (.*?)$|^\.Bd -literal.*?\n(.*?)^\.Ed$",
                         text):
        if m[1]:
            head = m[1]
        else:
            yield head, m[2].replace("\\&", "").replace("\\e", "\\")


def here(p, text):
    """The paths of an example in the scratch place, and back."""
    for name in ("/opt/", "/srv/", "/run/user/{uid}/"):
        text = re.sub(r"(?<![\w}])" + re.escape(name), p.top + name.replace(
            "/{uid}", ""), text)
    return text.replace("/home/ada", p.home)


def there(p, text):
    return text.replace(p.home, "/home/ada").replace(p.top, "")


def session(p, text):
    """Commands behind "$ ", and what they print."""
    sh, want = [], []
    for line in text.splitlines():
        if line.startswith("$ "):
            sh.append(here(p, line[2:]))
            want.append("")
        else:
            want[-1] += line + "\n"
    # a long line is broken at the end of a word
    return sh, [w.replace("\\\n", "") for w in want]


def sources(p, body):
    """Makes what a piece of a profile grants of the host."""
    for key, path in re.findall(r'(?m)^([a-z]+) = "?(%s[^"\n]*?)"?(?: ->.*)?$' %
                                p.top, body.replace("{home}", p.home).replace(
                                    "{target}", p.proj)):
        if key == "command":
            p.write(path, "#!/bin/sh\n", 0o755)
        elif key == "socket":
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with socket.socket(socket.AF_UNIX) as s:
                s.bind(os.path.relpath(path))
        else:
            os.makedirs(path, exist_ok=True)


with root() if IS_ROOT else contextlib.nullcontext():
    with open(SRC + "/man/carrel-profile.5") as f:
        manual = f.read()
with Place() as p:
    os.chdir(p.top)
    env = dict(p.env, PATH=os.path.dirname(CARREL) + ":" + p.env["PATH"])
    before, ran, written, steps = [], 0, set(), 0
    for d in ("opt/zig", "opt/ztools/bin", "home/scripts"):
        os.makedirs(p.top + "/" + d)
    for head, text in blocks(manual):
        m = re.match(r"; ~/\.config/carrel/(\S+)\n", text)
        what = "carrel-profile(5), %s: %s" % (head, text.split("\n")[0])
        if m:
            sources(p, here(p, text))
            p.write(p.conf + "/" + m[1], here(p, text))
            if m[1] != "config":
                written.add(os.path.basename(m[1])[:-8])
                if "wrong" in m[1]:
                    continue
            opt = ["-p", os.path.basename(m[1])[:-8]] if m[1] != "config" \
                else []
            r = p.do("explain", *opt, "--", "true", env=env)
            ok(r.code == 0, what, r)
            if m[1] == "config":
                os.unlink(p.conf + "/config")
        elif re.match(r"; count\.profile(, added)?\n", text):
            with open(p.proj + "/count.profile",
                      "a" if ", added" in text.split("\n")[0] else "w") as f:
                f.write(text)
            p.write("src/a.txt", "three words here\n")
            steps += 1
        elif text.startswith("$ "):
            for cmd, want in zip(*session(p, text)):
                if cmd.startswith("export "):
                    before.append(cmd)
                    continue
                r = p.host("sh", "-c", "\n".join(before + [cmd]), env=env)
                ran += 1
                equal(there(p, r.out), want, "carrel-profile(5), %s: $ %s" % (
                    head, there(p, cmd)), r)
        elif text.startswith("["):
            if not text.startswith("[profile]"):
                text = "[profile]\ndescription = a piece\n" + text
            sources(p, here(p, text))
            p.profile("piece", here(p, text))
            r = p.do("explain", "-p", "piece", "--", "true", env=env)
            ok(r.code == 0 or "/dev/kvm: No such file" in r.err, what, r)
            p.unprofile("piece")
    ok({"zig", "mine", "outside", "wrong"} <= written and ran >= 9,
       "the examples of the verbs were found, and run", written, ran)
    ok(steps == 5 and os.path.exists(p.proj + "/out/words"),
       "S13 a pack, step by step", steps)
    text = "".join(t for h, t in blocks(manual) if h == "Examples of variables")
    for verb in ("set", "merge", "prepend", "inherit", "sanitise"):
        ok("[environ.%s]" % verb in text, "S41 the manual has an example of "
           "[environ.%s]" % verb)
done()
