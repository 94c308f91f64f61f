#include <stdio.h>
#include <string.h>

#include "ipc/tool.h"
#include "ipc/egress.h"
#include "ipc/limits.h"
#include "ipc/owned.h"
#include "ipc/policy.h"
#include "ipc/rule.h"
#include "lint.h"

/* The grant that holds at this path inside, or NULL. */
static const struct grant *
grant_at(const struct policy *po, const char *path)
{
	const struct grant *g = policy_find(po, path);

	return g != NULL ? g : policy_above(po, path);
}

static const struct grant *
grant_for(const struct policy *po, const struct need *n)
{
	char path[sizeof(OWNED_STAGING) + 1 + VALUE_MAX_LEN];
	const struct grant *g;

	switch (n->verb) {
	case NEED_COMMAND:
		snprintf(path, sizeof(path), "%s/%s", OWNED_STAGING, n->text);
		g = policy_find(po, path);
		return g != NULL && g->kind == GRANT_COMMAND ? g : NULL;
	case NEED_SOCKET:
		g = policy_find(po, n->text);
		return g != NULL && g->kind == GRANT_SOCKET ? g : NULL;
	case NEED_DEVICE:
		g = policy_find(po, n->text);
		return g != NULL && g->kind == GRANT_DEVICE ? g : NULL;
	default:
		g = grant_at(po, n->text);
	}
	if (g == NULL || g->kind == GRANT_TMPFS || g->kind == GRANT_SYMLINK)
		return g; /* where a link leads only a run can tell */
	if (g->kind != GRANT_BIND ||
	    (n->verb == NEED_WRITE && (g->flags & GRANT_WRITE) == 0))
		return NULL;
	return g;
}

int
lint_allows(const struct policy *po, size_t rule, const char *text)
{
	const struct rule *r = &po->rules[rule];
	char own[EGRESS_TEXT], *host, *port;
	struct egress e;
	size_t n, k;

	egress_of(r, &e);
	if (strcmp(egress_text(&e, own), text) == 0)
		return 1;
	if (strcmp(text, "*") == 0)
		return 0;
	n = strlen(text);
	/* everything public; what is private is named one by one */
	if (e.scheme == EGRESS_ALL)
		return n < 8 || strcmp(text + n - 8, " private") != 0;
	/* "https://" "*.example.org" ":443": the ends are the same */
	if (egress_host(e.host) != EGRESS_WILD ||
	    (host = strstr(own, "://")) == NULL)
		return 0;
	host += 3;
	port = host + strlen(e.host);
	k = strlen(e.host) - 1 + strlen(port); /* ".example.org:443" */
	return n > (size_t)(host - own) + k &&
	       strncmp(text, own, (size_t)(host - own)) == 0 &&
	       strcmp(text + n - k, host + 1) == 0;
}

static int
need_allow(const struct policy *po, const struct need *n, struct lint_use *use)
{
	size_t i;
	int found = 0;

	for (i = 0; i < po->nrules; i++) {
		if (po->rules[i].kind != RULE_EGRESS ||
		    !lint_allows(po, i, n->text))
			continue;
		found = 1;
		if (use != NULL)
			use->rules[i] = 1;
	}
	return found;
}

int
lint_need(const struct policy *po, const struct need *n, struct lint_use *use)
{
	const struct grant *g;

	if (n->verb == NEED_ALLOW)
		return need_allow(po, n, use);
	if ((g = grant_for(po, n)) == NULL)
		return 0;
	if (use != NULL)
		use->grants[g - po->grants] = 1;
	return 1;
}
