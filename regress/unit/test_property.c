#include <errno.h>

#include "child/setup/plan.h"
#include "child/shared/survey.h"
#include "ipc/path.h"
#include "property.h"

/*
 * What holds for every selection of profiles (S3, S4): made up by a seeded
 * generator, judged by the real parser and the real plan.
 * CARREL_T_SEED repeats a run.
 */

#define WORLDS	   50  /* sets of profiles */
#define SELECTIONS 40  /* of each: 2,000 in all */
#define SHUFFLES   200 /* of every tenth selection, and a tenth of the rest */
#define PROFILES   12  /* of a world */
#define PICKS	   6   /* names in a selection, at the most */

struct world {
	struct layout l;
	char name[PROFILES][8];
};

/* The generator */

/* A path of few names, so that many profiles meet at the same places. */
static void
some_path(char *p, size_t cap, const char *top)
{
	static const char *const names[] = {"a", "b", "ab", "a-b"};
	unsigned depth = 1 + pick(3), i;
	size_t n = (size_t)snprintf(p, cap, "%s", top);

	for (i = 0; i < depth; i++)
		n += (size_t)snprintf(
		    p + n, cap - n, "/%s", names[pick(NITEMS(names))]);
}

static void
some_grant(char *text)
{
	static const char *const verbs[] = {
	    "read", "read", "write", "try-read", "try-write"};
	static const char *const tops[] = {
	    "/srv", "/srv", "/opt", "{home}", "{target}", "{tmp}"};
	const char *verb = verbs[pick(NITEMS(verbs))];
	char a[64], b[64];

	some_path(a, sizeof(a), tops[pick(NITEMS(tops))]);
	some_path(b, sizeof(b), tops[pick(NITEMS(tops))]);
	switch (pick(20)) {
	case 0:
		add(text, "tmpfs = %s%s\n", a, pick(2) ? " size=1M" : "");
		break;
	case 1:
		add(text, "symlink = %s -> %s\n", a, pick(2) ? b : "x");
		break;
	case 2:
		add(text, "%s = %s -> %s\n", verb, a, b);
		break;
	case 3:
		add(text, "%s = %s -> /guest%s\n", verb, a,
		    strchr(a + 1, '/') != NULL ? strchr(a + 1, '/') : a);
		break;
	default:
		add(text, "%s = %s\n", verb, a);
		break;
	}
}

/* A profile that includes only later ones: a cycle now and then is enough. */
static void
some_profile(struct world *w, unsigned i)
{
	char text[TEXT_MAX] = "[profile]\ndescription = made up\n";
	unsigned n;

	for (n = pick(3); n > 0 && i + 1 < PROFILES; n--)
		add(text, "include = %s\n",
		    w->name[i + 1 + pick(PROFILES - i - 1)]);
	if (pick(40) == 0)
		add(text, "include = %s\n", w->name[pick(PROFILES)]);
	if (pick(60) == 0)
		add(text, "include = nobody\n");
	add(text, "[fs]\n");
	for (n = 1 + pick(3); n > 0; n--)
		some_grant(text);
	if (pick(80) == 0)
		add(text, "read = /proc/self\n");
	put_file(w->l.user, w->name[i], text);
}

static void
world_make(struct world *w)
{
	unsigned i;

	layout_init(&w->l);
	for (i = 0; i < PROFILES; i++)
		snprintf(w->name[i], sizeof(w->name[i]), "p%u", i);
	for (i = 0; i < PROFILES; i++)
		some_profile(w, i);
}

/* S3: in any order, and with names twice, the same bytes. */
static void
commutes(struct layout *l, const char *const *picked, size_t n, int shuffles)
{
	static struct bytes first, again;
	const char *names[2 * PICKS], *t;
	struct policy po;
	size_t i, k, all;
	int round;

	select_names(l, picked, n);
	answer(l, &po);
	wire(&po, &first);
	policy_free(&po);
	for (round = 0; round < shuffles; round++) {
		memcpy(names, picked, n * sizeof(*names));
		for (all = n; all < n + pick(3); all++)
			names[all] = picked[pick((unsigned)n)];
		for (i = all - 1; i > 0; i--) {
			k = pick((unsigned)i + 1);
			t = names[i];
			names[i] = names[k];
			names[k] = t;
		}
		select_names(l, names, all);
		answer(l, &po);
		wire(&po, &again);
		policy_free(&po);
		ck_assert_uint_eq(again.len, first.len);
		ck_assert(memcmp(again.data, first.data, first.len) == 0);
	}
}

/* What is at a place inside, by the plan */

struct sight {
	char what[PATH_MAX_LEN + 64]; /* "": nothing that was granted */
	int writes;
	int pinned; /* a read mount in a write mount */
};

/* A survey in which everything is there and is a directory. */
static void
see_all(const struct policy *po, struct survey *s)
{
	size_t i;

	ck_assert_int_eq(survey_init(s, po->ngrants), 0);
	for (i = 0; i < po->ngrants; i++) {
		if (po->grants[i].kind != GRANT_BIND)
			continue;
		s->rows[i].type = SURVEY_DIR;
		s->rows[i].dev = 1;
		s->rows[i].ino = i + 1;
		s->rows[i].real = strdup(po->grants[i].source);
	}
}

static const struct step *
step_at(const struct plan *pl, const char *path)
{
	char at[PATH_MAX_LEN + 1], *slash;
	const struct step *found = NULL;
	size_t i;

	snprintf(at, sizeof(at), "%s", path);
	while (found == NULL) {
		for (i = 0; i < pl->nsteps; i++)
			if (strcmp(pl->steps[i].guest, at) == 0)
				found = &pl->steps[i];
		slash = strrchr(at, '/');
		if (slash == at && at[1] == '\0')
			break;
		slash[slash == at] = '\0';
	}
	return found;
}

