#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "child/shared/hostenv.h"
#include "ipc/environ.h"
#include "ipc/limits.h"
#include "ipc/owned.h"
#include "ipc/path.h"
#include "plan_parts.h"

/*
 * Lists: the bands of S48. A list is always built from its elements and
 * never edited as a string.
 */

/* The row being built. */
struct list {
	struct draft *d;
	const struct variable *v;
	size_t row;   /* in plan->env */
	void **known; /* tsearch(3): struct known of each entry */
};

/* Where an element is; its text is the entry's. */
struct known {
	const char *value;
	size_t at;
};

static struct env_row *
row(const struct list *l)
{
	return &l->d->pl->env[l->row];
}

/* Appends an entry with copies of these. 0 or -1. */
static int
append(struct env_entry **list, size_t *n, const char *value, const char *who,
    const char *mark)
{
	struct env_entry *p;

	p = realloc(*list, (*n + 1) * sizeof(*p));
	if (p == NULL)
		return -1;
	*list = p;
	p = &p[(*n)++];
	p->value = strdup(value);
	p->who = strdup(who);
	p->mark = strdup(mark);
	return p->value == NULL || p->who == NULL || p->mark == NULL ? -1 : 0;
}

static int
known_cmp(const void *a, const void *b)
{
	const struct known *x = a, *y = b;

	return strcmp(x->value, y->value);
}

static struct env_entry *
find(const struct list *l, const char *value)
{
	const struct known key = {.value = value};
	struct known *const *found = tfind(&key, l->known, known_cmp);

	return found == NULL ? NULL : &row(l)->entries[(*found)->at];
}

/* A list may have 32,768 elements: none is compared with all. 0 or -1. */
static int
note_last(const struct list *l)
{
	struct env_row *r = row(l);
	struct known *k = malloc(sizeof(*k));

	if (k == NULL)
		return -1;
	k->at = r->nentries - 1;
	/* called behind the entry that was added:
	   NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign) */
	k->value = r->entries[k->at].value;
	if (tsearch(k, l->known, known_cmp) != NULL)
		return 0;
	free(k);
	return -1;
}

/* The path without empty and "." components. 0, or -1: it has a "..". */
static int
tidy(const char *p, char *out)
{
	char *start = out;
	size_t n;

	while (*p != '\0') {
		p += strspn(p, "/");
		n = strcspn(p, "/");
		if (n == 2 && p[0] == '.' && p[1] == '.')
			return -1;
		if (n > 0 && !(n == 1 && p[0] == '.')) {
			*out++ = '/';
			memcpy(out, p, n);
			out += n;
		}
		p += n;
	}
	if (out == start)
		*out++ = '/';
	*out = '\0';
	return 0;
}

/* 1 if carrel puts a command into the staging directory. */
static int
staged(const struct plan *pl)
{
	const char *below;
	size_t i;

	for (i = 0; i < pl->nsteps; i++) {
		below = path_below(OWNED_STAGING, pl->steps[i].guest);
		if (below != NULL && below[0] != '\0')
			return 1;
	}
	return 0;
}

/* What elements are marked with; writable is told of PATH alone (S54). */
static int
mark(const struct list *l, struct env_entry *e)
{
	char path[PATH_MAX_LEN + 1];

	if (!(l->v->flags & VARIABLE_PATH))
		return 0;
	/* a clean path, or one of the host's that was found to be like one */
	if (tidy(e->value, path) == -1 ||
	    (strcmp(path, OWNED_STAGING) == 0 && staged(l->d->pl)))
		return 0;
	if (strcmp(l->v->name, "PATH") == 0 &&
	    (plan_writable(l->d->pl, path) ||
		plan_writable_elsewhere(l->d, path)) &&
	    plan_mark(&e->mark, "<- writable from inside") == -1)
		return -1;
	return plan_mark_granted(&e->mark, l->d, path);
}

/*
 * The element behind those of the bands above, unless it is among them: then
 * only its claimants are added there. claim NULL: carrel's own.
 */
