#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/sha256.h"

/* The examples of FIPS 180-4, and all lengths against sha256sum(1). */

static const char *
digest(const void *p, size_t n, size_t step)
{
	static char hex[SHA256_HEX + 1];
	struct sha256 s;
	size_t at;

	sha256_init(&s);
	for (at = 0; at < n; at += step)
		sha256_add(
		    &s, (const char *)p + at, n - at < step ? n - at : step);
	sha256_end(&s, hex);
	return hex;
}

static const struct {
	const char *text, *hex;
} known[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
	"248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
     "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
	"cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
};

START_TEST(examples)
{
	ck_assert_str_eq(digest(known[_i].text, strlen(known[_i].text), 1000),
	    known[_i].hex);
	ck_assert_str_eq(
	    digest(known[_i].text, strlen(known[_i].text), 1), known[_i].hex);
	ck_assert(sha256_is_hex(known[_i].hex));
}
END_TEST

START_TEST(a_million)
{
	char *p = malloc(1000000);

	ck_assert_ptr_nonnull(p);
	memset(p, 'a', 1000000);
	ck_assert_str_eq(digest(p, 1000000, 77),
	    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
	free(p);
}
END_TEST

/* Around the ends of blocks, in pieces of every size. */
START_TEST(every_length)
{
	char data[200], cmd[128], want[SHA256_HEX + 1];
	size_t n, step;
	FILE *f;

	for (n = 0; n < sizeof(data); n++)
		data[n] = (char)('!' + n % 90);
	for (n = 0; n <= sizeof(data); n += n < 50 || n > 70 ? 13 : 1) {
		snprintf(cmd, sizeof(cmd),
		    "awk 'BEGIN{for(i=0;i<%zu;i++)printf "
		    "\"%%c\",33+i%%90}'"
		    " | sha256sum",
		    n);
		ck_assert_ptr_nonnull(f = popen(cmd, "r"));
		ck_assert_ptr_nonnull(fgets(want, sizeof(want), f));
		pclose(f);
		for (step = 1; step < 130; step += 16)
			ck_assert_msg(strcmp(digest(data, n, step), want) == 0,
			    "%zu bytes by %zu", n, step);
	}
}
END_TEST

START_TEST(hex)
{
	char s[SHA256_HEX + 2] = "";

	memset(s, 'a', SHA256_HEX);
	ck_assert(sha256_is_hex(s));
	s[3] = 'A';
	ck_assert(!sha256_is_hex(s));
	s[3] = '/';
	ck_assert(!sha256_is_hex(s));
	s[3] = '0';
	ck_assert(sha256_is_hex(s));
	s[SHA256_HEX] = '0';
	ck_assert(!sha256_is_hex(s));
	s[SHA256_HEX - 1] = '\0';
	ck_assert(!sha256_is_hex(s));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("sha256");
	TCase *tc = tcase_create("sha256");
	SRunner *sr;
	int failed;

	tcase_add_loop_test(
	    tc, examples, 0, (int)(sizeof(known) / sizeof(known[0])));
	tcase_add_test(tc, a_million);
	tcase_add_test(tc, every_length);
	tcase_add_test(tc, hex);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? 0 : 1;
}
