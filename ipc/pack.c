#include <stdio.h>
#include <string.h>

#include "pack.h"
#include "path.h"
#include "policy.h"
#include "rule.h"
#include "text.h"

int
pack_find(const struct policy *po)
{
	size_t i;

	for (i = 0; i < po->nprofiles; i++)
		if (po->profiles[i].layer == LAYER_PACK)
			return (int)i;
	return -1;
}

/* The pack's claim that asks for most, or NULL. */
static const struct origin *
claim_of(const struct grant *g, int pack)
{
	const struct origin *found = NULL;
	size_t i;

	for (i = 0; i < g->norigins; i++)
		if (g->origins[i].profile == pack &&
		    (found == NULL || g->origins[i].verb == VERB_WRITE ||
			g->origins[i].verb == VERB_TRY_WRITE))
			found = &g->origins[i];
	return found;
}

int
pack_claims(const struct policy *po, const struct grant *g)
{
	int pack = pack_find(po);

	return pack != -1 && claim_of(g, pack) != NULL;
}

/* A grant that the pack claims: of itself, or of what is at PACK_DIR. */
static const char *
grant_bad(
    const struct grant *top, const struct grant *g, const struct origin *o)
{
	const char *inside, *below;

	if (g->kind == GRANT_TMPFS || g->kind == GRANT_SYMLINK)
		return NULL;
	if (g->kind != GRANT_BIND)
		return "is nothing that a pack can have";
	inside = path_below(PACK_DIR, g->guest);
	below = path_below(top->source, g->source);
	if (inside == NULL || below == NULL || strcmp(inside, below) != 0)
		return "is another place than the pack's directory";
	if (g == top && (o->verb == VERB_WRITE || o->verb == VERB_TRY_WRITE))
		return "is the whole of the pack's directory";
	return NULL;
}

static int
has_rule(const struct policy *po, int pack, unsigned kind, unsigned what)
{
	size_t i;

	for (i = 0; i < po->nrules; i++)
		if (po->rules[i].kind == kind && po->rules[i].what == what &&
		    po->rules[i].profile == pack)
			return 1;
	return 0;
}

static const char *
profile_bad(const struct policy *po, int pack)
{
	const struct profile *p = &po->profiles[pack];
	size_t i;

	for (i = (size_t)pack + 1; i < po->nprofiles; i++)
		if (po->profiles[i].layer == LAYER_PACK)
			return "is one of two packs";
	for (i = 0; i < p->nincludes; i++)
		if (po->profiles[p->includes[i]].layer != LAYER_SHIPPED)
			return "includes what is not shipped";
	if (!has_rule(po, pack, RULE_NO_UNIX, 0) ||
	    !has_rule(po, pack, RULE_REPORT, REPORT_FS) ||
	    !has_rule(po, pack, RULE_VIOLATION, 0))
		return "is a pack without unix = no, report = fs and "
		       "on-violation";
	return NULL;
}

int
pack_check(const struct policy *po, char *why, size_t len)
{
	const struct grant *top = policy_find(po, PACK_DIR), *g;
	int pack = pack_find(po);
	const struct origin *o;
	const char *bad;
	size_t i;

	if (pack == -1)
		return 0;
	if ((bad = profile_bad(po, pack)) == NULL &&
	    (top == NULL || claim_of(top, pack) == NULL))
		bad = "is a pack without a directory";
	if (bad != NULL) {
		snprintf(why, len, "profile \"%s\" %s", po->profiles[pack].name,
		    bad);
		return -1;
	}
	for (i = 0; i < po->ngrants; i++) {
		g = &po->grants[i];
		if ((o = claim_of(g, pack)) == NULL ||
		    (bad = grant_bad(top, g, o)) == NULL)
			continue;
		snprintf(why, len, "\"%s\" %s", SHOWN(g->guest), bad);
		return -1;
	}
	return 0;
}
