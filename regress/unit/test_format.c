#include "child/parser/format.h"
#include "ipc/tool.h"
#include "ipc/limits.h"
#include "parse_help.h"

static int
parse(const char *text, enum layer layer, struct draft *d, struct policy *po)
{
	struct place at = {po, "p", "/p.profile"};
	size_t len = strlen(text);
	char *data = malloc(len + 1);
	int n;

	ck_assert(data != NULL);
	memset(po, 0, sizeof(*po));
	memset(d, 0, sizeof(*d));
	memcpy(data, text, len);
	n = draft_parse(&at, layer, data, len, d);
	ck_assert_int_eq(n, po->nrefusals > 0 ? -1 : 0);
	free(data);
	return n;
}

static void
refused_in(enum layer layer, const char *text, uint32_t line, const char *what,
    const char *fix)
{
	struct draft d;
	struct policy po;

	ck_assert_msg(parse(text, layer, &d, &po) == -1, "%s", text);
	expect_refusal(&po, line, what, fix);
	policy_free(&po);
}

static void
refused(const char *text, uint32_t line, const char *what, const char *fix)
{
	refused_in(LAYER_USER, text, line, what, fix);
}

/* One line of [fs]. */
static void
line_refused(const char *text, const char *what, const char *fix)
{
	char file[512];

	snprintf(file, sizeof(file), "[fs]\n%s\n", text);
	refused(file, 2, what, fix);
}

static void
line_reads(const char *text, const char *left, const char *right, uint64_t size)
{
	char file[512];
	struct draft d;
	struct policy po;

	snprintf(file, sizeof(file), "[fs]\n%s\n", text);
	parse(file, LAYER_USER, &d, &po);
	ck_assert_msg(po.nrefusals == 0, "%s: %s", text,
	    po.nrefusals > 0 ? po.refusals[0].what : "");
	ck_assert_uint_eq(d.ngrants, 1);
	ck_assert_str_eq(d.grants[0].value.left, left);
	if (right == NULL)
		ck_assert_ptr_null(d.grants[0].value.right);
	else
		ck_assert_str_eq(d.grants[0].value.right, right);
	ck_assert_uint_eq(d.grants[0].value.size, size);
	draft_free(&d);
	policy_free(&po);
}

START_TEST(whole_profile)
{
	static const char text[] =
	    "[profile]\ndescription = a {b} \"c\" ; d\nabuse = e\n"
	    "include = @sys\ninclude = x\n"
	    "[fs]\nread = /a\nwrite = /b\ntry-read = /c\ntry-write = /d\n"
	    "tmpfs = /e\nsymlink = /f -> g\n[profile]\ninclude = x\n";
	static const uint8_t verbs[] = {VERB_READ, VERB_WRITE, VERB_TRY_READ,
	    VERB_TRY_WRITE, VERB_TMPFS, VERB_SYMLINK};
	struct draft d;
	struct policy po;
	size_t i;

	ck_assert_int_eq(parse(text, LAYER_USER, &d, &po), 0);
	ck_assert_str_eq(d.description, "a {b} \"c\" ; d");
	ck_assert_str_eq(d.abuse, "e");
	/* one that is named twice: the first line */
	ck_assert_uint_eq(d.nincludes, 2);
	ck_assert_str_eq(d.includes[0].name, "@sys");
	ck_assert_str_eq(d.includes[1].name, "x");
	ck_assert_uint_eq(d.includes[1].line, 5);
	ck_assert_uint_eq(d.ngrants, 6);
	for (i = 0; i < 6; i++) {
		ck_assert_uint_eq(d.grants[i].verb, verbs[i]);
		ck_assert_uint_eq(d.grants[i].line, 7 + i);
	}
	ck_assert_int_eq(d.packs, 0);
	draft_free(&d);
}
END_TEST

