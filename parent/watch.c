#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mountapi.h"
#include "places.h"
#include "watch.h"

#ifndef SYS_faccessat2
#define SYS_faccessat2 439
#endif
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

#define DANGLING_MAX                                                           \
	8 /* symlinks that lead to nothing, one behind the other               \
	   */

/* What a call does to what it names. */
enum what {
	OPENS = 1, /* flags: those of open(2) */
	CREATES,   /* the same, as creat(2) */
	MAKES,	   /* a new name */
	LINKS,	   /* the same for what another path names */
	RENAMES,
	REMOVES,
	TRUNCATES,
	CHANGES,      /* attributes of what a path names */
	CHANGES_LINK, /* without following it */
	CHANGES_OPEN, /* of a descriptor */
	TIMES,	      /* as CHANGES, but of dir where there is no path */
	EXECUTES
};

#define CWD  -1 /* no argument: the working directory */
#define NONE -1

/* dir, path, flags: the number of the argument. LINKS, RENAMES: of the first
 * path; of the second they are as many behind as one path has. */
static const struct call {
	long nr;
	uint8_t what;
	int8_t dir, path, flags;
	const char *action;
} calls[] = {
    {SYS_openat, OPENS, 0, 1, 2, NULL},
    {SYS_execve, EXECUTES, CWD, 0, NONE, "exec"},
    {SYS_execveat, EXECUTES, 0, 1, 4, "exec"},
    {SYS_mkdirat, MAKES, 0, 1, NONE, "mkdir"},
    {SYS_mknodat, MAKES, 0, 1, NONE, "mknod"},
    {SYS_symlinkat, MAKES, 1, 2, NONE, "symlink"},
    {SYS_linkat, LINKS, 0, 1, 4, "link"},
    {SYS_renameat2, RENAMES, 0, 1, 4, "rename"},
    {SYS_unlinkat, REMOVES, 0, 1, NONE, "remove"},
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
#endif
};

/* A call that is being looked at. */
struct look {
	struct notify_view *view;
	const struct notify *n;
	pid_t pid;
	const struct seccomp_data *d;
	const struct call *call;
	struct watched *out;
};

