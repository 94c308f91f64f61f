#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child/shared/broker.h"
#include "ipc/address.h"
#include "ipc/channel.h"
#include "ipc/egress.h"
#include "ipc/factory.h"
#include "ipc/rule.h"

/* Rules of egress, and the sockets that go with them to another process. */

#define NITEMS(a) (sizeof(a) / sizeof((a)[0]))

START_TEST(texts_of_addresses)
{
	static const struct {
		const char *text, *canonical;
	} cases[] = {
	    {"192.0.2.1", "192.0.2.1"},
	    {"0.0.0.0", "0.0.0.0"},
	    {"255.255.255.255", "255.255.255.255"},
	    {"2001:DB8::1", "2001:db8::1"},
	    {"::", "::"},
	    {"::1", "::1"},
	    {"1::", "1::"},
	    {"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},
	    {"2001:0:0:1:0:0:0:1", "2001:0:0:1::1"},
	    {"2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},
	    {"::ffff:1.2.3.4", "::ffff:102:304"},
	    {"1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"},
	};
	static const char *const bad[] = {"", "1", "1.2.3", "1.2.3.4.5",
	    "01.2.3.4", "0x7f.0.0.1", "2130706433", "1.2.3.256", "1.2.3.4 ",
	    " 1.2.3.4", "fe80::1%lo", "[::1]", "1:2:3",
	    ":::", "12345::", "1.2.3.4:80", "::1.2.3"};
	struct address a, b;
	char text[ADDRESS_TEXT];
	size_t i;

	for (i = 0; i < NITEMS(cases); i++) {
		ck_assert_int_eq(address_read(cases[i].text, &a), 0);
		ck_assert_str_eq(address_text(&a, text), cases[i].canonical);
		ck_assert_int_eq(address_read(text, &b), 0);
		ck_assert(address_equal(&a, &b));
	}
	for (i = 0; i < NITEMS(bad); i++)
		ck_assert_msg(address_read(bad[i], &a) == -1, "%s", bad[i]);
	(void)address_read("0.0.0.0", &a);
	(void)address_read("::", &b);
	ck_assert(!address_equal(&a, &b));
}
END_TEST

START_TEST(hosts_are_canonical)
{
	char label[65], name[256];
	static const struct {
		const char *text;
		enum egress_host is;
	} cases[] = {
	    {"example.org", EGRESS_NAME},
	    {"a", EGRESS_NAME},
	    {"a-b.c1", EGRESS_NAME},
	    {"xn--bcher-kva.example", EGRESS_NAME},
	    {"3com.example", EGRESS_NAME},
	    {"1.2.3.4.example", EGRESS_NAME},
	    {"*.example.org", EGRESS_WILD},
	    {"*.a.b.c", EGRESS_WILD},
	    {"192.0.2.7", EGRESS_ADDRESS},
	    {"2001:db8::7", EGRESS_ADDRESS},
	    {"", EGRESS_BAD},
	    {".", EGRESS_BAD},
	    {"*", EGRESS_BAD},
	    {"*.", EGRESS_BAD},
	    {"*.*.org", EGRESS_BAD},
	    {"a.*.org", EGRESS_BAD},
	    {"*a.org", EGRESS_BAD},
	    {"*.192.0.2.7", EGRESS_BAD},
	    {"example.org.", EGRESS_BAD},
	    {".example.org", EGRESS_BAD},
	    {"example..org", EGRESS_BAD},
	    {"Example.org", EGRESS_BAD},
	    {"-a.org", EGRESS_BAD},
	    {"a-.org", EGRESS_BAD},
	    {"a_b.org", EGRESS_BAD},
	    {"a b.org", EGRESS_BAD},
	    {"b\303\274cher.example", EGRESS_BAD},
	    {"a@b.org", EGRESS_BAD},
	    {"a.org:80", EGRESS_BAD},
	    {"a\r\nb.org", EGRESS_BAD},
	    {"2130706433", EGRESS_BAD},
	    {"0x7f000001", EGRESS_BAD},
	    {"0x7f.1", EGRESS_BAD},
	    {"127.1", EGRESS_BAD},
	    {"0177.0.0.1", EGRESS_BAD},
	    {"1.2.3.4.5", EGRESS_BAD},
	    {"2001:DB8::7", EGRESS_BAD},
	    {"2001:db8:0::7", EGRESS_BAD},
	    {"[2001:db8::7]", EGRESS_BAD},
	};
	size_t i;

	for (i = 0; i < NITEMS(cases); i++)
		ck_assert_msg(egress_host(cases[i].text) == cases[i].is, "%s",
		    cases[i].text);
	memset(label, 'a', sizeof(label));
	label[63] = '\0';
	ck_assert_int_eq(egress_host(label), EGRESS_NAME);
	label[63] = 'a';
	label[64] = '\0';
	ck_assert_int_eq(egress_host(label), EGRESS_BAD);
	for (i = 0; i < 253; i++)
		name[i] = i % 2 == 0 ? 'a' : '.';
	name[253] = '\0';
	ck_assert_int_eq(egress_host(name), EGRESS_NAME);
	strcpy(name + 253, ".a");
	ck_assert_int_eq(egress_host(name), EGRESS_BAD);
	/* an embedded NUL is a byte like others */
	ck_assert_int_eq(egress_name("a\0.b", 4), 0);
}
END_TEST

static struct egress
rule(unsigned scheme, const char *host, unsigned port)
{
	struct egress e = {
	    .scheme = (uint8_t)scheme, .host = host, .port = (uint16_t)port};

	return e;
}

/* V049 NETNAME */
START_TEST(labels_match_whole)
{
	struct egress exact = rule(EGRESS_TCP, "a.example", 1),
		      wild = rule(EGRESS_TCP, "*.a.example", 1),
		      all = {.scheme = EGRESS_ALL, .host = "*"};

	ck_assert(egress_match(&exact, "a.example"));
	ck_assert(!egress_match(&exact, "b.a.example"));
	ck_assert(!egress_match(&exact, "ba.example"));
	ck_assert(!egress_match(&exact, "a.exampl"));
	ck_assert(!egress_match(&exact, "a.example.b"));
	ck_assert(egress_match(&wild, "b.a.example"));
	ck_assert(egress_match(&wild, "c.b.a.example"));
	ck_assert(!egress_match(&wild, "a.example"));
	ck_assert(!egress_match(&wild, ".a.example"));
	ck_assert(!egress_match(&wild, "ba.example"));
	ck_assert(!egress_match(&wild, "*.a.example"));
	ck_assert(!egress_match(&wild, "b.a.example.c"));
	ck_assert(egress_match(&all, "a.example"));
	ck_assert(egress_match(&all, "192.0.2.1"));
}
END_TEST

START_TEST(rules_are_checked)
{
	static char name[] = "a.example", bad[] = "a.example.", star[] = "*";
	static const struct {
		unsigned what;
		uint64_t number;
		char *text;
		int ok;
	} cases[] = {
	    {EGRESS_HTTPS, 443, name, 1},
	    {EGRESS_UDP, 65535 | EGRESS_PRIVATE, name, 1},
	    {EGRESS_ALL, 0, star, 1},
	    {0, 443, name, 0},
	    {EGRESS_LAST + 1, 443, name, 0},
	    {EGRESS_TCP, 0, name, 0},
	    {EGRESS_TCP, EGRESS_PRIVATE, name, 0},
	    {EGRESS_TCP, 0x20000 | 1, name, 0},
	    {EGRESS_TCP, 1ULL << 32 | 1, name, 0},
	    {EGRESS_TCP, 1, bad, 0},
	    {EGRESS_TCP, 1, star, 0},
	    {EGRESS_ALL, 1, star, 0},
	    {EGRESS_ALL, EGRESS_PRIVATE, star, 0},
	    {EGRESS_ALL, 0, name, 0},
	};
	size_t i;

	for (i = 0; i < NITEMS(cases); i++) {
		struct rule r = {.kind = RULE_EGRESS,
		    .what = (uint8_t)cases[i].what,
		    .number = cases[i].number,
		    .text = cases[i].text};
		ck_assert_msg(
		    (egress_check(&r) == NULL) == cases[i].ok, "case %zu", i);
	}
}
END_TEST

START_TEST(rules_are_told)
{
	struct egress e = rule(EGRESS_HTTPS, "a.example", 443);
	char text[EGRESS_TEXT];

	ck_assert_str_eq(egress_text(&e, text), "https://a.example:443");
	e = rule(EGRESS_TCP, "2001:db8::1", 5);
	e.private = 1;
	ck_assert_str_eq(
	    egress_text(&e, text), "tcp://[2001:db8::1]:5 private");
	e = rule(EGRESS_ALL, "*", 0);
	ck_assert_str_eq(egress_text(&e, text), "*");
}
END_TEST

START_TEST(carrels_own_addresses)
{
	struct address v4, v6;
	char text[ADDRESS_TEXT];

	egress_pair(EGRESS_FIRST_NAME + 1, &v4, &v6);
	ck_assert_str_eq(address_text(&v4, text), "198.18.1.1");
	ck_assert_str_eq(
	    address_text(&v6, text), "fd63:6172:7265:6c00::c612:101");
	ck_assert(egress_own(&v4) && egress_own(&v6));
	ck_assert_int_eq(address_read("198.19.255.255", &v4), 0);
	ck_assert(egress_own(&v4));
	ck_assert_int_eq(address_read("198.20.0.0", &v4), 0);
	ck_assert(!egress_own(&v4));
	ck_assert_int_eq(address_read("198.17.255.255", &v4), 0);
	ck_assert(!egress_own(&v4));
	ck_assert_int_eq(address_read("fd63:6172:7265:6c01::", &v6), 0);
	ck_assert(!egress_own(&v6));
}
END_TEST

/* The stream with sockets */

static struct broker_rule a_rule = {
    .egress = {EGRESS_HTTPS, 0, 443, "a.example"}, .profile = 3, .line = 7};

static struct broker_host
a_host(const char *name, uint32_t at)
{
	struct broker_host h = {.name = (char *)(uintptr_t)name};

	if (at != 0)
		egress_pair(at, &h.v4, &h.v6);
	else if (address_read(name, &h.v4) == 0 && h.v4.family == AF_INET6) {
		h.v6 = h.v4;
		memset(&h.v4, 0, sizeof(h.v4));
	}
	return h;
}

static void
say(struct sender *s, const struct broker_host *h, size_t nh,
    const struct broker_socket *k, size_t nk)
{
	struct broker_setup counts = {
	    .nrules = 1, .nhosts = nh, .nsockets = nk};
	size_t i;

	a_rule.text = (char[]){"a.example"};
	ck_assert_int_eq(broker_begin(s, 0), 0);
	ck_assert_int_eq(broker_send_rule(s, &a_rule), 0);
	for (i = 0; i < nh; i++)
		ck_assert_int_eq(broker_send_host(s, &h[i]), 0);
	for (i = 0; i < nk; i++)
		ck_assert_int_eq(broker_send_socket(s, &k[i]), 0);
	ck_assert_int_eq(broker_end(s, &counts), 0);
}

/* How many descriptors this process has open. */
static int
count_open(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) != -1;
	return n;
}

static int
hear(int fd, struct broker_setup *b)
{
	struct receiver r;
	int n, err;

	ck_assert_int_eq(
	    receiver_init(&r, fd, channel_now() + 500, record_broker), 0);
	n = broker_receive(&r, b);
	err = errno;
	receiver_free(&r);
	errno = err;
	return n;
}

START_TEST(sockets_arrive)
{
	enum {
		MANY = DATAGRAM_FDS * 2 + 3
	};
	struct broker_host h[2] = {
	    a_host("192.0.2.7", 0), a_host("a.example", EGRESS_FIRST_NAME)};
	struct broker_socket k[MANY];
	struct broker_setup b;
	struct stat one, other;
	struct sender s;
	int pair[2], i, before = count_open();

	ck_assert_int_eq(channel_pair(pair), 0);
	ck_assert_int_eq(sender_init(&s, pair[0], channel_deadline(5)), 0);
	for (i = 0; i < MANY; i++) {
		k[i] = (struct broker_socket){.kind = BROKER_LISTENER,
		    .host = (uint16_t)(i % 2),
		    .port = (uint16_t)(i + 1),
		    .fd = socket(AF_INET, SOCK_STREAM, 0)};
		ck_assert_int_ne(k[i].fd, -1);
	}
	say(&s, h, 2, k, MANY);
	ck_assert_int_eq(hear(pair[1], &b), 0);
	ck_assert_uint_eq(b.nrules, 1);
	ck_assert_str_eq(b.rules[0].egress.host, "a.example");
	ck_assert_uint_eq(b.rules[0].profile, 3);
	ck_assert_uint_eq(b.rules[0].line, 7);
	ck_assert_uint_eq(b.nhosts, 2);
	ck_assert_int_eq(b.hosts[0].v6.family, 0);
	ck_assert_int_eq(b.hosts[1].v6.family, AF_INET6);
	ck_assert_uint_eq(b.nsockets, MANY);
	for (i = 0; i < MANY; i++) {
		ck_assert_uint_eq(b.sockets[i].port, i + 1);
		ck_assert_int_eq(fstat(k[i].fd, &one), 0);
		ck_assert_int_eq(fstat(b.sockets[i].fd, &other), 0);
		ck_assert_uint_eq(one.st_ino, other.st_ino);
		ck_assert_int_eq(fcntl(b.sockets[i].fd, F_GETFD), FD_CLOEXEC);
		close(k[i].fd);
	}
	broker_setup_free(&b);
	sender_free(&s);
	close(pair[0]);
	close(pair[1]);
	ck_assert_int_eq(count_open(), before);
}
END_TEST

/* One datagram: so many records of sockets, so many descriptors. */
static int
lie(size_t records, size_t fds, int *err)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE((DATAGRAM_FDS + 1) * sizeof(int))];
	} ctl;
	struct broker_setup b, counts = {.nrules = 1, .nsockets = records};
	struct broker_socket k = {.kind = BROKER_DNS_FLOW, .fd = 0};
	struct iovec iov;
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	struct sender s;
	int pair[2], list[DATAGRAM_FDS + 1], n;
	size_t i;

	ck_assert_int_eq(channel_pair(pair), 0);
	ck_assert_int_eq(sender_init(&s, pair[0], channel_deadline(5)), 0);
	a_rule.text = (char[]){"a.example"};
	ck_assert_int_eq(broker_begin(&s, 0), 0);
	ck_assert_int_eq(broker_send_rule(&s, &a_rule), 0);
	for (i = 0; i < records; i++)
		ck_assert_int_eq(broker_send_socket(&s, &k), 0);
	/* END, taken from a sender that cannot send */
	s.fd = -1;
	ck_assert_int_eq(broker_end(&s, &counts), -1);
	iov.iov_base = s.data;
	iov.iov_len = s.len;
	for (i = 0; i < fds; i++)
		list[i] = 0;
	if (fds > 0) {
		memset(&ctl, 0, sizeof(ctl));
		m.msg_control = &ctl;
		m.msg_controllen = CMSG_LEN(fds * sizeof(int));
		ctl.h.cmsg_level = SOL_SOCKET;
		ctl.h.cmsg_type = SCM_RIGHTS;
		ctl.h.cmsg_len = CMSG_LEN(fds * sizeof(int));
		memcpy(CMSG_DATA(&ctl.h), list, fds * sizeof(int));
	}
	ck_assert_int_eq(sendmsg(pair[0], &m, 0), (int)s.len);
	close(pair[0]);
	n = hear(pair[1], &b);
	*err = errno;
	if (n == 0)
		broker_setup_free(&b);
	sender_free(&s);
	close(pair[1]);
	return n;
}

