#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "confine.h"
#include "helper.h"
#include "ipc/log.h"

#define HELPER_FD 3
#define ASIDE	  16 /* where fd is kept while 3 is made from it */

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

	n = caps_privileged() ? -1 : readlink("/proc/self/exe", exe, PATH_MAX);
	if (n > 0 && n < PATH_MAX) {
		exe[n] = '\0';
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

pid_t
helper_start(const struct install *in, const char *name, char **argv, int fd)
{
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t at;
	char path[PATH_MAX];
	sigset_t none, all;
	pid_t pid;
	int aside, err;

	join(path, sizeof(path), in->libexec, name);
	/* never equal to 3, or dup2 would leave it close-on-exec */
	if ((aside = fcntl(fd, F_DUPFD_CLOEXEC, ASIDE)) == -1)
		fatal("dup: %s", strerror(errno));
	sigemptyset(&none);
	sigfillset(&all);
	if (posix_spawn_file_actions_init(&fa) != 0 ||
	    posix_spawn_file_actions_adddup2(&fa, aside, HELPER_FD) != 0 ||
	    posix_spawnattr_init(&at) != 0 ||
	    posix_spawnattr_setsigmask(&at, &none) != 0 ||
	    posix_spawnattr_setsigdefault(&at, &all) != 0 ||
	    posix_spawnattr_setflags(
		&at, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) != 0)
		fatal("out of memory");
	err = posix_spawn(&pid, path, &fa, &at, argv, nothing);
	if (err != 0)
		fatal("%s: %s; carrel is not installed completely", path,
		    strerror(err));
	posix_spawnattr_destroy(&at);
	posix_spawn_file_actions_destroy(&fa);
	close(aside);
	return pid;
}

void
helper_become(const struct install *in, const char *name, char **argv)
{
	char path[PATH_MAX];

	join(path, sizeof(path), in->libexec, name);
	execve(path, argv, nothing);
	fatal("%s: %s; carrel is not installed completely", path,
	    strerror(errno));
}
