#include <stdio.h>
#include <string.h>

#include "ipc/tool.h"
#include "ipc/limits.h"
#include "ipc/log.h"
#include "ipc/policy.h"
#include "lint.h"
#include "profile.h"
#include "trial.h"

#define KEY_LEN (NAME_MAX_LEN + 32)

static void
judge_code(
    const struct trial *tr, const struct trial_ending *en, struct findings *f)
{
	char key[KEY_LEN], words[TRIAL_WORDS + 32];

	snprintf(key, sizeof(key), "example %s.run", tr->t->name);
	trial_last_words(tr, words, sizeof(words));
	if (en->code == -1)
		finding_add(f, FINDING_HARD, key, tr->t->line,
		    "has not ended after %d s", EXAMPLE_SECONDS);
	else if (!en->told.ended ||
		 (!en->told.by_payload && en->code == EXIT_CARREL))
		finding_add(
		    f, FINDING_HARD, key, tr->t->line, "was not run%s", words);
	else if (en->code != tr->t->expect)
		finding_add(f, FINDING_HARD, key, tr->t->line,
		    "ended with %d, and %u is expected%s", en->code,
		    (unsigned)tr->t->expect, words);
}

/* Where what it was refused ended it, that has been said. */
static int
is_masked(const struct tolds *r)
{
	size_t i;

	if (!r->ended || r->by_payload)
		return 0;
	for (i = 0; i < r->n; i++)
		if (!r->list[i].used)
			return 1;
	return 0;
}

static void
example(const struct profiled *p, const struct tool *t,
    struct profile_report *r, struct findings *f)
{
	struct trial tr = {.p = p, .t = t};
	struct trial_ending en;
	char key[KEY_LEN];
	size_t before = f->n;

	trial_begin(&tr);
	trial_run(&tr, &en);
	trial_judge(&tr, &en.told, f);
	if (!is_masked(&en.told))
		judge_code(&tr, &en, f);
	trial_events_free(&en.told);
	trial_end(&tr);
	if (f->n > before)
		return;
	snprintf(key, sizeof(key), "example %s", t->name);
	profile_say(r, "ok", key, "", 0, t->text);
}

void
profile_test(
    const struct profiled *p, struct profile_report *r, struct findings *f)
{
	const struct policy *po = &p->policy;
	size_t i, n = 0;

	for (i = 0; i < po->ntools; i++) {
		if (po->tools[i].kind != TOOL_EXAMPLE ||
		    po->tools[i].profile != p->subject)
			continue;
		n++;
		example(p, &po->tools[i], r, f);
	}
	if (n == 0)
		finding_add(f, FINDING_NOTE, "example", 0,
		    "there is none, so nothing was run");
}
