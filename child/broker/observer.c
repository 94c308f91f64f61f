#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "broker.h"
#include "ipc/reach.h"
#include "loop.h"
#include "observer.h"
#include "refusal.h"
#include "socket.h"

#define AT_ONCE 64
#define SNAP	192 /* both IP headers with all options, and the ports */

struct observer {
	struct observer *next;
	struct broker *b;
	int fd;
	int family, proto;
	uint32_t lost; /* as the kernel counts, since the beginning */
	struct watch *watch;
};

/*
 * The sandbox's own 127.0.0.1 is nobody else's business; an address that holds
 * that one would be somewhere else's.
 */
static int
is_inside(const struct address *a)
{
	struct address inner[REACH_INNER_MAX];
	const char *why;

	(void)reach_of(a, &why);
	return strcmp(why, "loopback") == 0 && reach_inner(a, inner) == 0;
}

static void
tell(struct broker *b, const struct refusal_seen *r)
{
	const struct host *h = hosts_by_address(b, &r->to);
	int six = h == NULL && r->to.family == AF_INET6;
	char text[ADDRESS_TEXT];

	if (is_inside(&r->to))
		return;
	report_refused(&b->report, NULL, r->udp ? "send" : "connect",
	    ECONNREFUSED, "%s %s%s%s:%u", r->udp ? "udp" : "tcp",
	    six ? "[" : "", h != NULL ? h->name : address_text(&r->to, text),
	    six ? "]" : "", r->port);
}

/* The kernel says with a packet how many it had no room for until then. */
static void
count_lost(struct observer *o, struct msghdr *m)
{
	struct cmsghdr *h;
	uint32_t n;

	for (h = CMSG_FIRSTHDR(m); h != NULL; h = CMSG_NXTHDR(m, h)) {
		if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SO_RXQ_OVFL)
			continue;
		memcpy(&n, CMSG_DATA(h), sizeof(n));
		if (n != o->lost)
			report_lost(&o->b->report, n - o->lost);
		o->lost = n;
	}
}

/* One packet. 0, or -1 if there is none. */
static int
look(struct observer *o)
{
	uint8_t data[SNAP];
	struct sockaddr_storage ss;
	union {
		char room[CMSG_SPACE(sizeof(uint32_t))];
		struct cmsghdr align;
	} control;
	struct iovec iov = {.iov_base = data, .iov_len = sizeof(data)};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	struct refusal_seen r;
	struct address from;
	uint16_t port;
	ssize_t n;
	int is;

	m.msg_name = &ss;
	m.msg_namelen = sizeof(ss);
	m.msg_control = control.room;
	m.msg_controllen = sizeof(control.room);
	if ((n = recvmsg(o->fd, &m, 0)) == -1)
		return -1;
	count_lost(o, &m);
	if (o->family == AF_INET)
		is = refusal_read4(data, (size_t)n, &r);
	else
		is = sockaddr_read(&ss, &from, &port) == 0 &&
		     refusal_read6(data, (size_t)n, o->proto, &from, &r);
	if (is)
		tell(o->b, &r);
	return 0;
}

static void
seen(unsigned what, void *arg)
{
	struct observer *o = arg;
	int i;

	(void)what;
	for (i = 0; i < AT_ONCE && look(o) == 0; i++)
		;
}

static int
prepare(struct observer *o)
{
	socklen_t len = sizeof(int);
	int on = 1;

	if (getsockopt(o->fd, SOL_SOCKET, SO_DOMAIN, &o->family, &len) == -1 ||
	    getsockopt(o->fd, SOL_SOCKET, SO_PROTOCOL, &o->proto, &len) == -1)
		return -1;
	if (setsockopt(o->fd, SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof(on)) == -1)
		return -1;
	o->watch = watch_new(o->b->loop, o->fd, LOOP_READ, seen, o);
	return o->watch == NULL ? -1 : watch_start(o->watch, -1);
}

int
observer_add(struct broker *b, int fd)
{
	struct observer *o = calloc(1, sizeof(*o));

	if (o != NULL) {
		o->b = b;
		o->fd = fd;
		if (prepare(o) == 0) {
			o->next = b->observers;
			b->observers = o;
			return 0;
		}
		watch_free(o->watch);
		free(o);
	}
	close(fd);
	return -1;
}

void
observer_drain(struct broker *b)
{
	struct observer *o;

	for (o = b->observers; o != NULL; o = o->next)
		while (look(o) == 0)
			;
}
