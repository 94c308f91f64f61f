#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "broker.h"
#include "ipc/channel.h"
#include "ipc/factory.h"
#include "loop.h"
#include "socket.h"

#define ROOM	   65536 /* more than a datagram can have */
#define AT_ONCE	   32	 /* datagrams, then others have their turn */
#define TIDY_MS	   5000
#define SAY_MS	   1000
#define FACTORY_MS 2000

/*
 * A socket inside: of a host; for any address; or, made when the first
 * datagram to an address and port came through that one, for these alone:
 * what comes back goes out from it, and it closes with its last flow.
 */
struct door {
	struct broker *b;
	int fd;
	struct watch *watch;
	struct host *host;	/* NULL: address */
	struct address address; /* of the last kind */
	uint16_t port;
	int closes; /* the last kind */
	struct allowed allowed;
	size_t nflows;
};

struct held { /* a datagram that waits for the outside */
	STAILQ_ENTRY(held) entry;
	size_t len;
	uint8_t data[];
};

struct udp_flow {
	TAILQ_ENTRY(udp_flow) entry;
	struct door *door;
	struct sockaddr_storage peer; /* who sends, inside */
	socklen_t peer_len;
	int fd; /* outside; -1: not yet */
	struct watch *watch;
	struct dial *dial;
	STAILQ_HEAD(helds, held) held;
	size_t nheld, bytes;
	int64_t used;
	int told; /* that nobody is there */
	int dead; /* refused: what comes is dropped, until it is idle */
};

static void
close_door(struct door *d)
{
	watch_free(d->watch);
	close(d->fd);
	free(d);
}

static void
end_flow(struct udp_flow *f)
{
	struct udp *u = &f->door->b->udp;
	struct held *h;

	dial_cancel(f->dial);
	watch_free(f->watch);
	if (f->fd != -1)
		close(f->fd);
	while ((h = STAILQ_FIRST(&f->held)) != NULL) {
		STAILQ_REMOVE_HEAD(&f->held, entry);
		free(h);
	}
	TAILQ_REMOVE(&u->flows, f, entry);
	u->n--;
	if (--f->door->nflows == 0 && f->door->closes)
		close_door(f->door);
	free(f);
}

static void
touch(struct udp_flow *f)
{
	struct udp *u = &f->door->b->udp;

	f->used = channel_now();
	TAILQ_REMOVE(&u->flows, f, entry);
	TAILQ_INSERT_TAIL(&u->flows, f, entry);
}

static void
tidy(unsigned what, void *arg)
{
	struct broker *b = arg;
	struct udp_flow *f;
	int64_t now = channel_now();

	(void)what;
	while ((f = TAILQ_FIRST(&b->udp.flows)) != NULL &&
	       now - f->used > UDP_IDLE_MS)
		end_flow(f);
	if (f != NULL)
		(void)watch_start(b->udp.tidy, TIDY_MS);
}

/* An ICMP came back: once for each sender is enough. */
static void
tell_unreached(struct udp_flow *f, int err)
{
	const struct door *d = f->door;
	char text[ADDRESS_TEXT];
	const char *name =
	    d->host != NULL ? d->host->name : address_text(&d->address, text);
	int six = strchr(name, ':') != NULL;

	if (f->told)
		return;
	f->told = 1;
	report_unreached(&d->b->report, d->allowed.plain, "send", err,
	    "udp %s%s%s:%u", six ? "[" : "", name, six ? "]" : "", d->port);
}

/* From the outside to the payload. */
static void
outside(unsigned what, void *arg)
{
	struct udp_flow *f = arg;
	struct udp *u = &f->door->b->udp;
	ssize_t n;
	int i;

	(void)what;
	for (i = 0; i < AT_ONCE; i++) {
		n = recv(f->fd, u->room, ROOM, 0);
		if (n == -1 && errno != EAGAIN && errno != EINTR)
			tell_unreached(f, errno); /* it may try again */
		if (n == -1)
			break;
		/* a full buffer inside loses it, as any network would */
		(void)sendto(f->door->fd, u->room, (size_t)n, 0,
		    (struct sockaddr *)&f->peer, f->peer_len);
	}
	touch(f);
}