static int
add(const struct list *l, const char *value, const struct env_claim *claim)
{
	struct env_row *r = row(l);
	struct env_entry *e = find(l, value);

	if (e == NULL) {
		if (append(&r->entries, &r->nentries, value, "", "") == -1 ||
		    note_last(l) == -1)
			return -1;
		e = &r->entries[r->nentries - 1];
		if (mark(l, e) == -1)
			return -1;
	}
	if (claim != NULL)
		return plan_who(&e->who, l->d, claim);
	/* as every other claimant, behind a comma */
	if (e->who[0] != '\0' && plan_mark(&e->who, "and") == -1)
		return -1;
	return plan_mark(&e->who, "(carrel)");
}

/* sanitise: what of the host's list has a meaning inside (S53) */

static const char nothing[] = "nothing grants it";

/* NULL if something real is at this clean path; links is how often to look. */
static const char *
judge_place(const struct list *l, const char *path, int links)
{
	const struct plan *pl = l->d->pl;
	const struct step *s;
	char to[PATH_MAX_LEN + 1];

	/* magic links there lead out of any grant */
	if (path_covers("/proc", path) || path_covers("/dev", path))
		return "only /proc or /dev is there";
	if (strcmp(path, OWNED_STAGING) == 0)
		return staged(pl) ? NULL : nothing;
	s = plan_mount(pl, path);
	if (s == NULL)
		return nothing;
	switch (s->kind) {
	case STEP_TMPFS:
		/* the root, and where commands are staged, stay as they are */
		if (s->flags & STEP_RDONLY)
			return nothing;
		return "only an empty writable tmpfs is there";
	case STEP_SYMLINK:
		/* the other spelling of the home is as good as the home */
		if (s->grant >= 0)
			return NULL;
		if (links == 0 ||
		    path_follow(s->guest, s->text, path, to) == -1)
			return nothing;
		return judge_place(l, to, links - 1);
	case STEP_PROC:
	case STEP_DEVPTS:
	case STEP_DEVICE:
	case STEP_MASK:
		return "only /proc or /dev is there";
	default:
		return NULL;
	}
}

/* NULL if the element stays, else why not. */
static const char *
judge(const struct list *l, const char *element)
{
	char path[PATH_MAX_LEN + 1];

	if (element[0] == '\0')
		return "it is empty";
	if (l->v->alt != 0 && strchr(element, l->v->alt) != NULL)
		return "it holds another separator";
	if (element[0] != '/')
		return "it is relative";
	if (strlen(element) > PATH_MAX_LEN)
		return "it is too long";
	if (tidy(element, path) == -1)
		return "it has a \"..\" in it";
	return judge_place(l, path, 1);
}

/* For a list unset and empty are the same: there is no element. */
static int
sanitise(const struct list *l, const struct env_claim *claim)
{
	const struct host_variable *h = hostenv_find(l->d->he, l->v->name);
	const char sep[] = {l->v->sep, '\0'};
	struct env_row *r = row(l);
	char *copy, *p, *element;
	const char *why;
	int bad = 0;

	if (h != NULL && h->too_long)
		return plan_mark(
		    &r->mark, "<- left out: the host's value is too long");
	if (h == NULL || h->value[0] == '\0')
		return 0;
	if ((p = copy = strdup(h->value)) == NULL)
		return -1;
	while (!bad && (element = strsep(&p, sep)) != NULL) {
		if ((why = judge(l, element)) == NULL) {
			bad = add(l, element, claim);
			continue;
		}
		bad = append(&r->drops, &r->ndrops, element, "", why);
		if (!bad)
			bad =
			    plan_who(&r->drops[r->ndrops - 1].who, l->d, claim);
	}
	free(copy);
	return bad;
}

