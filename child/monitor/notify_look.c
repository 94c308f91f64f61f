#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "notify.h"
#include "parent/mountapi.h"

#define MOUNT_ROOT 0x2000 /* STATX_ATTR_MOUNT_ROOT, Linux 5.8 */
#define PAGE	   4096UL /* the smallest of any kernel */

/*
 * What a process is about to execute, as it sees it: by its own root and
 * working directory below /proc of the host, proc_pid_root(5).
 */

/*
 * What cannot be read from here may be there all the same, for the kernel to
 * read: memfd_secret(2), and memory that may only be executed.
 */
static int
is_mapped(pid_t pid, uint64_t at)
{
	unsigned long from, to;
	char name[64], may[5], *line = NULL;
	size_t room = 0;
	int found = 0;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid);
	if ((f = fopen(name, "re")) == NULL)
		return errno == EMFILE || errno == ENFILE || errno == ENOMEM;
	while (!found && getline(&line, &room, f) > 0)
		found = sscanf(line, "%lx-%lx %4s", &from, &to, may) == 3 &&
			at >= from && at < to && strncmp(may, "---", 3) != 0;
	free(line);
	fclose(f);
	return found;
}

int
notify_text(pid_t pid, uint64_t at, char path[NOTIFY_PATH_LEN])
{
	size_t first = PAGE - at % PAGE;
	/* a second page need not be there, and is its own piece */
	struct iovec here = {path, NOTIFY_PATH_LEN};
	struct iovec there[2] = {{(void *)(uintptr_t)at, first},
	    {(void *)(uintptr_t)(at + first), NOTIFY_PATH_LEN - first}};
	ssize_t n;

	n = process_vm_readv(pid, &here, 1, there, first == PAGE ? 1 : 2, 0);
	if (n > 0 && memchr(path, '\0', (size_t)n) != NULL)
		return 0;
	path[0] = '\0';
	if (n == NOTIFY_PATH_LEN)
		errno = ENAMETOOLONG;
	else
		errno = is_mapped(pid, at + (n > 0 ? (size_t)n : 0)) ? EACCES
								     : EFAULT;
	return -1;
}

int
notify_bytes(pid_t pid, uint64_t at, void *buf, size_t n)
{
	struct iovec here = {buf, n}, there = {(void *)(uintptr_t)at, n};

	if (process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)n)
		return 0;
	errno =
	    is_mapped(pid, at) || is_mapped(pid, at + n - 1) ? EACCES : EFAULT;
	return -1;
}

int
notify_path(pid_t pid, const struct seccomp_data *d, char path[NOTIFY_PATH_LEN])
{
	return notify_text(
	    pid, d->nr == SYS_execveat ? d->args[1] : d->args[0], path);
}

/* "/proc/PID/WHAT", or with a number behind it. */
static int
open_link(pid_t pid, const char *what, int number, int flags)
{
	char name[64];

	if (number < 0)
		snprintf(name, sizeof(name), "/proc/%d/%s", (int)pid, what);
	else
		snprintf(name, sizeof(name), "/proc/%d/%s/%d", (int)pid, what,
		    number);
	return open(name, O_PATH | O_CLOEXEC | flags);
}

int
notify_handle(pid_t pid, int fd)
{
	return fd < 0 ? -1 : open_link(pid, "fd", fd, 0);
}

/* The number behind one of the ways to say "my descriptor N", or -1. */
static int
own_descriptor(const char *path)
{
	static const char *const ways[] = {
	    "/proc/self/fd/", "/proc/thread-self/fd/", "/dev/fd/"};
	size_t i, n;

	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		n = strlen(ways[i]);
		if (strncmp(path, ways[i], n) == 0 && path[n] != '\0' &&
		    strlen(path + n) < 8 &&
		    path[n + strspn(path + n, "0123456789")] == '\0')
			return atoi(path + n);
	}
	return -1;
}

/*
 * The root of the process: the first who asks shows it, and all inside have
 * the same, for none can change it. It is kept once it is known whose it was
 * (notify_known()).
 */
static int
root_of(struct notify_view *v, pid_t pid)
{
	if (v->root == -1) {
		v->root = open_link(pid, "root", -1, O_DIRECTORY);
		v->new = 1;
	}
	return v->root;
}

void
notify_known(struct notify_view *v, int whose)
{
	if (v->new && !whose && v->root != -1) {
		close(v->root);
		v->root = -1;
	}
	v->new = 0;
}

int
notify_dir(pid_t pid, int dir, char name[NOTIFY_PATH_LEN])
{
	char link[64];
	ssize_t n;

	if (dir == AT_FDCWD)
		snprintf(link, sizeof(link), "/proc/%d/cwd", (int)pid);
	else
		snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)pid, dir);
	n = readlink(link, name, NOTIFY_PATH_LEN);
	if (n >= NOTIFY_PATH_LEN)
		errno = ENAMETOOLONG;
	if (n < 1 || n >= NOTIFY_PATH_LEN)
		return -1;
	name[n] = '\0';
	return 0;
}

