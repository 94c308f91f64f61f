#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "child/broker/dns.h"

/* Messages of the name system: V048, V053, V059. */

#define BYTES(s) (const uint8_t *)(s), sizeof(s) - 1
#define HEAD	 "\x12\x34\x01\x00\0\1\0\0\0\0\0\0"
#define ALLOWED	 "\7allowed\4test\0"
#define IN_A	 "\0\1\0\1"
#define OPT	 "\0\0\x29\x04\xd0\0\0\0\0\0\0"

struct query {
	const char *bytes;
	size_t len;
	int code;
	const char *text; /* NULL: not looked at */
	int host;	  /* dns_host() */
};
#define Q(s) (s), sizeof(s) - 1

static const struct query queries[] = {
    {Q(HEAD ALLOWED IN_A), DNS_OK, "allowed.test", 0},
    {Q(HEAD "\7ALLOWED\4TesT\0" IN_A), DNS_OK, "ALLOWED.TesT", 0},
    {Q("\x12\x34\x01\x20\0\1\0\0\0\0\0\1" ALLOWED IN_A OPT), DNS_OK,
	"allowed.test", 0},
    /* not to be answered: short, or an answer */
    {Q(""), -1, NULL, 0},
    {Q("\x12\x34\x01\x00\0\1\0\0\0\0\0"), -1, NULL, 0},
    {Q("\x12\x34\x81\x00\0\1\0\0\0\0\0\0" ALLOWED IN_A), -1, NULL, 0},
    /* other operations, other counts */
    {Q("\x12\x34\x28\x00\0\1\0\0\0\0\0\0" ALLOWED IN_A), DNS_NOTIMP, "", 0},
    {Q("\x12\x34\x01\x00\0\0\0\0\0\0\0\0"), DNS_FORMERR, "", 0},
    {Q("\x12\x34\x01\x00\0\2\0\0\0\0\0\0" ALLOWED IN_A ALLOWED IN_A),
	DNS_FORMERR, "", 0},
    {Q("\x12\x34\x01\x00\0\1\0\1\0\0\0\0" ALLOWED IN_A), DNS_FORMERR, "", 0},
    {Q("\x12\x34\x01\x00\0\1\0\0\0\1\0\0" ALLOWED IN_A), DNS_FORMERR, "", 0},
    {Q("\x12\x34\x01\x00\0\1\0\0\0\0\0\2" ALLOWED IN_A OPT OPT), DNS_FORMERR,
	"", 0},
    {Q("\x12\x34\x01\x00\0\1\0\0\0\0\0\1" ALLOWED IN_A), DNS_FORMERR, NULL, 0},
    {Q("\x12\x34\x01\x00\0\1\0\0\0\0\0\1" ALLOWED IN_A
       "\0\0\x29\x04\xd0\0\1\0\0\0\0"),
	DNS_BADVERS, NULL, 0},
    {Q("\x12\x34\x01\x00\0\1\0\0\0\0\0\1" ALLOWED IN_A
       "\0\0\x29\x04\xd0\0\0\0\0\0\1"),
	DNS_FORMERR, NULL, 0},
    /* cut off, or more than it says */
    {Q(HEAD), DNS_FORMERR, "", 0},
    {Q(HEAD "\7allow"), DNS_FORMERR, "", 0},
    {Q(HEAD ALLOWED "\0\1\0"), DNS_FORMERR, "", 0},
    {Q(HEAD ALLOWED IN_A "x"), DNS_FORMERR, NULL, 0},
    /* a pointer: to itself, to the header, to what is behind */
    {Q(HEAD "\xc0\x0c" IN_A), DNS_FORMERR, "", 0},
    {Q(HEAD "\xc0\x00" IN_A), DNS_FORMERR, "", 0},
    {Q(HEAD "\7allowed\xc0\x0c" IN_A), DNS_FORMERR, "", 0},
    {Q(HEAD "\x40" IN_A), DNS_FORMERR, "", 0},
    /* V048: bytes that no host name has; nothing of them is lost */
    {Q(HEAD "\x08"
	    "denied.x\7allowed\4test\0" IN_A),
	DNS_OK, "denied\\046x.allowed.test", -1},
    {Q(HEAD "\2a\0\7allowed\4test\0" IN_A), DNS_OK, "a\\000.allowed.test", -1},
    {Q(HEAD "\2a\\\4test\0" IN_A), DNS_OK, "a\\092.test", -1},
    {Q(HEAD "\3\xe2\x80\xae\4test\0" IN_A), DNS_OK, "\\226\\128\\174.test", -1},
    {Q(HEAD "\0" IN_A), DNS_OK, ".", -1},
    {Q(HEAD "\1*\7allowed\4test\0" IN_A), DNS_OK, "*.allowed.test", -1},
};