/* [tool NAME] and [example NAME]. */
START_TEST(tools)
{
	static const char *const bad[][3] = {
	    {"[tool]\n", "1", "unknown section"},
	    {"[tool A]\neffect = none\n", "1", "has no name"},
	    {"[tool -a]\neffect = none\n", "1", "has no name"},
	    {"[tool a]\neffect = none\n[fs]\nread = /a\n[tool a]\n"
	     "effect = none\n",
		"5", "a second time, it was in line 1"},
	    {"[tool a]\nrun = x\n", "2", "unknown key"},
	    {"[example a]\neffect = none\n", "2", "unknown key"},
	    {"[tool a]\neffect = some\n", "2", "not what a tool does"},
	    {"[tool a]\neffect = none\neffect = write\n", "3", "second time"},
	    {"[tool a]\nneeds = /x\n", "2", "says not what is needed"},
	    {"[tool a]\nneeds = read\n", "2", "says not what is needed"},
	    {"[tool a]\nneeds = exec /x\n", "2", "says not what is needed"},
	    {"[tool a]\nneeds = read /a /b\n", "2", "is not one path"},
	    {"[tool a]\nneeds = read {hom}/b\n", "2", "not a placeholder"},
	    {"[tool a]\nneeds = command a/b\n", "2", "no name of a command"},
	    {"[tool a]\nneeds = allow example.org\n", "2", "not of this form"},
	    {"[example a]\nstdin = x\n", "1", "runs nothing"},
	    {"[example a]\nrun = \"x\n", "2", "is no command"},
	    {"[example a]\nrun = \"\"\n", "2", "is no command"},
	    {"[example a]\nrun = x\nexpect-exit = 256\n", "3", "exit code"},
	    {"[example a]\nrun = x\nexpect-exit = -1\n", "3", "exit code"},
	    {"[example a]\nrun = x\nexpect-exit = 0x1\n", "3", "exit code"}};
	struct policy po;
	struct draft d;
	size_t i;

	for (i = 0; i < NITEMS(bad); i++)
		refused(bad[i][0], (uint32_t)atoi(bad[i][1]), bad[i][2], "");
	parse("[tool a]\ndescription = it = x\neffect = network\n"
	      "needs = read \"/a b\"\nneeds = allow https://Example.org.:443\n"
	      "needs = allow *\nneeds = command git\n"
	      "[example a]\nrun = sh -c \"a b\" c\nstdin = y\n"
	      "expect-exit = 7\n[fs]\nread = /x\n",
	    LAYER_USER, &d, &po);
	ck_assert_uint_eq(po.nrefusals, 0);
	ck_assert_uint_eq(d.ntools, 2);
	ck_assert_int_eq(d.tools[0].kind, TOOL_PROGRAM);
	ck_assert_int_eq(d.tools[0].effect, EFFECT_NETWORK);
	ck_assert_str_eq(d.tools[0].text, "it = x");
	ck_assert_uint_eq(d.tools[0].nneeds, 4);
	ck_assert_str_eq(d.tools[0].needs[0].text, "/a b");
	ck_assert_str_eq(d.tools[0].needs[1].text, "https://example.org:443");
	ck_assert_str_eq(d.tools[0].needs[2].text, "*");
	ck_assert_int_eq(d.tools[0].needs[3].verb, NEED_COMMAND);
	ck_assert_uint_eq(d.tools[0].needs[3].line, 7);
	ck_assert_int_eq(d.tools[1].expect, 7);
	ck_assert_str_eq(d.tools[1].input, "y");
	draft_free(&d);
}
END_TEST

