#ifndef CARREL_SCREEN_TRIAL_H
#define CARREL_SCREEN_TRIAL_H

#include <stddef.h>
#include <time.h>

#include "ipc/limits.h"
#include "lint.h"

struct policy;
struct profiled;
struct tool;

/*
 * One example, run inside by carrel itself. It is given a copy of the profile
 * in which what the example does not declare is not granted for writing, and
 * not allowed; so what it uses all the same is refused, and reported.
 */

#define TRIAL_COPIED  0x01 /* there is a copy; else the profile as it is */
#define TRIAL_REPORT  0x02 /* what is refused of exec and fs is told, too */
#define TRIAL_OFFLINE 0x04 /* nothing of [egress] is allowed */

struct trial {
	const struct profiled *p;
	const struct tool *t;
	char dir[64]; /* temporary, the user's */
	struct lint_use use;
};

/*
 * Writes the copy, and of the user's other profiles theirs: 0, or -1 with errno
 * and what: the file. Host and shipped profiles are used as they are.
 */
int trial_copy(const struct trial *, unsigned flags, const char **what);
/* 1 if the profile is of a layer that is copied. */
int trial_copies(const struct profiled *);
/* The path of the copy. */
void trial_path(const struct trial *, char *buf, size_t len);

/* What a run was refused, of the events that it wrote. Freed by the caller. */
struct refused {
	char surface[16], action[EVENT_ACTION_MAX + 1];
	char *resource; /* as JSON has it: harmless, and without its quotes */
};

struct refusals {
	struct refused *list;
	size_t n;
	int ended;	/* there is a last line */
	int by_payload; /* and the code in it is the payload's */
	int code;
};

/* 0 and what the file says, or -1 with errno. */
int trial_events(const char *file, struct refusals *);
void trial_events_free(struct refusals *);

/*
 * A place that may have been written: note it before, ask behind. At most
 * TRIAL_ENTRIES are looked at, and if there are more it counts as used.
 */
#define TRIAL_ENTRIES 20000

struct trial_place {
	char *path;	       /* of the host */
	int there;	       /* before */
	struct timespec since; /* when that was */
};

void trial_note(struct trial_place *, const char *path);
int trial_written(const struct trial_place *);

#endif
