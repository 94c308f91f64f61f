#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
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
	g = policy_add_grant(
	    po, GRANT_COMMAND, 0, "/run/carrel/bin/zig", "/opt/zig/zig", 0);
	claim(g, 0, VERB_COMMAND, 14);
	claim(g, 1, VERB_COMMAND, 14);
	g = policy_add_grant(po, GRANT_SOCKET, 0, "/run/s", "/run/u/s", 0);
	claim(g, 1, VERB_SOCKET, 15);
	g = policy_add_grant(po, GRANT_DEVICE, 0, "/dev/kvm", "/dev/kvm", 0);
	claim(g, 1, VERB_DEVICE, 16);
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

/* The same about what is staged, sockets and devices: a field, a value. */
static const struct {
	const char *at, *guest, *source; /* NULL: as it is */
	int kind, verb, flags, size;	 /* 0: as it is */
} node_lies[] = {
    {"/run/carrel/bin/zig", "/run/carrel/bin", NULL, 0, 0, 0, 0},
    {"/run/carrel/bin/zig", "/run/carrel/bin/a/b", NULL, 0, 0, 0, 0},
    {"/run/carrel/bin/zig", "/run/carrel/bin/..", NULL, 0, 0, 0, 0},
    {"/run/carrel/bin/zig", "/run/carrel/bin/a\x1b", NULL, 0, 0, 0, 0},
    {"/run/carrel/bin/zig", "/run/carrel/zig", NULL, 0, 0, 0, 0},
    {"/run/carrel/bin/zig", "/run/zig", NULL, 0, 0, 0, 0},
    {"/run/carrel/bin/zig", NULL, "/", 0, 0, 0, 0},
    {"/run/carrel/bin/zig", NULL, "/proc/self/exe", 0, 0, 0, 0},
    {"/run/carrel/bin/zig", NULL, "zig", 0, 0, 0, 0},
    {"/run/carrel/bin/zig", NULL, "", 0, 0, 0, 0},
    {"/run/carrel/bin/zig", NULL, NULL, 0, 0, GRANT_WRITE, 0},
    {"/run/carrel/bin/zig", NULL, NULL, 0, 0, GRANT_TRY, 0},
    {"/run/carrel/bin/zig", NULL, NULL, 0, 0, 0, 1},
    {"/run/carrel/bin/zig", NULL, NULL, 0, VERB_READ, 0, 0},
    {"/run/carrel/bin/zig", NULL, NULL, 0, VERB_SOCKET, 0, 0},
    {"/run/carrel/bin/zig", NULL, NULL, GRANT_BIND, VERB_READ, 0, 0},
    {"/run/carrel/bin/zig", NULL, NULL, GRANT_SOCKET, VERB_SOCKET, 0, 0},
    {"/run/s", "/run/carrel/bin/s", NULL, 0, 0, 0, 0},
    {"/run/s", "/dev/log", NULL, 0, 0, 0, 0},
    {"/run/s", "/usr/s", NULL, 0, 0, 0, 0}, /* hides a part of /usr */
    {"/run/s", NULL, "/proc/1/root/s", 0, 0, 0, 0},
    {"/run/s", NULL, "/dev/log", 0, 0, 0, 0},
    {"/run/s", NULL, NULL, 0, 0, GRANT_WRITE, 0},
    {"/run/s", NULL, NULL, 0, 0, 0, 1},
    {"/run/s", NULL, NULL, 0, VERB_COMMAND, 0, 0},
    {"/run/s", NULL, NULL, GRANT_COMMAND, VERB_COMMAND, 0, 0},
    {"/run/s", NULL, NULL, GRANT_DEVICE, VERB_DEVICE, 0, 0},
    {"/dev/kvm", "/dev/other", NULL, 0, 0, 0, 0},
    {"/dev/kvm", NULL, "/etc/passwd", 0, 0, 0, 0},
    {"/dev/kvm", "/etc/kvm", "/etc/kvm", 0, 0, 0, 0},
    {"/dev/kvm", "/dev", "/dev", 0, 0, 0, 0},
    {"/dev/kvm", "/dev/null", "/dev/null", 0, 0, 0, 0},
    {"/dev/kvm", "/dev/pts/3", "/dev/pts/3", 0, 0, 0, 0},
    {"/dev/kvm", "/dev/shm", "/dev/shm", 0, 0, 0, 0},
    {"/dev/kvm", "/dev/shm/x", "/dev/shm/x", 0, 0, 0, 0},
    {"/dev/kvm", "/dev/mem", "/dev/mem", 0, 0, 0, 0},
    {"/dev/kvm", "/dev/port", "/dev/port", 0, 0, 0, 0},
    {"/dev/kvm", "/dev/core", "/dev/core", 0, 0, 0, 0},
    {"/dev/kvm", "/dev/../etc", "/dev/../etc", 0, 0, 0, 0},
    {"/dev/kvm", "/dev/k\x7f", "/dev/k\x7f", 0, 0, 0, 0},
    {"/dev/kvm", "/devil", "/devil", 0, 0, 0, 0},
    {"/dev/kvm", NULL, NULL, 0, 0, GRANT_WRITE, 0},
    {"/dev/kvm", NULL, NULL, 0, 0, 0, 1},
    {"/dev/kvm", NULL, NULL, 0, VERB_READ, 0, 0},
    {"/dev/kvm", NULL, NULL, GRANT_BIND, VERB_READ, 0, 0},
    {"/usr", NULL, NULL, 0, 0, GRANT_OWN, 0},
    {"/usr/src", NULL, NULL, 0, 0, GRANT_OWN, 0},
};

