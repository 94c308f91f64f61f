/* S74: what a tier says is true of what is granted, and of the tools. */
#include "answer.h"
#include "ipc/tool.h"
#include "ipc/environ.h"
#include "ipc/rule.h"
#include "ipc/tier.h"
#include "parse_help.h"
#include "world.h"

#define TIER(x) "[profile]\ntier = " x "\n"
#define OUT                                                                    \
	"[tool t]\neffect = write\nneeds = write /srv/proj/out\n"              \
	"[fs]\nwrite = {target}/out\n"

static struct layout l;

/* Refused in this line of a, with this; NULL: not refused. */
static void
judges(const char *a, const char *b, uint32_t line, const char *what)
{
	struct policy po;

	layout_init(&l);
	put_file(l.user, "a", a);
	put_file(l.user, "b", b);
	l.q.flags = REQUEST_NO_DEFAULTS;
	ask(&l, "a");
	ask(&l, "b");
	answer(&l, &po);
	if (what != NULL)
		expect_refusal(&po, line, what, "");
	else if (po.nrefusals > 0)
		ck_abort_msg("%s", po.refusals[0].what);
	policy_free(&po);
	layout_free(&l);
}

START_TEST(read_only)
{
	static const char *const bad[][2] = {
	    {"[egress]\nallow = https://a.example:443\n", "allow = https://a."},
	    {"[fs]\nwrite = /srv\n", "write = /srv has no place"},
	    {"[fs]\ntry-write = /srv\n", "try-write = /srv has no place"},
	    {"[fs]\nsocket = /run/x\n", "socket = /run/x has no place"},
	    {"[fs]\ndevice = /dev/fuse\n", "device = /dev/fuse has no place"},
	    {"[environ.inherit]\nCI = yes\n", "\"CI\" in [environ.inherit]"},
	    {"[environ.sanitise]\nPATH = yes\n", "[environ.sanitise]"}};
	char text[256];
	size_t i;

	for (i = 0; i < NITEMS(bad); i++) {
		snprintf(text, sizeof(text), TIER("read-only") "%s", bad[i][0]);
		judges(text, "", 4, bad[i][1]);
		/* of another profile: the tier is the run's */
		judges(bad[i][0], TIER("read-only"), 2, bad[i][1]);
		snprintf(
		    text, sizeof(text), TIER("side-effect") "%s", bad[i][0]);
		judges(text, "", 0, NULL);
		judges(bad[i][0], "", 0, NULL);
	}
	judges(TIER("read-only") "[fs]\nread = /usr\ntmpfs = /s\n"
				 "[environ.set]\nEDITOR = vi\n",
	    TIER("unrestricted"), 0, NULL);
}
END_TEST

START_TEST(outputs)
{
	judges(TIER("read-only") OUT, "", 0, NULL);
	judges(OUT, TIER("read-only"), 0, NULL);
	/* the tool of another profile declares nothing for this one */
	judges(TIER("read-only") "[fs]\nwrite = {target}/out\n",
	    "[tool t]\neffect = write\nneeds = write /srv/proj/out\n", 4,
	    "no tool declares it");
	judges(TIER("read-only") "[tool t]\neffect = none\n"
				 "needs = write /srv/proj/out\n"
				 "[fs]\nwrite = {target}/out\n",
	    "", 7, "no tool declares it");
	judges(TIER("read-only") "[tool t]\neffect = write\n"
				 "needs = write /srv/proj/outer\n"
				 "[fs]\nwrite = {target}/out\n",
	    "", 7, "no tool declares it");
	/* what is beside the output in the grant would be written, too */
	judges(TIER("read-only") "[tool t]\neffect = write\n"
				 "needs = write /srv/proj/out/log\n"
				 "[fs]\nwrite = {target}/out\n",
	    "", 7, "no tool declares it");
	judges(TIER("read-only") "[tool t]\neffect = write\n"
				 "needs = write /srv/proj\n"
				 "[fs]\nwrite = {target}/out\n",
	    "", 0, NULL);
}
END_TEST

START_TEST(everything)
{
	judges("[egress]\nallow = *\n", "", 2, "needs the tier unrestricted");
	judges(TIER("side-effect") "[egress]\nallow = *\n", "", 4,
	    "needs the tier unrestricted");
	judges(TIER("unrestricted") "[egress]\nallow = *\n",
	    TIER("side-effect"), 4, "needs the tier unrestricted");
	judges(TIER("unrestricted") "[egress]\nallow = *\n", "", 0, NULL);
}
END_TEST

START_TEST(own_tools)
{
	judges(TIER("read-only") "[tool t]\neffect = network\n", "", 3,
	    "[tool t] has effect = network");
	judges(TIER("side-effect") "[tool t]\neffect = network\n", "", 0, NULL);
	judges("[tool t]\neffect = network\n", TIER("read-only"), 0, NULL);
}
END_TEST

