#ifndef CARREL_TEXT_H
#define CARREL_TEXT_H

#include <stddef.h>

/*
 * Untrusted text. Records carry it raw; every sink (terminal, log, event)
 * writes it through text_escape() and through nothing else.
 */

/* 1 if the n bytes are valid UTF-8 (RFC 3629: no surrogates, no overlongs). */
int text_utf8(const char *, size_t n);

/*
 * 1 if the text holds a character that can deceive a reader: C0, C1, DEL,
 * line and paragraph separators, bidi controls, zero-width and other
 * invisible characters, or a stray byte in 0x80-0x9f.
 */
int text_unsafe(const char *, size_t n);

/*
 * Writes src as one line of harmless UTF-8 into dst and always ends it with
 * a NUL. A byte of an unsafe character or of invalid UTF-8 becomes \xHH, a
 * backslash becomes \\, so that the bytes can be recovered. Text that does
 * not fit ends in "..." (cap must be at least 8). Returns dst.
 */
char *text_escape(char *dst, size_t cap, const char *src);

#endif
