#ifndef CARREL_PATIENCE_H
#define CARREL_PATIENCE_H

/*
 * Nothing is silent for more than a second on a terminal: what this process
 * does before there is a run, a slow file system can keep it from, and its
 * signals, too. So the line comes from a process of its own, where standard
 * error is a terminal; elsewhere there is none.
 */

enum patience {
	PATIENCE_CALLER = 1, /* who calls, and where */
	PATIENCE_PROFILES,
	PATIENCE_FILES,
	PATIENCE_DOCTOR,
	PATIENCE_LAST = PATIENCE_DOCTOR
};

/* From now on, until the end, or an exec(3) that does not keep it. */
void patience_begin(enum patience);
void patience_next(enum patience); /* something else is being waited for */
void patience_end(void);

/* The program that this one becomes goes on with it: see out_write(). */
void patience_keep(void);

/* What is said. */
const char *patience_text(enum patience);

#endif
