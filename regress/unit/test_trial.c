/* profile test: which key a line has, what a run was refused, what changed. */
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
	    "{\"v\":1,\"event\":\"end\",\"by\":\"payload\",\"code\":42}\n"
	    "{\"v\":1,\"event\":\"viol";
	struct refusals r;

	put_bytes(file, text, strlen(text));
	ck_assert_int_eq(trial_events(file, &r), 0);
	ck_assert_uint_eq(r.n, 2);
	ck_assert_str_eq(r.list[0].surface, "egress");
	ck_assert_str_eq(r.list[0].resource, "a\\\"b\\\\");
	ck_assert_str_eq(r.list[1].action, "create");
	ck_assert(r.ended && r.by_payload && r.code == 42);
	trial_events_free(&r);
	put_bytes(file, "", 0);
	ck_assert_int_eq(trial_events(file, &r), 0);
	ck_assert(r.n == 0 && !r.ended);
	trial_events_free(&r);
	ck_assert_int_eq(unlink(file), 0);
	ck_assert_int_eq(trial_events(file, &r), -1);
}
END_TEST

/* Long enough for the clock of file systems. */
static void
wait_a_tick(void)
{
	const struct timespec t = {.tv_nsec = 20000000};

	nanosleep(&t, NULL);
}

static int
written(const char *path, void (*change)(const char *))
{
	struct trial_place pl;
	int n;

	wait_a_tick();
	trial_note(&pl, path);
	if (change != NULL)
		change(path);
	n = trial_written(&pl);
	free(pl.path);
	return n;
}

static void
add_file(const char *path)
{
	char name[128];

	snprintf(name, sizeof(name), "%s/sub/new", path);
	put_bytes(name, "x", 1);
}

static void
make_dir(const char *path)
{
	ck_assert_int_eq(mkdir(path, 0755), 0);
}

static void
make_and_fill(const char *path)
{
	char name[128];

	make_dir(path);
	snprintf(name, sizeof(name), "%s/new", path);
	put_bytes(name, "x", 1);
}

static void
put_one(const char *path)
{
	put_bytes(path, "y", 1);
}

START_TEST(places)
{
	char sub[96], none[96], link[96];

	snprintf(sub, sizeof(sub), "%s/sub", dir);
	snprintf(none, sizeof(none), "%s/none", dir);
	snprintf(link, sizeof(link), "%s/sub/up", dir);
	ck_assert_int_eq(mkdir(sub, 0755), 0);
	ck_assert_int_eq(symlink("/", link), 0);
	ck_assert_int_eq(written(dir, NULL), 0);
	ck_assert_int_eq(written(dir, add_file), 1);
	ck_assert_int_eq(written(file, NULL), 0);
	ck_assert_int_eq(written(file, put_one), 1);
	ck_assert_int_eq(written(file, put_one), 1);
	/* carrel makes what a pack writes: that alone is no use of it */
	ck_assert_int_eq(written(none, make_dir), 0);
	ck_assert_int_eq(rmdir(none), 0);
	ck_assert_int_eq(written(none, make_and_fill), 1);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {keys, events, places};
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
