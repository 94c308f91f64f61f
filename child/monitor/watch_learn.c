#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "ipc/limits.h"
#include "ipc/owned.h"
#include "ipc/path.h"
#include "watch_parts.h"

#define DANGLING_MAX 8	    /* symlinks that lead to nothing */
#define AUTOFS_MAGIC 0x0187 /* AUTOFS_SUPER_MAGIC of <linux/magic.h> */
#define FUSE_MAGIC   0x65735546

/*
 * learn: a path that is not there inside is looked for on the host, from where
 * this process is. The payload chose it, and must not tell anybody by that: a
 * look into such a file system asks a program or another host for the name.
 */
static int
is_told(int dir)
{
	struct statfs fs;

	return fstatfs(dir, &fs) == -1 || fs.f_type == AUTOFS_MAGIC ||
	       fs.f_type == FUSE_MAGIC;
}

/* One component further; dir is closed. O_PATH mounts nothing by itself. */
static int
step(int dir, const char *name, struct stat *st)
{
	int fd = -1;

	if (!is_told(dir))
		fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	close(dir);
	if (fd != -1 && fstat(fd, st) == -1) {
		close(fd);
		return -1;
	}
	return fd;
}

/*
 * From the root to the end of the clean path, or to the first symlink on the
 * way: 1 and at is where that leads. 0, or -1: it is not there.
 */
static int
walk(char at[PATH_MAX_LEN + 1], struct stat *st)
{
	char text[PATH_MAX_LEN + 1], link[PATH_MAX_LEN + 1];
	char name[COMPONENT_MAX + 1];
	const char *p = at;
	ssize_t n;
	int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	while (fd != -1 && *p == '/') {
		n = (ssize_t)strcspn(++p, "/");
		memcpy(name, p, (size_t)n);
		name[n] = '\0';
		p += n;
		fd = step(fd, name, st);
		if (fd == -1 || !S_ISLNK(st->st_mode))
			continue;
		n = readlinkat(fd, "", text, sizeof(text) - 1);
		close(fd);
		if (n < 1)
			return -1;
		text[n] = '\0';
		memcpy(link, at, (size_t)(p - at));
		link[p - at] = '\0';
		return path_follow(link, text, at, at) == -1 ? -1 : 1;
	}
	if (fd == -1)
		return -1;
	close(fd);
	return 0;
}

/* 1 if the host has it, and what it is. */
static int
on_host(const char *path, struct stat *st)
{
	char at[PATH_MAX_LEN + 1];
	int i, r = 1;

	strcpy(at, path);
	for (i = 0; i <= LINKS_MAX && r == 1; i++)
		r = strcmp(at, "/") == 0 ? -1 : walk(at, st);
	return r == 0;
}

/* "//", "." and ".." are taken out by name: what is there is looked up. */
static int
make_clean(char *path)
{
	char out[PATH_MAX_LEN + 1];
	size_t n = 0, k;
	const char *p;

	for (p = path; *p != '\0'; p += k) {
		p += strspn(p, "/");
		k = strcspn(p, "/");
		if (k == 0 || (k == 1 && p[0] == '.'))
			continue;
		if (k == 2 && p[0] == '.' && p[1] == '.') {
			while (n > 0 && out[--n] != '/')
				;
			continue;
		}
		if (n + 1 + k > PATH_MAX_LEN)
			return -1;
		out[n++] = '/';
		memcpy(out + n, p, k);
		n += k;
	}
	out[n] = '\0';
	if (!path_clean(out) || path_reserved(out))
		return path_clean(out) && path_covers("/dev", out)
			   ? (strcpy(path, out), 0)
			   : -1;
	strcpy(path, out);
	return 0;
}

/* 1 if one of these directories has the name ("/NAME") inside. */
static int
is_inside(const struct look *l, const char *dirs, const char *name)
{
	char file[NOTIFY_PATH_LEN];
	size_t k;
	int fd;

	for (; *dirs != '\0'; dirs += k + (dirs[k] == ':')) {
		k = strcspn(dirs, ":");
		if (*dirs != '/' ||
		    (size_t)snprintf(file, sizeof(file), "%.*s%s", (int)k, dirs,
			name) >= sizeof(file))
			continue;
		fd = notify_open(l->view, l->pid, AT_FDCWD, file, 0);
		if (fd != -1) {
			close(fd);
			return 1;
		}
	}
	return 0;
}

