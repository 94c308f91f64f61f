#include <stdlib.h>
#include <string.h>

#include "ipc/tool.h"
#include "egress.h"
#include "expand.h"
#include "format.h"
#include "ipc/check.h"
#include "ipc/egress.h"
#include "ipc/grow.h"
#include "ipc/limits.h"
#include "ipc/policy.h"
#include "child/shared/request.h"
#include "ipc/text.h"
#include "place.h"
#include "reader.h"
#include "select.h"
#include "tool.h"
#include "value.h"

/* Bits of tool.said. */
#define SAID_TEXT   0x01
#define SAID_INPUT  0x02
#define SAID_EFFECT 0x04
#define SAID_EXPECT 0x08

static int
refuse(const struct place *at, const struct reader_line *l, const char *fix,
    const char *why)
{
	return place_refuse(
	    at, l->line, fix, "%s = \"%s\" %s", l->key, SHOWN(l->value), why);
}

int
tool_open(const struct place *at, const struct key *k,
    const struct reader_line *l, struct draft *d)
{
	const char *name = l->section + strlen(k->section);
	struct tool *t;
	size_t i;

	name += *name == ' ';
	if (name[0] == '@' || !check_name(name))
		return place_refuse(at, l->line,
		    "write a name of a-z, 0-9 and \"-\" behind it",
		    "[%s] has no name", l->section);
	for (i = 0; i < d->ntools; i++)
		if (d->tools[i].kind == k->verb &&
		    strcmp(d->tools[i].name, name) == 0)
			return place_refuse(at, l->line,
			    "write all of it in one place",
			    "[%s] stands a second time, it was in line %u",
			    l->section, (unsigned)d->tools[i].line);
	if (d->ntools == TOOLS_MAX)
		return place_refuse(at, l->line, "write fewer",
		    "there are more than %d sections [tool] and [example]",
		    TOOLS_MAX);
	if ((t = grow(d->tools, d->ntools, sizeof(*t))) == NULL)
		return -1;
	d->tools = t;
	t += d->ntools;
	memset(t, 0, sizeof(*t));
	t->kind = k->verb;
	t->line = l->line;
	t->name = strdup(name);
	t->text = strdup("");
	t->input = strdup("");
	d->ntools++;
	return t->name == NULL || t->text == NULL || t->input == NULL ? -1 : 0;
}

/* The object of a need, as it is compared later; NULL after a refusal. */
static char *
read_object(const struct place *at, const struct reader_line *l, unsigned verb,
    const char *text)
{
	struct reader_line sub = *l;
	char name[EGRESS_TEXT];
	struct value v;
	struct egress e;
	struct rule r;

	if (verb == NEED_ALLOW) {
		sub.value = text;
		memset(&r, 0, sizeof(r));
		r.kind = RULE_EGRESS;
		if (egress_read(at, &sub, &r) == -1)
			return NULL;
		egress_of(&r, &e);
		v.left = strdup(egress_text(&e, name));
		free(r.text);
		return v.left;
	}
	if (value_path(at, l->line, l->key, text, &v) == -1)
		return NULL;
	if (verb != NEED_COMMAND || strchr(v.left, '/') == NULL)
		return v.left; /* moved */
	value_free(&v);
	refuse(at, l, "write the bare name that it has on PATH",
	    "is no name of a command");
	return NULL;
}

static int
add_need(const struct place *at, const struct reader_line *l, struct tool *t)
{
	size_t n = strcspn(l->value, " "), bytes = 0, i;
	const char *object = l->value + n + strspn(l->value + n, " ");
	unsigned verb = tool_verb_named(l->value, n);
	struct need *p;

	if (verb == 0 || object[0] == '\0')
		return refuse(at, l,
		    "write read, write, socket or device and a path inside, "
		    "command and a name, or allow and a SCHEME://HOST:PORT",
		    "says not what is needed");
	for (i = 0; i < t->nneeds; i++)
		bytes += strlen(t->needs[i].text) + 8;
	if (t->nneeds == NEEDS_MAX || bytes + VALUE_MAX_LEN + 8 > NEEDS_BYTES)
		return refuse(at, l, "name the directories above",
		    "is one line too many for one record");
	if ((p = grow(t->needs, t->nneeds, sizeof(*p))) == NULL)
		return -1;
	t->needs = p;
	p += t->nneeds;
	p->verb = (uint8_t)verb;
	p->line = l->line;
	if ((p->text = read_object(at, l, verb, object)) == NULL)
		return -1;
	t->nneeds++;
	return 0;
}

static int
set_effect(const struct place *at, const struct reader_line *l, struct tool *t)
{
	t->effect = (uint8_t)tool_effect_named(l->value);
	return t->effect != 0 ? 0
			      : refuse(at, l, "write none, write or network",
				    "is not what a tool does");
}

