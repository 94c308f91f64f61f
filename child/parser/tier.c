#include <string.h>

#include "ipc/tool.h"
#include "ipc/egress.h"
#include "ipc/environ.h"
#include "ipc/limits.h"
#include "ipc/policy.h"
#include "ipc/rule.h"
#include "ipc/text.h"
#include "ipc/tier.h"
#include "place.h"
#include "tier.h"

/* "leave out ..., or raise the tier of NAME, FILE:LINE" */
static const char *
fix_of(const struct policy *po, const struct rule *tier, const char *first,
    char fix[FIX_MAX_LEN])
{
	fix[0] = '\0';
	if (tier == NULL)
		text_add(
		    fix, FIX_MAX_LEN, "write tier = unrestricted in [profile]");
	else
		text_add(fix, FIX_MAX_LEN, "%s, or raise the tier of %s, %s:%u",
		    first, po->profiles[tier->profile].name,
		    po->profiles[tier->profile].file, (unsigned)tier->line);
	return fix;
}

static int
refuse(struct policy *po, uint16_t profile, uint32_t line, const char *fix,
    const char *what, const char *why)
{
	struct place at = {
	    po, po->profiles[profile].name, po->profiles[profile].file};

	return place_refuse(&at, line, fix, "%s %s", what, why);
}

static int
judge_rule(struct policy *po, const struct rule *tier, const struct rule *r)
{
	const char *why = tier_bars_rule(tier, r);
	char text[EGRESS_TEXT], what[EGRESS_TEXT + 16] = "";
	char fix[FIX_MAX_LEN];
	struct egress e;

	if (why == NULL)
		return 0;
	egress_of(r, &e);
	text_add(what, sizeof(what), "allow = %s", egress_text(&e, text));
	return refuse(po, r->profile, r->line,
	    fix_of(po, tier, "leave out one of the two", fix), what, why);
}

static int
judge_grant(struct policy *po, const struct rule *tier, const struct grant *g)
{
	const char *why = tier_bars_grant(tier, g);
	const struct origin *o = &g->origins[0];
	char what[TEXT_SHOWN_MAX + 32] = "", fix[FIX_MAX_LEN];
	size_t i;

	if (why == NULL)
		return 0;
	for (i = 0; i < g->norigins; i++)
		if (g->origins[i].verb == VERB_WRITE ||
		    g->origins[i].verb == VERB_TRY_WRITE) {
			o = &g->origins[i];
			break;
		}
	text_add(what, sizeof(what), "%s = %s", policy_verb(o->verb),
	    SHOWN(g->guest));
	return refuse(po, o->profile, o->line,
	    fix_of(po, tier,
		g->kind == GRANT_BIND
		    ? "write effect = write and needs = write with that path "
		      "in a [tool] of the same profile, leave out one of the "
		      "two"
		    : "leave out one of the two",
		fix),
	    what, why);
}

static int
judge_claim(
    struct policy *po, const struct rule *tier, const struct env_claim *c)
{
	const char *why = tier_bars_claim(tier, c);
	char what[VARIABLE_NAME_MAX + 32] = "", fix[FIX_MAX_LEN];

	if (why == NULL)
		return 0;
	text_add(what, sizeof(what), "\"%s\" in [environ.%s]", c->name,
	    variable_verb(c->verb));
	return refuse(po, c->origins[0].profile, c->origins[0].line,
	    fix_of(po, tier, "leave out one of the two", fix), what, why);
}

/* What a profile says of its own tools: its tier, not that of the run. */
static int
judge_tool(struct policy *po, const struct tool *t)
{
	const struct rule *r = NULL;
	char what[NAME_MAX_LEN + 16] = "", fix[FIX_MAX_LEN];
	size_t i;

	for (i = 0; i < po->nrules && r == NULL; i++)
		if (po->rules[i].kind == RULE_TIER &&
		    po->rules[i].profile == t->profile)
			r = &po->rules[i];
	if (r == NULL || r->number > TIER_READ_ONLY ||
	    t->effect != EFFECT_NETWORK)
		return 0;
	text_add(what, sizeof(what), "[tool %s]", t->name);
	return refuse(po, t->profile, t->line,
	    fix_of(po, r, "take the tool out", fix), what,
	    "has effect = network, which has no place in the tier read-only");
}

int
tier_judge(struct policy *po)
{
	const struct rule *tier = tier_find(po);
	size_t i;
	int bad = 0;

	for (i = 0; i < po->nrules; i++)
		bad |= judge_rule(po, tier, &po->rules[i]);
	for (i = 0; i < po->ngrants; i++)
		bad |= judge_grant(po, tier, &po->grants[i]);
	for (i = 0; i < po->nenv; i++)
		bad |= judge_claim(po, tier, &po->env[i]);
	for (i = 0; i < po->ntools; i++)
		bad |= judge_tool(po, &po->tools[i]);
	return bad;
}
