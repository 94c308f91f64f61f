#ifndef CARREL_PARSER_SELECT_H
#define CARREL_PARSER_SELECT_H

#include <stddef.h>
#include <stdint.h>

#include "format.h"
#include "ipc/policy.h"

struct config;
struct layers;
struct request;

/*
 * Which profiles take part: the defaults, the names given with -p and what
 * they include, each read once. The order of the names, and how often one is
 * given, leave no trace: everything from here on works on a sorted set.
 */

struct member {
	char *name;    /* with the '@' of a shipped one */
	uint8_t flags; /* PROFILE_* */
	int state;     /* of the loading; MEMBER_READ in the end */
	enum layer layer;
	char *file;
	char digest[SHA256_HEX + 1]; /* of its bytes */
	struct draft draft;
};

struct selection {
	struct member *members; /* sorted by name */
	size_t n;
};

void selection_free(struct selection *);

/* 0 and a selection to be freed, or -1: refused in the policy. */
int selection_load(const struct request *, const struct config *,
    const struct layers *, struct policy *, struct selection *);

/* A default that holds where no file says another; NULL behind the last. */
const char *select_builtin(size_t i);

/* The index of a member; -1 if it takes no part. */
int selection_find(const struct selection *, const char *name);

/* 1 if a profile may not have this directory as a target (S24). */
int selection_holds_home(const struct request *, const char *dir);

#endif
