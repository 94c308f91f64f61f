#include "explain.h"
#include "ipc/confine.h"
#include "ipc/log.h"
#include "ipc/rule.h"
#include "out.h"
#include "receive.h"

/*
 * What the outside learns of a violation and what comes of it, in the block
 * CONFINEMENT: [audit], --events and --require-audit.
 */

static const char own[] = "(carrel)";

static const char *const reports[REPORT_LAST + 1] = {
    [REPORT_EXEC] = "exec: each attempt that [exec] refuses",
    [REPORT_FS] = "fs: each write, creation or execution that is refused",
};

static const char *const comes_of_it[VIOLATION_KILL + 1] = {
    [VIOLATION_REPORT] = "is told, and changes nothing",
    [VIOLATION_FAIL] = "is told, and the run ends with 3",
    [VIOLATION_KILL] = "ends everything inside, and the run with 3",
};

/* by NULL: carrel does it unasked. */
static void
row(struct out *o, const char *tag, const char *text, const char *by)
{
	struct cell left = {0}, right = {0};

	cell_add(&left, text);
	cell_add(&right, by != NULL ? by : own);
	out_row(o, tag, &left, &right, "");
}

static void
rule_row(struct out *o, const struct policy *po, const char *tag,
    const char *text, const struct rule *r)
{
	struct cell left = {0}, right = {0};

	cell_add(&left, text);
	explain_asked(&right, po, r);
	out_row(o, tag, &left, &right, "");
}

static void
events_row(struct out *o, const char *file)
{
	struct cell left = {0}, right = {0};

	if (file[0] == '\0')
		return;
	cell_quote(&left, file);
	cell_add(&right, "--events");
	out_row(o, "events", &left, &right, "");
}

void
explain_audit(struct out *o, const struct view *v)
{
	const struct policy *po = &v->scene->policy;
	const struct screen_request *q = &v->scene->request;
	struct confine c;
	unsigned i;

	if (confine_join(po, &c) == -1)
		fatal("out of memory");
	row(o, "report", "egress: each attempt that is refused", NULL);
	for (i = REPORT_EXEC; i <= REPORT_LAST; i++)
		if (c.report[i] != NULL)
			rule_row(o, po, "report", reports[i], c.report[i]);
	if (c.violation == NULL)
		row(o, "violation", comes_of_it[VIOLATION_REPORT], NULL);
	else
		rule_row(o, po, "violation", comes_of_it[c.violation->number],
		    c.violation);
	confine_free(&c);
	if ((q->flags & SCREEN_REQUIRE_AUDIT) != 0)
		row(o, "log", "the host's; what it does not take ends the run",
		    "--require-audit");
	else
		row(o, "log", "the host's, if there is one", NULL);
	events_row(o, q->events);
}
