#ifndef CARREL_FUZZ_IMPORTED_H
#define CARREL_FUZZ_IMPORTED_H

/* What an import prints is a profile, and is read without a refusal. */

#include "child/parser/format.h"
#include "child/parser/place.h"
#include "judge.h"

void
taken(const char *text, size_t len)
{
	struct policy po;
	struct place at = {&po, "p", "/p.profile"};
	struct draft d;
	char *copy = malloc(len + 1);

	if (copy == NULL)
		abort();
	memcpy(copy, text, len + 1);
	memset(&po, 0, sizeof(po));
	if (draft_parse(&at, LAYER_USER, copy, len, &d) == -1) {
		fwrite(text, 1, len, stderr);
		broken("import",
		    po.nrefusals > 0 ? po.refusals[0].what : strerror(errno));
	}
	draft_free(&d);
	policy_free(&po);
	free(copy);
}

#endif
