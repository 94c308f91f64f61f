#include <stdlib.h>
#include <string.h>

#include "expand.h"
#include "ipc/environ.h"
#include "ipc/limits.h"
#include "ipc/owned.h"
#include "ipc/text.h"
#include "place.h"
#include "reader.h"
#include "variable.h"

#define LIST_VERBS                                                             \
	(ENV_BIT(ENV_MERGE) | ENV_BIT(ENV_PREPEND) | ENV_BIT(ENV_SANITISE))

/* The line being read. */
struct line {
	const struct place *at;
	enum layer layer;
	unsigned verb;
	const struct reader_line *l;
};

void
draft_variable_free(struct draft_variable *v)
{
	free(v->name);
	free(v->value);
	memset(v, 0, sizeof(*v));
}

static int
refuse(const struct line *in, const char *fix, const char *a, const char *b)
{
	return place_refuse(in->at, in->l->line, fix, "\"%s\" in [%s] %s%s",
	    in->l->key, in->l->section, a, b);
}

/* "use [environ.x], [environ.y]": the verbs that this layer may use. */
static void
name_verbs(const struct line *in, char *fix)
{
	const char *name = in->l->key, *sep = "use ";
	unsigned verb;

	fix[0] = '\0';
	for (verb = ENV_SET; verb <= ENV_LAST; verb++) {
		if (!(variable_verbs(name) & ENV_BIT(verb)) ||
		    (in->layer != LAYER_HOST && variable_code(name, verb)) ||
		    (in->layer == LAYER_SHIPPED && verb == ENV_SANITISE) ||
		    (in->layer == LAYER_PACK &&
			(verb == ENV_INHERIT || verb == ENV_SANITISE)))
			continue;
		text_add(fix, FIX_MAX_LEN, "%s[environ.%s]", sep,
		    variable_verb(verb));
		sep = ", ";
	}
	if (fix[0] == '\0')
		text_add(
		    fix, FIX_MAX_LEN, "remove the line: no verb can write it");
}

static int
judge_code(const struct line *in)
{
	const struct code_name *c = variable_code(in->l->key, in->verb);
	char fix[FIX_MAX_LEN];

	if (c == NULL || in->layer == LAYER_HOST)
		return 0;
	name_verbs(in, fix);
	text_add(fix, sizeof(fix), "; only a profile of the host may do this");
	return refuse(in, fix, "is code: ", c->why);
}

/* Why this verb cannot write this name. */
static const char *
wrong_verb(const struct line *in, const struct variable *v)
{
	int list = (ENV_BIT(in->verb) & LIST_VERBS) != 0;

	if (v == NULL)
		return "is not known to be a list";
	if (v->kind == VARIABLE_SCALAR && list)
		return "is a scalar, and this verb is for lists";
	if (v->kind == VARIABLE_SCALAR)
		return "names a place of the host, which is not in the sandbox";
	if (!list && (v->verbs & LIST_VERBS))
		return "is a list, and this verb is for scalars";
	if (in->verb == ENV_SANITISE)
		return "is a list that cannot be sanitised: without an element "
		       "it may mean more";
	return "is a list that this verb cannot write";
}

static int
judge_verb(const struct line *in)
{
	const struct variable *v = variable_find(in->l->key);
	char fix[FIX_MAX_LEN];

	if (in->layer == LAYER_SHIPPED && in->verb == ENV_SANITISE)
		return refuse(in, "remove the line",
		    "is sanitised, which no shipped profile does", "");
	if ((in->layer == LAYER_SHIPPED || in->layer == LAYER_PACK) &&
	    v == NULL)
		return refuse(in, "use a name of the table",
		    "has no row in carrel's table, and ",
		    in->layer == LAYER_PACK ? "a pack names no other"
					    : "a shipped profile names no "
					      "other");
	if (variable_verbs(in->l->key) & ENV_BIT(in->verb))
		return 0;
	name_verbs(in, fix);
	return refuse(in, fix, wrong_verb(in, v), "");
}

static int
judge_name(const struct line *in)
{
	const char *bad;
	const struct owned *o;

	if ((bad = variable_name_bad(in->l->key, strlen(in->l->key))) != NULL)
		return refuse(in,
		    "write the name of a variable: letters of ASCII, digits "
		    "and \"_\", no digit in front",
		    "is no name: it ", bad);
	o = owned_find(in->l->key);
	if (o == NULL || strcmp(o->name, "PATH") == 0)
		return 0;
	return refuse(in, "remove the line",
	    o->written ? "is carrel's own: it sets it itself"
		       : "is carrel's own: it is kept for later",
	    "");
}

