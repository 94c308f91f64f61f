#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "child/shared/survey.h"
#include "ipc/check.h"
#include "ipc/confine.h"
#include "ipc/limits.h"
#include "ipc/path.h"
#include "ipc/text.h"
#include "plan_parts.h"

/*
 * One claim stands in front: the first that insists, else the first. If
 * there are more, all are named behind.
 */
int
plan_refuse(struct draft *d, size_t i, const char *fix, const char *fmt, ...)
{
	const struct grant *g = &d->po->grants[i];
	const struct origin *o;
	const struct profile *p;
	char what[TEXT_MAX_LEN / 2], all[TEXT_MAX_LEN / 2];
	va_list ap;
	size_t k;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	d->refused[i] = 1;
	/* of carrel's own in a write grant: that one is to blame */
	if (g->flags & GRANT_OWN)
		g = policy_above(d->po, g->guest);
	if (g == NULL || g->norigins == 0)
		return policy_refuse(d->po, "", "", 0, fix, "%s", what);
	o = &g->origins[0];
	for (k = 0; k < g->norigins; k++)
		if (g->origins[k].verb == VERB_READ ||
		    g->origins[k].verb == VERB_WRITE) {
			o = &g->origins[k];
			break;
		}
	p = &d->po->profiles[o->profile];
	if (g->norigins < 2)
		return policy_refuse(
		    d->po, p->name, p->file, o->line, fix, "%s", what);
	policy_tell_grant(d->po, g, all, sizeof(all));
	return policy_refuse(d->po, p->name, p->file, o->line, fix,
	    "%s; claimed by: %s", what, all);
}

/* The same words with every C library. */
const char *
plan_reason(int err)
{
	switch (err) {
	case ENOENT:
		return "No such file or directory";
	case ENOTDIR:
		return "Not a directory";
	case EACCES:
		return "Permission denied";
	case ELOOP:
		return "Too many symlinks, or one of /proc";
	case ENAMETOOLONG:
		return "File name too long";
	default:
		return strerror(err);
	}
}

const char *
plan_verb(const struct grant *g)
{
	if (g->kind != GRANT_BIND)
		return g->norigins > 0 ? policy_verb(g->origins[0].verb) : "?";
	if (g->flags & GRANT_TRY)
		return plan_writes(g) ? "try-write" : "try-read";
	return plan_writes(g) ? "write" : "read";
}

static const char *
absent_fix(const struct grant *g, int err)
{
	if (err != ENOENT && err != ENOTDIR)
		return "make it reachable for you or take the grant out";
	switch (g->kind) {
	case GRANT_COMMAND:
		return "install it or correct the path";
	case GRANT_SOCKET:
		return "start what listens there or take the grant out";
	case GRANT_DEVICE:
		return "plug it in, load its driver or take the grant out";
	default:
		return plan_writes(g) ? "create it or use try-write"
				      : "create it or use try-read";
	}
}

/*
 * A try- grant may be absent. EACCES counts as absent: a place that the
 * caller may not enter is one that the sandbox does not get, so leaving it
 * out grants nothing. Any other error (a dead network file system, a loop
 * of links) does not say that nothing is there, and is refused.
 */
static int
absent(struct draft *d, size_t i, const struct survey_row *r)
{
	const struct grant *g = &d->po->grants[i];
	char via[TEXT_SHOWN_MAX + 64] = "";

	if ((g->flags & GRANT_TRY) &&
	    (r->err == ENOENT || r->err == ENOTDIR || r->err == EACCES)) {
		d->pl->absent[i] = 1;
		return 0;
	}
	if (r->nlinks > 0)
		snprintf(via, sizeof(via), " (by way of the symlink %s)",
		    SHOWN(r->links[r->nlinks - 1]));
	return plan_refuse(d, i, absent_fix(g, r->err), "%s = %s: %s%s",
	    plan_verb(g), SHOWN(g->source), plan_reason(r->err), via);
}

