#!/usr/bin/python3
"""[limits] that a control group holds, in a kernel that has them (S73, S6,
S64). The cases run in one boot; who is user and who is root there is no matter
of this host."""
from uml import *

if UML is None:
    skip("limits by cgroup v2", "user-mode-linux cannot be had here")
    done()

# Who runs carrel there: user HOME in a group that is delegated to him.
SCRIPT = """
CG=/sys/fs/cgroup
echo "+memory +pids +cpu" > $CG/cgroup.subtree_control
mkdir $CG/mine $CG/roots $CG/half $CG/half/mine
chown -R %(uid)d $CG/mine $CG/half/mine
echo "+pids" > $CG/half/cgroup.subtree_control
export H=/run/h
mkdir -p $H/.config/carrel/profiles.d $H/proj
P() { # P NAME LINE...: a profile with these limits
	n=$1; shift
	{ echo '[profile]'; echo 'description = x'; echo '[limits]'
	  for l; do echo "$l"; done; } > $H/.config/carrel/profiles.d/$n.profile
}
P mem 'memory = 48M'
P less 'memory = 32M'
P cpu 'cpu = 20%%' 'wall-time = 20s'
P procs 'processes = 5'
P bomb 'processes = 20' 'memory = 64M' 'wall-time = 2s'
P all 'memory = 48M' 'cpu = 50%%' 'processes = 8'
echo "$PLAIN" > $H/.config/carrel/profiles.d/plain.profile
cp -r $H /run/roots
chown -R %(uid)d $H
# U GROUP COMMAND...: as the user, alone in that group
U() {
	g=$1; shift
	(cd $H/proj && exec sh -c '[ ! -e $0/cgroup.procs ] ||
	    echo 0 > $0/cgroup.procs; exec setpriv \
	    --reuid=%(uid)d --regid=%(gid)d --clear-groups env -i HOME=$H USER=x \
	    GLIBC_TUNABLES=$GLIBC_TUNABLES PATH=/usr/bin:/bin TERM=dumb LC_ALL=C.UTF-8 H=$H "$@"' $CG/$g "$@")
}
R() { # as root, in the group roots
	(cd $H/proj && exec sh -c 'echo 0 > $0/cgroup.procs
	    exec env HOME=/run/roots "$@"' $CG/roots "$@")
}
L=--without-landlock
D="--no-defaults -p @sys -p @home -p plain"
HOG='x = bytearray(%%d << 20)
for i in range(0, len(x), 4096): x[i] = 1
print("%(mark)s")'
left() { # nothing of carrel's is left in a group, and all is as it was
	ls -d $CG/$1/carrel-* 2>&-; cat $CG/$1/cgroup.subtree_control \
	    $CG/$1/cgroup.procs | tr -d '\\n'
}
hog() { printf "$HOG" "$1"; }

t hog U mine $C run $L $D -p mem -- python3 -c "$(hog 200)"
t left left mine
t hog-control U mine $C run $L $D -p mem -- python3 -c "$(hog 8)"
t hog-control2 U mine $C run $L $D -- python3 -c "$(hog 60)"
t hog-least U mine $C run $L $D -p less -p mem -- python3 -c "$(hog 40)"
t hog-child U mine $C run $L $D -p mem -- sh -c \
    'echo %(mark)s; python3 -c "$0"; echo rc $?; exit 7' "$(hog 200)"
t filler U mine $C run $L $D -p mem -- sh -c \
    'echo %(mark)s; dd if=/dev/zero of=/tmp/x bs=1M count=200 2>&-; echo rc $?'
t left-filler left mine
# every kind of memory that is not a process's own, each in a child that is to
# be killed first; prints how much it had, and 999 for who had it all
cat > $H/proj/hoards.py <<'EOF'
import ctypes, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
PIECE = bytes(1 << 20)
held = []

def shm():
    n = libc.shmget(0, 90 << 20, 0o1600)
    libc.shmat.restype = ctypes.c_void_p
    at = libc.shmat(n, None, 0)
    libc.shmctl(n, 0, None)
    for i in range(90):
        ctypes.memset(at + (i << 20), 1, 1 << 20)
        yield i + 1

def memfd():
    fd = os.memfd_create("x")
    for i in range(90):
        os.write(fd, PIECE)
        yield i + 1

def dev_shm():
    f = open("/dev/shm/x", "wb", buffering=0)
    os.unlink("/dev/shm/x")
    for i in range(90):
        f.write(PIECE)
        yield i + 1

def sockets():
    for i in range(450):
        a, b = socket.socketpair()
        held.append((a, b))
        a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        a.setblocking(False)
        try:
            while a.send(PIECE): pass
        except BlockingIOError: pass
        yield i // 5 + 1

for way in shm, memfd, dev_shm, sockets:
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        open("/proc/self/oom_score_adj", "w").write("1000")
        try:
            for n in way():
                os.write(w, bytes([n]))
                if n >= 90:
                    os.write(w, b"\\xff")
                    break
        except (OSError, MemoryError) as e:
            print(way.__name__, "error", e, flush=True)
        os._exit(0)
    os.close(w)
    had = b""
    while True:
        got = os.read(r, 4096)
        if not got: break
        had = got
    status = os.waitpid(pid, 0)[1]
    print("%%s %%d %%d" %% (way.__name__, 999 if had[-1:] == b"\\xff" else
          had[-1] if had else 0, status & 127), flush=True)
EOF
HOARDS=$(cat $H/proj/hoards.py)
t hoards U mine $C run $L $D -p mem -- python3 -c "$HOARDS"
t hoards-control U mine $C run $L $D -- python3 -c "$HOARDS"
SPIN='import time
t = time.monotonic()
while time.monotonic() - t < 1.3: pass
print("%(mark)s")'
t cpu U mine sh -c '(sleep 1; grep -h nr_throttled \
    '$CG'/mine/carrel-*-run/cpu.stat) & exec '"$C run $L $D -p cpu -- python3 \
    -c '$SPIN'"
t cpu-control U mine sh -c '(sleep 1; grep -h nr_throttled \
    '$CG'/mine/carrel-*-run/cpu.stat) & exec '"$C run $L $D -p mem -- python3 \
    -c '$SPIN'"
MANY='import os, time
n = 0
try:
    while n < 12:
        if os.fork() == 0: time.sleep(60); os._exit(0)
        n += 1
except OSError as e: print("errno", e.errno)
print("made", n)'
t procs-user U mine $C run $L $D -p procs -- python3 -c "$MANY"
t procs-root R $C run $L $D -p procs -- python3 -c "$MANY"
t procs-control R $C run $L $D -- python3 -c "$MANY"
t left-root left roots
t bomb U mine $C run $L $D -p bomb -- sh -c \
    'echo %(mark)s; b() { b | b & }; (b 2>&-) & exec sleep 60'
t left-bomb left mine
t bomb-gone sh -c 'ps ax -o comm= | grep -cE "^(sh|carrel)$" || :'
# what carrel has started itself makes room, and comes back
t child U mine sh -c 'sleep 20 & echo $! > /run/h/child; exec '"$C run $L $D \
    -p mem -- echo %(mark)s"
t left-child sh -c 'ls -d '$CG'/mine/carrel-* 2>&-; cmp '$CG'/mine/cgroup.procs \
    /run/h/child; kill -KILL $(cat /run/h/child); sleep 0.2'
t inside U mine $C run $L $D -p all -- sh -c \
    'cat /proc/self/cgroup; ls -A /sys /sys/fs 2>&1; id -u'
t outside U mine sh -c '(sleep 1; cat '$CG'/mine/carrel-*-run/memory.max \
    '$CG'/mine/carrel-*-run/cpu.max '$CG'/mine/cgroup.procs) & exec '"$C run $L \
    $D -p all -- sleep 2"
# S64: killed at once, the empty group stays, and the next run removes it
killed() {
	U mine $C run $L $D -p mem -- sleep 60 & pid=$!
	n=0
	while [ $n -lt 50 ] && ! ls -d $CG/mine/carrel-*-run >/dev/null 2>&1; do
		sleep 0.1; n=$((n+1))
	done
	sleep 0.5
	kill -KILL $(cat $CG/mine/carrel-*-out/cgroup.procs)
	wait $pid
	sleep 0.5
	cat $CG/mine/carrel-*/cgroup.procs | wc -l
	ls -d $CG/mine/carrel-* | wc -l
	echo "-memory -cpu -pids" > $CG/mine/cgroup.subtree_control
}
t killed killed
t swept U mine $C run $L $D -p mem -- echo %(mark)s
t left-swept left mine
# S6
t not-delegated U roots $C run $L $D -p mem -- echo %(mark)s
t half U half/mine $C run $L $D -p mem -- echo %(mark)s
t half-processes U half/mine $C run $L $D -p procs -- echo %(mark)s
t shared U mine sh -c "$C run $L $D -p mem -- echo %(mark)s; exit \\$?"
t left-shared left mine
t term U mine sh -c '(sleep 1.5; kill -TERM $$) & exec '"$C run $L $D -p mem -- \
    sleep 60"
t left-term left mine
t not-found U mine $C run $L $D -p mem -- no-such-command
t left-not-found left mine
t explain U mine $C explain $L $D -p all -p less -- true
t explain-not U roots $C explain $L $D -p all -- true
t doctor U mine $C doctor
t doctor-not U roots $C doctor
umount $CG
t none U . $C run $L $D -p mem -- echo %(mark)s
t none-control U . $C run $L $D -p procs -- echo %(mark)s
""" % {"uid": UID or 1000, "gid": GID or 1000, "mark": MARK}

