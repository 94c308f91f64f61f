#include <linux/capability.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "caps.h"
#include "failure.h"

#define CAPS_MAX 64 /* what struct caps can hold */

/* The three sets of the process, capabilities(7), as 64 bits each. */
struct caps {
	uint64_t effective, permitted, inheritable;
};

/* libc need not have capget and capset, and we need no more than these. */
static int
caps_get(struct caps *c)
{
	struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct d[_LINUX_CAPABILITY_U32S_3];

	memset(d, 0, sizeof(d));
	if (syscall(SYS_capget, &h, d) != 0)
		return -1;
	c->effective = (uint64_t)d[1].effective << 32 | d[0].effective;
	c->permitted = (uint64_t)d[1].permitted << 32 | d[0].permitted;
	c->inheritable = (uint64_t)d[1].inheritable << 32 | d[0].inheritable;
	return 0;
}

static int
caps_set(const struct caps *c)
{
	struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct d[_LINUX_CAPABILITY_U32S_3];
	int i;

	for (i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		d[i].effective = (uint32_t)(c->effective >> (32 * i));
		d[i].permitted = (uint32_t)(c->permitted >> (32 * i));
		d[i].inheritable = (uint32_t)(c->inheritable >> (32 * i));
	}
	return syscall(SYS_capset, &h, d) == 0 ? 0 : -1;
}

/* A switch of prctl(2) with one argument, the rest 0 as it must be. */
static int
control(int option, unsigned long a, unsigned long b)
{
	return prctl(option, a, b, 0UL, 0UL);
}

int
caps_no_dac(struct failure *f)
{
	const uint64_t dac = 1ULL << CAP_DAC_OVERRIDE |
			     1ULL << CAP_DAC_READ_SEARCH | 1ULL << CAP_FOWNER;
	struct caps c;

	if (caps_get(&c) == -1)
		return failure_set(f, CAUSE_OTHER, "capget");
	c.effective &= ~dac;
	if (caps_set(&c) == -1)
		return failure_set(f, CAUSE_OTHER, "capset");
	if (caps_get(&c) == -1)
		return failure_set(f, CAUSE_OTHER, "capget");
	if ((c.effective & dac) != 0) {
		errno = 0;
		return failure_set(f, CAUSE_OTHER,
		    "capabilities over files are still in effect");
	}
	return 0;
}

/*
 * Asks about each capability that this kernel knows; there may be more than
 * our headers name. Returns how many are in the bounding set, or -1.
 */
static int
bounding_count(void)
{
	int cap, r, n = 0;

	for (cap = 0; cap < CAPS_MAX; cap++) {
		r = control(PR_CAPBSET_READ, cap, 0);
		if (r == -1)
			return errno == EINVAL && cap > 0 ? n : -1;
		n += r;
	}
	return n;
}

/* CAP_SETPCAP is not needed where nothing is left to be dropped. */
static int
bounding_drop(void)
{
	struct caps c;
	int cap;

	if (caps_get(&c) == -1)
		return -1;
	if ((c.effective & 1ULL << CAP_SETPCAP) == 0) {
		if (bounding_count() == 0)
			return 0;
		errno = EPERM;
		return -1;
	}
	for (cap = 0; cap < CAPS_MAX; cap++)
		if (control(PR_CAPBSET_DROP, cap, 0) == -1)
			return errno == EINVAL && cap > 0 ? 0 : -1;
	return 0;
}

/*
 * Believes nothing but what the kernel says now. The ambient set is not
 * asked: it never holds what permitted and inheritable do not.
 */
static int
caps_prove(struct failure *f)
{
	struct caps c;
	int bounding = bounding_count();

	if (caps_get(&c) == -1 || bounding == -1)
		return failure_set(f, CAUSE_OTHER, "reading capabilities");
	errno = 0;
	if ((c.effective | c.permitted | c.inheritable) != 0)
		return failure_set(f, CAUSE_OTHER, "capabilities are left");
	if (bounding != 0)
		return failure_set(
		    f, CAUSE_OTHER, "the bounding set is not empty");
	if (control(PR_GET_NO_NEW_PRIVS, 0, 0) != 1)
		return failure_set(f, CAUSE_OTHER, "no_new_privs is not set");
	return 0;
}

/*
 * The bounding set first: it takes CAP_SETPCAP. An empty permitted set then
 * empties the ambient one, which is cleared by name all the same.
 */
int
caps_drop(struct failure *f)
{
	const struct caps none = {0, 0, 0};

	if (bounding_drop() == -1)
		return failure_set(f, CAUSE_OTHER, "PR_CAPBSET_DROP");
	if (control(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0) != 0)
		return failure_set(f, CAUSE_OTHER, "PR_CAP_AMBIENT_CLEAR_ALL");
	if (caps_set(&none) == -1)
		return failure_set(f, CAUSE_OTHER, "capset");
	if (control(PR_SET_NO_NEW_PRIVS, 1, 0) != 0)
		return failure_set(f, CAUSE_OTHER, "PR_SET_NO_NEW_PRIVS");
	return caps_prove(f);
}