START_TEST(as_many_as_the_records_say)
{
	int before = count_open(), err;

	ck_assert_int_eq(lie(2, 2, &err), 0);
	ck_assert_int_eq(lie(0, 0, &err), 0);
	ck_assert_int_eq(lie(2, 3, &err), -1);
	ck_assert_int_eq(err, EBADMSG);
	ck_assert_int_eq(lie(2, 1, &err), -1);
	ck_assert_int_eq(err, EBADMSG);
	ck_assert_int_eq(lie(2, 0, &err), -1);
	ck_assert_int_eq(err, EBADMSG);
	ck_assert_int_eq(lie(0, 1, &err), -1);
	ck_assert_int_eq(err, EBADMSG);
	/* more than there is room for */
	ck_assert_int_eq(lie(DATAGRAM_FDS, DATAGRAM_FDS + 1, &err), -1);
	ck_assert_int_eq(err, EBADMSG);
	ck_assert_int_eq(count_open(), before);
}
END_TEST

/* What the receiver says to this host and this socket. */
static int
judged(const struct broker_host *h, const struct broker_socket *k)
{
	struct broker_setup b;
	struct sender s;
	int pair[2], n, err;

	ck_assert_int_eq(channel_pair(pair), 0);
	ck_assert_int_eq(sender_init(&s, pair[0], channel_deadline(5)), 0);
	say(&s, h, 1, k, 1);
	n = hear(pair[1], &b);
	err = errno;
	if (n == 0)
		broker_setup_free(&b);
	else
		ck_assert_int_eq(err, EBADMSG);
	sender_free(&s);
	close(pair[0]);
	close(pair[1]);
	return n;
}

