#ifndef CARREL_PROCESSES_H
#define CARREL_PROCESSES_H

#include <stddef.h>
#include <sys/types.h>

/* The processes that processes_stop() stopped, to be continued. */
struct processes {
	pid_t *pids;
	size_t n;
};

/*
 * In pid 1: stops everything else in the namespace and remembers what was
 * not stopped before (a shell inside may have stopped jobs of its own).
 * Processes that are being made meanwhile are found in further rounds.
 */
void processes_stop(struct processes *);

/* Continues them, and forgets them. */
void processes_continue(struct processes *);

#endif
