#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child/monitor/options.h"
#include "child/monitor/processes.h"
#include "control.h"
#include "init.h"
#include "ipc/cause.h"
#include "limit.h"
#include "payload.h"
#include "plan.h"
#include "setup.h"

#define REAP_MAX     64 /* of what ends and what is said, in one turn */
#define MESSAGES_MAX 64

struct init {
	const struct setup *s;
	const struct limits *limits;
	int sigfd;
	int wall; /* its timer, or -1: there is no limit */
	pid_t payload;
	int ended;   /* the payload has ended, with */
	int status;  /* this wait status */
	int seconds; /* and so much processor time */
	int stopped; /* everything inside was stopped for the monitor */
	struct processes halted;
};

static void __attribute__((noreturn)) end(const struct init *in)
{
	if (in->ended)
		control_send(in->s->control, CONTROL_ENDED, in->status,
		    in->seconds, NULL);
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

/*
 * vfork(2): this process has nothing to do before the payload is executed,
 * and copying its memory for that would take longer than the rest of it.
 */
static void
start_payload(struct init *in, const struct plan *plan)
{
	volatile int failed = 0;
	pid_t pid;

	pid = vfork();
	if (pid == 0)
		/* made for that, and does not return:
		   NOLINTNEXTLINE(clang-analyzer-unix.Vfork) */
		payload_exec(in->s, plan, in->limits, &failed);
	in->payload = pid;
	if (pid == -1)
		control_send(in->s->control, CONTROL_FAILED, CAUSE_OTHER, errno,
		    "start the payload");
	if (pid == -1 || failed)
		_exit(1); /* the child has told why */
	control_send(in->s->control, CONTROL_STARTED, 0, 0, NULL);
}

/*
 * The payload cannot put this off: it may not touch pid 1, and no stop stops
 * the clock, nor does a sleep of the machine.
 */
static void
start_clock(struct init *in)
{
	struct itimerspec t = {.it_value = {0}};
	uint64_t ms = in->limits->value[LIMIT_WALL_TIME];

	in->wall = -1;
	if (!in->limits->set[LIMIT_WALL_TIME])
		return;
	t.it_value.tv_sec = (time_t)(ms / 1000);
	t.it_value.tv_nsec = (long)(ms % 1000) * 1000000;
	in->wall = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (in->wall == -1 || timerfd_settime(in->wall, 0, &t, NULL) == -1) {
		control_send(in->s->control, CONTROL_FAILED, CAUSE_OTHER, errno,
		    "a timer for the wall time");
		_exit(1);
	}
}

static void
look_at_clock(const struct init *in)
{
	uint64_t times;

	if (in->wall == -1 ||
	    read(in->wall, &times, sizeof(times)) != sizeof(times))
		return;
	control_send(in->s->control, CONTROL_OVER, 0, 0, NULL);
	_exit(0);
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

/* Those that came while the set-up waited for the monitor. */
static void
early_signals(const struct init *in)
{
	const struct limits *l = in->limits;
	int sig;

	for (sig = 1; l->signals != 0 && sig < 64; sig++)
		if (l->signals & UINT64_C(1) << sig)
			signal_payload(
			    in, sig, (l->group & UINT64_C(1) << sig) != 0);
}

static void
changed(struct init *in, int status, const struct rusage *used)
{
	if (!WIFSTOPPED(status)) {
		in->ended = 1;
		in->status = status;
		in->seconds =
		    (int)(used->ru_utime.tv_sec + used->ru_stime.tv_sec +
			  (used->ru_utime.tv_usec + used->ru_stime.tv_usec) /
			      1000000);
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
	struct rusage used;
	int status, i;
	pid_t pid = 0;

	if (!in->ended &&
	    wait4(in->payload, &status, WNOHANG | WUNTRACED, &used) > 0)
		changed(in, status, &used);
	if (in->ended && !in->s->options->wait_all)
		end(in);
	for (i = 0; i < REAP_MAX; i++) {
		pid = wait4(-1, &status, WNOHANG | WUNTRACED, &used);
		if (pid <= 0)
			break;
		if (pid == in->payload)
			changed(in, status, &used);
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
init_run(
    const struct setup *s, const struct plan *plan, const struct limits *limits)
{
	struct init in = {.s = s, .limits = limits};
	struct signalfd_siginfo si;
	struct pollfd p[3];
	int more = 0;

	watch_signals(&in);
	start_clock(&in);
	start_payload(&in, plan);
	early_signals(&in);
	p[0].fd = in.sigfd;
	p[1].fd = s->control;
	p[2].fd = in.wall;
	p[0].events = p[1].events = p[2].events = POLLIN;
	for (;;) {
		if (poll(p, 3, more ? 0 : -1) == -1 && errno != EINTR)
			_exit(1);
		/* one SIGCHLD may stand for many: reap() asks itself */
		(void)!read(in.sigfd, &si, sizeof(si));
		/* the end of the payload is told before the monitor's */
		more = reap(&in);
		look_at_clock(&in);
		read_control(&in);
	}
}
