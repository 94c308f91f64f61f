#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child/shared/survey.h"
#include "ipc/confine.h"
#include "ipc/limits.h"
#include "ipc/path.h"
#include "ipc/text.h"
#include "plan_parts.h"

/*
 * The exec lock (S72): nothing can be executed but the interpreters and their
 * loaders, and nothing mapped executable but what lies in directories of
 * shared objects. Whatever is not certain stays noexec.
 */

int
plan_exec_refuse(
    struct draft *d, size_t k, const char *fix, const char *fmt, ...)
{
	const struct survey_exec *e = &d->sv->exec[k];
	const struct rule *r = &d->po->rules[e->rule];
	const struct profile *p = &d->po->profiles[r->profile];
	char what[TEXT_MAX_LEN / 2], its[TEXT_SHOWN_MAX + 32] = "";
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	d->exec_out[k] = 1;
	if (e->kind == EXEC_LOADER)
		snprintf(its, sizeof(its), "its loader %s ", SHOWN(e->guest));
	return policy_refuse(d->po, p->name, p->file, r->line, fix,
	    "%s = %s: %s%s", rule_key(r), SHOWN(r->text), its, what);
}

/* What row k says of itself; 0 may also be a refusal, or that it is out. */
static int
judge_row(struct draft *d, size_t k)
{
	const struct survey_exec *e = &d->sv->exec[k];
	const struct survey_row *r = &e->row;
	int dir = r->type == SURVEY_DIR, loader = e->kind == EXEC_LOADER;

	if (e->kind == EXEC_SYSTEM || e->kind == EXEC_OWN) {
		d->exec_out[k] = !dir;
		return 0;
	}
	if (e->fault == EXEC_NOWHERE)
		return plan_exec_refuse(d, k,
		    loader ? "grant that, e.g. by -p @sys"
			   : "grant it with read, or leave the line out",
		    "is not inside");
	if (r->err != 0)
		return plan_exec_refuse(d, k,
		    loader ? "install it" : "install it, or correct the path",
		    "%s", plan_reason(r->err));
	if (e->kind == EXEC_LIBRARY)
		return dir ? 0
			   : plan_exec_refuse(d, k,
				 "name the directory that holds it",
				 "is no directory");
	if (r->type != SURVEY_FILE)
		return plan_exec_refuse(
		    d, k, "name the program itself", "is no file");
	if ((r->mode & 0111) == 0)
		return plan_exec_refuse(
		    d, k, "run \"chmod +x\" on it", "is not executable");
	if (e->fault == EXEC_UNREADABLE)
		return plan_exec_refuse(d, k, "make it readable for you",
		    "cannot be read, so nobody knows its loader");
	if (e->fault == EXEC_FOREIGN)
		return plan_exec_refuse(d, k, "name another program",
		    "is a program that this machine does not run");
	return 0;
}

/* Whether a guest path is shown by this very grant, as this host path. */
static int
shows(const struct draft *d, size_t i, const char *guest, const char *real)
{
	const struct grant *g = &d->po->grants[i];
	const char *below = path_below(g->guest, guest), *want;

	if (d->fate[i] != FATE_STEP || below == NULL ||
	    (g->kind != GRANT_BIND && g->kind != GRANT_COMMAND))
		return 0;
	want = path_below(plan_row(d, i)->real, real);
	return want != NULL && strcmp(below, want) == 0 &&
	       plan_grant_at(d, guest) == (int)i;
}

/*
 * Where a host path is inside, and by which grant; -1 if it is not. There may
 * be several such places: first where the profile says, then under the host's
 * own name. The others stay noexec.
 */
static int
find_inside(const struct draft *d, const struct survey_exec *e, char *guest)
{
	const char *real = e->row.real, *below;
	char at[2 * PATH_MAX_LEN + 1];
	int i, found = -1;

	if (e->guest[0] != '\0' && (i = plan_grant_at(d, e->guest)) != -1 &&
	    shows(d, (size_t)i, e->guest, real)) {
		strcpy(guest, e->guest);
		return i;
	}
	for (i = 0; i < (int)d->po->ngrants; i++) {
		if (d->fate[i] != FATE_STEP || !grant_opens(&d->po->grants[i]))
			continue;
		below = path_below(plan_row(d, (size_t)i)->real, real);
		if (below == NULL)
			continue;
		snprintf(at, sizeof(at), "%s%s", d->po->grants[i].guest, below);
		if (!path_clean(at) || !shows(d, (size_t)i, at, real))
			continue;
		if (found != -1 && strcmp(at, real) != 0)
			continue;
		found = i;
		strcpy(guest, at);
	}
	return found;
}

