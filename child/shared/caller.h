#ifndef CARREL_CALLER_H
#define CARREL_CALLER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct wbuf;
struct rcur;

#define CALLER_IMPLIED	     0x01 /* the target is the working directory */
#define CALLER_PRIVATE_GROUP 0x02 /* the primary group has the user's name */
#define CALLER_NO_ACCOUNT    0x04 /* the uid has no row in the database */
#define CALLER_FLAGS	     0x07

#define TRUST_MAKE     0x01 /* made first if it is missing, as the user */
#define TRUST_PROFILES 0x02 /* and the directory of profiles in it */
#define TRUST_FILE     0x04 /* it is a file, and made as an empty one */
#define TRUST_FLAGS    0x07

struct caller_group {
	gid_t gid;
	char *name; /* "" if the database has none */
};

/*
 * A path that the next run trusts: a directory of profiles, a configuration,
 * carrel itself. Under the name that carrel uses, and without symlinks too.
 */
struct caller_trust {
	char *path;
	uint8_t make; /* TRUST_* */
};

/*
 * Who runs carrel, and where: found out by the parent from the kernel and
 * the password database (and in user mode HOME), never from a profile. All
 * paths are clean; strings are never NULL unless it is said.
 */
struct caller {
	uid_t uid;
	gid_t gid;
	uint32_t flags;
	char *user;
	char *home;	 /* as the database or HOME spells it */
	char *home_real; /* without symlinks; home if it does not exist */
	char *
	    home_other; /* the database's where HOME names another one, or "" */
	char *guest_home; /* its place inside: path_guest_home() */
	char *shell;
	char *cwd;    /* canonical; "/" if it is gone or unreachable */
	char *target; /* canonical; "" when there is none */
	char *term, *lang, *tz;	     /* "" when the host's was not usable */
	struct caller_group *groups; /* supplementary; the first is gid's */
	size_t ngroups;
	struct caller_trust *protect; /* see policy_protect() */
	size_t nprotect;
};

void caller_free(struct caller *);

/* RECORD_CALLER. get: 0 and a caller to be freed, or -1 and nothing. */
void caller_put(struct wbuf *, const struct caller *);
int caller_get(struct rcur *, struct caller *);

#endif
