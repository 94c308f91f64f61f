#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child/shared/hostenv.h"
#include "child/shared/caller.h"
#include "ipc/environ.h"
#include "ipc/grow.h"
#include "ipc/limits.h"
#include "ipc/owned.h"
#include "ipc/path.h"
#include "ipc/text.h"
#include "plan_parts.h"

/* The payload's environment: carrel's own names, and the scalars. */

#define BY_CARREL "(carrel)"
#define PROMPT	  "{lock} {cwd} \\$"
#define LOCK	  "[carrel]"
#define ZONES	  "/usr/share/zoneinfo/"

struct env_row *
plan_env_row(
    struct draft *d, const char *name, const char *who, const char *mark)
{
	struct plan *pl = d->pl;
	struct env_row *p;

	p = grow_from(32, pl->env, pl->nenv, sizeof(*p));
	if (p == NULL)
		return NULL;
	pl->env = p;
	p = &p[pl->nenv++];
	memset(p, 0, sizeof(*p));
	p->name = strdup(name);
	p->who = strdup(who);
	p->mark = strdup(mark);
	return p->name == NULL || p->who == NULL || p->mark == NULL ? NULL : p;
}

/* Appends; sep only if there is something already. */
static int
text_join(char **text, const char *sep, const char *more)
{
	char *p;

	if (asprintf(&p, "%s%s%s", *text, **text != '\0' ? sep : "", more) ==
	    -1)
		return -1;
	free(*text);
	*text = p;
	return 0;
}

int
plan_mark(char **text, const char *mark)
{
	return text_join(text, " ", mark);
}

int
plan_who(char **text, const struct draft *d, const struct env_claim *c)
{
	const struct origin *o;
	char one[NAME_MAX_LEN + 64];
	size_t i;

	for (i = 0; i < c->norigins; i++) {
		o = &c->origins[i];
		snprintf(one, sizeof(one), "%s %.*s:%u", variable_verb(c->verb),
		    NAME_MAX_LEN + 1, d->po->profiles[o->profile].name,
		    (unsigned)o->line);
		if (text_join(text, ", ", one) == -1)
			return -1;
	}
	return 0;
}

int
plan_mark_granted(char **mark, const struct draft *d, const char *path)
{
	const struct grant *g = d->po->grants;
	const char *below;
	char text[64];
	size_t i, n = 0;

	if (plan_granted(d->pl, path))
		return 0;
	for (i = 0; i < d->po->ngrants; i++) {
		below = path_below(path, g[i].guest);
		n += d->fate[i] != FATE_NONE && !(g[i].flags & GRANT_OWN) &&
		     below != NULL && *below != '\0';
	}
	snprintf(text, sizeof(text), "<- not granted (%zu grant%s inside)", n,
	    n == 1 ? "" : "s");
	return plan_mark(mark, text);
}

void
plan_env_claims(
    const struct draft *d, const struct env_claim *c, char *buf, size_t len)
{
	struct text_list l = {.buf = buf, .cap = len};
	size_t i;

	buf[0] = '\0';
	for (i = 0; i < c->norigins; i++)
		policy_tell(&l, d->po, c->origins[i].profile,
		    c->origins[i].line, variable_verb(c->verb),
		    i == 0 ? "" : "; ", "");
	text_list_end(&l);
}

/* carrel's own names */

static int
own(struct draft *d, const char *name, const char *value)
{
	struct env_row *r = plan_env_row(d, name, BY_CARREL, "");

	if (r == NULL || (r->value = strdup(value)) == NULL)
		return -1;
	return 0;
}

/* HOME and SHELL are there in any case (S54). */
static int
own_path(struct draft *d, const char *name, const char *path)
{
	if (own(d, name, path) == -1)
		return -1;
	return plan_mark_granted(&d->pl->env[d->pl->nenv - 1].mark, d, path);
}

/* Those that the caller chose; what they include is not repeated. */
static char *
chosen(const struct draft *d)
{
	const struct policy *po = d->po;
	char *text = strdup("");
	size_t i;

	for (i = 0; text != NULL && i < po->nprofiles; i++)
		if ((po->profiles[i].flags &
			(PROFILE_ASKED | PROFILE_DEFAULT)) != 0 &&
		    text_join(&text, " ", po->profiles[i].name) == -1) {
			free(text);
			text = NULL;
		}
	return text;
}

