#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "caller.h"
#include "ipc/limits.h"
#include "ipc/pack.h"
#include "ipc/path.h"
#include "ipc/policy.h"
#include "ipc/text.h"

/* A write grant, to be found by its source. */
struct written {
	const char *source;
	size_t grant;
	int refused; /* for the outermost of what it is a part of */
};

/* What no payload may write. */
struct trusted {
	const char *path;
	int command; /* 1: because it is staged */
};

/* A grant to be added. */
struct addition {
	char *guest;
	const char *source; /* borrowed */
};

struct protecting {
	struct policy *po;
	struct written *written; /* sorted by source */
	size_t nwritten;
	struct addition *add;
	size_t nadd;
	const char **last; /* per grant: what was added last in it */
	size_t looks;
	int full; /* they were more than PROTECT_LOOKS, which was refused */
};

static int
written_cmp(const void *a, const void *b)
{
	const struct written *x = a, *y = b;
	int n;

	if ((n = path_cmp(x->source, y->source)) != 0)
		return n;
	return x->grant < y->grant ? -1 : x->grant > y->grant;
}

static int
gather_written(struct protecting *p)
{
	const struct grant *g;
	size_t i;

	p->written = calloc(p->po->ngrants + 1, sizeof(*p->written));
	if (p->written == NULL)
		return -1;
	for (i = 0; i < p->po->ngrants; i++) {
		g = &p->po->grants[i];
		if (g->kind != GRANT_BIND || !(g->flags & GRANT_WRITE))
			continue;
		p->written[p->nwritten].source = g->source;
		p->written[p->nwritten++].grant = i;
	}
	if (p->nwritten > 1)
		qsort(
		    p->written, p->nwritten, sizeof(*p->written), written_cmp);
	return 0;
}

