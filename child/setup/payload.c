#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child/monitor/notify.h"
#include "child/monitor/options.h"
#include "confine.h"
#include "control.h"
#include "child/shared/caller.h"
#include "ipc/limits.h"
#include "limit.h"
#include "parent/failure.h"
#include "parent/start.h"
#include "payload.h"
#include "plan.h"
#include "setup.h"

static void __attribute__((noreturn)) fail(const struct setup *s,
    volatile int *failed, enum payload_fault fault, const char *text)
{
	control_send(s->control, CONTROL_NO_EXEC, (int)fault, errno, text);
	*failed = 1;
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
fail_interpreter(const struct setup *s, volatile int *failed, const char *file)
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
try(const struct setup *s, volatile int *failed, const char *file, char **argv,
    char **env)
{
	struct stat st;
	int err;

	execve(file, argv, env);
	err = errno;
	if (err == ENOSYS) /* who answers is gone, seccomp_unotify(2) */
		fail(s, failed, PAYLOAD_SETUP, "an answer to its execve(2)");
	if (err == ENOENT && stat(file, &st) == 0)
		fail_interpreter(s, failed, file);
	errno = err;
	if (err != ENOENT && err != ENOTDIR && err != EACCES)
		fail(s, failed, PAYLOAD_REFUSED, file);
}

/* Never returns: the file is there, but not for executing it. */
static void __attribute__((noreturn)) fail_refused(const struct setup *s,
    const struct plan *plan, volatile int *failed, const char *file)
{
	/* an exec lock is the likelier reason for a file with the right mode */
	fail(s, failed,
	    plan->locked && access(file, R_OK) == 0 ? PAYLOAD_LOCKED
						    : PAYLOAD_REFUSED,
	    file);
}

/*
 * once = yes counts attempts, so a file is looked at before it is tried. The
 * kernel judges it again, and says if it is no program at all.
 */
static int
is_worth_it(const struct plan *plan, const char *file)
{
	return !plan->once || access(file, X_OK) == 0;
}

/* As execvp(3), but without its guess that a file is a shell script. */
static void __attribute__((noreturn)) search(const struct setup *s,
    const struct plan *plan, volatile int *failed, char **argv, char **env)
{
	char *file, *refused = NULL;
	size_t i;

	if (strchr(argv[0], '/') != NULL) {
		try(s, failed, argv[0], argv, env);
		if (errno == EACCES)
			fail_refused(s, plan, failed, argv[0]);
		fail(s, failed, PAYLOAD_NOT_FOUND, "");
	}
	for (i = 0; i < plan->npath; i++) {
		if (asprintf(&file, "%s/%s", plan->path[i], argv[0]) == -1)
			fail(s, failed, PAYLOAD_SETUP, "search PATH");
		if (is_worth_it(plan, file))
			try(s, failed, file, argv, env);
		if (errno == EACCES && refused == NULL)
			refused = file;
		else
			free(file);
	}
	errno = EACCES;
	if (refused != NULL)
		fail_refused(s, plan, failed, refused);
	fail(s, failed, PAYLOAD_NOT_FOUND, sandbox_path(plan));
}

/*
 * --uses: this process is not dumpable, so whoever answers cannot read what it
 * executes. What the search will find is told; not that it will run.
 */
static void
tell_first(const struct setup *s, const struct plan *plan, const char *name)
{
	char file[PATH_MAX_LEN + 1], dir[PATH_MAX_LEN + 1];
	size_t i;
	int n = -1;

	if (name[0] == '/')
		n = snprintf(file, sizeof(file), "%s", name);
	else if (strchr(name, '/') != NULL && getcwd(dir, sizeof(dir)) != NULL)
		n = snprintf(file, sizeof(file), "%s/%s", dir, name);
	for (i = 0; strchr(name, '/') == NULL && i < plan->npath; i++) {
		n = snprintf(file, sizeof(file), "%s/%s", plan->path[i], name);
		if (n < (int)sizeof(file) && access(file, X_OK) == 0)
			break;
		n = -1;
	}
	if (n > 0 && n < (int)sizeof(file))
		(void)control_send(s->control, CONTROL_FIRST, 0, 0, file);
}

/*
 * The filters that pid 1 cannot enter, which made this process and answers
 * nobody. The listener goes out before the first attempt, which waits for it.
 */
static void
narrow(const struct setup *s, const struct plan *plan, volatile int *failed)
{
	struct failure f;
	uint32_t told = filter_told(plan);
	int fd, flags, fs = plan->report_fs;

	if (plan->no_spawn && (told & FILTER_NO_SPAWN) == 0 &&
	    filter_narrow(FILTER_NO_SPAWN, &f) == -1)
		fail(s, failed, PAYLOAD_SETUP, "the filter of spawn = no");
	/* without any no attempt is refused, and there is none to report */
	if (!plan->once && !(plan->locked && plan->report_exec) && told == 0)
		return;
	flags =
	    (plan->once ? NOTIFY_ONCE : 0) |
	    (plan->report_exec ? NOTIFY_REPORT : 0) |
	    (plan->report_exec && plan->locked ? NOTIFY_LOCKED : 0) |
	    (fs ? NOTIFY_FS : 0) | (fs && plan->locked ? NOTIFY_NOEXEC : 0) |
	    (plan->learn ? NOTIFY_LEARN : 0) | (plan->uses ? NOTIFY_USES : 0);
	if ((fd = filter_notify(told, &f)) == -1 ||
	    control_pass(s->control, CONTROL_LISTENER, flags, fd) == -1)
		fail(s, failed, PAYLOAD_SETUP, "who answers its calls");
	close(fd);
}

void
payload_exec(const struct setup *s, const struct plan *plan,
    const struct limits *limits, volatile int *failed)
{
	char **words = options_words(s->options, s->caller->shell);
	char **env = environment(plan);

	if (words == NULL)
		fail(s, failed, PAYLOAD_SETUP, "its arguments");
	if (env == NULL)
		fail(s, failed, PAYLOAD_SETUP, "the environment");
	if (setpgid(0, 0) == -1)
		fail(s, failed, PAYLOAD_SETUP, "a process group");
	if (s->terminal == TERMINAL_HANDED &&
	    terminal_give(s->tty, getpgrp()) == -1)
		fail(s, failed, PAYLOAD_SETUP, "the terminal");
	if (plan->uses)
		tell_first(s, plan, words[0]);
	/* with all signals blocked, and room for a descriptor */
	narrow(s, plan, failed);
	if (give_back(s->start, limits) == -1)
		fail(s, failed, PAYLOAD_SETUP, "limits and signals");
	search(s, plan, failed, words, env);
}
