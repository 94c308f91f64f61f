#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/log.h"
#include "ipc/text.h"
#include "writing.h"

void
writing_line(FILE *f, const char *fmt, ...)
{
	char *raw, *safe;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&raw, fmt, ap) == -1 ||
	    (safe = malloc(4 * strlen(raw) + 8)) == NULL)
		fatal("out of memory");
	va_end(ap);
	/* a value with a backslash keeps it: what is unsafe never gets here */
	if (raw[0] != ';' && !text_unsafe(raw, strlen(raw)) &&
	    text_utf8(raw, strlen(raw)))
		fprintf(f, "%s\n", raw);
	else
		fprintf(f, "%s\n", text_escape(safe, 4 * strlen(raw) + 8, raw));
	free(safe);
	free(raw);
}

const char *
writing_unfit(const char *s)
{
	if (s[0] == '\0')
		return "is empty";
	if (text_unsafe(s, strlen(s)) || !text_utf8(s, strlen(s)))
		return "holds what no profile can";
	if (strpbrk(s, "\"{}") != NULL)
		return "has a quote or a brace in it";
	return strlen(s) > VALUE_MAX_LEN / 2 - 8 ? "is too long" : NULL;
}

const char *
writing_word(char buf[WRITING_WORD], const char *s)
{
	int q = strchr(s, ' ') != NULL || strstr(s, "->") != NULL;

	snprintf(buf, WRITING_WORD, "%s%s%s", q ? "\"" : "", s, q ? "\"" : "");
	return buf;
}
