#ifndef CARREL_ROOT_H
#define CARREL_ROOT_H

#include <stddef.h>

struct failure;
struct plan;
struct survey;

/* The new root, attached over the old one and not yet entered. */
struct root {
	int fd;
	size_t mounts; /* made so far */
};

/*
 * Takes the steps of plan_make_fixed(): what grants nothing, and can be done
 * while the policy is still on its way. Needs a mount namespace that is new
 * and used by nobody else, the new pid namespace for /proc, and
 * CAP_SYS_ADMIN over both. 0 or -1; after a failure the process must end.
 */
int root_begin(const struct plan *fixed, struct root *, struct failure *);

/*
 * Takes the other steps of a plan, out of the descriptors that the survey
 * holds (they are closed), and makes the result the root of this mount
 * namespace. After success nothing of the old root is mounted and the
 * working directory is "/"; after a failure the process must end. 0 or -1.
 */
int root_build(
    struct root *, const struct plan *, struct survey *, struct failure *);

/*
 * Enters the first of plan->cwd that exists, by descriptor and without
 * magic links. Without privilege. 0 or -1.
 */
int root_chdir(const struct plan *, struct failure *);

#endif
