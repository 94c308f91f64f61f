#include "child/shared/survey.h"
#include "ipc/pack.h"
#include "ipc/text.h"
#include "plan_parts.h"

/*
 * The tree at PACK_DIR is as untrusted as the pack: a symlink in it, which
 * whoever wrote the tree made, would lead the pack's grants to any place of
 * the host. So none of them is reached through one, wherever it leads.
 */
int
plan_packed(struct draft *d)
{
	const struct grant *g = d->po->grants;
	const struct survey_row *r;
	size_t i;

	if (pack_find(d->po) == -1)
		return 0;
	for (i = 0; i < d->po->ngrants; i++) {
		if (!plan_binds(&g[i]) || !pack_claims(d->po, &g[i]))
			continue;
		r = plan_row(d, i);
		if (r->nlinks > 0 && !d->refused[i] &&
		    plan_refuse(d, i,
			"put a directory in its place, or name another path",
			"%s = %s: %s is a symlink, and nothing that a pack "
			"names is reached through one",
			plan_verb(&g[i]), SHOWN(g[i].guest),
			SHOWN(r->links[0])) == -1)
			return -1;
	}
	return 0;
}
