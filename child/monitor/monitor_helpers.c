#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child/setup/control.h"
#include "ipc/channel.h"
#include "ipc/limits.h"
#include "ipc/log.h"
#include "monitor_parts.h"
#include "options.h"
#include "outside.h"
#include "parent/start.h"

#define LAST_MS	    500 /* for the last events of the broker */
#define EVENTS_TURN 64	/* of one source in one turn */

/* What a sink of events has to say. */
static void
obey(struct monitor *m, enum events_verdict v)
{
	if (v == EVENTS_KILL)
		monitor_give_up(m, EVENTS_EXIT);
	else if (v == EVENTS_BROKEN && m->code == -1) {
		monitor_give_up(m, EXIT_CARREL);
		log_warn("--require-audit: the host's log took nothing; the "
			 "run ends");
	}
}

/*
 * The set-up may go on when its policy's sender ended well, and, where that
 * is told outside, when the start of the run was.
 */
void
monitor_go(struct monitor *m)
{
	if (m->went || !m->going || !m->limited ||
	    (events_audited() && !m->announced) || m->code != -1)
		return;
	m->went = m->tell_go = 1;
}

void
monitor_policy(struct monitor *m, const struct control *c)
{
	m->announced = 1;
	if (c->a >= VIOLATION_REPORT && c->a <= VIOLATION_KILL)
		obey(m, events_policy(
			    (enum on_violation)c->a, (unsigned)c->b, c->text));
	monitor_go(m);
}

int
monitor_rule(struct monitor *m, const struct control *c)
{
	struct notify_rule *r;
	unsigned long line;
	char *rule;

	if (c->a < 0 || c->a >= NOTIFY_REASONS || c->b < 0 ||
	    c->b >= PROFILES_MAX || m->rules[c->a].rule != NULL)
		return -1;
	line = strtoul(c->text, &rule, 10);
	/* without a line (0): every pack says so */
	if (c->text[0] < '0' || c->text[0] > '9' || *rule != ' ' ||
	    line > UINT32_MAX || strlen(rule + 1) > EVENT_RULE_MAX)
		return -1;
	r = &m->rules[c->a];
	r->profile = (uint16_t)c->b;
	r->line = (uint32_t)line;
	r->rule = strdup(rule + 1);
	return r->rule != NULL ? 0 : -1;
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
void
monitor_answer_execs(struct monitor *m, const struct control *c)
{
	struct notify n = {.listener = c->fd,
	    .flags = c->a,
	    .events = -1,
	    .rules = m->rules,
	    .places = &m->places,
	    .first = m->first,
	    .uses = m->w->options->uses,
	    .nuses = m->w->options->nuses,
	    .path = start_getenv(m->w->start, "PATH")};
	int tells = (c->a & (NOTIFY_REPORT | NOTIFY_FS)) != 0;
	int pair[2], *source = free_source(m);

	if ((c->a & ~NOTIFY_FLAGS) == 0 && tells && source != NULL &&
	    channel_pair(pair) == 0) {
		*source = pair[0];
		n.events = pair[1];
	}
	if ((c->a & ~NOTIFY_FLAGS) == 0 && (!tells || n.events != -1))
		m->notifier = notify_start(&n);
	else
		close(c->fd);
	places_free(&m->places);
	if (m->notifier > 0)
		return;
	m->notifier = 0;
	log_warn("cannot start what answers for [exec] and [audit]: %s; the "
		 "run ends",
	    strerror(errno));
	monitor_give_up(m, EXIT_CARREL);
}

/*
 * Without it what it answers fails, and nobody would know why. The payload may
 * end by that before this process hears of it: no more is it a run of which
 * all was seen.
 */
void
monitor_notifier_ended(struct monitor *m, pid_t pid, int status)
{
	int told;

	if (pid != m->notifier)
		return;
	m->notifier = 0;
	if (m->gone ? !WIFSIGNALED(status) : status == 0)
		return;
	m->unseen = 1;
	told = m->code == -1 || m->by_payload;
	if (m->code == -1)
		monitor_give_up(m, EXIT_CARREL);
	if (told)
		log_warn("what answers for [exec] and [audit] ended by itself; "
			 "the run ends");
}

void
monitor_start_outside(struct monitor *m, int broker)
{
	m->network = 1;
	if (outside_start(m->w->outside, m->w->install,
		!m->w->options->without_landlock, broker) == -1) {
		log_warn("start what serves the network: %s", strerror(errno));
		monitor_give_up(m, EXIT_CARREL);
	}
	m->sources[MONITOR_SOURCES - 1] = m->w->outside->events;
}

/*
 * What served the network is gone: told once, and in the end if a payload has
 * filled standard error, so that this process does not wait for a reader.
 * Before there is a payload the set-up notices, and knows better why. Later the
 * payload sees resets, and may go on; but nobody shall take that for a run that
 * had its network.
 */
void
monitor_tell_lost(struct monitor *m)
{
	if (m->lost[0] == '\0' || !m->started || (!m->gone && !log_ready()))
		return;
	log_warn("%s", m->lost);
	m->lost[0] = '\0';
}

void
monitor_outside_gone(struct monitor *m, pid_t pid, int status)
{
	(void)outside_ended(
	    m->w->outside, pid, status, m->lost, sizeof(m->lost));
	monitor_tell_lost(m);
}

/*
 * What was refused inside. Whoever sends is the payload's peer, and may be
 * sent more than there is time for: so many in a turn.
 */
void
monitor_read_events(struct monitor *m, int *source)
{
	uint8_t buf[EVENT_BYTES_MAX];
	struct event e;
	int i, err, n = -1;

	errno = EAGAIN;
	for (i = 0; i < EVENTS_TURN && *source != -1; i++) {
		if ((n = event_receive(*source, &e, buf)) != 1)
			break;
		obey(m, events_take(&e));
	}
	if (n == 1 || (n == -1 && errno == EAGAIN))
		return;
	if (n == -1) {
		err = errno;
		monitor_give_up(m, EXIT_CARREL);
		log_warn("a bad event from a helper: %s; the run ends",
		    strerror(err));
	}
	*source = -1;
}

/*
 * What was on its way when the payload died. The broker, which is told now,
 * has to look at what the kernel refused last; who answers for [exec] notices
 * that nobody is left. Both then hang up.
 */
void
monitor_last_events(struct monitor *m)
{
	struct pollfd p[MONITOR_SOURCES];
	int64_t deadline = channel_now() + LAST_MS;
	size_t i, open;
	int status;

	outside_finish(m->w->outside);
	do {
		for (i = open = 0; i < MONITOR_SOURCES; i++) {
			monitor_read_events(m, &m->sources[i]);
			p[i].fd = m->sources[i];
			p[i].events = POLLIN;
			open += p[i].fd != -1;
		}
		if (open > 0)
			(void)poll(p, MONITOR_SOURCES, channel_left(deadline));
	} while (open > 0 && channel_left(deadline) > 0);
	if (m->notifier > 0 && waitpid(m->notifier, &status, WNOHANG) > 0)
		monitor_notifier_ended(m, m->notifier, status);
	if (m->notifier > 0) {
		(void)kill(m->notifier, SIGKILL);
		(void)waitpid(m->notifier, NULL, 0);
	}
	outside_end(m->w->outside, m->lost, sizeof(m->lost));
	monitor_tell_lost(m);
}
