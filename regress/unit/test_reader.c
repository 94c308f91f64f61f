#include <stdint.h>

#include "child/parser/reader.h"
#include "ipc/limits.h"
#include "parse_help.h"

/* What the reader said, as one text: "section|key|value@line;". */
struct said {
	char *text;
	size_t len;
	int stop_at; /* the call that refuses, or 0 */
	int calls;
	const struct place *at;
};

static int
note(void *arg, const struct reader_line *l)
{
	struct said *s = arg;

	s->calls++;
	s->len += (size_t)sprintf(s->text + s->len, "%s|%s|%s@%u;", l->section,
	    l->key != NULL ? l->key : "-", l->key != NULL ? l->value : "-",
	    l->line);
	if (s->calls == s->stop_at)
		return place_refuse(s->at, l->line, "stop", "stopped");
	return 0;
}

/* Reads len bytes; the result is in *s and *po, both to be freed. */
static int
read_bytes(const void *bytes, size_t len, int stop_at, struct said *s,
    struct policy *po)
{
	struct place at = {po, "p", "/p.profile"};
	char *data = malloc(len + 1);
	int n;

	memset(s, 0, sizeof(*s));
	memset(po, 0, sizeof(*po));
	s->text = calloc(1, 4 * len + 65536);
	s->stop_at = stop_at;
	s->at = &at;
	ck_assert(data != NULL && s->text != NULL);
	memcpy(data, bytes, len);
	n = reader_parse(&at, data, len, note, s);
	ck_assert_int_eq(n, po->nrefusals > 0 ? -1 : 0);
	s->at = NULL;
	free(data);
	return n;
}

static void
reads_as(const char *text, const char *want)
{
	struct said s;
	struct policy po;

	read_bytes(text, strlen(text), 0, &s, &po);
	ck_assert_msg(po.nrefusals == 0, "\"%s\": %s", text,
	    po.nrefusals > 0 ? po.refusals[0].what : "");
	ck_assert_str_eq(s.text, want);
	free(s.text);
	policy_free(&po);
}

/* Refused, and the lines before the fault were read as want says. */
static void
bytes_refused(const void *bytes, size_t len, uint32_t line, const char *what,
    const char *want)
{
	struct said s;
	struct policy po;

	ck_assert_int_eq(read_bytes(bytes, len, 0, &s, &po), -1);
	expect_refusal(&po, line, what, "");
	ck_assert_str_eq(po.refusals[0].file, "/p.profile");
	ck_assert_str_eq(s.text, want);
	free(s.text);
	policy_free(&po);
}

static void
refused(const char *text, uint32_t line, const char *what, const char *want)
{
	bytes_refused(text, strlen(text), line, what, want);
}

START_TEST(plain_files)
{
	reads_as("", "");
	reads_as("\n\n", "");
	reads_as("[fs]", "fs|-|-@1;");
	reads_as("[fs]\nread = /usr\n", "fs|-|-@1;fs|read|/usr@2;");
	reads_as("[fs]\nread=/usr", "fs|-|-@1;fs|read|/usr@2;");
	reads_as("[fs]  \t\nread\t=\t/a b \t\n", "fs|-|-@1;fs|read|/a b@2;");
	reads_as("[fs]\nread =\n", "fs|-|-@1;fs|read|@2;");
	reads_as(
	    "[a]\nx = 1\n[b]\nx = 2\n", "a|-|-@1;a|x|1@2;b|-|-@3;b|x|2@4;");
	reads_as("[tool my-tool]\n", "tool my-tool|-|-@1;");
	reads_as("[x]\nk = \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\n",
	    "x|-|-@1;x|k|\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80@2;");
}
END_TEST

/* inih strips " ;" and what follows it, and ends a key at ':'. */
START_TEST(comments_are_whole_lines)
{
	reads_as("; a\n# b\n[fs]\n;x = 1\nread = /a ; b # c\n",
	    "fs|-|-@3;fs|read|/a ; b # c@5;");
	reads_as("[fs]\nread = ;x\n", "fs|-|-@1;fs|read|;x@2;");
	reads_as("[fs]\nread = a:b=c:d\n", "fs|-|-@1;fs|read|a:b=c:d@2;");
	reads_as("[fs]\nread = [x]\n", "fs|-|-@1;fs|read|[x]@2;");
	refused("[fs] ; c\n", 1, "is not a section", "");
	refused("[fs] # c\n", 1, "is not a section", "");
	refused("[fs]\nread:/usr\n", 2, "has no \"=\"", "fs|-|-@1;");
	refused(
	    "[fs]\nread:x = /usr\n", 2, "\"read:x\" is not a key", "fs|-|-@1;");
}
END_TEST

