#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hostenv.h"
#include "ipc/buf.h"
#include "ipc/environ.h"
#include "ipc/limits.h"

void
hostenv_free(struct hostenv *h)
{
	size_t i;

	for (i = 0; i < h->n; i++) {
		free(h->vars[i].name);
		free(h->vars[i].value);
	}
	free(h->vars);
	memset(h, 0, sizeof(*h));
}

const struct host_variable *
hostenv_find(const struct hostenv *h, const char *name)
{
	size_t i;

	for (i = 0; h != NULL && i < h->n; i++)
		if (strcmp(h->vars[i].name, name) == 0)
			return &h->vars[i];
	return NULL;
}

static int
add(struct hostenv *h, const char *name, const char *value, int too_long)
{
	struct host_variable *p;

	if (h->n >= CLAIMS_MAX) {
		errno = E2BIG;
		return -1;
	}
	p = realloc(h->vars, (h->n + 1) * sizeof(*p));
	if (p == NULL)
		return -1;
	h->vars = p;
	p = &p[h->n++];
	p->name = strdup(name);
	p->value = strdup(value);
	p->too_long = (uint8_t)too_long;
	return p->name == NULL || p->value == NULL ? -1 : 0;
}

/* Takes the variable over, if it is set. */
static int
pick(struct hostenv *h, const char *name, char *const *env)
{
	size_t n = strlen(name);
	int too_long;

	for (; *env != NULL; env++)
		if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
			break;
	if (*env == NULL)
		return 0;
	too_long = strlen(*env + n + 1) > HOST_VALUE_MAX;
	return add(h, name, too_long ? "" : *env + n + 1, too_long);
}

int
hostenv_pick(struct hostenv *out, const struct policy *po, char *const *env)
{
	const struct env_claim *c;
	struct hostenv h = {NULL, 0};
	size_t i;

	for (i = 0; i < po->nenv; i++) {
		c = &po->env[i];
		if (c->verb != ENV_INHERIT && c->verb != ENV_SANITISE)
			continue;
		/* no name takes both verbs, but a refused policy may say so */
		if (hostenv_find(&h, c->name) != NULL)
			continue;
		if (pick(&h, c->name, env) == -1) {
			hostenv_free(&h);
			return -1;
		}
	}
	*out = h;
	return 0;
}

void
hostenv_put(struct wbuf *w, const struct host_variable *v)
{
	wbuf_str(w, v->name);
	wbuf_str(w, v->value);
	wbuf_u8(w, v->too_long);
}

int
hostenv_get(struct rcur *c, struct hostenv *h)
{
	const char *name, *value;
	uint8_t too_long;

	name = rcur_str(c, VARIABLE_NAME_MAX);
	value = rcur_str(c, HOST_VALUE_MAX);
	too_long = rcur_u8(c);
	if (rcur_end(c) == -1 || too_long > 1 ||
	    variable_name_bad(name, strlen(name)) != NULL ||
	    hostenv_find(h, name) != NULL)
		return -1;
	return add(h, name, value, too_long);
}
