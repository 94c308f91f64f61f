#ifndef CARREL_OWNED_H
#define CARREL_OWNED_H

/*
 * The names in the payload's environment that carrel owns: no profile can
 * write them. One table for parser, parent and screen.
 */
struct owned {
	const char *name;
	int written; /* 1: carrel sets it; 0: reserved for later */
};

extern const struct owned owned_names[]; /* ends with a NULL name */

/* The row of this name, or NULL. */
const struct owned *owned_find(const char *name);

/* The base of PATH, in order; ends with NULL. */
extern const char *const owned_path[];

#define OWNED_STAGING "/run/carrel/bin" /* the staging directory, inside */

/*
 * TERM, LANG and TZ may come from the host if they have this form: LANG and
 * TERM [A-Za-z0-9._@+-]+, TZ the same and '/' and ':' and ',' but neither a
 * leading '/' or ':' nor "..". At most 64 bytes.
 */
int owned_plain(const char *value);
int owned_zone(const char *value);

#endif
