#ifndef CARREL_PARSER_EXPAND_H
#define CARREL_PARSER_EXPAND_H

#include <stddef.h>
#include <stdint.h>

struct caller;
struct place;

/*
 * {home} {target} {target-parent} {user} {uid} {tmp} in a path. One pass:
 * what a placeholder stands for is never looked at again, so a directory that
 * is really called "{home}" works. A brace that is no part of a placeholder
 * is refused: there is no way to write one.
 */

/* Where a path is used: {home} differs. */
enum expand_side {
	EXPAND_HOST,
	EXPAND_GUEST
};

/* Every placeholder is a known one. 0, or -1 after a refusal. */
int expand_check(const struct place *, uint32_t line, const char *text);

/*
 * Writes the text, expanded, into a buffer of VALUE_MAX_LEN + 1 bytes. A
 * placeholder that is "/" does not double the '/' behind it. 0, or -1 after
 * a refusal.
 */
int expand_text(const struct place *, uint32_t line, const char *text,
    const struct caller *, enum expand_side, char *buf);

/* The same, and the result must be an absolute, clean path. */
int expand_path(const struct place *, uint32_t line, const char *text,
    const struct caller *, enum expand_side, char *buf);

#endif
