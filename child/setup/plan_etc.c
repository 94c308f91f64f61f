#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child/shared/caller.h"
#include "ipc/egress.h"
#include "ipc/limits.h"
#include "ipc/rule.h"
#include "plan_parts.h"

#define NOBODY 65534U

/* Text that grows; freed by its owner. */
struct text {
	char *s;
	size_t len;
};

static int etc_add(struct text *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static int
etc_add(struct text *t, const char *fmt, ...)
{
	char line[2 * PATH_MAX_LEN + 3 * IDENT_MAX_LEN], *p;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(line))
		return -1;
	p = realloc(t->s, t->len + (size_t)n + 1);
	if (p == NULL)
		return -1;
	memcpy(p + t->len, line, (size_t)n + 1);
	t->s = p;
	t->len += (size_t)n;
	return 0;
}

/* One field of passwd(5) or group(5): what would break the line is not. */
static int
is_field(const char *s)
{
	for (; *s != '\0'; s++)
		if (*s == ':' || *s == ',' || (unsigned char)*s < ' ' ||
		    *s == 0x7f)
			return 0;
	return 1;
}

static int
is_name(const char *s)
{
	return s[0] != '\0' && is_field(s);
}

static int
file(struct draft *d, const char *guest, const char *text)
{
	struct step s = {.kind = STEP_FILE, .mode = 0444, .grant = -1};

	return plan_own(d, &s, guest, text);
}

static int
passwd(struct draft *d, struct text *t)
{
	const struct caller *c = d->ca;
	int user =
	    is_name(c->user) && is_field(c->guest_home) && is_field(c->shell);

	/* the caller's row first: a uid with two names has this one */
	if (user && etc_add(t, "%s:x:%u:%u::%s:%s\n", c->user, (unsigned)c->uid,
			(unsigned)c->gid, c->guest_home, c->shell) == -1)
		return -1;
	if ((!user || strcmp(c->user, "root") != 0) &&
	    etc_add(t, "root:x:0:0:root:/root:/bin/sh\n") == -1)
		return -1;
	if (user && strcmp(c->user, "nobody") == 0)
		return 0;
	return etc_add(t, "nobody:x:%u:%u:nobody:/nonexistent:/bin/false\n",
	    NOBODY, NOBODY);
}

static int
group(struct draft *d, struct text *t)
{
	const struct caller *c = d->ca;
	const char *member;
	size_t i, k;

	if (etc_add(t, "root:x:0:\n") == -1)
		return -1;
	for (i = 0; i < c->ngroups; i++) {
		for (k = 0; k < i; k++)
			if (c->groups[k].gid == c->groups[i].gid)
				break;
		if (k < i || c->groups[i].gid == 0 ||
		    c->groups[i].gid == NOBODY || !is_name(c->groups[i].name))
			continue;
		member = c->groups[i].gid != c->gid && is_name(c->user)
			     ? c->user
			     : "";
		if (etc_add(t, "%s:x:%u:%s\n", c->groups[i].name,
			(unsigned)c->groups[i].gid, member) == -1)
			return -1;
	}
	return etc_add(t, "nogroup:x:%u:\n", NOBODY);
}

static const char resolver_file[] = "/etc/resolv.conf";
#define RESOLVER_LEN (ADDRESS_TEXT + 80)

/* It asks carrel, and no search domain tells it to try other names first. */
static void
asks_carrel(char text[RESOLVER_LEN])
{
	char address[ADDRESS_TEXT];
	struct address v4, v6;

	egress_pair(EGRESS_DNS, &v4, &v6);
	snprintf(text, RESOLVER_LEN,
	    "# carrel: answers for what is allowed alone\nnameserver %s\n",
	    address_text(&v4, address));
}

/*
 * Without a network the resolver must not wait: no server is named, so it
 * asks 127.0.0.1, where nobody listens, and is refused at once.
 */
static int
resolver(struct draft *d)
{
	char text[RESOLVER_LEN];
	size_t i;

	for (i = 0; i < d->po->nrules; i++)
		if (d->po->rules[i].kind == RULE_EGRESS)
			break;
	if (i == d->po->nrules)
		return file(
		    d, resolver_file, "# carrel: no network is granted\n");
	asks_carrel(text);
	return file(d, resolver_file, text);
}

void
plan_learn(struct plan *pl)
{
	static char text[RESOLVER_LEN]; /* of one process, which has one plan */
	size_t i;

	pl->learn = pl->report_exec = pl->report_fs = 1;
	asks_carrel(text);
	for (i = 0; i < pl->nsteps; i++)
		if (pl->steps[i].kind == STEP_FILE &&
		    strcmp(pl->steps[i].guest, resolver_file) == 0)
			pl->steps[i].text = text;
}

void
plan_uses(struct plan *pl)
{
	pl->uses = pl->report_exec = pl->report_fs = 1;
}

static int
fixed(struct draft *d)
{
	return file(d, "/etc/hosts",
		   "127.0.0.1\tlocalhost carrel\n"
		   "::1\tlocalhost ip6-localhost ip6-loopback\n") == -1 ||
		       file(d, "/etc/hostname", "carrel\n") == -1 ||
		       resolver(d) == -1
		   ? -1
		   : 0;
}

int
plan_etc(struct draft *d)
{
	struct text t[2] = {{NULL, 0}, {NULL, 0}};
	int r = -1;

	if (passwd(d, &t[0]) == 0 && group(d, &t[1]) == 0 &&
	    file(d, "/etc/passwd", t[0].s) == 0 &&
	    file(d, "/etc/group", t[1].s) == 0)
		r = fixed(d);
	free(t[0].s);
	free(t[1].s);
	return r;
}
