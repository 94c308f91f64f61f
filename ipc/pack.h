#ifndef CARREL_PACK_H
#define CARREL_PACK_H

#include <stddef.h>

struct grant;
struct policy;

/*
 * A pack: one profile of a policy that a stranger wrote and a person named
 * with -f (S13). It speaks of the sandbox alone. The target directory is what
 * it gets of the host, mounted at PACK_DIR and read-only but for the
 * subpaths that it lists; what it may include is carrel's own.
 */

#define PACK_DIR  "/workdir"
#define PACK_MARK '+' /* in front of its name, as '@' of a shipped one's */

/* The index of the pack among the profiles; -1: there is none. Pure. */
int pack_find(const struct policy *);

/* 1 if the pack is among those who claim this grant. Pure. */
int pack_claims(const struct policy *, const struct grant *);

/*
 * Part of policy_check(): there is one at the most, it includes nothing but
 * shipped profiles, binds nothing but parts of what is at PACK_DIR, each at
 * its own place, and comes with unix = no and on-violation. 0, or -1 and a
 * sentence in raw text. Pure.
 */
int pack_check(const struct policy *, char *why, size_t len);

#endif
