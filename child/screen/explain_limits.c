#include "child/setup/plan.h"
#include "explain.h"
#include "host.h"
#include "ipc/confine.h"
#include "ipc/policy.h"
#include "ipc/text.h"
#include "out.h"
#include "receive.h"

static const char own[] = "(carrel)";

/* How each one is held, behind its number. */
static const char *const how[LIMIT_LAST + 1] = {
    [LIMIT_MEMORY] = " of the whole run, by cgroup v2",
    [LIMIT_PROCESSES] = " processes and threads, without carrel's own",
    [LIMIT_CPU] = " of one processor for the whole run, by cgroup v2",
    [LIMIT_CPU_TIME] = " of processor time, each process",
    [LIMIT_WALL_TIME] = " from the start of the payload, then all is killed",
    [LIMIT_OPEN_FILES] = " descriptors, each process",
    [LIMIT_FILE_SIZE] = ", each file that is written",
    [LIMIT_CORE_SIZE] = ", soft and hard",
};

/* "memory lim:4" */
static void
who(struct cell *c, const struct policy *po, const struct rule *r)
{
	if (r == NULL) {
		cell_add(c, own);
		return;
	}
	cell_addf(c, "%s %s:%u", rule_key(r), po->profiles[r->profile].name,
	    (unsigned)r->line);
}

static void
limit_row(struct out *o, const struct view *v, const struct rule *r)
{
	const struct policy *po = &v->scene->policy;
	struct cell left = {0}, right = {0};
	char number[32] = "";

	rule_number(number, sizeof(number), r->what, r->number);
	cell_add(&left, number);
	if (how[r->what] != NULL)
		cell_add(&left, how[r->what]);
	who(&right, po, r);
	out_row(o, rule_key(r), &left, &right,
	    v->host->unlimited[r->what] ? "<- a run stops here: carrel doctor"
					: "");
}

static void
own_row(struct out *o, const char *tag, const char *text)
{
	struct cell left = {0}, right = {0};

	cell_add(&left, text);
	cell_add(&right, own);
	out_row(o, tag, &left, &right, "");
}

/* S39: what all of them may take, and what they do take at the most. */
static void
tmpfs_row(struct out *o, const struct policy *po, const struct plan *p)
{
	struct cell left = {0}, right = {0};
	unsigned long long sum = 0;
	size_t i, n = 0;

	for (i = 0; p != NULL && i < p->nsteps; i++)
		if (p->steps[i].kind == STEP_TMPFS) {
			sum += p->steps[i].size;
			n++;
		}
	if (p != NULL) {
		cell_size(&left, sum);
		cell_addf(&left, " at most, the sum of %zu, of ", n);
	}
	cell_size(&left, confine_tmpfs(po));
	who(&right, po, confine_limit(po, LIMIT_TMPFS));
	out_row(o, "tmpfs", &left, &right, "");
}

void
explain_limits(struct out *o, const struct view *v)
{
	const struct policy *po = &v->scene->policy;
	const struct rule *r;
	int what;

	out_block(o, "LIMITS", "");
	for (what = LIMIT_MEMORY; what < LIMIT_TMPFS; what++) {
		if ((r = confine_limit(po, (enum limit)what)) != NULL)
			limit_row(o, v, r);
		else if (what == LIMIT_CORE_SIZE)
			own_row(o, "core-size", "1 byte, soft and hard");
	}
	tmpfs_row(o, po, v->plan);
	own_row(o, "others", "as the caller's");
}
