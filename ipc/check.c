#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "check.h"
#include "confine.h"
#include "environ.h"
#include "limits.h"
#include "owned.h"
#include "pack.h"
#include "path.h"
#include "policy.h"
#include "rule.h"
#include "text.h"

int
check_name(const char *s)
{
	size_t i, n;

	if (*s == '@')
		s++;
	n = strlen(s);
	if (n == 0 || n > NAME_MAX_LEN || s[0] == '-')
		return 0;
	for (i = 0; i < n; i++)
		if (strchr("abcdefghijklmnopqrstuvwxyz0123456789-", s[i]) ==
		    NULL)
			return 0;
	return 1;
}

const char *
check_guest(const char *guest)
{
	if (!path_clean(guest))
		return "is not an absolute, clean path";
	if (text_unsafe(guest, strlen(guest)))
		return "holds a control, bidi or invisible character";
	if (path_reserved(guest))
		return "is carrel's own: nothing may be mounted at /, /proc, "
		       "/dev, /sys or /run/carrel";
	return NULL;
}

const char *
check_source(const char *source)
{
	if (!path_clean(source))
		return "is not an absolute, clean path";
	if (strcmp(source, "/") == 0)
		return "is the whole host";
	if (path_covers("/proc", source) || path_covers("/sys", source) ||
	    path_covers("/dev", source))
		return "is a kernel interface, not a file";
	return NULL;
}

const char *
check_command(const char *guest)
{
	const char *name = path_below(OWNED_STAGING, guest);

	if (name == NULL || name[0] == '\0' || !path_clean(guest) ||
	    strchr(name + 1, '/') != NULL)
		return "is not one component";
	if (text_unsafe(guest, strlen(guest)))
		return "holds a control, bidi or invisible character";
	return NULL;
}

/* What every sandbox has, with all that is below; and the memory. */
static const char *const own_devices[] = {"/dev/null", "/dev/zero", "/dev/full",
    "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts",
    "/dev/shm", "/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr"};
static const char *const memory_devices[] = {
    "/dev/mem", "/dev/kmem", "/dev/port", "/dev/core", "/dev/kcore"};

#define NITEMS(a) (sizeof(a) / sizeof((a)[0]))

const char *
check_device(const char *path)
{
	size_t i;

	if (!path_clean(path))
		return "is not an absolute, clean path";
	if (text_unsafe(path, strlen(path)))
		return "holds a control, bidi or invisible character";
	if (!path_covers("/dev", path) || strcmp(path, "/dev") == 0)
		return "is not below /dev";
	for (i = 0; i < NITEMS(own_devices); i++)
		if (path_covers(own_devices[i], path))
			return "is in every sandbox already";
	for (i = 0; i < NITEMS(memory_devices); i++)
		if (strcmp(memory_devices[i], path) == 0)
			return "is the memory of this host";
	return NULL;
}

const char *
check_device_number(uint64_t rdev)
{
	unsigned minor_ = minor(rdev);

	/* null(4) and mem(4): MEM_MAJOR of <linux/major.h> is 1 */
	if (major(rdev) == 1 && (minor_ == 1 || minor_ == 2 || minor_ == 4))
		return "is the memory of this host";
	return NULL;
}

/* The name that a profile of this layer has in a policy. */
static int
is_named(const struct profile *p)
{
	if (p->layer < LAYER_SHIPPED || p->layer > LAYER_LAST)
		return 0;
	if (p->layer == LAYER_PACK)
		return p->name[0] == PACK_MARK && p->name[1] != '@' &&
		       check_name(p->name + 1);
	return check_name(p->name) &&
	       (p->name[0] == '@') == (p->layer == LAYER_SHIPPED);
}

static int
check_profile(const struct policy *po, size_t i, char *why, size_t len)
{
	const struct profile *p = &po->profiles[i];
	size_t k;

	if (!is_named(p)) {
		snprintf(why, len, "profile \"%s\" is misnamed", p->name);
		return -1;
	}
	if (!path_clean(p->file) || (p->flags & ~PROFILE_FLAGS) != 0 ||
	    p->flags == 0 || !sha256_is_hex(p->digest)) {
		snprintf(why, len, "profile \"%s\" has a bad field", p->name);
		return -1;
	}
	if (i > 0 && strcmp(po->profiles[i - 1].name, p->name) >= 0) {
		snprintf(why, len, "profile \"%s\" is out of order", p->name);
		return -1;
	}
	for (k = 0; k < p->nincludes; k++)
		if (p->includes[k] >= po->nprofiles ||
		    (k > 0 && p->includes[k] <= p->includes[k - 1])) {
			snprintf(why, len, "profile \"%s\" has a bad include",
			    p->name);
			return -1;
		}
	return 0;
}

