#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "processes.h"

#define ROUNDS_MAX 100
#define ROUND_NS   1000000L /* between rounds: a signal takes its time */
#define STAT_LEN   512

/*
 * The state letter of /proc/PID/stat, behind the name; '?' if it is gone. A
 * process whose first thread has ended is a 'Z' there while others go on:
 * 'L', because how they are is not told.
 */
static char
state_of(pid_t pid)
{
	char path[32], buf[STAT_LEN], *p;
	ssize_t n;
	int fd, threads = 0;

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
	if (p == NULL || p[1] != ' ')
		return '?';
	/* num_threads is the 20th field, the state the third */
	if (p[2] == 'Z' &&
	    sscanf(p + 2,
		"%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
		"%*d %*d %d",
		&threads) == 1 &&
	    threads > 1)
		return 'L';
	return p[2];
}

static int
known(const struct processes *ps, pid_t pid)
{
	size_t i;

	for (i = 0; i < ps->n; i++)
		if (ps->pids[i] == pid)
			return 1;
	return 0;
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

static pid_t
pid_of(const char *name)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(name, &end, 10);
	if (name[0] < '1' || name[0] > '9' || *end != '\0' || errno != 0)
		return 0;
	return (pid_t)n;
}

/* Stops what runs: how much still did, -1 if that cannot be told. */
static int
round_of(struct processes *ps)
{
	struct dirent *e;
	DIR *d;
	pid_t pid;
	char st;
	int running = 0;

	if ((d = opendir("/proc")) == NULL)
		return -1;
	while ((e = readdir(d)) != NULL) {
		if ((pid = pid_of(e->d_name)) <= 1 ||
		    strchr("?TtZX", st = state_of(pid)) != NULL ||
		    (st == 'L' && known(ps, pid)))
			continue;
		running++;
		if (known(ps, pid) || kill(pid, SIGSTOP) == -1)
			continue;
		if (remember(ps, pid) == -1) {
			running = -1;
			break;
		}
	}
	closedir(d);
	return running;
}

void
processes_stop(struct processes *ps)
{
	const struct timespec pause = {.tv_nsec = ROUND_NS};
	int i, running = -1;

	for (i = 0; i < ROUNDS_MAX; i++) {
		if ((running = round_of(ps)) <= 0)
			break;
		(void)nanosleep(&pause, NULL);
	}
	if (running == 0)
		return;
	ps->all = 1;
	(void)kill(-1, SIGSTOP);
}

void
processes_continue(struct processes *ps)
{
	size_t i;

	if (ps->all)
		(void)kill(-1, SIGCONT);
	for (i = 0; i < ps->n; i++)
		(void)kill(ps->pids[i], SIGCONT);
	free(ps->pids);
	memset(ps, 0, sizeof(*ps));
}
