#include <string.h>

#include "claim.h"
#include "coupling.h"
#include "ipc/path.h"
#include "ipc/policy.h"
#include "select.h"

void
closure_make(const struct selection *sel, size_t member, struct closure *out)
{
	size_t queue[PROFILES_MAX], head = 0, tail = 0, k;
	const struct draft *d;
	int to;

	memset(out, 0, sizeof(*out));
	out->has[member] = 1;
	queue[tail++] = member;
	while (head < tail) {
		d = &sel->members[queue[head++]].draft;
		for (k = 0; k < d->nincludes; k++) {
			to = selection_find(sel, d->includes[k].name);
			if (to == -1 || out->has[to])
				continue;
			out->has[to] = 1;
			queue[tail++] = (size_t)to;
		}
	}
}

/* A claim of the closure at exactly this path: a link or else a mount. */
static const struct claim *
claim_at(const struct claims *cs, const struct closure *cl, const char *guest,
    int link)
{
	size_t lo = 0, hi = cs->n, mid;
	const struct claim *c;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (path_cmp(cs->list[mid].guest, guest) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < cs->n && strcmp(cs->list[lo].guest, guest) == 0; lo++) {
		c = &cs->list[lo];
		if (cl->has[c->profile] && (c->kind == GRANT_SYMLINK) == link)
			return c;
	}
	return NULL;
}

/* The deepest claim at or above the path. */
static const struct claim *
deepest(const struct claims *cs, const struct closure *cl, const char *path,
    int link)
{
	char at[PATH_MAX_LEN + 1], *slash;
	const struct claim *c;

	strcpy(at, path);
	for (;;) {
		if ((c = claim_at(cs, cl, at, link)) != NULL)
			return c;
		slash = strrchr(at, '/');
		if (slash == NULL || slash == at)
			return NULL;
		*slash = '\0';
	}
}

int
coupling_covered(
    const struct claims *cs, const struct closure *cl, const char *path)
{
	char at[PATH_MAX_LEN + 1];
	const struct claim *link;
	int n;

	if (strlen(path) > PATH_MAX_LEN)
		return 0;
	strcpy(at, path);
	for (n = 0; (link = deepest(cs, cl, at, 1)) != NULL; n++)
		if (n == LINKS_MAX ||
		    path_follow(link->guest, link->source, at, at) == -1)
			return 0;
	return deepest(cs, cl, at, 0) != NULL;
}
