#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cgroup.h"
#include "child/setup/limit.h"
#include "child/shared/cgroup.h"
#include "ipc/rule.h"
#include "ipc/text.h"

#define PREFIX	   "carrel-"
#define RUN	   PREFIX "%d-run"
#define OUT	   PREFIX "%d-out"
#define CPU_PERIOD 100000 /* microseconds, the kernel's default */
#define REMOVE_MAX 100	  /* tries: a process may be counted a little longer */
#define REMOVE_NS  2000000L
#define NUMBER_LEN 64
#define EVENTS_LEN 1024
#define ENABLE_LEN 64

void
cgroup_init(struct cgroup *g)
{
	memset(g, 0, sizeof(*g));
	g->dir = g->run = g->out = -1;
}

static int
open_group(int dir, const char *name)
{
	return openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int
put(int dir, const char *name, const char *text)
{
	ssize_t n;
	int err, fd = openat(dir, name, O_WRONLY | O_CLOEXEC);

	if (fd == -1)
		return -1;
	n = write(fd, text, strlen(text));
	err = errno;
	close(fd);
	errno = err;
	return n == (ssize_t)strlen(text) ? 0 : -1;
}

/* The pid in the name of a group of carrel's; 0: it is none. */
static pid_t
owner_of(const char *name)
{
	int pid = 0, end = 0;

	if (sscanf(name, PREFIX "%d-run%n", &pid, &end) == 1 && end > 0 &&
	    name[end] == '\0')
		return pid;
	end = 0;
	if (sscanf(name, PREFIX "%d-out%n", &pid, &end) == 1 && end > 0 &&
	    name[end] == '\0')
		return pid;
	return 0;
}

/* S64: what a killed monitor left; the kernel keeps what is not empty. */
static void
sweep(int dir)
{
	int fd = open_group(dir, ".");
	struct dirent *e;
	DIR *d = NULL;
	pid_t pid;

	if (fd == -1 || (d = fdopendir(fd)) == NULL) {
		if (fd != -1)
			close(fd);
		return;
	}
	while ((e = readdir(d)) != NULL) {
		pid = owner_of(e->d_name);
		if (pid > 0 &&
		    (pid == getpid() || (kill(pid, 0) == -1 && errno == ESRCH)))
			(void)unlinkat(dir, e->d_name, AT_REMOVEDIR);
	}
	closedir(d);
}

/* "+memory +cpu": those that the groups below do not have yet. */
static void
list_missing(const struct cgroup *g, unsigned limits, char sign, char *text)
{
	char have[EVENTS_LEN] = "";
	unsigned what;

	text[0] = '\0';
	if (sign == '+')
		(void)cgroup_read(
		    g->dir, "cgroup.subtree_control", have, sizeof(have));
	for (what = LIMIT_MEMORY; what <= LIMIT_LAST; what++)
		if ((limits & CGROUP_BIT(what)) &&
		    !cgroup_has(have, cgroup_controller(what)))
			text_add(text, ENABLE_LEN, "%s%c%s",
			    text[0] == '\0' ? "" : " ", sign,
			    cgroup_controller(what));
}

/* What is carrel's from one group into the other. */
static int
move(int from, int to)
{
	char text[NUMBER_LEN];
	FILE *f = NULL;
	int pid, bad = 0, fd;

	fd = openat(from, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	if (fd == -1 || (f = fdopen(fd, "r")) == NULL) {
		if (fd != -1)
			close(fd);
		return -1;
	}
	while (!bad && fscanf(f, "%d", &pid) == 1) {
		if (!cgroup_carrels(pid, getpid()))
			continue;
		snprintf(text, sizeof(text), "%d", pid);
		bad = put(to, "cgroup.procs", text) == -1 && errno != ESRCH;
	}
	fclose(f);
	return bad ? -1 : 0;
}

/*
 * Hands the controllers to the groups below. Where the caller's group is not
 * the root of all, it must have no process for that: this one, and what it
 * started, goes into a group of its own.
 */
static int
enable(struct cgroup *g, unsigned limits)
{
	char text[ENABLE_LEN];

	list_missing(g, limits, '+', text);
	if (text[0] == '\0' || put(g->dir, "cgroup.subtree_control", text) == 0)
		return 0;
	if (errno != EBUSY || mkdirat(g->dir, g->out_name, 0755) == -1)
		return -1;
	g->out = open_group(g->dir, g->out_name);
	if (g->out == -1 || move(g->dir, g->out) == -1)
		return -1;
	if (put(g->dir, "cgroup.subtree_control", text) == -1)
		return -1;
	g->enabled = limits;
	return 0;
}

static int
put_limits(const struct cgroup *g, unsigned limits, const uint64_t *v)
{
	char text[NUMBER_LEN];

	if (limits & CGROUP_BIT(LIMIT_MEMORY)) {
		snprintf(text, sizeof(text), "%llu",
		    (unsigned long long)v[LIMIT_MEMORY]);
		if (put(g->run, "memory.max", text) == -1)
			return -1;
		/* or it would only be moved elsewhere; no swap, no file */
		if (put(g->run, "memory.swap.max", "0") == -1 &&
		    errno != ENOENT)
			return -1;
	}
	if (limits & CGROUP_BIT(LIMIT_PROCESSES)) {
		snprintf(text, sizeof(text), "%llu",
		    (unsigned long long)v[LIMIT_PROCESSES] + LIMIT_PID_1);
		if (put(g->run, "pids.max", text) == -1)
			return -1;
	}
	if (limits & CGROUP_BIT(LIMIT_CPU)) {
		snprintf(text, sizeof(text), "%llu %d",
		    (unsigned long long)v[LIMIT_CPU] * CPU_PERIOD / 100,
		    CPU_PERIOD);
		if (put(g->run, "cpu.max", text) == -1)
			return -1;
	}
	return 0;
}

static int
fill(struct cgroup *g, unsigned limits, const uint64_t *values, pid_t pid)
{
	char text[NUMBER_LEN];

	if (mkdirat(g->dir, g->run_name, 0755) == -1)
		return -1;
	g->run = open_group(g->dir, g->run_name);
	if (g->run == -1)
		return -1;
	snprintf(text, sizeof(text), "%d", (int)pid);
	/* first, so that there may be nothing else in the caller's */
	if (put(g->run, "cgroup.procs", text) == -1 || enable(g, limits) == -1)
		return -1;
	return put_limits(g, limits, values);
}

int
cgroup_make(struct cgroup *g, unsigned limits, const uint64_t *values,
    pid_t pid, char *why, size_t len)
{
	struct cgroup_host host;

	cgroup_find(&host, limits, getpid());
	g->lacks = host.lacks;
	if (host.state != CGROUP_READY) {
		cgroup_why(&host, why, len);
		return -1;
	}
	snprintf(g->run_name, sizeof(g->run_name), RUN, (int)getpid());
	snprintf(g->out_name, sizeof(g->out_name), OUT, (int)getpid());
	g->dir = open_group(AT_FDCWD, host.own);
	if (g->dir != -1) {
		sweep(g->dir);
		if (fill(g, limits, values, pid) == 0)
			return 0;
	}
	host.err = errno;
	host.state = errno == EBUSY ? CGROUP_SHARED : CGROUP_UNREADABLE;
	cgroup_why(&host, why, len);
	return -1;
}

unsigned
cgroup_killed(const struct cgroup *g)
{
	char text[EVENTS_LEN], *p;
	unsigned n = 0;

	if (g->run == -1 ||
	    cgroup_read(g->run, "memory.events", text, sizeof(text)) == -1)
		return 0;
	if ((p = strstr(text, "\noom_kill ")) == NULL ||
	    sscanf(p, " oom_kill %u", &n) != 1)
		return 0;
	return n;
}

static void
remove_group(int dir, const char *name)
{
	const struct timespec pause = {.tv_nsec = REMOVE_NS};
	int i;

	for (i = 0; i < REMOVE_MAX; i++) {
		if (unlinkat(dir, name, AT_REMOVEDIR) == 0 || errno != EBUSY)
			return;
		(void)nanosleep(&pause, NULL);
	}
}

void
cgroup_leave(struct cgroup *g)
{
	char text[ENABLE_LEN];

	if (g->dir == -1)
		return;
	if (g->run != -1)
		close(g->run);
	remove_group(g->dir, g->run_name);
	if (g->out != -1) {
		/* nobody else can be in the caller's: all is as it was */
		list_missing(g, g->enabled, '-', text);
		if (text[0] != '\0')
			(void)put(g->dir, "cgroup.subtree_control", text);
		(void)move(g->out, g->dir);
		close(g->out);
		remove_group(g->dir, g->out_name);
	}
	close(g->dir);
	cgroup_init(g);
}