/* inih takes an indented line as more of the key above. */
START_TEST(no_line_is_indented)
{
	refused(
	    "[fs]\nread = /a\n  /b\n", 3, "indented", "fs|-|-@1;fs|read|/a@2;");
	refused("[fs]\n\tread = /a\n", 2, "indented", "fs|-|-@1;");
	refused(" [fs]\n", 1, "indented", "");
	refused(" ; c\n", 1, "indented", "");
	reads_as("[fs]\n   \t \nread = /a\n", "fs|-|-@1;fs|read|/a@3;");
}
END_TEST

START_TEST(keys)
{
	refused("read = /a\n", 1, "outside a section", "");
	refused("[fs]\n= /a\n", 2, "no key", "fs|-|-@1;");
	refused("[fs]\n=\n", 2, "no key", "fs|-|-@1;");
	refused("[fs]\nread\n", 2, "has no \"=\"", "fs|-|-@1;");
	refused("[fs]\na b = c\n", 2, "\"a b\" is not a key", "fs|-|-@1;");
	refused("[fs]\nre\xc3\xa4"
		"d = c\n",
	    2, "is not a key", "fs|-|-@1;");
	refused("[fs]\n\"read\" = c\n", 2, "is not a key", "fs|-|-@1;");
	reads_as("[environ.set]\nA_b1 = c\n",
	    "environ.set|-|-@1;environ.set|A_b1|c@2;");
}
END_TEST

/* inih cuts a section at 49 bytes and reads lines of 200. */
START_TEST(long_names)
{
	char text[1024], want[2048], name[256];

	memset(name, 'n', sizeof(name));
	snprintf(text, sizeof(text), "[%.48s]\nk = v\n", name);
	snprintf(want, sizeof(want), "%.48s|-|-@1;%.48s|k|v@2;", name, name);
	reads_as(text, want);
	snprintf(text, sizeof(text), "[%.49s]\nk = v\n", name);
	refused(text, 1, "too long for a section", "");
	snprintf(text, sizeof(text), "[s]\n%.128s = v\n", name);
	snprintf(want, sizeof(want), "s|-|-@1;s|%.128s|v@2;", name);
	reads_as(text, want);
	snprintf(text, sizeof(text), "[s]\n%.129s = v\n", name);
	refused(text, 2, "is not a key", "s|-|-@1;");
}
END_TEST

START_TEST(sections)
{
	refused("[fs\n", 1, "is not a section", "");
	refused("[]\n", 1, "is not a section", "");
	refused("[ fs]\n", 1, "is not a section", "");
	refused("[fs ]\n", 1, "is not a section", "");
	refused("[f]s]\n", 1, "is not a section", "");
	refused("[[fs]\n", 1, "is not a section", "");
	refused("[fs]]\n", 1, "is not a section", "");
	refused("[fs]x = 1\n", 1, "is not a section", "");
	refused("[f\xc3\xa4]\n", 1, "is not a section", "");
	reads_as("[f.s-1]\n", "f.s-1|-|-@1;");
}
END_TEST

/* S16: up to the limit a value is whole, above it refused; never two lines. */
START_TEST(long_values)
{
	char *text = malloc(VALUE_MAX_LEN + 64);
	char *want = malloc(VALUE_MAX_LEN + 64);
	size_t sizes[] = {150, 190, 199, 200, 201, 202, 400, 4095, 4096}, i;

	for (i = 0; i < NITEMS(sizes); i++) {
		memset(want, 0, VALUE_MAX_LEN + 64);
		strcpy(text, "[s]\nk = ");
		strcpy(want, "s|-|-@1;s|k|");
		memset(text + 8, 'v', sizes[i]);
		memset(want + 12, 'v', sizes[i]);
		/* what would be a line of its own after a cut */
		memcpy(text + 8 + sizes[i] - 6, "wr=/ab", 6);
		memcpy(want + 12 + sizes[i] - 6, "wr=/ab", 6);
		strcpy(text + 8 + sizes[i], "\n");
		strcpy(want + 12 + sizes[i], "@2;");
		reads_as(text, want);
	}
	memset(text + 8, 'v', 4097);
	strcpy(text + 8 + 4097, "\n");
	refused(text, 2, "has 4097 bytes", "s|-|-@1;");
	free(text);
	free(want);
}
END_TEST

