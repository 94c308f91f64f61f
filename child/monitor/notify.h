#ifndef CARREL_NOTIFY_H
#define CARREL_NOTIFY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct places;

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
#define NOTIFY_FS     0x08 /* so is what watch.h finds, which goes on */
#define NOTIFY_NOEXEC 0x10 /* FS: there is an exec lock */
#define NOTIFY_LEARN  0x20 /* FS: so is what is missing, as a note */
#define NOTIFY_USES   0x40 /* FS: so is what is used, as a note */
#define NOTIFY_FLAGS  0x7f

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
	int events; /* REPORT, FS: for child/shared/event.h, or -1 */
	const struct notify_rule *rules; /* NOTIFY_REASONS */
	const struct places *places;	 /* FS */
	char *const *uses;		 /* USES: places inside, or "" */
	size_t nuses;
	const char *first; /* USES: what carrel executes */
	const char *path;  /* LEARN: the caller's PATH, or NULL */
};

/* Starts the process, and closes both descriptors here. Its pid, or -1. */
pid_t notify_start(const struct notify *);

/* notify_confine.c: all that it may do from now on is in notifier.table. */
int notify_confine(void); /* 0 or -1 */

/* Its life, until nothing is left inside: 0, or 1 after an error. */
int notify_serve(const struct notify *);

/* notify_look.c: what a process means by a path. */

#define NOTIFY_PATH_LEN 4096   /* PATH_MAX, with the NUL */
#define NOTIFY_STATX	0x1101 /* type, inode and mount: statx(2) */

struct seccomp_data;

struct notify_view {
	int root; /* of all inside, or -1: not known yet */
	int new;  /* it was opened for the notice that is being answered */
};

/* struct statx of <linux/stat.h>, which not every C library goes with. */
struct notify_status {
	uint32_t mask, blksize;
	uint64_t attributes;
	uint32_t nlink, uid, gid;
	uint16_t mode, spare;
	uint64_t ino, size, blocks, attributes_mask;
	uint8_t times[64];
	uint32_t rdev[2], dev[2];
	uint64_t mount;
	uint8_t rest[104];
};
_Static_assert(sizeof(struct notify_status) == 256, "as the kernel has it");

/*
 * A path, raw, out of the memory of the process that calls: 0, or -1 and "" if
 * it cannot be read: errno EACCES if it is there, and may be for the kernel
 * alone. notify_path: that of execve(2) or execveat(2).
 */
int notify_text(pid_t, uint64_t at, char path[NOTIFY_PATH_LEN]);
int notify_path(pid_t, const struct seccomp_data *, char path[NOTIFY_PATH_LEN]);

/* So many bytes of it, all of them: 0 or -1. */
int notify_bytes(pid_t, uint64_t at, void *buf, size_t);

/*
 * O_PATH descriptors, or -1 with errno: of a descriptor of the process; of a
 * path, with O_NOFOLLOW or O_DIRECTORY; of what it is about to execute.
 */
int notify_handle(pid_t, int fd);
int notify_open(
    struct notify_view *, pid_t, int dir, const char *path, int flags);
int notify_program(
    struct notify_view *, pid_t, const struct seccomp_data *, const char *path);
/* How a directory of the process is called, AT_FDCWD too. 0 or -1. */
int notify_dir(pid_t, int dir, char name[NOTIFY_PATH_LEN]);
int notify_status(int fd, struct notify_status *);

/* The pid was valid (1) when the root was opened, or was not. */
void notify_known(struct notify_view *, int whose);

/* Whether an exec lock refuses what this names. */
int notify_locked(int fd);
/*
 * The same of what is about to be executed: EACCES; 0 if not, or if the
 * kernel will have another reason.
 */
int notify_judge(
    struct notify_view *, pid_t, const struct seccomp_data *, const char *path);

/*
 * If it is no attempt to execute, what it is: "spawn" or "socket", and the
 * name of the call; what the payload gets for it. 0: it is one.
 */
int notify_other(const struct seccomp_data *, enum notify_reason *,
    const char **action, const char **resource);

#endif
