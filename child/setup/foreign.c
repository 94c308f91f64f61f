#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "foreign.h"
#include "ipc/path.h"
#include "parent/failure.h"

/* listmount(2), Linux 6.8; its first version of struct mnt_id_req. */
#ifndef SYS_listmount
#define SYS_listmount 458
#endif
#define WHOLE_NAMESPACE UINT64_MAX /* LSMT_ROOT */

struct id_request {
	uint32_t size, spare;
	uint64_t id, param;
};

static const char *const kernels[] = {"autofs", "binfmt_misc", "bpf", "cgroup",
    "cgroup2", "configfs", "debugfs", "devpts", "efivarfs", "fusectl", "mqueue",
    "nsfs", "proc", "pstore", "rpc_pipefs", "securityfs", "selinuxfs",
    "smackfs", "sysfs", "tracefs"};

/* 1 if the namespace holds just as many; 0 if more, or not to be told. */
static int
just_ours(size_t ours)
{
	struct id_request q = {.size = sizeof(q), .id = WHOLE_NAMESPACE};
	uint64_t *ids = calloc(ours + 1, sizeof(*ids));
	long n;

	if (ids == NULL)
		return 0;
	n = syscall(SYS_listmount, &q, ids, ours + 1, 0);
	free(ids);
	return n >= 0 && (size_t)n == ours;
}

/* The field at *p, which is moved behind it; proc_pid_mountinfo(5). */
static char *
field(char **p)
{
	char *f = *p;

	*p += strcspn(f, " \n");
	if (**p != '\0')
		*(*p)++ = '\0';
	return f;
}

/* NULL, or the mount point of a line that is no business of the payload's. */
static const char *
judge(char *line)
{
	char *p = line, *point, *type;
	size_t i;

	for (i = 0; i < 4; i++)
		(void)field(&p);
	point = field(&p);
	/* optional fields end in "-" */
	do
		type = field(&p);
	while (*p != '\0' && strcmp(type, "-") != 0);
	type = field(&p);
	if (path_covers("/proc", point) || path_covers("/dev", point))
		return NULL; /* the plan's own, where no grant can be */
	for (i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
		if (strcmp(type, kernels[i]) == 0)
			return point;
	return NULL;
}

int
foreign_refuse(size_t ours, struct failure *f)
{
	const char *point = NULL;
	char *line = NULL;
	size_t cap = 0;
	FILE *in;
	int r = 0;

	if (just_ours(ours))
		return 0;
	if ((in = fopen("/proc/self/mountinfo", "re")) == NULL)
		return failure_set(f, CAUSE_OTHER, "read /proc/self/mountinfo");
	while (point == NULL && getline(&line, &cap, in) > 0)
		point = judge(line);
	if (point != NULL) {
		errno = 0;
		r = failure_set(f, CAUSE_OTHER,
		    "%s is a mount of the kernel's own below what was granted; "
		    "unmount it, or grant what is beside it",
		    point);
	} else if (ferror(in))
		r = failure_set(f, CAUSE_OTHER, "read /proc/self/mountinfo");
	free(line);
	fclose(in);
	return r;
}
