#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child/shared/json.h"
#include "ipc/limits.h"
#include "ipc/text.h"

/* JSON, and values that are quoted for a log. */

static char buf[64 * 1024];

START_TEST(document)
{
	struct json j;

	json_init(&j, buf, sizeof(buf));
	json_open(&j, '{');
	json_pair(&j, "a", "b");
	json_count(&j, "n", UINT64_MAX);
	json_key(&j, "list");
	json_open(&j, '[');
	json_text(&j, "x");
	json_text(&j, "");
	json_open(&j, '[');
	json_close(&j, ']');
	json_number(&j, 0);
	json_null(&j);
	json_truth(&j, 1);
	json_truth(&j, 0);
	json_open(&j, '{');
	json_close(&j, '}');
	json_close(&j, ']');
	json_pair(&j, "end", "[");
	json_close(&j, '}');
	ck_assert(!j.bad);
	ck_assert_str_eq(buf,
	    "{\"a\":\"b\",\"n\":18446744073709551615,\"list\":[\"x\",\"\",[],"
	    "0,null,true,false,{}],\"end\":\"[\"}");
	ck_assert_uint_eq(j.len, strlen(buf));
}
END_TEST

static const struct {
	const char *raw, *json, *quoted;
} texts[] = {
    {"plain", "plain", "plain"},
    {"a\nb", "a\\\\x0ab", "a\\x0ab"},
    {"a\"b", "a\\\"b", "a\\x22b"},
    {"a\\b", "a\\\\\\\\b", "a\\\\b"},
    {"\\x0a", "\\\\\\\\x0a", "\\\\x0a"},
    {"\xe2\x80\xaex", "\\\\xe2\\\\x80\\\\xaex", "\\xe2\\x80\\xaex"},
    {"\x9b\xff", "\\\\x9b\\\\xff", "\\x9b\\xff"},
    {"a  b", "a \\\\x20b", "a \\x20b"},
    {"\xc3\xa4", "\xc3\xa4", "\xc3\xa4"},
    {"\" event=\"start", "\\\" event=\\\"start", "\\x22 event=\\x22start"},
    {"}\x7f{", "}\\\\x7f{", "}\\x7f{"},
};

START_TEST(text)
{
	char want[256], safe[256];
	struct json j;

	json_init(&j, buf, sizeof(buf));
	json_text(&j, texts[_i].raw);
	snprintf(want, sizeof(want), "\"%s\"", texts[_i].json);
	ck_assert_str_eq(buf, want);
	text_quote(safe, sizeof(safe), texts[_i].raw, "\"");
	ck_assert_str_eq(safe, texts[_i].quoted);
}
END_TEST

START_TEST(quoted_words)
{
	char safe[64];

	text_quote(safe, sizeof(safe), "it's a \"b\" c", " '\"");
	ck_assert_str_eq(safe, "it\\x27s\\x20a\\x20\\x22b\\x22\\x20c");
	text_quote(safe, 16, "a \"very\" long one", " \"");
	ck_assert_uint_lt(strlen(safe), 16);
	ck_assert_ptr_nonnull(strstr(safe, "..."));
}
END_TEST

/* Whatever the room is, nothing is written behind it and it is noticed. */
START_TEST(overflow)
{
	static char longest[TEXT_MAX_LEN + 100];
	struct json j;
	size_t cap;

	for (cap = 0; cap < 40; cap++) {
		memset(buf, '#', sizeof(buf));
		json_init(&j, buf, cap);
		json_open(&j, '{');
		json_pair(&j, "key", "value\"\n");
		json_count(&j, "n", 12345);
		json_close(&j, '}');
		ck_assert_int_eq(
		    j.bad, cap <= strlen("{\"key\":\"value\\\"\\\\x"
					 "0a\",\"n\":12345}"));
		ck_assert_int_eq(buf[cap], '#');
	}
	memset(longest, 'x', sizeof(longest) - 1);
	memset(longest, 1, TEXT_MAX_LEN);
	json_init(&j, buf, sizeof(buf));
	json_text(&j, longest);
	ck_assert(!j.bad);
	ck_assert_str_eq(buf + j.len - 4, "...\"");
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("json");
	TCase *tc = tcase_create("json");
	SRunner *sr;
	int failed;

	tcase_add_test(tc, document);
	tcase_add_loop_test(
	    tc, text, 0, (int)(sizeof(texts) / sizeof(texts[0])));
	tcase_add_test(tc, quoted_words);
	tcase_add_test(tc, overflow);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? 0 : 1;
}
