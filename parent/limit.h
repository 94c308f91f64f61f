#ifndef CARREL_LIMIT_H
#define CARREL_LIMIT_H

#include <stdint.h>

#include "ipc/rule.h"

struct failure;
struct policy;
struct start;

/*
 * [limits] inside: the set-up tells the monitor of them and sets what the
 * kernel counts for a process (setrlimit(2)); pid 1 has the wall time.
 */
struct limits {
	uint8_t set[LIMIT_LAST + 1];
	uint64_t value[LIMIT_LAST + 1]; /* in the unit of the rule */
};

/*
 * From a checked policy, and CONTROL_LIMIT for each to the monitor. 0, or -1
 * after failure_set().
 */
int limit_take(
    const struct policy *, int control, struct limits *, struct failure *);

/*
 * The core size, hard and soft: 1 unless a profile says more and the caller
 * may. Before the filter, which pretends to set it. 0 or -1 as above.
 */
int limit_core(const struct limits *, const struct start *, struct failure *);

/*
 * The others, for good, in the payload's process: what the caller had, or
 * less. 0, or -1 with errno.
 */
int limit_payload(const struct limits *, const struct start *);

#endif