static int
refuse_type(struct draft *d, size_t i, const char *fix, const char *what)
{
	const struct grant *g = &d->po->grants[i];

	return plan_refuse(
	    d, i, fix, "%s = %s: is %s", plan_verb(g), SHOWN(g->source), what);
}

static const char *const type_names[] = {
    [SURVEY_NONE] = "of no known kind",
    [SURVEY_DIR] = "a directory",
    [SURVEY_FILE] = "a file",
    [SURVEY_SOCKET] = "a socket",
    [SURVEY_FIFO] = "a FIFO",
    [SURVEY_DEVICE] = "a device",
    [SURVEY_BLOCK] = "a block device",
};

/* S37: the key that would be right, for what is there. */
static int
wrong_key(struct draft *d, size_t i, const struct survey_row *r)
{
	const struct grant *g = &d->po->grants[i];
	char fix[TEXT_SHOWN_MAX + 256];
	const char *bad;

	switch (r->type) {
	case SURVEY_DIR:
	case SURVEY_FILE:
		snprintf(
		    fix, sizeof(fix), "write \"read = %s\"", SHOWN(g->source));
		break;
	case SURVEY_SOCKET:
		snprintf(fix, sizeof(fix),
		    "write \"socket = %s\" in a profile of the host or the "
		    "user",
		    SHOWN(g->source));
		break;
	case SURVEY_DEVICE:
		if ((bad = check_device(r->real)) != NULL)
			snprintf(fix, sizeof(fix),
			    "take it out; no \"device\" either, for %s %s",
			    SHOWN(r->real), bad);
		else
			snprintf(fix, sizeof(fix),
			    "write \"device = %s\" in a profile of the host or "
			    "the user",
			    SHOWN(r->real));
		break;
	case SURVEY_FIFO:
		snprintf(fix, sizeof(fix),
		    "grant the directory that holds it, or use a unix socket "
		    "and \"socket\"");
		break;
	default:
		snprintf(fix, sizeof(fix), "take it out");
		break;
	}
	return refuse_type(d, i, fix, type_names[r->type]);
}

static int
judge_device(struct draft *d, size_t i, const struct survey_row *r)
{
	const struct grant *g = &d->po->grants[i];
	const char *bad;

	if (r->type == SURVEY_DIR)
		return refuse_type(d, i,
		    "name each character device in it, one line for each",
		    "a directory");
	if (r->type == SURVEY_BLOCK)
		return refuse_type(d, i,
		    "take it out: only character devices can be granted",
		    "a block device");
	if (r->type != SURVEY_DEVICE)
		return wrong_key(d, i, r);
	if ((bad = check_device(r->real)) == NULL)
		bad = check_device_number(r->rdev);
	if (bad == NULL)
		return 0;
	return plan_refuse(d, i, "take it out",
	    "device = %s: leads to %s, "
	    "which %s",
	    SHOWN(g->source), SHOWN(r->real), bad);
}

/* What is there is what the key is for. */
static int
judge_type(struct draft *d, size_t i, const struct survey_row *r)
{
	const struct grant *g = &d->po->grants[i];
	const char *bad;
	int right;

	if (g->kind == GRANT_DEVICE)
		return judge_device(d, i, r);
	right = r->type == SURVEY_FILE;
	if (g->kind == GRANT_SOCKET)
		right = r->type == SURVEY_SOCKET;
	else if (g->kind == GRANT_BIND)
		right |= r->type == SURVEY_DIR;
	else if (r->type == SURVEY_DIR)
		return refuse_type(d, i,
		    "name the program itself, one line for each",
		    "a directory");
	else if (right && (r->mode & 0111) == 0)
		return refuse_type(d, i,
		    "run \"chmod +x\" on it, or grant it with read",
		    "not executable");
	if (!right)
		return wrong_key(d, i, r);
	if ((bad = check_source(r->real)) == NULL)
		return 0;
	return plan_refuse(d, i, "grant what is needed of it",
	    "%s = %s: leads to %s, which %s", plan_verb(g), SHOWN(g->source),
	    SHOWN(r->real), bad);
}

