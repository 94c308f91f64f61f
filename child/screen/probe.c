#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <net/if.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ipc/channel.h"
#include "parent/failure.h"
#include "parent/listen.h"
#include "parent/mountapi.h"
#include "parent/nftables.h"
#include "parent/rtnetlink.h"
#include "probe.h"

#define NAMESPACES                                                             \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET |           \
	    CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP)

struct result {
	int32_t probe, err;
};

static void
tell(int fd, enum probe probe, int ret)
{
	struct result r = {.probe = probe, .err = ret == -1 ? errno : 0};

	if (write(fd, &r, sizeof(r)) != (ssize_t)sizeof(r))
		_exit(1);
}

/* A fork(2) with new namespaces: there is one thread, and its stack. */
static pid_t
fork_into(unsigned long flags)
{
	return (pid_t)syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
}

static int
write_file(const char *path, const char *text)
{
	ssize_t n;
	int fd, e;

	if ((fd = open(path, O_WRONLY | O_CLOEXEC)) == -1)
		return -1;
	n = write(fd, text, strlen(text));
	e = errno;
	close(fd);
	errno = e;
	return n == (ssize_t)strlen(text) ? 0 : -1;
}

static int
write_idmap(uid_t uid, gid_t gid)
{
	char map[64];

	if (write_file("/proc/self/setgroups", "deny") == -1)
		return -1;
	snprintf(map, sizeof(map), "%u %u 1\n", (unsigned)uid, (unsigned)uid);
	if (write_file("/proc/self/uid_map", map) == -1)
		return -1;
	snprintf(map, sizeof(map), "%u %u 1\n", (unsigned)gid, (unsigned)gid);
	return write_file("/proc/self/gid_map", map);
}

/*
 * The files below /proc/self are root's where the program may not be read by
 * its user, as the package installs it, unless it says that it is dumpable.
 */
static int
try_idmap(uid_t uid, gid_t gid)
{
	int e, was = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), ret;

	if (was == -1 || prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == -1)
		return -1;
	ret = write_idmap(uid, gid);
	e = errno;
	if (was != 1 && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == -1)
		return -1;
	errno = e;
	return ret;
}

static const char *const no_options[] = {NULL};

/* A tmpfs over /tmp, and a read-only clone of / in it. */
static int
try_mount(void)
{
	int m, t, fd;

	if (mountapi_private() == -1 ||
	    (m = mountapi_new("tmpfs", no_options, 0)) == -1 ||
	    (fd = open("/", O_PATH | O_CLOEXEC)) == -1 ||
	    (t = mountapi_clone(fd, MOUNT_ATTR_RDONLY)) == -1)
		return -1;
	if (mountapi_move(m, AT_FDCWD, "/tmp") == -1 ||
	    mkdir("/tmp/probe", 0700) == -1)
		return -1;
	return mountapi_move(t, AT_FDCWD, "/tmp/probe");
}

static int
try_openat2(void)
{
	return mountapi_openat2(AT_FDCWD, "/", O_PATH | O_DIRECTORY | O_CLOEXEC,
	    RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
}

static int
try_loopback(void)
{
	struct ifreq r;
	int s;

	memset(&r, 0, sizeof(r));
	strcpy(r.ifr_name, "lo");
	if ((s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) == -1)
		return -1;
	r.ifr_flags = IFF_UP;
	return ioctl(s, SIOCSIFFLAGS, &r);
}

/* As the set-up does it, child/setup/network.c. */
static int
try_egress(int *v6)
{
	struct failure f;

	return rtnetlink_local(v6, &f) == -1 || listen_refused(0) == -1 ? -1
									: 0;
}

static int
try_everything(int v6)
{
	struct failure f;

	return nftables_divert(1, v6, &f);
}

/* pid 1 of the new namespaces. */
static void
inside(int fd, uid_t uid, gid_t gid)
{
	int n, v6;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == -1)
		_exit(1);
	tell(fd, PROBE_USERNS, 0);
	n = try_idmap(uid, gid);
	tell(fd, PROBE_IDMAP, n);
	if (n == -1)
		_exit(1);
	n = try_mount();
	tell(fd, PROBE_MOUNT, n);
	tell(fd, PROBE_OPENAT2, try_openat2());
	if (n == 0)
		tell(fd, PROBE_PROC, mountapi_new("proc", no_options, 0));
	n = try_loopback();
	tell(fd, PROBE_NETNS, n);
	if (n == 0) {
		n = try_egress(&v6);
		tell(fd, PROBE_EGRESS, n);
	}
	if (n == 0)
		tell(fd, PROBE_EVERYTHING, try_everything(v6));
	_exit(0);
}

static int
try_landlock(void)
{
	uint64_t attr[1] = {LANDLOCK_ACCESS_FS_EXECUTE};
	int fd;

	fd = (int)syscall(SYS_landlock_create_ruleset, attr, sizeof(attr), 0);
	if (fd == -1)
		return -1;
	return (int)syscall(SYS_landlock_restrict_self, fd, 0);
}

static int
try_seccomp(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog prog = {.len = 1, .filter = &allow};

	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog);
}

/* What needs no namespace; no_new_privs is set already. */
static void
outside(int fd)
{
	tell(fd, PROBE_LANDLOCK, try_landlock());
	tell(fd, PROBE_SECCOMP, try_seccomp());
	_exit(0);
}

/* Collects what a child tells until it closes or its time is over. */
static void
collect(int fd, pid_t pid, int results[PROBES])
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int64_t end = channel_deadline(PROBE_SECONDS), left;
	struct result r;

	while ((left = end - channel_now()) > 0) {
		if (poll(&p, 1, (int)left) <= 0)
			continue;
		if (read(fd, &r, sizeof(r)) != (ssize_t)sizeof(r))
			break;
		if (r.probe >= 0 && r.probe < PROBES)
			results[r.probe] = r.err;
	}
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) == -1 && errno == EINTR)
		continue;
}

/* Runs one of the two children. */
static void
run(int in, unsigned long flags, int results[PROBES])
{
	uid_t uid = getuid();
	gid_t gid = getgid();
	int fd[2], e;
	pid_t pid;

	if (pipe2(fd, O_CLOEXEC) == -1) {
		results[in ? PROBE_USERNS : PROBE_LANDLOCK] = errno;
		return;
	}
	pid = fork_into(flags);
	e = errno;
	if (pid == 0) {
		close(fd[0]);
		if (in)
			inside(fd[1], uid, gid);
		outside(fd[1]);
	}
	close(fd[1]);
	if (pid == -1)
		results[in ? PROBE_USERNS : PROBE_LANDLOCK] = e;
	else
		collect(fd[0], pid, results);
	close(fd[0]);
}

void
probe_all(int results[PROBES], int *abi)
{
	long n;
	int i;

	for (i = 0; i < PROBES; i++)
		results[i] = PROBE_UNTRIED;
	n = syscall(SYS_landlock_create_ruleset, NULL, 0,
	    LANDLOCK_CREATE_RULESET_VERSION);
	*abi = n > 0 ? (int)n : 0;
	run(1, NAMESPACES, results);
	run(0, 0, results);
}
