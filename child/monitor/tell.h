#ifndef CARREL_TELL_H
#define CARREL_TELL_H

#include <stddef.h>
#include <stdint.h>

#include "audit.h"
#include "child/shared/event.h"
#include "events_file.h"
#include "ipc/rule.h"
#include "ipc/sha256.h"

struct caller;
struct options;
struct rusage;
struct timeval;

/*
 * What a run tells the outside, in two forms: a line of JSON for --events
 * (carrel-events(5), etc/carrel-events.schema.json) and a record for the
 * host's log.
 */

#define TELL_LINE_MAX (512 * 1024) /* one of JSON: a command, many profiles */
#define TELL_BURST    20	   /* violations at once for the log */
#define TELL_MS	      200	   /* after which there may be one more */

/* A version of a profile that takes part. */
struct tell_profile {
	char *name, *file;
	char digest[SHA256_HEX + 1];
	uint8_t layer;
	uint8_t flagged; /* it is in the state already */
	uint8_t charged; /* bit N: with what no rule matched on surface N */
};

struct tell {
	const struct options *options;
	const struct caller *caller; /* NULL: not known, and no run */
	uid_t uid;
	const char *run; /* 32 hex digits */
	char tty[16];	 /* "pts/3"; "": there is none */
	char policy[SHA256_HEX + 1];
	struct tell_profile *profiles; /* as in the policy */
	size_t nprofiles;
	enum on_violation on;
	uint8_t reports; /* bit N: enum report */
	struct audit audit;
	struct events_file file;
	/* how many violations the log may have now, and since when */
	unsigned tokens;
	int64_t since;
	uint64_t untold; /* that it had no room for */
	char *line;	 /* TELL_LINE_MAX */
};

/* How it ended. */
struct tell_end {
	int by_payload, code, signal;
	uint64_t violations, lost;
	int64_t wall; /* ms */
	const struct rusage *usage;
};

/* 1 if the event is laid at this profile's door. */
int tell_charges(const struct tell *, const struct event *, size_t profile);
/* The name of that whose rule matched; NULL if none did. */
const char *tell_rule_profile(const struct tell *, const struct event *);

uint64_t tell_ms(const struct timeval *);

/*
 * Each 0, or -1 if it did not get there. begin with "start", or with "refused"
 * and a code. log: waits so many ms for room; a violation that comes too fast
 * is not told, and counted.
 */
int tell_file_begin(struct tell *, const char *name, int code);
int tell_file_violation(struct tell *, const struct event *, uint64_t count);
int tell_file_note(struct tell *, const struct event *, uint64_t count);
int tell_file_use(struct tell *, const struct event *);
int tell_file_lost(struct tell *, uint64_t count);
int tell_file_end(struct tell *, const struct tell_end *);
int tell_log_begin(struct tell *, const char *name, int code, int wait);
int tell_log_violation(
    struct tell *, const struct event *, uint64_t count, int wait);
int tell_log_note(
    struct tell *, const struct event *, uint64_t count, int wait);
int tell_log_lost(struct tell *, uint64_t count, int wait);
int tell_log_end(struct tell *, const struct tell_end *, int wait);

#endif
