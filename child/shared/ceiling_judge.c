#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ceiling.h"
#include "caller.h"
#include "ipc/confine.h"
#include "ipc/egress.h"
#include "ipc/limits.h"
#include "ipc/rule.h"
#include "ipc/text.h"
#include "ipc/tier.h"
#include "survey.h"

/* What is judged, and by what. */
struct judging {
	const struct ceiling *c;
	const struct caller *caller;
	struct policy *po;
	const struct ceiling_line **mine; /* the lines that count */
	size_t nmine;
};

/* Refusals: "VERB = WHAT goes beyond ..." */

/* "FILE:LINE (write = /srv)", or what there is without a line. */
static void
tell_line(const struct judging *j, const struct ceiling_line *l, char *buf,
    size_t cap)
{
	text_add(buf, cap, "%s", ceiling_file(j->c));
	if (l == NULL)
		return;
	if (l->line != 0)
		text_add(buf, cap, ":%u", (unsigned)l->line);
	text_add(buf, cap, " (");
	ceiling_line_text(l, buf, cap);
	text_add(buf, cap, ")");
}

static int
refuse(const struct judging *j, int profile, uint32_t line, const char *fix,
    const char *what)
{
	const struct profile *p =
	    profile == -1 ? NULL : &j->po->profiles[profile];

	return policy_refuse(j->po, p != NULL ? p->name : "",
	    p != NULL ? p->file : "", line, fix, "%s", what);
}

/* A grant or rule that nothing covers; text as a file would have it. */
static int
refuse_beyond(const struct judging *j, int profile, uint32_t line,
    const char *what, const struct ceiling_line *near, const char *text)
{
	char why[TEXT_MAX_LEN / 2] = "", fix[FIX_MAX_LEN] = "";

	text_add(why, sizeof(why), "%s goes beyond the ceiling, ", what);
	if (near != NULL) {
		text_add(why, sizeof(why), "which ends at ");
		tell_line(j, near, why, sizeof(why));
	} else {
		tell_line(j, NULL, why, sizeof(why));
		text_add(why, sizeof(why),
		    ", which grants %s nothing of the kind",
		    SHOWN(j->caller->user));
	}
	text_add(fix, sizeof(fix),
	    "leave it out, or have root write \"%s\" in %s", text,
	    j->c->file[0] != '\0' ? j->c->file : "a ceiling");
	return refuse(j, profile, line, fix, why);
}

/* Paths */

static size_t
common(const char *a, const char *b)
{
	size_t n = 0;

	while (a[n] != '\0' && a[n] == b[n])
		n++;
	return n;
}

/* 1: it is. 0: it is not, and *near is the line that comes nearest, or NULL. */
static int
covered_path(const struct judging *j, unsigned verb, const char *path,
    const struct ceiling_line **near)
{
	const struct ceiling_line *l;
	size_t i, n, most = 0;

	*near = NULL;
	for (i = 0; i < j->nmine; i++) {
		l = j->mine[i];
		if (l->kind != CEILING_PATH)
			continue;
		if (ceiling_covers_path(l, verb, path))
			return 1;
		/* the same kind as near as can be; "/" tells nothing */
		n = 2 * common(l->text, path) + (l->what == verb);
		if (n > most && (l->what == verb || n > 2)) {
			most = n;
			*near = l;
		}
	}
	return 0;
}

/* What a grant needs of a ceiling. */
static unsigned
need_of(const struct grant *g)
{
	switch (g->kind) {
	case GRANT_COMMAND:
		return VERB_COMMAND;
	case GRANT_SOCKET:
		return VERB_SOCKET;
	case GRANT_DEVICE:
		return VERB_DEVICE;
	default:
		return (g->flags & GRANT_WRITE) != 0 ? VERB_WRITE : VERB_READ;
	}
}

/* The same of what it led to. */
static unsigned
need_of_type(unsigned need, unsigned type)
{
	if (type == SURVEY_SOCKET)
		return VERB_SOCKET;
	if (type == SURVEY_DEVICE || type == SURVEY_BLOCK)
		return VERB_DEVICE;
	return need;
}

/* Who asked for as much as that. */
static const struct origin *
asked(const struct grant *g)
{
	size_t i;

	for (i = 0; i < g->norigins; i++)
		if (g->origins[i].verb == VERB_WRITE ||
		    g->origins[i].verb == VERB_TRY_WRITE)
			return &g->origins[i];
	return g->norigins > 0 ? &g->origins[0] : NULL;
}

static const char *
type_text(unsigned type)
{
	return type == SURVEY_SOCKET			       ? "a socket"
	       : type == SURVEY_DEVICE || type == SURVEY_BLOCK ? "a device"
							       : "";
}

