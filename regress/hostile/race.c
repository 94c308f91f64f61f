/*
 * Races for the set-up (V012, V013, R019).
 *
 *	race loop ROUNDS SECONDS GOOD BAD A B COMMAND [ARG...]
 *
 * A process exchanges the names A and B again and again: A is what it should
 * be for up to GOOD microseconds, then something else for up to BAD. Beside
 * it COMMAND runs ROUNDS times, or as often as SECONDS allow. Each different
 * result is printed once, as "COUNT CODE OUTLEN ERRLEN", a newline, and the
 * bytes of its standard output and error. A command that does not end is
 * killed and has the code 999.
 *
 *	race storm ROUNDS SECONDS COMMAND [ARG...]
 *
 * The same, but COMMAND or one of its children gets a signal within its first
 * 20 ms (V035).
 *
 *	race show PATH...
 *
 * Inside: the head of each file or the names in each directory, and every
 * mount point of this namespace but those of /proc and /dev.
 */
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TEXT	  16384
#define RESULTS	  512
#define HANG	  20 /* seconds until a command is said to hang */
#define HANG_CODE 999

struct result {
	long count;
	int code;
	size_t out, err;
	char *text;
};

static volatile sig_atomic_t stopped;

static void
stop(int sig)
{
	(void)sig;
	stopped = 1;
}

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void
nap(long most)
{
	struct timespec t = {.tv_nsec = most > 0 ? random() % most * 1000 : 0};

	if (most > 0)
		nanosleep(&t, NULL);
}

static pid_t
racer(long good, long bad, const char *a, const char *b)
{
	pid_t pid = fork();

	if (pid == -1)
		err(2, "fork");
	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	signal(SIGTERM, stop);
	srandom((unsigned)time(NULL));
	while (!stopped) { /* the last state is the first */
		nap(good);
		if (renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) == -1)
			err(2, "exchange %s and %s", a, b);
		nap(bad);
		if (renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) == -1)
			err(2, "exchange %s and %s", a, b);
	}
	_exit(0);
}

/* Reads both pipes to their ends; 0 if that took too long. */
static int
drain(int out, int error, char *text, size_t *nout, size_t *nerr)
{
	char buf[2][TEXT];
	size_t len[2] = {0, 0};
	struct pollfd p[2] = {
	    {.fd = out, .events = POLLIN}, {.fd = error, .events = POLLIN}};
	double end = now() + HANG;
	ssize_t n;
	int i, open = 2;

	while (open > 0 && now() < end) {
		if (poll(p, 2, 100) <= 0)
			continue;
		for (i = 0; i < 2; i++) {
			if (p[i].fd == -1 || p[i].revents == 0)
				continue;
			n = len[i] < TEXT
				? read(p[i].fd, buf[i] + len[i], TEXT - len[i])
				: 0;
			if (n <= 0) {
				p[i].fd = -1;
				open--;
			} else
				len[i] += (size_t)n;
		}
	}
	memcpy(text, buf[0], len[0]);
	memcpy(text + len[0], buf[1], len[1]);
	*nout = len[0];
	*nerr = len[1];
	return open == 0;
}

/* Sends a signal to pid or one of its children, once. */
static void
strike(pid_t pid)
{
	static const int signals[] = {SIGALRM, SIGTERM, SIGINT, SIGHUP, SIGCHLD,
	    SIGPIPE, SIGUSR1, SIGUSR2, SIGQUIT, SIGWINCH, SIGCONT};
	char path[64], line[256] = "";
	long victims[4] = {pid};
	int n = 1, fd;
	char *p, *end;

	nap(random() % 4 != 0 ? 4000 : 20000); /* most while it starts */
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd != -1) {
		if (read(fd, line, sizeof(line) - 1) > 0)
			for (p = line; n < 4; p = end) {
				victims[n] = strtol(p, &end, 10);
				if (end == p)
					break;
				n++;
			}
		close(fd);
	}
	kill((pid_t)victims[random() % n],
	    signals[random() % (long)(sizeof(signals) / sizeof(signals[0]))]);
}

