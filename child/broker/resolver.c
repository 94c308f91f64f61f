#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "broker.h"
#include "dns.h"
#include "ipc/channel.h"
#include "lookup.h"
#include "loop.h"
#include "own.h"

#define AT_ONCE 32   /* datagrams, then others have their turn */
#define ASYNC	(-1) /* instead of a code: the answer comes later */

struct service { /* a socket of the name server */
	struct broker *b;
	int fd;
	struct watch *watch;
	struct watch *again; /* after descriptors or memory ran out */
};

struct caller { /* a connection by TCP */
	struct broker *b;
	int fd;
	struct watch *watch;
	uint8_t in[2 + DNS_QUERY_MAX];
	size_t have;
	struct question *asked;
};

/* A question under "*", and who gets the answer: a peer of fd, or a caller. */
struct question {
	struct broker *b;
	struct dns_question q;
	int fd;
	struct sockaddr_storage peer;
	socklen_t peer_len;
	struct caller *caller;
	struct lookup *lookup;
};

static void
refuse(struct broker *b, const char *name)
{
	report_refused(&b->report, NULL, "resolve", 0, "name %s", name);
}

/* A name under a wildcard that was not asked for yet. */
static int
add(struct broker *b, const char *name, struct host **h)
{
	if ((*h = hosts_add(b, name, channel_now())) != NULL) {
		b->hosts.said = 0;
		return DNS_OK;
	}
	if (!b->hosts.said && errno == EAGAIN)
		report_limit(&b->report, "resolve",
		    "name %s: a run may have %d names under wildcards, and %d "
		    "new ones a second",
		    name, BUDGET_PER_RUN, BUDGET_PER_SECOND);
	else if (!b->hosts.said)
		report_limit(&b->report, "resolve",
		    "name %s: no socket for it: %s", name, strerror(errno));
	b->hosts.said = 1;
	return DNS_SERVFAIL;
}

/* The code to answer with and the address if there is one, or ASYNC. */
static int
decide(struct broker *b, const struct dns_question *q,
    const struct address **answer)
{
	char name[EGRESS_HOST_MAX + 1];
	struct host *h;
	int wanted = q->type == DNS_A || q->type == DNS_AAAA, code;

	*answer = NULL;
	if (q->class != 1 || dns_host(q, name) == -1) {
		refuse(b, q->text);
		return q->class != 1 ? DNS_REFUSED : DNS_NXDOMAIN;
	}
	h = hosts_by_name(b, name);
	if (h == NULL && hosts_granted(b, name)) {
		if (!wanted)
			return DNS_OK;
		if ((code = add(b, name, &h)) != DNS_OK)
			return code;
	}
	if (wanted && (h != NULL || hosts_all(b)))
		report_used(&b->report, NULL, "resolve", "name %s", name);
	if (h == NULL && hosts_all(b))
		return wanted ? ASYNC : DNS_OK;
	if (h == NULL) {
		refuse(b, name);
		return DNS_NXDOMAIN;
	}
	if (wanted)
		*answer = q->type == DNS_A ? &h->v4 : &h->v6;
	return DNS_OK;
}

static void hang_up(struct caller *);
static void go_on(struct caller *);

/* -1: the caller does not take it. */
static int
send_tcp(struct caller *c, const uint8_t *answer, size_t n)
{
	uint8_t out[2 + DNS_ANSWER_MAX];

	out[0] = (uint8_t)(n >> 8);
	out[1] = (uint8_t)n;
	memcpy(out + 2, answer, n);
	return send(c->fd, out, n + 2, MSG_NOSIGNAL) == (ssize_t)n + 2 ? 0 : -1;
}

static void
forget(struct question *k)
{
	k->b->resolver.asked--;
	lookup_free(k->lookup);
	free(k);
}

static const struct address *
first_public(struct broker *b, const struct dns_found *f, const char *name)
{
	const char *why = "";
	size_t i;

	for (i = 0; i < f->n; i++)
		if (own_judge(b->own, &f->address[i], &why) == REACH_PUBLIC)
			return &f->address[i];
	if (f->n > 0 && strcmp(why, "no route") != 0)
		report_refused(
		    &b->report, NULL, "resolve", 0, "name %s: %s", name, why);
	return NULL;
}

static void
looked_up(void *arg, int family, enum dns_verdict v, const struct dns_found *f)
{
	struct question *k = arg;
	struct caller *c = k->caller;
	uint8_t out[DNS_ANSWER_MAX];
	const struct address *a = first_public(k->b, f, k->q.text);
	int code = v == DNS_FAILED    ? DNS_SERVFAIL
		   : v == DNS_NO_NAME ? DNS_NXDOMAIN
				      : DNS_OK;
	size_t n = dns_write_answer(&k->q, code, a, f->ttl, out);

	(void)family;
	if (v == DNS_FAILED)
		report_unreached(&k->b->report, NULL, "resolve", EHOSTUNREACH,
		    "name %s: no name server has an answer", k->q.text);
	if (c == NULL) {
		(void)sendto(
		    k->fd, out, n, 0, (struct sockaddr *)&k->peer, k->peer_len);
		forget(k);
		return;
	}
	forget(k);
	c->asked = NULL;
	if (send_tcp(c, out, n) == -1)
		hang_up(c);
	else
		go_on(c);
}

