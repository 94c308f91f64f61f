#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "ipc/path.h"
#include "ipc/survey.h"
#include "mountapi.h"
#include "plan.h"
#include "root.h"
#include "root_parts.h"

#define PROC_MAGIC 0x9fa0 /* PROC_SUPER_MAGIC of <linux/magic.h> */

/*
 * Nothing may be created inside a bind or procfs: that would be on the host,
 * or in a mount that is none of ours. The plan has no such step; this makes
 * sure of it, whatever the plan says.
 */
static int
build_steps(struct build *b)
{
	const struct step *s;
	size_t i;

	for (i = 0; i < b->plan->nsteps; i++) {
		s = &b->plan->steps[i];
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

static int
finish(struct build *b)
{
	size_t i;

	root_dir_close(&b->dir);
	if (b->mask != -1) {
		close(b->mask);
		b->mask = -1;
		if (unlinkat(b->root, ROOT_MASK, 0) == -1)
			return failure_set(
			    b->fail, CAUSE_OTHER, "remove the mask's name");
	}
	for (i = 0; i < b->survey->n; i++)
		if (b->survey->rows[i].fd != -1) {
			close(b->survey->rows[i].fd);
			b->survey->rows[i].fd = -1;
		}
	/* this mount alone: what may be written lies below it */
	if (mountapi_set(b->root, root_attributes(&b->plan->steps[0])) == -1)
		return failure_set(b->fail, CAUSE_MOUNT, "mount_setattr /");
	if (fchdir(b->root) == -1)
		return failure_set(b->fail, CAUSE_OTHER, "enter the new root");
	if (mountapi_pivot() == -1)
		return failure_set(b->fail, CAUSE_MOUNT, "pivot_root");
	if (chdir("/") == -1)
		return failure_set(b->fail, CAUSE_OTHER, "chdir /");
	return 0;
}

int
root_build(const struct plan *plan, struct survey *survey, struct failure *f)
{
	struct build b = {
	    .plan = plan, .survey = survey, .fail = f, .root = -1, .mask = -1};
	mode_t mask;
	int r;

	if (plan->nsteps == 0 || plan->steps[0].kind != STEP_TMPFS ||
	    strcmp(plan->steps[0].guest, "/") != 0) {
		errno = EINVAL;
		return failure_set(f, CAUSE_OTHER, "the plan has no root");
	}
	if (mountapi_private() == -1)
		return failure_set(f, CAUSE_MOUNT, "make mounts private");
	/* modes of what is made here are the plan's, not the caller's */
	mask = umask(0);
	root_dir_init(&b.dir, -1);
	r = build_steps(&b);
	if (r == 0)
		r = finish(&b);
	root_dir_close(&b.dir);
	if (b.mask != -1)
		close(b.mask);
	if (b.root != -1)
		close(b.root);
	umask(mask);
	return r;
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
