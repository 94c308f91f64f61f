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

/*
 * With NOTIFY_USES, of what is none: 1 and the first use of one of n->uses, or
 * of a grant, in that way ("look", "read", "write", "exec", "connect"). err is
 * 0, and resource the place that was named, else what was used. which: of the
 * two paths that some calls have. It comes again until watch_use_told().
 */
struct watch_uses;
struct watch_uses *watch_uses_new(const struct notify *); /* NULL: no memory */
int watch_use(const struct notify *, struct notify_view *, struct watch_uses *,
    pid_t, const struct seccomp_data *, int which, struct watched *);
/* The same of n->first; pid: of a process that it became, or 0. */
int watch_use_first(const struct notify *, struct notify_view *,
    struct watch_uses *, pid_t, struct watched *);
void watch_use_told(struct watch_uses *);

#endif
