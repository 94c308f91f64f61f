#ifndef CARREL_HOSTENV_H
#define CARREL_HOSTENV_H

#include <stddef.h>
#include <stdint.h>

struct policy;
struct rcur;
struct wbuf;

/* A variable of the caller's environment. */
struct host_variable {
	char *name;
	char *value;	  /* as it is, any bytes; "" if it is too long */
	uint8_t too_long; /* more than HOST_VALUE_MAX bytes: not taken */
};

/*
 * What the caller's environment has of the names that a policy inherits or
 * sanitises: all that ever leaves the parent's memory, and all that a plan
 * reads. The parser is not told: no verdict on a profile depends on what the
 * host has, and two profiles that disagree only here are refused by the plan.
 */
struct hostenv {
	struct host_variable *vars; /* in the order of the policy's names */
	size_t n;
};

/*
 * From environ(7): the first entry of each name counts, as for getenv(3). 0
 * and an environment to be freed, or -1 with errno.
 */
int hostenv_pick(struct hostenv *, const struct policy *, char *const *environ);
void hostenv_free(struct hostenv *);

/* The variable, or NULL if it is unset. No environment is an empty one. */
const struct host_variable *hostenv_find(
    const struct hostenv *, const char *name);

/* RECORD_VARIABLE: one variable. get: appends it, 0 or -1. */
void hostenv_put(struct wbuf *, const struct host_variable *);
int hostenv_get(struct rcur *, struct hostenv *);

#endif
