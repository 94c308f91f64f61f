#include <sys/utsname.h>

#include <errno.h>
#include <limits.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cause.h"
#include "config.h"

#define NITEMS(a)    (sizeof(a) / sizeof((a)[0]))
#define SMALL_FILE   4096
#define MOUNTS_FILE  (1024 * 1024)
#define ENOUGH	     15000 /* what a sysctl of namespaces is set to */
#define KERNEL(a, b) ((a)*1000U + (b))

#define APPARMOR_FILE CARREL_PREFIX "/share/carrel/etc/apparmor.d/carrel"

/* The file into buf, ended by a NUL; its length, or -1. */
static ssize_t
slurp(const char *path, char *buf, size_t len)
{
	size_t have = 0;
	ssize_t n;
	int fd;

	if ((fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) == -1)
		return -1;
	while (have < len - 1) {
		n = read(fd, buf + have, len - 1 - have);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		have += (size_t)n;
	}
	close(fd);
	buf[have] = '\0';
	return (ssize_t)have;
}

static long
number(const char *path)
{
	char buf[64], *end;
	long n;

	if (slurp(path, buf, sizeof(buf)) <= 0)
		return -1;
	errno = 0;
	n = strtol(buf, &end, 10);
	return errno != 0 || end == buf || n < 0 ? -1 : n;
}

/*
 * Looks at the mount points of /proc/self/mountinfo (proc(5)): the fifth
 * field of a line, as this process's root sees them.
 */
static void
read_mounts(struct cause_host *h)
{
	char *buf, *line, *save = NULL, point[256];
	int root = 0, any = 0;

	if ((buf = malloc(MOUNTS_FILE)) == NULL)
		return;
	if (slurp("/proc/self/mountinfo", buf, MOUNTS_FILE) > 0)
		for (line = strtok_r(buf, "\n", &save); line != NULL;
		     line = strtok_r(NULL, "\n", &save)) {
			if (sscanf(line, "%*s %*s %*s %*s %255s", point) != 1)
				continue;
			any = 1;
			root |= strcmp(point, "/") == 0;
			/* binfmt_misc lies on a directory made for it */
			h->proc_covered |=
			    strncmp(point, "/proc/", 6) == 0 &&
			    strcmp(point, "/proc/sys/fs/binfmt_misc") != 0;
		}
	h->chrooted = any && !root;
	free(buf);
}

/* The ids of this user namespace: the third field of each line, added. */
static int
few_ids(void)
{
	char buf[SMALL_FILE], *line, *save = NULL;
	unsigned long n, sum = 0;

	if (slurp("/proc/self/uid_map", buf, sizeof(buf)) <= 0)
		return 0;
	for (line = strtok_r(buf, "\n", &save); line != NULL;
	     line = strtok_r(NULL, "\n", &save))
		if (sscanf(line, "%*s %*s %lu", &n) == 1)
			sum += n;
	return sum > 0 && sum < 1000;
}

void
cause_read(struct cause_host *h)
{
	static const char user[] = "/proc/sys/user/max_%s_namespaces";
	struct {
		const char *name;
		long *to;
	} maxima[] = {{"user", &h->max_user}, {"mnt", &h->max_mnt},
	    {"pid", &h->max_pid}, {"net", &h->max_net}, {"ipc", &h->max_ipc},
	    {"uts", &h->max_uts}, {"cgroup", &h->max_cgroup}};
	struct utsname u;
	char buf[SMALL_FILE], *p;
	size_t i;

	memset(h, 0, sizeof(*h));
	if (uname(&u) == 0 &&
	    sscanf(u.release, "%u.%u", &h->major, &h->minor) != 2)
		h->major = h->minor = 0;
	h->apparmor =
	    number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns");
	h->userns_clone = number("/proc/sys/kernel/unprivileged_userns_clone");
	for (i = 0; i < NITEMS(maxima); i++) {
		snprintf(buf, sizeof(buf), user, maxima[i].name);
		*maxima[i].to = number(buf);
	}
	h->selinux = number("/sys/fs/selinux/enforce") == 1;
	if (slurp("/proc/self/status", buf, sizeof(buf)) > 0 &&
	    (p = strstr(buf, "\nSeccomp:")) != NULL)
		h->seccomp = strtol(p + strlen("\nSeccomp:"), NULL, 10) == 2;
	if (slurp("/sys/kernel/security/lsm", buf, sizeof(buf)) > 0)
		h->no_landlock = strstr(buf, "landlock") == NULL;
	h->one_id = few_ids();
	read_mounts(h);
}

static int
older(const struct cause_host *h, unsigned major, unsigned minor)
{
	return h->major != 0 &&
	       KERNEL(h->major, h->minor) < KERNEL(major, minor);
}

static int
refused(int err)
{
	return err == EPERM || err == EACCES;
}

