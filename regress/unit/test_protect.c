/* S7 by name: what policy_protect() adds, and what it refuses. */
#include <check.h>
#include <unistd.h>

#include "ipc/channel.h"
#include "world.h"

static struct policy po;
static struct caller ca;

static void
setup(void)
{
	world_policy(&po);
	world_caller(&ca);
	world_protect(&ca, "/home/u/.config/carrel");
	world_protect(&ca, "/etc/carrel");
}

static void
teardown(void)
{
	policy_free(&po);
	caller_free(&ca);
}

/* Judged as the parent does it, with n grants more and no refusal. */
static void
adds(size_t n)
{
	size_t before, i, own = 0;

	world_check(&po);
	before = po.ngrants;
	ck_assert_int_eq(policy_protect(&po, &ca), 0);
	if (po.nrefusals > 0)
		ck_abort_msg("%s", po.refusals[0].what);
	ck_assert_uint_eq(po.ngrants, before + n);
	for (i = 0; i < po.ngrants; i++)
		own += (po.grants[i].flags & GRANT_OWN) != 0;
	ck_assert_uint_eq(own, n);
}

static void
own(const char *guest, const char *source)
{
	const struct grant *g = policy_find(&po, guest);

	ck_assert_msg(g != NULL, "nothing at %s", guest);
	ck_assert_str_eq(g->source, source);
	ck_assert_int_eq(g->kind, GRANT_BIND);
	ck_assert_int_eq(g->flags, GRANT_OWN);
	ck_assert_uint_eq(g->norigins, 0);
}

static void
refuses(const char *what, uint32_t line)
{
	size_t before;

	world_check(&po);
	before = po.ngrants;
	ck_assert_int_eq(policy_protect(&po, &ca), 0);
	ck_assert_uint_eq(po.nrefusals, 1);
	ck_assert_uint_eq(po.ngrants, before);
	ck_assert_msg(strstr(po.refusals[0].what, what) != NULL, "%s",
	    po.refusals[0].what);
	ck_assert_str_eq(po.refusals[0].profile, "mine");
	ck_assert_uint_eq(po.refusals[0].line, line);
	ck_assert_str_ne(po.refusals[0].fix, "");
}

START_TEST(inside_a_write_grant)
{
	world_add(&po, VERB_WRITE, "/home/u", NULL);
	adds(1);
	own("/home/u/.config/carrel", "/home/u/.config/carrel");
}
END_TEST

START_TEST(at_another_name_inside)
{
	world_add(&po, VERB_WRITE, "/mnt/h", "/home");
	world_add(&po, VERB_TRY_WRITE, "/mnt/e", "/etc");
	world_add(&po, VERB_WRITE, "/mnt/f", "/etc");
	adds(3);
	own("/mnt/h/u/.config/carrel", "/home/u/.config/carrel");
	own("/mnt/e/carrel", "/etc/carrel");
	own("/mnt/f/carrel", "/etc/carrel");
}
END_TEST

START_TEST(nothing_to_do)
{
	world_add(&po, VERB_READ, "/home/u", NULL);
	world_add(&po, VERB_TRY_READ, "/etc", NULL);
	world_add(&po, VERB_TMPFS, "/home/u2", NULL);
	world_add(&po, VERB_WRITE, "/srv", NULL);
	/* a name that only begins like it */
	world_add(&po, VERB_WRITE, "/home/u/.config/carrel2", NULL);
	world_add(&po, VERB_WRITE, "/home/u/.config/carre", NULL);
	adds(0);
}
END_TEST

START_TEST(read_already)
{
	world_add(&po, VERB_WRITE, "/home/u", NULL);
	world_add(&po, VERB_READ, "/home/u/.config/carrel", NULL);
	world_add(&po, VERB_WRITE, "/etc", NULL);
	world_add(&po, VERB_READ, "/etc/carrel", NULL);
	adds(0);
}
END_TEST