static void
dialled(void *arg, int fd, struct watch *w, int err)
{
	struct udp_flow *f = arg;
	struct held *h;

	(void)w;
	(void)err;
	f->fd = fd;
	f->dead = fd == -1;
	if (fd != -1) {
		f->watch =
		    watch_new(f->door->b->loop, fd, LOOP_READ, outside, f);
		if (f->watch == NULL || watch_start(f->watch, -1) == -1)
			f->dead = 1;
	}
	while ((h = STAILQ_FIRST(&f->held)) != NULL) {
		STAILQ_REMOVE_HEAD(&f->held, entry);
		if (!f->dead)
			(void)send(fd, h->data, h->len, 0);
		free(h);
	}
	f->nheld = f->bytes = 0;
}

static void
hold(struct udp_flow *f, const uint8_t *data, size_t len)
{
	struct held *h;

	if (f->nheld == UDP_HELD || len > UDP_HELD_SIZE - f->bytes ||
	    (h = malloc(sizeof(*h) + len)) == NULL)
		return; /* lost, as any network may lose it */
	h->len = len;
	memcpy(h->data, data, len);
	STAILQ_INSERT_TAIL(&f->held, h, entry);
	f->nheld++;
	f->bytes += len;
}

/* A place for one more; -1: there is none. */
static int
make_place(struct broker *b)
{
	struct udp *u = &b->udp;
	struct udp_flow *oldest = TAILQ_FIRST(&u->flows);
	int64_t now = channel_now();

	if (u->n < u->max)
		return 0;
	if (oldest != NULL && now - oldest->used > UDP_SPARE_MS) {
		end_flow(oldest);
		return 0;
	}
	if (u->said == 0 || now - u->said >= SAY_MS) {
		u->said = now;
		report_limit(&b->report, "drop",
		    "more than %zu UDP flows at a time", u->max);
	}
	return -1;
}

static int
begin(struct udp_flow *f)
{
	struct door *d = f->door;
	struct target t = {.port = d->port, .udp = 1};

	t.rule = d->allowed.plain;
	t.private = d->allowed.plain_private;
	if (d->host == NULL)
		t.address = d->address;
	else if (d->host->literal)
		t.address = d->host->v4.family != 0 ? d->host->v4 : d->host->v6;
	else
		t.name = d->host->name;
	return dial_start(d->b, &t, &f->dial, dialled, f);
}

static struct udp_flow *
new_flow(struct door *d, const struct sockaddr_storage *peer, socklen_t len)
{
	struct udp *u = &d->b->udp;
	struct udp_flow *f;

	if (make_place(d->b) == -1 || (f = calloc(1, sizeof(*f))) == NULL)
		return NULL;
	f->door = d;
	f->peer = *peer;
	f->peer_len = len;
	f->fd = -1;
	STAILQ_INIT(&f->held);
	f->used = channel_now();
	d->nflows++;
	if (u->n++ == 0)
		(void)watch_start(u->tidy, TIDY_MS);
	TAILQ_INSERT_TAIL(&u->flows, f, entry);
	return f;
}

static void
forward(struct udp_flow *f, size_t len)
{
	touch(f);
	if (f->fd != -1 && !f->dead)
		(void)send(f->fd, f->door->b->udp.room, len, 0);
	else if (!f->dead)
		hold(f, f->door->b->udp.room, len);
}

/*
 * From the payload to the outside. 0, or -1 if the door is closed now: another
 * flow had to go to make place, and there was no place even so.
 */
static int
pass(struct door *d, size_t len, const struct sockaddr_storage *peer,
    socklen_t peer_len)
{
	struct udp *u = &d->b->udp;
	struct udp_flow *f;

	for (f = TAILQ_LAST(&u->flows, udp_flows); f != NULL;
	     f = TAILQ_PREV(f, udp_flows, entry))
		if (f->door == d && f->peer_len == peer_len &&
		    memcmp(&f->peer, peer, peer_len) == 0) {
			forward(f, len);
			return 0;
		}
	d->nflows++; /* it must outlive the flow that makes place */
	if ((f = new_flow(d, peer, peer_len)) != NULL) {
		hold(f, u->room, len);
		if (begin(f) == -1)
			f->dead = 1;
	}
	if (--d->nflows > 0 || !d->closes)
		return 0;
	close_door(d);
	return -1;
}

