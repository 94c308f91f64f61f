#include <string.h>

#include "explain.h"
#include "ipc/egress.h"
#include "ipc/policy.h"
#include "ipc/rule.h"
#include "ipc/tier.h"
#include "out.h"

static void
own_row(struct out *o, const char *tag, const char *what)
{
	struct cell left = {0}, right = {0};

	cell_add(&left, what);
	cell_add(&right, "(carrel)");
	out_row(o, tag, &left, &right, "");
}

/* What a reader might overlook. */
static const char *
mark(const struct egress *e)
{
	if (e->scheme == EGRESS_ALL)
		return "<- everything public";
	if (e->private)
		return "<- private addresses, too";
	if (egress_host(e->host) == EGRESS_WILD)
		return "<- every name below it";
	return "";
}

/* Which bytes may go there. */
static const char *
checked(unsigned scheme)
{
	switch (scheme) {
	case EGRESS_HTTPS:
	case EGRESS_TLS:
		return ", TLS that asks for the same name";
	case EGRESS_HTTP:
		return ", HTTP whose requests name the same host";
	default:
		return ", unchecked";
	}
}

/* One row for the rules that say the same; returns how many those are. */
static size_t
row(struct out *o, const struct policy *po, size_t i)
{
	const struct rule *r = &po->rules[i], *s;
	struct cell left = {0}, right = {0};
	char text[EGRESS_TEXT];
	struct egress e;
	size_t n;

	egress_of(r, &e);
	cell_add(&left, egress_text(&e, text));
	cell_add(&left, checked(e.scheme));
	for (n = 0; i + n < po->nrules; n++) {
		s = &po->rules[i + n];
		if (s->kind != r->kind || s->what != r->what ||
		    s->number != r->number || strcmp(s->text, r->text) != 0)
			break;
		cell_addf(&right, "%sallow %s:%u", n == 0 ? "" : ", ",
		    po->profiles[s->profile].name, (unsigned)s->line);
	}
	out_row(o, "allow", &left, &right, mark(&e));
	return n;
}

/* S74: how much the run may want to do, and who said so. */
static void
tier_row(struct out *o, const struct policy *po)
{
	const struct rule *r = tier_find(po);
	struct cell left = {0}, right = {0};

	if (r == NULL)
		return;
	cell_add(&left, tier_name(r));
	cell_addf(&right, "tier %s:%u", po->profiles[r->profile].name,
	    (unsigned)r->line);
	out_row(o, "tier", &left, &right, "");
}

void
explain_net(struct out *o, const struct policy *po)
{
	size_t i, rows = 0;
	int all = 0;

	out_block(o, "NETWORK", "");
	for (i = 0; i < po->nrules;) {
		if (po->rules[i].kind != RULE_EGRESS) {
			i++;
			continue;
		}
		all |= po->rules[i].what == EGRESS_ALL;
		i += row(o, po, i);
		rows++;
	}
	tier_row(o, po);
	if (rows == 0) {
		own_row(o, "none", "a network of its own with nothing but lo");
		return;
	}
	own_row(o, "names",
	    all ? "any, from carrel's own name server"
		: "only those that are allowed, from carrel's own name "
		  "server; looked up anew for each connection");
	own_row(o, "else",
	    "refused at once and reported; never this host, "
	    "link-local, metadata or reserved addresses");
}
