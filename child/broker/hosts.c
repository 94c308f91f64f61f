#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "broker.h"
#include "ipc/channel.h"
#include "ipc/factory.h"

#define FACTORY_MS 2000

int
hosts_init(struct broker *b)
{
	struct hosts *h = &b->hosts;
	const struct broker_host *from;
	size_t i;

	memset(h, 0, sizeof(*h));
	h->max = b->setup.nhosts + EGRESS_WILD_NAMES;
	h->list = calloc(h->max, sizeof(*h->list));
	if (h->list == NULL)
		return -1;
	for (i = 0; i < b->setup.nhosts; i++) {
		from = &b->setup.hosts[i];
		h->list[i].name = from->name;
		h->list[i].v4 = from->v4;
		h->list[i].v6 = from->v6;
		h->list[i].literal = egress_host(from->name) == EGRESS_ADDRESS;
	}
	h->n = b->setup.nhosts;
	return 0;
}

struct host *
hosts_by_name(struct broker *b, const char *name)
{
	struct host *h;

	for (h = b->hosts.list; h < b->hosts.list + b->hosts.n; h++)
		if (!h->literal && strcmp(h->name, name) == 0)
			return h;
	return NULL;
}

struct host *
hosts_by_address(struct broker *b, const struct address *a)
{
	struct host *h;

	for (h = b->hosts.list; h < b->hosts.list + b->hosts.n; h++)
		if (address_equal(a, &h->v4) || address_equal(a, &h->v6))
			return h;
	return NULL;
}

static const struct broker_rule *
wider(const struct broker_rule *have, const struct broker_rule *r)
{
	return have == NULL || have->egress.scheme == EGRESS_ALL ||
		       (r->egress.private && !have->egress.private)
		   ? r
		   : have;
}

void
hosts_allowed(const struct broker *b, const struct host *h, uint16_t port,
    int udp, struct allowed *out)
{
	const struct broker_rule *r, *end = b->setup.rules + b->setup.nrules;
	int literal = h != NULL && h->literal;

	memset(out, 0, sizeof(*out));
	for (r = b->setup.rules; r < end; r++) {
		if (r->egress.scheme == EGRESS_ALL) {
			if (out->plain == NULL)
				out->plain = r;
			continue;
		}
		if (h == NULL || r->egress.port != port ||
		    egress_udp(&r->egress) != udp ||
		    !egress_match(&r->egress, h->name))
			continue;
		if (r->egress.scheme == EGRESS_HTTP)
			out->http = wider(out->http, r);
		else if (r->egress.scheme == EGRESS_HTTPS ||
			 r->egress.scheme == EGRESS_TLS)
			out->tls = wider(out->tls, r);
		else
			out->plain = wider(out->plain, r);
	}
	/* a literal is named itself, private or not */
	out->plain_private =
	    out->plain != NULL &&
	    (out->plain->egress.private ||
		(out->plain->egress.scheme != EGRESS_ALL && literal));
	out->tls_private =
	    out->tls != NULL && (out->tls->egress.private || literal);
	out->http_private =
	    out->http != NULL && (out->http->egress.private || literal);
}

int
hosts_granted(const struct broker *b, const char *name)
{
	const struct broker_rule *r, *end = b->setup.rules + b->setup.nrules;

	for (r = b->setup.rules; r < end; r++)
		if (r->egress.scheme != EGRESS_ALL &&
		    egress_match(&r->egress, name))
			return 1;
	return 0;
}

int
hosts_all(const struct broker *b)
{
	const struct broker_rule *r, *end = b->setup.rules + b->setup.nrules;

	for (r = b->setup.rules; r < end; r++)
		if (r->egress.scheme == EGRESS_ALL)
			return 1;
	return 0;
}

/* One socket for a host at a port. 0 or -1. */
static int
make(struct broker *b, struct host *h, const struct address *a, uint16_t port,
    int udp)
{
	struct factory_ask q = {
	    .udp = (uint8_t)udp, .port = port, .address = *a};
	int fd = factory_ask(b->factory, &q, channel_now() + FACTORY_MS);

	if (fd == -1)
		return -1;
	return udp ? udp_add(b, fd, h, port) : tcp_add(b, fd, h, port);
}

/* Two rules may ask for the same port. */
static int
is_first(const struct broker *b, const struct broker_rule *r, const char *name)
{
	const struct broker_rule *o;

	for (o = b->setup.rules; o < r; o++)
		if (o->egress.port == r->egress.port &&
		    egress_udp(&o->egress) == egress_udp(&r->egress) &&
		    egress_match(&o->egress, name))
			return 0;
	return 1;
}

static int
make_all(struct broker *b, struct host *h)
{
	const struct broker_rule *r, *end = b->setup.rules + b->setup.nrules;

	for (r = b->setup.rules; r < end; r++) {
		if (r->egress.scheme == EGRESS_ALL ||
		    !egress_match(&r->egress, h->name) ||
		    !is_first(b, r, h->name))
			continue;
		if (make(b, h, &h->v4, r->egress.port,
			egress_udp(&r->egress)) == -1)
			return -1;
		/* a kernel without IPv6 has no need of it either */
		if (make(b, h, &h->v6, r->egress.port,
			egress_udp(&r->egress)) == -1 &&
		    errno != EAFNOSUPPORT)
			return -1;
	}
	return 0;
}

struct host *
hosts_add(struct broker *b, const char *name, int64_t now)
{
	struct hosts *s = &b->hosts;
	struct host *h = &s->list[s->n];
	char *copy;

	if (s->n == s->max || budget_take(&s->budget, now) == -1) {
		errno = EAGAIN;
		return NULL;
	}
	if (s->more == NULL)
		s->more = calloc(EGRESS_WILD_NAMES, EGRESS_HOST_MAX + 1);
	if (s->more == NULL)
		return NULL;
	copy = s->more + s->nmore * (EGRESS_HOST_MAX + 1);
	strcpy(copy, name);
	memset(h, 0, sizeof(*h));
	h->name = copy;
	egress_pair(EGRESS_FIRST_WILD + (uint32_t)s->nmore, &h->v4, &h->v6);
	/* an address is used once: sockets of one that failed may be left */
	s->nmore++;
	s->n++;
	if (make_all(b, h) == -1) {
		h->name = ""; /* what no question can be */
		return NULL;
	}
	return h;
}
