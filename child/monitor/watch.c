#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "parent/mountapi.h"
#include "watch_parts.h"

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_setxattrat
#define SYS_setxattrat	  463
#define SYS_removexattrat 466
#endif
#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif

/* Symlinks that lead to nothing, one behind the other. */
#define DANGLING_MAX 8

static const struct call calls[] = {
    {SYS_openat, OPENS, 0, 1, 2, NULL},
    {SYS_execve, EXECUTES, CWD, 0, NONE, "exec"},
    {SYS_execveat, EXECUTES, 0, 1, 4, "exec"},
    {SYS_mkdirat, MAKES, 0, 1, NONE, "mkdir"},
    {SYS_mknodat, MAKES, 0, 1, NONE, "mknod"},
    {SYS_symlinkat, MAKES, 1, 2, NONE, "symlink"},
    {SYS_linkat, LINKS, 0, 1, 4, "link"},
    {SYS_renameat2, RENAMES, 0, 1, 4, "rename"},
    {SYS_unlinkat, REMOVES, 0, 1, NONE, "remove"},
    {SYS_bind, BINDS, CWD, 1, NONE, "bind"},
    {SYS_truncate, TRUNCATES, CWD, 0, NONE, "truncate"},
    {SYS_fchmod, CHANGES_OPEN, 0, NONE, NONE, "chmod"},
    {SYS_fchmodat, CHANGES, 0, 1, NONE, "chmod"},
    {SYS_fchmodat2, CHANGES, 0, 1, 3, "chmod"},
    {SYS_fchown, CHANGES_OPEN, 0, NONE, NONE, "chown"},
    {SYS_fchownat, CHANGES, 0, 1, 4, "chown"},
    {SYS_utimensat, TIMES, 0, 1, 3, "utime"},
    {SYS_setxattr, CHANGES, CWD, 0, NONE, "xattr"},
    {SYS_lsetxattr, CHANGES_LINK, CWD, 0, NONE, "xattr"},
    {SYS_fsetxattr, CHANGES_OPEN, 0, NONE, NONE, "xattr"},
    {SYS_setxattrat, CHANGES, 0, 1, 2, "xattr"},
    {SYS_removexattr, CHANGES, CWD, 0, NONE, "xattr"},
    {SYS_lremovexattr, CHANGES_LINK, CWD, 0, NONE, "xattr"},
    {SYS_fremovexattr, CHANGES_OPEN, 0, NONE, NONE, "xattr"},
    {SYS_removexattrat, CHANGES, 0, 1, 2, "xattr"},
    {SYS_newfstatat, LOOKS, 0, 1, 3, "look"},
    {SYS_statx, LOOKS, 0, 1, 2, "look"},
    {SYS_faccessat, LOOKS, 0, 1, NONE, "look"},
    {SYS_faccessat2, LOOKS, 0, 1, 3, "look"},
    {SYS_readlinkat, LOOKS_LINK, 0, 1, NONE, "look"},
    {SYS_chdir, LOOKS, CWD, 0, NONE, "read"},
    {SYS_connect, CONNECTS, CWD, 1, NONE, "connect"},
#ifdef SYS_renameat
    {SYS_renameat, RENAMES, 0, 1, NONE, "rename"},
#endif
#ifdef SYS_open /* the older ones, which not every machine has */
    {SYS_open, OPENS, CWD, 0, 1, NULL},
    {SYS_creat, CREATES, CWD, 0, NONE, NULL},
    {SYS_mkdir, MAKES, CWD, 0, NONE, "mkdir"},
    {SYS_mknod, MAKES, CWD, 0, NONE, "mknod"},
    {SYS_symlink, MAKES, CWD, 1, NONE, "symlink"},
    {SYS_link, LINKS, CWD, 0, NONE, "link"},
    {SYS_rename, RENAMES, CWD, 0, NONE, "rename"},
    {SYS_unlink, REMOVES, CWD, 0, NONE, "remove"},
    {SYS_rmdir, REMOVES, CWD, 0, NONE, "remove"},
    {SYS_chmod, CHANGES, CWD, 0, NONE, "chmod"},
    {SYS_chown, CHANGES, CWD, 0, NONE, "chown"},
    {SYS_lchown, CHANGES_LINK, CWD, 0, NONE, "chown"},
    {SYS_utime, CHANGES, CWD, 0, NONE, "utime"},
    {SYS_utimes, CHANGES, CWD, 0, NONE, "utime"},
    {SYS_futimesat, TIMES, 0, 1, NONE, "utime"},
    {SYS_stat, LOOKS, CWD, 0, NONE, "look"},
    {SYS_lstat, LOOKS_LINK, CWD, 0, NONE, "look"},
    {SYS_access, LOOKS, CWD, 0, NONE, "look"},
    {SYS_readlink, LOOKS_LINK, CWD, 0, NONE, "look"},
#endif
};

