"""Another kernel for a test: Debian's user-mode-linux boots on the files of
this host, which it may not write, in about two seconds, and has cgroup v2 with
memory, pids and cpu. It has no Landlock, one processor, and whoever is root in
it is root of nothing else."""
import os
import shutil
import subprocess
import tempfile
from tap import *

UML = shutil.which("linux.uml", path="/usr/bin:/bin")
KERNEL = ["mem=512M", "rootfstype=hostfs", "rootflags=/", "ro", "con=null",
          "con0=fd:0,fd:1", "ssl=null", "quiet", "loglevel=1"]
# Linux takes the registers of a process back only whole, and on a processor
# with AMX they are more than that kernel knows of. Without the call it takes
# the classic ones, and loses the wide ones at each page fault: so nothing there
# may use them (classic.c). What the command line does not know is the
# environment of the first process.
with open(os.path.dirname(os.path.abspath(__file__)) + "/tunables.h") as f:
    TUNABLES = "".join(re.findall('"(.*?)"', f.read()))
CLASSIC = [HELPERS + "/without", "ptrace:0x4204", "5"]

# The first process there. The root is read-only: what is written lies in /run.
INIT = """#!/bin/sh
export PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/run LC_ALL=C.UTF-8
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /dev/shm
mount -t cgroup2 cgroup2 /sys/fs/cgroup
# carrel, whose one program that is linked with glibc uses no wide registers
# either; a profile PLAIN does the same for a payload
mkdir -p /run/inst
cp -r %(inst)s/bin %(inst)s/libexec %(inst)s/share /run/inst/
mv /run/inst/libexec/carrel/carrel-screen /run/inst/libexec/carrel/carrel-screen.real
cp %(helpers)s/classic /run/inst/libexec/carrel/carrel-screen
C=/run/inst/bin/carrel
PLAIN="[environ.set]
GLIBC_TUNABLES = %(tunables)s"
# one case: what it says and how it ends
t() {
	name=$1
	shift
	echo "@@ $name"
	"$@" 2>&1 </dev/null
	echo "@@= $?"
}
%(script)s
echo "@@ end"
echo o > /proc/sysrq-trigger
sleep 60
"""


def boot(script, seconds=90):
    """Runs shell commands there, as root; name -> (exit code, output) of what
    t() ran, or a string: what it said instead of coming to the end."""
    top = tempfile.mkdtemp(prefix="uml.", dir=BASE)
    memory = tempfile.mkdtemp(prefix="uml.", dir="/dev/shm")
    own_copy(top + "/inst")     # that kernel reads as the user
    with open(top + "/init", "w") as f:
        f.write(INIT % {"script": script, "inst": top + "/inst", "helpers": HELPERS,
                        "tunables": TUNABLES})
    os.chmod(top, 0o755)
    os.chmod(top + "/init", 0o755)
    argv = CLASSIC + [UML] + KERNEL + [
        "init=%s/init" % top, "uml_dir=%s/uml" % top,
        "GLIBC_TUNABLES=" + TUNABLES]
    try:
        r = subprocess.run(argv, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           timeout=seconds, env={"PATH": "/usr/bin:/bin",
                                                 "HOME": top, "TMPDIR": memory},
                           **as_user())
        text = r.stdout
    except subprocess.TimeoutExpired as e:
        text = e.stdout or b""
    finally:
        shutil.rmtree(top, ignore_errors=True)
        shutil.rmtree(memory, ignore_errors=True)
    return parse(text.decode("utf-8", "backslashreplace").replace("\r", ""))


def parse(text):
    found, name, lines = {}, None, []
    for line in text.splitlines():
        if line == "@@ end":
            return found
        if line.startswith("@@= "):
            found[name] = (int(line[4:]), "\n".join(lines))
        elif line.startswith("@@ "):
            name, lines = line[3:], []
        else:
            lines.append(line)
    return text
