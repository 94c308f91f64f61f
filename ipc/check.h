#ifndef CARREL_CHECK_H
#define CARREL_CHECK_H

#include <stdint.h>

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
const char *check_command(const char *guest); /* a name that is staged */
const char *check_device(const char *path);

/*
 * What is wrong with a device's number ("is the memory of this host"), or
 * NULL. rdev as st_rdev of stat(2).
 */
const char *check_device_number(uint64_t rdev);

/*
 * 0 if g may be mounted inside above (the deepest grant above it, or NULL):
 * in a tmpfs anything; in a bind what the bind shows there itself, the same
 * subpath of the same source.
 */
int check_nesting(const struct grant *above, const struct grant *g);

#endif
