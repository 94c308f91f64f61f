#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "limits.h"
#include "log.h"
#include "policy.h"
#include "text.h"

#define PREFIX	   "carrel: "
#define INDENT_MAX 8

/*
 * One write(2), so that lines of several processes do not mix. The blanks that
 * it is indented by are carrel's own; all others are escaped.
 */
static void
line(size_t indent, const char *raw)
{
	char out[4 * TEXT_MAX_LEN];
	size_t n;
	int blank = 1; /* the one of the prefix */

	n = (size_t)snprintf(
	    out, sizeof(out), "%s%*s", PREFIX, (int)indent, "");
	text_escape_on(out + n, sizeof(out) - n - 1, raw, &blank);
	n += strlen(out + n);
	out[n++] = '\n';
	if (write(STDERR_FILENO, out, n) == -1)
		return; /* nobody listens */
}

static void vline(const char *, va_list) __attribute__((format(printf, 1, 0)));

static void
vline(const char *fmt, va_list ap)
{
	char raw[2 * TEXT_MAX_LEN];
	size_t indent = strspn(fmt, " ");

	vsnprintf(raw, sizeof(raw), fmt, ap);
	if (indent > INDENT_MAX)
		indent = 0;
	line(indent, raw + indent);
}

void
log_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vline(fmt, ap);
	va_end(ap);
}

int
log_ready(void)
{
	struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};

	return poll(&p, 1, 0) != 0;
}

void
fatal(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vline(fmt, ap);
	va_end(ap);
	exit(EXIT_CARREL);
}

char *
refusal_text(const struct refusal *r, char *buf, size_t len)
{
	char where[PATH_MAX_LEN + 32];

	where[0] = '\0';
	if (r->file[0] != '\0' && r->line != 0)
		snprintf(where, sizeof(where), " (%s:%u)", r->file, r->line);
	else if (r->file[0] != '\0')
		snprintf(where, sizeof(where), " (%s)", r->file);
	snprintf(buf, len, "%s%s%s%s%s%s%s",
	    r->profile[0] != '\0' ? "profile " : "", r->profile,
	    r->profile[0] != '\0' ? where : where + (where[0] != '\0'),
	    r->profile[0] != '\0' || where[0] != '\0' ? ": " : "", r->what,
	    r->fix[0] != '\0' ? "; " : "", r->fix);
	return buf;
}
