#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child/shared/caller.h"
#include "ipc/limits.h"
#include "ipc/path.h"
#include "plan_parts.h"

/* Where the payload starts, and where its target is. */

int
plan_string(char ***list, size_t *n, const char *s)
{
	char **p;

	p = realloc(*list, (*n + 1) * sizeof(*p));
	if (p == NULL)
		return -1;
	*list = p;
	p[*n] = strdup(s);
	if (p[*n] == NULL)
		return -1;
	(*n)++;
	return 0;
}

/* Where the target is inside; NULL if it is not. */
const char *
plan_target(const struct draft *d)
{
	const struct grant *g = d->po->grants;
	size_t i;

	if (d->ca->target[0] == '\0')
		return NULL;
	for (i = 0; i < d->po->ngrants; i++)
		if (plan_binds(&g[i]) && d->fate[i] != FATE_NONE &&
		    strcmp(g[i].source, d->ca->target) == 0)
			return g[i].guest;
	return NULL;
}

static int
start_add(struct draft *d, const char *path)
{
	struct plan *pl = d->pl;
	size_t i;

	for (i = 0; i < pl->ncwd; i++)
		if (strcmp(pl->cwd[i], path) == 0)
			return 0;
	return plan_string(&pl->cwd, &pl->ncwd, path);
}

/* The working directory as it is called inside, if the target holds it. */
static int
start_in_target(struct draft *d, const char *at)
{
	char path[2 * PATH_MAX_LEN + 1];
	const char *below = path_below(d->ca->target, d->ca->cwd);

	if (below == NULL)
		return 0;
	snprintf(path, sizeof(path), "%s%s", at, below);
	return path_clean(path) ? start_add(d, path) : 0;
}

static int
none_mounted(struct draft *d)
{
	const struct caller *c = d->ca;
	char line[PATH_MAX_LEN + 256] = "";
	size_t i;
	int defaults = 0;

	for (i = 0; i < d->po->nprofiles; i++)
		defaults |= d->po->profiles[i].flags & PROFILE_DEFAULT;
	/* who named all profiles did not expect the target */
	if (defaults && (c->flags & CALLER_IMPLIED) && c->target[0] != '\0' &&
	    plan_target(d) == NULL &&
	    (path_covers(c->target, c->home) ||
		path_covers(c->target, c->home_real) ||
		(c->home_other[0] != '\0' &&
		    path_covers(c->target, c->home_other))))
		snprintf(line, sizeof(line),
		    "no target is mounted: %s is or holds your home; start in "
		    "a project directory, or use --no-defaults -p @sys -p "
		    "@own-home",
		    c->target);
	d->pl->none_mounted = strdup(line);
	return d->pl->none_mounted == NULL ? -1 : 0;
}

int
plan_start(struct draft *d)
{
	const char *cwd = d->ca->cwd, *at = plan_target(d);
	const struct step *s = plan_at(d->pl, cwd);

	if (at != NULL && start_in_target(d, at) == -1)
		return -1;
	/* a directory on the way exists itself, but nothing else in it */
	if (s != NULL &&
	    (plan_granted(d->pl, cwd) || strcmp(s->guest, cwd) == 0) &&
	    start_add(d, cwd) == -1)
		return -1;
	if (at != NULL && start_add(d, at) == -1)
		return -1;
	if (start_add(d, "/") == -1)
		return -1;
	return none_mounted(d);
}
