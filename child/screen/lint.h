#ifndef CARREL_SCREEN_LINT_H
#define CARREL_SCREEN_LINT_H

#include <stddef.h>
#include <stdint.h>

struct need;
struct policy;

/*
 * Whether what a profile grants, what it says of its tools, and its examples
 * fit each other (S94). Pure: of a policy without refusals, one profile of
 * which is looked at.
 */

enum finding_weight {
	FINDING_NOTE = 1, /* always a warning */
	FINDING_SOFT,	  /* a warning; with --strict an error */
	FINDING_HARD	  /* an error */
};

/* Raw text. */
struct finding {
	char *key; /* "egress.allow", "tool fmt.needs" */
	char *text;
	uint32_t line;
	uint8_t weight;
};

struct findings {
	struct finding *list; /* by line, then as they were found */
	size_t n;
};

/* Appends; memory that cannot be had is fatal. */
void finding_add(struct findings *, enum finding_weight, const char *key,
    uint32_t line, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void findings_free(struct findings *);

/* With strict, grants that nothing needs are told of any profile. */
void lint(const struct policy *, size_t profile, int strict, struct findings *);

/* What needs come to: which grants and rules are used by one. */
struct lint_use {
	uint8_t *grants, *rules; /* 1: a need names it */
};

/* 1 if a grant or rule covers the need; it is marked in use (or NULL). */
int lint_need(const struct policy *, const struct need *, struct lint_use *);
/* 1 if what one way into the network (text) allows, the rule does too. */
int lint_allows(const struct policy *, size_t rule, const char *text);

#endif
