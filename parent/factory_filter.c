#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "factory.h"
#include "filter_factory.h"

int
factory_filter(void)
{
	struct sock_fprog prog = {.len = filter_factory_len,
	    /* the kernel copies and does not write it */
	    .filter = (struct sock_filter *)(uintptr_t)filter_factory};

	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) == -1)
		return -1;
	return prctl(PR_GET_SECCOMP, 0UL, 0UL, 0UL, 0UL) == SECCOMP_MODE_FILTER
		   ? 0
		   : -1;
}
