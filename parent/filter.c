#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "parent/confine.h"
#include "parent/failure.h"
#include "parent/plan.h"

#include "filter_background.h"
#include "filter_exec.h"
#include "filter_exec_both.h"
#include "filter_exec_spawn.h"
#include "filter_exec_unix.h"
#include "filter_factory.h"
#include "filter_lock.h"
#include "filter_payload.h"
#include "filter_payload_ptrace.h"
#include "filter_spawn.h"
#include "filter_unix.h"

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
	if (!p->report_exec)
		return 0;
	return (p->no_spawn ? FILTER_NO_SPAWN : 0) |
	       (p->no_unix ? FILTER_NO_UNIX : 0);
}

/*
 * Once an attempt was read outside, only a deadly signal ends the wait for its
 * answer, where the kernel can: others would have it made anew.
 */
static int
listen_by(const struct sock_filter *code, unsigned short len, struct failure *f)
{
	const unsigned long listen = SECCOMP_FILTER_FLAG_NEW_LISTENER;
	int fd;

	fd = install(
	    code, len, listen | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, f);
	if (fd == -1 && f->err == EINVAL)
		fd = install(code, len, listen, f);
	return fd;
}

int
filter_notify(uint32_t flags, struct failure *f)
{
	switch (flags) {
	case 0:
		return listen_by(filter_exec, filter_exec_len, f);
	case FILTER_NO_SPAWN:
		return listen_by(filter_exec_spawn, filter_exec_spawn_len, f);
	case FILTER_NO_UNIX:
		return listen_by(filter_exec_unix, filter_exec_unix_len, f);
	case FILTER_NO_SPAWN | FILTER_NO_UNIX:
		return listen_by(filter_exec_both, filter_exec_both_len, f);
	default:
		return failure_set(f, CAUSE_SECCOMP, "unknown filter flags");
	}
}

int
filter_enter_factory(struct failure *f)
{
	return install(filter_factory, filter_factory_len, 0, f);
}
