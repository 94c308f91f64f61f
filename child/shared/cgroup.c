#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cgroup.h"
#include "ipc/path.h"
#include "ipc/rule.h"
#include "ipc/text.h"

#define ROOT	  "/sys/fs/cgroup"
#define HYBRID	  ROOT "/unified" /* beside cgroup v1, as systemd mounts it */
#define LIST_LEN  4096
#define CHAIN_MAX 64 /* from a process to carrel */

static const struct {
	unsigned limit;
	const char *controller;
} controllers[] = {
    {LIMIT_MEMORY, "memory"}, {LIMIT_PROCESSES, "pids"}, {LIMIT_CPU, "cpu"}};

#define NITEMS(a) (sizeof(a) / sizeof((a)[0]))

const char *
cgroup_controller(unsigned limit)
{
	size_t i;

	for (i = 0; i < NITEMS(controllers); i++)
		if (controllers[i].limit == limit)
			return controllers[i].controller;
	return NULL;
}

int
cgroup_has(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (; *list != '\0'; list += strspn(list, " \n")) {
		if (strcspn(list, " \n") == n && strncmp(list, word, n) == 0)
			return 1;
		list += strcspn(list, " \n");
	}
	return 0;
}

int
cgroup_read(int dir, const char *name, char *buf, size_t cap)
{
	ssize_t n;
	int err, fd = openat(dir, name, O_RDONLY | O_CLOEXEC);

	if (fd == -1)
		return -1;
	n = read(fd, buf, cap - 1);
	err = errno;
	close(fd);
	errno = err;
	if (n == -1)
		return -1;
	buf[n] = '\0';
	return 0;
}

/* The first of the limits whose controller is not in the list; 0: none. */
static unsigned
first_lack(const char *list, unsigned limits)
{
	size_t i;

	for (i = 0; i < NITEMS(controllers); i++)
		if ((limits & CGROUP_BIT(controllers[i].limit)) &&
		    !cgroup_has(list, controllers[i].controller))
			return controllers[i].limit;
	return 0;
}

static int
is_v2(const char *path)
{
	struct statfs fs;

	return statfs(path, &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC;
}

/* The caller's group: "0::/PATH" of /proc/self/cgroup, cgroups(7). */
static int
own_path(const char *base, struct cgroup_host *h)
{
	char text[LIST_LEN + PATH_MAX_LEN], *p;

	if (cgroup_read(AT_FDCWD, "/proc/self/cgroup", text, sizeof(text)) ==
	    -1)
		return -1;
	p = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
	if (p == NULL)
		return -1;
	p = strchr(p, '/');
	if (p == NULL)
		return -1;
	p[strcspn(p, "\n")] = '\0';
	/* "/../x" is outside of what is mounted here: a container */
	if (!path_clean(p) || strlen(p) > PATH_MAX_LEN)
		return -1;
	snprintf(
	    h->own, sizeof(h->own), "%s%s", base, strcmp(p, "/") == 0 ? "" : p);
	return 0;
}

/* The parent of a process; 0 if it has none here, or is gone. */
static pid_t
parent_of(pid_t pid)
{
	char path[32], text[512], *p;
	int ppid = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (cgroup_read(AT_FDCWD, path, text, sizeof(text)) == -1)
		return 0;
	/* the name may hold anything: the last ')' ends it, proc(5) */
	p = strrchr(text, ')');
	if (p == NULL || sscanf(p + 1, " %*c %d", &ppid) != 1)
		return 0;
	return ppid;
}

int
cgroup_carrels(pid_t pid, pid_t carrel)
{
	int i;

	for (i = 0; i < CHAIN_MAX && pid > 1; i++) {
		if (pid == carrel)
			return 1;
		pid = parent_of(pid);
	}
	return 0;
}

/* 1 if a process that is not carrel's is in the group; -1 with errno. */
static int
has_others(int dir, pid_t carrel)
{
	int pid, fd, found = 0;
	FILE *f = NULL;

	fd = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	if (fd == -1 || (f = fdopen(fd, "r")) == NULL) {
		if (fd != -1)
			close(fd);
		return -1;
	}
	while (!found && fscanf(f, "%d", &pid) == 1)
		found = !cgroup_carrels(pid, carrel);
	fclose(f);
	return found;
}

static enum cgroup_state
unreadable(struct cgroup_host *h)
{
	h->err = errno;
	return CGROUP_UNREADABLE;
}

static enum cgroup_state
judge(int dir, unsigned limits, pid_t carrel, struct cgroup_host *h)
{
	char list[LIST_LEN];
	int n;

	if (cgroup_read(dir, "cgroup.controllers", list, sizeof(list)) == -1)
		return unreadable(h);
	if ((h->lacks = first_lack(list, limits)) != 0)
		return CGROUP_UNDELEGATED;
	if (faccessat(dir, ".", W_OK, 0) == -1 ||
	    faccessat(dir, "cgroup.procs", W_OK, 0) == -1 ||
	    faccessat(dir, "cgroup.subtree_control", W_OK, 0) == -1)
		return CGROUP_UNDELEGATED;
	/* every group but the root of all has a type */
	h->root = faccessat(dir, "cgroup.type", F_OK, 0) == -1;
	if (h->root)
		return CGROUP_READY;
	if (cgroup_read(dir, "cgroup.subtree_control", list, sizeof(list)) ==
	    -1)
		return unreadable(h);
	if (first_lack(list, limits) == 0)
		return CGROUP_READY;
	if ((n = has_others(dir, carrel)) == -1)
		return unreadable(h);
	return n ? CGROUP_SHARED : CGROUP_READY;
}

void
cgroup_find(struct cgroup_host *h, unsigned limits, pid_t carrel)
{
	const char *base = is_v2(ROOT) ? ROOT : is_v2(HYBRID) ? HYBRID : NULL;
	char list[LIST_LEN];
	int dir;

	memset(h, 0, sizeof(*h));
	h->state = CGROUP_NONE;
	if (base == NULL)
		return;
	dir = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir == -1 ||
	    cgroup_read(dir, "cgroup.controllers", list, sizeof(list)) == -1) {
		h->state = unreadable(h);
		if (dir != -1)
			close(dir);
		return;
	}
	close(dir);
	if ((h->lacks = first_lack(list, limits)) != 0) {
		h->state = CGROUP_KERNEL;
		return;
	}
	h->state = CGROUP_UNDELEGATED;
	if (own_path(base, h) == -1)
		return;
	dir = open(h->own, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir == -1) {
		h->state = unreadable(h);
		return;
	}
	h->state = judge(dir, limits, carrel, h);
	close(dir);
}