/* AppArmor, SELinux, a filter around us: what can forbid any step. */
static void
by_lsm(const struct cause_host *h, int err, char *buf, size_t len)
{
	if (!refused(err) && err != ENOSYS)
		return;
	if (refused(err) && h->apparmor == 1)
		snprintf(buf, len,
		    "AppArmor restricts unprivileged user namespaces "
		    "(kernel.apparmor_restrict_unprivileged_userns = 1): as "
		    "root install the profile that lifts it for carrel, "
		    "cp " APPARMOR_FILE
		    " /etc/apparmor.d/ && apparmor_parser -r "
		    "/etc/apparmor.d/carrel");
	else if (h->seccomp)
		snprintf(buf, len,
		    "a system-call filter around carrel refuses this: inside "
		    "another sandbox, also carrel's own, nothing can be "
		    "started; in a container use --security-opt "
		    "seccomp=unconfined (docker, podman)");
	else if (refused(err) && h->selinux)
		snprintf(buf, len,
		    "SELinux is enforcing and may have denied it: look for an "
		    "AVC denial with ausearch -m avc -ts recent, and start "
		    "carrel from an unconfined domain");
}

/* The namespaces that clone(2) was asked for have each a maximum. */
static void
by_maximum(const struct cause_host *h, char *buf, size_t len)
{
	const struct {
		const char *name;
		long n;
	} maxima[] = {{"user", h->max_user}, {"mnt", h->max_mnt},
	    {"pid", h->max_pid}, {"net", h->max_net}, {"ipc", h->max_ipc},
	    {"uts", h->max_uts}, {"cgroup", h->max_cgroup}};
	size_t i, least = NITEMS(maxima);

	for (i = 0; i < NITEMS(maxima); i++)
		if (maxima[i].n >= 0 &&
		    (least == NITEMS(maxima) || maxima[i].n < maxima[least].n))
			least = i;
	if (least == NITEMS(maxima)) {
		snprintf(buf, len,
		    "a maximum of namespaces is reached: raise the sysctls "
		    "user.max_*_namespaces as root");
		return;
	}
	snprintf(buf, len,
	    "the maximum of namespaces is reached (user.max_%s_namespaces = "
	    "%ld): as root sysctl -w user.max_%s_namespaces=%ld, and look in "
	    "/etc/sysctl.d for who lowered it",
	    maxima[least].name, maxima[least].n, maxima[least].name,
	    maxima[least].n < ENOUGH	    ? (long)ENOUGH
	    : maxima[least].n < INT_MAX / 2 ? 2 * maxima[least].n
					    : (long)INT_MAX);
}

static void
why_userns(const struct cause_host *h, int err, char *buf, size_t len)
{
	if (err == ENOSPC || err == EUSERS)
		by_maximum(h, buf, len);
	else if (refused(err) && h->userns_clone == 0)
		snprintf(buf, len,
		    "unprivileged user namespaces are switched off "
		    "(kernel.unprivileged_userns_clone = 0): as root sysctl -w "
		    "kernel.unprivileged_userns_clone=1");
	else if (refused(err) && h->chrooted)
		snprintf(buf, len,
		    "carrel runs inside a chroot(2), where no user namespace "
		    "can be made: start it outside, or make the directory a "
		    "mount point and use pivot_root(8)");
	else if (err == EINVAL)
		snprintf(buf, len,
		    "this kernel was built without one of the namespaces: it "
		    "needs CONFIG_USER_NS, PID_NS, NET_NS, IPC_NS, UTS_NS and "
		    "CGROUPS");
	else
		by_lsm(h, err, buf, len);
}

static void
why_mount(const struct cause_host *h, int err, char *buf, size_t len)
{
	if (err == ENOSYS && older(h, 5, 12))
		snprintf(buf, len,
		    "Linux %u.%u is too old: mount_setattr(2) needs 5.12 or "
		    "newer",
		    h->major, h->minor);
	else if (err == ENODEV)
		snprintf(buf, len,
		    "this kernel was built without tmpfs (CONFIG_TMPFS)");
	else if (err == ENOSPC)
		snprintf(buf, len,
		    "the maximum of mounts is reached: as root raise the "
		    "sysctl fs.mount-max");
	else
		by_lsm(h, err, buf, len);
}

static void
why_landlock(const struct cause_host *h, int err, char *buf, size_t len)
{
	static const char flag[] = "or weaken this run with --without-landlock";

	if (err == ENOSYS && older(h, 5, 13))
		snprintf(buf, len,
		    "Linux %u.%u is too old for Landlock: use 5.13 or newer, "
		    "%s",
		    h->major, h->minor, flag);
	else if (err == ENOSYS && h->seccomp)
		snprintf(buf, len,
		    "a system-call filter around carrel hides Landlock: in a "
		    "container use --security-opt seccomp=unconfined, %s",
		    flag);
	else if (err == ENOSYS)
		snprintf(buf, len,
		    "this kernel was built without Landlock "
		    "(CONFIG_SECURITY_LANDLOCK): use one that has it, %s",
		    flag);
	else if (err == EOPNOTSUPP || h->no_landlock)
		snprintf(buf, len,
		    "Landlock is switched off at boot: add landlock to the "
		    "list in the kernel's parameter lsm= (the active ones are "
		    "in /sys/kernel/security/lsm), %s",
		    flag);
	else if (err == E2BIG)
		snprintf(buf, len,
		    "sixteen Landlock layers are in force already: start "
		    "carrel outside some of the sandboxes around it");
	else
		by_lsm(h, err, buf, len);
}

