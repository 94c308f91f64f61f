#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ipc/grow.h"
#include "ipc/limits.h"
#include "ipc/log.h"
#include "kept_dir.h"

#define DIR_FLAGS  (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define FILE_FLAGS (O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

/* All of a regular file that is not too long; NULL if it cannot be had. */
static void *
slurp(int dir, const char *name, size_t *len)
{
	struct stat st;
	char *p = NULL;
	ssize_t n;
	size_t max;
	int fd;

	if ((fd = openat(dir, name, FILE_FLAGS)) == -1)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size <= STATE_FILE_MAX) {
		max = (size_t)st.st_size;
		if ((p = malloc(max + 1)) == NULL)
			fatal("out of memory");
		for (*len = 0; *len < max; *len += (size_t)n)
			if ((n = read(fd, p + *len, max - *len)) <= 0)
				break;
	}
	close(fd);
	return p;
}

static void
add(struct kept_dir *d, int dir, const char *name, size_t *total)
{
	struct kept_file *f;
	size_t len = 0;

	if ((f = grow(d->files, d->n, sizeof(*f))) == NULL)
		fatal("out of memory");
	d->files = f;
	f += d->n++;
	memset(f, 0, sizeof(*f));
	if ((f->name = strdup(name)) == NULL)
		fatal("out of memory");
	if (*total < KEPT_TOTAL_MAX)
		f->data = slurp(dir, name, &len);
	*total += len;
	if (f->data != NULL && kept_read(f->data, len, &f->kept) == -1) {
		free(f->data);
		f->data = NULL;
	}
	d->unread += f->data == NULL;
}

static int
latest_first(const void *a, const void *b)
{
	const struct kept_file *x = a, *y = b;

	if (x->kept.time != y->kept.time)
		return x->kept.time > y->kept.time ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int
is_ours(const char *name, size_t len, const char *only)
{
	return strlen(name) == len && strspn(name, "0123456789abcdef") == len &&
	       (only == NULL || strcmp(name, only) == 0);
}

/* Bounded: whoever fills the directory only fills the screen's count. */
static void
load(struct kept_dir *d, int fd, size_t len, const char *only)
{
	struct dirent *e;
	size_t i, total = 0;
	DIR *dir;

	if ((dir = fdopendir(fd)) == NULL)
		fatal("out of memory");
	for (i = 0; (e = readdir(dir)) != NULL; i++) {
		if (e->d_name[0] == '.')
			continue; /* one that is just being written */
		if (i < STATE_LOOK && is_ours(e->d_name, len, only))
			add(d, dirfd(dir), e->d_name, &total);
		else if (only == NULL)
			d->unread++;
	}
	closedir(dir);
	if (d->n > 1)
		qsort(d->files, d->n, sizeof(*d->files), latest_first);
}

void
kept_dir_load(struct kept_dir *d, const char *dir, const char *sub, size_t len,
    const char *only)
{
	int top, fd = -1;

	memset(d, 0, sizeof(*d));
	if ((top = open(dir, DIR_FLAGS)) != -1)
		fd = openat(top, sub, DIR_FLAGS);
	if (fd == -1)
		d->err = errno == ENOENT ? 0 : errno;
	else
		load(d, fd, len, only);
	if (top != -1)
		close(top);
}

void
kept_dir_free(struct kept_dir *d)
{
	size_t i;

	for (i = 0; i < d->n; i++) {
		free(d->files[i].name);
		if (d->files[i].data != NULL)
			kept_free(&d->files[i].kept);
		free(d->files[i].data);
	}
	free(d->files);
	memset(d, 0, sizeof(*d));
}
