#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/tool.h"
#include "ipc/egress.h"
#include "ipc/limits.h"
#include "ipc/owned.h"
#include "ipc/path.h"
#include "ipc/policy.h"
#include "ipc/rule.h"
#include "lint.h"
#include "profile.h"
#include "trial.h"

#define KEY_LEN	  (NAME_MAX_LEN + 32)
#define PLACE_LEN (sizeof(OWNED_STAGING) + 1 + VALUE_MAX_LEN)

/* A way into the network in parts; "*": any. */
struct way {
	char host[EGRESS_TEXT];
	const char *port; /* NULL: a name that was looked up */
	int udp;
};

static void
take_apart(const char *text, struct way *w)
{
	const char *p = strstr(text, "://"), *end;
	size_t n;

	w->udp = strncmp(text, "udp:", 4) == 0;
	w->port = NULL;
	if (strncmp(text, "name ", 5) == 0)
		p = text + 5;
	else
		p = p == NULL ? text : p + 3;
	if (*p == '[')
		end = p + strcspn(p, "]") + 1;
	else
		end = p + strcspn(p, ": ");
	n = (size_t)(end - p);
	snprintf(w->host, sizeof(w->host), "%.*s", (int)n, p);
	if (*end == ':')
		w->port = end + 1;
}

int
trial_allows(const char *need, const char *used)
{
	struct way n, u;
	size_t len, k;

	if (strcmp(need, "*") == 0)
		return 1;
	take_apart(need, &n);
	take_apart(used, &u);
	if (u.port != NULL &&
	    (n.udp != u.udp || n.port == NULL ||
		strtoul(n.port, NULL, 10) != strtoul(u.port, NULL, 10)))
		return 0;
	if (strncmp(n.host, "*.", 2) != 0)
		return strcmp(n.host, u.host) == 0;
	len = strlen(u.host);
	k = strlen(n.host + 1);
	return len > k && strcmp(u.host + len - k, n.host + 1) == 0;
}

/* Whether a run with this profile would tell of it without being asked. */
static int
is_told(const struct policy *po, const struct told *e)
{
	unsigned what =
	    strcmp(e->surface, "exec") == 0 ? REPORT_EXEC : REPORT_FS;
	size_t i;

	if (strcmp(e->surface, "egress") == 0)
		return 1;
	for (i = 0; i < po->nrules; i++)
		if (po->rules[i].kind == RULE_REPORT &&
		    po->rules[i].what == what)
			return 1;
	return 0;
}

static int
is_egress(const struct told *e)
{
	return strcmp(e->surface, "egress") == 0;
}

/* Where it is inside; "" of what is no place. */
static const char *
place_of(const struct need *n, char buf[PLACE_LEN])
{
	snprintf(buf, PLACE_LEN, "%s%s",
	    n->verb == NEED_COMMAND ? OWNED_STAGING "/" : "",
	    n->verb == NEED_ALLOW ? "" : n->text);
	return buf;
}

/* A look shows that something was of use, but wants no need of its own. */
static int
fits(const struct need *n, const struct told *e)
{
	char place[PLACE_LEN];

	if (is_egress(e) || n->verb == NEED_ALLOW)
		return is_egress(e) && n->verb == NEED_ALLOW &&
		       trial_allows(n->text, e->resource);
	return (n->verb != NEED_WRITE || strcmp(e->action, "write") == 0) &&
	       path_covers(place_of(n, place), e->resource);
}

/* The need that makes it one that was declared. */
static int
declares(const struct need *n, const struct told *e)
{
	char place[PLACE_LEN];

	if (is_egress(e))
		return fits(n, e);
	if (n->verb == NEED_ALLOW ||
	    !path_covers(place_of(n, place), e->resource))
		return 0;
	return strcmp(e->action, "write") != 0 || n->verb == NEED_WRITE ||
	       n->verb == NEED_DEVICE || n->verb == NEED_SOCKET;
}

