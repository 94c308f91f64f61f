#ifndef CARREL_CONFINE_H
#define CARREL_CONFINE_H

#include <stdint.h>

#include "parent/caps.h"

struct failure;
struct plan;

/*
 * Giving up, in this order: caps_drop, no_new_privs, landlock_enter,
 * filter_enter. Each is checked and final. 0 or -1.
 */

/*
 * Landlock (kernel: Documentation/userspace-api/landlock.rst) drawn from the
 * plan, inside the new root: read and execute below "/", everything below
 * each writable bind and tmpfs; execute only what plan->exec has as a file,
 * if the plan is locked; abstract sockets and signals scoped where
 * the ABI can. Fails with CAUSE_LANDLOCK where the kernel has none.
 */
int landlock_abi(void); /* the kernel's, 0 if it has none */
int landlock_enter(const struct plan *, struct failure *);

/*
 * The system-call filter that the build made of payload.table, and the
 * narrower ones before it. What pid 1 enters holds for all that it makes.
 */
#define FILTER_PTRACE	  0x01 /* --allow-ptrace */
#define FILTER_BACKGROUND 0x02 /* the payload cannot take the terminal */
#define FILTER_LOCK	  0x04 /* no anonymous files: see lock.table */
#define FILTER_NO_UNIX	  0x08 /* unix = no */
#define FILTER_NO_SPAWN	  0x10 /* spawn = no: not for pid 1, which forks */
#define FILTER_WATCH	  0x20 /* report = fs: of filter_notify() */
#define FILTER_LEARN	  0x40 /* of filter_notify(): in the place of WATCH */
int filter_enter(uint32_t flags, struct failure *);

/*
 * In the payload's own process: one filter more. notify: each execve(2) and
 * execveat(2) of this process and what it makes waits for an answer over the
 * descriptor that is returned (close-on-exec): see notify.h. With NO_SPAWN and
 * NO_UNIX so does each attempt of that kind. They must not be entered beside
 * it, for the kernel prefers a filter's own answer, and nobody would be told.
 * With WATCH so does what watch.table has, with LEARN what learn.table has,
 * too.
 */
int filter_narrow(uint32_t flags, struct failure *);
uint32_t filter_told(
    const struct plan *); /* NO_SPAWN, NO_UNIX, WATCH or LEARN */
int filter_notify(uint32_t flags, struct failure *);

#endif
