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

struct init {
	const struct setup *s;
	int sigfd;
	pid_t payload;
	int ended;   /* the payload has ended, with */
	int status;  /* this wait status */
	int stopped; /* everything inside was stopped for the monitor */
	struct processes halted;
	/* signals that this process, in the payload's group, got as well */
	sigset_t direct;
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
	sigset_t all;

	sigfillset(&all);
	if (sigprocmask(SIG_BLOCK, &all, NULL) == -1 ||
	    (in->sigfd = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK)) == -1)
		_exit(1);
	sigemptyset(&in->direct);
}

/* The run's name for the monitor: a row of the plan. */
static const char *
run_name(const struct plan *plan)
{
	size_t i;

	for (i = 0; i < plan->nenv; i++)
		if (strcmp(plan->env[i].name, "CARREL_RUN") == 0)
			return plan->env[i].value;
	return "";
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
	close(p[1]);
	do
		n = read(p[0], &byte, 1);
	while (n == -1 && errno == EINTR);
	close(p[0]);
	if (n != 0)
		_exit(1); /* the child has told why */
	control_send(in->s->control, CONTROL_STARTED, 0, 0, run_name(plan));
}

/*
 * A group signal reaches the monitor, the payload and this process, when all
 * three share a group; the monitor passes it on, and here it is dropped, so
 * that the payload gets it once.
 */
static void
signal_payload(struct init *in, int sig)
{
	if (in->s->terminal == TERMINAL_SHARED &&
	    sigismember(&in->direct, sig) == 1) {
		sigdelset(&in->direct, sig);
		return;
	}
	/* with --wait-all what it left behind gets its signals */
	(void)kill(in->ended ? -1 : in->payload, sig);
}

static void
reap(struct init *in)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
		if (pid != in->payload)
			continue;
		if (WIFSTOPPED(status)) {
			if (!in->stopped)
				control_send(in->s->control, CONTROL_STOPPED,
				    WSTOPSIG(status), 0, NULL);
			continue;
		}
		in->ended = 1;
		in->status = status;
	}
	if (in->ended &&
	    (!in->s->options->wait_all || (pid == -1 && errno == ECHILD)))
		end(in);
}

static void
read_signals(struct init *in)
{
	struct signalfd_siginfo si;
	ssize_t n;

	while ((n = read(in->sigfd, &si, sizeof(si))) == sizeof(si))
		if (si.ssi_signo != SIGCHLD)
			sigaddset(&in->direct, (int)si.ssi_signo);
	reap(in);
}

static void
resume(struct init *in, int foreground)
{
	pid_t pgrp = getpgid(in->payload); /* 0 if it is carrel's own */

	if (foreground && pgrp > 0)
		(void)terminal_give(pgrp);
	in->stopped = 0;
	processes_continue(&in->halted);
	/* what ^Z stopped, as a shell's fg does */
	(void)kill(pgrp > 0 ? -pgrp : in->payload, SIGCONT);
}

static void
read_control(struct init *in)
{
	struct control m;
	int n;

	while ((n = control_receive(in->s->control, &m)) == 1) {
		switch (m.type) {
		case CONTROL_SIGNAL:
			read_signals(in);
			signal_payload(in, m.a);
			break;
		case CONTROL_STOP:
			in->stopped = 1;
			processes_stop(&in->halted);
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
	if (n == 0 || errno != EAGAIN)
		_exit(1); /* the monitor is gone */
}

void
init_run(const struct setup *s, const struct plan *plan)
{
	struct init in = {.s = s};
	struct pollfd p[2];

	watch_signals(&in);
	read_signals(
	    &in); /* what came before the payload is not the payload's */
	sigemptyset(&in.direct);
	start_payload(&in, plan);
	p[0].fd = in.sigfd;
	p[1].fd = s->control;
	p[0].events = p[1].events = POLLIN;
	for (;;) {
		if (poll(p, 2, -1) == -1 && errno != EINTR)
			_exit(1);
		/* the end of the payload is told before the monitor's */
		read_signals(&in);
		read_control(&in);
	}
}
