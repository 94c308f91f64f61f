#ifndef CARREL_RULE_H
#define CARREL_RULE_H

#include <stddef.h>
#include <stdint.h>

struct policy;
struct rcur;
struct wbuf;

/*
 * What a profile says that is neither a path nor a variable: [exec],
 * [limits], [audit] and tier narrow (S2b), [egress] lets out. A claim a line;
 * the policy holds them in the order of rule_cmp(), and what they come to
 * together is computed wherever it is needed (confine_join(), confine.h), so
 * every screen can name who asked.
 */

enum rule_kind {
	RULE_TIER = 1,	  /* number: enum tier */
	RULE_INTERPRETER, /* text: guest path */
	RULE_LIBRARY,	  /* text: guest path of a directory */
	RULE_NO_SPAWN,	  /* spawn = no */
	RULE_NO_UNIX,	  /* unix = no */
	RULE_ONCE,	  /* once = yes */
	RULE_LIMIT,	  /* what: enum limit; number: in its unit */
	RULE_REPORT,	  /* what: enum report */
	RULE_VIOLATION,	  /* number: enum on_violation */
	RULE_EGRESS,	  /* text: host; what, number: egress.h */
	RULE_LAST = RULE_EGRESS
};

enum tier {
	TIER_READ_ONLY = 1,
	TIER_SIDE_EFFECT,
	TIER_UNRESTRICTED
};

enum limit {
	LIMIT_MEMORY = 1, /* bytes */
	LIMIT_PROCESSES,
	LIMIT_CPU,	 /* percent of one processor */
	LIMIT_CPU_TIME,	 /* seconds */
	LIMIT_WALL_TIME, /* milliseconds */
	LIMIT_OPEN_FILES,
	LIMIT_FILE_SIZE, /* bytes */
	LIMIT_CORE_SIZE, /* bytes */
	LIMIT_TMPFS,	 /* bytes, the sum of all */
	LIMIT_LAST = LIMIT_TMPFS
};

enum report {
	REPORT_EXEC = 1,
	REPORT_FS,
	REPORT_LAST = REPORT_FS
};

enum on_violation { /* the stricter is the greater */
	VIOLATION_REPORT = 1,
	VIOLATION_FAIL,
	VIOLATION_KILL
};

struct rule {
	uint8_t kind, what; /* what: 0 where the kind needs none */
	uint64_t number;    /* 0 likewise */
	char *text;	    /* "" likewise */
	uint16_t profile;   /* index in the policy */
	uint32_t line;
};

/* By kind, what, text, number, profile, line. */
int rule_cmp(const struct rule *, const struct rule *);

/* The key as a profile spells it: "interpreter", "wall-time". */
const char *rule_key(const struct rule *);

/* 1 if a profile may say it more than once: a list, of which this is a line. */
int rule_listed(unsigned kind);

/* What a limit can be at the least and at the most, in its unit. */
void rule_range(unsigned limit, uint64_t *min, uint64_t *max);

/*
 * What may stand behind the number of a limit, and what it is then times.
 * Each unit begins with a suffix that is once, and ascends.
 */
struct rule_suffix {
	const char *suffix; /* NULL: the end of the unit */
	uint64_t times;
};

const struct rule_suffix *rule_suffixes(unsigned limit);

/* "64M", "2s": the number of a limit as a profile would write it, added. */
void rule_number(char *buf, size_t cap, unsigned limit, uint64_t number);

/* Every field of one rule; 0, or -1 and a sentence in raw text. */
int rule_check(const struct rule *, char *why, size_t len);

/* Appends; the text is copied. NULL with errno, and nothing was added. */
struct rule *policy_add_rule(struct policy *, const struct rule *);

/* Parts of policy_free(), policy_sort() and the streams: RECORD_RULE. */
void rules_release(struct policy *);
void rules_sort(struct policy *);
void rule_put(struct wbuf *, const struct rule *);
int rule_get(struct rcur *, struct policy *);

/*
 * Parts of policy_check(): what a screen needs, and all that holds for a
 * policy that runs, but for what the rules come to together (confine.h).
 */
int rules_check_shown(const struct policy *, char *why, size_t len);
int rules_check(const struct policy *, char *why, size_t len);

#endif
