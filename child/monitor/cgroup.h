#ifndef CARREL_PARENT_CGROUP_H
#define CARREL_PARENT_CGROUP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The control group of one run, made by the monitor below the caller's own
 * and removed by it. Its name holds the monitor's pid: one that a killed
 * monitor left is empty, and the next run that comes by removes it.
 */
struct cgroup {
	int dir; /* of the caller's group; -1: there is none */
	int run; /* of the run's */
	int out; /* of the one for carrel itself; -1: it stays where it is */
	char run_name[32], out_name[32];
	unsigned enabled; /* controllers (bits of limits) that were not there */
	unsigned lacks;	  /* the limit that could not be had; 0: none of them */
};

void cgroup_init(struct cgroup *);

/*
 * Makes it, with these limits (bits, and values by enum limit in the units of
 * ipc/rule.h) and this process in it. 0, or -1 and why, as "WHAT; FIX".
 */
int cgroup_make(struct cgroup *, unsigned limits, const uint64_t *values, pid_t,
    char *why, size_t len);

/* How many processes the kernel killed because of the memory. */
unsigned cgroup_killed(const struct cgroup *);

/* Removes it when all that was in it has ended. */
void cgroup_leave(struct cgroup *);

#endif