static const struct call *
find_call(int nr)
{
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].nr == nr)
			return &calls[i];
	return NULL;
}

static int
flags_of(const struct look *l)
{
	return l->call->flags == NONE ? 0 : (int)l->d->args[l->call->flags];
}

/* A name that is not there yet, or (there) that is. */
static int
judge_name(
    const struct look *l, const struct asked *a, int there, const char *action)
{
	int fd = watch_parent(l, a), r = 0;

	if (fd == -1)
		return 0;
	if (watch_read_only(fd) != 0 && watch_exists(l, a) == there)
		r = watch_found(l, a, fd, EROFS, action);
	close(fd);
	return r;
}

/* open(2) of what is not there, with O_CREAT. */
static int
judge_new(const struct look *l, const struct asked *a)
{
	struct asked to = *a;
	int i;

	for (i = 0; i < DANGLING_MAX && watch_follow(l, &to); i++)
		;
	if (i == 0)
		return judge_name(l, a, 0, "create");
	if (!judge_name(l, &to, 0, "create"))
		return 0;
	return watch_say(l, a) == 0;
}

static int
judge_open(const struct look *l, int flags)
{
	const int new = O_CREAT | O_EXCL, tmp = O_TMPFILE & ~O_DIRECTORY;
	struct stat st;
	struct asked a;
	int fd, r = 0;

	if ((flags & O_PATH) != 0 || watch_read(l, 0, &a) == -1)
		return 0;
	if ((flags & new) == new && (flags & tmp) == 0)
		return judge_name(l, &a, 0, "create");
	fd = watch_open(l, &a, flags & O_NOFOLLOW);
	if (fd == -1)
		return errno == ENOENT && (flags & O_CREAT) != 0 &&
			       (flags & tmp) == 0
			   ? judge_new(l, &a)
			   : 0;
	if (fstat(fd, &st) == -1)
		r = 0;
	else if (S_ISDIR(st.st_mode) && (flags & tmp) != 0 &&
		 (flags & O_ACCMODE) != 0)
		r = watch_found(
		    l, &a, fd, watch_read_only(fd) == 0 ? 0 : EROFS, "create");
	else if (S_ISREG(st.st_mode) && (flags & O_DIRECTORY) == 0 &&
		 (flags & (O_ACCMODE | O_TRUNC)) != 0) {
		r = watch_read_only(fd);
		if (r != 0 && (flags & O_TRUNC) != 0)
			r = EROFS; /* asked for before the mode is */
		r = watch_found(l, &a, fd, r, "write");
	}
	close(fd);
	return r;
}

/* Within one mount: between two it is EXDEV before anything else. */
static int
judge_rename(const struct look *l)
{
	struct notify_status st, to;
	struct asked from, a;
	int fd, fd2, r = 0;

	if (watch_read(l, 0, &from) == -1 || watch_read(l, 1, &a) == -1 ||
	    (fd = watch_parent(l, &from)) == -1)
		return 0;
	fd2 = watch_parent(l, &a);
	if (fd2 != -1 && watch_read_only(fd) != 0 &&
	    notify_status(fd, &st) == 0 && notify_status(fd2, &to) == 0 &&
	    st.mount == to.mount && watch_exists(l, &from) &&
	    !((flags_of(l) & RENAME_NOREPLACE) != 0 && watch_exists(l, &a)))
		r = watch_found(l, &from, fd, EROFS, l->call->action);
	if (fd2 != -1)
		close(fd2);
	close(fd);
	return r;
}

static int
judge_link(const struct look *l)
{
	struct asked from, a;

	if (watch_read(l, 0, &from) == -1 || watch_read(l, 1, &a) == -1)
		return 0;
	if (from.path[0] != '\0' && !watch_exists(l, &from))
		return 0;
	return judge_name(l, &a, 0, l->call->action);
}

/* Attributes of what is there: no mode comes before the mount. */
static int
judge_change(const struct look *l, const struct asked *a, int fd)
{
	struct statvfs fs;
	struct stat st;
	int r = 0;

	if (fd == -1)
		return 0;
	if (fstatvfs(fd, &fs) == 0 && (fs.f_flag & ST_RDONLY) != 0 &&
	    (l->call->what != TRUNCATES ||
		(fstat(fd, &st) == 0 && S_ISREG(st.st_mode))))
		r = watch_found(l, a, fd, EROFS, l->call->action);
	close(fd);
	return r;
}

