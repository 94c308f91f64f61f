#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "child/broker/tls.h"

/* The first flight of TLS, honest and not: S85, V056, V058. */

static uint8_t hello[2 * TLS_HELLO_MAX];
static size_t len;

static void
add(const void *p, size_t n)
{
	ck_assert_uint_le(len + n, sizeof(hello));
	memcpy(hello + len, p, n);
	len += n;
}

static void
add16(size_t v)
{
	uint8_t b[2] = {(uint8_t)(v >> 8), (uint8_t)v};

	add(b, 2);
}

/* An extension with a list of one host name. */
static size_t
sni(uint8_t *p, const char *name, size_t n)
{
	uint8_t head[] = {
	    0, 0, 0, (uint8_t)(n + 5), 0, (uint8_t)(n + 3), 0, 0, (uint8_t)n};

	memcpy(p, head, sizeof(head));
	memcpy(p + sizeof(head), name, n);
	return sizeof(head) + n;
}

/* A hello with these extensions in one record; ext NULL: none at all. */
static void
make(const uint8_t *ext, size_t n)
{
	static const uint8_t zero[32];
	size_t body = 2 + 32 + 1 + 2 + 2 + 1 + 1 + (ext == NULL ? 0 : 2 + n);

	len = 0;
	add("\x16\x03\x01", 3);
	add16(body + 4);
	add("\x01\x00", 2);
	add16(body);
	add("\x03\x03", 2);
	add(zero, 32);
	add("\0\0\2\x13\x01\1\0", 7);
	if (ext != NULL) {
		add16(n);
		add(ext, n);
	}
}

static void
make_named(const char *name, size_t n)
{
	uint8_t ext[600];

	make(ext, sni(ext, name, n));
}

static enum tls_verdict
read_all(struct tls_hello *h)
{
	uint8_t *copy = malloc(len + 1);
	enum tls_verdict v;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, hello, len);
	v = tls_read(copy, len, h);
	free(copy);
	return v;
}

/* The same bytes in records of so many. */
static void
split(size_t part)
{
	static uint8_t message[TLS_HELLO_MAX];
	size_t n = len - 5, at, now;

	memcpy(message, hello + 5, n);
	len = 0;
	for (at = 0; at < n; at += now) {
		now = n - at < part ? n - at : part;
		add("\x16\x03\x01", 3);
		add16(now);
		add(message + at, now);
	}
}

START_TEST(S85_name)
{
	struct tls_hello h;
	size_t i, whole;

	make_named("allowed.test", 12);
	ck_assert_int_eq(read_all(&h), TLS_HELLO);
	ck_assert_str_eq(h.name, "allowed.test");
	ck_assert_int_eq(h.ech, 0);
	/* nothing shorter is one, and nothing shorter is refused */
	for (whole = len, i = 0; i < whole; i++) {
		len = i;
		ck_assert_int_eq(read_all(&h), TLS_MORE);
		ck_assert_str_eq(h.name, "");
	}
	/* what follows is none of its business */
	len = whole;
	add("\x17\x03\x03\0\1x", 6);
	ck_assert_int_eq(read_all(&h), TLS_HELLO);
}
END_TEST

START_TEST(V058_records)
{
	struct tls_hello h;
	size_t n;

	make_named("allowed.test", 12);
	n = len - 5;
	split((n + 7) / 8);
	ck_assert_int_eq(read_all(&h), TLS_HELLO);
	ck_assert_str_eq(h.name, "allowed.test");
	make_named("allowed.test", 12);
	split((n + 7) / 8 - 1); /* nine records */
	ck_assert_int_eq(read_all(&h), TLS_BAD);
	make_named("allowed.test", 12);
	split(1);
	ck_assert_int_eq(read_all(&h), TLS_BAD);
	/* another type between the records, an empty one */
	make_named("allowed.test", 12);
	split(n / 2);
	hello[5 + n / 2] = 0x17;
	ck_assert_int_eq(read_all(&h), TLS_BAD);
	make_named("allowed.test", 12);
	memmove(hello + 5, hello, len);
	len += 5;
	memcpy(hello, "\x16\x03\x01\0\0", 5);
	ck_assert_int_eq(read_all(&h), TLS_BAD);
}
END_TEST

