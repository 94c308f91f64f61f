#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ask.h"
#include "bound.h"
#include "control.h"
#include "events.h"
#include "ipc/cause.h"
#include "ipc/channel.h"
#include "ipc/log.h"
#include "missing.h"
#include "monitor.h"
#include "notify.h"
#include "options.h"
#include "outside.h"
#include "payload.h"
#include "start.h"
#include "status.h"
#include "terminal.h"

#define STOP_SECONDS 2 /* until everything inside has to have stopped */
#define EARLY_MS     1000
#define LAST_MS	     500 /* for the last events of the broker */
#define LAST_TURNS   16	 /* more than a socket holds */
#define MESSAGES_MAX 64	 /* from inside, in one turn */
#define EVENTS_TURN  64	 /* of one source likewise */
#define RUN_LEN	     32	 /* hex digits of CARREL_RUN */

struct monitor {
	const struct monitored *w;
	int sigfd;
	int sources[MONITOR_SOURCES]; /* of events; -1: it is gone */
	int going;		      /* the parser ended well */
	/* when a signal came between that and the payload, or -1 */
	int64_t early;
	int started;	/* the payload was executed */
	int network;	/* the broker was asked for */
	char lost[256]; /* "", or why it is gone and what that means */
	/* what is still to be told, as soon as pid 1 has room for it */
	uint64_t signals, group; /* bit N: signal N; for the payload's group */
	int tell_go, tell_grouped, tell_stop, tell_resume, foreground;
	int64_t stop_by; /* pid 1 stops everything by then; -1: it need not */
	int parser_gone; /* reaped: its pid may be another's */
	int hung_up;	 /* the other end of control is closed */
	int gone;	 /* the set-up process, and so all inside, has ended */
	int by_payload;	 /* code is the payload's own */
	int code;	 /* -1 until it is known */
	int signal;	 /* that ended the payload */
	int seconds;	 /* of processor time that it took */
	struct bounds bounds;
	int64_t kill_at; /* after SIGTERM or SIGHUP; -1: never */
	pid_t notifier;	 /* answers attempts to execute; 0: there is none */
	char run[RUN_LEN + 1];
};

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

/* The run ends with this code; what is inside is killed with pid 1. */
static void
give_up(struct monitor *m, int code)
{
	if (m->code == -1)
		m->code = code;
	if (!m->gone)
		(void)kill(m->w->setup, SIGKILL);
}

static void
failed(struct monitor *m, const struct control *c)
{
	char why[TEXT_MAX_LEN];

	/* the parser was killed by ^C, or the like: not worth a word */
	if (m->code != -1)
		return;
	cause_of((enum cause_step)c->a, c->b, why, sizeof(why));
	log_warn("%s%s%s%s%s", c->text, c->b != 0 ? ": " : "",
	    c->b != 0 ? strerror(c->b) : "", why[0] != '\0' ? "; " : "", why);
	give_up(m, EXIT_CARREL);
}

static const char *
refused_fix(int err)
{
	switch (err) {
	case EACCES:
		return "make it executable (chmod +x), or name the program "
		       "that runs it";
	case ENOEXEC:
		return "begin it with a line like #!/bin/sh, or name the "
		       "program that runs it";
	case E2BIG:
		return "the arguments and the environment are too long "
		       "together, see execve(2)";
	default:
		return "see execve(2)";
	}
}

