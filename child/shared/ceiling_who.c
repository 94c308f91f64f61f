#include <string.h>

#include "caller.h"
#include "ceiling.h"
#include "ipc/confine.h"
#include "ipc/limits.h"
#include "ipc/rule.h"

#define NAME_CEILING "the ceiling" /* no profile has a blank in its name */

/* Who it is for */

/* The number that a name is; no user or group is called by digits alone. */
static int
is_number(const char *name, uint32_t *n)
{
	uint64_t k = 0;

	if (*name == '\0')
		return 0;
	for (; *name != '\0'; name++) {
		if (*name < '0' || *name > '9')
			return 0;
		k = k * 10 + (uint64_t)(*name - '0');
		if (k > UINT32_MAX)
			return 0;
	}
	*n = (uint32_t)k;
	return 1;
}

static int
is_user(const char *name, const struct caller *ca)
{
	uint32_t n;

	if (is_number(name, &n))
		return n == ca->uid;
	return (ca->flags & CALLER_NO_ACCOUNT) == 0 &&
	       strcmp(name, ca->user) == 0;
}

static int
is_member(const char *name, const struct caller *ca)
{
	uint32_t n;
	size_t i;
	int number = is_number(name, &n);

	for (i = 0; i < ca->ngroups; i++)
		if (number ? ca->groups[i].gid == n
			   : strcmp(ca->groups[i].name, name) == 0)
			return 1;
	return 0;
}

int
ceiling_counts(const struct ceiling_line *l, const struct caller *ca)
{
	if (l->who == CEILING_EVERYONE)
		return 1;
	return l->who == CEILING_USER ? is_user(l->name, ca)
				      : is_member(l->name, ca);
}

const struct ceiling_line *
ceiling_limit(const struct ceiling *c, const struct caller *ca, unsigned limit)
{
	const struct ceiling_line *l, *found = NULL;
	size_t i;

	for (i = 0; i < c->n; i++) {
		l = &c->lines[i];
		if (l->kind != CEILING_LIMIT || l->what != limit ||
		    !ceiling_counts(l, ca))
			continue;
		/* user before group before everyone; among equals the least */
		if (found == NULL || l->who > found->who ||
		    (l->who == found->who && l->number < found->number))
			found = l;
	}
	return found;
}

const char *
ceiling_file(const struct ceiling *c)
{
	return c->file[0] != '\0' ? c->file : "the default ceiling";
}

/*
 * What no profile limits has the ceiling's limit. Not where it would be more
 * than what holds without: carrel's own core size, and its sum of all tmpfs.
 */
static int
imposes(const struct policy *po, const struct ceiling_line *l, unsigned limit)
{
	return l != NULL && limit != LIMIT_CORE_SIZE &&
	       confine_limit(po, (enum limit)limit) == NULL &&
	       (limit != LIMIT_TMPFS || l->number < TMPFS_SUM);
}

int
ceiling_impose(
    const struct ceiling *c, const struct caller *ca, struct policy *po)
{
	const struct ceiling_line *l;
	struct rule r = {.kind = RULE_LIMIT, .text = (char[]){""}};
	unsigned limit;
	int added = 0;

	for (limit = LIMIT_MEMORY; limit <= LIMIT_LAST; limit++) {
		l = ceiling_limit(c, ca, limit);
		if (!imposes(po, l, limit))
			continue;
		if (!added++ &&
		    policy_add_profile(po, NAME_CEILING, ceiling_file(c),
			LAYER_HOST, PROFILE_CEILING) == NULL)
			return -1;
		r.what = (uint8_t)limit;
		r.number = l->number;
		r.line = l->line;
		r.profile = (uint16_t)(po->nprofiles - 1);
		if (policy_add_rule(po, &r) == NULL)
			return -1;
	}
	rules_sort(po);
	return 0;
}
