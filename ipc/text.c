#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "text.h"

/* Length of the valid UTF-8 sequence at s, its value in *cp; 0 if invalid. */
static size_t
decode(const unsigned char *s, size_t n, uint32_t *cp)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t len, i;

	if (s[0] < 0x80) {
		*cp = s[0];
		return 1;
	}
	len = (s[0] & 0xe0) == 0xc0   ? 2
	      : (s[0] & 0xf0) == 0xe0 ? 3
	      : (s[0] & 0xf8) == 0xf0 ? 4
				      : 0;
	if (len == 0 || len > n)
		return 0;
	*cp = s[0] & (0xff >> (len + 1));
	for (i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*cp = *cp << 6 | (s[i] & 0x3f);
	}
	if (*cp < least[len] || *cp > 0x10ffff ||
	    (*cp >= 0xd800 && *cp <= 0xdfff))
		return 0;
	return len;
}

/*
 * Characters that reorder, hide or break what a person sees: controls, line
 * and paragraph separators, the general category Cf, what has the property
 * Default_Ignorable_Code_Point (unassigned ones included), and other
 * characters that show as nothing or as a blank (Unicode 15, UAX #44).
 */
static const struct {
	uint32_t lo, hi;
} deceptive[] = {
    {0x0000, 0x001f},	/* C0 */
    {0x007f, 0x009f},	/* DEL, C1 */
    {0x00ad, 0x00ad},	/* soft hyphen */
    {0x034f, 0x034f},	/* combining grapheme joiner */
    {0x0600, 0x0605},	/* arabic number signs */
    {0x061c, 0x061c},	/* arabic letter mark */
    {0x06dd, 0x06dd},	/* arabic end of ayah */
    {0x070f, 0x070f},	/* syriac abbreviation mark */
    {0x0890, 0x0891},	/* arabic pound and piastre marks */
    {0x08e2, 0x08e2},	/* arabic disputed end of ayah */
    {0x115f, 0x1160},	/* hangul fillers */
    {0x1680, 0x1680},	/* ogham space */
    {0x17b4, 0x17b5},	/* khmer inherent vowels */
    {0x180b, 0x180f},	/* mongolian selectors and separator */
    {0x2000, 0x200f},	/* spaces, zero width, LRM, RLM */
    {0x2028, 0x202f},	/* separators, embeddings, narrow space */
    {0x205f, 0x206f},	/* math space, joiners, isolates */
    {0x2800, 0x2800},	/* empty braille pattern */
    {0x3164, 0x3164},	/* hangul filler */
    {0xfe00, 0xfe0f},	/* variation selectors */
    {0xfeff, 0xfeff},	/* byte order mark */
    {0xffa0, 0xffa0},	/* halfwidth hangul filler */
    {0xfff0, 0xfffb},	/* specials, interlinear annotation */
    {0x110bd, 0x110bd}, /* kaithi number sign */
    {0x110cd, 0x110cd}, /* kaithi number sign above */
    {0x13430, 0x1345f}, /* egyptian hieroglyph format controls */
    {0x16fe4, 0x16fe4}, /* khitan filler */
    {0x1bca0, 0x1bca3}, /* shorthand format controls */
    {0x1d159, 0x1d159}, /* musical null notehead */
    {0x1d173, 0x1d17a}, /* musical format controls */
    {0xe0000, 0xe0fff}, /* tags, variation selectors */
};

static int
deceives(uint32_t cp)
{
	size_t i;

	/* sorted: for ASCII the search ends with the second */
	for (i = 0; i < sizeof(deceptive) / sizeof(deceptive[0]); i++)
		if (cp <= deceptive[i].hi)
			return cp >= deceptive[i].lo;
	return 0;
}

int
text_utf8(const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s;
	uint32_t cp;
	size_t len;

	for (; n > 0; p += len, n -= len)
		if ((len = decode(p, n, &cp)) == 0)
			return 0;
	return 1;
}

int
text_unsafe(const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s;
	uint32_t cp;
	size_t len;

	for (; n > 0; p += len, n -= len) {
		len = decode(p, n, &cp);
		if (len > 0 ? deceives(cp) : *p <= 0x9f)
			return 1;
		if (len == 0)
			len = 1;
	}
	return 0;
}

