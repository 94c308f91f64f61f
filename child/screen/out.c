#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child/shared/patient.h"
#include "ipc/limits.h"
#include "ipc/log.h"
#include "ipc/text.h"
#include "out.h"
#include "page.h"

#define TAG_COL	  2  /* where a row's tag begins */
#define LEFT_COL  12 /* where its left cell begins */
#define HANG	  2  /* how far a broken line is moved in */
#define TWO_CELLS 60 /* columns from which there is room for two cells */
#define WIDTH_MIN 24
#define WIDTH_STD 80

#define BOLD   "\033[1m"
#define YELLOW "\033[33m"
#define RED    "\033[31m"
#define PLAIN  "\033[0m"

/* Room for n more bytes and a NUL. */
static void
reserve(struct cell *c, size_t n)
{
	size_t cap = c->len + n + 1;
	char *s;

	if (cap <= c->cap)
		return;
	cap += cap / 2;
	if ((s = realloc(c->s, cap)) == NULL)
		fatal("out of memory");
	c->s = s;
	c->cap = cap;
}

void
cell_add(struct cell *c, const char *raw)
{
	size_t n = 4 * strlen(raw) + 8; /* what text_escape() can need */

	reserve(c, n);
	text_escape_on(c->s + c->len, n, raw, &c->blank);
	c->len += strlen(c->s + c->len);
}

void
cell_harmless(struct cell *c, const char *safe)
{
	size_t n = strlen(safe);

	reserve(c, n);
	memcpy(c->s + c->len, safe, n + 1);
	c->len += n;
	c->blank = n > 0 ? safe[n - 1] == ' ' : c->blank;
}

void
cell_addf(struct cell *c, const char *fmt, ...)
{
	char *raw;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&raw, fmt, ap) == -1)
		fatal("out of memory");
	va_end(ap);
	cell_add(c, raw);
	free(raw);
}

/* 1 if the text holds something that looks like a space, or a quote. */
static int
ambiguous(const char *raw)
{
	/* beside ' ': no-break, ideographic; the others are escaped */
	static const char *const blanks[] = {
	    " ", "\"", "\xc2\xa0", "\xe3\x80\x80"};
	size_t i;

	for (i = 0; i < sizeof(blanks) / sizeof(blanks[0]); i++)
		if (strstr(raw, blanks[i]) != NULL)
			return 1;
	return raw[0] == '\0';
}

void
cell_quote(struct cell *c, const char *raw)
{
	char *copy, *p, *q;

	if (!ambiguous(raw)) {
		cell_add(c, raw);
		return;
	}
	if ((copy = strdup(raw)) == NULL)
		fatal("out of memory");
	cell_add(c, "\"");
	for (p = copy; (q = strchr(p, '"')) != NULL; p = q + 1) {
		*q = '\0';
		cell_add(c, p);
		reserve(c, 4);
		strcpy(c->s + c->len, "\\x22");
		c->len += 4;
		c->blank = 0;
	}
	cell_add(c, p);
	cell_add(c, "\"");
	free(copy);
}

void
cell_scalar(struct cell *c, const char *raw)
{
	static const char *const blanks[] = {" ", "\xc2\xa0", "\xe3\x80\x80"};
	size_t n = strlen(raw), end = 0, k, i;
	char *copy;

	for (i = 0; i < sizeof(blanks) / sizeof(blanks[0]); i++) {
		k = strlen(blanks[i]);
		if (n >= k && strcmp(raw + n - k, blanks[i]) == 0)
			end = k;
	}
	if ((copy = strndup(raw, n - end)) == NULL)
		fatal("out of memory");
	/* a blank behind another one is escaped: as if one stood there */
	c->blank = 1;
	cell_add(c, copy);
	c->blank = 1;
	cell_add(c, raw + n - end);
	free(copy);
}

void
cell_size(struct cell *c, unsigned long long n)
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB"};
	size_t i = 0;

	while (i < 3 && n >= 1024 && n % 1024 == 0) {
		n /= 1024;
		i++;
	}
	cell_addf(c, "%llu %s", n, i == 0 && n == 1 ? "byte" : units[i]);
}

void
cell_free(struct cell *c)
{
	free(c->s);
	memset(c, 0, sizeof(*c));
}

static const char *
cell_text(const struct cell *c)
{
	return c->s == NULL ? "" : c->s;
}

