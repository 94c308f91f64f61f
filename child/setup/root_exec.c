#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "child/shared/survey.h"
#include "ipc/limits.h"
#include "look.h"
#include "parent/mountapi.h"
#include "plan.h"
#include "root_parts.h"
#include "server.h"

/*
 * What the exec lock leaves executable: the host's file or directory once
 * more over itself, cloned from where it was looked at, since a mount that is
 * noexec stays so. Each place is checked to be that same object.
 */

/* One name in the directory: noexec, with all below, if it is a directory. */
static int
cover(struct build *b, int dir, const char *name, const struct step *s)
{
	int fd, mount, r;

	fd = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1 && (errno == ENOTDIR || errno == ELOOP))
		return 0;
	if (fd == -1)
		return root_fail(b, CAUSE_OTHER, "open a directory in", s);
	if (++b->covered > EXEC_DIRS_MAX) {
		close(fd);
		errno = E2BIG;
		return root_fail(b, CAUSE_OTHER, "make noexec what is in", s);
	}
	mount = server_clone(fd, root_attributes(s) | MOUNT_ATTR_NOEXEC);
	r = mount == -1 ? root_fail(b, CAUSE_MOUNT, "open_tree in", s)
			: root_attach(b, mount, fd, "", s);
	close(fd);
	return r;
}

/*
 * Only the files directly in it: mounts hold for whole trees. The directory
 * is read through the mount that it was just given.
 */
static int
flatten(struct build *b, const struct step *s)
{
	struct dirent *e;
	DIR *list;
	int path, fd, r = 0;

	if ((path = root_dir_open(b->root, s->guest)) == -1)
		return root_fail(b, CAUSE_OPENAT2, "resolve", s);
	fd = openat(path, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	close(path);
	if (fd == -1 || (list = fdopendir(fd)) == NULL)
		return root_fail(b, CAUSE_OTHER, "list", s);
	b->covered = 0;
	while (r == 0 && (errno = 0, e = readdir(list)) != NULL)
		if (strcmp(e->d_name, ".") != 0 &&
		    strcmp(e->d_name, "..") != 0 &&
		    (e->d_type == DT_DIR || e->d_type == DT_UNKNOWN))
			r = cover(b, fd, e->d_name, s);
	if (r == 0 && errno != 0)
		r = root_fail(b, CAUSE_OTHER, "list", s);
	closedir(list);
	return r;
}

static int
open_up(struct build *b, const struct step *s)
{
	struct survey_row *r;
	int fd, mount;

	if (s->kind != STEP_EXEC || s->grant < 0 ||
	    (size_t)s->grant >= b->survey->nexec) {
		errno = EINVAL;
		return root_fail(b, CAUSE_OTHER, "an unknown step at", s);
	}
	r = &b->survey->exec[s->grant].row;
	if ((fd = look_again(r)) == -1)
		return failure_set(b->fail, CAUSE_OTHER, "open again %s for %s",
		    r->real, s->guest);
	mount = server_clone(fd, root_attributes(s));
	close(fd);
	if (mount == -1)
		return root_fail(b, CAUSE_MOUNT, "open_tree for", s);
	return root_attach_on(b, mount, r, s);
}

int
root_exec(struct build *b)
{
	const struct step *s = b->plan->exec;
	size_t i;

	for (i = 0; i < b->plan->nexec; i++, s++) {
		if (open_up(b, s) == -1)
			return -1;
		if ((s->flags & STEP_FLAT) != 0 && flatten(b, s) == -1)
			return -1;
	}
	return 0;
}
