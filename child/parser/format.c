#include <stdlib.h>
#include <string.h>

#include "ipc/tool.h"
#include "format.h"
#include "ipc/check.h"
#include "ipc/grow.h"
#include "ipc/limits.h"
#include "ipc/text.h"
#include "ipc/variables.h"
#include "pack.h"
#include "place.h"
#include "reader.h"
#include "rule.h"
#include "tool.h"

#define OF_CARREL (1U << LAYER_SHIPPED)
#define OF_PEOPLE (1U << LAYER_HOST | 1U << LAYER_USER)
#define NOT_PACKS (OF_CARREL | OF_PEOPLE)

const struct key format_profile[] = {
    {"profile", "description", KEY_TEXT, 0, 0},
    {"profile", "abuse", KEY_TEXT, 0, 0},
    {"profile", "include", KEY_NAMES, 0, 0},
    {"profile", "packs", KEY_YES, 0, OF_CARREL},
    {"profile", "tier", KEY_RULE, RULE_TIER, 0},
    {"fs", "read", KEY_BIND, VERB_READ, 0},
    {"fs", "write", KEY_BIND, VERB_WRITE, 0},
    {"fs", "try-read", KEY_BIND, VERB_TRY_READ, 0},
    {"fs", "try-write", KEY_BIND, VERB_TRY_WRITE, 0},
    {"fs", "tmpfs", KEY_TMPFS, VERB_TMPFS, 0},
    {"fs", "symlink", KEY_SYMLINK, VERB_SYMLINK, 0},
    {"fs", "command", KEY_COMMAND, VERB_COMMAND, NOT_PACKS},
    {"fs", "socket", KEY_BIND, VERB_SOCKET, OF_PEOPLE},
    {"fs", "device", KEY_DEVICE, VERB_DEVICE, OF_PEOPLE},
    {"environ.set", NULL, KEY_VARIABLE, ENV_SET, 0},
    {"environ.merge", NULL, KEY_VARIABLE, ENV_MERGE, 0},
    {"environ.prepend", NULL, KEY_VARIABLE, ENV_PREPEND, 0},
    {"environ.inherit", NULL, KEY_VARIABLE, ENV_INHERIT, NOT_PACKS},
    {"environ.sanitise", NULL, KEY_VARIABLE, ENV_SANITISE, NOT_PACKS},
    {"egress", "allow", KEY_RULE, RULE_EGRESS, 0},
    {"exec", "interpreter", KEY_RULE, RULE_INTERPRETER, 0},
    {"exec", "library", KEY_RULE, RULE_LIBRARY, 0},
    {"exec", "spawn", KEY_RULE, RULE_NO_SPAWN, 0},
    {"exec", "unix", KEY_RULE, RULE_NO_UNIX, 0},
    {"exec", "once", KEY_RULE, RULE_ONCE, 0},
    {"limits", "memory", KEY_RULE, RULE_LIMIT, 0},
    {"limits", "processes", KEY_RULE, RULE_LIMIT, 0},
    {"limits", "cpu", KEY_RULE, RULE_LIMIT, 0},
    {"limits", "cpu-time", KEY_RULE, RULE_LIMIT, 0},
    {"limits", "wall-time", KEY_RULE, RULE_LIMIT, 0},
    {"limits", "open-files", KEY_RULE, RULE_LIMIT, 0},
    {"limits", "file-size", KEY_RULE, RULE_LIMIT, 0},
    {"limits", "core-size", KEY_RULE, RULE_LIMIT, 0},
    {"limits", "tmpfs", KEY_RULE, RULE_LIMIT, 0},
    {"audit", "report", KEY_RULE, RULE_REPORT, 0},
    {"audit", "on-violation", KEY_RULE, RULE_VIOLATION, 0},
    {"tool", "description", KEY_TOOL, TOOL_PROGRAM, 0},
    {"tool", "effect", KEY_TOOL, TOOL_PROGRAM, 0},
    {"tool", "needs", KEY_TOOL, TOOL_PROGRAM, 0},
    {"example", "run", KEY_TOOL, TOOL_EXAMPLE, 0},
    {"example", "stdin", KEY_TOOL, TOOL_EXAMPLE, 0},
    {"example", "expect-exit", KEY_TOOL, TOOL_EXAMPLE, 0},
    {"example", "needs", KEY_TOOL, TOOL_EXAMPLE, 0},
    {NULL, NULL, 0, 0, 0},
};

