#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "broker.h"
#include "ipc/channel.h"
#include "lookup.h"
#include "loop.h"
#include "own.h"
#include "socket.h"

/* an address of a name, and both */
#define PLACE	    (EGRESS_HOST_MAX + ADDRESS_TEXT + 32)
#define PATIENCE_MS 1000 /* of the payload: then the outside was slow */

struct attempt {
	struct dial *of;
	int fd; /* -1: none */
	struct watch *watch;
};

struct dial {
	TAILQ_ENTRY(dial) entry; /* of those that wait, or of those that run */
	struct broker *b;
	struct target to;
	char name[EGRESS_HOST_MAX + 1];
	struct dial **where;
	void (*done)(void *, int, struct watch *, int);
	void *arg;
	int active, begun; /* begun: the first address was tried */
	struct lookup *lookup;
	int owed; /* families that are not looked up yet */
	struct dns_found v6, v4;
	size_t next6, next4;
	int last; /* the family that was tried last */
	struct attempt try[DIAL_TRIES];
	struct watch *deadline, *stagger;
	int err;	     /* of the last that failed */
	const char *refused; /* why one was, or NULL */
	struct address which;
	struct address tried; /* the last that was not; family 0: none */
	const char *lack;     /* of the name, or NULL */
	int64_t since;	      /* it was begun */
};

static void next(struct dial *);

void
dialer_init(struct dialer *d)
{
	memset(d, 0, sizeof(*d));
	TAILQ_INIT(&d->waiting);
	TAILQ_INIT(&d->running);
}

static void
drop(struct attempt *t)
{
	watch_free(t->watch);
	t->watch = NULL;
	if (t->fd != -1)
		close(t->fd);
	t->fd = -1;
}

static void begin(struct dial *);

/* One is kept: its size makes each allocation a system call. */
static void
put_away(struct dialer *all, struct dial *d)
{
	free(all->spare);
	all->spare = d;
}

static struct dial *
get(struct dialer *all)
{
	struct dial *d = all->spare;

	if (d == NULL)
		return calloc(1, sizeof(*d));
	all->spare = NULL;
	memset(d, 0, sizeof(*d));
	return d;
}

static void
release(struct dial *d)
{
	struct dialer *all = &d->b->dialer;
	struct dial *waiting;
	size_t i;

	for (i = 0; i < DIAL_TRIES; i++)
		drop(&d->try[i]);
	lookup_free(d->lookup);
	watch_free(d->deadline);
	watch_free(d->stagger);
	*d->where = NULL;
	if (!d->active) {
		TAILQ_REMOVE(&all->waiting, d, entry);
		put_away(all, d);
		return;
	}
	TAILQ_REMOVE(&all->running, d, entry);
	put_away(all, d);
	all->active--;
	if ((waiting = TAILQ_FIRST(&all->waiting)) == NULL) {
		all->said = 0;
		return;
	}
	TAILQ_REMOVE(&all->waiting, waiting, entry);
	begin(waiting);
}

static void
finish(struct dial *d, int fd, struct watch *w, int err)
{
	void (*done)(void *, int, struct watch *, int) = d->done;
	void *arg = d->arg;

	release(d);
	done(arg, fd, w, err);
}

/* One of them it is. */
static void
finish_with(struct dial *d, struct attempt *t)
{
	struct watch *w = t->watch;
	int fd = t->fd;

	t->watch = NULL;
	t->fd = -1;
	finish(d, fd, w, 0);
}

/* "tcp NAME:PORT (ADDRESS)", or without either of the two. */
static const char *
place(const struct dial *d, const struct address *a, char buf[PLACE])
{
	char text[ADDRESS_TEXT] = "";
	const char *proto = d->to.udp ? "udp" : "tcp";

	if (a->family != 0)
		address_text(a, text);
	if (d->to.name == NULL)
		snprintf(buf, PLACE,
		    a->family == AF_INET6 ? "%s [%s]:%u" : "%s %s:%u", proto,
		    text, d->to.port);
	else
		snprintf(buf, PLACE, "%s %s:%u%s%s%s", proto, d->name,
		    d->to.port, text[0] != '\0' ? " (" : "", text,
		    text[0] != '\0' ? ")" : "");
	return buf;
}

