#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

/*
 * floor [--ro|--rw|--link|--tmpfs|--proc|--dev ...] -- COMMAND...: what a
 * launcher cannot do without. The same namespaces and the same view as
 * carrel's, built with as few system calls as there are steps, and nothing
 * else: no profile is read, nothing is checked, confined, reported or
 * watched. It is a ruler, not a sandbox.
 *
 *	--ro SRC DST, --rw SRC DST, --link TEXT DST
 *	--tmpfs DST, --proc DST, --dev DST
 */

#define STACK (128 * 1024)
#define NAMESPACES                                                             \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET |           \
	    CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP)
#define NEW_ROOT "/tmp" /* any directory: it is covered, then left */

struct floor {
	char **step, **command;
	uid_t uid;
	gid_t gid;
	int root; /* the new root, detached until it is complete */
};

static void
write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd == -1 || write(fd, text, strlen(text)) == -1)
		err(125, "%s", path);
	close(fd);
}

static void
write_maps(const struct floor *f)
{
	char map[64];

	write_file("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "%u %u 1", f->uid, f->uid);
	write_file("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "%u %u 1", f->gid, f->gid);
	write_file("/proc/self/gid_map", map);
}

static void
loopback_up(void)
{
	struct ifreq r = {.ifr_name = "lo"};
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	r.ifr_flags = IFF_UP;
	if (s == -1 || ioctl(s, SIOCSIFFLAGS, &r) == -1)
		err(125, "lo");
	close(s);
}

static int
new_fs(const char *type, unsigned attr)
{
	int fs = (int)syscall(SYS_fsopen, type, FSOPEN_CLOEXEC), m;

	if (fs == -1 ||
	    syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == -1)
		err(125, "fsopen %s", type);
	m = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, attr);
	if (m == -1)
		err(125, "fsmount %s", type);
	close(fs);
	return m;
}

/* The directories above dst; tried only when they are missing. */
static void
parents(const struct floor *f, const char *dst)
{
	char path[4096];
	size_t i;

	snprintf(path, sizeof(path), "%s", dst + 1);
	for (i = 0; path[i] != '\0'; i++)
		if (path[i] == '/') {
			path[i] = '\0';
			if (mkdirat(f->root, path, 0755) == -1 &&
			    errno != EEXIST)
				err(125, "mkdir %s", path);
			path[i] = '/';
		}
}

static int
make(const struct floor *f, const char *dst, int dir)
{
	return dir ? mkdirat(f->root, dst + 1, 0755)
		   : mknodat(f->root, dst + 1, S_IFREG | 0644, 0);
}

static void
place(const struct floor *f, int mount, const char *dst, int dir)
{
	if (make(f, dst, dir) == -1 && errno == ENOENT) {
		parents(f, dst);
		(void)make(f, dst, dir);
	}
	if (syscall(SYS_move_mount, mount, "", f->root, dst + 1,
		MOVE_MOUNT_F_EMPTY_PATH) == -1)
		err(125, "move_mount %s", dst);
	close(mount);
}

static void
bind_tree(const struct floor *f, const char *src, const char *dst, unsigned add)
{
	struct mount_attr a = {.attr_set = MOUNT_ATTR_NOSUID | add};
	struct stat st;
	int t;

	t = (int)syscall(SYS_open_tree, AT_FDCWD, src,
	    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
	if (t == -1 || fstat(t, &st) == -1 ||
	    syscall(SYS_mount_setattr, t, "", AT_EMPTY_PATH | AT_RECURSIVE, &a,
		sizeof(a)) == -1)
		err(125, "bind %s", src);
	place(f, t, dst, S_ISDIR(st.st_mode));
}

static void
link_at(const struct floor *f, const char *text, const char *dst)
{
	int r = symlinkat(text, f->root, dst + 1);

	if (r == -1 && errno == ENOENT) {
		parents(f, dst);
		r = symlinkat(text, f->root, dst + 1);
	}
	if (r == -1)
		err(125, "symlink %s", dst);
}

static void
devices(const struct floor *f, const char *dev)
{
	static const char *const nodes[] = {
	    "null", "zero", "full", "random", "urandom", "tty"};
	char host[64], dst[4096];
	size_t i;

	for (i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		snprintf(host, sizeof(host), "/dev/%s", nodes[i]);
		snprintf(dst, sizeof(dst), "%s/%s", dev, nodes[i]);
		bind_tree(f, host, dst, 0);
	}
	snprintf(dst, sizeof(dst), "%s/pts", dev);
	place(
	    f, new_fs("devpts", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC), dst, 1);
	snprintf(dst, sizeof(dst), "%s/fd", dev);
	link_at(f, "/proc/self/fd", dst);
}

static void
build(struct floor *f)
{
	const unsigned safe = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
	char **s;

	f->root = new_fs("tmpfs", safe);
	for (s = f->step; s < f->command - 1; s += 2) {
		if (strcmp(s[0], "--tmpfs") == 0)
			place(f, new_fs("tmpfs", safe), s[1], 1);
		else if (strcmp(s[0], "--proc") == 0)
			place(f, new_fs("proc", safe | MOUNT_ATTR_NOEXEC), s[1],
			    1);
		else if (strcmp(s[0], "--dev") == 0)
			devices(f, s[1]);
		else if (strcmp(s[0], "--link") == 0)
			link_at(f, s[1], s[2]), s++;
		else if (strcmp(s[0], "--rw") == 0)
			bind_tree(f, s[1], s[2], MOUNT_ATTR_NODEV), s++;
		else if (strcmp(s[0], "--ro") == 0)
			bind_tree(f, s[1], s[2],
			    MOUNT_ATTR_NODEV | MOUNT_ATTR_RDONLY),
			    s++;
		else
			errx(125, "%s?", s[0]);
	}
	if (syscall(SYS_move_mount, f->root, "", AT_FDCWD, NEW_ROOT,
		MOVE_MOUNT_F_EMPTY_PATH) == -1 ||
	    fchdir(f->root) == -1 || syscall(SYS_pivot_root, ".", ".") == -1 ||
	    umount2(".", MNT_DETACH) == -1)
		err(125, "pivot_root");
}

static int
inside(void *arg)
{
	struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}};
	struct floor *f = arg;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == -1)
		err(125, "prctl");
	write_maps(f);
	loopback_up();
	build(f);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1 ||
	    syscall(SYS_capset, &h, none) == -1)
		err(125, "capset");
	execv(f->command[0], f->command);
	err(127, "%s", f->command[0]);
}

int
main(int argc, char **argv)
{
	struct floor f = {.step = argv + 1, .uid = getuid(), .gid = getgid()};
	char *stack = malloc(STACK);
	int i, status;
	pid_t pid;

	for (i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		continue;
	if (i + 1 >= argc || stack == NULL)
		errx(2, "usage: floor [STEP...] -- COMMAND...");
	f.command = argv + i + 1;
	/* the address space is lent, not copied: this process sleeps */
	pid = clone(inside, stack + STACK,
	    NAMESPACES | CLONE_VM | CLONE_VFORK | SIGCHLD, &f);
	if (pid == -1)
		err(125, "clone");
	while (waitpid(pid, &status, 0) == -1)
		if (errno != EINTR)
			err(125, "waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