START_TEST(a_setup_is_checked)
{
	struct broker_host good = a_host("a.example", EGRESS_FIRST_NAME),
			   bad[] = {a_host("a.example", 0),
			       a_host("a.example", EGRESS_DNS),
			       a_host("a.example", EGRESS_FIRST_WILD),
			       a_host("a.example", 0x7f000001),
			       a_host("*.example", EGRESS_FIRST_NAME),
			       a_host("", EGRESS_FIRST_NAME)};
	struct broker_socket fine = {BROKER_LISTENER, 0, 1, 0},
			     wrong[] = {{0, 0, 1, 0},
				 {BROKER_LAST + 1, 0, 0, 0},
				 {BROKER_LISTENER, 1, 1, 0},
				 {BROKER_LISTENER, 0, 0, 0},
				 {BROKER_DNS_FLOW, 0, 1, 0},
				 {BROKER_OBSERVER, 1, 0, 0}};
	size_t i;

	ck_assert_int_eq(judged(&good, &fine), 0);
	for (i = 0; i < NITEMS(bad); i++)
		ck_assert_msg(judged(&bad[i], &fine) == -1, "host %zu", i);
	for (i = 0; i < NITEMS(wrong); i++)
		ck_assert_msg(judged(&good, &wrong[i]) == -1, "socket %zu", i);
}
END_TEST

