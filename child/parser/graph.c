#include <stdlib.h>
#include <string.h>

#include "graph.h"
#include "ipc/limits.h"
#include "place.h"
#include "select.h"

/* The includes as indices into the selection, each once and ascending. */
struct graph {
	const struct selection *sel;
	struct policy *po;
	int *edges; /* of all members, one list after the other */
	size_t first[PROFILES_MAX + 1];
};

static int
int_cmp(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static int
graph_make(struct graph *g)
{
	const struct selection *s = g->sel;
	const struct draft *d;
	size_t i, k, n = 0, start;

	for (i = 0; i < s->n; i++)
		n += s->members[i].draft.nincludes;
	g->edges = calloc(n + 1, sizeof(*g->edges));
	if (g->edges == NULL)
		return -1;
	for (i = n = 0; i < s->n; i++) {
		d = &s->members[i].draft;
		start = g->first[i] = n;
		for (k = 0; k < d->nincludes; k++)
			g->edges[n++] = selection_find(s, d->includes[k].name);
		if (n - start > 1)
			qsort(&g->edges[start], n - start, sizeof(*g->edges),
			    int_cmp);
		for (k = start; k < n; k++)
			if (k == start || g->edges[k] != g->edges[k - 1])
				g->edges[start++] = g->edges[k];
		n = start;
	}
	g->first[s->n] = n;
	return 0;
}

/*
 * The length of the longest chain that begins at each member, from the ends
 * backward; returns how many members are not on or above a cycle.
 */
static size_t
measure(const struct graph *g, int *depth)
{
	size_t n = g->sel->n, i, k, done = 0, before;
	int d;

	for (i = 0; i < n; i++)
		depth[i] = 0;
	do {
		before = done;
		for (i = 0; i < n; i++) {
			if (depth[i] != 0)
				continue;
			d = 1;
			for (k = g->first[i]; k < g->first[i + 1]; k++) {
				if (depth[g->edges[k]] == 0)
					break;
				if (depth[g->edges[k]] >= d)
					d = depth[g->edges[k]] + 1;
			}
			if (k < g->first[i + 1])
				continue;
			depth[i] = d;
			done++;
		}
	} while (done > before);
	return done;
}

/*
 * The shortest way from start back to start through members behind it in the
 * alphabet: from[i] is then the member before i. 1 if there is one.
 */
static int
find_cycle(const struct graph *g, int start, int *from)
{
	int queue[PROFILES_MAX], head = 0, tail = 0, at, to;
	size_t k;

	for (k = 0; k < g->sel->n; k++)
		from[k] = -1;
	queue[tail++] = start;
	while (head < tail) {
		at = queue[head++];
		for (k = g->first[at]; k < g->first[at + 1]; k++) {
			to = g->edges[k];
			if (to < start || from[to] != -1)
				continue;
			from[to] = at;
			if (to == start)
				return 1;
			queue[tail++] = to;
		}
	}
	return 0;
}

/* The line where a member includes another one. */
static uint32_t
line_of(const struct member *m, const char *name)
{
	size_t i;

	for (i = 0; i < m->draft.nincludes; i++)
		if (strcmp(m->draft.includes[i].name, name) == 0)
			return m->draft.includes[i].line;
	return 0;
}

static void
refuse_cycle(const struct graph *g, int start, const int *from)
{
	const struct member *m = g->sel->members;
	struct place at = {g->po, m[start].name, m[start].file};
	char text[TEXT_MAX_LEN / 2] = "";
	int way[PROFILES_MAX], n = 0, i;

	for (i = from[start]; i != start; i = from[i])
		way[n++] = i;
	text_add(text, sizeof(text), "%s", m[start].name);
	for (i = n - 1; i >= 0; i--)
		if (text_add(text, sizeof(text), " -> %s", m[way[i]].name) ==
		    -1)
			break;
	place_refuse(&at,
	    line_of(&m[start], m[n > 0 ? way[n - 1] : start].name),
	    "remove one of these includes", "includes form a cycle: %s%s -> %s",
	    text, i >= 0 ? " -> ..." : "", m[start].name);
}

static int
judge_depth(const struct graph *g, const int *depth)
{
	const struct member *m = g->sel->members;
	struct place at = {g->po, "", ""};
	size_t i, worst = 0;

	for (i = 1; i < g->sel->n; i++)
		if (depth[i] > depth[worst])
			worst = i;
	if (g->sel->n == 0 || depth[worst] <= INCLUDE_DEPTH)
		return 0;
	at.profile = m[worst].name;
	at.file = m[worst].file;
	return place_refuse(&at, 0, "include less deeply",
	    "%d profiles include each other in a chain, %d are the most",
	    depth[worst], INCLUDE_DEPTH);
}

int
graph_check(const struct selection *sel, struct policy *po)
{
	struct graph g = {.sel = sel, .po = po};
	int depth[PROFILES_MAX], from[PROFILES_MAX], n = 0;
	size_t i;

	if (graph_make(&g) == -1)
		return -1;
	if (measure(&g, depth) == sel->n) {
		n = judge_depth(&g, depth);
	} else {
		for (i = 0; i < sel->n; i++)
			if (depth[i] == 0 && find_cycle(&g, (int)i, from)) {
				refuse_cycle(&g, (int)i, from);
				n = -1;
			}
	}
	free(g.edges);
	return n;
}
