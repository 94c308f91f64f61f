#ifndef CARREL_TEST_WORLD_H
#define CARREL_TEST_WORLD_H

/* What the tests of survey, plan and root share: policies made by hand. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child/shared/caller.h"
#include "ipc/limits.h"
#include "ipc/policy.h"

static inline void
world_caller(struct caller *c)
{
	memset(c, 0, sizeof(*c));
	c->uid = 1000;
	c->gid = 1000;
	c->user = strdup("u");
	c->home = strdup("/home/u");
	c->home_real = strdup("/home/u");
	c->home_other = strdup("");
	c->guest_home = strdup("/home/u");
	c->shell = strdup("/bin/sh");
	c->cwd = strdup("/home/u/proj");
	c->target = strdup("/home/u/proj");
	c->term = strdup("xterm");
	c->lang = strdup("");
	c->tz = strdup("");
	c->groups = calloc(1, sizeof(*c->groups));
	c->groups[0].gid = 1000;
	c->groups[0].name = strdup("u");
	c->ngroups = 1;
}

/* One more path that the next run trusts. */
static inline void
world_protect(struct caller *c, const char *path)
{
	c->protect =
	    realloc(c->protect, (c->nprotect + 1) * sizeof(*c->protect));
	c->protect[c->nprotect].path = strdup(path);
	c->protect[c->nprotect++].make = 0;
}

static inline void
world_replace(char **field, const char *value)
{
	free(*field);
	*field = strdup(value);
}

static inline void
world_policy(struct policy *po)
{
	memset(po, 0, sizeof(*po));
	if (policy_add_profile(po, "@sys", "/p/sys.profile", LAYER_SHIPPED,
		PROFILE_DEFAULT) == NULL ||
	    policy_add_profile(po, "mine", "/c/mine.profile", LAYER_USER,
		PROFILE_ASKED) == NULL)
		abort();
}

/* One claim of profile 1; a line of its own each. source NULL: the guest. */
static inline struct grant *
world_add(
    struct policy *po, enum verb verb, const char *guest, const char *source)
{
	struct origin o = {1, (uint8_t)verb, (uint32_t)po->ngrants + 1};
	enum grant_kind kind = GRANT_BIND;
	uint8_t flags = 0;
	struct grant *g;

	if (verb == VERB_TMPFS)
		kind = GRANT_TMPFS;
	if (verb == VERB_SYMLINK)
		kind = GRANT_SYMLINK;
	if (verb == VERB_COMMAND)
		kind = GRANT_COMMAND;
	if (verb == VERB_SOCKET)
		kind = GRANT_SOCKET;
	if (verb == VERB_DEVICE)
		kind = GRANT_DEVICE;
	if (verb == VERB_WRITE || verb == VERB_TRY_WRITE)
		flags |= GRANT_WRITE;
	if (verb == VERB_TRY_READ || verb == VERB_TRY_WRITE)
		flags |= GRANT_TRY;
	if (source == NULL)
		source = kind == GRANT_TMPFS ? "" : guest;
	g = policy_add_grant(
	    po, kind, flags, guest, source, kind == GRANT_TMPFS ? 1 << 20 : 0);
	if (g == NULL || grant_add_origin(g, &o) == -1)
		abort();
	return g;
}

/* Sorts and judges, as the parent does with what it received. */
static inline void
world_check(struct policy *po)
{
	char why[TEXT_MAX_LEN];

	policy_sort(po);
	if (policy_check(po, why, sizeof(why)) == -1) {
		fprintf(stderr, "policy_check: %s\n", why);
		abort();
	}
}

#endif
