#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "ipc/reach.h"

/* S84, V052: which addresses are ever reachable, in every spelling. */

struct expected {
	const char *text;
	enum reach reach;
	const char *why;
};

static const struct expected judged[] = {
    /* both ends of each range, and the neighbours outside */
    {"0.0.0.0", REACH_NEVER, "unspecified"},
    {"0.255.255.255", REACH_NEVER, "unspecified"},
    {"1.0.0.0", REACH_PUBLIC, "public"},
    {"9.255.255.255", REACH_PUBLIC, "public"},
    {"10.0.0.0", REACH_PRIVATE, "private"},
    {"10.255.255.255", REACH_PRIVATE, "private"},
    {"11.0.0.0", REACH_PUBLIC, "public"},
    {"100.63.255.255", REACH_PUBLIC, "public"},
    {"100.64.0.0", REACH_PRIVATE, "private"},
    {"100.100.100.199", REACH_PRIVATE, "private"},
    {"100.100.100.200", REACH_NEVER, "metadata"},
    {"100.127.255.255", REACH_PRIVATE, "private"},
    {"100.128.0.0", REACH_PUBLIC, "public"},
    {"126.255.255.255", REACH_PUBLIC, "public"},
    {"127.0.0.0", REACH_NEVER, "loopback"},
    {"127.255.255.255", REACH_NEVER, "loopback"},
    {"128.0.0.0", REACH_PUBLIC, "public"},
    {"168.63.129.15", REACH_PUBLIC, "public"},
    {"168.63.129.16", REACH_NEVER, "metadata"},
    {"169.253.255.255", REACH_PUBLIC, "public"},
    {"169.254.0.0", REACH_NEVER, "link-local"},
    {"169.254.169.254", REACH_NEVER, "metadata"},
    {"169.254.255.255", REACH_NEVER, "link-local"},
    {"169.255.0.0", REACH_PUBLIC, "public"},
    {"172.15.255.255", REACH_PUBLIC, "public"},
    {"172.16.0.0", REACH_PRIVATE, "private"},
    {"172.31.255.255", REACH_PRIVATE, "private"},
    {"172.32.0.0", REACH_PUBLIC, "public"},
    {"192.0.0.0", REACH_NEVER, "reserved"},
    {"192.0.1.0", REACH_PUBLIC, "public"},
    {"192.0.2.1", REACH_PUBLIC, "public"}, /* documentation */
    {"192.88.99.1", REACH_NEVER, "reserved"},
    {"192.167.255.255", REACH_PUBLIC, "public"},
    {"192.168.0.0", REACH_PRIVATE, "private"},
    {"192.168.255.255", REACH_PRIVATE, "private"},
    {"192.169.0.0", REACH_PUBLIC, "public"},
    {"198.17.255.255", REACH_PUBLIC, "public"},
    {"198.18.0.0", REACH_NEVER, "carrel's own range"},
    {"198.19.255.255", REACH_NEVER, "carrel's own range"},
    {"198.20.0.0", REACH_PUBLIC, "public"},
    {"198.51.100.7", REACH_PUBLIC, "public"},
    {"203.0.113.5", REACH_PUBLIC, "public"},
    {"223.255.255.255", REACH_PUBLIC, "public"},
    {"224.0.0.1", REACH_NEVER, "multicast"},
    {"239.255.255.255", REACH_NEVER, "multicast"},
    {"240.0.0.0", REACH_NEVER, "reserved"},
    {"255.255.255.254", REACH_NEVER, "reserved"},
    {"255.255.255.255", REACH_NEVER, "broadcast"},
    {"::", REACH_NEVER, "unspecified"},
    {"::1", REACH_NEVER, "loopback"},
    {"fe80::1", REACH_NEVER, "link-local"},
    {"febf::1", REACH_NEVER, "link-local"},
    {"fec0::1", REACH_NEVER, "reserved"},
    {"ff02::1", REACH_NEVER, "multicast"},
    {"fbff::1", REACH_NEVER, "reserved"},
    {"fc00::1", REACH_PRIVATE, "private"},
    {"fd00::1", REACH_PRIVATE, "private"},
    {"fd00:ec2::253", REACH_PRIVATE, "private"},
    {"fd00:ec2::254", REACH_NEVER, "metadata"},
    {"fd20:ce::254", REACH_NEVER, "metadata"},
    {"fd20:ce::253", REACH_PRIVATE, "private"},
    {"fd00:42::42", REACH_NEVER, "metadata"},
    {"192.0.0.192", REACH_NEVER, "reserved"}, /* metadata of another */
    {"fd63:6172:7265:6c00::", REACH_NEVER, "carrel's own range"},
    {"fd63:6172:7265:6c00:ffff::", REACH_NEVER, "carrel's own range"},
    {"fd63:6172:7265:6c01::", REACH_PRIVATE, "private"},
    {"fdff:ffff::1", REACH_PRIVATE, "private"},
    {"fe00::1", REACH_NEVER, "reserved"},
    {"100::1", REACH_NEVER, "reserved"},
    {"1fff::1", REACH_NEVER, "reserved"},
    {"2000::1", REACH_PUBLIC, "public"},
    {"2001:1::1", REACH_NEVER, "reserved"},
    {"2001:1ff::1", REACH_NEVER, "reserved"},
    {"2001:200::1", REACH_PUBLIC, "public"},
    {"2001:db8::1", REACH_PUBLIC, "public"}, /* documentation */
    {"3fff::1", REACH_PUBLIC, "public"},
    {"4000::1", REACH_NEVER, "reserved"},
    /* IPv4 inside: the worse of the two */
    {"::ffff:203.0.113.5", REACH_PUBLIC, "mapped"},
    {"::ffff:127.0.0.1", REACH_NEVER, "loopback"},
    {"::ffff:7f00:1", REACH_NEVER, "loopback"},
    {"::ffff:10.0.0.1", REACH_PRIVATE, "private"},
    {"::ffff:169.254.169.254", REACH_NEVER, "metadata"},
    {"::127.0.0.1", REACH_NEVER, "loopback"},
    {"::203.0.113.5", REACH_PUBLIC, "compatible"},
    {"::2", REACH_NEVER, "unspecified"},
    {"::ffff:0:127.0.0.1", REACH_NEVER, "loopback"},
    {"64:ff9b::203.0.113.5", REACH_PUBLIC, "NAT64"},
    {"64:ff9b::127.0.0.1", REACH_NEVER, "loopback"},
    {"64:ff9b::192.168.1.1", REACH_PRIVATE, "private"},
    {"64:ff9b:0:0:0:1:203.0.113.5", REACH_NEVER, "reserved"},
    {"64:ff9b:1::203.0.113.5", REACH_NEVER, "reserved"},
    {"2002:cb00:7105::1", REACH_PUBLIC, "public"},
    {"2002:7f00:1::1", REACH_NEVER, "loopback"},
    {"2002:a00:1::1", REACH_PRIVATE, "private"},
    {"2002:a9fe:a9fe::1", REACH_NEVER, "metadata"},
    {"2002:e000:1::1", REACH_NEVER, "multicast"},
    {"2002:c612:2::1", REACH_NEVER, "carrel's own range"},
    {"64:ff9b::169.254.169.254", REACH_NEVER, "metadata"},
    {"64:ff9b::198.18.0.2", REACH_NEVER, "carrel's own range"},
    {"64:ff9b::100.100.100.200", REACH_NEVER, "metadata"},
    {"64:ff9b::0.0.0.0", REACH_NEVER, "unspecified"},
    {"::ffff:224.0.0.1", REACH_NEVER, "multicast"},
    {"::ffff:255.255.255.255", REACH_NEVER, "broadcast"},
    {"::ffff:0:10.0.0.1", REACH_PRIVATE, "private"},
    {"::10.0.0.1", REACH_PRIVATE, "private"},
    {"2001:db8::5efe:10.0.0.1", REACH_PRIVATE, "private"},
    {"fd00::5efe:127.0.0.1", REACH_NEVER, "loopback"},
    {"5f00::1", REACH_NEVER, "reserved"},
    {"2001:2::1", REACH_NEVER, "reserved"},
    {"2001:20::1", REACH_NEVER, "reserved"},
    {"3ffe::1", REACH_PUBLIC, "public"},
    /* Teredo: the server in the clear, the client complemented */
    {"2001:0:cb00:7105::34ff:8efa", REACH_PUBLIC, "Teredo"},
    {"2001:0:7f00:1::34ff:8efa", REACH_NEVER, "loopback"},
    {"2001:0:cb00:7105::80ff:fffe", REACH_NEVER, "loopback"},
    {"2001:0:cb00:7105::f5ff:fffe", REACH_PRIVATE, "private"},
    {"2001:db8::5efe:127.0.0.1", REACH_NEVER, "loopback"},
    {"2001:db8::200:5efe:127.0.0.1", REACH_NEVER, "loopback"},
    {"2001:db8::200:5efe:203.0.113.5", REACH_PUBLIC, "public"},
};

