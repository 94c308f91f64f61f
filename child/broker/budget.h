#ifndef BROKER_BUDGET_H
#define BROKER_BUDGET_H

#include <stdint.h>

/*
 * How many names a wildcard may bring up: in all, and within a second. Each
 * may carry bytes of the payload's to whoever serves the domain.
 */
#define BUDGET_PER_SECOND 10
#define BUDGET_PER_RUN	  256

struct budget {
	unsigned used;
	int64_t at[BUDGET_PER_SECOND]; /* when the last ones were taken, ms */
};

/* Takes one; -1 if there is none now. */
int budget_take(struct budget *, int64_t now);

#endif
