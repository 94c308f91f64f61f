/*
 * A relay that checks nothing, the ruler beside carrel's broker: the same way
 * of bytes (splice(2) between sockets of two network namespaces, one thread,
 * edge-triggered epoll(7)) without names, rules, judgement or confinement.
 *
 *	relay ADDRESS PORT COMMAND [ARG...]
 *
 * COMMAND runs in new user and network namespaces, where what connects to
 * 127.0.0.1 at PORT is connected with ADDRESS at PORT of the caller's network.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PIPE_BYTES (256 * 1024)
#define PIPES	   64 /* that are kept */
#define EVENTS	   64
#define BUFFER	   (256 * 1024) /* of the inner socket, as the broker has it */

struct flow;

/* One end, and the pipe for what was read from it. */
struct end {
	struct flow *of;
	struct end *other;
	int fd, pipe[2];
	size_t piped;
	int done; /* its end was passed on */
};

struct flow {
	struct end in, out;
	int dead;
	struct flow *next; /* of the dead */
};

static struct sockaddr_in target;
static struct flow *dead;
static int poller, kept[PIPES][2], nkept;

static int
lend(struct end *e)
{
	if (nkept > 0) {
		memcpy(e->pipe, kept[--nkept], sizeof(e->pipe));
		return 0;
	}
	if (pipe2(e->pipe, O_NONBLOCK) == -1)
		return -1;
	(void)fcntl(e->pipe[1], F_SETPIPE_SZ, PIPE_BYTES);
	return 0;
}

static void
take_back(struct end *e)
{
	if (e->pipe[0] == -1)
		return;
	if (e->piped == 0 && nkept < PIPES) {
		memcpy(kept[nkept++], e->pipe, sizeof(e->pipe));
	} else {
		close(e->pipe[0]);
		close(e->pipe[1]);
	}
	e->pipe[0] = e->pipe[1] = -1;
}

/* From one end to the other until one of them is not ready. -1: it failed. */
static int
carry(struct end *e)
{
	ssize_t n;

	while (!e->done) {
		if (e->pipe[0] == -1 && lend(e) == -1)
			return -1;
		if (e->piped == 0) {
			n = splice(e->fd, NULL, e->pipe[1], NULL, PIPE_BYTES,
			    SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
			if (n == -1) {
				take_back(e);
				return errno == EAGAIN ? 0 : -1;
			}
			if (n == 0) {
				e->done = 1;
				take_back(e);
				(void)shutdown(e->other->fd, SHUT_WR);
				return 0;
			}
			e->piped = (size_t)n;
		}
		n = splice(e->pipe[0], NULL, e->other->fd, NULL, e->piped,
		    SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
		if (n == -1)
			return errno == EAGAIN ? 0 : -1;
		e->piped -= (size_t)n;
	}
	return 0;
}

static void
end_init(struct end *e, struct end *other, struct flow *of, int fd)
{
	struct epoll_event ev = {
	    .events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = e};
	int on = 1;

	memset(e, 0, sizeof(*e));
	e->of = of;
	e->other = other;
	e->fd = fd;
	e->pipe[0] = e->pipe[1] = -1;
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (epoll_ctl(poller, EPOLL_CTL_ADD, fd, &ev) == -1)
		err(1, "epoll_ctl");
}

static void
take(int listener)
{
	struct flow *f;
	int in, out;

	while ((in = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) != -1) {
		out = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		f = calloc(1, sizeof(*f));
		if (out == -1 || f == NULL ||
		    (connect(out, (struct sockaddr *)&target, sizeof(target)) ==
			    -1 &&
			errno != EINPROGRESS))
			err(1, "connect");
		end_init(&f->in, &f->out, f, in);
		end_init(&f->out, &f->in, f, out);
	}
}

/* Both directions; what ended or failed is freed at the end of the round. */
static void
go_on(struct flow *f)
{
	if (f->dead)
		return;
	if (carry(&f->in) == 0 && carry(&f->out) == 0 &&
	    !(f->in.done && f->out.done))
		return;
	take_back(&f->in);
	take_back(&f->out);
	close(f->in.fd);
	close(f->out.fd);
	f->dead = 1;
	f->next = dead;
	dead = f;
}

/* Until the command has ended: its status. */
static int
loop(int listener, int signals, pid_t pid)
{
	struct epoll_event ev[EVENTS];
	struct flow *f;
	int i, n, status;

	for (;;) {
		n = epoll_wait(poller, ev, EVENTS, -1);
		for (i = 0; i < n; i++) {
			if (ev[i].data.ptr == &target) {
				take(listener);
			} else if (ev[i].data.ptr == &poller) {
				close(signals);
				waitpid(pid, &status, 0);
				return WEXITSTATUS(status);
			} else {
				go_on(((struct end *)ev[i].data.ptr)->of);
			}
		}
		while ((f = dead) != NULL) {
			dead = f->next;
			free(f);
		}
	}
}

/* In the new namespaces: a listener. */
static int
listen_inside(void)
{
	struct sockaddr_in in = {.sin_family = AF_INET,
	    .sin_port = target.sin_port,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct ifreq lo = {.ifr_name = "lo"};
	int fd, n = BUFFER;

	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) == -1)
		err(1, "unshare");
	lo.ifr_flags = IFF_UP;
	if ((fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)) == -1 ||
	    ioctl(fd, SIOCSIFFLAGS, &lo) == -1 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &n, sizeof(n)) == -1 ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &n, sizeof(n)) == -1 ||
	    bind(fd, (struct sockaddr *)&in, sizeof(in)) == -1 ||
	    listen(fd, 4096) == -1)
		err(1, "listen");
	return fd;
}

static void
pass(int channel, int fd, int *got)
{
	char control[CMSG_SPACE(sizeof(int))] = {0}, c = 0;
	struct iovec iov = {&c, 1};
	struct msghdr m = {.msg_iov = &iov,
	    .msg_iovlen = 1,
	    .msg_control = control,
	    .msg_controllen = sizeof(control)};
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);

	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(h), &fd, sizeof(fd));
	if (got == NULL ? sendmsg(channel, &m, 0) != 1
			: recvmsg(channel, &m, 0) != 1)
		err(1, "pass a descriptor");
	if (got != NULL)
		memcpy(got, CMSG_DATA(h), sizeof(*got));
}

static void
watch(int fd, void *ptr)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = ptr};

	if (epoll_ctl(poller, EPOLL_CTL_ADD, fd, &ev) == -1)
		err(1, "epoll_ctl");
}

int
main(int argc, char *argv[])
{
	int pair[2], listener, signals;
	sigset_t set;
	pid_t pid;

	if (argc < 4 || inet_pton(AF_INET, argv[1], &target.sin_addr) != 1)
		errx(2, "usage: relay ADDRESS PORT COMMAND [ARG...]");
	target.sin_family = AF_INET;
	target.sin_port = htons((uint16_t)atoi(argv[2]));
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == -1)
		err(1, "socketpair");
	sigprocmask(SIG_BLOCK, &set, NULL);
	if ((pid = fork()) == 0) {
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		pass(pair[1], listen_inside(), NULL);
		execvp(argv[3], argv + 3);
		err(1, "%s", argv[3]);
	}
	pass(pair[0], 0, &listener);
	signal(SIGPIPE, SIG_IGN); /* splice(2) has no MSG_NOSIGNAL */
	signals = signalfd(-1, &set, 0);
	poller = epoll_create1(0);
	if (pid == -1 || signals == -1 || poller == -1)
		err(1, "start");
	watch(listener, &target);
	watch(signals, &poller);
	return loop(listener, signals, pid);
}
