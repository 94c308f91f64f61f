#ifndef CARREL_TIER_H
#define CARREL_TIER_H

#include <stddef.h>

struct env_claim;
struct grant;
struct policy;
struct rule;

/*
 * Tiers (S74): how much a run may want to do. What the profiles grant must fit
 * the lowest that one of them names:
 *
 *	read-only	no way into the network, nothing written that outlives
 *			the run but what a tool declares as its output, and
 *			nothing that depends on who runs it and when
 *	side-effect	all but allow = *; where nobody names one
 *	unrestricted	all
 *
 * All of this is pure.
 */

/* The lowest tier that a profile names; NULL: none does, side-effect. */
const struct rule *tier_find(const struct policy *);

/* "read-only" of such a rule, or of NULL. */
const char *tier_name(const struct rule *);

/* Why a rule of [egress], a grant or a claim on a variable has no place in it;
   NULL: it has. */
const char *tier_bars_rule(const struct rule *tier, const struct rule *);
const char *tier_bars_grant(const struct rule *tier, const struct grant *);
const char *tier_bars_claim(const struct rule *tier, const struct env_claim *);

/* Part of policy_check(): 0, or -1 and a sentence in raw text. */
int tier_check(const struct policy *, char *why, size_t len);

#endif
