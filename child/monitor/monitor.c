#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ask.h"
#include "ceiling.h"
#include "ipc/channel.h"
#include "ipc/log.h"
#include "learn.h"
#include "monitor_parts.h"
#include "options.h"
#include "outside.h"
#include "parent/hosted.h"
#include "parent/start.h"
#include "status.h"
#include "terminal.h"

#define EARLY_MS   1000 /* after a first signal the next one ends a set-up */
#define LAST_TURNS 16	/* more than a socket holds */

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

/* Pid 1, and the kernel ends all that is inside with it. */
static void
kill_inside(const struct monitored *w)
{
	if (w->setup.pidfd != -1)
		(void)syscall(
		    SYS_pidfd_send_signal, w->setup.pidfd, SIGKILL, NULL, 0);
	else
		(void)kill(w->setup.inside, SIGKILL);
}

void
monitor_give_up(struct monitor *m, int code)
{
	if (m->code == -1)
		m->code = code;
	if (!m->gone)
		kill_inside(m->w);
}

int
monitor_is_stop(int sig)
{
	size_t i;

	for (i = 0; i < NITEMS(stops); i++)
		if (sig == stops[i])
			return 1;
	return 0;
}

/* One of the two, and what waits for it. */
static void
parser_ended(struct monitor *m, int status, int *well,
    const char *(*tell)(int, char *, size_t))
{
	char why[TEXT_MAX_LEN];

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		*well = 1;
		monitor_go(m);
		return;
	}
	if (m->code != -1)
		return;
	log_warn("%s", tell(status, why, sizeof(why)));
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

/* Nothing is left inside. */
static void
inside_gone(struct monitor *m, int status, const struct rusage *usage)
{
	int i;

	m->gone = 1;
	m->usage = *usage;
	for (i = 0; i < LAST_TURNS && !m->hung_up; i++)
		monitor_read_control(m); /* its last words */
	bound_leave(&m->bounds);
	if (m->code == -1)
		inside_ended(m, status);
}

/* Hosted mode: it is no child of this process. */
static void
hear_end(struct monitor *m)
{
	struct over o;
	int fds[PASS_FDS];
	size_t n;

	if (pass_receive(m->w->setup.server, &o, sizeof(o), fds, &n) !=
	    sizeof(o)) {
		memset(&o, 0, sizeof(o));
		o.status = 1 << 8;
	}
	while (n > 0)
		close(fds[--n]);
	inside_gone(m, o.status, &o.used);
}

static void
children(struct monitor *m)
{
	struct rusage usage;
	int status;
	pid_t pid;

	while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0) {
		if (pid == m->w->parser) {
			m->parser_gone = 1;
			parser_ended(m, status, &m->going, ask_ended);
		}
		if (pid == m->w->ceiling) {
			m->ceiling_gone = 1;
			parser_ended(m, status, &m->limited, ceiling_ended);
		}
		monitor_notifier_ended(m, pid, status);
		monitor_outside_gone(m, pid, status);
		if (pid == m->w->setup.child && !m->gone)
			inside_gone(m, status, &usage);
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
	int quiet = sig == SIGWINCH || monitor_is_stop(sig);

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
	if (monitor_is_stop(sig) && m->w->terminal->mode != TERMINAL_NONE) {
		monitor_stop(m, sig);
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
	struct pollfd p[4 + MONITOR_SOURCES] = {
	    {.fd = m->sigfd, .events = POLLIN},
	    {.fd = m->w->control, .events = POLLIN}, {.fd = m->w->terminal->fd},
	    {.fd = m->w->setup.pidfd, .events = POLLIN}};
	int64_t by;
	size_t i;

	while (!m->gone) {
		for (i = 0; i < MONITOR_SOURCES; i++) {
			p[4 + i].fd = m->sources[i];
			p[4 + i].events = POLLIN;
		}
		p[1].fd = m->hung_up ? -1 : m->w->control;
		p[1].events = POLLIN | (monitor_tell(m) ? 0 : POLLOUT);
		monitor_patience(m);
		by =
		    earlier(m->bounds.wall_by, earlier(m->kill_at, m->stop_by));
		by = earlier(by, monitor_patience_by(m));
		if (poll(p, NITEMS(p), channel_left(by)) == -1 &&
		    errno != EINTR) {
			log_warn("poll: %s", strerror(errno));
			monitor_give_up(m, EXIT_CARREL);
		}
		if (!m->hung_up)
			monitor_read_control(m);
		for (i = 0; i < MONITOR_SOURCES; i++)
			monitor_read_events(m, &m->sources[i]);
		if (m->started)
			status_surfaces(m->run, events_surfaces());
		read_signals(m);
		if (p[3].revents != 0 && !m->gone)
			hear_end(m);
		if ((p[2].revents & POLLHUP) != 0)
			lost_terminal(m, &p[2]);
		if (m->stop_by != -1 && channel_now() >= m->stop_by)
			m->stop_by = -1; /* something inside does not stop */
		if (m->bounds.wall_by != -1 &&
		    channel_now() >= m->bounds.wall_by)
			monitor_over(m);
		if (m->kill_at != -1 && channel_now() >= m->kill_at) {
			m->kill_at = -1;
			monitor_give_up(m, 128 + SIGKILL);
		}
	}
}

int
monitor_run(const struct monitored *w)
{
	struct monitor m = {.w = w,
	    .code = -1,
	    .kill_at = -1,
	    .stop_by = -1,
	    .early = -1,
	    .said_by = -1};
	struct events_end end;
	sigset_t set;
	size_t i;
	int code;

	m.run = "";
	m.limited = m.ceiling_gone = w->ceiling == -1;
	bound_init(&m.bounds);
	for (i = 0; i < MONITOR_SOURCES; i++)
		m.sources[i] = i < w->nsources ? w->sources[i] : -1;
	watched(&set);
	m.sigfd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (m.sigfd == -1) {
		log_warn("signalfd: %s", strerror(errno));
		kill_inside(w);
		return EXIT_CARREL;
	}
	loop(&m);
	/* a parser that hangs while nothing waits for it any more */
	if (!m.parser_gone)
		(void)kill(w->parser, SIGKILL);
	if (!m.ceiling_gone)
		(void)kill(w->ceiling, SIGKILL);
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
	/* a command that is not there inside is something to learn, too */
	if (w->options->learn && (m.started || (m.went && code != EXIT_CARREL)))
		code = learn_end(w, code);
	if (code != m.code)
		m.by_payload = m.signal = 0;
	if (m.started)
		status_surfaces(m.run, events_surfaces());
	/* it has heard that this was all, and writes its last record */
	if (w->setup.server != -1)
		(void)waitpid(w->setup.child, NULL, 0);
	status_end(m.run, m.by_payload, code, m.signal, events_times());
	return code;
}
