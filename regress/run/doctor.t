#!/usr/bin/python3
"""carrel doctor (S95): it says yes where run works and nowhere else, names the
right cause, and what mends it; with --json the same."""
import errno
import json
import jsonschema
from tap import *

WITHOUT = HELPERS + "/without"
MODE = os.environ.get("CARREL_T_MODE", "user")
with open(INST + "/share/carrel/etc/carrel-doctor.schema.json") as f:
    SCHEMA = json.load(f)
jsonschema.Draft202012Validator.check_schema(SCHEMA)
VALID = jsonschema.Draft202012Validator(SCHEMA)
RUN = ("run", "--no-defaults", "-p", "@sys", "--", "echo", MARK)


def findings(text):
    """The lines of the text, unfolded: (word, rest)."""
    text = re.sub(r"\n {4}", " ", text)
    return [tuple(x.split(None, 1)) for x in text.split("\n")
            if re.match(r"(ok|--|no) ", x)]


def agree(name, doctor, run, cause):
    """One verdict for both, and the doctor says why: a line with a fix."""
    said = findings(doctor.out)
    no = [x[1] for x in said if x[0] == "no"]
    ok((doctor.code == 0) == (run.code == 0 and MARK in run.out) and
       doctor.code in (0, 1) and len(said) > 10,
       "S95 %s: doctor says %s, and so does run" % (
           name, "yes" if doctor.code == 0 else "no"), doctor, run)
    ok((doctor.code == 0) == (not no) and
       re.search(r"(?m)^%s  " % ("NO" if no else "YES"), doctor.out),
       "S95 %s: the verdict is that of the lines" % name, doctor)
    if cause is None:
        return
    ok(any(re.search(cause, x) and "; " in x for x in no),
       "S95 %s: and why, with what to do: %s" % (name, cause), doctor)


def blocked(p):
    """System calls that a container's filter may refuse."""
    for call, no, cause in (
            ("clone", errno.EPERM, "new user.*system-call filter around"),
            ("vfork", errno.EPERM, "vfork: .*a filter around carrel"),
            ("fsopen", errno.EPERM, "mount API: .*seccomp=unconfined"),
            ("fsopen", errno.ENOSYS, "mount API: .*seccomp=unconfined"),
            ("467", errno.ENOSYS, None), # open_tree_attr
            ("mount_setattr", errno.EPERM, "mount API: .*seccomp=unconfined"),
            ("move_mount", errno.EPERM, "mount API: .*seccomp=unconfined"),
            ("pivot_root", errno.EPERM, "pivot_root: .*seccomp=unconfined"),
            ("openat2", errno.EPERM, "openat2.*seccomp=unconfined"),
            ("openat2", errno.ENOSYS, "openat2.*seccomp=unconfined"),
            ("keyctl", errno.EPERM, r"keyring: .*keyctl\(2\)"),
            ("keyctl", errno.ENOSYS, None),
            ("landlock_create_ruleset", errno.ENOSYS, "Landlock: .*hides"),
            ("landlock_restrict_self", errno.EPERM, "Landlock: .*unconfined"),
            ("seccomp", errno.EPERM, "filters: .*unconfined"),
            ("getrandom", errno.ENOSYS, None)):
        with_ = [WITHOUT, call, str(no), CARREL]
        agree("%s: %s" % (call, errno.errorcode[no]),
              p.host(*with_, "doctor"), p.host(*with_, *RUN), cause)


def restricted(p):
    """A user who may little, and namespaces around."""
    for limit, cause in (("--nproc=1:1", "no room for another process"),
                         ("--nofile=8:8", "ulimit -n"),
                         ("--fsize=0:0", "ulimit -f"),
                         ("--cpu=100", None), ("--nofile=64:64", None)):
        if limit.startswith("--nproc") and not IS_ROOT:
            continue
        with_ = ["prlimit", limit, CARREL]
        agree(limit, p.host(*with_, "doctor"), p.host(*with_, *RUN), cause)
    mask = "mount --bind /dev/null /proc/uptime && exec %s " % CARREL
    with_ = ["unshare", "-Urm", "sh", "-c"]
    agree("a masked /proc", p.host(*with_, mask + "doctor"),
          p.host(*with_, mask + " ".join(RUN)), "systempaths=unconfined")
    for ns in ("user", "net", "cgroup"):
        script = "echo 0 > /proc/sys/user/max_%s_namespaces; exec setpriv " \
            "--reuid 0 %s " % (ns, CARREL)
        agree("max_%s_namespaces = 0" % ns, p.host(*with_, script + "doctor"),
              p.host(*with_, script + " ".join(RUN)),
              r"sysctl -w user\.max_%s_namespaces=" % ns)


