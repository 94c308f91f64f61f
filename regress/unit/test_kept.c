#include <sys/stat.h>

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "child/monitor/seen.h"
#include "child/monitor/state.h"
#include "child/screen/kept_dir.h"
#include "child/shared/kept.h"
#include "ipc/limits.h"

/* What is kept of violations: the list, the files, and who reads them. */

#define RUN    "0123456789abcdef0123456789abcdef"
#define DIGEST RUN RUN

static char dir[] = "/tmp/carrel-kept.XXXXXX";
static char path[64];

static void
set_up(void)
{
	strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/a/carrel", dir);
}

static void
tear_down(void)
{
	char cmd[80];

	snprintf(cmd, sizeof(cmd), "chmod -R u+rwx %s; rm -rf %s", dir, dir);
	ck_assert_int_eq(system(cmd), 0);
}

static struct kept
sample(void)
{
	static struct kept_profile p[2] = {{"@sys", "/s.profile", DIGEST, 1, 0},
	    {"mine", "/m\n.profile", DIGEST, 3, 7}};
	static struct event e[2] = {{.surface = EVENT_EXEC,
					.profile = EVENT_NO_PROFILE,
					.err = EACCES,
					.count = 6,
					.action = "exec",
					.resource = "/bin/sh\x1b[2J",
					.rule = ""},
	    {.surface = EVENT_EGRESS,
		.profile = 1,
		.line = 4,
		.count = 1,
		.action = "connect",
		.resource = "tcp 192.0.2.1:1",
		.rule = "tcp://x:1"}};
	struct kept k = {.run = RUN,
	    .time = 1700000000123,
	    .command = "a b",
	    .profiles = p,
	    .nprofiles = 2,
	    .events = e,
	    .nevents = 2,
	    .violations = 7,
	    .lost = 2,
	    .code = 3};

	return k;
}

static size_t
bytes(const struct kept *k, uint8_t *buf, size_t len)
{
	FILE *f = tmpfile();
	size_t n;

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(kept_write(fileno(f), k), 0);
	rewind(f);
	n = fread(buf, 1, len, f);
	fclose(f);
	return n;
}

START_TEST(there_and_back)
{
	static uint8_t buf[65536];
	struct kept k = sample(), got;
	size_t n = bytes(&k, buf, sizeof(buf)), i;
	uint8_t was;

	ck_assert_int_eq(kept_read(buf, n, &got), 0);
	ck_assert_str_eq(got.run, RUN);
	ck_assert_uint_eq(got.time, k.time);
	ck_assert_str_eq(got.command, "a b");
	ck_assert_uint_eq(got.nprofiles, 2);
	ck_assert_str_eq(got.profiles[1].file, "/m\n.profile");
	ck_assert_uint_eq(got.profiles[1].times, 7);
	ck_assert_uint_eq(got.nevents, 2);
	ck_assert_str_eq(got.events[0].resource, "/bin/sh\x1b[2J");
	ck_assert_uint_eq(got.events[1].profile, 1);
	ck_assert_uint_eq(got.violations, 7);
	ck_assert_uint_eq(got.lost, 2);
	ck_assert_uint_eq(got.code, 3);
	kept_free(&got);
	/* torn anywhere it is none, and with any byte changed no harm */
	for (i = 0; i < n; i++) {
		ck_assert_int_eq(kept_read(buf, i, &got), -1);
		was = buf[i];
		buf[i] ^= 0x55;
		if (kept_read(buf, n, &got) == 0)
			kept_free(&got);
		buf[i] = was;
	}
	buf[n] = 0;
	ck_assert_int_eq(kept_read(buf, n + 1, &got), -1);
}
END_TEST

START_TEST(fields)
{
	static uint8_t buf[65536];
	struct kept k = sample(), got;

	k.run = "0123";
	ck_assert_int_eq(kept_read(buf, bytes(&k, buf, sizeof(buf)), &got), -1);
	k = sample();
	k.profiles[1].digest = "x";
	ck_assert_int_eq(kept_read(buf, bytes(&k, buf, sizeof(buf)), &got), -1);
	k.profiles[1].digest = DIGEST;
	k.profiles[1].layer = 9;
	ck_assert_int_eq(kept_read(buf, bytes(&k, buf, sizeof(buf)), &got), -1);
	k.profiles[1].layer = 3;
	k.events[1].profile = 2; /* of two: no such profile */
	ck_assert_int_eq(kept_read(buf, bytes(&k, buf, sizeof(buf)), &got), -1);
	k.events[1].profile = 1;
	ck_assert_int_eq(kept_read(buf, bytes(&k, buf, sizeof(buf)), &got), 0);
	kept_free(&got);
	ck_assert_int_eq(kept_read(buf, STATE_FILE_MAX + 1, &got), -1);
}
END_TEST

