#include <string.h>

#include "egress.h"
#include "expand.h"
#include "ipc/confine.h"
#include "ipc/limits.h"
#include "ipc/policy.h"
#include "child/shared/request.h"
#include "ipc/text.h"
#include "pack.h"
#include "place.h"
#include "reader.h"
#include "rule.h"
#include "select.h"
#include "value.h"

/* Room is left for the place in front and the fix behind. */
#define WHAT_LEN (TEXT_MAX_LEN / 2)

static int
refuse(const struct place *at, const struct reader_line *l, const char *fix,
    const char *why)
{
	return place_refuse(
	    at, l->line, fix, "%s = \"%s\" %s", l->key, SHOWN(l->value), why);
}

/* Keys whose value is one of some words; a word is what it stands for. */

struct word {
	uint8_t kind;
	const char *word;
	uint8_t what;
	uint8_t number;
};

static const struct word words[] = {
    {RULE_TIER, "read-only", 0, TIER_READ_ONLY},
    {RULE_TIER, "side-effect", 0, TIER_SIDE_EFFECT},
    {RULE_TIER, "unrestricted", 0, TIER_UNRESTRICTED},
    {RULE_NO_SPAWN, "no", 0, 0},
    {RULE_NO_UNIX, "no", 0, 0},
    {RULE_ONCE, "yes", 0, 0},
    {RULE_REPORT, "exec", REPORT_EXEC, 0},
    {RULE_REPORT, "fs", REPORT_FS, 0},
    {RULE_VIOLATION, "fail", 0, VIOLATION_FAIL},
    {RULE_VIOLATION, "kill", 0, VIOLATION_KILL},
};

#define NITEMS(a) (sizeof(a) / sizeof((a)[0]))

static int
read_word(const struct place *at, const struct reader_line *l, struct rule *r)
{
	char fix[FIX_MAX_LEN] = "write ";
	const char *sep = "";
	size_t i;

	for (i = 0; i < NITEMS(words); i++) {
		if (words[i].kind != r->kind)
			continue;
		if (strcmp(words[i].word, l->value) == 0) {
			r->what = words[i].what;
			r->number = words[i].number;
			return 0;
		}
		text_add(fix, sizeof(fix), "%s%s", sep, words[i].word);
		sep = " or ";
	}
	text_add(fix, sizeof(fix), ", or remove the line");
	return refuse(at, l, fix,
	    strcmp(l->value, "yes") == 0 || strcmp(l->value, "no") == 0
		? "says what is so without the line"
		: "is not a value of this key");
}

/* Numbers with a unit */

#define SIZE "a size in bytes or with K, M or G behind it"

static int
refuse_number(const struct place *at, const struct reader_line *l,
    const struct rule *r, const char *why)
{
	static const char *const forms[LIMIT_LAST + 1] = {
	    [LIMIT_MEMORY] = SIZE,
	    [LIMIT_PROCESSES] = "a number",
	    [LIMIT_CPU] = "a share of one processor such as 50%",
	    [LIMIT_CPU_TIME] = "a time such as 30s, 5m or 1h",
	    [LIMIT_WALL_TIME] = "a time such as 500ms, 30s, 5m or 1h",
	    [LIMIT_OPEN_FILES] = "a number",
	    [LIMIT_FILE_SIZE] = SIZE,
	    [LIMIT_CORE_SIZE] = SIZE,
	    [LIMIT_TMPFS] = SIZE,
	};
	char fix[FIX_MAX_LEN] = "write ";
	uint64_t min, max;

	rule_range(r->what, &min, &max);
	text_add(fix, sizeof(fix), "%s, from ", forms[r->what]);
	rule_number(fix, sizeof(fix), r->what, min);
	text_add(fix, sizeof(fix), " to ");
	rule_number(fix, sizeof(fix), r->what, max);
	return refuse(at, l, fix, why);
}

/* The digits in front; what is behind them, or NULL if there are none. */
static const char *
read_digits(const char *s, uint64_t *n)
{
	const char *begin = s;

	for (*n = 0; *s >= '0' && *s <= '9'; s++)
		if (*n <= LIMIT_BYTES_MAX) /* more is too much in any unit */
			*n = *n * 10 + (uint64_t)(*s - '0');
	return s == begin ? NULL : s;
}

static int
read_number(const struct place *at, const struct reader_line *l, struct rule *r)
{
	const char *behind = read_digits(l->value, &r->number);
	const struct rule_suffix *u = rule_suffixes(r->what);
	uint64_t min, max;

	rule_range(r->what, &min, &max);
	while (behind != NULL && u->suffix != NULL &&
	       strcmp(u->suffix, behind) != 0)
		u++;
	if (behind == NULL || u->suffix == NULL)
		return refuse_number(at, l, r, "is not a value of this key");
	if (r->number > max / u->times || r->number * u->times < min)
		return refuse_number(at, l, r, "is out of its range");
	r->number *= u->times;
	return 0;
}

