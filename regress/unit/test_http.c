#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "child/broker/http.h"

/* The requests of a connection, and where each of them ends: S85, V051, V058.
 */

static const struct http_want want = {"allowed.test", 8080};

/*
 * Feeds text as it comes, step bytes at a time. Returns how many bytes went
 * on; *last is what the last call said.
 */
static size_t
feed(struct http *s, const char *text, size_t len, size_t step,
    enum http_verdict *last, char *passed)
{
	uint8_t *buf = malloc(len + 1);
	size_t have = 0, came = 0, went = 0, n;
	const char *why = "";

	ck_assert_ptr_nonnull(buf);
	*last = HTTP_MORE;
	while (came < len && *last != HTTP_BAD && *last != HTTP_WAIT) {
		n = len - came < step ? len - came : step;
		memcpy(buf + have, text + came, n);
		came += n;
		have += n;
		while ((*last = http_request(s, &want, buf, have, &n, &why)) ==
		       HTTP_PASS) {
			ck_assert_uint_gt(n, 0);
			ck_assert_uint_le(n, have);
			if (passed != NULL)
				memcpy(passed + went, buf, n);
			went += n;
			have -= n;
			memmove(buf, buf + n, have);
		}
		ck_assert_int_eq(*last == HTTP_BAD, why[0] != '\0');
	}
	free(buf);
	return went;
}

#define OK_HEAD	 "Host: allowed.test\r\n"
#define GET	 "GET / HTTP/1.1\r\n" OK_HEAD "\r\n"
#define BAD_HOST "GET / HTTP/1.1\r\nHost: denied.test\r\n\r\n"

struct passing {
	const char *text;
	unsigned heads;
};

static const struct passing good[] = {
    {GET, 1},
    {GET GET GET, 3},
    {"GET / HTTP/1.0\r\n" OK_HEAD "\r\n", 1},
    {"GET / HTTP/1.1\r\nHOST:\tALLOWED.test.\t\r\n\r\n", 1},
    {"GET / HTTP/1.1\r\nHost:allowed.test:8080\r\n\r\n", 1},
    {"GET http://allowed.test/x HTTP/1.1\r\n" OK_HEAD "\r\n", 1},
    {"GET HTTP://allowed.test:8080?x HTTP/1.1\r\n" OK_HEAD "\r\n", 1},
    {"OPTIONS * HTTP/1.1\r\n" OK_HEAD "\r\n", 1},
    {"POST / HTTP/1.1\r\n" OK_HEAD "Content-Length: 5\r\n\r\nhello" GET, 2},
    {"POST / HTTP/1.1\r\n" OK_HEAD "Content-Length: 0\r\n\r\n" GET, 2},
    {"PUT / HTTP/1.1\r\n" OK_HEAD "Transfer-Encoding: chunked\r\n\r\n"
     "5\r\nhello\r\n0A;x=y\r\n0123456789\r\n0\r\n\r\n" GET,
	2},
    {"PUT / HTTP/1.1\r\n" OK_HEAD "Transfer-Encoding: chunked\r\n\r\n"
     "0\r\nTrailer: x\r\nHost: denied.test\r\n\r\n" GET,
	2},
    /* what looks like a request inside a body is none */
    {"POST / HTTP/1.1\r\n" OK_HEAD "Content-Length: 37\r\n\r\n" BAD_HOST, 1},
};

START_TEST(S85_every_request)
{
	const struct passing *t = &good[_i];
	enum http_verdict v;
	struct http s;
	size_t step, len = strlen(t->text);

	for (step = 1; step <= len; step++) {
		memset(&s, 0, sizeof(s));
		ck_assert_uint_eq(feed(&s, t->text, len, step, &v, NULL), len);
		ck_assert_int_eq(v, HTTP_MORE);
		ck_assert_uint_eq(s.count, t->heads);
		ck_assert_int_eq(s.state, HTTP_HEAD);
	}
}
END_TEST