static int
judge_yes(const struct line *in)
{
	const struct reader_line *l = in->l;

	if (in->verb != ENV_INHERIT && in->verb != ENV_SANITISE)
		return 0;
	if (strcmp(l->value, "no") == 0)
		return place_refuse(in->at, l->line,
		    "remove the line: what is not there is not so",
		    "%s = no would be a negation", l->key);
	if (strcmp(l->value, "yes") != 0)
		return place_refuse(in->at, l->line,
		    "write yes; a value of your own goes into [environ.set]",
		    "%s = \"%s\" is not yes", l->key, SHOWN(l->value));
	return 0;
}

/* "write A and B, each on a line of its own": the element taken apart. */
static int
refuse_separator(const struct place *at, const struct draft_variable *d,
    const struct variable *v, const char *text)
{
	const char seps[] = {v->sep, v->alt, '\0'};
	char fix[FIX_MAX_LEN] = "";
	const char *p = d->value, *sep = "write ";
	size_t n;

	if (strpbrk(p, seps) == NULL)
		text_add(fix, sizeof(fix),
		    "rename the directory: an element cannot hold it");
	else if (d->verb == ENV_SET)
		text_add(fix, sizeof(fix), "write one element only");
	else
		for (; *p != '\0'; p += n) {
			p += strspn(p, seps);
			if ((n = strcspn(p, seps)) == 0)
				break;
			text_add(fix, sizeof(fix), "%s\"%s = %.*s\"", sep,
			    d->name,
			    (int)(n > TEXT_SHOWN_MAX ? TEXT_SHOWN_MAX : n), p);
			sep = " and ";
		}
	if (fix[0] == '\0')
		text_add(fix, sizeof(fix), "write an element");
	else if (strncmp(fix, "write \"", 7) == 0)
		text_add(fix, sizeof(fix), ", one element a line");
	return place_refuse(at, d->line, fix,
	    "%s = \"%s\" holds \"%c\", which separates the elements of %s",
	    d->name, SHOWN(text), text[strcspn(text, seps)], d->name);
}

static int
judge_separator(const struct place *at, const struct draft_variable *d,
    const struct variable *v, const char *text)
{
	const char seps[] = {
	    (char)(v != NULL ? v->sep : 0), (char)(v != NULL ? v->alt : 0), 0};

	if (v == NULL || v->kind != VARIABLE_LIST)
		return 0;
	if (text[0] == '\0')
		return place_refuse(at, d->line, "write an element",
		    "%s has an empty element (to programs it is: %s)", d->name,
		    v->empty);
	if (strpbrk(text, seps) != NULL)
		return refuse_separator(at, d, v, text);
	return 0;
}

int
variable_read(const struct place *at, enum layer layer, unsigned verb,
    const struct reader_line *l, struct draft_variable *out)
{
	const struct line in = {at, layer, verb, l};
	struct draft_variable d;

	if (judge_name(&in) == -1 || judge_code(&in) == -1 ||
	    judge_verb(&in) == -1 || judge_yes(&in) == -1)
		return -1;
	d.name = strdup(l->key);
	d.value = strdup(l->value);
	d.line = l->line;
	d.verb = (uint8_t)verb;
	if (d.name == NULL || d.value == NULL ||
	    judge_separator(at, &d, variable_find(d.name), d.value) == -1) {
		draft_variable_free(&d);
		return -1;
	}
	*out = d;
	return 0;
}

/* Every "{a-z-}" is a known placeholder; other braces are text. */
static int
check_placeholders(const struct place *at, const struct draft_variable *d)
{
	char word[VALUE_MAX_LEN + 1];
	const char *p = d->value;
	size_t n;

	while ((p = strchr(p, '{')) != NULL) {
		n = strspn(p + 1, "abcdefghijklmnopqrstuvwxyz-");
		if (n > 0 && p[n + 1] == '}') {
			memcpy(word, p, n + 2);
			word[n + 2] = '\0';
			if (expand_check(at, d->line, word) == -1)
				return -1;
		}
		p++;
	}
	return 0;
}

int
variable_expand(const struct place *at, const struct draft_variable *d,
    const struct caller *c, char *buf)
{
	const struct variable *v = variable_find(d->name);
	const char *bad;

	if (v != NULL && (v->flags & VARIABLE_PATH)) {
		if (d->value[0] == '\0')
			return place_refuse(at, d->line, "write a path",
			    "%s holds a path, and the value is empty", d->name);
		if (expand_check(at, d->line, d->value) == -1 ||
		    expand_path(at, d->line, d->value, c, EXPAND_GUEST, buf) ==
			-1)
			return -1;
	} else if (check_placeholders(at, d) == -1 ||
		   expand_text(at, d->line, d->value, c, EXPAND_GUEST, buf) ==
		       -1) {
		return -1;
	}
	/* what was filled in may be anything that a directory is called */
	if (judge_separator(at, d, v, buf) == -1)
		return -1;
	if ((bad = environ_value_bad(d->name, buf)) != NULL)
		return place_refuse(at, d->line, "write another value",
		    "%s = \"%s\" %s", d->name, SHOWN(buf), bad);
	return 0;
}
