/* Two views of one tree of the host: what is told of them. */
#include <check.h>
#include <stdlib.h>

#include "child/setup/plan_parts.h"
#include "child/shared/hostenv.h"
#include "child/shared/survey.h"
#include "ipc/environ.h"
#include "world.h"

#define NITEMS(a) (sizeof(a) / sizeof((a)[0]))

static struct policy po;
static struct survey sv;
static struct caller ca;
static struct hostenv he;
static struct plan pl;

static void
setup(void)
{
	world_policy(&po);
	world_caller(&ca);
	memset(&sv, 0, sizeof(sv));
	memset(&he, 0, sizeof(he));
	memset(&pl, 0, sizeof(pl));
}

static void
teardown(void)
{
	plan_free(&pl);
	survey_free(&sv);
	policy_free(&po);
	caller_free(&ca);
}

/* link and real: a source that leads elsewhere; NULL: none does. */
static void
plan(const char *link, const char *real)
{
	size_t i;

	world_check(&po);
	ck_assert_int_eq(policy_protect(&po, &ca), 0);
	ck_assert_int_eq(survey_init(&sv, po.ngrants), 0);
	for (i = 0; i < po.ngrants; i++) {
		if (!grant_opens(&po.grants[i]))
			continue;
		sv.rows[i].type =
		    po.grants[i].kind == GRANT_BIND ? SURVEY_DIR : SURVEY_FILE;
		sv.rows[i].mode = 0755;
		sv.rows[i].ino = i + 1;
		sv.rows[i].real = strdup(
		    link != NULL && strcmp(po.grants[i].source, link) == 0
			? real
			: po.grants[i].source);
	}
	if (plan_make(&po, &sv, &ca, &he, &pl) == -1)
		ck_abort_msg("refused: %s",
		    po.nrefusals > 0 ? po.refusals[0].what : "?");
	ck_assert_uint_eq(pl.nelsewhere, po.ngrants);
}

static const struct elsewhere_row *
at(const char *guest)
{
	size_t i;

	for (i = 0; i < po.ngrants; i++)
		if (strcmp(po.grants[i].guest, guest) == 0)
			return &pl.elsewhere[i];
	ck_abort_msg("no grant %s", guest);
	return NULL;
}

static void
is(const char *guest, enum elsewhere kind, const char *where)
{
	const struct elsewhere_row *e = at(guest);

	ck_assert_msg(e->kind == kind, "%s: %d", guest, e->kind);
	if (where == NULL)
		ck_assert_ptr_null(e->guest);
	else
		ck_assert_str_eq(e->guest, where);
}

START_TEST(tree_above)
{
	world_add(&po, VERB_READ, "/w/a", NULL);
	world_add(&po, VERB_READ, "/copy", "/w/a/b");
	world_add(&po, VERB_READ, "/same", "/w");
	world_add(&po, VERB_WRITE, "/v", "/w");
	plan(NULL, NULL);
	is("/w/a", ELSEWHERE_WHOLE, "/v/a");
	is("/copy", ELSEWHERE_WHOLE, "/v/a/b");
	is("/same", ELSEWHERE_WHOLE, "/v");
	is("/v", ELSEWHERE_NOT, NULL);
}
END_TEST

START_TEST(tree_below)
{
	world_add(&po, VERB_READ, "/w", NULL);
	world_add(&po, VERB_READ, "/wa", NULL);
	world_add(&po, VERB_WRITE, "/v", "/w/a");
	plan(NULL, NULL);
	is("/w", ELSEWHERE_PART, "/v");
	is("/wa", ELSEWHERE_NOT, NULL);
}
END_TEST

/* By one name there is one view: the deepest mount decides. */
START_TEST(one_view)
{
	world_add(&po, VERB_READ, "/w", NULL);
	world_add(&po, VERB_WRITE, "/w/a", NULL);
	world_add(&po, VERB_READ, "/w/a/b", NULL);
	world_add(&po, VERB_WRITE, "/v-evil", NULL);
	world_add(&po, VERB_READ, "/v", NULL);
	plan(NULL, NULL);
	is("/w", ELSEWHERE_NOT, NULL);
	is("/w/a/b", ELSEWHERE_NOT, NULL);
	is("/v", ELSEWHERE_NOT, NULL);
}
END_TEST

/* Where the other view is protected, too, it is no way to write. */
START_TEST(pinned_there)
{
	world_add(&po, VERB_READ, "/w/a", NULL);
	world_add(&po, VERB_WRITE, "/v", "/w");
	world_add(&po, VERB_READ, "/v/a", "/w/a");
	plan(NULL, NULL);
	is("/w/a", ELSEWHERE_NOT, NULL);
	is("/v/a", ELSEWHERE_NOT, NULL);
}
END_TEST

