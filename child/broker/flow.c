#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "broker.h"
#include "child/shared/hostname.h"
#include "flow.h"
#include "http.h"
#include "loop.h"
#include "relay.h"
#include "tls.h"

#define FALLBACK_MS                                                            \
	300 /* until an unchecked rule is enough, where both fit               \
	     */

struct flow {
	struct broker *b;
	struct host *host; /* NULL: address */
	struct address address;
	uint16_t port;
	struct allowed allowed;
	struct end in, out;
	struct watch *in_watch, *out_watch;
	struct watch *deadline; /* of the check */
	struct dial *dial;
	struct half up, down;
	int is_http;
	struct http http;
	int waits; /* up, for the answer to an upgrade */
};

static void run(struct flow *);

/* The payload's end: reset, or its end if that was not said already. */
static void
over(struct flow *f)
{
	struct broker *b = f->b;

	dial_cancel(f->dial);
	watch_free(f->deadline);
	watch_free(f->in_watch);
	watch_free(f->out_watch);
	relay_free(&f->up, &b->pipes);
	relay_free(&f->down, &b->pipes);
	close(f->in.fd);
	if (f->out.fd != -1)
		close(f->out.fd);
	free(f);
	tcp_flow_ended(b);
}

static void
linger(int fd, int on)
{
	struct linger l = {on, 0};

	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
}

/* Both ends are reset. */
static void
reset(struct flow *f)
{
	if (f->out.fd != -1)
		linger(f->out.fd, 1);
	over(f);
}

static const char *
name_of(const struct flow *f, char text[ADDRESS_TEXT])
{
	return f->host != NULL ? f->host->name
			       : address_text(&f->address, text);
}

static void
tell_refused(const struct flow *f, const struct broker_rule *rule,
    const char *action, const char *why, const char *what)
{
	char text[ADDRESS_TEXT];
	const char *name = name_of(f, text);
	int six = strchr(name, ':') != NULL;

	report_refused(&f->b->report, rule, action, ECONNRESET,
	    "tcp %s%s%s:%u: %s%s", six ? "[" : "", name, six ? "]" : "",
	    f->port, why, what);
}

static void
refuse(struct flow *f, const struct broker_rule *rule, const char *action,
    const char *why, const char *what)
{
	tell_refused(f, rule, action, why, what);
	reset(f);
}

/* What relay.c asks about requests, and about the answer to the first. */

static enum look
look_up(struct half *h, void *arg)
{
	struct flow *f = arg;
	struct http_want want = {f->host->name, f->port};
	const char *why = "";
	enum http_verdict v =
	    http_request(&f->http, &want, h->buf, h->have, &h->pass, &why);

	f->waits = v == HTTP_WAIT;
	if (v != HTTP_BAD)
		return v == HTTP_PASS	? LOOK_PASS
		       : v == HTTP_MORE ? LOOK_MORE
					: LOOK_WAIT;
	tell_refused(f, f->allowed.http, "http", why, "");
	return LOOK_BAD;
}

static size_t
unseen_up(const struct half *h, void *arg)
{
	struct flow *f = arg;

	(void)h;
	return http_unseen(&f->http);
}

static void
unseen_went_up(struct half *h, size_t n, void *arg)
{
	struct flow *f = arg;

	(void)h;
	http_unseen_went(&f->http, n);
}

static enum look
look_down(struct half *h, void *arg)
{
	struct flow *f = arg;
	enum http_verdict v;

	h->pass = h->have;
	if (!f->http.upgrade)
		return LOOK_PASS;
	v = http_answer(&f->http, h->buf, h->have, &h->pass);
	if (v == HTTP_MORE)
		return LOOK_MORE;
	if (v == HTTP_BAD) { /* whatever that is, it is no switch */
		f->http.upgrade = 0;
		h->pass = h->have;
	}
	return LOOK_PASS;
}

static size_t
unseen_down(const struct half *h, void *arg)
{
	struct flow *f = arg;

	(void)h;
	return f->http.upgrade ? 0 : SIZE_MAX;
}

static int
prepare_down(struct flow *f)
{
	if (!f->is_http)
		return 0;
	f->down.look = look_down;
	f->down.unseen = unseen_down;
	f->down.arg = f;
	if (f->http.upgrade && f->down.buf == NULL)
		f->down.buf = malloc(RELAY_BUFFER);
	return f->http.upgrade && f->down.buf == NULL ? -1 : 0;
}

