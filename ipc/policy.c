#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"
#include "environ.h"
#include "grow.h"
#include "limits.h"
#include "path.h"
#include "policy.h"
#include "rule.h"
#include "text.h"

static const char *const verb_names[] = {"?", "read", "write", "try-read",
    "try-write", "tmpfs", "symlink", "command", "socket", "device"};

const char *
policy_verb(unsigned verb)
{
	return verb_names[verb <= VERB_LAST ? verb : 0];
}

const char *
policy_layer(unsigned layer)
{
	static const char *const names[] = {
	    "?", "shipped", "host", "user", "pack"};

	return names[layer <= LAYER_LAST ? layer : 0];
}

void
policy_tell(struct text_list *l, const struct policy *po, unsigned profile,
    uint32_t line, const char *verb, const char *before, const char *behind)
{
	const struct profile *p = &po->profiles[profile];

	char at[16] = "";

	/* what every pack has stands in no line */
	if (line != 0)
		text_add(at, sizeof(at), ":%u", (unsigned)line);
	text_list_add(l, "%s%s of %s, %s%s%s", before, verb, p->name, p->file,
	    at, behind);
}

void
policy_tell_grant(
    const struct policy *po, const struct grant *g, char *buf, size_t len)
{
	struct text_list l = {.buf = buf, .cap = len};
	size_t i;

	buf[0] = '\0';
	for (i = 0; i < g->norigins; i++)
		policy_tell(&l, po, g->origins[i].profile, g->origins[i].line,
		    policy_verb(g->origins[i].verb), i == 0 ? "" : "; ", "");
	text_list_end(&l);
}

static void
profile_free(struct profile *p)
{
	free(p->name);
	free(p->file);
	free(p->description);
	free(p->abuse);
	free(p->includes);
}

static void
grant_free(struct grant *g)
{
	free(g->guest);
	free(g->source);
	free(g->origins);
}

static void
refusal_free(struct refusal *r)
{
	free(r->profile);
	free(r->file);
	free(r->what);
	free(r->fix);
}

struct profile *
policy_add_profile(struct policy *po, const char *name, const char *file,
    enum layer layer, uint8_t flags)
{
	struct profile *p;

	if (po->nprofiles >= PROFILES_MAX) {
		errno = E2BIG;
		return NULL;
	}
	p = grow_from(8, po->profiles, po->nprofiles, sizeof(*p));
	if (p == NULL)
		return NULL;
	po->profiles = p;
	p = &po->profiles[po->nprofiles];
	memset(p, 0, sizeof(*p));
	p->name = strdup(name);
	p->file = strdup(file);
	p->description = strdup("");
	p->abuse = strdup("");
	memset(p->digest, '0', SHA256_HEX);
	p->layer = (uint8_t)layer;
	p->flags = flags;
	if (p->name == NULL || p->file == NULL || p->description == NULL ||
	    p->abuse == NULL) {
		profile_free(p);
		return NULL;
	}
	po->nprofiles++;
	return p;
}

struct grant *
policy_add_grant(struct policy *po, enum grant_kind kind, uint8_t flags,
    const char *guest, const char *source, uint64_t size)
{
	struct grant *g;

	if (po->ngrants >= GRANTS_MAX) {
		errno = E2BIG;
		return NULL;
	}
	g = grow_from(32, po->grants, po->ngrants, sizeof(*g));
	if (g == NULL)
		return NULL;
	po->grants = g;
	g = &po->grants[po->ngrants];
	memset(g, 0, sizeof(*g));
	g->kind = (uint8_t)kind;
	g->flags = flags;
	g->guest = strdup(guest);
	g->source = strdup(source);
	g->size = size;
	if (g->guest == NULL || g->source == NULL) {
		grant_free(g);
		return NULL;
	}
	po->ngrants++;
	return g;
}

int
grant_add_origin(struct grant *g, const struct origin *o)
{
	struct origin *p;

	if (g->norigins >= ORIGINS_MAX) {
		errno = E2BIG;
		return -1;
	}
	p = grow(g->origins, g->norigins, sizeof(*p));
	if (p == NULL)
		return -1;
	g->origins = p;
	p[g->norigins++] = *o;
	return 0;
}

