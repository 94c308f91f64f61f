#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "processes.h"

#define ROUNDS_MAX 100 /* a fork bomb is stopped by kill(-1) in the end */
#define STAT_LEN   512

/* The state letter of /proc/PID/stat, behind the name; '?' if it is gone. */
static char
state_of(pid_t pid)
{
	char path[32], buf[STAT_LEN], *p;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		return '?';
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n <= 0)
		return '?';
	buf[n] = '\0';
	/* the name may hold anything: the last ')' ends it, proc(5) */
	p = strrchr(buf, ')');
	return p != NULL && p[1] == ' ' ? p[2] : '?';
}

static int
remember(struct processes *ps, pid_t pid)
{
	pid_t *p = realloc(ps->pids, (ps->n + 1) * sizeof(*p));

	if (p == NULL)
		return -1;
	ps->pids = p;
	ps->pids[ps->n++] = pid;
	return 0;
}

/* Stops what runs; returns how many it found. */
static int
round_of(struct processes *ps)
{
	struct dirent *e;
	DIR *d;
	pid_t pid;
	char st;
	int found = 0;

	if ((d = opendir("/proc")) == NULL)
		return 0;
	while ((e = readdir(d)) != NULL) {
		pid = atoi(e->d_name);
		if (pid <= 1)
			continue;
		st = state_of(pid);
		if (st == '?' || st == 'T' || st == 't' || st == 'Z' ||
		    st == 'X')
			continue;
		if (kill(pid, SIGSTOP) == 0 && remember(ps, pid) == 0)
			found++;
	}
	closedir(d);
	return found;
}

void
processes_stop(struct processes *ps)
{
	int i;

	for (i = 0; i < ROUNDS_MAX && round_of(ps) > 0; i++)
		continue;
	if (i == ROUNDS_MAX)
		(void)kill(-1, SIGSTOP);
}

void
processes_continue(struct processes *ps)
{
	size_t i;

	for (i = 0; i < ps->n; i++)
		(void)kill(ps->pids[i], SIGCONT);
	free(ps->pids);
	ps->pids = NULL;
	ps->n = 0;
}
