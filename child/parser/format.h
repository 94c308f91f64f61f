#ifndef CARREL_PARSER_FORMAT_H
#define CARREL_PARSER_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "ipc/policy.h"
#include "ipc/rule.h"
#include "value.h"
#include "variable.h"

struct place;
struct reader_line;
struct tool;

/*
 * What may stand in a file: its sections and keys as data, and a profile as
 * it is written, nothing of it expanded yet.
 */

enum key_kind {
	KEY_TEXT,  /* once, for a person */
	KEY_YES,   /* once, "yes" */
	KEY_NAMES, /* a list of profiles */
	KEY_BIND,  /* lists of struct value */
	KEY_TMPFS,
	KEY_SYMLINK,
	KEY_COMMAND,
	KEY_DEVICE,
	KEY_VARIABLE, /* any name: struct draft_variable */
	KEY_RULE,     /* once, or a list where rule_listed(): struct rule */
	KEY_TOOL      /* of a section with a name behind it: struct tool */
};

/* A row; one without a name stands for a whole section of variables. */
struct key {
	const char *section, *name;
	uint8_t kind, verb; /* verb: KEY_RULE: rule_kind, KEY_TOOL: tool_kind */
	uint8_t layers;	    /* 0: all, else bits 1 << enum layer */
};

extern const struct key format_profile[]; /* ends with a NULL section */
extern const struct key format_config[];

/* The section's first row in the table, or NULL after a refusal. */
const struct key *format_section(
    const struct place *, const struct key *table, const struct reader_line *);

/* The row of the line's key, or NULL after a refusal. */
const struct key *format_key(
    const struct place *, const struct key *table, const struct reader_line *);

/* A profile named by an include. */
struct draft_include {
	char *name;
	uint32_t line;
};

struct draft_grant {
	struct value value;
	uint32_t line;
	uint8_t verb;
};

struct draft {
	char *description, *abuse; /* NULL: not given */
	int packs;
	struct draft_include *includes; /* sorted, each once: its first line */
	size_t nincludes;
	struct draft_grant *grants;
	size_t ngrants;
	struct draft_variable *variables;
	size_t nvariables;
	struct rule *rules; /* without a profile; see rule_read() */
	size_t nrules;
	struct tool *tools; /* without a profile; placeholders stay */
	size_t ntools;
};

void draft_free(struct draft *);

/*
 * Reads the text of a profile (see reader_parse() for data). 0 and a draft
 * to be freed, or -1 after a refusal (or none when memory is out).
 */
int draft_parse(
    const struct place *, enum layer, char *data, size_t len, struct draft *);

#endif
