#ifndef CARREL_PARSER_JUDGE_H
#define CARREL_PARSER_JUDGE_H

#include <stddef.h>

#include "ipc/policy.h"

/*
 * Whether the grants of a policy can stand beside each other (S32, S33). The
 * grants are sorted; those that want different things at one guest path are
 * still beside each other. Each fault is one refusal that names every
 * claimant, sorted. 0, or -1 after refusals.
 */
int judge_grants(struct policy *);

#endif
