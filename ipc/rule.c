#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "egress.h"
#include "grow.h"
#include "limits.h"
#include "path.h"
#include "policy.h"
#include "rule.h"
#include "text.h"

/* What the fields of each kind are. */
static const struct {
	const char *key;
	uint8_t list;	    /* may stand more than once */
	uint8_t what_max;   /* "what" is 1 to this; 0: it is 0 */
	uint8_t number_min; /* of a limit see below */
	uint8_t number_max; /* 0: it is 0 */
} kinds[RULE_LAST + 1] = {
    [RULE_TIER] = {"tier", 0, 0, TIER_READ_ONLY, TIER_UNRESTRICTED},
    [RULE_INTERPRETER] = {"interpreter", 1, 0, 0, 0},
    [RULE_LIBRARY] = {"library", 1, 0, 0, 0},
    [RULE_NO_SPAWN] = {"spawn", 0, 0, 0, 0},
    [RULE_NO_UNIX] = {"unix", 0, 0, 0, 0},
    [RULE_ONCE] = {"once", 0, 0, 0, 0},
    [RULE_LIMIT] = {"", 0, LIMIT_LAST, 0, 0},
    [RULE_REPORT] = {"report", 1, REPORT_LAST, 0, 0},
    [RULE_VIOLATION] = {"on-violation", 0, 0, VIOLATION_FAIL, VIOLATION_KILL},
    [RULE_EGRESS] = {"allow", 1, 0, 0, 0},
};

static const struct rule_suffix size[] = {
    {"", 1}, {"K", 1ULL << 10}, {"M", 1ULL << 20}, {"G", 1ULL << 30}, {0}};
static const struct rule_suffix seconds[] = {
    {"s", 1}, {"m", 60}, {"h", 3600}, {0}};
