#include <string.h>

#include "child/shared/caller.h"
#include "ipc/limits.h"
#include "ipc/path.h"
#include "plan_parts.h"

#define DEVICE(name)                                                           \
	{                                                                      \
		name, name, STEP_DEVICE, 0, 0, 0                               \
	}
#define LINK(name, to)                                                         \
	{                                                                      \
		name, to, STEP_SYMLINK, 0, 0, 0                                \
	}
#define MASK(name)                                                             \
	{                                                                      \
		"/proc/" name, "", STEP_MASK,                                  \
		    STEP_RDONLY | STEP_NODEV | STEP_NOEXEC, 0, 0               \
	}

/*
 * What is in every sandbox. The root is a small tmpfs, made read-only when
 * everything stands; /dev is a directory of it, so it is read-only with it,
 * while each node is a mount of its own from the host's /dev (mknod(2) is
 * not allowed in a user namespace). /proc/sys is bound onto itself like any
 * pin, and read-only as that mount. In the order of path_cmp(), which leaves
 * less to sort.
 */
static const struct {
	const char *guest, *text;
	uint8_t kind, flags;
	uint16_t mode;
	uint64_t size;
} base[] = {
    {"/", "", STEP_TMPFS, STEP_RDONLY | STEP_NODEV, 0755, PLAN_ROOT_SIZE},
    /* by itself: a device that is granted shall not make it */
    {"/dev", "", STEP_DIR, 0, 0755, 0},
    LINK("/dev/fd", "/proc/self/fd"),
    DEVICE("/dev/full"),
    DEVICE("/dev/null"),
    LINK("/dev/ptmx", "pts/ptmx"),
    {"/dev/pts", "", STEP_DEVPTS, STEP_NOEXEC, 0, 0},
    DEVICE("/dev/random"),
    {"/dev/shm", "", STEP_TMPFS, STEP_NODEV, 01777, PLAN_SHM_SIZE},
    LINK("/dev/stderr", "/proc/self/fd/2"),
    LINK("/dev/stdin", "/proc/self/fd/0"),
    LINK("/dev/stdout", "/proc/self/fd/1"),
    DEVICE("/dev/tty"),
    DEVICE("/dev/urandom"),
    DEVICE("/dev/zero"),
    {"/proc", "", STEP_PROC, STEP_NODEV | STEP_NOEXEC, 0, 0},
    MASK("cmdline"),
    MASK("config.gz"),
    MASK("diskstats"),
    MASK("interrupts"),
    MASK("iomem"),
    MASK("ioports"),
    MASK("kallsyms"),
    MASK("kcore"),
    MASK("key-users"),
    MASK("keys"),
    MASK("modules"),
    MASK("partitions"),
    MASK("sched_debug"),
    MASK("swaps"),
    {"/proc/sys", "", STEP_PIN,
	STEP_RDONLY | STEP_ISDIR | STEP_NODEV | STEP_NOEXEC, 0, 0},
    MASK("sysrq-trigger"),
    MASK("timer_list"),
};

int
plan_fixed(struct draft *d)
{
	struct step s = {.grant = -1};
	size_t i;

	for (i = 0; i < sizeof(base) / sizeof(base[0]); i++) {
		s.kind = base[i].kind;
		s.flags = base[i].flags | STEP_FIXED;
		s.mode = base[i].mode;
		s.size = base[i].size;
		/* they live as long as any plan: no copies */
		s.guest = base[i].guest;
		s.text = base[i].text;
		if (plan_own(d, &s, s.guest, s.text) == -1)
			return -1;
	}
	return 0;
}

int
plan_base(struct draft *d)
{
	static const struct step tmp = {.kind = STEP_TMPFS,
	    .flags = STEP_NODEV,
	    .mode = 01777,
	    .size = TMPFS_SIZE,
	    .grant = -1};

	if (plan_fixed(d) == -1)
		return -1;
	return plan_own(d, &tmp, "/tmp", "");
}

