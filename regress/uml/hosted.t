#!/usr/bin/python3
"""Hosted mode where user namespaces are switched off (S100, B013): another
kernel, whose root is root of nothing here."""
from uml import *

if not HOSTED:
    print("1..0 # skip hosted mode is another installation: make check-hosted")
    sys.exit(0)
if UML is None:
    skip("S100 user namespaces off", "user-mode-linux cannot be had here")
    done()

SCRIPT = """
export H=/run/h
mkdir -p $H/.config/carrel/profiles.d $H/proj
echo "$PLAIN" > $H/.config/carrel/profiles.d/plain.profile
cat > $H/.config/carrel/profiles.d/net.profile <<'EOF'
[profile]
description = x
[egress]
allow = https://*.example.org:443
EOF
chown -R %(uid)d $H
chown -R 0:0 /run/inst
mount --bind /run/inst %(place)s
C=%(place)s/bin/carrel
chmod 4755 $C
chmod 711 %(place)s/libexec/carrel/carrel-parse %(place)s/libexec/carrel/carrel-broker
U() {
	(cd $H/proj && exec setpriv --reuid=%(uid)d --regid=%(gid)d \
	    --clear-groups env -i HOME=$H USER=x GLIBC_TUNABLES=$GLIBC_TUNABLES \
	    PATH=/usr/bin:/bin TERM=dumb LC_ALL=C.UTF-8 H=$H "$@")
}
D="--without-landlock --no-defaults -p @sys -p @home -p @target -p plain"
echo 0 > /proc/sys/user/max_user_namespaces
t off U unshare -U true
t user U $C run --user-mode $D -- echo %(mark)s
t run U $C run $D -- sh -c 'echo %(mark)s; id -u; grep ^Cap /proc/self/status;
    ls /home /root 2>&1; touch made; exit 7'
t made ls -n $H/proj/made
t python U $C run $D -- python3 -c 'print("%(mark)s")'
t net U $C run $D -p net -- getent ahostsv4 a.example.org
t shadow U $C run $D -- cat /etc/shadow
t refused U $C run $D -p nosuch -- echo %(mark)s
sleep 1
t over sh -c 'dmesg | grep -c "event=.over"'
t left sh -c 'for i in 1 2 3 4 5; do ps -eo comm | grep -q ^carrel || break
    sleep 1; done; ps -eo comm,args | grep ^carrel'
"""
r = boot(SCRIPT % {"uid": UID, "gid": GID, "place": INST, "mark": MARK})
if isinstance(r, str):
    ok(False, "S100 that kernel comes to its end", r)
    done()


def got(name):
    return r.get(name, (None, "not run"))


ok(got("off")[0] not in (0, None), "S100 control: no user namespaces there",
   got("off"))
ok(got("user")[0] == OWN and "max_user_namespaces" in got("user")[1],
   "S100 B013 user mode does not work there, and says why", got("user"))
code, out = got("run")
ok(code == 7 and MARK in out and "%d\n" % UID in out and
   set(re.findall(r"Cap...:\t(\w+)", out)) == {"0" * 16} and
   "No such file" in out, "S100 hosted mode does: the payload's code, ids, "
   "no capability, and the view", got("run"))
ok(got("made")[0] == 0 and " %d %d " % (UID, GID) in got("made")[1],
   "S100 what it makes is the user's", got("made"))
ok(got("python")[0] == 0 and MARK in got("python")[1], "S100 a real program",
   got("python"))
ok(got("net")[0] == 0 and "a.example.org" in got("net")[1],
   "S100 a way out, with a socket factory, without IPv6", got("net"))
ok(got("shadow")[0] not in (0, None) and "root:" not in got("shadow")[1],
   "S101 no file that the user cannot read", got("shadow"))
ok(got("refused")[0] == OWN and MARK not in got("refused")[1],
   "S100 a refusal", got("refused"))
ok(int(got("over")[1].strip() or 0) >= 5, "S104 each end is recorded there",
   got("over"))
ok(got("left") == (1, ""), "S100 nothing is left", got("left"))
done()
