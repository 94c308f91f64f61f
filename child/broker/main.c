#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "broker.h"
#include "ipc/channel.h"
#include "ipc/limits.h"
#include "ipc/log.h"
#include "loop.h"
#include "observer.h"
#include "own.h"
#include "sandbox.h"

/*
 * carrel-broker: talks to the network for the payload, from the host's own
 * network and without any privilege. Descriptor 3 leads to the set-up, which
 * sends what is allowed and the sockets that it made inside; 4 to the monitor,
 * which takes events and whose end is this program's. It says nothing on
 * standard error: why it cannot work is its answer to the set-up.
 */

#define SETUP	      3
#define MONITOR	      4
#define RESOLV_CONF   "/etc/resolv.conf"
#define SETUP_SECONDS 5
/* of one connection: two sockets, and the pipes of two slow readers */
#define FDS_OF_FLOW 6
/* libevent's own, the pipes that are kept, look-ups and attempts */
#define FDS_BESIDE (64 + 2 * PIPES_LARGE + 6 * DIAL_MAX)

#if SANDBOX_SANITIZED
/* The search for leaks would need more than this process may do. */
const char *__asan_default_options(void);

const char *
__asan_default_options(void)
{
	return "detect_leaks=0";
}
#endif

/* Nothing is written to or read from 0-2, and no socket may take the place. */
static int
close_standard(void)
{
	int fd[2], i, bad = 0;

	if (SANDBOX_SANITIZED)
		return 0;
	if (pipe2(fd, O_CLOEXEC) == -1)
		return -1;
	for (i = 0; i <= 2; i++)
		bad |= fd[0] != i && dup2(fd[0], i) == -1;
	if (fd[0] > 2)
		close(fd[0]);
	if (fd[1] > 2)
		close(fd[1]);
	return bad ? -1 : 0;
}

static int
is_channel(int fd)
{
	int type;
	socklen_t len = sizeof(type);

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 &&
	       type == SOCK_SEQPACKET && fcntl(fd, F_SETFL, O_NONBLOCK) == 0 &&
	       fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
}

/* Both channels are there, and nothing else. 0 or -1. */
static int
begin(void)
{
	/* a monitor that is gone already shows as a closed socket */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == -1 ||
	    prctl(PR_SET_DUMPABLE, SANDBOX_SANITIZED, 0, 0, 0) == -1 ||
	    signal(SIGPIPE, SIG_IGN) == SIG_ERR)
		return -1;
	if (!is_channel(SETUP) || !is_channel(MONITOR) ||
	    syscall(SYS_close_range, MONITOR + 1U, ~0U, 0U) == -1)
		return -1;
	return close_standard();
}

static int
receive(struct broker *b)
{
	struct receiver r;
	int n;

	if (receiver_init(&r, SETUP, channel_deadline(SETUP_SECONDS),
		record_broker) == -1)
		return -1;
	n = broker_receive(&r, &b->setup);
	receiver_free(&r);
	return n;
}

static int
answer(const char *why)
{
	struct sender s;
	int n;

	if (sender_init(&s, SETUP, channel_deadline(SETUP_SECONDS)) == -1)
		return -1;
	n = broker_send_ready(&s, why);
	sender_free(&s);
	close(SETUP);
	return n;
}

/* A socket is what the set-up says that it is. */
static int
is_socket(int fd, int type, int listens)
{
	int t, l, family;
	socklen_t len = sizeof(int);

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &t, &len) == 0 &&
	       getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &l, &len) == 0 &&
	       getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &len) == 0 &&
	       t == type && l == listens &&
	       (type == SOCK_SEQPACKET
		       ? family == AF_UNIX
		       : family == AF_INET || family == AF_INET6);
}

