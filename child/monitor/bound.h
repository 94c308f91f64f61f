#ifndef CARREL_BOUND_H
#define CARREL_BOUND_H

#include <stdint.h>
#include <sys/types.h>

#include "cgroup.h"
#include "ipc/rule.h"

struct control;

#define BOUND_EXIT   124  /* the wall time was over */
#define BOUND_BEHIND 2000 /* ms that pid 1 is given to be first */

/*
 * [limits] as the monitor knows them: what the set-up told of each, to name
 * it to the person when the run ends by it; and a clock of its own for the
 * wall time, behind pid 1's, which the payload could keep busy.
 */
struct bounds {
	char *told[LIMIT_LAST + 1]; /* who set it and what; NULL: nobody */
	uint64_t value[LIMIT_LAST + 1];
	int64_t wall_by; /* deadline as in channel.h; -1: there is none */
	struct cgroup group;
	unsigned killed; /* processes that took more memory, in the end */
};

void bound_init(struct bounds *);
void bound_free(struct bounds *); /* the contents; after bound_leave() */

/* A CONTROL_LIMIT. 0, or -1: it is none. */
int bound_hear(struct bounds *, const struct control *);

/*
 * A CONTROL_GROUP: the process goes into a group that holds these limits. 0,
 * or -1 after the person was told why that cannot be.
 */
int bound_group(struct bounds *, int limits, pid_t);

/* Nothing is left inside: what the group counted is taken, and it goes. */
void bound_leave(struct bounds *);

/* Tells the person that the run ends because the wall time is over. */
void bound_over(const struct bounds *);

/*
 * The payload ended by this signal after so many seconds of processor time:
 * if that is how a limit ends it, or memory was short, tells the person which
 * one. After bound_leave().
 */
void bound_ended(const struct bounds *, int signal, int seconds);

#endif