static void
tell_unreached(const struct dial *d, int err)
{
	char buf[PLACE];

	report_unreached(&d->b->report, d->to.rule, "connect", err, "%s%s%s",
	    place(d, &d->tried, buf),
	    d->tried.family == 0 && d->lack != NULL ? ": " : "",
	    d->tried.family == 0 && d->lack != NULL ? d->lack : "");
}

static void
fail(struct dial *d, int err)
{
	char buf[PLACE];

	if (d->refused != NULL) {
		report_refused(&d->b->report, d->to.rule, "connect", ECONNRESET,
		    "%s: %s", place(d, &d->which, buf), d->refused);
		err = EACCES;
	} else {
		tell_unreached(d, err);
	}
	finish(d, -1, NULL, err);
}

/* Nobody waits any more; where it took long, that is worth a word. */
static void
tell_given_up(const struct dial *d)
{
	if (d->active && d->refused == NULL &&
	    channel_now() - d->since >= PATIENCE_MS)
		tell_unreached(d, ETIMEDOUT);
}

void
dial_cancel(struct dial *d)
{
	if (d == NULL)
		return;
	tell_given_up(d);
	release(d);
}

void
dialer_end(struct broker *b)
{
	const struct dial *d;

	for (d = TAILQ_FIRST(&b->dialer.running); d != NULL;
	     d = TAILQ_NEXT(d, entry))
		tell_given_up(d);
}

static void
expired(unsigned what, void *arg)
{
	(void)what;
	fail(arg, ETIMEDOUT);
}

static void
staggered(unsigned what, void *arg)
{
	(void)what;
	next(arg);
}

/* The families in turn, IPv6 first. NULL: none is left for now. */
static const struct address *
pick(struct dial *d)
{
	int six = d->next6 < d->v6.n, four = d->next4 < d->v4.n;

	if (six && (!four || d->last != AF_INET6)) {
		d->last = AF_INET6;
		return &d->v6.address[d->next6++];
	}
	d->last = AF_INET;
	return four ? &d->v4.address[d->next4++] : NULL;
}

static void
answered(unsigned what, void *arg)
{
	struct attempt *t = arg;
	struct dial *d = t->of;
	socklen_t len = sizeof(d->err);

	(void)what;
	if (getsockopt(t->fd, SOL_SOCKET, SO_ERROR, &d->err, &len) == -1)
		d->err = errno;
	if (d->err != 0) {
		drop(t);
		next(d);
		return;
	}
	finish_with(d, t);
}

/* What was judged is what is connected. 1: done at once; 0: begun; -1 */
static int
connect_to(struct dial *d, struct attempt *t, const struct address *a)
{
	struct sockaddr_storage ss;
	socklen_t len;
	enum reach reach;
	const char *why;
	int n;

	reach = own_judge(d->b->own, a, &why);
	if (reach == REACH_NEVER ||
	    (reach == REACH_PRIVATE && !d->to.private)) {
		if (strcmp(why, "no route") == 0) {
			d->err = ENETUNREACH;
			d->tried = *a;
			return -1;
		}
		d->refused = why;
		d->which = *a;
		return -1;
	}
	d->tried = *a;
	t->fd = socket(a->family,
	    (d->to.udp ? SOCK_DGRAM : SOCK_STREAM) | SOCK_NONBLOCK |
		SOCK_CLOEXEC,
	    0);
	if (t->fd == -1) {
		d->err = errno;
		return -1;
	}
	len = sockaddr_write(a, d->to.port, &ss);
	n = connect(t->fd, (struct sockaddr *)&ss, len);
	if (n == 0 && d->to.udp)
		return 1;
	if (n == 0 || errno == EINPROGRESS) {
		t->watch = watch_new(d->b->loop, t->fd,
		    LOOP_READ | LOOP_WRITE | LOOP_EDGE, answered, t);
		if (t->watch != NULL && watch_start(t->watch, -1) == 0)
			return 0;
		errno = ENOMEM;
	}
	d->err = errno;
	drop(t);
	return -1;
}

static struct attempt *
free_try(struct dial *d, int *busy)
{
	struct attempt *t, *idle = NULL;

	*busy = 0;
	for (t = d->try; t < d->try + DIAL_TRIES; t++)
		if (t->fd == -1)
			idle = t;
		else
			(*busy)++;
	return idle;
}

