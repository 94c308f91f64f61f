#include <stddef.h>
#include <stdio.h>

#include "announce.h"
#include "child/monitor/events.h"
#include "child/monitor/notify.h"
#include "control.h"
#include "ipc/confine.h"
#include "ipc/limits.h"
#include "ipc/policy.h"
#include "ipc/rule.h"
#include "ipc/text.h"

static int
say_profile(int control, const struct policy *po, size_t i)
{
	const struct profile *p = &po->profiles[i];
	char text[TEXT_MAX_LEN];

	snprintf(text, sizeof(text), "%s %s %s", p->digest, p->name, p->file);
	return control_send(control, CONTROL_PROFILE, p->layer,
	    (int)events_charged(po, i), text);
}

/* What a list of interpreters comes to, "interpreter = /a, /b and 3 more". */
static void
tell_list(const struct policy *po, size_t profile, char *buf, size_t cap)
{
	struct text_list list = {.buf = buf, .cap = cap};
	size_t i, n = 0;

	for (i = 0; i < po->nrules; i++)
		if (po->rules[i].kind == RULE_INTERPRETER &&
		    po->rules[i].profile == profile)
			text_list_add(&list, "%s%s", n++ > 0 ? ", " : "",
			    po->rules[i].text);
	text_list_end(&list);
}

/*
 * Of the profiles that name interpreters the one with the fewest: what it
 * does not name, no other one can allow (S2b).
 */
static const struct rule *
narrowest(const struct policy *po)
{
	const struct rule *found = NULL, *r;
	size_t has[PROFILES_MAX] = {0}, i;

	for (i = 0; i < po->nrules; i++)
		if (po->rules[i].kind == RULE_INTERPRETER)
			has[po->rules[i].profile]++;
	for (i = 0; i < po->nrules; i++) {
		r = &po->rules[i];
		if (r->kind == RULE_INTERPRETER &&
		    (found == NULL || has[r->profile] < has[found->profile]))
			found = r;
	}
	return found;
}

/* As the profile has it, and its line in front. */
static int
say_rule(int control, const struct policy *po, enum notify_reason why,
    const struct rule *r)
{
	char text[EVENT_RULE_MAX + 1], said[sizeof(text) + 16];

	if (r == NULL)
		return 0;
	snprintf(text, sizeof(text), "%s = %s", rule_key(r),
	    r->kind == RULE_TIER	  ? "read-only"
	    : r->kind == RULE_ONCE	  ? "yes"
	    : r->kind == RULE_INTERPRETER ? ""
					  : "no");
	if (r->kind == RULE_INTERPRETER)
		tell_list(po, r->profile, text, sizeof(text));
	snprintf(said, sizeof(said), "%u %s", (unsigned)r->line, text);
	return control_send(
	    control, CONTROL_RULE, (int)why, (int)r->profile, said);
}

/* Whoever answers for [exec] names these, and reads no policy. */
static int
say_exec(
    int control, const struct policy *po, const struct confine *cf, int learn)
{
	if (cf->report[REPORT_EXEC] == NULL && !learn)
		return 0;
	if (say_rule(control, po, NOTIFY_BY_LOCK, narrowest(po)) == -1 ||
	    say_rule(control, po, NOTIFY_BY_ONCE, cf->once) == -1 ||
	    say_rule(control, po, NOTIFY_BY_SPAWN, cf->no_spawn) == -1)
		return -1;
	return say_rule(control, po, NOTIFY_BY_UNIX, cf->no_unix);
}

int
announce_policy(
    int control, const struct policy *po, const char *digest, int learn)
{
	unsigned on = VIOLATION_REPORT, reports = 0, k;
	struct confine cf;
	size_t i;

	if (po == NULL || po->nrefusals > 0)
		return control_send(control, CONTROL_POLICY, 0, 0, NULL);
	if (confine_join(po, &cf) == -1)
		return -1;
	if (cf.violation != NULL)
		on = (unsigned)cf.violation->number;
	for (k = REPORT_EXEC; k <= REPORT_LAST; k++)
		if (cf.report[k] != NULL)
			reports |= 1U << k;
	for (i = 0; i < po->nprofiles; i++)
		if (say_profile(control, po, i) == -1)
			break;
	if (i < po->nprofiles || say_exec(control, po, &cf, learn) == -1) {
		confine_free(&cf);
		return -1;
	}
	confine_free(&cf);
	return control_send(
	    control, CONTROL_POLICY, (int)on, (int)reports, digest);
}
