#!/usr/bin/python3
"""carrel learn (S93): a run like any other, and afterwards what it was refused
and did not find, as lines of a profile for a person to judge: with them it
runs; no credential, no whole home and nothing wider than what was seen is
among them; and nothing is looser while it learns."""
import json
import socket
import jsonschema
from tap import *

with open(INST + "/share/carrel/etc/carrel-learn.schema.json") as f:
    VALID = jsonschema.Draft202012Validator(json.load(f))


def contents(path):
    with open(path) as f:
        return f.read()


def lines(text):
    """What is proposed, without comments and headings."""
    return [x for x in text.split("\n")
            if " = " in x and x[0] != ";" and not x.startswith("descr")]


def rejected(text):
    """The lines that are comments: line -> why not."""
    found = re.findall(r"(?m)^; NOT PROPOSED: (.*)\n; \((.*)\)\n; (.*)$", text)
    return {line: why for why, _, line in found}


with Place() as p:
    def learn(script, *options, name="out", **kw):
        """The result, and the file that was written ("" if none was)."""
        out = p.top + "/" + name
        with contextlib.suppress(FileNotFoundError):
            os.unlink(out)
        r = p.do("learn", "-o", out, *options, "--", "sh", "-c", script, **kw)
        return r, contents(out) if os.path.exists(out) else ""

    r = p.do("learn", "--", "true")
    ok(r.code == 0 and r.err.count("\n") == 1 and "nothing to add" in r.err and
       not r.out, "S93 a run that lacks nothing", r)
    r, text = learn("exit 9")
    ok(r.code == 9 and not text, "S61 the exit status; no file for nothing", r)

    # one of each, and with the lines it runs
    p.write(p.home + "/.config/tool/conf", "conf\n")
    p.write(p.home + "/data/in", "in\n")
    p.write(p.home + "/bin/mytool", "#!/bin/sh\necho tool\n", 0o755)
    p.write(p.home + "/.ssh/id", "secret\n", 0o600)
    p.write(p.home + "/.bashrc", "\n")
    p.write(p.home + "/a b/c", "blank\n")
    for i in range(12):
        p.write(p.home + "/many/f%d" % i, "m")
    script = ("cat ~/.config/tool/conf && echo x >> ~/data/in && "
              "cat \"$HOME/a b/c\" && mytool")
    env = dict(p.env, PATH=p.home + "/bin:" + p.env["PATH"])
    r, text = learn("echo x >> ~/data/in; cat ~/.config/tool/conf; mytool; "
                    "cat \"$HOME/a b/c\"; exit 4", env=env)
    ok(r.code == 4 and "for you to judge" in r.err, "S93 what is missing", r)
    for want in ("read = {home}/.config/tool/conf", "write = {home}/data/in",
                 "command = {home}/bin/mytool", "read = \"{home}/a b/c\""):
        ok(want in lines(text), "S93 proposed: " + want, text, r)
    ok("; cat opened it, 1 time\nread = {home}/.config" in text,
       "S93 with what wanted it", text)
    ok(contents(p.home + "/data/in") == "in\n", "S93 and nothing was written")
    p.profile("learned", text)
    v = p.do("profile", "validate", "learned")
    ok(v.code == 0, "S93 the profile is legal", v, text)
    r = p.do("run", "-p", "learned", "--", "sh", "-c", script)
    ok(r.code == 0 and r.out == "conf\nblank\ntool\n" and
       contents(p.home + "/data/in") == "in\nx\n", "S93 and with it it runs", r)
    r = p.do("learn", "-p", "learned", "--", "sh", "-c", script)
    ok(r.code == 0 and "{home}" not in r.err, "S93 nothing is left to learn",
       r)
    p.unprofile()

    # what is never proposed
    for what, path, line in (
            ("a credential", "~/.ssh/id", "read = {home}/.ssh/id"),
            ("a directory of them", "-R ~/.ssh/", "read = {home}/.ssh"),
            ("the whole host", "/home/../root/", "read = /root")):
        r, text = learn("ls %s" % path)
        ok(line not in lines(text) and (line in rejected(text) or
           what == "the whole host"), "S93 not proposed: " + what, text, r)
    r, text = learn("echo x >> ~/.bashrc; echo x > /usr/bin/new; "
                    "mkdir /etc/new; echo > /new; ls /sys/kernel /root")
    no = rejected(text)
    ok(not lines(text) and "runs by itself" in no["write = {home}/.bashrc"] and
       "trust" in no["write = /usr/bin"] and "trust" in no["write = /etc"] and
       "whole host" in no["write = /"], "S93 nor what others trust", text, r)
    os.makedirs(p.home + "/looked")
    r, text = learn("test -e ~/looked; test -e ~/many; cat ~/many/f1")
    ok(lines(text) == ["read = {home}/many/f1"] and
       "only looked at" in rejected(text)["read = {home}/looked"] and
       "read = {home}/many" not in rejected(text),
       "S93 a directory that was only looked at", text, r)

    # wider than a file only where there are many
    r, text = learn("cat ~/many/f0 ~/many/f1 ~/many/f2")
    ok(lines(text) == ["read = {home}/many/f%d" % i for i in range(3)],
       "S93 three files are three lines", text, r)
    r, text = learn("for i in 0 1 2 3 4 5 6 7 8; do cat ~/many/f$i; done")
    ok(lines(text) == ["read = {home}/many"] and
       "9 of the 12 names in it were wanted" in text,
       "S93 many files are their directory", text, r)
    for i in range(12):
        p.write(p.home + "/top%d" % i, "m")
    r, text = learn("for i in 0 1 2 3 4 5 6 7 8; do cat ~/top$i; done")
    ok(len(lines(text)) == 9 and "read = {home}\n" not in text,
       "S93 but never the home", text, r)
    r, text = learn("cat ~/many/f1; echo x >> ~/many/f1")
    ok(lines(text) == ["write = {home}/many/f1"], "S93 writing is reading, too",
       text, r)

    # the network, which is not there while it learns
    r, text = learn(
        "getent ahostsv4 api.example.org; python3 -c 'import socket\n"
        "for to in ((\"10.1.2.3\", 80), (\"93.184.216.34\", 443)):\n"
        "    s = socket.socket()\n"
        "    try: s.connect(to)\n"
        "    except OSError as e: print(e.errno)'")
    ok("allow = https://api.example.org:443" in lines(text) and
       "private" in rejected(text)["allow = tcp://10.1.2.3:80"] and
       "belong to a name" in rejected(text)["allow = tcp://93.184.216.34:443"]
       and r.out == "111\n111\n", "S80 names are proposed, and no address",
       text, r)
    ok("egress: resolve" in r.err, "S75 an egress is a violation as always", r)

    # sockets and devices are for a person
    sock = p.home + "/agent.sock"
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(sock)
        r, text = learn(
            "python3 -c 'import os, socket\n"
            "s = socket.socket(socket.AF_UNIX)\n"
            "try: s.connect(os.environ[\"HOME\"] + \"/agent.sock\")\n"
            "except OSError as e: print(e.errno)'; cat /dev/kmsg")
    ok("acts outside" in rejected(text)["socket = {home}/agent.sock"] and
       "device = /dev/kmsg" in rejected(text) and
       not [x for x in lines(text) if "socket" in x or "device" in x],
       "S93 a socket and a device", text, r)

    # what a list of interpreters refuses no other profile can allow
    p.profile("lock", "[profile]\ndescription = d\n[exec]\n"
              "interpreter = /usr/bin/env\ninterpreter = /bin/sh\n"
              "unix = no\n")
    r, text = learn("/usr/bin/id; python3 -V; exit 3", "-p", "lock")
    ok(r.code == 3 and not lines(text) and "change that line" in text and
       "exec /usr/bin/id" in text and "of lock:" in text and
       r.err.count("violation") == 0, "S72 the exec lock holds, and says so",
       text, r)
    r = p.do("run", "-p", "lock", "--", "true")
    ok("violated before" not in r.err,
       "S76 what nobody asked to hear of flags nothing", r)
    p.profile("told", "[profile]\ndescription = d\n[audit]\nreport = fs\n"
              "on-violation = fail\n")
    r, text = learn("echo x > /usr/x", "-p", "told")
    ok(r.code == 3 and "write = /usr" in rejected(text),
       "S75 and what a profile asks for counts as always", r, text)
    r = p.do("run", "-p", "told", "--", "true")
    ok("violated before" in r.err, "S76 with its flag", r)
    p.unprofile()

    # nothing is looser: what a run sees is what learn sees
    probe = ("ls -a / /dev /usr ~ 2>&1; cat ~/.ssh/id 2>&1; id -u; env | "
             "grep -v CARREL_RUN | sort; grep -h Seccomp: /proc/self/status; "
             "grep -h Cap /proc/self/status; cat /proc/self/mountinfo | "
             "awk '{print $5, $6}' | sort; (echo > /usr/x) 2>&1; ulimit -a; "
             "cat /proc/net/route | wc -l; cat /etc/passwd")
    a = p.do("run", "--", "sh", "-c", probe)
    r = p.do("learn", "--", "sh", "-c", probe)
    equal(r.out, a.out, "S93 the view is the same, byte for byte")
    p.profile("o", "[profile]\ndescription = d\n[exec]\nonce = yes\n"
              "spawn = no\n")
    r = p.do("learn", "-p", "o", "--", "python3", "-c",
             "import os\n"
             "for f in (os.fork, lambda: os.execv('/bin/true', ['x'])):\n"
             "    try: f(); print('done')\n"
             "    except OSError as e: print(e.errno)")
    ok(r.out == "1\n1\n" and "once" in r.err and "spawn" in r.err,
       "S72 once and spawn hold", r)
    p.unprofile()

    # what is written, and where
    r, text = learn("cat ~/data/in")
    again = p.do("learn", "-o", p.top + "/out", "--", "touch", "ran")
    ok(again.code == OWN and contents(p.top + "/out") == text and
       not os.path.exists(p.proj + "/ran") and "is there already" in again.err,
       "S93 nothing is written over, and nothing was run", again)
    os.symlink(p.top + "/elsewhere", p.top + "/dangling")
    r = p.do("learn", "-o", p.top + "/dangling", "--", "true")
    ok(r.code == OWN and not os.path.exists(p.top + "/elsewhere"),
       "S93 no link is followed", r)
    r = p.do("learn", "-o", "new", "--", "sh", "-c",
             "cat ~/data/in; ln -s ../elsewhere new; exit 6")
    ok(r.code == OWN and not os.path.exists(p.top + "/elsewhere") and
       "{home}/data/in" in r.err, "S93 nor one that the payload makes", r)
    os.makedirs(p.proj + "/sub")
    r = p.do("learn", "-o", "sub/x", "--", "sh", "-c",
             "cat ~/data/in; rmdir sub; ln -s ../home sub")
    ok(not os.path.exists(p.home + "/x"),
       "S93 nor a directory that it swaps", r)
    ok(not os.path.exists(p.conf + "/profiles.d") or
       os.listdir(p.layer) == [], "S93 nothing is installed")
    r, text = learn("cat ~/data/in; exit 5", "--json")
    bad = [e.message for e in VALID.iter_errors(json.loads(text))]
    j = json.loads(text)
    ok(r.code == 5 and not bad and j["code"] == 5 and text.count("\n") == 1 and
       j["lines"][0]["value"] == "{home}/data/in" and
       j["lines"][0]["proposed"], "S93 --json, as the schema says", bad, text)
    r, text = learn("true", "--json")
    ok(json.loads(text)["lines"] == [], "S93 --json of nothing", r, text)
    r = p.do("learn", "--", "nosuchprogram")
    ok(r.code == NOTFOUND and "not found" in r.err, "S61 not found: 127", r)
    r = p.do("learn", "--", "mytool", env=env)
    ok(r.code == NOTFOUND and "command = {home}/bin/mytool" in r.err,
       "S61 and what would bring it", r)
    r = p.do("learn", "--", "sh", "-c", "cat ~/data/in; kill -9 $$")
    ok(r.code == 137 and "{home}/data/in" in r.err, "S61 a signal", r)
    p.fs("no", "read = /srv/none/there")
    r = p.do("learn", "-p", "no", "--", "true")
    ok(r.code == OWN and "Of this command" not in r.err,
       "S61 a refused run teaches nothing", r)
    p.unprofile()

    # what a payload makes up stays text
    r, text = learn("cd ~; for f in 'q\"q' '{home}' \"$(printf 'n\\nread = /x')\""
                    " \"$(printf 'e\\033[2J')\" '..' ; do cat \"$f\"; done")
    p.write(p.home + "/q\"q", "")
    p.write(p.home + "/{home}", "")
    p.write(p.home + "/n\nread = /x", "")
    p.write(p.home + "/e\x1b[2J", "")
    r, text = learn("cd ~; cat 'q\"q' '{home}' \"$(printf 'n\\nread = /x')\""
                    " \"$(printf 'e\\033[2J')\"")
    ok(not lines(text) and text.count("cannot name it so") == 4 and
       "\x1b" not in text and "\nread = /x" not in text,
       "S92 odd names are escaped comments", text, r)
    p.profile("learned", text)
    v = p.do("profile", "validate", "learned")
    ok(v.code == 0, "S92 and the profile is legal", v, text)
    r, text = learn("i=0; while [ $i -lt 400 ]; do cat /usr/../home/x$i "
                    "~/many/../top0; i=$((i+1)); done")
    ok(lines(text) == ["read = {home}/top0"], "S93 a path is cleaned", text)
    for i in range(300):
        p.write(p.home + "/d%d/f" % i, "")
    r, text = learn("i=0; while [ $i -lt 300 ]; do echo ~/d$i/f; "
                    "i=$((i+1)); done | xargs cat")
    more = int(re.search(r"and (\d+) of which no more", text).group(1))
    ok(len(lines(text)) > 240 and more > 40 and
       len(lines(text)) + more >= 300, "S75 what was too much is counted",
       len(lines(text)), text[-300:])

    for bad in (["-o", ""], ["-o", "/"], ["-o", "x/.."], ["-o", "/none/x"],
                ["-n"]):
        r = p.do("learn", *bad, "--", "touch", "ran")
        ok(r.code == OWN and not os.path.exists(p.proj + "/ran"),
           "S93 learn %s is refused" % " ".join(bad), r)
    r = p.do("run", "-o", "x", "--", "true")
    ok(r.code == OWN and "-o is of learn" in r.err, "S93 run has no -o", r)
done()