/* [exec]: two lists, and three keys with one value each. */
START_TEST(execs)
{
	struct draft d;
	struct policy po;

	parse("[exec]\ninterpreter = /usr/bin/a\ninterpreter = {target}/b\n"
	      "library = \"/l i b\"\nspawn = no\nunix = no\nonce = yes\n",
	    LAYER_USER, &d, &po);
	ck_assert_uint_eq(d.nrules, 6);
	ck_assert_uint_eq(d.rules[1].kind, RULE_INTERPRETER);
	ck_assert_str_eq(d.rules[1].text, "{target}/b");
	ck_assert_uint_eq(d.rules[2].kind, RULE_LIBRARY);
	ck_assert_str_eq(d.rules[2].text, "/l i b");
	ck_assert_uint_eq(d.rules[3].kind, RULE_NO_SPAWN);
	ck_assert_uint_eq(d.rules[4].kind, RULE_NO_UNIX);
	ck_assert_uint_eq(d.rules[5].kind, RULE_ONCE);
	draft_free(&d);
	refused("[exec]\nonce = yes\nonce = yes\n", 3, "stands a second time",
	    "remove one");
	refused("[exec]\nonce = no\n", 2, "without the line", "write yes");
	refused("[exec]\nspawn = yes\n", 2, "without the line", "write no");
	refused("[exec]\nunix = maybe\n", 2, "is not a value", "write no");
	refused("[exec]\ninterpreter = /a -> /b\n", 2, "is not one path",
	    "as it is inside");
}
END_TEST

/* The rest of [limits], line by line, and each once. */
START_TEST(limits)
{
	struct draft d;
	struct policy po;

	parse("[limits]\nmemory = 64M\nprocesses = 5\ncpu = 50%\ncpu-time = "
	      "5m\nwall-time = 2s\nopen-files = 64\n"
	      "file-size = 64M\ncore-size = 8K\ntmpfs = 2G\n",
	    LAYER_USER, &d, &po);
	ck_assert_uint_eq(d.nrules, 9);
	ck_assert_uint_eq(d.rules[4].kind, RULE_LIMIT);
	ck_assert_uint_eq(d.rules[4].what, LIMIT_WALL_TIME);
	ck_assert_uint_eq(d.rules[4].number, 2000);
	ck_assert_uint_eq(d.rules[4].line, 6);
	draft_free(&d);
	refused("[limits]\ntmpfs = 1G\ncpu-time = 1s\ntmpfs = 1G\n", 4,
	    "\"tmpfs\" in [limits] stands a second time, it was in line 2",
	    "remove one");
	refused("[limits]\nwall-time =\n", 2, "has no value", "write a value");
	refused("[limits]\nwall = 1s\n", 2, "unknown key \"wall\" in [limits]",
	    "memory, processes, cpu, cpu-time, wall-time, open-files");
}
END_TEST

START_TEST(unknown_names)
{
	static const char *const words[] = {"deny", "mask", "unset", "remove",
	    "exclude", "priority", "override"};
	char text[128];
	size_t i;

	line_refused("raed = /a", "unknown key \"raed\" in [fs]",
	    "read, write, try-read, try-write, tmpfs, symlink");
	line_refused("Read = /a", "unknown key \"Read\"", "read, write");
	line_refused(
	    "description = a", "unknown key \"description\" in [fs]", "read");
	refused("[profile]\nread = /a\n", 2,
	    "unknown key \"read\" in [profile]",
	    "description, abuse, include, packs");
	refused("[f]\n", 1, "unknown section [f]", "[profile], [fs]");
	refused("[FS]\n", 1, "unknown section [FS]", "[profile], [fs]");
	refused("[fs x]\n", 1, "unknown section [fs x]", "[profile], [fs]");
	refused("[egress2]\n", 1, "unknown section", "[profile], [fs]");
	for (i = 0; i < NITEMS(words); i++) {
		snprintf(text, sizeof(text), "%s = /a", words[i]);
		line_refused(text, "unknown key", "nothing subtracts");
		snprintf(text, sizeof(text), "[%s]\n", words[i]);
		refused(text, 1, "unknown section", "nothing subtracts");
		snprintf(text, sizeof(text), "[environ.%s]\n", words[i]);
		refused(text, 1, "unknown section", "nothing subtracts");
	}
}
END_TEST