static void
look(const struct policy *po, const struct plan *pl, const char *path,
    struct sight *out)
{
	const struct step *s = step_at(pl, path);
	const struct grant *up;
	char at[PATH_MAX_LEN + 1];

	memset(out, 0, sizeof(*out));
	ck_assert_ptr_nonnull(s);
	/* a pin is what it lies on */
	while (s->kind == STEP_PIN) {
		ck_assert_int_eq(s->flags & STEP_RDONLY, 0);
		snprintf(at, sizeof(at), "%s", s->guest);
		*strrchr(at, '/') = '\0';
		s = step_at(pl, at);
	}
	if (s->grant == -1)
		return;
	switch (s->kind) {
	case STEP_BIND:
		snprintf(out->what, sizeof(out->what), "host %s%s",
		    po->grants[s->grant].source, path_below(s->guest, path));
		out->writes = !(s->flags & STEP_RDONLY);
		/* the first write grant above, over reads inside reads */
		up = policy_above(po, s->guest);
		while (up != NULL && !(up->flags & GRANT_WRITE))
			up = policy_above(po, up->guest);
		out->pinned =
		    !out->writes && up != NULL && (up->flags & GRANT_WRITE);
		break;
	case STEP_TMPFS:
		snprintf(out->what, sizeof(out->what), "tmpfs %s", s->guest);
		out->writes = 1;
		break;
	case STEP_SYMLINK:
		snprintf(out->what, sizeof(out->what), "link %s", s->text);
		break;
	default:
		ck_abort_msg("a grant became step %d", s->kind);
	}
}

/* Every place of a plan, and some below. */
static size_t
compare(const struct policy *po, const struct plan *pl,
    const struct policy *more, const struct plan *mpl, size_t *narrowed)
{
	static const char *const below[] = {"", "/a", "/b/a", "/ab"};
	char path[PATH_MAX_LEN + 8];
	struct sight was, is;
	size_t i, k, n = 0;

	for (i = 0; i < more->ngrants; i++)
		for (k = 0; k < NITEMS(below); k++) {
			snprintf(path, sizeof(path), "%s%s",
			    more->grants[i].guest, below[k]);
			look(po, pl, path, &was);
			if (was.what[0] == '\0')
				continue;
			look(more, mpl, path, &is);
			n++;
			/* in an empty tmpfs there was nothing to hide */
			if (strncmp(was.what, "tmpfs", 5) == 0 &&
			    policy_find(po, path) == NULL)
				continue;
			if (strcmp(was.what, is.what) != 0)
				ck_abort_msg(
				    "%s: %s was %s", path, is.what, was.what);
			/* S33: a read inside a write is its own, and pinned */
			*narrowed += (size_t)(was.writes && !is.writes);
			ck_assert_msg(!was.writes || is.writes || is.pinned,
			    "%s: can no longer be written", path);
		}
	return n;
}

struct counts {
	size_t accepted, refused, unions, places, narrowed;
};

/* S4: with one profile more nothing is hidden. */
static void
grows(struct layout *l, const char *const *names, size_t n, const char *more,
    struct counts *c)
{
	const char *all[PICKS + 1];
	struct policy po, mpo;
	struct survey s, ms;
	struct plan pl, mpl;
	int fine, ok;

	select_names(l, names, n);
	fine = answer(l, &po) == 0;
	c->accepted += (size_t)fine;
	c->refused += (size_t)!fine;
	memcpy(all, names, n * sizeof(*all));
	all[n] = more;
	select_names(l, all, n + 1);
	ok = answer(l, &mpo) == 0;
	if (fine && ok) {
		see_all(&po, &s);
		see_all(&mpo, &ms);
		fine = plan_make(&po, &s, &l->q.caller, NULL, &pl) == 0;
		ok = plan_make(&mpo, &ms, &l->q.caller, NULL, &mpl) == 0;
		if (fine && ok) {
			c->unions++;
			c->places +=
			    compare(&po, &pl, &mpo, &mpl, &c->narrowed);
		}
		plan_free(&pl);
		plan_free(&mpl);
		survey_free(&s);
		survey_free(&ms);
	}
	policy_free(&po);
	policy_free(&mpo);
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
			w.l.q.flags = pick(2) ? REQUEST_NO_DEFAULTS : 0;
			n = 1 + pick(PICKS);
			for (i = 0; i < n; i++)
				names[i] = w.name[pick(PROFILES)];
			commutes(&w.l, names, n,
			    k % 10 == 0 ? SHUFFLES : SHUFFLES / 10);
			grows(&w.l, names, n, w.name[pick(PROFILES)], &c);
		}
		layout_free(&w.l);
	}
	printf("property: %zu accepted, %zu refused; %zu unions, %zu places, "
	       "%zu of them a read in a write\n",
	    c.accepted, c.refused, c.unions, c.places, c.narrowed);
	/* a generator that makes only one kind tests nothing */
	ck_assert_uint_eq(c.accepted + c.refused, WORLDS * SELECTIONS);
	ck_assert_uint_gt(c.accepted, WORLDS * SELECTIONS / 5);
	ck_assert_uint_gt(c.refused, WORLDS * SELECTIONS / 5);
	ck_assert_uint_gt(c.unions, 100);
	ck_assert_uint_gt(c.narrowed, 0);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {generated};

	return run_suite("property", tests, NITEMS(tests));
}
