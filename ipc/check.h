#ifndef CARREL_CHECK_H
#define CARREL_CHECK_H

struct grant;

/*
 * The rules of policy_check() one by one, for the parser, which wants to
 * say more than that a rule was broken.
 */

/* 1 if [a-z0-9][a-z0-9-]*, at most NAME_MAX_LEN, an '@' in front or not. */
int check_name(const char *);

/* NULL if the path may be used so, else what is wrong with it: "is ...". */
const char *check_guest(const char *guest);
const char *check_source(const char *source);

/*
 * 0 if g may be mounted inside above (the deepest grant above it, or NULL):
 * in a tmpfs anything, in a bind the same subpath of the same source.
 */
int check_nesting(const struct grant *above, const struct grant *g);

#endif
