#ifndef CARREL_SCREEN_DOCTOR_PARTS_H
#define CARREL_SCREEN_DOCTOR_PARTS_H

#include <stddef.h>

#include "child/shared/cause.h"
#include "out.h"

#define DOCTOR_WHY 1024 /* an explanation of cause.h or cgroup.h */

enum judged {
	JUDGED_OK,
	JUDGED_NOTE, /* worth knowing; runs work in spite of it */
	JUDGED_NO
};

/* What was looked at. */
struct judgement {
	const char *id; /* carrel's own, of one kind of thing */
	enum judged as;
	struct cell what, fix; /* the fix may be empty */
};

struct visit {
	struct cause_host host;
	const char *program, *libexec, *shipped;
	int gave_up;	       /* the launcher had privilege, and gave it up */
	char *const *settings; /* NAME=VALUE or NAME, DOCTOR_SETTINGS of them */
	struct judgement *list;
	size_t n;
	size_t bad; /* of them JUDGED_NO */
	int hosted; /* 1: installed with privilege, and it counts */
	int works;  /* the namespaces can be made, and all that is in them */
	int all;    /* and Landlock and filters are there, too */
};

#define DOCTOR_SETTINGS 3

/* One line more; the cells are taken over and are empty afterwards. */
void doctor_say(struct visit *, const char *id, enum judged, struct cell *what,
    struct cell *fix);

/* doctor_mode.c: in which mode it would run, and what hosted mode needs. */
void doctor_mode(struct visit *);
/* doctor_files.c: what is installed, and who else could change it. */
void doctor_files(struct visit *);
/* doctor_trial.c: what is configured, and a run. */
void doctor_trial(struct visit *);
/* doctor_show.c: all of it. */
void doctor_text(const struct visit *, unsigned width, int colour);
void doctor_json(const struct visit *);

#endif
