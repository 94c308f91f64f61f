#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "child/shared/survey.h"
#include "ipc/limits.h"
#include "look_walk.h"

#define PROC_MAGIC 0x9fa0 /* PROC_SUPER_MAGIC of <linux/magic.h> */

/*
 * A walk without ".." needs one open a component; each ".." begins again at
 * the root, so a hostile link could ask for more than WALK_OPENS.
 */
struct walk {
	char done[PATH_MAX_LEN + 1]; /* canonical path of cur; "" is "/" */
	char todo[PATH_MAX_LEN + 1]; /* "" or what follows cur */
	int cur;		     /* O_PATH, or -1 */
	struct stat st;		     /* of cur */
	int opens;
	size_t room; /* for the paths of links */
	struct survey_row *row;
};

static int
fail(int err)
{
	errno = err;
	return -1;
}

static int
walk_root(struct walk *w)
{
	if (++w->opens > WALK_OPENS)
		return fail(ELOOP);
	if (w->cur != -1)
		close(w->cur);
	w->done[0] = '\0';
	w->cur = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (w->cur == -1)
		return -1;
	return fstat(w->cur, &w->st);
}

/* Puts text in front of what is left of the walk. */
static int
walk_insert(struct walk *w, const char *text, const char *rest)
{
	size_t n = strlen(text), m = strlen(rest);

	if (n + m > PATH_MAX_LEN)
		return fail(ENAMETOOLONG);
	memmove(w->todo + n, rest, m + 1); /* rest is a part of todo */
	memcpy(w->todo, text, n);
	return 0;
}

/*
 * Above cur: by name from the root again, because the directory that the
 * kernel calls ".." may by now be another than the one we came through.
 */
static int
walk_up(struct walk *w, const char *rest)
{
	char up[PATH_MAX_LEN + 1], *slash;

	strcpy(up, w->done);
	if ((slash = strrchr(up, '/')) != NULL)
		*slash = '\0';
	if (walk_insert(w, up, rest) == -1)
		return -1;
	return walk_root(w);
}

static int
walk_note(struct walk *w, const char *name)
{
	struct survey_row *r = w->row;
	char **links, *path;
	size_t n = strlen(w->done) + 1 + strlen(name) + 1;

	if (r->nlinks >= LINKS_MAX || n > w->room)
		return fail(ELOOP);
	w->room -= n;
	if (n > PATH_MAX_LEN + 1)
		return fail(ENAMETOOLONG);
	links = realloc(r->links, (r->nlinks + 1) * sizeof(*links));
	if (links == NULL)
		return -1;
	r->links = links;
	if ((path = malloc(n)) == NULL)
		return -1;
	strcpy(path, w->done);
	strcat(path, "/");
	strcat(path, name);
	r->links[r->nlinks++] = path;
	return 0;
}

/*
 * The owner of a link in a directory like /tmp must be the caller. The
 * kernel also allows the directory's owner; but seen from a user namespace
 * all other owners look alike.
 */
static int
walk_link(struct walk *w, int fd, const struct stat *st, const char *name,
    const char *rest)
{
	char text[PATH_MAX_LEN + 1];
	struct statfs fs;
	ssize_t n;

	if ((w->st.st_mode & (S_ISVTX | S_IWOTH)) == (S_ISVTX | S_IWOTH) &&
	    st->st_uid != geteuid())
		return fail(EACCES);
	if (fstatfs(fd, &fs) == -1)
		return -1;
	if (fs.f_type == PROC_MAGIC)
		return fail(ELOOP);
	n = readlinkat(fd, "", text, sizeof(text));
	if (n == -1)
		return -1;
	if (n == 0 || (size_t)n >= sizeof(text))
		return fail(n == 0 ? ENOENT : ENAMETOOLONG);
	text[n] = '\0';
	if (walk_note(w, name) == -1 || walk_insert(w, text, rest) == -1)
		return -1;
	return text[0] == '/' ? walk_root(w) : 0;
}

/* One component that is neither "" nor "." nor "..". */
static int
walk_into(struct walk *w, const char *name, const char *rest)
{
	struct stat st;
	size_t len = strlen(w->done);
	int fd, r;

	if (++w->opens > WALK_OPENS)
		return fail(ELOOP);
	fd = openat(w->cur, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return -1;
	if (fstat(fd, &st) == -1) {
		close(fd);
		return -1;
	}
	if (S_ISLNK(st.st_mode)) {
		r = walk_link(w, fd, &st, name, rest);
		close(fd);
		return r;
	}
	close(w->cur);
	w->cur = fd;
	w->st = st;
	if (len + 1 + strlen(name) > PATH_MAX_LEN)
		return fail(ENAMETOOLONG);
	w->done[len] = '/';
	strcpy(w->done + len + 1, name);
	memmove(w->todo, rest, strlen(rest) + 1);
	return 0;
}

static int
walk_step(struct walk *w)
{
	char name[COMPONENT_MAX + 1];
	const char *rest;
	size_t n;

	if (w->todo[0] == '/') {
		/* also the '/' at the end of "file/" */
		if (!S_ISDIR(w->st.st_mode))
			return fail(ENOTDIR);
		n = strspn(w->todo, "/");
		memmove(w->todo, w->todo + n, strlen(w->todo + n) + 1);
		return 0;
	}
	n = strcspn(w->todo, "/");
	if (n > COMPONENT_MAX)
		return fail(ENAMETOOLONG);
	memcpy(name, w->todo, n);
	name[n] = '\0';
	rest = w->todo + n;
	if (strcmp(name, ".") == 0) {
		memmove(w->todo, rest, strlen(rest) + 1);
		return 0;
	}
	if (strcmp(name, "..") == 0)
		return walk_up(w, rest);
	return walk_into(w, name, rest);
}

int
look_walk(const char *path, struct survey_row *row)
{
	struct walk w;
	int err;

	w.cur = -1;
	w.opens = 0;
	w.room = LINKS_LEN;
	w.row = row;
	if (strlen(path) > PATH_MAX_LEN)
		return fail(ENAMETOOLONG);
	strcpy(w.todo, path);
	if (walk_root(&w) == -1)
		goto bad;
	while (w.todo[0] != '\0')
		if (walk_step(&w) == -1)
			goto bad;
	row->real = strdup(w.done[0] == '\0' ? "/" : w.done);
	if (row->real == NULL)
		goto bad;
	return w.cur;
bad:
	err = errno;
	if (w.cur != -1)
		close(w.cur);
	return fail(err);
}
