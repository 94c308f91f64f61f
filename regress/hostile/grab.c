/*
 * grab ROUNDS SECONDS FILE COMMAND [ARG...]: starts COMMAND again and again,
 * which is FILE, set-user-id, and tries as the same user to get hold of it and
 * of the processes that come after it, from its execve(2) to its end.
 * Prints what succeeded (nothing should), and how often each run said "set-up".
 * Without a set-user-id bit it must succeed: that is the control.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define AFTER 7	  /* the processes that are looked for behind the first */
#define LEAST 150 /* turns of the attack in a round, at the most */

/* Whether /proc tells that it is the program, and not yet this one. */
static int
seen(pid_t pid, const char *file)
{
	char path[64], to[512];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	n = readlink(path, to, sizeof(to) - 1);
	if (n == -1)
		return 0;
	to[n] = '\0';
	return strcmp(to, file) == 0;
}

/* A descriptor that this program does not have, and COMMAND soon does. */
static int
taken(pid_t pid)
{
	int p = (int)syscall(SYS_pidfd_open, pid, 0), fd, got = -1;

	for (fd = 3; p != -1 && got == -1 && fd < 8; fd++)
		got = (int)syscall(SYS_pidfd_getfd, p, fd, 0);
	if (p != -1)
		close(p);
	if (got != -1)
		close(got);
	return got != -1;
}

static int
traced(pid_t pid)
{
	int status;

	if (ptrace(PTRACE_SEIZE, pid, 0, 0) == -1)
		return 0;
	if (ptrace(PTRACE_INTERRUPT, pid, 0, 0) == 0)
		(void)waitpid(pid, &status, __WALL);
	(void)ptrace(PTRACE_DETACH, pid, 0, 0);
	return 1;
}

static int
written(pid_t pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	if ((fd = open(path, O_RDWR | O_CLOEXEC)) != -1)
		close(fd);
	return fd != -1;
}

static const char *
attack(pid_t pid, const char *file)
{
	if (seen(pid, file))
		return "read";
	if (taken(pid))
		return "pidfd_getfd";
	if (written(pid))
		return "mem";
	if (traced(pid))
		return "ptrace";
	return NULL;
}

/* What is there before execve(2) is this program, and no success: vfork(2). */
static pid_t
begin(char **argv, int out)
{
	pid_t pid = vfork();

	if (pid == -1)
		err(2, "vfork");
	if (pid == 0) {
		dup2(out, 1);
		syscall(SYS_close_range, 3U, ~0U, 0U);
		execv(argv[0], argv);
		_exit(2);
	}
	return pid;
}

/* 1: it ran in hosted mode; what: the attack that worked. */
static int
round_of(const char *file, char **argv, unsigned delay, const char **what)
{
	char text[4096];
	int out[2], i, ran;
	ssize_t n, len = 0;
	pid_t pid;

	if (pipe2(out, O_CLOEXEC) == -1)
		err(2, "pipe2");
	pid = begin(argv, out[1]);
	close(out[1]);
	for (i = 0; i < (int)delay; i++)
		(void)sched_yield();
	*what = NULL;
	for (i = 0; i < LEAST && *what == NULL; i++)
		*what = attack(pid + i % AFTER, file);
	while (
	    len < (ssize_t)sizeof(text) - 1 &&
	    (n = read(out[0], text + len, sizeof(text) - 1 - (size_t)len)) > 0)
		len += n;
	close(out[0]);
	text[len] = '\0';
	(void)waitpid(pid, NULL, 0);
	ran = strstr(text, "set-up\n") != NULL;
	return ran;
}

int
main(int argc, char **argv)
{
	const char *what;
	int i, rounds, ran = 0, won = 0;
	time_t end;

	if (argc < 5)
		errx(2, "usage: grab ROUNDS SECONDS FILE COMMAND [ARG...]");
	rounds = atoi(argv[1]);
	end = time(NULL) + atoi(argv[2]);
	for (i = 0; i < rounds && time(NULL) < end; i++) {
		ran += round_of(argv[3], argv + 4, (unsigned)i % 40, &what);
		if (what != NULL && won++ < 5)
			printf("%s\n", what);
	}
	printf("rounds %d ran %d won %d\n", i, ran, won);
	return 0;
}
