#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child/setup/places.h"
#include "ipc/path.h"
#include "watch_parts.h"

/*
 * --uses: what is there and used, once for each place that was named and each
 * grant. Like all of watch.h it only looks; what cannot be looked at is
 * unclear, and counted.
 */

enum use {
	USE_LOOK,
	USE_READ,
	USE_WRITE,
	USE_EXEC,
	USE_CONNECT
};

static const char *const names[] = {[USE_LOOK] = "look",
    [USE_READ] = "read",
    [USE_WRITE] = "write",
    [USE_EXEC] = "exec",
    [USE_CONNECT] = "connect"};

struct watch_uses {
	char **real;   /* where each place that was named leads; "": nowhere */
	uint8_t *told; /* bits of enum use: the named, then the grants */
	uint8_t *last, bit; /* of what was found last */
};

struct watch_uses *
watch_uses_new(const struct notify *n)
{
	struct watch_uses *u = calloc(1, sizeof(*u));

	if (u == NULL)
		return NULL;
	u->told = calloc(n->nuses + n->places->n + 1, 1);
	if (u->told != NULL)
		return u;
	free(u);
	return NULL;
}

/* When the first process asks that can be read; nothing else has run then. */
static int
resolve(const struct look *l, struct watch_uses *u)
{
	char name[NOTIFY_PATH_LEN];
	size_t i;
	int fd;

	if (u->real != NULL)
		return 0;
	if ((u->real = calloc(l->n->nuses + 1, sizeof(*u->real))) == NULL)
		return -1;
	for (i = 0; i < l->n->nuses; i++) {
		strcpy(name, l->n->uses[i]);
		fd = name[0] == '\0' ? -1
				     : notify_open(l->view, l->pid, AT_FDCWD,
					   l->n->uses[i], 0);
		if (fd != -1) {
			if (watch_name(l, fd, name) == -1)
				strcpy(name, l->n->uses[i]);
			close(fd);
		}
		if ((u->real[i] = strdup(name)) == NULL)
			return -1;
	}
	return 0;
}

/* The deepest that was named, at or above; nuses: none. */
static size_t
named(const struct look *l, const struct watch_uses *u, const char *name,
    const char *asked)
{
	size_t i, found = l->n->nuses, len = 0, k;
	const char *text;

	for (i = 0; i < l->n->nuses; i++) {
		text = l->n->uses[i];
		k = strlen(text);
		if (k > len && (path_covers(u->real[i], name) ||
				   path_covers(text, asked))) {
			found = i;
			len = k;
		}
	}
	return found;
}

/* What the call does with its path that is the first (0) or second (1). */
static enum use
use_of(const struct look *l, int which, int flags)
{
	switch (l->call->what) {
	case OPENS:
		/* not O_ACCMODE, of which O_PATH is a part in musl */
		if ((flags & O_PATH) != 0)
			return USE_LOOK;
		return (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) != 0
			   ? USE_WRITE
			   : USE_READ;
	case LOOKS:
	case LOOKS_LINK:
		return USE_LOOK;
	case CONNECTS:
		return USE_CONNECT;
	case EXECUTES:
		return USE_EXEC;
	case LINKS:
		return which == 0 ? USE_LOOK : USE_WRITE;
	default:
		return USE_WRITE;
	}
}

static int
is_new_name(const struct look *l, int which)
{
	int what = l->call->what;

	return what == MAKES || what == REMOVES || what == RENAMES ||
	       what == BINDS || (what == LINKS && which == 1);
}

static int
follows(const struct look *l, int flags)
{
	switch (l->call->what) {
	case OPENS:
		return (flags & O_NOFOLLOW) == 0;
	case CHANGES_LINK:
	case LOOKS_LINK:
		return 0;
	case LINKS:
		return (flags & AT_SYMLINK_FOLLOW) != 0;
	default:
		return l->call->flags == NONE ||
		       (flags & AT_SYMLINK_NOFOLLOW) == 0;
	}
}

