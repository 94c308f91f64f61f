#ifndef CARREL_FOREIGN_H
#define CARREL_FOREIGN_H

#include <stddef.h>

struct failure;

/*
 * In the new root: refuses file systems of the kernel (proc, sysfs, cgroup
 * and the like) that came along as mounts below what was granted. Theirs are
 * the host's processes and settings, masked by nothing. ours is the number of
 * mounts that the plan made; only if there are more are they looked at.
 * 0 or -1.
 */
int foreign_refuse(size_t ours, struct failure *);

#endif
