#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ask.h"
#include "control.h"
#include "ipc/channel.h"
#include "ipc/log.h"
#include "monitor_parts.h"
#include "missing.h"
#include "options.h"
#include "outcome.h"
#include "outside.h"
#include "start.h"
#include "status.h"
#include "terminal.h"

#define STOP_SECONDS 2 /* until everything inside has to have stopped */
#define EARLY_MS     1000
#define LAST_TURNS   16 /* more than a socket holds */
#define MESSAGES_MAX 64 /* from inside, in one turn */

/* Signals that are passed in. The rest has its default action. */
static const int passed[] = {
    SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGTERM, SIGWINCH};
static const int stops[] = {SIGTSTP, SIGTTIN, SIGTTOU};

#define NITEMS(a) (sizeof(a) / sizeof((a)[0]))

static void
watched(sigset_t *set)
{
	size_t i;

	sigemptyset(set);
	for (i = 0; i < NITEMS(passed); i++)
		sigaddset(set, passed[i]);
	for (i = 0; i < NITEMS(stops); i++)
		sigaddset(set, stops[i]);
	sigaddset(set, SIGCHLD);
	sigaddset(set, SIGCONT);
	sigaddset(set, SIGPIPE);
	sigaddset(set, SIGXFSZ); /* --events: a write(2) fails instead */
}

void
monitor_block(void)
{
	sigset_t set;

	watched(&set);
	if (sigprocmask(SIG_BLOCK, &set, NULL) == -1)
		fatal("sigprocmask: %s", strerror(errno));
}

static int
told(struct monitor *m, int *flag, enum control_type type, int a)
{
	if (!*flag)
		return 1;
	if (control_try(m->w->control, type, a, 0) == -1 && errno == EAGAIN)
		return 0;
	*flag = 0; /* or there is nobody left: SIGCHLD follows */
	return 1;
}

/*
 * Never waits: a payload that keeps pid 1 busy could make this process deaf
 * to SIGTERM and to the deadline that follows it. 1 when all is told.
 */
static int
tell(struct monitor *m)
{
	uint64_t bit;
	int sig;

	if (!told(m, &m->tell_go, CONTROL_GO, 0) ||
	    !told(m, &m->tell_grouped, CONTROL_GROUPED, 0) ||
	    !told(m, &m->tell_resume, CONTROL_RESUME, m->foreground) ||
	    !told(m, &m->tell_stop, CONTROL_STOP, 0))
		return 0;
	for (sig = 1; m->signals != 0 && sig < 64; sig++) {
		bit = UINT64_C(1) << sig;
		if ((m->signals & bit) == 0)
			continue;
		if (control_try(m->w->control, CONTROL_SIGNAL, sig,
			(m->group & bit) != 0) == -1 &&
		    errno == EAGAIN)
			return 0;
		m->signals &= ~bit;
		m->group &= ~bit;
	}
	return 1;
}

static void
resume(struct monitor *m, int foreground)
{
	m->tell_resume = 1;
	m->foreground = foreground;
}

void
monitor_give_up(struct monitor *m, int code)
{
	if (m->code == -1)
		m->code = code;
	if (!m->gone)
		(void)kill(m->w->setup, SIGKILL);
}

static void
ended(struct monitor *m, int status, int seconds)
{
	if (m->code != -1)
		return;
	m->by_payload = 1;
	m->seconds = seconds;
	if (WIFSIGNALED(status)) {
		m->signal = WTERMSIG(status);
		m->code = 128 + m->signal;
	} else
		m->code = WEXITSTATUS(status);
}

/* By pid 1's clock or by this process's, whichever is heard first. */
static void
over(struct monitor *m)
{
	m->bounds.wall_by = -1;
	if (m->code != -1)
		return;
	monitor_give_up(m, BOUND_EXIT);
}

static int
is_stop(int sig)
{
	size_t i;

	for (i = 0; i < NITEMS(stops); i++)
		if (sig == stops[i])
			return 1;
	return 0;
}

/*
 * The whole job stops, as a shell's job does: first everything inside, then
 * the terminal comes back, then this process. Begun here, ended by stopped().
 */
