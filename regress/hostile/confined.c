/*
 * confined [-cpt] [-w DIR]... COMMAND [ARG...]
 *
 * Runs COMMAND as a payload is confined, without the rest of carrel: new
 * namespaces of an unprivileged user with the host's files, no capabilities,
 * Landlock if there is a -w (DIR may be written), and the filter.
 *
 *	-c	control: no filter
 *	-p	the filter of --allow-ptrace
 *	-t	print how long each step took
 */
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "child/setup/confine.h"
#include "child/setup/plan.h"
#include "parent/failure.h"

#define DIRS_MAX 32

struct options {
	int control, timing;
	uint32_t flags;
	struct step dir[DIRS_MAX];
	size_t ndir;
};

static void
put(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY | O_CLOEXEC);

	if (fd == -1 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		err(125, "%s", file);
	close(fd);
}

static void
enter_namespaces(void)
{
	uid_t uid = getuid();
	gid_t gid = getgid();
	char map[64];

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC |
		    CLONE_NEWNET | CLONE_NEWUTS) == -1)
		err(125, "unshare");
	put("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "%u %u 1", uid, uid);
	put("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "%u %u 1", gid, gid);
	put("/proc/self/gid_map", map);
}

static double
microseconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static void
confine(const struct options *o)
{
	struct plan plan = {0};
	struct failure f;
	double t[4];
	int r;

	plan.steps = (struct step *)o->dir;
	plan.nsteps = o->ndir;
	t[0] = microseconds();
	r = caps_drop(&f);
	t[1] = microseconds();
	if (r == 0 && o->ndir > 0)
		r = landlock_enter(&plan, &f);
	t[2] = microseconds();
	if (r == 0 && !o->control)
		r = filter_enter(o->flags, &f);
	t[3] = microseconds();
	if (r == -1)
		errx(125, "%s: %s", f.what, strerror(f.err));
	if (o->timing)
		fprintf(stderr, "caps %.0f landlock %.0f filter %.0f us\n",
		    t[1] - t[0], t[2] - t[1], t[3] - t[2]);
}

/* The first process of the namespace, and its only other one's parent. */
static int
reap(const struct options *o, char **argv)
{
	pid_t pid, w;
	int status;

	if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		NULL) == -1)
		err(125, "proc");
	if ((pid = fork()) == -1)
		err(125, "fork");
	if (pid == 0) {
		confine(o);
		execvp(argv[0], argv);
		err(127, "%s", argv[0]);
	}
	while ((w = waitpid(-1, &status, 0)) != pid)
		if (w == -1 && errno != EINTR)
			err(125, "waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int
main(int argc, char *argv[])
{
	struct options o = {0};
	int c, status;
	pid_t pid;

	while ((c = getopt(argc, argv, "+cptw:")) != -1)
		if (c == 'w' && o.ndir < DIRS_MAX - 1)
			o.dir[o.ndir++] = (struct step){
			    .kind = STEP_BIND, .grant = -1, .guest = optarg};
		else if (c == 'c')
			o.control = 1;
		else if (c == 'p')
			o.flags = FILTER_PTRACE;
		else if (c == 't')
			o.timing = 1;
		else
			errx(125, "usage: confined [-cpt] [-w DIR]... COMMAND");
	if (optind == argc || getuid() == 0)
		errx(125, "needs a command and an unprivileged user");
	if (o.ndir > 0)
		o.dir[o.ndir++] = (struct step){
		    .kind = STEP_PROC, .grant = -1, .guest = (char *)"/proc"};
	enter_namespaces();
	if ((pid = fork()) == -1)
		err(125, "fork");
	if (pid == 0)
		_exit(reap(&o, argv + optind));
	if (waitpid(pid, &status, 0) != pid)
		err(125, "waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}
