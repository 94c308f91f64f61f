#ifndef CARREL_OUTSIDE_H
#define CARREL_OUTSIDE_H

#include <sys/types.h>

struct install;

/*
 * What serves the sandbox's network from outside: children of the monitor,
 * each in a process group of its own, so that nothing typed at a terminal
 * reaches it. They end when the run does.
 */
struct outside {
	pid_t broker, factory; /* -1: there is none (any more) */
	int events;	       /* the broker's, ipc/event.h */
};

/*
 * Starts carrel-broker with broker as its descriptor 3 (ipc/broker.h) and its
 * end of the events as 4. 0, or -1 with errno.
 */
int outside_broker(struct outside *, const struct install *, int broker);
/* Forks the socket factory, which is told on this socket (ipc/factory.h). */
int outside_factory(struct outside *, int factory);

#endif