START_TEST(V059_queries)
{
	const struct query *t = &queries[_i];
	char name[EGRESS_HOST_MAX + 1];
	struct dns_question q;
	uint8_t *copy = malloc(t->len + 1); /* an exact end for sanitizers */

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, t->bytes, t->len);
	ck_assert_int_eq(dns_read_query(copy, t->len, &q), t->code);
	if (t->text != NULL)
		ck_assert_str_eq(q.text, t->text);
	if (t->code == DNS_OK) {
		ck_assert_uint_eq(q.id, 0x1234);
		ck_assert_uint_eq(q.type, DNS_A);
		ck_assert_int_eq(dns_host(&q, name), t->host);
		if (t->host == 0)
			ck_assert_str_eq(name, "allowed.test");
	}
	free(copy);
}
END_TEST

START_TEST(longest_name)
{
	uint8_t m[DNS_QUERY_MAX], *p = m + DNS_HEADER, out[DNS_ANSWER_MAX];
	struct dns_question q;
	struct address a;
	int i;

	memcpy(m, HEAD, DNS_HEADER);
	for (i = 0; i < 3; i++) {
		*p++ = 63;
		memset(p, 0x80, 63);
		p += 63;
	}
	*p++ = 61;
	memset(p, 0x80, 61);
	p += 61;
	memcpy(p, "\0" IN_A, 5);
	ck_assert_int_eq(dns_read_query(m, (size_t)(p + 5 - m), &q), DNS_OK);
	ck_assert_uint_eq(q.len, DNS_NAME_MAX + 4);
	ck_assert_uint_lt(strlen(q.text), DNS_TEXT_MAX);
	q.edns = 1;
	ck_assert_int_eq(address_read("2001:db8::1", &a), 0);
	ck_assert_uint_le(
	    dns_write_answer(&q, DNS_OK, &a, 0, out), sizeof(out));
	/* one more */
	p[-62] = 62;
	memcpy(p, "x\0" IN_A, 6);
	ck_assert_int_eq(
	    dns_read_query(m, (size_t)(p + 6 - m), &q), DNS_FORMERR);
}
END_TEST

START_TEST(answers)
{
	uint8_t out[DNS_ANSWER_MAX];
	struct dns_question q;
	struct dns_found f;
	struct address a;
	size_t n;

	ck_assert_int_eq(dns_read_query(BYTES(HEAD ALLOWED IN_A), &q), DNS_OK);
	ck_assert_int_eq(address_read("198.18.1.0", &a), 0);
	n = dns_write_answer(&q, DNS_OK, &a, 0, out);
	ck_assert_int_eq(
	    dns_read_reply(out, n, 0x1234, "allowed.test", DNS_A, &f),
	    DNS_FOUND);
	ck_assert_uint_eq(f.n, 1);
	ck_assert(address_equal(&f.address[0], &a));
	n = dns_write_answer(&q, DNS_OK, NULL, 0, out);
	ck_assert_int_eq(
	    dns_read_reply(out, n, 0x1234, "allowed.test", DNS_A, &f),
	    DNS_NONE);
	n = dns_write_answer(&q, DNS_NXDOMAIN, &a, 0, out);
	ck_assert_int_eq(
	    dns_read_reply(out, n, 0x1234, "allowed.test", DNS_A, &f),
	    DNS_NO_NAME);
	ck_assert_int_eq(dns_read_query(BYTES("\x12\x34\x01\x20\0\1\0\0\0\0\0"
					      "\1" ALLOWED IN_A
					      "\0\0\x29\x04\xd0\0\1\0\0\0\0"),
			     &q),
	    DNS_BADVERS);
	n = dns_write_answer(&q, DNS_BADVERS, NULL, 0, out);
	ck_assert_uint_eq(out[3] & 0xf, 0);
	ck_assert_uint_eq(out[n - 6], 1); /* the high bits, in the OPT */
}
END_TEST

