#ifndef CARREL_PARSER_CONFIG_H
#define CARREL_PARSER_CONFIG_H

#include <stddef.h>

#include "format.h"

struct layers;
struct policy;

/*
 * carrel.conf of the host and config of the user: preferences, never grants
 * (S20). The user's list of defaults replaces the host's as a whole, and so
 * does his prompt.
 */
struct config {
	int set;		     /* a file gives the defaults */
	char *file;		     /* that file; NULL if none */
	struct draft_include *names; /* an empty list means none at all */
	size_t n;
	char *prompt; /* NULL: no file gives it */
};

void config_free(struct config *);

/* 0 and a config to be freed, or -1: refused in the policy. */
int config_read(const struct layers *, struct policy *, struct config *);

#endif
