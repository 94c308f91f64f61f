#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/tool.h"
#include "ipc/egress.h"
#include "ipc/environ.h"
#include "ipc/limits.h"
#include "ipc/log.h"
#include "ipc/policy.h"
#include "ipc/rule.h"
#include "ipc/text.h"
#include "ipc/tier.h"
#include "lint.h"

#define KEY_LEN (NAME_MAX_LEN + 32)

/* What is looked at. */
struct linting {
	const struct policy *po;
	size_t profile;
	int strict;
	struct findings *found;
	struct lint_use use;
};

void
finding_add(struct findings *f, enum finding_weight weight, const char *key,
    uint32_t line, const char *fmt, ...)
{
	struct finding *p;
	va_list ap;

	p = realloc(f->list, (f->n + 1) * sizeof(*p));
	if (p == NULL)
		fatal("out of memory");
	f->list = p;
	p += f->n;
	memset(p, 0, sizeof(*p));
	va_start(ap, fmt);
	if (vasprintf(&p->text, fmt, ap) == -1 ||
	    (p->key = strdup(key)) == NULL)
		fatal("out of memory");
	va_end(ap);
	p->line = line;
	p->weight = (uint8_t)weight;
	f->n++;
}

void
findings_free(struct findings *f)
{
	size_t i;

	for (i = 0; i < f->n; i++) {
		free(f->list[i].key);
		free(f->list[i].text);
	}
	free(f->list);
	memset(f, 0, sizeof(*f));
}

/* [profile] */

static void
lint_profile(struct linting *l)
{
	const struct profile *p = &l->po->profiles[l->profile];

	if (p->description[0] == '\0')
		finding_add(l->found, FINDING_SOFT, "profile.description", 0,
		    "is missing: say in one line what the profile is for");
	if (p->abuse[0] == '\0')
		finding_add(l->found, FINDING_SOFT, "profile.abuse", 0,
		    "is missing: say in one sentence what a hostile program "
		    "can do with what is granted");
}

/* 1 if all that is granted would fit a lower tier. */
static int
would_fit(const struct policy *po, uint64_t number)
{
	const struct rule lower = {.kind = RULE_TIER, .number = number};
	size_t i;

	for (i = 0; i < po->nrules; i++)
		if (tier_bars_rule(&lower, &po->rules[i]) != NULL)
			return 0;
	for (i = 0; i < po->ngrants; i++)
		if (tier_bars_grant(&lower, &po->grants[i]) != NULL)
			return 0;
	for (i = 0; i < po->nenv; i++)
		if (tier_bars_claim(&lower, &po->env[i]) != NULL)
			return 0;
	for (i = 0; i < po->ntools; i++)
		if (number == TIER_READ_ONLY &&
		    po->tools[i].effect == EFFECT_NETWORK)
			return 0;
	return 1;
}

static void
lint_tier(struct linting *l)
{
	const struct rule *r, *own = NULL;
	struct rule lower = {.kind = RULE_TIER};
	size_t i;

	for (i = 0; i < l->po->nrules; i++) {
		r = &l->po->rules[i];
		if (r->kind == RULE_TIER && r->profile == l->profile)
			own = r;
	}
	if (own == NULL)
		return;
	for (lower.number = TIER_READ_ONLY; lower.number < own->number;
	     lower.number++)
		if (would_fit(l->po, lower.number)) {
			finding_add(l->found, FINDING_SOFT, "profile.tier",
			    own->line,
			    "tier = %s is more than what is granted asks for: "
			    "%s fits",
			    tier_name(own), tier_name(&lower));
			return;
		}
}

/* [egress] */

static void
lint_egress(struct linting *l, size_t i)
{
	const struct policy *po = l->po;
	const struct rule *r = &po->rules[i];
	char text[EGRESS_TEXT], other[EGRESS_TEXT];
	struct egress e, o;
	size_t k;

	egress_of(r, &e);
	egress_text(&e, text);
	if (e.scheme == EGRESS_ALL)
		finding_add(l->found, FINDING_SOFT, "egress.allow", r->line,
		    "allow = * is every public host: name those that are "
		    "needed");
	else if (egress_host(e.host) == EGRESS_WILD)
		finding_add(l->found, FINDING_SOFT, "egress.allow", r->line,
		    "allow = %s is every name below %s: name those that are "
		    "needed",
		    text, e.host + 2);
	else if (egress_host(e.host) == EGRESS_ADDRESS)
		finding_add(l->found, FINDING_SOFT, "egress.allow", r->line,
		    "allow = %s names an address, which may be another's "
		    "tomorrow: name the host",
		    text);
	for (k = 0; k < po->nrules; k++) {
		if (po->rules[k].kind != RULE_EGRESS || k == i ||
		    !lint_allows(po, k, text))
			continue;
		egress_of(&po->rules[k], &o);
		egress_text(&o, other);
		/* the same line in an include is no news */
		if (strcmp(text, other) == 0)
			continue;
		finding_add(l->found, FINDING_NOTE, "egress.allow", r->line,
		    "allow = %s says nothing beside allow = %s of %s", text,
		    other, po->profiles[po->rules[k].profile].name);
		break;
	}
}

/* [tool NAME], [example NAME] */

