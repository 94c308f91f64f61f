#ifndef CARREL_SHARED_CAUSE_H
#define CARREL_SHARED_CAUSE_H

#include <stddef.h>

#include "ipc/cause.h"

/*
 * Why this host refused a step that failed with errno err, and what to do:
 * one sentence that names the sysctl, LSM, kernel version or container
 * option. Reads /proc/sys, /sys and uname(2); needs no privilege and must not
 * be called by a process that has any. "" when nothing is known. Returns buf.
 */
const char *cause_of(enum cause_step, int err, char *buf, size_t len);

/* What is read of the host for it. A number is -1 where there is none. */
struct cause_host {
	unsigned major, minor; /* of the kernel, 0 if unknown */
	long apparmor;	       /* apparmor_restrict_unprivileged_userns */
	long userns_clone;     /* kernel.unprivileged_userns_clone */
	long max_user, max_mnt, max_pid, max_net, max_ipc, max_uts, max_cgroup;
	int selinux;	  /* 1: enforcing */
	int seccomp;	  /* 1: this process is filtered already */
	int chrooted;	  /* 1: "/" is not a mount point */
	int proc_covered; /* 1: something is mounted below /proc */
	int no_landlock;  /* 1: the list of active LSMs lacks it */
	int one_id;	  /* 1: a user namespace with few ids */
};

/* Reads it; what cannot be read is unknown, never an error. */
void cause_read(struct cause_host *);
/* The judgement of cause_of() on what was read. Pure. */
const char *cause_judge(
    const struct cause_host *, enum cause_step, int err, char *buf, size_t len);

#endif
