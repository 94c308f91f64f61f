#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ipc/path.h"
#include "parent/mountapi.h"
#include "root_dir.h"

void
root_dir_init(struct root_dir *d, int root)
{
	d->root = root;
	d->fd = -1;
	d->path[0] = '\0';
}

void
root_dir_close(struct root_dir *d)
{
	if (d->fd != -1)
		close(d->fd);
	d->fd = -1;
}

/* For kernels before 5.6: the same by hand, one component at a time. */
static int
open_by_hand(int root, const char *path)
{
	char name[COMPONENT_MAX + 1];
	struct stat st;
	int fd, next, err;
	size_t n;

	fd = openat(root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	while (fd != -1 && *path != '\0') {
		path += *path == '/';
		n = strcspn(path, "/");
		if (n > COMPONENT_MAX) {
			close(fd);
			errno = ENAMETOOLONG;
			return -1;
		}
		if (n == 0)
			continue;
		memcpy(name, path, n);
		name[n] = '\0';
		path += n;
		next = openat(fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		close(fd);
		if ((fd = next) == -1)
			continue;
		if (fstat(fd, &st) == 0) {
			if (!S_ISLNK(st.st_mode))
				continue;
			errno = ELOOP;
		}
		err = errno;
		close(fd);
		errno = err;
		return -1;
	}
	return fd;
}

int
root_dir_open(int root, const char *path)
{
	int fd;

	if (!path_clean(path)) {
		errno = EINVAL;
		return -1;
	}
	fd = mountapi_openat2(root, path, O_PATH | O_CLOEXEC,
	    RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	if (fd == -1 && (errno == ENOSYS || errno == EPERM))
		fd = open_by_hand(root, path);
	return fd;
}

int
root_dir_parent(struct root_dir *d, const char *path, const char **name)
{
	const char *slash = strrchr(path, '/');
	size_t n;

	if (slash == NULL || slash[1] == '\0' || strlen(path) > PATH_MAX_LEN) {
		errno = EINVAL;
		return -1;
	}
	*name = slash + 1;
	n = slash == path ? 1 : (size_t)(slash - path);
	if (d->fd != -1 && strncmp(d->path, path, n) == 0 && d->path[n] == '\0')
		return d->fd;
	root_dir_close(d);
	memcpy(d->path, path, n);
	d->path[n] = '\0';
	d->fd = root_dir_open(d->root, d->path);
	return d->fd;
}

void
root_dir_forget(struct root_dir *d, const char *covered)
{
	if (d->fd != -1 && path_covers(covered, d->path))
		root_dir_close(d);
}