START_TEST(read_from_above)
{
	world_add(&po, VERB_WRITE, "/home/u", NULL);
	world_add(&po, VERB_READ, "/home/u/.config", NULL);
	adds(0);
}
END_TEST

/* The deepest write grant decides, and is the one that is pinned in. */
START_TEST(write_read_write)
{
	world_add(&po, VERB_WRITE, "/home", NULL);
	world_add(&po, VERB_READ, "/home/u", NULL);
	world_add(&po, VERB_WRITE, "/home/u/.config", NULL);
	adds(1);
	own("/home/u/.config/carrel", "/home/u/.config/carrel");
}
END_TEST

START_TEST(nested_paths_need_one)
{
	world_protect(&ca, "/home/u/.config/carrel/profiles.d");
	world_protect(&ca, "/home/u/.config/carrel"); /* twice */
	world_add(&po, VERB_WRITE, "/home/u", NULL);
	world_add(&po, VERB_WRITE, "/mnt", "/home/u");
	adds(2);
	own("/home/u/.config/carrel", "/home/u/.config/carrel");
	own("/mnt/.config/carrel", "/home/u/.config/carrel");
}
END_TEST

START_TEST(the_thing_itself)
{
	world_add(&po, VERB_READ, "/usr", NULL);
	world_add(&po, VERB_WRITE, "/home/u/.config/carrel", NULL);
	refuses("/home/u/.config/carrel: that is what carrel trusts", 2);
}
END_TEST

START_TEST(a_part_of_it)
{
	/* told once, though both paths hold it */
	world_protect(&ca, "/home/u/.config/carrel/profiles.d");
	world_add(
	    &po, VERB_WRITE, "/mnt/x", "/home/u/.config/carrel/profiles.d/x");
	refuses("is a part of /home/u/.config/carrel, and", 1);
}
END_TEST

START_TEST(commands)
{
	world_add(&po, VERB_COMMAND, "/run/carrel/bin/t", "/srv/bin/t");
	world_add(&po, VERB_COMMAND, "/run/carrel/bin/t2", "/srv/bin/t");
	world_add(&po, VERB_COMMAND, "/run/carrel/bin/o", "/opt/o");
	world_add(&po, VERB_WRITE, "/srv", NULL);
	adds(1);
	own("/srv/bin/t", "/srv/bin/t");
}
END_TEST

START_TEST(a_command_itself)
{
	world_add(&po, VERB_COMMAND, "/run/carrel/bin/t", "/srv/bin/t");
	world_add(&po, VERB_WRITE, "/srv/bin/t", NULL);
	refuses("/srv/bin/t: that is staged as a command", 2);
}
END_TEST

/* What is refused already is shown as it is. */
START_TEST(refused_policies_stay)
{
	world_add(&po, VERB_WRITE, "/home/u", NULL);
	world_check(&po);
	ck_assert_int_eq(policy_refuse(&po, "", "", 0, "fix", "why"), 0);
	ck_assert_int_eq(policy_protect(&po, &ca), 0);
	ck_assert_uint_eq(po.ngrants, 1);
	ck_assert_uint_eq(po.nrefusals, 1);
}
END_TEST

START_TEST(too_long_inside)
{
	char guest[PATH_MAX_LEN + 1];
	size_t n;

	for (n = 0; n + 2 < sizeof(guest); n += 2)
		memcpy(guest + n, "/x", 3);
	guest[n] = '\0';
	world_add(&po, VERB_WRITE, guest, "/home/u");
	refuses("inside has more than", 1);
	ck_assert_str_eq(po.refusals[0].fix, "choose a shorter path inside");
}
END_TEST

