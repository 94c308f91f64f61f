#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "confine.h"
#include "helper.h"
#include "ipc/log.h"

#define HELPER_FD 3
#define ASIDE	  (HELPER_FD + 1) /* where fd is kept while 3 is made of it */

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

/*
 * vfork(2) waits for the exec, which takes less time than fork(2)'s copying
 * of this process's memory and the faults on both sides that follow from it.
 */
pid_t
helper_start(const struct install *in, const char *name, char **argv, int fd)
{
	char path[PATH_MAX];
	sigset_t none;
	pid_t pid;
	int aside;

	join(path, sizeof(path), in->libexec, name);
	if (access(path, X_OK) == -1)
		fatal("%s: %s; carrel is not installed completely", path,
		    strerror(errno));
	if ((pid = vfork()) == -1)
		fatal("vfork: %s", strerror(errno));
	if (pid > 0)
		return pid;
	sigemptyset(&none);
	/* never equal to 3, or dup2 would leave it close-on-exec */
	if ((aside = fcntl(fd, F_DUPFD_CLOEXEC, ASIDE)) == -1 ||
	    dup2(aside, HELPER_FD) == -1 ||
	    sigprocmask(SIG_SETMASK, &none, NULL) == -1)
		_exit(EXIT_CARREL);
	become(path, argv);
}

void
helper_become(const struct install *in, const char *name, char **argv)
{
	char path[PATH_MAX];

	join(path, sizeof(path), in->libexec, name);
	become(path, argv);
}
