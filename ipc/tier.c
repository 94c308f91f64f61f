#include <stdio.h>

#include "egress.h"
#include "environ.h"
#include "policy.h"
#include "rule.h"
#include "text.h"
#include "tier.h"

static unsigned
number(const struct rule *tier)
{
	return tier == NULL ? TIER_SIDE_EFFECT : (unsigned)tier->number;
}

const char *
tier_name(const struct rule *tier)
{
	static const char *const names[] = {
	    "?", "read-only", "side-effect", "unrestricted"};
	unsigned n = number(tier);

	return names[n <= TIER_UNRESTRICTED ? n : 0];
}

const struct rule *
tier_find(const struct policy *po)
{
	const struct rule *found = NULL, *r;
	size_t i;

	for (i = 0; i < po->nrules; i++) {
		r = &po->rules[i];
		if (r->kind == RULE_TIER &&
		    (found == NULL || r->number < found->number))
			found = r;
	}
	return found;
}

const char *
tier_bars_rule(const struct rule *tier, const struct rule *r)
{
	if (r->kind != RULE_EGRESS)
		return NULL;
	if (r->what == EGRESS_ALL)
		return number(tier) == TIER_UNRESTRICTED
			   ? NULL
			   : "needs the tier unrestricted";
	return number(tier) > TIER_READ_ONLY
		   ? NULL
		   : "has no place in the tier read-only";
}

const char *
tier_bars_grant(const struct rule *tier, const struct grant *g)
{
	if (number(tier) > TIER_READ_ONLY)
		return NULL;
	if (g->kind == GRANT_SOCKET || g->kind == GRANT_DEVICE)
		return "has no place in the tier read-only: what comes from "
		       "there is another in each run";
	if ((g->flags & GRANT_WRITE) != 0 && (g->flags & GRANT_OUTPUT) == 0)
		return "has no place in the tier read-only: it outlives the "
		       "run, and no tool declares it as its output";
	return NULL;
}

const char *
tier_bars_claim(const struct rule *tier, const struct env_claim *c)
{
	if (number(tier) > TIER_READ_ONLY ||
	    (c->verb != ENV_INHERIT && c->verb != ENV_SANITISE))
		return NULL;
	return "has no place in the tier read-only: it depends on who runs it";
}

int
tier_check(const struct policy *po, char *why, size_t len)
{
	const struct rule *tier = tier_find(po);
	const char *what = NULL, *bad = NULL;
	size_t i;

	for (i = 0; i < po->nrules && bad == NULL; i++)
		if ((bad = tier_bars_rule(tier, &po->rules[i])) != NULL)
			what = po->rules[i].text;
	if (number(tier) == TIER_READ_ONLY) { /* the others bar no more */
		for (i = 0; i < po->ngrants && bad == NULL; i++)
			if ((bad = tier_bars_grant(tier, &po->grants[i])) !=
			    NULL)
				what = po->grants[i].guest;
		for (i = 0; i < po->nenv && bad == NULL; i++)
			if ((bad = tier_bars_claim(tier, &po->env[i])) != NULL)
				what = po->env[i].name;
	}
	if (bad == NULL)
		return 0;
	snprintf(why, len, "\"%s\" %s", SHOWN(what), bad);
	return -1;
}
