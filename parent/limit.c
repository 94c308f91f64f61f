#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "control.h"
#include "failure.h"
#include "ipc/confine.h"
#include "ipc/policy.h"
#include "limit.h"
#include "start.h"

int
limit_take(
    const struct policy *po, int control, struct limits *ls, struct failure *f)
{
	const struct rule *r;
	char text[TEXT_MAX_LEN];
	int what, b;

	memset(ls, 0, sizeof(*ls));
	for (what = LIMIT_MEMORY; what <= LIMIT_LAST; what++) {
		if ((r = confine_limit(po, (enum limit)what)) == NULL)
			continue;
		ls->set[what] = 1;
		ls->value[what] = r->number;
		text[0] = '\0';
		confine_tell(po, r, text, sizeof(text));
		b = what == LIMIT_CPU_TIME    ? (int)r->number
		    : what == LIMIT_WALL_TIME ? (int)((r->number + 999) / 1000)
					      : 0;
		if (control_send(control, CONTROL_LIMIT, what, b, text) == -1)
			return failure_set(
			    f, CAUSE_OTHER, "tell of the limits");
	}
	return 0;
}

int
limit_core(const struct limits *ls, const struct start *st, struct failure *f)
{
	uint64_t n = ls->set[LIMIT_CORE_SIZE] ? ls->value[LIMIT_CORE_SIZE] : 1;
	struct rlimit r;

	r.rlim_cur = r.rlim_max = n < st->core ? (rlim_t)n : st->core;
	if (setrlimit(RLIMIT_CORE, &r) == -1)
		return failure_set(f, CAUSE_OTHER, "limit the core size");
	return 0;
}

/* The soft limit, and a hard one so much above it; what is less stays. */
static int
lower(const struct limits *ls, enum limit what, int resource, unsigned above)
{
	uint64_t n = ls->value[what];
	struct rlimit r;

	if (!ls->set[what])
		return 0;
	if (getrlimit(resource, &r) == -1)
		return -1;
	if (n < r.rlim_cur)
		r.rlim_cur = (rlim_t)n;
	if (n + above < r.rlim_max)
		r.rlim_max = (rlim_t)(n + above);
	return setrlimit(resource, &r);
}

int
limit_payload(const struct limits *ls, const struct start *st)
{
	if (setrlimit(RLIMIT_NOFILE, &st->nofile) == -1 ||
	    lower(ls, LIMIT_OPEN_FILES, RLIMIT_NOFILE, 0) == -1 ||
	    lower(ls, LIMIT_FILE_SIZE, RLIMIT_FSIZE, 0) == -1)
		return -1;
	/* SIGXCPU, and a second later SIGKILL: who ignores it ends too */
	return lower(ls, LIMIT_CPU_TIME, RLIMIT_CPU, 1);
}
