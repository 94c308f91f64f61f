#ifndef CARREL_REGRESS_ANSWER_H
#define CARREL_REGRESS_ANSWER_H

#include "child/parser/config.h"
#include "child/parser/layers.h"
#include "child/parser/resolve.h"
#include "child/parser/select.h"
#include "ipc/limits.h"
#include "parse_help.h"

/* From a request to a policy, to be freed, as the program does it. */
static inline int
answer(struct layout *l, struct policy *po)
{
	struct config c;
	struct layers ls;
	struct selection sel;
	char why[TEXT_MAX_LEN] = "";
	int n;

	memset(po, 0, sizeof(*po));
	layers_open(&ls, &l->q);
	n = config_read(&ls, po, &c);
	if (n == 0) {
		n = selection_load(&l->q, &c, &ls, po, &sel);
		config_free(&c);
	}
	if (n == 0) {
		n = resolve(&l->q, &sel, po);
		selection_free(&sel);
	}
	layers_close(&ls);
	policy_sort(po);
	ck_assert_int_eq(n, po->nrefusals > 0 ? -1 : 0);
	ck_assert_msg(policy_check(po, why, sizeof(why)) == 0, "%s", why);
	return n;
}

#endif
