#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "child/shared/caller.h"
#include "ipc/limits.h"
#include "child/shared/request.h"
#include "layers.h"
#include "place.h"

/* No link is followed to a file, and a FIFO is opened without waiting. */
#define FILE_FLAGS (O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)

/*
 * fstat(3) of the C library may be a look-up by path with an empty name, and
 * the filter has no call that could ask for any path at all.
 */
static int
stat_fd(int fd, struct stat *st)
{
	return (int)syscall(SYS_fstat, fd, st);
}

/* S11: NULL, or what is wrong with who may write it. */
static const char *
distrust(enum layer layer, const struct stat *st, const struct caller *c)
{
	if (layer == LAYER_SHIPPED)
		return NULL; /* as trusted as this program beside it */
	if (layer == LAYER_PACK)
		return NULL; /* not at all: whoever may have written it */
	if (layer == LAYER_HOST)
		return st->st_uid == 0 && (st->st_mode & 022) == 0
			   ? NULL
			   : "must belong to root and be writable by nobody "
			     "else";
	if (st->st_uid != c->uid && st->st_uid != 0)
		return "belongs to another user";
	if ((st->st_mode & 002) != 0)
		return "can be written by others";
	if ((st->st_mode & 020) != 0 &&
	    ((c->flags & CALLER_PRIVATE_GROUP) == 0 || st->st_gid != c->gid))
		return "can be written by a group";
	return NULL;
}

static const char *
distrust_fix(enum layer layer)
{
	return layer == LAYER_HOST
		   ? "have root run \"chown root\" and \"chmod go-w\" on it"
		   : "own it and run \"chmod go-w\" on it";
}

/* Opens a directory; what is wrong with it waits until it is needed. */
static void
open_dir(struct layer_fd *l, enum layer layer, const char *path,
    const struct caller *c)
{
	struct stat st;

	l->path = path;
	l->fd = -1;
	if (path[0] == '\0')
		return;
	l->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (l->fd == -1)
		l->err = errno == ENOENT ? 0 : errno;
	else if (stat_fd(l->fd, &st) == -1)
		l->err = errno;
	else
		l->bad = distrust(layer, &st, c);
}

static void
open_config(struct layer_fd *l, enum layer layer, const char *path,
    const struct caller *c)
{
	struct layer_fd dir = {.fd = -1};
	char up[PATH_MAX_LEN + 1];
	const char *name = strrchr(path, '/');

	if (name == NULL || name == path)
		name = "";
	snprintf(up, sizeof(up), "%.*s", (int)(name - path), path);
	open_dir(&dir, layer, name[0] == '\0' ? "" : up, c);
	*l = dir;
	l->path = path;
	if (dir.fd == -1)
		return;
	l->fd = openat(dir.fd, name + 1, FILE_FLAGS);
	if (l->fd == -1)
		l->err = errno == ENOENT ? 0 : errno;
	close(dir.fd);
}

/* A person named it, wherever it lies; no link is followed all the same. */
static void
open_pack(struct layer_fd *l, const char *path)
{
	l->path = path == NULL ? "" : path;
	l->fd = -1;
	if (l->path[0] == '\0')
		return;
	if ((l->fd = open(path, FILE_FLAGS | O_NOCTTY)) == -1)
		l->err = errno;
}

void
layers_open(struct layers *ls, const struct request *q)
{
	memset(ls, 0, sizeof(*ls));
	ls->caller = &q->caller;
	open_dir(
	    &ls->dir[LAYER_SHIPPED], LAYER_SHIPPED, q->shipped, &q->caller);
	open_dir(&ls->dir[LAYER_HOST], LAYER_HOST, q->host, &q->caller);
	open_dir(&ls->dir[LAYER_USER], LAYER_USER, q->user, &q->caller);
	open_config(
	    &ls->config[LAYER_HOST], LAYER_HOST, q->host_config, &q->caller);
	open_config(
	    &ls->config[LAYER_USER], LAYER_USER, q->user_config, &q->caller);
	open_dir(&ls->dir[LAYER_PACK], LAYER_PACK, "", &q->caller);
	open_pack(&ls->config[LAYER_PACK], q->pack);
}

