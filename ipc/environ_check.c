#include <stdio.h>
#include <string.h>

#include "environ.h"
#include "limits.h"
#include "owned.h"
#include "path.h"
#include "text.h"

const char *
environ_value_bad(const char *name, const char *value)
{
	const struct variable *v = variable_find(name);

	if (strlen(value) > VALUE_MAX_LEN)
		return "is too long";
	if (text_unsafe(value, strlen(value)))
		return "holds a control, bidi or invisible character";
	if (v == NULL)
		return NULL;
	if ((v->flags & VARIABLE_PATH) && !path_clean(value))
		return "is not an absolute, clean path";
	if (v->kind != VARIABLE_LIST)
		return NULL;
	if (value[0] == '\0')
		return "is an empty element";
	if (strchr(value, v->sep) != NULL ||
	    (v->alt != 0 && strchr(value, v->alt) != NULL))
		return "holds a separator of the list";
	return NULL;
}

/* How many values, and of which form. */
static const char *
values_bad(const struct env_claim *c)
{
	size_t i, bytes = 0;
	const char *bad;

	switch (c->verb) {
	case ENV_SET:
	case ENV_MERGE:
		if (c->nvalues != 1)
			return "has not one value";
		break;
	case ENV_PREPEND:
		if (c->nvalues == 0)
			return "has no element";
		break;
	default:
		if (c->nvalues != 0)
			return "has a value";
	}
	for (i = 0; i < c->nvalues; i++) {
		if ((bad = environ_value_bad(c->name, c->values[i])) != NULL)
			return bad;
		bytes += strlen(c->values[i]) + 1;
	}
	return bytes > SEQUENCE_BYTES ? "is too long" : NULL;
}

/* Whether a profile of this layer may write the name by this verb. */
static const char *
layer_bad(const struct env_claim *c, uint8_t layer)
{
	if (layer != LAYER_HOST && variable_code(c->name, c->verb) != NULL)
		return "is code: only a profile of the host may write it";
	if (layer != LAYER_SHIPPED && layer != LAYER_PACK)
		return NULL;
	if (variable_find(c->name) == NULL)
		return layer == LAYER_PACK
			   ? "has no row, and a pack names it"
			   : "has no row, and a shipped profile names it";
	if (c->verb == ENV_SANITISE)
		return layer == LAYER_PACK
			   ? "is sanitised by a pack"
			   : "is sanitised by a shipped profile";
	if (layer == LAYER_PACK && c->verb == ENV_INHERIT)
		return "is inherited by a pack";
	return NULL;
}

static const char *
origins_bad(const struct policy *po, const struct env_claim *c)
{
	const struct origin *o;
	const char *bad;
	size_t i;

	if (c->norigins == 0)
		return "has no claimant";
	for (i = 0; i < c->norigins; i++) {
		o = &c->origins[i];
		/* each profile once: what it repeats is one wish */
		if (o->profile >= po->nprofiles || o->verb != c->verb ||
		    (i > 0 && o->profile <= c->origins[i - 1].profile))
			return "has bad claimants";
		bad = layer_bad(c, po->profiles[o->profile].layer);
		if (bad != NULL)
			return bad;
	}
	return NULL;
}

static const char *
claim_bad(const struct policy *po, size_t i)
{
	const struct env_claim *c = &po->env[i], *last = c - 1;
	const char *bad;

	if ((bad = variable_name_bad(c->name, strlen(c->name))) != NULL)
		return bad;
	if (owned_find(c->name) != NULL && strcmp(c->name, "PATH") != 0)
		return "is carrel's own";
	if (c->verb < ENV_SET || c->verb > ENV_LAST ||
	    !(variable_verbs(c->name) & ENV_BIT(c->verb)))
		return "does not take this verb";
	if ((bad = values_bad(c)) != NULL)
		return bad;
	if ((bad = origins_bad(po, c)) != NULL)
		return bad;
	if (i > 0 && environ_cmp(last, c) >= 0)
		return "is out of order";
	if (i > 0 && c->verb != ENV_MERGE && c->verb == last->verb &&
	    strcmp(c->name, last->name) == 0)
		return "is claimed by profiles that disagree";
	return NULL;
}

int
environ_check(const struct policy *po, char *why, size_t len)
{
	const char *bad;
	size_t i;

	for (i = 0; i < po->nenv; i++)
		if ((bad = claim_bad(po, i)) != NULL) {
			snprintf(why, len, "variable \"%s\" %s",
			    po->env[i].name, bad);
			return -1;
		}
	return 0;
}

int
environ_check_shown(const struct policy *po, char *why, size_t len)
{
	const struct env_claim *c;
	size_t i, k;

	for (i = 0; i < po->nenv; i++) {
		c = &po->env[i];
		for (k = 0; k < c->norigins; k++)
			if (c->origins[k].profile >= po->nprofiles)
				break;
		if (c->verb >= ENV_SET && c->verb <= ENV_LAST &&
		    k == c->norigins)
			continue;
		snprintf(why, len, "variable \"%s\" has a bad field", c->name);
		return -1;
	}
	return 0;
}
