#include <stdlib.h>
#include <string.h>

#include "seen.h"

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
find(struct seen_list *l, const struct event *e, uint32_t h)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (l->list[i].hash == h && same(&l->list[i].e, e))
			return &l->list[i];
	return NULL;
}

static void
release(struct event *e)
{
	free((char *)e->action);
	free((char *)e->resource);
	free((char *)e->rule);
}

static struct seen *
keep(struct seen_list *l, const struct event *e, uint32_t h)
{
	struct seen *s = &l->list[l->n];

	if (l->n == EVENTS_MAX)
		return NULL;
	memset(s, 0, sizeof(*s));
	s->e = *e;
	s->e.action = strdup(e->action);
	s->e.resource = strdup(e->resource);
	s->e.rule = strdup(e->rule);
	if (s->e.action == NULL || s->e.resource == NULL || s->e.rule == NULL) {
		release(&s->e);
		return NULL;
	}
	s->hash = h;
	l->n++;
	return s;
}

struct seen *
seen_add(struct seen_list *l, const struct event *e)
{
	uint32_t h = hash(hash(2166136261U, e->resource), e->rule);
	struct seen *s = NULL;

	l->times += e->count;
	if ((e->flags & EVENT_LOST) == 0 && (s = find(l, e, h)) == NULL)
		s = keep(l, e, h);
	if (s != NULL)
		s->times += e->count;
	else
		l->lost += e->count;
	return s;
}

void
seen_free(struct seen_list *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		release(&l->list[i].e);
	l->n = 0;
}