START_TEST(own_queries)
{
	uint8_t out[DNS_QUERY_MAX];
	size_t n = dns_write_query(0x1234, "allowed.test", DNS_A, out);

	ck_assert_uint_eq(n, sizeof(HEAD ALLOWED IN_A) - 1);
	ck_assert_mem_eq(out, HEAD ALLOWED IN_A, n);
}
END_TEST

#define REPLY(n) "\x12\x34\x81\x80\0\1\0" n "\0\0\0\0" ALLOWED IN_A
#define ME	 "\xc0\x0c"
#define A(a)	 "\0\1\0\1\0\0\0\x3c\0\4" a
#define CNAME(n) "\0\5\0\1\0\0\0\x3c" n
#define HOST1	 "\xc0\0\2\x01"
#define HOST2	 "\xc0\0\2\x02"

struct reply {
	const char *bytes;
	size_t len;
	enum dns_verdict verdict;
	const char *found; /* "192.0.2.1 192.0.2.2" */
};

static const struct reply replies[] = {
    {Q(REPLY("\1") ME A(HOST1)), DNS_FOUND, "192.0.2.1 "},
    {Q(REPLY("\2") ME A(HOST1) ME A(HOST2)), DNS_FOUND, "192.0.2.1 192.0.2.2 "},
    {Q(REPLY("\0")), DNS_NONE, ""},
    /* V053: a stranger's address beside, in answer and additional */
    {Q(REPLY("\2") "\x08stranger\4test\0" A(HOST2) ME A(HOST1)), DNS_FOUND,
	"192.0.2.1 "},
    {Q(REPLY("\1") "\x08stranger\4test\0" A(HOST2)), DNS_NONE, ""},
    {Q("\x12\x34\x81\x80\0\1\0\0\0\0\0\1" ALLOWED IN_A ME A(HOST1)), DNS_NONE,
	""},
    /* a chain, in any order; its end counts */
    {Q(REPLY("\2") ME "\0\5\0\1\0\0\0\x3c\0\x0c\5other\4test\0"
		      "\5other\4test\0" A(HOST2)),
	DNS_FOUND, "192.0.2.2 "},
    {Q(REPLY("\2") "\5other\4test\0" A(HOST2) ME
	 "\0\5\0\1\0\0\0\x3c\0\x0c\5other\4test\0"),
	DNS_FOUND, "192.0.2.2 "},
    {Q(REPLY("\1") ME "\0\5\0\1\0\0\0\x3c\0\x0c\5other\4test\0"), DNS_NONE, ""},
    /* a chain that bites its tail */
    {Q(REPLY("\1") ME "\0\5\0\1\0\0\0\x3c\0\2" ME), DNS_NONE, ""},
    /* pointers: forward, to itself */
    {Q(REPLY("\1") "\xc0\x30" A(HOST1)), DNS_FAILED, ""},
    {Q(REPLY("\1") "\xc0\x1e" A(HOST1)), DNS_FAILED, ""},
    {Q(REPLY("\1") "\1a\xc0\x1e" A(HOST1)), DNS_FAILED, ""},
    /* two that point at each other; a chain through what is no host */
    {Q(REPLY("\2") ME CNAME("\0\x0c") "\5other\4test\0"
				      "\5other\4test\0" CNAME("\0\2") ME),
	DNS_NONE, ""},
    {Q(REPLY("\2") ME CNAME("\0\x09") "\2_X\4test\0"
				      "\2_x\4test\0" A(HOST2)),
	DNS_FOUND, "192.0.2.2 "},
    /* DNAME: with the alias that comes of it, and without */
    {Q(REPLY("\3") "\4test\0\0\x27\0\1\0\0\0\x3c\0\5\3new\0" ME CNAME(
	 "\0\x0d") "\7allowed\3new\0"
		   "\7allowed\3new\0" A(HOST2)),
	DNS_FOUND, "192.0.2.2 "},
    {Q(REPLY("\2") "\4test\0\0\x27\0\1\0\0\0\x3c\0\5\3new\0"
		   "\7allowed\3new\0" A(HOST2)),
	DNS_NONE, ""},
    /* in other letters; for the name above, below, and with a dot inside */
    {Q("\x12\x34\x81\x80\0\1\0\1\0\0\0\0\7AlLoWeD\4TEST\0" IN_A
       "\7aLLOWED\4test\0" A(HOST1)),
	DNS_FOUND, "192.0.2.1 "},
    {Q(REPLY("\1") "\4test\0" A(HOST1)), DNS_NONE, ""},
    {Q(REPLY("\1") "\1x\7allowed\4test\0" A(HOST1)), DNS_NONE, ""},
    {Q(REPLY("\1") "\x0c"
		   "allowed.test\0" A(HOST1)),
	DNS_NONE, ""},
    /* with RRSIG, OPT and more in other sections; a question said twice */
    {Q("\x12\x34\x81\xa0\0\1\0\2\0\0\0\1" ALLOWED IN_A ME
       "\0\x2e\0\1\0\0\0\x3c\0\2xy" ME A(HOST1) OPT),
	DNS_FOUND, "192.0.2.1 "},
    {Q("\x12\x34\x81\x80\0\2\0\1\0\0\0\0" ALLOWED IN_A ALLOWED IN_A ME A(
	 HOST1)),
	DNS_STRAY, ""},
    /* of another operation */
    {Q("\x12\x34\xa9\x80\0\1\0\1\0\0\0\0" ALLOWED IN_A ME A(HOST1)), DNS_STRAY,
	""},
    /* of another class, type or length */
    {Q(REPLY("\1") ME "\0\1\0\3\0\0\0\x3c\0\4" HOST1), DNS_NONE, ""},
    {Q(REPLY("\1") ME "\0\x10\0\1\0\0\0\x3c\0\4" HOST1), DNS_NONE, ""},
    {Q(REPLY("\1") ME "\0\1\0\1\0\0\0\x3c\0\3\xc0\0\2"), DNS_NONE, ""},
    {Q(REPLY("\1") ME "\0\1\0\1\0\0\0\x3c\0\5" HOST1), DNS_FAILED, ""},
    {Q(REPLY("\2") ME A(HOST1)), DNS_FAILED, ""},
    /* to another question, or no answer at all */
    {Q("\x12\x35\x81\x80\0\1\0\1\0\0\0\0" ALLOWED IN_A ME A(HOST1)), DNS_STRAY,
	""},
    {Q("\x12\x34\x01\x00\0\1\0\1\0\0\0\0" ALLOWED IN_A ME A(HOST1)), DNS_STRAY,
	""},
    {Q("\x12\x34\x81\x80\0\1\0\1\0\0\0\0\6denied\4test\0" IN_A ME A(HOST1)),
	DNS_STRAY, ""},
    {Q("\x12\x34\x81\x80\0\1\0\1\0\0\0\0" ALLOWED "\0\x1c\0\1" ME A(HOST1)),
	DNS_STRAY, ""},
    {Q("\x12\x34\x81\x80\0\0\0\1\0\0\0\0"), DNS_STRAY, ""},
    {Q("\x12\x34"), DNS_STRAY, ""},
    {Q("\x12\x34\x83\x80\0\1\0\1\0\0\0\0" ALLOWED IN_A), DNS_TRUNCATED, ""},
    {Q("\x12\x34\x81\x83\0\1\0\0\0\0\0\0" ALLOWED IN_A), DNS_NO_NAME, ""},
    {Q("\x12\x34\x81\x82\0\1\0\0\0\0\0\0" ALLOWED IN_A), DNS_FAILED, ""},
};

