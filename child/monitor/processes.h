#ifndef CARREL_PROCESSES_H
#define CARREL_PROCESSES_H

#include <stddef.h>
#include <sys/types.h>

/* The processes that processes_stop() stopped, to be continued. */
struct processes {
	pid_t *pids;
	size_t n;
	int all; /* they could not be told apart: every one was stopped */
};

/*
 * In pid 1: stops everything else in the namespace, waits until it has
 * stopped, and remembers what was not stopped before (a shell inside may have
 * stopped jobs of its own). What is being made meanwhile is found in further
 * rounds; where there is no end to that, everything is stopped at once.
 */
void processes_stop(struct processes *);

/* Continues them, and forgets them. */
void processes_continue(struct processes *);

#endif