/*
 * Absolute paths begin at the root of the process, and so do the symlinks on
 * the way. A relative one is joined to the name of its directory.
 */
static int
open_named(
    struct notify_view *v, pid_t pid, int dir, const char *path, int flags)
{
	char joined[2 * NOTIFY_PATH_LEN + 2] = "";
	int root = root_of(v, pid);

	if (root == -1 ||
	    (path[0] != '/' && notify_dir(pid, dir, joined) == -1))
		return -1;
	strcat(joined, "/");
	strcat(joined, path);
	return mountapi_openat2(
	    root, joined, O_PATH | O_CLOEXEC | flags, RESOLVE_IN_ROOT);
}

/* From the directory itself, as long as nothing leads out of it. */
static int
open_beneath(pid_t pid, int dir, const char *path, int flags)
{
	int fd, d;

	d = dir == AT_FDCWD ? open_link(pid, "cwd", -1, O_DIRECTORY)
			    : notify_handle(pid, dir);
	if (d == -1)
		return -1;
	fd = mountapi_openat2(
	    d, path, O_PATH | O_CLOEXEC | flags, RESOLVE_BENEATH);
	close(d);
	return fd;
}

int
notify_open(
    struct notify_view *v, pid_t pid, int dir, const char *path, int flags)
{
	int fd, number;

	if ((flags & O_NOFOLLOW) == 0 && (number = own_descriptor(path)) != -1)
		return notify_handle(pid, number);
	if (path[0] != '/') {
		fd = open_beneath(pid, dir, path, flags);
		if (fd != -1 || errno != EXDEV)
			return fd;
	}
	return open_named(v, pid, dir, path, flags);
}

int
notify_status(int fd, struct notify_status *st)
{
	memset(st, 0, sizeof(*st));
	return (int)syscall(SYS_statx, fd, "", AT_EMPTY_PATH, NOTIFY_STATX, st);
}

int
notify_program(struct notify_view *v, pid_t pid, const struct seccomp_data *d,
    const char *path)
{
	int dir = AT_FDCWD, number;

	if (d->nr == SYS_execveat) {
		dir = (int)d->args[0];
		if (path[0] == '\0' && ((int)d->args[4] & AT_EMPTY_PATH) != 0)
			return notify_handle(pid, dir);
	}
	if ((number = own_descriptor(path)) != -1)
		return notify_handle(pid, number);
	if (strcmp(path, "/proc/self/exe") == 0)
		return open_link(pid, "exe", -1, 0);
	return open_named(v, pid, dir, path, 0);
}

/*
 * The exec lock leaves noexec off the interpreters' and loaders' own mounts,
 * each of which is one file, and off directories of shared objects, which
 * Landlock keeps from being executed themselves.
 */
int
notify_locked(int fd)
{
	struct notify_status st;
	struct statvfs fs;

	if (fstatvfs(fd, &fs) == -1 || notify_status(fd, &st) == -1)
		return 1;
	if (!S_ISREG(st.mode))
		return 0; /* which the kernel refuses as it always does */
	if ((fs.f_flag & ST_NOEXEC) != 0)
		return 1;
	return (st.attributes_mask & MOUNT_ROOT) != 0 &&
	       (st.attributes & MOUNT_ROOT) == 0;
}

int
notify_judge(struct notify_view *v, pid_t pid, const struct seccomp_data *d,
    const char *path)
{
	int fd, refused;

	fd = notify_program(v, pid, d, path);
	/* links of procfs lead where no text says: nobody needs them here */
	if (fd == -1)
		return errno == ELOOP || errno == EXDEV ||
			       strncmp(path, "/proc/", 6) == 0
			   ? EACCES
			   : 0;
	refused = notify_locked(fd);
	close(fd);
	return refused ? EACCES : 0;
}

/* None of them is let through: the filter sends only what is refused. */
int
notify_other(const struct seccomp_data *d, enum notify_reason *by,
    const char **action, const char **resource)
{
	switch (d->nr) {
#ifdef SYS_fork
	case SYS_fork:
		*resource = "fork";
		break;
	case SYS_vfork:
		*resource = "vfork";
		break;
#endif
	case SYS_clone:
		*resource = "clone";
		break;
	case SYS_socket:
	case SYS_socketpair:
		*by = NOTIFY_BY_UNIX;
		*action = "socket";
		*resource = "unix";
		return EAFNOSUPPORT;
	default:
		return 0;
	}
	*by = NOTIFY_BY_SPAWN;
	*action = "spawn";
	return EPERM;
}
