#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "child/shared/survey.h"
#include "foreign.h"
#include "ipc/path.h"
#include "parent/mountapi.h"
#include "plan.h"
#include "root.h"
#include "root_parts.h"
#include "server.h"

#define PROC_MAGIC 0x9fa0 /* PROC_SUPER_MAGIC of <linux/magic.h> */

/*
 * Nothing may be created inside a bind or procfs: that would be on the host,
 * or in a mount that is none of ours. The plan has no such step; this makes
 * sure of it, whatever the plan says.
 */
static int
build_steps(struct build *b, int fixed)
{
	const struct step *s;
	size_t i;

	for (i = 0; i < b->plan->nsteps; i++) {
		s = &b->plan->steps[i];
		if (!fixed && (s->flags & STEP_FIXED) != 0)
			continue; /* stands since root_begin() */
		if (b->inside != NULL && !path_covers(b->inside, s->guest))
			b->inside = NULL;
		if (b->inside != NULL && s->kind != STEP_BIND &&
		    s->kind != STEP_PIN && s->kind != STEP_MASK) {
			errno = EINVAL;
			return root_fail(b, CAUSE_OTHER, "inside a bind:", s);
		}
		if (b->inside == NULL &&
		    (s->kind == STEP_PIN || s->kind == STEP_MASK)) {
			errno = EINVAL;
			return root_fail(b, CAUSE_OTHER, "in no bind:", s);
		}
		if (root_step(b, s) == -1)
			return -1;
		if (b->inside == NULL &&
		    (s->kind == STEP_BIND || s->kind == STEP_PROC ||
			s->kind == STEP_DEVPTS))
			b->inside = s->guest;
	}
	return 0;
}

/* The steps of the plan, with modes that are the plan's, not the caller's. */
static int
build(struct build *b, int fixed)
{
	mode_t mask = umask(0);
	int r;

	root_dir_init(&b->dir, b->root);
	r = build_steps(b, fixed);
	if (r == 0 && !fixed)
		r = root_exec(b);
	if (r == 0 && !fixed)
		r = root_seal(b);
	root_dir_close(&b->dir);
	if (b->mask != -1) {
		close(b->mask);
		if (r == 0 && unlinkat(b->root, ROOT_MASK, 0) == -1)
			r = failure_set(
			    b->fail, CAUSE_OTHER, "remove the mask's name");
	}
	umask(mask);
	return r;
}

int
root_begin(const struct plan *fixed, struct root *root, struct failure *f)
{
	struct build b = {.plan = fixed, .fail = f, .root = -1, .mask = -1};

	root->fd = -1;
	if (fixed->nsteps == 0 || fixed->steps[0].kind != STEP_TMPFS ||
	    strcmp(fixed->steps[0].guest, "/") != 0) {
		errno = EINVAL;
		return failure_set(f, CAUSE_OTHER, "the plan has no root");
	}
	if (server_private() == -1)
		return failure_set(f, CAUSE_MOUNT, "make mounts private");
	if (build(&b, 1) == -1)
		return -1;
	root->fd = b.root;
	root->mounts = b.mounts;
	return 0;
}

static int
enter(struct root *root, const struct step *top, struct failure *f)
{
	/* this mount alone: what may be written lies below it */
	if (server_set(root->fd, root_attributes(top)) == -1)
		return failure_set(f, CAUSE_MOUNT, "mount_setattr /");
	if (fchdir(root->fd) == -1)
		return failure_set(f, CAUSE_OTHER, "enter the new root");
	if (server_pivot() == -1)
		return failure_set(f, CAUSE_MOUNT, "pivot_root");
	if (chdir("/") == -1)
		return failure_set(f, CAUSE_OTHER, "chdir /");
	close(root->fd);
	root->fd = -1;
	return 0;
}

int
root_build(struct root *root, const struct plan *plan, struct survey *survey,
    struct failure *f)
{
	struct build b = {.plan = plan,
	    .survey = survey,
	    .fail = f,
	    .root = root->fd,
	    .mask = -1};
	size_t i;

	if (root->fd == -1 || plan->nsteps == 0) {
		errno = EINVAL;
		return failure_set(f, CAUSE_OTHER, "no root was begun");
	}
	if (build(&b, 0) == -1)
		return -1;
	for (i = 0; i < survey->n; i++)
		if (survey->rows[i].fd != -1) {
			close(survey->rows[i].fd);
			survey->rows[i].fd = -1;
		}
	if (enter(root, &plan->steps[0], f) == -1)
		return -1;
	return foreign_refuse(root->mounts + b.mounts, f);
}

/* Opens a directory to start in; not one of procfs. */
static int
open_start(const char *path)
{
	struct statfs fs;
	int fd, root;

	fd = mountapi_openat2(AT_FDCWD, path, O_PATH | O_DIRECTORY | O_CLOEXEC,
	    RESOLVE_NO_MAGICLINKS);
	if (fd == -1 && (errno == ENOSYS || errno == EPERM)) {
		/* without openat2(2), without symlinks */
		root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (root == -1)
			return -1;
		fd = root_dir_open(root, path);
		close(root);
	}
	if (fd == -1)
		return -1;
	if (fstatfs(fd, &fs) == 0 && fs.f_type != PROC_MAGIC)
		return fd;
	close(fd);
	return -1;
}

int
root_chdir(const struct plan *plan, struct failure *f)
{
	size_t i;
	int fd, r;

	for (i = 0; i < plan->ncwd; i++) {
		fd = open_start(plan->cwd[i]);
		if (fd == -1)
			continue;
		r = fchdir(fd);
		close(fd);
		if (r == 0)
			return 0;
	}
	return failure_set(f, CAUSE_OTHER, "no directory to start in");
}
