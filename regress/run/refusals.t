#!/usr/bin/python3
"""Refusals: each names the profile, file and line, the offending word and a
way on; nothing starts; the control beside it runs (S2, S14-S17, S30-S37)."""
import os
import socket
from tap import *

HEAD = "[profile]\ndescription = test\n"


def text(p, why, body, has, control=None):
    """A profile with this body is refused; has: line number and words."""
    p.profile("x", body)
    line, words = has[0], has[1:]
    r = p.refused("%s: refused" % why, "-p", "x",
                  has=("x.profile" + (":%d" % line if line else ""),) + words)
    if r:
        ok("; " in r.err or ": " in r.err.split("x.profile", 1)[-1],
           "%s: says how to go on" % why, r)
    if control is not None:
        p.profile("x", control)
        p.runs("%s: control" % why, "-p", "x")
    p.unprofile("x")


def grants(p, why, lines, has, control=None, other=None):
    """[fs] lines; other: a second profile y. Either order, same bytes."""
    p.fs("x", *lines)
    opts = ["-p", "x"]
    if other is not None:
        p.fs("y", *other)
        opts += ["-p", "y"]
    r = p.refused("%s: refused" % why, *opts, has=has)
    if other is not None and r:
        r2 = p.do("run", *(opts[2:] + opts[:2]), "--", "echo", MARK)
        ok(r2.err == r.err and r2.code == OWN,
           "%s: the same bytes in either order" % why, r, r2)
    if control is not None:
        p.fs("x", *control)
        p.runs("%s: control" % why, "-p", "x")
    p.unprofile()