/* An end is ready for something. */
static void
ready(struct flow *f, struct end *e, unsigned what)
{
	e->readable |= (what & LOOP_READ) != 0;
	e->writable |= (what & LOOP_WRITE) != 0;
	run(f);
}

static void
in_ready(unsigned what, void *arg)
{
	struct flow *f = arg;

	ready(f, &f->in, what);
}

static void
out_ready(unsigned what, void *arg)
{
	struct flow *f = arg;

	ready(f, &f->out, what);
}

/* 1 if the other side has reset it, whatever is still to be read there. */
static int
is_reset(const struct end *e)
{
	int err = 0;
	socklen_t len = sizeof(err);

	return getsockopt(e->fd, SOL_SOCKET, SO_ERROR, &err, &len) == -1 ||
	       err != 0;
}

/* Nothing is read there before what was read is gone: nor is a reset seen. */
static int
is_reset_unseen(const struct half *h)
{
	return (h->pass > 0 || h->piped > 0) && is_reset(h->from);
}

static void
relay(struct flow *f)
{
	enum relay up = relay_run(&f->up, &f->b->pipes), down;

	down = relay_run(&f->down, &f->b->pipes);
	if (up == RELAY_WAIT && f->waits && !f->http.upgrade)
		up = RELAY_MORE;
	if (up >= RELAY_RESET || down >= RELAY_RESET ||
	    (up == RELAY_WAIT && is_reset_unseen(&f->up)) ||
	    (down == RELAY_WAIT && is_reset_unseen(&f->down))) {
		reset(f);
	} else if (up == RELAY_DONE && down == RELAY_DONE) {
		linger(f->in.fd, 0);
		over(f);
	} else if (up == RELAY_MORE || down == RELAY_MORE) {
		watch_again(f->in_watch, 0);
	}
}

static void
dialled(void *arg, int fd, struct watch *w, int err)
{
	struct flow *f = arg;
	int on = 1;

	(void)err; /* a handshake that is done can only be reset */
	if (fd == -1) {
		reset(f);
		return;
	}
	f->out.fd = fd;
	/* whatever was told of it until now is not told again */
	f->out.readable = f->out.writable = 1;
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	f->out_watch = w;
	watch_give(w, out_ready, f);
	if (prepare_down(f) == -1) {
		reset(f);
		return;
	}
	run(f);
}

static void
dial(struct flow *f, const struct broker_rule *rule, int private)
{
	struct target t = {.port = f->port, .private = private, .rule = rule};

	watch_free(f->deadline);
	f->deadline = NULL;
	if (f->host != NULL && !f->host->literal)
		t.name = f->host->name;
	else
		t.address = f->address;
	if (dial_start(f->b, &t, &f->dial, dialled, f) == -1)
		reset(f);
}

static void
dial_plain(struct flow *f)
{
	f->up.pass = f->up.have;
	dial(f, f->allowed.plain, f->allowed.plain_private);
}

/* 1 if the hello names the host, or none if an address stands for it. */
static int
is_named(const struct flow *f, const struct tls_hello *h)
{
	char name[EGRESS_HOST_MAX + 1];

	if (f->host->literal)
		return h->name[0] == '\0';
	return hostname_normalise(name, h->name, strlen(h->name)) == 0 &&
	       strcmp(name, f->host->name) == 0;
}

/* 1 if it takes more bytes to say; else the flow went on, or is no more. */
static int
check_tls(struct flow *f)
{
	struct tls_hello h;
	enum tls_verdict v = tls_read(f->up.buf, f->up.have, &h);

	if (v == TLS_MORE)
		return 1;
	if (v == TLS_HELLO && is_named(f, &h)) {
		f->up.pass = f->up.have;
		dial(f, f->allowed.tls, f->allowed.tls_private);
	} else if (f->allowed.plain != NULL) {
		dial_plain(f);
	} else if (v == TLS_HELLO && h.name[0] == '\0') {
		refuse(f, f->allowed.tls, "tls", "no server name", "");
	} else if (v == TLS_HELLO) {
		refuse(f, f->allowed.tls, "tls", "the server name is ", h.name);
	} else {
		refuse(f, f->allowed.tls, "tls",
		    v == TLS_NOT ? "not TLS" : "a bad TLS hello", "");
	}
	return 0;
}

