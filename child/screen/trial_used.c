#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ipc/limits.h"
#include "ipc/log.h"
#include "trial.h"

/* The lines that carrel itself wrote. In a string a quote is escaped, so what
   looks like a member is one. */

/* What stands behind "key":, up to what ends it; NULL if it is not there. */
static const char *
member(const char *line, const char *key, size_t *len)
{
	char name[32];
	const char *p, *end;

	snprintf(name, sizeof(name), "\"%s\":", key);
	if ((p = strstr(line, name)) == NULL)
		return NULL;
	p += strlen(name);
	if (*p != '"') {
		*len = strcspn(p, ",}");
		return p;
	}
	for (end = ++p; *end != '"' && *end != '\0'; end++)
		if (*end == '\\' && end[1] != '\0')
			end++;
	*len = (size_t)(end - p);
	return p;
}

static void
take_text(const char *line, const char *key, char *buf, size_t cap)
{
	size_t n = 0;
	const char *p = member(line, key, &n);

	snprintf(
	    buf, cap, "%.*s", (int)(p == NULL ? 0 : n), p == NULL ? "" : p);
}

static void
take_violation(const char *line, struct refusals *r)
{
	struct refused *e;
	const char *p;
	size_t n = 0, i;

	e = realloc(r->list, (r->n + 1) * sizeof(*e));
	if (e == NULL)
		fatal("out of memory");
	r->list = e;
	e += r->n;
	take_text(line, "surface", e->surface, sizeof(e->surface));
	take_text(line, "action", e->action, sizeof(e->action));
	p = member(line, "resource", &n);
	if ((e->resource = strndup(p == NULL ? "" : p, n)) == NULL)
		fatal("out of memory");
	/* a further line is about the same one */
	for (i = 0; i < r->n; i++)
		if (strcmp(r->list[i].resource, e->resource) == 0 &&
		    strcmp(r->list[i].action, e->action) == 0 &&
		    strcmp(r->list[i].surface, e->surface) == 0) {
			free(e->resource);
			return;
		}
	r->n++;
}

int
trial_events(const char *file, struct refusals *r)
{
	char *line = NULL, event[16], by[16], code[16];
	size_t cap = 0;
	FILE *f;

	memset(r, 0, sizeof(*r));
	if ((f = fopen(file, "re")) == NULL)
		return -1;
	while (getline(&line, &cap, f) > 0) {
		take_text(line, "event", event, sizeof(event));
		if (strcmp(event, "violation") == 0 && r->n < EVENTS_MAX)
			take_violation(line, r);
		if (strcmp(event, "end") != 0)
			continue;
		take_text(line, "by", by, sizeof(by));
		take_text(line, "code", code, sizeof(code));
		r->ended = 1;
		r->by_payload = strcmp(by, "payload") == 0;
		r->code = (int)strtol(code, NULL, 10);
	}
	free(line);
	fclose(f);
	return 0;
}

void
trial_events_free(struct refusals *r)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		free(r->list[i].resource);
	free(r->list);
	memset(r, 0, sizeof(*r));
}

void
trial_note(struct trial_place *pl, const char *path)
{
	struct stat st;

	if ((pl->path = strdup(path)) == NULL)
		fatal("out of memory");
	pl->there = lstat(path, &st) == 0;
	/* the clock that file systems take their times from */
	clock_gettime(CLOCK_REALTIME_COARSE, &pl->since);
}

static int
is_newer(const struct stat *st, const struct timespec *t)
{
	return st->st_ctim.tv_sec > t->tv_sec ||
	       (st->st_ctim.tv_sec == t->tv_sec &&
		   st->st_ctim.tv_nsec >= t->tv_nsec);
}

/* 1 if something at or below it was changed since; left: entries to go. */
static int
look(int dir, const char *name, const struct trial_place *pl, unsigned *left,
    int top)
{
	struct dirent *e;
	struct stat st;
	DIR *d;
	int fd, used = 0;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return 0;
	/* a directory that carrel made for it counts by what is in it */
	if (is_newer(&st, &pl->since) && !(top && !pl->there))
		return 1;
	if (!S_ISDIR(st.st_mode))
		return top && !pl->there;
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1 || (d = fdopendir(fd)) == NULL)
		return 1; /* nobody knows */
	while (!used && (e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		used = (*left)-- == 0 || (top && !pl->there) ||
		       look(fd, e->d_name, pl, left, 0);
	}
	closedir(d);
	return used;
}

int
trial_written(const struct trial_place *pl)
{
	unsigned left = TRIAL_ENTRIES;

	return look(AT_FDCWD, pl->path, pl, &left, 1);
}