START_TEST(V053_replies)
{
	const struct reply *t = &replies[_i];
	char all[DNS_FOUND_MAX * ADDRESS_TEXT] = "", text[ADDRESS_TEXT];
	uint8_t *copy = malloc(t->len + 1);
	struct dns_found f;
	size_t i;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, t->bytes, t->len);
	ck_assert_int_eq(
	    dns_read_reply(copy, t->len, 0x1234, "allowed.test", DNS_A, &f),
	    t->verdict);
	for (i = 0; i < f.n; i++) {
		strcat(all, address_text(&f.address[i], text));
		strcat(all, " ");
	}
	ck_assert_str_eq(all, t->found);
	free(copy);
}
END_TEST

/* S83: nothing is kept longer than what led to it. */
START_TEST(S83_how_long)
{
	static const struct {
		const char *bytes;
		size_t len;
		uint32_t ttl;
	} t[] = {
	    {Q(REPLY("\1") ME "\0\1\0\1\0\0\0\x05\0\4" HOST1), 5},
	    {Q(REPLY("\1") ME "\0\1\0\1\0\0\0\0\0\4" HOST1), 0},
	    {Q(REPLY("\1") ME "\0\1\0\1\0\1\0\0\0\4" HOST1), DNS_TTL_MAX},
	    /* what counts as negative is none */
	    {Q(REPLY("\1") ME "\0\1\0\1\xff\0\0\0\0\4" HOST1), 0},
	    {Q(REPLY("\2") ME "\0\1\0\1\0\0\0\x09\0\4" HOST1 ME
			      "\0\1\0\1\0\0\0\x07\0\4" HOST2),
		7},
	    /* an alias that is kept for less */
	    {Q(REPLY("\2") ME "\0\5\0\1\0\0\0\x03\0\x0c\5other\4test\0"
			      "\5other\4test\0" A(HOST2)),
		3},
	    /* a stranger's says nothing */
	    {Q(REPLY("\2") ME A(HOST1) "\5other\4test\0\0\1\0\1\0\0\0\1"
				       "\0\4" HOST2),
		60},
	};
	uint8_t out[DNS_ANSWER_MAX];
	struct dns_question q;
	struct dns_found f;
	size_t i, n;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		ck_assert_int_eq(
		    dns_read_reply((const uint8_t *)t[i].bytes, t[i].len,
			0x1234, "allowed.test", DNS_A, &f),
		    DNS_FOUND);
		ck_assert_msg(f.ttl == t[i].ttl, "%zu: %u", i, f.ttl);
	}
	ck_assert_int_eq(dns_read_query(BYTES(HEAD ALLOWED IN_A), &q), DNS_OK);
	n = dns_write_answer(&q, DNS_OK, &f.address[0], 0x01020304, out);
	ck_assert_mem_eq(out + n - 10, "\1\2\3\4\0\4", 6);
}
END_TEST

