#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "child/setup/plan.h"
#include "child/shared/survey.h"
#include "ipc/channel.h"
#include "ipc/policy.h"
#include "world.h"

/* What a policy within its maxima may cost: no product of two of them. */

#define SECONDS 10 /* instead of minutes */

/* "/NNNNNNNN/a/a/..." or "/a/a/.../NNNNNNNN", as long as a path may be. */
static void
add_deep(struct policy *po, enum verb verb, unsigned i, int own)
{
	char path[PATH_MAX_LEN + 1];
	size_t n = 0;

	if (own)
		n = (size_t)snprintf(path, sizeof(path), "/%08u", i);
	for (; n + 11 < PATH_MAX_LEN; n += 2)
		memcpy(path + n, "/a", 3);
	if (!own)
		snprintf(path + n, sizeof(path) - n, "/%08u", i);
	(void)world_add(po, verb, path, verb == VERB_SYMLINK ? "x" : NULL);
}

START_TEST(checking_long_paths)
{
	int64_t start = channel_now();
	char why[TEXT_MAX_LEN];
	struct policy po;
	unsigned i;

	world_policy(&po);
	for (i = 0; i < 4000; i++)
		add_deep(&po, VERB_READ, i, 0);
	ck_assert_int_eq(policy_check(&po, why, sizeof(why)), 0);
	ck_assert_int_lt(channel_now() - start, SECONDS * 1000);
	policy_free(&po);
}
END_TEST

static int
plan(unsigned n, struct plan *pl, struct policy *po)
{
	struct survey sv;
	struct caller ca;
	unsigned i;
	int r, err;

	world_caller(&ca);
	world_policy(po);
	for (i = 0; i < n; i++)
		add_deep(po, VERB_SYMLINK, i, 1);
	world_check(po);
	ck_assert_int_eq(survey_init(&sv, po->ngrants), 0);
	r = plan_make(po, &sv, &ca, NULL, pl);
	err = errno;
	survey_free(&sv);
	caller_free(&ca);
	errno = err;
	return r;
}

START_TEST(planning_many_directories)
{
	int64_t start = channel_now();
	struct policy po;
	struct plan pl;

	ck_assert_int_eq(plan(5, &pl, &po), 0);
	ck_assert_uint_gt(pl.nsteps, 5 * 2000);
	plan_free(&pl);
	policy_free(&po);
	ck_assert_int_eq(plan(200, &pl, &po), -1);
	ck_assert_int_eq(errno, EPERM);
	ck_assert_uint_eq(po.nrefusals, 1);
	ck_assert_ptr_nonnull(strstr(po.refusals[0].what, "too deep"));
	ck_assert_uint_lt(pl.nsteps, PLAN_BYTES_MAX / sizeof(*pl.steps));
	ck_assert_int_lt(channel_now() - start, SECONDS * 1000);
	plan_free(&pl);
	policy_free(&po);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("bounds");
	TCase *t = tcase_create("bounds");
	SRunner *sr;
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_test(t, checking_long_paths);
	tcase_add_test(t, planning_many_directories);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? 0 : 1;
}