static void
no_exec(struct monitor *m, const struct control *c)
{
	const struct monitored *w = m->w;
	const char *name =
	    w->options->shell ? "your shell" : w->options->argv[0];

	if (m->code != -1)
		return;
	switch (c->a) {
	case PAYLOAD_NOT_FOUND:
		missing_tell(w->options, w->caller, w->start, c->text);
		give_up(m, 127);
		break;
	case PAYLOAD_INTERPRETER:
		log_warn("%s is there, but what runs it is not: \"%s\" is not "
			 "inside; add a profile that grants it",
		    name, c->text);
		give_up(m, 127);
		break;
	case PAYLOAD_LOCKED:
		log_warn("\"%s\" cannot be executed: the profiles say which "
			 "programs can, and it is none of them; see carrel "
			 "explain, or add \"interpreter = %s\" to a profile",
		    c->text, c->text);
		give_up(m, 126);
		break;
	case PAYLOAD_REFUSED:
		log_warn("\"%s\" cannot be executed: %s; %s", c->text,
		    strerror(c->b), refused_fix(c->b));
		give_up(m, 126);
		break;
	default:
		/* only seccomp(2) says so */
		log_warn("cannot give the payload %s: %s%s", c->text,
		    strerror(c->b),
		    c->b == EBUSY ? "; another sandbox around this one answers "
				    "system calls already, seccomp_unotify(2)"
				  : "");
		give_up(m, EXIT_CARREL);
		break;
	}
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
	give_up(m, BOUND_EXIT);
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

/*
 * What served the network is gone: told once. Before there is a payload the
 * set-up notices, and knows better why. Later the payload sees resets, and may
 * go on; but nobody shall take that for a run that had its network.
 */
static void
tell_lost(struct monitor *m)
{
	if (m->lost[0] == '\0' || !m->started)
		return;
	log_warn("%s", m->lost);
	m->lost[0] = '\0';
}

static void
started(struct monitor *m, const struct control *c)
{
	m->started = 1;
	tell_lost(m);
	m->w->terminal->used = 1;
	/* it goes into JSON: hex digits or nothing */
	snprintf(m->run, sizeof(m->run), "%.*s", RUN_LEN, c->text);
	m->run[strspn(m->run, "0123456789abcdef")] = '\0';
	status_start(m->run);
	missing_ptrace(m->w->options);
}

/* A place for one more source of events; NULL: there is none. */
static int *
free_source(struct monitor *m)
{
	size_t i;

	for (i = 0; i < MONITOR_SOURCES; i++)
		if (m->sources[i] == -1)
			return &m->sources[i];
	return NULL;
}

/* The payload is about to be executed, and waits until somebody lets it. */
static void
answer_execs(struct monitor *m, const struct control *c)
{
	struct notify n = {.listener = c->fd, .flags = c->a, .events = -1};
	int pair[2], *source = free_source(m);

	if ((c->a & ~NOTIFY_FLAGS) == 0 && (c->a & NOTIFY_REPORT) != 0 &&
	    source != NULL && channel_pair(pair) == 0) {
		*source = pair[0];
		n.events = pair[1];
	}
	if ((c->a & ~NOTIFY_FLAGS) == 0 &&
	    ((c->a & NOTIFY_REPORT) == 0 || n.events != -1))
		m->notifier = notify_start(&n);
	else
		close(c->fd);
	if (m->notifier > 0)
		return;
	m->notifier = 0;
	log_warn("cannot start what answers for [exec]: %s; the run ends",
	    strerror(errno));
	give_up(m, EXIT_CARREL);
}

static void
start_outside(struct monitor *m, int factory)
{
	m->network = 1;
	if (outside_start(m->w->outside, m->w->install,
		!m->w->options->without_landlock, factory) == -1) {
		log_warn("start what serves the network: %s", strerror(errno));
		give_up(m, EXIT_CARREL);
	}
	m->sources[MONITOR_SOURCES - 1] = m->w->outside->events;
}

static void
outside_gone(struct monitor *m, pid_t pid, int status)
{
	(void)outside_ended(
	    m->w->outside, pid, status, m->lost, sizeof(m->lost));
	tell_lost(m);
}

/* Not after what ended the run: there is nothing to be put into a group. */
static void
group(struct monitor *m, int limits)
{
	if (m->code != -1)
		return;
	if (bound_group(&m->bounds, limits, m->w->setup) == -1)
		give_up(m, EXIT_CARREL);
	else
		m->tell_grouped = 1;
}

/* What may come from inside before there is a payload, and after. */
static int
legal(const struct monitor *m, enum control_type type)
{
	switch (type) {
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
	case CONTROL_LISTENER:
		return !m->started && m->notifier == 0;
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
	    (c->type == CONTROL_LIMIT && bound_hear(&m->bounds, c) == -1)) {
		log_warn("unexpected message %d from inside; the run ends",
		    (int)c->type);
		give_up(m, EXIT_CARREL);
		if (c->fd != -1)
			close(c->fd);
		return;
	}
	switch (c->type) {
	case CONTROL_SAY:
		log_warn("%s", c->text);
		break;
	case CONTROL_BROKER:
		start_outside(m, c->a);
		break;
	case CONTROL_FAILED:
		failed(m, c);
		break;
	case CONTROL_REFUSED:
		give_up(m, EXIT_CARREL);
		break;
	case CONTROL_STARTED:
		started(m, c);
		break;
	case CONTROL_NO_EXEC:
		no_exec(m, c);
		break;
	case CONTROL_LISTENER:
		answer_execs(m, c);
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
	int i, n = 1;

	for (i = 0; i < MESSAGES_MAX && n == 1; i++)
		if ((n = control_receive(m->w->control, &c)) == 1)
			message(m, &c);
	if (n == 0)
		m->hung_up = 1; /* SIGCHLD follows */
	else if (n == -1 && errno != EAGAIN) {
		log_warn("a bad message from inside: %s; the run ends",
		    strerror(errno));
		give_up(m, EXIT_CARREL);
		m->hung_up = 1;
	}
}

static void
parser_ended(struct monitor *m, int status)
{
	char why[TEXT_MAX_LEN];

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		m->going = 1;
		m->tell_go = 1;
		return;
	}
	if (m->code != -1)
		return;
	log_warn("%s", ask_ended(status, why, sizeof(why)));
	give_up(m, EXIT_CARREL);
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

/* Without it every attempt to execute fails, and nobody would know why. */
static void
notifier_ended(struct monitor *m, int status)
{
	m->notifier = 0;
	if (m->gone || m->code != -1 || status == 0)
		return;
	log_warn("what answers for [exec] ended by itself; the run ends");
	give_up(m, EXIT_CARREL);
}

static void
children(struct monitor *m)
{
	int i, status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == m->w->parser) {
			m->parser_gone = 1;
			parser_ended(m, status);
		}
		if (pid == m->notifier)
			notifier_ended(m, status);
		outside_gone(m, pid, status);
		if (pid != m->w->setup)
			continue;
		m->gone = 1;
		for (i = 0; i < LAST_TURNS && !m->hung_up; i++)
			read_control(m); /* its last words */
		bound_leave(&m->bounds);
		if (m->code == -1)
			inside_ended(m, status);
	}
	/* nobody is left to wait for, or never could be: no second try */
	if (pid == -1 && !m->gone) {
		log_warn("waitpid: %s", strerror(errno));
		give_up(m, EXIT_CARREL);
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
	if (sig == SIGCONT || sig == SIGPIPE ||
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
			give_up(m, 128 + sig);
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
 * What was refused inside. Whoever sends is the payload's peer, and may be
 * sent more than there is time for: so many in a turn.
 */
static void
read_events(struct monitor *m, int *source)
{
	uint8_t buf[EVENT_BYTES_MAX];
	struct event e;
	int i, n = -1;

	errno = EAGAIN;
	for (i = 0; i < EVENTS_TURN && *source != -1; i++) {
		if ((n = event_receive(*source, &e, buf)) != 1)
			break;
		if (events_take(&e) == EVENTS_KILL)
			give_up(m, EVENTS_EXIT);
	}
	if (n == 1 || (n == -1 && errno == EAGAIN))
		return;
	if (n == -1) {
		log_warn("a bad event from a helper: %s; the run ends",
		    strerror(errno));
		give_up(m, EXIT_CARREL);
	}
	*source = -1;
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
			give_up(m, EXIT_CARREL);
		}
		if (!m->hung_up)
			read_control(m);
		for (i = 0; i < MONITOR_SOURCES; i++)
			read_events(m, &m->sources[i]);
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
			give_up(m, 128 + SIGKILL);
		}
	}
}