def configured(p):
    """S22: a file that does not parse is reported, and takes nothing down."""
    p.profile("bad", "[profile]\ndescription = x\nfrob = yes\n")
    r = p.do("doctor")
    said = findings(r.out)
    ok(r.code == 1 and [x for x in said if x[0] == "no"] ==
       [x for x in said if x[1].startswith("configuration: ")] and
       "bad.profile:3" in r.out and ("ok", "run: true was run in a sandbox, "
       "with the profile @sys") in said,
       "S22 a profile that nobody asked for is bad: told, and the rest shown",
       r)
    p.unprofile()
    ok(p.do("doctor").code == 0, "S22 control: it is gone")
    p.write(p.conf + "/config", "[carrel]\ndefaults = @nosuch\n")
    r = p.do("doctor")
    run = p.run("echo", MARK)
    ok(r.code == 1 and run.code == OWN and MARK not in run.out and
       any(x[0] == "no" and x[1].startswith("profiles: ") and "@nosuch" in x[1]
           and "; " in x[1] for x in findings(r.out)),
       "S95 defaults that are not there: no run, and why", r, run)
    p.write(p.conf + "/config", "frob\n")
    r = p.do("doctor")
    ok(r.code == 1 and "config:1" in r.out, "S22 preferences that are none", r)
    os.unlink(p.conf + "/config")


def installed(p):
    """What is not there, or is somebody else's to change."""
    at = p.top + "/i"
    shutil.copytree(INST, at)
    lib = at + "/libexec/carrel/"
    sys_ = at + "/share/carrel/profiles/sys.profile"
    for name, path, mode, word, runs in (
            ("control", None, 0, None, True),
            ("a helper that cannot be executed", lib + "carrel-parse", 0o644,
             "Permission denied; install carrel again", False),
            ("a helper that all can write", lib + "carrel-parse", 0o777,
             "everybody can change it; chmod go-w", True),
            ("a directory that all can write", lib[:-1], 0o777,
             "everybody can change it; chmod go-w", True),
            ("a profile that cannot be read", sys_, 0,
             "Permission denied; install carrel again", False)):
        if path:
            was = os.stat(path).st_mode & 0o777
            os.chmod(path, mode)
        r = p.host(at + "/bin/carrel", "doctor")
        run = p.host(at + "/bin/carrel", *RUN)
        if path:
            os.chmod(path, was)
        no = [x[1] for x in findings(r.out) if x[0] == "no"]
        ok(r.code == (1 if word else 0) and (run.code == 0) == runs and
           (not word or any(word in x for x in no)), "S95 %s" % name, r, run)
    for name in ("libexec/carrel/carrel-broker", "libexec/carrel/carrel-parse",
                 "share/carrel/profiles/target.profile"):
        os.rename(at + "/" + name, at + "/away")
        r = p.host(at + "/bin/carrel", "doctor")
        ok(r.code == 1 and "No such file" in r.out and name in re.sub(
            r"\n {4}", "", r.out), "S95 %s is not there" % name, r)
        os.rename(at + "/away", at + "/" + name)
    os.link(lib + "carrel-parse", at + "/second")
    r = p.host(at + "/bin/carrel", "doctor")
    run = p.host(at + "/bin/carrel", *RUN)
    os.unlink(at + "/second")
    agree("a helper with a second name", r, run, "hard link")
    os.rename(lib + "carrel-screen", at + "/away")
    r = p.host(at + "/bin/carrel", "doctor")
    ok(r.code == OWN and "carrel-screen: " in r.err and "not installed "
       "completely" in r.err, "S95 the doctor itself is not there", r)
    os.rename(at + "/away", lib + "carrel-screen")
    p.write(at + "/bin/carrel", b"\x7fELF", 0o755)
    r = p.host(lib + "carrel-screen", "doctor", at + "/bin/carrel", lib[:-1],
               at + "/share/carrel/profiles", "text", "0", "", "", "HOME=/", "X",
               "PATH=/usr/bin")
    ok(r.code == 1 and "run: " in r.out and "Exec format" in r.out,
       "S95 a carrel that is none", r)


