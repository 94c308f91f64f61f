#ifndef CARREL_EVENTS_H
#define CARREL_EVENTS_H

#include <stdint.h>

#include "ipc/event.h"
#include "ipc/rule.h"

/*
 * The sink of violations, in the monitor: no privilege, outside the sandbox.
 * Whoever sees a refusal calls events_take(), or sends the event over a socket
 * that the monitor reads (struct monitored, sources). The same event again is
 * counted and not told again; what there is no room for is counted, too.
 */

/* What the monitor has to do about an event. */
enum events_verdict {
	EVENTS_GO_ON = 0,
	EVENTS_KILL /* on-violation = kill: everything inside ends now */
};

/* What the policy says of violations; report-only until it is known. */
void events_policy(enum on_violation);

/* Takes one, and copies what it keeps. */
enum events_verdict events_take(const struct event *);

/*
 * When nothing is left inside: the summary on standard error. Returns the
 * exit code, which is the run's or EVENTS_EXIT.
 */
#define EVENTS_EXIT 3
int events_end(int code, int by_payload);

#endif
