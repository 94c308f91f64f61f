#ifndef CARREL_EVENTS_H
#define CARREL_EVENTS_H

#include <stdint.h>
#include <sys/types.h>

#include "child/shared/event.h"
#include "ipc/rule.h"

struct caller;
struct options;
struct policy;
struct rusage;
struct start;

/*
 * The sink of violations, in the monitor: no privilege, outside the sandbox.
 * Whoever sees a refusal calls events_take(), or sends the event over a socket
 * that the monitor reads (struct monitored, sources). The same event again is
 * counted and not told again; what there is no room for is counted, too.
 *
 * What is told, and that a run began and ended, goes to the host's log if
 * there is one, to --events FILE, to the user's state and, in the end, to
 * standard error.
 */

/* What the monitor has to do. */
enum events_verdict {
	EVENTS_GO_ON = 0,
	EVENTS_KILL,  /* on-violation = kill: everything inside ends now */
	EVENTS_BROKEN /* --require-audit, and the log took nothing: likewise */
};

/*
 * Before anything is started: opens what is asked for, or ends the program.
 * From then on this process tells how the run ended, even by its exit(3).
 * tty: the controlling terminal, or -1. run: its name, 32 hex digits.
 * recorder: of audit_open().
 */
void events_open(
    const struct options *, uid_t, int tty, const char *run, int recorder);
/* And who calls, when that is known. */
void events_know(const struct start *, const struct caller *);

/* In the set-up: closes what is the monitor's. */
void events_forget(void);

/* The path of --events without symlinks, or as it is named; NULL: none. */
const char *events_path(int named);

/* 1 if somebody wants to know the policy's digest before the payload runs. */
int events_audited(void);

/*
 * Of the set-up, before there is a payload: the next profile of the policy,
 * "DIGEST NAME FILE". charged: bit N: enum event_surface. -1: it is none.
 */
int events_profile(unsigned layer, unsigned charged, const char *text);
/* And then what the policy says of violations; digest may be "". */
enum events_verdict events_policy(
    enum on_violation, unsigned reports, const char *digest);

/* Takes one, and copies what it keeps. */
enum events_verdict events_take(const struct event *);

/*
 * Writes a list of this run's as its state has them (child/shared/kept.h): 0,
 * or -1 with errno.
 */
struct seen_list;
int events_keep(int fd, const struct seen_list *, int code);

/* How many there were, and on which surfaces: bit N, enum event_surface N. */
uint64_t events_times(void);
unsigned events_surfaces(void);

/*
 * When nothing is left inside: what is still to be told, and the summary on
 * standard error. started: there was a payload. Returns the exit code, which
 * is the run's or EVENTS_EXIT.
 */
#define EVENTS_EXIT 3
struct events_end {
	int started, by_payload, code, signal;
	const struct rusage *usage;
};
int events_end(const struct events_end *);

/*
 * Who answers for what no rule matched (charge.c, pure): on each surface the
 * profiles with rules of it; where there is none, all but shipped ones that
 * nobody named with -p. Bit N: surface N.
 */
unsigned events_charged(const struct policy *, size_t profile);

#endif
