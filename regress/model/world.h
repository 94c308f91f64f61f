#ifndef CARREL_REGRESS_WORLD_H
#define CARREL_REGRESS_WORLD_H

#include <stddef.h>

struct policy;
struct survey;

/*
 * A host's files that are nowhere but in a list: what the differential test
 * takes for the survey of a policy's sources.
 */
struct node {
	char *path;
	char *what; /* a letter, and of a symlink its text */
};

struct world {
	struct node *nodes; /* sorted by path */
	size_t n;
};

/*
 * "d" a directory, "f" a file, "x" an executable one, "s" a socket, "p" a
 * FIFO, "c" and "b" devices, "l" and where a symlink leads. In the order of
 * their paths, by strcmp(3).
 */
void world_add(struct world *, const char *path, const char *what);
void world_free(struct world *);

/* What look_survey() would find there. */
void world_survey(const struct world *, const struct policy *, struct survey *);

#endif
