#!/usr/bin/python3
"""The shipped profiles of languages, and the home that they come with: tools
of the user's own, found by name and never writable; caches in the home that
is gone after the run (S13, S23, S36, S55, R038)."""
import os
from tap import *

XDG = {"XDG_CONFIG_HOME": "/.config", "XDG_CACHE_HOME": "/.cache",
       "XDG_STATE_HOME": "/.local/state", "XDG_DATA_HOME": "/.local/share"}
PYTHON = "python%d.%d" % sys.version_info[:2]
FOR_PACKS = {"sys", "home", "rust", "go", "node", "python"}


def script(p, path, *lines, shell="/bin/sh"):
    p.write(p.home + "/" + path, "#!%s\n" % shell + "".join(
        x + "\n" for x in lines), 0o755)


def rust(p):
    """cargo is a link to rustup, which starts what lies in the toolchain."""
    script(p, ".cargo/bin/rustup", 'exec "$HOME/.rustup/toolchains/stable/bin/'
           '$(basename "$0")" "$@"')
    os.symlink("rustup", p.home + "/.cargo/bin/cargo")
    script(p, ".rustup/toolchains/stable/bin/cargo", "set -e",
           "mkdir -p ~/.cargo/registry", "echo x > ~/.cargo/registry/index",
           'echo "built $1"')
    p.write(p.home + "/.cargo/credentials.toml", "[registry]\ntoken = 'x'\n")


def go(p):
    """A release of golang.org/dl, whose program runs what is in ~/sdk."""
    script(p, "go/bin/go9.9", 'exec "$HOME/sdk/go9.9/bin/go" "$@"')
    script(p, "sdk/go9.9/bin/go", "set -e", "mkdir -p ~/go/pkg/mod",
           "echo x > ~/go/pkg/mod/cache",
           'mkdir -p "$XDG_CACHE_HOME/go-build"', 'echo "built $1"')
    p.write(p.home + "/.config/go/env", "GOFLAGS=-x\n")


def node(p):
    """A global package of npm: its program is a link out of bin."""
    script(p, ".npm-global/lib/node_modules/tool/cli.js", "set -e",
           "mkdir -p ~/.npm/_cacache", "echo x > ~/.npm/_cacache/x",
           'cat "$(dirname "$(realpath "$0")")/word"', 'echo "$1"')
    p.write(p.home + "/.npm-global/lib/node_modules/tool/word", "built ")
    os.makedirs(p.home + "/.npm-global/bin")
    os.symlink("../lib/node_modules/tool/cli.js",
               p.home + "/.npm-global/bin/tool")
    script(p, ".nvm/versions/node/v99/bin/node99", 'echo "node $1"')
    os.symlink("versions/node/v99", p.home + "/.nvm/current")
    p.write(p.home + "/.npmrc", "//registry.example/:_authToken=x\n")


def python(p):
    """What pip install --user, pipx and uv leave behind."""
    site = ".local/lib/%s/site-packages/" % PYTHON
    p.write(p.home + "/" + site + "carrel_tool.py",
            "import os, sys\n"
            "def main():\n"
            "    d = os.environ['XDG_CACHE_HOME'] + '/pip'\n"
            "    os.makedirs(d)\n"
            "    open(d + '/x', 'w').write('x')\n"
            "    print('built', sys.argv[1])\n")
    script(p, ".local/bin/tool", "import sys", "from carrel_tool import main",
           "sys.exit(main())", shell="/usr/bin/python3")
    for d, n in (("share/pipx/venvs", "piped"), ("pipx/venvs", "old"),
                 ("share/uv/tools", "uved")):
        at = ".local/%s/%s/bin/%s" % (d, n, n)
        # as a virtual environment does: by its full path
        script(p, at, 'echo "%s $1"' % n,
               shell="%s/.local/%s/%s/bin/python" % (p.home, d, n))
        os.symlink("/bin/sh", os.path.dirname(p.home + "/" + at) + "/python")
        os.symlink(p.home + "/" + at, p.home + "/.local/bin/" + n)
    p.write(p.home + "/.config/pip/pip.conf", "[global]\nindex-url = x\n")


