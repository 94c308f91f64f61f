#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/caller.h"
#include "ipc/limits.h"
#include "ipc/owned.h"
#include "ipc/path.h"
#include "plan_parts.h"

#define BY_CARREL "(carrel)"
#define PS1	  "[carrel] \\w \\$ "
#define MARK_LEN  80

static int
env_add(struct draft *d, const char *name, const char *value, const char *mark)
{
	struct plan *pl = d->pl;
	struct env_row *p;

	p = realloc(pl->env, (pl->nenv + 1) * sizeof(*p));
	if (p == NULL)
		return -1;
	pl->env = p;
	p = &p[pl->nenv++];
	p->name = strdup(name);
	p->value = strdup(value);
	p->verb = BY_CARREL;
	p->mark = strdup(mark);
	return p->name == NULL || p->value == NULL || p->mark == NULL ? -1 : 0;
}

static int
env_cmp(const void *a, const void *b)
{
	const struct env_row *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int
list_add(char ***list, size_t *n, const char *s)
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

/* The items with sep between them; freed by the caller. */
static char *
joined(const char *const *items, size_t n, char sep)
{
	size_t i, len = 1;
	char *s, *p;

	for (i = 0; i < n; i++)
		len += strlen(items[i]) + 1;
	if ((s = malloc(len)) == NULL)
		return NULL;
	for (i = 0, p = s; i < n; i++) {
		if (i > 0)
			*p++ = sep;
		p = stpcpy(p, items[i]);
	}
	*p = '\0';
	return s;
}

/* S54: how many grants lie below a path that is none itself. */
static size_t
grants_inside(const struct draft *d, const char *path)
{
	size_t i, n = 0;

	for (i = 0; i < d->po->ngrants; i++)
		n += d->fate[i] != FATE_NONE &&
		     path_covers(path, d->po->grants[i].guest);
	return n;
}

/* "<- not granted (2 grants inside)" into buf, of MARK_LEN bytes. */
static const char *
mark_bare(size_t inside, char *buf)
{
	snprintf(buf, MARK_LEN, "<- not granted (%zu grant%s inside)", inside,
	    inside == 1 ? "" : "s");
	return buf;
}

/* A row whose value is a path that should be there. */
static int
env_place(struct draft *d, const char *name, const char *path)
{
	char mark[MARK_LEN];

	if (plan_granted(d->pl, path))
		return env_add(d, name, path, "");
	return env_add(d, name, path, mark_bare(grants_inside(d, path), mark));
}

/* The staging directory, if anything is staged, goes before the base (S48). */
static int
env_path(struct draft *d)
{
	struct plan *pl = d->pl;
	const struct step *stage = plan_at(pl, OWNED_STAGING);
	char *value, bare[MARK_LEN];
	const char *mark;
	size_t i, inside = 0;
	int r, granted = 0;

	if (stage != NULL && strcmp(stage->guest, OWNED_STAGING) == 0 &&
	    list_add(&pl->path, &pl->npath, OWNED_STAGING) == -1)
		return -1;
	granted = pl->npath > 0;
	for (i = 0; owned_path[i] != NULL; i++)
		if (list_add(&pl->path, &pl->npath, owned_path[i]) == -1)
			return -1;
	mark = "";
	for (i = 0; i < pl->npath; i++) {
		granted |= plan_granted(pl, pl->path[i]);
		inside += grants_inside(d, pl->path[i]);
		if (plan_writable(pl, pl->path[i]))
			mark = "<- writable from inside";
	}
	if (!granted)
		mark = mark_bare(inside, bare);
	value = joined((const char *const *)pl->path, pl->npath, ':');
	r = value == NULL ? -1 : env_add(d, "PATH", value, mark);
	free(value);
	return r;
}

/* Those that the caller chose; what they include is not repeated. */
static int
env_profiles(struct draft *d)
{
	const struct policy *po = d->po;
	const char **names;
	char *value = NULL;
	size_t i, n = 0;
	int r;

	names = calloc(po->nprofiles + 1, sizeof(*names));
	if (names == NULL)
		return -1;
	for (i = 0; i < po->nprofiles; i++)
		if (po->profiles[i].flags & (PROFILE_ASKED | PROFILE_DEFAULT))
			names[n++] = po->profiles[i].name;
	value = joined(names, n, ' ');
	r = value == NULL ? -1 : env_add(d, "CARREL_PROFILES", value, "");
	free(value);
	free(names);
	return r;
}

/* Where the target is inside; NULL if it is not. */
static const char *
target(const struct draft *d)
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

int
plan_environ(struct draft *d)
{
	const struct caller *c = d->ca;
	const char *at = target(d);
	char uid[16];
	const char *user = c->user;

	if (user[0] == '\0') {
		snprintf(uid, sizeof(uid), "%u", (unsigned)c->uid);
		user = uid;
	}
	if (env_place(d, "HOME", c->guest_home) == -1 ||
	    env_place(d, "SHELL", c->shell) == -1 ||
	    env_add(d, "USER", user, "") == -1 ||
	    env_add(d, "LOGNAME", user, "") == -1 ||
	    env_add(d, "TMPDIR", "/tmp", "") == -1 ||
	    env_add(d, "PS1", PS1, "") == -1 || env_path(d) == -1 ||
	    env_add(d, "TERM", c->term[0] != '\0' ? c->term : "dumb", "") ==
		-1 ||
	    env_add(d, "LANG", c->lang[0] != '\0' ? c->lang : "C.UTF-8", "") ==
		-1 ||
	    env_add(d, "CARREL", "1", "") == -1 || env_profiles(d) == -1 ||
	    env_add(d, "CARREL_RUN", PLAN_RUN_UNKNOWN, "") == -1)
		return -1;
	if (c->tz[0] != '\0' && env_add(d, "TZ", c->tz, "") == -1)
		return -1;
	if (at != NULL && env_add(d, "CARREL_TARGET", at, "") == -1)
		return -1;
	qsort(d->pl->env, d->pl->nenv, sizeof(*d->pl->env), env_cmp);
	return 0;
}

static int
start_add(struct draft *d, const char *path)
{
	struct plan *pl = d->pl;
	size_t i;

	for (i = 0; i < pl->ncwd; i++)
		if (strcmp(pl->cwd[i], path) == 0)
			return 0;
	return list_add(&pl->cwd, &pl->ncwd, path);
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
	    target(d) == NULL &&
	    (path_covers(c->target, c->home) ||
		path_covers(c->target, c->home_real)))
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
	const char *cwd = d->ca->cwd, *at = target(d);
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
