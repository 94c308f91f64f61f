#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child/shared/hostname.h"
#include "egress.h"
#include "ipc/egress.h"
#include "ipc/limits.h"
#include "ipc/policy.h"
#include "ipc/reach.h"
#include "ipc/rule.h"
#include "ipc/text.h"
#include "place.h"
#include "reader.h"

/* A value taken apart; the parts lie in text. */
struct parts {
	const struct place *at;
	const struct reader_line *l;
	char text[VALUE_MAX_LEN + 1];
	char *scheme, *host, *port;
	int brackets, private;
	int any; /* a part may be "*" */
};

static int
refuse(const struct parts *p, const char *fix, const char *why)
{
	return place_refuse(p->at, p->l->line, fix, "%s = \"%s\" %s", p->l->key,
	    SHOWN(p->l->value), why);
}

/* The word behind, if there is one. */
static int
cut_private(struct parts *p)
{
	char *blank = strpbrk(p->text, " \t");
	const char *word;

	if (blank == NULL)
		return 0;
	word = blank + strspn(blank, " \t");
	*blank = '\0';
	p->private = strcmp(word, "private") == 0;
	if (p->private)
		return 0;
	return refuse(p,
	    "write one SCHEME://HOST:PORT a line, and nothing behind it but "
	    "the word private",
	    "has something else behind it");
}

static int
refuse_form(const struct parts *p)
{
	char fix[FIX_MAX_LEN] = "write ";
	const char *s = p->text;

	/* a host alone: what most people mean by it */
	if (egress_name(s, strlen(s)) && strchr(s, '.') != NULL)
		text_add(fix, sizeof(fix), "https://%s:443", s);
	else
		text_add(fix, sizeof(fix),
		    "SCHEME://HOST:PORT, e.g. https://example.org:443");
	return refuse(p, fix, "is not of this form");
}

/* "[2001:db8::1]:443": the brackets tell its colons from the port's. */
static int
cut_port(struct parts *p, char *rest)
{
	char *colon;

	p->brackets = rest[0] == '[';
	if (p->brackets) {
		p->host = rest + 1;
		colon = strchr(rest, ']');
		if (colon == NULL)
			return refuse_form(p);
		*colon++ = '\0';
		p->port = *colon == ':' ? colon + 1 : NULL;
		return *colon == ':' || *colon == '\0' ? 0 : refuse_form(p);
	}
	p->host = rest;
	colon = strchr(rest, ':');
	if (colon != NULL && strchr(colon + 1, ':') != NULL)
		return refuse(p,
		    "write the address in brackets, e.g. "
		    "https://[2001:db8::1]:443",
		    "has more than one colon behind the scheme");
	if (colon != NULL)
		*colon++ = '\0';
	p->port = colon;
	return 0;
}

static int
cut(struct parts *p)
{
	char *slashes;

	if (cut_private(p) == -1)
		return -1;
	slashes = strstr(p->text, "://");
	if (slashes == NULL)
		return refuse_form(p);
	*slashes = '\0';
	p->scheme = p->text;
	if (slashes[strcspn(slashes + 3, "/?#@") + 3] != '\0')
		return refuse(p,
		    "write SCHEME://HOST:PORT and nothing else: neither a "
		    "user nor a path is ever checked",
		    "has more than a host and a port");
	return cut_port(p, slashes + 3);
}

static int
read_scheme(const struct parts *p, struct rule *r)
{
	unsigned k;

	if (p->any && strcmp(p->scheme, "*") == 0) {
		r->what = 0;
		return 0;
	}
	for (k = EGRESS_HTTPS; k < EGRESS_ALL; k++)
		if (strcmp(egress_scheme(k), p->scheme) == 0) {
			r->what = (uint8_t)k;
			return 0;
		}
	return refuse(p,
	    "write https, http, tls, tcp (unchecked; also for what the server "
	    "begins, as in ssh) or udp, in lower case",
	    "has an unknown scheme");
}