static void
run(char **argv, int storm, struct result *r)
{
	int out[2], error[2], status;
	pid_t pid;

	if (pipe2(out, O_CLOEXEC) == -1 || pipe2(error, O_CLOEXEC) == -1)
		err(2, "pipe");
	pid = fork();
	if (pid == -1)
		err(2, "fork");
	if (pid == 0) {
		dup2(out[1], 1);
		dup2(error[1], 2);
		execv(argv[0], argv);
		_exit(2);
	}
	close(out[1]);
	close(error[1]);
	if (storm)
		strike(pid);
	r->code = 0;
	if (!drain(out[0], error[0], r->text, &r->out, &r->err)) {
		r->code = HANG_CODE;
		kill(pid, SIGKILL);
	}
	close(out[0]);
	close(error[0]);
	if (waitpid(pid, &status, 0) == -1)
		err(2, "waitpid");
	if (r->code == 0)
		r->code = WIFEXITED(status) ? WEXITSTATUS(status)
					    : 128 + WTERMSIG(status);
}

static void
add(struct result *all, size_t *n, const struct result *r)
{
	size_t i, len = r->out + r->err;

	for (i = 0; i < *n; i++)
		if (all[i].code == r->code && all[i].out == r->out &&
		    all[i].err == r->err &&
		    memcmp(all[i].text, r->text, len) == 0) {
			all[i].count++;
			return;
		}
	if (*n == RESULTS)
		errx(2, "too many different results");
	all[*n] = *r;
	all[*n].count = 1;
	if ((all[*n].text = malloc(len + 1)) == NULL)
		err(2, "malloc");
	memcpy(all[*n].text, r->text, len);
	(*n)++;
}

static int
print(const struct result *all, size_t n)
{
	size_t k;

	for (k = 0; k < n; k++) {
		printf("%ld %d %zu %zu\n", all[k].count, all[k].code,
		    all[k].out, all[k].err);
		fwrite(all[k].text, 1, all[k].out + all[k].err, stdout);
	}
	return fflush(stdout) == EOF ? 2 : 0;
}

/* argv: ROUNDS SECONDS; other: what goes on beside it, or -1 for a storm. */
static int
rounds(char **argv, char **command, pid_t other)
{
	static struct result all[RESULTS];
	static char text[2 * TEXT];
	struct result r = {.text = text};
	long many = atol(argv[0]), i;
	double end = now() + atof(argv[1]);
	size_t n = 0;
	int status;

	for (i = 0; i < many && now() < end; i++) {
		run(command, other == -1, &r);
		add(all, &n, &r);
		if (other != -1 && waitpid(other, &status, WNOHANG) != 0)
			errx(2, "the racer has ended");
	}
	if (other != -1) {
		kill(other, SIGTERM);
		waitpid(other, &status, 0);
	}
	return print(all, n);
}

static int
name_cmp(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void
show(const char *path)
{
	struct dirent **names;
	char buf[256];
	ssize_t n;
	int fd, i, many;

	printf("%s:", path);
	if ((many = scandir(path, &names, NULL, name_cmp)) >= 0) {
		for (i = 0; i < many; i++)
			printf(" %s", names[i]->d_name);
		printf("\n");
		return;
	}
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	n = fd == -1 ? -1 : read(fd, buf, sizeof(buf));
	if (n == -1)
		printf(" %s", strerrorname_np(errno));
	else
		printf(" %.*s", (int)strcspn(buf, "\n"), n > 0 ? buf : "");
	printf("\n");
	if (fd != -1)
		close(fd);
}

static int
show_all(char **paths)
{
	char *line = NULL, point[4096];
	size_t cap = 0;
	FILE *f;

	for (; *paths != NULL; paths++)
		show(*paths);
	if ((f = fopen("/proc/self/mountinfo", "re")) == NULL)
		err(2, "mountinfo");
	while (getline(&line, &cap, f) != -1)
		if (sscanf(line, "%*s %*s %*s %*s %4095s", point) == 1 &&
		    strncmp(point, "/proc", 5) != 0 &&
		    strncmp(point, "/dev", 4) != 0)
			printf("mount %s\n", point);
	free(line);
	fclose(f);
	return 0;
}

int
main(int argc, char **argv)
{
	if (argc > 8 && strcmp(argv[1], "loop") == 0)
		return rounds(argv + 2, argv + 8,
		    racer(atol(argv[4]), atol(argv[5]), argv[6], argv[7]));
	if (argc > 4 && strcmp(argv[1], "storm") == 0) {
		srandom((unsigned)time(NULL));
		prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
		return rounds(argv + 2, argv + 4, -1);
	}
	if (argc > 1 && strcmp(argv[1], "show") == 0)
		return show_all(argv + 2);
	errx(2, "usage: race loop ROUNDS SECONDS GOOD BAD A B COMMAND [ARG...] "
		"| race storm ROUNDS SECONDS COMMAND [ARG...] "
		"| race show PATH...");
}
