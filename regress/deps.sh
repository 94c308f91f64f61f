#!/bin/sh
# deps.sh SET: installs what SET (build, check, cross, uml, package or bench)
# needs and this host lacks. Debian and its children; says nothing when nothing is missing.
set -eu

missing=
need() { # need PACKAGE COMMAND|FILE...: any one of them will do
	package=$1
	shift
	for what; do
		case $what in
		/*) [ -e "$what" ] && return 0 ;;
		*) command -v "$what" >/dev/null 2>&1 && return 0 ;;
		esac
	done
	missing="$missing $package"
}

set_=${1:?usage: deps.sh build|check|cross|uml|package|bench}
PATH=$PATH:/usr/sbin:/sbin
arch=$(uname -m)

need gcc gcc
need make make
need libc6-dev /usr/include/stdio.h
need libseccomp-dev /usr/include/seccomp.h
need libinih-dev /usr/include/ini.h
need libevent-dev /usr/include/event2/event.h
# without it everything is built with glibc, which starts later
need musl-tools "/usr/lib/$arch-linux-musl/rcrt1.o"

case $set_ in
build) ;;
check)
	need pkg-config pkg-config
	need check /usr/include/check.h
	need perl prove
	need python3 python3
	need git git
	need strace strace
	need util-linux setpriv
	need passwd useradd
	need procps ps
	need bash bash
	# networks of the tests, and what uses them
	need iproute2 ip
	need openssl openssl
	need nghttp2-server nghttpd
	need curl curl
	need wget wget
	need mandoc mandoc
	need clang clang
	# libFuzzer and the sanitizers of clang
	need libclang-rt-14-dev /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-*
	need clang-format clang-format
	need clang-tidy clang-tidy
	need clang-tools scan-build
	need cppcheck cppcheck
	need rsyslog rsyslogd
	need logrotate logrotate
	need openssh-server sshd
	need openssh-client ssh
	need rsync rsync
	need apparmor apparmor_parser
	need python3-jsonschema /usr/lib/python3/dist-packages/jsonschema
	need shellcheck shellcheck
	# of other people's programs, those with ways of their own to make
	# threads and processes: 116 MB, half a minute
	need default-jdk-headless javac
	need gdb gdb
	# shells whose completions are tried
	need zsh zsh
	need fish fish
	;;
package)
	need dpkg-dev dpkg-buildpackage
	need debhelper dh
	need dh-apparmor dh_apparmor
	need po-debconf debconf-updatepo
	need lintian lintian
	need debootstrap debootstrap
	# where no mirror is reached the package is tried on this host's root
	need systemd-standalone-sysusers systemd-sysusers
	;;
cross)
	need gcc-aarch64-linux-gnu aarch64-linux-gnu-gcc
	need libc6-dev-arm64-cross /usr/aarch64-linux-gnu/lib/libc.a
	need qemu-user-static qemu-aarch64-static
	;;
uml)
	need user-mode-linux linux.uml
	;;
bench)
	need python3 python3
	need util-linux setpriv
	need passwd useradd
	need bubblewrap bwrap
	need passt pasta
	need slirp4netns slirp4netns
	need iproute2 ip
	;;
*)
	echo "deps.sh: no such set: $set_" >&2
	exit 2
	;;
esac
[ -n "$missing" ] || exit 0

command -v apt-get >/dev/null 2>&1 || {
	echo "deps.sh: missing:$missing; this host has no apt-get," \
	    "install them by hand" >&2
	exit 1
}
if [ "$(id -u)" -eq 0 ]; then
	as_root() { "$@"; }
elif command -v sudo >/dev/null 2>&1; then
	as_root() { sudo "$@"; }
else
	echo "deps.sh: missing:$missing; neither root nor sudo here, run as" \
	    "root: apt-get update && apt-get install$missing" >&2
	exit 1
fi
echo "deps.sh: installing$missing"
as_root apt-get -q update
# shellcheck disable=SC2086 # a list of packages
as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get -q -y --no-install-recommends install $missing
