#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "filter_parser.h"
#include "ipc/limits.h"
#include "layers.h"
#include "place.h"
#include "sandbox.h"

/*
 * What the process gives itself at the most, and what it cannot do without:
 * the caller's hard limits may be lower.
 */
static const struct bound {
	int what;
	rlim_t max, min;
	const char *name, *option; /* of ulimit(1) */
} bounds[] = {
    {RLIMIT_FSIZE, 0, 0, "file size", "-f"},
    {RLIMIT_CORE, 0, 0, "core size", "-c"},
    {RLIMIT_NPROC, 0, 0, "processes", "-u"},
    /* descriptors: the socket, the layers, one file */
    {RLIMIT_NOFILE, 16, 10, "open files", "-n"},
    {RLIMIT_CPU, PARSER_SECONDS, 1, "processor time", "-t"},
    {RLIMIT_AS, 256UL << 20, 16UL << 20, "address space", "-v"},
};

/*
 * Landlock (kernel: Documentation/userspace-api/landlock.rst). The build's
 * headers may be older than the kernel that runs, so the values stand here.
 */
struct ruleset_attr {
	uint64_t fs, net, scoped;
};

struct beneath_attr {
	uint64_t access;
	int32_t fd;
} __attribute__((packed));

#define FS_READ_FILE (1ULL << 2)
#define FS_READ_DIR  (1ULL << 3)
#define RULE_BENEATH 1
#define GET_VERSION  1U

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule	    445
#define SYS_landlock_restrict_self  446
#endif

/* All rights that each ABI version can take away. */
static const struct ruleset_attr abis[] = {
    {0, 0, 0}, {(1ULL << 13) - 1, 0, 0}, /* 1: Linux 5.13 */
    {(1ULL << 14) - 1, 0, 0},		 /* 2: refer */
    {(1ULL << 15) - 1, 0, 0},		 /* 3: truncate */
    {(1ULL << 15) - 1, 3, 0},		 /* 4: bind and connect by TCP */
    {(1ULL << 16) - 1, 3, 0},		 /* 5: ioctl of devices */
    {(1ULL << 16) - 1, 3, 3},		 /* 6: abstract sockets and signals */
};

#define ABI_LAST ((long)(sizeof(abis) / sizeof(abis[0])) - 1)

static int
refuse(const struct place *at, const char *fix, const char *step)
{
	return place_refuse(at, 0, fix,
	    "the reader of profiles cannot be confined: %s: %s", step,
	    strerror(errno));
}

static int
set_limit(const struct place *at, const struct bound *b)
{
	struct rlimit r;
	char fix[64] = "";

	if (getrlimit(b->what, &r) == -1)
		return refuse(at, "use a kernel that has it", b->name);
	if (r.rlim_max < b->min) {
		text_add(fix, sizeof(fix), "raise the hard limit: ulimit %s",
		    b->option);
		return place_refuse(at, 0, fix,
		    "the reader of profiles cannot work: the limit of %s "
		    "(ulimit -H %s) is %llu, %llu are needed",
		    b->name, b->option, (unsigned long long)r.rlim_max,
		    (unsigned long long)b->min);
	}
	if (r.rlim_max > b->max)
		r.rlim_max = b->max;
	r.rlim_cur = r.rlim_max;
	return setrlimit(b->what, &r) == 0
		   ? 0
		   : refuse(
			 at, "lift the limits of the calling shell", b->name);
}

static int
set_limits(const struct place *at)
{
	size_t i;

	for (i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++)
		if (set_limit(at, &bounds[i]) == -1)
			return -1;
	return 0;
}

static int
allow_beneath(int rules, int fd)
{
	struct beneath_attr a = {FS_READ_FILE | FS_READ_DIR, fd};

	if (fd == -1)
		return 0;
	return (int)syscall(SYS_landlock_add_rule, rules, RULE_BENEATH, &a, 0);
}

static int
enter_landlock(const struct layers *ls)
{
	struct ruleset_attr attr;
	int rules, i, bad = 0;
	long abi;

	abi = syscall(SYS_landlock_create_ruleset, NULL, 0, GET_VERSION);
	if (abi < 1)
		return -1;
	attr = abis[abi > ABI_LAST ? ABI_LAST : abi];
	/* what an older kernel does not know is zero there, and then legal */
	rules =
	    (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (rules == -1)
		return -1;
	for (i = LAYER_SHIPPED; i <= LAYER_LAST; i++)
		bad |= allow_beneath(rules, ls->dir[i].fd);
	if (bad == 0)
		bad = (int)syscall(SYS_landlock_restrict_self, rules, 0);
	close(rules);
	return bad;
}

static int
enter_filter(void)
{
	struct sock_fprog prog;

	prog.len = filter_parser_len;
	prog.filter = (struct sock_filter *)(uintptr_t)filter_parser;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog);
}

static const char *
landlock_fix(void)
{
	if (errno == EOPNOTSUPP)
		return "add landlock to lsm= on the kernel's command line, or "
		       "weaken this with --without-landlock";
	return "use Linux 5.13 or later with CONFIG_SECURITY_LANDLOCK=y, or "
	       "weaken this with --without-landlock";
}

int
sandbox_enter(
    const struct layers *ls, int without_landlock, const struct place *at)
{
	int fd;

	for (fd = 0; fd <= 2 && !SANDBOX_SANITIZED; fd++)
		close(fd); /* one that was closed already is as good */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		return refuse(
		    at, "use Linux 3.5 or later", "PR_SET_NO_NEW_PRIVS");
	if (!SANDBOX_SANITIZED && set_limits(at) == -1)
		return -1;
	if (!without_landlock && enter_landlock(ls) == -1)
		return refuse(at, landlock_fix(), "Landlock");
	if (!SANDBOX_SANITIZED && enter_filter() == -1)
		return refuse(at,
		    "use a kernel with CONFIG_SECCOMP_FILTER=y and a "
		    "container that permits seccomp(2)",
		    "seccomp");
	return 0;
}
