#ifndef CARREL_ROOT_H
#define CARREL_ROOT_H

struct failure;
struct plan;
struct survey;

/*
 * Builds the new root that the plan describes out of the descriptors that
 * the survey holds, and makes it the root of this mount namespace, which
 * must be new, private and its only user. Needs CAP_SYS_ADMIN over it; those
 * that override file modes should be gone (caps_no_dac()). After success
 * nothing of the old root is mounted, no descriptor of the survey is open
 * (each fd is -1) and the working directory is "/"; after a failure the
 * process must end. 0 or -1.
 */
int root_build(const struct plan *, struct survey *, struct failure *);

/*
 * Enters the first of plan->cwd that exists, by descriptor and without
 * magic links. Without privilege. 0 or -1.
 */
int root_chdir(const struct plan *, struct failure *);

#endif
