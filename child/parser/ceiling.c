#include <stdlib.h>
#include <string.h>

#include "ceiling.h"
#include "child/shared/ceiling.h"
#include "egress.h"
#include "expand.h"
#include "format.h"
#include "child/shared/caller.h"
#include "ipc/limits.h"
#include "ipc/text.h"
#include "place.h"
#include "reader.h"
#include "rule.h"
#include "value.h"

/* The file being read, and the section that it is in. */
struct reading {
	const struct place *at;
	const struct caller *caller;
	struct ceiling *c;
	uint8_t who;
	const char *name;
	char names[SECTION_MAX_LEN + 1];
};

/* The keys of each section but the first, as format_key() wants them. */
#define KEYS(section, kind)                                                    \
	{section, "read", kind, 0, 0}, {section, "write", kind, 0, 0},         \
	    {section, "command", kind, 0, 0}, {section, "socket", kind, 0, 0}, \
	    {section, "device", kind, 0, 0}, {section, "allow", kind, 0, 0},   \
	    {section, "memory", kind, 0, 0},                                   \
	    {section, "processes", kind, 0, 0}, {section, "cpu", kind, 0, 0},  \
	    {section, "cpu-time", kind, 0, 0},                                 \
	    {section, "wall-time", kind, 0, 0},                                \
	    {section, "open-files", kind, 0, 0},                               \
	    {section, "file-size", kind, 0, 0},                                \
	    {section, "core-size", kind, 0, 0},                                \
	    {section, "tmpfs", kind, 0, 0},                                    \
	{                                                                      \
		section, "require", kind, 0, 0                                 \
	}

static const struct key format_ceiling[] = {
    {"ceiling", "allow-user", KEY_NAMES, 0, 0},
    {"ceiling", "allow-group", KEY_NAMES, 0, 0},
    KEYS("everyone", KEY_TEXT),
    /* KEY_TOOL: with a name behind it */
    KEYS("group", KEY_TOOL),
    KEYS("user", KEY_TOOL),
    {NULL, NULL, 0, 0, 0},
};

static int
add(const struct reading *in, struct ceiling_line *l, uint32_t line)
{
	l->line = line;
	if (in->c->n < CEILING_LINES_MAX)
		return ceiling_add(in->c, l);
	return place_refuse(in->at, line, "write fewer",
	    "the ceiling has more than %d lines", CEILING_LINES_MAX);
}

/* "group NAME" */
static int
take_section(struct reading *in, const struct reader_line *l)
{
	const struct key *k = format_section(in->at, format_ceiling, l);

	if (k == NULL)
		return -1;
	in->name = "";
	in->who = k->kind == KEY_NAMES ? 0 : CEILING_EVERYONE;
	if (k->kind != KEY_TOOL)
		return 0;
	in->who =
	    strcmp(k->section, "user") == 0 ? CEILING_USER : CEILING_GROUP;
	/* the reader's own memory holds the section only for this line */
	strcpy(in->names, l->section + strlen(k->section) + 1);
	in->name = in->names;
	if (strchr(in->name, ' ') != NULL)
		return place_refuse(in->at, l->line,
		    "write one name or number behind one blank",
		    "[%s] is of more than one name", l->section);
	return 0;
}

static int
take_name(const struct reading *in, const struct reader_line *l)
{
	struct ceiling_line c = {.kind = CEILING_USE,
	    .name = (char *)l->value,
	    .text = (char[]){""}};

	c.who =
	    strcmp(l->key, "allow-user") == 0 ? CEILING_USER : CEILING_GROUP;
	if (strchr(l->value, ' ') != NULL || strlen(l->value) > IDENT_MAX_LEN)
		return place_refuse(in->at, l->line,
		    "write one name or number a line", "%s = \"%s\" is no name",
		    l->key, SHOWN(l->value));
	return add(in, &c, l->line);
}

/* The path, with one of the caller's homes in it. */
static int
add_path(const struct reading *in, const struct reader_line *l, unsigned verb,
    const char *text, const char *home)
{
	struct caller who = *in->caller;
	struct ceiling_line c = {.who = in->who,
	    .kind = CEILING_PATH,
	    .what = (uint8_t)verb,
	    .name = (char *)in->name};
	char path[VALUE_MAX_LEN + 1];

	who.home = (char *)home; /* borrowed */
	if (expand_path(in->at, l->line, text, &who, EXPAND_HOST, path) == -1)
		return -1;
	c.text = path;
	return add(in, &c, l->line);
}