static int
add(struct broker *b, const struct broker_socket *s)
{
	struct host *h = &b->hosts.list[s->host];
	int fd = s->fd;

	switch (s->kind) {
	case BROKER_LISTENER:
		return is_socket(fd, SOCK_STREAM, 1)
			   ? tcp_add(b, fd, h, s->port)
			   : -1;
	case BROKER_FLOW:
		return is_socket(fd, SOCK_DGRAM, 0) ? udp_add(b, fd, h, s->port)
						    : -1;
	case BROKER_DNS_LISTENER:
		return is_socket(fd, SOCK_STREAM, 1) ? resolver_add_tcp(b, fd)
						     : -1;
	case BROKER_DNS_FLOW:
		return is_socket(fd, SOCK_DGRAM, 0) ? resolver_add_udp(b, fd)
						    : -1;
	case BROKER_OBSERVER:
		return is_socket(fd, SOCK_RAW, 0) ? observer_add(b, fd) : -1;
	case BROKER_FACTORY:
		b->factory = fd;
		return is_socket(fd, SOCK_SEQPACKET, 0) ? 0 : -1;
	case BROKER_ALL_LISTENER:
		return is_socket(fd, SOCK_STREAM, 1) ? tcp_add(b, fd, NULL, 0)
						     : -1;
	case BROKER_ALL_FLOW:
		return is_socket(fd, SOCK_DGRAM, 0) ? udp_add(b, fd, NULL, 0)
						    : -1;
	default:
		return -1;
	}
}

/* The sockets come into use; from here on they belong to who uses them. */
static int
add_all(struct broker *b)
{
	size_t i;
	int n = 0;

	for (i = 0; i < b->setup.nsockets && n == 0; i++) {
		n = add(b, &b->setup.sockets[i]);
		b->setup.sockets[i].fd = -1;
	}
	return n;
}

static int
prepare(struct broker *b, long fds)
{
	long flows =
	    (fds - FDS_BESIDE - UDP_FLOWS_MAX - (long)b->setup.nsockets) /
	    FDS_OF_FLOW;

	if (flows < 1) {
		errno = EMFILE;
		return -1;
	}
	dialer_init(&b->dialer);
	b->factory = -1;
	if ((b->own = own_open()) == -1 || (b->loop = loop_new()) == NULL ||
	    report_init(&b->report, b->loop, MONITOR) == -1 ||
	    (b->setup.uses && report_uses(&b->report) == -1) ||
	    pipes_init(&b->pipes) == -1 || hosts_init(b) == -1 ||
	    tcp_init(b, (size_t)flows) == -1 ||
	    udp_init(b, UDP_FLOWS_MAX) == -1)
		return -1;
	servers_read(&b->servers, RESOLV_CONF);
	return 0;
}

/* The monitor says nothing; what it does at the end is to close. */
static void
monitor(unsigned what, void *arg)
{
	struct broker *b = arg;
	char c;

	(void)what;
	if (recv(MONITOR, &c, sizeof(c), 0) == -1 && errno == EAGAIN)
		return;
	observer_drain(b);
	dialer_end(b);
	loop_stop(b->loop);
}

static int
watch_monitor(struct broker *b)
{
	struct watch *w = watch_new(b->loop, MONITOR, LOOP_READ, monitor, b);

	return w == NULL ? -1 : watch_start(w, -1);
}

int
main(int argc, char *argv[])
{
	static struct broker b;
	char why[TEXT_MAX_LEN] = "";
	const char *step;
	long fds;

	if (begin() == -1 || (fds = broker_limits()) == -1 || receive(&b) == -1)
		return EXIT_CARREL;
	if (prepare(&b, fds) == -1 || watch_monitor(&b) == -1) {
		snprintf(why, sizeof(why), "%s%s", strerror(errno),
		    errno == EMFILE
			? ": raise the limit of open files (ulimit -Hn)"
			: "");
		(void)answer(why);
		return EXIT_CARREL;
	}
	step = broker_confine(
	    &b.setup, argc > 1 && strcmp(argv[1], "--without-landlock") == 0);
	if (step != NULL) {
		snprintf(why, sizeof(why), "it cannot be confined: %s: %s",
		    step, strerror(errno));
		(void)answer(why);
		return EXIT_CARREL;
	}
	if (add_all(&b) == -1 || answer("") == -1)
		return EXIT_CARREL;
	if (loop_run(b.loop) == -1)
		return EXIT_CARREL;
	_exit(0);
}
