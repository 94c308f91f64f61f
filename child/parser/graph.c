#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"
#include "ipc/limits.h"
#include "ipc/text.h"
#include "place.h"
#include "select.h"

#define BITS	  64
#define SET_WORDS ((PROFILES_MAX + BITS - 1) / BITS)

/* A set of members: their indices in the selection. */
struct set {
	uint64_t bits[SET_WORDS];
};

struct graph {
	const struct selection *sel;
	struct policy *po;
	struct set *includes; /* of each member */
};

static void
set_add(struct set *s, int i)
{
	s->bits[i / BITS] |= 1ULL << (i % BITS);
}

/* The first of s at or behind from that is not in without; or -1. */
static int
set_next(const struct set *s, const struct set *without, int from)
{
	uint64_t w;
	int i;

	for (i = from / BITS; i < SET_WORDS; i++) {
		w = s->bits[i] & ~without->bits[i];
		if (i == from / BITS)
			w &= ~0ULL << (from % BITS);
		if (w != 0)
			return i * BITS + __builtin_ctzll(w);
	}
	return -1;
}

static int
graph_make(struct graph *g)
{
	const struct selection *s = g->sel;
	const struct draft *d;
	size_t i, k;

	g->includes = calloc(s->n + 1, sizeof(*g->includes));
	if (g->includes == NULL)
		return -1;
	for (i = 0; i < s->n; i++) {
		d = &s->members[i].draft;
		for (k = 0; k < d->nincludes; k++)
			set_add(&g->includes[i],
			    selection_find(s, d->includes[k].name));
	}
	return 0;
}

/*
 * The length of the longest chain that begins at each member, from the ends
 * backward: in round n those get n whose includes all have less. Returns how
 * many members are not on or above a cycle.
 */
static size_t
measure(const struct graph *g, int *depth)
{
	struct set done = {{0}}, now;
	size_t n = g->sel->n, i, count = 0, before;
	int round = 0;

	for (i = 0; i < n; i++)
		depth[i] = 0;
	do {
		before = count;
		now = done;
		round++;
		for (i = 0; i < n; i++) {
			if (depth[i] != 0 ||
			    set_next(&g->includes[i], &now, 0) != -1)
				continue;
			depth[i] = round;
			set_add(&done, (int)i);
			count++;
		}
	} while (count > before);
	return count;
}

/*
 * The shortest way from start back to start through members behind it in the
 * alphabet: from[i] is then the member before i. 1 if there is one.
 */
static int
find_cycle(const struct graph *g, int start, int *from)
{
	struct set seen = {{0}};
	int queue[PROFILES_MAX], head = 0, tail = 0, at, to;

	queue[tail++] = start;
	while (head < tail) {
		at = queue[head++];
		to = start;
		while ((to = set_next(&g->includes[at], &seen, to)) != -1) {
			set_add(&seen, to);
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
	int depth[PROFILES_MAX] = {0}, from[PROFILES_MAX] = {0}, n = 0;
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
	free(g.includes);
	return n;
}