/* Whether a tool needs something that such an effect brings. */
static int
needs_effect(const struct policy *po, const struct tool *t, unsigned effect)
{
	const struct grant *g;
	size_t i;

	for (i = 0; i < t->nneeds; i++) {
		if (effect == EFFECT_NETWORK && t->needs[i].verb == NEED_ALLOW)
			return 1;
		if (effect != EFFECT_WRITE || t->needs[i].verb != NEED_WRITE)
			continue;
		/* what is in memory is gone with the run */
		g = policy_find(po, t->needs[i].text);
		if (g == NULL)
			g = policy_above(po, t->needs[i].text);
		if (g != NULL && g->kind == GRANT_BIND)
			return 1;
	}
	return 0;
}

static void
lint_effect(struct linting *l, const struct tool *t)
{
	int writes = needs_effect(l->po, t, EFFECT_WRITE);
	int talks = needs_effect(l->po, t, EFFECT_NETWORK);
	char key[KEY_LEN];

	snprintf(key, sizeof(key), "tool %s.effect", t->name);
	if (t->effect == 0)
		finding_add(l->found, FINDING_SOFT, key, t->line,
		    "is missing: write none, write or network");
	else if (talks && t->effect != EFFECT_NETWORK)
		finding_add(l->found, FINDING_SOFT, key, t->line,
		    "is %s, but the tool needs a way into the network",
		    tool_effect(t->effect));
	else if (writes && t->effect == EFFECT_NONE)
		finding_add(l->found, FINDING_SOFT, key, t->line,
		    "is none, but the tool needs to write what outlives the "
		    "run");
	else if (!talks && t->effect == EFFECT_NETWORK)
		finding_add(l->found, FINDING_SOFT, key, t->line,
		    "is network, but the tool needs no \"allow\"");
	else if (!writes && t->effect == EFFECT_WRITE)
		finding_add(l->found, FINDING_SOFT, key, t->line,
		    "is write, but the tool needs to write nothing that "
		    "outlives the run");
}

static void
lint_tool(struct linting *l, const struct tool *t)
{
	const char *kind = t->kind == TOOL_PROGRAM ? "tool" : "example";
	char key[KEY_LEN];
	size_t i;

	snprintf(key, sizeof(key), "%s %s.description", kind, t->name);
	if (t->kind == TOOL_PROGRAM) {
		if (t->text[0] == '\0')
			finding_add(l->found, FINDING_SOFT, key, t->line,
			    "is missing: say in one line what the tool does");
		lint_effect(l, t);
	}
	snprintf(key, sizeof(key), "%s %s.needs", kind, t->name);
	for (i = 0; i < t->nneeds; i++)
		if (!lint_need(l->po, &t->needs[i], &l->use))
			finding_add(l->found, FINDING_HARD, key,
			    t->needs[i].line,
			    "needs = %s %s: neither the profile nor what it "
			    "includes grants it",
			    tool_verb(t->needs[i].verb), t->needs[i].text);
}

/* Grants that no tool and no example needs */

static void
lint_unused(struct linting *l)
{
	const struct policy *po = l->po;
	const struct origin *o;
	const struct grant *g;
	char text[EGRESS_TEXT], key[32];
	struct egress e;
	size_t i, k;

	for (i = 0; i < po->ngrants; i++) {
		g = &po->grants[i];
		for (k = 0; k < g->norigins && !l->use.grants[i]; k++) {
			o = &g->origins[k];
			/* what every pack has stands in no line */
			if (o->profile != l->profile || o->line == 0)
				continue;
			snprintf(
			    key, sizeof(key), "fs.%s", policy_verb(o->verb));
			finding_add(l->found, FINDING_SOFT, key, o->line,
			    "%s: no tool and no example needs it", g->guest);
			break;
		}
	}
	for (i = 0; i < po->nrules; i++) {
		if (po->rules[i].kind != RULE_EGRESS ||
		    po->rules[i].profile != l->profile || l->use.rules[i])
			continue;
		egress_of(&po->rules[i], &e);
		finding_add(l->found, FINDING_SOFT, "egress.allow",
		    po->rules[i].line,
		    "allow = %s: no tool and no example needs it",
		    egress_text(&e, text));
	}
}

/* By line; what stands in one, and what stands in none, stays as it is. */
static int
finding_cmp(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;
	int n;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if ((n = strcmp(x->key, y->key)) != 0)
		return n;
	return strcmp(x->text, y->text);
}

void
lint(const struct policy *po, size_t profile, int strict, struct findings *f)
{
	struct linting l = {
	    .po = po, .profile = profile, .strict = strict, .found = f};
	size_t i, tools = 0, examples = 0;

	l.use.grants = calloc(po->ngrants + 1, 1);
	l.use.rules = calloc(po->nrules + 1, 1);
	if (l.use.grants == NULL || l.use.rules == NULL)
		fatal("out of memory");
	lint_profile(&l);
	lint_tier(&l);
	for (i = 0; i < po->nrules; i++)
		if (po->rules[i].kind == RULE_EGRESS &&
		    po->rules[i].profile == profile)
			lint_egress(&l, i);
	for (i = 0; i < po->ntools; i++) {
		if (po->tools[i].profile != profile)
			continue;
		tools += po->tools[i].kind == TOOL_PROGRAM;
		examples += po->tools[i].kind == TOOL_EXAMPLE;
		lint_tool(&l, &po->tools[i]);
	}
	if (strict || tools + examples > 0)
		lint_unused(&l);
	if (tools > 0 && examples == 0)
		finding_add(f, FINDING_NOTE, "example", 0,
		    "there is none, so profile test has nothing to run");
	free(l.use.grants);
	free(l.use.rules);
	if (f->n > 1)
		qsort(f->list, f->n, sizeof(*f->list), finding_cmp);
}