START_TEST(scalars)
{
	struct draft d;
	struct policy po;

	refused("[profile]\nabuse = a\nabuse = a\n", 3,
	    "stands a second time, it was in line 2", "remove one");
	refused("[profile]\ndescription = a\n[fs]\n[profile]\ndescription = b",
	    5, "stands a second time, it was in line 2", "remove one");
	refused("[profile]\nabuse =\n", 2, "has no value", "remove");
	line_refused("read =", "has no value", "remove");
	refused("[profile]\npacks = yes\n", 2, "profiles that carrel ships",
	    "remove");
	refused_in(LAYER_HOST, "[profile]\npacks = yes\n", 2,
	    "profiles that carrel ships", "remove");
	refused_in(LAYER_SHIPPED, "[profile]\npacks = no\n", 2,
	    "packs = no would be a negation", "remove");
	refused_in(
	    LAYER_SHIPPED, "[profile]\npacks = Yes\n", 2, "is not yes", "yes");
	refused_in(LAYER_SHIPPED, "[profile]\npacks = yes\npacks = yes\n", 3,
	    "second time", "remove");
	ck_assert_int_eq(
	    parse("[profile]\npacks = yes\n", LAYER_SHIPPED, &d, &po), 0);
	ck_assert_int_eq(d.packs, 1);
	draft_free(&d);
	refused("[profile]\ninclude = a b\n", 2, "\"a b\" is not the name",
	    "one name a line");
	refused("[profile]\ninclude = ../x\n", 2, "is not the name", "one");
}
END_TEST

START_TEST(binds)
{
	line_reads("read = /a", "/a", NULL, 0);
	line_reads("read = /a -> /b", "/a", "/b", 0);
	line_reads("read = /a   ->   /b", "/a", "/b", 0);
	line_reads("read = \"/a b\"", "/a b", NULL, 0);
	line_reads("read = \"/a -> b\"", "/a -> b", NULL, 0);
	line_reads("read = \"/a->b\" -> \"/c d\"", "/a->b", "/c d", 0);
	line_reads("read = \"/a\" -> /b", "/a", "/b", 0);
	line_reads("read = /a;b#c:d=e,f'(g)&!%$*\\", "/a;b#c:d=e,f'(g)&!%$*\\",
	    NULL, 0);
	line_reads("read = {home}/x", "{home}/x", NULL, 0);
	line_refused("read = /a b", "is not one path", "double quotes");
	line_refused("read = /a b c d", "too many words", "double quotes");
	line_refused("read = /a -> /b c", "too many words", "double quotes");
	line_refused("read = /a ->", "is not one path", "HOST -> GUEST");
	line_refused("read = -> /a", "is not one path", "HOST -> GUEST");
	line_refused("read = ->", "arrow in the wrong place", "each side");
	line_refused("read = -> -> ->", "arrow in the wrong place", "each");
	line_refused("read = /a -> ->", "arrow in the wrong place", "each");
	line_refused("read = /a->/b", "arrow inside a path", "both sides");
	line_refused("read = /a ->/b", "arrow inside a path", "both sides");
	line_refused("read = \"/a", "odd double quote", "two double quotes");
	line_refused("read = \"/a\"b", "odd double quote", "two double");
	line_refused("read = /a\"b", "double quote inside", "two double");
	line_refused("read = \"\"", "empty path", "write a path");
	line_refused("read = /a \"->\" /b", "is not one path", "HOST");
}
END_TEST