/* Tries the next address, if it is its turn; or ends it all. */
static void
next(struct dial *d)
{
	const struct address *a = NULL;
	struct attempt *t;
	int busy, n = -1;

	d->begun = 1;
	watch_stop(d->stagger);
	while ((t = free_try(d, &busy)) != NULL && (a = pick(d)) != NULL) {
		n = connect_to(d, t, a);
		if (n == 1) {
			finish_with(d, t);
			return;
		}
		if (n == 0) {
			(void)watch_start(d->stagger, DIAL_STAGGER_MS);
			return;
		}
	}
	if (busy == 0 && a == NULL && d->owed == 0)
		fail(d, d->err);
}

static void
found(void *arg, int family, enum dns_verdict v, const struct dns_found *f)
{
	struct dial *d = arg;
	struct dns_found *mine = family == AF_INET6 ? &d->v6 : &d->v4;
	size_t i;

	*mine = *f;
	for (i = 0; i < mine->n; i++)
		reach_unmap(&mine->address[i]);
	d->owed--;
	if (v == DNS_FAILED)
		d->lack = "no name server has an answer";
	else if (v == DNS_NO_NAME && d->lack == NULL)
		d->lack = "there is no such name";
	else if (v == DNS_NONE && d->lack == NULL)
		d->lack = "the name has no address";
	if (v == DNS_NO_NAME || v == DNS_NONE)
		d->err = EHOSTUNREACH;
	if (d->owed == 0 || (family == AF_INET6 && f->n > 0)) {
		next(d);
	} else if (f->n > 0) {
		(void)watch_start(d->stagger, DIAL_RESOLVE_MS);
	}
}

static void
begin(struct dial *d)
{
	d->active = 1;
	TAILQ_INSERT_TAIL(&d->b->dialer.running, d, entry);
	d->since = channel_now();
	d->b->dialer.active++;
	d->err = EHOSTUNREACH;
	if (watch_start(d->deadline, DIAL_SECONDS * 1000) == -1) {
		fail(d, ENOMEM);
		return;
	}
	if (d->to.name != NULL) {
		d->owed = 2;
		d->lookup = lookup_start(
		    d->b->loop, &d->b->servers, d->name, 0, found, d);
		if (d->lookup == NULL)
			fail(d, ENOMEM);
		return;
	}
	d->v4.address[0] = d->to.address;
	reach_unmap(&d->v4.address[0]);
	d->v4.n = 1;
	next(d);
}

/* As a profile would allow this one alone. */
static void
tell_used(struct broker *b, const struct target *to)
{
	char text[ADDRESS_TEXT];
	const char *host =
	    to->name != NULL ? to->name : address_text(&to->address, text);
	int six = strchr(host, ':') != NULL;

	report_used(&b->report, to->rule, "connect", "%s://%s%s%s:%u",
	    to->udp ? "udp"
	    : to->rule == NULL || to->rule->egress.scheme == EGRESS_ALL
		? "tcp"
		: egress_scheme(to->rule->egress.scheme),
	    six ? "[" : "", host, six ? "]" : "", to->port);
}

int
dial_start(struct broker *b, const struct target *to, struct dial **where,
    void (*done)(void *, int, struct watch *, int), void *arg)
{
	struct dialer *all = &b->dialer;
	struct dial *d = get(all);
	size_t i;

	if (d == NULL)
		return -1;
	tell_used(b, to);
	d->b = b;
	d->to = *to;
	if (to->name != NULL)
		strcpy(d->name, to->name);
	d->where = where;
	d->done = done;
	d->arg = arg;
	for (i = 0; i < DIAL_TRIES; i++)
		d->try[i] = (struct attempt){d, -1, NULL};
	d->deadline = watch_new(b->loop, -1, 0, expired, d);
	d->stagger = watch_new(b->loop, -1, 0, staggered, d);
	if (d->deadline == NULL || d->stagger == NULL) {
		watch_free(d->deadline);
		watch_free(d->stagger);
		put_away(all, d);
		return -1;
	}
	*where = d;
	if (all->active < DIAL_MAX) {
		begin(d);
		return 0;
	}
	if (!all->said)
		report_limit(&b->report, "wait",
		    "%d connections to the outside that are not answered yet",
		    DIAL_MAX);
	all->said = 1;
	TAILQ_INSERT_TAIL(&all->waiting, d, entry);
	return 0;
}
