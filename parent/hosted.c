#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "caps.h"
#include "failure.h"
#include "hosted.h"
#include "ipc/log.h"
#include "start.h"

/* The message of a failure, and the end. */
static void __attribute__((noreturn)) give_up(const struct failure *f)
{
	fatal("%s%s%s", f->what, f->err != 0 ? ": " : "",
	    f->err != 0 ? strerror(f->err) : "");
}

/*
 * Uid 0 in every place, so that the user can neither signal nor limit this
 * process (kill(2), prlimit(2)); no signal of his terminal either. It is never
 * dumpable, so he cannot read or trace it (ptrace(2)).
 */
static int
out_of_reach(struct failure *f)
{
	sigset_t all;

	sigfillset(&all);
	if (sigprocmask(SIG_SETMASK, &all, NULL) == -1)
		return failure_set(f, CAUSE_OTHER, "sigprocmask");
	if (caps_raise(CAPS_BIT(CAP_SETUID)) == -1 ||
	    setresuid(0, 0, 0) == -1 || caps_raise(0) == -1)
		return failure_set(f, CAUSE_OTHER, "become uid 0");
	if (prctl(PR_SET_DUMPABLE, 0UL, 0UL, 0UL, 0UL) == -1)
		return failure_set(f, CAUSE_OTHER, "clear dumpable");
	return 0;
}

/* Nothing of the caller's but 0-2, which the set-up takes over. */
static int
only(int fd)
{
	if (fd > 3 && syscall(SYS_close_range, 3U, (unsigned)fd - 1, 0U) == -1)
		return -1;
	return (int)syscall(SYS_close_range, (unsigned)fd + 1, UINT_MAX, 0U);
}

int
hosted_split(int argc, char **argv, const struct start *st, pid_t *pid)
{
	const struct served s = {.uid = getuid(),
	    .gid = getgid(),
	    .argc = argc,
	    .argv = argv,
	    .start = st};
	struct failure f = {.step = CAUSE_OTHER};
	int pair[2];

	*pid = 0;
	if (!caps_privileged())
		return -1;
	if (prctl(PR_GET_DUMPABLE, 0UL, 0UL, 0UL, 0UL) == 1)
		fatal("this host lets programs with privilege dump core "
		      "(fs.suid_dumpable is 1), which would make carrel's "
		      "memory the user's; set it to 0 or 2");
	if (caps_serve(&f) == -1)
		give_up(&f);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == -1)
		fatal("socketpair: %s", strerror(errno));
	*pid = fork();
	if (*pid == -1)
		fatal("fork: %s", strerror(errno));
	if (*pid == 0) {
		if (out_of_reach(&f) == -1 || only(pair[1]) == -1)
			_exit(EXIT_CARREL);
		recorder(pair[1], &s);
	}
	close(pair[1]);
	if (caps_become(s.uid, s.gid, &f) == -1)
		give_up(&f);
	return pair[0];
}
