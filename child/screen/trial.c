#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "child/shared/patient.h"
#include "ipc/tool.h"
#include "ipc/channel.h"
#include "ipc/limits.h"
#include "ipc/log.h"
#include "ipc/owned.h"
#include "ipc/policy.h"
#include "profile.h"
#include "trial.h"

#define LINES_SHOWN 5		/* of what an example says that fails */
#define OUTPUT_LEN  TRIAL_WORDS /* of it that is looked at */

static void
file_in(const struct trial *tr, const char *name, char *buf, size_t len)
{
	snprintf(buf, len, "%s/%s", tr->dir, name);
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *f)
{
	(void)st;
	(void)type;
	(void)f;
	return remove(path);
}

void
trial_begin(struct trial *tr)
{
	char path[128];

	strcpy(tr->dir, "/tmp/carrel-test-XXXXXX");
	if (mkdtemp(tr->dir) == NULL)
		fatal("a temporary directory in /tmp: %s", strerror(errno));
	file_in(tr, "state", path, sizeof(path));
	if (mkdir(path, 0700) == -1)
		fatal("%s: %s", path, strerror(errno));
}

void
trial_end(struct trial *tr)
{
	(void)nftw(tr->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* The place of a need, or NULL: it is none. */
static char *
place_of(const struct need *n)
{
	char place[sizeof(OWNED_STAGING) + 1 + VALUE_MAX_LEN], *p;

	if (n->verb == NEED_ALLOW)
		return NULL;
	if (n->verb == NEED_COMMAND)
		snprintf(place, sizeof(place), "%s/%s", OWNED_STAGING, n->text);
	p = strdup(n->verb == NEED_COMMAND ? place : n->text);
	if (p == NULL)
		fatal("out of memory");
	return p;
}

/* What carrel run is told, to be followed by the command; in a fork. */
static size_t
tell_run(const struct trial *tr, const char *events, char **argv)
{
	static char verb[] = "run", by_file[] = "-f", by_name[] = "-p",
		    in[] = "-C", tell[] = "--events", uses[] = "--uses",
		    none[] = "";
	const struct profiled *p = tr->p;
	const struct profile *pr = &p->policy.profiles[p->subject];
	size_t n = 0, i;

	argv[n++] = (char *)(uintptr_t)p->program;
	argv[n++] = verb;
	argv[n++] = pr->layer == LAYER_PACK ? by_file : by_name;
	argv[n++] = pr->layer == LAYER_PACK ? pr->file : pr->name;
	argv[n++] = in;
	argv[n++] = (char *)(uintptr_t)p->target;
	argv[n++] = tell;
	argv[n++] = (char *)(uintptr_t)events;
	argv[n++] = uses;
	argv[n++] = none;
	for (i = 0; i < tr->t->nneeds; i++) {
		argv[n + 1] = place_of(&tr->t->needs[i]);
		if (argv[n + 1] == NULL)
			continue;
		argv[n] = uses;
		n += 2;
	}
	return n;
}

/* Becomes carrel run; what it is told depends on nothing but the settings. */
static void __attribute__((noreturn))
become(const struct trial *tr, char **words, const char *input, int output)
{
	static char end_of_options[] = "--";
	const struct profiled *p = tr->p;
	char events[128], state[160];
	char *argv[2 * NEEDS_MAX + TOOL_WORDS_MAX + 16], *env[16];
	size_t n, e = 0, i;
	int fd = open(input, O_RDONLY | O_CLOEXEC);

	if (fd == -1 || dup2(fd, 0) == -1 || dup2(output, 1) == -1 ||
	    dup2(output, 2) == -1)
		_exit(EXIT_CARREL);
	file_in(tr, "events", events, sizeof(events));
	n = tell_run(tr, events, argv);
	argv[n++] = end_of_options;
	for (i = 0; words[i] != NULL; i++)
		argv[n++] = words[i];
	argv[n] = NULL;
	snprintf(state, sizeof(state), "XDG_STATE_HOME=%s/state", tr->dir);
	env[e++] = state;
	for (i = 0; p->settings[i] != NULL; i++)
		if (strchr(p->settings[i], '=') != NULL &&
		    strncmp(p->settings[i], "XDG_STATE_HOME=", 15) != 0)
			env[e++] = p->settings[i];
	env[e] = NULL;
	execve(p->program, argv, env);
	_exit(EXIT_CARREL);
}

/* Until it ends, EXAMPLE_SECONDS at the most: its exit code, or -1. */
static int
await(const struct trial *tr, pid_t pid)
{
	struct pollfd p = {.events = POLLIN};
	int64_t by = channel_deadline(EXAMPLE_SECONDS);
	/* nothing is silent for long on a terminal */
	int status, n, told = !isatty(STDERR_FILENO);

	p.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (p.fd == -1)
		fatal("pidfd_open: %s", strerror(errno));
	for (;;) {
		n = poll(&p, 1, told ? channel_left(by) : PATIENT_MS);
		if (n > 0 || (n == 0 && told) || (n == -1 && errno != EINTR))
			break;
		if (n == 0)
			log_warn("example %s still runs; up to %d s are given "
				 "to it",
			    tr->t->name, EXAMPLE_SECONDS);
		told |= n == 0;
	}
	close(p.fd);
	/* carrel takes everything inside with it */
	if (n == 0)
		(void)kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) == -1)
		if (errno != EINTR)
			fatal("wait for carrel: %s", strerror(errno));
	if (n == 0)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void
trial_run(const struct trial *tr, struct trial_ending *en)
{
	char input[128], output[128], events[128];
	char **words = tool_words(tr->t->text);
	pid_t pid;
	FILE *in;
	int fd;

	if (words == NULL)
		fatal("out of memory");
	file_in(tr, "input", input, sizeof(input));
	file_in(tr, "output", output, sizeof(output));
	file_in(tr, "events", events, sizeof(events));
	if ((in = fopen(input, "we")) == NULL ||
	    (tr->t->input[0] != '\0' &&
		fprintf(in, "%s\n", tr->t->input) < 0) ||
	    fclose(in) == EOF ||
	    (fd = open(output, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) ==
		-1)
		fatal("%s: %s", tr->dir, strerror(errno));
	if ((pid = fork()) == -1)
		fatal("fork: %s", strerror(errno));
	if (pid == 0)
		become(tr, words, input, fd);
	close(fd);
	free(words);
	en->code = await(tr, pid);
	if (trial_events(events, &en->told) == -1)
		memset(&en->told, 0, sizeof(en->told));
}

void
trial_last_words(const struct trial *tr, char *buf, size_t len)
{
	char path[128], text[OUTPUT_LEN + 1], *p;
	struct stat st;
	ssize_t n = 0;
	int fd, lines = 0;

	buf[0] = '\0';
	file_in(tr, "output", path, sizeof(path));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return;
	if (fstat(fd, &st) == 0)
		n = pread(fd, text, OUTPUT_LEN,
		    st.st_size > OUTPUT_LEN ? st.st_size - OUTPUT_LEN : 0);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	for (p = text + strlen(text); p > text; p--)
		if (p[-1] == '\n' && p[0] != '\0' && ++lines == LINES_SHOWN)
			break;
	for (n = (ssize_t)strlen(p); n > 0 && p[n - 1] == '\n'; n--)
		p[n - 1] = '\0';
	for (n = 0; p[n] != '\0'; n++)
		if (p[n] == '\n')
			p[n] = '|';
	if (*p != '\0')
		snprintf(buf, len, "; it said: %s", p);
}
