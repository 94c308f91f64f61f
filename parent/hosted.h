#ifndef CARREL_HOSTED_H
#define CARREL_HOSTED_H

#include <stddef.h>
#include <sys/types.h>

#include "op.h"

struct start;

/*
 * Hosted mode: carrel is installed with privilege. The first act of main()
 * after start_normalise() splits it in two. One process is the user from then
 * on and for good: it does all that carrel does in user mode. The other one,
 * the server, keeps uid 0 and no effective capability, and makes for the
 * set-up the few calls that need one, each by descriptor (op.h). So no code
 * that reads what a user wrote ever has a privilege.
 *
 * Returns -1 where there is none (user mode, and a caller who is root), or
 * the socket to the server. Ends the program with a message if the privilege
 * that it was given cannot be made safe. *server: its pid.
 */
int hosted_split(int argc, char **argv, const struct start *, pid_t *server);

/* What OP_START of the launcher says: the set-up is to be born. */
struct birth {
	size_t len;
	char told[OP_TOLD_MAX]; /* of the set-up's own (setup_told.h) */
	int fds[OP_FDS];
	size_t nfds;
};

/* And what it is answered, with a pidfd of the set-up. */
struct born {
	int err;
	pid_t pid;
};

/* serve.c: the server's life. Who calls, and his arguments for the set-up. */
struct served {
	uid_t uid;
	gid_t gid;
	int argc;
	char **argv;
	const struct start *start;
};
void serve(int launcher, const struct served *) __attribute__((noreturn));

/*
 * birth.c: makes the new namespaces for this process, and in them the set-up,
 * which is pid 1 there and the user. *client: where it asks; *proc: a procfs
 * of its pid namespace, not attached. Its pid, or -1 with errno.
 */
pid_t birth(
    const struct served *, const struct birth *, int *client, int *proc);

#endif