static void
why_procfs(const struct cause_host *h, int err, char *buf, size_t len)
{
	if (refused(err) && h->proc_covered)
		snprintf(buf, len,
		    "a new /proc is refused because parts of this one are "
		    "masked, as in a container: start it with docker run "
		    "--security-opt systempaths=unconfined or podman run "
		    "--security-opt unmask=ALL");
	else
		by_lsm(h, err, buf, len);
}

static void
why_idmap(const struct cause_host *h, int err, char *buf, size_t len)
{
	by_lsm(h, err, buf, len);
	if (buf[0] == '\0' && refused(err) && h->one_id)
		snprintf(buf, len,
		    "the user namespace around carrel has no id to map: start "
		    "carrel outside, or as a user whose id it maps");
}

static void
why_openat2(const struct cause_host *h, int err, char *buf, size_t len)
{
	if (err == ENOSYS && older(h, 5, 6))
		snprintf(buf, len,
		    "Linux %u.%u is too old: openat2(2) needs 5.6 or newer",
		    h->major, h->minor);
	else if (err == ENOSYS || refused(err))
		by_lsm(h, err, buf, len);
}

static void
why_seccomp(const struct cause_host *h, int err, char *buf, size_t len)
{
	if (err == EINVAL || err == ENOSYS)
		snprintf(buf, len,
		    "this kernel was built without system-call filters "
		    "(CONFIG_SECCOMP_FILTER)");
	else
		by_lsm(h, err, buf, len);
}

static void
why_nftables(int err, char *buf, size_t len)
{
	/* an expression, or all of it, is missing; a module may be */
	if (err == ENOENT || err == EPROTONOSUPPORT || err == EOPNOTSUPP)
		snprintf(buf, len,
		    "this kernel has no nf_tables, or not its tproxy and "
		    "socket (CONFIG_NF_TABLES, CONFIG_NFT_TPROXY, "
		    "CONFIG_NFT_SOCKET): load them (modprobe nft_tproxy "
		    "nft_socket), or allow hosts by name, which needs none of "
		    "it");
}

static void
why_keyring(int err, char *buf, size_t len)
{
	if (err == EDQUOT)
		snprintf(buf, len,
		    "this user holds all the keys that he may: end what uses "
		    "them, or as root raise the sysctl kernel.keys.maxkeys");
	else if (refused(err))
		snprintf(buf, len,
		    "a system-call filter around carrel refuses keyctl(2): "
		    "allow it there (inside carrel there is no carrel)");
}

/* What the caller may have is used up, whatever the step was. */
static void
by_limit(int err, char *buf, size_t len)
{
	if (err == EAGAIN)
		snprintf(buf, len,
		    "there is no room for another process: this user has as "
		    "many as he may (ulimit -u, TasksMax= of systemd), or the "
		    "control group around carrel has (docker run "
		    "--pids-limit): end some, or raise it");
	else if (err == EMFILE)
		snprintf(buf, len,
		    "the limit of open files is too low for carrel itself: "
		    "raise it, ulimit -n 256");
	else if (err == ENFILE)
		snprintf(buf, len,
		    "this host has as many open files as it may: as root "
		    "raise the sysctl fs.file-max");
	else if (err == EFBIG)
		snprintf(buf, len,
		    "the limit of a file's size is too low for carrel "
		    "itself: raise it, ulimit -f unlimited");
}

const char *
cause_judge(const struct cause_host *h, enum cause_step step, int err,
    char *buf, size_t len)
{
	buf[0] = '\0';
	switch (step) {
	case CAUSE_OTHER:
		break;
	case CAUSE_USERNS:
		why_userns(h, err, buf, len);
		break;
	case CAUSE_IDMAP:
		why_idmap(h, err, buf, len);
		break;
	case CAUSE_MOUNT:
		why_mount(h, err, buf, len);
		break;
	case CAUSE_PROC:
		why_procfs(h, err, buf, len);
		break;
	case CAUSE_NETNS:
		by_lsm(h, err, buf, len);
		break;
	case CAUSE_OPENAT2:
		why_openat2(h, err, buf, len);
		break;
	case CAUSE_LANDLOCK:
		why_landlock(h, err, buf, len);
		break;
	case CAUSE_SECCOMP:
		why_seccomp(h, err, buf, len);
		break;
	case CAUSE_KEYRING:
		why_keyring(err, buf, len);
		break;
	case CAUSE_NFTABLES:
		why_nftables(err, buf, len);
		break;
	}
	if (buf[0] == '\0')
		by_limit(err, buf, len);
	return buf;
}

const char *
cause_of(enum cause_step step, int err, char *buf, size_t len)
{
	struct cause_host h;

	cause_read(&h);
	return cause_judge(&h, step, err, buf, len);
}
