#include <linux/landlock.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "confine.h"
#include "ipc/landlock_abi.h"
#include "ipc/path.h"
#include "parent/failure.h"
#include "plan.h"

#define RUN (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE)
#define READ                                                                   \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |           \
	    LANDLOCK_ACCESS_FS_READ_DIR)
/* What a rule on something that is no directory may hold. */
#define OF_A_FILE                                                              \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |           \
	    LANDLOCK_ACCESS_FS_WRITE_FILE | ACCESS_TRUNCATE |                  \
	    ACCESS_IOCTL_DEV)
/* Opening an existing file or device for writing, and using it. */
#define USE (LANDLOCK_ACCESS_FS_WRITE_FILE | ACCESS_TRUNCATE | ACCESS_IOCTL_DEV)

struct ruleset {
	int fd;
	uint64_t handled; /* every other right is refused without a rule */
};

int
landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0UL,
	    LANDLOCK_CREATE_RULESET_VERSION);

	return abi < 1 ? 0 : (int)abi;
}

/*
 * Everything that this ABI can refuse in the file system. Networks are not
 * handled: the payload's has no way out but those that were granted.
 */
static int
ruleset_make(struct ruleset *rs, struct failure *f)
{
	struct ruleset_attr attr = {0};
	size_t size = offsetof(struct ruleset_attr, net);
	int abi = landlock_abi();

	if (abi == 0)
		return failure_set(f, CAUSE_LANDLOCK, "Landlock");
	attr = landlock_abi_all(abi);
	attr.net = 0;
	if (abi >= 6)
		size = sizeof(attr);
	rs->handled = attr.fs;
	rs->fd = (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0UL);
	if (rs->fd == -1)
		return failure_set(
		    f, CAUSE_LANDLOCK, "landlock_create_ruleset");
	return 0;
}

/*
 * Below the guest path these rights are granted, as far as they are handled.
 * The path was built without symlinks; one here is somebody's trick.
 */
static int
ruleset_allow(const struct ruleset *rs, const char *guest, uint64_t rights,
    struct failure *f)
{
	const struct open_how how = {
	    .flags = O_PATH | O_CLOEXEC,
	    .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	struct landlock_path_beneath_attr rule = {0};
	struct stat st;
	int r;

	rule.parent_fd =
	    (int)syscall(SYS_openat2, AT_FDCWD, guest, &how, sizeof(how));
	if (rule.parent_fd == -1)
		return failure_set(
		    f, CAUSE_OPENAT2, "opening %s inside", guest);
	r = fstat(rule.parent_fd, &st);
	if (r == 0) {
		rule.allowed_access = rights & rs->handled;
		if (!S_ISDIR(st.st_mode))
			rule.allowed_access &= OF_A_FILE;
		r = (int)syscall(SYS_landlock_add_rule, rs->fd,
		    LANDLOCK_RULE_PATH_BENEATH, &rule, 0UL);
	}
	if (r != 0)
		failure_set(f, CAUSE_LANDLOCK, "Landlock rule for %s", guest);
	close(rule.parent_fd);
	return r == 0 ? 0 : -1;
}

/* The rights beyond reading below a step's guest path; 0 if there are none. */
static uint64_t
step_rights(const struct step *s)
{
	if ((s->flags & STEP_RDONLY) != 0)
		return 0;
	switch (s->kind) {
	case STEP_BIND:
	case STEP_TMPFS:
		/* a right on the root would be one on everything */
		return strcmp(s->guest, "/") == 0 ? 0 : UINT64_MAX;
	case STEP_PROC:
		return USE & ~ACCESS_IOCTL_DEV;
	default:
		return 0;
	}
}

/* The exec lock: of directories of shared objects none can be executed. */
static int
ruleset_run(const struct ruleset *rs, const struct plan *p, struct failure *f)
{
	size_t i;

	for (i = 0; i < p->nexec; i++)
		if ((p->exec[i].flags & STEP_ISDIR) == 0 &&
		    ruleset_allow(rs, p->exec[i].guest, RUN, f) == -1)
			return -1;
	return 0;
}

/*
 * A rule holds across the mount points below it, so that what lies in a write
 * grant needs none of its own; the plan has each tree in one piece.
 */
static int
ruleset_draw(const struct ruleset *rs, const struct plan *p, struct failure *f)
{
	const char *guest, *above = NULL;
	uint64_t rights, without;
	size_t i;

	without = p->locked ? LANDLOCK_ACCESS_FS_EXECUTE : 0;
	if (ruleset_allow(rs, "/", READ & ~without, f) == -1 ||
	    ruleset_allow(rs, "/dev", USE, f) == -1 ||
	    ruleset_run(rs, p, f) == -1)
		return -1;
	for (i = 0; i < p->nsteps; i++) {
		guest = p->steps[i].guest;
		rights = step_rights(&p->steps[i]) & ~without;
		if (rights == 0 || (above != NULL && path_covers(above, guest)))
			continue;
		if (ruleset_allow(rs, guest, rights, f) == -1)
			return -1;
		above = guest;
	}
	return 0;
}

int
landlock_enter(const struct plan *p, struct failure *f)
{
	struct ruleset rs = {.fd = -1};
	int r;

	if (ruleset_make(&rs, f) == -1)
		return -1;
	r = ruleset_draw(&rs, p, f);
	if (r == 0 && syscall(SYS_landlock_restrict_self, rs.fd, 0UL) != 0)
		r = failure_set(f, CAUSE_LANDLOCK, "landlock_restrict_self");
	close(rs.fd);
	return r;
}
