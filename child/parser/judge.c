#include <string.h>

#include "ipc/check.h"
#include "ipc/confine.h"
#include "ipc/limits.h"
#include "ipc/owned.h"
#include "ipc/path.h"
#include "ipc/text.h"
#include "judge.h"
#include "place.h"

/* Room is left for the place in front and the fix behind. */
#define WHAT_LEN (TEXT_MAX_LEN / 2)

/* A run of grants at one guest path: one, unless they disagree. */
struct spot {
	const struct grant *g;
	size_t n;
};

/* What a grant is, without its guest path. */
static void
describe(char *text, size_t cap, const struct grant *g)
{
	int unit;

	if (grant_opens(g)) {
		text_add(text, cap, "\"%s\" of the host", SHOWN(g->source));
		return;
	}
	if (g->kind == GRANT_SYMLINK) {
		text_add(text, cap, "a link to \"%s\"", SHOWN(g->source));
		return;
	}
	for (unit = 3; unit > 0; unit--)
		if (g->size % (1ULL << (10 * unit)) == 0)
			break;
	text_add(text, cap, "a tmpfs of %llu%.1s",
	    (unsigned long long)(g->size >> (10 * unit)), &"\0KMG"[unit]);
}

/*
 * "X (read of a, /p/a.profile:3; write of b, ...), Y (...)" of all at one
 * path, behind what is in text already.
 */
static void
name_claimants(
    char *text, size_t cap, const struct policy *po, const struct spot *s)
{
	struct text_list l = {.buf = text, .cap = cap};
	char before[TEXT_SHOWN_MAX + 64];
	const struct grant *g;
	size_t i, k;

	for (i = 0; i < s->n; i++) {
		g = &s->g[i];
		before[0] = '\0';
		text_add(before, sizeof(before), "%s", i == 0 ? "" : ", ");
		describe(before, sizeof(before), g);
		text_add(before, sizeof(before), " (");
		for (k = 0; k < g->norigins; k++)
			policy_tell(&l, po, g->origins[k].profile,
			    g->origins[k].line, policy_verb(g->origins[k].verb),
			    k == 0 ? before : "; ",
			    k + 1 == g->norigins ? ")" : "");
	}
	text_list_end(&l);
}

/* The first claimant of all. */
static const struct origin *
first_origin(const struct spot *s)
{
	const struct origin *first = &s->g[0].origins[0], *o;
	size_t i;

	for (i = 1; i < s->n; i++) {
		o = &s->g[i].origins[0];
		if (o->profile < first->profile ||
		    (o->profile == first->profile && o->line < first->line))
			first = o;
	}
	return first;
}

/* 1 if some claimant is there only because it is a default. */
static int
from_default(const struct policy *po, const struct spot *s)
{
	size_t i, k;

	for (i = 0; i < s->n; i++)
		for (k = 0; k < s->g[i].norigins; k++)
			if (po->profiles[s->g[i].origins[k].profile].flags ==
			    PROFILE_DEFAULT)
				return 1;
	return 0;
}

static int
refuse_spot(
    struct policy *po, const struct spot *s, const char *fix, const char *what)
{
	const struct origin *o = first_origin(s);
	struct place at = {
	    po, po->profiles[o->profile].name, po->profiles[o->profile].file};

	return place_refuse(&at, o->line, fix, "%s", what);
}

static const char *
conflict_fix(const struct policy *po, const struct spot *s)
{
	if (from_default(po, s))
		return "use --no-defaults and name with -p what is needed";
	if (s->g->kind == GRANT_COMMAND)
		return "leave out one of the profiles, or choose another name "
		       "with \"command = HOST -> NAME\"";
	return "leave out one of the profiles, or choose another path inside";
}

/* Different things at one guest path. */
static int
refuse_conflict(struct policy *po, const struct spot *s)
{
	char text[WHAT_LEN] = "";

	text_add(text, sizeof(text),
	    "\"%s\" is claimed by profiles that disagree: ",
	    SHOWN(s->g->guest));
	name_claimants(text, sizeof(text), po, s);
	return refuse_spot(po, s, conflict_fix(po, s), text);
}

