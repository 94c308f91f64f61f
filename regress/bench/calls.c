/*
 * What a system call costs: ns for each of many, the least of several rounds.
 * Run outside and inside, the difference is the filter's, Landlock's and that
 * of longer ways to a file.
 *
 * usage: calls getpid|open|socket|fork
 */
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 15

static void
call_getpid(void)
{
	(void)syscall(SYS_getpid);
}

static void
call_open(void)
{
	int fd = open("/usr/bin/env", O_RDONLY | O_CLOEXEC);

	if (fd == -1)
		err(1, "/usr/bin/env");
	close(fd);
}

static void
call_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd == -1)
		err(1, "socket");
	close(fd);
}

static void
call_fork(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	if (pid == -1 || waitpid(pid, NULL, 0) != pid)
		err(1, "vfork");
}

static const struct {
	const char *name;
	void (*call)(void);
	int times;
} kinds[] = {{"getpid", call_getpid, 20000}, {"open", call_open, 3000},
    {"socket", call_socket, 3000}, {"fork", call_fork, 20}};

static uint64_t
now(void)
{
	struct timespec t;

	if (clock_gettime(CLOCK_MONOTONIC, &t) == -1)
		err(1, "clock_gettime");
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ns of one call, the least. */
static double
measure(size_t k)
{
	uint64_t t, least = UINT64_MAX;
	int i, round;

	for (round = 0; round < ROUNDS; round++) {
		t = now();
		for (i = 0; i < kinds[k].times; i++)
			kinds[k].call();
		t = now() - t;
		if (t < least)
			least = t;
	}
	return (double)least / kinds[k].times;
}

int
main(int argc, char *argv[])
{
	size_t k;

	for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		if (argc == 2 && strcmp(argv[1], kinds[k].name) == 0) {
			printf("%.1f\n", measure(k));
			return 0;
		}
	errx(1, "usage: calls getpid|open|socket|fork");
}
