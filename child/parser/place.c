#include <stdarg.h>
#include <stdio.h>

#include "ipc/limits.h"
#include "ipc/policy.h"
#include "place.h"

int
place_refuse(const struct place *at, uint32_t line, const char *fix,
    const char *fmt, ...)
{
	char what[TEXT_MAX_LEN];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	/* out of memory: the run fails for want of a policy instead */
	policy_refuse(at->po, at->profile, at->file, line, fix, "%s", what);
	return -1;
}
