#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ipc/limits.h"
#include "state.h"

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define DIR_MODE  0700
#define FILE_MODE 0600
#define TEMP	  ".new-"

int
state_flagged(const struct state *s, const char *digest)
{
	char path[PATH_MAX + 128];

	snprintf(path, sizeof(path), "%s/flagged/%s", s->path, digest);
	return access(path, F_OK) == 0;
}

/* What lies above is the user's to arrange, with symlinks if need be. */
static int
make_above(const struct state *s)
{
	char path[PATH_MAX], *p;

	if (strlen(s->path) >= sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(path, s->path);
	for (p = strchr(path + 1, '/'); p != NULL; p = strchr(p + 1, '/')) {
		*p = '\0';
		if (mkdir(path, DIR_MODE) == -1 && errno != EEXIST)
			return -1;
		*p = '/';
	}
	return 0;
}

/* A directory of carrel's own: the user's, and nobody else's to write. */
static int
own_dir(const struct state *s, int at, const char *name)
{
	struct stat st;
	int fd;

	if (mkdirat(at, name, DIR_MODE) == -1 && errno != EEXIST)
		return -1;
	if ((fd = openat(at, name, DIR_FLAGS)) == -1)
		return -1;
	if (fstat(fd, &st) == 0 && st.st_uid == s->uid &&
	    (st.st_mode & 022) == 0)
		return fd;
	close(fd);
	errno = EPERM;
	return -1;
}

/* What a run has left that was killed between link(2) and rename(2). */
static int
stale(const char *name, const struct stat *st)
{
	return strncmp(name, TEMP, sizeof(TEMP) - 1) == 0 &&
	       st->st_mtim.tv_sec + STATE_STALE < time(NULL);
}

/* The oldest file of the first STATE_LOOK, and how many there are. */
static size_t
oldest(int fd, char name[NAME_MAX + 1])
{
	struct timespec min = {0, 0};
	struct stat st;
	struct dirent *e;
	size_t n = 0;
	DIR *d;
	int copy;

	name[0] = '\0';
	if ((copy = openat(fd, ".", DIR_FLAGS)) == -1)
		return 0;
	if ((d = fdopendir(copy)) == NULL) {
		close(copy);
		return 0;
	}
	while (n < STATE_LOOK && (e = readdir(d)) != NULL) {
		if (fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == -1 ||
		    S_ISDIR(st.st_mode))
			continue;
		if (stale(e->d_name, &st) && unlinkat(fd, e->d_name, 0) == 0)
			continue;
		n++;
		if (name[0] == '\0' || st.st_mtim.tv_sec < min.tv_sec ||
		    (st.st_mtim.tv_sec == min.tv_sec &&
			st.st_mtim.tv_nsec < min.tv_nsec)) {
			min = st.st_mtim;
			strcpy(name, e->d_name);
		}
	}
	closedir(d);
	return n;
}

/* One more than one a time, so that what is too many once becomes less. */
static void
make_room(int fd, size_t max)
{
	char name[NAME_MAX + 1];
	int i;

	for (i = 0; i < STATE_PRUNE && oldest(fd, name) >= max; i++)
		if (unlinkat(fd, name, 0) == -1)
			return;
}

int
state_begin(const struct state *s, const char *sub, const char *name,
    size_t max, struct state_file *f)
{
	int top, err;

	f->fd = f->dir = -1;
	snprintf(f->name, sizeof(f->name), "%s", name);
	/* of another run, not of another one's file of the same name */
	snprintf(f->temp, sizeof(f->temp), TEMP "%s", s->run);
	if (make_above(s) == -1 || (top = own_dir(s, AT_FDCWD, s->path)) == -1)
		return -1;
	f->dir = own_dir(s, top, sub);
	err = errno;
	close(top);
	errno = err;
	if (f->dir == -1)
		return -1;
	make_room(f->dir, max);
	/* without a name, where the file system can: a kill leaves nothing */
	f->named = 0;
	f->fd =
	    openat(f->dir, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, FILE_MODE);
	if (f->fd == -1 && (f->named = errno == EOPNOTSUPP || errno == EISDIR))
		f->fd = openat(f->dir, f->temp,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    FILE_MODE);
	if (f->fd != -1)
		return f->fd;
	err = errno;
	close(f->dir);
	errno = err;
	return -1;
}

/* link(2) replaces nothing: for that a name is needed, and rename(2). */
static int
give_name(struct state_file *f)
{
	char self[64];

	if (!f->named) {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", f->fd);
		if (linkat(AT_FDCWD, self, f->dir, f->name,
			AT_SYMLINK_FOLLOW) == 0)
			return 0;
		if (errno != EEXIST || linkat(AT_FDCWD, self, f->dir, f->temp,
					   AT_SYMLINK_FOLLOW) == -1)
			return -1;
		f->named = 1;
	}
	return renameat(f->dir, f->temp, f->dir, f->name);
}

int
state_end(struct state_file *f, int good)
{
	int r, err;

	r = good ? give_name(f) : -1;
	err = errno;
	if (r == -1 && f->named)
		(void)unlinkat(f->dir, f->temp, 0);
	close(f->fd);
	close(f->dir);
	errno = err;
	return r;
}