static void
stop(struct monitor *m, int sig)
{
	struct terminal *t = m->w->terminal;
	int ttyin = sig == SIGTTIN || sig == SIGTTOU;

	if (t->mode == TERMINAL_NONE || m->stop_by != -1 || m->code != -1)
		return;
	if (ttyin && !t->inside && terminal_lend(t))
		resume(m, 1);
	else if (terminal_job_control()) {
		m->tell_stop = 1;
		m->stop_by = channel_deadline(STOP_SECONDS);
	} else if (is_stop(sig))
		/* nobody could continue it: the kernel would not stop it */
		resume(m, 0);
}

/* Everything inside has stopped: now this process. */
static void
stopped(struct monitor *m)
{
	if (m->stop_by == -1 || m->code != -1)
		return;
	m->stop_by = -1;
	terminal_take(m->w->terminal);
	(void)kill(getpid(), SIGSTOP);
	resume(m, terminal_resumed(m->w->terminal));
}

static void
started(struct monitor *m)
{
	m->started = 1;
	monitor_tell_lost(m);
	m->w->terminal->used = 1;
	m->run = m->w->run;
	status_start(m->run);
	if (log_ready())
		missing_ptrace(m->w->options);
}

/* Not after what ended the run: there is nothing to be put into a group. */
static void
group(struct monitor *m, int limits)
{
	if (m->code != -1)
		return;
	if (bound_group(&m->bounds, limits, m->w->setup) == -1)
		monitor_give_up(m, EXIT_CARREL);
	else
		m->tell_grouped = 1;
}

/* What may come from inside before there is a payload, and after. */
static int
legal(const struct monitor *m, enum control_type type)
{
	switch (type) {
	case CONTROL_FACTORY:
		return m->going && !m->started && !m->network &&
		       m->w->outside->factory == -1;
	case CONTROL_BROKER:
		return m->going && !m->started && !m->network;
	case CONTROL_SAY:
	case CONTROL_FAILED:
	case CONTROL_REFUSED:
	case CONTROL_STARTED:
	case CONTROL_NO_EXEC:
	case CONTROL_LIMIT:
	case CONTROL_GROUP:
		return !m->started;
	case CONTROL_PROFILE:
	case CONTROL_RULE:
	case CONTROL_POLICY:
		return !m->announced && !m->started;
	case CONTROL_LISTENER:
		return !m->started && m->notifier == 0;
	case CONTROL_PLACE:
		return m->went && !m->started && m->notifier == 0;
	case CONTROL_OVER:
	case CONTROL_STOPPED:
	case CONTROL_STOPPED_ALL:
	case CONTROL_ENDED:
		return m->started && !m->by_payload;
	default:
		return 0;
	}
}

static void
message(struct monitor *m, const struct control *c)
{
	if (!legal(m, c->type) ||
	    (c->type == CONTROL_PROFILE &&
		events_profile((unsigned)c->a, (unsigned)c->b, c->text) ==
		    -1) ||
	    (c->type == CONTROL_RULE && monitor_rule(m, c) == -1) ||
	    (c->type == CONTROL_PLACE && places_hear(&m->places, c) == -1) ||
	    (c->type == CONTROL_LIMIT && bound_hear(&m->bounds, c) == -1)) {
		monitor_give_up(m, EXIT_CARREL);
		log_warn("unexpected message %d from inside; the run ends",
		    (int)c->type);
		if (c->fd != -1)
			close(c->fd);
		return;
	}
	switch (c->type) {
	case CONTROL_SAY:
		log_warn("%s", c->text);
		break;
	case CONTROL_PROFILE:
	case CONTROL_RULE:
	case CONTROL_PLACE:
		break;
	case CONTROL_POLICY:
		monitor_policy(m, c);
		break;
	case CONTROL_FACTORY:
		m->w->outside->factory = c->fd;
		break;
	case CONTROL_BROKER:
		monitor_start_outside(m, c->fd);
		break;
	case CONTROL_FAILED:
		/* the parser was killed by ^C, or the like: not worth a word */
		if (m->code == -1)
			outcome_failed(c);
		monitor_give_up(m, EXIT_CARREL);
		break;
	case CONTROL_REFUSED:
		monitor_give_up(m, EXIT_CARREL);
		break;
	case CONTROL_STARTED:
		started(m);
		break;
	case CONTROL_NO_EXEC:
		if (m->code == -1)
			monitor_give_up(m, outcome_no_exec(m->w, c));
		break;
	case CONTROL_LISTENER:
		monitor_answer_execs(m, c);
		break;
	case CONTROL_LIMIT:
		break;
	case CONTROL_GROUP:
		group(m, c->a);
		break;
	case CONTROL_OVER:
		over(m);
		break;
	case CONTROL_STOPPED:
		stop(m, c->a);
		break;
	case CONTROL_STOPPED_ALL:
		stopped(m);
		break;
	default:
		ended(m, c->a, c->b);
		break;
	}
}

