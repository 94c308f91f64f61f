#ifndef CARREL_IPC_CONFINE_H
#define CARREL_IPC_CONFINE_H

#include <stddef.h>

#include "policy.h"
#include "rule.h"

/*
 * What the rules of a policy come to together: the strictest of all (S2b).
 * Computed where it is needed, by the set-up and by the screen, from the
 * policy alone. Each rule stands for its effect and for who asked for it: the
 * first in canonical order where several ask for the same. All of them are
 * the policy's; NULL where nobody asks.
 */
struct confine {
	const struct rule *limit[LIMIT_LAST + 1];   /* the least of each */
	const struct rule *report[REPORT_LAST + 1]; /* the union */
	const struct rule *tier;		    /* NULL: side-effect */
	const struct rule *no_spawn, *once;
	const struct rule *no_unix;   /* of unix = no, or of tier = read-only */
	const struct rule *violation; /* NULL: it is only reported */

	/*
	 * What every profile names that names any; each path once, in order.
	 * NULL: no profile names one, so nothing is narrowed.
	 */
	const struct rule **interpreters;
	size_t ninterpreters;
	const struct rule **libraries; /* besides the system's own */
	size_t nlibraries;
};

/*
 * 0 and a struct to be freed, -1 when memory is out. The rules of a policy
 * that was not checked may be in any order; those of rules_check_shown() they
 * must have passed. Pure.
 */
int confine_join(const struct policy *, struct confine *);
void confine_free(struct confine *);

/* The least that is asked for of a limit; NULL where nobody sets it. Pure. */
const struct rule *confine_limit(const struct policy *, enum limit);

/* S39: what all tmpfs of a run may have together. Pure. */
uint64_t confine_tmpfs(const struct policy *);

/*
 * "wall-time = 2s of NAME, FILE:LINE", added: who sets a limit and what. And
 * "more than 64M (tmpfs of NAME, ...)" of what all tmpfs may have.
 */
void confine_tell(
    const struct policy *, const struct rule *, char *buf, size_t cap);
void confine_tell_tmpfs(const struct policy *, char *buf, size_t cap);

/*
 * Part of policy_check(): where profiles name interpreters or libraries and
 * have none in common, nothing would be left. The parser calls it, too: kind
 * is the first such list, 0 if all is well. And what is granted fits the tier
 * (tier.h). Pure.
 */
unsigned confine_empty(const struct policy *);
int confine_check(const struct policy *, char *why, size_t len);

#endif
