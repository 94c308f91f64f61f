# The programs of the host, and what they need to start. No credentials: no
# private keys, no password database, no configuration of a person's tools.
# carrel itself makes /etc/passwd, group, hosts, hostname and resolv.conf.

[profile]
description = the host's programs and libraries, readable
abuse = It can run every program of the host and read which software and versions are installed, to look for a known weakness.
packs = yes

[fs]
read = /usr

# Directories on some hosts, links into /usr on others.
try-read = /bin
try-read = /sbin
try-read = /lib
try-read = /lib32
try-read = /lib64
try-read = /libx32

# The dynamic loader, the linker, and the links that choose a program.
try-read = /etc/ld.so.cache
try-read = /etc/ld.so.conf
try-read = /etc/ld.so.conf.d
try-read = /etc/alternatives

# Certificates that are public, never /etc/ssl/private or /etc/pki/tls/private.
try-read = /etc/ssl/certs
try-read = /etc/ssl/openssl.cnf
try-read = /etc/pki/ca-trust
try-read = /etc/pki/tls/certs
try-read = /etc/crypto-policies

# Each line costs a launch some 10 us: what works without is not here.

# Names, numbers and the time.
try-read = /etc/nsswitch.conf
try-read = /etc/services
try-read = /etc/localtime
try-read = /etc/os-release

# Shells and terminals.
try-read = /etc/terminfo
try-read = /etc/bash.bashrc

# A Java machine does not start without these.
try-read = /etc/java-11-openjdk
try-read = /etc/java-17-openjdk
try-read = /etc/java-21-openjdk
try-read = /etc/java-25-openjdk