/* A grant of source, which is path (and of this type, or 0). */
static int
judge_path(const struct judging *j, const struct grant *g, const char *path,
    unsigned type)
{
	const struct origin *o = asked(g);
	const struct ceiling_line *near;
	unsigned need = need_of_type(need_of(g), type);
	char what[TEXT_MAX_LEN / 4] = "", text[TEXT_MAX_LEN / 4] = "";

	if (covered_path(j, need, path, &near))
		return 0;
	text_add(what, sizeof(what), "%s = %s",
	    o != NULL ? policy_verb(o->verb) : "(carrel) read",
	    SHOWN(g->source));
	if (strcmp(path, g->source) != 0)
		text_add(
		    what, sizeof(what), " leads to %s, which", SHOWN(path));
	if (need != need_of(g))
		text_add(what, sizeof(what), " is %s and", type_text(type));
	text_add(text, sizeof(text), "%s = %s", policy_verb(need), SHOWN(path));
	return refuse_beyond(j, o != NULL ? o->profile : -1,
	    o != NULL ? o->line : 0, what, near, text);
}

static int
judge_names(const struct judging *j)
{
	const struct grant *g;
	size_t i;
	int bad = 0;

	for (i = 0; i < j->po->ngrants; i++) {
		g = &j->po->grants[i];
		if (grant_opens(g))
			bad |= judge_path(j, g, g->source, 0);
	}
	return bad;
}

/* What stays executable is looked at by a path of its own. */
static int
judge_exec(const struct judging *j, const struct survey_exec *e)
{
	const struct rule *r = &j->po->rules[e->rule];
	const struct ceiling_line *near;
	char what[TEXT_MAX_LEN / 4] = "", text[TEXT_MAX_LEN / 4] = "";

	if (e->row.type == SURVEY_NONE ||
	    covered_path(j, VERB_COMMAND, e->row.real, &near))
		return 0;
	text_add(what, sizeof(what), "%s = %s needs %s, which", rule_key(r),
	    SHOWN(r->text), SHOWN(e->row.real));
	text_add(text, sizeof(text), "read = %s", SHOWN(e->row.real));
	return refuse_beyond(j, r->profile, r->line, what, near, text);
}

static int
judge_opened(const struct judging *j, const struct survey *sv)
{
	const struct survey_row *r;
	size_t i;
	int bad = 0;

	if (sv->n != j->po->ngrants) {
		errno = EINVAL;
		return -1;
	}
	for (i = 0; i < sv->n; i++) {
		r = &sv->rows[i];
		if (r->type != SURVEY_NONE && grant_opens(&j->po->grants[i]))
			bad |=
			    judge_path(j, &j->po->grants[i], r->real, r->type);
	}
	for (i = 0; i < sv->nexec; i++)
		bad |= judge_exec(j, &sv->exec[i]);
	return bad;
}

/* What is no path */

static int
judge_egress(const struct judging *j, const struct rule *r)
{
	const struct ceiling_line *near = NULL;
	char what[EGRESS_TEXT + 16] = "", rule[EGRESS_TEXT];
	struct egress e;
	size_t i;

	for (i = 0; i < j->nmine; i++) {
		if (ceiling_covers_egress(j->mine[i], r))
			return 0;
		if (j->mine[i]->kind == CEILING_EGRESS)
			near = j->mine[i];
	}
	egress_of(r, &e);
	text_add(what, sizeof(what), "allow = %s", egress_text(&e, rule));
	return refuse_beyond(j, r->profile, r->line, what, near, what);
}

static int
judge_limit(const struct judging *j, unsigned limit)
{
	const struct ceiling_line *l = ceiling_limit(j->c, j->caller, limit);
	const struct rule *r = confine_limit(j->po, (enum limit)limit);
	char why[TEXT_MAX_LEN / 2] = "", fix[FIX_MAX_LEN] = "";

	if (l == NULL || r == NULL || r->number <= l->number)
		return 0;
	text_add(why, sizeof(why), "%s = ", rule_key(r));
	rule_number(why, sizeof(why), limit, r->number);
	text_add(why, sizeof(why), " is more than the ceiling, ");
	tell_line(j, l, why, sizeof(why));
	text_add(fix, sizeof(fix), "lower it to ");
	rule_number(fix, sizeof(fix), limit, l->number);
	text_add(fix, sizeof(fix), ", or remove the line");
	return refuse(j, r->profile, r->line, fix, why);
}

static int
has_duty(const struct ceiling_line *l, const struct confine *cf)
{
	switch (l->what) {
	case RULE_TIER:
		return (cf->tier == NULL ? TIER_SIDE_EFFECT
					 : cf->tier->number) <= l->number;
	case RULE_NO_SPAWN:
		return cf->no_spawn != NULL;
	case RULE_NO_UNIX:
		return cf->no_unix != NULL;
	case RULE_ONCE:
		return cf->once != NULL;
	case RULE_REPORT:
		return cf->report[l->number] != NULL;
	case RULE_VIOLATION:
		return cf->violation != NULL &&
		       cf->violation->number >= l->number;
	default:
		return 0;
	}
}

