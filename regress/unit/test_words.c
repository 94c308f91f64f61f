#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/check.h"
#include "ipc/limits.h"
#include "ipc/owned.h"
#include "ipc/path.h"
#include "ipc/text.h"

/* Untrusted words: text, paths and names. */

#define RLO  "\xe2\x80\xae" /* U+202E */
#define ZWSP "\xe2\x80\x8b"

START_TEST(utf8)
{
	static const char *const good[] = {"", "abc", "\xc3\xa9",
	    "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"};
	static const char *const bad[] = {"\x80", "\xc3", "\xc0\x80",
	    "\xc1\xbf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
	    "\xf8\x88\x80\x80\x80", "a\xff", "\xe2\x82"};
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ck_assert_msg(text_utf8(good[i], strlen(good[i])), "%zu", i);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(!text_utf8(bad[i], strlen(bad[i])), "%zu", i);
}
END_TEST

START_TEST(unsafe)
{
	static const char *const safe[] = {
	    "a b", "\xc3\xa9", "\xe4\xb8\xad", "\xff"};
	static const char *const bad[] = {"\x1b[1A", "a\nb", "\x7f", "\xc2\x9b",
	    RLO, ZWSP, "\xe2\x80\xa8", "\xef\xbb\xbf", "\x9b",
	    "\xf3\xa0\x81\x81"};
	size_t i;

	for (i = 0; i < sizeof(safe) / sizeof(safe[0]); i++)
		ck_assert_msg(!text_unsafe(safe[i], strlen(safe[i])), "%zu", i);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(text_unsafe(bad[i], strlen(bad[i])), "%zu", i);
}
END_TEST

static void
utf8_of(unsigned cp, char *s)
{
	if (cp < 0x80) {
		s[0] = (char)cp;
		s[1] = '\0';
	} else if (cp < 0x800) {
		snprintf(s, 5, "%c%c", 0xc0 | cp >> 6, 0x80 | (cp & 0x3f));
	} else if (cp < 0x10000) {
		snprintf(s, 5, "%c%c%c", 0xe0 | cp >> 12,
		    0x80 | (cp >> 6 & 0x3f), 0x80 | (cp & 0x3f));
	} else {
		snprintf(s, 5, "%c%c%c%c", 0xf0 | cp >> 18,
		    0x80 | (cp >> 12 & 0x3f), 0x80 | (cp >> 6 & 0x3f),
		    0x80 | (cp & 0x3f));
	}
}

/*
 * Unicode's categories Cc, Cf, Zl, Zp and Zs (but for three blanks) and its
 * property Default_Ignorable_Code_Point, each range with its neighbours.
 */
START_TEST(invisible)
{
	static const struct {
		unsigned lo, hi;
	} bad[] = {{0x1, 0x1f}, {0x7f, 0x9f}, {0xad, 0xad}, {0x34f, 0x34f},
	    {0x600, 0x605}, {0x61c, 0x61c}, {0x6dd, 0x6dd}, {0x70f, 0x70f},
	    {0x890, 0x891}, {0x8e2, 0x8e2}, {0x115f, 0x1160}, {0x1680, 0x1680},
	    {0x17b4, 0x17b5}, {0x180b, 0x180f}, {0x2000, 0x200f},
	    {0x2028, 0x202f}, {0x205f, 0x206f}, {0x2800, 0x2800},
	    {0x3164, 0x3164}, {0xfe00, 0xfe0f}, {0xfeff, 0xfeff},
	    {0xffa0, 0xffa0}, {0xfff0, 0xfffb}, {0x110bd, 0x110bd},
	    {0x110cd, 0x110cd}, {0x13430, 0x13455}, {0x16fe4, 0x16fe4},
	    {0x1bca0, 0x1bca3}, {0x1d159, 0x1d159}, {0x1d173, 0x1d17a},
	    {0xe0000, 0xe0fff}};
	static const unsigned good[] = {0x20, 0x7e, 0xa0, 0xac, 0xae, 0x34e,
	    0x350, 0x5ff, 0x606, 0x61b, 0x61d, 0x6dc, 0x6de, 0x70e, 0x710,
	    0x88f, 0x892, 0x8e1, 0x8e3, 0x115e, 0x1161, 0x167f, 0x1681, 0x17b3,
	    0x17b6, 0x180a, 0x1810, 0x1fff, 0x2010, 0x2027, 0x2030, 0x205e,
	    0x2070, 0x27ff, 0x2801, 0x3000, 0x3163, 0x3165, 0xfdff, 0xfe10,
	    0xfefe, 0xff00, 0xff9f, 0xffa1, 0xffef, 0xfffc, 0x110bc, 0x110be,
	    0x110cc, 0x110ce, 0x1342f, 0x16fe3, 0x16fe5, 0x1bc9f, 0x1bca4,
	    0x1d158, 0x1d15a, 0x1d172, 0x1d17b, 0xdffff, 0xe1000, 0x10ffff};
	char s[5];
	size_t i;
	unsigned cp;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		for (cp = bad[i].lo; cp <= bad[i].hi; cp++) {
			utf8_of(cp, s);
			ck_assert_msg(text_unsafe(s, strlen(s)), "%x", cp);
		}
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		utf8_of(good[i], s);
		ck_assert_msg(!text_unsafe(s, strlen(s)), "%x", good[i]);
	}
}
END_TEST