/* NULL: too many. */
static struct question *
ask(struct broker *b, const struct dns_question *q)
{
	char name[EGRESS_HOST_MAX + 1];
	struct question *k;

	if (b->resolver.asked >= RESOLVER_ASKED_MAX ||
	    dns_host(q, name) == -1 || (k = calloc(1, sizeof(*k))) == NULL)
		return NULL;
	k->b = b;
	k->q = *q;
	k->lookup = lookup_start(b->loop, &b->servers, name,
	    q->type == DNS_A ? AF_INET : AF_INET6, looked_up, k);
	if (k->lookup == NULL) {
		free(k);
		return NULL;
	}
	b->resolver.asked++;
	return k;
}

/*
 * The answer to a message: its length; 0 if there is none; or 0 and *later,
 * whose address of the asker the caller sets.
 */
static size_t
answer(struct broker *b, const uint8_t *p, size_t len,
    uint8_t out[DNS_ANSWER_MAX], struct question **later)
{
	const struct address *a = NULL;
	struct dns_question q;
	int code = dns_read_query(p, len, &q);

	*later = NULL;
	if (code == -1)
		return 0;
	if (code == DNS_OK)
		code = decide(b, &q, &a);
	if (code == ASYNC) {
		if ((*later = ask(b, &q)) != NULL)
			return 0;
		code = DNS_SERVFAIL;
	}
	/* which address stands for a name is not to be kept: it costs nothing
	 * to ask, and nobody can mistake it for the outside's word */
	return dns_write_answer(&q, code, a, 0, out);
}

static void
datagram(unsigned what, void *arg)
{
	struct service *s = arg;
	uint8_t in[DNS_QUERY_MAX + 1], out[DNS_ANSWER_MAX];
	struct sockaddr_storage peer;
	struct question *later;
	socklen_t len;
	ssize_t got;
	size_t n;
	int i;

	(void)what;
	for (i = 0; i < AT_ONCE; i++) {
		len = sizeof(peer);
		got = recvfrom(
		    s->fd, in, sizeof(in), 0, (struct sockaddr *)&peer, &len);
		if (got == -1)
			return;
		n = answer(s->b, in, (size_t)got, out, &later);
		if (later != NULL) {
			later->fd = s->fd;
			later->peer = peer;
			later->peer_len = len;
		} else if (n > 0) {
			(void)sendto(
			    s->fd, out, n, 0, (struct sockaddr *)&peer, len);
		}
	}
}

static void
hang_up(struct caller *c)
{
	if (c->asked != NULL)
		forget(c->asked);
	watch_free(c->watch);
	close(c->fd);
	c->b->resolver.connections--;
	free(c);
}

/* All whole questions that came, one after the other. */
static void
go_on(struct caller *c)
{
	uint8_t out[DNS_ANSWER_MAX];
	size_t want, n;

	while (c->asked == NULL && c->have >= 2) {
		want = 2 + ((size_t)c->in[0] << 8 | c->in[1]);
		if (want > sizeof(c->in)) {
			hang_up(c);
			return;
		}
		if (c->have < want)
			break;
		n = answer(c->b, c->in + 2, want - 2, out, &c->asked);
		c->have -= want;
		memmove(c->in, c->in + want, c->have);
		if (c->asked != NULL)
			c->asked->caller = c;
		else if (n == 0 || send_tcp(c, out, n) == -1) {
			hang_up(c);
			return;
		}
	}
	(void)watch_start(c->watch, RESOLVER_TCP_MS);
	if (c->asked != NULL)
		watch_stop(c->watch); /* one at a time */
}

static void
called(unsigned what, void *arg)
{
	struct caller *c = arg;
	ssize_t n;

	n = (what & LOOP_TIMEOUT) != 0
		? 0
		: recv(c->fd, c->in + c->have, sizeof(c->in) - c->have, 0);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		hang_up(c);
		return;
	}
	c->have += (size_t)n;
	go_on(c);
}

static void
take(struct service *s, int fd)
{
	struct caller *c = calloc(1, sizeof(*c));

	if (c != NULL) {
		c->b = s->b;
		c->fd = fd;
		c->watch = watch_new(s->b->loop, fd, LOOP_READ, called, c);
		if (c->watch != NULL &&
		    watch_start(c->watch, RESOLVER_TCP_MS) == 0) {
			s->b->resolver.connections++;
			return;
		}
		watch_free(c->watch);
		free(c);
	}
	close(fd);
}

static void
acceptable(unsigned what, void *arg)
{
	struct service *s = arg;
	int fd;

	(void)what;
	fd = accept4(s->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd == -1) {
		if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
			return;
		/* it is still there, and would be told at once */
		watch_stop(s->watch);
		(void)watch_start(s->again, RESOLVER_AGAIN_MS);
		return;
	}
	if (s->b->resolver.connections < RESOLVER_TCP_MAX)
		take(s, fd);
	else
		close(fd);
}

static void
accept_again(unsigned what, void *arg)
{
	struct service *s = arg;

	(void)what;
	if (watch_start(s->watch, -1) == -1)
		loop_stop(s->b->loop); /* fails closed, and is seen */
}

static int
add_service(struct broker *b, int fd, void (*call)(unsigned, void *))
{
	struct service *s = calloc(1, sizeof(*s));

	if (s != NULL) {
		s->b = b;
		s->fd = fd;
		s->watch = watch_new(b->loop, fd, LOOP_READ, call, s);
		s->again = watch_new(b->loop, -1, 0, accept_again, s);
		if (s->watch != NULL && s->again != NULL &&
		    watch_start(s->watch, -1) == 0)
			return 0;
		watch_free(s->watch);
		watch_free(s->again);
		free(s);
	}
	close(fd);
	return -1;
}

int
resolver_add_udp(struct broker *b, int fd)
{
	return add_service(b, fd, datagram);
}

int
resolver_add_tcp(struct broker *b, int fd)
{
	return add_service(b, fd, acceptable);
}
