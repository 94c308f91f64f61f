#!/usr/bin/python3
"""S102: /etc/carrel/ceiling.conf, in a private /etc."""
import json
import os
import pwd
import socket
from tap import *

FILE = "/etc/carrel/ceiling.conf"
HOSTED = os.environ.get("CARREL_T_MODE") == "hosted"
# what a run of the defaults needs, and the tests' own place
READ = "[everyone]\n" + "".join(
    "read = /%s\n" % x for x in "usr etc opt lib lib32 lib64 libx32 bin "
    "sbin".split())

if not IS_ROOT:
    skip("S102", "only root can make a ceiling")
    done()

with Place() as p:
    BASE_READ = READ + "write = %s\n" % p.proj
    NEXT = BASE_READ.count("\n") + 1

    def run(text, *options, cmd=("sh", "-c", "echo " + MARK), env=None):
        return p.etc({"ceiling.conf": text}, "run", *options, "--", *cmd,
                     env=env)

    def runs(name, text, *options):
        r = run(text, *options)
        return ok(r.code == 0 and r.out == MARK + "\n", name, r)

    def refused(name, text, *options, has=(), **kw):
        r = run(text, *options, **kw)
        lines = r.err.splitlines()
        return ok(r.code == OWN and MARK not in r.out and lines and
                  all(x.startswith("carrel: ") for x in lines) and
                  all(h in r.err for h in has), name,
                  "missing %r" % [h for h in has if h not in r.err], r)

    WIDE = BASE_READ + "write = %s\n" % p.top
    os.makedirs(p.top + "/d/in")
    os.makedirs(p.top + "/other")
    p.write(p.top + "/other/secret", "secret\n")
    p.fs("wd", "write = %s/d" % p.top)
    D = p.top + "/d"

    # who may use it, and what there has to be
    runs("S102 a ceiling that covers the run", WIDE)
    refused("S102 an empty file grants nothing", "",
            has=["goes beyond the ceiling, " + FILE, "nothing of the kind"])
    runs("S102 allow-user", "[ceiling]\nallow-user = %s\n" % USER + WIDE)
    runs("S102 allow-group", "[ceiling]\nallow-group = %d\n" % GID + WIDE)
    refused("S102 a user who is not allowed is refused",
            "[ceiling]\nallow-user = root\n" + WIDE,
            has=[USER, "not among those who may use carrel", FILE + ":2"])
    refused("S102 nor allowed by a group of others",
            "[ceiling]\nallow-group = nosuch\n" + WIDE, has=["not among"])

    # grants, by name
    for who in ("everyone", "user " + USER, "user %d" % UID, "group %d" % GID):
        runs("S102 [%s] grants" % who,
             BASE_READ + "[%s]\nwrite = %s\n" % (who, D), "-p", "wd")
    for who in ("user root", "group root"):
        refused("S102 [%s] grants others" % who,
                BASE_READ + "read = %s\n[%s]\nwrite = %s\n" % (p.top, who, D),
                "-p", "wd", has=["profile wd (", "wd.profile:4", "write = " + D,
                                 FILE + ":%d (write = %s)" % (NEXT - 1,
                                                              p.proj)])
    runs("S102 the target is in it", BASE_READ + "write = %s\n" % p.home,
         "-p", "@target")
    refused("S102 HOME is no way to widen {home}",
            BASE_READ + "write = {home}/x\n", "--no-defaults",
            "-p", "@sys", "-p", "@own-home",
            has=["write = " + p.home])
    home = pwd.getpwuid(UID).pw_dir
    if os.path.isdir(home):
        runs("S102 {home} is the database's", BASE_READ + "write = {home}\n" +
             "read = %s\n" % p.top, "-p", "@home")

    # and by what was opened
    os.symlink(p.top + "/other", D + "/in/link")
    p.fs("lk", "read = %s/in/link/secret -> /mnt/secret" % D)
    runs("S102 a link inside of what is covered",
         BASE_READ + "read = %s\n" % p.top, "-p", "lk")
    refused("S102 a link that leads out of it",
            BASE_READ + "read = %s\n" % D, "-p", "lk",
            has=["lk.profile:4", "leads to %s/other/secret" % p.top,
                 FILE + ":%d (read = %s)" % (NEXT, D)])
    s = p.top + "/sock"
    so = socket.socket(socket.AF_UNIX)
    so.bind(s)
    p.fs("so", "socket = %s" % s)
    runs("S102 a socket that is named",
         BASE_READ + "socket = %s\n" % s, "-p", "so")
    refused("S102 a socket needs a line of its own",
            BASE_READ + "write = /\n", "-p", "so", has=["socket = " + s])
    p.fs("dv", "device = /dev/fuse")
    if os.path.exists("/dev/fuse"):
        runs("S102 a device that is named",
             BASE_READ + "device = /dev/fuse\n", "-p", "dv")
    refused("S102 a device needs one, too", BASE_READ + "write = /\n",
            "-p", "dv", has=["device = /dev/fuse"])
    p.write(p.top + "/tool", "#!/bin/sh\necho tool\n", 0o755)
    p.fs("cm", "command = %s/tool" % p.top)
    runs("S102 a command", BASE_READ + "command = %s\n" % p.top, "-p", "cm")
    refused("S102 a command elsewhere", BASE_READ + "command = /opt\n", "-p",
            "cm", has=["command = %s/tool" % p.top])

    # the way out
    p.profile("eg", "[egress]\nallow = https://a.example.org:443\n")
    p.profile("all", "[profile]\ntier = unrestricted\n[egress]\nallow = *\n")
    runs("S102 egress, by a wider line",
         BASE_READ + "allow = https://*.example.org:443\n", "-p", "eg")
    for line in ("https://*:443", "*://*:*", "tcp://*:*"):
        runs("S102 egress: " + line, BASE_READ + "allow = %s\n" % line,
             "-p", "eg")
    refused("S102 egress that is not covered",
            BASE_READ + "allow = https://*.example.net:443\n", "-p", "eg",
            has=["allow = https://a.example.org:443 goes beyond",
                 "eg.profile:2"])
    refused("S102 unrestricted egress", BASE_READ + "allow = *://*:* private\n",
            "-p", "all", has=["allow = *"])
    runs("S102 unless it is said", BASE_READ + "allow = *\n", "-p", "all")

    # limits
    p.profile("lm", "[limits]\nopen-files = 300\n")
    LIM = "sh", "-c", "ulimit -n"
    r = run(BASE_READ + "open-files = 200\n", cmd=LIM)
    ok(r.out == "200\n", "S102 a limit where no profile sets one", r)
    r = run(BASE_READ + "open-files = 400\n", "-p", "lm", cmd=LIM)
    ok(r.out == "300\n", "S102 a profile may say less", r)
    refused("S102 but not more", BASE_READ + "open-files = 200\n", "-p", "lm",
            has=["lm.profile:2", "open-files = 300 is more than",
                 FILE + ":%d (open-files = 200)" % NEXT, "lower it to 200"])
    r = run(BASE_READ + "open-files = 100\n[user %s]\nopen-files = 222\n" %
            USER, cmd=LIM)
    ok(r.out == "222\n", "S102 the user's section is the narrower one", r)
    r = run(BASE_READ + "open-files = 400\n[group %d]\nopen-files = 99\n" %
            GID, cmd=LIM)
    ok(r.out == "99\n", "S102 and a group's before everyone's", r)

    # duties
    p.profile("ns", "[exec]\nspawn = no\n[profile]\ntier = read-only\n")
    for duty in ("spawn no", "tier read-only"):
        refused("S102 require = " + duty, BASE_READ + "require = %s\n" % duty,
                has=[FILE + ":%d (require = %s)" % (NEXT, duty), "not met"])
        r = run(BASE_READ + "read = %s\nrequire = %s\n" % (p.top, duty),
                "--no-defaults", "-p", "@sys", "-p", "ns",
                cmd=("echo", MARK))
        ok(r.out == MARK + "\n", "S102 %s, which a profile says" % duty, r)
    if HOSTED:  # where nothing runs without the log
        runs("S102 require = audit", BASE_READ + "require = audit\n")
    else:
        refused("S102 require = audit", BASE_READ + "require = audit\n",
                has=["require = audit", "--require-audit"])

    # a file that cannot be trusted or read: nothing runs
    def spoiled(name, spoil, has):
        pre = """set -e
mount -t tmpfs none /mnt
tar -C /etc --exclude='*.lock' --exclude=./carrel -cf - . 2>/dev/null | tar -C /mnt -xf -
mount --bind /mnt /etc
umask 022
mkdir -p /etc/carrel
cd /etc/carrel
printf '%%s' "$1" > ceiling.conf; shift
%s
cd %s
exec setpriv --reuid %d --regid %d --init-groups \\
    env -i HOME=%s PATH=/usr/bin:/bin "$@"
""" % (spoil, p.proj, UID, GID, p.home)
        with root():
            r = finish(subprocess.Popen(
                ["unshare", "-m", "sh", "-c", pre, "sh", WIDE, CARREL, "run",
                 "--", "echo", MARK], stdin=-3, stdout=-1, stderr=-1, cwd="/"))
        if has is None:
            return ok(r.out == MARK + "\n", name, r)
        return ok(r.code == OWN and MARK not in r.out and
                  all(h in r.err for h in has), name, r)
    NOTHING = "nothing runs here without the ceiling of this host"
    spoiled("V043 a file that root alone can write", ":", None)
    spoiled("V043 no file: no ceiling in user mode", "rm ceiling.conf", None)
    spoiled("V043 no directory", "cd /; rm -r /etc/carrel", None)
    OWNER, MODE = "does not belong to root", "can be written by a group"
    for name, spoil, has in (
            ("a user's file", "chown %d ceiling.conf" % UID, [OWNER, FILE]),
            ("a file for a group", "chmod 664 ceiling.conf", [MODE, FILE]),
            ("a file for all", "chmod 666 ceiling.conf", [MODE, FILE]),
            ("a file with a list of others",
             "setfacl -m u:%d:rw ceiling.conf" % UID, [MODE, FILE]),
            ("a user's directory", "chown %d ." % UID, [OWNER, "/etc/carrel "]),
            ("a directory for all", "chmod 777 .", [MODE, "/etc/carrel "]),
            ("an /etc for all", "chmod 777 /etc", [MODE, "/etc can"]),
            ("an /etc of a user", "chown %d /etc" % UID, [OWNER, "/etc does"]),
            ("a link", "mv ceiling.conf x; ln -s x ceiling.conf",
             [FILE + " is a symbolic link"]),
            ("a directory that is a link",
             "cd ..; mv carrel x; ln -s x carrel",
             ["/etc/carrel is a symbolic link"]),
            ("a FIFO", "rm ceiling.conf; mkfifo ceiling.conf",
             ["no regular file"]),
            ("a directory", "rm ceiling.conf; mkdir ceiling.conf",
             ["no regular file"]),
            ("a device", "rm ceiling.conf; mknod ceiling.conf c 1 3",
             ["no regular file"]),
            ("a file that the user cannot read", "chmod 600 ceiling.conf",
             ["Permission denied"]),
            ("a directory that he cannot search", "chmod 700 .",
             ["Permission denied"])):
        if "setfacl" in spoil and not shutil.which("setfacl"):
            skip("V043 " + name, "no setfacl")
            continue
        spoiled("V043 %s: nothing runs" % name, spoil, has + [NOTHING])
    spoiled("V043 a file that is too long",
            "head -c 300000 /dev/zero | tr '\\0' ';' > ceiling.conf",
            ["ceiling.conf", "more than 256 KiB"])
    refused("S102 a line that is none", WIDE + "frob\n",
            has=[FILE + ":%d" % (NEXT + 1), "\"frob\" has no \"=\""])
    r = p.etc({"ceiling.conf": "frob\n"}, "profile", "list")
    ok(r.code == 0, "S102 what starts nothing does not need it", r)

    # the sample is the default, and so are the examples of the manual
    with open(INST + "/share/carrel/etc/ceiling.conf") as f:
        sample = f.read()
    runs("S102 the sample", sample, "-p", "wd", "-p", "eg")
    for name in ("so", "dv", "all"):
        refused("S102 the sample has no room for " + name, sample, "-p", name,
                has=["goes beyond"])
    with open(SRC + "/man/carrel.conf.5") as f:
        examples = re.findall(r"(?ms)^\.Bd -literal.*?\n(.*?)^\.Ed$", f.read())
    for i, text in enumerate(examples):
        r = p.etc({"ceiling.conf": text}, "explain", "--", "true")
        ok("CEILING" in r.out or "not among those" in r.err and
           not r.err.startswith("carrel: " + FILE),
           "S102 example %d of carrel.conf(5)" % i, r)
    ok(len(examples) > 1, "S102 there are examples", len(examples))

    # what screens say
    CE = WIDE + "open-files = 100\nrequire = audit\n[user root]\n" \
        "device = /dev/kvm\n[user %s]\nopen-files = 200\n" % USER
    r = p.wide("explain", "--require-audit", "--", "true",
               etc={"ceiling.conf": CE})
    block = r.out.partition("\nCEILING")[2].partition("\n\n")[0]
    ok(r.code == 0 and FILE in block and "write = " + p.top in block and
       "[everyone]:%d" % NEXT in block and "open-files = 200" in block and
       "[user %s]" % USER in block and "open-files = 100" not in block and
       "kvm" not in block and "require = audit" in block,
       "S102 explain shows what counts for the caller", block, r)
    ok("open-files the ceiling:%d" % (NEXT + 6) in r.out,
       "S102 and whose limit it is", r)
    r = p.wide("explain", "--", "true", etc={})
    ok(r.code == 0 and ("CEILING" in r.out) == HOSTED and
       ("the default" in r.out) == HOSTED,
       "S102 without a file there is only hosted mode's default", r)
    for name, what in (("so", "socket"), ("dv", "device"), ("all", "allow = *")):
        if name == "dv" and not os.path.exists("/dev/fuse"):
            continue
        r = p.etc({}, "run", "-p", name, "--", "sh", "-c", "echo " + MARK)
        ok(r.code == OWN and what in r.err and MARK not in r.out and
           "the default ceiling" in r.err if HOSTED else
           r.out == MARK + "\n",
           "S102 %s: in hosted mode only with a file" % what, r)
    for text, opt, has in (
            (BASE_READ + "read = %s\n" % p.home, "wd",
             "write = %s goes beyond the ceiling" % D),
            (BASE_READ + "read = %s\n" % D, "lk", "leads to %s/other" % p.top)):
        r = p.wide("explain", "-p", opt, "--", "true",
                   etc={"ceiling.conf": text})
        ok(r.code == OWN and "REFUSED" in r.out and has in r.out and
           FILE + ":" in r.out, "S102 explain refuses what a run would: " +
           opt, r)
        r = p.etc({"ceiling.conf": text}, "why", "-p", opt, "/usr")
        ok(r.code == OWN and has in r.err, "S102 why, too: " + opt, r)
        r = p.etc({"ceiling.conf": text}, "explain", "--json", "-p", opt,
                  "--", "true")
        j = json.loads(r.out)
        ok(j["refused"] and any(b["title"] == "CEILING" for b in j["blocks"]),
           "S102 --json has both: " + opt, r)
    r = p.etc({"ceiling.conf": BASE_READ + "write = %s\n" % p.top},
              "explain", "--diff", "-p", "wd", "--", "true")
    ok(r.code == 0 and D in r.out, "S102 explain --diff under a ceiling", r)
    r = p.etc({"ceiling.conf": "frob\n"}, "explain", "--", "true")
    ok(r.code == OWN and FILE + ":1" in r.out and "has no \"=\"" in r.out,
       "S102 explain says what is wrong with the file", r)
    # what it costs where there is none
    if not HOSTED and shutil.which("strace") and not os.path.exists(FILE):
        log = p.top + "/trace"
        r = p.strace(log, ["-e", "trace=open,openat,execve"], CARREL, "run",
                     "--", "echo", MARK)
        with root():
            text = open(log).read()
        ok(r.out == MARK + "\n" and text.count("ceiling.conf") == 1 and
           "ENOENT" in text.partition("ceiling.conf")[2].partition("\n")[0] and
           len(re.findall(r"execve\(.*carrel-parse", text)) == 1,
           "S102 without a file: one open that fails, and one parser", r, text)
    so.close()
    equal(gone(), {}, "nothing is left")
done()