/* Each is refused and nothing of it goes on, nor behind a good one. */
static const char *const bad[] = {
    BAD_HOST,
    "GET / HTTP/1.1\r\n\r\n",
    "GET / HTTP/1.1\r\n" OK_HEAD OK_HEAD "\r\n",
    "GET / HTTP/1.1\r\nHost:\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: allowed.test:80\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: allowed.test:\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: allowed.test:08080x\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: allowed.test:08080\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: allowed.test:8080:8080\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: allowed.test 8080\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: *\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: \"allowed.test\"\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: allowed\xe3\x80\x82test\r\n\r\n",
    "GET / HTTP/1.1\r\nhost: allowed.test\r\nHOST: denied.test\r\n\r\n",
    "GET / HTTP/1.1\r\nX: y\r\n\tz\r\n" OK_HEAD "\r\n",
    "GET / HTTP/1.1\r\nHost: x@allowed.test\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: allowed.test, denied.test\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: [allowed.test]\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: allowed.test..\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: sub.allowed.test\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: allowed.test%0d%0aX:1\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: allowed.test#\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: allowed.test/\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: allowed.test\\\r\n\r\n",
    "GET / HTTP/1.1\r\nHost : allowed.test\r\n\r\n",
    "GET / HTTP/1.1\r\n Host: allowed.test\r\n\r\n",
    "GET / HTTP/1.1\r\n" OK_HEAD " denied.test\r\n\r\n",
    "GET http://denied.test/ HTTP/1.1\r\n" OK_HEAD "\r\n",
    /* a target has no fragment, and some look for the host behind it */
    "GET http://allowed.test#@denied.test/ HTTP/1.1\r\n" OK_HEAD "\r\n",
    "GET http://allowed.test:80/ HTTP/1.1\r\n" OK_HEAD "\r\n",
    "GET http://u:p@allowed.test/ HTTP/1.1\r\n" OK_HEAD "\r\n",
    "GET https://allowed.test/ HTTP/1.1\r\n" OK_HEAD "\r\n",
    "GET allowed.test HTTP/1.1\r\n" OK_HEAD "\r\n",
    "GET //denied.test/ HTTP/1.1 x\r\n" OK_HEAD "\r\n",
    "GET http:/allowed.test/ HTTP/1.1\r\n" OK_HEAD "\r\n",
    "GET http://allowed.test\\@denied.test/ HTTP/1.1\r\n" OK_HEAD "\r\n",
    "GET http:///denied.test HTTP/1.1\r\n" OK_HEAD "\r\n",
    "GET http://allowed.test.denied.test/ HTTP/1.1\r\n" OK_HEAD "\r\n",
    "OPTIONS *x HTTP/1.1\r\n" OK_HEAD "\r\n",
    "CONNECT allowed.test:8080 HTTP/1.1\r\n" OK_HEAD "\r\n",
    "CONNECT / HTTP/1.1\r\n" OK_HEAD "\r\n",
    /* lines that two readers end in two places */
    "GET / HTTP/1.1\nHost: allowed.test\n\n",
    "GET / HTTP/1.1\r\n" OK_HEAD "X: y\nHost: denied.test\r\n\r\n",
    "GET / HTTP/1.1\r\n" OK_HEAD "X: y\rHost: denied.test\r\n\r\n",
    "GET / HTTP/1.1\r\n" OK_HEAD "X: y\x01\r\n\r\n",
    "GET / HTTP/1.1\r\n" OK_HEAD "no colon\r\n\r\n",
    "GET / HTTP/1.1\r\n" OK_HEAD ": no name\r\n\r\n",
    "\r\nGET / HTTP/1.1\r\n" OK_HEAD "\r\n",
    "\n",
    /* other versions */
    "GET /\r\n\r\n",
    "GET / HTTP/0.9\r\n" OK_HEAD "\r\n",
    "GET / HTTP/2.0\r\n" OK_HEAD "\r\n",
    "GET / HTTP/1.1 \r\n" OK_HEAD "\r\n",
    "GET  / HTTP/1.1\r\n" OK_HEAD "\r\n",
    "GET /\t HTTP/1.1\r\n" OK_HEAD "\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    /* where the body ends */
    "POST / HTTP/1.1\r\n" OK_HEAD "Content-Length: 5\r\n"
    "Content-Length: 5\r\n\r\n",
    "POST / HTTP/1.1\r\n" OK_HEAD "Content-Length: 5\r\n"
    "Transfer-Encoding: chunked\r\n\r\n",
    "POST / HTTP/1.1\r\n" OK_HEAD "Transfer-Encoding: chunked\r\n"
    "Transfer-Encoding: chunked\r\n\r\n",
    "POST / HTTP/1.1\r\n" OK_HEAD "Transfer-Encoding: gzip, chunked\r\n\r\n",
    "POST / HTTP/1.1\r\n" OK_HEAD "Transfer-Encoding: identity\r\n\r\n",
    "POST / HTTP/1.1\r\n" OK_HEAD "Transfer-Encoding: chunked, x\r\n\r\n",
    "POST / HTTP/1.1\r\n" OK_HEAD "Transfer-Encoding: xchunked\r\n\r\n",
    "POST / HTTP/1.1\r\n" OK_HEAD "Transfer-Encoding: \"chunked\"\r\n\r\n",
    "POST / HTTP/1.1\r\n" OK_HEAD "Transfer-Encoding:\r\n\r\n",
    "POST / HTTP/1.1\r\n" OK_HEAD "Transfer-Encoding : chunked\r\n\r\n",
    "POST / HTTP/1.1\r\n" OK_HEAD "Transfer-Encoding: chunked;x\r\n\r\n",
    "POST / HTTP/1.1\r\n" OK_HEAD "Content-Length : 5\r\n\r\n",
    "POST / HTTP/1.1\r\n" OK_HEAD "Content-Length: 5\r\n 5\r\n\r\n",
    "POST / HTTP/1.1\r\n" OK_HEAD "content-length: 5\r\n"
    "Content-Length: 6\r\n\r\n",
    "POST / HTTP/1.1\r\n" OK_HEAD "Content-Length: 5 \x0b\r\n\r\n",
    "POST / HTTP/1.1\r\n" OK_HEAD "Content-Length: 5_0\r\n\r\n",
    "POST / HTTP/1.0\r\n" OK_HEAD "Transfer-Encoding: chunked\r\n\r\n",
    "POST / HTTP/1.1\r\n" OK_HEAD "Content-Length: +5\r\n\r\n",
    "POST / HTTP/1.1\r\n" OK_HEAD "Content-Length: 5, 5\r\n\r\n",
    "POST / HTTP/1.1\r\n" OK_HEAD "Content-Length: -1\r\n\r\n",
    "POST / HTTP/1.1\r\n" OK_HEAD "Content-Length: 0x5\r\n\r\n",
    "POST / HTTP/1.1\r\n" OK_HEAD "Content-Length:\r\n\r\n",
    "POST / HTTP/1.1\r\n" OK_HEAD "Content-Length: 18446744073709551621\r\n"
    "\r\n",
    "GET / HTTP/1.1\r\n" OK_HEAD "Upgrade: a\r\nUpgrade: b\r\n\r\n",
};

