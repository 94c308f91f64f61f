#ifndef CARREL_HOSTED_H
#define CARREL_HOSTED_H

#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "op.h"

struct start;

/*
 * Hosted mode: carrel is installed with privilege. The first act of main()
 * after start_normalise() splits it in two. One process is the user from then
 * on and for good: it does all that carrel does in user mode. The other one,
 * the recorder, keeps uid 0; its child, the server, makes for the set-up the
 * few calls that need a capability, each by descriptor (op.h), and ends. So no
 * code that reads what a user wrote ever has a privilege.
 *
 * Returns -1 where there is none (user mode, and a caller who is root), or
 * the socket to it. Ends the program with a message if the privilege
 * that it was given cannot be made safe. *pid: the recorder's.
 */
int hosted_split(int argc, char **argv, const struct start *, pid_t *pid);

/* What OP_START of the launcher says: the set-up is to be born. */
struct birth {
	size_t len;
	char told[OP_TOLD_MAX]; /* of the set-up's own (setup_told.h) */
	int fds[PASS_FDS];
	size_t nfds;
};

/* And what it is answered, with a pidfd of the set-up. */
struct born {
	int err;
	pid_t pid;
};

/* And, when nothing is left inside, how that ended. */
struct over {
	int status; /* of wait(2) */
	struct rusage used;
};

/* Who calls, and his arguments for the set-up. */
struct served {
	uid_t uid;
	gid_t gid;
	int argc;
	char **argv;
	const struct start *start;
};

/*
 * recorder.c: hears the launcher's first word, has the server do its work, and
 * then keeps no capability at all, nor a limit of the caller's; only then is
 * the launcher answered. It writes to the host's log what the monitor
 * tells (record.h) and, in any case, how the run ended, which it tells the
 * monitor; the set-up's process comes to it when the server ends. It goes when
 * the monitor does.
 */
void recorder(int launcher, const struct served *) __attribute__((noreturn));

/* serve.c: the server's life. Tells the recorder what became of the birth. */
void serve(const struct served *, struct birth *, int recorder)
    __attribute__((noreturn));

/*
 * birth.c: makes the new namespaces for this process, and in them the set-up,
 * which is pid 1 there and the user. *client: where it asks; *proc: a procfs
 * of its pid namespace, not attached. own: is closed in it. Its pid, or -1 with
 * errno.
 */
pid_t birth(const struct served *, const struct birth *, int own, int *client,
    int *proc);

#endif
