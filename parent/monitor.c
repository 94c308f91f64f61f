#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ask.h"
#include "control.h"
#include "ipc/cause.h"
#include "ipc/channel.h"
#include "ipc/log.h"
#include "missing.h"
#include "monitor.h"
#include "options.h"
#include "payload.h"
#include "start.h"
#include "status.h"
#include "terminal.h"

#define STOP_SECONDS 2 /* until everything inside has to have stopped */
#define RUN_LEN	     33

struct monitor {
	const struct monitored *w;
	int sigfd;
	int going;	 /* the parser ended well */
	int early;	 /* a signal came between that and the payload */
	int started;	 /* the payload was executed */
	int stopped_all; /* pid 1's answer to CONTROL_STOP */
	int stopping;	 /* in stop() */
	int parser_gone; /* reaped: its pid may be another's */
	int gone;	 /* the set-up process, and so all inside, has ended */
	int by_payload;	 /* code is the payload's own */
	int code;	 /* -1 until it is known */
	int signal;	 /* that ended the payload */
	int64_t kill_at; /* after SIGTERM or SIGHUP; -1: never */
	char run[RUN_LEN];
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
	case PAYLOAD_REFUSED:
		log_warn(
		    "\"%s\" cannot be executed: %s", c->text, strerror(c->b));
		give_up(m, 126);
		break;
	default:
		log_warn(
		    "cannot give the payload %s: %s", c->text, strerror(c->b));
		give_up(m, EXIT_CARREL);
		break;
	}
}

static void
ended(struct monitor *m, int status)
{
	if (m->code != -1)
		return;
	m->by_payload = 1;
	if (WIFSIGNALED(status)) {
		m->signal = WTERMSIG(status);
		m->code = 128 + m->signal;
	} else
		m->code = WEXITSTATUS(status);
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

static void read_control(struct monitor *);

/*
 * The whole job stops, as a shell's job does: first everything inside, then
 * the terminal comes back, then this process.
 */
static void
stop(struct monitor *m, int sig)
{
	struct pollfd p = {.fd = m->w->control, .events = POLLIN};
	int64_t until = channel_deadline(STOP_SECONDS);

	if (m->stopping || m->w->terminal->mode == TERMINAL_NONE)
		return;
	if (!terminal_job_control()) {
		/* nobody could continue it: the kernel would not stop it */
		if (is_stop(sig))
			(void)control_send(
			    m->w->control, CONTROL_RESUME, 0, 0, NULL);
		return;
	}
	if (control_send(m->w->control, CONTROL_STOP, 0, 0, NULL) == -1)
		return;
	m->stopping = 1;
	m->stopped_all = 0;
	while (!m->stopped_all && m->code == -1 && channel_now() < until) {
		(void)poll(&p, 1, (int)(until - channel_now()));
		read_control(m);
		if ((p.revents & (POLLHUP | POLLERR)) != 0)
			break;
	}
	terminal_take(m->w->terminal);
	(void)kill(getpid(), SIGSTOP);
	(void)control_send(m->w->control, CONTROL_RESUME,
	    terminal_resumed(m->w->terminal), 0, NULL);
	m->stopping = 0;
}

static void
message(struct monitor *m, const struct control *c)
{
	switch (c->type) {
	case CONTROL_SAY:
		log_warn("%s", c->text);
		break;
	case CONTROL_FAILED:
		failed(m, c);
		break;
	case CONTROL_REFUSED:
		give_up(m, EXIT_CARREL);
		break;
	case CONTROL_STARTED:
		m->started = 1;
		m->w->terminal->used = 1;
		snprintf(m->run, sizeof(m->run), "%.32s", c->text);
		/* it goes into JSON: hex digits or nothing */
		m->run[strspn(m->run, "0123456789abcdef")] = '\0';
		status_start(m->w->options->status_fd, m->run);
		break;
	case CONTROL_NO_EXEC:
		no_exec(m, c);
		break;
	case CONTROL_STOPPED:
		stop(m, c->a);
		break;
	case CONTROL_STOPPED_ALL:
		m->stopped_all = 1;
		break;
	case CONTROL_ENDED:
		ended(m, c->a);
		break;
	default:
		log_warn("unexpected message from inside");
		give_up(m, EXIT_CARREL);
		break;
	}
}

static void
read_control(struct monitor *m)
{
	struct control c;
	int n;

	while ((n = control_receive(m->w->control, &c)) == 1)
		message(m, &c);
	if (n == -1 && errno != EAGAIN) {
		log_warn("a bad message from inside: %s", strerror(errno));
		give_up(m, EXIT_CARREL);
	}
}

static void
parser_ended(struct monitor *m, int status)
{
	char why[TEXT_MAX_LEN];

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		m->going = 1;
		(void)control_send(m->w->control, CONTROL_GO, 0, 0, NULL);
		return;
	}
	if (m->code != -1)
		return;
	log_warn("%s", ask_ended(status, why, sizeof(why)));
	give_up(m, EXIT_CARREL);
}

