#include <ini.h>
#include <stdio.h>
#include <string.h>

#include "ipc/limits.h"
#include "ipc/text.h"
#include "ipc/variables.h"
#include "place.h"
#include "reader.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

struct reader {
	const struct place *at;
	char *p, *end; /* what is still to be read */
	uint32_t line;
	char section[SECTION_MAX_LEN + 1]; /* "": none yet */
	struct reader_line now;		   /* what inih has in its hands */
	unsigned token; /* the number in place of the value */
	int pending;	/* inih has not yet given it back */
	int bad;	/* refused: nothing more is read */
	int (*fn)(void *, const struct reader_line *);
	void *arg;
};

static int
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Cuts the blanks off both ends of what lies between p and end. */
static char *
trim(char *p, char *end)
{
	while (p < end && is_blank(*p))
		p++;
	while (p < end && is_blank(end[-1]))
		end--;
	*end = '\0';
	return p;
}

/* 1 if there is nothing but printable ASCII and tabs: nearly every line. */
static int
is_plain(const char *p, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if ((p[i] < 0x20 && p[i] != '\t') || p[i] > 0x7e)
			return 0;
	return 1;
}

/* The bytes of a line (a NUL follows them), before it is asked for a meaning */
static int
check_bytes(struct reader *r, const char *p, size_t n)
{
	size_t i;

	if (is_plain(p, n))
		return 0;
	if (memchr(p, '\0', n) != NULL)
		return place_refuse(r->at, r->line, "write plain text",
		    "the line holds a NUL byte");
	if (memchr(p, '\r', n) != NULL)
		return place_refuse(r->at, r->line,
		    "end the lines with a newline alone",
		    "the line holds a carriage return");
	if (!text_utf8(p, n))
		return place_refuse(r->at, r->line, "save the file as UTF-8",
		    "the line is not valid UTF-8");
	/* a tab is a control too: look at what lies between the tabs */
	for (; n > 0; p += i, n -= i) {
		i = strcspn(p, "\t");
		if (text_unsafe(p, i))
			return place_refuse(r->at, r->line,
			    "remove the character",
			    "there is a control, bidi or invisible character "
			    "in \"%s\"",
			    SHOWN(p));
		if (i < n)
			i++;
	}
	return 0;
}

/* "[section]", with nothing but blanks behind it. */
static int
take_section(struct reader *r, char *p, char *end)
{
	size_t n;

	p = trim(p, end);
	n = strlen(p);
	if (n < 3 || p[n - 1] != ']' || p[1] == ' ' || p[n - 2] == ' ' ||
	    strspn(p + 1, LETTERS "._- ") != n - 2)
		return place_refuse(r->at, r->line,
		    "write [NAME] on a line of its own, without a comment",
		    "\"%s\" is not a section", SHOWN(p));
	if (n - 2 > SECTION_MAX_LEN)
		return place_refuse(r->at, r->line, "use the section's name",
		    "\"%s\" is too long for a section (%d bytes at most)",
		    SHOWN(p), SECTION_MAX_LEN);
	memcpy(r->section, p + 1, n - 2);
	r->section[n - 2] = '\0';
	r->now.line = r->line;
	r->now.section = r->section;
	r->now.key = r->now.value = NULL;
	return r->fn(r->arg, &r->now);
}

static int
check_value(struct reader *r, const char *key, const char *value)
{
	if (strlen(value) > VALUE_MAX_LEN)
		return place_refuse(r->at, r->line, "shorten it",
		    "the value of \"%s\" has %zu bytes, %d are the most", key,
		    strlen(value), VALUE_MAX_LEN);
	if (strchr(value, '\t') != NULL)
		return place_refuse(r->at, r->line, "write a space",
		    "the value of \"%s\" holds a tab", key);
	return 0;
}

/* A key that inih could not be given, in the words of its section. */
static int
refuse_key(const struct reader *r, const char *key)
{
	const char *bad = variable_name_bad(key, strlen(key));

	if (strncmp(r->section, "environ.", 8) == 0 && bad != NULL)
		return place_refuse(r->at, r->line,
		    "write the name of a variable: letters of ASCII, digits "
		    "and \"_\", no digit in front",
		    "\"%s\" in [%s] is no name: it %s", SHOWN(key), r->section,
		    bad);
	return place_refuse(r->at, r->line,
	    "write KEY = VALUE, the key in letters, digits and \"_\", \".\", "
	    "\"-\"",
	    "\"%s\" is not a key", SHOWN(key));
}

