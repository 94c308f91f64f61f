#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "events_file.h"

#define OPEN_FLAGS                                                             \
	(O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
#define FILE_MODE 0600

#define ANOTHER "name another file"
#define OWN	"name a file, new or your own, in a directory that you may write"

/* Always -1, and nothing is open. what NULL: errno. */
static int
refuse(struct events_file *f, char *why, size_t len, const char *path,
    const char *what, const char *fix)
{
	snprintf(why, len, "--events \"%s\"%s%s; %s", path,
	    what == NULL ? ": " : " ", what == NULL ? strerror(errno) : what,
	    fix);
	events_file_close(f, 1);
	return -1;
}

/* The directory, opened; the last component is in name. 0 or -1. */
static int
open_dir(struct events_file *f, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash == NULL ? path : slash + 1;
	char dir[PATH_MAX];
	size_t n = slash == NULL ? 0 : (size_t)(slash - path);

	if (strlen(name) > NAME_MAX || n >= sizeof(dir)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (name[0] == '\0' || strcmp(name, ".") == 0 ||
	    strcmp(name, "..") == 0) {
		errno = EISDIR;
		return -1;
	}
	strcpy(f->name, name);
	memcpy(dir, path, n);
	dir[n] = '\0';
	if (slash == NULL)
		strcpy(dir, ".");
	else if (n == 0)
		strcpy(dir, "/");
	f->dir = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return f->dir == -1 ? -1 : 0;
}

/* By name alone: whether a symlink on the way can be believed is not asked. */
static int
spell(struct events_file *f, const char *path)
{
	char *out = f->named, *slash;
	size_t n, len;

	out[0] = '\0';
	if (path[0] != '/' && getcwd(out, sizeof(f->named)) == NULL)
		return -1;
	for (; *path != '\0'; path += n) {
		path += strspn(path, "/");
		n = strcspn(path, "/");
		if (n == 2 && strncmp(path, "..", n) == 0) {
			if ((slash = strrchr(out, '/')) != NULL)
				*slash = '\0';
		} else if (n > 0 && !(n == 1 && path[0] == '.')) {
			len = strlen(out);
			if (len + n + 2 > sizeof(f->named)) {
				errno = ENAMETOOLONG;
				return -1;
			}
			out[len] = '/';
			memcpy(out + len + 1, path, n);
			out[len + 1 + n] = '\0';
		}
	}
	return 0;
}

static int
open_file(struct events_file *f)
{
	/* so that it is known who made it */
	f->fd =
	    openat(f->dir, f->name, OPEN_FLAGS | O_CREAT | O_EXCL, FILE_MODE);
	f->made = f->fd != -1;
	if (f->fd == -1 && errno == EEXIST)
		f->fd = openat(f->dir, f->name, OPEN_FLAGS);
	return f->fd == -1 ? -1 : 0;
}

/* What another run could not finish is no part of the next line. */
static int
find_torn(struct events_file *f, off_t size)
{
	char last;

	if (size == 0)
		return 0;
	if (pread(f->fd, &last, 1, size - 1) != 1)
		return -1;
	f->torn = last != '\n';
	return 0;
}

static int
find_path(struct events_file *f)
{
	char link[32];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", f->fd);
	n = readlink(link, f->path, sizeof(f->path) - 1);
	if (n <= 0 || n >= (ssize_t)sizeof(f->path) - 1)
		return -1;
	f->path[n] = '\0';
	return 0;
}

int
events_file_shared(const struct stat *st)
{
	struct stat s;
	int fd;

	for (fd = 0; fd <= STDERR_FILENO; fd++)
		if (fstat(fd, &s) == 0 && s.st_dev == st->st_dev &&
		    s.st_ino == st->st_ino)
			return 1;
	return 0;
}

int
events_file_open(
    struct events_file *f, const char *path, uid_t uid, char *why, size_t len)
{
	struct stat st;

	memset(f, 0, sizeof(*f));
	f->fd = f->dir = -1;
	if (spell(f, path) == -1 || open_dir(f, path) == -1 ||
	    open_file(f) == -1)
		return refuse(f, why, len, path,
		    errno == ELOOP   ? "is a symbolic link"
		    : errno == ENXIO ? "is a socket"
				     : NULL,
		    OWN);
	if (fstat(f->fd, &st) == -1 || find_path(f) == -1)
		return refuse(f, why, len, path, NULL, ANOTHER);
	if (!S_ISREG(st.st_mode))
		return refuse(f, why, len, path, "is no regular file",
		    "name a file; a pipe belongs to --status-fd");
	if (st.st_uid != uid)
		return refuse(
		    f, why, len, path, "belongs to another user", ANOTHER);
	if (st.st_nlink != 1)
		return refuse(f, why, len, path,
		    "has another name, by which it could be written", ANOTHER);
	if (events_file_shared(&st))
		return refuse(f, why, len, path,
		    "is a standard descriptor of the payload, too", ANOTHER);
	if (find_torn(f, st.st_size) == -1)
		return refuse(f, why, len, path, NULL, ANOTHER);
	return 0;
}

/* The device may be full by now, and have room for the next one again. */
int
events_file_write(struct events_file *f, const char *line, size_t n)
{
	ssize_t w;

	if (f->fd == -1)
		return 0;
	if (f->torn && write(f->fd, "\n", 1) != 1) {
		f->err = errno;
		f->lost++;
		return -1;
	}
	f->torn = 0;
	do
		w = write(f->fd, line, n);
	while (w == -1 && errno == EINTR);
	if (w == (ssize_t)n)
		return 0;
	f->err = w == -1 ? errno : ENOSPC;
	f->torn = w > 0;
	f->lost++;
	return -1;
}

static void
undo_it(const struct events_file *f)
{
	struct stat a, b;

	if (f->made && fstat(f->fd, &a) == 0 &&
	    fstatat(f->dir, f->name, &b, AT_SYMLINK_NOFOLLOW) == 0 &&
	    a.st_dev == b.st_dev && a.st_ino == b.st_ino)
		(void)unlinkat(f->dir, f->name, 0);
}

void
events_file_close(struct events_file *f, int undo)
{
	if (f->fd != -1) {
		if (undo)
			undo_it(f);
		close(f->fd);
	}
	if (f->dir != -1)
		close(f->dir);
	f->fd = f->dir = -1;
}