# name: the tree, its program, what else is found, its places on PATH, where
# its cache is, what is a secret, a directory that some keep elsewhere, and
# where its programs are in the home
LANGUAGES = {
    "rust": (rust, "cargo", {}, ["/home-tools/rust/bin"], ".cargo/registry",
             ".cargo/credentials.toml", ".cargo", ".cargo/bin"),
    "go": (go, "go9.9", {}, ["/home-tools/go/bin", "/usr/local/go/bin"],
           "go/pkg/mod", ".config/go/env", "go", "go/bin"),
    "node": (node, "tool", {"node99": "node"},
             ["/home-tools/node/npm/bin", "/home-tools/node/nvm/bin"],
             ".npm/_cacache", ".npmrc", ".npm-global", ".npm-global/bin"),
    "python": (python, "tool", {"piped": "piped", "old": "old",
                                "uved": "uved"},
               ["/home-tools/python/bin"], ".cache/pip",
               ".config/pip/pip.conf", ".local", ".local/bin"),
}
# tries to leave a program in each element of PATH, and to take its place
PLANT = """IFS=:; for d in $PATH; do
mkdir -p "$d" 2> /dev/null
cp /bin/sh "$d/planted" 2> /dev/null && echo "LEAK $d"
(: > "$d/planted2") 2> /dev/null && echo "LEAK $d"
mv "$d" "$d.old" 2> /dev/null && echo "LEAK moved $d"
done; echo %s""" % MARK


def present(p, name, options=(), how=""):
    """With the tree: it runs, nothing of it can be written."""
    tree_of, prog, more, places, cache, secret, _, programs = LANGUAGES[name]
    opt = ["-p", "@" + name, *options]
    before = tree(p.home)
    r = p.do("run", *opt, "--", prog, "x")
    equal(r.out, "built x\n", "@%s%s: %s runs by its name" % (name, how, prog),
          r)
    for other, word in more.items():
        r = p.do("run", *opt, "--", other, "x")
        equal(r.out, word + " x\n", "@%s%s: %s, too" % (name, how, other), r)
    r = p.sh('%s x && ls -A ~/%s && test ! -e ~/%s && echo %s' % (
        prog, cache, secret, MARK), *opt)
    ok(r.code == 0 and r.out.startswith("built x\n") and
       r.out.endswith("\n" + MARK + "\n") and len(r.out.split()) == 4,
       "@%s%s: its cache is written in the home, %s is not there" % (
           name, how, secret), r)
    r = p.sh("~/%s/%s x; touch ~/%s/new || echo %s" % (
        programs, prog, programs, MARK), *opt)
    ok(r.out == "built x\n" + MARK + "\n" and "Read-only" in r.err,
       "@%s%s: by its full path as well, and that is read-only, too" % (
           name, how), r)
    r = p.sh(PLANT, *opt)
    equal(r.out, MARK + "\n",
          "R038 S55 @%s%s: no element of PATH can be written" % (name, how), r)
    equal(tree(p.home), before, "@%s%s: the host's home is as it was" % (
        name, how))


def absent(p, name, how=""):
    _, prog, _, places, *_ = LANGUAGES[name]
    opt = ["-p", "@" + name]
    r = p.sh("echo $PATH", *opt)
    equal(r.out, ":".join(places + ["/usr/bin", "/bin", "/usr/sbin",
                                    "/sbin"]) + "\n",
          "S48 @%s%s: its places go before the base" % (name, how), r)
    r = p.do("run", *opt, "--", prog)
    ok(r.code == NOTFOUND and places[0] in r.err,
       "@%s%s: absent, %s is not found" % (name, how, prog), r)
    r = p.sh(PLANT, *opt)
    equal(r.out, MARK + "\n", "R038 S55 @%s%s: what is absent cannot be made "
          "by a payload" % (name, how), r)
    r = p.wide("explain", *opt, "--", "true")
    ok(r.code == 0 and re.search(
        r"element +%s +merge @%s:\d+ +<- not granted" % (places[0], name),
        r.out) and re.search(r"absent +%s.*try-read @%s:" % (
            re.escape(os.path.dirname(places[0]) if name == "node"
                      else places[0]), name), r.out) and
       "writable from inside" not in r.out,
       "S54 @%s%s: and the screen says so" % (name, how), r)


