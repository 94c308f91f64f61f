#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <stddef.h>
#include <stdint.h>

#include "parent/confine.h"
#include "parent/failure.h"

#include "filter_payload.h"
#include "filter_payload_ptrace.h"

/*
 * seccomp(2). The process has one thread, so nothing is synchronised; nothing
 * is logged, since the payload chooses how often it is refused.
 */
int
filter_enter(uint32_t flags, struct failure *f)
{
	int ptrace = (flags & FILTER_PTRACE) != 0;
	struct sock_fprog prog = {
	    .len = ptrace ? filter_payload_ptrace_len : filter_payload_len,
	    /* the kernel copies and does not write it */
	    .filter = (struct sock_filter *)(ptrace ? filter_payload_ptrace
						    : filter_payload),
	};

	if ((flags & ~(uint32_t)FILTER_PTRACE) != 0)
		return failure_set(f, CAUSE_SECCOMP, "unknown filter flags");
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0UL, &prog) != 0)
		return failure_set(f, CAUSE_SECCOMP, "seccomp filter");
	if (prctl(PR_GET_SECCOMP, 0UL, 0UL, 0UL, 0UL) != SECCOMP_MODE_FILTER)
		return failure_set(f, CAUSE_SECCOMP, "no filter after seccomp");
	return 0;
}
