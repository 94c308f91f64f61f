#ifndef CARREL_PARSER_LISTING_H
#define CARREL_PARSER_LISTING_H

#include <stddef.h>

#include "ipc/policy.h"

struct layers;

/*
 * The names of all profiles that there are, for a screen. It is made before
 * the sandbox, in which no directory can be read; nothing of what the files
 * hold is looked at.
 */

struct listed {
	char *name; /* with the '@' of a shipped one; any bytes but '/' */
	enum layer layer;
};

struct listing {
	struct listed *list; /* by name and layer */
	size_t n;
	size_t more;		 /* that found no room */
	int err[LAYER_LAST + 1]; /* why a directory cannot be read; or 0 */
};

/* 0 and a listing to be freed, or -1 without memory. */
int listing_make(const struct layers *, struct listing *);
void listing_free(struct listing *);

#endif
