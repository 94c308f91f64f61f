#ifndef CARREL_ROOT_DIR_H
#define CARREL_ROOT_DIR_H

#include "ipc/limits.h"

/*
 * Paths inside the new root, resolved beneath its descriptor: no symlink is
 * followed at any component, and none can lead out.
 */
struct root_dir {
	int root;		     /* the new root; not owned */
	int fd;			     /* the directory last asked for, or -1 */
	char path[PATH_MAX_LEN + 1]; /* and its path */
};

void root_dir_init(struct root_dir *, int root);
void root_dir_close(struct root_dir *); /* not root */

/* Opens a clean path O_PATH, close-on-exec; ELOOP for a symlink. */
int root_dir_open(int root, const char *path);

/*
 * The directory that holds a clean path other than "/": a descriptor that
 * stays valid until the next call and belongs to d; name points into path.
 * It is kept, because mount points come in families: so whoever mounts
 * something at or above it must call root_dir_forget() with that path.
 */
int root_dir_parent(struct root_dir *d, const char *path, const char **name);
void root_dir_forget(struct root_dir *d, const char *covered);

#endif