START_TEST(V058_refused)
{
	char text[1024];
	enum http_verdict v;
	struct http s;
	size_t step, before;

	for (step = 1; step <= strlen(bad[_i]); step++) {
		memset(&s, 0, sizeof(s));
		ck_assert_uint_eq(
		    feed(&s, bad[_i], strlen(bad[_i]), step, &v, NULL), 0);
		ck_assert_msg(v == HTTP_BAD, "%s", bad[_i]);
		/* the second request of a connection, and the third */
		strcpy(text, GET "POST / HTTP/1.1\r\n" OK_HEAD
				 "Content-Length: 1\r\n\r\nx");
		before = strlen(text);
		strcat(text, bad[_i]);
		memset(&s, 0, sizeof(s));
		ck_assert_uint_eq(
		    feed(&s, text, strlen(text), step, &v, NULL), before);
		ck_assert_msg(v == HTTP_BAD, "%s", bad[_i]);
	}
}
END_TEST

#define CHUNKED                                                                \
	"PUT / HTTP/1.1\r\n" OK_HEAD "Transfer-Encoding: chunked\r\n\r\n"

static const char *const bad_chunks[] = {
    "\r\n",
    "x\r\n",
    "5\nhello\r\n",
    "5\r\nhello0\r\n",
    "5\r\nhello\n0\r\n",
    "5 \r\nhello\r\n",
    "-5\r\nhello\r\n",
    "0x5\r\nhello\r\n",
    "5;\x01\r\nhello\r\n",
    "5\r\rhello\r\n\n",
    "1000000000000000\r\n",
    "0\r\nX: y\n\r\n",
};

START_TEST(chunks_that_are_none)
{
	char text[1024] = CHUNKED;
	enum http_verdict v;
	struct http s;
	size_t step;

	strcat(text, bad_chunks[_i]);
	for (step = 1; step <= strlen(text); step++) {
		memset(&s, 0, sizeof(s));
		(void)feed(&s, text, strlen(text), step, &v, NULL);
		ck_assert_msg(v == HTTP_BAD, "%s", bad_chunks[_i]);
		ck_assert_uint_eq(s.count, 1);
	}
}
END_TEST

