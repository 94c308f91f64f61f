#include "ipc/policy.h"
#include "explain.h"
#include "out.h"

/* "by default, asked for with -p, included by @a and b" */
static void
selected(struct cell *c, const struct policy *po, size_t i)
{
	const struct profile *p = &po->profiles[i];
	const char *sep = "";
	size_t k, n;

	if ((p->flags & PROFILE_DEFAULT) != 0) {
		cell_add(c, "default");
		sep = ", ";
	}
	if ((p->flags & PROFILE_ASKED) != 0) {
		cell_addf(c, "%sasked for with %s", sep,
		    p->layer == LAYER_PACK ? "-f" : "-p");
		sep = ", ";
	}
	if ((p->flags & PROFILE_IMPLIED) == 0)
		return;
	cell_addf(c, "%sincluded by", sep);
	sep = " ";
	for (k = 0; k < po->nprofiles; k++)
		for (n = 0; n < po->profiles[k].nincludes; n++)
			if (po->profiles[k].includes[n] == i) {
				cell_add(c, sep);
				cell_add(c, po->profiles[k].name);
				sep = ", ";
			}
}

static size_t
claims(const struct policy *po, size_t profile)
{
	size_t i, k, n = 0;

	for (i = 0; i < po->ngrants; i++)
		for (k = 0; k < po->grants[i].norigins; k++)
			if (po->grants[i].origins[k].profile == profile) {
				n++;
				break;
			}
	return n;
}

static void
profile_rows(struct out *o, const struct policy *po, size_t i)
{
	const struct profile *p = &po->profiles[i];
	struct cell left = {0}, right = {0};
	size_t k, n = claims(po, i);

	cell_add(&left, p->name);
	selected(&right, po, i);
	out_row(o, policy_layer(p->layer), &left, &right, "");
	cell_quote(&left, p->file);
	cell_addf(&left, ", %zu grant%s", n, n == 1 ? "" : "s");
	out_note(o, &left);
	if (p->description[0] != '\0') {
		cell_add(&left, p->description);
		out_note(o, &left);
	}
	if (p->abuse[0] != '\0') {
		cell_add(&left, "abuse: ");
		cell_add(&left, p->abuse);
		out_note(o, &left);
	}
	if (p->nincludes == 0)
		return;
	cell_add(&left, "includes");
	for (k = 0; k < p->nincludes; k++) {
		cell_add(&left, k == 0 ? " " : ", ");
		cell_add(&left, po->profiles[p->includes[k]].name);
	}
	out_note(o, &left);
}

void
explain_profiles(struct out *o, const struct policy *po)
{
	size_t i;

	out_block(o, "PROFILES", po->nprofiles == 0 ? "none" : "");
	for (i = 0; i < po->nprofiles; i++)
		if (po->profiles[i].flags != PROFILE_CEILING)
			profile_rows(o, po, i);
}
