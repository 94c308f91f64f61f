#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "confine.h"
#include "parent/failure.h"
#include "plan.h"

#include "filter_background.h"
#include "filter_exec.h"
#include "filter_exec_both.h"
#include "filter_exec_spawn.h"
#include "filter_exec_unix.h"
#include "filter_learn.h"
#include "filter_learn_both.h"
#include "filter_learn_spawn.h"
#include "filter_learn_unix.h"
#include "filter_lock.h"
#include "filter_payload.h"
#include "filter_payload_ptrace.h"
#include "filter_spawn.h"
#include "filter_unix.h"
#include "filter_watch.h"
#include "filter_watch_both.h"
#include "filter_watch_spawn.h"
#include "filter_watch_unix.h"

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5) /* Linux 5.19 */
#endif

/*
 * seccomp(2). The process has one thread, so nothing is synchronised; nothing
 * is logged, since the payload chooses how often it is refused. Returns what
 * the call returned, or -1 after failure_set().
 */
static int
install(const struct sock_filter *code, unsigned short len, unsigned long flags,
    struct failure *f)
{
	struct sock_fprog prog = {
	    .len = len,
	    /* the kernel copies and does not write it */
	    .filter = (struct sock_filter *)(uintptr_t)code,
	};
	int r;

	r = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);
	if (r == -1)
		return failure_set(f, CAUSE_SECCOMP, "seccomp filter");
	if (prctl(PR_GET_SECCOMP, 0UL, 0UL, 0UL, 0UL) != SECCOMP_MODE_FILTER)
		return failure_set(f, CAUSE_SECCOMP, "no filter after seccomp");
	return r;
}

/* Of several filters the strictest answer counts, so the order is free. */
static const struct {
	uint32_t flag;
	const struct sock_filter *code;
	const unsigned short *len;
} narrower[] = {
    {FILTER_BACKGROUND, filter_background, &filter_background_len},
    {FILTER_LOCK, filter_lock, &filter_lock_len},
    {FILTER_NO_UNIX, filter_unix, &filter_unix_len},
    {FILTER_NO_SPAWN, filter_spawn, &filter_spawn_len},
};

int
filter_narrow(uint32_t flags, struct failure *f)
{
	size_t i;

	for (i = 0; i < sizeof(narrower) / sizeof(narrower[0]); i++) {
		if ((flags & narrower[i].flag) == 0)
			continue;
		if (install(narrower[i].code, *narrower[i].len, 0, f) == -1)
			return -1;
		flags &= ~narrower[i].flag;
	}
	if (flags == 0)
		return 0;
	return failure_set(f, CAUSE_SECCOMP, "unknown filter flags");
}

int
filter_enter(uint32_t flags, struct failure *f)
{
	if (filter_narrow(flags & ~(uint32_t)FILTER_PTRACE, f) == -1)
		return -1;
	if ((flags & FILTER_PTRACE) != 0)
		return install(
		    filter_payload_ptrace, filter_payload_ptrace_len, 0, f);
	return install(filter_payload, filter_payload_len, 0, f);
}

uint32_t
filter_told(const struct plan *p)
{
	uint32_t flags = p->learn || p->uses ? FILTER_LEARN
			 : p->report_fs	     ? FILTER_WATCH
					     : 0;

	if (!p->report_exec)
		return flags;
	return flags | (p->no_spawn ? FILTER_NO_SPAWN : 0) |
	       (p->no_unix ? FILTER_NO_UNIX : 0);
}

/* A process can have one listener, so there is a filter for each union. */
static const struct {
	uint32_t flags;
	const struct sock_filter *code;
	const unsigned short *len;
} asking[] = {
    {0, filter_exec, &filter_exec_len},
    {FILTER_NO_SPAWN, filter_exec_spawn, &filter_exec_spawn_len},
    {FILTER_NO_UNIX, filter_exec_unix, &filter_exec_unix_len},
    {FILTER_NO_SPAWN | FILTER_NO_UNIX, filter_exec_both, &filter_exec_both_len},
    {FILTER_WATCH, filter_watch, &filter_watch_len},
    {FILTER_WATCH | FILTER_NO_SPAWN, filter_watch_spawn,
	&filter_watch_spawn_len},
    {FILTER_WATCH | FILTER_NO_UNIX, filter_watch_unix, &filter_watch_unix_len},
    {FILTER_WATCH | FILTER_NO_SPAWN | FILTER_NO_UNIX, filter_watch_both,
	&filter_watch_both_len},
    {FILTER_LEARN, filter_learn, &filter_learn_len},
    {FILTER_LEARN | FILTER_NO_SPAWN, filter_learn_spawn,
	&filter_learn_spawn_len},
    {FILTER_LEARN | FILTER_NO_UNIX, filter_learn_unix, &filter_learn_unix_len},
    {FILTER_LEARN | FILTER_NO_SPAWN | FILTER_NO_UNIX, filter_learn_both,
	&filter_learn_both_len},
};

/*
 * Once an attempt was read outside, only a deadly signal ends the wait for its
 * answer, where the kernel can: others would have it made anew.
 */
int
filter_notify(uint32_t flags, struct failure *f)
{
	const unsigned long listen = SECCOMP_FILTER_FLAG_NEW_LISTENER;
	size_t i;
	int fd;

	for (i = 0; i < sizeof(asking) / sizeof(asking[0]); i++)
		if (asking[i].flags == flags)
			break;
	if (i == sizeof(asking) / sizeof(asking[0]))
		return failure_set(f, CAUSE_SECCOMP, "unknown filter flags");
	fd = install(asking[i].code, *asking[i].len,
	    listen | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, f);
	if (fd == -1 && f->err == EINVAL)
		fd = install(asking[i].code, *asking[i].len, listen, f);
	return fd;
}