/* systemd makes a group that belongs to the caller, with carrel alone in it. */
static void
add_scope(char *why, size_t len)
{
	text_add(why, len,
	    "systemd-run %s--scope -p Delegate=yes carrel run ...",
	    getuid() == 0 ? "" : "--user ");
}

/*
 * In a container none of that is the caller's to change, and its engine does
 * not hand out groups: it holds limits itself.
 */
static void
add_container(char *why, size_t len)
{
	if (access("/.dockerenv", F_OK) == 0 ||
	    access("/run/.containerenv", F_OK) == 0)
		text_add(why, len,
		    "; in a container leave that limit out and give it to the "
		    "container: docker run --memory, --cpus, --pids-limit");
}

const char *
cgroup_why(const struct cgroup_host *h, char *why, size_t len)
{
	const char *name = cgroup_controller(h->lacks);

	why[0] = '\0';
	switch (h->state) {
	case CGROUP_READY:
		break;
	case CGROUP_NONE:
		text_add(why, len,
		    "no cgroup v2 is mounted at " ROOT "; boot with "
		    "systemd.unified_cgroup_hierarchy=1");
		break;
	case CGROUP_KERNEL:
		text_add(why, len,
		    "cgroup v2 has no controller \"%s\" here, cgroup v1 has it "
		    "or the kernel lacks it; boot with "
		    "systemd.unified_cgroup_hierarchy=1 cgroup_no_v1=all",
		    name);
		break;
	case CGROUP_UNDELEGATED:
		text_add(why, len,
		    "the cgroup %s is not delegated to this user",
		    SHOWN(h->own));
		if (name != NULL)
			text_add(why, len, " with the controller \"%s\"", name);
		text_add(why, len, "; start it in one that is: ");
		add_scope(why, len);
		if (name != NULL && getuid() != 0)
			text_add(why, len,
			    " (if that lacks it too, as root: Delegate=cpu "
			    "memory pids for user@.service)");
		break;
	case CGROUP_SHARED:
		text_add(why, len,
		    "other processes are in the cgroup %s; start it alone in "
		    "one: ",
		    SHOWN(h->own));
		add_scope(why, len);
		break;
	case CGROUP_UNREADABLE:
		text_add(why, len, "the cgroup %s: %s; start it elsewhere: ",
		    h->own[0] != '\0' ? SHOWN(h->own) : ROOT, strerror(h->err));
		add_scope(why, len);
		break;
	}
	if (h->state != CGROUP_READY && h->state != CGROUP_SHARED)
		add_container(why, len);
	return why;
}