/* Of what was added nothing is sent, and as sent it would be refused. */
START_TEST(never_on_the_wire)
{
	struct policy back;
	struct receiver r;
	struct sender s;
	char why[TEXT_MAX_LEN] = "";
	int pair[2];

	world_add(&po, VERB_WRITE, "/home/u", NULL);
	adds(1);
	ck_assert_int_eq(policy_check(&po, why, sizeof(why)), -1);
	ck_assert_int_eq(channel_pair(pair), 0);
	ck_assert_int_eq(sender_init(&s, pair[0], channel_deadline(5)), 0);
	ck_assert_int_eq(policy_send(&s, &po), 0);
	close(pair[0]);
	ck_assert_int_eq(
	    receiver_init(&r, pair[1], channel_deadline(5), record_policy), 0);
	ck_assert_int_eq(policy_receive(&r, &back), 0);
	ck_assert_uint_eq(back.ngrants, 1);
	ck_assert_int_eq(policy_check(&back, why, sizeof(why)), 0);
	ck_assert_int_eq(policy_protect(&back, &ca), 0);
	ck_assert_uint_eq(back.ngrants, 2);
	policy_free(&back);
	sender_free(&s);
	receiver_free(&r);
	close(pair[1]);
}
END_TEST

/* The order of the grants and paths leaves no trace. */
START_TEST(many)
{
	char path[64];
	int i;

	for (i = 0; i < 200; i++) {
		snprintf(path, sizeof(path), "/w%d", i * 37 % 200);
		world_add(&po, VERB_WRITE, path, "/home/u");
	}
	world_protect(&ca, "/home/u/a");
	world_protect(&ca, "/home/u/0");
	adds(600);
	own("/w7/.config/carrel", "/home/u/.config/carrel");
	own("/w199/a", "/home/u/a");
	own("/w0/0", "/home/u/0");
}
END_TEST

/*
 * As many trusted paths as write grants that hold each of them: what is added
 * would be their product, and so would be the time where nothing is.
 */
START_TEST(a_product)
{
	char path[64], source[64];
	int i;

	for (i = 0; i < 1024; i++) {
		snprintf(path, sizeof(path), "/w%04d", i);
		world_add(&po, VERB_WRITE, path, "/home/u");
		snprintf(path, sizeof(path), "/w%04d/s", i);
		world_add(&po, VERB_READ, path, "/home/u/s");
		snprintf(path, sizeof(path), "/run/carrel/bin/c%d", i);
		snprintf(source, sizeof(source), "/home/u/s/c%d", i);
		world_add(&po, VERB_COMMAND, path, source);
	}
	world_check(&po);
	ck_assert_int_eq(policy_protect(&po, &ca), 0);
	ck_assert_uint_eq(po.nrefusals, 1);
	ck_assert_uint_eq(po.ngrants, 3 * 1024);
	ck_assert_str_eq(po.refusals[0].what,
	    "what no payload may write lies in too many write grants");
	ck_assert_str_ne(po.refusals[0].fix, "");
}
END_TEST

/* A few of each are in order. */
START_TEST(no_product)
{
	char path[64], source[64];
	int i;

	for (i = 0; i < 64; i++) {
		snprintf(path, sizeof(path), "/w%04d", i);
		world_add(&po, VERB_WRITE, path, "/home/u");
		snprintf(path, sizeof(path), "/run/carrel/bin/c%d", i);
		snprintf(source, sizeof(source), "/home/u/s/c%d", i);
		world_add(&po, VERB_COMMAND, path, source);
	}
	adds(64 * 65); /* and the configuration */
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {inside_a_write_grant,
	    at_another_name_inside, nothing_to_do, read_already,
	    read_from_above, write_read_write, nested_paths_need_one,
	    the_thing_itself, a_part_of_it, commands, a_command_itself,
	    refused_policies_stay, too_long_inside, never_on_the_wire, many,
	    a_product, no_product};
	Suite *s = suite_create("protect");
	TCase *t = tcase_create("protect");
	SRunner *sr;
	size_t i;
	int failed;

	tcase_add_checked_fixture(t, setup, teardown);
	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(t, tests[i]);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? 0 : 1;
}
