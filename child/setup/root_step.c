#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "child/shared/survey.h"
#include "look.h"
#include "parent/mountapi.h"
#include "plan.h"
#include "root_parts.h"
#include "server.h"

#define BYTES_PER_INODE 2048
#define FEW_INODES	1024 /* however small it is */

uint64_t
root_attributes(const struct step *s)
{
	uint64_t attr = MOUNT_ATTR_NOSUID;

	if (s->flags & STEP_RDONLY)
		attr |= MOUNT_ATTR_RDONLY;
	if (s->flags & STEP_NODEV)
		attr |= MOUNT_ATTR_NODEV;
	if (s->flags & STEP_NOEXEC)
		attr |= MOUNT_ATTR_NOEXEC;
	return attr;
}

int
root_fail(struct build *b, enum cause_step cause, const char *what,
    const struct step *s)
{
	return failure_set(b->fail, cause, "%s %s", what, s->guest);
}

int
root_attach(
    struct build *b, int mount, int dir, const char *name, const struct step *s)
{
	int r;

	r = server_move(mount, dir, name);
	if (r == -1)
		root_fail(b, CAUSE_MOUNT, "move_mount", s);
	b->mounts++;
	close(mount);
	root_dir_forget(&b->dir, s->guest);
	return r;
}

/*
 * A mount point in a tmpfs that only we have seen. The name cannot change
 * under us, so the mount may be moved to it by name.
 */
static int
make_point(struct build *b, const struct step *s, int isdir, const char **name)
{
	int dir, r;

	dir = root_dir_parent(&b->dir, s->guest, name);
	if (dir == -1)
		return root_fail(b, CAUSE_OPENAT2, "resolve the parent of", s);
	r = isdir ? mkdirat(dir, *name, 0755)
		  : mknodat(dir, *name, S_IFREG | 0444, 0);
	if (r == -1)
		return root_fail(b, CAUSE_OTHER, "make a mount point at", s);
	return dir;
}

static int
build_dir(struct build *b, const struct step *s)
{
	const char *name;
	int dir;

	dir = root_dir_parent(&b->dir, s->guest, &name);
	if (dir == -1)
		return root_fail(b, CAUSE_OPENAT2, "resolve the parent of", s);
	if (mkdirat(dir, name, s->mode) == -1)
		return root_fail(b, CAUSE_OTHER, "mkdir", s);
	return 0;
}

static int
build_symlink(struct build *b, const struct step *s)
{
	const char *name;
	int dir;

	dir = root_dir_parent(&b->dir, s->guest, &name);
	if (dir == -1)
		return root_fail(b, CAUSE_OPENAT2, "resolve the parent of", s);
	if (symlinkat(s->text, dir, name) == -1)
		return root_fail(b, CAUSE_OTHER, "symlink", s);
	return 0;
}

static int
write_all(int fd, const char *text)
{
	size_t n = strlen(text);
	ssize_t r;

	for (; n > 0; n -= (size_t)r, text += r) {
		r = write(fd, text, n);
		if (r <= 0)
			return -1;
	}
	return 0;
}

static int
build_file(struct build *b, const struct step *s)
{
	const char *name;
	int dir, fd, r;

	dir = root_dir_parent(&b->dir, s->guest, &name);
	if (dir == -1)
		return root_fail(b, CAUSE_OPENAT2, "resolve the parent of", s);
	fd = openat(dir, name,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, s->mode);
	if (fd == -1)
		return root_fail(b, CAUSE_OTHER, "create", s);
	r = write_all(fd, s->text);
	if (close(fd) == -1)
		r = -1;
	return r == -1 ? root_fail(b, CAUSE_OTHER, "write", s) : 0;
}