def links(p, name):
    """S36: what is kept elsewhere is followed, but not where a payload could
    have made the link."""
    top, places = LANGUAGES[name][6], LANGUAGES[name][3]
    opt = ["-p", "@" + name]
    os.rename(p.home + "/" + top, p.top + "/data")
    os.symlink(p.top + "/data", p.home + "/" + top)
    present(p, name, how=", ~/%s a link" % top)
    r = p.wide("explain", *opt, "--", "true")
    ok(re.search(r"ro +/home-tools/%s.*, a link that led to %s/data" % (
        name, re.escape(p.top)), r.out), "S36 @%s: and is shown" % name, r)
    os.symlink(p.top + "/link/x", p.home + "/new")
    os.rename(p.home + "/new", p.home + "/" + top)
    absent(p, name, ", ~/%s a link to nowhere" % top)
    # a link in what the same run may write
    os.makedirs(p.top + "/link")
    os.symlink(p.top + "/data", p.top + "/link/x")
    p.fs("w", "write = %s/link" % p.top)
    r = p.refused("S36 @%s: by way of a link that a payload could make: "
                  "refused" % name, "-p", "w", *opt,
                  has=("@" + name, p.top + "/link/x"))
    p.runs("S36 @%s: control" % name, *opt)
    p.unprofile("w")


def target(p, name):
    """A tool directory that is the target, too, is written there."""
    top = p.home + "/" + LANGUAGES[name][6]
    r = p.do("run", "-p", "@" + name, "--", "touch", "through", cwd=top)
    ok(r.code == 0 and os.path.exists(top + "/through"),
       "@%s: in its own directory as the target" % name, r)
    os.unlink(top + "/through")


with Place() as p:
    # S13: a pack may include these, and what they include
    with root() if IS_ROOT else contextlib.nullcontext():
        d = INST + "/share/carrel/profiles"
        text = {x[:-8]: open(d + "/" + x).read() for x in os.listdir(d)
                if x.endswith(".profile")}
    equal({n for n in text if "\npacks = yes\n" in text[n]}, FOR_PACKS,
          "S13 @sys, the languages and their home are for packs")
    for name in sorted(FOR_PACKS):
        ok({x[1:] for x in re.findall(r"(?m)^include = (\S+)$",
                                      text[name])} <= FOR_PACKS,
           "S13 @%s: and all that it includes" % name, text[name])
    for name in sorted(text):
        ok(re.search(r"(?m)^abuse = It can .{20,}\.$", text[name]),
           "S23 @%s says what it can be abused for" % name)

    # the home and its four places
    want = {k: p.home + v for k, v in XDG.items()}
    show = " ".join("$" + k for k in sorted(XDG))
    r = p.sh("echo %s; mkdir -p %s && touch %s && ls -A ~" % (
        show, show, " ".join("$%s/x" % k for k in XDG)))
    equal(r.out, " ".join(want[k] for k in sorted(XDG)) +
          "\n.cache\n.config\n.local\nproj\n",
          "@home: the four places of a home, which can be made", r)
    r = p.do("run", "--", "env", env=dict(p.env, **{
        k: "/somewhere" for k in XDG}))
    ok(all("%s=%s\n" % x in r.out for x in want.items()),
       "@home: whatever the host has there", r)
    r = p.do("run", "--no-defaults", "-p", "@sys", "--", "env")
    ok(r.code == 0 and "XDG_" not in r.out, "@home: control", r)
    p.profile("x", "[profile]\ndescription = x\ninclude = @home\n"
              "[environ.set]\nXDG_CACHE_HOME = {home}/other\n")
    p.refused("S51 @home: another place is a conflict", "-p", "x",
              has=("XDG_CACHE_HOME", "set of @home", "set of x"))
    p.unprofile("x")

    for name, (tree_of, prog, *_) in LANGUAGES.items():
        absent(p, name)
        tree_of(p)
        present(p, name)
        r = p.do("run", "--no-defaults", "-p", "@" + name, "--", prog, "x",
                 cwd="/")
        equal(r.out, "built x\n", "@%s: by itself it has all it needs" % name,
              r)
        r = p.do("run", "--", prog, "x", env=dict(
            p.env, PATH="%s/%s:%s" % (p.home, LANGUAGES[name][7],
                                      p.env["PATH"])))
        ok(r.code == NOTFOUND and "add -p @%s\n" % name in r.err,
           "S61 @%s: control: without it %s is not found, and it is named" % (
               name, prog), r)
        target(p, name)
        links(p, name)
        shutil.rmtree(p.top)
        p = Place()
    # all of them together
    for name, (tree_of, *_) in LANGUAGES.items():
        if name != "node":      # it has a program of the same name
            tree_of(p)
    options = [x for n in LANGUAGES for x in ("-p", "@" + n)]
    present(p, "rust", options, " with the others")
    present(p, "python", options, " with the others")
    p.__exit__()
done()