/* Every string of two bytes: the escaped form is safe and says what it was. */
START_TEST(escape_is_safe_and_recoverable)
{
	char src[3] = "", dst[64], back[64];
	unsigned a, b, byte;
	size_t i, n;

	for (a = 1; a < 256; a++)
		for (b = 0; b < 256; b++) {
			src[0] = (char)a;
			src[1] = (char)b;
			text_escape(dst, sizeof(dst), src);
			ck_assert(!text_unsafe(dst, strlen(dst)));
			ck_assert(text_utf8(dst, strlen(dst)));
			for (i = n = 0; dst[i] != '\0'; n++) {
				if (dst[i] != '\\') {
					back[n] = dst[i++];
				} else if (dst[i + 1] == '\\') {
					back[n] = '\\';
					i += 2;
				} else {
					ck_assert_int_eq(
					    sscanf(dst + i, "\\x%2x", &byte),
					    1);
					back[n] = (char)byte;
					i += 4;
				}
			}
			back[n] = '\0';
			ck_assert_str_eq(back, src);
		}
}
END_TEST

START_TEST(escape_cuts)
{
	char dst[12];

	ck_assert_str_eq(text_escape(dst, sizeof(dst), "12345678"), "12345678");
	ck_assert_str_eq(
	    text_escape(dst, sizeof(dst), "1234567890123"), "12345678...");
	ck_assert_str_eq(
	    text_escape(dst, sizeof(dst), "123456\x1b"), "123456...");
}
END_TEST

/* No two blanks stand side by side, and none is lost. */
START_TEST(escape_blanks)
{
	static const struct {
		const char *raw, *shown;
	} rows[] = {{" a b ", " a b "}, {"a  b", "a \\x20b"},
	    {"   ", " \\x20\\x20"},
	    {"a\xc2\xa0\xc2\xa0z", "a\xc2\xa0\\xc2\\xa0z"},
	    {" \xe3\x80\x80 z", " \\xe3\\x80\\x80\\x20z"}, {" \t ", " \\x09 "},
	    {"\\  ", "\\\\ \\x20"}};
	char dst[64];
	size_t i;
	int blank;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_str_eq(
		    text_escape(dst, sizeof(dst), rows[i].raw), rows[i].shown);
	blank = 1;
	ck_assert_str_eq(
	    text_escape_on(dst, sizeof(dst), " a ", &blank), "\\x20a ");
	ck_assert_int_eq(blank, 1);
	ck_assert_str_eq(text_escape_on(dst, sizeof(dst), "a", &blank), "a");
	ck_assert_int_eq(blank, 0);
}
END_TEST

START_TEST(long_values)
{
	char src[2000], buf[TEXT_SHOWN_MAX + 1];
	const char *p;
	size_t i;

	memset(src, 0, sizeof(src));
	memset(src, 'a', TEXT_SHOWN_MAX);
	ck_assert_ptr_eq(text_cut(buf, src), src);
	for (i = 0; i < 400; i++)
		memcpy(src + 3 * i, "\xe2\x82\xac", 3);
	for (i = 0; i < 8; i++) { /* wherever the cuts fall */
		p = text_cut(buf, src + i);
		ck_assert_uint_le(strlen(p), TEXT_SHOWN_MAX);
		ck_assert_uint_ge(strlen(p), TEXT_SHOWN_MAX - 8);
		ck_assert_ptr_nonnull(strstr(p, "..."));
		if (i % 3 == 0)
			ck_assert(text_utf8(p, strlen(p)));
		memmove(src + 1200 + i, "z", 2);
		ck_assert_int_eq(p[strlen(p) - 1] == 'z', i > 0);
	}
	memset(src, 0x80, 1000); /* no character anywhere */
	src[1000] = '\0';
	ck_assert_uint_le(strlen(text_cut(buf, src)), TEXT_SHOWN_MAX);
	ck_assert_str_eq(SHOWN("short"), "short");
}
END_TEST

