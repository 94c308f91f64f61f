#ifndef CARREL_CAUSE_H
#define CARREL_CAUSE_H

#include <stddef.h>

/* The kinds of step that a host can forbid. */
enum cause_step {
	CAUSE_OTHER = 0,
	CAUSE_USERNS, /* clone with CLONE_NEWUSER and the rest */
	CAUSE_IDMAP,  /* uid_map, gid_map, setgroups */
	CAUSE_MOUNT,  /* the new mount API: fsopen ... move_mount */
	CAUSE_PROC,   /* mounting a new procfs */
	CAUSE_NETNS,  /* lo up in the new network namespace */
	CAUSE_OPENAT2,
	CAUSE_LANDLOCK,
	CAUSE_SECCOMP,
	CAUSE_LAST = CAUSE_SECCOMP
};

/*
 * Why this host refused a step that failed with errno err, and what to do:
 * one sentence that names the sysctl, LSM, kernel version or container
 * option. Reads /proc/sys, /sys and uname(2); needs no privilege and must not
 * be called by a process that has any. "" when nothing is known. Returns buf.
 */
const char *cause_of(enum cause_step, int err, char *buf, size_t len);

#endif
