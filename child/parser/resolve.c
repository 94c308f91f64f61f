#include <stdlib.h>
#include <string.h>

#include "claim.h"
#include "environ.h"
#include "child/shared/caller.h"
#include "ipc/limits.h"
#include "ipc/policy.h"
#include "child/shared/request.h"
#include "ipc/text.h"
#include "judge.h"
#include "pack.h"
#include "place.h"
#include "resolve.h"
#include "rule.h"
#include "select.h"
#include "tier.h"
#include "tool.h"

/* The members become the policy's profiles, with the same indices. */

static int
index_cmp(const void *a, const void *b)
{
	return *(const uint16_t *)a - *(const uint16_t *)b;
}

static int
set_includes(struct profile *p, const struct selection *sel, size_t i)
{
	const struct draft *d = &sel->members[i].draft;
	size_t k, n = 0;

	if (d->nincludes == 0)
		return 0;
	p->includes = calloc(d->nincludes, sizeof(*p->includes));
	if (p->includes == NULL)
		return -1;
	for (k = 0; k < d->nincludes; k++)
		p->includes[k] =
		    (uint16_t)selection_find(sel, d->includes[k].name);
	qsort(p->includes, d->nincludes, sizeof(*p->includes), index_cmp);
	for (k = 0; k < d->nincludes; k++)
		if (k == 0 || p->includes[k] != p->includes[k - 1])
			p->includes[n++] = p->includes[k];
	p->nincludes = n;
	return 0;
}

static int
add_profiles(struct policy *po, const struct selection *sel)
{
	const struct member *m;
	struct profile *p;
	size_t i;

	for (i = 0; i < sel->n; i++) {
		m = &sel->members[i];
		p = policy_add_profile(
		    po, m->name, m->file, m->layer, m->flags);
		if (p == NULL || set_includes(p, sel, i) == -1)
			return -1;
		strcpy(p->digest, m->digest);
		if (m->draft.description != NULL) {
			free(p->description);
			p->description = strdup(m->draft.description);
		}
		if (m->draft.abuse != NULL) {
			free(p->abuse);
			p->abuse = strdup(m->draft.abuse);
		}
		if (p->description == NULL || p->abuse == NULL)
			return -1;
	}
	return 0;
}

/* Claims that want the same join: the widest access, all provenance (S32). */

static int
refuse_many(struct policy *po, const struct claim *c)
{
	const struct profile *p = &po->profiles[c->profile];
	struct place at = {po, p->name, p->file};

	return place_refuse(&at, c->line, "name it once in each profile",
	    "\"%s\" is claimed more than %d times", SHOWN(c->guest),
	    ORIGINS_MAX);
}

/* One grant of n claims that agree. */
static int
join(struct policy *po, const struct claim *c, size_t n)
{
	struct grant *g;
	struct origin o;
	size_t i;

	g = policy_add_grant(po, c->kind, c->kind == GRANT_BIND ? GRANT_TRY : 0,
	    c->guest, c->source, c->size);
	if (g == NULL)
		return -1;
	for (i = 0; i < n; i++) {
		if (c[i].verb == VERB_WRITE || c[i].verb == VERB_TRY_WRITE)
			g->flags |= GRANT_WRITE;
		if (c[i].output)
			g->flags |= GRANT_OUTPUT;
		if (c[i].verb == VERB_READ || c[i].verb == VERB_WRITE)
			g->flags &= (uint8_t)~GRANT_TRY;
		o.profile = c[i].profile;
		o.verb = c[i].verb;
		o.line = c[i].line;
		if (i < ORIGINS_MAX && grant_add_origin(g, &o) == -1)
			return -1;
	}
	return n > ORIGINS_MAX ? refuse_many(po, c) : 0;
}

static int
add_grants(struct policy *po, const struct claims *cs)
{
	struct place at = {po, "", ""};
	size_t i, n;
	int bad = 0;

	for (i = 0; i < cs->n; i += n) {
		for (n = 1; i + n < cs->n; n++)
			if (!claims_agree(&cs->list[i], &cs->list[i + n]))
				break;
		if (po->ngrants == GRANTS_MAX)
			return place_refuse(&at, 0, "grant directories above",
			    "the profiles grant more than %d paths",
			    GRANTS_MAX);
		bad |= join(po, &cs->list[i], n);
	}
	return bad;
}

/* S24: the home is not mounted by way of the target. */

static int
refuse_home(struct policy *po, const struct selection *sel, const char *name,
    const char *what, const char *dir)
{
	const struct member *m = &sel->members[selection_find(sel, name)];
	struct place at = {po, m->name, m->file};

	return place_refuse(&at, 0, "use --no-defaults -p @sys -p @own-home",
	    "%s \"%s\" is the home directory or holds it", what, SHOWN(dir));
}

/* Else each line of @sys in /etc is refused for a reason of its own. */
static int
refuse_etc(struct policy *po, const struct selection *sel, const char *dir)
{
	const struct member *m = &sel->members[selection_find(sel, "@target")];
	struct place at = {po, m->name, m->file};

	return place_refuse(&at, 0,
	    "name another directory, or one below it, with -C DIR; or grant it "
	    "by a profile of your own, with --no-defaults",
	    "the target directory \"%s\" cannot be written by a sandbox, which "
	    "has an /etc of its own",
	    SHOWN(dir));
}

static int
judge_target(
    struct policy *po, const struct request *q, const struct selection *sel)
{
	const char *slash = strrchr(q->caller.target, '/');
	char parent[PATH_MAX_LEN + 1] = "/";
	int bad = 0;

	if (slash == NULL)
		return 0; /* each use of it is refused by name */
	if (slash > q->caller.target) {
		memcpy(parent, q->caller.target,
		    (size_t)(slash - q->caller.target));
		parent[slash - q->caller.target] = '\0';
	}
	if (selection_find(sel, "@target") != -1 &&
	    selection_holds_home(q, q->caller.target))
		bad |= refuse_home(po, sel, "@target", "the target directory",
		    q->caller.target);
	else if (selection_find(sel, "@target") != -1 &&
		 strcmp(q->caller.target, "/etc") == 0)
		bad |= refuse_etc(po, sel, q->caller.target);
	if (selection_find(sel, "@parent") != -1 &&
	    selection_holds_home(q, parent))
		bad |= refuse_home(
		    po, sel, "@parent", "the parent of the target", parent);
	return bad;
}

int
resolve(const struct request *q, const struct selection *sel, struct policy *po)
{
	struct claims cs;
	int wrong_home, bad;

	if (add_profiles(po, sel) == -1)
		return -1;
	/* what a pack would be given at all */
	if (pack_judge_target(q, sel, po) == -1)
		return -1;
	wrong_home = judge_target(po, q, sel);
	bad = tools_resolve(q, sel, po);
	bad |= claims_gather(q, sel, po, &cs);
	/* without all claims nobody knows what is granted */
	bad |= environ_resolve(q, sel, bad == 0 ? &cs : NULL, po);
	bad |= rules_resolve(q, sel, po);
	if (bad == 0)
		bad = pack_judge_exec(sel, &cs, po);
	bad |= add_grants(po, &cs);
	claims_free(&cs);
	if (bad == 0)
		bad = tier_judge(po);
	/* a home that comes by the wrong way collides with what is right */
	bad |= wrong_home != 0 ? -1 : judge_grants(po);
	policy_sort(po);
	return bad;
}
