#ifndef CARREL_PARSER_COUPLING_H
#define CARREL_PARSER_COUPLING_H

#include <stddef.h>
#include <stdint.h>

#include "ipc/limits.h"

struct claims;
struct selection;

/* A profile and all that it includes, by way of others too. */
struct closure {
	uint8_t has[PROFILES_MAX]; /* by index in the selection */
};

void closure_make(const struct selection *, size_t member, struct closure *);

/*
 * 1 if a claim of the closure, a bind or a tmpfs, covers the guest path: by
 * name, downward, at '/' boundaries. The closure's own symlinks are applied
 * first, the deepest one before the others; a link itself is no grant. A
 * try- claim counts whether it will be there or not. The claims are sorted.
 */
int coupling_covered(
    const struct claims *, const struct closure *, const char *path);

#endif
