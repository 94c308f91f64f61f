"""The two tables of names, and carrel's own, written down from its
specification and nowhere else: what the model of resolution goes by."""

# Lists: separator, the alternative one, whether elements are paths, whether
# merge and prepend are theirs, whether sanitise is.
LISTS = {}
for _names, _row in (
        ("PATH", (":", "", True, True, True)),
        ("LD_LIBRARY_PATH", (":", ";", True, False, False)),
        ("LD_PRELOAD", (":", " ", True, False, False)),
        ("MANPATH", (":", "", True, True, False)),
        ("CDPATH", (":", "", True, False, False)),
        ("PYTHONPATH", (":", "", True, True, False)),
        ("PKG_CONFIG_PATH PERL5LIB NODE_PATH", (":", "", True, True, True)),
        ("CLASSPATH", (":", ";", True, True, True)),
        ("GOPATH", (":", "", True, True, True)),
        ("INFOPATH TERMINFO_DIRS", (":", "", True, True, True)),
        ("XDG_DATA_DIRS XDG_CONFIG_DIRS", (":", "", True, True, True)),
        ("GOFLAGS", (" ", "", False, False, False))):
    for _name in _names.split():
        LISTS[_name] = _row

# Scalars that hold a path of the host: they can be set and not inherited.
PLACES = set("""XDG_CONFIG_HOME XDG_CACHE_HOME XDG_STATE_HOME XDG_DATA_HOME
XDG_RUNTIME_DIR CARGO_HOME DOCKER_CONFIG NPM_CONFIG_USERCONFIG PIP_CONFIG_FILE
PYTHONUSERBASE""".split())
PLAIN = set("""EDITOR VISUAL PAGER NO_COLOR PYTHONDONTWRITEBYTECODE CI
COLORTERM""".split())
UNCOUPLED = {"BASH_ENV", "ENV", "PYTHONSTARTUP"}

OWNED = set("""HOME SHELL USER LOGNAME TMPDIR PS1 PATH TERM TZ LANG CARREL
CARREL_PROFILES CARREL_TARGET CARREL_RUN GIT_CONFIG_GLOBAL SSH_AUTH_SOCK
GH_CONFIG_DIR GH_HOST CONTAINER_HOST DOCKER_HOST DOCKER_BUILDKIT""".split())

# Names whose value is code: a prefix ends with a star.
CODE_ALWAYS = """LD_* BASH_FUNC_* GIT_CONFIG_* GCONV_PATH LOCPATH NLSPATH
HOSTALIASES RESOLV_HOST_CONF RES_OPTIONS TZDIR MALLOC_TRACE GETCONF_DIR
NIS_PATH GIT_SSH GIT_SSH_COMMAND GIT_PROXY_COMMAND GIT_ASKPASS SSH_ASKPASS
GIT_EXEC_PATH GIT_EXTERNAL_DIFF GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER
GIT_TEMPLATE_DIR GIT_DIR GIT_COMMON_DIR GIT_ALLOW_PROTOCOL
GIT_PROTOCOL_FROM_USER JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS RUBYOPT
PS0 PS2 PS3 PS4 PROMPT_COMMAND RUSTC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER
CARGO_* MAKEFLAGS GOFLAGS CC TAR_OPTIONS RSYNC_RSH""".split()
CODE_INHERITED = """BASH_ENV ENV PERL5OPT NODE_OPTIONS PYTHONSTARTUP
PYTHONBREAKPOINT LESSOPEN PYTHONPATH PIP_*""".split()
CODE_FOLDED = ["npm_config_*"]
NO_CODE = {"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "CARGO_HOME",
           "PIP_CONFIG_FILE", "NPM_CONFIG_USERCONFIG"}

# What each sandbox has without a profile.
NODES = ["null", "zero", "full", "random", "urandom", "tty"]
DEV_LINKS = {"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0",
             "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
             "ptmx": "pts/ptmx"}
MASKED = """kcore keys key-users sysrq-trigger config.gz timer_list
sched_debug cmdline modules kallsyms diskstats partitions interrupts iomem
ioports swaps""".split()
GENERATED = ["passwd", "group", "hosts", "hostname", "resolv.conf"]
BASE = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"]
SYSTEM_DIRS = ["/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64",
               "/libx32", "/opt", "/proc", "/root", "/run", "/sbin", "/srv",
               "/sys", "/tmp", "/usr", "/var"]


def matches(name, patterns, fold=False):
    if fold:
        name = name.lower()
    for p in patterns:
        if name == p or p[-1] == "*" and name.startswith(p[:-1]):
            return True
    return False


def code(name, verb):
    """Whether the value is code, by this verb."""
    if name in NO_CODE:
        return False
    return matches(name, CODE_ALWAYS) or verb == "inherit" and (
        matches(name, CODE_INHERITED) or matches(name, CODE_FOLDED, True))


def known(name):
    return name in LISTS or name in PLACES or name in PLAIN or \
        name in UNCOUPLED or name.startswith("LC_") and len(name) > 3


def path_valued(name):
    return name in PLACES or name in UNCOUPLED or \
        name in LISTS and LISTS[name][2]


def verbs(name):
    """The verbs that a variable of this name takes."""
    if name in LISTS:
        v = set()
        if LISTS[name][3]:
            v |= {"merge", "prepend"}
        if LISTS[name][4]:
            v.add("sanitise")
        # what no verb of lists writes, and is code, the host's may set
        if not v and code(name, "set"):
            v.add("set")
        return v
    if name in PLACES:
        return {"set"}
    return {"set", "inherit"}
