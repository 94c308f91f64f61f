#ifndef CARREL_SCREEN_TRIAL_H
#define CARREL_SCREEN_TRIAL_H

#include <stddef.h>

#include "ipc/limits.h"

struct findings;
struct profiled;
struct tool;

/*
 * One example, run inside by carrel itself with the profile as it is, of
 * whatever layer. --uses makes that run tell what was used of what is granted,
 * and what was refused whether a profile reports it or not.
 */

struct trial {
	const struct profiled *p;
	const struct tool *t;
	char dir[64]; /* temporary, the user's */
};

/* What the run told of, each once. */
struct told {
	int used; /* it was allowed; else refused */
	char surface[16], action[EVENT_ACTION_MAX + 1];
	char *resource; /* as JSON has it: harmless, and without its quotes */
};

#define TRIAL_TOLD 16384 /* more than that is lost */

struct tolds {
	struct told *list;
	size_t n;
	size_t lost;	/* what could not be told */
	int ended;	/* there is a last line */
	int by_payload; /* and the code in it is the payload's */
	int code;
};

/* How it ended. */
struct trial_ending {
	int code; /* of carrel; -1: it took too long */
	struct tolds told;
};

/* What cannot be had is fatal. trial_events_free() is the caller's. */
void trial_begin(struct trial *);
void trial_run(const struct trial *, struct trial_ending *);
void trial_end(struct trial *); /* removes what it made */

/* The last lines of what it said, joined: it is one finding. Or "". */
#define TRIAL_WORDS 4096
void trial_last_words(const struct trial *, char *buf, size_t len);

/* 0 and what the file says, or -1 with errno. */
int trial_events(const char *file, struct tolds *);
void trial_events_free(struct tolds *);

/* What it declares against what was told. Pure but for memory. */
void trial_judge(const struct trial *, const struct tolds *, struct findings *);

/* 1 if a need of a way into the network allows what was used. Pure. */
int trial_allows(const char *need, const char *used);

#endif
