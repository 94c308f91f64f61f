#!/bin/sh
# stage.sh COMMAND...: installs the build into a world-readable place, makes
# an unprivileged user when it may, runs COMMAND with what the tests need to
# know in its environment, and takes everything away again, also when it is
# interrupted. Called by check.mk, which exports MAKE, BUILD and PREFIX.
#
# CARREL_T_MODE=hosted (root only): another build, which knows where it lies
# for good, installed set-user-id root, with a ceiling that grants everything.
set -eu

mode=${CARREL_T_MODE:-user}

user=${CARREL_TEST_USER:-carrel-t1}
group=$user-lab
lies=/opt/carrel-check.$user
stage=
home=
made=no

remove_user() {
	for _ in 1 2 3 4 5; do
		for p in $(pgrep -U "$user"); do
			kill -KILL "$p" 2>/dev/null || :
		done
		userdel -r "$user" >/dev/null 2>&1 && break
		sleep 0.2
	done
	groupdel "$group" 2>/dev/null || :
}

# A user that a killed run left behind is taken over.
make_user() {
	if ! id "$user" >/dev/null 2>&1; then
		useradd -m -s /bin/bash "$user"
	fi
	made=yes
	getent group "$group" >/dev/null || groupadd "$group"
	usermod -a -G "$group" "$user"
	# one that was left behind is another's
	chown "$user:" "$(getent passwd "$user" | cut -d: -f6)"
	chmod 755 "$(getent passwd "$user" | cut -d: -f6)"
}

cleanup() {
	status=$?
	trap '' HUP INT TERM
	[ "$made" = no ] || remove_user
	[ -z "$stage" ] || rm -rf "$stage"
	[ "$mode" != hosted ] || rm -rf "$lies"
	[ -z "$home" ] || rm -rf "$home"
	exit "$status"
}
trap cleanup EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

PATH=$PATH:/usr/sbin:/sbin
umask 022
stage=$(mktemp -d /tmp/carrel-check.XXXXXX)
chmod 755 "$stage"
inst=$stage/inst$PREFIX
if [ "$mode" = hosted ]; then
	inst=$lies
	"$MAKE" -s hosted HOSTED="$lies"
	"$MAKE" -s install BUILD="$BUILD-hosted" PREFIX="$lies" DESTDIR=
	chmod 4755 "$lies/bin/carrel"
else
	"$MAKE" -s install DESTDIR="$stage/inst"
fi
cp -r regress/run regress/hostile regress/uml regress/chaos "$stage/"
[ ! -d "$BUILD/regress" ] || cp -r "$BUILD/regress" "$stage/helpers"
chmod -R a+rX "$stage"

if [ "$(id -u)" -eq 0 ]; then
	# one user, so one run at a time; another name, another run
	exec 9>"/run/lock/carrel-check.$user"
	flock -n 9 || {
		echo "stage.sh: waiting for another run of the tests" >&2
		flock 9
	}
	make_user
	CARREL_T_USER=$user
	CARREL_T_GROUP=$group
	export CARREL_T_USER CARREL_T_GROUP
else
	# not in /tmp, which is another one inside
	home=$(mktemp -d /var/tmp/carrel-check.XXXXXX)
	chmod 755 "$home"
	CARREL_T_HOME=$home
	export CARREL_T_HOME
fi
CARREL_T_STAGE=$stage
CARREL_T_INST=$inst
CARREL_T_MODE=$mode
CARREL_T_SRC=$(pwd)
PYTHONPATH=$stage/run:$stage/uml
PYTHONDONTWRITEBYTECODE=1
export CARREL_T_STAGE CARREL_T_INST CARREL_T_SRC CARREL_T_MODE
export PYTHONPATH PYTHONDONTWRITEBYTECODE
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
if [ "$mode" = user ]; then
	"$@" </dev/null 9>&-
	exit
fi
# The default ceiling is narrower than user mode, so there is one that grants
# everything; in an /etc that nobody else sees.
# shellcheck disable=SC2016
unshare -m sh -c '
	set -e
	mount -t tmpfs none /mnt
	tar -C /etc --exclude="*.lock" -cf - . 2>/dev/null | tar -C /mnt -xf -
	mkdir -p /mnt/carrel
	{
		echo "[everyone]"
		for k in read write command socket device; do
			echo "$k = /"
		done
		echo "allow = *"
		echo "allow = *://*:* private"
	} > /mnt/carrel/ceiling.conf
	mount --bind /mnt /etc
	umount /mnt
	exec "$@"' sh "$@" </dev/null 9>&-