START_TEST(S88_upgrade)
{
	static const char ask[] =
	    "GET / HTTP/1.1\r\n" OK_HEAD "Upgrade: websocket\r\n\r\n";
	static const char go[] = "HTTP/1.1 100 Continue\r\n\r\n";
	static const char yes[] =
	    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n";
	static const char no[] = "HTTP/1.1 200 OK\r\n\r\n";
	char text[512] = "", passed[512];
	enum http_verdict v;
	struct http s;
	size_t n, len;

	/* nothing behind it before the server's word */
	strcat(text, ask);
	strcat(text, BAD_HOST);
	memset(&s, 0, sizeof(s));
	ck_assert_uint_eq(
	    feed(&s, text, strlen(text), 7, &v, NULL), strlen(ask));
	ck_assert_int_eq(v, HTTP_WAIT);
	ck_assert_int_eq(s.upgrade, 1);
	for (len = 0; len < strlen(go); len++)
		ck_assert_int_eq(
		    http_answer(&s, (const uint8_t *)go, len, &n), HTTP_MORE);
	ck_assert_int_eq(
	    http_answer(&s, (const uint8_t *)go, len, &n), HTTP_PASS);
	ck_assert_uint_eq(n, strlen(go));
	ck_assert_int_eq(s.upgrade, 1);
	ck_assert_int_eq(
	    http_answer(&s, (const uint8_t *)yes, strlen(yes), &n), HTTP_PASS);
	ck_assert_int_eq(s.upgrade, 0);
	ck_assert_uint_eq(http_unseen(&s), SIZE_MAX);
	ck_assert_uint_eq(feed(&s, "\x81\x05hello", 7, 3, &v, NULL), 7);
	/* declined: everything is looked at again */
	memset(&s, 0, sizeof(s));
	(void)feed(&s, ask, strlen(ask), 7, &v, NULL);
	ck_assert_int_eq(
	    http_answer(&s, (const uint8_t *)no, strlen(no), &n), HTTP_PASS);
	ck_assert_int_eq(s.upgrade, 0);
	ck_assert_uint_eq(feed(&s, BAD_HOST, strlen(BAD_HOST), 7, &v, NULL), 0);
	ck_assert_int_eq(v, HTTP_BAD);
	/* later than the first: the field goes, the request stays */
	strcpy(text, GET);
	strcat(text, ask);
	memset(&s, 0, sizeof(s));
	len = feed(&s, text, strlen(text), 500, &v, passed);
	ck_assert_uint_eq(len, strlen(text));
	passed[len] = '\0';
	ck_assert_int_eq(s.upgrade, 0);
	ck_assert_ptr_null(strstr(passed, "Upgrade"));
	ck_assert_ptr_nonnull(strstr(passed, "X-Other: websocket\r\n"));
}
END_TEST

START_TEST(V051_nul)
{
	static const char *const parts[][2] = {
	    {"GET / HTTP/1.1\r\nHost: allowed.test", ".denied.test\r\n\r\n"},
	    {"GET / HTTP/1.1\r\nHost: allowed.test\r\nX: y", "z\r\n\r\n"},
	    {"GET / HTTP/1.1\r\nHo", "st: allowed.test\r\n\r\n"},
	    {"GET /", " HTTP/1.1\r\nHost: allowed.test\r\n\r\n"},
	    {"G", "ET / HTTP/1.1\r\nHost: allowed.test\r\n\r\n"}};
	char text[256];
	enum http_verdict v;
	struct http s;
	size_t i, n;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		n = strlen(parts[i][0]) + 1;
		strcpy(text, parts[i][0]);
		strcpy(text + n, parts[i][1]);
		n += strlen(parts[i][1]);
		memset(&s, 0, sizeof(s));
		ck_assert_uint_eq(feed(&s, text, n, 5, &v, NULL), 0);
		ck_assert_msg(v == HTTP_BAD, "%zu", i);
	}
}
END_TEST

START_TEST(answers_that_are_none)
{
	static const char *const none[] = {"SSH-2.0-x\r\n\r\n", "\r\n",
	    "HTTP/2.0 101 x\r\n\r\n", "HTTP/1.1 1x1 y\r\n\r\n",
	    "HTTP/1.1 101\n\n", "HTTP/1.1\r\n\r\n"};
	struct http s = {.upgrade = 1};
	size_t n;

	ck_assert_int_eq(
	    http_answer(&s, (const uint8_t *)none[_i], strlen(none[_i]), &n),
	    HTTP_BAD);
	ck_assert_int_eq(s.upgrade, 1);
}
END_TEST

