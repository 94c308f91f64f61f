#include <stdint.h>

#include "child/shared/advice.h"
#include "events.h"
#include "ipc/log.h"
#include "ipc/text.h"
#include "seen.h"
#include "summary.h"
#include "tell.h"

#define LINES_MAX 10

static void
violation(const struct tell *t, const struct seen *s)
{
	char buf[ADVICE_MAX];
	const char *fix = advice_for(&s->e, buf);

	log_warn("  %s: %s \"%s\", %s%s%s, %llu time%s%s%s%s",
	    event_surface(s->e.surface), s->e.action, SHOWN(s->e.resource),
	    s->e.rule[0] != '\0' ? SHOWN(s->e.rule) : "no match",
	    s->e.profile < t->nprofiles ? " of " : "",
	    s->e.profile < t->nprofiles ? t->profiles[s->e.profile].name : "",
	    (unsigned long long)s->times, s->times == 1 ? "" : "s",
	    fix != NULL ? "; if that is meant, add \"" : "",
	    fix != NULL ? fix : "", fix != NULL ? "\" to a profile" : "");
}

void
summary_violations(const struct tell *t, const struct seen_list *l, int failed)
{
	size_t i;

	log_warn("%llu violation%s of what the profiles grant:",
	    (unsigned long long)l->times, l->times == 1 ? "" : "s");
	for (i = 0; i < l->n && i < LINES_MAX; i++)
		violation(t, &l->list[i]);
	if (i < l->n)
		log_warn("  and %zu others; see: carrel violations --run %s",
		    l->n - i, t->run);
	if (l->lost > 0)
		log_warn("  and %llu of which no more is known",
		    (unsigned long long)l->lost);
	if (failed)
		log_warn("  which ends the run with %d, for a profile says "
			 "on-violation = %s",
		    EVENTS_EXIT, t->on == VIOLATION_KILL ? "kill" : "fail");
}

void
summary_notes(const struct seen_list *l)
{
	char name[EVENT_ERRNO_LEN];
	const struct seen *s;
	size_t i;

	log_warn("what is allowed could not be reached:");
	for (i = 0; i < l->n && i < LINES_MAX; i++) {
		s = &l->list[i];
		log_warn("  %s \"%s\": %s, %llu time%s", s->e.action,
		    SHOWN(s->e.resource), event_errno(s->e.err, name),
		    (unsigned long long)s->times, s->times == 1 ? "" : "s");
	}
	if (i < l->n)
		log_warn("  and %zu others", l->n - i);
}
