#ifndef CARREL_NOTIFY_H
#define CARREL_NOTIFY_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Answers each attempt of a payload to execute a program, and where it is to
 * be told that it tried to make a process or a unix socket those, too, from
 * outside the sandbox: seccomp_unotify(2). A process of its own that does
 * nothing else, so that no stopped or busy monitor keeps a payload waiting; it
 * ends with the monitor, and without it every attempt fails (ENOSYS).
 *
 * What is let through is still judged by the kernel, by the mounts and
 * Landlock: the path is the payload's memory, which may change once it was
 * read here. So an answer from here can only refuse more.
 */

#define NOTIFY_ONCE   0x01 /* the first attempt is the last: then EPERM */
#define NOTIFY_LOCKED 0x02 /* refuse what the exec lock would, EACCES */
#define NOTIFY_REPORT 0x04 /* each refusal is an event */
#define NOTIFY_FLAGS  0x07

/* Which line of which profile refuses; rule NULL: nobody said. */
enum notify_reason {
	NOTIFY_BY_LOCK, /* of those that name interpreters */
	NOTIFY_BY_ONCE,
	NOTIFY_BY_SPAWN,
	NOTIFY_BY_UNIX,
	NOTIFY_REASONS
};

struct notify_rule {
	uint16_t profile; /* index in the policy */
	uint32_t line;
	char *rule;
};

struct notify {
	int listener; /* of filter_notify() */
	int flags;
	int events;			 /* REPORT: for ipc/event.h, else -1 */
	const struct notify_rule *rules; /* NOTIFY_REASONS */
};

/* Starts the process, and closes both descriptors here. Its pid, or -1. */
pid_t notify_start(const struct notify *);

/* Its life, until nothing is left inside: 0, or 1 after an error. */
int notify_serve(const struct notify *);

/* notify_look.c */

#define NOTIFY_PATH_LEN 4096 /* PATH_MAX, with the NUL */

struct seccomp_data;

/*
 * The path of execve(2) or execveat(2), raw, out of the memory of the process
 * that calls it: 0, or -1 and "" if it cannot be read.
 */
int notify_path(pid_t, const struct seccomp_data *, char path[NOTIFY_PATH_LEN]);

/*
 * Whether the exec lock refuses what is there: EACCES; 0 if not, or if the
 * kernel will have another reason.
 */
int notify_judge(pid_t, const struct seccomp_data *, const char *path);

/*
 * If it is no attempt to execute, what it is: "spawn" or "socket", and the
 * name of the call; what the payload gets for it. 0: it is one.
 */
int notify_other(const struct seccomp_data *, enum notify_reason *,
    const char **action, const char **resource);

#endif
