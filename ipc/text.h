#ifndef CARREL_TEXT_H
#define CARREL_TEXT_H

#include <stddef.h>

#include "limits.h"

/*
 * Untrusted text. Records carry it raw; every sink (terminal, log, event)
 * writes it through text_escape() and through nothing else.
 */

/* 1 if the n bytes are valid UTF-8 (RFC 3629: no surrogates, no overlongs). */
int text_utf8(const char *, size_t n);

/*
 * 1 if the text holds a character that can deceive a reader: a control, a line
 * or paragraph separator, a format character (Unicode's Cf, with the bidi
 * controls), one that is ignored or shows as nothing, a blank that is none of
 * U+0020, U+00A0 and U+3000; or a stray byte in 0x80-0x9f.
 */
int text_unsafe(const char *, size_t n);

/*
 * Writes src as one line of harmless UTF-8 into dst and always ends it with
 * a NUL. A byte of an unsafe character or of invalid UTF-8 becomes \xHH, and
 * so do those of a blank that follows a blank, so that nobody can move text
 * to where a line or a column of carrel's would begin; a backslash becomes
 * \\. The bytes can be recovered. Text that does not fit ends in "..." (cap
 * must be at least 8). Returns dst.
 */
char *text_escape(char *dst, size_t cap, const char *src);

/*
 * The same for text that continues a line: *blank says whether a blank stands
 * before it, and afterwards whether it ended in one.
 */
char *text_escape_on(char *dst, size_t cap, const char *src, int *blank);

/* text_escape(), and \xHH for each ASCII character of also as well. */
char *text_quote(char *dst, size_t cap, const char *src, const char *also);

/*
 * src itself, or if it has more than TEXT_SHOWN_MAX bytes its beginning and
 * its end in buf with "..." between; no character is cut in two. SHOWN() is
 * that for an argument of a message: its memory lives as long as the block.
 */
const char *text_cut(char buf[TEXT_SHOWN_MAX + 1], const char *src);
#define SHOWN(src) text_cut((char[TEXT_SHOWN_MAX + 1]){0}, (src))

/* Appends to a string in a buffer of cap bytes. 0, or -1: it did not fit. */
int text_add(char *buf, size_t cap, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * A list that names as many things as there is room for and counts the rest,
 * "a, b and 3 more": no item is cut.
 */
struct text_list {
	char *buf; /* what is there already stays in front */
	size_t cap;
	size_t more; /* items that found no room, and all after them */
};

void text_list_add(struct text_list *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void text_list_end(struct text_list *);

#endif