void
layers_none(struct layers *ls, const struct caller *c)
{
	int i;

	memset(ls, 0, sizeof(*ls));
	ls->caller = c;
	for (i = 0; i <= LAYER_LAST; i++) {
		ls->dir[i].fd = ls->config[i].fd = -1;
		ls->dir[i].path = ls->config[i].path = "";
	}
}

void
layers_close(struct layers *ls)
{
	int i;

	for (i = LAYER_SHIPPED; i <= LAYER_LAST; i++) {
		if (ls->dir[i].fd != -1)
			close(ls->dir[i].fd);
		if (i != LAYER_SHIPPED && ls->config[i].fd != -1)
			close(ls->config[i].fd);
	}
	memset(ls, 0, sizeof(*ls));
}

void
text_file_free(struct text_file *f)
{
	free(f->path);
	free(f->data);
	memset(f, 0, sizeof(*f));
}

/* The place of a file that is refused before its text is read. */
static struct place
place_of(const struct place *at, const char *file)
{
	struct place p = *at;

	p.file = file;
	return p;
}

static int
refuse_open(const struct place *at, const char *path, int err)
{
	struct place p = place_of(at, path);

	if (err == ELOOP)
		return place_refuse(&p, 0, "put the file itself there",
		    "\"%s\" is a symbolic link, and none is followed", path);
	if (err == ENXIO || err == ENODEV)
		return place_refuse(
		    &p, 0, "remove it", "\"%s\" is no regular file", path);
	return place_refuse(&p, 0, "make it readable or remove it",
	    "\"%s\" cannot be opened: %s", path, strerror(err));
}

/* All of a file, FILE_MAX_LEN at the most. */
static int
read_all(const struct place *at, int fd, struct text_file *f)
{
	ssize_t n;

	f->data = malloc(FILE_MAX_LEN + 2);
	if (f->data == NULL)
		return -1;
	f->len = 0;
	while (f->len <= FILE_MAX_LEN) {
		n = pread(fd, f->data + f->len, FILE_MAX_LEN + 1 - f->len,
		    (off_t)f->len);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return refuse_open(at, f->path, errno);
		if (n == 0)
			break;
		f->len += (size_t)n;
	}
	f->data[f->len] = '\0';
	return 0; /* the reader refuses one that is too long */
}

/* Checks and reads what is open; f has its path and layer. 1 or -1. */
static int
load(const struct layers *ls, const struct place *at, int fd,
    const struct layer_fd *dir, struct text_file *f)
{
	struct place p = place_of(at, f->path);
	struct stat st;
	const char *bad;

	if (stat_fd(fd, &st) == -1)
		return refuse_open(at, f->path, errno);
	if (!S_ISREG(st.st_mode))
		return place_refuse(
		    &p, 0, "remove it", "\"%s\" is no regular file", f->path);
	if ((bad = distrust(f->layer, &st, ls->caller)) != NULL)
		return place_refuse(
		    &p, 0, distrust_fix(f->layer), "\"%s\" %s", f->path, bad);
	/* S7: a payload that was granted the other one would write it there */
	if (f->layer != LAYER_SHIPPED && st.st_nlink > 1 &&
	    st.st_uid == ls->caller->uid)
		return place_refuse(&p, 0,
		    "put a copy in its place, cp(1) and then mv(1)",
		    "\"%s\" has a second name, a hard link, by which an "
		    "earlier run may have written it",
		    f->path);
	if (dir->bad != NULL)
		return place_refuse(&p, 0, distrust_fix(f->layer),
		    "the directory of \"%s\" %s", f->path, dir->bad);
	return read_all(at, fd, f) == -1 ? -1 : 1;
}

/* Opens NAME.profile in a layer: a descriptor, or -1 with errno. */
static int
open_profile(const struct layer_fd *l, const char *name)
{
	char file[NAME_MAX_LEN + sizeof(".profile")];

	if (l->fd == -1) {
		errno = l->err != 0 ? l->err : ENOENT;
		return -1;
	}
	snprintf(file, sizeof(file), "%s.profile", name);
	return openat(l->fd, file, FILE_FLAGS);
}

