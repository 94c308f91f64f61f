#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <stddef.h>
#include <stdint.h>

#include "parent/confine.h"
#include "parent/failure.h"

#include "filter_background.h"
#include "filter_factory.h"
#include "filter_payload.h"
#include "filter_payload_ptrace.h"

/*
 * seccomp(2). The process has one thread, so nothing is synchronised; nothing
 * is logged, since the payload chooses how often it is refused.
 */
static int
install(const struct sock_filter *code, unsigned short len, struct failure *f)
{
	struct sock_fprog prog = {
	    .len = len,
	    /* the kernel copies and does not write it */
	    .filter = (struct sock_filter *)(uintptr_t)code,
	};

	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0UL, &prog) != 0)
		return failure_set(f, CAUSE_SECCOMP, "seccomp filter");
	if (prctl(PR_GET_SECCOMP, 0UL, 0UL, 0UL, 0UL) != SECCOMP_MODE_FILTER)
		return failure_set(f, CAUSE_SECCOMP, "no filter after seccomp");
	return 0;
}

/* Of several filters the strictest answer counts, so the order is free. */
int
filter_enter(uint32_t flags, struct failure *f)
{
	if ((flags & ~(uint32_t)(FILTER_PTRACE | FILTER_BACKGROUND)) != 0)
		return failure_set(f, CAUSE_SECCOMP, "unknown filter flags");
	if ((flags & FILTER_BACKGROUND) != 0 &&
	    install(filter_background, filter_background_len, f) == -1)
		return -1;
	if ((flags & FILTER_PTRACE) != 0)
		return install(
		    filter_payload_ptrace, filter_payload_ptrace_len, f);
	return install(filter_payload, filter_payload_len, f);
}

int
filter_enter_factory(struct failure *f)
{
	return install(filter_factory, filter_factory_len, f);
}
