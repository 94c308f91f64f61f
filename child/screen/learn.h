#ifndef CARREL_SCREEN_LEARN_H
#define CARREL_SCREEN_LEARN_H

#include <stddef.h>
#include <stdint.h>

struct host;
struct kept;

/*
 * carrel learn: what a run lacked, as lines of a profile for a person to judge.
 * What is in it was the payload's choice. So a line is never wider than what
 * was seen, but for a directory in the place of many of its files; and what is
 * a credential, the home as a whole, a way to a program outside, or cannot be
 * had, is a comment that says so.
 */

struct learn_line {
	const char *section, *key; /* "fs", "read" */
	char *value;		   /* raw, as the profile would have it */
	char *path;		   /* of fs: of the host, clean; else NULL */
	char *why;		   /* raw: what wanted it, and how often */
	const char *against;	   /* NULL: it is proposed; else why not */
	uint64_t times;
	int is_dir; /* of the host */
	int opened; /* and not only looked at */
};

struct learned {
	struct learn_line *lines; /* by section, key and path */
	size_t n, proposed;
};

/* Who ran it, and where. */
struct learn_place {
	const char *home, *home_real, *target;
};

/* As many files of one directory become that directory. */
#define LEARN_MANY 8

/* Memory that cannot be had is fatal. */
void learn_lines(
    struct learned *, const struct kept *, const struct learn_place *);
void learn_free(struct learned *);

/* learn_write.c: a profile, or one line of JSON. To be freed. */
char *learn_profile(const struct learned *, const struct kept *);
char *learn_json(const struct learned *, const struct kept *);

/*
 * The life of carrel-screen for learn: on fd a file as the state has them. The
 * proposal goes to out, a file called name, or if that is "" to standard error.
 * Returns the exit code.
 */
int learn_run(
    int fd, int json, const struct learn_place *, int out, const char *name);

#endif