/* A path as it was asked for. */
struct asked {
	int dir;
	char path[NOTIFY_PATH_LEN];
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

/* The first path (0) or the second (1). -1: there is none to read. */
static int
read_path(const struct look *l, int which, struct asked *a)
{
	int at = l->call->path + which * (l->call->dir == CWD ? 1 : 2);

	a->dir = l->call->dir == CWD ? AT_FDCWD : (int)l->d->args[at - 1];
	return notify_text(l->pid, l->d->args[at], a->path);
}

static int
open_asked(const struct look *l, const struct asked *a, int flags)
{
	return notify_open(l->view, l->pid, a->dir, a->path, flags);
}

static int
exists(const struct look *l, const struct asked *a)
{
	int fd = open_asked(l, a, O_NOFOLLOW);

	if (fd == -1)
		return 0;
	close(fd);
	return 1;
}

/*
 * What a write to this file, or a new name in this directory, would get from
 * the mount: EROFS, or EACCES if a mode comes first; else 0. In the order of
 * the costs: most of what is asked may be written.
 */
static int
read_only(int fd)
{
	struct statvfs fs;

	if (syscall(SYS_faccessat2, fd, "", W_OK, AT_EMPTY_PATH | AT_EACCESS) ==
	    0)
		return 0;
	if (errno == EROFS)
		return EROFS;
	return errno == EACCES && fstatvfs(fd, &fs) == 0 &&
		       (fs.f_flag & ST_RDONLY) != 0
		   ? EACCES
		   : 0;
}

/*
 * The directory that the last component is in, O_PATH, and the component. -1
 * if there is none that could be made or removed.
 */
static int
open_parent(const struct look *l, const struct asked *a, const char **last)
{
	struct asked up = {.dir = a->dir};
	size_t n = strlen(a->path), base;

	while (n > 0 && a->path[n - 1] == '/')
		n--;
	for (base = n; base > 0 && a->path[base - 1] != '/'; base--)
		;
	*last = a->path + base;
	if (n == base || (n - base == 1 && (*last)[0] == '.') ||
	    (n - base == 2 && memcmp(*last, "..", 2) == 0))
		return -1;
	memcpy(up.path, a->path, base);
	strcpy(up.path + base, base == 0 ? "." : "");
	return open_asked(l, &up, O_DIRECTORY);
}

/* Where it is, by the name that it has inside, and the same object there. */
static int
name_of(const struct look *l, int fd, char name[NOTIFY_PATH_LEN])
{
	struct notify_status st, there;
	int again, r;

	if (notify_dir(getpid(), fd, name) == -1)
		return -1;
	again = notify_open(l->view, l->pid, AT_FDCWD, name, O_NOFOLLOW);
	if (again == -1)
		return -1;
	r = notify_status(fd, &st) == 0 && notify_status(again, &there) == 0 &&
	    st.ino == there.ino && st.mount == there.mount;
	close(again);
	return r ? 0 : -1;
}

/* What was asked for, as an absolute path. 0 or -1. */
static int
say_asked(const struct look *l, const struct asked *a)
{
	const char *path = a->path;
	char dir[NOTIFY_PATH_LEN];

	if (path[0] == '/') {
		strcpy(l->out->resource, path);
		return 0;
	}
	if (notify_dir(l->pid, a->dir, dir) == -1 || dir[0] != '/')
		return -1;
	while (path[0] == '.' && path[1] == '/')
		path += 2 + strspn(path + 2, "/");
	snprintf(l->out->resource, sizeof(l->out->resource), "%s%s%s", dir,
	    strcmp(dir, "/") == 0 || path[0] == '\0' ? "" : "/", path);
	return 0;
}

/*
 * The mount refuses: whether that was the plan, and not the host. fd: the
 * file, or the directory that it would be in.
 */
static int
found(const struct look *l, const struct asked *a, int fd, int err,
    const char *action)
{
	char name[NOTIFY_PATH_LEN];

	if (err == 0 || name_of(l, fd, name) == -1)
		return 0;
	l->out->place = places_at(l->n->places, name);
	/* a lock covers what may be written, too */
	if (l->call->what != EXECUTES && l->out->place != NULL &&
	    l->out->place->writes)
		return 0;
	if (a != NULL && say_asked(l, a) == -1)
		return 0;
	if (a == NULL)
		strcpy(l->out->resource, name);
	l->out->err = err;
	l->out->action = action;
	return 1;
}

/* A name that is not there yet, or (there) that is. */
static int
judge_name(
    const struct look *l, const struct asked *a, int there, const char *action)
{
	const char *last;
	int fd = open_parent(l, a, &last), r = 0;

	if (fd == -1)
		return 0;
	if (read_only(fd) != 0 && exists(l, a) == there)
		r = found(l, a, fd, EROFS, action);
	close(fd);
	return r;
}

/*
 * A symlink that leads to nothing: the file would be made there. 1 and that
 * place.
 */
static int
follow(const struct look *l, struct asked *a)
{
	char text[NOTIFY_PATH_LEN];
	int fd = open_asked(l, a, O_NOFOLLOW);
	size_t base;
	ssize_t n;

	if (fd == -1)
		return 0;
	n = readlinkat(fd, "", text, sizeof(text));
	close(fd);
	if (n < 1 || (size_t)n >= sizeof(text))
		return 0;
	text[n] = '\0';
	for (base = strlen(a->path); base > 0 && a->path[base - 1] != '/';
	     base--)
		;
	if (text[0] == '/')
		base = 0;
	if (base + (size_t)n >= sizeof(a->path))
		return 0;
	strcpy(a->path + base, text);
	return 1;
}

/* open(2) of what is not there, with O_CREAT. */
static int
judge_new(const struct look *l, const struct asked *a)
{
	struct asked to = *a;
	int i;

	for (i = 0; i < DANGLING_MAX && follow(l, &to); i++)
		;
	if (i == 0)
		return judge_name(l, a, 0, "create");
	if (!judge_name(l, &to, 0, "create"))
		return 0;
	return say_asked(l, a) == 0;
}

static int
judge_open(const struct look *l, int flags)
{
	const int new = O_CREAT | O_EXCL, tmp = O_TMPFILE & ~O_DIRECTORY;
	struct stat st;
	struct asked a;
	int fd, r = 0;

	if ((flags & O_PATH) != 0 || read_path(l, 0, &a) == -1)
		return 0;
	if ((flags & new) == new && (flags & tmp) == 0)
		return judge_name(l, &a, 0, "create");
	fd = open_asked(l, &a, flags & O_NOFOLLOW);
	if (fd == -1)
		return errno == ENOENT && (flags & O_CREAT) != 0 &&
			       (flags & tmp) == 0
			   ? judge_new(l, &a)
			   : 0;
	if (fstat(fd, &st) == -1)
		r = 0;
	else if (S_ISDIR(st.st_mode) && (flags & tmp) != 0 &&
		 (flags & O_ACCMODE) != 0)
		r = found(l, &a, fd, read_only(fd) == 0 ? 0 : EROFS, "create");
	else if (S_ISREG(st.st_mode) && (flags & O_DIRECTORY) == 0 &&
		 (flags & (O_ACCMODE | O_TRUNC)) != 0) {
		r = read_only(fd);
		if (r != 0 && (flags & O_TRUNC) != 0)
			r = EROFS; /* asked for before the mode is */
		r = found(l, &a, fd, r, "write");
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
	const char *last;
	int fd, fd2, r = 0;

	if (read_path(l, 0, &from) == -1 || read_path(l, 1, &a) == -1 ||
	    (fd = open_parent(l, &from, &last)) == -1)
		return 0;
	fd2 = open_parent(l, &a, &last);
	if (fd2 != -1 && read_only(fd) != 0 && notify_status(fd, &st) == 0 &&
	    notify_status(fd2, &to) == 0 && st.mount == to.mount &&
	    exists(l, &from) &&
	    !((flags_of(l) & RENAME_NOREPLACE) != 0 && exists(l, &a)))
		r = found(l, &from, fd, EROFS, l->call->action);
	if (fd2 != -1)
		close(fd2);
	close(fd);
	return r;
}

static int
judge_link(const struct look *l)
{
	struct asked from, a;

	if (read_path(l, 0, &from) == -1 || read_path(l, 1, &a) == -1)
		return 0;
	if (from.path[0] != '\0' && !exists(l, &from))
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
		r = found(l, a, fd, EROFS, l->call->action);
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
	if (read_path(l, 0, &a) == -1)
		return 0;
	if (a.path[0] == '\0')
		return (flags & AT_EMPTY_PATH) == 0
			   ? 0
			   : judge_change(
				 l, NULL, notify_handle(l->pid, a.dir));
	nofollow =
	    l->call->what == CHANGES_LINK || (flags & AT_SYMLINK_NOFOLLOW) != 0;
	return judge_change(
	    l, &a, open_asked(l, &a, nofollow ? O_NOFOLLOW : 0));
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
	if ((l->n->flags & NOTIFY_LOCKED) != 0 || read_path(l, 0, &a) == -1)
		return 0;
	fd = notify_program(l->view, l->pid, l->d, a.path);
	if (fd == -1)
		return 0;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    (st.st_mode & 0111) != 0 &&
	    ((l->n->flags & NOTIFY_NOEXEC) != 0
		    ? notify_locked(fd)
		    : fstatvfs(fd, &fs) == 0 && (fs.f_flag & ST_NOEXEC) != 0))
		r = found(l, a.path[0] == '\0' ? NULL : &a, fd, EACCES,
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
	r = syscall(SYS_faccessat2, fd, "", F_OK, AT_EMPTY_PATH | AT_EACCESS);
	close(fd);
	return r == 0;
}

int
watch_judge(const struct notify *n, struct notify_view *view, pid_t pid,
    const struct seccomp_data *d, struct watched *out)
{
	struct look l = {view, n, pid, d, find_call(d->nr), out};
	struct asked a;

	if (l.call == NULL)
		return 0;
	switch (l.call->what) {
	case OPENS:
		return judge_open(&l, flags_of(&l));
	case CREATES:
		return judge_open(&l, O_CREAT | O_WRONLY | O_TRUNC);
	case MAKES:
	case REMOVES:
		return read_path(&l, 0, &a) == 0 &&
		       judge_name(
			   &l, &a, l.call->what == REMOVES, l.call->action);
	case LINKS:
		return judge_link(&l);
	case RENAMES:
		return judge_rename(&l);
	case CHANGES_OPEN:
		return judge_change(
		    &l, NULL, notify_handle(pid, (int)d->args[0]));
	case EXECUTES:
		return judge_exec(&l);
	default: /* CHANGES, CHANGES_LINK, TIMES, TRUNCATES */
		return judge_path(&l);
	}
}