/* A name in a directory, which need not be there. */
static int
name_beside(
    const struct look *l, const struct asked *a, char name[NOTIFY_PATH_LEN])
{
	const char *last = strrchr(a->path, '/');
	size_t n;
	int fd, r;

	last = last == NULL ? a->path : last + 1;
	if ((fd = watch_parent(l, a)) == -1)
		return -1;
	r = watch_name(l, fd, name);
	close(fd);
	n = strlen(name);
	if (r == -1 || n + strlen(last) + 2 > NOTIFY_PATH_LEN)
		return -1;
	if (strcmp(name, "/") != 0)
		name[n++] = '/';
	strcpy(name + n, last);
	return 0;
}

/* What it is called inside, without links. 0, or -1: nothing is there. */
static int
name_used(const struct look *l, const struct asked *a, int which, int flags,
    char name[NOTIFY_PATH_LEN])
{
	int fd, r;

	if (is_new_name(l, which))
		return name_beside(l, a, name);
	if (l->call->what == EXECUTES)
		fd = notify_program(l->view, l->pid, l->d, a->path);
	else if (a->path[0] == '\0')
		fd = notify_handle(l->pid, a->dir);
	else
		fd = watch_open(l, a, follows(l, flags) ? 0 : O_NOFOLLOW);
	if (fd == -1)
		return errno == ENOENT && (l->call->what == CREATES ||
					      (l->call->what == OPENS &&
						  (flags & O_CREAT) != 0))
			   ? name_beside(l, a, name)
			   : -1;
	r = watch_name(l, fd, name);
	close(fd);
	return r;
}

static int
read_path(const struct look *l, int which, struct asked *a)
{
	int what = l->call->what;

	a->path[0] = '\0';
	if (what == CHANGES_OPEN ||
	    (what == TIMES && l->d->args[l->call->path] == 0)) {
		a->dir = (int)l->d->args[l->call->dir];
		return 0;
	}
	return what == CONNECTS || what == BINDS ? watch_read_socket(l, a)
						 : watch_read(l, which, a);
}

/* 1 if that was not told yet. */
static int
is_first(const struct look *l, struct watch_uses *u, const char *name,
    const char *asked, enum use use)
{
	size_t i = named(l, u, name, asked);
	const struct place *p = l->out->place;
	uint8_t *told;

	if (i == l->n->nuses && (p == NULL || use == USE_LOOK))
		return 0;
	told = i < l->n->nuses
		   ? &u->told[i]
		   : &u->told[l->n->nuses + (size_t)(p - l->n->places->list)];
	if ((*told & 1U << use) != 0)
		return 0;
	u->last = told;
	u->bit = (uint8_t)(1U << use);
	strcpy(l->out->resource, i < l->n->nuses ? l->n->uses[i] : name);
	return 1;
}

int
watch_used_first(const struct look *l, struct watch_uses *u)
{
	char name[NOTIFY_PATH_LEN];
	const char *asked = path_clean(l->n->first) ? l->n->first : "";
	int fd;

	if (resolve(l, u) == -1)
		return 0;
	fd = notify_open(l->view, l->pid, AT_FDCWD, l->n->first, 0);
	if (fd == -1 || watch_name(l, fd, name) == -1)
		strcpy(name, asked);
	if (fd != -1)
		close(fd);
	l->out->place = places_at(l->n->places, name);
	l->out->action = names[USE_EXEC];
	l->out->err = 0;
	return name[0] != '\0' && is_first(l, u, name, asked, USE_EXEC);
}

void
watch_use_told(struct watch_uses *u)
{
	*u->last |= u->bit;
}

int
watch_used(const struct look *l, struct watch_uses *u, int which, int flags)
{
	enum use use = use_of(l, which, flags);
	char name[NOTIFY_PATH_LEN], asked[NOTIFY_PATH_LEN] = "";
	struct asked a;

	if (which == 1 && l->call->what != LINKS && l->call->what != RENAMES)
		return 0;
	if (read_path(l, which, &a) == -1)
		return 0;
	if (resolve(l, u) == -1) {
		l->out->unclear = 1;
		return 0;
	}
	if (name_used(l, &a, which, flags, name) == -1)
		return 0;
	if (a.path[0] == '/' && path_clean(a.path))
		strcpy(asked, a.path);
	l->out->place = places_at(l->n->places, name);
	/* what is refused is no use */
	if (use == USE_WRITE && l->out->place != NULL && !l->out->place->writes)
		return 0;
	if (!is_first(l, u, name, asked, use))
		return 0;
	l->out->action = names[use];
	l->out->err = 0;
	return 1;
}