START_TEST(bytes)
{
	static const char nul[] = "[s]\nk = a\0b\n";
	static const char nul_comment[] = "; a\0b\n";

	bytes_refused(nul, sizeof(nul) - 1, 2, "NUL", "s|-|-@1;");
	bytes_refused(nul_comment, sizeof(nul_comment) - 1, 1, "NUL", "");
	refused("\xef\xbb\xbf[s]\n", 1, "byte order mark", "");
	refused("[s]\r\n", 1, "carriage return", "");
	refused("[s]\nk = a\rb\n", 2, "carriage return", "s|-|-@1;");
	refused("[s]\nk = \xff\n", 2, "UTF-8", "s|-|-@1;");
	refused("[s]\nk = \xc0\xaf\n", 2, "UTF-8", "s|-|-@1;");
	refused("[s]\nk = \xed\xa0\x80\n", 2, "UTF-8", "s|-|-@1;");
	refused("; \xe2\x82\n", 1, "UTF-8", "");
	refused("[s]\nk = a\x1b[1A\n", 2, "control", "s|-|-@1;");
	refused("[s]\nk = a\x7f\n", 2, "control", "s|-|-@1;");
	refused("[s]\nk = a\xc2\x85\n", 2, "control", "s|-|-@1;");
	refused("[s]\nk = a\xe2\x80\xae\n", 2, "bidi", "s|-|-@1;");
	refused("[s]\nk =\ta\xe2\x80\x8b\n", 2, "invisible", "s|-|-@1;");
	refused("# \xe2\x80\xae\n", 1, "bidi", "");
	refused("[s]\nk = a\tb\n", 2, "tab", "s|-|-@1;");
	reads_as("; a\ttab in a comment\n", "");
}
END_TEST

START_TEST(size)
{
	char *data = malloc(FILE_MAX_LEN + 2);

	memset(data, '\n', FILE_MAX_LEN + 1);
	memcpy(data, "[s]", 3);
	data[FILE_MAX_LEN + 1] = '\0';
	refused(data, 0, "more than 256 KiB", "");
	data[FILE_MAX_LEN] = '\0';
	reads_as(data, "s|-|-@1;");
	/* many keys: the numbers handed to inih get longer */
	memset(data, 0, FILE_MAX_LEN + 2);
	strcpy(data, "[s]\n");
	while (strlen(data) < 120000)
		strcat(data + strlen(data), "k=v\nk=v\nk=v\nk=v\nk=v\nk=v\n");
	strcat(data, "k=end");
	{
		struct said s;
		struct policy po;

		ck_assert_int_eq(read_bytes(data, strlen(data), 0, &s, &po), 0);
		ck_assert_int_gt(s.calls, 29000);
		ck_assert(strstr(s.text, "s|k|end@") != NULL);
		free(s.text);
		policy_free(&po);
	}
	free(data);
}
END_TEST

/* inih goes on after an error; the first one of a file is the only one. */
START_TEST(first_error_ends)
{
	static const char text[] = "[s]\na = 1\nb = 2\nc\n";
	struct said s;
	struct policy po;

	ck_assert_int_eq(read_bytes(text, strlen(text), 2, &s, &po), -1);
	ck_assert_int_eq(s.calls, 2);
	expect_refusal(&po, 2, "stopped", "stop");
	free(s.text);
	policy_free(&po);
	ck_assert_int_eq(read_bytes(text, strlen(text), 1, &s, &po), -1);
	ck_assert_int_eq(s.calls, 1);
	expect_refusal(&po, 1, "stopped", "stop");
	free(s.text);
	policy_free(&po);
	refused(text, 4, "\"c\" has no", "s|-|-@1;s|a|1@2;s|b|2@3;");
	refused("[s]\nx\ny\nz\n", 2, "\"x\" has no", "s|-|-@1;");
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {plain_files, comments_are_whole_lines,
	    no_line_is_indented, keys, long_names, sections, long_values, bytes,
	    size, first_error_ends};

	return run_suite("reader", tests, NITEMS(tests));
}
