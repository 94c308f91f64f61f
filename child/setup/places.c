#include <stdlib.h>
#include <string.h>

#include "child/shared/event.h"
#include "control.h"
#include "ipc/grow.h"
#include "ipc/limits.h"
#include "ipc/path.h"
#include "ipc/policy.h"
#include "places.h"
#include "plan.h"

#define VERB_SHIFT   16
#define WRITES_SHIFT 24

static int
tell_one(int control, const struct grant *g)
{
	unsigned a = EVENT_NO_PROFILE;
	uint32_t line = 0;

	if (g->norigins > 0) {
		a = g->origins[0].profile;
		a |= (unsigned)g->origins[0].verb << VERB_SHIFT;
		line = g->origins[0].line;
	}
	if ((g->flags & GRANT_WRITE) != 0 || g->kind == GRANT_TMPFS)
		a |= 1U << WRITES_SHIFT;
	return control_send(
	    control, CONTROL_PLACE, (int)a, (int)line, g->guest);
}

int
places_tell(int control, const struct policy *po, const struct plan *plan)
{
	size_t i;

	for (i = 0; i < po->ngrants; i++)
		if (po->grants[i].kind != GRANT_SYMLINK && !plan->absent[i] &&
		    tell_one(control, &po->grants[i]) == -1)
			return -1;
	return 0;
}

static int
is_sound(const struct places *ps, const struct place *p)
{
	/* one of carrel's own has nothing of it; a pack's may have no line */
	if (p->verb > VERB_LAST || (p->verb == 0 && p->line != 0) ||
	    (p->verb == 0) != (p->profile == EVENT_NO_PROFILE) ||
	    (p->verb != 0 && p->profile >= PROFILES_MAX))
		return 0;
	return ps->n < PLACES_MAX && path_clean(p->guest) &&
	       (ps->n == 0 ||
		   path_cmp(ps->list[ps->n - 1].guest, p->guest) < 0);
}

int
places_hear(struct places *ps, const struct control *c)
{
	unsigned a = (unsigned)c->a;
	struct place p = {.guest = (char *)(uintptr_t)c->text,
	    .verb = (uint8_t)(a >> VERB_SHIFT),
	    .writes = (uint8_t)(a >> WRITES_SHIFT),
	    .profile = (uint16_t)a,
	    .line = (uint32_t)c->b};
	struct place *more;

	if (!is_sound(ps, &p) || p.writes > 1)
		return -1;
	more = grow_from(64, ps->list, ps->n, sizeof(*more));
	if (more == NULL)
		return -1;
	ps->list = more;
	if ((p.guest = strdup(c->text)) == NULL)
		return -1;
	ps->list[ps->n++] = p;
	return 0;
}

void
places_free(struct places *ps)
{
	size_t i;

	for (i = 0; i < ps->n; i++)
		free(ps->list[i].guest);
	free(ps->list);
	memset(ps, 0, sizeof(*ps));
}

static int
cmp(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return path_cmp(x->guest, y->guest);
}

const struct place *
places_at(const struct places *ps, const char *path)
{
	char part[PATH_MAX_LEN + 1];
	struct place key = {.guest = part}, *found;
	char *end;

	if (ps->n == 0 || strlen(path) > PATH_MAX_LEN)
		return NULL;
	strcpy(part, path);
	for (;;) {
		found = bsearch(&key, ps->list, ps->n, sizeof(*ps->list), cmp);
		if (found != NULL || strcmp(part, "/") == 0)
			return found;
		end = strrchr(part, '/');
		if (end == NULL)
			return NULL;
		end[end == part] = '\0';
	}
}
