#ifndef CARREL_OUTCOME_H
#define CARREL_OUTCOME_H

struct control;
struct monitored;

/* Why there is no payload, for a person: what the inside said of it. */

/* CONTROL_FAILED: a step of the set-up. */
void outcome_failed(const struct control *);

/* CONTROL_NO_EXEC. Returns the exit code that it means. */
int outcome_no_exec(const struct monitored *, const struct control *);

#endif
