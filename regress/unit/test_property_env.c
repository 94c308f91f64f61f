#include <errno.h>

#include "child/setup/plan.h"
#include "child/shared/hostenv.h"
#include "child/shared/survey.h"
#include "ipc/environ.h"
#include "property.h"

/*
 * What holds for the environment of every selection of profiles (S3, S4,
 * S49-S51): made up by a seeded generator, judged by the real parser and the
 * real plan, with a host whose variables are made up, too.
 * CARREL_T_SEED repeats a run.
 */

#define WORLDS	   12
#define SELECTIONS 40  /* of each: 480 in all */
#define SHUFFLES   200 /* of every tenth selection, and a tenth of the rest */
#define PROFILES   10  /* of a world */
#define PICKS	   5   /* names in a selection, at the most */
#define HOST_VARS  8

struct world {
	struct layout l;
	char name[PROFILES][8];
	char *host[HOST_VARS + 1];
	char text[HOST_VARS][256];
};

/* The generator */

static const char *const lists[] = {
    "PATH", "PATH", "NODE_PATH", "INFOPATH", "XDG_DATA_DIRS"};
static const char *const scalars[] = {
    "EDITOR", "PAGER", "CI", "NO_COLOR", "FOO", "A_KEY"};
/* most are below what @sys and the profile itself grant */
static const char *const places[] = {"/usr/a", "/usr/b", "/usr/a b", "/usr/ab",
    "/usr/a/c", "/usr/bin", "/opt/x/a", "/opt/x", "/opt/l/a", "/usr/sbin"};
static const char *const words[] = {"vi", "vi", "nano", "", "a b"};

static void
some_list(char *text, unsigned verb)
{
	unsigned n = 1 + pick(3);
	const char *name = lists[pick(NITEMS(lists))];

	add(text, "[environ.%s]\n", variable_verb(verb));
	if (verb == ENV_SANITISE) {
		add(text, "%s = yes\n", name);
		return;
	}
	/* profiles that prepend must agree: one sequence for most of them */
	if (verb == ENV_PREPEND && pick(4) != 0) {
		add(text, "%s = /usr/f\n%s = /usr/a\n", name, name);
		return;
	}
	for (; n > 0; n--)
		add(text, "%s = %s\n", name,
		    pick(30) == 0 ? "/nowhere" : places[pick(NITEMS(places))]);
}

static void
some_scalar(char *text, unsigned verb)
{
	const char *name = scalars[pick(NITEMS(scalars))];

	add(text, "[environ.%s]\n", variable_verb(verb));
	add(text, "%s = %s\n", name,
	    verb == ENV_INHERIT ? "yes"
	    : pick(3) == 0	? words[pick(NITEMS(words))]
				: "vi");
}

/* It includes only later ones, and grants what it may name. */
static void
some_profile(struct world *w, unsigned i)
{
	static const unsigned verbs[] = {ENV_SET, ENV_INHERIT, ENV_MERGE,
	    ENV_MERGE, ENV_MERGE, ENV_PREPEND, ENV_SANITISE};
	char text[TEXT_MAX] = "[profile]\ninclude = @sys\n";
	unsigned n, verb;

	if (pick(3) == 0 && i + 1 < PROFILES)
		add(text, "include = %s\n",
		    w->name[i + 1 + pick(PROFILES - i - 1)]);
	add(text, "[fs]\n%s\nsymlink = /opt/l -> x\n",
	    pick(6) == 0 ? "tmpfs = /opt/x" : "read = /opt/x");
	if (pick(3) == 0)
		add(text, "tmpfs = /h/%u\n", pick(3));
	if (pick(4) == 0)
		add(text, "read = /h/%u/in\n", pick(3));
	for (n = 1 + pick(3); n > 0; n--) {
		verb = verbs[pick(NITEMS(verbs))];
		if (verb == ENV_SET || verb == ENV_INHERIT)
			some_scalar(text, verb);
		else
			some_list(text, verb);
	}
	put_file(w->l.user, w->name[i], text);
}

static void
some_host(struct world *w)
{
	static const char *const elements[] = {"/usr/a", "/usr/q", "/h/0/bin",
	    "/h/1/in", "/h/2/in/b", "/opt/x/a", "", "/proc/self/cwd", "/tmp/x",
	    "/opt/l", "/srv", "rel", "/usr/bin"};
	unsigned i, k, n;

	for (i = 0; i < HOST_VARS; i++) {
		w->host[i] = w->text[i];
		if (i < 4) {
			snprintf(w->text[i], sizeof(w->text[i]), "%s=%s",
			    scalars[pick(NITEMS(scalars))],
			    words[pick(NITEMS(words))]);
			continue;
		}
		n = (unsigned)snprintf(
		    w->text[i], sizeof(w->text[i]), "%s=", lists[1 + i - 4]);
		for (k = pick(8); k > 0; k--)
			n += (unsigned)snprintf(w->text[i] + n,
			    sizeof(w->text[i]) - n, "%s%s",
			    elements[pick(NITEMS(elements))], k > 1 ? ":" : "");
	}
	w->host[HOST_VARS] = NULL;
}

