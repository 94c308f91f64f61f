#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "answer.h"
#include "child/setup/plan.h"
#include "ipc/confine.h"
#include "ipc/egress.h"
#include "ipc/policy.h"
#include "ipc/rule.h"

/* One field, escaped, behind a tab. */
static void
put(const char *s)
{
	putchar('\t');
	for (; *s != '\0'; s++)
		if ((unsigned char)*s <= ' ' || *s == '%' || *s == 0x7f)
			printf("%%%02x", (unsigned char)*s);
		else
			putchar(*s);
}

static void
put_number(uint64_t n)
{
	printf("\t%llu", (unsigned long long)n);
}

/* What crosses to the screens */

static void
put_origins(const struct policy *po, const struct origin *o, size_t n)
{
	size_t i;

	putchar('\t');
	for (i = 0; i < n; i++)
		printf("%s%s.%u.%u", i > 0 ? "," : "",
		    po->profiles[o[i].profile].name, o[i].verb,
		    (unsigned)o[i].line);
}

void
answer_policy(const struct policy *po)
{
	size_t i;

	for (i = 0; i < po->nprofiles; i++) {
		putchar('P');
		put(po->profiles[i].name);
		put_number(po->profiles[i].flags);
		put_number(po->profiles[i].layer);
		putchar('\n');
	}
	for (i = 0; i < po->nrefusals; i++) {
		putchar('R');
		put(po->refusals[i].profile);
		put_number(po->refusals[i].line);
		put(po->refusals[i].what);
		put(po->refusals[i].fix);
		putchar('\n');
	}
}

static void
put_rule(const struct rule *r)
{
	char text[EGRESS_TEXT];
	struct egress e;

	if (r == NULL)
		return;
	putchar('L');
	put(rule_key(r));
	put_number(r->what);
	if (r->kind == RULE_EGRESS) {
		egress_of(r, &e);
		put(egress_text(&e, text));
	} else {
		put_number(r->number);
	}
	put(r->text);
	putchar('\n');
}

/* S2b: what the rules come to. */
void
answer_joined(const struct policy *po)
{
	struct confine c;
	size_t i;

	if (confine_join(po, &c) == -1)
		abort();
	for (i = 1; i <= LIMIT_LAST; i++)
		put_rule(c.limit[i]);
	for (i = 1; i <= REPORT_LAST; i++)
		put_rule(c.report[i]);
	put_rule(c.tier);
	put_rule(c.no_spawn);
	put_rule(c.once);
	put_rule(c.no_unix);
	put_rule(c.violation);
	for (i = 0; i < c.ninterpreters; i++)
		put_rule(c.interpreters[i]);
	for (i = 0; i < c.nlibraries; i++)
		put_rule(c.libraries[i]);
	for (i = 0; i < po->nrules; i++)
		if (po->rules[i].kind == RULE_EGRESS)
			put_rule(&po->rules[i]);
	confine_free(&c);
}

void
answer_steps(const struct policy *po, const struct plan *pl)
{
	const struct grant *g;
	const struct step *s;
	size_t i;

	for (i = 0; i < pl->nsteps; i++) {
		s = &pl->steps[i];
		g = s->grant >= 0 ? &po->grants[s->grant] : NULL;
		putchar('M');
		put_number(s->kind);
		put(s->guest);
		put_number(s->flags);
		put_number(s->mode);
		put_number(s->size);
		put(g != NULL ? g->source : "");
		put(s->text);
		put_origins(po, g != NULL ? g->origins : NULL,
		    g != NULL ? g->norigins : 0);
		putchar('\n');
	}
	for (i = 0; i < po->ngrants; i++)
		if (pl->absent[i]) {
			putchar('A');
			put(po->grants[i].guest);
			putchar('\n');
		}
}

static void
put_entries(char what, const char *name, const struct env_entry *e, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		putchar(what);
		put(name);
		put(e[i].value);
		put(e[i].who);
		put(e[i].mark);
		putchar('\n');
	}
}

void
answer_environ(const struct plan *pl)
{
	const struct env_row *r;
	size_t i;

	for (i = 0; i < pl->nenv; i++) {
		r = &pl->env[i];
		putchar(r->value != NULL ? 'E' : 'U');
		put(r->name);
		put(r->value != NULL ? r->value : "");
		put(r->who);
		put(r->mark);
		putchar('\n');
		put_entries('I', r->name, r->entries, r->nentries);
		put_entries('D', r->name, r->drops, r->ndrops);
	}
	for (i = 0; i < pl->ncwd; i++) {
		putchar('C');
		put(pl->cwd[i]);
		putchar('\n');
	}
}