START_TEST(ready_or_why_not)
{
	static const char *const texts[] = {"", "no name server is known"};
	struct receiver r;
	struct sender s;
	char why[64];
	int pair[2];
	size_t i;

	for (i = 0; i < NITEMS(texts); i++) {
		ck_assert_int_eq(channel_pair(pair), 0);
		ck_assert_int_eq(sender_init(&s, pair[0], -1), 0);
		ck_assert_int_eq(receiver_init(&r, pair[1], channel_now() + 500,
				     record_ready),
		    0);
		ck_assert_int_eq(broker_send_ready(&s, texts[i]), 0);
		ck_assert_int_eq(broker_receive_ready(&r, why, sizeof(why)), 0);
		ck_assert_str_eq(why, texts[i]);
		close(pair[0]);
		ck_assert_int_eq(
		    broker_receive_ready(&r, why, sizeof(why)), -1);
		ck_assert_int_eq(errno, EPIPE);
		receiver_free(&r);
		sender_free(&s);
		close(pair[1]);
	}
}
END_TEST

/* The factory's side, in the same process: what was asked, and this answer. */
static int
ask(const struct factory_ask *q, int made, int err, struct factory_ask *heard)
{
	int pair[2], n;
	pid_t pid;

	ck_assert_int_eq(channel_pair(pair), 0);
	ck_assert_int_eq(fcntl(pair[1], F_SETFL, 0), 0);
	if ((pid = fork()) == 0) {
		struct factory_ask got;

		if (factory_receive(pair[1], &got) != 1 ||
		    memcmp(&got, heard, sizeof(got)) != 0)
			_exit(1);
		(void)factory_answer(pair[1], made, err);
		_exit(0);
	}
	close(pair[1]);
	n = factory_ask(pair[0], q, channel_now() + 500);
	err = errno;
	close(pair[0]);
	errno = err;
	return n;
}