/* And what no parser of carrel's would send. */
START_TEST(lies)
{
	struct rule tier = {
	    .kind = RULE_TIER, .number = TIER_READ_ONLY, .text = (char[]){""}};
	struct policy po;
	char why[TEXT_MAX_LEN];
	struct grant *g;

	world_policy(&po);
	ck_assert_ptr_nonnull(policy_add_rule(&po, &tier));
	world_add(&po, VERB_READ, "/usr", NULL);
	g = world_add(&po, VERB_WRITE, "/w", NULL);
	ck_assert_int_eq(policy_check(&po, why, sizeof(why)), -1);
	ck_assert_msg(strstr(why, "no tool declares") != NULL, "%s", why);
	g->flags |= GRANT_OUTPUT;
	world_check(&po);
	ck_assert_str_eq(tier_name(tier_find(&po)), "read-only");
	/* what is not written is no output */
	po.grants[0].flags |= GRANT_OUTPUT;
	ck_assert_int_eq(policy_check(&po, why, sizeof(why)), -1);
	policy_free(&po);
	ck_assert_str_eq(tier_name(NULL), "side-effect");
}
END_TEST

/* The record of a section, and what is none. */
START_TEST(records)
{
	static uint8_t data[4096];
	struct need n[2] = {{.text = (char[]){"/a"}, .line = 3, .verb = 1},
	    {.text = (char[]){"https://a.example:443"}, .line = 4, .verb = 6}};
	struct tool t = {.kind = TOOL_EXAMPLE,
	    .name = (char[]){"x"},
	    .text = (char[]){"sh -c \"a b\""},
	    .input = (char[]){"in"},
	    .expect = 3,
	    .line = 2,
	    .needs = n,
	    .nneeds = 2};
	struct policy po;
	struct wbuf w;
	struct rcur c;
	size_t i;

	world_policy(&po);
	wbuf_init(&w, data, sizeof(data));
	tool_put(&w, &t);
	rcur_init(&c, data, w.len);
	ck_assert_int_eq(tool_get(&c, &po), 0);
	ck_assert_uint_eq(po.ntools, 1);
	ck_assert_str_eq(po.tools[0].text, t.text);
	ck_assert_uint_eq(po.tools[0].expect, 3);
	ck_assert_uint_eq(po.tools[0].needs[1].verb, NEED_ALLOW);
	for (i = 0; i < w.len; i++) { /* cut short */
		rcur_init(&c, data, i);
		ck_assert_int_eq(tool_get(&c, &po), -1);
	}
	for (i = 0; i < 7; i++) {
		struct tool bad = t;

		bad.kind = i == 0 ? 3 : i == 1 ? TOOL_PROGRAM : t.kind;
		bad.profile = i == 2 ? 2 : 0;
		bad.name = i == 3 ? (char[]){"@x"} : t.name;
		bad.effect = i == 4 ? EFFECT_NONE : 0;
		bad.text = i == 5 ? (char[]){"\"a"} : t.text;
		n[0].verb = i == 6 ? 7 : 1;
		wbuf_init(&w, data, sizeof(data));
		tool_put(&w, &bad);
		rcur_init(&c, data, w.len);
		ck_assert_msg(tool_get(&c, &po) == -1, "lie %zu", i);
	}
	ck_assert_uint_eq(po.ntools, 1);
	policy_free(&po);
}
END_TEST

START_TEST(words)
{
	static const char *const bad[] = {
	    "", "  ", "\"a", "a\"b\"", "\"a\"b", "\"\"", "\"\" x"};
	char many[2 * TOOL_WORDS_MAX + 3], **w;
	size_t i;

	for (i = 0; i < NITEMS(bad); i++)
		ck_assert_ptr_null(tool_words(bad[i]));
	w = tool_words("sh  -c \"a  'b'\" \"\" x");
	ck_assert_ptr_nonnull(w);
	ck_assert_str_eq(w[0], "sh");
	ck_assert_str_eq(w[2], "a  'b'");
	ck_assert_str_eq(w[3], "");
	ck_assert_str_eq(w[4], "x");
	ck_assert_ptr_null(w[5]);
	free(w);
	for (i = 0; i <= TOOL_WORDS_MAX; i++)
		memcpy(many + 2 * i, "a ", 3);
	ck_assert_ptr_null(tool_words(many));
	many[2 * TOOL_WORDS_MAX] = '\0';
	w = tool_words(many);
	ck_assert(w != NULL && w[TOOL_WORDS_MAX] == NULL);
	free(w);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
	    read_only, outputs, everything, own_tools, lies, records, words};

	return run_suite("tier", tests, NITEMS(tests));
}
