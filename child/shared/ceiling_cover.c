#include <string.h>

#include "ceiling.h"
#include "ipc/address.h"
#include "ipc/egress.h"
#include "ipc/path.h"
#include "ipc/reach.h"
#include "ipc/rule.h"

/* What one line of a ceiling covers; nothing else does. */

int
ceiling_covers_path(
    const struct ceiling_line *l, unsigned verb, const char *path)
{
	if (l->kind != CEILING_PATH)
		return 0;
	switch (verb) {
	case VERB_COMMAND: /* a file that is read, and run */
		if (l->what == VERB_COMMAND)
			break;
		/* FALLTHROUGH */
	case VERB_READ:
		if (l->what != VERB_READ && l->what != VERB_WRITE)
			return 0;
		break;
	default:
		if (l->what != verb)
			return 0;
	}
	return path_covers(l->text, path);
}

static int
covers_scheme(unsigned most, unsigned scheme)
{
	if (most == 0 || most == scheme)
		return 1;
	switch (most) {
	case EGRESS_TCP: /* unchecked: what the others are is less */
		return scheme == EGRESS_HTTPS || scheme == EGRESS_HTTP ||
		       scheme == EGRESS_TLS;
	case EGRESS_HTTPS: /* two words for one thing */
		return scheme == EGRESS_TLS;
	case EGRESS_TLS:
		return scheme == EGRESS_HTTPS;
	default:
		return 0;
	}
}

/* An address is as good as its name, and needs no word for being private. */
static int
is_public(const char *host)
{
	struct address a;
	const char *why;

	return address_read(host, &a) == -1 ||
	       reach_of(&a, &why) == REACH_PUBLIC;
}

static int
covers_host(const struct ceiling_line *l, const char *host)
{
	struct egress most = {.scheme = EGRESS_TCP, .host = l->text};
	int private = (l->number & EGRESS_PRIVATE) != 0;

	if (strcmp(l->text, CEILING_HOST) == 0)
		return private || is_public(host);
	if (strncmp(host, "*.", 2) != 0)
		return egress_match(&most, host);
	/* all names below one: the same, or all below a part of it */
	if (strncmp(l->text, "*.", 2) != 0)
		return 0;
	return strcmp(l->text, host) == 0 || egress_match(&most, host + 2);
}

int
ceiling_covers_egress(const struct ceiling_line *l, const struct rule *r)
{
	struct egress e;
	unsigned port = (unsigned)(l->number & EGRESS_PORT);

	if (l->kind != CEILING_EGRESS || r->kind != RULE_EGRESS)
		return 0;
	egress_of(r, &e);
	if (e.scheme == EGRESS_ALL)
		return l->what == EGRESS_ALL;
	/* of an address the word says nothing */
	if (e.private && (l->number & EGRESS_PRIVATE) == 0 &&
	    egress_host(e.host) != EGRESS_ADDRESS)
		return 0;
	if (l->what == EGRESS_ALL) /* everything public, over TCP and UDP */
		return is_public(e.host);
	return covers_scheme(l->what, e.scheme) &&
	       (port == 0 || port == e.port) && covers_host(l, e.host);
}
