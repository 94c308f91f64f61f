#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/caller.h"
#include "ipc/grow.h"
#include "ipc/limits.h"
#include "ipc/path.h"
#include "ipc/survey.h"
#include "plan.h"
#include "plan_parts.h"

#define CHUNK_BYTES 16000
#define STEPS_FIRST 64 /* about as many as carrel's own are */

/* Strings that live as long as the plan, one behind the other. */
struct chunk {
	struct chunk *next;
	size_t used, cap;
	char text[];
};

static const char *
keep(struct plan *pl, const char *s)
{
	size_t len = strlen(s) + 1, cap = len > CHUNK_BYTES ? len : CHUNK_BYTES;
	struct chunk *c = pl->chunks;

	if (c == NULL || len > c->cap - c->used) {
		if ((c = malloc(sizeof(*c) + cap)) == NULL)
			return NULL;
		c->used = 0;
		c->cap = cap;
		c->next = pl->chunks;
		pl->chunks = c;
	}
	s = memcpy(c->text + c->used, s, len);
	c->used += len;
	return s;
}

/*
 * A step of this shape, with copies of these strings unless they are the
 * shape's own, at the end. Each grant may lie 2,000 directories deep, and each
 * of them is a step: a policy of a few megabytes could have a plan of many
 * gigabytes.
 */
static int
append(struct draft *d, struct step **list, size_t *n, const struct step *shape,
    const char *guest, const char *text)
{
	struct step *p;

	d->bytes += sizeof(*p) + strlen(guest) + strlen(text);
	if (d->bytes > PLAN_BYTES_MAX) {
		d->full = 1;
		return -1;
	}
	p = grow_from(STEPS_FIRST, *list, *n, sizeof(*p));
	if (p == NULL)
		return -1;
	*list = p;
	p = &p[(*n)++];
	*p = *shape;
	if (guest != shape->guest)
		p->guest = keep(d->pl, guest);
	if (text != shape->text)
		p->text = keep(d->pl, text);
	return p->guest == NULL || p->text == NULL ? -1 : 0;
}

static void
chunks_free(struct chunk *c)
{
	struct chunk *next;

	for (; c != NULL; c = next) {
		next = c->next;
		free(c);
	}
}

int
plan_own(struct draft *d, const struct step *shape, const char *guest,
    const char *text)
{
	return append(d, &d->own, &d->nown, shape, guest, text);
}

int
plan_add_exec(struct draft *d, const struct step *shape, const char *guest)
{
	return append(d, &d->pl->exec, &d->pl->nexec, shape, guest, "");
}

const struct survey_row *
plan_row(const struct draft *d, size_t i)
{
	static const struct survey_row none = {.err = EINVAL, .fd = -1};

	return i < d->sv->n ? &d->sv->rows[i] : &none;
}

static int
step_cmp(const void *a, const void *b)
{
	const struct step *x = a, *y = b;
	int n;

	n = path_cmp(x->guest, y->guest);
	return n != 0 ? n : x->kind - y->kind;
}

/* The merge of the grants and of carrel's own into plan->steps. */
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
	if (append(m->d, &pl->steps, &pl->nsteps, shape, guest, text) == -1)
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
static int
merge(struct draft *d)
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

const struct step *
plan_at(const struct plan *pl, const char *path)
{
	char at[PATH_MAX_LEN + 1], *slash;
	size_t lo, hi, mid;
	int n;

	if (strlen(path) > PATH_MAX_LEN || path[0] != '/')
		return NULL;
	strcpy(at, path);
	for (;;) {
		for (lo = 0, hi = pl->nsteps; lo < hi;) {
			mid = lo + (hi - lo) / 2;
			n = path_cmp(pl->steps[mid].guest, at);
			if (n == 0)
				return &pl->steps[mid];
			if (n < 0)
				lo = mid + 1;
			else
				hi = mid;
		}
		slash = strrchr(at, '/');
		if (slash == at && at[1] == '\0')
			return NULL;
		slash[slash == at] = '\0';
	}
}

int
plan_granted(const struct plan *pl, const char *path)
{
	const struct step *s = plan_at(pl, path);

	return s != NULL && s->kind != STEP_DIR && s->guest[1] != '\0';
}

const struct step *
plan_mount(const struct plan *pl, const char *path)
{
	const struct step *s = plan_at(pl, path);
	char at[PATH_MAX_LEN + 1], *slash;

	while (s != NULL && s->kind == STEP_DIR) {
		strcpy(at, s->guest);
		slash = strrchr(at, '/');
		slash[slash == at] = '\0';
		s = plan_at(pl, at);
	}
	return s;
}