static void
world_make(struct world *w)
{
	unsigned i;

	layout_init(&w->l);
	put_file(w->l.shipped, "sys",
	    "[profile]\ndescription = the host\n[fs]\nread = /usr\n");
	for (i = 0; i < PROFILES; i++)
		snprintf(w->name[i], sizeof(w->name[i]), "p%u", i);
	for (i = 0; i < PROFILES; i++)
		some_profile(w, i);
	some_host(w);
	w->l.q.flags = REQUEST_NO_DEFAULTS;
}

/* What comes of a selection: its policy's bytes, its plan, and its text */

struct result {
	struct bytes bytes;
	struct plan plan;
	char *text;
	int planned; /* not refused by the parser; refused: the plan's word */
	int refused;
};

static void
entries(FILE *f, const char *tag, const struct env_entry *e, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		fprintf(
		    f, " %s %s|%s|%s\n", tag, e[i].value, e[i].who, e[i].mark);
}

static char *
print(const struct policy *po, const struct plan *pl)
{
	const struct env_row *r;
	char *text;
	size_t len, i;
	FILE *f = open_memstream(&text, &len);

	ck_assert_ptr_nonnull(f);
	for (i = 0; i < po->nrefusals; i++)
		fprintf(f, "%s %s %u: %s; %s\n", po->refusals[i].profile,
		    po->refusals[i].file, (unsigned)po->refusals[i].line,
		    po->refusals[i].what, po->refusals[i].fix);
	for (i = 0; i < pl->nenv; i++) {
		r = &pl->env[i];
		fprintf(f, "%s=%s|%s|%s\n", r->name,
		    r->value != NULL ? r->value : "(unset)", r->who, r->mark);
		entries(f, "element", r->entries, r->nentries);
		entries(f, "dropped", r->drops, r->ndrops);
	}
	for (i = 0; i < pl->npath; i++)
		fprintf(f, "%s\n", pl->path[i]);
	fclose(f);
	return text;
}

static void
result_make(
    struct world *w, const char *const *names, size_t n, struct result *r)
{
	struct policy po;
	struct survey sv;
	struct hostenv he;
	size_t i;

	memset(r, 0, sizeof(*r));
	select_names(&w->l, names, n);
	r->planned = answer(&w->l, &po) == 0;
	wire(&po, &r->bytes);
	r->refused = !r->planned;
	if (r->planned) {
		ck_assert_int_eq(survey_init(&sv, po.ngrants), 0);
		for (i = 0; i < po.ngrants; i++) {
			if (po.grants[i].kind != GRANT_BIND)
				continue;
			sv.rows[i].type = SURVEY_DIR;
			sv.rows[i].ino = i + 1;
			sv.rows[i].real = strdup(po.grants[i].source);
		}
		ck_assert_int_eq(hostenv_pick(&he, &po, w->host), 0);
		errno = 0;
		r->refused =
		    plan_make(&po, &sv, &w->l.q.caller, &he, &r->plan) == -1;
		ck_assert(!r->refused || errno == EPERM);
		hostenv_free(&he);
		survey_free(&sv);
	}
	r->text = print(&po, &r->plan);
	policy_free(&po);
}

static void
result_free(struct result *r)
{
	plan_free(&r->plan);
	free(r->text);
}

/* S3: in any order, and with names twice, the same. */
static void
commutes(struct world *w, const char *const *picked, size_t n, int shuffles)
{
	static struct result first, again;
	const char *names[2 * PICKS];
	size_t all;
	int round;

	result_make(w, picked, n, &first);
	for (round = 0; round < shuffles; round++) {
		memcpy(names, picked, n * sizeof(*names));
		memcpy(names + n, picked, n * sizeof(*names));
		/* the first time all of them twice: S3, idempotence */
		all = round == 0 ? 2 * n : n + pick((unsigned)n + 1);
		if (round > 0)
			shuffle(names, all);
		result_make(w, names, all, &again);
		ck_assert_uint_eq(again.bytes.len, first.bytes.len);
		ck_assert(memcmp(again.bytes.data, first.bytes.data,
			      first.bytes.len) == 0);
		ck_assert_str_eq(again.text, first.text);
		result_free(&again);
	}
	result_free(&first);
}