START_TEST(S84_classes)
{
	const struct expected *e = &judged[_i];
	struct address a;
	const char *why;

	ck_assert_int_eq(address_read(e->text, &a), 0);
	ck_assert_msg(reach_of(&a, &why) == e->reach, "%s", e->text);
	ck_assert_msg(strcmp(why, e->why) == 0, "%s: %s", e->text, why);
}
END_TEST

START_TEST(V052_odd_spellings)
{
	static const char *const bad[] = {"", "1", "127.1", "2130706433",
	    "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "127.0.0.01", "1.2.3",
	    "1.2.3.4.5", "1.2.3.256", " 1.2.3.4", "1.2.3.4 ", "+1.2.3.4",
	    "fe80::1%lo", "[::1]", "1::2::3", "12345::", "::1.2.3", ":", ":::"};
	struct address a;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(address_read(bad[i], &a) == -1, "%s", bad[i]);
	ck_assert_int_eq(address_read("127.0.0.1", &a), 0);
}
END_TEST

START_TEST(mapped_is_ipv4)
{
	char text[ADDRESS_TEXT];
	struct address a, b;

	ck_assert_int_eq(address_read("::ffff:192.0.2.10", &a), 0);
	ck_assert_int_eq(address_read("192.0.2.10", &b), 0);
	ck_assert(!address_equal(&a, &b));
	reach_unmap(&a);
	ck_assert(address_equal(&a, &b));
	ck_assert_str_eq(address_text(&a, text), "192.0.2.10");
	/* nothing else is turned into another address */
	ck_assert_int_eq(address_read("64:ff9b::192.0.2.10", &a), 0);
	reach_unmap(&a);
	ck_assert_int_eq(a.family, AF_INET6);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("reach");
	TCase *c = tcase_create("reach");
	SRunner *r = srunner_create(s);
	int n;

	tcase_add_loop_test(
	    c, S84_classes, 0, (int)(sizeof(judged) / sizeof(judged[0])));
	tcase_add_test(c, V052_odd_spellings);
	tcase_add_test(c, mapped_is_ipv4);
	suite_add_tcase(s, c);
	srunner_run_all(r, CK_ENV);
	n = srunner_ntests_failed(r);
	srunner_free(r);
	return n == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