/* Likewise. */
static int
check_http(struct flow *f)
{
	struct http_want want = {f->host->name, f->port};
	const char *why = "";
	enum http_verdict v = http_request(
	    &f->http, &want, f->up.buf, f->up.have, &f->up.pass, &why);

	if (v == HTTP_PASS) {
		f->is_http = 1;
		f->up.look = look_up;
		f->up.unseen = unseen_up;
		f->up.unseen_went = unseen_went_up;
		f->up.arg = f;
		dial(f, f->allowed.http, f->allowed.http_private);
		return 0;
	}
	f->up.pass = 0;
	if (v == HTTP_MORE)
		return 1;
	if (f->allowed.plain != NULL)
		dial_plain(f);
	else
		refuse(f, f->allowed.http, "http", why, "");
	return 0;
}

/* Nothing more comes: gone without having said anything whole. */
static void
ended_early(struct flow *f)
{
	if (f->allowed.plain != NULL)
		dial_plain(f);
	else
		reset(f);
}

/*
 * Reads and looks at it, until it is clear what it is or there is no more: an
 * end that came together with bytes is not told again (EPOLLET).
 */
static void
check(struct flow *f)
{
	struct half *h = &f->up;
	int more = 1;
	ssize_t n;

	while (more) {
		n = recv(f->in.fd, h->buf + h->have, RELAY_BUFFER - h->have, 0);
		if (n == -1 && (errno == EAGAIN || errno == EINTR)) {
			f->in.readable = 0;
			return;
		}
		if (n == -1) {
			reset(f);
			return;
		}
		if (n == 0) {
			ended_early(f);
			return;
		}
		h->have += (size_t)n;
		/* one byte tells which of two is meant */
		more = f->allowed.tls != NULL &&
			       (f->allowed.http == NULL || h->buf[0] == 22)
			   ? check_tls(f)
			   : check_http(f);
	}
}

static void
run(struct flow *f)
{
	if (f->out.fd != -1)
		relay(f);
	else if (f->dial == NULL && f->in.readable)
		check(f);
	else if (f->dial != NULL && is_reset(&f->in))
		reset(f); /* then nobody waits for the outside */
}

static void
expired(unsigned what, void *arg)
{
	struct flow *f = arg;

	(void)what;
	if (f->allowed.plain != NULL)
		dial_plain(f);
	else
		refuse(f, f->allowed.tls, "tls", "no hello in time", "");
}

/*
 * 1 if what is sent has to be looked at: no rule lets it through unchecked, or
 * one that does not may lead to fewer addresses.
 */
static int
is_checked(const struct allowed *a)
{
	return a->plain == NULL ||
	       (!a->plain_private && (a->tls_private || a->http_private));
}

static void
begin(struct flow *f)
{
	int ms;

	if (watch_start(f->in_watch, -1) == -1) {
		reset(f);
		return;
	}
	if (!is_checked(&f->allowed)) {
		dial_plain(f);
		return;
	}
	if ((f->up.buf = malloc(RELAY_BUFFER)) == NULL) {
		reset(f);
		return;
	}
	/* who waits for a first request may wait long: the flow is his own */
	if (f->allowed.plain == NULL && f->allowed.http != NULL)
		return;
	ms = f->allowed.plain != NULL ? FALLBACK_MS : TLS_SECONDS * 1000;
	f->deadline = watch_new(f->b->loop, -1, 0, expired, f);
	if (f->deadline == NULL || watch_start(f->deadline, ms) == -1)
		reset(f);
}

void
flow_start(struct broker *b, int fd, struct host *host,
    const struct address *to, uint16_t port, const struct allowed *allowed)
{
	struct flow *f = calloc(1, sizeof(*f));

	if (f == NULL) {
		close(fd);
		tcp_flow_ended(b);
		return;
	}
	f->b = b;
	f->host = host;
	f->address = *to;
	f->port = port;
	f->allowed = *allowed;
	f->in = (struct end){fd, 0, 1};
	f->out.fd = -1;
	relay_init(&f->up, &f->in, &f->out);
	relay_init(&f->down, &f->out, &f->in);
	f->in_watch = watch_new(
	    b->loop, fd, LOOP_READ | LOOP_WRITE | LOOP_EDGE, in_ready, f);
	if (f->in_watch == NULL)
		reset(f);
	else
		begin(f);
}
