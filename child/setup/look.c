#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child/shared/survey.h"
#include "ipc/path.h"
#include "ipc/policy.h"
#include "look.h"
#include "look_walk.h"
#include "parent/failure.h"
#include "parent/mountapi.h"

/* Left over for everything else that the process has or will open. */
#define LOOK_SPARE 128

struct look {
	size_t keep;	/* descriptors that may still be kept */
	int no_openat2; /* the kernel, or a filter, does not have it */
};

static uint8_t
look_type(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR:
		return SURVEY_DIR;
	case S_IFREG:
		return SURVEY_FILE;
	case S_IFSOCK:
		return SURVEY_SOCKET;
	case S_IFIFO:
		return SURVEY_FIFO;
	case S_IFCHR:
		return SURVEY_DEVICE;
	case S_IFBLK:
		return SURVEY_BLOCK;
	default:
		return SURVEY_NONE;
	}
}

/* Opens a path that has no symlink in it; ELOOP if it has one. */
static int
look_plain(const char *path)
{
	return mountapi_openat2(
	    AT_FDCWD, path, O_PATH | O_CLOEXEC, RESOLVE_NO_SYMLINKS);
}

/*
 * Almost every source is its own canonical path, which one call finds out
 * and opens. The walk by hand is for the others, and for old kernels.
 */
static int
look_open(struct look *l, const char *path, struct survey_row *r)
{
	int fd;

	if (!l->no_openat2) {
		fd = look_plain(path);
		if (fd != -1) {
			r->real = strdup(path);
			if (r->real != NULL)
				return fd;
			close(fd);
			errno = ENOMEM;
			return -1;
		}
		if (errno != ELOOP && errno != ENOSYS && errno != EPERM)
			return -1;
		l->no_openat2 = errno != ELOOP;
	}
	return look_walk(path, r);
}

static int
look_row(struct look *l, const char *path, struct survey_row *r)
{
	struct stat st;
	int fd;

	/* a policy that was refused is shown, with whatever it says */
	errno = EINVAL;
	fd = path_clean(path) ? look_open(l, path, r) : -1;
	if (fd == -1) {
		r->err = errno;
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
			return -1;
		/* what the walk noted of the links on the way stays */
		r->real = strdup("");
		return r->real == NULL ? -1 : 0;
	}
	if (fstat(fd, &st) == -1) {
		close(fd);
		return -1;
	}
	r->type = look_type(st.st_mode);
	r->mode = st.st_mode & 07777;
	r->dev = st.st_dev;
	r->ino = st.st_ino;
	r->rdev = st.st_rdev;
	r->twice = S_ISREG(st.st_mode) && st.st_nlink > 1 &&
		   (st.st_uid == getuid() || (st.st_mode & 022) != 0);
	if (l->keep > 0) {
		l->keep--;
		r->fd = fd;
	} else
		close(fd);
	return 0;
}

int
look_one(const char *path, struct survey_row *r)
{
	struct look l = {1, 0};
	struct survey s;

	if (survey_init(&s, 1) == -1)
		return -1;
	if (look_row(&l, path, &s.rows[0]) == -1) {
		survey_free(&s);
		return -1;
	}
	survey_row_move(r, &s.rows[0]);
	survey_free(&s);
	return 0;
}

int
look_survey(const struct policy *po, struct survey *s, struct failure *f)
{
	struct look l = {0, 0};
	struct rlimit lim;
	size_t i;

	if (survey_init(s, po->ngrants) == -1)
		return failure_set(f, CAUSE_OTHER, "survey");
	if (getrlimit(RLIMIT_NOFILE, &lim) == -1)
		return failure_set(f, CAUSE_OTHER, "getrlimit");
	if (lim.rlim_cur > LOOK_SPARE)
		l.keep = lim.rlim_cur - LOOK_SPARE;
	for (i = 0; i < po->ngrants; i++) {
		if (!grant_opens(&po->grants[i]))
			continue;
		if (look_row(&l, po->grants[i].source, &s->rows[i]) == 0)
			continue;
		if (errno == EMFILE)
			return failure_set(f, CAUSE_OTHER,
			    "open %s: raise the limit of open files (ulimit "
			    "-n)",
			    po->grants[i].source);
		return failure_set(
		    f, CAUSE_OTHER, "open %s", po->grants[i].source);
	}
	return 0;
}

/* By hand, and with no link on the way. */
static int
look_slow(const char *path)
{
	struct survey s;
	int fd;

	if (survey_init(&s, 1) == -1)
		return -1;
	fd = look_walk(path, &s.rows[0]);
	if (fd != -1 && s.rows[0].nlinks > 0) {
		close(fd);
		errno = ESTALE;
		fd = -1;
	}
	survey_free(&s);
	return fd;
}

int
look_again(const struct survey_row *r)
{
	struct stat st;
	int fd;

	fd = look_plain(r->real);
	if (fd == -1 && (errno == ENOSYS || errno == EPERM))
		fd = look_slow(r->real);
	if (fd == -1)
		return -1;
	if (fstat(fd, &st) == -1) {
		close(fd);
		return -1;
	}
	if (st.st_dev != r->dev || st.st_ino != r->ino ||
	    look_type(st.st_mode) != r->type) {
		close(fd);
		errno = ESTALE;
		return -1;
	}
	return fd;
}