/* Looks like a space; all others that do are in the table. */
static int
is_blank(uint32_t cp)
{
	return cp == ' ' || cp == 0xa0 || cp == 0x3000;
}

/* "\\x1b": whoever floods carrel makes many of them. */
static void
hex_byte(char dst[4], unsigned char c)
{
	static const char digits[] = "0123456789abcdef";

	dst[0] = '\\';
	dst[1] = 'x';
	dst[2] = digits[c >> 4];
	dst[3] = digits[c & 15];
}

static char *
escape(char *dst, size_t cap, const char *src, int *blank, const char *also)
{
	const unsigned char *p = (const unsigned char *)src;
	size_t n = strlen(src), len, need, o = 0;
	uint32_t cp = 0;
	int plain, after = *blank;

	for (; n > 0; p += len, n -= len) {
		len = decode(p, n, &cp);
		plain = len > 0 && !deceives(cp) && !(after && is_blank(cp)) &&
			(len > 1 || strchr(also, *p) == NULL);
		/* the rest of an escaped character is invalid by itself */
		after = (len > 0 && is_blank(cp)) ||
			(after && len == 0 && (*p & 0xc0) == 0x80);
		if (!plain)
			len = 1;
		need = !plain ? 4 : *p == '\\' ? 2 : len;
		/* the last four bytes are for "..." and the NUL */
		if (o + need + 4 > cap) {
			memcpy(dst + o, "...", 3);
			o += 3;
			after = 0;
			break;
		}
		if (!plain)
			hex_byte(dst + o, *p);
		else if (*p == '\\')
			memcpy(dst + o, "\\\\", 2);
		else
			memcpy(dst + o, p, len);
		o += need;
	}
	dst[o] = '\0';
	*blank = after;
	return dst;
}

char *
text_escape_on(char *dst, size_t cap, const char *src, int *blank)
{
	return escape(dst, cap, src, blank, "");
}

char *
text_quote(char *dst, size_t cap, const char *src, const char *also)
{
	int blank = 0;

	return escape(dst, cap, src, &blank, also);
}

char *
text_escape(char *dst, size_t cap, const char *src)
{
	int blank = 0;

	return text_escape_on(dst, cap, src, &blank);
}

/* The nearest place at or before s + n where no character is cut. */
static size_t
whole(const char *s, size_t n)
{
	size_t i = n;

	while (i > 0 && n - i < 4 && (s[i] & 0xc0) == 0x80)
		i--;
	return (s[i] & 0xc0) == 0x80 ? n : i;
}

const char *
text_cut(char buf[TEXT_SHOWN_MAX + 1], const char *src)
{
	static const char dots[] = "...";
	size_t n = strlen(src), tail = TEXT_SHOWN_MAX / 3, head, at;

	if (n <= TEXT_SHOWN_MAX)
		return src;
	head = whole(src, TEXT_SHOWN_MAX - tail - strlen(dots));
	for (at = n - tail; (src[at] & 0xc0) == 0x80 && n - at > tail - 4;)
		at++;
	memcpy(buf, src, head);
	strcpy(buf + head, dots);
	strcat(buf, src + at);
	return buf;
}

static int vadd(char *, size_t, const char *, va_list)
    __attribute__((format(printf, 3, 0)));

static int
vadd(char *buf, size_t cap, const char *fmt, va_list ap)
{
	size_t len = strlen(buf);
	int n;

	if (len >= cap)
		return -1;
	n = vsnprintf(buf + len, cap - len, fmt, ap);
	if (n >= 0 && (size_t)n < cap - len)
		return 0;
	buf[len] = '\0';
	return -1;
}

int
text_add(char *buf, size_t cap, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vadd(buf, cap, fmt, ap);
	va_end(ap);
	return n;
}

#define LIST_END 32 /* room for " and N more" */

void
text_list_add(struct text_list *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (l->more > 0 || l->cap <= LIST_END ||
	    vadd(l->buf, l->cap - LIST_END, fmt, ap) == -1)
		l->more++;
	va_end(ap);
}

void
text_list_end(struct text_list *l)
{
	if (l->more > 0)
		text_add(l->buf, l->cap, " and %zu more", l->more);
}