static int
save(const char *sub, const char *name, size_t max)
{
	struct state st = {.path = path, .run = name, .uid = getuid()};
	struct state_file f;
	struct kept k = sample();

	k.run = name;
	if (state_begin(&st, sub, name, max, &f) == -1)
		return -1;
	ck_assert_int_eq(kept_write(f.fd, &k), 0);
	return state_end(&f, 1);
}

START_TEST(files)
{
	struct state st = {.path = path, .run = RUN, .uid = getuid()};
	struct kept_dir d;
	struct stat sb;

	ck_assert(!state_flagged(&st, DIGEST));
	kept_dir_load(&d, path, "runs", KEPT_RUN_HEX, NULL);
	ck_assert_uint_eq(d.n, 0);
	ck_assert_int_eq(d.err, 0);
	ck_assert_int_eq(save("flagged", DIGEST, 10), 0);
	ck_assert(state_flagged(&st, DIGEST));
	ck_assert_int_eq(save("runs", RUN, 10), 0);
	ck_assert_int_eq(save("runs", RUN, 10), 0); /* in its place */
	kept_dir_load(&d, path, "runs", KEPT_RUN_HEX, NULL);
	ck_assert_uint_eq(d.n, 1);
	ck_assert_uint_eq(d.unread, 0);
	ck_assert_uint_eq(d.files[0].kept.nevents, 2);
	kept_dir_free(&d);
	ck_assert_int_eq(stat(path, &sb), 0);
	ck_assert_int_eq(sb.st_mode & 0777, 0700);
}
END_TEST

/* The oldest goes; a directory that is too full gets smaller by and by. */
START_TEST(bounded)
{
	char name[KEPT_RUN_HEX + 1], file[160];
	struct timespec t[2] = {{0, 0}, {0, 0}};
	struct kept_dir d;
	int i;

	for (i = 0; i < 30; i++) {
		snprintf(name, sizeof(name), "%032x", (unsigned)i);
		ck_assert_int_eq(save("runs", name, 10), 0);
		snprintf(file, sizeof(file), "%s/runs/%s", path, name);
		t[1].tv_sec = 1000 + i;
		ck_assert_int_eq(utimensat(AT_FDCWD, file, t, 0), 0);
	}
	kept_dir_load(&d, path, "runs", KEPT_RUN_HEX, NULL);
	ck_assert_uint_eq(d.n, 10);
	for (i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "%032x", (unsigned)(20 + i));
		ck_assert_str_eq(d.files[i].name, name);
	}
	kept_dir_free(&d);
	ck_assert_int_eq(save("runs", RUN, 4), 0);
	kept_dir_load(&d, path, "runs", KEPT_RUN_HEX, NULL);
	ck_assert_uint_eq(d.n, 4);
	kept_dir_free(&d);
}
END_TEST

static const struct {
	const char *name, *cmd;
	int run; /* a run can keep something all the same */
} attacks[] = {
    {"a link in the place of the directory", "ln -s /tmp $D", 0},
    {"a FIFO in its place", "mkfifo $D", 0},
    {"a file in its place", "touch $D", 0},
    {"one that others may write", "mkdir $D; chmod 777 $D", 0},
    {"runs is a link", "mkdir -m 700 $D; ln -s /tmp $D/runs", 0},
    {"runs is a FIFO", "mkdir -m 700 $D; mkfifo $D/runs", 0},
    {"runs that a group may write", "mkdir -m 700 $D; mkdir -m 770 $D/runs", 0},
    {"a FIFO of a run",
	"mkdir -m 700 $D $D/runs; mkfifo "
	"$D/runs/00000000000000000000000000000000",
	1},
    {"a link of a run",
	"mkdir -m 700 $D $D/runs; ln -s /etc/passwd "
	"$D/runs/00000000000000000000000000000000",
	1},
    {"an empty run",
	"mkdir -m 700 $D $D/runs; touch "
	"$D/runs/00000000000000000000000000000000",
	1},
    {"one that is too long",
	"mkdir -m 700 $D $D/runs; truncate -s 5M "
	"$D/runs/00000000000000000000000000000000",
	1},
    {"another name", "mkdir -m 700 $D $D/runs; touch $D/runs/x", 1},
    {"a directory",
	"mkdir -m 700 $D $D/runs; mkdir "
	"$D/runs/00000000000000000000000000000000",
	1},
};

