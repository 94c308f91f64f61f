#!/usr/bin/python3
"""carrel doctor in a kernel without Landlock, with user namespaces switched
off, and installed setuid root, where the settings of a host can be set (S95,
S100, S102, S105)."""
import json
from uml import *

if UML is None:
    skip("doctor on other hosts", "user-mode-linux cannot be had here")
    done()

SCRIPT = """
export H=/run/h
mkdir -p $H/proj /run/etc/carrel
cp /etc/passwd /etc/group /etc/nsswitch.conf /run/etc/
[ ! -e /etc/ld.so.cache ] || cp /etc/ld.so.cache /run/etc/
mount --bind /run/etc /etc
chown -R %(uid)d $H
U() {
	(cd $H/proj && exec setpriv --reuid=%(uid)d --regid=%(gid)d \
	    --clear-groups env -i HOME=$H PATH=/usr/bin:/bin TERM=dumb \
	    GLIBC_TUNABLES=$GLIBC_TUNABLES LC_ALL=C.UTF-8 "$@")
}
S() { # the doctor's screen, of what is installed with privilege
	U /run/inst/libexec/carrel/carrel-screen doctor $C \
	    /run/inst/libexec/carrel /run/inst/share/carrel/profiles json 0 "" "" \
	    HOME=$H XDG_CONFIG_HOME PATH=/usr/bin:/bin
}
t plain U $C doctor --json
t plain-run U $C run --no-defaults -p @sys -- true
t weak-run U $C run --without-landlock --no-defaults -p @sys -- true
echo 0 > /proc/sys/user/max_user_namespaces
t off U $C doctor --json
t off-run U $C run --without-landlock --no-defaults -p @sys -- true
echo 500 > /proc/sys/user/max_user_namespaces
mount -o ro,bind /proc/sys /proc/sys 2>&-
t masked U $C doctor --json
umount /proc/sys
chmod 4755 $C
echo 1 > /proc/sys/fs/suid_dumpable
t hosted S
echo 2 > /proc/sys/fs/suid_dumpable
chmod 0711 /run/inst/libexec/carrel/*
echo x > /etc/carrel/ceiling.conf
chmod 666 /etc/carrel/ceiling.conf
t ceiling S
chmod 644 /etc/carrel/ceiling.conf
t owned S
mount -t tmpfs -o nosuid tmpfs /mnt
cp -rp /run/inst /mnt/
C=/mnt/inst/bin/carrel
t nosuid S
t end-user U $C --version
""" % {"uid": UID or 1000, "gid": GID or 1000}

got = boot(SCRIPT)
ok(isinstance(got, dict), "the other kernel came to the end", got)
if not isinstance(got, dict):
    done()


def checks(name):
    code, out = got[name]
    j = json.loads(out)
    ok(code == (0 if j["works"] else 1), "%s: exit %d" % (name, code), out)
    return j, {c["id"]: c for c in j["checks"]}


j, by = checks("plain")
ok(got["plain-run"][0] == OWN and got["weak-run"][0] == 0 and
   [c["id"] for c in j["checks"] if c["state"] == "no"] in (
       ["landlock"], ["landlock", "configuration", "profiles"]) and
   re.search(r"CONFIG_SECURITY_LANDLOCK|lsm=", by["landlock"]["fix"]) and
   "--without-landlock" in by["landlock"]["fix"],
   "S95 R074 a kernel without Landlock: the one cause, and what to do", j)
j, by = checks("off")
ok(got["off-run"][0] == OWN and by["namespaces"]["state"] == "no" and
   "sysctl -w user.max_user_namespaces=" in by["namespaces"]["fix"] and
   by["mount"]["state"] == "note" and by["run"]["state"] == "note",
   "S95 R074 user namespaces switched off: the sysctl", by)
j, by = checks("masked")
ok(by["proc"]["state"] == "no" and "unmask=ALL" in by["proc"]["fix"],
   "S95 B012 a masked /proc", by["proc"])
j, by = checks("hosted")
ok(j["mode"] == "hosted" and by["suid-dumpable"]["state"] == "no" and
   by["suid-dumpable"]["fix"] == "as root sysctl -w fs.suid_dumpable=0" and
   by["ceiling"]["state"] == "note" and by["log"]["state"] in ("no", "note"),
   "S105 hosted: memory that can be read; S104 no log", by)
ok(sum(c["id"] == "hosted-files" and c["state"] == "no" and
       "chmod 0711" in c["fix"] for c in j["checks"]) == 2,
   "S105 hosted: helpers that can be read", j)
j, by = checks("ceiling")
ok(by["suid-dumpable"]["state"] == "ok" and by["ceiling"]["state"] == "no" and
   "chmod 644 /etc/carrel/ceiling.conf" in by["ceiling"]["fix"] and
   all(c["state"] == "ok" for c in j["checks"] if c["id"] == "hosted-files"),
   "S102 a ceiling that everybody can lift", by)
j, by = checks("owned")
ok(by["ceiling"]["state"] == "ok" and "mode 0644" in by["ceiling"]["text"],
   "S102 control: root's own", by["ceiling"])
j, by = checks("nosuid")
ok(j["mode"] == "user" and by["mode"]["state"] == "note" and
   "nosuid" in by["mode"]["text"], "S100 on a nosuid mount: user mode, and "
   "why", by["mode"])
done()
