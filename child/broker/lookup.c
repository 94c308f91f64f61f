#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/channel.h"
#include "lookup.h"
#include "loop.h"
#include "servers.h"

/* The question for one family. */
struct asking {
	struct lookup *of;
	enum dns_type type;
	int fd; /* -1: not asked now */
	uint16_t id;
	unsigned try;	     /* from 0: which server, in which round */
	int tcp;	     /* the one at hand */
	struct watch *watch; /* of fd */
	int64_t until;	     /* its turn ends, whatever comes meanwhile */
	uint8_t *reply;	     /* by TCP: its length and itself, growing */
	size_t have;
	int wanted;
};

struct lookup {
	struct loop *loop;
	const struct servers *servers;
	char name[EGRESS_HOST_MAX + 1];
	void (*done)(void *, int, enum dns_verdict, const struct dns_found *);
	void *arg;
	struct asking ask[2];
	struct watch *first; /* begins, when the caller is back in its loop */
	unsigned begun;	     /* questions */
};

static void ask_next(struct asking *);
static void answered(unsigned, void *);

static void
stop(struct asking *a)
{
	watch_free(a->watch);
	a->watch = NULL;
	if (a->fd != -1)
		close(a->fd);
	a->fd = -1;
	free(a->reply);
	a->reply = NULL;
	a->have = 0;
}

static void
finish(struct asking *a, enum dns_verdict v, const struct dns_found *f)
{
	struct lookup *l = a->of;

	stop(a);
	l->done(l->arg, a->type == DNS_A ? AF_INET : AF_INET6, v, f);
}

static void
give_up(struct asking *a, enum dns_verdict v)
{
	struct dns_found none = {.n = 0, .ttl = 0};

	finish(a, v, &none);
}

/* A socket to the server whose turn it is. 0 or -1. */
static int
open_to(struct asking *a, int tcp)
{
	struct lookup *l = a->of;
	size_t i = a->try % l->servers->n;
	const struct sockaddr *to = (const struct sockaddr *)&l->servers->at[i];

	stop(a);
	a->tcp = tcp;
	a->fd = socket(to->sa_family,
	    (tcp ? SOCK_STREAM : SOCK_DGRAM) | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (a->fd == -1 ||
	    getrandom(&a->id, sizeof(a->id), 0) != (ssize_t)sizeof(a->id))
		return -1;
	if (connect(a->fd, to, l->servers->len[i]) == -1 &&
	    errno != EINPROGRESS)
		return -1;
	a->watch = watch_new(
	    l->loop, a->fd, tcp ? LOOP_WRITE : LOOP_READ, answered, a);
	a->until = channel_now() + LOOKUP_TRY_MS;
	return a->watch == NULL ? -1 : watch_start(a->watch, LOOKUP_TRY_MS);
}

static int
ask_udp(struct asking *a)
{
	uint8_t query[DNS_QUERY_MAX];
	size_t n;

	if (open_to(a, 0) == -1)
		return -1;
	n = dns_write_query(a->id, a->of->name, a->type, query);
	return send(a->fd, query, n, 0) == (ssize_t)n ? 0 : -1;
}

/* Asks whose turn it is, or the next one that can be asked at all. */
static void
ask_next(struct asking *a)
{
	unsigned last = LOOKUP_ROUNDS * (unsigned)a->of->servers->n;

	for (; a->try < last; a->try++)
		if (ask_udp(a) == 0)
			return;
	give_up(a, DNS_FAILED);
}

static void
judge(struct asking *a, const uint8_t *p, size_t len)
{
	struct dns_found f;
	enum dns_verdict v =
	    dns_read_reply(p, len, a->id, a->of->name, a->type, &f);

	switch (v) {
	case DNS_STRAY:
		if (!a->tcp && channel_now() < a->until)
			return;
		break;
	case DNS_TRUNCATED:
		if (!a->tcp && open_to(a, 1) == 0)
			return;
		break;
	case DNS_FAILED:
		break;
	default:
		finish(a, v, &f);
		return;
	}
	a->try++;
	ask_next(a);
}

/* Connected: the question with its length in front; then the answer. */
static int
tcp_ask(struct asking *a)
{
	uint8_t query[2 + DNS_QUERY_MAX];
	size_t n = dns_write_query(a->id, a->of->name, a->type, query + 2);

	query[0] = (uint8_t)(n >> 8);
	query[1] = (uint8_t)n;
	if (send(a->fd, query, n + 2, MSG_NOSIGNAL) != (ssize_t)n + 2)
		return -1;
	watch_free(a->watch);
	a->reply = malloc(2 + DNS_REPLY_MAX);
	a->watch = watch_new(a->of->loop, a->fd, LOOP_READ, answered, a);
	if (a->reply == NULL || a->watch == NULL)
		return -1;
	a->until = channel_now() + LOOKUP_TRY_MS;
	return watch_start(a->watch, LOOKUP_TRY_MS);
}

static void
tcp_read(struct asking *a)
{
	size_t want =
	    a->have < 2 ? 2 : 2 + ((size_t)a->reply[0] << 8 | a->reply[1]);
	ssize_t n = recv(a->fd, a->reply + a->have, want - a->have, 0);

	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		a->try++;
		ask_next(a);
		return;
	}
	a->have += (size_t)n;
	if (a->have > 2 && a->have == want) {
		judge(a, a->reply + 2, a->have - 2);
	} else if (channel_now() >= a->until) {
		a->try++; /* it dribbles */
		ask_next(a);
	}
}