START_TEST(refuses_each_lie_about_nodes)
{
	struct policy po;
	struct grant *g;
	size_t i;

	good(&po);
	g = at(&po, node_lies[_i].at);
	if (node_lies[_i].guest != NULL)
		swap(&g->guest, node_lies[_i].guest);
	if (node_lies[_i].source != NULL)
		swap(&g->source, node_lies[_i].source);
	if (node_lies[_i].kind != 0)
		g->kind = (uint8_t)node_lies[_i].kind;
	for (i = 0; i < g->norigins && node_lies[_i].verb != 0; i++)
		g->origins[i].verb = (uint8_t)node_lies[_i].verb;
	g->flags |= (uint8_t)node_lies[_i].flags;
	g->size += (uint64_t)node_lies[_i].size;
	policy_sort(&po); /* or the order would be what is refused */
	ck_assert_msg(judge(&po) == -1, "lie %d was believed", _i);
	policy_free(&po);
}
END_TEST

/* S30: sockets and devices are for the people of the host to give. */
START_TEST(shipped_profiles_grant_no_node)
{
	struct policy po;

	good(&po);
	at(&po, "/run/s")->origins[0].profile = 0;
	ck_assert_int_eq(judge(&po), -1);
	at(&po, "/run/s")->origins[0].profile = 1;
	ck_assert_int_eq(judge(&po), 0);
	at(&po, "/dev/kvm")->origins[0].profile = 0;
	ck_assert_int_eq(judge(&po), -1);
	policy_free(&po);
}
END_TEST

/* A socket may be granted again where a bind shows it anyway. */
START_TEST(a_socket_in_a_bind)
{
	struct policy po;

	good(&po);
	swap(&at(&po, "/run/s")->source, "/usr/lib/s");
	swap(&at(&po, "/run/s")->guest, "/usr/lib/s");
	policy_sort(&po);
	ck_assert_int_eq(judge(&po), 0);
	policy_free(&po);
}
END_TEST

START_TEST(devices_that_are_memory)
{
	ck_assert_ptr_nonnull(check_device_number(makedev(1, 1)));
	ck_assert_ptr_nonnull(check_device_number(makedev(1, 2)));
	ck_assert_ptr_nonnull(check_device_number(makedev(1, 4)));
	ck_assert_ptr_null(check_device_number(makedev(1, 3)));
	ck_assert_ptr_null(check_device_number(makedev(10, 232)));
}
END_TEST

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

/* The sum of what the profiles ask for, each of them possible. */
START_TEST(sum_of_tmpfs)
{
	struct policy po;
	struct grant *g;

	good(&po);
	g = policy_add_grant(
	    &po, GRANT_TMPFS, 0, "/y", "", TMPFS_SUM - TMPFS_SIZE);
	claim(g, 1, VERB_TMPFS, 20);
	policy_sort(&po);
	ck_assert_int_eq(judge(&po), 0);
	at(&po, "/y")->size += TMPFS_SIZE_MIN;
	ck_assert_int_eq(judge(&po), -1);
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
	tcase_add_loop_test(t, refuses_each_lie_about_nodes, 0,
	    (int)(sizeof(node_lies) / sizeof(node_lies[0])));
	tcase_add_test(t, shipped_profiles_grant_no_node);
	tcase_add_test(t, a_socket_in_a_bind);
	tcase_add_test(t, devices_that_are_memory);
	tcase_add_test(t, order_is_canonical);
	tcase_add_test(t, sum_of_tmpfs);
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