static int
build_tmpfs(struct build *b, const struct step *s)
{
	const char *name;
	uint64_t inodes = 0;
	int mount, dir;

	/*
	 * An empty file takes memory, too, and does not count as size. What
	 * the plan makes itself is beyond that. The root is made before there
	 * is a policy, and nobody else writes to it: no limit (0).
	 */
	if (strcmp(s->guest, "/") != 0)
		inodes =
		    s->size / BYTES_PER_INODE + FEW_INODES + b->plan->nsteps;
	if (strcmp(s->guest, "/") == 0) {
		/* the root gets its flags at the end: see enter() of root.c */
		b->root = server_tmpfs(s->size, inodes, s->mode,
		    MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
		if (b->root == -1)
			return root_fail(b, CAUSE_MOUNT, "new tmpfs", s);
		root_dir_init(&b->dir, b->root);
		/*
		 * Over the old root, before anything is moved into it (older
		 * kernels refuse a detached tree). Nothing is hidden by that:
		 * this process's "/" is still what lies below.
		 */
		if (server_move(b->root, AT_FDCWD, "/") == -1)
			return root_fail(b, CAUSE_MOUNT, "move_mount", s);
		b->mounts++;
		return 0;
	}
	dir = make_point(b, s, 1, &name);
	if (dir == -1)
		return -1;
	/* what shall be read-only is so at the end: see root_seal() */
	mount = server_tmpfs(s->size, inodes, s->mode,
	    root_attributes(s) & ~(uint64_t)MOUNT_ATTR_RDONLY);
	if (mount == -1)
		return root_fail(b, CAUSE_MOUNT, "new tmpfs", s);
	return root_attach(b, mount, dir, name, s);
}

static int
build_special(struct build *b, const struct step *s)
{
	int proc = s->kind == STEP_PROC, mount, dir;
	const char *name;

	dir = make_point(b, s, 1, &name);
	if (dir == -1)
		return -1;
	mount = proc ? server_proc(root_attributes(s))
		     : server_devpts(root_attributes(s));
	if (mount == -1)
		return root_fail(b, proc ? CAUSE_PROC : CAUSE_MOUNT,
		    proc ? "new procfs" : "new devpts", s);
	return root_attach(b, mount, dir, name, s);
}

/*
 * Inside another bind nothing is made: the mount point is the very object
 * that is mounted, so nothing is hidden, whatever the path may have become
 * since the survey.
 */
int
root_attach_on(struct build *b, int mount, const struct survey_row *r,
    const struct step *s)
{
	struct stat st;
	int fd, rc;

	fd = root_dir_open(b->root, s->guest);
	if (fd == -1) {
		root_fail(b, CAUSE_OPENAT2, "resolve", s);
		close(mount);
		return -1;
	}
	if (fstat(fd, &st) == -1 || st.st_dev != r->dev ||
	    st.st_ino != r->ino) {
		errno = ESTALE;
		root_fail(b, CAUSE_OTHER, "changed while it was set up:", s);
		close(mount);
		close(fd);
		return -1;
	}
	rc = root_attach(b, mount, fd, "", s);
	close(fd);
	return rc;
}

static int
build_bind(struct build *b, const struct step *s)
{
	struct survey_row *r;
	const char *name;
	int mount, dir;

	if (s->grant < 0 || (size_t)s->grant >= b->survey->n) {
		errno = EINVAL;
		return root_fail(b, CAUSE_OTHER, "no source for", s);
	}
	r = &b->survey->rows[s->grant];
	if (r->fd == -1 && (r->fd = look_again(r)) == -1)
		return failure_set(b->fail, CAUSE_OTHER, "open again %s for %s",
		    r->real != NULL ? r->real : "?", s->guest);
	mount = server_clone(r->fd, root_attributes(s));
	if (mount == -1)
		return root_fail(b, CAUSE_MOUNT, "open_tree for", s);
	close(r->fd);
	r->fd = -1;
	if (b->inside != NULL)
		return root_attach_on(b, mount, r, s);
	dir = make_point(b, s, (s->flags & STEP_ISDIR) != 0, &name);
	if (dir == -1) {
		close(mount);
		return -1;
	}
	return root_attach(b, mount, dir, name, s);
}

/* A directory of the new root onto itself, with all that is below. */
static int
build_pin(struct build *b, const struct step *s)
{
	int fd, mount, r;

	fd = root_dir_open(b->root, s->guest);
	if (fd == -1)
		return root_fail(b, CAUSE_OPENAT2, "resolve", s);
	mount = server_clone(fd, root_attributes(s));
	r = mount == -1 ? root_fail(b, CAUSE_MOUNT, "open_tree for", s)
			: root_attach(b, mount, fd, "", s);
	close(fd);
	return r;
}

static const struct device {
	const char *path;
	unsigned major, minor;
} devices[] = {
    {"/dev/null", 1, 3},
    {"/dev/zero", 1, 5},
    {"/dev/full", 1, 7},
    {"/dev/random", 1, 8},
    {"/dev/urandom", 1, 9},
    {"/dev/tty", 5, 0},
};

/* The host's node, which must be the device that its name says. */
static int
open_device(const char *path)
{
	const struct device *v = devices;
	const struct device *end = v + sizeof(devices) / sizeof(devices[0]);
	struct stat st;
	int fd;

	while (v < end && strcmp(v->path, path) != 0)
		v++;
	if (v == end) {
		errno = EINVAL;
		return -1;
	}
	fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) &&
	    st.st_rdev == makedev(v->major, v->minor))
		return fd;
	close(fd);
	errno = ENODEV;
	return -1;
}

