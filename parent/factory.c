#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <linux/sockios.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "caps.h"
#include "factory.h"
#include "ipc/egress.h"
#include "ipc/factory.h"
#include "failure.h"
#include "listen.h"

#define FD 3 /* the only descriptor that stays */

/* Nothing of the monitor: its files, its terminal, its other sockets. */
static int
alone(int fd)
{
	if (fd != FD && dup2(fd, FD) == -1)
		return -1;
	if (syscall(SYS_close_range, 0U, (unsigned)FD - 1, 0U) == -1 ||
	    syscall(SYS_close_range, (unsigned)FD + 1, ~0U, 0U) == -1)
		return -1;
	return fcntl(FD, F_SETFL, 0);
}

/*
 * The user namespace of the sandbox first: who made it has every capability
 * in it (user_namespaces(7)), and without it there is none over its network.
 */
static int
enter(int socket, int root)
{
	int net, user;

	if ((net = ioctl(socket, SIOCGSKNS)) == -1 ||
	    (user = ioctl(net, NS_GET_USERNS)) == -1 ||
	    setns(user, CLONE_NEWUSER) == -1 || setns(net, CLONE_NEWNET) == -1)
		return -1;
	close(net);
	close(user);
	close(socket);
	if (fchdir(root) == -1 || chroot(".") == -1)
		return -1;
	return close(root);
}

static int
give_up(void)
{
	const struct rlimit few = {16, 16}, none = {0, 0};
	struct failure f;

	if (caps_keep_bind(&f) == -1 ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == -1)
		return -1;
	/* after the last change of credentials, which would clear it */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == -1 ||
	    setrlimit(RLIMIT_NOFILE, &few) == -1 ||
	    setrlimit(RLIMIT_FSIZE, &none) == -1)
		return -1;
	return factory_filter();
}

/*
 * Only where carrel's own names live, unless everything is allowed: who speaks
 * for the broker can take no other address from the payload.
 */
static int
make(const struct factory_ask *q, int any)
{
	if (!any && !egress_own(&q->address)) {
		errno = EACCES;
		return -1;
	}
	return listen_at(&q->address, q->port, q->udp);
}

static void __attribute__((noreturn)) answer(int any)
{
	struct factory_ask q;
	int made, err, n;

	if (give_up() == -1) {
		(void)factory_answer(FD, -1, errno);
		_exit(1);
	}
	if (factory_answer(FD, -1, 0) == -1)
		_exit(1);
	while ((n = factory_receive(FD, &q)) == 1) {
		made = make(&q, any);
		err = errno;
		if (factory_answer(FD, made, err) == -1)
			_exit(1);
		if (made != -1)
			close(made);
	}
	_exit(n == 0 ? 0 : 1); /* the broker is gone; or it asked nonsense */
}

void
factory_run(int fd)
{
	int socket, root, any;

	if (alone(fd) == -1 ||
	    factory_receive_enter(FD, &socket, &root, &any) != 1)
		_exit(1);
	if (enter(socket, root) == -1) {
		(void)factory_answer(FD, -1, errno);
		_exit(1);
	}
	answer(any);
}

void
factory_serve(int fd, int any)
{
	if (alone(fd) == -1)
		_exit(1);
	answer(any);
}