const struct key format_config[] = {
    {"carrel", "defaults", KEY_NAMES, 0, 0},
    {"carrel", "prompt", KEY_TEXT, 0, 0},
    {NULL, NULL, 0, 0, 0},
};

/* Words that other tools subtract with; here nothing does (S2). */
static const char *const negations[] = {
    "deny", "mask", "unset", "remove", "exclude", "priority", "override"};

static int
is_negation(const char *word)
{
	size_t i;

	for (i = 0; i < sizeof(negations) / sizeof(negations[0]); i++)
		if (strcmp(word, negations[i]) == 0)
			return 1;
	return 0;
}

/* 1 if the row is about this section; "tool NAME" is of the section tool. */
static int
same_section(const struct key *k, const char *section)
{
	size_t n = strlen(k->section);

	if (k->kind == KEY_TOOL)
		return strncmp(section, k->section, n) == 0 &&
		       section[n] == ' ';
	return strcmp(k->section, section) == 0;
}

/* Adds the names that there are: the keys of a section, or the sections. */
static void
list_names(const struct key *k, const char *section, char *fix)
{
	const char *last = "", *sep = "";

	for (; k->section != NULL; k++) {
		if (section == NULL && strcmp(k->section, last) != 0) {
			text_add(fix, FIX_MAX_LEN, "%s[%s%s]", sep, k->section,
			    k->kind == KEY_TOOL ? " NAME" : "");
			sep = ", ";
		} else if (section != NULL && k->name != NULL &&
			   same_section(k, section)) {
			text_add(fix, FIX_MAX_LEN, "%s%s", sep, k->name);
			sep = ", ";
		}
		last = k->section;
	}
}

static void
begin_fix(char *fix, const char *word)
{
	fix[0] = '\0';
	if (is_negation(word))
		text_add(fix, FIX_MAX_LEN,
		    "leave out the grant instead, for nothing subtracts in "
		    "carrel; ");
}

const struct key *
format_section(const struct place *at, const struct key *table,
    const struct reader_line *l)
{
	const struct key *k;
	const char *dot = strrchr(l->section, '.');
	char fix[FIX_MAX_LEN];

	for (k = table; k->section != NULL; k++)
		if (same_section(k, l->section))
			return k;
	begin_fix(fix, dot != NULL ? dot + 1 : l->section);
	text_add(fix, sizeof(fix), "use one of ");
	list_names(table, NULL, fix);
	place_refuse(at, l->line, fix, "unknown section [%s]", l->section);
	return NULL;
}

const struct key *
format_key(const struct place *at, const struct key *table,
    const struct reader_line *l)
{
	const struct key *k;
	char fix[FIX_MAX_LEN];

	for (k = table; k->section != NULL; k++)
		if (same_section(k, l->section) &&
		    (k->kind == KEY_VARIABLE || strcmp(k->name, l->key) == 0))
			return k;
	begin_fix(fix, l->key);
	text_add(fix, sizeof(fix), "use one of the keys of [%s]: ", l->section);
	list_names(table, l->section, fix);
	place_refuse(
	    at, l->line, fix, "unknown key \"%s\" in [%s]", l->key, l->section);
	return NULL;
}

/* struct draft: a profile as it is written */

/* The draft being read. */
struct drafting {
	const struct place *at;
	enum layer layer;
	struct draft *d;
	uint32_t first[sizeof(format_profile) / sizeof(format_profile[0])];
};

void
draft_free(struct draft *d)
{
	size_t i;

	free(d->description);
	free(d->abuse);
	for (i = 0; i < d->nincludes; i++)
		free(d->includes[i].name);
	for (i = 0; i < d->ngrants; i++)
		value_free(&d->grants[i].value);
	for (i = 0; i < d->nvariables; i++)
		draft_variable_free(&d->variables[i]);
	for (i = 0; i < d->nrules; i++)
		free(d->rules[i].text);
	for (i = 0; i < d->ntools; i++)
		tool_free(&d->tools[i]);
	free(d->tools);
	free(d->rules);
	free(d->includes);
	free(d->grants);
	free(d->variables);
	memset(d, 0, sizeof(*d));
}