static int
build_device(struct build *b, const struct step *s)
{
	const char *name;
	int fd, mount, dir;

	fd = open_device(s->text);
	if (fd == -1)
		return root_fail(b, CAUSE_OTHER, "the host's device for", s);
	mount = server_clone(fd, root_attributes(s));
	close(fd);
	if (mount == -1)
		return root_fail(b, CAUSE_MOUNT, "open_tree for", s);
	dir = make_point(b, s, 0, &name);
	if (dir == -1) {
		close(mount);
		return -1;
	}
	return root_attach(b, mount, dir, name, s);
}

/*
 * What masks is our own: an empty file in the new root, whose name is
 * removed at the end. Nothing of the host's could be swapped for it.
 */
static int
open_mask(struct build *b)
{
	if (b->mask != -1)
		return 0;
	b->mask = openat(b->root, ROOT_MASK,
	    O_RDONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444);
	return b->mask == -1 ? failure_set(b->fail, CAUSE_OTHER,
				   "make the file that masks")
			     : 0;
}

static int
build_mask(struct build *b, const struct step *s)
{
	struct stat st;
	const char *name;
	int dir, mount;

	dir = root_dir_parent(&b->dir, s->guest, &name);
	if (dir == -1)
		return root_fail(b, CAUSE_OPENAT2, "resolve the parent of", s);
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == -1) {
		if (errno == ENOENT)
			return 0;
		return root_fail(b, CAUSE_OTHER, "look at", s);
	}
	if (open_mask(b) == -1)
		return -1;
	mount = server_clone(b->mask, root_attributes(s));
	if (mount == -1)
		return root_fail(b, CAUSE_MOUNT, "mask", s);
	return root_attach(b, mount, dir, name, s);
}

/* What could not be set when the mount was made. */
static int
is_late(const struct step *s)
{
	if (s->kind == STEP_TMPFS && (s->flags & STEP_RDONLY))
		return 1;
	return (s->flags & STEP_FIXED) && (s->flags & STEP_NOEXEC) &&
	       (s->kind == STEP_TMPFS || s->kind == STEP_DEVICE);
}

int
root_seal(struct build *b)
{
	const struct step *s;
	size_t i;
	int fd, r;

	/* but for the first, "/", which is entered after this */
	for (i = 1; i < b->plan->nsteps; i++) {
		s = &b->plan->steps[i];
		if (!is_late(s))
			continue;
		fd = root_dir_open(b->root, s->guest);
		if (fd == -1)
			return root_fail(b, CAUSE_OPENAT2, "resolve", s);
		r = server_set(fd, root_attributes(s));
		if (r == -1)
			root_fail(b, CAUSE_MOUNT, "mount_setattr", s);
		close(fd);
		if (r == -1)
			return -1;
	}
	return 0;
}

int
root_step(struct build *b, const struct step *s)
{
	switch (s->kind) {
	case STEP_DIR:
		return build_dir(b, s);
	case STEP_FILE:
		return build_file(b, s);
	case STEP_SYMLINK:
		return build_symlink(b, s);
	case STEP_TMPFS:
		return build_tmpfs(b, s);
	case STEP_BIND:
		return build_bind(b, s);
	case STEP_PIN:
		return build_pin(b, s);
	case STEP_PROC:
	case STEP_DEVPTS:
		return build_special(b, s);
	case STEP_DEVICE:
		return build_device(b, s);
	case STEP_MASK:
		return build_mask(b, s);
	default:
		errno = EINVAL;
		return root_fail(b, CAUSE_OTHER, "an unknown step at", s);
	}
}