static int
read_port(const struct parts *p, struct rule *r)
{
	const char *s = p->port;
	unsigned long n = 0;
	char fix[FIX_MAX_LEN] = "";

	if (s == NULL || *s == '\0') {
		text_add(fix, sizeof(fix), "write %s://%s%s%s:%s", p->scheme,
		    p->brackets ? "[" : "", SHOWN(p->host),
		    p->brackets ? "]" : "",
		    r->what == EGRESS_HTTPS  ? "443"
		    : r->what == EGRESS_HTTP ? "80"
					     : "PORT");
		return refuse(p, fix, "has no port");
	}
	/* five digits, and no zero in front: 0443 is octal to some */
	if (strspn(s, "0123456789") == strlen(s) && strlen(s) <= 5 &&
	    s[0] != '0')
		n = strtoul(s, NULL, 10);
	if (p->any && strcmp(s, "*") == 0)
		n = 0;
	else if (n == 0 || n > EGRESS_PORT)
		return refuse(p,
		    "write one decimal number from 1 to 65535, and each port "
		    "in a line of its own",
		    "has no such port");
	r->number = n | (p->private ? EGRESS_PRIVATE : 0);
	return 0;
}

static int
set_address(const struct parts *p, const struct address *a, struct rule *r)
{
	char text[ADDRESS_TEXT], fix[FIX_MAX_LEN] = "";
	struct address plain = *a;
	const char *why;

	reach_unmap(&plain);
	if (plain.family != a->family) {
		text_add(fix, sizeof(fix), "write the IPv4 address, %s",
		    address_text(&plain, text));
		return refuse(p, fix, "is an IPv4 address in another spelling");
	}
	if (reach_of(a, &why) == REACH_NEVER) {
		text_add(fix, sizeof(fix),
		    "remove the line: %s addresses are out of reach for every "
		    "sandbox, and its own 127.0.0.1 needs no rule",
		    why);
		return refuse(p, fix, "is never reachable");
	}
	r->text = strdup(address_text(a, text));
	return r->text == NULL ? -1 : 0;
}

/* What inet_aton(3) and its like would take for an address. */
static int
refuse_number(const struct parts *p)
{
	char fix[FIX_MAX_LEN] = "", text[ADDRESS_TEXT];
	struct address a = {.family = AF_INET};
	struct in_addr in;

	if (inet_aton(p->host, &in) != 0) {
		memcpy(a.bytes, &in, sizeof(in));
		text_add(fix, sizeof(fix), "write %s, if that is what it means",
		    address_text(&a, text));
	} else
		text_add(fix, sizeof(fix),
		    "write an IPv4 address as four decimal numbers from 0 to "
		    "255 without zeros in front");
	return refuse(p, fix, "is an address in an odd spelling");
}

static int
refuse_name(const struct parts *p)
{
	const char *s = p->host, *last = strrchr(s, '.');

	last = last == NULL ? s : last + 1;
	if (strspn(s, "0123456789abcdefxABCDEFX.") == strlen(s) &&
	    *last >= '0' && *last <= '9')
		return refuse_number(p);
	for (; *s != '\0'; s++)
		if ((unsigned char)*s >= 0x80)
			return refuse(p,
			    "write the A-label that is looked up in its "
			    "place, xn--..., as the program idn2 prints it",
			    "has a name in another script");
	if (strchr(p->host, '*') != NULL)
		return refuse(p,
		    "write *.NAME for all names below NAME, or allow = * for "
		    "everything public",
		    "has a wildcard that is not the whole first label");
	return refuse(p,
	    "write labels of letters, digits and hyphens with one dot "
	    "between, at most 63 bytes each and 253 together",
	    "has no name of a host");
}

