#ifndef CARREL_FILTER_NAMES_H
#define CARREL_FILTER_NAMES_H

#include <asm/termbits.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdint.h>

/* The words that a table of mkfilter may use for numbers. */
static const struct {
	const char *name;
	uint32_t value;
} constants[] = {
/* clang-format off */
#define C(name) {#name, (uint32_t)(name)}
    C(EPERM), C(EACCES), C(ENOSYS), C(EAFNOSUPPORT),
    C(EPROTONOSUPPORT), C(ESOCKTNOSUPPORT),
    /* clone and unshare; in clone the bit of NEWTIME is no valid signal */
    {"CLONE_NEWANY", CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
	CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET |
	CLONE_NEWTIME}, C(CLONE_THREAD),
    /* modes, open and fcntl; O_TMPFILE without its O_DIRECTORY */
    C(S_ISUID), C(S_ISGID), C(O_CREAT), C(O_TRUNC),
    {"O_TMPFILE", O_TMPFILE & ~O_DIRECTORY}, C(O_ACCMODE), C(F_SETLEASE),
    C(F_NOTIFY), {"F_SETDELEG", 1040}, C(F_GETFL), {"F_SETPIPE_SZ", 1031},
    /* memory and sockets */
    C(RLIMIT_CORE), C(PRIO_PROCESS), C(PRIO_USER), {"IOPRIO_WHO_PROCESS", 1},
    {"IOPRIO_WHO_USER", 3}, C(PROT_EXEC), C(MAP_ANONYMOUS), C(AF_UNIX), C(AF_INET), C(AF_INET6),
    C(AF_NETLINK), C(NETLINK_ROUTE), C(SOCK_PACKET), {"IPPROTO_SMC", 256},
    {"SOCK_TYPE_MASK", 0xf}, C(SOCK_STREAM), C(SOCK_DGRAM), C(SOCK_RAW),
    C(IPPROTO_ICMP), C(IPPROTO_TCP), C(IPPROTO_UDP), C(IPPROTO_ICMPV6),
    {"IPPROTO_MPTCP", 262}, C(IPPROTO_IPV6), C(IPV6_RTHDR), {"TCP_MD5SIG", 14},
    {"TCP_MD5SIG_EXT", 32}, {"TCP_AO_ADD_KEY", 38},
    /* terminals: ioctl_tty(2) */
    C(TCGETS), C(TCSETS), C(TCSETSW), C(TCSETSF), C(TCGETS2), C(TCSETS2),
    C(TCSETSW2), C(TCSETSF2), C(TCGETA), C(TCSETA), C(TCSETAW), C(TCSETAF),
    C(TCSBRK), C(TCSBRKP), C(TCXONC), C(TCFLSH), C(TIOCGWINSZ), C(TIOCSWINSZ),
    C(TIOCGPGRP), C(TIOCSPGRP), C(TIOCGSID), C(TIOCSCTTY), C(TIOCNOTTY),
    C(TIOCINQ), C(TIOCOUTQ), C(TIOCGPTN), C(TIOCGPTLCK), C(TIOCSPTLCK),
    C(TIOCGPTPEER), C(TIOCPKT), C(TIOCGPKT), C(FIONBIO), C(FIONCLEX),
    C(FIOCLEX), C(FIOASYNC), C(FIOQSIZE),
#undef C
    /* clang-format on */
};

/*
 * Calls that the oldest libseccomp we build with does not know. From 424 on
 * all architectures share their numbers.
 */
static const struct {
	const char *name;
	int x86_64, others;
} newer[] = {
    {"uretprobe", 335, -1},
    {"cachestat", 451, 451},
    {"fchmodat2", 452, 452},
    {"map_shadow_stack", 453, 453},
    {"futex_wake", 454, 454},
    {"futex_wait", 455, 455},
    {"futex_requeue", 456, 456},
    {"mseal", 462, 462},
    {"setxattrat", 463, 463},
    {"getxattrat", 464, 464},
    {"listxattrat", 465, 465},
    {"removexattrat", 466, 466},
    {"open_tree_attr", 467, 467},
};

#endif
