#ifndef CARREL_CGROUP_H
#define CARREL_CGROUP_H

#include <stddef.h>
#include <sys/types.h>

#include "ipc/limits.h"

/*
 * What this host lets the caller limit by cgroup v2 (cgroups(7), and the
 * kernel's Documentation/admin-guide/cgroup-v2.rst). A run gets a group of its
 * own below the caller's; for that the caller's must be delegated to him, and
 * no process but carrel's may be in it, because the kernel hands controllers
 * only to groups below one that has none itself. Reads files below /proc and
 * /sys, without privilege.
 */

enum cgroup_state {
	CGROUP_READY = 0,
	CGROUP_NONE,	    /* no cgroup v2 is mounted where it should be */
	CGROUP_KERNEL,	    /* v2 has not the controller: v1, or the kernel */
	CGROUP_UNDELEGATED, /* the caller may not, or not with the controller */
	CGROUP_SHARED,	    /* others are in the caller's group */
	CGROUP_UNREADABLE   /* err */
};

struct cgroup_host {
	enum cgroup_state state;
	unsigned lacks; /* the limit (enum limit) that it is about; 0: any */
	int err;
	int root;		     /* the group is the root of all */
	char own[PATH_MAX_LEN + 32]; /* the directory of the caller's group */
};

#define CGROUP_BIT(limit) (1U << (limit))
/* The limits that only a group can hold; processes may be another's, too. */
#define CGROUP_ONLY (CGROUP_BIT(LIMIT_MEMORY) | CGROUP_BIT(LIMIT_CPU))
#define CGROUP_ALL  (CGROUP_ONLY | CGROUP_BIT(LIMIT_PROCESSES))

/* "memory" of LIMIT_MEMORY; NULL: no controller counts it. */
const char *cgroup_controller(unsigned limit);

/*
 * Whether these limits (bits) can be had by a process that is or descends
 * from carrel, and where.
 */
void cgroup_find(struct cgroup_host *, unsigned limits, pid_t carrel);

/* Why they cannot, and what to do, as "WHAT; FIX" in raw text. Returns why. */
const char *cgroup_why(const struct cgroup_host *, char *why, size_t len);

/* 1 if the process is carrel or descends from it. */
int cgroup_carrels(pid_t, pid_t carrel);

/* 1 if a list of words like cgroup.controllers has this one. */
int cgroup_has(const char *list, const char *word);

/* A small file of a group's directory as a string. 0, or -1 with errno. */
int cgroup_read(int dir, const char *name, char *buf, size_t cap);

#endif