with Place() as p:
    for d in ("data/sub/deep", "other/sub", "evil"):
        os.makedirs(p.top + "/" + d)
    p.write(p.top + "/data/f", "data\n")
    T = {"t": p.top}

    # S14-S17: the text
    good = HEAD + "[fs]\nread = /usr\n"
    text(p, "R041 unknown key mask", HEAD + "[fs]\nmask = /usr\n",
         (4, "mask"), good)
    for word in ("deny", "unset", "remove", "exclude", "priority",
                 "override", "hide", "no-read", "blacklist"):
        text(p, "S2 key %s" % word, HEAD + "[fs]\n%s = /usr\n" % word,
             (4, word))
    for word in ("ext4", "squashfs", "iso9660", "overlay", "fuse", "nfs",
                 "9p", "image", "mount", "type"):
        text(p, "V017 key %s" % word, HEAD + "[fs]\n%s = /x.img\n" % word,
             (4, word))
    for sec in ("deny", "masks", "fs ", "FS", "fs.deny", "environ.deny",
                "carrel", ""):
        text(p, "R041 section [%s]" % sec, HEAD + "[%s]\nread = /usr\n" % sec,
             (3,))
    text(p, "R041 misspelt key", HEAD + "[fs]\nraed = /usr\n", (4, "raed"))
    text(p, "R041 key of another section", HEAD + "[fs]\ninclude = @sys\n",
         (4, "include"))
    text(p, "R042 a key in capitals", HEAD + "[fs]\nRead = /usr\n",
         (4, "Read"))
    text(p, "R042 a look-alike", HEAD + "[fs]\nre\u0430d = /usr\n", (4,))
    text(p, "R042 a duplicate scalar", HEAD + "description = y\n",
         (3, "description"))
    text(p, "S14 a key outside a section", "read = /usr\n", (1, "read"), good)
    text(p, "S14 an empty key", HEAD + "[fs]\n= /usr\n", (4,))
    text(p, "S14 no equals sign", HEAD + "[fs]\nread\n", (4, "read"))
    text(p, "S14 an empty value", HEAD + "[fs]\nread =\n", (4,))
    text(p, "S14 no for a yes", HEAD + "packs = no\n", (3, "packs"))
    text(p, "S14 a BOM", "\ufeff" + good, (1,))
    text(p, "S14 NUL", HEAD + "[fs]\nread = /us\0r\n", (4,))
    p.write(p.layer + "/x.profile", HEAD.encode() + b"[fs]\nread = /us\xffr\n")
    p.refused("S14 invalid UTF-8: refused", "-p", "x", has=("x.profile:4",))
    for name, c in (("ESC", "\x1b"), ("CR", "\r"), ("BEL", "\a"),
                    ("DEL", "\x7f"), ("C1", "\x9b"), ("bidi", "\u202e"),
                    ("zero width", "\u200b"), ("line separator", "\u2028"),
                    ("tab", "\t")):
        if name == "tab":
            continue
        text(p, "S14 R015 %s in a path" % name,
             HEAD + "[fs]\nread = /us%sr\n" % c, (4,))
        text(p, "R015 %s in a description" % name,
             "[profile]\ndescription = a%s[1Ab\n" % c, (2,))
        text(p, "R015 %s in a key" % name, HEAD + "[fs]\nre%sad = /usr\n" % c,
             (4,))
    text(p, "S14 DOS line ends", good.replace("\n", "\r\n"), (1,))
    text(p, "S17 an indented line", HEAD + "[fs]\n  read = /usr\n", (4,),
         good)
    text(p, "S17 a continued line", HEAD + "[fs]\nread = /usr\n\t/etc\n",
         (5,))
    text(p, "S17 a colon does not separate", HEAD + "[fs]\nread: /usr\n",
         (4,))
    text(p, "S30 an unknown [section] that comes later", HEAD +
         "[hooks]\nrun = x\n", (3, "hooks"))
    for sec, body in (("egress", "allow = https://example.test:443"),
                      ("environ.set", "FOO = bar"), ("limits", "cpu-time = 60s"),
                      ("exec", "spawn = no"), ("audit", "report = exec")):
        p.profile("x", HEAD + "[%s]\n%s\n" % (sec, body))
        r = p.do("run", "-p", "x", "--", "sh", "-c", "echo %s $FOO" % MARK)
        ok(r.code == OWN and sec in r.err and MARK not in r.out or
           r.code == 0 and r.out == MARK + (" bar\n" if "FOO" in body else
                                            "\n"),
           "[%s] is obeyed or refused by name, never ignored" % sec, r)
    p.unprofile()
    body = HEAD + "; a comment = x\n# [fs]\n\n[fs]\nread = /usr\n;write = /\n"
    p.profile("x", body)
    p.runs("S17 comments and empty lines", "-p", "x")
    os.makedirs(p.top + "/semi ; colon")
    p.write(p.top + "/semi ; colon/f", "semi\n")
    p.fs("x", 'read = "%s/semi ; colon"' % p.top)
    r = p.do("run", "-p", "x", "--", "cat", p.top + "/semi ; colon/f")
    equal(r.out, "semi\n", "S17 a ; in a value is the value's")
    # S16: long lines
    name = "/".join(["d" * 200] * 10)
    os.makedirs(p.top + "/" + name)
    p.write(p.top + "/" + name + "/f", "long\n")
    p.fs("x", "read = %s/%s" % (p.top, name))
    r = p.do("run", "-p", "x", "--", "cat", p.top + "/" + name + "/f")
    equal(r.out, "long\n", "S16 a value of 2,000 bytes is one value")
    for n in (150, 180, 190, 195, 197, 198, 199, 200, 201, 202, 205, 250):
        pad = "a" * n
        p.profile("x", "[profile]\ndescription = %s\n" % pad +
                  "[fs]\nread = /usr\n; %s\nwrite = %s/evil\n" % (
                      pad, p.top))
        r = p.sh("touch %s/evil/ok" % p.top, "-p", "x")
        ok(r.code == 0, "S16 line of %d: the next key is still one" % n, r)
        line = "; " + pad
        line = line[:n] + "write = %s/evil" % p.top
        p.profile("x", HEAD + "[fs]\nread = /usr\n" + line + "\n")
        r = p.sh("touch %s/evil/no" % p.top, "-p", "x")
        ok(not os.path.exists(p.top + "/evil/no") and r.code == 1,
           "S16 comment of %d: what a cut would make is no key" % n, r)
    text(p, "S16 a value of 4,097 bytes", "[profile]\ndescription = %s\n" %
         ("a" * 4097), (2,), "[profile]\ndescription = %s\n" % ("a" * 4096))
    text(p, "S16 a long section name", HEAD + "[fs%s]\nread = /usr\n" %
         ("x" * 60), (3,))
    text(p, "S16 one that inih would cut to a good one",
         HEAD + "[" + "fs".ljust(50) + "x]\nread = /usr\n", (3,))
    text(p, "an error on the last line", good + "oops", (5, "oops"))
    text(p, "S16 what follows an error is not obeyed",
         HEAD + "[fs]\noops\nwrite = %(t)s/evil\n" % T, (4,))

    # R006, S31: paths as written
    for path in ("/srv/a/../../etc", "/srv/./a", "//srv//a", "relative",
                 "./x", "~/x", "/usr/", "/usr/.", "/usr/..", "",
                 "/usr//bin", "/" + "x" * 256, "$HOME/x"):
        if path == "":
            continue
        p.fs("x", "read = %s" % path)
        r = p.do("run", "-p", "x", "--", "echo", MARK)
        ok(r.code == OWN and MARK not in r.out and "x.profile:4" in r.err,
           "R006 read = %r is refused" % path[:30], r)
    for g in ("/a/../b", "a", "/a/./b", "/a//b", "/a/", "/..", "/a/.."):
        grants(p, "S31 guest %r" % g, ["read = /usr -> %s" % g],
               ("x.profile:4",))
    text(p, "S21 an unknown placeholder", HEAD + "[fs]\nread = {hom}/x\n",
         (4, "{hom}"))
    text(p, "S21 an open brace", HEAD + "[fs]\nread = /a{home\n", (4,))

    # R007: the whole root
    for line in ("read = /", "write = /", "tmpfs = /", "try-read = /",
                 "read = /usr -> /", "symlink = / -> usr", "read = /.",
                 "read = //", "write = / -> /host", "try-write = /"):
        grants(p, "R007 %s" % line, [line], ("x.profile:4",))
    # R008, R009, R011, V015: kernel's and carrel's own places
    for line in ("read = /proc", "read = /dev", "tmpfs = /proc",
                 "tmpfs = /dev", "read = /usr -> /proc", "read = /proc/1",
                 "read = /usr -> /dev/x", "read = /proc/sys/kernel",
                 "tmpfs = /dev/shm", "read = /dev/pts", "read = /dev/null",
                 "write = /dev/shm", "read = /proc/self/fd",
                 "tmpfs = /proc/self/attr", "read = /sys", "tmpfs = /sys/fs",
                 "read = /usr -> /sys", "symlink = /proc/x -> /usr",
                 "symlink = /dev/x -> /usr", "read = /proc/self/root",
                 "read = /proc/1/root/etc", "read = /proc/self/cwd",
                 "tmpfs = /run/carrel", "read = /usr -> /run/carrel",
                 "write = %(t)s/data -> /run/carrel/bin" % T,
                 "tmpfs = /run/carrel/bin/x",
                 "symlink = /run/carrel -> /tmp"):
        grants(p, "R008 R009 R011 V015 %s" % line.replace(p.top, ""), [line],
               ("x.profile:4",))
    grants(p, "R009 an alias into /proc",
           ["symlink = /alias -> /proc", "tmpfs = /alias/self"],
           ("/alias",), control=["tmpfs = /mnt/x"])
    p.fs("x", "tmpfs = /tmp/override size=1M")
    p.runs("R008 control: below /tmp", "-p", "x")
    for d in ("proc", "sys", "dev"):
        os.symlink("/" + d, p.top + "/to-" + d)
        grants(p, "V015 a source that is a link to /%s" % d,
               ["read = %s/to-%s" % (p.top, d)], ("to-" + d,))

    # S32, S33, R010: claims
    grants(p, "S32 two sources at one place",
           ["read = %(t)s/data -> /opt/x" % T], ("/opt/x", "x", "y"),
           other=["read = %(t)s/other -> /opt/x" % T])
    grants(p, "S32 a tmpfs and a bind", ["tmpfs = /opt/x"], ("/opt/x",),
           other=["read = %(t)s/other -> /opt/x" % T])
    grants(p, "S32 tmpfs of two sizes", ["tmpfs = /opt/x size=1M"],
           ("/opt/x",), other=["tmpfs = /opt/x size=2M"])
    grants(p, "S32 links that differ", ["symlink = /opt/l -> a"],
           ("/opt/l",), other=["symlink = /opt/l -> b"])
    grants(p, "S32 in one profile too", ["tmpfs = /opt/x",
                                         "symlink = /opt/x -> /usr"],
           ("/opt/x",))
    p.fs("x", "tmpfs = /opt/x size=1M", "symlink = /opt/l -> a",
         "read = %(t)s/data" % T)
    p.fs("y", "tmpfs = /opt/x size=1M", "symlink = /opt/l -> a",
         "write = %(t)s/data" % T)
    p.runs("S32 control: the same claims join", "-p", "x", "-p", "y")
    p.unprofile()
    for inside in ("/etc/ssl", "/etc/ssl/certs"):
        p.fs("x", "read = %s/data -> /etc/ssl" % p.top)
        p.fs("y", "tmpfs = " + inside)
        r = p.refused("R010 tmpfs on %s: refused" % inside, "--no-defaults",
                      "-p", "x", "-p", "y", has=("x", "y", "/etc/ssl"))
        r2 = p.do("run", "--no-defaults", "-p", "y", "-p", "x", "--", "echo",
                  MARK)
        ok(r and r.err == r2.err, "R010 %s: order does not matter" % inside,
           r2)
    p.unprofile()
    grants(p, "S33 a bind inside another's", ["read = %(t)s/data" % T],
           ("sub",), other=["read = %(t)s/other -> %(t)s/data/sub" % T],
           control=["read = %(t)s/data" % T, "write = %(t)s/data/sub" % T])
    grants(p, "S33 a link inside a bind", ["write = %(t)s/data" % T],
           ("data/l",), other=["symlink = %(t)s/data/l -> /etc" % T])
    grants(p, "S33 another depth of the same source",
           ["read = %(t)s/data" % T], ("sub",),
           other=["read = %(t)s/data/sub/deep -> %(t)s/data/sub" % T])
    grants(p, "S33b an absent try-read in a write grant",
           ["write = %(t)s/data" % T, "try-read = %(t)s/data/none" % T],
           ("none",))

    # S36, V014: links where a payload could have planted them
    os.symlink(p.top + "/evil", p.top + "/data/link")
    os.symlink("../evil", p.top + "/data/sub/link")
    grants(p, "S36 V014 a link below a write grant",
           ["write = %(t)s/data" % T, "read = %(t)s/data/link" % T],
           ("link",))
    grants(p, "S36 V014 a link below another profile's write grant",
           ["write = %(t)s/data" % T], ("sub/link",),
           other=["read = %(t)s/data/sub/link -> /opt/z" % T])
    os.symlink(p.top + "/evil", p.proj + "/planted")
    p.write(p.top + "/evil/key", "secret\n")
    grants(p, "S36 V014 a link in the target",
           ["read = {target}/planted"], ("planted",))
    os.symlink(p.top + "/data", p.top + "/datalink")
    p.fs("x", "read = %s/datalink" % p.top)
    r = p.do("run", "-p", "x", "--", "cat", p.top + "/datalink/f")
    equal(r.out, "data\n", "S36 control: a link elsewhere is followed")
    p.unprofile()
    # run 1 replaces its own directory, run 2 is told
    os.makedirs(p.proj + "/d/data")
    p.fs("v14", "write = {target}/d", "write = {target}/d/data")
    r = p.do("run", "--no-defaults", "-p", "@sys", "-p", "v14", "--", "sh",
             "-c", "mv d/data d/old || rm -rf d/data; ln -s %s/evil d/data; "
             "echo %s" % (p.top, MARK))
    p.fs("w14", "write = {target}/d")
    r = p.do("run", "--no-defaults", "-p", "@sys", "-p", "w14", "--", "sh",
             "-c", "cd d && rm -rf data && ln -s %s/evil data" % p.top)
    ok(os.path.islink(p.proj + "/d/data"), "V014 control: run 1 did it", r)
    r = p.do("run", "--no-defaults", "-p", "@sys", "-p", "v14", "--", "sh",
             "-c", "echo %s; cat d/data/key" % MARK)
    ok(r.code == OWN and "secret" not in r.out and "d/data" in r.err,
       "V014 run 2 refuses and names the link", r)
    p.unprofile()
    # the target itself replaced by a link
    os.makedirs(p.top + "/swap/t")
    os.rmdir(p.top + "/swap/t")
    os.symlink(p.top + "/evil", p.top + "/swap/t")
    r = p.do("run", "-C", p.top + "/swap/t", "--", "pwd")
    ok(r.code == OWN or r.out == p.top + "/evil\n",
       "V014 -C through a link is where it leads", r)

    # S37, R018, R019: endpoints
    s = socket.socket(socket.AF_UNIX)
    s.bind(p.top + "/sock")
    s.listen()
    os.mkfifo(p.top + "/fifo")
    os.symlink(p.top + "/sock", p.top + "/tosock")
    os.symlink("/dev/null", p.top + "/todev")
    for n, what in (("sock", "socket"), ("fifo", "fifo"), ("tosock",
                    "socket"), ("todev", "dev")):
        for verb in ("read", "write", "try-read"):
            p.fs("x", "%s = %s/%s" % (verb, p.top, n))
            r = p.do("run", "-p", "x", "--", "echo", MARK, timeout=10)
            ok(r.code == OWN and MARK not in r.out and r.secs < 2 and
               n in r.err and what in r.err.lower() and "x" in r.err,
               "V060 R018 R019 %s of a %s" % (verb, n), r)
    p.fs("x", "read = %s/data/f" % p.top, "read = %s/other" % p.top)
    p.runs("R018 control: a file and a directory", "-p", "x")
    p.unprofile()

    # B009
    p.write(p.top + "/file", "file\n")
    os.makedirs(p.top + "/w/sub")
    p.write(p.top + "/w/plain", "plain\n")
    grants(p, "B009 a file onto a directory of a bind",
           ["write = %(t)s/w" % T,
            "read = %(t)s/file -> %(t)s/w/sub" % T], ("w/sub",))
    grants(p, "B009 a directory onto a file of a bind",
           ["write = %(t)s/w" % T,
            "read = %(t)s/data -> %(t)s/w/plain" % T], ("w/plain",))

    # S39
    grants(p, "S39 the sum of the tmpfs",
           ["tmpfs = /opt/a size=600M", "tmpfs = /opt/b size=600M"],
           ("1",), control=["tmpfs = /opt/a size=100M"])
    for size in ("0", "-1", "1Q", "64MM", "", "1e3", "0x10", " 64M x",
                 "18446744073709551616", "99999999999999999999G"):
        p.fs("x", "tmpfs = /opt/a size=" + size)
        r = p.do("run", "-p", "x", "--", "echo", MARK)
        ok(r.code == OWN and MARK not in r.out and "x.profile:4" in r.err,
           "S39 size=%s" % size, r)
    p.unprofile()
    # several faults at once: all are told, in a fixed order
    p.fs("x", "read = /nonexistent-1", "read = /nonexistent-2")
    p.fs("y", "read = /nonexistent-3")
    r = p.refused("S49 every cause is named: refused", "-p", "y", "-p", "x",
                  has=("nonexistent-1", "nonexistent-2", "nonexistent-3"))
    p.unprofile()

    # what is for a later version is refused by name
    for opt in (["--diff"], ["--json"]):
        r = p.do("run", *opt, "--", "echo", MARK)
        ok(r.code in (OWN, 0) and (r.code == 0 or opt[0] in r.err or
                                   opt[0].lstrip("-") in r.err),
           "%s is obeyed or refused by name" % opt[0], r)
    # R067-like: nothing of this left anything behind
    ok(not gone(1), "nothing runs after all these refusals", gone(0))
done()
