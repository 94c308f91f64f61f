#include "ipc/environ.h"
#include "parent/plan.h"
#include "explain.h"
#include "out.h"

/* The elements of a list, each in its place and with its claimants. */
static void
entries(struct out *o, const char *tag, const struct env_entry *e, size_t n)
{
	struct cell left = {0}, right = {0};
	size_t i;

	for (i = 0; i < n; i++) {
		cell_quote(&left, e[i].value);
		cell_add(&right, e[i].who);
		out_row(o, tag, &left, &right, e[i].mark);
	}
}

/* What sanitise left out of the host's list, and why. */
static void
drops(struct out *o, const struct env_entry *e, size_t n)
{
	struct cell left = {0}, right = {0};
	size_t i;

	for (i = 0; i < n; i++) {
		cell_quote(&left, e[i].value);
		cell_add(&left, " of the host is left out: ");
		cell_add(&left, e[i].mark);
		cell_add(&right, e[i].who);
		out_row(o, "dropped", &left, &right, "");
	}
}

void
explain_env(struct out *o, const struct plan *p)
{
	struct cell left = {0}, right = {0};
	const struct env_row *r;
	size_t i;

	out_block(o, "ENVIRONMENT", "");
	for (i = 0; i < p->nenv; i++) {
		r = &p->env[i];
		cell_add(&left, r->name);
		if (r->value != NULL)
			cell_add(&left, "=");
		/* what is on a screen ends up in reports and recordings */
		if (r->value != NULL && r->secret)
			cell_add(&left, "(not shown)");
		else if (r->value != NULL && r->value[0] != '\0')
			cell_quote(&left, r->value);
		cell_add(&right, r->who);
		out_row(o, r->value == NULL ? "unset" : "set", &left, &right,
		    r->mark);
		entries(o, "element", r->entries, r->nentries);
		drops(o, r->drops, r->ndrops);
	}
}

void
explain_env_claims(struct out *o, const struct policy *po)
{
	struct cell left = {0}, right = {0};
	const struct env_claim *c;
	size_t i, k;

	if (po->nenv == 0)
		return;
	out_block(o, "ENVIRONMENT", "what the profiles claim");
	for (i = 0; i < po->nenv; i++) {
		c = &po->env[i];
		cell_add(&left, c->name);
		for (k = 0; k < c->nvalues; k++) {
			cell_add(&left, k == 0 ? "=" : " ");
			if (c->values[k][0] != '\0')
				cell_quote(&left, c->values[k]);
		}
		for (k = 0; k < c->norigins; k++)
			cell_addf(&right, "%s%s %s:%u", k == 0 ? "" : ", ",
			    variable_verb(c->verb),
			    po->profiles[c->origins[k].profile].name,
			    (unsigned)c->origins[k].line);
		out_row(o, variable_verb(c->verb), &left, &right, "");
	}
}