START_TEST(many_addresses)
{
	uint8_t m[sizeof(REPLY("\0")) + 64 * sizeof(ME A(HOST1))], *p;
	struct dns_found f;
	int i;

	memcpy(m, BYTES(REPLY("\x40")));
	p = m + sizeof(REPLY("\0")) - 1;
	for (i = 0; i < 64; i++) {
		memcpy(p, BYTES(ME A(HOST1)));
		p += sizeof(ME A(HOST1)) - 1;
	}
	ck_assert_int_eq(dns_read_reply(m, (size_t)(p - m), 0x1234,
			     "allowed.test", DNS_A, &f),
	    DNS_FOUND);
	ck_assert_uint_eq(f.n, DNS_FOUND_MAX);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("dns");
	TCase *c = tcase_create("dns");
	SRunner *r = srunner_create(s);
	int n;

	tcase_add_loop_test(
	    c, V059_queries, 0, (int)(sizeof(queries) / sizeof(queries[0])));
	tcase_add_test(c, longest_name);
	tcase_add_test(c, answers);
	tcase_add_test(c, own_queries);
	tcase_add_loop_test(
	    c, V053_replies, 0, (int)(sizeof(replies) / sizeof(replies[0])));
	tcase_add_test(c, S83_how_long);
	tcase_add_test(c, many_addresses);
	suite_add_tcase(s, c);
	srunner_run_all(r, CK_ENV);
	n = srunner_ntests_failed(r);
	srunner_free(r);
	return n == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