def modes(p):
    """Which mode, and what hosted mode needs: screens only, nothing is
    installed with privilege here for longer than that."""
    def judged(*front):
        r = p.host(*front, at + "/libexec/carrel/carrel-screen", "doctor",
                   at + "/bin/carrel", at + "/libexec/carrel",
                   at + "/share/carrel/profiles", "json", "0", "", "",
                   "HOME=" + p.home, "XDG_CONFIG_HOME", "PATH=/usr/bin:/bin")
        j = json.loads(r.out)
        ok(not list(VALID.iter_errors(j)), "S95 as the schema says",
           list(VALID.iter_errors(j))[:2])
        return j, {c["id"]: c for c in j["checks"]}, \
            [c for c in j["checks"] if c["id"] == "hosted-files"]
    at = p.top + "/h"
    shutil.copytree(INST, at)
    j, by, files = judged()
    ok(j["mode"] == "user" and by["mode"]["state"] == "ok" and not files and
       ("uid %d" % UID) in by["mode"]["text"], "S100 without privilege", by)
    os.chmod(at + "/bin/carrel", 0o4755)
    j, by, files = judged()
    ok(j["mode"] == "user" and by["mode"]["state"] == "no" and
       by["mode"]["fix"].startswith("chmod ug-s "),
       "S100 setuid to another than root: no mode at all", by["mode"])
    if not IS_ROOT:
        return
    if os.statvfs(at).f_flag & os.ST_NOSUID:
        skip("hosted mode", "/home is mounted nosuid")
        return
    with root():
        for d, _, names in os.walk(at):
            os.chown(d, 0, 0)
            for n in names:
                os.chown(d + "/" + n, 0, 0)
        os.chmod(at + "/bin/carrel", 0o4755)
    j, by, files = judged()
    bad = [c for c in files if c["state"] == "no"]
    ok(j["mode"] == "hosted" and "setuid root" in by["mode"]["text"] and
       len(bad) == 2 and all("chmod 0711 " in c["fix"] for c in bad),
       "S100 S105 hosted: helpers that can be read", bad)
    ok(by["ceiling"]["state"] == ("note" if not os.path.lexists(
        "/etc/carrel/ceiling.conf") else by["ceiling"]["state"]) and
       by["suid-dumpable"]["state"] == ("no" if open(
           "/proc/sys/fs/suid_dumpable").read().strip() == "1" else "ok") and
       by["log"]["state"] == ("ok" if os.path.exists("/dev/log") else "note"
                              if os.path.exists("/dev/kmsg") else "no"),
       "S102 S104 hosted: ceiling, dumpable and log", by)
    with root():
        for n in ("broker", "parse", "screen"):
            os.chmod(at + "/libexec/carrel/carrel-" + n, 0o711)
    j, by, files = judged()
    ok(files and all(c["state"] == "ok" for c in files),
       "S105 control: as they are installed", files)
    j, by, files = judged("setpriv", "--no-new-privs")
    ok(j["mode"] == "user" and by["mode"]["state"] == "note" and
       "no_new_privs" in by["mode"]["text"],
       "S100 with no_new_privs it is user mode, and said", by["mode"])
    with root():
        os.chmod(at + "/libexec/carrel", 0o775)
        os.chown(at + "/bin/carrel", 0, GID)
        os.chmod(at + "/bin/carrel", 0o4775)
    j, by, files = judged()
    ok(sorted(c["fix"].split()[-2] for c in files if c["state"] == "no") ==
       ["4755", "755"], "S105 what others can write", files)
    with root():
        shutil.rmtree(at)


def shown(p):
    """Text, JSON and widths."""
    r = p.do("doctor", "--json")
    j = json.loads(r.out)
    bad = [e.message for e in VALID.iter_errors(j)]
    ok(r.code == 0 and not bad and r.out.count("\n") == 1 and
       j["works"] is True and j["mode"] == MODE,
       "S93 --json: one line, as the schema says", bad, r)
    text = findings(p.do("doctor").out)
    want = [({"ok": "ok", "note": "--", "no": "no"}[c["state"]],
             c["text"] + ("; " + c["fix"] if c["fix"] else ""))
            for c in j["checks"]]
    ok(text == want, "S93 and the text says the same", text, want)
    for columns in (24, 40, 80):
        r = p.wide("doctor", columns=columns)
        lines = r.out.replace("\r", "").split("\n")
        ok(r.code == 0 and max(map(len, lines)) <= columns and
           "\x1b" not in r.out, "S91 %d columns" % columns, max(lines, key=len))
    for argv in (["doctor", "x"], ["doctor", "--json", "x"],
                 ["doctor", "-p", "x"]):
        r = p.do(*argv)
        ok(r.code == OWN and not r.out and "--json" in r.err,
           "%s is refused" % " ".join(argv), r)
    r = p.do("doctor", "--help")
    ok(r.code == 0 and "doctor" in r.out, "doctor --help")
    before = tree(p.top)
    ok(p.do("doctor").code == 0 and tree(p.top) == before,
       "S95 it leaves nothing behind")


with Place() as p:
    agree("this host", p.do("doctor"), p.do(*RUN), None)
    shown(p)
    configured(p)
    # a filter or a namespace around takes the privilege away
    if MODE == "user":
        blocked(p)
        restricted(p)
        installed(p)
        modes(p)
    left = gone()
    ok(not left, "no process is left", left)
done()
