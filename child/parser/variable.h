#ifndef CARREL_PARSER_VARIABLE_H
#define CARREL_PARSER_VARIABLE_H

#include <stddef.h>
#include <stdint.h>

#include "ipc/policy.h"

struct caller;
struct place;
struct reader_line;

/* A line of a section [environ.*]; placeholders stay. */
struct draft_variable {
	char *name, *value;
	uint32_t line;
	uint8_t verb; /* enum env_verb */
};

void draft_variable_free(struct draft_variable *);

/*
 * A line by a profile of this layer: all that can be judged without the
 * caller (S42, S44-S47), so nothing here depends on what the host has. 0 and
 * a draft to be freed, or -1 after a refusal (or none when memory is out).
 */
int variable_read(const struct place *, enum layer, unsigned verb,
    const struct reader_line *, struct draft_variable *);

/*
 * Writes the value or element, expanded, into a buffer of VALUE_MAX_LEN + 1
 * bytes. In a path-valued variable it must be an absolute, clean path, and a
 * brace is always a placeholder's; elsewhere only "{name}" is, and other
 * braces are text. 0, or -1 after a refusal.
 */
int variable_expand(const struct place *, const struct draft_variable *,
    const struct caller *, char *buf);

#endif