/* Columns that a character takes: its bytes are valid, *len tells how many. */
static unsigned
char_columns(const char *s, size_t *len)
{
	static const struct {
		unsigned lo, hi, columns;
	} ranges[] = {{0x300, 0x36f, 0}, {0x483, 0x489, 0}, {0x591, 0x5bd, 0},
	    {0x610, 0x61a, 0}, {0x64b, 0x65f, 0}, {0x1100, 0x115e, 2},
	    {0x1ab0, 0x1aff, 0}, {0x1dc0, 0x1dff, 0}, {0x20d0, 0x20f0, 0},
	    {0x2e80, 0x303e, 2}, {0x3041, 0xa4cf, 2}, {0xac00, 0xd7a3, 2},
	    {0xf900, 0xfaff, 2}, {0xfe20, 0xfe2f, 0}, {0xfe30, 0xfe6f, 2},
	    {0xff00, 0xff60, 2}, {0xffe0, 0xffe6, 2}, {0x1f300, 0x1f64f, 2},
	    {0x1f900, 0x1f9ff, 2}, {0x20000, 0x3fffd, 2}};
	unsigned char b = (unsigned char)*s;
	unsigned cp;
	size_t i;

	*len = b < 0x80 ? 1 : b < 0xe0 ? 2 : b < 0xf0 ? 3 : 4;
	cp = *len == 1 ? b : b & (0xffu >> (*len + 1));
	for (i = 1; i < *len; i++)
		cp = cp << 6 | ((unsigned char)s[i] & 0x3f);
	for (i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (cp >= ranges[i].lo && cp <= ranges[i].hi)
			return ranges[i].columns;
	return 1;
}

/* Likewise of what is never taken apart: a character, or its escape. */
static unsigned
piece_columns(const char *s, size_t *len)
{
	if (s[0] == '\\' && s[1] == '\\')
		return (unsigned)(*len = 2);
	if (s[0] == '\\' && s[1] == 'x' && s[2] != '\0' && s[3] != '\0')
		return (unsigned)(*len = 4);
	return char_columns(s, len);
}

static unsigned
columns(const char *s)
{
	unsigned n = 0;
	size_t len;

	for (; *s != '\0'; s += len)
		n += char_columns(s, &len);
	return n;
}

/* The two ways to the stream: escaped text, and carrel's own colours. */
static void
emit(struct out *o, const char *safe, size_t n)
{
	if (n > 0 && fwrite(safe, 1, n, o->f) != n)
		fatal("out of memory");
}

static void
paint(struct out *o, const char *colour)
{
	if (o->colour)
		emit(o, colour, strlen(colour));
}

static void
newline(struct out *o)
{
	emit(o, "\n", 1);
	o->col = 0;
}

static void
pad(struct out *o, unsigned col)
{
	for (; o->col < col; o->col++)
		emit(o, " ", 1);
}

/*
 * How many bytes of s fit in room columns: whole words and elements of a list
 * if it can be, else whole components of a path.
 */
static size_t
fitting(const char *s, unsigned room)
{
	size_t n = 0, word = 0, part = 0, len;
	unsigned c, used = 0;

	while (s[n] != '\0') {
		c = piece_columns(s + n, &len);
		if (used + c > room)
			break;
		if (s[n] == ' ' ||
		    (n > 0 && s[n - 1] == ':' && strchr("/\"", s[n])))
			word = n;
		else if (n > 0 && (s[n] == '/' || s[n - 1] == '='))
			part = n;
		used += c;
		n += len;
	}
	if (s[n] == '\0' || s[n] == ' ')
		return n;
	return word > 0 ? word : part > 0 ? part : n;
}

/* Writes s from the cursor on; lines that follow begin at column indent. */
static void
flow(struct out *o, const char *s, unsigned indent)
{
	unsigned end = o->width;
	size_t n, len;

	while (*s != '\0') {
		n = o->col < end ? fitting(s, end - o->col) : 0;
		if (n == 0 && o->col <= indent)
			piece_columns(s, &n); /* wider than all of the room */
		for (len = 0; len < n;) {
			size_t k;

			o->col += piece_columns(s + len, &k);
			len += k;
		}
		emit(o, s, n);
		s += n;
		while (*s == ' ' && o->col > indent)
			s++; /* the line ends here: its space is not needed */
		if (*s != '\0') {
			newline(o);
			pad(o, indent);
		}
	}
}

void
out_open(struct out *o, unsigned width, int colour)
{
	memset(o, 0, sizeof(*o));
	/* never 0: a pager or terminal would break the lines at column 0 */
	o->width = width == 0	       ? WIDTH_STD
		   : width < WIDTH_MIN ? WIDTH_MIN
				       : width;
	o->colour = colour;
	o->f = open_memstream(&o->text, &o->len);
	if (o->f == NULL)
		fatal("out of memory");
}

void
out_close(struct out *o)
{
	if (fclose(o->f) == EOF)
		fatal("out of memory");
	o->f = NULL;
}

void
out_free(struct out *o)
{
	free(o->text);
	memset(o, 0, sizeof(*o));
}

void
out_write(const char *p, size_t n)
{
	ssize_t k;

	patient_end();
	for (; n > 0; p += k, n -= (size_t)k) {
		k = write(STDOUT_FILENO, p, n);
		if (k == -1 && errno == EINTR)
			k = 0;
		else if (k == -1)
			fatal("standard output: %s", strerror(errno));
	}
}

void
out_block(struct out *o, const char *title, const char *raw)
{
	struct cell c = {0}, t = {0};

	if (o->page != NULL) {
		cell_add(&t, title);
		cell_add(&c, raw);
		page_add(o->page, PAGE_BLOCK, &t, &c, NULL, NULL);
		cell_free(&t);
		cell_free(&c);
		return;
	}
	if (ftell(o->f) > 0)
		newline(o);
	paint(o, BOLD);
	flow(o, title, 0);
	paint(o, PLAIN);
	if (raw[0] != '\0') {
		cell_add(&c, raw);
		pad(o, o->col + 2);
		flow(o, c.s, TAG_COL);
		cell_free(&c);
	}
	newline(o);
}

/* One mark, or several; each on a line of its own if it has to be. */
static void
put_mark(struct out *o, struct cell *mark, unsigned indent)
{
	char *p = mark->s, *next;

	for (; p != NULL && *p != '\0'; p = next) {
		if ((next = strstr(p + 1, " <- ")) != NULL)
			*next++ = '\0';
		if (o->col + 2 + columns(p) > o->width) {
			newline(o);
			pad(o, indent);
		} else {
			pad(o, o->col + 2);
		}
		paint(o, YELLOW);
		flow(o, p, indent);
		paint(o, PLAIN);
	}
}

void
out_row(struct out *o, const char *tag, struct cell *left, struct cell *right,
    const char *mark)
{
	struct cell c = {0};

	cell_add(&c, mark);
	out_row_marked(o, tag, left, right, &c);
}

void
out_row_marked(struct out *o, const char *tag, struct cell *left,
    struct cell *right, struct cell *mark)
{
	unsigned rcol, used = columns(cell_text(left));
	struct cell t = {0};
	int two = o->width >= TWO_CELLS;

	/* further in than what continues the left cell */
	rcol = two ? LEFT_COL + (o->width - LEFT_COL) * 11 / 20
		   : LEFT_COL + 2 * HANG;
	cell_add(&t, tag);
	if (o->page != NULL) {
		page_add(o->page, PAGE_ROW, &t, left, right, mark);
	} else {
		pad(o, TAG_COL);
		flow(o, cell_text(&t), TAG_COL);
		pad(o, o->col < LEFT_COL ? LEFT_COL : o->col + 1);
		flow(o, cell_text(left), LEFT_COL + HANG);
		if (right->len > 0) {
			if (!two || used + LEFT_COL + 2 > rcol)
				newline(o);
			pad(o, rcol);
			flow(o, cell_text(right), rcol);
		}
		put_mark(o, mark, rcol);
		newline(o);
	}
	cell_free(&t);
	cell_free(left);
	cell_free(right);
	cell_free(mark);
}

void
out_fact(struct out *o, const char *key, const char *raw)
{
	if (o->page != NULL)
		page_fact(o->page, key, raw);
}

void
out_branch(struct out *o, unsigned depth, struct cell *c)
{
	unsigned col = TAG_COL + HANG * depth, end = o->width / 2;

	pad(o, col < end ? col : end);
	flow(o, cell_text(c), o->col + HANG);
	newline(o);
	cell_free(c);
}

void
out_note(struct out *o, struct cell *c)
{
	if (o->page != NULL) {
		page_add(o->page, PAGE_NOTE, NULL, c, NULL, NULL);
	} else {
		pad(o, LEFT_COL);
		flow(o, cell_text(c), LEFT_COL + HANG);
		newline(o);
	}
	cell_free(c);
}

void
out_verdict(struct out *o, const char *word, struct cell *c, int good)
{
	struct cell w = {0};

	cell_add(&w, word);
	paint(o, good ? BOLD : RED);
	flow(o, w.s, 0);
	paint(o, PLAIN);
	pad(o, o->col < 4 ? 4 : o->col + 1);
	flow(o, cell_text(c), 4);
	newline(o);
	cell_free(&w);
	cell_free(c);
}
