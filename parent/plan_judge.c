#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/check.h"
#include "ipc/limits.h"
#include "ipc/path.h"
#include "ipc/survey.h"
#include "ipc/text.h"
#include "plan_parts.h"

static const char *const verb_names[] = {
    "?", "read", "write", "try-read", "try-write", "tmpfs", "symlink"};

void
plan_claims(const struct draft *d, const struct grant *g, char *buf, size_t len)
{
	const struct origin *o;
	const struct profile *p;
	size_t i, n = 0;
	int r;

	buf[0] = '\0';
	for (i = 0; i < g->norigins && n < len; i++) {
		o = &g->origins[i];
		p = &d->po->profiles[o->profile];
		r = snprintf(buf + n, len - n, "%s%s of %s (%s:%u)",
		    i == 0 ? "" : ", ", verb_names[o->verb], p->name, p->file,
		    (unsigned)o->line);
		if (r < 0)
			return;
		n += (size_t)r;
	}
}

/*
 * One claim stands in front: the first that insists, else the first. If
 * there are more, all are named behind.
 */
int
plan_refuse(struct draft *d, size_t i, const char *fix, const char *fmt, ...)
{
	const struct grant *g = &d->po->grants[i];
	const struct origin *o = &g->origins[0];
	const struct profile *p;
	char what[TEXT_MAX_LEN / 2], all[TEXT_MAX_LEN / 2];
	va_list ap;
	size_t k;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	d->refused[i] = 1;
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
	plan_claims(d, g, all, sizeof(all));
	return policy_refuse(d->po, p->name, p->file, o->line, fix,
	    "%s; claimed by: %s", what, all);
}

/* The same words with every C library. */
static const char *
reason(int err)
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
	if (g->flags & GRANT_TRY)
		return plan_writes(g) ? "try-write" : "try-read";
	return plan_writes(g) ? "write" : "read";
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
	return plan_refuse(d, i,
	    r->err == ENOENT || r->err == ENOTDIR
		? plan_writes(g) ? "create it or use try-write"
				 : "create it or use try-read"
		: "make it reachable for you or take the grant out",
	    "%s = %s: %s%s", plan_verb(g), SHOWN(g->source), reason(r->err),
	    via);
}

static int
judge_type(struct draft *d, size_t i, const struct survey_row *r)
{
	static const char *const names[] = {
	    "of no known kind", "", "", "a socket", "a FIFO", "a device"};
	const struct grant *g = &d->po->grants[i];

	return plan_refuse(d, i, "grant a file or a directory",
	    "%s = %s: is %s: this version grants only files and directories "
	    "(\"socket\" and \"device\" are keys of a later one)",
	    plan_verb(g), SHOWN(g->source), names[r->type]);
}

int
plan_presence(struct draft *d)
{
	const struct survey_row *r;
	const struct grant *g;
	const char *bad;
	size_t i;

	for (i = 0; i < d->po->ngrants; i++) {
		g = &d->po->grants[i];
		r = plan_row(d, i);
		/* unclean only in a policy that was refused already */
		if (!path_clean(g->guest) || path_reserved(g->guest) ||
		    g->norigins == 0)
			continue;
		if (!plan_binds(g)) {
			d->fate[i] = FATE_STEP;
			continue;
		}
		if (r->err != 0) {
			if (absent(d, i, r) == -1)
				return -1;
			continue;
		}
		d->fate[i] = FATE_STEP;
		if (r->type != SURVEY_DIR && r->type != SURVEY_FILE) {
			if (judge_type(d, i, r) == -1)
				return -1;
		} else if ((bad = check_source(r->real)) != NULL &&
			   plan_refuse(d, i, "grant what is needed of it",
			       "%s = %s: leads to %s, which %s", plan_verb(g),
			       SHOWN(g->source), SHOWN(r->real), bad) == -1)
			return -1;
	}
	return 0;
}

int
plan_sizes(struct draft *d)
{
	const struct step *s;
	char all[TEXT_MAX_LEN / 2] = "";
	uint64_t sum = 0;
	size_t i, n = 0;
	int r;

	for (i = 0; i < d->pl->nsteps; i++) {
		s = &d->pl->steps[i];
		if (s->kind != STEP_TMPFS)
			continue;
		/* each is at most TMPFS_SUM, and there are GRANTS_MAX */
		sum += s->size;
		r = snprintf(all + n, sizeof(all) - n, "%s%s %llu MiB",
		    n == 0 ? "" : ", ", s->guest,
		    (unsigned long long)((s->size + (1 << 20) - 1) >> 20));
		if (r > 0 && (size_t)r < sizeof(all) - n)
			n += (size_t)r;
	}
	if (sum <= TMPFS_SUM)
		return 0;
	return policy_refuse(d->po, "", "", 0, "give them a smaller size=",
	    "the tmpfs of this run add up to %llu MiB, more than %llu: %s",
	    (unsigned long long)((sum + (1 << 20) - 1) >> 20),
	    (unsigned long long)(TMPFS_SUM >> 20), all);
}
