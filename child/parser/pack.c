#include <string.h>

#include "claim.h"
#include "coupling.h"
#include "format.h"
#include "ipc/check.h"
#include "ipc/pack.h"
#include "ipc/path.h"
#include "child/shared/request.h"
#include "ipc/rule.h"
#include "ipc/text.h"
#include "pack.h"
#include "place.h"
#include "reader.h"
#include "select.h"

#define SUFFIX ".profile"

int
pack_name(const struct place *at, const char *file, char name[NAME_MAX_LEN + 2])
{
	const char *base = strrchr(file, '/');
	size_t n;

	base = base == NULL ? file : base + 1;
	n = strlen(base);
	if (n > strlen(SUFFIX) && n - strlen(SUFFIX) <= NAME_MAX_LEN &&
	    base[0] != '@' && strcmp(base + n - strlen(SUFFIX), SUFFIX) == 0) {
		name[0] = PACK_MARK;
		memcpy(name + 1, base, n - strlen(SUFFIX));
		name[1 + n - strlen(SUFFIX)] = '\0';
		if (check_name(name + 1))
			return 0;
	}
	return place_refuse(at, 0,
	    "call it NAME.profile, where NAME is of a-z, 0-9 and \"-\"",
	    "-f \"%s\" has not the name of a profile", SHOWN(base));
}

static int
refuse(const struct place *at, const struct reader_line *l, const char *fix,
    const char *why)
{
	return place_refuse(
	    at, l->line, fix, "\"%s\" in [%s] %s", l->key, l->section, why);
}

/* Keys that are not a pack's, and why. */
static int
refuse_key(
    const struct place *at, const struct key *k, const struct reader_line *l)
{
	static const char *const why[KEY_TOOL + 1] = {
	    [KEY_BIND] = "is not for a pack: it would let it talk to a program "
			 "of the host",
	    [KEY_DEVICE] = "is not for a pack: it would bring a device of the "
			   "host",
	    [KEY_COMMAND] = "is not for a pack: it would bring a program of "
			    "the host",
	    [KEY_VARIABLE] = "is not for a pack: it would bring a value of the "
			     "host",
	};

	if (k->kind == KEY_VARIABLE)
		return refuse(at, l,
		    "write the value itself into [environ.set], or let the "
		    "person who runs it add a profile with -p",
		    why[k->kind]);
	if (why[k->kind] != NULL)
		return refuse(at, l,
		    "remove the line; the person who runs it can add a profile "
		    "with -p",
		    why[k->kind]);
	return refuse(
	    at, l, "remove the line", "is for the profiles that carrel ships");
}

int
pack_line(
    const struct place *at, const struct key *k, const struct reader_line *l)
{
	if (k->layers != 0 && (k->layers & 1U << LAYER_PACK) == 0)
		return refuse_key(at, k, l);
	if (k->kind == KEY_NAMES && l->value[0] != '@')
		return place_refuse(at, l->line,
		    "include a shipped profile, or let the person who runs it "
		    "add this one with -p",
		    "include = \"%s\" is not for a pack: it is a profile of "
		    "the host or of the user",
		    SHOWN(l->value));
	/* a text for a person may hold anything */
	if (k->kind != KEY_TEXT &&
	    (k->kind != KEY_TOOL || strcmp(k->name, "needs") == 0) &&
	    strstr(l->value, "{target") != NULL)
		return place_refuse(at, l->line,
		    "write " PACK_DIR ", where a pack has it",
		    "%s = \"%s\" names a place of the host", l->key,
		    SHOWN(l->value));
	return 0;
}

int
pack_bind(const struct place *at, const struct key *k,
    const struct reader_line *l, const struct value *v)
{
	int write = k->verb == VERB_WRITE || k->verb == VERB_TRY_WRITE;

	if (v->right != NULL)
		return place_refuse(at, l->line,
		    "write one path below " PACK_DIR,
		    "%s = \"%s\" gives a path of the host another name, and a "
		    "pack names none",
		    l->key, SHOWN(l->value));
	if (!path_clean(v->left) || !path_covers(PACK_DIR, v->left))
		return place_refuse(at, l->line,
		    "name a path below " PACK_DIR
		    ", where the target is, or let the person who runs it add "
		    "a profile with -p",
		    "%s = \"%s\" is a path of the host, and a pack names none",
		    l->key, SHOWN(l->value));
	if (strchr(v->left, '{') != NULL)
		return place_refuse(at, l->line, "write the path itself",
		    "%s = \"%s\" depends on who runs it", l->key,
		    SHOWN(l->value));
	if (write && strcmp(v->left, PACK_DIR) == 0)
		return place_refuse(at, l->line,
		    "name what it writes, e.g. " PACK_DIR "/out",
		    "%s = \"%s\" is the whole target, which a pack has only "
		    "for reading",
		    l->key, SHOWN(l->value));
	return 0;
}

