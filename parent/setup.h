#ifndef CARREL_SETUP_H
#define CARREL_SETUP_H

#include <stdint.h>
#include <sys/types.h>

#include "terminal.h"

struct caller;
struct options;
struct start;

/* What the set-up process is given. */
struct setup {
	const struct options *options;
	const struct caller *caller;
	const struct start *start;
	enum terminal_mode terminal;
	int tty;	  /* the controlling terminal, or -1 */
	int parser;	  /* receives the policy */
	int64_t deadline; /* for it: struct asked */
	int control;	  /* to the monitor */
	const char *run;  /* its name, hex */
	int audited;	  /* somebody wants the policy's digest */
	int outside;	  /* the monitor's end of it: closed at once */
	int network[2];	  /* to the broker and the socket factory, outside.h */
	int serving[2];	  /* their ends of it: closed at once */
};

/*
 * Makes the set-up process in its new namespaces (user, mount, pid, network,
 * ipc, uts, cgroup; namespaces(7)), where it is pid 1. It builds what the
 * policy says and becomes init. Returns its pid, -1 with errno.
 */
pid_t setup_start(const struct setup *);

#endif