/*
 * A directory that holds a loader or an interpreter is one of the system's,
 * like /usr/lib, with programs somewhere in it: only the files directly in it
 * are shared objects.
 */
static int
is_flat(const struct draft *d, const struct survey_exec *e)
{
	const struct survey_exec *o;
	size_t i;

	if (e->kind == EXEC_SYSTEM)
		return 1;
	for (i = 0; i < d->sv->nexec; i++) {
		o = &d->sv->exec[i];
		if ((o->kind == EXEC_LOADER || o->kind == EXEC_INTERPRETER) &&
		    o->row.type == SURVEY_FILE &&
		    path_covers(e->row.real, o->row.real))
			return 1;
	}
	return 0;
}

static int
add_step(struct draft *d, size_t k, const char *guest)
{
	const struct survey_exec *e = &d->sv->exec[k];
	struct step s = {.kind = STEP_EXEC,
	    .flags = STEP_RDONLY | STEP_NODEV,
	    .grant = (int)k};
	size_t i;

	if (e->row.type == SURVEY_DIR)
		s.flags |= STEP_ISDIR | (is_flat(d, e) ? STEP_FLAT : 0);
	for (i = 0; i < d->pl->nexec; i++)
		if (strcmp(d->pl->exec[i].guest, guest) == 0) {
			d->pl->exec[i].flags |= s.flags;
			return 0;
		}
	return plan_add_exec(d, &s, guest);
}

static int
place_row(struct draft *d, size_t k)
{
	const struct survey_exec *e = &d->sv->exec[k];
	int i, own = e->kind == EXEC_SYSTEM || e->kind == EXEC_OWN;
	char guest[PATH_MAX_LEN + 1], who[TEXT_MAX_LEN / 4];
	const struct grant *g;

	i = find_inside(d, e, guest);
	if (i == -1 && !own)
		return plan_exec_refuse(d, k, "grant that with read",
		    "leads to %s, which is not inside", SHOWN(e->row.real));
	/* there need not be any grant */
	g = i == -1 ? NULL : &d->po->grants[i];
	if (g == NULL || (plan_writes(g) && own)) {
		d->exec_out[k] = 1;
		return 0;
	}
	if (!plan_writes(g))
		return add_step(d, k, guest);
	policy_tell_grant(d->po, g, who, sizeof(who));
	return plan_exec_refuse(d, k,
	    "grant it or its directory once more with read, which pins it",
	    "lies in %s, which is granted for writing (%s)", SHOWN(g->guest),
	    who);
}

static int
step_cmp(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	return path_cmp(x->guest, y->guest);
}

int
plan_exec(struct draft *d)
{
	struct plan *pl = d->pl;
	struct confine c;
	size_t k;
	int r = 0;

	if (confine_join(d->po, &c) == -1)
		return -1;
	pl->locked = c.interpreters != NULL;
	pl->no_spawn = c.no_spawn != NULL;
	pl->no_unix = c.no_unix != NULL;
	pl->once = c.once != NULL;
	pl->report_exec = c.report[REPORT_EXEC] != NULL;
	pl->report_fs = c.report[REPORT_FS] != NULL;
	confine_free(&c);
	for (k = 0; k < d->sv->nexec && pl->locked && r == 0; k++) {
		/* a link on the way was refused before */
		if (!d->exec_out[k])
			r = judge_row(d, k);
		if (r == 0 && !d->exec_out[k])
			r = place_row(d, k);
	}
	if (pl->nexec > 1)
		qsort(pl->exec, pl->nexec, sizeof(*pl->exec), step_cmp);
	return r;
}

void
plan_noexec(struct draft *d)
{
	struct step *s;

	if (!d->pl->locked)
		return;
	for (s = d->pl->steps; s < d->pl->steps + d->pl->nsteps; s++)
		switch (s->kind) {
		case STEP_TMPFS:
		case STEP_BIND:
		case STEP_PIN:
		case STEP_DEVICE:
			s->flags |= STEP_NOEXEC;
			break;
		default: /* no mount, or noexec in every plan */
			break;
		}
}
