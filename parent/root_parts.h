#ifndef CARREL_ROOT_PARTS_H
#define CARREL_ROOT_PARTS_H

/* What root.c and root_step.c share; nobody else includes this. */

#include <stdint.h>

#include "failure.h"
#include "root_dir.h"

struct plan;
struct step;
struct survey;

/* A root in the making. */
struct build {
	const struct plan *plan;
	struct survey *survey;
	struct failure *fail;
	struct root_dir dir;
	int root;	    /* the new root's mount */
	int mask;	    /* an empty file in it, or -1 */
	size_t mounts;	    /* made so far */
	const char *inside; /* the bind or procfs that holds the next step */
};

#define ROOT_MASK ".carrel-mask" /* the name of that file, until the end */

uint64_t root_attributes(const struct step *); /* MOUNT_ATTR_ */
/* "WHAT GUEST" and errno into the failure; always -1. */
int root_fail(
    struct build *, enum cause_step, const char *what, const struct step *);
/* Does one step. 0 or -1. */
int root_step(struct build *, const struct step *);
/* Makes each tmpfs that shall be read-only so, when all in it stands. */
int root_seal(struct build *);

#endif
