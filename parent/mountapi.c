#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mountapi.h"

#ifndef SYS_open_tree_attr
#define SYS_open_tree_attr 467 /* Linux 6.15, the same on every machine */
#endif
#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif
#ifndef AT_STATX_DONT_SYNC
#define AT_STATX_DONT_SYNC 0x4000
#endif
#define DETACH 2 /* MNT_DETACH of <sys/mount.h> */

int
mountapi_openat2(int dir, const char *path, int flags, uint64_t resolve)
{
	struct open_how how = {
	    .flags = (uint64_t)(unsigned)flags, .resolve = resolve};

	return (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
}

int
mountapi_clone(int fd, uint64_t set)
{
	struct mount_attr attr = {.attr_set = set};
	unsigned flags =
	    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE;
	int tree, err;

	tree = (int)syscall(
	    SYS_open_tree_attr, fd, "", flags, &attr, sizeof(attr));
	if (tree != -1 || (errno != ENOSYS && errno != EPERM))
		return tree;
	/* older than 6.15, or a filter that does not know the call */
	tree = (int)syscall(SYS_open_tree, fd, "", flags);
	if (tree == -1)
		return -1;
	if (syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE,
		&attr, sizeof(attr)) == -1) {
		err = errno;
		close(tree);
		errno = err;
		return -1;
	}
	return tree;
}

int
mountapi_set(int fd, uint64_t set)
{
	struct mount_attr attr = {.attr_set = set};

	return (int)syscall(
	    SYS_mount_setattr, fd, "", AT_EMPTY_PATH, &attr, sizeof(attr));
}

int
mountapi_new(const char *type, const char *const *opts, uint64_t attr)
{
	int fs, mount = -1, err;

	fs = (int)syscall(SYS_fsopen, type, FSOPEN_CLOEXEC);
	if (fs == -1)
		return -1;
	for (; *opts != NULL; opts += 2)
		if (syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, opts[0],
			opts[1], 0) == -1)
			goto out;
	if (syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == -1)
		goto out;
	mount = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, (unsigned)attr);
out:
	err = errno;
	close(fs);
	errno = err;
	return mount;
}

int
mountapi_move(int mount, int dir, const char *name)
{
	unsigned flags = MOVE_MOUNT_F_EMPTY_PATH;

	if (name[0] == '\0')
		flags |= MOVE_MOUNT_T_EMPTY_PATH;
	return (int)syscall(SYS_move_mount, mount, "", dir, name, flags);
}

int
mountapi_private(void)
{
	return (int)syscall(
	    SYS_mount, NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

int
mountapi_pivot(void)
{
	/* pivot_root(2), "pivot_root(".", ".")": the old root ends on top */
	if (syscall(SYS_pivot_root, ".", ".") == -1)
		return -1;
	return (int)syscall(SYS_umount2, ".", DETACH);
}

int
mountapi_type(int fd, mode_t *type)
{
	struct statx st;

	if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
		STATX_TYPE, &st) == -1)
		return -1;
	*type = st.stx_mode & 0170000; /* S_IFMT */
	return 0;
}
