#include <stdlib.h>
#include <string.h>

#include "events.h"
#include "ipc/log.h"
#include "ipc/text.h"

#define SUMMARY_MAX 10 /* lines */

/* An event that was seen once or more; its texts are copies. */
struct seen {
	struct event e;
	uint32_t hash;
	uint64_t times;
};

/* One run has one sink; whoever sees an event has no handle to pass. */
static struct {
	enum on_violation on;
	struct seen list[EVENTS_MAX];
	size_t n;
	uint64_t times; /* of all that were seen */
	uint64_t lost;	/* that could not be kept or described */
} ev = {.on = VIOLATION_REPORT};

void
events_policy(enum on_violation on)
{
	ev.on = on;
}

/* FNV-1a; who makes two texts collide only makes the search slower. */
static uint32_t
hash(uint32_t h, const char *s)
{
	for (; *s != '\0'; s++)
		h = (h ^ (unsigned char)*s) * 16777619U;
	return h * 16777619U;
}

static int
same(const struct event *a, const struct event *b)
{
	return a->surface == b->surface && a->profile == b->profile &&
	       a->line == b->line && a->err == b->err &&
	       strcmp(a->action, b->action) == 0 &&
	       strcmp(a->resource, b->resource) == 0 &&
	       strcmp(a->rule, b->rule) == 0;
}

static struct seen *
find(const struct event *e, uint32_t h)
{
	size_t i;

	for (i = 0; i < ev.n; i++)
		if (ev.list[i].hash == h && same(&ev.list[i].e, e))
			return &ev.list[i];
	return NULL;
}

static struct seen *
keep(const struct event *e, uint32_t h)
{
	struct seen *s = &ev.list[ev.n];
	char *action, *resource, *rule;

	if (ev.n == EVENTS_MAX)
		return NULL;
	action = strdup(e->action);
	resource = strdup(e->resource);
	rule = strdup(e->rule);
	if (action == NULL || resource == NULL || rule == NULL) {
		free(action);
		free(resource);
		free(rule);
		return NULL;
	}
	s->e = *e;
	s->e.action = action;
	s->e.resource = resource;
	s->e.rule = rule;
	s->hash = h;
	ev.n++;
	return s;
}

enum events_verdict
events_take(const struct event *e)
{
	uint32_t h = hash(hash(2166136261U, e->resource), e->rule);
	struct seen *s = NULL;

	if ((e->flags & EVENT_LOST) == 0) {
		if ((s = find(e, h)) == NULL)
			s = keep(e, h);
	}
	if (s != NULL)
		s->times += e->count;
	else
		ev.lost += e->count;
	ev.times += e->count;
	return ev.on == VIOLATION_KILL ? EVENTS_KILL : EVENTS_GO_ON;
}

static void
summary(void)
{
	const struct seen *s;
	size_t i;

	log_warn("%llu violation%s of what the profiles grant:",
	    (unsigned long long)ev.times, ev.times == 1 ? "" : "s");
	for (i = 0; i < ev.n && i < SUMMARY_MAX; i++) {
		s = &ev.list[i];
		log_warn("  %s: %s \"%s\", %s, %llu time%s",
		    event_surface(s->e.surface), s->e.action,
		    SHOWN(s->e.resource),
		    s->e.rule[0] != '\0' ? s->e.rule : "no match",
		    (unsigned long long)s->times, s->times == 1 ? "" : "s");
	}
	if (i < ev.n)
		log_warn("  and %zu others", ev.n - i);
	if (ev.lost > 0)
		log_warn("  and %llu that could not be kept",
		    (unsigned long long)ev.lost);
}

int
events_end(int code, int by_payload)
{
	if (ev.times == 0)
		return code;
	summary();
	return ev.on >= VIOLATION_FAIL && (by_payload || code != EXIT_CARREL)
		   ? EVENTS_EXIT
		   : code;
}
