#!/usr/bin/python3
"""What bash, zsh and fish offer behind carrel: every command and option that
carrel --help tells of, none that carrel does not know, and the profiles."""
import select
from tap import *

SHARE = INST + "/share"
FILES = {"bash": "/bash-completion/completions/carrel",
         "zsh": "/zsh/site-functions/_carrel",
         "fish": "/fish/vendor_completions.d/carrel.fish"}
BASH = """source %s
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_carrel carrel "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
printf '%%s\\n' "${COMPREPLY[@]}"
"""


def bash(p, *words):
    r = p.host("bash", "--norc", "-c", BASH % (SHARE + FILES["bash"]),
               "bash", *words)
    return {x.rstrip("/") for x in r.out.split("\n")} - {""}


def fish(p, *words):
    r = p.host("fish", "--no-config", "-c", "source %s; complete -C $argv[1]" %
               (SHARE + FILES["fish"]), " ".join(words))
    return {x.split("\t")[0].rstrip("/") for x in r.out.split("\n")} - {""}


def zsh(p, *words):
    """A terminal, and what is on it after a tab."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 200, 160, 0, 0))
    proc = start(["zsh", "-f", "-i"], dict(p.env, TERM="dumb", PS1="> "),
                 p.proj, stdin=theirs, stdout=theirs, stderr=theirs,
                 start_new_session=True)
    os.close(theirs)
    seen = b""

    def said(mark, seconds=20):
        nonlocal seen
        end = time.monotonic() + seconds
        while mark not in seen and time.monotonic() < end:
            if select.select([ours], [], [], 0.1)[0]:
                try:
                    seen += os.read(ours, 65536)
                except OSError:
                    return
    os.write(ours, b"fpath=(%s $fpath); autoload -U compinit; compinit -D -u;"
             b"LISTMAX=9999; bindkey '^I' list-choices; echo re''ady\n" %
             os.path.dirname(SHARE + FILES["zsh"]).encode())
    said(b"ready")
    said(b"> ", 1)
    seen = b""
    # it lists, asking carrel perhaps, and is quiet then; a key would end it
    os.write(ours, " ".join(words).encode() + b"\t")
    quiet = time.monotonic() + 5
    while time.monotonic() < quiet and \
            select.select([ours], [], [], 5 if seen.count(b"\n") < 1 else 0.6)[0]:
        seen += os.read(ours, 65536)
    proc.kill()
    proc.wait()
    os.close(ours)
    text = re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b" ", seen).decode()
    text = text.split("\n", 1)[1] if "\n" in text else ""
    found = set()
    for row in text.split("\n"):
        # -p  --profile  -- add a profile, or names in columns
        found |= set(re.split(r"\s--\s", row.strip())[0].split())
    return found - set(words) - {"-", ">"}


def told(p):
    """Of --help: the commands, and of each its verbs and options."""
    text = p.do("--help").out.split("\n\n")[0]
    lines = re.sub(r"^usage:", "      ", text).split("\n       carrel ")
    commands = {}
    for line in lines:
        line = re.sub(r"\s+", " ", line).replace("carrel run", "run")
        m = re.match(r" *([a-z]+) (.*)", line)
        if m is None:
            continue
        verbs, options = commands.setdefault(m[1], (set(), set()))
        options |= set(re.findall(r"--[a-z][a-z-]+|-[a-zA-Z]\b", m[2]))
        for cluster in re.findall(r"\[-([a-z]{2,})\]", m[2]):
            options |= {"-" + c for c in cluster}
        if m[1] in ("profile", "import"):
            verbs |= set(re.findall(
                r"\b(?<!-)[a-z]+\b", re.split(r" -- |  +", re.sub(
                    r"--?[a-z]+", "", m[2]))[0])) - {"a", "of", "it", "profile"}
        if "[the same" in m[2]:
            options |= commands["run"][1]
    return commands


# of a command, an option with what it takes
VALUES = {"-p": "@sys", "--profile": "@sys", "-f": "x", "--pack": "x", "-C": ".",
          "--directory": ".", "--events": "e", "--status-fd": "1",
          "--run": "0" * 32, "-o": "x", "--output": "x"}


def known(p, command, option):
    argv = command.split() + [option] + \
        ([VALUES[option]] if option in VALUES else [])
    r = p.do(*argv)
    return "unknown option" not in r.err and "nothing else" not in r.err or \
        "one NAME" in r.err


SHELLS = [("bash", bash), ("zsh", zsh), ("fish", fish)]
with Place() as p:
    p.env["PATH"] = INST + "/bin:" + p.env["PATH"]
    p.profile("mine", "[profile]\ndescription = mine\n")
    p.write("some-file", "")
    commands = told(p)
    ok({"run", "shell", "learn", "explain", "why", "doctor", "profile", "import",
        "config", "violations"} <= set(commands) and
       {"list", "show", "tree", "dot", "validate", "lint", "test"} ==
       commands["profile"][0] and {"-n", "-v", "-p", "--events"} <=
       commands["explain"][1] and commands["violations"][1] ==
       {"--json", "--run"}, "--help is read as it is meant", commands)
    for name, offered in SHELLS:
        if shutil.which(name) is None:
            skip(name, "no " + name)
            continue
        got = offered(p, "carrel", "")
        want = set(commands)
        equal(sorted(got & want), sorted(want), "%s: every command" % name, got)
        got = offered(p, "carrel", "-")
        ok({"--help", "--version"} <= got, "%s: --help, --version" % name, got)
        for command in ("run", "learn", "explain", "why", "config",
                        "violations"):
            got = offered(p, "carrel", command, "-")
            missing = commands[command][1] - got
            strange = [x for x in got if x.startswith("-") and
                       not known(p, command, x)]
            ok(not missing and not strange, "%s: the options of %s" %
               (name, command), "missing %s" % missing, "strange %s" % strange,
               got)
        got = offered(p, "carrel", "shell", "-")
        ok(commands["run"][1] <= got | {"--"}, "%s: the options of shell" %
           name, got)
        got = offered(p, "carrel", "profile", "")
        ok(commands["profile"][0] <= got, "%s: the verbs of profile" % name,
           got)
        got = offered(p, "carrel", "import", "")
        ok(commands["import"][0] <= got, "%s: import" % name, got)
        for verb, options in (("lint", {"--strict", "--json", "-f"}),
                              ("test", {"-C", "-f", "--json"}),
                              ("show", {"--json"}), ("list", {"--json"})):
            got = offered(p, "carrel", "profile", verb, "-")
            strange = [x for x in got if x.startswith("-") and
                       not known(p, "profile " + verb, x)]
            ok(options <= got and not strange, "%s: the options of profile %s" %
               (name, verb), strange, got)
        ok("--strict" not in offered(p, "carrel", "profile", "test", "-"),
           "%s: and not those of another" % name)
        for line in (("run", "-p", ""), ("profile", "show", "")):
            got = offered(p, "carrel", *line)
            ok({"@sys", "mine"} <= got and "run" not in got,
               "%s: the profiles behind %s" % (name, " ".join(line)), got)
        got = offered(p, "carrel", "run", "-p", "mine", "-")
        ok("--events" in got, "%s: an option's value is no command" % name, got)
        got = offered(p, "carrel", "run", "-p", "mine", "--", "cat", "some")
        ok("some-file" in " ".join(got) and "--events" not in got or
           name == "zsh", "%s: what is behind -- is the payload's" % name, got)
        got = offered(p, "carrel", "run", "cat", "-")
        ok("--events" not in got and "--no-defaults" not in got,
           "%s: so is what is behind a command" % name, got)
done()