static void
answered(unsigned what, void *arg)
{
	struct asking *a = arg;
	uint8_t reply[4096];
	ssize_t n;

	if ((what & LOOP_TIMEOUT) != 0) {
		a->try++;
		ask_next(a);
		return;
	}
	if (a->tcp) {
		if (a->reply != NULL) {
			tcp_read(a);
		} else if (tcp_ask(a) == -1) {
			a->try++;
			ask_next(a);
		}
		return;
	}
	n = recv(a->fd, reply, sizeof(reply), 0);
	if (n >= 0) {
		judge(a, reply, (size_t)n);
	} else if (errno != EAGAIN && errno != EINTR) {
		a->try++; /* nobody there */
		ask_next(a);
	}
}

/* One question at a time: its end may be the end of the lookup. */
static void
begin(unsigned what, void *arg)
{
	struct lookup *l = arg;
	struct asking *a = &l->ask[l->begun++];

	(void)what;
	if (l->begun < 2 && watch_start(l->first, 0) == -1)
		give_up(a, DNS_FAILED);
	else if (a->wanted)
		ask_next(a);
}

struct lookup *
lookup_start(struct loop *loop, const struct servers *servers, const char *name,
    int family,
    void (*done)(void *, int, enum dns_verdict, const struct dns_found *),
    void *arg)
{
	struct lookup *l = calloc(1, sizeof(*l));
	int i;

	if (l == NULL || strlen(name) > EGRESS_HOST_MAX) {
		free(l);
		return NULL;
	}
	l->loop = loop;
	l->servers = servers;
	strcpy(l->name, name);
	l->done = done;
	l->arg = arg;
	for (i = 0; i < 2; i++) {
		l->ask[i].of = l;
		l->ask[i].fd = -1;
		l->ask[i].type = i == 0 ? DNS_AAAA : DNS_A;
		l->ask[i].wanted =
		    family == 0 || family == (i == 0 ? AF_INET6 : AF_INET);
	}
	l->first = watch_new(loop, -1, 0, begin, l);
	if (l->first == NULL || watch_start(l->first, 0) == -1) {
		watch_free(l->first);
		free(l);
		return NULL;
	}
	return l;
}

void
lookup_free(struct lookup *l)
{
	if (l == NULL)
		return;
	watch_free(l->first);
	stop(&l->ask[0]);
	stop(&l->ask[1]);
	free(l);
}
