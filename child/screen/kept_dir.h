#ifndef CARREL_SCREEN_KEPT_DIR_H
#define CARREL_SCREEN_KEPT_DIR_H

#include "child/shared/kept.h"

/*
 * The files of a directory of the user's state (child/monitor/state.h), which
 * may hold anything: what is no record is counted, and nothing is followed.
 */

#define KEPT_TOTAL_MAX (64UL << 20) /* bytes of all files */

struct kept_file {
	char *name;
	void *data; /* kept points into it; NULL: it could not be read */
	struct kept kept;
};

struct kept_dir {
	struct kept_file *files; /* the latest first, then by name */
	size_t n;
	size_t unread; /* of n; and further files, that were not looked at */
	int err; /* why the directory cannot be read; 0: it is not there */
};

/*
 * Loads DIR/SUB, of which the names are len digits a-f0-9; only the one named
 * if only is not NULL. Memory that cannot be had is fatal.
 */
void kept_dir_load(struct kept_dir *, const char *dir, const char *sub,
    size_t len, const char *only);
void kept_dir_free(struct kept_dir *);

#endif