START_TEST(clean_paths)
{
	static const char *const good[] = {
	    "/", "/a", "/a/b", "/..a", "/a..", "/...", "/a b", "/\xff"};
	static const char *const bad[] = {"", "a", "//", "/a/", "/a//b", "/.",
	    "/a/.", "/..", "/a/../b", "./a", "/a/./b"};
	char longest[5000];
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ck_assert_msg(path_clean(good[i]), "%s", good[i]);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(!path_clean(bad[i]), "%s", bad[i]);
	memset(longest, 'a', sizeof(longest));
	for (i = 0; i < sizeof(longest); i += 200)
		longest[i] = '/';
	longest[4095] = '\0';
	ck_assert(path_clean(longest));
	longest[4095] = 'a';
	longest[4096] = '\0';
	ck_assert(!path_clean(longest));
	memset(longest, 'a', 300);
	longest[0] = '/';
	longest[256] = '\0';
	ck_assert(path_clean(longest)); /* a component of 255 bytes */
	longest[256] = 'a';
	longest[257] = '\0';
	ck_assert(!path_clean(longest));
}
END_TEST

START_TEST(covering)
{
	ck_assert(path_covers("/a", "/a"));
	ck_assert(path_covers("/a", "/a/b"));
	ck_assert(path_covers("/", "/a"));
	ck_assert(!path_covers("/a", "/ab"));
	ck_assert(!path_covers("/workdir", "/workdir-evil"));
	ck_assert(!path_covers("/a/b", "/a"));
	ck_assert_str_eq(path_below("/a", "/a/b"), "/b");
	/* a tree stays together in this order */
	ck_assert_int_lt(path_cmp("/a", "/a/b"), 0);
	ck_assert_int_lt(path_cmp("/a/b", "/a-b"), 0);
	ck_assert_int_lt(path_cmp("/a/z", "/a!"), 0);
	ck_assert_int_eq(path_cmp("/a", "/a"), 0);
}
END_TEST

START_TEST(reserved)
{
	static const char *const no[] = {"/", "/proc", "/proc/1", "/dev",
	    "/dev/shm", "/sys/fs", "/run/carrel", "/run/carrel/bin"};
	static const char *const yes[] = {"/process", "/run", "/tmp", "/home"};
	size_t i;

	for (i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		ck_assert_ptr_nonnull(check_guest(no[i]));
	for (i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		ck_assert_ptr_null(check_guest(yes[i]));
	ck_assert_ptr_nonnull(check_guest("/a\nb"));
	ck_assert_ptr_nonnull(check_guest("/a/../proc"));
	ck_assert_ptr_nonnull(check_source("/"));
	ck_assert_ptr_nonnull(check_source("/proc/1/root"));
	ck_assert_ptr_nonnull(check_source("/dev/sda"));
	ck_assert_ptr_null(check_source("/etc"));
}
END_TEST

START_TEST(guest_home)
{
	static const struct {
		const char *home, *user, *want;
	} c[] = {{"/home/u", "u", "/home/u"}, {"/", "u", "/home/u"},
	    {"/usr/x", "u", "/home/u"}, {"/root", "root", "/root"},
	    {"/var/lib/x", "x", "/var/lib/x"}, {"/usrx", "u", "/usrx"}};
	size_t i;
	char *p;

	for (i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		p = path_guest_home(c[i].home, c[i].user);
		ck_assert_str_eq(p, c[i].want);
		free(p);
	}
	ck_assert_ptr_null(path_guest_home("/", "a/b"));
}
END_TEST

START_TEST(names)
{
	static const char *const good[] = {"a", "@sys", "a-b", "0", "9-"};
	static const char *const bad[] = {"", "@", "-a", "A", "a.b", "a b",
	    "../x", "a/b", "@@a", "a\x1b", "a_b",
	    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ck_assert_msg(check_name(good[i]), "%s", good[i]);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(!check_name(bad[i]), "%s", bad[i]);
}
END_TEST

START_TEST(host_words)
{
	ck_assert(owned_plain("xterm-256color"));
	ck_assert(owned_plain("de_DE.UTF-8@euro"));
	ck_assert(!owned_plain(""));
	ck_assert(!owned_plain("x;y"));
	ck_assert(!owned_plain("../x"));
	ck_assert(!owned_plain("\x1b"));
	ck_assert(owned_zone("Europe/Berlin"));
	ck_assert(owned_zone("CET-1CEST,M3.5.0,M10.5.0/3"));
	ck_assert(!owned_zone("/etc/shadow"));
	ck_assert(!owned_zone(":/etc/shadow"));
	ck_assert(!owned_zone("a/../b"));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("words");
	TCase *t = tcase_create("words");
	SRunner *sr;
	int failed;

	tcase_add_test(t, utf8);
	tcase_add_test(t, unsafe);
	tcase_add_test(t, invisible);
	tcase_add_test(t, escape_is_safe_and_recoverable);
	tcase_add_test(t, escape_cuts);
	tcase_add_test(t, escape_blanks);
	tcase_add_test(t, long_values);
	tcase_add_test(t, clean_paths);
	tcase_add_test(t, covering);
	tcase_add_test(t, reserved);
	tcase_add_test(t, guest_home);
	tcase_add_test(t, names);
	tcase_add_test(t, host_words);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? 0 : 1;
}