got = boot(SCRIPT)
if not isinstance(got, dict):
    ok(False, "the kernel came to the end of the cases", got[-3000:])
    done()


def case(name):
    return got.get(name, ("missing", ""))


def check(good, name, text):
    return ok(good, text, "exit %s" % case(name)[0], case(name)[1])


def nothing_left(*names):
    for n in names:
        equal(case(n)[1], "", "S64 no group is left (%s)" % n)


def memory():
    code, out = case("hog")
    check(code == 137 and MARK not in out and
          "a limit ended the payload (signal 9): memory = 48M of mem, /run/h/"
          ".config/carrel/profiles.d/mem.profile:4" in out,
          "hog", "S73 S61 memory: a hog is killed, and who set the limit told")
    for n in ("hog-control", "hog-control2"):
        check(case(n)[0] == 0 and case(n)[1] == MARK, n, "S73 control: " + n)
    check(case("hog-least")[0] == 137 and
          "memory = 32M of less, " in case("hog-least")[1], "hog-least",
          "S2b memory: the least of all")
    code, out = case("hog-child")
    check(code == 7 and "rc 137" in out and "ended 1 of the payload's" in out
          and "memory = 48M of mem" in out, "hog-child",
          "S73 memory: a child is killed, the payload goes on")
    code, out = case("filler")
    check(code in (0, 137) and MARK in out and "rc 0" not in out and
          "memory = 48M of mem" in out, "filler",
          "S73 memory: files in a tmpfs are memory")


    found = {}
    for n in ("hoards", "hoards-control"):
        found[n] = dict((x.split()[0], list(map(int, x.split()[1:])))
                        for x in case(n)[1].splitlines()
                        if re.match(r"[a-z_]+ \d+ \d+$", x))
    for way in ("shm", "memfd", "dev_shm", "sockets"):
        had, sig = found["hoards"].get(way, (999, 0))
        free, _ = found["hoards-control"].get(way, (0, 0))
        # of what the kernel of this test does not count there is no more
        ok(had <= 48 or had == free < 999,
           "S73 memory: no more by %s" % way, had, sig, free,
           case("hoards")[1], case("hoards-control")[1])
    ok(sum(v[0] == 999 for v in found["hoards-control"].values()) >= 3,
       "S73 control: without a limit there is", found)