/* "CET-1CEST,...": a name and its offset, tzset(3). */
static int
spelled_out(const char *tz)
{
	size_t n =
	    strspn(tz, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");

	return n >= 3 && tz[n] != '\0' && strchr("+-0123456789", tz[n]) != NULL;
}

/*
 * A zone by name is read from a file: without that file inside, the time
 * would be UTC under another name. One that is spelled out needs none.
 */
static int
own_zone(struct draft *d)
{
	const char *tz = d->ca->tz;
	char path[sizeof(ZONES) + IDENT_MAX_LEN];
	struct env_row *r;

	if (tz[0] == '\0')
		return 0;
	snprintf(path, sizeof(path), ZONES "%s", tz);
	if (strcmp(tz, "UTC") == 0 || plan_granted(d->pl, path) ||
	    spelled_out(tz))
		return own(d, "TZ", tz);
	r = plan_env_row(d, "TZ", BY_CARREL,
	    "<- left out: the zone of the host is not granted");
	return r == NULL ? -1 : 0;
}

/*
 * Text of others in a prompt: shells expand '$', '`' and '\' in it, so only
 * what means nothing to any of them stays.
 */
static void
plain_add(char *buf, size_t cap, const char *s)
{
	size_t n = strlen(buf);

	for (; *s != '\0' && n + 1 < cap; s++)
		buf[n++] = (char)(strchr("$`\\!%\"'", *s) == NULL &&
					  (unsigned char)*s >= ' ' && *s != 0x7f
				      ? *s
				      : '?');
	buf[n] = '\0';
}

/* S56: {lock} {profiles} {target} {cwd}; a prompt ends with a blank. */
static int
own_prompt(struct draft *d, const char *profiles, const char *target)
{
	const struct {
		const char *name, *value;
		int plain;
	} words[] = {{"{lock}", LOCK, 1}, {"{profiles}", profiles, 1},
	    {"{target}", target, 1}, {"{cwd}", "\\w", 0}};
	const char *p = d->po->prompt;
	char text[TEXT_MAX_LEN]; /* one that is longer is cut */
	size_t i, n;

	text[0] = '\0';
	if (p == NULL || *p == '\0')
		p = PROMPT;
	while (*p != '\0') {
		for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			if (strncmp(p, words[i].name, strlen(words[i].name)) ==
			    0)
				break;
		n = strlen(text);
		if (i == sizeof(words) / sizeof(words[0])) {
			snprintf(text + n, sizeof(text) - n, "%c", *p++);
			continue;
		}
		p += strlen(words[i].name);
		if (words[i].plain)
			plain_add(text, sizeof(text), words[i].value);
		else
			snprintf(
			    text + n, sizeof(text) - n, "%s", words[i].value);
	}
	n = strlen(text);
	snprintf(text + n, sizeof(text) - n, " ");
	return own(d, "PS1", text);
}

static int
own_names(struct draft *d, const char *profiles)
{
	const struct caller *c = d->ca;
	const char *at = plan_target(d), *user = c->user;
	char uid[16];

	if (user[0] == '\0') {
		snprintf(uid, sizeof(uid), "%u", (unsigned)c->uid);
		user = uid;
	}
	if (own_path(d, "HOME", c->guest_home) == -1 ||
	    own_path(d, "SHELL", c->shell) == -1 || own(d, "USER", user) == -1)
		return -1;
	if (own(d, "LOGNAME", user) == -1 || own(d, "TMPDIR", "/tmp") == -1 ||
	    own_prompt(d, profiles, at != NULL ? at : "") == -1)
		return -1;
	if (own(d, "TERM", c->term[0] != '\0' ? c->term : "dumb") == -1 ||
	    own(d, "LANG", c->lang[0] != '\0' ? c->lang : "C.UTF-8") == -1 ||
	    own_zone(d) == -1)
		return -1;
	if (own(d, "CARREL", "1") == -1 ||
	    own(d, "CARREL_PROFILES", profiles) == -1 ||
	    own(d, "CARREL_RUN", PLAN_RUN_UNKNOWN) == -1)
		return -1;
	return at != NULL ? own(d, "CARREL_TARGET", at) : 0;
}

/* Scalars: set and inherit share one slot (S51) */

struct scalar {
	const struct env_claim *set, *inherit;
	const struct host_variable *host; /* what inherit brings, or NULL */
};

static int
scalar_refuse(struct draft *d, const struct scalar *s)
{
	const struct origin *o = &s->set->origins[0];
	int secret = variable_secret(s->set->name);
	char set[TEXT_MAX_LEN / 4], inherit[TEXT_MAX_LEN / 4];
	const struct profile *p;

	plan_env_claims(d, s->set, set, sizeof(set));
	plan_env_claims(d, s->inherit, inherit, sizeof(inherit));
	if (s->inherit->origins[0].profile < o->profile)
		o = &s->inherit->origins[0];
	p = &d->po->profiles[o->profile];
	return policy_refuse(d->po, p->name, p->file, o->line,
	    "leave out one of the profiles, or let them agree",
	    "\"%s\" is set to one value and inherited with another: \"%s\" "
	    "(%s), \"%s\" of the host (%s)",
	    s->set->name, SHOWN(s->set->values[0]), set,
	    secret ? "(not shown)" : SHOWN(s->host->value), inherit);
}

static int
scalar_marks(const struct draft *d, const struct scalar *s, struct env_row *r)
{
	const struct variable *v = variable_find(r->name);
	const struct code_name *code = NULL;

	if (s->inherit != NULL)
		code = variable_code(r->name, ENV_INHERIT);
	if (s->set != NULL && code == NULL)
		code = variable_code(r->name, ENV_SET);
	if (s->host != NULL && s->host->too_long &&
	    plan_mark(&r->mark, "<- left out: the host's value is too long") ==
		-1)
		return -1;
	if (s->inherit != NULL && s->host == NULL && s->set == NULL &&
	    plan_mark(&r->mark, "<- not set on this host") == -1)
		return -1;
	if (v == NULL && plan_mark(&r->mark, "<- unchecked") == -1)
		return -1;
	r->secret = s->inherit != NULL && variable_secret(r->name);
	if (r->secret && plan_mark(&r->mark, "<- credential") == -1)
		return -1;
	if (v != NULL && (v->flags & VARIABLE_RUN) &&
	    plan_mark(&r->mark, "<- programs run it as a command") == -1)
		return -1;
	if (r->value != NULL && path_clean(r->value) &&
	    plan_mark_granted(&r->mark, d, r->value) == -1)
		return -1;
	if (code == NULL)
		return 0;
	return plan_mark(&r->mark, "<- code:") == -1
		   ? -1
		   : plan_mark(&r->mark, code->why);
}

/*
 * An empty value of the host is a value, and an unset one is nothing, which
 * cannot disagree with anything (S43).
 */
static int
scalar(struct draft *d, const struct env_claim *c, size_t n)
{
	struct scalar s = {NULL, NULL, NULL};
	const char *value = NULL;
	struct env_row *r;
	size_t i;

	for (i = 0; i < n; i++) {
		if (c[i].verb == ENV_SET && c[i].nvalues == 1)
			s.set = &c[i];
		if (c[i].verb == ENV_INHERIT)
			s.inherit = &c[i];
	}
	if (s.inherit != NULL)
		s.host = hostenv_find(d->he, c->name);
	if (s.host != NULL && !s.host->too_long)
		value = s.host->value;
	if (s.set != NULL && value != NULL &&
	    strcmp(s.set->values[0], value) != 0 && scalar_refuse(d, &s) == -1)
		return -1;
	if (s.set != NULL)
		value = s.set->values[0];
	if ((r = plan_env_row(d, c->name, "", "")) == NULL)
		return -1;
	if (value != NULL && (r->value = strdup(value)) == NULL)
		return -1;
	if ((s.set != NULL && plan_who(&r->who, d, s.set) == -1) ||
	    (s.inherit != NULL && plan_who(&r->who, d, s.inherit) == -1))
		return -1;
	return scalar_marks(d, &s, r);
}

static int
row_cmp(const void *a, const void *b)
{
	const struct env_row *x = a, *y = b;

	return strcmp(x->name, y->name);
}

int
plan_environ(struct draft *d)
{
	const struct policy *po = d->po;
	const struct env_claim *c;
	const struct variable *v;
	char *profiles = chosen(d);
	size_t i, n;
	int bad;

	bad = profiles == NULL || own_names(d, profiles) == -1;
	free(profiles);
	c = policy_environ(po, "PATH", &n);
	bad = bad || plan_list(d, "PATH", c, n) == -1;
	for (i = 0; i < po->nenv && !bad; i += n) {
		policy_environ(po, po->env[i].name, &n);
		c = &po->env[i];
		v = variable_find(c->name);
		/* carrel's own; a policy that was refused may claim others */
		if (owned_find(c->name) != NULL)
			continue;
		bad = v != NULL && v->kind == VARIABLE_LIST
			  ? plan_list(d, c->name, c, n) == -1
			  : scalar(d, c, n) == -1;
	}
	if (bad)
		return -1;
	qsort(d->pl->env, d->pl->nenv, sizeof(*d->pl->env), row_cmp);
	return 0;
}
