#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child/shared/broker.h"
#include "child/shared/event.h"
#include "loop.h"
#include "report.h"

#define RETRY_MS 200
#define TEXT_MAX 1536 /* a name with each byte as \DDD, and some words */

static void
tell_lost(struct report *r)
{
	struct event e = {.surface = EVENT_EGRESS,
	    .flags = EVENT_LOST,
	    .profile = EVENT_NO_PROFILE,
	    .count = r->lost,
	    .action = "",
	    .resource = "",
	    .rule = ""};

	if (r->lost == 0)
		return;
	if (event_send(r->fd, &e) == 0)
		r->lost = 0;
	else /* if there is no timer, the next one lost tries */
		(void)watch_start(r->again, RETRY_MS);
}

static void
again(unsigned what, void *arg)
{
	(void)what;
	tell_lost(arg);
}

int
report_init(struct report *r, struct loop *l, int fd)
{
	r->fd = fd;
	r->lost = 0;
	r->used = NULL;
	r->nused = 0;
	r->again = watch_new(l, -1, 0, again, r);
	return r->again == NULL ? -1 : 0;
}

void
report_lost(struct report *r, uint32_t n)
{
	r->lost = n > UINT32_MAX - r->lost ? UINT32_MAX : r->lost + n;
	tell_lost(r);
}

/* The count that is owed comes first, so that the order is the true one. */
static void
tell(struct report *r, const struct event *e)
{
	if (r->lost > 0)
		tell_lost(r);
	if (r->lost > 0 || event_send(r->fd, e) == -1)
		report_lost(r, e->count);
}

/* The rule, as a profile spells it. */
static void
put_rule(struct event *e, const struct broker_rule *rule,
    char line[EGRESS_TEXT + 16])
{
	char text[EGRESS_TEXT];

	e->rule = "";
	e->profile = EVENT_NO_PROFILE;
	if (rule == NULL)
		return;
	e->profile = rule->profile;
	e->line = rule->line;
	e->rule = line;
	snprintf(line, EGRESS_TEXT + 16, "allow = %s",
	    egress_text(&rule->egress, text));
}

void
report_refused(struct report *r, const struct broker_rule *rule,
    const char *action, int err, const char *fmt, ...)
{
	char resource[TEXT_MAX], line[EGRESS_TEXT + 16];
	struct event e = {.surface = EVENT_EGRESS,
	    .err = (uint32_t)err,
	    .count = 1,
	    .action = action,
	    .resource = resource};
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(resource, sizeof(resource), fmt, ap);
	va_end(ap);
	put_rule(&e, rule, line);
	tell(r, &e);
}

/* If there is no room for it it is not missed. */
void
report_unreached(struct report *r, const struct broker_rule *rule,
    const char *action, int err, const char *fmt, ...)
{
	char resource[TEXT_MAX], line[EGRESS_TEXT + 16];
	struct event e = {.surface = EVENT_EGRESS,
	    .flags = EVENT_NOTE,
	    .err = (uint32_t)err,
	    .count = 1,
	    .action = action,
	    .resource = resource};
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(resource, sizeof(resource), fmt, ap);
	va_end(ap);
	put_rule(&e, rule, line);
	(void)event_send(r->fd, &e);
}

int
report_uses(struct report *r)
{
	r->used = calloc(USES_TOLD, sizeof(*r->used));
	return r->used == NULL ? -1 : 0;
}

/* What is not told counts as lost: nobody can say that it was not used. */
void
report_used(struct report *r, const struct broker_rule *rule,
    const char *action, const char *fmt, ...)
{
	char resource[TEXT_MAX], line[EGRESS_TEXT + 16];
	struct event e = {.surface = EVENT_EGRESS,
	    .flags = EVENT_NOTE,
	    .count = 1,
	    .action = action,
	    .resource = resource};
	va_list ap;
	size_t i;

	if (r->used == NULL)
		return;
	va_start(ap, fmt);
	vsnprintf(resource, sizeof(resource), fmt, ap);
	va_end(ap);
	for (i = 0; i < r->nused; i++)
		if (strcmp(r->used[i], resource) == 0)
			return;
	if (r->nused < USES_TOLD &&
	    (r->used[r->nused] = strdup(resource)) != NULL)
		r->nused++;
	put_rule(&e, rule, line);
	tell(r, &e);
}

void
report_limit(struct report *r, const char *action, const char *fmt, ...)
{
	char resource[TEXT_MAX];
	struct event e = {.surface = EVENT_LIMIT,
	    .profile = EVENT_NO_PROFILE,
	    .count = 1,
	    .action = action,
	    .resource = resource,
	    .rule = ""};
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(resource, sizeof(resource), fmt, ap);
	va_end(ap);
	tell(r, &e);
}
