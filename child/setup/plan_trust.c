#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child/shared/survey.h"
#include "child/shared/caller.h"
#include "ipc/limits.h"
#include "ipc/path.h"
#include "ipc/rule.h"
#include "ipc/text.h"
#include "plan_parts.h"

/*
 * What an earlier payload may have made (S36), and what the next run trusts
 * (S7): both are about paths that the policy grants for writing.
 */

#define LINK_FIX                                                               \
	"put a directory in the place of the symlink, or grant less for "      \
	"writing"

static const struct written *
written_find(const struct written *w, size_t n, const char *link)
{
	char at[PATH_MAX_LEN + 1], *slash;
	size_t lo;

	strcpy(at, link);
	for (;;) {
		lo = plan_written_at(w, n, at);
		if (lo < n && strcmp(w[lo].path, at) == 0)
			return &w[lo];
		if ((slash = strrchr(at, '/')) == NULL || slash == at)
			return NULL;
		*slash = '\0';
	}
}

/* Why the profile's grant, not carrel's own in it, cannot be had. */
static int
refuse_own(struct draft *d, size_t i, const char *fix, const char *what)
{
	const struct grant *g = &d->po->grants[i];
	const struct grant *in = policy_above(d->po, g->guest);

	return plan_refuse(d, i, fix,
	    "%s = %s: holds %s, which carrel trusts in the next run, and %s",
	    in == NULL ? "?" : plan_verb(in),
	    SHOWN(in == NULL ? "?" : in->source), SHOWN(g->source), what);
}

/*
 * The link at a write grant's own path counts too: whoever could write its
 * parent in an earlier run may have put it there. But a home that is a link
 * is so by the host's own account database.
 */
static int
diverted(struct draft *d, size_t i, const struct written *w, size_t n)
{
	const struct survey_row *r = plan_row(d, i);
	const struct grant *g = &d->po->grants[i];
	const struct written *by;
	char who[TEXT_MAX_LEN / 4], fix[TEXT_SHOWN_MAX + 64];
	char what[TEXT_SHOWN_MAX + 64];
	size_t k;

	for (k = 0; k < r->nlinks; k++) {
		by = written_find(w, n, r->links[k]);
		if (by == NULL || (strcmp(r->links[k], d->ca->home) == 0 &&
				      strcmp(by->path, d->ca->home) == 0))
			continue;
		if (g->flags & GRANT_OWN) {
			snprintf(what, sizeof(what),
			    "the symlink %s that leads there could be replaced",
			    SHOWN(r->links[k]));
			return refuse_own(d, i, LINK_FIX, what);
		}
		policy_tell_grant(
		    d->po, &d->po->grants[by->grant], who, sizeof(who));
		snprintf(fix, sizeof(fix),
		    "remove the symlink, or grant %s by that name",
		    SHOWN(r->real));
		return plan_refuse(d, i, fix,
		    "%s = %s: the symlink %s leads it to %s, and an earlier "
		    "run may have made it: %s is granted for writing (%s)",
		    plan_verb(g), SHOWN(g->source), SHOWN(r->links[k]),
		    SHOWN(r->real), SHOWN(by->path), who);
	}
	return 0;
}

/* Sources and where they led; freed by the caller. NULL: no memory. */
static struct written *
written_gather(const struct draft *d, size_t *len)
{
	const struct grant *g = d->po->grants;
	struct written *w;
	size_t i, n = 0;

	w = calloc(d->po->ngrants + 1, 2 * sizeof(*w));
	if (w == NULL)
		return NULL;
	for (i = 0; i < d->po->ngrants; i++) {
		if (!plan_writes(&g[i]) || !path_clean(g[i].source))
			continue;
		w[n++] = (struct written){g[i].source, i};
		if (plan_row(d, i)->type != SURVEY_NONE)
			w[n++] = (struct written){plan_row(d, i)->real, i};
	}
	qsort(w, n, sizeof(*w), plan_written_cmp);
	*len = n;
	return w;
}

/* The same of a file or directory of the exec lock. */
static int
diverted_exec(struct draft *d, size_t k, const struct written *w, size_t n)
{
	const struct survey_row *r = &d->sv->exec[k].row;
	const struct written *by = NULL;
	char who[TEXT_MAX_LEN / 4], fix[TEXT_SHOWN_MAX + 64];
	size_t i;

	for (i = 0; i < r->nlinks && by == NULL; i++)
		by = written_find(w, n, r->links[i]);
	if (by == NULL)
		return 0;
	policy_tell_grant(d->po, &d->po->grants[by->grant], who, sizeof(who));
	snprintf(fix, sizeof(fix), "name %s by that path", SHOWN(r->real));
	return plan_exec_refuse(d, k, fix,
	    "is led to %s by the symlink %s, and an earlier run may have made "
	    "it: %s is granted for writing (%s)",
	    SHOWN(r->real), SHOWN(r->links[i - 1]), SHOWN(by->path), who);
}