int
policy_refuse(struct policy *po, const char *profile, const char *file,
    uint32_t line, const char *fix, const char *fmt, ...)
{
	struct refusal *r;
	char what[TEXT_MAX_LEN];
	va_list ap;

	if (po->nrefusals >= REFUSALS_MAX) {
		po->unkept++;
		return 0;
	}
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	r = grow(po->refusals, po->nrefusals, sizeof(*r));
	if (r == NULL)
		return -1;
	po->refusals = r;
	r = &po->refusals[po->nrefusals];
	r->profile = strdup(profile);
	r->file = strdup(file);
	r->line = line;
	r->what = strdup(what);
	r->fix = strdup(fix);
	if (r->profile == NULL || r->file == NULL || r->what == NULL ||
	    r->fix == NULL) {
		refusal_free(r);
		return -1;
	}
	po->nrefusals++;
	return 0;
}

void
policy_free(struct policy *po)
{
	size_t i;

	for (i = 0; i < po->nprofiles; i++) {
		profile_free(&po->profiles[i]);
	}
	for (i = 0; i < po->ngrants; i++) {
		grant_free(&po->grants[i]);
	}
	for (i = 0; i < po->nrefusals; i++) {
		refusal_free(&po->refusals[i]);
	}
	free(po->profiles);
	free(po->grants);
	environ_release(po);
	rules_release(po);
	tools_release(po);
	free(po->prompt);
	free(po->refusals);
	memset(po, 0, sizeof(*po));
}

static int
origin_cmp(const void *a, const void *b)
{
	const struct origin *x = a, *y = b;

	if (x->profile != y->profile)
		return x->profile < y->profile ? -1 : 1;
	if (x->verb != y->verb)
		return x->verb < y->verb ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static int
grant_cmp(const void *a, const void *b)
{
	const struct grant *x = a, *y = b;
	int n;

	if ((n = path_cmp(x->guest, y->guest)) != 0)
		return n;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if ((n = strcmp(x->source, y->source)) != 0)
		return n;
	return x->size < y->size ? -1 : x->size > y->size;
}

static int
refusal_cmp(const void *a, const void *b)
{
	const struct refusal *x = a, *y = b;
	int n;

	if ((n = strcmp(x->profile, y->profile)) != 0)
		return n;
	if ((n = strcmp(x->file, y->file)) != 0)
		return n;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return strcmp(x->what, y->what);
}

/* qsort(3) must not be given NULL, and an empty array is NULL. */
static void
sort(void *p, size_t n, size_t size, int (*cmp)(const void *, const void *))
{
	if (n > 1)
		qsort(p, n, size, cmp);
}

void
policy_sort(struct policy *po)
{
	size_t i;

	for (i = 0; i < po->ngrants; i++)
		sort(po->grants[i].origins, po->grants[i].norigins,
		    sizeof(struct origin), origin_cmp);
	sort(po->grants, po->ngrants, sizeof(*po->grants), grant_cmp);
	environ_sort(po);
	rules_sort(po);
	sort(po->refusals, po->nrefusals, sizeof(*po->refusals), refusal_cmp);
}

const struct grant *
policy_find(const struct policy *po, const char *guest)
{
	size_t lo = 0, hi = po->ngrants, mid;
	int n;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		n = path_cmp(po->grants[mid].guest, guest);
		if (n == 0)
			return &po->grants[mid];
		if (n < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

const struct grant *
policy_above(const struct policy *po, const char *guest)
{
	const struct grant *g;
	char path[PATH_MAX_LEN + 1], *slash;

	if (strlen(guest) > PATH_MAX_LEN)
		return NULL;
	strcpy(path, guest);
	while ((slash = strrchr(path, '/')) != NULL && slash != path) {
		*slash = '\0';
		if ((g = policy_find(po, path)) != NULL)
			return g;
	}
	return NULL;
}
