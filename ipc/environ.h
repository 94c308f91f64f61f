#ifndef CARREL_ENVIRON_H
#define CARREL_ENVIRON_H

#include <stddef.h>
#include <stdint.h>

#include "policy.h"
#include "variables.h"

struct rcur;
struct wbuf;

/*
 * What profiles want with one variable by one verb. The values are
 *	set		one, may be ""
 *	merge		one element; each element is a claim of its own
 *	prepend		the elements, in the order of the file
 *	inherit, sanitise	none
 * In canonical order by name, verb and values. For each name there is at most
 * one claim of each verb but merge.
 */
struct env_claim {
	uint8_t verb; /* enum env_verb, and that of each origin */
	char *name;
	char **values;
	size_t nvalues;
	struct origin *origins; /* at least one */
	size_t norigins;
};

/* As in policy.h. The values are copied; the result is the policy's. */
struct env_claim *policy_add_claim(struct policy *, enum env_verb,
    const char *name, char *const *values, size_t nvalues);
int environ_add_origin(struct env_claim *, const struct origin *);

/* The canonical order, without the origins: as strcmp(3). */
int environ_cmp(const struct env_claim *, const struct env_claim *);

/* The first claim on this name, and in n how many there are; NULL: none. */
const struct env_claim *policy_environ(
    const struct policy *, const char *name, size_t *n);

/* Parts of policy_free(), policy_sort() and the streams: RECORD_ENVIRON. */
void environ_release(struct policy *);
void environ_sort(struct policy *);
void environ_put(struct wbuf *, const struct env_claim *);
int environ_get(struct rcur *, struct policy *);

/*
 * Parts of policy_check(): what a screen needs, and all that holds for a
 * policy that runs. 0, or -1 and why. That a path which a profile writes is
 * granted by it (S52) is not among it: that rule keeps profiles honest about
 * what they need, and a path that nothing grants leads nowhere.
 */
int environ_check_shown(const struct policy *, char *why, size_t len);
int environ_check(const struct policy *, char *why, size_t len);

/* NULL, or what is wrong with a value or element: "is ...", "holds ...". */
const char *environ_value_bad(const char *name, const char *value);

#endif