/* V039: whatever lies there, nothing is followed and nobody waits. */
START_TEST(hostile)
{
	struct state st = {.path = path, .run = RUN, .uid = getuid()};
	struct kept_dir d;
	char cmd[512];

	snprintf(cmd, sizeof(cmd), "D=%s; mkdir -p %s/a; %s", path, dir,
	    attacks[_i].cmd);
	ck_assert_int_eq(system(cmd), 0);
	ck_assert(!state_flagged(&st, DIGEST));
	ck_assert_msg((save("runs", RUN, 10) == 0) == attacks[_i].run, "%s",
	    attacks[_i].name);
	kept_dir_load(&d, path, "runs", KEPT_RUN_HEX, NULL);
	if (attacks[_i].run) {
		ck_assert_uint_eq(d.unread, 1);
		ck_assert_uint_ge(d.n, 1);
	} else
		ck_assert_uint_eq(d.n - d.unread, 0);
	kept_dir_free(&d);
	/* and nobody followed a link */
	ck_assert_int_eq(access("/tmp/" RUN, F_OK), -1);
	ck_assert_int_eq(access("/tmp/runs/" RUN, F_OK), -1);
}
END_TEST

START_TEST(many_events)
{
	static struct seen_list l;
	struct event e = sample().events[0];
	char text[32];
	unsigned i, round;

	memset(&l, 0, sizeof(l));
	for (round = 0; round < 3; round++)
		for (i = 0; i < 2 * EVENTS_MAX; i++) {
			snprintf(text, sizeof(text), "/bin/%u", i);
			e.resource = text;
			e.count = 2;
			ck_assert_int_eq(
			    seen_add(&l, &e) != NULL, i < EVENTS_MAX);
		}
	ck_assert_uint_eq(l.n, EVENTS_MAX);
	ck_assert_uint_eq(l.times, 3 * 2 * 2 * EVENTS_MAX);
	ck_assert_uint_eq(l.lost, 3 * 2 * EVENTS_MAX);
	ck_assert_uint_eq(l.list[7].times, 6);
	ck_assert_str_eq(l.list[7].e.resource, "/bin/7");
	/* what differs in one field is another one */
	seen_free(&l);
	memset(&l, 0, sizeof(l));
	e = sample().events[1];
	(void)seen_add(&l, &e);
	e.err = EPERM;
	(void)seen_add(&l, &e);
	e.line++;
	(void)seen_add(&l, &e);
	e.rule = "x";
	(void)seen_add(&l, &e);
	e.action = "resolve";
	(void)seen_add(&l, &e);
	e.profile = 0;
	(void)seen_add(&l, &e);
	e.surface = EVENT_LIMIT;
	(void)seen_add(&l, &e);
	(void)seen_add(&l, &e);
	ck_assert_uint_eq(l.n, 7);
	e.flags = EVENT_LOST;
	e.count = 40;
	ck_assert_ptr_null(seen_add(&l, &e));
	ck_assert_uint_eq(l.lost, 40);
	seen_free(&l);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("kept");
	TCase *tc = tcase_create("kept"), *fs = tcase_create("files");
	SRunner *sr;
	int failed;

	tcase_add_test(tc, there_and_back);
	tcase_add_test(tc, fields);
	tcase_add_test(tc, many_events);
	tcase_add_checked_fixture(fs, set_up, tear_down);
	tcase_add_test(fs, files);
	tcase_add_test(fs, bounded);
	tcase_add_loop_test(
	    fs, hostile, 0, (int)(sizeof(attacks) / sizeof(attacks[0])));
	suite_add_tcase(s, tc);
	suite_add_tcase(s, fs);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? 0 : 1;
}