static void
read_control(struct monitor *m)
{
	struct control c;
	int i, err, n = 1;

	for (i = 0; i < MESSAGES_MAX && n == 1; i++)
		if ((n = control_receive(m->w->control, &c)) == 1)
			message(m, &c);
	if (n == 0)
		m->hung_up = 1; /* SIGCHLD follows */
	else if (n == -1 && errno != EAGAIN) {
		err = errno;
		monitor_give_up(m, EXIT_CARREL);
		log_warn("a bad message from inside: %s; the run ends",
		    strerror(err));
		m->hung_up = 1;
	}
}

static void
parser_ended(struct monitor *m, int status)
{
	char why[TEXT_MAX_LEN];

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		m->going = 1;
		monitor_go(m);
		return;
	}
	if (m->code != -1)
		return;
	log_warn("%s", ask_ended(status, why, sizeof(why)));
	monitor_give_up(m, EXIT_CARREL);
}

/* pid 1 is gone, and did not say why. */
static void
inside_ended(struct monitor *m, int status)
{
	m->code = EXIT_CARREL;
	if (!WIFSIGNALED(status)) {
		log_warn("the sandbox ended without a word");
	} else if (WTERMSIG(status) == SIGKILL && m->bounds.killed > 0) {
		/* the memory was so short that even pid 1 was in the way */
		m->signal = SIGKILL;
		m->code = 128 + SIGKILL;
	} else
		log_warn("the sandbox was ended from outside by signal %d",
		    WTERMSIG(status));
}

static void
children(struct monitor *m)
{
	struct rusage usage;
	int i, status;
	pid_t pid;

	while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0) {
		if (pid == m->w->parser) {
			m->parser_gone = 1;
			parser_ended(m, status);
		}
		monitor_notifier_ended(m, pid, status);
		monitor_outside_gone(m, pid, status);
		if (pid != m->w->setup)
			continue;
		m->gone = 1;
		m->usage = usage;
		for (i = 0; i < LAST_TURNS && !m->hung_up; i++)
			read_control(m); /* its last words */
		bound_leave(&m->bounds);
		if (m->code == -1)
			inside_ended(m, status);
	}
	/* nobody is left to wait for, or never could be: no second try */
	if (pid == -1 && !m->gone) {
		log_warn("waitpid: %s", strerror(errno));
		monitor_give_up(m, EXIT_CARREL);
		m->gone = 1;
	}
}

static void
got_signal(struct monitor *m, int sig, int from_terminal)
{
	int quiet = sig == SIGWINCH || is_stop(sig);

	if (sig == SIGCHLD) {
		children(m);
		return;
	}
	if (sig == SIGCONT || sig == SIGPIPE || sig == SIGXFSZ ||
	    sigismember(&m->w->start->ignored, sig) == 1)
		return;
	/*
	 * Once the set-up is under way, pid 1 is told, and passes it on as
	 * soon as there is a payload: that may run before STARTED is here. A
	 * set-up that takes long (a slow network home) is ended by the next.
	 */
	if (!m->started) {
		if (quiet)
			return;
		if (!m->going ||
		    (m->early != -1 && channel_now() > m->early + EARLY_MS)) {
			monitor_give_up(m, 128 + sig);
			return;
		}
		if (m->early == -1)
			m->early = channel_now();
	}
	if (is_stop(sig) && m->w->terminal->mode != TERMINAL_NONE) {
		stop(m, sig);
		return;
	}
	m->signals |= UINT64_C(1) << sig;
	if (from_terminal)
		m->group |= UINT64_C(1) << sig;
	if ((sig == SIGTERM || sig == SIGHUP) && m->kill_at == -1)
		m->kill_at = channel_deadline(GRACE_SECONDS);
}

