#ifndef CARREL_WATCH_H
#define CARREL_WATCH_H

#include <sys/types.h>

#include "notify.h"

struct place;
struct seccomp_data;

/*
 * "report = fs": whether a call that may write, make, remove or execute is one
 * that the plan refuses, as the kernel is about to find: the mount is
 * read-only, or noexec. It is only looked at, and goes on in any case. What
 * somebody else would refuse (nothing is there, a mode, the host's own
 * read-only file system) is none; nor is what is not clear.
 */
struct watched {
	const char *action;	   /* of struct event */
	int err;		   /* what the payload is about to get */
	int unclear;		   /* it could not be looked at as a whole */
	const struct place *place; /* whose grant holds there; NULL: nobody's */
	int missing; /* it is only not there inside, and is on this host */
	char resource[2 * NOTIFY_PATH_LEN]; /* as it was asked for, absolute */
};

/* 1 if this kernel has the calls that it takes, openat2(2) and faccessat2(2).
 */
int watch_works(void);

/*
 * 1 and what it is, or 0; then it may be unclear: the kernel can go a way, or
 * read a path, that nobody outside can.
 */
int watch_judge(const struct notify *, struct notify_view *, pid_t,
    const struct seccomp_data *, struct watched *);

#endif
