#ifndef CARREL_CEILING_H
#define CARREL_CEILING_H

#include <stddef.h>
#include <stdint.h>

#include "ipc/policy.h"

struct caller;
struct rcur;
struct receiver;
struct sender;
struct survey;

/*
 * The ceiling of this host (S102, carrel.conf(5)): the most that a run may be
 * granted, and what it must have. Each line counts for everyone, for a group
 * or for a user. Of those that are a caller's,
 *
 *	grants		add up: what one of them covers is covered
 *	limits		the narrowest section that sets one counts: the user's,
 *			then the groups' (the least of them), then everyone's
 *	duties		add up: all of them hold
 *
 * The file is parsed by a carrel-parse of its own, which sees nothing else.
 */

#define CEILING_VERSION 1

enum ceiling_who {
	CEILING_EVERYONE = 1,
	CEILING_GROUP, /* name: of the group, or its number */
	CEILING_USER,  /* likewise */
	CEILING_WHO_LAST = CEILING_USER
};

enum ceiling_kind {
	CEILING_USE = 1, /* who and name: may use carrel */
	CEILING_PATH,	 /* what: enum verb; text: of the host, all below it */
	CEILING_EGRESS,	 /* what, number, text: of RULE_EGRESS, or wider */
	CEILING_LIMIT,	 /* what: enum limit; number: the most */
	CEILING_REQUIRE, /* what: enum rule_kind; number: of its value */
	CEILING_AUDIT,	 /* --require-audit */
	CEILING_KIND_LAST = CEILING_AUDIT
};

/*
 * CEILING_EGRESS is wider than a rule: scheme 0, port 0 and the host "*" stand
 * for every one. EGRESS_ALL is what a profile calls "*".
 */
#define CEILING_HOST "*"

struct ceiling_line {
	uint8_t who, kind, what;
	uint64_t number;
	char *name; /* "" of everyone */
	char *text; /* "" where the kind has none */
	uint32_t line;
};

struct ceiling {
	char *file; /* "": the default, of a host without a file */
	struct ceiling_line *lines;
	size_t n;
	struct policy faults; /* its refusals: why the file is none */
};

void ceiling_free(struct ceiling *); /* the contents */

/* Appends a copy. 0, or -1 with errno and nothing was added. */
int ceiling_add(struct ceiling *, const struct ceiling_line *);

/*
 * What a host has that has no file: what the caller could reach anyway, no
 * devices, no sockets, no unrestricted egress. 0, or -1 without memory.
 */
int ceiling_default(struct ceiling *);

/* "write = /srv", "require = spawn no": as the file has it, added to buf. */
void ceiling_line_text(const struct ceiling_line *, char *buf, size_t cap);
/*
 * The kind, what and number of a line "require = TEXT": 0, or -1: it is none.
 * And the texts that there are, by index; NULL at their end.
 */
int ceiling_duty(const char *text, struct ceiling_line *);
const char *ceiling_duty_text(size_t i);
/* "[group lab]" */
void ceiling_who_text(const struct ceiling_line *, char *buf, size_t cap);

/*
 * The stream record_ceiling. send flushes. receive: 0 and a ceiling to be
 * freed, whose every field was checked, or -1 with errno and nothing.
 */
int ceiling_send(struct sender *, const struct ceiling *);
int ceiling_receive(struct receiver *, struct ceiling *);
/* The records alone, for a stream that holds them; and one of them. */
int ceiling_put(struct sender *, const struct ceiling *);
int ceiling_get(unsigned type, struct rcur *, struct ceiling *);

/* ceiling_who.c: what it comes to for a caller. From here on all is pure. */

/* 1 if the line counts for this caller. */
int ceiling_counts(const struct ceiling_line *, const struct caller *);

/* The line whose limit holds for the caller; NULL: there is none. */
const struct ceiling_line *ceiling_limit(
    const struct ceiling *, const struct caller *, unsigned limit);

/*
 * The limits that hold where no profile sets one, as rules of a profile of
 * its own with PROFILE_CEILING, which is never sent. Of an admitted policy.
 * 0, or -1 with errno.
 */
int ceiling_impose(
    const struct ceiling *, const struct caller *, struct policy *);

/* Where it is written, for a person. */
const char *ceiling_file(const struct ceiling *);

/* ceiling_judge.c */

/*
 * The judgement, twice: of a checked policy without a survey, by the names
 * that it says; and with one, by the canonical path and the type of what was
 * opened. What is not covered becomes a refusal that names the grant, who
 * asked for it, and the line of the ceiling. audited: there is no run without
 * the host's log (--require-audit, hosted mode). 0, or -1 with errno.
 */
int ceiling_judge(const struct ceiling *, const struct caller *, int audited,
    const struct survey *, struct policy *);

/* The faults of the ceiling as refusals of a policy. 0, or -1 with errno. */
int ceiling_blame(const struct ceiling *, struct policy *);

/* ceiling_cover.c: parts of the judgement */

/* 1 if a grant that needs this verb, of this path, is covered by the line. */
int ceiling_covers_path(
    const struct ceiling_line *, unsigned verb, const char *path);
/* The same of a rule of RULE_EGRESS. */
int ceiling_covers_egress(const struct ceiling_line *, const struct rule *);

#endif