def others():
    code, out = case("cpu")
    n = re.search(r"nr_throttled (\d+)", out)
    check(code == 0 and MARK in out and n and int(n[1]) > 3, "cpu",
          "S73 cpu: a fifth of a processor")
    code, out = case("cpu-control")
    check(code == 0 and MARK in out and "nr_throttled" not in out,
          "cpu-control", "S73 control: without a limit nobody is held back")
    for n in ("procs-user", "procs-root"):
        check(case(n)[1].splitlines()[:2] == ["errno 11", "made 4"], n,
              "S73 processes: five with the payload, and no more (%s)" % n)
    check("made 12" in case("procs-control")[1], "procs-control",
          "S73 control: without a limit")
    check(case("bomb")[0] == 124 and MARK in case("bomb")[1], "bomb",
          "S73 S61 a fork bomb ends with its wall time")
    check(case("bomb-gone")[1] == "1", "bomb-gone",
          "S64 nothing of the bomb is left")
    check(case("child") == (0, MARK), "child",
          "S73 a child of carrel's own is no other process")
    check(case("inside")[1].splitlines()[:1] == ["0::/"], "inside",
          "S65 the run's group is the root of its cgroup namespace")
    code, out = case("outside")
    check(code == 0 and out.split() == [str(48 << 20), "50000", "100000"],
          "outside", "S73 what stands in the group, and nobody beside it")