/* The PATH that the process began with: most have it still. */
static int
on_its_path(const struct look *l, const char *name)
{
	char file[64], *text = NULL;
	size_t room = 0;
	int found = 0;
	FILE *f;

	snprintf(file, sizeof(file), "/proc/%d/environ", (int)l->pid);
	if ((f = fopen(file, "re")) == NULL)
		return 0;
	while (!found && getdelim(&text, &room, '\0', f) > 0)
		if (strncmp(text, "PATH=", 5) == 0)
			found = is_inside(l, text + 5, name);
	free(text);
	fclose(f);
	return found;
}

/*
 * A program that the sandbox's PATH does not lead to, but the caller's: 1 and
 * the path of the host. Only where one would be: a directory called bin. One
 * that is missing in the first of several is none.
 */
static int
by_path(const struct look *l, char *path)
{
	static const char usual[] = OWNED_STAGING
	    ":/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";
	char file[PATH_MAX_LEN + 1];
	const char *p = l->n->path, *slash = strrchr(path, '/');
	struct stat st = {0};
	size_t k;

	if (p == NULL || slash - path < 4 ||
	    (strncmp(slash - 4, "/bin/", 5) != 0 &&
		strncmp(slash - 4, "sbin/", 5) != 0) ||
	    is_inside(l, usual, slash) || on_its_path(l, slash))
		return 0;
	for (; *p != '\0'; p += k + (p[k] == ':')) {
		k = strcspn(p, ":");
		if (*p != '/' || (size_t)snprintf(file, sizeof(file), "%.*s%s",
				     (int)k, p, slash) >= sizeof(file))
			continue;
		if (make_clean(file) == 0 && on_host(file, &st) &&
		    S_ISREG(st.st_mode) && (st.st_mode & 0111) != 0) {
			strcpy(path, file);
			return 1;
		}
	}
	return 0;
}

/* 1 if nothing is there, and a is where it would be. */
static int
is_missing(const struct look *l, struct asked *a, int flags)
{
	int fd, i;

	if (a->path[0] == '\0')
		return 0;
	fd = watch_open(l, a, flags);
	if (fd != -1) {
		close(fd);
		return 0;
	}
	if (errno != ENOENT)
		return 0;
	for (i = 0; i < DANGLING_MAX && watch_follow(l, a); i++)
		;
	return 1;
}

static const char *
action_of(const struct look *l, int flags)
{
	switch (l->call->what) {
	case OPENS:
	case CREATES:
		/* not O_ACCMODE, of which O_PATH is a part in musl */
		if ((flags & O_PATH) != 0)
			return "look";
		return (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) != 0
			   ? "write"
			   : "read";
	case LOOKS:
	case LOOKS_LINK:
	case CONNECTS:
	case EXECUTES:
		return l->call->action;
	case LINKS:
	case RENAMES:
		return "look";
	case REMOVES:
		return NULL;
	default:
		return "write";
	}
}

int
watch_missing(const struct look *l, int flags)
{
	int what = l->call->what, nofollow;
	const char *action = action_of(l, flags);
	struct watched *w = l->out;
	struct asked a;
	struct stat st;

	nofollow = what == OPENS ? flags & O_NOFOLLOW
		   : what == LOOKS_LINK ||
			   (what == LOOKS && (flags & AT_SYMLINK_NOFOLLOW) != 0)
		       ? O_NOFOLLOW
		       : 0;
	if (action == NULL || l->call->path == NONE ||
	    (what == CONNECTS || what == BINDS ? watch_read_socket(l, &a)
					       : watch_read(l, 0, &a)) == -1 ||
	    !is_missing(l, &a, nofollow) || watch_say(l, &a) == -1 ||
	    make_clean(w->resource) == -1)
		return 0;
	if (!on_host(w->resource, &st)) {
		if (!by_path(l, w->resource))
			return 0;
		action = "find";
	}
	w->action = action;
	w->err = ENOENT;
	w->place = NULL;
	w->missing = 1;
	return 1;
}
