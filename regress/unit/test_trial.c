/* profile test: which key a line has, what a run was told, which way it is. */
#include <errno.h>
#include <time.h>

#include "child/screen/profile.h"
#include "child/screen/trial.h"
#include "parse_help.h"

static char dir[64], file[96];

static void
setup(void)
{
	strcpy(dir, "/tmp/carrel-test-XXXXXX");
	ck_assert(mkdtemp(dir) != NULL);
	snprintf(file, sizeof(file), "%s/x.profile", dir);
}

static void
teardown(void)
{
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void
key_is(uint32_t line, const char *want)
{
	char key[96];

	profile_key(file, line, key, sizeof(key));
	ck_assert_str_eq(key, want);
}

START_TEST(keys)
{
	static const char text[] = "; c\n[fs]\nread = /a = b\n\n[tool fmt]\n"
				   "needs=write /x\nodd \x1b[2J = 1\n[";
	char key[8];

	put_bytes(file, text, strlen(text));
	key_is(0, "profile");
	key_is(1, "profile");
	key_is(2, "fs");
	key_is(3, "fs.read");
	key_is(5, "tool fmt");
	key_is(6, "tool fmt.needs");
	key_is(7, "tool fmt.odd"); /* nothing but the letters of a key */
	key_is(8, "profile");
	key_is(99, "profile");
	profile_key(file, 6, key, sizeof(key));
	ck_assert_str_eq(key, "tool fm");
	ck_assert_int_eq(unlink(file), 0);
	key_is(3, "profile");
	ck_assert_int_eq(mkfifo(file, 0600), 0);
	key_is(3, "profile");
	ck_assert_int_eq(unlink(file), 0);
	ck_assert_int_eq(symlink("/etc/passwd", file), 0);
	key_is(1, "profile");
}
END_TEST

START_TEST(events)
{
	static const char text[] =
	    "{\"v\":1,\"event\":\"start\",\"command\":\"\\\"event\\\":"
	    "\\\"violation\\\"\"}\n"
	    "{\"v\":1,\"event\":\"violation\",\"surface\":\"egress\","
	    "\"action\":\"connect\",\"resource\":\"a\\\"b\\\\\",\"count\":1}\n"
	    "{\"v\":1,\"event\":\"violation\",\"surface\":\"egress\","
	    "\"action\":\"connect\",\"resource\":\"a\\\"b\\\\\",\"count\":7}\n"
	    "{\"v\":1,\"event\":\"violation\",\"surface\":\"fs\","
	    "\"action\":\"create\",\"resource\":\"/x\",\"error\":null}\n"
	    "{\"v\":1,\"event\":\"use\",\"surface\":\"fs\","
	    "\"action\":\"create\",\"resource\":\"/x\"}\n"
	    "{\"v\":1,\"event\":\"end\",\"by\":\"payload\",\"code\":42,"
	    "\"lost\":3}\n"
	    "{\"v\":1,\"event\":\"viol";
	struct tolds r;

	put_bytes(file, text, strlen(text));
	ck_assert_int_eq(trial_events(file, &r), 0);
	ck_assert_uint_eq(r.n, 3);
	ck_assert_str_eq(r.list[0].surface, "egress");
	ck_assert_str_eq(r.list[0].resource, "a\"b\\");
	ck_assert_str_eq(r.list[1].action, "create");
	ck_assert(!r.list[1].used && r.list[2].used);
	ck_assert(r.ended && r.by_payload && r.code == 42 && r.lost == 3);
	trial_events_free(&r);
	put_bytes(file, "", 0);
	ck_assert_int_eq(trial_events(file, &r), 0);
	ck_assert(r.n == 0 && !r.ended);
	trial_events_free(&r);
	ck_assert_int_eq(unlink(file), 0);
	ck_assert_int_eq(trial_events(file, &r), -1);
}
END_TEST

/* What a need allows of what was used, and what not. */
START_TEST(ways)
{
	static const struct {
		const char *need, *used;
		int fits;
	} cases[] = {
	    {"*", "https://a.example:443", 1},
	    {"*", "name a.example", 1},
	    {"https://a.example:443", "https://a.example:443", 1},
	    {"https://a.example:443", "tcp://a.example:443", 1}, /* of "*" */
	    {"https://a.example:443", "udp://a.example:443", 0},
	    {"udp://a.example:53", "udp://a.example:53", 1},
	    {"https://a.example:443", "https://a.example:4430", 0},
	    {"https://a.example:4430", "https://a.example:443", 0},
	    {"https://a.example:443", "https://b.example:443", 0},
	    {"https://a.example:443", "name a.example", 1},
	    {"https://a.example:443", "name aa.example", 0},
	    {"https://*.example:443", "https://a.example:443", 1},
	    {"https://*.example:443", "https://a.b.example:443", 1},
	    {"https://*.example:443", "https://example:443", 0},
	    {"https://*.example:443", "https://badexample:443", 0},
	    {"https://*.example:443", "name x.example", 1},
	    {"tcp://10.0.0.1:22 private", "tcp://10.0.0.1:22", 1},
	    {"tcp://[::1]:5 private", "tcp://[::1]:5", 1},
	    {"tcp://[::1]:5", "tcp://[::2]:5", 0},
	};
	size_t i;

	for (i = 0; i < NITEMS(cases); i++)
		ck_assert_msg(
		    trial_allows(cases[i].need, cases[i].used) == cases[i].fits,
		    "%s of %s", cases[i].need, cases[i].used);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {keys, events, ways};
	Suite *s = suite_create("trial");
	TCase *tc = tcase_create("trial");
	SRunner *sr;
	size_t i;
	int bad;

	tcase_add_checked_fixture(tc, setup, teardown);
	for (i = 0; i < NITEMS(tests); i++)
		tcase_add_test(tc, tests[i]);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	bad = srunner_ntests_failed(sr) != 0;
	srunner_free(sr);
	return bad;
}