START_TEST(the_factory_answers)
{
	struct factory_ask q = {.udp = 1, .port = 0x1234};
	int fd, pair[2];

	ck_assert_int_eq(address_read("fd63::c0:1", &q.address), 0);
	ck_assert_int_ge(fd = ask(&q, 0, 0, &q), 0);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
	ck_assert_int_eq(ask(&q, -1, EADDRINUSE, &q), -1);
	ck_assert_int_eq(errno, EADDRINUSE);
	/* no descriptor and no error is no answer */
	ck_assert_int_eq(ask(&q, -1, 0, &q), -1);
	ck_assert_int_eq(errno, EBADMSG);
	/* it asks another thing than was said: the helper hangs up */
	fd = ask(&q, 0, 0, &(struct factory_ask){.port = 1});
	ck_assert_int_eq(fd, -1);
	ck_assert_int_eq(errno, EPIPE);
	/* and nobody there at all */
	ck_assert_int_eq(channel_pair(pair), 0);
	ck_assert_int_eq(factory_ask(pair[0], &q, channel_now() + 50), -1);
	ck_assert_int_eq(errno, ETIMEDOUT);
	close(pair[0]);
	close(pair[1]);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("egress");
	TCase *t = tcase_create("egress");
	SRunner *sr;
	int failed;

	tcase_add_test(t, texts_of_addresses);
	tcase_add_test(t, hosts_are_canonical);
	tcase_add_test(t, labels_match_whole);
	tcase_add_test(t, rules_are_checked);
	tcase_add_test(t, rules_are_told);
	tcase_add_test(t, carrels_own_addresses);
	tcase_add_test(t, sockets_arrive);
	tcase_add_test(t, as_many_as_the_records_say);
	tcase_add_test(t, a_setup_is_checked);
	tcase_add_test(t, ready_or_why_not);
	tcase_add_test(t, the_factory_answers);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? 0 : 1;
}
