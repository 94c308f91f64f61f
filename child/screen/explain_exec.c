#include <string.h>

#include "child/setup/plan.h"
#include "explain.h"
#include "ipc/confine.h"
#include "ipc/log.h"
#include "out.h"
#include "receive.h"

/* What [exec] narrows and [audit] reports, in the block CONFINEMENT. */

/* Everyone who wrote the same: "interpreter a:5, interpreter b:6". */
void
explain_asked(struct cell *c, const struct policy *po, const struct rule *asked)
{
	const struct rule *r;
	const char *sep = "";
	size_t i;

	for (i = 0; i < po->nrules; i++) {
		r = &po->rules[i];
		if (r->kind != asked->kind || r->what != asked->what ||
		    r->number != asked->number ||
		    strcmp(r->text, asked->text) != 0)
			continue;
		cell_addf(c, "%s%s %s", sep, rule_key(r),
		    po->profiles[r->profile].name);
		if (r->line != 0) /* else every pack says so */
			cell_addf(c, ":%u", (unsigned)r->line);
		sep = ", ";
	}
}

static void
rule_row(struct out *o, const struct policy *po, const char *tag,
    const char *text, const struct rule *asked)
{
	struct cell left = {0}, right = {0};

	if (asked == NULL)
		return;
	cell_add(&left, text);
	explain_asked(&right, po, asked);
	out_row(o, tag, &left, &right, "");
}

/* A file that can be executed, or a directory that can be loaded from. */
static void
step_row(struct out *o, const struct scene *sc, const struct step *s)
{
	const struct survey_exec *e = &sc->survey.exec[s->grant];
	struct cell left = {0}, right = {0};

	cell_quote(&left, s->guest);
	if ((s->flags & STEP_FLAT) != 0)
		cell_add(&left, " and the files in it: shared objects");
	else if ((s->flags & STEP_ISDIR) != 0)
		cell_add(&left, " and all in it: shared objects");
	else if (e->kind == EXEC_LOADER)
		cell_add(&left, ", the loader");
	if (e->kind != EXEC_INTERPRETER && e->kind != EXEC_LIBRARY)
		cell_add(&right, "(carrel) for ");
	explain_asked(&right, &sc->policy, &sc->policy.rules[e->rule]);
	out_row(o, (s->flags & STEP_ISDIR) != 0 ? "loads" : "runs", &left,
	    &right, "");
}

/* A policy that was refused before anything was looked at. */
static void
claim_rows(struct out *o, const struct policy *po)
{
	struct cell left = {0}, right = {0};
	const struct rule *r;
	size_t i;

	for (i = 0; i < po->nrules; i++) {
		r = &po->rules[i];
		if (r->kind != RULE_INTERPRETER && r->kind != RULE_LIBRARY)
			continue;
		cell_quote(&left, r->text);
		cell_addf(&right, "%s %s:%u", rule_key(r),
		    po->profiles[r->profile].name, (unsigned)r->line);
		out_row(o, r->kind == RULE_LIBRARY ? "loads" : "runs", &left,
		    &right, "");
	}
}

void
explain_exec(struct out *o, const struct view *v)
{
	const struct policy *po = &v->scene->policy;
	struct cell left = {0}, right = {0};
	struct confine c;
	size_t i;

	if (v->plan == NULL)
		claim_rows(o, po);
	for (i = 0; v->plan != NULL && i < v->plan->nexec; i++)
		step_row(o, v->scene, &v->plan->exec[i]);
	if (v->plan != NULL && v->plan->locked) {
		cell_add(&left, "on every other mount: nothing runs, nothing "
				"is loaded; no anonymous files");
		cell_add(&right, "(carrel)");
		out_row(o, "noexec", &left, &right, "");
	}
	if (confine_join(po, &c) == -1)
		fatal("out of memory");
	rule_row(o, po, "once",
	    "the start of the command is the last execve(2)", c.once);
	rule_row(o, po, "spawn", "no new processes, only threads", c.no_spawn);
	rule_row(o, po, "unix", "no unix sockets", c.no_unix);
	rule_row(o, po, "violation",
	    c.violation != NULL && c.violation->number == VIOLATION_KILL
		? "ends everything at once, and the exit code is 3"
		: "makes the exit code 3",
	    c.violation);
	confine_free(&c);
}