int
plan_diverted(struct draft *d)
{
	const struct grant *g = d->po->grants;
	struct written *w;
	size_t i, n = 0;
	int r = 0;

	if ((w = written_gather(d, &n)) == NULL)
		return -1;
	for (i = 0; i < d->po->ngrants && r == 0; i++)
		if (n > 0 && grant_opens(&g[i]) && path_clean(g[i].source) &&
		    plan_row(d, i)->type != SURVEY_NONE)
			r = diverted(d, i, w, n);
	for (i = 0; i < d->sv->nexec && n > 0 && r == 0; i++)
		if (d->sv->exec[i].row.type != SURVEY_NONE)
			r = diverted_exec(d, i, w, n);
	free(w);
	return r;
}

/*
 * S7: what carrel trusts, and what write grants lead to. Names were judged by
 * policy_protect(); a source that is reached through a symlink has another
 * one, and only the survey knows it.
 */

/* What one write grant would make writable. */
static int
refuse_trusted(struct draft *d, size_t i, const char *path, const char *why)
{
	const struct survey_row *r = plan_row(d, i);
	const struct grant *g = &d->po->grants[i];

	if (d->refused[i])
		return 0;
	if (strcmp(g->source, r->real) == 0)
		return plan_refuse(d, i, "grant it with read",
		    "%s = %s: would make %s writable inside, which %s",
		    plan_verb(g), SHOWN(g->source), SHOWN(path), why);
	return plan_refuse(d, i, "grant the place it leads to by its own path",
	    "%s = %s: is %s, and would make %s writable inside, which %s",
	    plan_verb(g), SHOWN(g->source), SHOWN(r->real), SHOWN(path), why);
}

/* 1 if the payload could write this path by way of write grant i. */
static int
bare(const struct draft *d, size_t i, const char *top, const char *path)
{
	const struct grant *g = &d->po->grants[i], *own;
	char guest[2 * PATH_MAX_LEN + 1];

	if (d->fate[i] == FATE_NONE)
		return 0;
	snprintf(guest, sizeof(guest), "%s%s", g->guest, path_below(top, path));
	if (strlen(guest) > PATH_MAX_LEN)
		return 1;
	if ((own = policy_find(d->po, guest)) == NULL)
		own = policy_above(d->po, guest);
	if (own != NULL && (own->flags & GRANT_OWN))
		return 0; /* if it is absent, that was judged */
	return plan_grant_at(d, guest) == (int)i;
}

/* As policy_protect(): 1 if there is one more look; 0; -1 without memory. */
static int
take_look(struct draft *d)
{
	if (d->trusts > PROTECT_LOOKS)
		return 0;
	if (++d->trusts <= PROTECT_LOOKS)
		return 1;
	return policy_protect_many(d->po);
}

static int
trusted(struct draft *d, const struct written *w, size_t n, const char *path,
    const char *why)
{
	char up[PATH_MAX_LEN + 1], *slash;
	size_t i;
	int r;

	for (i = plan_written_at(w, n, path); i < n; i++) {
		if (!path_covers(path, w[i].path))
			break;
		if ((r = take_look(d)) != 1)
			return r;
		if (d->fate[w[i].grant] != FATE_NONE &&
		    refuse_trusted(d, w[i].grant, path, why) == -1)
			return -1;
	}
	strcpy(up, path);
	while ((slash = strrchr(up, '/')) != NULL && slash != up) {
		*slash = '\0';
		for (i = plan_written_at(w, n, up); i < n; i++) {
			if (strcmp(w[i].path, up) != 0)
				break;
			if ((r = take_look(d)) != 1)
				return r;
			if (bare(d, w[i].grant, up, path) &&
			    refuse_trusted(d, w[i].grant, path, why) == -1)
				return -1;
		}
	}
	return 0;
}

/* What may be executed or loaded, which no payload may change. */
static int
trusted_exec(struct draft *d, const struct written *w, size_t n,
    const struct survey_exec *e)
{
	const struct rule *r = &d->po->rules[e->rule];
	char why[TEXT_SHOWN_MAX + NAME_MAX_LEN + 64];

	snprintf(why, sizeof(why), "is executable for \"%s = %s\" of %s",
	    rule_key(r), SHOWN(r->text), d->po->profiles[r->profile].name);
	return trusted(d, w, n, e->row.real, why);
}

