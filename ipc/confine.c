#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "confine.h"
#include "limits.h"
#include "text.h"
#include "tier.h"

/* How many profiles have a rule of this kind. */
static size_t
count_profiles(const struct policy *po, unsigned kind)
{
	uint8_t has[PROFILES_MAX] = {0};
	size_t i, n = 0;

	for (i = 0; i < po->nrules; i++)
		if (po->rules[i].kind == kind &&
		    has[po->rules[i].profile]++ == 0)
			n++;
	return n;
}

/*
 * The first rule of this kind from i on whose path all n profiles name; the
 * next search begins at *end. Rules with one path are beside each other, and
 * of one profile, too. NULL: there is none.
 */
static const struct rule *
find_common(const struct policy *po, unsigned kind, size_t n, size_t *end)
{
	const struct rule *first, *r, *last = po->rules + po->nrules;
	size_t by;

	for (first = po->rules + *end; first < last; first = r) {
		by = 0;
		for (r = first; r < last && r->kind == first->kind &&
				strcmp(r->text, first->text) == 0;
		     r++)
			by += r == first || r->profile != r[-1].profile;
		*end = (size_t)(r - po->rules);
		if (first->kind == kind && by == n)
			return first;
	}
	return NULL;
}

/* The paths that are left, or NULL if nobody names one. */
static int
intersect(const struct policy *po, unsigned kind, const struct rule ***list,
    size_t *count)
{
	size_t n = count_profiles(po, kind), at = 0;
	const struct rule *r;

	if (n == 0)
		return 0;
	/* pointers, and at least the n:
	   NOLINTNEXTLINE(bugprone-sizeof-expression,clang-analyzer-*) */
	*list = calloc(po->nrules, sizeof(**list));
	if (*list == NULL)
		return -1;
	while ((r = find_common(po, kind, n, &at)) != NULL)
		(*list)[(*count)++] = r;
	return 0;
}

/* Whether r narrows more than what was found so far. */
static int
is_less(const struct rule *r, const struct rule *found)
{
	return found == NULL || r->number < found->number;
}

static void
join(struct confine *c, const struct rule *r)
{
	const struct rule **slot = NULL;

	switch (r->kind) {
	case RULE_LIMIT:
		slot = &c->limit[r->what];
		break;
	case RULE_TIER:
		slot = &c->tier;
		break;
	case RULE_NO_SPAWN: /* these have no number: the first stays */
		slot = &c->no_spawn;
		break;
	case RULE_NO_UNIX:
		slot = &c->no_unix;
		break;
	case RULE_ONCE:
		slot = &c->once;
		break;
	case RULE_REPORT:
		slot = &c->report[r->what];
		break;
	case RULE_VIOLATION: /* the only one whose greatest is strictest */
		if (c->violation == NULL || r->number > c->violation->number)
			c->violation = r;
		return;
	default:
		return;
	}
	if (is_less(r, *slot))
		*slot = r;
}

int
confine_join(const struct policy *po, struct confine *c)
{
	size_t i;

	memset(c, 0, sizeof(*c));
	for (i = 0; i < po->nrules; i++)
		join(c, &po->rules[i]);
	if (c->no_unix == NULL && c->tier != NULL &&
	    c->tier->number == TIER_READ_ONLY)
		c->no_unix = c->tier;
	if (intersect(po, RULE_INTERPRETER, &c->interpreters,
		&c->ninterpreters) == 0 &&
	    intersect(po, RULE_LIBRARY, &c->libraries, &c->nlibraries) == 0)
		return 0;
	confine_free(c);
	return -1;
}

void
confine_free(struct confine *c)
{
	free(c->interpreters);
	free(c->libraries);
	memset(c, 0, sizeof(*c));
}

const struct rule *
confine_limit(const struct policy *po, enum limit what)
{
	const struct rule *found = NULL, *r;
	size_t i;

	for (i = 0; i < po->nrules; i++) {
		r = &po->rules[i];
		if (r->kind == RULE_LIMIT && r->what == what &&
		    is_less(r, found))
			found = r;
	}
	return found;
}

uint64_t
confine_tmpfs(const struct policy *po)
{
	const struct rule *r = confine_limit(po, LIMIT_TMPFS);

	return r == NULL ? TMPFS_SUM : r->number;
}

void
confine_tell(
    const struct policy *po, const struct rule *r, char *buf, size_t cap)
{
	const struct profile *p = &po->profiles[r->profile];

	text_add(buf, cap, "%s = ", rule_key(r));
	rule_number(buf, cap, r->what, r->number);
	text_add(buf, cap, " of %s, %s:%u", p->name, p->file, r->line);
}

void
confine_tell_tmpfs(const struct policy *po, char *buf, size_t cap)
{
	const struct rule *r = confine_limit(po, LIMIT_TMPFS);

	text_add(buf, cap, "more than ");
	rule_number(buf, cap, LIMIT_TMPFS, confine_tmpfs(po));
	if (r == NULL)
		return;
	text_add(buf, cap, " (");
	confine_tell(po, r, buf, cap);
	text_add(buf, cap, ")");
}

unsigned
confine_empty(const struct policy *po)
{
	static const uint8_t lists[] = {RULE_INTERPRETER, RULE_LIBRARY};
	size_t i, n, at;

	for (i = 0; i < sizeof(lists); i++) {
		n = count_profiles(po, lists[i]);
		at = 0;
		if (n > 0 && find_common(po, lists[i], n, &at) == NULL)
			return lists[i];
	}
	return 0;
}

/* No more rules than a broker is told. */
static int
check_egress(const struct policy *po, char *why, size_t len)
{
	size_t i, n = 0;

	for (i = 0; i < po->nrules; i++)
		n += po->rules[i].kind == RULE_EGRESS;
	if (n <= EGRESS_RULES_MAX)
		return 0;
	snprintf(why, len, "there are %zu rules \"allow\", too many", n);
	return -1;
}

int
confine_check(const struct policy *po, char *why, size_t len)
{
	struct rule r = {.kind = (uint8_t)confine_empty(po)};

	if (r.kind == 0)
		return check_egress(po, why, len) == -1 ||
			       tier_check(po, why, len) == -1
			   ? -1
			   : 0;
	snprintf(why, len, "the profiles have no %s in common", rule_key(&r));
	return -1;
}
