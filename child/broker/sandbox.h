#ifndef BROKER_SANDBOX_H
#define BROKER_SANDBOX_H

#include <stddef.h>

struct broker_setup;

/* Such a build is for tests (child/parser/sandbox.h). */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANDBOX_SANITIZED 1
#else
#define SANDBOX_SANITIZED 0
#endif

/*
 * Before anything was read: no file, no process, no core, a bound of memory.
 * Returns how many descriptors there may be, or -1 with errno.
 */
long broker_limits(void);

/*
 * From here on the process can talk to the internet and to the sockets that
 * it has: no_new_privs, Landlock (no file, no signal, no abstract socket; by
 * TCP only to the ports of the rules and of name servers), and the filter made
 * of broker.table, in which a call that is not listed kills. NULL, or what
 * could not be had, with errno.
 */
const char *broker_confine(const struct broker_setup *, int without_landlock);

#endif