static int
is_of(const struct grant *g, size_t profile)
{
	size_t i;

	/* without a line it is what every pack has */
	for (i = 0; i < g->norigins; i++)
		if (g->origins[i].profile == profile && g->origins[i].line != 0)
			return 1;
	return 0;
}

/*
 * Only what the profile itself grants: what it includes, and the defaults
 * beside it, is no matter of its examples.
 */
static const struct grant *
own_grant(const struct trial *tr, const struct told *e)
{
	const struct policy *po = &tr->p->policy;
	const struct grant *g = policy_find(po, e->resource);

	if (g == NULL)
		g = policy_above(po, e->resource);
	return g != NULL && is_of(g, tr->p->subject) ? g : NULL;
}

static int
is_own_way(const struct trial *tr, const struct told *e)
{
	const struct policy *po = &tr->p->policy;
	char text[EGRESS_TEXT];
	struct egress way;
	size_t i;

	for (i = 0; i < po->nrules; i++) {
		if (po->rules[i].kind != RULE_EGRESS ||
		    po->rules[i].profile != tr->p->subject)
			continue;
		egress_of(&po->rules[i], &way);
		if (trial_allows(egress_text(&way, text), e->resource))
			return 1;
	}
	return 0;
}

/* 0: nobody has to declare it. */
static enum finding_weight
weight_of(const struct trial *tr, const struct told *e)
{
	const struct grant *g;

	if (is_egress(e))
		return is_own_way(tr, e) ? FINDING_HARD : 0;
	if (strcmp(e->action, "look") == 0 || (g = own_grant(tr, e)) == NULL)
		return 0;
	if (g->kind == GRANT_BIND && strcmp(e->action, "write") != 0)
		return FINDING_NOTE;
	/* inside a tmpfs nothing of the host is reached */
	if (g->kind == GRANT_TMPFS || g->kind == GRANT_SYMLINK)
		return 0;
	return is_told(&tr->p->policy, e) ? FINDING_HARD : FINDING_NOTE;
}

static void
judge_one(const struct trial *tr, const char *key, const struct told *e,
    struct findings *f)
{
	enum finding_weight weight;
	size_t i;

	/* which no profile can grant: it is unix = no */
	if (!e->used && strcmp(e->action, "socket") == 0)
		return;
	if (!e->used) {
		finding_add(f,
		    is_told(&tr->p->policy, e) ? FINDING_HARD : FINDING_NOTE,
		    key, tr->t->line,
		    "used and not declared: %s: %s %s, which was refused",
		    e->surface, e->action, e->resource);
		return;
	}
	for (i = 0; i < tr->t->nneeds; i++)
		if (declares(&tr->t->needs[i], e))
			return;
	if ((weight = weight_of(tr, e)) != 0)
		finding_add(f, weight, key, tr->t->line,
		    "used and not declared: %s: %s %s", e->surface, e->action,
		    e->resource);
}

static void
judge_need(const char *key, const struct need *n, const struct tolds *all,
    struct findings *f)
{
	size_t i;

	for (i = 0; i < all->n; i++)
		if (all->list[i].used && fits(n, &all->list[i]))
			return;
	finding_add(f, FINDING_NOTE, key, n->line,
	    "needs = %s %s: declared and not used", tool_verb(n->verb),
	    n->text);
}

void
trial_judge(const struct trial *tr, const struct tolds *all, struct findings *f)
{
	char key[KEY_LEN];
	size_t i;

	snprintf(key, sizeof(key), "example %s.needs", tr->t->name);
	for (i = 0; i < all->n; i++)
		judge_one(tr, key, &all->list[i], f);
	if (!all->ended)
		return;
	if (all->lost > 0)
		finding_add(f, FINDING_NOTE, key, tr->t->line,
		    "of what it used %zu could not be told, so what it did not "
		    "use is not known",
		    all->lost);
	for (i = 0; i < tr->t->nneeds && all->lost == 0; i++)
		judge_need(key, &tr->t->needs[i], all, f);
}
