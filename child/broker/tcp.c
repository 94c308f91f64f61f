#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "broker.h"
#include "flow.h"
#include "ipc/channel.h"
#include "loop.h"
#include "socket.h"

#define BUFFER	  (256 * 1024) /* the kernel doubles it */
#define ACCEPTS	  16	       /* at a time, of one listener */
#define RESUME_MS 100	       /* after descriptors or memory ran out */
#define SAY_MS	  1000	       /* between two reports of a pause */

struct listener {
	TAILQ_ENTRY(listener) entry;
	struct broker *b;
	int fd;
	struct watch *watch;
	struct host *host; /* NULL: any */
	uint16_t port;
	struct allowed allowed;
};

static void
resume(struct broker *b)
{
	struct listener *l;

	b->tcp.paused = 0;
	for (l = TAILQ_FIRST(&b->tcp.listeners); l != NULL;
	     l = TAILQ_NEXT(l, entry))
		if (watch_start(l->watch, -1) == -1)
			loop_stop(b->loop); /* fails closed, and is seen */
}

static void
pause_all(struct broker *b, const char *why)
{
	int64_t now = channel_now();
	struct listener *l;

	if (b->tcp.paused)
		return;
	b->tcp.paused = 1;
	for (l = TAILQ_FIRST(&b->tcp.listeners); l != NULL;
	     l = TAILQ_NEXT(l, entry))
		watch_stop(l->watch);
	if (b->tcp.said == 0 || now - b->tcp.said >= SAY_MS) {
		b->tcp.said = now;
		report_limit(&b->report, "wait", "%s", why);
	}
}

static void
resumed(unsigned what, void *arg)
{
	struct broker *b = arg;

	(void)what;
	if (b->tcp.paused && b->tcp.flows < b->tcp.max)
		resume(b);
}

void
tcp_flow_ended(struct broker *b)
{
	b->tcp.flows--;
	/* not from here: who calls may be about to accept */
	if (b->tcp.paused)
		(void)watch_start(b->tcp.resume, 0);
}

/* Where a connection to any address went: 0 or -1. */
static int
find_target(struct broker *b, int fd, struct host **host, struct address *to,
    uint16_t *port)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	if (getsockname(fd, (struct sockaddr *)&ss, &len) == -1 ||
	    sockaddr_read(&ss, to, port) == -1)
		return -1;
	*host = hosts_by_address(b, to);
	return 0;
}

static void
take(struct listener *l, int fd)
{
	struct broker *b = l->b;
	struct host *host = l->host;
	struct allowed allowed = l->allowed;
	struct address to;
	uint16_t port = l->port;

	b->tcp.flows++;
	if (host != NULL) {
		/* of a literal; a name is looked up */
		to = host->v4.family != 0 ? host->v4 : host->v6;
	} else if (find_target(b, fd, &host, &to, &port) == 0) {
		hosts_allowed(b, host, port, 0, &allowed);
	} else {
		close(fd);
		tcp_flow_ended(b);
		return;
	}
	flow_start(b, fd, host, &to, port, &allowed);
}

static void
acceptable(unsigned what, void *arg)
{
	struct listener *l = arg;
	struct broker *b = l->b;
	int i, fd;

	(void)what;
	for (i = 0; i < ACCEPTS; i++) {
		if (b->tcp.flows >= b->tcp.max) {
			pause_all(b, "as many TCP connections as there may be");
			return;
		}
		fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd != -1) {
			take(l, fd);
			if (b->tcp.flows >= b->tcp.max)
				return; /* told again if another one waits */
			continue;
		}
		if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
			return;
		pause_all(b, "no descriptors or no memory for connections");
		(void)watch_start(b->tcp.resume, RESUME_MS);
		return;
	}
}

int
tcp_init(struct broker *b, size_t max)
{
	memset(&b->tcp, 0, sizeof(b->tcp));
	TAILQ_INIT(&b->tcp.listeners);
	b->tcp.max = max < TCP_FLOWS_MAX ? max : TCP_FLOWS_MAX;
	b->tcp.resume = watch_new(b->loop, -1, 0, resumed, b);
	return b->tcp.resume == NULL ? -1 : 0;
}

/*
 * What is accepted inherits all of it: a reset at the end, unless flow.c says
 * otherwise in time, so that none is missing when this program dies; and
 * bounded buffers, since left alone the kernel keeps megabytes for each reader
 * that is slow, and over loopback more is of no use.
 */
static int
prepare(int fd)
{
	struct linger l = {1, 0};
	int n = BUFFER, on = 1;

	(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &n, sizeof(n));
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &n, sizeof(n));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
}

int
tcp_add(struct broker *b, int fd, struct host *host, uint16_t port)
{
	struct listener *l = calloc(1, sizeof(*l));

	if (l == NULL || prepare(fd) == -1) {
		free(l);
		close(fd);
		return -1;
	}
	l->b = b;
	l->fd = fd;
	l->host = host;
	l->port = port;
	if (host != NULL)
		hosts_allowed(b, host, port, 0, &l->allowed);
	l->watch = watch_new(b->loop, fd, LOOP_READ, acceptable, l);
	if (l->watch == NULL ||
	    (!b->tcp.paused && watch_start(l->watch, -1) == -1)) {
		watch_free(l->watch);
		free(l);
		close(fd);
		return -1;
	}
	TAILQ_INSERT_TAIL(&b->tcp.listeners, l, entry);
	return 0;
}
