#include <string.h>

#include "child/shared/survey.h"
#include "ipc/path.h"
#include "ipc/text.h"
#include "plan_parts.h"

int
plan_grant_at(const struct draft *d, const char *path)
{
	const struct grant *g = policy_find(d->po, path);

	while (g == NULL || d->fate[g - d->po->grants] == FATE_NONE) {
		g = policy_above(d->po, g != NULL ? g->guest : path);
		if (g == NULL)
			return -1;
	}
	return (int)(g - d->po->grants);
}

/* Whether the host's path is inside under its own name, for reading only. */
static int
visible(const struct draft *d, const char *real)
{
	const struct grant *g;
	int i = plan_grant_at(d, real);

	if (i == -1)
		return 0;
	g = &d->po->grants[i];
	return plan_binds(g) && !plan_writes(g) &&
	       strcmp(g->guest, g->source) == 0 &&
	       strcmp(plan_row(d, (size_t)i)->real, g->source) == 0;
}

/* Whether the source is itself a symlink; its own path is then a link. */
static int
is_link(const struct grant *g, const struct survey_row *r)
{
	size_t k;

	for (k = 0; k < r->nlinks; k++)
		if (strcmp(r->links[k], g->source) == 0)
			return 1;
	return 0;
}

static int
nothing_below(const struct draft *d, size_t i)
{
	const struct grant *g = d->po->grants;
	size_t k;

	for (k = i + 1; k < d->po->ngrants; k++) {
		if (!path_covers(g[i].guest, g[k].guest))
			break;
		if (d->fate[k] != FATE_NONE)
			return 0;
	}
	return 1;
}

/*
 * A grant inside a bind is the same subpath of the same source, or so it
 * was when both were names. Nothing can be mounted on a symlink in the bind:
 * that is harmless if the link leads, inside as outside, to something that
 * is there anyway.
 */
static int
shape_nested(struct draft *d, size_t i, size_t above)
{
	const struct grant *g = &d->po->grants[i], *a = &d->po->grants[above];
	const struct survey_row *r = plan_row(d, i), *ar = plan_row(d, above);
	const char *below, *want;

	below = path_below(ar->real, r->real);
	want = path_below(a->guest, g->guest);
	if (below != NULL && want != NULL && strcmp(below, want) == 0)
		return 0;
	if (!plan_writes(g) && visible(d, r->real)) {
		d->fate[i] = FATE_NONE;
		return 0;
	}
	if (d->refused[i])
		return 0;
	return plan_refuse(d, i, "grant the place it leads to by its own path",
	    "%s = %s: a symlink inside %s, which is granted too, leads to %s: "
	    "nothing can be mounted there",
	    plan_verb(g), SHOWN(g->source), SHOWN(a->source), SHOWN(r->real));
}

static int
shape_absent(struct draft *d, size_t i, size_t above)
{
	const struct grant *g = &d->po->grants[i];

	if (!d->pl->absent[i] || (g->flags & GRANT_OWN) || plan_writes(g) ||
	    !plan_writes(&d->po->grants[above]))
		return 0;
	return plan_refuse(d, i, "create it first",
	    "try-read = %s: is absent, and the sandbox could create it: it "
	    "lies in %s, which may be written",
	    SHOWN(g->source), SHOWN(d->po->grants[above].source));
}

int
plan_shape(struct draft *d)
{
	const struct grant *g = d->po->grants;
	size_t i;
	int up = -1, r = 0;

	for (i = 0; i < d->po->ngrants && r == 0; i++) {
		while (up != -1 && !path_covers(g[up].guest, g[i].guest))
			up = d->above[up];
		d->above[i] = up;
		if (d->fate[i] == FATE_NONE) {
			if (up != -1)
				r = shape_absent(d, i, (size_t)up);
			continue;
		}
		if (grant_opens(&g[i]) && up != -1 && plan_binds(&g[up]))
			r = shape_nested(d, i, (size_t)up);
		else if (plan_binds(&g[i]) && !plan_writes(&g[i]) &&
			 is_link(&g[i], plan_row(d, i)) &&
			 visible(d, plan_row(d, i)->real) &&
			 nothing_below(d, i))
			d->fate[i] = FATE_LINK;
		if (d->fate[i] == FATE_STEP)
			up = (int)i;
	}
	return r;
}
