#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control.h"
#include "ipc/caller.h"
#include "limit.h"
#include "options.h"
#include "payload.h"
#include "plan.h"
#include "setup.h"
#include "start.h"

static void __attribute__((noreturn)) fail(const struct setup *s, int failed,
    enum payload_fault fault, const char *text)
{
	control_send(s->control, CONTROL_NO_EXEC, (int)fault, errno, text);
	(void)!write(failed, "x", 1);
	_exit(1);
}

/* "NAME=value" for each row that is set; the caller ends the process soon. */
static char **
environment(const struct plan *plan)
{
	char **env = calloc(plan->nenv + 1, sizeof(*env));
	size_t i, n = 0;

	if (env == NULL)
		return NULL;
	for (i = 0; i < plan->nenv; i++)
		if (plan->env[i].value != NULL &&
		    asprintf(&env[n++], "%s=%s", plan->env[i].name,
			plan->env[i].value) == -1)
			return NULL;
	return env;
}

static const char *
sandbox_path(const struct plan *plan)
{
	size_t i;

	for (i = 0; i < plan->nenv; i++)
		if (strcmp(plan->env[i].name, "PATH") == 0)
			return plan->env[i].value;
	return "";
}

static int
give_back(const struct start *st, const struct limits *limits)
{
	struct sigaction ign;
	sigset_t none;
	int sig;

	memset(&ign, 0, sizeof(ign));
	ign.sa_handler = SIG_IGN;
	for (sig = 1; sig < NSIG; sig++)
		if (sigismember(&st->ignored, sig) == 1 &&
		    sigaction(sig, &ign, NULL) == -1)
			return -1;
	umask(st->umask);
	sigemptyset(&none);
	if (limit_payload(limits, st) == -1)
		return -1;
	return sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The file is there, but what it asks to be run by is not. */
static void __attribute__((noreturn))
fail_interpreter(const struct setup *s, int failed, const char *file)
{
	char head[256];
	ssize_t n = -1;
	int fd;

	fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd != -1)
		n = read(fd, head, sizeof(head) - 1);
	if (n > 2 && head[0] == '#' && head[1] == '!') {
		head[n] = '\0';
		head[2 + strcspn(head + 2, "\n")] = '\0';
		fail(s, failed, PAYLOAD_INTERPRETER,
		    head + 2 + strspn(head + 2, " \t"));
	}
	fail(s, failed, PAYLOAD_INTERPRETER, file);
}

/* Returns with errno when the search may go on. */
static void
try(const struct setup *s, int failed, const char *file, char **argv,
    char **env)
{
	struct stat st;
	int err;

	execve(file, argv, env);
	err = errno;
	if (err == ENOENT && stat(file, &st) == 0)
		fail_interpreter(s, failed, file);
	errno = err;
	if (err != ENOENT && err != ENOTDIR && err != EACCES)
		fail(s, failed, PAYLOAD_REFUSED, file);
}

/* As execvp(3), but without its guess that a file is a shell script. */
static void __attribute__((noreturn)) search(const struct setup *s,
    const struct plan *plan, int failed, char **argv, char **env)
{
	char *file, *refused = NULL;
	size_t i;

	if (strchr(argv[0], '/') != NULL) {
		try(s, failed, argv[0], argv, env);
		if (errno == EACCES)
			fail(s, failed, PAYLOAD_REFUSED, argv[0]);
		fail(s, failed, PAYLOAD_NOT_FOUND, "");
	}
	for (i = 0; i < plan->npath; i++) {
		if (asprintf(&file, "%s/%s", plan->path[i], argv[0]) == -1)
			fail(s, failed, PAYLOAD_SETUP, "search PATH");
		try(s, failed, file, argv, env);
		if (errno == EACCES && refused == NULL)
			refused = file;
		else
			free(file);
	}
	errno = EACCES;
	if (refused != NULL)
		fail(s, failed, PAYLOAD_REFUSED, refused);
	fail(s, failed, PAYLOAD_NOT_FOUND, sandbox_path(plan));
}

void
payload_exec(const struct setup *s, const struct plan *plan,
    const struct limits *limits, int failed)
{
	char *shell[] = {s->caller->shell, NULL};
	char **env = environment(plan);

	if (env == NULL)
		fail(s, failed, PAYLOAD_SETUP, "the environment");
	if (setpgid(0, 0) == -1)
		fail(s, failed, PAYLOAD_SETUP, "a process group");
	if (s->terminal == TERMINAL_HANDED &&
	    terminal_give(s->tty, getpgrp()) == -1)
		fail(s, failed, PAYLOAD_SETUP, "the terminal");
	if (give_back(s->start, limits) == -1)
		fail(s, failed, PAYLOAD_SETUP, "limits and signals");
	search(
	    s, plan, failed, s->options->shell ? shell : s->options->argv, env);
}
