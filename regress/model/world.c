#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "child/shared/survey.h"
#include "ipc/limits.h"
#include "ipc/policy.h"
#include "world.h"

static void *
must(void *p)
{
	if (p == NULL)
		abort();
	return p;
}

void
world_add(struct world *w, const char *path, const char *what)
{
	if ((w->n & (w->n - 1)) == 0)
		w->nodes = must(realloc(
		    w->nodes, (w->n == 0 ? 1 : 2 * w->n) * sizeof(*w->nodes)));
	w->nodes[w->n].path = must(strdup(path));
	w->nodes[w->n++].what = must(strdup(what));
}

void
world_free(struct world *w)
{
	size_t i;

	for (i = 0; i < w->n; i++) {
		free(w->nodes[i].path);
		free(w->nodes[i].what);
	}
	free(w->nodes);
	memset(w, 0, sizeof(*w));
}

static int
node_cmp(const void *key, const void *node)
{
	return strcmp(key, ((const struct node *)node)->path);
}

static const struct node *
find(const struct world *w, const char *path)
{
	return bsearch(path, w->nodes, w->n, sizeof(*w->nodes), node_cmp);
}

/* What is at a place that was reached. */
static void
describe(const struct world *w, const struct node *n, struct survey_row *r)
{
	static const struct {
		char what;
		uint8_t type;
		uint16_t mode;
	} kinds[] = {{'d', SURVEY_DIR, 0755}, {'f', SURVEY_FILE, 0644},
	    {'x', SURVEY_FILE, 0755}, {'s', SURVEY_SOCKET, 0666},
	    {'p', SURVEY_FIFO, 0644}, {'c', SURVEY_DEVICE, 0666},
	    {'b', SURVEY_BLOCK, 0660}};
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].what == n->what[0]) {
			r->type = kinds[i].type;
			r->mode = kinds[i].mode;
		}
	r->real = must(strdup(n->path));
	r->dev = 1;
	r->ino = (uint64_t)(n - w->nodes) + 1;
	if (r->type == SURVEY_DEVICE)
		r->rdev = makedev(240, (unsigned)r->ino);
}

static void
fail(struct survey_row *r, int err)
{
	r->type = SURVEY_NONE;
	r->err = err;
	r->real = must(strdup(""));
}

/* path_resolution(7): at is where we are, todo what is left. */
static void
walk(const struct world *w, const char *path, struct survey_row *r)
{
	char at[4 * PATH_MAX_LEN] = "", todo[4 * PATH_MAX_LEN],
		    next[sizeof(todo)];
	const struct node *n = find(w, "/");
	char *rest;
	size_t len;

	snprintf(todo, sizeof(todo), "%s", path);
	for (rest = todo;;) {
		rest += strspn(rest, "/");
		if (*rest == '\0')
			break;
		len = strcspn(rest, "/");
		if (n == NULL || n->what[0] != 'd') {
			fail(r, n == NULL ? ENOENT : ENOTDIR);
			return;
		}
		if (len == 2 && strncmp(rest, "..", 2) == 0) {
			if (strrchr(at, '/') != NULL)
				*strrchr(at, '/') = '\0';
			rest += len;
			n = find(w, at[0] == '\0' ? "/" : at);
			continue;
		}
		snprintf(next, sizeof(next), "%s/%.*s", at, (int)len, rest);
		rest += len;
		n = find(w, next);
		if (n == NULL) {
			fail(r, ENOENT);
			return;
		}
		if (n->what[0] != 'l') {
			strcpy(at, next);
			continue;
		}
		if (r->nlinks == LINKS_MAX) {
			fail(r, ELOOP);
			return;
		}
		r->links[r->nlinks++] = must(strdup(next));
		snprintf(next, sizeof(next), "%s/%s", n->what + 1, rest);
		if (n->what[1] == '/')
			at[0] = '\0';
		n = find(w, at[0] == '\0' ? "/" : at);
		strcpy(todo, next);
		rest = todo;
	}
	describe(w, n, r);
}

void
world_survey(const struct world *w, const struct policy *po, struct survey *sv)
{
	size_t i;

	if (survey_init(sv, po->ngrants) == -1)
		abort();
	for (i = 0; i < sv->n; i++) {
		sv->rows[i].links =
		    must(calloc(LINKS_MAX, sizeof(*sv->rows[i].links)));
		if (grant_opens(&po->grants[i]))
			walk(w, po->grants[i].source, &sv->rows[i]);
		else
			sv->rows[i].real = must(strdup(""));
	}
}
