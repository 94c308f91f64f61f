#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ipc/channel.h"
#include "ipc/check.h"
#include "ipc/limits.h"
#include "ipc/policy.h"

/* The policy: over the wire and back, and what its check refuses. */

static void
claim(struct grant *g, uint16_t profile, uint8_t verb, uint32_t line)
{
	struct origin o = {.profile = profile, .verb = verb, .line = line};

	ck_assert_ptr_nonnull(g);
	ck_assert_int_eq(grant_add_origin(g, &o), 0);
}

/* A policy that is fine: everything there is, once. */
static void
good(struct policy *po)
{
	struct grant *g;

	memset(po, 0, sizeof(*po));
	ck_assert_ptr_nonnull(policy_add_profile(
	    po, "@sys", "/p/sys.profile", LAYER_SHIPPED, PROFILE_DEFAULT));
	ck_assert_ptr_nonnull(policy_add_profile(
	    po, "work", "/u/work.profile", LAYER_USER, PROFILE_ASKED));
	po->profiles[1].includes = calloc(1, sizeof(uint16_t));
	po->profiles[1].nincludes = 1; /* @sys */
	g = policy_add_grant(po, GRANT_BIND, 0, "/usr", "/usr", 0);
	claim(g, 0, VERB_READ, 3);
	claim(g, 1, VERB_TRY_READ, 9);
	g = policy_add_grant(
	    po, GRANT_BIND, GRANT_WRITE, "/usr/src", "/usr/src", 0);
	claim(g, 1, VERB_WRITE, 10);
	g = policy_add_grant(po, GRANT_TMPFS, 0, "/home/u", "", TMPFS_SIZE);
	claim(g, 1, VERB_TMPFS, 11);
	g = policy_add_grant(po, GRANT_BIND, GRANT_WRITE | GRANT_TRY,
	    "/home/u/proj", "/srv/proj", 0);
	claim(g, 1, VERB_TRY_WRITE, 12);
	g = policy_add_grant(po, GRANT_SYMLINK, 0, "/x", "usr/bin", 0);
	claim(g, 1, VERB_SYMLINK, 13);
	policy_sort(po);
}

static int
judge(struct policy *po)
{
	char why[TEXT_MAX_LEN] = "";
	int n = policy_check(po, why, sizeof(why));

	ck_assert(n == 0 || why[0] != '\0');
	return n;
}

static void
swap(char **p, const char *s)
{
	free(*p);
	*p = strdup(s);
}

static struct grant *
at(struct policy *po, const char *guest)
{
	size_t i;

	for (i = 0; i < po->ngrants; i++)
		if (strcmp(po->grants[i].guest, guest) == 0)
			return &po->grants[i];
	ck_abort_msg("no grant at %s", guest);
	return NULL;
}

START_TEST(accepts_what_is_fine)
{
	struct policy po;

	good(&po);
	ck_assert_int_eq(judge(&po), 0);
	policy_free(&po);
	ck_assert_int_eq(judge(&po), 0); /* an empty one, too */
}
END_TEST

START_TEST(wire_and_back)
{
	struct policy po, back;
	struct sender s;
	struct receiver r;
	int pair[2];

	good(&po);
	ck_assert_int_eq(channel_pair(pair), 0);
	ck_assert_int_eq(sender_init(&s, pair[0], channel_deadline(5)), 0);
	ck_assert_int_eq(policy_send(&s, &po), 0);
	close(pair[0]);
	ck_assert_int_eq(
	    receiver_init(&r, pair[1], channel_deadline(5), record_policy), 0);
	ck_assert_int_eq(policy_receive(&r, &back), 0);
	ck_assert_int_eq(judge(&back), 0);
	ck_assert_uint_eq(back.ngrants, po.ngrants);
	ck_assert_str_eq(at(&back, "/home/u/proj")->source, "/srv/proj");
	ck_assert_uint_eq(at(&back, "/home/u")->size, TMPFS_SIZE);
	ck_assert_uint_eq(at(&back, "/usr")->norigins, 2);
	ck_assert_uint_eq(back.profiles[1].nincludes, 1);
	sender_free(&s);
	receiver_free(&r);
	policy_free(&po);
	policy_free(&back);
	close(pair[1]);
}
END_TEST