/* The limit of this name: there is one, for the key is of the table. */
static uint8_t
limit_named(const char *key)
{
	struct rule r = {.kind = RULE_LIMIT};

	for (r.what = LIMIT_MEMORY; r.what < LIMIT_LAST; r.what++)
		if (strcmp(rule_key(&r), key) == 0)
			break;
	return r.what;
}

static int
read_path(const struct place *at, const struct reader_line *l, struct rule *r)
{
	struct value v;

	if (value_path(at, l->line, l->key, l->value, &v) == -1)
		return -1;
	r->text = v.left; /* moved */
	return 0;
}

int
rule_read(const struct place *at, unsigned kind, const struct reader_line *l,
    struct rule *r)
{
	memset(r, 0, sizeof(*r));
	r->kind = (uint8_t)kind;
	r->line = l->line;
	switch (kind) {
	case RULE_INTERPRETER:
	case RULE_LIBRARY:
		return read_path(at, l, r);
	case RULE_EGRESS:
		return egress_read(at, l, r);
	case RULE_LIMIT:
		r->what = limit_named(l->key);
		if (read_number(at, l, r) == -1)
			return -1;
		break;
	default:
		if (read_word(at, l, r) == -1)
			return -1;
	}
	r->text = strdup("");
	return r->text == NULL ? -1 : 0;
}

/* From the drafts to the policy */

/* 1 if the profile, whose rules are from first on, says it already. */
static int
is_said(const struct policy *po, size_t first, const struct rule *r)
{
	const struct rule *o;
	size_t i;

	for (i = first; i < po->nrules; i++) {
		o = &po->rules[i];
		if (o->kind == r->kind && o->what == r->what &&
		    o->number == r->number && strcmp(o->text, r->text) == 0)
			return 1;
	}
	return 0;
}

static int
resolve_one(const struct place *at, const struct caller *ca, size_t first,
    const struct rule *draft, uint16_t profile)
{
	char text[VALUE_MAX_LEN + 1];
	struct rule r = *draft;
	char why[TEXT_MAX_LEN];

	r.profile = profile;
	r.text = text;
	text[0] = '\0';
	if (r.kind == RULE_EGRESS)
		r.text = draft->text; /* no path, and no placeholders */
	else if (draft->text[0] != '\0' && expand_path(at, r.line, draft->text,
					       ca, EXPAND_GUEST, text) == -1)
		return -1;
	if (rule_check(&r, why, sizeof(why)) == -1)
		return place_refuse(
		    at, r.line, "write another value", "%s", why);
	if (is_said(at->po, first, &r))
		return 0;
	if (at->po->nrules == RULES_MAX)
		return place_refuse(at, r.line, "write fewer",
		    "there are more than %d lines in [egress], [exec], "
		    "[limits] and [audit] of all profiles",
		    RULES_MAX);
	return policy_add_rule(at->po, &r) == NULL ? -1 : 0;
}

/* S2b: lists that have nothing in common, and all who wrote one. */
static int
judge_empty(struct policy *po, unsigned kind)
{
	char text[WHAT_LEN] = "";
	struct text_list l = {.buf = text, .cap = sizeof(text)};
	char before[TEXT_SHOWN_MAX + 64];
	const struct rule *r, *first = NULL;
	struct place at = {po, "", ""};
	size_t i;

	for (i = 0; i < po->nrules; i++) {
		r = &po->rules[i];
		if (r->kind != kind)
			continue;
		before[0] = '\0';
		text_add(before, sizeof(before), "%s%s (",
		    first == NULL ? "" : ", ", SHOWN(r->text));
		policy_tell(
		    &l, po, r->profile, r->line, rule_key(r), before, ")");
		if (first == NULL || r->profile < first->profile)
			first = r;
	}
	text_list_end(&l);
	if (first == NULL)
		return 0;
	at.profile = po->profiles[first->profile].name;
	at.file = po->profiles[first->profile].file;
	return place_refuse(&at, first->line,
	    "leave out one of the profiles, or let each name one that the "
	    "others name",
	    "the profiles have no %s in common, so none is left: %s",
	    rule_key(first), text);
}

int
rules_resolve(
    const struct request *q, const struct selection *sel, struct policy *po)
{
	const struct member *m;
	struct place at = {po, "", ""};
	size_t i, k, first;
	unsigned empty;
	int bad = 0;

	for (i = 0; i < sel->n; i++) {
		m = &sel->members[i];
		at.profile = m->name;
		at.file = m->file;
		first = po->nrules;
		for (k = 0; k < m->draft.nrules; k++)
			bad |= resolve_one(&at, &q->caller, first,
			    &m->draft.rules[k], (uint16_t)i);
		if (m->layer == LAYER_PACK)
			bad |= pack_rules(po, (uint16_t)i);
	}
	rules_sort(po);
	/* where a line is missing nobody knows what is in common */
	if (bad == 0 && (empty = confine_empty(po)) != 0)
		bad = judge_empty(po, empty);
	return bad == 0 ? egress_judge(po) : bad;
}
