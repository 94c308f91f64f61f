#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "broker.h"
#include "ipc/buf.h"
#include "ipc/channel.h"
#include "ipc/grow.h"
#include "ipc/limits.h"
#include "ipc/rule.h"

/* RECORD_BROKER opens the stream. */

static void
put_head(struct wbuf *w, int uses)
{
	wbuf_u16(w, BROKER_VERSION);
	wbuf_u8(w, uses != 0);
}

int
broker_begin(struct sender *s, int uses)
{
	put_head(sender_begin(s, RECORD_BROKER), uses);
	return sender_end(s);
}

static int
get_head(struct rcur *c, struct broker_setup *b)
{
	unsigned version = rcur_u16(c), uses = rcur_u8(c);

	b->uses = uses == 1;
	return version == BROKER_VERSION && uses <= 1 ? rcur_end(c) : -1;
}

/* struct broker_rule: RECORD_BROKER_RULE */

static void
put_rule(struct wbuf *w, const struct broker_rule *r)
{
	wbuf_u8(w, r->egress.scheme);
	wbuf_u8(w, r->egress.private);
	wbuf_u16(w, r->egress.port);
	wbuf_str(w, r->text);
	wbuf_u16(w, r->profile);
	wbuf_u32(w, r->line);
}

int
broker_send_rule(struct sender *s, const struct broker_rule *r)
{
	put_rule(sender_begin(s, RECORD_BROKER_RULE), r);
	return sender_end(s);
}

static int
get_rule(struct rcur *c, struct broker_setup *b)
{
	struct rule check = {.kind = RULE_EGRESS};
	struct broker_rule *r;
	const char *text;

	if ((r = grow(b->rules, b->nrules, sizeof(*r))) == NULL)
		return -1;
	b->rules = r;
	r += b->nrules;
	memset(r, 0, sizeof(*r));
	r->egress.scheme = rcur_u8(c);
	r->egress.private = rcur_u8(c);
	r->egress.port = rcur_u16(c);
	text = rcur_str(c, EGRESS_HOST_MAX + 2);
	r->profile = rcur_u16(c);
	r->line = rcur_u32(c);
	if (rcur_end(c) == -1 || r->egress.private > 1 ||
	    r->profile >= PROFILES_MAX)
		return -1;
	if ((r->text = strdup(text)) == NULL)
		return -1;
	b->nrules++;
	r->egress.host = check.text = r->text;
	check.what = r->egress.scheme;
	check.number =
	    r->egress.port | (r->egress.private ? EGRESS_PRIVATE : 0);
	return egress_check(&check) == NULL ? 0 : -1;
}

/* struct broker_host: RECORD_BROKER_HOST */

static void
put_host(struct wbuf *w, const struct broker_host *h)
{
	uint32_t v4 = 0;
	size_t i;

	/* an address says by itself where it is */
	for (i = 0; i < 4 && egress_host(h->name) == EGRESS_NAME; i++)
		v4 = v4 << 8 | h->v4.bytes[i];
	wbuf_str(w, h->name);
	wbuf_u32(w, v4);
}

int
broker_send_host(struct sender *s, const struct broker_host *h)
{
	put_host(sender_begin(s, RECORD_BROKER_HOST), h);
	return sender_end(s);
}

/* A name has an address of its own, among those for names. */
static int
place_host(struct broker_setup *b, struct broker_host *h, uint32_t v4)
{
	size_t i;

	if (egress_host(h->name) == EGRESS_ADDRESS) {
		if (v4 != 0)
			return -1;
		return address_read(
		    h->name, strchr(h->name, ':') != NULL ? &h->v6 : &h->v4);
	}
	if (egress_host(h->name) != EGRESS_NAME || v4 < EGRESS_FIRST_NAME ||
	    v4 >= EGRESS_FIRST_WILD)
		return -1;
	egress_pair(v4, &h->v4, &h->v6);
	for (i = 0; i + 1 < b->nhosts; i++)
		if (address_equal(&b->hosts[i].v4, &h->v4))
			return -1;
	return 0;
}

static int
get_host(struct rcur *c, struct broker_setup *b)
{
	struct broker_host *h;
	const char *name;
	uint32_t v4;

	if ((h = grow(b->hosts, b->nhosts, sizeof(*h))) == NULL)
		return -1;
	b->hosts = h;
	h += b->nhosts;
	memset(h, 0, sizeof(*h));
	name = rcur_str(c, EGRESS_HOST_MAX);
	v4 = rcur_u32(c);
	if (rcur_end(c) == -1 || (h->name = strdup(name)) == NULL)
		return -1;
	b->nhosts++;
	if (b->nhosts > 1 && strcmp(h[-1].name, name) >= 0)
		return -1;
	return place_host(b, h, v4);
}

/* struct broker_socket: RECORD_BROKER_SOCKET, with a descriptor */