START_TEST(bounds)
{
	static char text[2 * HTTP_HEAD_MAX];
	enum http_verdict v;
	struct http s;
	size_t n;

	strcpy(text, "GET / HTTP/1.1\r\n" OK_HEAD "X: ");
	n = strlen(text);
	memset(text + n, 'x', HTTP_HEAD_MAX - n - 4);
	strcpy(text + HTTP_HEAD_MAX - 4, "\r\n\r\n");
	memset(&s, 0, sizeof(s));
	ck_assert_uint_eq(
	    feed(&s, text, strlen(text), 4096, &v, NULL), HTTP_HEAD_MAX);
	strcpy(text + HTTP_HEAD_MAX - 4, "x\r\n\r\n");
	memset(&s, 0, sizeof(s));
	ck_assert_uint_eq(feed(&s, text, strlen(text), 4096, &v, NULL), 0);
	ck_assert_int_eq(v, HTTP_BAD);
	/* the line of a chunk; trailers, all together */
	strcpy(text, CHUNKED "5;");
	n = strlen(text);
	memset(text + n, 'x', HTTP_LINE_MAX);
	text[n + HTTP_LINE_MAX] = '\0';
	memset(&s, 0, sizeof(s));
	(void)feed(&s, text, strlen(text), 4096, &v, NULL);
	ck_assert_int_eq(v, HTTP_BAD);
	strcpy(text, CHUNKED "0\r\n");
	for (n = 0; n < HTTP_HEAD_MAX; n += 8)
		strcpy(text + strlen(text), "X: 456\r\n");
	memset(&s, 0, sizeof(s));
	(void)feed(&s, text, strlen(text), 4096, &v, NULL);
	ck_assert_int_eq(v, HTTP_MORE);
	strcat(text, "\r\n");
	memset(&s, 0, sizeof(s));
	(void)feed(&s, text, strlen(text), 4096, &v, NULL);
	ck_assert_int_eq(v, HTTP_BAD);
}
END_TEST

START_TEST(literal_hosts)
{
	static const struct http_want v4 = {"192.0.2.1", 80},
				      v6 = {"2001:db8::1", 80};
	static const struct {
		const struct http_want *want;
		const char *host;
		enum http_verdict verdict;
	} t[] = {
	    {&v4, "192.0.2.1", HTTP_PASS},
	    {&v4, "192.0.2.1:80", HTTP_PASS},
	    {&v4, "[192.0.2.1]", HTTP_BAD},
	    {&v4, "192.0.2.2", HTTP_BAD},
	    {&v4, "3221225985", HTTP_BAD},
	    {&v4, "0xc0000201", HTTP_BAD},
	    {&v4, "[::ffff:192.0.2.1]", HTTP_BAD},
	    {&v6, "[2001:db8::1]", HTTP_PASS},
	    {&v6, "[2001:DB8:0::1]:80", HTTP_PASS},
	    {&v6, "2001:db8::1", HTTP_BAD},
	    {&v6, "[2001:db8::1", HTTP_BAD},
	    {&v6, "[2001:db8::1]x", HTTP_BAD},
	    {&v6, "[2001:db8::2]", HTTP_BAD},
	};
	char text[128] = "GET / HTTP/1.1\r\nHost: ";
	const char *why;
	struct http s;
	size_t n;

	memset(&s, 0, sizeof(s));
	strcat(text, t[_i].host);
	strcat(text, "\r\n\r\n");
	ck_assert_int_eq(http_request(&s, t[_i].want, (uint8_t *)text,
			     strlen(text), &n, &why),
	    t[_i].verdict);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("http");
	TCase *c = tcase_create("http");
	SRunner *r = srunner_create(s);
	int n;

	tcase_set_timeout(c, 30);
	tcase_add_loop_test(
	    c, S85_every_request, 0, (int)(sizeof(good) / sizeof(good[0])));
	tcase_add_loop_test(
	    c, V058_refused, 0, (int)(sizeof(bad) / sizeof(bad[0])));
	tcase_add_loop_test(c, chunks_that_are_none, 0,
	    (int)(sizeof(bad_chunks) / sizeof(bad_chunks[0])));
	tcase_add_test(c, S88_upgrade);
	tcase_add_test(c, V051_nul);
	tcase_add_loop_test(c, answers_that_are_none, 0, 6);
	tcase_add_test(c, bounds);
	tcase_add_loop_test(c, literal_hosts, 0, 13);
	suite_add_tcase(s, c);
	srunner_run_all(r, CK_ENV);
	n = srunner_ntests_failed(r);
	srunner_free(r);
	return n == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