const struct step *
plan_through(const struct plan *pl, const char *path, char *at)
{
	const struct step *s = plan_mount(pl, path);
	int n;

	if (s == NULL)
		return NULL;
	strcpy(at, path);
	for (n = 0; s != NULL && s->kind == STEP_SYMLINK; n++) {
		if (n == LINKS_MAX ||
		    path_follow(s->guest, s->text, at, at) == -1)
			return NULL;
		s = plan_mount(pl, at);
	}
	return s;
}

int
plan_writable(const struct plan *pl, const char *path)
{
	char at[PATH_MAX_LEN + 1];
	const struct step *s = plan_through(pl, path, at);

	return s != NULL && !(s->flags & STEP_RDONLY) &&
	       (s->kind == STEP_BIND || s->kind == STEP_TMPFS ||
		   s->kind == STEP_PIN);
}

static int
plan_draw(struct draft *d)
{
	if (plan_packed(d) == -1 || plan_presence(d) == -1 ||
	    plan_diverted(d) == -1 || plan_shape(d) == -1 ||
	    plan_exec(d) == -1 || plan_trusted(d) == -1)
		return -1;
	if (plan_base(d) == -1 || plan_staging(d) == -1 || plan_pins(d) == -1 ||
	    plan_homes(d) == -1 || plan_etc(d) == -1)
		return -1;
	if (merge(d) == -1 || plan_sizes(d) == -1 || plan_elsewhere(d) == -1)
		return -1;
	plan_noexec(d);
	return plan_environ(d) == -1 || plan_start(d) == -1 ? -1 : 0;
}

int
plan_make(struct policy *po, const struct survey *sv, const struct caller *ca,
    const struct hostenv *he, struct plan *pl)
{
	struct draft d = {.po = po, .sv = sv, .ca = ca, .he = he, .pl = pl};
	int r = -1;

	memset(pl, 0, sizeof(*pl));
	d.fate = calloc(po->ngrants + 1, sizeof(*d.fate));
	d.refused = calloc(po->ngrants + 1, sizeof(*d.refused));
	d.above = calloc(po->ngrants + 1, sizeof(*d.above));
	d.exec_out = calloc(sv->nexec + 1, sizeof(*d.exec_out));
	pl->absent = calloc(po->ngrants + 1, sizeof(*pl->absent));
	if (d.fate != NULL && d.refused != NULL && d.above != NULL &&
	    d.exec_out != NULL && pl->absent != NULL)
		r = plan_draw(&d);
	free(d.own);
	free(d.fate);
	free(d.refused);
	free(d.above);
	free(d.exec_out);
	free(d.written);
	if (r == -1 && d.full)
		r = policy_refuse(po, "", "", 0, "grant directories above",
		    "the grants lie too deep for their number: the plan would "
		    "take more than %lu MiB",
		    PLAN_BYTES_MAX >> 20);
	if (r == -1) {
		plan_free(pl);
		errno = ENOMEM;
		return -1;
	}
	if (po->nrefusals == 0)
		return 0;
	policy_sort(po);
	errno = EPERM;
	return -1;
}

int
plan_make_fixed(struct plan *pl)
{
	struct policy none = {.ngrants = 0};
	struct draft d = {.po = &none, .pl = pl};
	int r;

	memset(pl, 0, sizeof(*pl));
	r = plan_fixed(&d);
	if (r == 0)
		r = merge(&d);
	free(d.own);
	if (r == -1)
		plan_free(pl);
	return r;
}

int
plan_setenv(struct plan *pl, const char *name, const char *value)
{
	size_t i;
	char *p;

	for (i = 0; i < pl->nenv; i++)
		if (strcmp(pl->env[i].name, name) == 0)
			break;
	if (i == pl->nenv) {
		errno = ENOENT;
		return -1;
	}
	if ((p = strdup(value)) == NULL)
		return -1;
	free(pl->env[i].value);
	pl->env[i].value = p;
	return 0;
}

static void
strings_free(char **list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		free(list[i]);
	free(list);
}

static void
entries_free(struct env_entry *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		free(list[i].value);
		free(list[i].who);
		free(list[i].mark);
	}
	free(list);
}

static void
row_free(struct env_row *r)
{
	free(r->name);
	free(r->value);
	free(r->who);
	free(r->mark);
	entries_free(r->entries, r->nentries);
	entries_free(r->drops, r->ndrops);
}

void
plan_free(struct plan *pl)
{
	size_t i;

	free(pl->steps);
	free(pl->exec);
	chunks_free(pl->chunks);
	for (i = 0; i < pl->nenv; i++)
		row_free(&pl->env[i]);
	free(pl->env);
	strings_free(pl->path, pl->npath);
	strings_free(pl->cwd, pl->ncwd);
	for (i = 0; i < pl->nelsewhere; i++)
		free(pl->elsewhere[i].guest);
	free(pl->elsewhere);
	free(pl->absent);
	free(pl->none_mounted);
	memset(pl, 0, sizeof(*pl));
}