/* command, socket and device: what they read, and in which layers. */
START_TEST(nodes)
{
	static const char *const people[] = {
	    "[fs]\nsocket = /a\n", "[fs]\ndevice = /dev/a\n"};
	struct draft d;
	struct policy po;
	size_t i;

	line_reads("command = /a/b", "/a/b", NULL, 0);
	line_reads("command = /a/b -> c", "/a/b", "c", 0);
	line_reads("command = \"/a b\" -> \"c d\"", "/a b", "c d", 0);
	line_reads("socket = /a", "/a", NULL, 0);
	line_reads("socket = /a -> /b", "/a", "/b", 0);
	line_reads("device = /dev/a", "/dev/a", NULL, 0);
	line_refused("command = /a b", "is not one path", "HOST -> NAME");
	line_refused("command = /a ->", "is not one path", "HOST -> NAME");
	line_refused("socket = /a b", "is not one path", "HOST -> GUEST");
	line_refused(
	    "device = /dev/a -> /dev/b", "is not one path", "the same name");
	line_refused("device = /dev/a /dev/b", "is not one path", "one device");
	line_refused("device = {dev}/a", "\"{dev}\"", "{home}");
	for (i = 0; i < NITEMS(people); i++) {
		refused_in(LAYER_SHIPPED, people[i], 2,
		    "not for the profiles that carrel ships", "of the host");
		ck_assert_int_eq(parse(people[i], LAYER_HOST, &d, &po), 0);
		draft_free(&d);
	}
	ck_assert_int_eq(
	    parse("[fs]\ncommand = /a\n", LAYER_SHIPPED, &d, &po), 0);
	draft_free(&d);
}
END_TEST

START_TEST(links)
{
	line_reads("symlink = /a -> b", "/a", "b", 0);
	line_reads("symlink = \"/a b\" -> \"../c d\"", "/a b", "../c d", 0);
	line_refused("symlink = /a", "not two paths", "GUEST -> TEXT");
	line_refused("symlink = /a b", "not two paths", "GUEST -> TEXT");
	line_refused("symlink = /a -> \"\"", "empty path", "write a path");
}
END_TEST

START_TEST(memory)
{
	static const char *const bad[] = {"", "0", "4095", "-4096", "+4096",
	    "0x1000", "64m", "64MB", "64 M", "1.5G", "1T", "1025G",
	    "1099511627777", "99999999999999999999", "18446744073709551616",
	    "17179869184G", "3K", "M"};
	char text[128];
	size_t i;

	line_reads("tmpfs = /a", "/a", NULL, TMPFS_SIZE);
	line_reads("tmpfs = /a size=4096", "/a", NULL, 4096);
	line_reads("tmpfs = \"/a b\" size=4K", "/a b", NULL, 4096);
	line_reads("tmpfs = /a size=64M", "/a", NULL, 64 << 20);
	line_reads("tmpfs = /a size=1G", "/a", NULL, 1 << 30);
	line_reads("tmpfs = /a size=1024M", "/a", NULL, 1 << 30);
	for (i = 0; i < NITEMS(bad); i++) {
		snprintf(text, sizeof(text), "tmpfs = /a size=%s", bad[i]);
		if (strchr(bad[i], ' ') == NULL)
			line_refused(text, "impossible size", "size=N");
		else
			line_refused(text, "not one path", "size=64M");
	}
	line_refused("tmpfs = /a sizes=4K", "second word", "size=64M");
	line_refused("tmpfs = /a \"size=4K\"", "second word", "size=64M");
	line_refused("tmpfs = /a b", "second word", "size=64M");
}
END_TEST

START_TEST(placeholders)
{
	line_reads("read = {home}{target}{target-parent}{user}{uid}{tmp}",
	    "{home}{target}{target-parent}{user}{uid}{tmp}", NULL, 0);
	line_refused("read = /{x}", "\"{x}\" in \"/{x}\" is not a placeholder",
	    "{home} {target}");
	line_refused("read = /{Home}", "\"{Home}\"", "{home} {target}");
	line_refused("read = /{}", "\"{}\"", "{home} {target}");
	line_refused("read = /{target-parent", "brace", "directory above");
	line_refused("read = /a}", "brace", "directory above");
	line_refused("read = /{{home}}", "brace", "directory above");
	line_refused("read = {home}}", "brace", "directory above");
	line_refused("read = /a -> /{x}", "\"{x}\"", "{home}");
	line_refused("tmpfs = /{x}", "\"{x}\"", "{home}");
	line_refused("symlink = /a -> {x}", "\"{x}\"", "{home}");
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {whole_profile, tools, execs, limits,
	    unknown_names, scalars, binds, nodes, links, memory, placeholders};

	return run_suite("format", tests, NITEMS(tests));
}