static int
judge_path(const struct look *l)
{
	int flags = flags_of(l), nofollow;
	struct asked a;

	if (l->call->what == TIMES && l->d->args[l->call->path] == 0)
		return judge_change(l, NULL,
		    notify_handle(l->pid, (int)l->d->args[l->call->dir]));
	if (watch_read(l, 0, &a) == -1)
		return 0;
	if (a.path[0] == '\0')
		return (flags & AT_EMPTY_PATH) == 0
			   ? 0
			   : judge_change(
				 l, NULL, notify_handle(l->pid, a.dir));
	nofollow =
	    l->call->what == CHANGES_LINK || (flags & AT_SYMLINK_NOFOLLOW) != 0;
	return judge_change(
	    l, &a, watch_open(l, &a, nofollow ? O_NOFOLLOW : 0));
}

/*
 * With an exec lock all is noexec that the plan did not leave executable;
 * without one only what is carrel's own is, and the rest is the host's.
 */
static int
judge_exec(const struct look *l)
{
	struct statvfs fs;
	struct asked a;
	struct stat st;
	int fd, r = 0;

	/* with LOCKED it has been judged */
	if ((l->n->flags & NOTIFY_LOCKED) != 0 || watch_read(l, 0, &a) == -1)
		return 0;
	fd = notify_program(l->view, l->pid, l->d, a.path);
	if (fd == -1 && a.path[0] != '\0')
		fd = watch_open(l, &a, 0);
	if (fd == -1)
		return 0;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    (st.st_mode & 0111) != 0 &&
	    ((l->n->flags & NOTIFY_NOEXEC) != 0
		    ? notify_locked(fd)
		    : fstatvfs(fd, &fs) == 0 && (fs.f_flag & ST_NOEXEC) != 0))
		r = watch_found(l, a.path[0] == '\0' ? NULL : &a, fd, EACCES,
		    l->call->action);
	close(fd);
	if (r != 0 && (l->n->flags & NOTIFY_NOEXEC) == 0 &&
	    l->out->place != NULL)
		return 0;
	l->out->place = NULL; /* no rule lets it run */
	return r;
}

int
watch_works(void)
{
	int fd = mountapi_openat2(AT_FDCWD, ".", O_PATH | O_CLOEXEC, 0), r;

	if (fd == -1)
		return 0;
	r = (int)syscall(
	    SYS_faccessat2, fd, "", F_OK, AT_EMPTY_PATH | AT_EACCESS);
	close(fd);
	return r == 0;
}

/* What opens O_CREAT as creat(2) does. */
#define CREAT_FLAGS (O_CREAT | O_WRONLY | O_TRUNC)

static int
judge(const struct look *l)
{
	struct asked a;

	switch (l->call->what) {
	case OPENS:
		return judge_open(l, flags_of(l));
	case CREATES:
		return judge_open(l, CREAT_FLAGS);
	case MAKES:
	case REMOVES:
		return watch_read(l, 0, &a) == 0 &&
		       judge_name(
			   l, &a, l->call->what == REMOVES, l->call->action);
	case BINDS:
		return watch_read_socket(l, &a) == 0 &&
		       judge_name(l, &a, 0, l->call->action);
	case LINKS:
		return judge_link(l);
	case RENAMES:
		return judge_rename(l);
	case CHANGES_OPEN:
		return judge_change(
		    l, NULL, notify_handle(l->pid, (int)l->d->args[0]));
	case EXECUTES:
		return judge_exec(l);
	case LOOKS:
	case LOOKS_LINK:
	case CONNECTS:
		return 0;
	default: /* CHANGES, CHANGES_LINK, TIMES, TRUNCATES */
		return judge_path(l);
	}
}

int
watch_judge(const struct notify *n, struct notify_view *view, pid_t pid,
    const struct seccomp_data *d, struct watched *out)
{
	struct look l = {view, n, pid, d, find_call(d->nr), out};

	out->unclear = out->missing = 0;
	if (l.call == NULL)
		return 0;
	if (judge(&l))
		return 1;
	if ((n->flags & NOTIFY_LEARN) == 0)
		return 0;
	return watch_missing(
	    &l, l.call->what == CREATES ? CREAT_FLAGS : flags_of(&l));
}

int
watch_use(const struct notify *n, struct notify_view *view,
    struct watch_uses *u, pid_t pid, const struct seccomp_data *d, int which,
    struct watched *out)
{
	struct look l = {view, n, pid, d, find_call(d->nr), out};

	out->unclear = out->missing = 0;
	if (l.call == NULL)
		return 0;
	return watch_used(
	    &l, u, which, l.call->what == CREATES ? CREAT_FLAGS : flags_of(&l));
}

int
watch_use_first(const struct notify *n, struct notify_view *view,
    struct watch_uses *u, pid_t pid, struct watched *out)
{
	static const struct seccomp_data none;
	struct look l = {view, n, pid, &none, find_call(SYS_execve), out};

	out->unclear = out->missing = 0;
	return watch_used_first(&l, u);
}
