#include <stdlib.h>
#include <string.h>

#include "coupling.h"
#include "environ.h"
#include "ipc/environ.h"
#include "ipc/limits.h"
#include "child/shared/request.h"
#include "ipc/text.h"
#include "place.h"
#include "select.h"

/* Room is left for the place in front and the fix behind. */
#define WHAT_LEN (TEXT_MAX_LEN / 2)

/* What one profile wants, before it is joined with the others' wishes. */
struct wish {
	struct env_claim claim; /* its name is the draft's, no origins */
	uint16_t profile;
	uint32_t line;
};

/* The claims being gathered. */
struct gathering {
	const struct request *q;
	const struct selection *sel;
	const struct claims *fs;
	struct policy *po;
	struct wish *list;
	size_t n;
	struct closure closure; /* of the profile at hand */
};

static int
wish_cmp(const void *a, const void *b)
{
	const struct wish *x = a, *y = b;
	int n;

	if ((n = environ_cmp(&x->claim, &y->claim)) != 0)
		return n;
	if (x->profile != y->profile)
		return x->profile < y->profile ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static void
wishes_free(struct gathering *g)
{
	size_t i, k;

	for (i = 0; i < g->n; i++) {
		for (k = 0; k < g->list[i].claim.nvalues; k++)
			free(g->list[i].claim.values[k]);
		free(g->list[i].claim.values);
	}
	free(g->list);
}

/* S52: what a profile writes is there by its own grants. */
static int
judge_coupling(const struct gathering *g, const struct place *at,
    const struct draft_variable *d, const char *path)
{
	const struct variable *v = variable_find(d->name);
	char fix[FIX_MAX_LEN] = "";

	if (v == NULL || !(v->flags & VARIABLE_PATH) ||
	    (v->flags & VARIABLE_UNCOUPLED) || g->fs == NULL ||
	    coupling_covered(g->fs, &g->closure, path))
		return 0;
	text_add(fix, sizeof(fix),
	    "grant it in the same profile, e.g. \"read = %s\" in [fs], or "
	    "include the profile that grants it",
	    SHOWN(path));
	return place_refuse(at, d->line, fix,
	    "[environ.%s] %s = \"%s\" is granted neither by the profile nor by "
	    "what it includes",
	    variable_verb(d->verb), d->name, SHOWN(path));
}

/* The wish of this profile to prepend, if it has one already. */
static struct wish *
sequence_of(struct gathering *g, uint16_t profile, const char *name)
{
	size_t i;

	for (i = g->n; i > 0 && g->list[i - 1].profile == profile; i--)
		if (g->list[i - 1].claim.verb == ENV_PREPEND &&
		    strcmp(g->list[i - 1].claim.name, name) == 0)
			return &g->list[i - 1];
	return NULL;
}

static int
add_value(struct wish *w, const char *value)
{
	char **p;

	p = realloc(w->claim.values, (w->claim.nvalues + 1) * sizeof(*p));
	if (p == NULL)
		return -1;
	w->claim.values = p;
	if ((p[w->claim.nvalues] = strdup(value)) == NULL)
		return -1;
	w->claim.nvalues++;
	return 0;
}

/* The sequence of one profile stays within one record. */
static int
judge_length(const struct wish *w, const struct place *at,
    const struct draft_variable *d, const char *value)
{
	size_t i, bytes = strlen(value) + 1;

	for (i = 0; i < w->claim.nvalues; i++)
		bytes += strlen(w->claim.values[i]) + 1;
	if (w->claim.nvalues < SEQUENCE_MAX && bytes <= SEQUENCE_BYTES)
		return 0;
	return place_refuse(at, d->line, "prepend less, or merge it",
	    "%s is prepended with more than %d elements or %d bytes", d->name,
	    SEQUENCE_MAX, SEQUENCE_BYTES);
}

static int
gather_one(struct gathering *g, const struct place *at, uint16_t profile,
    const struct draft_variable *d)
{
	char value[VALUE_MAX_LEN + 1];
	struct wish *w = NULL;

	if (d->verb != ENV_INHERIT && d->verb != ENV_SANITISE) {
		if (variable_expand(at, d, &g->q->caller, value) == -1 ||
		    judge_coupling(g, at, d, value) == -1)
			return -1;
	}
	if (d->verb == ENV_PREPEND)
		w = sequence_of(g, profile, d->name);
	if (w == NULL) {
		w = &g->list[g->n++];
		w->claim.name = d->name;
		w->claim.verb = d->verb;
		w->profile = profile;
		w->line = d->line;
	}
	if (d->verb == ENV_INHERIT || d->verb == ENV_SANITISE)
		return 0;
	if (judge_length(w, at, d, value) == -1)
		return -1;
	return add_value(w, value);
}

static int
gather(struct gathering *g)
{
	const struct selection *sel = g->sel;
	const struct member *m;
	struct place at = {g->po, "", ""};
	size_t i, k, n = 0;
	int bad = 0;

	for (i = 0; i < sel->n; i++)
		n += sel->members[i].draft.nvariables;
	g->list = calloc(n + 1, sizeof(*g->list));
	if (g->list == NULL)
		return -1;
	for (i = 0; i < sel->n; i++) {
		m = &sel->members[i];
		if (m->draft.nvariables == 0)
			continue;
		at.profile = m->name;
		at.file = m->file;
		closure_make(sel, i, &g->closure);
		for (k = 0; k < m->draft.nvariables; k++)
			bad |= gather_one(
			    g, &at, (uint16_t)i, &m->draft.variables[k]);
	}
	if (g->n > 1)
		qsort(g->list, g->n, sizeof(*g->list), wish_cmp);
	return bad;
}

/* Wishes that are the same become one claim of all who have them. */
static int
join(const struct gathering *g)
{
	struct place at = {g->po, "", ""};
	struct env_claim *c = NULL;
	const struct wish *w, *last = NULL;
	struct origin o;
	size_t i;

	for (i = 0; i < g->n; i++) {
		w = &g->list[i];
		/* only a sequence whose first element was refused */
		if (w->claim.verb <= ENV_PREPEND && w->claim.nvalues == 0)
			continue;
		if (last == NULL || environ_cmp(&last->claim, &w->claim) != 0) {
			if (g->po->nenv == CLAIMS_MAX)
				return place_refuse(&at, 0, "claim less",
				    "there are more than %d claims on "
				    "variables",
				    CLAIMS_MAX);
			c = policy_add_claim(g->po, w->claim.verb,
			    w->claim.name, w->claim.values, w->claim.nvalues);
			last = NULL;
		}
		o.profile = w->profile;
		o.verb = w->claim.verb;
		o.line = w->line;
		/* what a profile says twice it wants once */
		if (c == NULL ||
		    ((last == NULL || last->profile != o.profile) &&
			environ_add_origin(c, &o) == -1))
			return -1;
		last = w;
	}
	return 0;
}

/* Which claims cannot stand beside each other (S49-S51) */

/* "X (set of a, /p/a.profile:3; set of b, ...)" */
static void
name_claim(struct text_list *l, const struct policy *po,
    const struct env_claim *c, const char *sep)
{
	char before[TEXT_MAX_LEN / 8] = "";
	struct text_list values = {.buf = before, .cap = sizeof(before) - 2};
	size_t i;

	text_add(before, sizeof(before), "%s", sep);
	if (c->nvalues == 0)
		text_add(before, sizeof(before), "the host's value");
	for (i = 0; i < c->nvalues; i++)
		text_list_add(
		    &values, "%s\"%s\"", i > 0 ? " " : "", SHOWN(c->values[i]));
	text_list_end(&values);
	text_add(before, sizeof(before), " (");
	for (i = 0; i < c->norigins; i++)
		policy_tell(l, po, c->origins[i].profile, c->origins[i].line,
		    variable_verb(c->verb), i == 0 ? before : "; ",
		    i + 1 == c->norigins ? ")" : "");
}

/* All claims on this name by these verbs, in one refusal. */
static int
refuse_conflict(struct policy *po, const struct env_claim *c, size_t n,
    unsigned verbs, const char *what)
{
	char text[WHAT_LEN] = "";
	struct text_list l = {.buf = text, .cap = sizeof(text)};
	const struct origin *first = NULL;
	const char *sep = "";
	struct place at = {po, "", ""};
	size_t i;

	text_add(text, sizeof(text), "\"%s\" %s: ", c->name, what);
	for (i = 0; i < n; i++) {
		if (!(verbs & ENV_BIT(c[i].verb)))
			continue;
		if (first == NULL || c[i].origins[0].profile < first->profile)
			first = &c[i].origins[0];
		name_claim(&l, po, &c[i], sep);
		sep = ", ";
	}
	text_list_end(&l);
	if (first != NULL) {
		at.profile = po->profiles[first->profile].name;
		at.file = po->profiles[first->profile].file;
	}
	return place_refuse(&at, first != NULL ? first->line : 0,
	    "leave out one of the profiles, or let them agree", "%s", text);
}

static int
judge(struct policy *po)
{
	const struct env_claim *c;
	size_t i, k, n, sets, fronts;
	int bad = 0;

	for (i = 0; i < po->nenv; i += n) {
		c = &po->env[i];
		sets = fronts = 0;
		for (n = 0; i + n < po->nenv &&
			    strcmp(po->env[i + n].name, c->name) == 0;
		     n++)
			;
		for (k = 0; k < n; k++) {
			sets += c[k].verb == ENV_SET;
			fronts += c[k].verb == ENV_PREPEND;
		}
		if (sets > 1)
			bad |= refuse_conflict(po, c, n,
			    ENV_BIT(ENV_SET) | ENV_BIT(ENV_INHERIT),
			    "is set to different values");
		if (fronts > 1)
			bad |= refuse_conflict(po, c, n, ENV_BIT(ENV_PREPEND),
			    "is prepended with different sequences");
	}
	return bad;
}

int
environ_resolve(const struct request *q, const struct selection *sel,
    const struct claims *fs, struct policy *po)
{
	struct gathering g = {.q = q, .sel = sel, .fs = fs, .po = po};
	int bad;

	bad = gather(&g);
	bad |= g.list == NULL ? -1 : join(&g);
	wishes_free(&g);
	environ_sort(po);
	return bad | judge(po);
}
