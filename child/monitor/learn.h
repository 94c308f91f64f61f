#ifndef CARREL_LEARN_H
#define CARREL_LEARN_H

struct event;
struct monitored;
struct options;

/*
 * carrel learn: a run as any other, of which all is kept that it was refused
 * and that it did not find. In the end carrel-screen makes the lines of a
 * profile of that (child/screen/learn.h), which nobody installs.
 */

/* Before anything is started: -o FILE shall not be there yet. */
void learn_open(const struct options *);
/* In the set-up: closes what is the monitor's. */
void learn_forget(void);

/*
 * Keeps what there is to learn from. reports: what the policy asks to hear of,
 * bit N: enum report. 1 if nobody else has to know of the event.
 */
int learn_take(const struct event *, unsigned reports);

/* Of learn: the command is not inside, and on the host it is there. */
void learn_find(const struct options *, const char *path);

/*
 * When nothing is left inside: the proposal, on standard error or as the new
 * FILE. Returns the exit code of the run, or EXIT_CARREL if there is none.
 */
int learn_end(const struct monitored *, int code);

#endif