/* What stands for this host wherever it is asked for: RFC 6761, 6.3. */
static int
is_localhost(const char *name)
{
	static const char local[] = "localhost";
	size_t n = strlen(name), k = sizeof(local) - 1;

	return n >= k && strcmp(name + n - k, local) == 0 &&
	       (n == k || name[n - k - 1] == '.');
}

static int
read_host(const struct parts *p, struct rule *r)
{
	char name[2 + EGRESS_HOST_MAX + 1];
	struct address a;
	int wild = strncmp(p->host, "*.", 2) == 0 ? 2 : 0;

	if (p->brackets &&
	    (address_read(p->host, &a) == -1 || strchr(p->host, ':') == NULL))
		return refuse(p,
		    "write an IPv6 address in the brackets, without a zone",
		    "has no IPv6 address in its brackets");
	if (address_read(p->host, &a) == 0)
		return set_address(p, &a, r);
	if (p->any && strcmp(p->host, "*") == 0) {
		r->text = strdup("*");
		return r->text == NULL ? -1 : 0;
	}
	strcpy(name, "*.");
	if (hostname_normalise(
		name + wild, p->host + wild, strlen(p->host + wild)) == -1)
		return refuse_name(p);
	if (is_localhost(name + wild))
		return refuse(p,
		    "remove the line: the sandbox's localhost is its own and "
		    "needs no rule, and the host's is out of reach",
		    "is never reachable");
	r->text = strdup(name);
	return r->text == NULL ? -1 : 0;
}

static int
read_rule(struct parts *p, struct rule *r)
{
	if (cut(p) == -1 || read_scheme(p, r) == -1 || read_port(p, r) == -1)
		return -1;
	return read_host(p, r);
}

int
egress_read_most(
    const struct place *at, const struct reader_line *l, struct rule *r)
{
	struct parts p = {.at = at, .l = l, .any = 1};

	if (strcmp(l->value, "*") == 0)
		return egress_read(at, l, r);
	if (strncmp(l->value, "* ", 2) == 0)
		return refuse(&p,
		    "write each of SCHEME, HOST and PORT as * (and private "
		    "behind) for every rule, or allow = * for what is public",
		    "is not of this form");
	snprintf(p.text, sizeof(p.text), "%s", l->value);
	return read_rule(&p, r);
}

int
egress_read(const struct place *at, const struct reader_line *l, struct rule *r)
{
	struct parts p = {.at = at, .l = l};

	if (strcmp(l->value, "*") == 0) {
		r->what = EGRESS_ALL;
		r->text = strdup("*");
		return r->text == NULL ? -1 : 0;
	}
	snprintf(p.text, sizeof(p.text), "%s", l->value);
	if (strncmp(p.text, "* ", 2) == 0 || strcmp(p.text, "*://*:*") == 0)
		return refuse(&p,
		    "write allow = * alone: it is about everything public, "
		    "and private addresses are named one by one",
		    "is not of this form");
	return read_rule(&p, r);
}

/* From the rules of all profiles */

#define STR(x)	STR_(x)
#define STR_(x) #x
#define MANY	STR(EGRESS_RULES_MAX)

static int
refuse_rule(
    struct policy *po, const struct rule *r, const char *fix, const char *why)
{
	struct place at = {
	    po, po->profiles[r->profile].name, po->profiles[r->profile].file};
	char text[EGRESS_TEXT];
	struct egress e;

	egress_of(r, &e);
	return place_refuse(
	    &at, r->line, fix, "allow = %s %s", egress_text(&e, text), why);
}

int
egress_judge(struct policy *po)
{
	const struct rule *r;
	size_t i, n = 0;
	int bad = 0;

	for (i = 0; i < po->nrules; i++) {
		r = &po->rules[i];
		if (r->kind == RULE_EGRESS && ++n == EGRESS_RULES_MAX + 1)
			bad = refuse_rule(po, r, "allow fewer, or a wildcard",
			    "is one of more than " MANY " lines of [egress]");
	}
	return bad;
}
