#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child/setup/plan.h"
#include "ipc/limits.h"
#include "ipc/owned.h"
#include "ipc/policy.h"
#include "ipc/reach.h"
#include "ipc/rule.h"
#include "ipc/variables.h"
#include "out.h"
#include "receive.h"
#include "why.h"

/* A host */

/* What an address is; of a name that is known when it is looked up. */
static enum reach
reach(const struct why *w)
{
	struct address a;
	const char *word;

	return address_read(w->host, &a) == 0 ? reach_of(&a, &word)
					      : REACH_PUBLIC;
}

static int
matches(const struct why *w, const struct egress *e)
{
	if (reach(w) == REACH_NEVER)
		return 0;
	return (e->scheme == EGRESS_ALL && reach(w) == REACH_PUBLIC) ||
	       (e->scheme != EGRESS_ALL && egress_match(e, w->host) &&
		   (w->port == 0 || w->port == e->port));
}

/* The same of a line of [egress], as egress_text() wrote it. */
static int
host_granted(const struct why *w, const struct catalogue_line *l)
{
	char host[EGRESS_TEXT];
	const char *p;
	char *colon;
	struct egress e = {.scheme = EGRESS_TCP, .host = host};

	if (strcmp(l->section, "egress") != 0 ||
	    strlen(l->inside) >= sizeof(host))
		return 0;
	if (strcmp(l->inside, "*") == 0)
		return reach(w) == REACH_PUBLIC;
	if ((p = strstr(l->inside, "://")) == NULL)
		return 0;
	strcpy(host, p + (p[3] == '[' ? 4 : 3));
	if ((colon = strrchr(host, ':')) == NULL || colon == host)
		return 0;
	e.port = (uint16_t)strtoul(colon + 1, NULL, 10);
	*colon = '\0';
	if (colon[-1] == ']')
		colon[-1] = '\0';
	return matches(w, &e);
}

void
why_host_how(struct out *o, const struct why *w)
{
	char line[EGRESS_TEXT + 32];
	int six = strchr(w->host, ':') != NULL;
	unsigned port = w->port != 0 ? w->port : 443;

	if (reach(w) == REACH_NEVER) {
		out_block(o, "ADD", "");
		why_row(
		    o, "never", "no profile can allow this address", "", "");
		return;
	}
	why_profiles(o, w, host_granted);
	snprintf(line, sizeof(line), "allow = %s://%s%s%s:%u%s",
	    port == 443	 ? "https"
	    : port == 80 ? "http"
			 : "tcp",
	    six ? "[" : "", w->host, six ? "]" : "", port,
	    reach(w) == REACH_PRIVATE ? " private" : "");
	why_add(o, "[egress]", line,
	    w->port == 0
		? "name the port that is meant: https 443, http 80, else tcp"
		: "");
}

void
why_host(struct out *o, struct why *w)
{
	const struct policy *po = &w->v.scene->policy;
	struct cell left = {0}, right = {0};
	char text[EGRESS_TEXT];
	struct egress e;
	size_t i;

	out_block(o, "WHY", w->subject);
	for (i = 0; i < po->nrules; i++) {
		if (po->rules[i].kind != RULE_EGRESS)
			continue;
		egress_of(&po->rules[i], &e);
		if (!matches(w, &e))
			continue;
		w->granted = 1;
		cell_addf(&left, "reachable: %s", egress_text(&e, text));
		cell_addf(&right, "allow %s:%u",
		    po->profiles[po->rules[i].profile].name,
		    (unsigned)po->rules[i].line);
		out_row(o, "yes", &left, &right,
		    e.scheme == EGRESS_ALL ? "<- if its address is public"
		    : e.private		   ? "<- private addresses, too"
					   : "");
	}
	if (w->granted)
		return;
	why_row(o, "no",
	    "reachable: nothing allows it, so it is refused at "
	    "once",
	    "", "");
	why_host_how(o, w);
}

/* A variable */

static int
variable_granted(const struct why *w, const struct catalogue_line *l)
{
	return strncmp(l->section, "environ.", 8) == 0 &&
	       strcmp(l->key, w->subject + 1) == 0;
}

static void
variable_how(struct out *o, const struct why *w)
{
	const char *name = w->subject + 1;
	const struct code_name *code = variable_code(name, ENV_INHERIT);
	unsigned verbs = variable_verbs(name);
	char line[VARIABLE_NAME_MAX + 64];

	if (owned_find(name) != NULL) {
		out_block(o, "ADD", "");
		why_row(o, "never", "the name is carrel's own", "(carrel)", "");
		return;
	}
	why_profiles(o, w, variable_granted);
	if ((verbs & ENV_BIT(ENV_MERGE)) != 0 &&
	    variable_code(name, ENV_MERGE) == NULL) {
		snprintf(line, sizeof(line), "%s = /a/directory", name);
		why_add(o, "merge", line,
		    "in [environ.merge], a line for each element");
	} else if ((verbs & ENV_BIT(ENV_INHERIT)) != 0 && code == NULL) {
		snprintf(line, sizeof(line), "%s = yes", name);
		why_add(o, "inherit", line,
		    "in [environ.inherit], for the value that you have; or "
		    "NAME = value in [environ.set]");
	} else {
		out_block(o, "ADD", "");
		why_row(
		    o, "no", "its value is code to programs:", code->why, "");
	}
}

static void
entries(struct out *o, const struct env_row *r)
{
	struct cell left = {0}, right = {0};
	size_t i;

	for (i = 0; i < r->nentries; i++) {
		cell_quote(&left, r->entries[i].value);
		cell_add(&right, r->entries[i].who);
		out_row(o, "element", &left, &right, r->entries[i].mark);
	}
}

void
why_variable(struct out *o, struct why *w)
{
	const struct plan *p = w->v.plan;
	const struct env_row *r = NULL;
	struct cell left = {0}, right = {0};
	size_t i;

	out_block(o, "WHY", w->subject);
	for (i = 0; i < p->nenv; i++)
		if (strcmp(p->env[i].name, w->subject + 1) == 0)
			r = &p->env[i];
	if (r == NULL) {
		why_row(o, "no", "set: nothing grants it", "", "");
		variable_how(o, w);
		return;
	}
	w->granted = r->value != NULL;
	cell_add(&left, r->value != NULL ? "set" : "set: it is asked for, but");
	if (r->value != NULL && r->nentries == 0) {
		cell_add(&left, " to ");
		if (r->secret)
			cell_add(&left, "(not shown)");
		else
			cell_scalar(&left, r->value);
	}
	cell_add(&right, r->who);
	out_row(o, r->value != NULL ? "yes" : "no", &left, &right, r->mark);
	entries(o, r);
}
