#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "watch_parts.h"

#define PROC_SUPER 0x9fa0 /* statfs(2) */
#define ROUNDS_MAX 40	  /* as the kernel follows */
#define ROOM	   (2 * NOTIFY_PATH_LEN)

/*
 * Links of procfs lead where no text says, and "self" is nobody for a process
 * outside of that pid namespace: openat2(2) follows neither. Those of the
 * process that calls are followed here, one by one.
 */

/* Its number inside, of the thread (NSpid) or of all of them (NStgid). */
static int
number_inside(pid_t pid, const char *what)
{
	char name[64], line[256], *last;
	size_t n = strlen(what);
	int number = -1;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/status", (int)pid);
	if ((f = fopen(name, "re")) == NULL)
		return -1;
	while (number == -1 && fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, what, n) == 0 &&
		    (last = strrchr(line, '\t')) != NULL)
			number = atoi(last + 1);
	fclose(f);
	return number;
}

static int
is_link(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISLNK(st.st_mode);
}

/*
 * The first component that is a symlink, and that cannot be followed: itself,
 * O_PATH, and the length of the path up to its end. -1: there is none.
 */
static int
find_link(const struct look *l, char *path, size_t *len)
{
	size_t n = 0;
	char kept;
	int fd, to;

	while (path[n] != '\0') {
		n += strspn(path + n, "/");
		n += strcspn(path + n, "/");
		kept = path[n];
		path[n] = '\0';
		fd = notify_open(l->view, l->pid, AT_FDCWD, path, O_NOFOLLOW);
		to = fd != -1 && is_link(fd)
			 ? notify_open(l->view, l->pid, AT_FDCWD, path, 0)
			 : fd;
		path[n] = kept;
		if (fd == -1)
			return -1;
		if (to == -1) {
			*len = n;
			return fd;
		}
		if (to != fd)
			close(to);
		close(fd);
	}
	return -1;
}

/* path up to len becomes text, where a relative one is beside the link. 0, -1
 */
static int
replace(char path[ROOM], size_t len, const char *text)
{
	char rest[ROOM];
	size_t base = 0;

	strcpy(rest, path + len);
	if (text[0] != '/')
		for (base = len; base > 0 && path[base - 1] != '/'; base--)
			;
	return (size_t)snprintf(path + base, ROOM - base, "%s%s", text, rest) <
		       ROOM - base
		   ? 0
		   : -1;
}

/* Behind "/proc/N/", if N is the one that calls; or NULL. */
static const char *
of_caller(const struct look *l, const char *name)
{
	char *end;
	long n;

	if (strncmp(name, "/proc/", 6) != 0)
		return NULL;
	n = strtol(name + 6, &end, 10);
	if (end == name + 6 || *end != '/' ||
	    (n != number_inside(l->pid, "NStgid:") &&
		n != number_inside(l->pid, "NSpid:")))
		return NULL;
	return end + 1;
}

/* The link fd of procfs: where it leads, O_PATH. -1: that is not clear. */
static int
enter(const struct look *l, const char *name)
{
	char link[NOTIFY_PATH_LEN + 64];
	const char *what = of_caller(l, name);

	if (what == NULL)
		return -1;
	snprintf(link, sizeof(link), "/proc/%d/%s", (int)l->pid, what);
	return open(link, O_PATH | O_CLOEXEC);
}

/* Follows the link fd. The end of the way, O_PATH; -2: go on; -1. */
static int
follow_one(const struct look *l, char path[ROOM], size_t len, int fd)
{
	char text[NOTIFY_PATH_LEN];
	struct statfs fs;
	ssize_t n;
	int to, end;

	if (fstatfs(fd, &fs) == -1)
		return -1;
	if (fs.f_type != PROC_SUPER) {
		n = readlinkat(fd, "", text, sizeof(text));
		if (n < 1 || (size_t)n >= sizeof(text))
			return -1;
		text[n] = '\0';
		return replace(path, len, text) == 0 ? -2 : -1;
	}
	if (notify_dir(getpid(), fd, text) == -1)
		return -1;
	if (strcmp(text, "/proc/self") == 0 ||
	    strcmp(text, "/proc/thread-self") == 0) {
		snprintf(text, sizeof(text), "/proc/%d",
		    number_inside(l->pid, "NStgid:"));
		return replace(path, len, text) == 0 ? -2 : -1;
	}
	if ((to = enter(l, text)) == -1 || path[len] == '\0')
		return to;
	end = notify_dir(getpid(), to, text) == 0 && text[0] == '/' &&
		      replace(
			  path, len, strcmp(text, "/") == 0 ? "/." : text) == 0
		  ? -2
		  : -1;
	close(to);
	return end;
}

int
watch_magic(const struct look *l, const struct asked *a, int flags)
{
	char path[ROOM] = "";
	size_t len = 0;
	int i, fd, to;

	if (a->path[0] != '/' && notify_dir(l->pid, a->dir, path) == -1) {
		l->out->unclear |= errno == ENAMETOOLONG;
		return -1;
	}
	len = strlen(path);
	snprintf(path + len, sizeof(path) - len, "/%s", a->path);
	for (i = 0; i < ROUNDS_MAX; i++) {
		if ((fd = find_link(l, path, &len)) == -1)
			break;
		to = follow_one(l, path, len, fd);
		close(fd);
		if (to == -1) {
			l->out->unclear = 1;
			errno = EXDEV;
		}
		if (to != -2)
			return to;
	}
	return notify_open(l->view, l->pid, AT_FDCWD, path, flags);
}