/*
 * Commands are mounted in a tmpfs of their own, which is made read-only when
 * they stand: then a payload can neither write it nor move it away, also in a
 * /run that some profile made a writable tmpfs.
 */
int
plan_staging(struct draft *d)
{
	static const struct step stage = {.kind = STEP_TMPFS,
	    .flags = STEP_RDONLY | STEP_NODEV,
	    .mode = 0755,
	    .size = PLAN_STAGE_SIZE,
	    .grant = -1};
	size_t i;

	for (i = 0; i < d->po->ngrants; i++)
		if (d->po->grants[i].kind == GRANT_COMMAND &&
		    d->fate[i] == FATE_STEP)
			return plan_own(d, &stage, PLAN_STAGE, "");
	return 0;
}

/* Pins for the directories strictly between a bind and a path in it. */
static int
pins_between(struct draft *d, const char *top, const char *guest)
{
	struct step pin = {
	    .kind = STEP_PIN, .flags = STEP_ISDIR | STEP_NODEV, .grant = -1};
	char path[PATH_MAX_LEN + 1];
	size_t n;

	for (n = strlen(top) + 1; guest[n] != '\0'; n++) {
		if (guest[n] != '/')
			continue;
		memcpy(path, guest, n);
		path[n] = '\0';
		/* siblings share them: the same one again is for the merge */
		if (d->nown > 0 && strcmp(d->own[d->nown - 1].guest, path) == 0)
			continue;
		if (plan_own(d, &pin, path, "") == -1)
			return -1;
	}
	return 0;
}

/*
 * A mount point cannot be renamed, but what is above it can, and a new tree
 * be put in its place on the host. So for a read mount every directory above
 * it that lies in a write mount is made a mount point too, up to a mount
 * that is itself read-only and cares for itself.
 */
int
plan_pins(struct draft *d)
{
	const struct grant *g = d->po->grants;
	const char *guest;
	size_t i;
	int up;

	for (i = 0; i < d->po->ngrants; i++) {
		if (d->fate[i] != FATE_STEP || !grant_opens(&g[i]) ||
		    plan_writes(&g[i]))
			continue;
		guest = g[i].guest;
		for (up = d->above[i]; up != -1 && plan_writes(&g[up]);
		     up = d->above[up]) {
			if (pins_between(d, g[up].guest, guest) == -1)
				return -1;
			guest = g[up].guest;
		}
	}
	return 0;
}

/* A symlink for each grant below one spelling, at the other one. */
static int
homes(struct draft *d, const char *from, const char *to)
{
	const struct grant *g = d->po->grants;
	struct step link = {.kind = STEP_SYMLINK, .grant = -1};
	char path[2 * PATH_MAX_LEN + 1];
	const char *below;
	size_t i;

	for (i = 0; i < d->po->ngrants; i++) {
		below = path_below(from, g[i].guest);
		if (d->fate[i] == FATE_NONE || below == NULL)
			continue;
		/* what is in a bind is reached through the bind's link */
		if (d->above[i] != -1 && plan_binds(&g[d->above[i]]))
			continue;
		strcpy(path, to);
		strcat(path, below);
		if (!path_clean(path) || path_reserved(path))
			continue;
		if (plan_own(d, &link, path, g[i].guest) == -1)
			return -1;
	}
	return 0;
}

/*
 * A home that is reached through a symlink has two spellings, and profiles,
 * HOME and the target may each use the other one. Whatever is inside under
 * one is a symlink under the other, where nothing else is: the merge lets
 * every grant go before.
 */
int
plan_homes(struct draft *d)
{
	const char *home = d->ca->home, *real = d->ca->home_real;

	/* one inside the other could only lead in circles */
	if (strcmp(home, "/") == 0 || strcmp(real, "/") == 0 ||
	    path_covers(home, real) || path_covers(real, home))
		return 0;
	return homes(d, real, home) == -1 || homes(d, home, real) == -1 ? -1
									: 0;
}