/*
 * What was on its way when the payload died. The broker, which is told now,
 * has to look at what the kernel refused last, and then hangs up.
 */
static void
last_events(struct monitor *m)
{
	struct pollfd p = {.events = POLLIN};
	int64_t deadline = channel_now() + LAST_MS;
	int *broker = &m->sources[MONITOR_SOURCES - 1];
	size_t i, k;

	outside_finish(m->w->outside);
	for (i = 0; i < MONITOR_SOURCES - 1; i++)
		for (k = 0; k < LAST_TURNS && m->sources[i] != -1; k++)
			read_events(m, &m->sources[i]);
	while (*broker != -1 && channel_left(deadline) > 0) {
		p.fd = *broker;
		(void)poll(&p, 1, channel_left(deadline));
		read_events(m, broker);
	}
	outside_end(m->w->outside, m->lost, sizeof(m->lost));
	tell_lost(m);
}

int
monitor_run(const struct monitored *w)
{
	struct monitor m = {
	    .w = w, .code = -1, .kill_at = -1, .stop_by = -1, .early = -1};
	sigset_t set;
	size_t i;
	int code;

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
	if (m.notifier > 0) {
		(void)kill(m.notifier, SIGKILL);
		(void)waitpid(m.notifier, NULL, 0);
	}
	terminal_leave(w->terminal);
	if (m.by_payload || m.signal != 0)
		bound_ended(&m.bounds, m.signal, m.seconds);
	else if (m.code == BOUND_EXIT)
		bound_over(&m.bounds);
	bound_free(&m.bounds);
	last_events(&m);
	if (w->outside->failed && m.started && m.by_payload) {
		m.code = EXIT_CARREL;
		m.by_payload = m.signal = 0;
	}
	code = events_end(m.code, m.by_payload);
	if (code != m.code)
		m.by_payload = m.signal = 0;
	status_end(m.run, m.by_payload, code, m.signal);
	return code;
}
