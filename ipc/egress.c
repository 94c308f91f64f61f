#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "egress.h"
#include "reach.h"
#include "rule.h"

#define LABEL_MAX 63

static const char *const schemes[] = {
    "?", "https", "http", "tls", "tcp", "udp", "*"};

const char *
egress_scheme(unsigned scheme)
{
	return schemes[scheme <= EGRESS_LAST ? scheme : 0];
}

static int
is_label(const char *s, size_t n)
{
	size_t i;

	if (n == 0 || n > LABEL_MAX || s[0] == '-' || s[n - 1] == '-')
		return 0;
	for (i = 0; i < n; i++)
		if (!((s[i] >= 'a' && s[i] <= 'z') ||
			(s[i] >= '0' && s[i] <= '9') || s[i] == '-'))
			return 0;
	return 1;
}

/* A last label that inet_aton(3) might take for a part of an address. */
static int
is_number(const char *s, size_t n)
{
	size_t i = 0;
	int hex = n >= 2 && s[0] == '0' && s[1] == 'x';

	for (i = hex ? 2 : 0; i < n; i++)
		if (!((s[i] >= '0' && s[i] <= '9') ||
			(hex && s[i] >= 'a' && s[i] <= 'f')))
			return 0;
	return 1;
}

int
egress_name(const char *s, size_t n)
{
	size_t i, first = 0;

	if (n == 0 || n > EGRESS_HOST_MAX)
		return 0;
	for (i = 0; i <= n; i++) {
		if (i < n && s[i] != '.')
			continue;
		if (!is_label(s + first, i - first))
			return 0;
		if (i == n && is_number(s + first, i - first))
			return 0;
		first = i + 1;
	}
	return 1;
}

enum egress_host
egress_host(const char *s)
{
	struct address a;
	char text[ADDRESS_TEXT];

	if (strncmp(s, "*.", 2) == 0)
		return egress_name(s + 2, strlen(s + 2)) ? EGRESS_WILD
							 : EGRESS_BAD;
	if (egress_name(s, strlen(s)))
		return EGRESS_NAME;
	if (address_read(s, &a) == 0 && strcmp(address_text(&a, text), s) == 0)
		return EGRESS_ADDRESS;
	return EGRESS_BAD;
}

void
egress_of(const struct rule *r, struct egress *e)
{
	e->scheme = r->what;
	e->private = (r->number & EGRESS_PRIVATE) != 0;
	e->port = (uint16_t)(r->number & EGRESS_PORT);
	e->host = r->text;
}

const char *
egress_check(const struct rule *r)
{
	struct address a;
	const char *why;

	if (r->what < EGRESS_HTTPS || r->what > EGRESS_LAST)
		return "has no such scheme";
	if ((r->number & ~(uint64_t)(EGRESS_PORT | EGRESS_PRIVATE)) != 0)
		return "has a bad flag";
	if (r->what == EGRESS_ALL)
		return strcmp(r->text, "*") != 0 || r->number != 0
			   ? "allows more than everything"
			   : NULL;
	if ((r->number & EGRESS_PORT) == 0)
		return "has no port";
	switch (egress_host(r->text)) {
	case EGRESS_BAD:
		return "has no host";
	case EGRESS_ADDRESS:
		if (address_read(r->text, &a) == -1 ||
		    reach_of(&a, &why) == REACH_NEVER)
			return "is never reachable";
		return NULL;
	default:
		return NULL;
	}
}

int
egress_match(const struct egress *e, const char *host)
{
	size_t n = strlen(host), k;

	if (e->scheme == EGRESS_ALL)
		return 1;
	if (strncmp(e->host, "*.", 2) != 0)
		return strcmp(e->host, host) == 0;
	/* the suffix with its dot, and at least a byte before it */
	k = strlen(e->host + 1);
	return n > k && egress_name(host, n) &&
	       strcmp(host + n - k, e->host + 1) == 0;
}

char *
egress_text(const struct egress *e, char buf[EGRESS_TEXT])
{
	int v6 = strchr(e->host, ':') != NULL;

	if (e->scheme == EGRESS_ALL)
		snprintf(buf, EGRESS_TEXT, "*");
	else
		snprintf(buf, EGRESS_TEXT, "%s://%s%s%s:%u%s",
		    egress_scheme(e->scheme), v6 ? "[" : "", e->host,
		    v6 ? "]" : "", e->port, e->private ? " private" : "");
	return buf;
}