int
pack_member(const struct selection *sel)
{
	size_t i;

	for (i = 0; i < sel->n; i++)
		if (sel->members[i].layer == LAYER_PACK)
			return (int)i;
	return -1;
}

int
pack_judge_includes(const struct selection *sel, struct policy *po)
{
	int i = pack_member(sel), bad = 0;
	const struct member *m, *other;
	struct place at = {po, "", ""};
	size_t k;

	if (i == -1)
		return 0;
	m = &sel->members[i];
	at.profile = m->name;
	at.file = m->file;
	for (k = 0; k < m->draft.nincludes; k++) {
		/* all are known and were read */
		other = &sel->members[selection_find(
		    sel, m->draft.includes[k].name)];
		if (!other->draft.packs)
			bad |= place_refuse(&at, m->draft.includes[k].line,
			    "leave it out, and let the person who runs the "
			    "pack add it with -p",
			    "include = %s is not for a pack: that profile does "
			    "not say packs = yes",
			    other->name);
	}
	return bad;
}

int
pack_judge_target(
    const struct request *q, const struct selection *sel, struct policy *po)
{
	int i = pack_member(sel);
	struct place at = {po, "", ""};

	if (i == -1)
		return 0;
	at.profile = sel->members[i].name;
	at.file = sel->members[i].file;
	if (q->caller.target[0] == '\0')
		return place_refuse(&at, 0, "name a directory with -C DIR",
		    "there is no target directory for " PACK_DIR);
	if (selection_holds_home(q, q->caller.target))
		return place_refuse(&at, 0,
		    "name the directory that it shall work in with -C DIR",
		    "the target directory \"%s\" is the home directory or "
		    "holds it, and a stranger's pack would read it",
		    SHOWN(q->caller.target));
	return 0;
}

/* What the pack includes, and @sys, which stands beside every pack. */
static void
included(const struct selection *sel, int pack, struct closure *out)
{
	int sys = selection_find(sel, "@sys");
	struct closure other;
	size_t i;

	closure_make(sel, (size_t)pack, out);
	if (sys != -1) {
		closure_make(sel, (size_t)sys, &other);
		for (i = 0; i < sel->n; i++)
			out->has[i] |= other.has[i];
	}
	out->has[pack] = 0;
}

int
pack_judge_exec(
    const struct selection *sel, const struct claims *cs, struct policy *po)
{
	int i = pack_member(sel), bad = 0;
	struct place at = {po, "", ""};
	struct closure cl;
	const struct rule *r;
	size_t k;

	if (i == -1)
		return 0;
	at.profile = sel->members[i].name;
	at.file = sel->members[i].file;
	included(sel, i, &cl);
	for (k = 0; k < po->nrules; k++) {
		r = &po->rules[k];
		if (r->profile != i ||
		    (r->kind != RULE_INTERPRETER && r->kind != RULE_LIBRARY) ||
		    coupling_covered(cs, &cl, r->text))
			continue;
		bad |= place_refuse(&at, r->line,
		    "name what @sys or an included profile grants",
		    "%s = \"%s\" is not for a pack: nothing that it includes "
		    "grants it",
		    rule_key(r), SHOWN(r->text));
	}
	return bad;
}

/* 1 if the profile has a rule of this kind about this. */
static int
says(const struct policy *po, const struct rule *r)
{
	size_t i;

	for (i = 0; i < po->nrules; i++)
		if (po->rules[i].profile == r->profile &&
		    po->rules[i].kind == r->kind &&
		    po->rules[i].what == r->what)
			return 1;
	return 0;
}

int
pack_rules(struct policy *po, uint16_t profile)
{
	struct rule rules[] = {
	    {.kind = RULE_NO_UNIX},
	    {.kind = RULE_REPORT, .what = REPORT_FS},
	    {.kind = RULE_VIOLATION, .number = VIOLATION_FAIL},
	};
	size_t i, n = sizeof(rules) / sizeof(rules[0]);

	if (po->nrules + n > RULES_MAX)
		return place_refuse(
		    &(struct place){po, po->profiles[profile].name,
			po->profiles[profile].file},
		    0, "write fewer",
		    "there are more than %d lines in [egress], [exec], "
		    "[limits] and [audit] of all profiles",
		    RULES_MAX);
	for (i = 0; i < n; i++) {
		rules[i].profile = profile;
		rules[i].text = (char[]){""};
		if (!says(po, &rules[i]) &&
		    policy_add_rule(po, &rules[i]) == NULL)
			return -1;
	}
	return 0;
}
