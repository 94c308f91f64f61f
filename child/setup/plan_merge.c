#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "child/shared/survey.h"
#include "ipc/limits.h"
#include "ipc/path.h"
#include "plan_parts.h"

/* The merge of the grants and of carrel's own into plan->steps. */

static int
step_cmp(const void *a, const void *b)
{
	const struct step *x = a, *y = b;
	int n;

	n = path_cmp(x->guest, y->guest);
	return n != 0 ? n : x->kind - y->kind;
}

struct merge {
	struct draft *d;
	size_t depth;
	/* the steps above the next one, outermost first; and "/" */
	size_t stack[PATH_MAX_LEN / 2 + 2];
};

/* The deepest step that is strictly above a path; pops what is not. */
static const struct step *
merge_above(struct merge *m, const char *guest)
{
	const struct step *s;

	while (m->depth > 0) {
		s = &m->d->pl->steps[m->stack[m->depth - 1]];
		if (path_covers(s->guest, guest))
			return s;
		m->depth--;
	}
	return NULL;
}

static int
merge_push(struct merge *m, const struct step *shape, const char *guest,
    const char *text)
{
	struct plan *pl = m->d->pl;

	/* a step a component at the most, and "/" */
	if (m->depth > PATH_MAX_LEN / 2 + 1) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (plan_add_step(m->d, shape, guest, text) == -1)
		return -1;
	m->stack[m->depth++] = pl->nsteps - 1;
	return 0;
}

static int
is_ours(const struct step *s)
{
	return s == NULL || s->kind == STEP_TMPFS || s->kind == STEP_DIR;
}

/*
 * The directories that are missing on the way to a mount point: only ever in
 * a tmpfs of carrel's. Inside a bind nothing is created.
 */
static int
merge_dirs(struct merge *m, const struct step *above, const struct step *to,
    const char *guest)
{
	struct step dir = {.kind = STEP_DIR,
	    .mode = 0755,
	    .grant = -1,
	    .flags = to->flags & STEP_FIXED};
	char path[PATH_MAX_LEN + 1];
	size_t n;

	n = above == NULL || above->guest[1] == '\0' ? 0 : strlen(above->guest);
	for (n++; guest[n] != '\0'; n++) {
		if (guest[n] != '/')
			continue;
		memcpy(path, guest, n);
		path[n] = '\0';
		if (merge_push(m, &dir, path, "") == -1)
			return -1;
	}
	return 0;
}

static int
merge_add(struct merge *m, const struct step *shape, const char *guest,
    const char *text)
{
	const struct step *above = merge_above(m, guest);

	/* a policy that was refused may claim a path twice: it is shown */
	if (above != NULL && strcmp(above->guest, guest) == 0)
		return 0;
	if (is_ours(above) && merge_dirs(m, above, shape, guest) == -1)
		return -1;
	return merge_push(m, shape, guest, text);
}

/*
 * A grant goes before what carrel would put there: at the same path, above
 * it, or below a file or link of carrel's.
 */
static int
merge_own(struct merge *m, const struct step *s, const char *next)
{
	if (s->kind != STEP_PIN && s->kind != STEP_MASK &&
	    !is_ours(merge_above(m, s->guest)))
		return 0;
	if (next != NULL && strcmp(next, s->guest) == 0)
		return 0;
	if ((s->kind == STEP_FILE || s->kind == STEP_SYMLINK) && next != NULL &&
	    path_covers(s->guest, next))
		return 0;
	return merge_add(m, s, s->guest, s->text);
}

/*
 * A socket or device can be used through a read-only mount: that is about
 * the node itself, its mode and times.
 */
static uint8_t
bind_flags(const struct grant *g, const struct survey_row *r)
{
	switch (g->kind) {
	case GRANT_COMMAND:
		return STEP_RDONLY | STEP_NODEV;
	case GRANT_SOCKET:
		return STEP_RDONLY | STEP_NODEV | STEP_NOEXEC;
	case GRANT_DEVICE:
		return STEP_RDONLY | STEP_NOEXEC;
	default:
		return (uint8_t)(STEP_NODEV |
				 (g->flags & GRANT_WRITE ? 0 : STEP_RDONLY) |
				 (r->type == SURVEY_DIR ? STEP_ISDIR : 0));
	}
}

static int
merge_grant(struct merge *m, size_t i)
{
	const struct grant *g = &m->d->po->grants[i];
	const struct survey_row *r = plan_row(m->d, i);
	struct step s = {.grant = (int)i};
	const char *text = "";

	if (m->d->fate[i] == FATE_LINK || g->kind == GRANT_SYMLINK) {
		s.kind = STEP_SYMLINK;
		text = g->kind == GRANT_SYMLINK ? g->source : r->real;
	} else if (g->kind == GRANT_TMPFS) {
		s.kind = STEP_TMPFS;
		s.flags = STEP_NODEV;
		s.size = g->size;
		s.mode = strcmp(g->guest, "/tmp") == 0 ||
				 strcmp(g->guest, "/var/tmp") == 0
			     ? 01777
			     : 0755;
	} else {
		s.kind = STEP_BIND;
		s.flags = bind_flags(g, r);
	}
	return merge_add(m, &s, g->guest, text);
}

/* Both lists are in the order of path_cmp(), and so is what comes out. */
int
plan_merge(struct draft *d)
{
	struct merge m; /* its stack stays as it is */
	const char *next;
	size_t i = 0, k = 0;
	int r = 0;

	m.d = d;
	m.depth = 0;
	qsort(d->own, d->nown, sizeof(*d->own), step_cmp);
	while (r == 0) {
		while (i < d->po->ngrants && d->fate[i] == FATE_NONE)
			i++;
		next = i < d->po->ngrants ? d->po->grants[i].guest : NULL;
		if (k < d->nown &&
		    (next == NULL || path_cmp(d->own[k].guest, next) <= 0))
			r = merge_own(&m, &d->own[k++], next);
		else if (next != NULL)
			r = merge_grant(&m, i++);
		else
			break;
	}
	return r;
}