static char *
path_of(const struct layer_fd *l, const char *name)
{
	size_t n = strlen(l->path) + strlen(name) + sizeof("/.profile");
	char *p = malloc(n);

	if (p != NULL)
		snprintf(p, n, "%s%s%s.profile", l->path,
		    strcmp(l->path, "/") == 0 ? "" : "/", name);
	return p;
}

/* The profile in one layer: 1, 0 or -1, as layers_find(). */
static int
find_in(const struct layers *ls, const struct place *at, enum layer layer,
    const char *name, struct text_file *f)
{
	const struct layer_fd *l = &ls->dir[layer];
	int fd, n;

	memset(f, 0, sizeof(*f));
	fd = open_profile(l, name);
	if (fd == -1 && errno == ENOENT)
		return 0;
	f->layer = layer;
	n = errno;
	if ((f->path = path_of(l, name)) == NULL)
		n = -1;
	else if (fd == -1)
		n = refuse_open(at, l->fd == -1 ? l->path : f->path, n);
	else
		n = load(ls, at, fd, l, f);
	if (fd != -1)
		close(fd);
	if (n == -1)
		text_file_free(f);
	return n;
}

/* S12: neither of two files of one name may win. */
static int
refuse_both(const struct layers *ls, const struct place *at, const char *name)
{
	struct place p;
	char *host = path_of(&ls->dir[LAYER_HOST], name);
	char *user = path_of(&ls->dir[LAYER_USER], name);

	if (host != NULL && user != NULL) {
		p = place_of(at, user);
		place_refuse(&p, 0, "rename one of them",
		    "profile \"%s\" is defined twice, in \"%s\" and \"%s\"",
		    name, host, user);
	}
	free(host);
	free(user);
	return -1;
}

static int
has_in(const struct layers *ls, enum layer layer, const char *name)
{
	int fd = open_profile(&ls->dir[layer], name);

	if (fd == -1)
		return errno != ENOENT && ls->dir[layer].fd != -1;
	close(fd);
	return 1;
}

int
layers_has(const struct layers *ls, const char *name)
{
	if (name[0] == '@')
		return has_in(ls, LAYER_SHIPPED, name + 1);
	return has_in(ls, LAYER_HOST, name) || has_in(ls, LAYER_USER, name);
}

int
layers_find(const struct layers *ls, const struct place *at, const char *name,
    struct text_file *f)
{
	int n;

	memset(f, 0, sizeof(*f));
	if (name[0] == '@')
		return find_in(ls, at, LAYER_SHIPPED, name + 1, f);
	/* the other one might hold it too */
	for (n = LAYER_HOST; n <= LAYER_USER; n++)
		if (ls->dir[n].err != 0)
			return refuse_open(at, ls->dir[n].path, ls->dir[n].err);
	if (has_in(ls, LAYER_HOST, name) && has_in(ls, LAYER_USER, name))
		return refuse_both(ls, at, name);
	if ((n = find_in(ls, at, LAYER_HOST, name, f)) != 0)
		return n;
	return find_in(ls, at, LAYER_USER, name, f);
}

int
layers_config(const struct layers *ls, const struct place *at, enum layer layer,
    struct text_file *f)
{
	const struct layer_fd *l = &ls->config[layer];
	int n;

	memset(f, 0, sizeof(*f));
	if (l->fd == -1 && l->err == 0)
		return 0;
	f->layer = layer;
	if ((f->path = strdup(l->path)) == NULL)
		return -1;
	n = l->fd == -1 ? refuse_open(at, f->path, l->err)
			: load(ls, at, l->fd, l, f);
	if (n == -1)
		text_file_free(f);
	return n;
}

int
layers_ceiling(const struct layers *ls, const struct place *at, int fd,
    struct text_file *f)
{
	const struct layer_fd none = {.fd = -1};
	int n;

	f->layer = LAYER_HOST;
	n = load(ls, at, fd, &none, f);
	close(fd);
	return n;
}

int
layers_pack(
    const struct layers *ls, const struct place *at, struct text_file *f)
{
	const struct layer_fd *l = &ls->config[LAYER_PACK];
	struct place p = place_of(at, l->path);

	if (l->err == ENOENT)
		return place_refuse(&p, 0,
		    "name the file as it is called from where carrel is "
		    "started",
		    "-f \"%s\": there is no such file", l->path);
	return layers_config(ls, at, LAYER_PACK, f);
}