/* One lie each, told to a policy that was fine. */
static void
lie(struct policy *po, int which)
{
	switch (which) {
	case 0:
		swap(&at(po, "/x")->guest, "/proc");
		break;
	case 1:
		swap(&at(po, "/x")->guest, "/y/../etc");
		break;
	case 2:
		swap(&at(po, "/x")->guest, "x");
		break;
	case 3:
		swap(&at(po, "/x")->guest, "/run/carrel/bin");
		break;
	case 4:
		swap(&at(po, "/x")->guest, "/y\x1b[1A");
		break;
	case 5:
		at(po, "/usr")->flags |= 0x80;
		break;
	case 6:
		at(po, "/usr")->flags |= GRANT_WRITE; /* nobody asked */
		break;
	case 7:
		at(po, "/usr")->flags |= GRANT_TRY; /* somebody must */
		break;
	case 8:
		at(po, "/usr/src")->flags = 0;
		break;
	case 9:
		at(po, "/x")->kind = GRANT_LAST + 1;
		break;
	case 10:
		at(po, "/x")->kind = 0;
		break;
	case 11:
		swap(&at(po, "/usr/src")->source, "/etc"); /* masks */
		break;
	case 12:
		at(po, "/usr/src")->kind = GRANT_TMPFS;
		break;
	case 13:
		at(po, "/home/u")->size = 0;
		break;
	case 14:
		at(po, "/home/u")->size = UINT64_MAX;
		break;
	case 15:
		swap(&at(po, "/home/u/proj")->source, "/");
		break;
	case 16:
		swap(&at(po, "/home/u/proj")->source, "/proc/1/root");
		break;
	case 17:
		swap(&at(po, "/home/u/proj")->source, "/dev/sda");
		break;
	case 18:
		swap(&at(po, "/home/u/proj")->source, "/srv/../etc");
		break;
	case 19:
		at(po, "/usr")->origins[0].profile = 2;
		break;
	case 20:
		at(po, "/usr")->origins[0].verb = VERB_TMPFS;
		break;
	case 21:
		at(po, "/usr")->origins[1] = at(po, "/usr")->origins[0];
		break;
	case 22:
		at(po, "/usr")->norigins = 0;
		break;
	case 23:
		swap(&po->profiles[0].name, "sys"); /* claims no '@' */
		break;
	case 24:
		swap(&po->profiles[1].name, "@work");
		break;
	case 25:
		swap(&po->profiles[1].name, "../x");
		break;
	case 26:
		po->profiles[1].layer = LAYER_LAST + 1;
		break;
	case 27:
		po->profiles[1].flags = 0;
		break;
	case 28:
		po->profiles[1].includes[0] = 2;
		break;
	case 29:
		swap(&po->profiles[0].name, "@zzz"),
		    swap(&po->profiles[1].name, "@zzz");
		po->profiles[1].layer = LAYER_SHIPPED;
		break;
	case 30:
		swap(&at(po, "/home/u/proj")->guest, "/usr/proj");
		break;
	case 31:
		swap(&at(po, "/x")->source, "");
		break;
	case 32:
		swap(&at(po, "/x")->guest, "/home/u");
		break;
	case 33:
		swap(&at(po, "/home/u/proj")->guest, "/x/proj");
		break;
	}
}
#define LIES 34

START_TEST(refuses_each_lie)
{
	struct policy po;

	good(&po);
	ck_assert_int_eq(judge(&po), 0);
	lie(&po, _i);
	ck_assert_msg(judge(&po) == -1, "lie %d was believed", _i);
	policy_free(&po);
}
END_TEST

START_TEST(order_is_canonical)
{
	struct policy po;
	struct grant g;

	good(&po);
	g = po.grants[0];
	po.grants[0] = po.grants[1];
	po.grants[1] = g;
	ck_assert_int_eq(judge(&po), -1);
	policy_sort(&po);
	ck_assert_int_eq(judge(&po), 0);
	policy_free(&po);
}
END_TEST

START_TEST(refused_policies_can_be_shown)
{
	struct policy po;

	good(&po);
	swap(&at(&po, "/x")->guest, "/proc");
	ck_assert_int_eq(policy_refuse(&po, "work", "/u/work.profile", 13,
			     "remove it", "\"%s\" is carrel's own", "/proc"),
	    0);
	ck_assert_int_eq(judge(&po), 0);
	at(&po, "/usr")->origins[0].profile = 7; /* would crash a screen */
	ck_assert_int_eq(judge(&po), -1);
	policy_free(&po);
}
END_TEST

START_TEST(more_refusals_than_are_kept)
{
	struct policy po;
	unsigned i;

	memset(&po, 0, sizeof(po));
	for (i = 0; i < REFUSALS_MAX + 10; i++)
		ck_assert_int_eq(
		    policy_refuse(&po, "", "", 0, "", "reason %u", i), 0);
	ck_assert_uint_eq(po.nrefusals, REFUSALS_MAX);
	ck_assert_uint_eq(po.unkept, 10);
	policy_free(&po);
}
END_TEST

START_TEST(finding)
{
	struct policy po;

	good(&po);
	ck_assert_str_eq(policy_find(&po, "/usr/src")->guest, "/usr/src");
	ck_assert_ptr_null(policy_find(&po, "/usr/sr"));
	ck_assert_str_eq(policy_above(&po, "/usr/src")->guest, "/usr");
	ck_assert_str_eq(policy_above(&po, "/usr/src/a/b")->guest, "/usr/src");
	ck_assert_ptr_null(policy_above(&po, "/usr"));
	ck_assert_ptr_null(policy_above(&po, "/usrx/y"));
	policy_free(&po);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("policy");
	TCase *t = tcase_create("policy");
	SRunner *sr;
	int failed;

	tcase_add_test(t, accepts_what_is_fine);
	tcase_add_test(t, wire_and_back);
	tcase_add_loop_test(t, refuses_each_lie, 0, LIES);
	tcase_add_test(t, order_is_canonical);
	tcase_add_test(t, refused_policies_can_be_shown);
	tcase_add_test(t, more_refusals_than_are_kept);
	tcase_add_test(t, finding);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? 0 : 1;
}
