#ifndef CARREL_BOUND_H
#define CARREL_BOUND_H

#include <stdint.h>

#include "ipc/rule.h"

struct control;

#define BOUND_EXIT 124 /* the wall time was over */

/*
 * [limits] as the monitor knows them: what the set-up told of each, to name
 * it to the person when the run ends by it; and a clock of its own for the
 * wall time, behind pid 1's, which the payload could keep busy.
 */
struct bounds {
	char *told[LIMIT_LAST + 1]; /* who set it and what; NULL: nobody */
	int seconds[LIMIT_LAST + 1];
	int64_t wall_by; /* deadline as in channel.h; -1: there is none */
};

void bound_init(struct bounds *);

/* A CONTROL_LIMIT. 0, or -1: it is none. */
int bound_hear(struct bounds *, const struct control *);

/* Tells the person that the run ends because the wall time is over. */
void bound_over(const struct bounds *);

/*
 * The payload ended by this signal after so many seconds of processor time:
 * if that is how a limit ends it, tells the person which one.
 */
void bound_ended(const struct bounds *, int signal, int seconds);

#endif
