#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ipc/limits.h"
#include "ipc/text.h"
#include "json.h"

void
json_init(struct json *j, char *buf, size_t cap)
{
	j->buf = buf;
	j->cap = cap;
	j->len = 0;
	j->bad = cap == 0;
	if (cap > 0)
		buf[0] = '\0';
}

static void
put(struct json *j, const char *s, size_t n)
{
	if (j->bad || n >= j->cap - j->len) {
		j->bad = 1;
		return;
	}
	memcpy(j->buf + j->len, s, n);
	j->len += n;
	j->buf[j->len] = '\0';
}

/* A comma, unless the value is the first or follows its key. */
static void
next(struct json *j)
{
	if (j->len > 0 && strchr("{[:", j->buf[j->len - 1]) == NULL)
		put(j, ",", 1);
}

void
json_open(struct json *j, char bracket)
{
	next(j);
	put(j, &bracket, 1);
}

void
json_close(struct json *j, char bracket)
{
	put(j, &bracket, 1);
}

void
json_key(struct json *j, const char *key)
{
	next(j);
	put(j, "\"", 1);
	put(j, key, strlen(key));
	put(j, "\":", 2);
}

void
json_text(struct json *j, const char *raw)
{
	char safe[4 * TEXT_MAX_LEN + 8];

	json_harmless(j, text_escape(safe, sizeof(safe), raw));
}

void
json_harmless(struct json *j, const char *safe)
{
	const char *p;
	size_t n;

	next(j);
	put(j, "\"", 1);
	for (p = safe; *p != '\0'; p += n) {
		for (n = 0; p[n] != '\0' && p[n] != '"' && p[n] != '\\'; n++)
			;
		put(j, p, n);
		p += n;
		n = *p != '\0';
		if (n > 0) {
			put(j, "\\", 1);
			put(j, p, 1);
		}
	}
	put(j, "\"", 1);
}

void
json_number(struct json *j, uint64_t n)
{
	char digits[24];

	next(j);
	snprintf(digits, sizeof(digits), "%" PRIu64, n);
	put(j, digits, strlen(digits));
}

void
json_truth(struct json *j, int yes)
{
	next(j);
	put(j, yes ? "true" : "false", yes ? 4 : 5);
}

void
json_null(struct json *j)
{
	next(j);
	put(j, "null", 4);
}

void
json_pair(struct json *j, const char *key, const char *raw)
{
	json_key(j, key);
	json_text(j, raw);
}

void
json_count(struct json *j, const char *key, uint64_t n)
{
	json_key(j, key);
	json_number(j, n);
}
