#!/bin/sh
# package.sh: builds the Debian package of this tree, asks lintian, makes a
# root of another Debian, installs the package there and runs
# package/inside.sh in it. By root. CARREL_MIRROR is where the root comes
# from; where none can be reached it is an overlay on this host's own.
set -eu

: "${BUILD:=build}"
mirror=${CARREL_MIRROR:-http://deb.debian.org/debian}
suite=${CARREL_SUITE:-bookworm}
here=$(pwd)
# what a root needs beside a minimal one: what the package depends on
include=debconf,systemd-standalone-sysusers,procps

[ "$(id -u)" -eq 0 ] || {
	echo "package.sh: needs root, for a root of its own" >&2
	exit 1
}
PATH=$PATH:/usr/sbin:/sbin
top=$(mktemp -d /var/tmp/carrel-package.XXXXXX)
trap 'rm -rf --one-file-system "$top"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
umask 022

echo "# the package"
mkdir "$top/src" "$top/root"
find . -path "./$BUILD" -prune -o -path './build*' -prune -o \
	-path ./.git -prune -o -type f -print0 |
	tar -c --null -T - | tar -x -C "$top/src"
(
	cd "$top/src"
	unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES BUILD
	dpkg-buildpackage -us -uc -b -j2 >"$top/log" 2>&1
) || {
	tail -40 "$top/log" >&2
	exit 1
}
# as not only root may: a package is built by anybody
lintian --allow-root --fail-on error,warning,info -i "$top"/carrel_*.changes
echo "ok - dpkg-buildpackage, and lintian has nothing to say"

echo "# a root of $suite"
if debootstrap --variant=minbase --include="$include" "$suite" "$top/root" \
	"$mirror" >"$top/log" 2>&1; then
	kind=debootstrap
else
	tail -3 "$top/log"
	echo "# $mirror gives none: an overlay on this host's root"
	rm -rf --one-file-system "$top/root"
	mkdir "$top/root"
	kind=overlay
fi

# What follows has mounts of its own, and goes with them.
export kind top here
# shellcheck disable=SC2016 # it is for the other shell
unshare --mount --propagation private --pid --fork --kill-child sh -eu -c '
root=$top/root
if [ $kind = overlay ]; then
	mkdir $top/over
	mount -t tmpfs over $top/over
	mkdir $top/over/upper $top/over/work
	mount -t overlay -o \
		lowerdir=/,upperdir=$top/over/upper,workdir=$top/over/work \
		overlay $root
else
	mount --bind $root $root
fi
mount --rbind /dev $root/dev
mount -t proc proc $root/proc
mount --rbind /sys $root/sys
mount -t tmpfs tmp $root/tmp
chmod 1777 $root/tmp
cp "$top"/carrel_*.deb $here/regress/package/inside.sh $root/tmp/
cd $root
# and not chroot alone: from there nobody may make a user namespace
pivot_root . mnt
umount -l mnt
exec chroot . sh /tmp/inside.sh /tmp/carrel_*.deb
'
