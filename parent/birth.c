#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "caps.h"
#include "child/setup/setup.h"
#include "failure.h"
#include "hosted.h"
#include "mountapi.h"

#define NAMESPACES                                                             \
	(CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP)
#define HOSTNAME "carrel"

static int
loopback_up(void)
{
	struct ifreq ifr;
	int fd, r;

	memset(&ifr, 0, sizeof(ifr));
	strcpy(ifr.ifr_name, "lo");
	ifr.ifr_flags = IFF_UP;
	if ((fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) == -1)
		return -1;
	r = ioctl(fd, SIOCSIFFLAGS, &ifr);
	close(fd);
	return r;
}

static int
take(int hand)
{
	int fds[PASS_FDS];
	size_t n;
	char byte;

	if (pass_receive(hand, &byte, sizeof(byte), fds, &n) == 1 && n == 1)
		return fds[0];
	while (n > 0)
		close(fds[--n]);
	errno = EPROTO;
	return -1;
}

/* The copy of the mounts, as long as somebody holds it open. */
static void __attribute__((noreturn)) lender(int hand)
{
	int fd = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);

	(void)!(fd != -1 && pass_send(hand, "", 1, &fd, 1) == 0);
	_exit(0);
}

/*
 * Mounts of a namespace that a user namespace owns are locked to each other:
 * else the kernel takes them apart when the tree goes (umount2(2), MNT_DETACH),
 * and who kept a descriptor sees what the administrator hid below one of them.
 * A host that has none for root either (ENOSPC, EINVAL) goes without.
 */
static int
mounts(void)
{
	int hand[2], fd, r;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, hand) == -1)
		return -1;
	pid = (pid_t)syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWNS | SIGCHLD,
	    NULL, NULL, NULL, NULL);
	if (pid == 0)
		lender(hand[1]);
	close(hand[1]);
	fd = pid == -1 ? -1 : take(hand[0]);
	close(hand[0]);
	if (pid == -1)
		return errno == ENOSPC || errno == EINVAL ? unshare(CLONE_NEWNS)
							  : -1;
	r = fd == -1 ? -1 : setns(fd, CLONE_NEWNS);
	close(fd);
	(void)waitpid(pid, NULL, 0);
	return r;
}

/* Names, mounts and a network that nobody else has. */
static int
namespaces(void)
{
	if (caps_raise(CAPS_BIT(CAP_SYS_ADMIN) | CAPS_BIT(CAP_NET_ADMIN) |
		       CAPS_BIT(CAP_SYS_CHROOT)) == -1)
		return -1;
	if (mounts() == -1 || unshare(NAMESPACES) == -1 ||
	    mountapi_private() == -1 ||
	    sethostname(HOSTNAME, strlen(HOSTNAME)) == -1 ||
	    loopback_up() == -1)
		return -1;
	return caps_raise(0);
}

/*
 * The new process: a procfs belongs to the pid namespace of whoever makes it.
 * After that it is the user, and asks. Whoever fails here says nothing; the
 * server finds the pair closed.
 */
static void __attribute__((noreturn)) inside(const struct served *s,
    const struct birth *b, int own, int client, int hand)
{
	static const char *const none[] = {NULL};
	struct failure f;
	sigset_t no_signal;
	int proc;

	if (caps_raise(CAPS_BIT(CAP_SYS_ADMIN)) == -1)
		_exit(1);
	proc = mountapi_new("proc", none,
	    MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	if (proc == -1 || pass_send(hand, "", 1, &proc, 1) == -1 ||
	    close(proc) == -1 || close(hand) == -1 || close(own) == -1)
		_exit(1);
	if (caps_become(s->uid, s->gid, &f) == -1)
		_exit(1);
	sigemptyset(&no_signal);
	if (sigprocmask(SIG_SETMASK, &no_signal, NULL) == -1)
		_exit(1);
	setup_born(b->told, b->len, b->fds, b->nfds, client, s->argc, s->argv,
	    s->start);
}

pid_t
birth(const struct served *s, const struct birth *b, int own, int *client,
    int *proc)
{
	int ask[2], hand[2];
	pid_t pid;

	if (namespaces() == -1 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ask) == -1 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, hand) == -1)
		return -1;
	if (caps_raise(CAPS_BIT(CAP_SYS_ADMIN)) == -1)
		return -1;
	/* fork(2) with a pid namespace: the child returns here */
	pid = (pid_t)syscall(
	    SYS_clone, CLONE_NEWPID | SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid == 0) {
		close(ask[0]);
		close(hand[0]);
		inside(s, b, own, ask[1], hand[1]);
	}
	if (caps_raise(0) == -1)
		return -1;
	close(ask[1]);
	close(hand[1]);
	if (pid != -1 && (*proc = take(hand[0])) == -1)
		pid = -1;
	close(hand[0]);
	*client = ask[0];
	return pid;
}
