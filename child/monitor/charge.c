#include "events.h"
#include "ipc/policy.h"

/* The surface on which a rule speaks, or 0. */
static unsigned
surface_of(const struct rule *r)
{
	switch (r->kind) {
	case RULE_EGRESS:
		return EVENT_EGRESS;
	case RULE_INTERPRETER:
	case RULE_LIBRARY:
	case RULE_NO_SPAWN:
	case RULE_ONCE:
		return EVENT_EXEC;
	case RULE_LIMIT:
		return EVENT_LIMIT;
	default:
		return 0;
	}
}

unsigned
events_charged(const struct policy *po, size_t profile)
{
	const struct profile *p = &po->profiles[profile];
	unsigned mine = 0, others = 0, rest = 0, bit;
	size_t i;

	for (i = EVENT_EGRESS; i <= EVENT_LAST; i++)
		rest |= 1U << i;
	for (i = 0; i < po->nrules; i++) {
		if ((bit = surface_of(&po->rules[i])) == 0)
			continue;
		if (po->rules[i].profile == profile)
			mine |= 1U << bit;
		else
			others |= 1U << bit;
	}
	rest &= ~(mine | others);
	/* nobody changes a shipped one; but who names it means it */
	if (p->layer == LAYER_SHIPPED && (p->flags & PROFILE_ASKED) == 0)
		rest = 0;
	return mine | rest;
}
