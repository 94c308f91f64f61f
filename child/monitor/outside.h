#ifndef CARREL_OUTSIDE_H
#define CARREL_OUTSIDE_H

#include <stddef.h>
#include <sys/types.h>

struct install;

/*
 * What serves the sandbox's network from outside: children of the monitor,
 * each in a process group of its own, so that nothing typed at a terminal
 * reaches it. They end when the run does.
 */
struct outside {
	int factory; /* the end to be the factory's; -1: none is wanted */
	pid_t broker_pid, factory_pid; /* 0: not started */
	int events; /* of the broker, child/shared/event.h; -1 */
	int failed; /* one of them ended before the run */
};

void outside_init(struct outside *);

/*
 * Starts carrel-broker: its descriptor 3 is the other end of what the set-up
 * has (child/shared/broker.h) and closed here, 4 brings events, and its closing
 * tells it that the run is over. landlock: 0 where it shall go without. If one
 * is wanted also the factory, ipc/factory.h. 0, or -1 with errno; then some may
 * be running. Ends this program if the broker is not installed or there can
 * be no process more, as helper_serve() does.
 */
int outside_start(
    struct outside *, const struct install *, int landlock, int broker);

/*
 * A child has ended: NULL if it is none of these or that is in order, else
 * what to tell a person, in buf. Then the run has failed.
 */
const char *outside_ended(
    struct outside *, pid_t, int status, char *buf, size_t len);

/* Nothing is left inside: the broker tells its last events, and ends. */
void outside_finish(struct outside *);
/*
 * Waits for it, not for long, and ends what does not end. What is wrong with
 * its end is in buf as above.
 */
void outside_end(struct outside *, char *buf, size_t len);

#endif
