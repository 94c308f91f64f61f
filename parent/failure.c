#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "failure.h"

int
failure_set(struct failure *f, enum cause_step step, const char *fmt, ...)
{
	va_list ap;

	f->err = errno;
	f->step = step;
	va_start(ap, fmt);
	vsnprintf(f->what, sizeof(f->what), fmt, ap);
	va_end(ap);
	return -1;
}