/* The first write grant whose source is not before this path. */
static size_t
first_at(const struct protecting *p, const char *path)
{
	size_t lo = 0, hi = p->nwritten, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (path_cmp(p->written[mid].source, path) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Who asked for this write grant first. */
static const struct origin *
writer(const struct grant *g)
{
	size_t i;

	for (i = 0; i < g->norigins; i++)
		if (g->origins[i].verb == VERB_WRITE ||
		    g->origins[i].verb == VERB_TRY_WRITE)
			return &g->origins[i];
	return &g->origins[0];
}

/*
 * The path, or a part of it, is what is granted: nothing could be pinned, for
 * there is nothing above it inside.
 */
static int
refuse(struct protecting *p, size_t grant, const struct trusted *t)
{
	const struct grant *g = &p->po->grants[grant];
	const struct origin *o = writer(g);
	const struct profile *pr;
	char part[TEXT_SHOWN_MAX + 64] = "";

	pr = &p->po->profiles[o->profile];
	if (strcmp(g->source, t->path) != 0)
		snprintf(part, sizeof(part), "is a part of %s, and ",
		    SHOWN(t->path));
	return policy_refuse(p->po, pr->name, pr->file, o->line,
	    t->command ? "grant it with read, or stage another file"
		       : "grant it with read, or choose another directory",
	    "%s = %s: %s%s, so no payload may write it", policy_verb(o->verb),
	    SHOWN(g->source), part,
	    t->command ? "that is staged as a command"
		       : "that is what carrel trusts in the next run");
}

/* Inside, the path would be longer than any may be. */
static int
refuse_long(struct protecting *p, size_t grant, const char *path)
{
	const struct grant *g = &p->po->grants[grant];
	const struct origin *o = writer(g);
	const struct profile *pr = &p->po->profiles[o->profile];

	return policy_refuse(p->po, pr->name, pr->file, o->line,
	    "choose a shorter path inside",
	    "%s = %s: %s is in it, which no payload may write, and its path "
	    "inside has more than %d bytes",
	    policy_verb(o->verb), SHOWN(g->source), SHOWN(path), PATH_MAX_LEN);
}

/* The path is inside by way of this write grant: it is granted once more. */
static int
add(struct protecting *p, size_t grant, const char *path)
{
	const struct grant *g = &p->po->grants[grant], *at;
	const char *below = path_below(g->source, path);
	struct addition *a;
	char guest[2 * PATH_MAX_LEN + 1];

	snprintf(guest, sizeof(guest), "%s%s", g->guest, below);
	if (!path_clean(guest))
		return refuse_long(p, grant, path);
	/* what is deeper there is judged for itself, or read only */
	if ((at = policy_find(p->po, guest)) == NULL)
		at = policy_above(p->po, guest);
	if (at != g)
		return 0;
	if (p->last[grant] != NULL && path_covers(p->last[grant], path))
		return 0; /* with what was added before */
	a = realloc(p->add, (p->nadd + 1) * sizeof(*a));
	if (a == NULL)
		return -1;
	p->add = a;
	a[p->nadd].source = path;
	if ((a[p->nadd].guest = strdup(guest)) == NULL)
		return -1;
	p->nadd++;
	p->last[grant] = path;
	return 0;
}

int
policy_protect_many(struct policy *po)
{
	return policy_refuse(po, "", "", 0,
	    "grant fewer directories for writing, or stage fewer commands",
	    "what no payload may write lies in too many write grants");
}

/*
 * There may be as many trusted paths as grants, and each could lie in all of
 * these. 1 if there is one more look; 0 after a refusal, -1 without memory.
 */
static int
take_look(struct protecting *p)
{
	if (++p->looks <= PROTECT_LOOKS &&
	    p->po->ngrants + p->nadd < GRANTS_MAX)
		return 1;
	p->full = 1;
	return policy_protect_many(p->po);
}

/* One path against all write grants at it, above it and below it. */
static int
protect(struct protecting *p, const struct trusted *t)
{
	char up[PATH_MAX_LEN + 1], *slash;
	size_t i;
	int n;

	for (i = first_at(p, t->path); i < p->nwritten; i++) {
		if (!path_covers(t->path, p->written[i].source))
			break;
		if ((n = take_look(p)) != 1)
			return n;
		if (p->written[i].refused)
			continue;
		p->written[i].refused = 1;
		if (refuse(p, p->written[i].grant, t) == -1)
			return -1;
	}
	strcpy(up, t->path);
	while ((slash = strrchr(up, '/')) != NULL && slash != up) {
		*slash = '\0';
		for (i = first_at(p, up); i < p->nwritten; i++) {
			if (strcmp(p->written[i].source, up) != 0)
				break;
			if ((n = take_look(p)) != 1)
				return n;
			if (add(p, p->written[i].grant, t->path) == -1)
				return -1;
		}
	}
	return 0;
}

static int
trusted_cmp(const void *a, const void *b)
{
	const struct trusted *x = a, *y = b;
	int n = path_cmp(x->path, y->path);

	return n != 0 ? n : x->command - y->command;
}

/* All that is to be protected, a directory before what is in it. */
static struct trusted *
gather_trusted(const struct policy *po, const struct caller *c, size_t *n)
{
	struct trusted *t;
	size_t i, k = 0;

	t = calloc(c->nprotect + po->ngrants + 1, sizeof(*t));
	if (t == NULL)
		return NULL;
	for (i = 0; i < c->nprotect; i++)
		t[k++].path = c->protect[i].path;
	for (i = 0; i < po->ngrants; i++)
		if (po->grants[i].kind == GRANT_COMMAND) {
			t[k].path = po->grants[i].source;
			t[k++].command = 1;
		}
	if (k > 1)
		qsort(t, k, sizeof(*t), trusted_cmp);
	*n = k;
	return t;
}

static int
judge(struct protecting *p, const struct caller *c)
{
	struct trusted *t;
	size_t i, n = 0;
	int r = 0;

	if ((t = gather_trusted(p->po, c, &n)) == NULL)
		return -1;
	for (i = 0; i < n && r == 0 && !p->full; i++) {
		/* one file may be staged under two names */
		if (i > 0 && trusted_cmp(&t[i - 1], &t[i]) == 0)
			continue;
		r = protect(p, &t[i]);
	}
	free(t);
	return r;
}

/* A pack whose target is not what is granted as its directory. */
static int
pack_elsewhere(const struct policy *po, const struct caller *c)
{
	const struct grant *top;

	if (pack_find(po) == -1)
		return 0;
	top = policy_find(po, PACK_DIR);
	return top == NULL || strcmp(top->source, c->target) != 0;
}

int
policy_protect(struct policy *po, const struct caller *c)
{
	struct protecting p = {.po = po};
	size_t i;
	int r = -1;

	if (po->nrefusals > 0)
		return 0; /* it will only be shown */
	if (pack_elsewhere(po, c)) {
		errno = EBADMSG;
		return -1;
	}
	p.last = calloc(po->ngrants + 1, sizeof(*p.last));
	if (p.last != NULL && gather_written(&p) == 0)
		r = judge(&p, c);
	for (i = 0; i < p.nadd && r == 0 && po->nrefusals == 0; i++)
		if (policy_add_grant(po, GRANT_BIND, GRANT_OWN, p.add[i].guest,
			p.add[i].source, 0) == NULL)
			r = -1;
	for (i = 0; i < p.nadd; i++)
		free(p.add[i].guest);
	free(p.add);
	free(p.written);
	free(p.last);
	policy_sort(po);
	return r;
}
