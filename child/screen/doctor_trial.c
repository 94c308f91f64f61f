#include <sys/syscall.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "doctor_parts.h"
#include "ipc/channel.h"
#include "ipc/limits.h"
#include "ipc/log.h"

#define SAID_LEN   16384 /* of what carrel says that is looked at */
#define SAID_LINES 16
#define SECONDS	   20
#define PREFIX	   "carrel: "

/*
 * The last word is a run's own: carrel is started as a person would start it,
 * once to read all that is installed, once to say what it would do here with
 * the default profiles, and once for good.
 */
static const struct {
	const char *id, *good, *bad;
	const char *words[8];
} trials[] = {
    {"configuration", "configuration: all profiles and preferences can be read",
	"configuration: ", {"profile", "list"}},
    {"profiles", "profiles: a run with the defaults is not refused here",
	"profiles: ", {"explain", "--", "true"}},
    {"run", "run: true was run in a sandbox, with the profile @sys",
	"run: ", {"run", "--no-defaults", "-p", "@sys", "--", "true"}},
};

#define NTRIALS (sizeof(trials) / sizeof(trials[0]))

static void __attribute__((noreturn))
become(const struct visit *v, size_t which, int out)
{
	char *argv[10] = {(char *)(uintptr_t)v->program},
	     *env[DOCTOR_SETTINGS + 1];
	size_t i, n = 0;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (i = 0; trials[which].words[i] != NULL; i++)
		argv[i + 1] = (char *)(uintptr_t)trials[which].words[i];
	for (i = 0; i < DOCTOR_SETTINGS; i++)
		if (strchr(v->settings[i], '=') != NULL)
			env[n++] = v->settings[i];
	env[n] = NULL;
	if (null == -1 || dup2(null, 0) == -1 || dup2(null, 1) == -1 ||
	    dup2(out, 2) == -1)
		_exit(EXIT_CARREL);
	execve(v->program, argv, env);
	log_warn("%s: %s; install carrel again (make install)", v->program,
	    strerror(errno));
	_exit(EXIT_CARREL);
}

/* What it says until it ends, in buf, and its exit code; -1: it does not. */
static int
listen_to(int fd, pid_t pid, char *buf, size_t len)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int64_t by = channel_deadline(SECONDS);
	char rest[512];
	size_t have = 0;
	ssize_t n = -1;
	int status, k;

	for (;;) {
		k = poll(&p, 1, channel_left(by));
		if (k == -1 && errno == EINTR)
			continue;
		if (k <= 0)
			break;
		n = have < len - 1 ? read(fd, buf + have, len - 1 - have)
				   : read(fd, rest, sizeof(rest));
		if (n <= 0)
			break;
		if (have < len - 1)
			have += (size_t)n;
	}
	buf[have] = '\0';
	if (n != 0)
		(void)kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) == -1)
		if (errno != EINTR)
			return -1;
	if (n != 0)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* carrel has escaped it; only its own letters are taken as they are. */
static void
add(struct cell *c, const char *line)
{
	const char *p = line;

	while (*p >= ' ' && *p <= '~')
		p++;
	if (*p == '\0')
		cell_harmless(c, line);
	else
		cell_add(c, line);
}

/* A message is what is wrong, and behind a semicolon what to do about it. */
static void
say_line(struct visit *v, size_t which, char *line, int last)
{
	struct cell c = {0}, fix = {0};
	char *semi;

	if (strncmp(line, PREFIX, strlen(PREFIX)) == 0)
		line += strlen(PREFIX);
	if ((semi = strstr(line, "; ")) != NULL)
		*semi = '\0';
	cell_add(&c, trials[which].bad);
	add(&c, line);
	if (semi != NULL)
		add(&fix, semi + 2);
	if (last)
		cell_addf(&fix, "; there is more of it: carrel %s",
		    trials[which].words[0]);
	doctor_say(v, trials[which].id, JUDGED_NO, &c, &fix);
}

static void
say_failure(struct visit *v, size_t which, int code, char *said)
{
	struct cell c = {0}, fix = {0};
	char *line, *save = NULL;
	int n = 0;

	for (line = strtok_r(said, "\n", &save); line != NULL && n < SAID_LINES;
	     line = strtok_r(NULL, "\n", &save))
		say_line(v, which, line, ++n == SAID_LINES);
	if (n > 0)
		return;
	cell_add(&c, trials[which].bad);
	if (code == -1)
		cell_addf(&c, "has not ended after %d s", SECONDS);
	else
		cell_addf(&c, "ended with %d and without a word", code);
	cell_addf(&fix, "try it: carrel %s", trials[which].words[0]);
	doctor_say(v, trials[which].id, JUDGED_NO, &c, &fix);
}

static void
try(struct visit *v, size_t which)
{
	struct cell c = {0}, fix = {0};
	char said[SAID_LEN], why[DOCTOR_WHY];
	int fd[2], code, err;
	pid_t pid;

	if (pipe2(fd, O_CLOEXEC) == -1)
		fatal("pipe: %s", strerror(errno));
	pid = fork();
	err = errno;
	if (pid == 0)
		become(v, which, fd[1]);
	close(fd[1]);
	if (pid == -1) {
		close(fd[0]);
		cell_addf(&c, "%snot tried: fork: %s", trials[which].bad,
		    strerror(err));
		cause_judge(&v->host, CAUSE_USERNS, err, why, sizeof(why));
		cell_add(&fix, why);
		doctor_say(v, trials[which].id, JUDGED_NO, &c, &fix);
		return;
	}
	code = listen_to(fd[0], pid, said, sizeof(said));
	close(fd[0]);
	if (code != 0) {
		say_failure(v, which, code, said);
		return;
	}
	cell_add(&c, trials[which].good);
	doctor_say(v, trials[which].id, JUDGED_OK, &c, &fix);
}

void
doctor_trial(struct visit *v)
{
	struct cell c = {0}, fix = {0};
	size_t i;

	for (i = 0; i < NTRIALS; i++) {
		/* it would say once more what stands above */
		if (strcmp(trials[i].id, "run") == 0 && !v->hosted && !v->all) {
			cell_addf(&c, "%snot tried, what it needs is missing",
			    trials[i].bad);
			doctor_say(v, trials[i].id, JUDGED_NOTE, &c, &fix);
		} else {
			try(v, i);
		}
	}
}
