#!/bin/sh
# inside.sh PACKAGE: the package in a root of its own, from its installation
# to its purge. Run by package.sh; as root, and nothing of it is left to
# anybody.
# shellcheck disable=SC2317 # ok() calls them
set -u

deb=$1
cd /
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
user=carrel-tester
failed=0
n=0

ok() { # ok NAME COMMAND...
	name=$1
	shift
	n=$((n + 1))
	if "$@" >/tmp/out 2>&1; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		sed 's/^/# /' /tmp/out
		failed=1
	fi
}
not() { ! "$@"; }
says() { # says TEXT COMMAND...
	text=$1
	shift
	"$@" >/tmp/said 2>&1
	cat /tmp/said
	grep -qF -- "$text" /tmp/said
}
prints() { # prints TEXT COMMAND...: this and nothing else
	text=$1
	shift
	got=$("$@") || return
	echo "$got"
	[ "$got" = "$text" ]
}
exits() { # exits CODE COMMAND...
	want=$1
	shift
	"$@"
	code=$?
	echo "exit $code"
	[ "$code" -eq "$want" ]
}
as() {
	(cd "/home/$user/project" && setpriv --reuid="$user" \
	    --regid="$user" --init-groups env -i "HOME=/home/$user" \
	    "USER=$user" PATH=/usr/bin:/bin SHELL=/bin/sh "$@")
}
mode() { stat -c '%a %U %G' "$1"; }
answer() {
	echo "carrel carrel/setuid boolean $1" | debconf-set-selections
	dpkg-reconfigure carrel
}
overridden() { dpkg-statoverride --list /usr/bin/carrel; }

dpkg -P carrel >/dev/null 2>&1 || :
getent passwd $user >/dev/null || useradd -m -s /bin/sh $user
mkdir -p /home/$user/project
chown $user: /home/$user/project

# what a run is, in either mode
smoke() {
	ok "$1: a run" prints $user as carrel run -- id -un
	ok "$1: its exit code" exits 7 as carrel run -- sh -c 'exit 7'
	ok "$1: a file that nothing grants" says 'No such file' \
	    as carrel run -- cat /root/.profile
	ok "$1: control, outside" test -e /root/.profile
	ok "$1: no privilege inside" says 'CapPrm:	0000000000000000' \
	    as carrel run -- cat /proc/self/status
	ok "$1: what is written stays" as sh -ec \
	    'carrel run -- sh -c "echo made > note"; grep made note; rm note'
	ok "$1: a profile of the host's" prints 'of the host' \
	    as carrel run -p site -- cat /srv/site
	ok "$1: which is not there without it" says 'No such file' \
	    as carrel run -- cat /srv/site
	ok "$1: explain" says '@target' as carrel explain -- true
	ok "$1: doctor" says 'works' as carrel doctor
	ok "$1: profile list" says '@sys' as carrel profile list
}

ok 'dpkg -i' dpkg -i "$deb"
version=$(dpkg-query -f '${Version}' -W carrel)
ok 'the version' prints "carrel $version" as carrel --version
ok 'not setuid by default' prints '755 root root' mode /usr/bin/carrel
ok 'and no override' not overridden
for p in broker parse; do
	ok "carrel-$p cannot be read" prints '711 root root' \
	    mode /usr/libexec/carrel/carrel-$p
done
ok 'the account' says ':/usr/sbin/nologin' getent passwd _carrel
ok 'its home is not its own' prints '755 root root' mode /var/lib/carrel
ok 'the directory of profiles' prints '755 root root' \
    mode /etc/carrel/profiles.d
for f in bash-completion/completions/carrel zsh/vendor-completions/_carrel \
    fish/vendor_completions.d/carrel.fish carrel/etc/rsyslog.d/carrel.conf \
    carrel/etc/logrotate.d/carrel carrel/etc/apparmor.d/carrel; do
	ok "$f" test -s "/usr/share/$f"
done
echo 'of the host' >/srv/site
cat >/etc/carrel/profiles.d/site.profile <<'PROFILE'
[profile]
description = a file of the host's

[fs]
read = /srv/site
PROFILE
smoke 'user mode'

ok 'the answer yes' answer true
ok 'makes it setuid' prints '4755 root root' mode /usr/bin/carrel
ok 'by an override' prints 'root root 4755 /usr/bin/carrel' overridden
ok 'the package once more' dpkg -i "$deb"
ok 'and it stays setuid' prints '4755 root root' mode /usr/bin/carrel
smoke 'hosted mode'
printf '[default]\nprofile = @sys\nprofile = @own-home\n' \
	>/etc/carrel/login.conf
ok 'hosted mode: carrel-sh' prints $user as carrel-sh -c 'id -un'
ok 'hosted mode: the same user mode view' prints $user \
    as carrel run --user-mode -- id -un
rm /etc/carrel/login.conf
ok 'the answer no' answer false
ok 'takes it back' prints '755 root root' mode /usr/bin/carrel
ok 'and the override' not overridden
ok "an administrator's own override" dpkg-statoverride --update --add \
    root adm 4750 /usr/bin/carrel
ok 'is asked for, and kept' dpkg -i "$deb"
ok 'as it is' prints '4750 root adm' mode /usr/bin/carrel
ok 'until it is taken away' sh -c 'dpkg-statoverride --remove \
    /usr/bin/carrel && chmod 755 /usr/bin/carrel'
ok 'an upgrade' dpkg -i "$deb"
ok 'which does not bring it back' prints '755 root root' mode /usr/bin/carrel
ok 'setuid again' answer true

rm -f /etc/carrel/profiles.d/site.profile
ok 'dpkg -r' dpkg -r carrel
ok 'leaves no program' not test -e /usr/bin/carrel
ok 'dpkg -P' dpkg -P carrel
ok 'leaves no override' not overridden
ok 'no answer' says "doesn't exist" \
    sh -c 'echo GET carrel/setuid | debconf-communicate'
for f in /etc/carrel /usr/libexec/carrel /usr/share/carrel /var/lib/carrel \
    /usr/lib/sysusers.d/carrel.conf; do
	ok "no $f" not test -e $f
done
echo "1..$n"
exit $failed
