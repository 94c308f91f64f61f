#!/usr/bin/python3
"""make install, another PREFIX, another place, another name (V011)."""
import os
from tap import *

MAKE = ["make", "-s", "-j2"]


def build(p, *args):
    with open(p.top + "/log", "ab") as log:
        return subprocess.run(MAKE + list(args), cwd=p.top + "/src", env=dict(
            p.env), stdin=subprocess.DEVNULL, stdout=log,
            stderr=subprocess.STDOUT, **as_user()).returncode


def log(p):
    return open(p.top + "/log").read()[-3000:]


with Place() as p, Place() as q:
    # a fresh copy of the source, as somebody who is not root
    tar = subprocess.run(
        ["tar", "c", "--exclude=./build*", "--exclude=./.git", "."], cwd=SRC,
        stdout=subprocess.PIPE) if not IS_ROOT else None
    if IS_ROOT:
        with root():
            tar = subprocess.run(["tar", "c", "--exclude=./build*",
                                  "--exclude=./.git", "."], cwd=SRC,
                                 stdout=subprocess.PIPE)
    os.makedirs(p.top + "/src")
    subprocess.run(["tar", "xo"], input=tar.stdout, cwd=p.top + "/src",
                   **as_user())
    equal(build(p), 0, "builds from a fresh copy", log(p))
    dest = p.top + "/dest"
    code = build(p, "install", "DESTDIR=" + dest, "PREFIX=/opt/carrel")
    ok(code == 0, "make install DESTDIR PREFIX", log(p))
    files = sorted(x[len(dest):] for x, s in tree(dest).items()
                   if os.path.isfile(x))
    want = {"/opt/carrel/bin/carrel", "/opt/carrel/libexec/carrel/carrel-parse",
            "/opt/carrel/libexec/carrel/carrel-screen",
            "/opt/carrel/share/carrel/profiles/sys.profile",
            "/opt/carrel/share/carrel/packs/fmt.profile"}
    ok(want <= set(files) and all(f.startswith("/opt/carrel/") for f in
                                  files) and any(
        f.endswith("/man1/carrel.1") for f in files),
       "everything is below PREFIX", files)
    modes = {f: os.stat(dest + f).st_mode & 0o7777 for f in files}
    ok(all(m in (0o755, 0o644) or m == 0o711 and
           f.endswith(("/carrel-parse", "/carrel-broker"))
           for f, m in modes.items()),
       "modes are 755, 644, and 711 of what nobody shall trace", modes)
    for prefix in ("/opt/carrel", "/usr"):
        d = p.top + "/d" + prefix.replace("/", "-")
        build(p, "install", "DESTDIR=" + d, "PREFIX=" + prefix)
        b = open(d + prefix + "/bin/carrel", "rb").read()
        other = b"/usr/libexec" if prefix != "/usr" else b"/opt/carrel"
        ok(prefix.encode() in b and other not in b,
           "a change of PREFIX rebuilds: %s" % prefix)
    q.carrel = dest + "/opt/carrel/bin/carrel"
    q.runs("started beside its helpers, outside PREFIX")
    r = q.do("explain", "--", "true")
    ok(r.code == 0 and dest in r.out or "@sys" in r.out,
       "explain from there", r)
    time.sleep(1.1)
    before = {x: s[2] for x, s in tree(p.top + "/src/build").items()
              if x.endswith(".o")}
    equal(build(p, "PREFIX=/usr"), 0, "make again")
    after = {x: s[2] for x, s in tree(p.top + "/src/build").items()
             if x.endswith(".o")}
    changed = [x for x in after if before.get(x) != after[x]]
    equal(changed, [], "make with nothing changed rebuilds nothing")

    # a compiler of the environment that fortifies by itself, flags of the
    # user, an inih that only glibc can link
    cc = p.write(p.top + "/cc", "#!/bin/sh\n: > %s/used\n"
                 "exec gcc -D_FORTIFY_SOURCE=3 \"$@\"\n" % p.top, 0o755)
    inih = p.host("gcc", "-print-file-name=libinih.a").out.strip()
    p.host("objcopy", "--redefine-sym", "fgets=__fgets_unlocked", inih,
           p.top + "/inih.a")
    d = p.top + "/d-other"
    env, p.env = p.env, dict(p.env, CC=cc, CFLAGS="-O1 -DSAID='\"so\"'")
    code = build(p, "install", "DESTDIR=" + d, "PREFIX=/opt/other",
                 "SYSCONFDIR=/opt/conf", "LIBINIH=" + p.top + "/inih.a")
    p.env = env
    ok(code == 0 and os.path.exists(p.top + "/used"),
       "CC and CFLAGS of the environment, which adds its own fortification",
       log(p))
    made = open(p.top + "/src/build/gen/flags").read()
    ok("-O1" in made and "-I." in made, "CFLAGS come to what is needed", made)
    ok(os.path.exists("/usr/lib/%s-linux-musl" % os.uname().machine) is
       ("so it is linked with glibc" in log(p)),
       "an inih that musl cannot link: said, and glibc is used", log(p))
    q.carrel = d + "/opt/other/bin/carrel"
    q.runs("what was built so runs")
    pages = "".join(open(x).read() for x in tree(d) if "/man/" in x and
                    os.path.isfile(x))
    ok("/opt/other/share/carrel/profiles" in pages and
       "/opt/conf/carrel/profiles.d" in pages and "@PREFIX@" not in pages and
       "@SYSCONFDIR@" not in pages and
       "/usr/local" not in pages.replace("/usr/local/go", ""),
       "manuals name the places of this installation")

    # another name, another place
    q.carrel = CARREL
    fake = q.top + "/fake"
    os.makedirs(fake + "/bin")
    os.makedirs(fake + "/libexec/carrel")
    for n in ("carrel-parse", "carrel-screen"):
        q.write(fake + "/libexec/carrel/" + n,
                "#!/bin/sh\necho FAKE > %s/ran\n" % q.top, 0o755)
    os.symlink(CARREL, fake + "/bin/carrel")
    r = q.host(fake + "/bin/carrel", "run", "--", "echo", MARK)
    ok(r.code == 0 and not os.path.exists(q.top + "/ran"),
       "V011 through a link the installed helpers are used", r)
    os.symlink(CARREL, q.top + "/odd\nname")
    r = q.host(q.top + "/odd\nname", "run", "-p", "nosuch", "--", "true")
    ok(r.code == OWN and len(r.err.splitlines()) == 1,
       "V037 a link with a newline in its name", r)
    fd = os.open(CARREL, os.O_RDONLY)
    r = q.host("/proc/self/fd/%d" % fd, "run", "--", "echo", MARK,
               pass_fds=(fd,))
    os.close(fd)
    ok(r.code == 0 and MARK in r.out, "V011 through /proc/self/fd", r)
    if IS_ROOT:
        with root():
            d = tempfile.mkdtemp(prefix="hl.", dir=STAGE)
            os.chmod(d, 0o755)
            os.makedirs(d + "/bin")
            os.link(CARREL, d + "/bin/carrel")
        r = q.host(d + "/bin/carrel", "run", "--", "echo", MARK)
        ok(r.code in (0, OWN) and (r.code == 0) == (MARK in r.out),
           "V011 through a hard link: runs or refuses", r)
        with root():
            shutil.rmtree(d)
    # S7: a helper by another name would be any payload's to write
    lone = q.top + "/lone"
    own_copy(lone)
    for name in ("carrel-parse", "carrel-screen"):
        other = q.proj + "/other"
        os.link(lone + "/libexec/carrel/" + name, other)
        argv = (["run", "--", "sh", "-c", "echo evil >> other; echo " + MARK]
                if name == "carrel-parse" else ["explain", "--", "true"])
        r = q.host(lone + "/bin/carrel", *argv, cwd=q.proj)
        ok(r.code == OWN and MARK not in r.out and "has a second name" in
           r.err and name in r.err, "S7 a helper with a hard link: " + name, r)
        os.unlink(other)
    r = q.host(lone + "/bin/carrel", "run", "--", "echo", MARK)
    ok(r.code == 0 and r.out == MARK + "\n", "S7 control: without", r)
    # incomplete
    os.unlink(lone + "/libexec/carrel/carrel-parse")
    r = q.host(lone + "/bin/carrel", "run", "--", "echo", MARK)
    ok(r.code == OWN and "carrel-parse" in r.err and MARK not in r.out,
       "a missing parser: refused and named", r)
    shutil.rmtree(lone)
    own_copy(lone)
    shutil.rmtree(lone + "/share/carrel/profiles")
    r = q.host(lone + "/bin/carrel", "run", "--", "echo", MARK)
    ok(r.code == OWN and MARK not in r.out and "profiles" in r.err,
       "missing shipped profiles: refused and named", r)
    os.unlink(lone + "/libexec/carrel/carrel-screen")
    r = q.host(lone + "/bin/carrel", "explain", "--", "true")
    ok(r.code == OWN and r.err, "a missing screen: refused", r)
done()