/* One band: the claims of a verb, in their order. */
static int
band(const struct list *l, unsigned verb, const struct env_claim *c, size_t n)
{
	size_t i, k;

	for (i = 0; i < n; i++) {
		if (c[i].verb != verb)
			continue;
		if (verb == ENV_SANITISE && sanitise(l, &c[i]) == -1)
			return -1;
		for (k = 0; k < c[i].nvalues; k++)
			if (add(l, c[i].values[k], &c[i]) == -1)
				return -1;
	}
	return 0;
}

/* What stands below all bands that profiles can reach. */
static int
own_bands(const struct list *l)
{
	struct plan *pl = l->d->pl;
	const struct env_row *r;
	size_t i;

	if (staged(pl) && add(l, OWNED_STAGING, NULL) == -1)
		return -1;
	for (i = 0; owned_path[i] != NULL; i++)
		if (add(l, owned_path[i], NULL) == -1)
			return -1;
	r = row(l);
	for (i = 0; i < r->nentries; i++)
		if (plan_string(&pl->path, &pl->npath, r->entries[i].value) ==
		    -1)
			return -1;
	return 0;
}

static int
refuse_length(const struct list *l, const struct env_claim *c, size_t len)
{
	const struct profile *p = &l->d->po->profiles[c->origins[0].profile];

	return policy_refuse(l->d->po, p->name, p->file, c->origins[0].line,
	    "select fewer profiles that write it",
	    "the elements of %s add up to %zu bytes, %d are the most for one "
	    "variable",
	    l->v->name, len, STRING_MAX_LEN);
}

/* The value from the elements; without any the variable is unset. */
static int
write_value(const struct list *l, const struct env_claim *c)
{
	struct env_row *r = row(l);
	size_t i, len = strlen(r->name) + 1;
	char *p;

	if (r->nentries == 0)
		return r->ndrops > 0 || r->mark[0] != '\0'
			   ? 0
			   : plan_mark(&r->mark, "<- not set on this host");
	for (i = 0; i < r->nentries; i++)
		len += strlen(r->entries[i].value) + 1;
	if (len > STRING_MAX_LEN && refuse_length(l, c, len) == -1)
		return -1;
	if ((r->value = p = malloc(len)) == NULL)
		return -1;
	for (i = 0; i < r->nentries; i++) {
		if (i > 0)
			*p++ = l->v->sep;
		p = stpcpy(p, r->entries[i].value);
	}
	return 0;
}

/* The claimants of the row, each claim once, and what its value may do. */
static int
describe(const struct list *l, const struct env_claim *c, size_t n)
{
	const struct code_name *code;
	struct env_row *r = row(l);
	size_t i;

	for (i = 0; i < n; i++) {
		code = variable_code(r->name, c[i].verb);
		/* a merged element is a claim of its own, and has an entry */
		if (code != NULL && (plan_mark(&r->mark, "<- code:") == -1 ||
					plan_mark(&r->mark, code->why) == -1))
			return -1;
	}
	return 0;
}

static int
bands(
    const struct list *l, const char *name, const struct env_claim *c, size_t n)
{
	static const uint8_t verbs[] = {
	    ENV_SET, ENV_PREPEND, ENV_MERGE, ENV_SANITISE};
	size_t i;

	for (i = 0; i < sizeof(verbs); i++)
		if (band(l, verbs[i], c, n) == -1)
			return -1;
	if (strcmp(name, "PATH") == 0 && own_bands(l) == -1)
		return -1;
	return describe(l, c, n) == -1 || write_value(l, c) == -1 ? -1 : 0;
}

int
plan_list(
    struct draft *d, const char *name, const struct env_claim *c, size_t n)
{
	void *known = NULL;
	struct list l = {.d = d,
	    .v = variable_find(name),
	    .row = d->pl->nenv,
	    .known = &known};
	int r;

	if (plan_env_row(d, name,
		strcmp(name, "PATH") == 0 ? "(carrel)" : "element by element",
		"") == NULL)
		return -1;
	r = bands(&l, name, c, n);
	tdestroy(known, free);
	return r;
}
