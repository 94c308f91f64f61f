#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "environ.h"
#include "limits.h"

/* Room for one more item: arrays grow when their length is a power of two. */
static void *
grow(void *p, size_t n, size_t size)
{
	if (n != 0 && (n & (n - 1)) != 0)
		return p;
	return realloc(p, (n == 0 ? 1 : n * 2) * size);
}

static void
release(struct env_claim *c)
{
	size_t i;

	for (i = 0; i < c->nvalues; i++)
		free(c->values[i]);
	free(c->values);
	free(c->name);
	free(c->origins);
}

struct env_claim *
policy_add_claim(struct policy *po, enum env_verb verb, const char *name,
    char *const *values, size_t n)
{
	struct env_claim *c;

	if (po->nenv >= CLAIMS_MAX || n > SEQUENCE_MAX) {
		errno = E2BIG;
		return NULL;
	}
	c = grow(po->env, po->nenv, sizeof(*c));
	if (c == NULL)
		return NULL;
	po->env = c;
	c = &po->env[po->nenv++]; /* policy_free() frees what is there */
	memset(c, 0, sizeof(*c));
	c->verb = (uint8_t)verb;
	c->name = strdup(name);
	c->values = calloc(n + 1, sizeof(*c->values));
	if (c->name == NULL || c->values == NULL)
		return NULL;
	for (; c->nvalues < n; c->nvalues++) {
		c->values[c->nvalues] = strdup(values[c->nvalues]);
		if (c->values[c->nvalues] == NULL)
			return NULL;
	}
	return c;
}

int
environ_add_origin(struct env_claim *c, const struct origin *o)
{
	struct origin *p;

	if (c->norigins >= ORIGINS_MAX) {
		errno = E2BIG;
		return -1;
	}
	p = grow(c->origins, c->norigins, sizeof(*p));
	if (p == NULL)
		return -1;
	c->origins = p;
	p[c->norigins++] = *o;
	return 0;
}

int
environ_cmp(const struct env_claim *x, const struct env_claim *y)
{
	size_t i;
	int n;

	if ((n = strcmp(x->name, y->name)) != 0)
		return n;
	if (x->verb != y->verb)
		return x->verb < y->verb ? -1 : 1;
	for (i = 0; i < x->nvalues && i < y->nvalues; i++)
		if ((n = strcmp(x->values[i], y->values[i])) != 0)
			return n;
	return x->nvalues < y->nvalues ? -1 : x->nvalues > y->nvalues;
}

const struct env_claim *
policy_environ(const struct policy *po, const char *name, size_t *n)
{
	size_t i;

	*n = 0;
	for (i = 0; i < po->nenv; i++)
		if (strcmp(po->env[i].name, name) == 0)
			break;
	if (i == po->nenv)
		return NULL;
	while (i + *n < po->nenv && strcmp(po->env[i + *n].name, name) == 0)
		++*n;
	return &po->env[i];
}

void
environ_release(struct policy *po)
{
	size_t i;

	for (i = 0; i < po->nenv; i++)
		release(&po->env[i]);
	free(po->env);
}

static int
sort_cmp(const void *a, const void *b)
{
	return environ_cmp(a, b);
}

static int
origin_cmp(const void *a, const void *b)
{
	const struct origin *x = a, *y = b;

	if (x->profile != y->profile)
		return x->profile < y->profile ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

void
environ_sort(struct policy *po)
{
	struct env_claim *c;
	size_t i;

	for (i = 0; i < po->nenv; i++) {
		c = &po->env[i];
		if (c->norigins > 1)
			qsort(c->origins, c->norigins, sizeof(*c->origins),
			    origin_cmp);
	}
	if (po->nenv > 1)
		qsort(po->env, po->nenv, sizeof(*po->env), sort_cmp);
}

/* struct env_claim: RECORD_ENVIRON; the verb of the origins is the claim's */

void
environ_put(struct wbuf *w, const struct env_claim *c)
{
	size_t i;

	wbuf_u8(w, c->verb);
	wbuf_str(w, c->name);
	wbuf_u16(w, (uint16_t)c->nvalues);
	for (i = 0; i < c->nvalues; i++)
		wbuf_str(w, c->values[i]);
	wbuf_u16(w, (uint16_t)c->norigins);
	for (i = 0; i < c->norigins; i++) {
		wbuf_u16(w, c->origins[i].profile);
		wbuf_u32(w, c->origins[i].line);
	}
}

int
environ_get(struct rcur *r, struct policy *po)
{
	char *values[SEQUENCE_MAX];
	struct env_claim *c;
	struct origin o;
	const char *name;
	size_t i, n;

	o.verb = rcur_u8(r);
	name = rcur_str(r, VARIABLE_NAME_MAX);
	n = rcur_u16(r);
	if (r->bad || n > SEQUENCE_MAX)
		return -1;
	/* they point into the record, and are copied below */
	for (i = 0; i < n; i++)
		values[i] = (char *)(uintptr_t)rcur_str(r, VALUE_MAX_LEN);
	if (r->bad)
		return -1;
	c = policy_add_claim(po, (enum env_verb)o.verb, name, values, n);
	if (c == NULL)
		return -1;
	n = rcur_u16(r);
	if (r->bad || n > ORIGINS_MAX)
		return -1;
	for (i = 0; i < n; i++) {
		o.profile = rcur_u16(r);
		o.line = rcur_u32(r);
		if (r->bad || environ_add_origin(c, &o) == -1)
			return -1;
	}
	return rcur_end(r);
}
