#ifndef CARREL_LIMIT_H
#define CARREL_LIMIT_H

#include <stdint.h>

#include "ipc/rule.h"

struct failure;
struct policy;
struct start;

#define LIMIT_PID_1 1 /* it is no process of the payload's */

/*
 * [limits] inside: the set-up tells the monitor of them and sets what the
 * kernel counts for a process (setrlimit(2)); pid 1 has the wall time. What
 * only a control group counts the monitor does.
 */
struct limits {
	uint8_t set[LIMIT_LAST + 1];
	uint64_t value[LIMIT_LAST + 1]; /* in the unit of the rule */
	unsigned grouped; /* bits of those that a control group holds */
	unsigned own;	  /* processes of carrel's in the user namespace */
	/* what the monitor had to pass on meanwhile, as in struct monitor */
	uint64_t signals, group;
};

/*
 * From a checked policy, and CONTROL_LIMIT for each to the monitor; returns
 * when this process is in the control group, if there must be one. While it
 * has its capabilities, and before the filter. 0, or -1 after failure_set();
 * ends the process when the monitor is gone.
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