static int
take_path(const struct reading *in, const struct reader_line *l, unsigned verb)
{
	const struct caller *ca = in->caller;
	struct value v;
	int n = 0, home;

	if (value_host(in->at, l->line, l->key, l->value, &v) == -1)
		return -1;
	home = strstr(v.left, "{home}") != NULL;
	if (strstr(v.left, "{target") != NULL)
		n = place_refuse(in->at, l->line,
		    "name the directories that targets may be in",
		    "%s = \"%s\" is no bound: the caller chooses the target",
		    l->key, SHOWN(l->value));
	/* who has none shall not get all instead */
	else if (!home || strcmp(ca->home, "/") != 0)
		n = add_path(in, l, verb, v.left, ca->home);
	if (n == 0 && home && strcmp(ca->home, ca->home_real) != 0 &&
	    strcmp(ca->home, "/") != 0 && strcmp(ca->home_real, "/") != 0)
		n = add_path(in, l, verb, v.left, ca->home_real);
	value_free(&v);
	return n;
}

static int
take_egress(const struct reading *in, const struct reader_line *l)
{
	struct ceiling_line c = {
	    .who = in->who, .kind = CEILING_EGRESS, .name = (char *)in->name};
	struct rule r = {.kind = RULE_EGRESS};
	int n;

	if (egress_read_most(in->at, l, &r) == -1)
		return -1;
	c.what = r.what;
	c.number = r.number;
	c.text = r.text;
	n = add(in, &c, l->line);
	free(r.text);
	return n;
}

static int
take_limit(const struct reading *in, const struct reader_line *l)
{
	struct ceiling_line c = {.who = in->who,
	    .kind = CEILING_LIMIT,
	    .name = (char *)in->name,
	    .text = (char[]){""}};
	const struct ceiling_line *o;
	struct rule r;
	size_t i;

	if (rule_read(in->at, RULE_LIMIT, l, &r) == -1)
		return -1;
	free(r.text);
	c.what = r.what;
	c.number = r.number;
	for (i = 0; i < in->c->n; i++) {
		o = &in->c->lines[i];
		if (o->kind == c.kind && o->what == c.what && o->who == c.who &&
		    strcmp(o->name, c.name) == 0)
			return place_refuse(in->at, l->line,
			    "remove one of the two",
			    "\"%s\" in [%s] stands a second time, it was in "
			    "line %u",
			    l->key, l->section, (unsigned)o->line);
	}
	return add(in, &c, l->line);
}

static int
take_require(const struct reading *in, const struct reader_line *l)
{
	struct ceiling_line c = {
	    .who = in->who, .name = (char *)in->name, .text = (char[]){""}};
	char fix[FIX_MAX_LEN] = "write one of ";
	const char *word;
	size_t i;

	if (ceiling_duty(l->value, &c) == 0)
		return add(in, &c, l->line);
	for (i = 0; (word = ceiling_duty_text(i)) != NULL; i++)
		text_add(fix, sizeof(fix), "%s%s", i == 0 ? "" : ", ", word);
	return place_refuse(in->at, l->line, fix,
	    "require = \"%s\" is nothing that a run can be asked for",
	    SHOWN(l->value));
}

static int
take_line(void *arg, const struct reader_line *l)
{
	struct reading *in = arg;
	const struct key *k;
	unsigned verb;

	if (l->key == NULL)
		return take_section(in, l);
	if ((k = format_key(in->at, format_ceiling, l)) == NULL)
		return -1;
	if (l->value[0] == '\0')
		return place_refuse(in->at, l->line,
		    "write a value or remove the line",
		    "\"%s\" in [%s] has no value", l->key, l->section);
	if (k->kind == KEY_NAMES)
		return take_name(in, l);
	for (verb = VERB_READ; verb <= VERB_LAST; verb++)
		if (strcmp(policy_verb(verb), l->key) == 0 &&
		    verb != VERB_TMPFS)
			return take_path(in, l, verb);
	if (strcmp(l->key, "allow") == 0)
		return take_egress(in, l);
	if (strcmp(l->key, "require") == 0)
		return take_require(in, l);
	return take_limit(in, l);
}

int
ceiling_parse(const struct place *at, const struct caller *caller, char *data,
    size_t len, struct ceiling *out)
{
	struct ceiling c;
	struct reading in = {.at = at, .caller = caller, .c = &c};

	memset(&c, 0, sizeof(c));
	if ((c.file = strdup(at->file)) == NULL ||
	    reader_parse(at, data, len, take_line, &in) == -1) {
		ceiling_free(&c);
		return -1;
	}
	*out = c;
	return 0;
}
