#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child/setup/control.h"
#include "ipc/channel.h"
#include "ipc/log.h"
#include "missing.h"
#include "monitor_parts.h"
#include "options.h"
#include "outcome.h"
#include "outside.h"
#include "status.h"
#include "terminal.h"

/* What pid 1 is told, and what comes from it. */

#define STOP_SECONDS 2	/* until everything inside has to have stopped */
#define MESSAGES_MAX 64 /* from inside, in one turn */

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
int
monitor_tell(struct monitor *m)
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
void
monitor_over(struct monitor *m)
{
	m->bounds.wall_by = -1;
	if (m->code != -1)
		return;
	monitor_give_up(m, BOUND_EXIT);
}

/*
 * The whole job stops, as a shell's job does: first everything inside, then
 * the terminal comes back, then this process. Begun here, ended by stopped().
 */
void
monitor_stop(struct monitor *m, int sig)
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
	} else if (monitor_is_stop(sig))
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
	if (bound_group(&m->bounds, limits, m->w->setup.inside) == -1)
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
	case CONTROL_FIRST:
		return m->went && !m->started && m->notifier == 0 &&
		       m->w->options->nuses > 0 && m->first == NULL;
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
	    (c->type == CONTROL_FIRST &&
		(m->first = strdup(c->text)) == NULL) ||
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
	case CONTROL_FIRST:
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
		monitor_over(m);
		break;
	case CONTROL_STOPPED:
		monitor_stop(m, c->a);
		break;
	case CONTROL_STOPPED_ALL:
		stopped(m);
		break;
	default:
		ended(m, c->a, c->b);
		break;
	}
}

void
monitor_read_control(struct monitor *m)
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