static const struct env_row *
row(const struct plan *pl, const char *name)
{
	size_t i;

	for (i = 0; i < pl->nenv; i++)
		if (strcmp(pl->env[i].name, name) == 0)
			return &pl->env[i];
	return NULL;
}

static size_t
place(const struct env_row *r, const char *value)
{
	size_t i;

	for (i = 0; i < r->nentries; i++)
		if (strcmp(r->entries[i].value, value) == 0)
			break;
	return i;
}

struct counts {
	size_t accepted, refused, unions, kept, added, reordered, by_merge;
};

/* Whether the elements that were there are still in their order. */
static int
in_order(const struct env_row *was, const struct env_row *is)
{
	size_t i;

	for (i = 1; i < was->nentries; i++)
		if (place(is, was->entries[i - 1].value) >
		    place(is, was->entries[i].value))
			return 0;
	return 1;
}

/* 1 if the row has an element by this verb: "prepend p3:9, ...". */
static int
has_verb(const struct env_row *r, const char *verb)
{
	size_t i;

	for (i = 0; i < r->nentries; i++)
		if (strstr(r->entries[i].who, verb) != NULL)
			return 1;
	return 0;
}

/*
 * S4: what was set is set, and to the same; what was in a list is in it. Its
 * order changes only when an element comes to stand in a band above its own.
 */
static void
compare(const struct plan *less, const struct plan *more, struct counts *c)
{
	const struct env_row *was, *is;
	size_t i, k;

	for (i = 0; i < less->nenv; i++) {
		was = &less->env[i];
		is = row(more, was->name);
		ck_assert_msg(is != NULL, "%s is gone", was->name);
		if (was->value == NULL)
			continue;
		ck_assert_msg(is->value != NULL, "%s is unset", was->name);
		if (was->nentries == 0) {
			/* carrel's own tells of the selection */
			if (strncmp(was->name, "CARREL", 6) != 0 &&
			    strcmp(was->name, "PS1") != 0)
				ck_assert_str_eq(was->value, is->value);
			continue;
		}
		for (k = 0; k < was->nentries; k++)
			ck_assert_msg(
			    place(is, was->entries[k].value) < is->nentries,
			    "%s lost %s", was->name, was->entries[k].value);
		c->kept += was->nentries;
		c->added += is->nentries - was->nentries;
		if (in_order(was, is))
			continue;
		if (has_verb(is, "prepend") && !has_verb(was, "prepend"))
			c->reordered++;
		else
			c->by_merge++;
	}
}

static void
grows(struct world *w, const char *const *names, size_t n, const char *more,
    struct counts *c)
{
	static struct result less, all;
	const char *list[PICKS + 1];

	memcpy(list, names, n * sizeof(*list));
	list[n] = more;
	result_make(w, names, n, &less);
	result_make(w, list, n + 1, &all);
	c->accepted += (size_t)!less.refused;
	c->refused += (size_t)less.refused;
	if (!less.refused && !all.refused) {
		c->unions++;
		compare(&less.plan, &all.plan, c);
	}
	result_free(&less);
	result_free(&all);
}

/* R040, S3, S4 */
START_TEST(generated)
{
	static struct world w;
	struct counts c = {0};
	const char *names[PICKS];
	size_t n, i;
	int world, k;

	seed();
	for (world = 0; world < WORLDS; world++) {
		world_make(&w);
		for (k = 0; k < SELECTIONS; k++) {
			n = 1 + pick(PICKS);
			for (i = 0; i < n; i++)
				names[i] = w.name[pick(PROFILES)];
			commutes(&w, names, n,
			    k % 10 == 0 ? SHUFFLES : SHUFFLES / 10);
			grows(&w, names, n, w.name[pick(PROFILES)], &c);
		}
		layout_free(&w.l);
	}
	printf("property: %zu accepted, %zu refused; %zu unions, %zu elements "
	       "kept, %zu added; %zu lists reordered by a prepend, %zu by "
	       "another band\n",
	    c.accepted, c.refused, c.unions, c.kept, c.added, c.reordered,
	    c.by_merge);
	/* a generator that makes only one kind tests nothing */
	ck_assert_uint_eq(c.accepted + c.refused, WORLDS * SELECTIONS);
	ck_assert_uint_gt(c.accepted, WORLDS * SELECTIONS / 5);
	ck_assert_uint_gt(c.refused, WORLDS * SELECTIONS / 10);
	ck_assert_uint_gt(c.unions, 100);
	ck_assert_uint_gt(c.added, 100);
	/* S4: a band above reorders, and compare() saw that nothing is gone */
	ck_assert_uint_gt(c.reordered + c.by_merge, 0);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {generated};

	return run_suite("property env", tests, NITEMS(tests));
}
