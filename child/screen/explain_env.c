#include <string.h>

#include "child/setup/plan.h"
#include "explain.h"
#include "ipc/environ.h"
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

/*
 * What sanitise left out of the host's list: one row for each reason, in the
 * order in which they come up.
 */
static void
drops(struct out *o, const struct env_entry *e, size_t n)
{
	struct cell left = {0}, right = {0};
	size_t i, k;

	for (i = 0; i < n; i++) {
		for (k = 0; k < i && strcmp(e[k].mark, e[i].mark) != 0; k++)
			;
		if (k < i)
			continue; /* its row is there */
		cell_addf(&left, "of the host, %s:", e[i].mark);
		for (; k < n; k++) {
			if (strcmp(e[k].mark, e[i].mark) != 0)
				continue;
			cell_add(&left, " ");
			cell_quote(&left, e[k].value);
		}
		cell_add(&right, e[i].who);
		out_row(o, "dropped", &left, &right, "");
	}
}

/* The elements with the separator between them, quoted where they need it. */
static void
list_value(struct cell *c, const struct env_row *r)
{
	const struct variable *v = variable_find(r->name);
	const char sep[] = {(char)(v != NULL ? v->sep : ':'), '\0'};
	size_t i;

	for (i = 0; i < r->nentries; i++) {
		if (i > 0)
			cell_add(c, sep);
		cell_quote(c, r->entries[i].value);
	}
}

/* What is on a screen ends up in reports and recordings: no credential. */
static void
value(struct cell *c, const struct env_row *r)
{
	cell_add(c, r->name);
	if (r->value == NULL)
		return;
	cell_add(c, "=");
	if (r->secret)
		cell_add(c, "(not shown)");
	else if (r->nentries > 0)
		list_value(c, r);
	else
		cell_scalar(c, r->value);
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
		value(&left, r);
		cell_add(&right, r->who);
		out_fact(o, "name", r->name);
		if (r->value != NULL && !r->secret)
			out_fact(o, "value", r->value);
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
			if (c->verb == ENV_SET)
				cell_scalar(&left, c->values[k]);
			else
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
