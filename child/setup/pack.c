#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child/monitor/options.h"
#include "child/shared/survey.h"
#include "ipc/limits.h"
#include "ipc/log.h"
#include "ipc/pack.h"
#include "ipc/path.h"
#include "ipc/policy.h"
#include "ipc/text.h"
#include "look.h"
#include "pack.h"
#include "parent/failure.h"

#define DIR_MODE 0777 /* less the umask */

void
pack_place(struct options *o)
{
	char dir[PATH_MAX], real[PATH_MAX], *base;
	char *path;

	if (o->pack == NULL)
		return;
	if ((size_t)snprintf(dir, sizeof(dir), "%s", o->pack) >= sizeof(dir))
		fatal("-f: the path is longer than %d bytes", PATH_MAX_LEN);
	base = strrchr(dir, '/');
	if (base != NULL)
		*base++ = '\0';
	if (realpath(base == NULL     ? "."
		     : dir[0] == '\0' ? "/"
				      : dir,
		real) == NULL)
		fatal("-f \"%s\": %s; name the file of a pack", o->pack,
		    strerror(errno));
	if (asprintf(&path, "%s/%s", strcmp(real, "/") == 0 ? "" : real,
		base == NULL ? dir : base) == -1)
		fatal("out of memory");
	if (!path_clean(path))
		fatal("-f \"%s\" is no file; name the file of a pack", o->pack);
	free(o->pack);
	o->pack = path;
}

/* 1 if this grant of a pack is to be made where it is absent. */
static int
is_made(const struct policy *po, size_t i)
{
	const struct grant *g = &po->grants[i];

	return g->kind == GRANT_BIND && (g->flags & GRANT_WRITE) != 0 &&
	       (g->flags & GRANT_TRY) == 0 && path_covers(PACK_DIR, g->guest) &&
	       pack_claims(po, g);
}

/* What the target was found as; NULL if it is none that holds anything. */
static const struct survey_row *
target_row(const struct policy *po, const struct survey *sv)
{
	const struct grant *top = policy_find(po, PACK_DIR);
	const struct survey_row *r;

	if (top == NULL || pack_find(po) == -1)
		return NULL;
	r = &sv->rows[top - po->grants];
	return r->type == SURVEY_DIR && r->nlinks == 0 ? r : NULL;
}

int
pack_expect(const struct policy *po, struct survey *sv, struct failure *f)
{
	const struct survey_row *top = target_row(po, sv);
	struct survey_row *r;
	size_t i;

	for (i = 0; top != NULL && i < po->ngrants; i++) {
		r = &sv->rows[i];
		if (r->err != ENOENT || r->nlinks > 0 || !is_made(po, i))
			continue;
		free(r->real);
		if ((r->real = strdup(po->grants[i].source)) == NULL)
			return failure_set(f, CAUSE_OTHER, "a pack");
		r->type = SURVEY_DIR;
		r->err = 0;
	}
	return 0;
}

/* All directories of below, "/a/b", from the directory fd on: the last. */
static int
make_below(int fd, const char *below)
{
	char name[COMPONENT_MAX + 1];
	size_t n;
	int next;

	while (*below != '\0') {
		below++;
		n = strcspn(below, "/");
		memcpy(name, below, n);
		name[n] = '\0';
		below += n;
		next = mkdirat(fd, name, DIR_MODE) == -1 && errno != EEXIST
			   ? -1
			   : openat(fd, name,
				 O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(fd);
		if (next == -1)
			return -1;
		fd = next;
	}
	return fd;
}

static int
refuse(struct policy *po, const struct grant *g, int err)
{
	const struct profile *p = &po->profiles[pack_find(po)];
	uint32_t line = 0;
	size_t i;

	for (i = 0; i < g->norigins; i++)
		if (&po->profiles[g->origins[i].profile] == p)
			line = g->origins[i].line;
	return policy_refuse(po, p->name, p->file, line,
	    "create it as a directory of your own, or name another one",
	    "write = %s: %s cannot be made: %s", SHOWN(g->guest),
	    SHOWN(g->source), strerror(err));
}

static int
make_one(struct policy *po, const struct survey_row *top, const struct grant *g,
    struct survey_row *r, struct failure *f)
{
	int fd;

	if ((fd = look_again(top)) == -1)
		return failure_set(f, CAUSE_OTHER, "open %s", top->real);
	fd = make_below(fd, path_below(PACK_DIR, g->guest));
	if (fd == -1)
		return refuse(po, g, errno);
	close(fd);
	if (look_one(g->source, r) == -1)
		return failure_set(f, CAUSE_OTHER, "open %s", g->source);
	/* who is faster than this must not lead it elsewhere */
	if (r->err != 0 || r->nlinks > 0 || r->type != SURVEY_DIR)
		return refuse(po, g, r->err != 0 ? r->err : ELOOP);
	return 0;
}

int
pack_make(struct policy *po, struct survey *sv, mode_t mask, struct failure *f)
{
	const struct survey_row *top = target_row(po, sv);
	mode_t old;
	size_t i;
	int r = 0;

	if (top == NULL)
		return 0;
	old = umask(mask);
	for (i = 0; i < po->ngrants && r == 0; i++)
		/* pack_expect() gave it no identity */
		if (is_made(po, i) && sv->rows[i].type == SURVEY_DIR &&
		    sv->rows[i].ino == 0)
			r = make_one(po, top, &po->grants[i], &sv->rows[i], f);
	umask(old);
	return r == 0 && po->nrefusals == 0 ? 0 : -1;
}
