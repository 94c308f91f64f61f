#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "child/shared/survey.h"
#include "child/shared/caller.h"
#include "ipc/grow.h"
#include "ipc/limits.h"
#include "ipc/path.h"
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
plan_add_step(struct draft *d, const struct step *shape, const char *guest,
    const char *text)
{
	return append(d, &d->pl->steps, &d->pl->nsteps, shape, guest, text);
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
	if (plan_merge(d) == -1 || plan_sizes(d) == -1 ||
	    plan_elsewhere(d) == -1)
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
		r = plan_merge(&d);
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