/* A grant that would hide a part of the one above it. */
static int
refuse_nesting(
    struct policy *po, const struct spot *above, const struct spot *s)
{
	char text[WHAT_LEN] = "";
	const char *fix = "choose another path inside";

	text_add(text, sizeof(text) / 2,
	    "\"%s\" lies inside \"%s\" and would hide what is there: ",
	    SHOWN(s->g->guest), SHOWN(above->g->guest));
	name_claimants(text, sizeof(text) / 2, po, s);
	text_add(text, sizeof(text), "; inside ");
	name_claimants(text, sizeof(text), po, above);
	if (s->g->kind == GRANT_COMMAND)
		fix = "grant less there, for commands are staged inside "
		      "at " OWNED_STAGING;
	else if (above->g->kind == GRANT_BIND)
		fix = "grant there the very path of the host that is there "
		      "already, or choose another path inside";
	return refuse_spot(po, s, fix, text);
}

static struct spot
spot_at(const struct policy *po, size_t i)
{
	struct spot s = {&po->grants[i], 1};

	while (i + s.n < po->ngrants &&
	       strcmp(po->grants[i + s.n].guest, s.g->guest) == 0)
		s.n++;
	return s;
}

/* S39: the profiles alone ask for more than a run may have. */
static int
judge_sum(struct policy *po)
{
	char text[WHAT_LEN] = "", most[TEXT_MAX_LEN / 4] = "";
	struct text_list l = {.buf = text, .cap = sizeof(text)};
	char before[TEXT_SHOWN_MAX + 64];
	const struct grant *g, *big = NULL;
	uint64_t sum = 0;
	size_t i, k;

	for (i = 0; i < po->ngrants; i++) {
		g = &po->grants[i];
		if (g->kind != GRANT_TMPFS)
			continue;
		sum += g->size;
		before[0] = '\0';
		text_add(before, sizeof(before), "%s%s %llu MiB (",
		    big == NULL ? "" : ", ", SHOWN(g->guest),
		    (unsigned long long)((g->size + (1 << 20) - 1) >> 20));
		for (k = 0; k < g->norigins; k++)
			policy_tell(&l, po, g->origins[k].profile,
			    g->origins[k].line, "tmpfs", k == 0 ? before : "; ",
			    k + 1 == g->norigins ? ")" : "");
		if (big == NULL || g->size > big->size)
			big = g;
	}
	if (sum <= confine_tmpfs(po) || big == NULL)
		return 0;
	confine_tell_tmpfs(po, most, sizeof(most));
	text_list_end(&l);
	return place_refuse(
	    &(struct place){po, po->profiles[big->origins[0].profile].name,
		po->profiles[big->origins[0].profile].file},
	    big->origins[0].line, "give them a smaller size=",
	    "the tmpfs of the profiles add up to %llu MiB, %s: %s",
	    (unsigned long long)((sum + (1 << 20) - 1) >> 20), most, text);
}

int
judge_grants(struct policy *po)
{
	struct spot open[PATH_MAX_LEN / 2 + 1]; /* one in another */
	struct spot s;
	size_t i, depth = 0;
	int bad = 0;

	for (i = 0; i < po->ngrants; i += s.n) {
		s = spot_at(po, i);
		while (depth > 0 &&
		       !path_covers(open[depth - 1].g->guest, s.g->guest))
			depth--;
		if (s.n > 1)
			bad |= refuse_conflict(po, &s);
		/* beside a conflict nobody knows what lies above */
		else if (depth > 0 && open[depth - 1].n == 1 &&
			 check_nesting(open[depth - 1].g, s.g) == -1)
			bad |= refuse_nesting(po, &open[depth - 1], &s);
		open[depth++] = s;
	}
	/* where something is wrong already the sum is of other things */
	return po->nrefusals > 0 ? bad : judge_sum(po);
}
