#ifndef CARREL_ROOT_PARTS_H
#define CARREL_ROOT_PARTS_H

/* What root.c and root_step.c share; nobody else includes this. */

#include <stdint.h>

#include "parent/failure.h"
#include "root_dir.h"

struct plan;
struct step;
struct survey;
struct survey_row;

/* A root in the making. */
struct build {
	const struct plan *plan;
	struct survey *survey;
	struct failure *fail;
	struct root_dir dir;
	int root;	    /* the new root's mount */
	int mask;	    /* an empty file in it, or -1 */
	size_t mounts;	    /* made so far */
	size_t covered;	    /* directories in one of plan->exec */
	const char *inside; /* the bind or procfs that holds the next step */
};

#define ROOT_MASK ".carrel-mask" /* the name of that file, until the end */

uint64_t root_attributes(const struct step *); /* MOUNT_ATTR_ */
/* "WHAT GUEST" and errno into the failure; always -1. */
int root_fail(
    struct build *, enum cause_step, const char *what, const struct step *);
/* Does one step. 0 or -1. */
int root_step(struct build *, const struct step *);
/*
 * Makes each tmpfs that shall be read-only so, when all in it stands, and
 * noexec what stood before there was a policy to say so.
 */
int root_seal(struct build *);
/* root_exec.c: lays plan->exec over what stands. 0 or -1. */
int root_exec(struct build *);

/* Attaches a mount, which is closed, at name in dir or at dir itself. */
int root_attach(
    struct build *, int mount, int dir, const char *name, const struct step *);
/* The same at a guest path that is this very object; ESTALE if it is not. */
int root_attach_on(
    struct build *, int mount, const struct survey_row *, const struct step *);

#endif