def lifetime():
    nothing_left("left", "left-child", "left-filler", "left-root", "left-bomb",
                 "left-swept", "left-shared", "left-term", "left-not-found")
    code, out = case("killed")
    check(out.split()[-2:] == ["0", "2"], "killed",
          "S64 carrel was killed: the groups are empty")
    check(case("swept")[0] == 0 and case("swept")[1] == MARK, "swept",
          "S64 and the next run removes them")
    check(case("term")[0] == 143, "term", "S63 SIGTERM goes to the payload")
    check(case("not-found")[0] == 127, "not-found", "S61 not found: 127")


def refusals():
    for n, what in (
            ("not-delegated", "cgroup /sys/fs/cgroup/roots is not delegated "
             "to this user; "),
            ("half", "cgroup /sys/fs/cgroup/half/mine is not delegated to this "
             "user with the controller \"memory\"; "),
            ("shared", "other processes are in the cgroup /sys/fs/cgroup/mine"
             "; ")):
        code, out = case(n)
        check(code == OWN and MARK not in out.replace("echo " + MARK, "") and
              "memory = 48M of mem, " in out and "cannot be enforced" in out and
              what in out and "systemd-run --user --scope -p Delegate=yes "
              "carrel run" in out and out.count("\n") == 0, n,
              "S6 %s: refused, with what would help" % n)
    check(case("none")[0] == OWN and "no cgroup v2 is mounted" in
          case("none")[1], "none", "S6 no cgroup v2: refused")
    for n in ("half-processes", "none-control"):
        check(case(n)[0] == 0 and case(n)[1] == MARK, n,
              "S73 processes need no group (%s)" % n)


def screens():
    out = unfold(case("explain")[1])
    check(case("explain")[0] == 0 and
          re.search(r"memory +32M of the whole run.* memory less:4$", out,
                    re.M) and
          re.search(r"cpu +50% of one processor.* cpu all:5$", out, re.M) and
          re.search(r"processes +8 .* processes all:6$", out, re.M) and
          "<- a run stops here" not in out.replace("ABI", ""), "explain",
          "S91 explain: who set which limit")
    out = unfold(case("explain-not")[1])
    check(len(re.findall(r"(?:memory|cpu) all:\d <- a run stops here: carrel "
                         r"doctor", out)) == 2 and
          not re.search(r"processes all:6 <-", out), "explain-not",
          "S6 explain: what cannot be enforced is marked")
    out = re.sub(r"\n {4}", " ", case("doctor")[1])
    check(re.search(r"^ok +\[limits\] memory: a control group can be made in "
                    r"/sys/fs/cgroup/mine$", out, re.M) and
          re.search(r"^ok +\[limits\] cpu: ", out, re.M), "doctor",
          "S95 doctor: delegated")
    out = re.sub(r"\n {4}", " ", case("doctor-not")[1])
    check(re.search(r"^-- +\[limits\] memory: cannot be enforced from here; .*"
                    r"systemd-run --user --scope", out, re.M), "doctor-not",
          "S95 doctor: not delegated, and what would help")


memory()
others()
lifetime()
refusals()
screens()
done()