/*
 * A pin holds one name of a file. Another one in the same write grant, made
 * by an earlier run or by a build, is not to be found.
 */
#define TWICE                                                                  \
	"has a second name, a hard link, and %s is granted for writing (%s)"
#define TWICE_FIX "put a copy in its place, cp(1) and then mv(1)"

static const struct grant *
twice_in(const struct draft *d, const struct written *w, size_t n,
    const struct survey_row *r)
{
	const struct written *by;

	if (r->type != SURVEY_FILE || !r->twice ||
	    (by = written_find(w, n, r->real)) == NULL ||
	    d->fate[by->grant] == FATE_NONE)
		return NULL;
	return &d->po->grants[by->grant];
}

static int
trusted_twice(struct draft *d, const struct written *w, size_t n)
{
	const struct grant *g = d->po->grants, *by;
	char who[TEXT_MAX_LEN / 4];
	size_t i;
	int r = 0;

	for (i = 0; i < d->po->ngrants && r == 0; i++) {
		if (g[i].kind != GRANT_COMMAND || d->refused[i] ||
		    (by = twice_in(d, w, n, plan_row(d, i))) == NULL)
			continue;
		policy_tell_grant(d->po, by, who, sizeof(who));
		r = plan_refuse(d, i, TWICE_FIX, "command = %s: " TWICE,
		    SHOWN(g[i].source), SHOWN(by->source), who);
	}
	for (i = 0; i < d->sv->nexec && r == 0; i++) {
		if (d->exec_out[i] ||
		    (by = twice_in(d, w, n, &d->sv->exec[i].row)) == NULL)
			continue;
		policy_tell_grant(d->po, by, who, sizeof(who));
		r = plan_exec_refuse(
		    d, i, TWICE_FIX, TWICE, SHOWN(by->source), who);
	}
	return r;
}

int
plan_trusted(struct draft *d)
{
	const struct grant *g = d->po->grants;
	struct written *w;
	size_t i, n = 0;
	int r = 0;

	if ((w = written_gather(d, &n)) == NULL)
		return -1;
	for (i = 0; i < d->ca->nprotect && n > 0 && r == 0; i++)
		r = trusted(d, w, n, d->ca->protect[i].path,
		    "carrel trusts in the next run");
	for (i = 0; i < d->po->ngrants && n > 0 && r == 0; i++)
		if (g[i].kind == GRANT_COMMAND &&
		    plan_row(d, i)->type != SURVEY_NONE)
			r = trusted(d, w, n, plan_row(d, i)->real,
			    "is staged as a command");
	for (i = 0; i < d->sv->nexec && n > 0 && r == 0; i++)
		if (!d->exec_out[i])
			r = trusted_exec(d, w, n, &d->sv->exec[i]);
	if (n > 0 && r == 0)
		r = trusted_twice(d, w, n);
	free(w);
	return r;
}

static int
is_command(const struct draft *d, const char *source)
{
	size_t i;

	for (i = 0; i < d->ca->nprotect; i++)
		if (strcmp(d->ca->protect[i].path, source) == 0)
			return 0;
	return 1;
}

int
plan_own_presence(struct draft *d, size_t i)
{
	const struct grant *g = &d->po->grants[i];
	const struct grant *in = policy_above(d->po, g->guest);
	const struct survey_row *r = plan_row(d, i);
	const struct survey_row *up;
	char fix[PATH_MAX_LEN + 64];

	d->fate[i] = FATE_NONE;
	if (in == NULL)
		return 0;
	/* without the write grant there is nothing to protect */
	up = plan_row(d, (size_t)(in - d->po->grants));
	if (up->err != 0)
		return 0;
	if (r->err == 0 && (r->type == SURVEY_DIR || r->type == SURVEY_FILE)) {
		d->fate[i] = FATE_STEP;
		return 0;
	}
	if (r->shut || is_command(d, g->source))
		return 0; /* told where it is staged */
	if (r->err == 0)
		return refuse_own(d, i, "remove it", "that is no directory");
	if (r->nlinks > up->nlinks)
		return refuse_own(d, i, LINK_FIX, "a symlink leads it nowhere");
	snprintf(fix, sizeof(fix), "%s %s",
	    r->err == ENOENT ? "create it first: mkdir -p" : "look at",
	    g->source);
	return refuse_own(d, i, fix,
	    r->err == ENOENT ? "a payload could make it"
			     : "it cannot be reached to be protected");
}