static void
children(struct monitor *m)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == m->w->parser) {
			m->parser_gone = 1;
			parser_ended(m, status);
		}
		if (pid != m->w->setup)
			continue;
		m->gone = 1;
		read_control(m); /* its last words */
		if (m->code == -1 && WIFSIGNALED(status))
			log_warn("the sandbox was ended from outside by "
				 "signal %d",
			    WTERMSIG(status));
		else if (m->code == -1)
			log_warn("the sandbox ended without a word");
		if (m->code == -1)
			m->code = EXIT_CARREL;
	}
}

static void
got_signal(struct monitor *m, int sig)
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
	 * soon as there is a payload: that may run before STARTED is here.
	 */
	if (!m->started) {
		if (quiet)
			return;
		if (!m->going || m->early) {
			give_up(m, 128 + sig);
			return;
		}
		m->early = 1;
	}
	if (is_stop(sig) && m->w->terminal->mode != TERMINAL_NONE) {
		stop(m, sig);
		return;
	}
	(void)control_send(m->w->control, CONTROL_SIGNAL, sig, 0, NULL);
	if ((sig == SIGTERM || sig == SIGHUP) && m->kill_at == -1)
		m->kill_at = channel_deadline(GRACE_SECONDS);
}

static void
read_signals(struct monitor *m)
{
	struct signalfd_siginfo si;

	while (read(m->sigfd, &si, sizeof(si)) == sizeof(si))
		got_signal(m, (int)si.ssi_signo);
}

static int
timeout(const struct monitor *m)
{
	int64_t left;

	if (m->kill_at == -1)
		return -1;
	left = m->kill_at - channel_now();
	return left < 0 ? 0 : (int)left;
}

static void
loop(struct monitor *m)
{
	struct pollfd p[2] = {{.fd = m->sigfd, .events = POLLIN},
	    {.fd = m->w->control, .events = POLLIN}};

	while (!m->gone) {
		if (poll(p, 2, timeout(m)) == -1 && errno != EINTR)
			give_up(m, EXIT_CARREL);
		if ((p[1].revents & POLLIN) != 0)
			read_control(m);
		else if ((p[1].revents & (POLLHUP | POLLERR)) != 0)
			p[1].fd = -1; /* SIGCHLD follows */
		read_signals(m);
		if (m->kill_at != -1 && channel_now() >= m->kill_at)
			give_up(m, 128 + SIGKILL);
	}
}

int
monitor_run(const struct monitored *w)
{
	struct monitor m = {.w = w, .code = -1, .kill_at = -1};
	sigset_t set;

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
	terminal_take(w->terminal);
	status_end(w->options->status_fd, m.run,
	    m.by_payload ? "payload" : "carrel", m.code, m.signal);
	return m.code;
}