static int
set_expect(const struct place *at, const struct reader_line *l, struct tool *t)
{
	char *end;
	unsigned long n = strtoul(l->value, &end, 10);

	t->expect = (uint8_t)n;
	return l->value[0] >= '0' && l->value[0] <= '9' && *end == '\0' &&
		       strlen(l->value) <= 3 && n <= UINT8_MAX
		   ? 0
		   : refuse(at, l, "write a number from 0 to 255",
			 "is no exit code");
}

static int
set_text(char **to, const char *value)
{
	free(*to);
	return (*to = strdup(value)) == NULL ? -1 : 0;
}

static int
set_run(const struct place *at, const struct reader_line *l, struct tool *t)
{
	char **words = tool_words(l->value);

	free(words);
	if (words == NULL)
		return refuse(at, l,
		    "write a program and its arguments, at most 64 words, one "
		    "with a blank in it in double quotes; for a shell: sh -c "
		    "\"...\"",
		    "is no command");
	return set_text(&t->text, l->value);
}

int
tool_line(const struct place *at, const struct key *k,
    const struct reader_line *l, struct draft *d)
{
	struct tool *t = &d->tools[d->ntools - 1];
	unsigned bit = 0;

	if (strcmp(k->name, "needs") == 0)
		return add_need(at, l, t);
	if (strcmp(k->name, "stdin") == 0)
		bit = SAID_INPUT;
	else if (strcmp(k->name, "effect") == 0)
		bit = SAID_EFFECT;
	else if (strcmp(k->name, "expect-exit") == 0)
		bit = SAID_EXPECT;
	else
		bit = SAID_TEXT;
	if ((t->said & bit) != 0)
		return place_refuse(at, l->line, "remove one of the two",
		    "\"%s\" in [%s] stands a second time", l->key, l->section);
	t->said |= (uint8_t)bit;
	switch (bit) {
	case SAID_INPUT:
		return set_text(&t->input, l->value);
	case SAID_EFFECT:
		return set_effect(at, l, t);
	case SAID_EXPECT:
		return set_expect(at, l, t);
	default:
		return t->kind == TOOL_EXAMPLE ? set_run(at, l, t)
					       : set_text(&t->text, l->value);
	}
}

int
tools_complete(const struct place *at, const struct draft *d)
{
	const struct tool *t;
	size_t i;
	int bad = 0;

	for (i = 0; i < d->ntools; i++) {
		t = &d->tools[i];
		if (t->kind == TOOL_EXAMPLE && t->text[0] == '\0')
			bad |= place_refuse(at, t->line,
			    "write \"run = COMMAND\" in it",
			    "[example %s] runs nothing", t->name);
	}
	return bad;
}

/* A copy of one with its placeholders filled in. */
static int
resolve_one(const struct place *at, const struct request *q,
    const struct tool *t, uint16_t profile)
{
	char text[VALUE_MAX_LEN + 1];
	struct tool c = *t;
	size_t i;
	int n = 0;

	c.profile = profile;
	c.name = strdup(t->name);
	c.text = strdup(t->text);
	c.input = strdup(t->input);
	c.needs = calloc(t->nneeds + 1, sizeof(*c.needs));
	c.nneeds = 0;
	if (c.name == NULL || c.text == NULL || c.input == NULL ||
	    c.needs == NULL)
		n = -1;
	for (i = 0; i < t->nneeds && n == 0; i++) {
		c.needs[i] = t->needs[i];
		c.needs[i].text = NULL;
		if (t->needs[i].verb == NEED_ALLOW ||
		    t->needs[i].verb == NEED_COMMAND)
			c.needs[i].text = strdup(t->needs[i].text);
		else if (expand_path(at, t->needs[i].line, t->needs[i].text,
			     &q->caller, EXPAND_GUEST, text) == 0)
			c.needs[i].text = strdup(text);
		n = c.needs[i].text == NULL ? -1 : 0;
		c.nneeds += n == 0;
	}
	if (n == 0 && at->po->ntools == TOOLS_MAX)
		n = place_refuse(at, t->line, "write fewer",
		    "there are more than %d sections [tool] and [example]",
		    TOOLS_MAX);
	if (n == 0)
		n = policy_add_tool(at->po, &c);
	tool_free(&c);
	return n;
}

int
tools_resolve(
    const struct request *q, const struct selection *sel, struct policy *po)
{
	struct place at = {po, "", ""};
	const struct member *m;
	size_t i, k;
	int bad = 0;

	for (i = 0; i < sel->n; i++) {
		m = &sel->members[i];
		at.profile = m->name;
		at.file = m->file;
		for (k = 0; k < m->draft.ntools; k++)
			bad |= resolve_one(
			    &at, q, &m->draft.tools[k], (uint16_t)i);
	}
	return bad;
}