static void
put_socket(struct wbuf *w, const struct broker_socket *k)
{
	wbuf_u8(w, k->kind);
	wbuf_u16(w, k->host);
	wbuf_u16(w, k->port);
}

int
broker_send_socket(struct sender *s, const struct broker_socket *k)
{
	put_socket(sender_begin(s, RECORD_BROKER_SOCKET), k);
	sender_attach(s, k->fd);
	return sender_end(s);
}

static int
get_socket(struct receiver *r, struct rcur *c, struct broker_setup *b)
{
	struct broker_socket *k;
	int of_host;

	if ((k = grow(b->sockets, b->nsockets, sizeof(*k))) == NULL)
		return -1;
	b->sockets = k;
	k += b->nsockets;
	k->kind = rcur_u8(c);
	k->host = rcur_u16(c);
	k->port = rcur_u16(c);
	of_host = k->kind == BROKER_LISTENER || k->kind == BROKER_FLOW;
	if (rcur_end(c) == -1 || k->kind < BROKER_LISTENER ||
	    k->kind > BROKER_LAST)
		return -1;
	if (of_host ? k->host >= b->nhosts || k->port == 0
		    : k->host != 0 || k->port != 0)
		return -1;
	if ((k->fd = receiver_take(r)) == -1)
		return -1;
	b->nsockets++;
	return 0;
}

/* RECORD_BROKER_END says what the stream held. */

static void
put_end(struct wbuf *w, const struct broker_setup *b)
{
	wbuf_u32(w, (uint32_t)b->nrules);
	wbuf_u32(w, (uint32_t)b->nhosts);
	wbuf_u32(w, (uint32_t)b->nsockets);
}

int
broker_end(struct sender *s, const struct broker_setup *counts)
{
	put_end(sender_begin(s, RECORD_BROKER_END), counts);
	return sender_end(s) == -1 ? -1 : sender_flush(s);
}

static int
get_end(struct rcur *c, const struct broker_setup *b)
{
	if (rcur_u32(c) != b->nrules || rcur_u32(c) != b->nhosts ||
	    rcur_u32(c) != b->nsockets)
		return -1;
	return rcur_end(c);
}

void
broker_setup_free(struct broker_setup *b)
{
	size_t i;

	for (i = 0; i < b->nrules; i++)
		free(b->rules[i].text);
	for (i = 0; i < b->nhosts; i++)
		free(b->hosts[i].name);
	for (i = 0; i < b->nsockets; i++)
		if (b->sockets[i].fd != -1)
			close(b->sockets[i].fd);
	free(b->rules);
	free(b->hosts);
	free(b->sockets);
	memset(b, 0, sizeof(*b));
}

static int
get(unsigned type, struct receiver *r, struct rcur *c, struct broker_setup *b)
{
	switch (type) {
	case RECORD_BROKER:
		return get_head(c, b);
	case RECORD_BROKER_RULE:
		return get_rule(c, b);
	case RECORD_BROKER_HOST:
		return get_host(c, b);
	case RECORD_BROKER_SOCKET:
		return get_socket(r, c, b);
	default:
		return get_end(c, b);
	}
}

int
broker_receive(struct receiver *r, struct broker_setup *out)
{
	struct broker_setup b;
	struct rcur c;
	unsigned type = 0;
	int err;

	memset(&b, 0, sizeof(b));
	while (type != RECORD_BROKER_END) {
		if (receiver_next(r, &type, &c) != 1)
			goto fail;
		errno = 0;
		if (get(type, r, &c, &b) == -1) {
			if (errno != ENOMEM)
				errno = EBADMSG;
			goto fail;
		}
	}
	/* END is the last record of its datagram */
	if (receiver_left(r)) {
		errno = EBADMSG;
		goto fail;
	}
	*out = b;
	return 0;
fail:
	err = errno;
	broker_setup_free(&b);
	errno = err;
	return -1;
}

/* RECORD_READY, the broker's only word */

static void
put_ready(struct wbuf *w, const char *why)
{
	wbuf_str(w, why);
}

int
broker_send_ready(struct sender *s, const char *why)
{
	char cut[TEXT_MAX_LEN + 1];

	cut[0] = '\0';
	strncat(cut, why, TEXT_MAX_LEN);
	put_ready(sender_begin(s, RECORD_READY), cut);
	return sender_end(s) == -1 ? -1 : sender_flush(s);
}

int
broker_receive_ready(struct receiver *r, char *why, size_t len)
{
	struct rcur c;
	const char *text;
	unsigned type;
	int n;

	if ((n = receiver_next(r, &type, &c)) != 1) {
		if (n == 0)
			errno = EPIPE;
		return -1;
	}
	text = rcur_str(&c, TEXT_MAX_LEN);
	if (rcur_end(&c) == -1 || receiver_left(r)) {
		errno = EBADMSG;
		return -1;
	}
	snprintf(why, len, "%s", text);
	return 0;
}
