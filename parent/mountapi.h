#ifndef CARREL_MOUNTAPI_H
#define CARREL_MOUNTAPI_H

/*
 * The file-descriptor mount calls (fsopen(2), open_tree(2), move_mount(2),
 * mount_setattr(2)) and openat2(2), bare: the libraries that carrel is built
 * with lack some of them. <sys/mount.h> must not be included beside this.
 * Each returns what the kernel does: -1 with errno on failure.
 */

#include <stdint.h>
#include <sys/types.h>
#include <linux/mount.h>
#include <linux/openat2.h>

/* O_PATH is up to the caller; resolve is a set of RESOLVE_ flags. */
int mountapi_openat2(int dir, const char *path, int flags, uint64_t resolve);

/*
 * A detached copy of what fd (O_PATH) names and of all that is mounted below,
 * with the flags attr (MOUNT_ATTR_) added to each mount: flags are only ever
 * set, never cleared, and never on a part of a tree. Close-on-exec.
 */
int mountapi_clone(int fd, uint64_t attr);

/* Adds flags to the one mount that fd is in; not to what is below it. */
int mountapi_set(int fd, uint64_t attr);

/*
 * A new, detached file system of this type: opts are keys and values in
 * turn, and a NULL. Close-on-exec.
 */
int mountapi_new(const char *type, const char *const *opts, uint64_t attr);

/*
 * Attaches a detached mount at name in dir, or, if name is "", at dir itself.
 * A symlink at name is not followed.
 */
int mountapi_move(int mount, int dir, const char *name);

/* No mount of this namespace sends to or receives from another one. */
int mountapi_private(void);

/*
 * The type of what fd names, as S_ISREG(3) and the others read it: statx(2)
 * without asking the file system, for one of the user's own (FUSE) could leave
 * the caller waiting for ever. It never changes.
 */
int mountapi_type(int fd, mode_t *type);

/* The mount at the working directory becomes "/"; the old root is gone. */
int mountapi_pivot(void);

#endif
