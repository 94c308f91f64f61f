#ifndef CARREL_MONITOR_H
#define CARREL_MONITOR_H

#include <stddef.h>
#include <sys/types.h>

#include "child/setup/setup.h"

struct caller;
struct install;
struct options;
struct outside;
struct start;
struct terminal;

#define MONITOR_SOURCES 4
#define MONITOR_RUN	32 /* hex digits of CARREL_RUN */

/* What the monitor watches: children of this process. */
struct monitored {
	const struct options *options;
	const struct caller *caller;
	const struct start *start;
	const struct install *install;
	struct terminal *terminal;
	char run[MONITOR_RUN + 1]; /* its name */
	struct outside *outside;   /* started when the set-up asks for it */
	pid_t parser;
	pid_t ceiling; /* who reads the host's; -1: it has none */
	struct setup_process setup;
	int control; /* to the set-up, later pid 1 */
	/* sockets on which events come (child/shared/event.h); -1: none (any
	 * more) */
	int sources[MONITOR_SOURCES];
	size_t nsources;
};

/* Blocks the signals that the monitor reads; before anything is started. */
void monitor_block(void);

/*
 * The rest of this process's life, without any privilege: passes signals in,
 * hands the terminal over and back, tells the person and --status-fd what
 * happened. Returns the exit code when nothing is left inside.
 */
int monitor_run(const struct monitored *);

#endif