static int
refuse_duty(const struct judging *j, const struct ceiling_line *l)
{
	const struct rule r = {.kind = l->what};
	const char *section =
	    l->what == RULE_TIER				  ? "profile"
	    : l->what == RULE_REPORT || l->what == RULE_VIOLATION ? "audit"
								  : "exec";
	char why[TEXT_MAX_LEN / 2] = "", fix[FIX_MAX_LEN] = "", text[64] = "";
	const char *value;

	ceiling_line_text(l, text, sizeof(text));
	tell_line(j, l, why, sizeof(why));
	text_add(why, sizeof(why), " is not met by this run");
	value = strrchr(text, ' ');
	if (l->kind == CEILING_AUDIT)
		text_add(fix, sizeof(fix), "use --require-audit");
	else
		text_add(fix, sizeof(fix),
		    "write \"%s =%s\" in [%s] of a profile and name it with -p",
		    rule_key(&r), value, section);
	return refuse(j, -1, 0, fix, why);
}

static int
judge_duties(const struct judging *j, int audited)
{
	struct confine cf;
	const struct ceiling_line *l;
	size_t i;
	int bad = 0;

	if (confine_join(j->po, &cf) == -1)
		return -1;
	for (i = 0; i < j->nmine; i++) {
		l = j->mine[i];
		if (l->kind == CEILING_REQUIRE ? !has_duty(l, &cf)
		    : l->kind == CEILING_AUDIT ? !audited
					       : 0)
			bad |= refuse_duty(j, l);
	}
	confine_free(&cf);
	return bad;
}

/* Who may use it at all: everyone where nobody is named. */
static int
judge_user(const struct judging *j)
{
	const struct ceiling_line *first = NULL, *l;
	char why[TEXT_MAX_LEN / 2] = "", fix[FIX_MAX_LEN] = "";
	size_t i;

	for (i = 0; i < j->c->n; i++) {
		l = &j->c->lines[i];
		if (l->kind != CEILING_USE)
			continue;
		if (ceiling_counts(l, j->caller))
			return 0;
		if (first == NULL)
			first = l;
	}
	if (first == NULL)
		return 0;
	text_add(why, sizeof(why),
	    "%s (uid %u) is not among those who may use carrel on this host: ",
	    SHOWN(j->caller->user), (unsigned)j->caller->uid);
	tell_line(j, first, why, sizeof(why));
	text_add(fix, sizeof(fix),
	    "have root write \"allow-user = %s\" in [ceiling] there",
	    (j->caller->flags & CALLER_NO_ACCOUNT) != 0
		? "UID"
		: SHOWN(j->caller->user));
	return refuse(j, -1, 0, fix, why);
}

static int
judge_policy(const struct judging *j, int audited)
{
	const struct policy *po = j->po;
	size_t i, n = po->nrules;
	unsigned limit;
	int bad;

	bad = judge_names(j);
	for (i = 0; i < n; i++)
		if (po->rules[i].kind == RULE_EGRESS)
			bad |= judge_egress(j, &po->rules[i]);
	for (limit = LIMIT_MEMORY; limit <= LIMIT_LAST; limit++)
		bad |= judge_limit(j, limit);
	return bad | judge_duties(j, audited);
}

int
ceiling_judge(const struct ceiling *c, const struct caller *ca, int audited,
    const struct survey *sv, struct policy *po)
{
	struct judging j = {.c = c, .caller = ca, .po = po};
	size_t i, refused = po->nrefusals;
	int bad;

	/* pointers: NOLINTNEXTLINE(bugprone-sizeof-expression) */
	if ((j.mine = calloc(c->n + 1, sizeof(*j.mine))) == NULL)
		return -1;
	for (i = 0; i < c->n; i++)
		if (c->lines[i].kind != CEILING_USE &&
		    ceiling_counts(&c->lines[i], ca))
			j.mine[j.nmine++] = &c->lines[i];
	bad = judge_user(&j);
	if (bad == 0 && po->nrefusals == refused)
		bad = sv == NULL ? judge_policy(&j, audited)
				 : judge_opened(&j, sv);
	free(j.mine);
	return bad;
}

int
ceiling_blame(const struct ceiling *c, struct policy *po)
{
	const struct refusal *r;
	size_t i;

	for (i = 0; i < c->faults.nrefusals; i++) {
		r = &c->faults.refusals[i];
		if (policy_refuse(po, r->profile, r->file, r->line, r->fix,
			"%s", r->what) == -1)
			return -1;
	}
	return 0;
}