/* Where a name is in the sorted list, or would be: *at. 1 if it is there. */
static int
find_include(const struct draft *d, const char *name, size_t *at)
{
	size_t lo = 0, hi = d->nincludes, mid;
	int n;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		n = strcmp(d->includes[mid].name, name);
		if (n == 0)
			return 1;
		if (n < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	*at = lo;
	return 0;
}

static int
add_include(struct drafting *in, const struct reader_line *l)
{
	struct draft *d = in->d;
	struct draft_include *p;
	size_t at;
	char *name;

	if (!check_name(l->value))
		return place_refuse(in->at, l->line,
		    "write one name a line: a-z, 0-9 and \"-\", with \"@\" in "
		    "front of a shipped one",
		    "include = \"%s\" is not the name of a profile",
		    SHOWN(l->value));
	if (find_include(d, l->value, &at))
		return 0;
	if (d->nincludes == PROFILES_MAX)
		return place_refuse(in->at, l->line, "include fewer profiles",
		    "the profile includes more than %d others", PROFILES_MAX);
	p = grow(d->includes, d->nincludes, sizeof(*p));
	if (p == NULL)
		return -1;
	d->includes = p;
	if ((name = strdup(l->value)) == NULL)
		return -1;
	memmove(&p[at + 1], &p[at], (d->nincludes - at) * sizeof(*p));
	p[at].line = l->line;
	p[at].name = name;
	d->nincludes++;
	return 0;
}

static int
add_grant(struct drafting *in, const struct key *k, const struct reader_line *l)
{
	struct draft *d = in->d;
	struct draft_grant *p;
	int n;

	p = grow_from(16, d->grants, d->ngrants, sizeof(*p));
	if (p == NULL)
		return -1;
	d->grants = p;
	p += d->ngrants;
	p->line = l->line;
	p->verb = k->verb;
	if (k->kind == KEY_BIND)
		n = value_bind(in->at, l->line, l->key, l->value, &p->value);
	else if (k->kind == KEY_COMMAND)
		n = value_command(in->at, l->line, l->key, l->value, &p->value);
	else if (k->kind == KEY_DEVICE)
		n = value_device(in->at, l->line, l->key, l->value, &p->value);
	else if (k->kind == KEY_TMPFS)
		n = value_tmpfs(in->at, l->line, l->key, l->value, &p->value);
	else
		n = value_symlink(in->at, l->line, l->key, l->value, &p->value);
	if (n == 0 && k->kind == KEY_BIND && in->layer == LAYER_PACK &&
	    (n = pack_bind(in->at, k, l, &p->value)) == -1)
		value_free(&p->value);
	if (n == 0)
		d->ngrants++;
	return n;
}

/* A scalar stands once in a profile; a list has a line for each element. */
static int
check_slot(
    const struct drafting *in, const struct key *k, const struct reader_line *l)
{
	const struct draft_variable *v;
	size_t i;

	if (k->verb == ENV_MERGE || k->verb == ENV_PREPEND)
		return 0;
	for (i = 0; i < in->d->nvariables; i++) {
		v = &in->d->variables[i];
		if (v->verb == k->verb && strcmp(v->name, l->key) == 0)
			return place_refuse(in->at, l->line,
			    "remove one of the two",
			    "\"%s\" in [%s] stands a second time, it was in "
			    "line %u",
			    l->key, l->section, v->line);
	}
	return 0;
}

static int
add_variable(
    struct drafting *in, const struct key *k, const struct reader_line *l)
{
	struct draft *d = in->d;
	struct draft_variable *p;

	if (d->nvariables == CLAIMS_MAX)
		return place_refuse(in->at, l->line, "write fewer",
		    "there are more than %d lines about variables", CLAIMS_MAX);
	p = grow(d->variables, d->nvariables, sizeof(*p));
	if (p == NULL)
		return -1;
	d->variables = p;
	if (check_slot(in, k, l) == -1 ||
	    variable_read(in->at, in->layer, k->verb, l, &p[d->nvariables]) ==
		-1)
		return -1;
	d->nvariables++;
	return 0;
}

static int
add_rule(struct drafting *in, const struct key *k, const struct reader_line *l)
{
	struct draft *d = in->d;
	struct rule *p;

	if (d->nrules == RULES_MAX)
		return place_refuse(in->at, l->line, "write fewer",
		    "there are more than %d lines in [egress], [exec], "
		    "[limits] and [audit]",
		    RULES_MAX);
	p = grow(d->rules, d->nrules, sizeof(*p));
	if (p == NULL)
		return -1;
	d->rules = p;
	p += d->nrules;
	if (rule_read(in->at, k->verb, l, p) == -1)
		return -1;
	d->nrules++;
	return 0;
}

static int
set_yes(struct drafting *in, const struct reader_line *l)
{
	if (strcmp(l->value, "no") == 0)
		return place_refuse(in->at, l->line,
		    "remove the line: what is not there is not so",
		    "%s = no would be a negation", l->key);
	if (strcmp(l->value, "yes") != 0)
		return place_refuse(in->at, l->line,
		    "write yes or remove the line", "%s = \"%s\" is not yes",
		    l->key, SHOWN(l->value));
	in->d->packs = 1;
	return 0;
}

/* The first time of a key that may stand once. */
static int
check_once(
    struct drafting *in, const struct key *k, const struct reader_line *l)
{
	uint32_t *first = &in->first[k - format_profile];

	if (k->kind != KEY_TEXT && k->kind != KEY_YES &&
	    (k->kind != KEY_RULE || rule_listed(k->verb)))
		return 0;
	if (*first != 0)
		return place_refuse(in->at, l->line, "remove one of the two",
		    "\"%s\" in [%s] stands a second time, it was in line %u",
		    l->key, l->section, *first);
	*first = l->line;
	return 0;
}

/* Whether files of this layer may hold the key. */
static int
check_layer(
    struct drafting *in, const struct key *k, const struct reader_line *l)
{
	if (in->layer == LAYER_PACK)
		return pack_line(in->at, k, l);
	if (k->layers == 0 || (k->layers & 1U << in->layer) != 0)
		return 0;
	if (k->layers == OF_CARREL)
		return place_refuse(in->at, l->line, "remove the line",
		    "\"%s\" in [%s] is for the profiles that carrel ships",
		    l->key, l->section);
	return place_refuse(in->at, l->line,
	    "write it in a profile of the host or of the user",
	    "\"%s\" in [%s] is not for the profiles that carrel ships", l->key,
	    l->section);
}

static int
take_line(void *arg, const struct reader_line *l)
{
	struct drafting *in = arg;
	const struct key *k;
	char **text;

	if (l->key == NULL) {
		k = format_section(in->at, format_profile, l);
		if (k == NULL || k->kind != KEY_TOOL)
			return k == NULL ? -1 : 0;
		return tool_open(in->at, k, l, in->d);
	}
	if ((k = format_key(in->at, format_profile, l)) == NULL)
		return -1;
	if (check_layer(in, k, l) == -1)
		return -1;
	if (k->kind == KEY_VARIABLE)
		return add_variable(in, k, l);
	if (l->value[0] == '\0')
		return place_refuse(in->at, l->line,
		    "write a value or remove the line",
		    "\"%s\" in [%s] has no value", l->key, l->section);
	if (check_once(in, k, l) == -1)
		return -1;
	switch (k->kind) {
	case KEY_TEXT:
		text = strcmp(k->name, "abuse") == 0 ? &in->d->abuse
						     : &in->d->description;
		*text = strdup(l->value);
		return *text == NULL ? -1 : 0;
	case KEY_YES:
		return set_yes(in, l);
	case KEY_NAMES:
		return add_include(in, l);
	case KEY_RULE:
		return add_rule(in, k, l);
	case KEY_TOOL:
		return tool_line(in->at, k, l, in->d);
	default:
		return add_grant(in, k, l);
	}
}

int
draft_parse(const struct place *at, enum layer layer, char *data, size_t len,
    struct draft *out)
{
	struct draft d;
	struct drafting in = {.at = at, .layer = layer, .d = &d};

	memset(&d, 0, sizeof(d));
	if (reader_parse(at, data, len, take_line, &in) == -1 ||
	    tools_complete(at, &d) == -1) {
		draft_free(&d);
		return -1;
	}
	*out = d;
	return 0;
}