static void
inside(unsigned what, void *arg)
{
	struct door *d = arg;
	struct sockaddr_storage peer;
	socklen_t len;
	ssize_t n;
	int i;

	(void)what;
	for (i = 0; i < AT_ONCE; i++) {
		memset(&peer, 0, sizeof(peer));
		len = sizeof(peer);
		n = recvfrom(d->fd, d->b->udp.room, ROOM, 0,
		    (struct sockaddr *)&peer, &len);
		if (n == -1)
			return;
		if (pass(d, (size_t)n, &peer, len) == -1)
			return;
	}
}

static struct door *
new_door(
    struct broker *b, int fd, struct host *host, void (*call)(unsigned, void *))
{
	struct door *d = calloc(1, sizeof(*d));

	if (d == NULL) {
		close(fd);
		return NULL;
	}
	d->b = b;
	d->fd = fd;
	d->host = host;
	d->watch = watch_new(b->loop, fd, LOOP_READ, call, d);
	if (d->watch != NULL && watch_start(d->watch, -1) == 0)
		return d;
	close_door(d);
	return NULL;
}

/* The first datagram to an address and port: they get a socket. */
static void
open_door(struct broker *b, size_t len, const struct sockaddr_storage *peer,
    socklen_t peer_len, const struct address *to, uint16_t port)
{
	struct factory_ask q = {.udp = 1, .port = port, .address = *to};
	struct host *host = hosts_by_address(b, to);
	struct door *d;
	int fd;

	if ((host == NULL && egress_own(to)) || make_place(b) == -1)
		return; /* it stands for nobody, or has no place */
	fd = factory_ask(b->factory, &q, channel_now() + FACTORY_MS);
	if (fd == -1 || (d = new_door(b, fd, host, inside)) == NULL)
		return;
	d->address = *to;
	d->port = port;
	d->closes = 1;
	hosts_allowed(b, host, port, 1, &d->allowed);
	(void)pass(d, len, peer, peer_len);
}

static struct door *
find_door(struct broker *b, const struct address *to, uint16_t port)
{
	struct udp_flow *f;

	for (f = TAILQ_FIRST(&b->udp.flows); f != NULL;
	     f = TAILQ_NEXT(f, entry))
		/* the analyzer does not see that TAILQ_REMOVE took it out:
		   NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
		if (f->door->closes && f->door->port == port &&
		    address_equal(&f->door->address, to))
			return f->door;
	return NULL;
}

static void
any(unsigned what, void *arg)
{
	struct door *d = arg, *own;
	struct sockaddr_storage peer;
	struct address to;
	uint16_t port;
	socklen_t len;
	ssize_t n;
	int i;

	(void)what;
	for (i = 0; i < AT_ONCE; i++) {
		memset(&peer, 0, sizeof(peer));
		n = socket_receive_to(
		    d->fd, d->b->udp.room, ROOM, &peer, &len, &to, &port);
		if (n == -1)
			return;
		if ((own = find_door(d->b, &to, port)) != NULL)
			(void)pass(own, (size_t)n, &peer, len);
		else
			open_door(d->b, (size_t)n, &peer, len, &to, port);
	}
}

int
udp_init(struct broker *b, size_t max)
{
	memset(&b->udp, 0, sizeof(b->udp));
	TAILQ_INIT(&b->udp.flows);
	b->udp.max = max < UDP_FLOWS_MAX ? max : UDP_FLOWS_MAX;
	b->udp.tidy = watch_new(b->loop, -1, 0, tidy, b);
	b->udp.room = malloc(ROOM);
	return b->udp.tidy == NULL || b->udp.room == NULL ? -1 : 0;
}

int
udp_add(struct broker *b, int fd, struct host *host, uint16_t port)
{
	struct door *d = new_door(b, fd, host, host == NULL ? any : inside);

	if (d == NULL)
		return -1;
	d->port = port;
	if (host != NULL)
		hosts_allowed(b, host, port, 1, &d->allowed);
	return 0;
}
