#ifndef CARREL_SETUP_H
#define CARREL_SETUP_H

#include <stdint.h>
#include <sys/types.h>

#include "child/monitor/terminal.h"

struct caller;
struct options;
struct start;

/* What the set-up process is given. */
struct setup {
	const struct options *options;
	const struct start *start;
	uid_t uid; /* the caller's */
	gid_t gid;
	const struct caller *caller; /* inside, after setup_tell() */
	enum terminal_mode terminal;
	int tty;	  /* the controlling terminal, or -1 */
	int parser;	  /* receives the policy */
	int64_t deadline; /* for it: struct asked */
	int control;	  /* to the monitor */
	const char *run;  /* its name, hex */
	int audited;	  /* somebody wants the policy's digest */
	int outside[2];	  /* the others' ends of both: closed at once */
};

/*
 * Makes the set-up process in its new namespaces (user, mount, pid, network,
 * ipc, uts, cgroup; namespaces(7)), where it is pid 1. It builds what the
 * policy says and becomes init. Returns its pid, -1 with errno.
 */
pid_t setup_start(const struct setup *);

/*
 * Tells it who calls, by the monitor's end of the control socket, before
 * anything else is said there. 0, or -1 with errno; EPIPE: it has ended, and
 * has said why.
 */
int setup_tell(int control, const struct caller *, int64_t deadline);

#endif