/* Which kind a verb leads to, and with which flags at the least. */
static int
check_verb(const struct grant *g, uint8_t verb)
{
	switch (verb) {
	case VERB_READ:
		return g->kind == GRANT_BIND && !(g->flags & GRANT_TRY);
	case VERB_WRITE:
		return g->kind == GRANT_BIND && (g->flags & GRANT_WRITE) &&
		       !(g->flags & GRANT_TRY);
	case VERB_TRY_READ:
		return g->kind == GRANT_BIND;
	case VERB_TRY_WRITE:
		return g->kind == GRANT_BIND && (g->flags & GRANT_WRITE);
	case VERB_TMPFS:
		return g->kind == GRANT_TMPFS;
	case VERB_SYMLINK:
		return g->kind == GRANT_SYMLINK;
	case VERB_COMMAND:
		return g->kind == GRANT_COMMAND;
	case VERB_SOCKET:
		return g->kind == GRANT_SOCKET;
	case VERB_DEVICE:
		return g->kind == GRANT_DEVICE;
	default:
		return 0;
	}
}

/* Every claim is a profile's, in order, and the claims explain the flags. */
static int
check_origins(const struct policy *po, const struct grant *g)
{
	const struct origin *o, *last = NULL;
	int write = 0, must = 0;
	size_t i;

	for (i = 0; i < g->norigins; i++, last = o) {
		o = &g->origins[i];
		if (o->profile >= po->nprofiles || !check_verb(g, o->verb))
			return -1;
		if (last != NULL && (o->profile < last->profile ||
					(o->profile == last->profile &&
					    (o->verb < last->verb ||
						(o->verb == last->verb &&
						    o->line <= last->line)))))
			return -1;
		/* these are for the people of the host to give */
		if ((o->verb == VERB_SOCKET || o->verb == VERB_DEVICE) &&
		    po->profiles[o->profile].layer == LAYER_SHIPPED)
			return -1;
		write |= o->verb == VERB_WRITE || o->verb == VERB_TRY_WRITE;
		must |= o->verb == VERB_READ || o->verb == VERB_WRITE;
	}
	if (g->norigins == 0)
		return -1;
	if ((g->flags & GRANT_OUTPUT) != 0 && !write)
		return -1;
	if (g->kind == GRANT_BIND && (write != !!(g->flags & GRANT_WRITE) ||
					 must == !!(g->flags & GRANT_TRY)))
		return -1;
	return 0;
}

/* Where each kind may be. */
static const char *
check_place(const struct grant *g)
{
	if (g->kind == GRANT_COMMAND)
		return check_command(g->guest);
	if (g->kind == GRANT_DEVICE)
		return check_device(g->guest);
	return check_guest(g->guest);
}

static int
check_fields(const struct grant *g, char *why, size_t len)
{
	const char *bad;

	if ((bad = check_place(g)) != NULL) {
		snprintf(
		    why, len, "guest path \"%s\" %s", SHOWN(g->guest), bad);
		return -1;
	}
	bad = NULL;
	switch (g->kind) {
	case GRANT_BIND:
		bad = check_source(g->source);
		if (bad == NULL && g->size != 0)
			bad = "has a size";
		break;
	case GRANT_TMPFS:
		if (g->source[0] != '\0' || g->flags != 0)
			bad = "has a source";
		else if (g->size < TMPFS_SIZE_MIN || g->size > TMPFS_SIZE_MAX)
			bad = "has an impossible size";
		break;
	case GRANT_SYMLINK:
		if (g->source[0] == '\0' || g->size != 0 || g->flags != 0 ||
		    text_unsafe(g->source, strlen(g->source)))
			bad = "has an impossible text";
		break;
	case GRANT_COMMAND:
	case GRANT_SOCKET:
		bad = check_source(g->source);
		if (bad == NULL && (g->size != 0 || g->flags != 0))
			bad = "has a size or flags";
		break;
	case GRANT_DEVICE:
		if (strcmp(g->source, g->guest) != 0)
			bad = "is a device of another name";
		else if (g->size != 0 || g->flags != 0)
			bad = "has a size or flags";
		break;
	}
	if (bad != NULL) {
		snprintf(why, len, "\"%s\" at \"%s\" %s", SHOWN(g->source),
		    SHOWN(g->guest), bad);
		return -1;
	}
	return 0;
}

