#ifndef CARREL_PARSER_TIER_H
#define CARREL_PARSER_TIER_H

struct policy;

/*
 * What the profiles grant, and what the tools of each do, fits the tier (S74,
 * S2b). The grants, rules and tools are there. 0, or -1 after refusals.
 */
int tier_judge(struct policy *);

#endif
