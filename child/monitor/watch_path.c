#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "child/setup/places.h"
#include "watch_parts.h"

/* What a call names, where that is, and whether the mount refuses it. */

int
watch_read(const struct look *l, int which, struct asked *a)
{
	int at = l->call->path + which * (l->call->dir == CWD ? 1 : 2);

	a->dir = l->call->dir == CWD ? AT_FDCWD : (int)l->d->args[at - 1];
	if (notify_text(l->pid, l->d->args[at], a->path) == 0)
		return 0;
	l->out->unclear |= errno == EACCES;
	return -1;
}

int
watch_read_socket(const struct look *l, struct asked *a)
{
	struct sockaddr_un to;
	size_t n = (size_t)l->d->args[2] & UINT32_MAX;
	size_t head = offsetof(struct sockaddr_un, sun_path);

	if (n <= head || n > sizeof(to))
		return -1;
	if (notify_bytes(l->pid, l->d->args[1], &to, n) == -1) {
		l->out->unclear |= errno == EACCES;
		return -1;
	}
	if (to.sun_family != AF_UNIX || to.sun_path[0] == '\0')
		return -1;
	a->dir = AT_FDCWD;
	memcpy(a->path, to.sun_path, n - head);
	a->path[n - head] = '\0';
	return 0;
}

/* Nothing is found out, and the kernel might. */
static void
note_short(const struct look *l)
{
	int err = errno;

	l->out->unclear |= err == ENAMETOOLONG || err == EMFILE ||
			   err == ENFILE || err == ENOMEM;
	errno = err;
}

/* What the last component is in. -1: nothing that could be made or removed. */
static int
parent_of(const struct asked *a, struct asked *up)
{
	const char *last;
	size_t n = strlen(a->path), base;

	while (n > 0 && a->path[n - 1] == '/')
		n--;
	for (base = n; base > 0 && a->path[base - 1] != '/'; base--)
		;
	last = a->path + base;
	if (n == base || (n - base == 1 && last[0] == '.') ||
	    (n - base == 2 && memcmp(last, "..", 2) == 0))
		return -1;
	up->dir = a->dir;
	memcpy(up->path, a->path, base);
	strcpy(up->path + base, base == 0 ? "." : "");
	return 0;
}

/* The directory is there, and in it nothing of that name. */
static int
is_missing(const struct look *l, const struct asked *a)
{
	struct asked up = *a;
	size_t n = strlen(up.path);
	int fd;

	/* a link with a slash behind it would be followed */
	while (n > 1 && up.path[n - 1] == '/')
		up.path[--n] = '\0';
	fd = notify_open(l->view, l->pid, up.dir, up.path, O_NOFOLLOW);
	if (fd != -1) {
		close(fd);
		return 0;
	}
	if (parent_of(a, &up) == -1)
		return 0;
	fd = notify_open(l->view, l->pid, up.dir, up.path, O_DIRECTORY);
	if (fd == -1)
		return 0;
	close(fd);
	return 1;
}

int
watch_open(const struct look *l, const struct asked *a, int flags)
{
	int fd = notify_open(l->view, l->pid, a->dir, a->path, flags), err;

	if (fd != -1)
		return fd;
	err = errno;
	if (err == ENOENT && is_missing(l, a)) {
		errno = ENOENT;
		return -1;
	}
	errno = err;
	if (err == EXDEV || err == ENOENT)
		return watch_magic(l, a, flags);
	/* that the path itself is too long the kernel says, too */
	if (errno != ENAMETOOLONG)
		note_short(l);
	return -1;
}

int
watch_exists(const struct look *l, const struct asked *a)
{
	int fd = watch_open(l, a, O_NOFOLLOW);

	if (fd == -1)
		return 0;
	close(fd);
	return 1;
}

/* In the order of the costs: most of what is asked may be written. */
int
watch_read_only(int fd)
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

int
watch_parent(const struct look *l, const struct asked *a)
{
	struct asked up;

	return parent_of(a, &up) == 0 ? watch_open(l, &up, O_DIRECTORY) : -1;
}

/* Where it is, by the name that it has inside, and the same object there. */
int
watch_name(const struct look *l, int fd, char name[NOTIFY_PATH_LEN])
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

int
watch_say(const struct look *l, const struct asked *a)
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

int
watch_found(const struct look *l, const struct asked *a, int fd, int err,
    const char *action)
{
	char name[NOTIFY_PATH_LEN];

	if (err == 0)
		return 0;
	if (watch_name(l, fd, name) == -1) {
		note_short(l);
		return 0;
	}
	l->out->place = places_at(l->n->places, name);
	/* a lock covers what may be written, too */
	if (l->call->what != EXECUTES && l->out->place != NULL &&
	    l->out->place->writes)
		return 0;
	if (a != NULL && watch_say(l, a) == -1) {
		note_short(l);
		return 0;
	}
	if (a == NULL)
		strcpy(l->out->resource, name);
	l->out->err = err;
	l->out->action = action;
	return 1;
}

int
watch_follow(const struct look *l, struct asked *a)
{
	char text[NOTIFY_PATH_LEN];
	int fd = watch_open(l, a, O_NOFOLLOW);
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
