#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control.h"
#include "init.h"
#include "ipc/cause.h"
#include "options.h"
#include "payload.h"
#include "plan.h"
#include "processes.h"
#include "setup.h"

#define REAP_MAX     64 /* of what ends and what is said, in one turn */
#define MESSAGES_MAX 64

struct init {
	const struct setup *s;
	int sigfd;
	pid_t payload;
	int ended;   /* the payload has ended, with */
	int status;  /* this wait status */
	int stopped; /* everything inside was stopped for the monitor */
	struct processes halted;
};

static void __attribute__((noreturn)) end(const struct init *in)
{
	if (in->ended)
		control_send(
		    in->s->control, CONTROL_ENDED, in->status, 0, NULL);
	_exit(0);
}

/*
 * Everything is blocked and read here: pid 1 has no default actions for
 * signals from inside, and must not be ended by one from outside.
 */
static void
watch_signals(struct init *in)
{
	sigset_t all, children;

	sigfillset(&all);
	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &all, NULL) == -1 ||
	    (in->sigfd = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK)) ==
		-1)
		_exit(1);
}

static void
start_payload(struct init *in, const struct plan *plan)
{
	char byte;
	int p[2];
	ssize_t n;

	if (pipe2(p, O_CLOEXEC) == -1 || (in->payload = fork()) == -1) {
		control_send(in->s->control, CONTROL_FAILED, CAUSE_OTHER, errno,
		    "start the payload");
		_exit(1);
	}
	if (in->payload == 0) {
		close(p[0]);
		payload_exec(in->s, plan, p[1]);
	}
	/* or the end of the child's end would never be seen */
	if (close(p[1]) == -1) {
		control_send(in->s->control, CONTROL_FAILED, CAUSE_OTHER, errno,
		    "start the payload");
		_exit(1);
	}
	do
		n = read(p[0], &byte, 1);
	while (n == -1 && errno == EINTR);
	close(p[0]);
	if (n != 0)
		_exit(1); /* the child has told why */
	control_send(in->s->control, CONTROL_STARTED, 0, 0, NULL);
}

/* What the terminal sends goes to the group, as it would have there. */
static void
signal_payload(const struct init *in, int sig, int group)
{
	pid_t pgrp = group ? getpgid(in->payload) : 0;

	/* with --wait-all what it left behind gets its signals */
	if (in->ended)
		(void)kill(-1, sig);
	else
		(void)kill(pgrp > 0 ? -pgrp : in->payload, sig);
}

static void
changed(struct init *in, int status)
{
	if (!WIFSTOPPED(status)) {
		in->ended = 1;
		in->status = status;
	} else if (!in->stopped)
		control_send(
		    in->s->control, CONTROL_STOPPED, WSTOPSIG(status), 0, NULL);
}

/*
 * The payload first, and then so many of the others: what it left behind
 * cannot put off its end by making and ending processes. 1 if there may be
 * more.
 */
static int
reap(struct init *in)
{
	int status, i;
	pid_t pid = 0;

	if (!in->ended &&
	    waitpid(in->payload, &status, WNOHANG | WUNTRACED) > 0)
		changed(in, status);
	if (in->ended && !in->s->options->wait_all)
		end(in);
	for (i = 0; i < REAP_MAX; i++) {
		if ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) <= 0)
			break;
		if (pid == in->payload)
			changed(in, status);
	}
	if (in->ended && pid == -1 && errno == ECHILD)
		end(in);
	if (!in->ended && pid == -1)
		_exit(1); /* its end would never be known */
	return i == REAP_MAX;
}

static void
resume(struct init *in, int foreground)
{
	pid_t pgrp = getpgid(in->payload);

	if (foreground && pgrp > 0)
		(void)terminal_give(in->s->tty, pgrp);
	in->stopped = 0;
	processes_continue(&in->halted);
	/* what ^Z stopped, as a shell's fg does */
	if (pgrp > 0)
		(void)kill(-pgrp, SIGCONT);
}

static void
read_control(struct init *in)
{
	struct control m;
	int i, n = 1;

	for (i = 0; i < MESSAGES_MAX; i++) {
		if ((n = control_receive(in->s->control, &m)) != 1)
			break;
		switch (m.type) {
		case CONTROL_SIGNAL:
			signal_payload(in, m.a, m.b);
			break;
		case CONTROL_STOP:
			in->stopped = 1;
			processes_stop(&in->halted);
			(void)reap(in); /* it may have ended meanwhile */
			control_send(
			    in->s->control, CONTROL_STOPPED_ALL, 0, 0, NULL);
			break;
		case CONTROL_RESUME:
			resume(in, m.a);
			break;
		default:
			_exit(1);
		}
	}
	if (n == 0 || (n == -1 && errno != EAGAIN))
		_exit(1); /* the monitor is gone */
}

void
init_run(const struct setup *s, const struct plan *plan)
{
	struct init in = {.s = s};
	struct signalfd_siginfo si;
	struct pollfd p[2];
	int more = 0;

	watch_signals(&in);
	start_payload(&in, plan);
	p[0].fd = in.sigfd;
	p[1].fd = s->control;
	p[0].events = p[1].events = POLLIN;
	for (;;) {
		if (poll(p, 2, more ? 0 : -1) == -1 && errno != EINTR)
			_exit(1);
		/* one SIGCHLD may stand for many: reap() asks itself */
		(void)!read(in.sigfd, &si, sizeof(si));
		/* the end of the payload is told before the monitor's */
		more = reap(&in);
		read_control(&in);
	}
}
