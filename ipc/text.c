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

/* Characters that reorder, hide or break what a person sees. */
static int
deceives(uint32_t cp)
{
	static const struct {
		uint32_t lo, hi;
	} ranges[] = {
	    {0x0000, 0x001f}, {0x007f, 0x009f}, /* C0, DEL, C1 */
	    {0x00ad, 0x00ad},			/* soft hyphen */
	    {0x034f, 0x034f},			/* grapheme joiner */
	    {0x061c, 0x061c},			/* arabic letter mark */
	    {0x115f, 0x1160},			/* hangul fillers */
	    {0x17b4, 0x17b5},			/* khmer inherent vowels */
	    {0x180b, 0x180f},			/* mongolian separators */
	    {0x200b, 0x200f},			/* zero width, LRM, RLM */
	    {0x2028, 0x202e},			/* separators, embeddings */
	    {0x2060, 0x206f},			/* joiners, isolates */
	    {0x3164, 0x3164}, {0xfe00, 0xfe0f}, /* filler, variations */
	    {0xfeff, 0xfeff}, {0xffa0, 0xffa0}, /* BOM, filler */
	    {0xfff0, 0xfffb},			/* annotations */
	    {0x1bca0, 0x1bca3},			/* shorthand controls */
	    {0x1d173, 0x1d17a},			/* musical controls */
	    {0xe0000, 0xe0fff},			/* tags, variations */
	};
	size_t i;

	for (i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (cp >= ranges[i].lo && cp <= ranges[i].hi)
			return 1;
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

char *
text_escape_on(char *dst, size_t cap, const char *src, int *blank)
{
	const unsigned char *p = (const unsigned char *)src;
	size_t n = strlen(src), len, need, o = 0;
	uint32_t cp = 0;
	int plain, after = *blank;

	for (; n > 0; p += len, n -= len) {
		len = decode(p, n, &cp);
		plain = len > 0 && !deceives(cp) && !(after && is_blank(cp));
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
			snprintf(dst + o, 5, "\\x%02x", *p);
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