/* Where a grant of this kind may be; of a refused policy nobody knows. */
static int
placed(const struct grant *g)
{
	if (g->kind == GRANT_COMMAND)
		return check_command(g->guest) == NULL;
	if (g->kind == GRANT_DEVICE)
		return check_device(g->guest) == NULL;
	return path_clean(g->guest) && !path_reserved(g->guest);
}

int
plan_presence(struct draft *d)
{
	const struct survey_row *r;
	const struct grant *g;
	size_t i;
	int bad = 0;

	for (i = 0; i < d->po->ngrants && bad == 0; i++) {
		g = &d->po->grants[i];
		r = plan_row(d, i);
		if (!placed(g) || d->refused[i])
			continue;
		if (g->flags & GRANT_OWN) {
			bad = plan_own_presence(d, i);
		} else if (g->norigins == 0) {
			continue;
		} else if (grant_opens(g) && r->err != 0) {
			bad = absent(d, i, r);
		} else {
			d->fate[i] = FATE_STEP;
			if (grant_opens(g))
				bad = judge_type(d, i, r);
		}
	}
	return bad;
}

/* "/opt/a 600 MiB (tmpfs of x, /x.profile:3)" */
static void
size_claim(
    const struct draft *d, const struct step *s, struct text_list *l, int first)
{
	char who[TEXT_MAX_LEN / 8] = "carrel";

	if (s->grant >= 0)
		policy_tell_grant(
		    d->po, &d->po->grants[s->grant], who, sizeof(who));
	text_list_add(l, "%s%s %llu MiB (%s)", first ? "" : ", ",
	    SHOWN(s->guest),
	    (unsigned long long)((s->size + (1 << 20) - 1) >> 20), who);
}

#define SIZES "the tmpfs of this run add up to %llu MiB, %s: %s"

/* Only where a profile has set the limit: the rule is at fault. */
static int
refuse_own_sizes(
    struct draft *d, uint64_t sum, const char *most, const char *all)
{
	const struct rule *r = confine_limit(d->po, LIMIT_TMPFS);
	const struct profile *p;

	if (r == NULL)
		return 0;
	p = &d->po->profiles[r->profile];
	return policy_refuse(d->po, p->name, p->file, r->line,
	    "raise the limit: each run has some tmpfs of carrel's own", SIZES,
	    (unsigned long long)((sum + (1 << 20) - 1) >> 20), most, all);
}

int
plan_sizes(struct draft *d)
{
	const struct step *s, *big = NULL;
	const struct origin *o;
	char all[TEXT_MAX_LEN / 2] = "", most[TEXT_MAX_LEN / 4] = "";
	struct text_list l = {.buf = all, .cap = sizeof(all)};
	uint64_t sum = 0;
	size_t i, n = 0;

	for (i = 0; i < d->pl->nsteps; i++) {
		s = &d->pl->steps[i];
		if (s->kind != STEP_TMPFS)
			continue;
		/* each is at most TMPFS_SIZE_MAX, and there are GRANTS_MAX */
		sum += s->size;
		if (s->grant >= 0 && (big == NULL || s->size > big->size))
			big = s;
		size_claim(d, s, &l, n++ == 0);
	}
	if (sum <= confine_tmpfs(d->po))
		return 0;
	text_list_end(&l);
	confine_tell_tmpfs(d->po, most, sizeof(most));
	if (big == NULL) /* what is carrel's own is more already */
		return refuse_own_sizes(d, sum, most, all);
	o = &d->po->grants[big->grant].origins[0];
	return policy_refuse(d->po, d->po->profiles[o->profile].name,
	    d->po->profiles[o->profile].file, o->line,
	    "give them a smaller size=", SIZES,
	    (unsigned long long)((sum + (1 << 20) - 1) >> 20), most, all);
}
