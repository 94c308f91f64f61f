#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "child/shared/hostname.h"

/* S81, V048, V049, V050: one spelling of a name, matched by whole labels. */

#define L63 "a23456789012345678901234567890123456789012345678901234567890123"

START_TEST(S81_one_spelling)
{
	static const char *const good[][2] = {
	    {"allowed.test", "allowed.test"},
	    {"ALLOWED.Test", "allowed.test"},
	    {"allowed.test.", "allowed.test"}, /* V050 */
	    {"localhost", "localhost"},
	    {"1.2.3.4.example", "1.2.3.4.example"},
	    {"r3---sn-x.example", "r3---sn-x.example"},
	    {"xn--bcher-kva.example", "xn--bcher-kva.example"},
	    {L63 ".example", L63 ".example"},
	    {"a.0xfg", "a.0xfg"},
	};
	char name[EGRESS_HOST_MAX + 1];
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		ck_assert_msg(hostname_normalise(
				  name, good[i][0], strlen(good[i][0])) == 0,
		    "%s", good[i][0]);
		ck_assert_str_eq(name, good[i][1]);
	}
}
END_TEST

START_TEST(S81_no_names)
{
	static const char *const bad[] = {"", ".", "..", "allowed.test..",
	    ".allowed.test", "allowed..test", "-allowed.test", "allowed-.test",
	    "allowed.test-", "*.allowed.test", "allowed_x.test",
	    "allowed.test:443", "allowed.test/", "a b.test", "allowed.test%00",
	    "user@allowed.test", "allowed.test#", "allowed\\.test",
	    "b\xc3\xbc"
	    "cher.example",
	    L63 "4.example", "127.0.0.1", "2130706433", "0x7f000001", "127.1",
	    "0x7f.1", "example.0x", "1.2.3.0x4", "[::1]", "::1"};
	static const char nul[] = "denied.test\0.allowed.test";
	char name[EGRESS_HOST_MAX + 1], longest[EGRESS_HOST_MAX + 3];
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(
		    hostname_normalise(name, bad[i], strlen(bad[i])) == -1,
		    "%s", bad[i]);
	/* V048: a NUL anywhere */
	ck_assert_int_eq(hostname_normalise(name, nul, sizeof(nul) - 1), -1);
	ck_assert_int_eq(
	    hostname_normalise(name, nul, sizeof("denied.test")), -1);
	ck_assert_int_eq(
	    hostname_normalise(name, nul, sizeof("denied.test") - 1), 0);
	for (i = 0; i < sizeof(longest) - 1; i++)
		longest[i] = i % 2 == 0 ? 'a' : '.';
	ck_assert_int_eq(hostname_normalise(name, longest, EGRESS_HOST_MAX), 0);
	ck_assert_int_eq(
	    hostname_normalise(name, longest, EGRESS_HOST_MAX + 2), -1);
}
END_TEST

static int
matches(const char *pattern, const char *name)
{
	struct egress e = {.scheme = EGRESS_TCP, .port = 1, .host = pattern};

	return egress_match(&e, name);
}

START_TEST(V049_whole_labels)
{
	ck_assert(matches("allowed.test", "allowed.test"));
	ck_assert(!matches("allowed.test", "sub.allowed.test"));
	ck_assert(!matches("allowed.test", "evilallowed.test"));
	ck_assert(!matches("allowed.test", "allowed.test.denied.test"));
	ck_assert(!matches("allowed.test", "allowed.tes"));
	ck_assert(matches("*.allowed.test", "a.allowed.test"));
	ck_assert(matches("*.allowed.test", "a.b.allowed.test"));
	ck_assert(!matches("*.allowed.test", "allowed.test"));
	ck_assert(!matches("*.allowed.test", "evilallowed.test"));
	ck_assert(!matches("*.allowed.test", "a.allowed.test.x"));
	ck_assert(!matches("*.allowed.test", ".allowed.test"));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("hostname");
	TCase *c = tcase_create("hostname");
	SRunner *r = srunner_create(s);
	int n;

	tcase_add_test(c, S81_one_spelling);
	tcase_add_test(c, S81_no_names);
	tcase_add_test(c, V049_whole_labels);
	suite_add_tcase(s, c);
	srunner_run_all(r, CK_ENV);
	n = srunner_ntests_failed(r);
	srunner_free(r);
	return n == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
