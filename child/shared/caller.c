#include <stdlib.h>
#include <string.h>

#include "caller.h"
#include "ipc/buf.h"
#include "ipc/limits.h"
#include "ipc/path.h"

_Static_assert(GROUPS_MAX_LEN * 7 + GROUPS_NAMES_LEN + 6 * (PATH_MAX_LEN + 3) +
		       HOME_OTHER_LEN + 3 + 5 * (IDENT_MAX_LEN + 3) +
		       PROTECT_LEN + 64 <
		   RECORD_MAX,
    "a caller fits a record");

void
caller_free(struct caller *c)
{
	size_t i;

	free(c->user);
	free(c->home);
	free(c->home_real);
	free(c->home_other);
	free(c->guest_home);
	free(c->shell);
	free(c->cwd);
	free(c->target);
	free(c->term);
	free(c->lang);
	free(c->tz);
	for (i = 0; i < c->ngroups; i++)
		free(c->groups[i].name);
	free(c->groups);
	for (i = 0; i < c->nprotect; i++)
		free(c->protect[i].path);
	free(c->protect);
	memset(c, 0, sizeof(*c));
}

void
caller_put(struct wbuf *w, const struct caller *c)
{
	size_t i;

	wbuf_u32(w, c->uid);
	wbuf_u32(w, c->gid);
	wbuf_u32(w, c->flags);
	wbuf_str(w, c->user);
	wbuf_str(w, c->home);
	wbuf_str(w, c->home_real);
	wbuf_str(w, c->home_other);
	wbuf_str(w, c->guest_home);
	wbuf_str(w, c->shell);
	wbuf_str(w, c->cwd);
	wbuf_str(w, c->target);
	wbuf_str(w, c->term);
	wbuf_str(w, c->lang);
	wbuf_str(w, c->tz);
	wbuf_u16(w, (uint16_t)c->ngroups);
	for (i = 0; i < c->ngroups; i++) {
		wbuf_u32(w, c->groups[i].gid);
		wbuf_str(w, c->groups[i].name);
	}
	wbuf_u16(w, (uint16_t)c->nprotect);
	for (i = 0; i < c->nprotect; i++) {
		wbuf_str(w, c->protect[i].path);
		wbuf_u8(w, c->protect[i].make);
	}
}

static int
get_groups(struct rcur *r, struct caller *c)
{
	size_t i, n;

	n = rcur_u16(r);
	if (r->bad || n > GROUPS_MAX_LEN)
		return -1;
	c->groups = calloc(n + 1, sizeof(*c->groups));
	if (c->groups == NULL)
		return -1;
	for (i = 0; i < n; i++) {
		c->groups[i].gid = rcur_u32(r);
		c->groups[i].name = strdup(rcur_str(r, IDENT_MAX_LEN));
		c->ngroups++;
		if (c->groups[i].name == NULL)
			return -1;
	}
	return 0;
}

static int
get_protect(struct rcur *r, struct caller *c)
{
	struct caller_trust *t;
	size_t i, n;

	n = rcur_u16(r);
	if (r->bad || n > PROTECT_MAX)
		return -1;
	c->protect = calloc(n + 1, sizeof(*c->protect));
	if (c->protect == NULL)
		return -1;
	for (i = 0; i < n; i++) {
		t = &c->protect[i];
		t->path = strdup(rcur_str(r, PATH_MAX_LEN));
		t->make = rcur_u8(r);
		c->nprotect++;
		if (t->path == NULL || !path_clean(t->path) ||
		    (t->make & ~TRUST_FLAGS) != 0)
			return -1;
	}
	return 0;
}

int
caller_get(struct rcur *r, struct caller *out)
{
	struct caller c;

	memset(&c, 0, sizeof(c));
	c.uid = rcur_u32(r);
	c.gid = rcur_u32(r);
	c.flags = rcur_u32(r);
	c.user = strdup(rcur_str(r, IDENT_MAX_LEN));
	c.home = strdup(rcur_str(r, PATH_MAX_LEN));
	c.home_real = strdup(rcur_str(r, PATH_MAX_LEN));
	c.home_other = strdup(rcur_str(r, HOME_OTHER_LEN));
	c.guest_home = strdup(rcur_str(r, PATH_MAX_LEN));
	c.shell = strdup(rcur_str(r, PATH_MAX_LEN));
	c.cwd = strdup(rcur_str(r, PATH_MAX_LEN));
	c.target = strdup(rcur_str(r, PATH_MAX_LEN));
	c.term = strdup(rcur_str(r, IDENT_MAX_LEN));
	c.lang = strdup(rcur_str(r, IDENT_MAX_LEN));
	c.tz = strdup(rcur_str(r, IDENT_MAX_LEN));
	if (get_groups(r, &c) == -1 || get_protect(r, &c) == -1 ||
	    rcur_end(r) == -1 || (c.flags & ~(uint32_t)CALLER_FLAGS) != 0 ||
	    c.user == NULL || c.home == NULL || c.home_real == NULL ||
	    c.home_other == NULL || c.guest_home == NULL || c.shell == NULL ||
	    c.cwd == NULL || c.target == NULL || c.term == NULL ||
	    c.lang == NULL || c.tz == NULL || !path_clean(c.home) ||
	    !path_clean(c.home_real) || !path_clean(c.guest_home) ||
	    !path_clean(c.cwd) ||
	    (c.home_other[0] != '\0' && !path_clean(c.home_other)) ||
	    (c.target[0] != '\0' && !path_clean(c.target))) {
		caller_free(&c);
		return -1;
	}
	*out = c;
	return 0;
}
