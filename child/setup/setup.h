#ifndef CARREL_SETUP_H
#define CARREL_SETUP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "child/monitor/terminal.h"

struct caller;
struct options;
struct start;

/* Files that the payload may not write, though the profiles may say so. */
enum setup_file {
	SETUP_STATUS,
	SETUP_EVENTS,
	SETUP_EVENTS_NAMED,
	SETUP_FILES
};

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
	int ceiling;	  /* receives the host's ceiling; -1: it has none */
	int64_t deadline; /* for both: struct asked */
	int control;	  /* to the monitor */
	const char *run;  /* its name, hex */
	int audited;	  /* somebody wants the policy's digest */
	const char *files[SETUP_FILES]; /* without symlinks; NULL: none */
	int outside[3]; /* the others' ends of these: closed at once; -1 */
};

/* The process that was made. */
struct setup_process {
	pid_t child;  /* to be waited for: itself, or who made it */
	pid_t inside; /* pid 1 of the sandbox */
	int pidfd;    /* of it, in hosted mode; else -1 */
	int server;   /* hosted mode: who will tell how it ended; else -1 */
};

/*
 * Makes the set-up process in its new namespaces (user, mount, pid, network,
 * ipc, uts, cgroup; namespaces(7)), where it is pid 1. It builds what the
 * policy says and becomes init. 0, or -1 with errno.
 */
int setup_start(const struct setup *, struct setup_process *);

/*
 * The same in hosted mode: asks the server (parent/hosted.h) for it. nargs: how
 * many of the last arguments are the payload's.
 */
int setup_ask(
    const struct setup *, int server, int nargs, struct setup_process *);

/*
 * The other end of that, in the new process, which is the user and in its
 * namespaces: told and the descriptors are setup_ask()'s, client leads to the
 * server. argv: of this program.
 */
void setup_born(const void *told, size_t len, const int *fds, size_t nfds,
    int client, int argc, char **argv, const struct start *)
    __attribute__((noreturn));

/*
 * Tells it who calls, by the monitor's end of the control socket, before
 * anything else is said there. 0, or -1 with errno; EPIPE: it has ended, and
 * has said why.
 */
int setup_tell(int control, const struct caller *, int64_t deadline);

#endif