int
caps_keep_bind(struct failure *f)
{
	const uint64_t bind = 1ULL << CAP_NET_BIND_SERVICE;
	const struct caps one = {bind, bind, 0};
	struct caps c;

	if (bounding_drop() == -1)
		return failure_set(f, CAUSE_OTHER, "PR_CAPBSET_DROP");
	if (control(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0) != 0 ||
	    caps_set(&one) == -1 || control(PR_SET_NO_NEW_PRIVS, 1, 0) != 0)
		return failure_set(f, CAUSE_OTHER, "giving up capabilities");
	if (caps_get(&c) == -1 || bounding_count() != 0 ||
	    control(PR_GET_NO_NEW_PRIVS, 0, 0) != 1 ||
	    (c.effective | c.permitted | c.inheritable) != bind) {
		errno = EPERM;
		return failure_set(f, CAUSE_OTHER, "capabilities are left");
	}
	return 0;
}

int
caps_privileged(void)
{
	uid_t r, e, s;
	gid_t gr, ge, gs;

	if (getresuid(&r, &e, &s) == -1 || getresgid(&gr, &ge, &gs) == -1)
		return 1;
	return getauxval(AT_SECURE) != 0 || e != r || s != r || ge != gr ||
	       gs != gr;
}

/* What the server's steps need: see the table in serve.c, and birth.c. */
#define SERVED                                                                 \
	(CAPS_BIT(CAP_SYS_ADMIN) | CAPS_BIT(CAP_SYS_CHROOT) |                  \
	    CAPS_BIT(CAP_SETUID) | CAPS_BIT(CAP_SETGID) |                      \
	    CAPS_BIT(CAP_NET_ADMIN) | CAPS_BIT(CAP_NET_RAW) |                  \
	    CAPS_BIT(CAP_NET_BIND_SERVICE) | CAPS_BIT(CAP_SETPCAP))

/* Of the recorder alone, where there are some: see there, unbind(). */
#define RECORDED (CAPS_BIT(CAP_SYS_RESOURCE) | CAPS_BIT(CAP_SYS_NICE))

int
caps_serve(struct failure *f)
{
	struct caps served = {0, SERVED, 0};
	struct caps c;
	int cap;

	if (caps_get(&c) == -1)
		return failure_set(f, CAUSE_OTHER, "capget");
	if ((c.permitted & SERVED) != SERVED) {
		errno = 0;
		return failure_set(f, CAUSE_OTHER,
		    "installed with privilege, but not with all that hosted "
		    "mode needs; install it set-user-id root (chmod u+s), or "
		    "without privilege (chmod u-s, setcap -r)");
	}
	served.permitted |= c.permitted & RECORDED;
	c.effective = c.permitted;
	if (caps_set(&c) == -1)
		return failure_set(f, CAUSE_OTHER, "capset");
	for (cap = 0; cap < CAPS_MAX; cap++)
		if ((SERVED & CAPS_BIT(cap)) == 0 &&
		    control(PR_CAPBSET_DROP, cap, 0) == -1) {
			if (errno == EINVAL && cap > 0)
				break;
			return failure_set(f, CAUSE_OTHER, "PR_CAPBSET_DROP");
		}
	if (control(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0) != 0)
		return failure_set(f, CAUSE_OTHER, "PR_CAP_AMBIENT_CLEAR_ALL");
	if (caps_set(&served) == -1)
		return failure_set(f, CAUSE_OTHER, "capset");
	return 0;
}

int
caps_raise(uint64_t set)
{
	struct caps c;

	if (caps_get(&c) == -1)
		return -1;
	c.effective = set;
	c.inheritable = 0;
	return caps_set(&c);
}

int
caps_raise_recorder(void)
{
	struct caps c;

	return caps_get(&c) == -1 ? -1 : caps_raise(c.permitted & RECORDED);
}

int
caps_server(void)
{
	const struct caps c = {0, SERVED, 0};

	return caps_set(&c);
}

/* The ids of this process, all of them, and no way back. */
static int
ids_prove(uid_t uid, gid_t gid, struct failure *f)
{
	uid_t r, e, s;
	gid_t gr, ge, gs;

	if (getresuid(&r, &e, &s) == -1 || getresgid(&gr, &ge, &gs) == -1)
		return failure_set(f, CAUSE_OTHER, "reading ids");
	errno = 0;
	if (r != uid || e != uid || s != uid || gr != gid || ge != gid ||
	    gs != gid)
		return failure_set(f, CAUSE_OTHER, "ids of another are left");
	if (uid != 0 && setresuid(0, 0, 0) != -1)
		return failure_set(f, CAUSE_OTHER, "a way back to uid 0");
	return 0;
}

int
caps_become(unsigned uid, unsigned gid, struct failure *f)
{
	if (caps_raise(CAPS_BIT(CAP_SETPCAP) | CAPS_BIT(CAP_SETUID) |
		       CAPS_BIT(CAP_SETGID)) == -1)
		return failure_set(f, CAUSE_OTHER, "capset");
	if (bounding_drop() == -1)
		return failure_set(f, CAUSE_OTHER, "PR_CAPBSET_DROP");
	if (setresgid(gid, gid, gid) == -1 || setresuid(uid, uid, uid) == -1)
		return failure_set(f, CAUSE_OTHER, "become the user");
	if (caps_drop(f) == -1)
		return -1;
	/* a change of ids may have set it, fs.suid_dumpable of proc(5) */
	if (control(PR_SET_DUMPABLE, 0, 0) == -1)
		return failure_set(f, CAUSE_OTHER, "clear dumpable");
	return ids_prove(uid, gid, f);
}