static void
read_signals(struct monitor *m)
{
	struct signalfd_siginfo si;

	while (read(m->sigfd, &si, sizeof(si)) == sizeof(si))
		got_signal(m, (int)si.ssi_signo, si.ssi_code == SI_KERNEL);
}

/*
 * The kernel tells the foreground of it, which is the payload's group while
 * that has the terminal, and can be ignored there.
 */
static void
lost_terminal(struct monitor *m, struct pollfd *p)
{
	p->fd = -1;
	p->revents = 0;
	if (m->w->terminal->inside)
		got_signal(m, SIGHUP, 1);
}

/* The earlier of two deadlines, of which -1 is none. */
static int64_t
earlier(int64_t a, int64_t b)
{
	return a == -1 || (b != -1 && b < a) ? b : a;
}

static void
loop(struct monitor *m)
{
	struct pollfd p[3 + MONITOR_SOURCES] = {
	    {.fd = m->sigfd, .events = POLLIN},
	    {.fd = m->w->control, .events = POLLIN},
	    {.fd = m->w->terminal->fd}};
	size_t i;

	while (!m->gone) {
		for (i = 0; i < MONITOR_SOURCES; i++) {
			p[3 + i].fd = m->sources[i];
			p[3 + i].events = POLLIN;
		}
		p[1].fd = m->hung_up ? -1 : m->w->control;
		p[1].events = POLLIN | (tell(m) ? 0 : POLLOUT);
		if (poll(p, NITEMS(p),
			channel_left(earlier(m->bounds.wall_by,
			    earlier(m->kill_at, m->stop_by)))) == -1 &&
		    errno != EINTR) {
			log_warn("poll: %s", strerror(errno));
			monitor_give_up(m, EXIT_CARREL);
		}
		if (!m->hung_up)
			read_control(m);
		for (i = 0; i < MONITOR_SOURCES; i++)
			monitor_read_events(m, &m->sources[i]);
		if (m->started)
			status_surfaces(m->run, events_surfaces());
		read_signals(m);
		if ((p[2].revents & POLLHUP) != 0)
			lost_terminal(m, &p[2]);
		if (m->stop_by != -1 && channel_now() >= m->stop_by)
			m->stop_by = -1; /* something inside does not stop */
		if (m->bounds.wall_by != -1 &&
		    channel_now() >= m->bounds.wall_by)
			over(m);
		if (m->kill_at != -1 && channel_now() >= m->kill_at) {
			m->kill_at = -1;
			monitor_give_up(m, 128 + SIGKILL);
		}
	}
}

int
monitor_run(const struct monitored *w)
{
	struct monitor m = {
	    .w = w, .code = -1, .kill_at = -1, .stop_by = -1, .early = -1};
	struct events_end end;
	sigset_t set;
	size_t i;
	int code;

	m.run = "";
	bound_init(&m.bounds);
	for (i = 0; i < MONITOR_SOURCES; i++)
		m.sources[i] = i < w->nsources ? w->sources[i] : -1;
	watched(&set);
	m.sigfd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (m.sigfd == -1) {
		log_warn("signalfd: %s", strerror(errno));
		(void)kill(w->setup, SIGKILL);
		return EXIT_CARREL;
	}
	loop(&m);
	/* a parser that hangs while nothing waits for it any more */
	if (!m.parser_gone)
		(void)kill(w->parser, SIGKILL);
	terminal_leave(w->terminal);
	if (m.by_payload || m.signal != 0)
		bound_ended(&m.bounds, m.signal, m.seconds);
	else if (m.code == BOUND_EXIT)
		bound_over(&m.bounds);
	bound_free(&m.bounds);
	monitor_last_events(&m);
	if ((w->outside->failed || m.unseen) && m.started && m.by_payload) {
		m.code = EXIT_CARREL;
		m.by_payload = m.signal = 0;
	}
	end.started = m.started;
	end.by_payload = m.by_payload;
	end.code = m.code;
	end.signal = m.signal;
	end.usage = &m.usage;
	code = events_end(&end);
	if (code != m.code)
		m.by_payload = m.signal = 0;
	if (m.started)
		status_surfaces(m.run, events_surfaces());
	status_end(m.run, m.by_payload, code, m.signal, events_times());
	return code;
}
