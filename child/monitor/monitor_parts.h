#ifndef CARREL_MONITOR_PARTS_H
#define CARREL_MONITOR_PARTS_H

#include <stdint.h>
#include <sys/resource.h>

#include "bound.h"
#include "child/setup/places.h"
#include "events.h"
#include "monitor.h"
#include "notify.h"

struct control;

/* What the parts of the monitor share. */

struct monitor {
	const struct monitored *w;
	int sigfd;
	int sources[MONITOR_SOURCES]; /* of events; -1: it is gone */
	int going;		      /* the parser ended well */
	int limited;		      /* and who reads the ceiling */
	int announced;		      /* what is to be known of the policy is */
	int went;		      /* GO was said */
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
	int ceiling_gone;
	int hung_up;	/* the other end of control is closed */
	int gone;	/* the set-up process, and so all inside, has ended */
	int by_payload; /* code is the payload's own */
	int code;	/* -1 until it is known */
	int signal;	/* that ended the payload */
	int seconds;	/* of processor time that it took */
	struct bounds bounds;
	struct rusage usage; /* of all inside, in the end */
	int64_t kill_at;     /* after SIGTERM or SIGHUP; -1: never */
	pid_t notifier;	     /* answers calls; 0: there is none */
	int unseen;	     /* it ended before those who ask it */
	/* whose lines it then names */
	struct notify_rule rules[NOTIFY_REASONS];
	struct places places;
	char *first;	 /* CONTROL_FIRST */
	const char *run; /* "" before it started */
	/* monitor_patience.c: when something is said, or -1 */
	int64_t said_by;
	unsigned said; /* of which stage */
	int64_t left;  /* of the wall time, ms, when that is told next */
};

/* monitor.c */

/* The run ends with this code; what is inside is killed with pid 1. */
void monitor_give_up(struct monitor *, int code);
/* A signal by which a terminal stops a job. */
int monitor_is_stop(int sig);

/* monitor_patience.c: where standard error is a terminal, a word in time. */
void monitor_patience(struct monitor *); /* what there is to say now */
int64_t monitor_patience_by(const struct monitor *); /* the next; -1: never */

/* monitor_control.c: what pid 1 is told, and what comes from it. */

/* What is still to be told, as far as there is room: 1 when that is all. */
int monitor_tell(struct monitor *);
/* So many messages in a turn; hung_up when there will be no more. */
void monitor_read_control(struct monitor *);
/* The job is to stop, by this signal; the end of it comes from inside. */
void monitor_stop(struct monitor *, int sig);
/* The wall time is, by this process's clock. */
void monitor_over(struct monitor *);

/* monitor_helpers.c: the processes beside the run, and what they see. */

/* The set-up may go on, if all is known that has to be. */
void monitor_go(struct monitor *);
/* CONTROL_POLICY */
void monitor_policy(struct monitor *, const struct control *);
/* CONTROL_RULE: 0, or -1 if it is none. */
int monitor_rule(struct monitor *, const struct control *);
/* CONTROL_LISTENER; and a child ended, which may be what answers. */
void monitor_answer_execs(struct monitor *, const struct control *);
void monitor_notifier_ended(struct monitor *, pid_t, int status);
/* CONTROL_BROKER */
void monitor_start_outside(struct monitor *, int broker);
/* A child ended, which may be one of these. */
void monitor_tell_lost(struct monitor *);
void monitor_outside_gone(struct monitor *, pid_t, int status);
/* Of one source, which becomes -1 when its sender is gone. */
void monitor_read_events(struct monitor *, int *source);
/* What was on its way when the payload died. */
void monitor_last_events(struct monitor *);

#endif
