#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advice.h"
#include "event.h"
#include "ipc/reach.h"

#define WORDS	   64 /* of a resource behind its host and port */
#define PORT_DNS   53
#define PORT_HTTP  80
#define PORT_HTTPS 443

/* A resource of the broker's (child/broker): "tcp HOST:PORT[: why]". */
struct place {
	int udp, is_name;
	char host[EGRESS_HOST_MAX + 1];
	unsigned long port;
	char why[WORDS]; /* what follows the port */
};

/* "localhost", reverse names and what is short for something else. */
static int
is_worth_it(const char *name)
{
	static const char *const never[] = {
	    ".arpa", ".local", ".localhost", ".invalid", ".home", ".internal"};
	size_t i, k, n = strlen(name);

	if (strchr(name, '.') == NULL)
		return 0;
	for (i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
		k = strlen(never[i]);
		if (n > k && strcmp(name + n - k, never[i]) == 0)
			return 0;
	}
	return 1;
}

/* HOST or [ADDRESS], up to the colon of the port. */
static const char *
take_host(struct place *p, const char *s)
{
	const char *end;

	if (*s == '[') {
		if ((end = strchr(++s, ']')) == NULL || end[1] != ':')
			return NULL;
	} else if ((end = strchr(s, ':')) == NULL) {
		return NULL;
	}
	if (end == s || (size_t)(end - s) > EGRESS_HOST_MAX)
		return NULL;
	memcpy(p->host, s, (size_t)(end - s));
	p->host[end - s] = '\0';
	return end + (*end == ']') + 1;
}

static int
read_place(const char *s, struct place *p)
{
	struct address a;
	const char *why;
	char *end;

	memset(p, 0, sizeof(*p));
	p->udp = strncmp(s, "udp ", 4) == 0;
	if (!p->udp && strncmp(s, "tcp ", 4) != 0)
		return -1;
	if ((s = take_host(p, s + 4)) == NULL || *s < '1' || *s > '9')
		return -1;
	p->port = strtoul(s, &end, 10);
	if (p->port > UINT16_MAX || strlen(end) >= WORDS)
		return -1;
	strcpy(p->why, end);
	switch (egress_host(p->host)) {
	case EGRESS_NAME:
		p->is_name = 1;
		return is_worth_it(p->host) ? 0 : -1;
	case EGRESS_ADDRESS:
		return address_read(p->host, &a) == 0 &&
			       reach_of(&a, &why) != REACH_NEVER
			   ? 0
			   : -1;
	default:
		return -1;
	}
}

static const char *
line(
    char buf[ADVICE_MAX], unsigned scheme, const char *host, unsigned long port)
{
	char text[EGRESS_TEXT];
	struct egress e = {
	    .scheme = (uint8_t)scheme, .port = (uint16_t)port, .host = host};

	snprintf(buf, ADVICE_MAX, "allow = %s", egress_text(&e, text));
	return buf;
}

/* What nobody was allowed to connect to. */
static const char *
for_place(const struct place *p, char buf[ADVICE_MAX])
{
	unsigned scheme = EGRESS_TCP;

	/* names are asked for at carrel's own server */
	if (p->why[0] != '\0' || p->port == PORT_DNS)
		return NULL;
	if (p->udp)
		scheme = EGRESS_UDP;
	else if (p->is_name && p->port == PORT_HTTPS)
		scheme = EGRESS_HTTPS;
	else if (p->is_name && p->port == PORT_HTTP)
		scheme = EGRESS_HTTP;
	return line(buf, scheme, p->host, p->port);
}

/* What does not speak as its rule wants it. */
static const char *
for_speech(const struct place *p, char buf[ADVICE_MAX])
{
	static const char *const others[] = {
	    ": not TLS", ": no server name", ": no request of HTTP/1"};
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(p->why, others[i]) == 0)
			return line(buf, EGRESS_TCP, p->host, p->port);
	return NULL;
}

/* Where a rule leads to a private address. */
static const char *
for_private(const struct event *e, char buf[ADVICE_MAX])
{
	static const char is[] = "): private";
	size_t n = strlen(e->resource), k = sizeof(is) - 1;

	if (n < k || strcmp(e->resource + n - k, is) != 0 ||
	    strncmp(e->rule, "allow = ", 8) != 0 || e->rule[8] == '*' ||
	    strlen(e->rule) > EGRESS_TEXT)
		return NULL;
	snprintf(buf, ADVICE_MAX, "%s private", e->rule);
	return buf;
}

const char *
advice_for(const struct event *e, char buf[ADVICE_MAX])
{
	struct place p;

	if (e->surface != EVENT_EGRESS || (e->flags & EVENT_LOST) != 0)
		return NULL;
	if (strcmp(e->action, "resolve") == 0) {
		/* at which port is not known: that of most */
		if (strncmp(e->resource, "name ", 5) != 0 ||
		    egress_host(e->resource + 5) != EGRESS_NAME ||
		    !is_worth_it(e->resource + 5))
			return NULL;
		return line(buf, EGRESS_HTTPS, e->resource + 5, PORT_HTTPS);
	}
	if (e->rule[0] != '\0' && strcmp(e->action, "connect") == 0)
		return for_private(e, buf);
	if (read_place(e->resource, &p) == -1)
		return NULL;
	return e->rule[0] != '\0' ? for_speech(&p, buf) : for_place(&p, buf);
}