static const struct rule_suffix milliseconds[] = {
    {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {0}};
static const struct rule_suffix share[] = {{"%", 1}, {0}};
static const struct rule_suffix count[] = {{"", 1}, {0}};

static const struct {
	const char *key;
	const struct rule_suffix *unit;
	uint64_t min, max;
} limits[LIMIT_LAST + 1] = {
    [LIMIT_MEMORY] = {"memory", size, 1 << 20, LIMIT_BYTES_MAX},
    [LIMIT_PROCESSES] = {"processes", count, 1, LIMIT_PROCESSES_MAX},
    [LIMIT_CPU] = {"cpu", share, 1, LIMIT_CPU_MAX},
    [LIMIT_CPU_TIME] = {"cpu-time", seconds, 1, LIMIT_SECONDS_MAX},
    [LIMIT_WALL_TIME] = {"wall-time", milliseconds, 1,
	LIMIT_SECONDS_MAX * 1000},
    /* 0 to 2, and one that the dynamic loader opens */
    [LIMIT_OPEN_FILES] = {"open-files", count, 4, LIMIT_FILES_MAX},
    [LIMIT_FILE_SIZE] = {"file-size", size, 0, LIMIT_BYTES_MAX},
    /* at 0 a core handler of the host would run on it all the same */
    [LIMIT_CORE_SIZE] = {"core-size", size, 1, LIMIT_BYTES_MAX},
    [LIMIT_TMPFS] = {"tmpfs", size, TMPFS_SIZE_MIN, TMPFS_SIZE_MAX},
};

static int
cmp(uint64_t x, uint64_t y)
{
	return x < y ? -1 : x > y;
}

int
rule_cmp(const struct rule *x, const struct rule *y)
{
	int n;

	if ((n = cmp(x->kind, y->kind)) != 0 ||
	    (n = cmp(x->what, y->what)) != 0 ||
	    (n = strcmp(x->text, y->text)) != 0 ||
	    (n = cmp(x->number, y->number)) != 0 ||
	    (n = cmp(x->profile, y->profile)) != 0)
		return n;
	return cmp(x->line, y->line);
}

const char *
rule_key(const struct rule *r)
{
	if (r->kind == RULE_LIMIT)
		return r->what >= LIMIT_MEMORY && r->what <= LIMIT_LAST
			   ? limits[r->what].key
			   : "?";
	return r->kind >= RULE_TIER && r->kind <= RULE_LAST ? kinds[r->kind].key
							    : "?";
}

int
rule_listed(unsigned kind)
{
	return kind <= RULE_LAST && kinds[kind].list;
}

void
rule_range(unsigned limit, uint64_t *min, uint64_t *max)
{
	*min = limits[limit].min;
	*max = limits[limit].max;
}

const struct rule_suffix *
rule_suffixes(unsigned limit)
{
	return limits[limit].unit;
}

void
rule_number(char *buf, size_t cap, unsigned limit, uint64_t number)
{
	const struct rule_suffix *u = limits[limit].unit, *best = u;

	for (; u->suffix != NULL; u++)
		if (number != 0 && number % u->times == 0)
			best = u;
	text_add(buf, cap, "%llu%s", (unsigned long long)(number / best->times),
	    best->suffix);
}

/* A path inside, which something there is run or loaded from. */
static const char *
path_bad(const char *path)
{
	if (!path_clean(path) || strcmp(path, "/") == 0)
		return "is not an absolute, clean path below /";
	if (text_unsafe(path, strlen(path)))
		return "holds a control, bidi or invisible character";
	return NULL;
}

/* Kind and what, which say how the rest is read. */
static int
is_known(const struct rule *r)
{
	if (r->kind < RULE_TIER || r->kind > RULE_LAST)
		return 0;
	return kinds[r->kind].what_max == 0
		   ? r->what == 0 || r->kind == RULE_EGRESS
		   : r->what >= 1 && r->what <= kinds[r->kind].what_max;
}

static const char *
number_bad(const struct rule *r)
{
	if (r->kind == RULE_LIMIT)
		return r->number < limits[r->what].min ||
			       r->number > limits[r->what].max
			   ? "is out of its range"
			   : NULL;
	return r->number < kinds[r->kind].number_min ||
		       r->number > kinds[r->kind].number_max
		   ? "has an unknown value"
		   : NULL;
}

static const char *
rule_bad(const struct rule *r)
{
	const char *bad;

	if (!is_known(r))
		return "is unknown";
	switch (r->kind) {
	case RULE_INTERPRETER:
	case RULE_LIBRARY:
		if ((bad = path_bad(r->text)) != NULL)
			return bad;
		break;
	case RULE_EGRESS:
		return egress_check(r);
	default:
		if (r->text[0] != '\0')
			return "has a text";
	}
	return number_bad(r);
}

int
rule_check(const struct rule *r, char *why, size_t len)
{
	const char *bad = rule_bad(r);

	if (bad == NULL)
		return 0;
	if (r->text[0] == '\0')
		snprintf(why, len, "rule \"%s\" %s", rule_key(r), bad);
	else
		snprintf(why, len, "rule \"%s\" with \"%s\" %s", rule_key(r),
		    SHOWN(r->text), bad);
	return -1;
}

struct rule *
policy_add_rule(struct policy *po, const struct rule *r)
{
	struct rule *p;
	char *text;

	if (po->nrules >= RULES_MAX) {
		errno = E2BIG;
		return NULL;
	}
	p = grow(po->rules, po->nrules, sizeof(*p));
	if (p == NULL)
		return NULL;
	po->rules = p;
	if ((text = strdup(r->text)) == NULL)
		return NULL;
	p = &po->rules[po->nrules++];
	*p = *r;
	p->text = text;
	return p;
}

void
rules_release(struct policy *po)
{
	size_t i;

	for (i = 0; i < po->nrules; i++)
		free(po->rules[i].text);
	free(po->rules);
}

static int
sort_cmp(const void *a, const void *b)
{
	return rule_cmp(a, b);
}

void
rules_sort(struct policy *po)
{
	if (po->nrules > 1)
		qsort(po->rules, po->nrules, sizeof(*po->rules), sort_cmp);
}

/* struct rule: RECORD_RULE */

void
rule_put(struct wbuf *w, const struct rule *r)
{
	wbuf_u8(w, r->kind);
	wbuf_u8(w, r->what);
	wbuf_u64(w, r->number);
	wbuf_str(w, r->text);
	wbuf_u16(w, r->profile);
	wbuf_u32(w, r->line);
}

int
rule_get(struct rcur *c, struct policy *po)
{
	struct rule r;

	r.kind = rcur_u8(c);
	r.what = rcur_u8(c);
	r.number = rcur_u64(c);
	/* it points into the record, and is copied */
	r.text = (char *)(uintptr_t)rcur_str(c, PATH_MAX_LEN);
	r.profile = rcur_u16(c);
	r.line = rcur_u32(c);
	if (rcur_end(c) == -1)
		return -1;
	return policy_add_rule(po, &r) == NULL ? -1 : 0;
}

int
rules_check_shown(const struct policy *po, char *why, size_t len)
{
	const struct rule *r;
	size_t i;

	for (i = 0; i < po->nrules; i++) {
		r = &po->rules[i];
		if (is_known(r) && r->profile < po->nprofiles &&
		    (r->kind == RULE_EGRESS || number_bad(r) == NULL))
			continue;
		snprintf(why, len, "rule \"%s\" has a bad field", rule_key(r));
		return -1;
	}
	return 0;
}

/* The profiles that said what is no list, of one kind and what. */
struct said {
	const struct rule *first; /* the first of them */
	uint8_t by[PROFILES_MAX];
};

/*
 * A profile says once what is no list, and each line of a list once. The
 * rules are in order up to this one.
 */
static int
is_repeated(struct said *s, const struct policy *po, const struct rule *r)
{
	const struct rule *last = r == po->rules ? NULL : r - 1;

	if (kinds[r->kind].list)
		return last != NULL && last->kind == r->kind &&
		       last->what == r->what && last->number == r->number &&
		       last->profile == r->profile &&
		       strcmp(last->text, r->text) == 0;
	if (s->first == NULL || s->first->kind != r->kind ||
	    s->first->what != r->what) {
		memset(s->by, 0, sizeof(s->by));
		s->first = r;
	}
	return s->by[r->profile]++ != 0;
}

int
rules_check(const struct policy *po, char *why, size_t len)
{
	struct said said = {.first = NULL};
	const struct rule *r;
	const char *bad;
	size_t i;

	for (i = 0; i < po->nrules; i++) {
		r = &po->rules[i];
		if (rule_check(r, why, len) == -1)
			return -1;
		bad = NULL;
		if (r->profile >= po->nprofiles)
			bad = "is of no profile";
		else if (i > 0 && rule_cmp(&po->rules[i - 1], r) >= 0)
			bad = "is out of order";
		else if (is_repeated(&said, po, r))
			bad = "stands twice in one profile";
		if (bad == NULL)
			continue;
		snprintf(why, len, "rule \"%s\" %s", rule_key(r), bad);
		return -1;
	}
	return 0;
}