/* One of two is enough; a directory that was pinned on the way is writable. */
START_TEST(one_of_two)
{
	world_add(&po, VERB_READ, "/w/a/b", NULL);
	world_add(&po, VERB_WRITE, "/u", "/w");
	world_add(&po, VERB_READ, "/u/a/b", "/w/a/b");
	world_add(&po, VERB_WRITE, "/v", "/w/a");
	world_add(&po, VERB_READ, "/other", "/w/a");
	plan(NULL, NULL);
	is("/w/a/b", ELSEWHERE_WHOLE, "/v/b");
	is("/other", ELSEWHERE_WHOLE, "/v");
	is("/u/a/b", ELSEWHERE_WHOLE, "/v/b");
}
END_TEST

/* What was opened counts, not what it was called. */
START_TEST(by_a_link)
{
	world_add(&po, VERB_READ, "/r", NULL);
	world_add(&po, VERB_WRITE, "/link", NULL);
	plan("/link", "/r/inner");
	is("/r", ELSEWHERE_PART, "/link");
	teardown();
	setup();
	world_add(&po, VERB_READ, "/r", NULL);
	world_add(&po, VERB_WRITE, "/link", NULL);
	plan("/link", "/rest");
	is("/r", ELSEWHERE_NOT, NULL);
}
END_TEST

/* Other kinds of grants have nothing of this. */
START_TEST(kinds)
{
	world_add(&po, VERB_TMPFS, "/t", NULL);
	world_add(&po, VERB_SYMLINK, "/l", "/v/a");
	world_add(&po, VERB_WRITE, "/v", "/w");
	world_add(&po, VERB_COMMAND, "/run/carrel/bin/tool", "/w/bin/tool");
	plan(NULL, NULL);
	is("/t", ELSEWHERE_NOT, NULL);
	is("/l", ELSEWHERE_NOT, NULL);
	is("/v", ELSEWHERE_NOT, NULL);
	/* it is pinned where it could be written (S7) */
	is("/run/carrel/bin/tool", ELSEWHERE_NOT, NULL);
}
END_TEST

/* An element of PATH can be written, too, if there is another way to it. */
START_TEST(path)
{
	static const struct {
		const char *read, *source, *written, *element;
		int marked;
	} c[] = {
	    {"/tools", "/w/tools", "/w", "/tools/bin", 1},
	    {"/tools", "/w/tools", "/w/tools/bin", "/tools/bin", 1},
	    {"/tools", "/w/tools", "/w/tools/bin/in", "/tools/bin", 0},
	    {"/tools", "/w/tools", "/w/tools/binx", "/tools/bin", 0},
	    {"/tools", "/w/tools", "/w/tools/share", "/tools/bin", 0},
	};
	char *values[1];
	struct origin o = {1, ENV_MERGE, 9};
	struct env_claim *e;
	size_t i, k;

	for (i = 0; i < NITEMS(c); i++) {
		world_add(&po, VERB_READ, c[i].read, c[i].source);
		world_add(&po, VERB_WRITE, c[i].written, NULL);
		values[0] = (char *)(uintptr_t)c[i].element;
		e = policy_add_claim(&po, ENV_MERGE, "PATH", values, 1);
		ck_assert_ptr_nonnull(e);
		ck_assert_int_eq(environ_add_origin(e, &o), 0);
		plan(NULL, NULL);
		for (k = 0; strcmp(pl.env[k].name, "PATH") != 0; k++)
			;
		ck_assert_str_eq(pl.env[k].entries[0].value, c[i].element);
		ck_assert_msg(
		    (strstr(pl.env[k].entries[0].mark,
			 "<- writable from inside") != NULL) == c[i].marked,
		    "%s: %s", c[i].written, pl.env[k].entries[0].mark);
		teardown();
		setup();
	}
}
END_TEST

/* More than can be looked at is told as unknown, never as harmless. */
START_TEST(too_many)
{
	char guest[32];
	int i;

	for (i = 0; i < 1000; i++) {
		snprintf(guest, sizeof(guest), "/v%d", i);
		world_add(&po, VERB_WRITE, guest, "/w");
		snprintf(guest, sizeof(guest), "/v%d/a", i);
		world_add(&po, VERB_READ, guest, "/w/a");
	}
	plan(NULL, NULL);
	is("/v0/a", ELSEWHERE_NOT, NULL);
	is("/v999/a", ELSEWHERE_UNKNOWN, NULL);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {tree_above, tree_below, one_view,
	    pinned_there, one_of_two, by_a_link, kinds, path, too_many};
	Suite *s = suite_create("elsewhere");
	TCase *tc = tcase_create("elsewhere");
	SRunner *r = srunner_create(s);
	size_t i;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	for (i = 0; i < NITEMS(tests); i++)
		tcase_add_test(tc, tests[i]);
	suite_add_tcase(s, tc);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
