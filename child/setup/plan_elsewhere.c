#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child/shared/survey.h"
#include "ipc/limits.h"
#include "ipc/path.h"
#include "plan_parts.h"

/*
 * Second views. What one grant shows for reading, another one may show at
 * another place for writing: both are one tree of the host, and the mounts
 * cannot know it. Nothing is refused for it, as each of them was asked for,
 * but whoever reads the screen is told. The host's paths are those that were
 * opened, without symlinks; a hard link or a bind mount of the host is not
 * seen.
 */

/*
 * Bytes of paths looked at for all grants together: some 50,000 grants of an
 * ordinary kind. What is beyond is told as unknown.
 */
#define LOOKS_MAX (16UL << 20)
#define PLACING	  8 /* to find what is at a place looks at it so often */

int
plan_written_cmp(const void *a, const void *b)
{
	const struct written *x = a, *y = b;
	int n;

	n = path_cmp(x->path, y->path);
	if (n != 0)
		return n;
	return x->grant < y->grant ? -1 : x->grant > y->grant;
}

size_t
plan_written_at(const struct written *w, size_t n, const char *path)
{
	size_t lo = 0, hi = n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (path_cmp(w[mid].path, path) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Where this path of the host is by way of grant w; -1: it is not. */
static int
place(
    const struct draft *d, const struct written *w, const char *host, char *at)
{
	const char *top = d->po->grants[w->grant].guest;
	const char *below = path_below(w->path, host);

	if (below == NULL || strlen(top) + strlen(below) > PATH_MAX_LEN)
		return -1;
	strcpy(at, top);
	strcat(at, below);
	return plan_grant_at(d, at) == (int)w->grant ? 0 : -1;
}

/* 0, or -1 when that is more than is left. */
static int
spend(struct draft *d, size_t bytes)
{
	if (d->looks < bytes)
		d->looks = 0;
	else
		d->looks -= bytes;
	return d->looks == 0 ? -1 : 0;
}

/* At a write grant of the directory itself, or of one above it. */
static enum elsewhere
above(struct draft *d, const char *host, const char *guest, char *at)
{
	char up[PATH_MAX_LEN + 1], *slash;
	size_t k;

	for (strcpy(up, host);; *slash = '\0') {
		if (spend(d, strlen(up)) == -1)
			return ELSEWHERE_UNKNOWN;
		for (k = plan_written_at(d->written, d->nwritten, up);
		     k < d->nwritten && strcmp(d->written[k].path, up) == 0;
		     k++) {
			if (spend(d, PLACING * strlen(host)) == -1)
				return ELSEWHERE_UNKNOWN;
			if (place(d, &d->written[k], host, at) == 0 &&
			    strcmp(at, guest) != 0)
				return ELSEWHERE_WHOLE;
		}
		if ((slash = strrchr(up, '/')) == NULL || slash == up)
			return ELSEWHERE_NOT;
	}
}

/* At a write grant of something in the directory, which i grants here. */
static enum elsewhere
below(struct draft *d, size_t i, const char *host, const char *guest, char *at)
{
	char here[2 * PATH_MAX_LEN + 1];
	const struct written *w;
	size_t k;

	for (k = plan_written_at(d->written, d->nwritten, host);
	     k < d->nwritten && path_covers(host, d->written[k].path); k++) {
		w = &d->written[k];
		if (spend(d, PLACING * strlen(w->path)) == -1)
			return ELSEWHERE_UNKNOWN;
		snprintf(here, sizeof(here), "%s%s", guest,
		    path_below(host, w->path));
		/* at its own place it is writable, and drawn so */
		if (strlen(here) > PATH_MAX_LEN ||
		    plan_grant_at(d, here) != (int)i)
			continue;
		strcpy(at, d->po->grants[w->grant].guest);
		return ELSEWHERE_PART;
	}
	return ELSEWHERE_NOT;
}

/* Of a path that grant i shows at guest. */
static enum elsewhere
look(struct draft *d, size_t i, const char *guest, char *at)
{
	const struct grant *g = &d->po->grants[i];
	const char *tail = path_below(g->guest, guest);
	char host[PATH_MAX_LEN + 1];
	enum elsewhere kind;

	if (tail == NULL || d->nwritten == 0 ||
	    strlen(plan_row(d, i)->real) + strlen(tail) > PATH_MAX_LEN)
		return ELSEWHERE_NOT;
	strcpy(host, plan_row(d, i)->real);
	strcat(host, tail);
	kind = above(d, host, guest, at);
	return kind != ELSEWHERE_NOT ? kind : below(d, i, host, guest, at);
}

/* What is written, where it led. */
static int
gather(struct draft *d)
{
	const struct grant *g = d->po->grants;
	size_t i;

	d->looks = LOOKS_MAX;
	d->written = calloc(d->po->ngrants + 1, sizeof(*d->written));
	if (d->written == NULL)
		return -1;
	for (i = 0; i < d->po->ngrants; i++)
		if (plan_writes(&g[i]) && d->fate[i] == FATE_STEP)
			d->written[d->nwritten++] =
			    (struct written){plan_row(d, i)->real, i};
	qsort(d->written, d->nwritten, sizeof(*d->written), plan_written_cmp);
	return 0;
}

int
plan_elsewhere(struct draft *d)
{
	const struct grant *g = d->po->grants;
	char at[PATH_MAX_LEN + 1];
	struct plan *pl = d->pl;
	size_t i;

	pl->elsewhere = calloc(d->po->ngrants + 1, sizeof(*pl->elsewhere));
	if (pl->elsewhere == NULL || gather(d) == -1)
		return -1;
	pl->nelsewhere = d->po->ngrants;
	for (i = 0; i < d->po->ngrants && d->nwritten > 0; i++) {
		/* carrel's own was judged by plan_trusted() */
		if (!plan_binds(&g[i]) || plan_writes(&g[i]) ||
		    d->fate[i] != FATE_STEP || (g[i].flags & GRANT_OWN))
			continue;
		pl->elsewhere[i].kind = (uint8_t)look(d, i, g[i].guest, at);
		if (pl->elsewhere[i].kind == ELSEWHERE_WHOLE ||
		    pl->elsewhere[i].kind == ELSEWHERE_PART) {
			pl->elsewhere[i].guest = strdup(at);
			if (pl->elsewhere[i].guest == NULL)
				return -1;
		}
	}
	return 0;
}

int
plan_writable_elsewhere(struct draft *d, const char *path)
{
	char at[PATH_MAX_LEN + 1], other[PATH_MAX_LEN + 1];
	const struct step *s = plan_through(d->pl, path, at);
	enum elsewhere kind;

	if (s == NULL || s->kind != STEP_BIND || s->grant < 0)
		return 0;
	kind = look(d, (size_t)s->grant, at, other);
	return kind == ELSEWHERE_WHOLE || kind == ELSEWHERE_UNKNOWN;
}
