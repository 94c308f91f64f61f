#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/limits.h"
#include "ipc/log.h"
#include "trial.h"

/* The lines that carrel itself wrote. In a string a quote is escaped, so what
   looks like a member is one. */

/* What stands behind "key":, up to what ends it; NULL if it is not there. */
static const char *
member(const char *line, const char *key, size_t *len)
{
	char name[32];
	const char *p, *end;

	snprintf(name, sizeof(name), "\"%s\":", key);
	if ((p = strstr(line, name)) == NULL)
		return NULL;
	p += strlen(name);
	if (*p != '"') {
		*len = strcspn(p, ",}");
		return p;
	}
	for (end = ++p; *end != '"' && *end != '\0'; end++)
		if (*end == '\\' && end[1] != '\0')
			end++;
	*len = (size_t)(end - p);
	return p;
}

static void
take_text(const char *line, const char *key, char *buf, size_t cap)
{
	size_t n = 0;
	const char *p = member(line, key, &n);

	snprintf(
	    buf, cap, "%.*s", (int)(p == NULL ? 0 : n), p == NULL ? "" : p);
}

/* Quotes and backslashes are as they were written; nothing else is undone. */
static void
unquote(char *s)
{
	char *to = s;

	for (; *s != '\0'; s++) {
		if (*s == '\\' && (s[1] == '"' || s[1] == '\\'))
			s++;
		*to++ = *s;
	}
	*to = '\0';
}

static void
take(const char *line, int used, struct tolds *r)
{
	struct told *e;
	const char *p;
	size_t n = 0, i;

	if (r->n == TRIAL_TOLD) {
		r->lost++;
		return;
	}
	e = realloc(r->list, (r->n + 1) * sizeof(*e));
	if (e == NULL)
		fatal("out of memory");
	r->list = e;
	e += r->n;
	e->used = used;
	take_text(line, "surface", e->surface, sizeof(e->surface));
	take_text(line, "action", e->action, sizeof(e->action));
	p = member(line, "resource", &n);
	if ((e->resource = strndup(p == NULL ? "" : p, n)) == NULL)
		fatal("out of memory");
	unquote(e->resource);
	/* a further line is about the same one */
	for (i = 0; i < r->n; i++)
		if (r->list[i].used == used &&
		    strcmp(r->list[i].resource, e->resource) == 0 &&
		    strcmp(r->list[i].action, e->action) == 0 &&
		    strcmp(r->list[i].surface, e->surface) == 0) {
			free(e->resource);
			return;
		}
	r->n++;
}

int
trial_events(const char *file, struct tolds *r)
{
	char *line = NULL, event[16], by[16], code[16];
	size_t cap = 0;
	FILE *f;

	memset(r, 0, sizeof(*r));
	if ((f = fopen(file, "re")) == NULL)
		return -1;
	while (getline(&line, &cap, f) > 0) {
		take_text(line, "event", event, sizeof(event));
		if (strcmp(event, "violation") == 0 ||
		    strcmp(event, "use") == 0)
			take(line, event[0] == 'u', r);
		if (strcmp(event, "end") != 0)
			continue;
		take_text(line, "by", by, sizeof(by));
		take_text(line, "code", code, sizeof(code));
		r->ended = 1;
		r->by_payload = strcmp(by, "payload") == 0;
		r->code = (int)strtol(code, NULL, 10);
		take_text(line, "lost", code, sizeof(code));
		r->lost += (size_t)strtoul(code, NULL, 10);
	}
	free(line);
	fclose(f);
	return 0;
}

void
trial_events_free(struct tolds *r)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		free(r->list[i].resource);
	free(r->list);
	memset(r, 0, sizeof(*r));
}
