#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child/setup/confine.h"
#include "config.h"
#include "helper.h"
#include "ipc/log.h"
#include "patience.h"

#define HELPER_FD 3
#define ASIDE	  (HELPER_FD + 2) /* where they are kept meanwhile */

static char *nothing[] = {NULL};

static void
join(char *dst, size_t cap, const char *dir, const char *name)
{
	int n = snprintf(dst, cap, "%s/%s", dir, name);

	if (n < 0 || (size_t)n >= cap)
		fatal("the path of carrel's installation is too long");
}

void
install_find(struct install *in)
{
	char exe[PATH_MAX], *slash;
	const char *base = CARREL_PREFIX;
	ssize_t n;

	join(in->program, sizeof(in->program), CARREL_PREFIX, "bin/carrel");
	n = caps_privileged() ? -1 : readlink("/proc/self/exe", exe, PATH_MAX);
	if (n > 0 && n < PATH_MAX) {
		exe[n] = '\0';
		strcpy(in->program, exe);
		/* DIR/bin/carrel: cut the last two components */
		if ((slash = strrchr(exe, '/')) != NULL)
			*slash = '\0';
		if (slash != NULL && (slash = strrchr(exe, '/')) != NULL &&
		    strcmp(slash, "/bin") == 0) {
			*slash = '\0';
			base = exe;
		}
	}
	join(in->libexec, sizeof(in->libexec), base, "libexec/carrel");
	join(in->shipped, sizeof(in->shipped), base, "share/carrel/profiles");
}

static void __attribute__((noreturn)) become(const char *path, char **argv)
{
	execve(path, argv, nothing);
	log_warn("%s: %s; carrel is not installed completely", path,
	    strerror(errno));
	_exit(EXIT_CARREL);
}

/* fds become 3 and 4 (-1: there is no second). 0 or -1. */
static int
arrange(const int *fds)
{
	sigset_t none;
	int aside[2], i;

	sigemptyset(&none);
	/* out of the way first: none is one of the numbers that are made */
	for (i = 0; i < 2 && fds[i] != -1; i++)
		if ((aside[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, ASIDE)) == -1)
			return -1;
	while (i-- > 0)
		if (dup2(aside[i], HELPER_FD + i) == -1)
			return -1;
	return sigprocmask(SIG_SETMASK, &none, NULL);
}

/*
 * Whoever installed carrel for himself alone could have a second name for a
 * helper where a payload may write. A package manager that links files of its
 * store to each other does that as root.
 */
static void
judge(const char *path)
{
	struct stat st;
	int r = stat(path, &st);

	if (r == 0 && (st.st_mode & 0111) == 0) {
		errno = EACCES;
		r = -1;
	}
	if (r == -1)
		fatal("%s: %s; carrel is not installed completely", path,
		    strerror(errno));
	if (st.st_nlink != 1 && st.st_uid != 0)
		fatal("%s has a second name, a hard link, by which an earlier "
		      "run may have written it; install carrel again",
		    path);
}

/*
 * vfork(2) waits for the exec, which takes less time than fork(2)'s copying
 * of this process's memory and the faults on both sides that follow from it.
 */
static pid_t
start(const struct install *in, const char *name, char **argv, const int *fds,
    int group)
{
	char path[PATH_MAX];
	pid_t pid;

	join(path, sizeof(path), in->libexec, name);
	judge(path);
	if ((pid = vfork()) == -1)
		fatal("vfork: %s%s", strerror(errno),
		    errno == EAGAIN || errno == ENOMEM
			? "; too many processes, or too little memory: see "
			  "ulimit -u"
			: "; a filter around carrel (of a container?) has to "
			  "allow it");
	if (pid > 0)
		return pid;
	/* system calls on numbers, nothing of the parent's memory:
	   NOLINTNEXTLINE(clang-analyzer-unix.Vfork) */
	if ((group && setpgid(0, 0) == -1) || arrange(fds) == -1)
		_exit(EXIT_CARREL);
	become(path, argv);
}

pid_t
helper_start(
    const struct install *in, const char *name, char **argv, int fd, int next)
{
	const int fds[] = {fd, next};

	return start(in, name, argv, fds, 0);
}

pid_t
helper_serve(
    const struct install *in, const char *name, char **argv, int fd, int next)
{
	const int fds[] = {fd, next};

	return start(in, name, argv, fds, 1);
}

void
helper_become(const struct install *in, const char *name, char **argv, int fd)
{
	const int fds[] = {fd, -1};
	char path[PATH_MAX];

	join(path, sizeof(path), in->libexec, name);
	patience_keep();
	if (fd != -1 && arrange(fds) == -1)
		fatal("descriptors of %s: %s", name, strerror(errno));
	become(path, argv);
}
