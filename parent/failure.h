#ifndef CARREL_FAILURE_H
#define CARREL_FAILURE_H

#include "ipc/cause.h"

/*
 * Why a step of the set-up could not be done. Functions of the set-up take
 * one and return -1 after failure_set(); the room reports it and ends.
 */
struct failure {
	enum cause_step step; /* for the advice: what kind of step */
	int err;	      /* errno, 0 if the text says it all */
	char what[512];	      /* raw: "open_tree /usr" */
};

/* Notes errno and the text; always returns -1. */
int failure_set(struct failure *, enum cause_step, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