int
check_nesting(const struct grant *above, const struct grant *g)
{
	const char *below;

	if (above == NULL || above->kind == GRANT_TMPFS)
		return 0;
	/* the very same subpath of the host again: nothing is hidden */
	if (above->kind != GRANT_BIND ||
	    (g->kind != GRANT_BIND && g->kind != GRANT_SOCKET))
		return -1;
	below = path_below(above->source, g->source);
	if (below == NULL ||
	    strcmp(below, path_below(above->guest, g->guest)) != 0)
		return -1;
	return 0;
}

/* The grants above the one that is looked at, outermost first. */
struct above {
	const struct grant *g[PATH_MAX_LEN / 2 + 1]; /* one a component */
	size_t n;
};

static int
check_grant(
    const struct policy *po, size_t i, struct above *up, char *why, size_t len)
{
	const struct grant *g = &po->grants[i];

	if (check_fields(g, why, len) == -1)
		return -1;
	if (check_origins(po, g) == -1) {
		snprintf(why, len, "\"%s\" has bad claims", SHOWN(g->guest));
		return -1;
	}
	if (i > 0 && path_cmp(po->grants[i - 1].guest, g->guest) >= 0) {
		snprintf(why, len, "\"%s\" is out of order", SHOWN(g->guest));
		return -1;
	}
	/* all before it are in order: what is above it is at the stack's end */
	while (up->n > 0 && !path_covers(up->g[up->n - 1]->guest, g->guest))
		up->n--;
	if (check_nesting(up->n > 0 ? up->g[up->n - 1] : NULL, g) == -1) {
		snprintf(why, len, "\"%s\" lies inside another grant",
		    SHOWN(g->guest));
		return -1;
	}
	up->g[up->n++] = g;
	return 0;
}

/* What a screen needs to draw safely, of a policy that will not run. */
static int
check_shown(const struct policy *po, char *why, size_t len)
{
	const struct grant *g;
	size_t i, k;

	for (i = 0; i < po->ngrants; i++) {
		g = &po->grants[i];
		if (g->kind < GRANT_BIND || g->kind > GRANT_LAST ||
		    (g->flags & ~GRANT_FLAGS) != 0)
			break;
		for (k = 0; k < g->norigins; k++)
			if (g->origins[k].profile >= po->nprofiles ||
			    g->origins[k].verb < VERB_READ ||
			    g->origins[k].verb > VERB_LAST)
				break;
		if (k < g->norigins)
			break;
	}
	if (i < po->ngrants) {
		snprintf(why, len, "\"%s\" has a bad field",
		    SHOWN(po->grants[i].guest));
		return -1;
	}
	return 0;
}

/* What the profiles ask for; a plan adds carrel's own. */
static int
check_sum(const struct policy *po, char *why, size_t len)
{
	uint64_t sum = 0;
	size_t i;

	/* each is at most TMPFS_SIZE_MAX, and there are GRANTS_MAX */
	for (i = 0; i < po->ngrants; i++)
		if (po->grants[i].kind == GRANT_TMPFS)
			sum += po->grants[i].size;
	if (sum <= confine_tmpfs(po))
		return 0;
	snprintf(why, len, "the tmpfs add up to %llu MiB",
	    (unsigned long long)(sum >> 20));
	return -1;
}

int
policy_check(const struct policy *po, char *why, size_t len)
{
	struct above up;
	size_t i;

	for (i = 0; i < po->nprofiles; i++)
		if (check_profile(po, i, why, len) == -1)
			return -1;
	if (po->prompt != NULL &&
	    (strlen(po->prompt) > PROMPT_MAX_LEN ||
		text_unsafe(po->prompt, strlen(po->prompt)))) {
		snprintf(why, len, "the prompt \"%s\" is none", po->prompt);
		return -1;
	}
	if (check_shown(po, why, len) == -1 ||
	    environ_check_shown(po, why, len) == -1 ||
	    rules_check_shown(po, why, len) == -1)
		return -1;
	if (po->nrefusals > 0)
		return 0;
	up.n = 0;
	for (i = 0; i < po->ngrants; i++)
		if (check_grant(po, i, &up, why, len) == -1)
			return -1;
	if (environ_check(po, why, len) == -1 ||
	    rules_check(po, why, len) == -1 ||
	    confine_check(po, why, len) == -1 || pack_check(po, why, len) == -1)
		return -1;
	return check_sum(po, why, len);
}
