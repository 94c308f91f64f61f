/* Where which grant holds, as the monitor hears it: child/setup/places.c. */
#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "child/setup/control.h"
#include "child/setup/places.h"
#include "child/setup/plan.h"
#include "child/shared/event.h"
#include "ipc/channel.h"
#include "ipc/policy.h"

#define A(profile, verb, writes) ((profile) | (verb) << 16 | (writes) << 24)

static struct places ps;
static struct control m; /* too large for a stack frame of a test */

static int
hear(int a, int b, const char *guest)
{
	m.a = a;
	m.b = b;
	strcpy(m.text, guest);
	return places_hear(&ps, &m);
}

static const char *
at(const char *path)
{
	const struct place *p = places_at(&ps, path);

	return p == NULL ? "none" : p->guest;
}

START_TEST(heard_and_found)
{
	memset(&ps, 0, sizeof(ps));
	ck_assert_str_eq(at("/a"), "none");
	ck_assert_int_eq(hear(A(3, VERB_READ, 0), 7, "/a"), 0);
	ck_assert_int_eq(hear(A(4, VERB_WRITE, 1), 8, "/a/b"), 0);
	ck_assert_int_eq(hear(A(EVENT_NO_PROFILE, 0, 0), 0, "/a/b/c"), 0);
	ck_assert_int_eq(hear(A(5, VERB_TMPFS, 1), 9, "/ab"), 0);
	ck_assert_str_eq(at("/"), "none");
	ck_assert_str_eq(at("/b"), "none");
	ck_assert_str_eq(at("/abc"), "none");
	ck_assert_str_eq(at("/a"), "/a");
	ck_assert_str_eq(at("/a/bb/c"), "/a");
	ck_assert_str_eq(at("/a/b"), "/a/b");
	ck_assert_str_eq(at("/a/b/d/e/f"), "/a/b");
	ck_assert_str_eq(at("/a/b/c/d"), "/a/b/c");
	ck_assert_str_eq(at("/ab/x"), "/ab");
	ck_assert_str_eq(at("no path"), "none");
	ck_assert_uint_eq(places_at(&ps, "/a/x")->profile, 3);
	ck_assert_uint_eq(places_at(&ps, "/a/x")->line, 7);
	ck_assert_uint_eq(places_at(&ps, "/a/x")->verb, VERB_READ);
	ck_assert(!places_at(&ps, "/a/x")->writes);
	ck_assert(places_at(&ps, "/a/b/x")->writes);
	ck_assert_uint_eq(places_at(&ps, "/a/b/c")->profile, EVENT_NO_PROFILE);
	places_free(&ps);
	ck_assert_uint_eq(ps.n, 0);
	/* the root itself */
	ck_assert_int_eq(hear(A(0, VERB_READ, 0), 1, "/"), 0);
	ck_assert_str_eq(at("/x"), "/");
	places_free(&ps);
}
END_TEST

START_TEST(no_places)
{
	static const struct {
		unsigned a;
		int b;
		const char *guest;
	} bad[] = {
	    {A(1, VERB_READ, 0), 1, "/a"}, /* the same again */
	    {A(1, VERB_READ, 0), 1, "/A"}, /* before the last */
	    {A(1, VERB_READ, 0), 1, "b"},  /* no clean path */
	    {A(1, VERB_READ, 0), 1, "/b/../c"},
	    {A(1, VERB_READ, 0), 1, ""},
	    {A(1, VERB_LAST + 1, 0), 1, "/b"},
	    {A(1, VERB_READ, 2), 1, "/b"},
	    {A(1, 0, 0), 1, "/b"}, /* no verb */
	    {A(1, 0, 0), 0, "/b"}, /* nor whose */
	    {A(EVENT_NO_PROFILE, VERB_READ, 0), 1, "/b"},
	    {A(PROFILES_MAX, VERB_READ, 0), 1, "/b"},
	};
	size_t i;

	memset(&ps, 0, sizeof(ps));
	ck_assert_int_eq(hear(A(1, VERB_READ, 0), 1, "/a"), 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(hear((int)bad[i].a, bad[i].b, bad[i].guest) == -1,
		    "%zu", i);
	ck_assert_uint_eq(ps.n, 1);
	ck_assert_int_eq(hear(A(1, VERB_READ, 0), 1, "/b"), 0);
	places_free(&ps);
}
END_TEST

/* What is told is what is heard. */
START_TEST(told_and_heard)
{
	const struct origin o = {
	    .profile = 2, .verb = VERB_TRY_READ, .line = 5};
	struct policy po = {.nprofiles = 0};
	uint8_t absent[5] = {0, 1, 0, 0, 0};
	struct plan plan = {.absent = absent};
	static const struct {
		enum grant_kind kind;
		uint8_t flags;
		const char *guest;
	} g[] = {
	    {GRANT_BIND, 0, "/a"},
	    {GRANT_BIND, GRANT_TRY, "/absent"},
	    {GRANT_SYMLINK, 0, "/link"},
	    {GRANT_TMPFS, 0, "/t"},
	    {GRANT_BIND, GRANT_OWN, "/z"},
	};
	int pair[2];
	size_t i;

	memset(&ps, 0, sizeof(ps));
	for (i = 0; i < 5; i++) {
		ck_assert_ptr_nonnull(policy_add_grant(
		    &po, g[i].kind, g[i].flags, g[i].guest, "/x", 0));
		if ((g[i].flags & GRANT_OWN) == 0)
			ck_assert_int_eq(
			    grant_add_origin(&po.grants[i], &o), 0);
	}
	ck_assert_int_eq(channel_pair(pair), 0);
	ck_assert_int_eq(places_tell(pair[0], &po, &plan), 0);
	for (i = 0; i < 3; i++) {
		ck_assert_int_eq(control_receive(pair[1], &m), 1);
		ck_assert_int_eq(m.type, CONTROL_PLACE);
		ck_assert_int_eq(places_hear(&ps, &m), 0);
	}
	ck_assert_int_eq(control_receive(pair[1], &m), -1);
	ck_assert_str_eq(at("/a/x"), "/a");
	ck_assert_uint_eq(places_at(&ps, "/a")->profile, 2);
	ck_assert_uint_eq(places_at(&ps, "/a")->line, 5);
	ck_assert_uint_eq(places_at(&ps, "/a")->verb, VERB_TRY_READ);
	ck_assert(!places_at(&ps, "/a")->writes && ps.list[1].writes);
	ck_assert_uint_eq(places_at(&ps, "/z")->verb, 0);
	places_free(&ps);
	policy_free(&po);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("places");
	TCase *t = tcase_create("places");
	SRunner *sr;
	int failed;

	tcase_add_test(t, heard_and_found);
	tcase_add_test(t, no_places);
	tcase_add_test(t, told_and_heard);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? 0 : 1;
}