START_TEST(V058_names)
{
	uint8_t ext[600];
	struct tls_hello h;
	size_t n;

	make(NULL, 0);
	ck_assert_int_eq(read_all(&h), TLS_HELLO);
	ck_assert_str_eq(h.name, "");
	make(ext, 0);
	ck_assert_int_eq(read_all(&h), TLS_HELLO);
	ck_assert_str_eq(h.name, "");
	/* the extension twice */
	n = sni(ext, "allowed.test", 12);
	n += sni(ext + n, "denied.test", 11);
	make(ext, n);
	ck_assert_int_eq(read_all(&h), TLS_BAD);
	ck_assert_str_eq(h.name, "");
	/* two names in one list */
	memcpy(ext, "\0\0\0\x0a\0\x08\0\0\1a\0\0\1b", 14);
	make(ext, 14);
	ck_assert_int_eq(read_all(&h), TLS_BAD);
	/* a name of another kind, an empty one, an empty list */
	memcpy(ext, "\0\0\0\6\0\4\1\0\1a", 10);
	make(ext, 10);
	ck_assert_int_eq(read_all(&h), TLS_BAD);
	memcpy(ext, "\0\0\0\5\0\3\0\0\0", 9);
	make(ext, 9);
	ck_assert_int_eq(read_all(&h), TLS_BAD);
	memcpy(ext, "\0\0\0\2\0\0", 6);
	make(ext, 6);
	ck_assert_int_eq(read_all(&h), TLS_BAD);
	make(ext, 4);
	ck_assert_int_eq(read_all(&h), TLS_BAD);
	/* a NUL inside */
	make_named("denied.test\0.allowed.test", 25);
	ck_assert_int_eq(read_all(&h), TLS_BAD);
	ck_assert_str_eq(h.name, "");
	/* an inner hello that cannot be read: said, and the outer one counts */
	n = sni(ext, "allowed.test", 12);
	memcpy(ext + n, "\xfe\x0d\0\1x", 5);
	make(ext, n + 5);
	ck_assert_int_eq(read_all(&h), TLS_HELLO);
	ck_assert_int_eq(h.ech, 1);
	ck_assert_str_eq(h.name, "allowed.test");
}
END_TEST

START_TEST(V056_other_protocols)
{
	static const char *const other[] = {"SSH-2.0-x\r\n",
	    "GET / HTTP/1.1\r\n", "\x80\x2e\x01\x03\x01", "\0", "\x15\x03\x01",
	    "\x17\x03\x01", "\x16\x02"};
	struct tls_hello h;
	size_t i;

	for (i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		len = 0;
		add(other[i], other[i][0] == '\0' ? 1 : strlen(other[i]));
		ck_assert_msg(read_all(&h) == TLS_NOT, "%zu", i);
	}
}
END_TEST

/* One byte changed: never read beyond the end, never a name that is not there
 * as a whole. Sanitizers watch. */
START_TEST(each_length)
{
	struct tls_hello h;
	size_t i, whole;
	unsigned v;

	make_named("allowed.test", 12);
	whole = len;
	for (i = 0; i < whole; i++) {
		for (v = 0; v < 256; v++) {
			make_named("allowed.test", 12);
			hello[i] = (uint8_t)v;
			(void)read_all(&h);
			ck_assert_uint_le(strlen(h.name), 12);
		}
	}
	make_named("allowed.test", 12);
	hello[3] = 0xff;
	ck_assert_int_eq(read_all(&h), TLS_BAD);
	make_named("allowed.test", 12);
	hello[6] = 1; /* a message of more than 65536 */
	ck_assert_int_eq(read_all(&h), TLS_BAD);
}
END_TEST

START_TEST(largest)
{
	static uint8_t ext[TLS_HANDSHAKE_MAX];
	struct tls_hello h;
	size_t n = TLS_HANDSHAKE_MAX - 43;

	memcpy(ext, "\x12\x34", 2);
	ext[2] = (uint8_t)((n - 4) >> 8);
	ext[3] = (uint8_t)(n - 4);
	make(ext, n);
	ck_assert_uint_eq(len, TLS_HANDSHAKE_MAX + 4 + 5);
	split(TLS_RECORD_MAX);
	ck_assert_int_eq(read_all(&h), TLS_HELLO);
	ext[2] = (uint8_t)((n - 3) >> 8);
	ext[3] = (uint8_t)(n - 3);
	make(ext, n + 1);
	split(TLS_RECORD_MAX);
	ck_assert_int_eq(read_all(&h), TLS_BAD);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("tls");
	TCase *c = tcase_create("tls");
	SRunner *r = srunner_create(s);
	int n;

	tcase_add_test(c, S85_name);
	tcase_add_test(c, V058_records);
	tcase_add_test(c, V058_names);
	tcase_add_test(c, V056_other_protocols);
	tcase_add_test(c, each_length);
	tcase_add_test(c, largest);
	suite_add_tcase(s, c);
	srunner_run_all(r, CK_ENV);
	n = srunner_ntests_failed(r);
	srunner_free(r);
	return n == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
