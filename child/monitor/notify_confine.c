#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "filter_notifier.h"
#include "notify.h"

/*
 * This process reads what a hostile one writes, so it keeps as little as it
 * needs. There is no Landlock here: it ties ptrace(2) to its domains, and with
 * that each look into a process, process_vm_readv(2).
 */
int
notify_confine(void)
{
	static const struct rlimit none;
	struct sock_fprog prog = {.len = filter_notifier_len,
	    .filter = (struct sock_filter *)(uintptr_t)filter_notifier};

	if (setrlimit(RLIMIT_CORE, &none) == -1 ||
	    setrlimit(RLIMIT_NPROC, &none) == -1 ||
	    setrlimit(RLIMIT_FSIZE, &none) == -1 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		return -1;
#ifdef __SANITIZE_ADDRESS__
	/* in the unit tests; what the sanitizer calls is not on the list */
	(void)prog;
	return 0;
#else
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog);
#endif
}