/* "key = value" */
static int
take_key(struct reader *r, char *p, char *end)
{
	char *eq = memchr(p, '=', (size_t)(end - p));
	char *key, *value;

	*end = '\0';
	if (eq == NULL)
		return place_refuse(r->at, r->line, "write KEY = VALUE",
		    "\"%s\" has no \"=\"", SHOWN(p));
	value = trim(eq + 1, end);
	key = trim(p, eq);
	if (*key == '\0')
		return place_refuse(r->at, r->line, "write KEY = VALUE",
		    "there is no key in front of \"=\"");
	if (r->section[0] == '\0')
		return place_refuse(r->at, r->line,
		    "write the line below its [section]",
		    "\"%s\" stands outside a section", SHOWN(key));
	if (strlen(key) > KEY_MAX_LEN ||
	    strspn(key, LETTERS "._-") != strlen(key))
		return refuse_key(r, key);
	if (check_value(r, key, value) == -1)
		return -1;
	r->now.line = r->line;
	r->now.section = r->section;
	r->now.key = key;
	r->now.value = value;
	return 0;
}

/* Next line that inih shall see: 1, or 0 at the end, or -1. */
static int
next_line(struct reader *r)
{
	char *p, *nl;

	while (r->p < r->end) {
		p = r->p;
		nl = memchr(p, '\n', (size_t)(r->end - p));
		if (nl == NULL)
			nl = r->end;
		r->p = nl < r->end ? nl + 1 : nl;
		r->line++;
		*nl = '\0';
		if (check_bytes(r, p, (size_t)(nl - p)) == -1)
			return -1;
		if (*p == ';' || *p == '#' || p[strspn(p, " \t")] == '\0')
			continue;
		if (is_blank(*p))
			return place_refuse(r->at, r->line,
			    "begin it in the first column; each line stands "
			    "for itself",
			    "the line is indented");
		if (*p == '[')
			return take_section(r, p, nl) == -1 ? -1 : 1;
		return take_key(r, p, nl) == -1 ? -1 : 1;
	}
	return 0;
}

static int
disagree(struct reader *r)
{
	if (!r->bad)
		place_refuse(r->at, r->line, "report this as a bug",
		    "internal: two readings of the line differ");
	r->bad = 1;
	return 0;
}

/* For inih: the next line in the form that it reads without a mistake. */
static char *
give_line(char *str, int num, void *stream)
{
	struct reader *r = stream;
	int n;

	if (r->pending)
		disagree(r);
	if (r->bad)
		return NULL;
	n = next_line(r);
	if (n == -1)
		r->bad = 1;
	if (n <= 0)
		return NULL;
	if (r->now.key == NULL) {
		n = snprintf(str, (size_t)num, "[%s]\n", r->now.section);
	} else {
		r->pending = 1;
		n = snprintf(
		    str, (size_t)num, "%s = %u\n", r->now.key, ++r->token);
	}
	if (n < 0 || n >= num) {
		disagree(r);
		return NULL;
	}
	return str;
}

/* From inih: what it read. */
static int
take_back(void *user, const char *section, const char *name, const char *value)
{
	struct reader *r = user;
	char token[16];

	snprintf(token, sizeof(token), "%u", r->token);
	if (!r->pending || r->bad || strcmp(section, r->section) != 0 ||
	    strcmp(name, r->now.key) != 0 || strcmp(value, token) != 0)
		return disagree(r);
	r->pending = 0;
	if (r->fn(r->arg, &r->now) == 0)
		return 1;
	r->bad = 1;
	return 0;
}

int
reader_parse(const struct place *at, char *data, size_t len,
    int (*fn)(void *, const struct reader_line *), void *arg)
{
	struct reader r = {.at = at, .p = data, .fn = fn, .arg = arg};

	r.end = data + len;
	*r.end = '\0';
	if (len > FILE_MAX_LEN)
		return place_refuse(at, 0, "split it",
		    "the file has more than %d KiB", FILE_MAX_LEN / 1024);
	if (len >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0)
		return place_refuse(at, 1, "save it as UTF-8 without a BOM",
		    "the file begins with a byte order mark");
	if (ini_parse_stream(give_line, &r, take_back, &r) != 0 || r.pending)
		disagree(&r);
	return r.bad ? -1 : 0;
}
