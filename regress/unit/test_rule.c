#include "child/parser/reader.h"
#include "child/parser/rule.h"
#include "ipc/confine.h"
#include "ipc/egress.h"
#include "ipc/limits.h"
#include "parse_help.h"

/*
 * What is neither a path nor a variable: the values as they are written, over
 * the wire and back, what the check refuses, and what all come to together.
 */

static char none[] = "";

/* One value of one key, as [limits] and the others hold it. */

static int
read_value(unsigned kind, const char *key, const char *value, struct rule *r,
    struct policy *po)
{
	struct place at = {po, "x", "/x.profile"};
	struct reader_line l = {7, "s", key, value};

	memset(po, 0, sizeof(*po));
	return rule_read(&at, kind, &l, r);
}

static const struct {
	uint8_t kind;
	const char *key, *value;
	uint8_t what;
	uint64_t number;
	const char *text;
} good_values[] = {
    {RULE_TIER, "tier", "read-only", 0, TIER_READ_ONLY, ""},
    {RULE_TIER, "tier", "side-effect", 0, TIER_SIDE_EFFECT, ""},
    {RULE_TIER, "tier", "unrestricted", 0, TIER_UNRESTRICTED, ""},
    {RULE_INTERPRETER, "interpreter", "/usr/bin/x", 0, 0, "/usr/bin/x"},
    {RULE_INTERPRETER, "interpreter", "\"/a b\"", 0, 0, "/a b"},
    {RULE_INTERPRETER, "interpreter", "{home}/x", 0, 0, "{home}/x"},
    {RULE_LIBRARY, "library", "/usr/lib", 0, 0, "/usr/lib"},
    {RULE_NO_SPAWN, "spawn", "no", 0, 0, ""},
    {RULE_NO_UNIX, "unix", "no", 0, 0, ""},
    {RULE_ONCE, "once", "yes", 0, 0, ""},
    {RULE_LIMIT, "memory", "1M", LIMIT_MEMORY, 1 << 20, ""},
    {RULE_LIMIT, "memory", "1048576G", LIMIT_MEMORY, 1ULL << 50, ""},
    {RULE_LIMIT, "memory", "1048577", LIMIT_MEMORY, 1048577, ""},
    {RULE_LIMIT, "processes", "1", LIMIT_PROCESSES, 1, ""},
    {RULE_LIMIT, "cpu", "50%", LIMIT_CPU, 50, ""},
    {RULE_LIMIT, "cpu", "250%", LIMIT_CPU, 250, ""},
    {RULE_LIMIT, "cpu-time", "2s", LIMIT_CPU_TIME, 2, ""},
    {RULE_LIMIT, "cpu-time", "5m", LIMIT_CPU_TIME, 300, ""},
    {RULE_LIMIT, "wall-time", "1h", LIMIT_WALL_TIME, 3600000, ""},
    {RULE_LIMIT, "wall-time", "8760h", LIMIT_WALL_TIME, 31536000000, ""},
    {RULE_LIMIT, "wall-time", "1ms", LIMIT_WALL_TIME, 1, ""},
    {RULE_LIMIT, "open-files", "0064", LIMIT_OPEN_FILES, 64, ""},
    {RULE_LIMIT, "file-size", "0", LIMIT_FILE_SIZE, 0, ""},
    {RULE_LIMIT, "core-size", "8K", LIMIT_CORE_SIZE, 8192, ""},
    {RULE_LIMIT, "tmpfs", "2G", LIMIT_TMPFS, 2ULL << 30, ""},
    {RULE_REPORT, "report", "exec", REPORT_EXEC, 0, ""},
    {RULE_REPORT, "report", "fs", REPORT_FS, 0, ""},
    {RULE_VIOLATION, "on-violation", "fail", 0, VIOLATION_FAIL, ""},
    {RULE_VIOLATION, "on-violation", "kill", 0, VIOLATION_KILL, ""},
};

START_TEST(values)
{
	struct policy po;
	struct rule r;
	size_t i;

	for (i = 0; i < NITEMS(good_values); i++) {
		if (read_value(good_values[i].kind, good_values[i].key,
			good_values[i].value, &r, &po) == -1)
			ck_abort_msg("%s: %s", good_values[i].value,
			    po.nrefusals > 0 ? po.refusals[0].what : "memory");
		ck_assert_uint_eq(r.kind, good_values[i].kind);
		ck_assert_uint_eq(r.what, good_values[i].what);
		ck_assert_uint_eq(r.number, good_values[i].number);
		ck_assert_str_eq(r.text, good_values[i].text);
		ck_assert_uint_eq(r.line, 7);
		ck_assert_str_eq(rule_key(&r), good_values[i].key);
		free(r.text);
	}
}
END_TEST

static const struct {
	uint8_t kind;
	const char *key, *value, *what, *fix;
} bad_values[] = {
    {RULE_TIER, "tier", "none", "is not a value",
	"write read-only or side-effect or unrestricted"},
    {RULE_TIER, "tier", "Read-only", "is not a value", "read-only"},
    {RULE_NO_SPAWN, "spawn", "yes", "says what is so without the line",
	"write no, or remove the line"},
    {RULE_NO_SPAWN, "spawn", "maybe", "is not a value", "write no"},
    {RULE_NO_UNIX, "unix", "yes", "says what is so", "write no"},
    {RULE_ONCE, "once", "no", "says what is so", "write yes"},
    {RULE_ONCE, "once", "yes yes", "is not a value", "write yes"},
    {RULE_REPORT, "report", "egress", "is not a value", "exec or fs"},
    {RULE_VIOLATION, "on-violation", "report", "is not a value",
	"fail or kill"},
    {RULE_INTERPRETER, "interpreter", "/a /b", "is not one path",
	"as it is inside"},
    {RULE_INTERPRETER, "interpreter", "/a -> /b", "is not one path",
	"as it is inside"},
    {RULE_INTERPRETER, "interpreter", "{homes}/x", "{homes}", "{home}"},
    {RULE_LIMIT, "memory", "", "is not a value", "from 1M to 1048576G"},
    {RULE_LIMIT, "memory", "M", "is not a value", "K, M or G"},
    {RULE_LIMIT, "memory", "-1M", "is not a value", "K, M or G"},
    {RULE_LIMIT, "memory", "+1M", "is not a value", "K, M or G"},
    {RULE_LIMIT, "memory", "64m", "is not a value", "K, M or G"},
    {RULE_LIMIT, "memory", "64MB", "is not a value", "K, M or G"},
    {RULE_LIMIT, "memory", "64 M", "is not a value", "K, M or G"},
    {RULE_LIMIT, "memory", "0x10000000", "is not a value", "K, M or G"},
    {RULE_LIMIT, "memory", "1T", "is not a value", "K, M or G"},
    {RULE_LIMIT, "memory", "1023K", "out of its range", "from 1M"},
    {RULE_LIMIT, "memory", "1048577G", "out of its range", "1048576G"},
    /* what would be 64 MiB if it wrapped */
    {RULE_LIMIT, "memory", "18446744073776660480", "out of its", "from 1M"},
    {RULE_LIMIT, "memory", "17179869248G", "out of its range", "from 1M"},
    {RULE_LIMIT, "processes", "0", "out of its range", "1 to 4194304"},
    {RULE_LIMIT, "processes", "4K", "is not a value", "1 to 4194304"},
    {RULE_LIMIT, "cpu", "1", "is not a value", "50%"},
    {RULE_LIMIT, "cpu", "0%", "out of its range", "from 1%"},
    {RULE_LIMIT, "cpu", "1.5%", "is not a value", "from 1%"},
    {RULE_LIMIT, "cpu-time", "5", "is not a value", "30s, 5m or 1h"},
    {RULE_LIMIT, "cpu-time", "0s", "out of its range", "1s to 8760h"},
    {RULE_LIMIT, "cpu-time", "500ms", "is not a value", "1s to 8760h"},
    {RULE_LIMIT, "wall-time", "8761h", "out of its range", "1ms to 8760h"},
    {RULE_LIMIT, "wall-time", "1d", "is not a value", "500ms, 30s, 5m"},
    {RULE_LIMIT, "open-files", "3", "out of its range", "from 4 to"},
    {RULE_LIMIT, "core-size", "0", "out of its range", "from 1 to"},
    {RULE_LIMIT, "tmpfs", "4095", "out of its range", "from 4K"},
};

START_TEST(bad)
{
	struct policy po;
	struct rule r;
	size_t i;

	for (i = 0; i < NITEMS(bad_values); i++) {
		if (read_value(bad_values[i].kind, bad_values[i].key,
			bad_values[i].value, &r, &po) == 0)
			ck_abort_msg(
			    "%s = %s", bad_values[i].key, bad_values[i].value);
		expect_refusal(&po, 7, bad_values[i].what, bad_values[i].fix);
		policy_free(&po);
	}
}
END_TEST

/* A policy of three profiles and some of these rules. */

static void
three(struct policy *po)
{
	memset(po, 0, sizeof(*po));
	ck_assert_ptr_nonnull(policy_add_profile(
	    po, "@sys", "/p/sys.profile", LAYER_SHIPPED, PROFILE_DEFAULT));
	ck_assert_ptr_nonnull(policy_add_profile(
	    po, "a", "/u/a.profile", LAYER_USER, PROFILE_ASKED));
	ck_assert_ptr_nonnull(policy_add_profile(
	    po, "b", "/u/b.profile", LAYER_USER, PROFILE_ASKED));
}

static void
say(struct policy *po, uint16_t profile, unsigned kind, unsigned what,
    uint64_t number, const char *text)
{
	struct rule r = {(uint8_t)kind, (uint8_t)what, number,
	    (char *)(uintptr_t)text, profile, (uint32_t)po->nrules + 1};

	ck_assert_ptr_nonnull(policy_add_rule(po, &r));
}

static void
good(struct policy *po)
{
	three(po);
	say(po, 2, RULE_LIMIT, LIMIT_MEMORY, 64 << 20, "");
	say(po, 1, RULE_LIMIT, LIMIT_MEMORY, 32 << 20, "");
	say(po, 1, RULE_LIMIT, LIMIT_WALL_TIME, 5, "");
	say(po, 2, RULE_LIMIT, LIMIT_WALL_TIME, 5, "");
	say(po, 0, RULE_LIMIT, LIMIT_FILE_SIZE, 0, "");
	say(po, 1, RULE_INTERPRETER, 0, 0, "/usr/bin/x");
	say(po, 1, RULE_INTERPRETER, 0, 0, "/usr/bin/y");
	say(po, 1, RULE_INTERPRETER, 0, 0, "/usr/bin/z");
	say(po, 2, RULE_INTERPRETER, 0, 0, "/usr/bin/z");
	say(po, 2, RULE_INTERPRETER, 0, 0, "/usr/bin/y");
	say(po, 2, RULE_INTERPRETER, 0, 0, "/usr/bin/w");
	say(po, 2, RULE_LIBRARY, 0, 0, "/opt/lib");
	say(po, 0, RULE_NO_SPAWN, 0, 0, "");
	say(po, 2, RULE_NO_SPAWN, 0, 0, "");
	say(po, 2, RULE_ONCE, 0, 0, "");
	say(po, 1, RULE_REPORT, REPORT_EXEC, 0, "");
	say(po, 0, RULE_VIOLATION, 0, VIOLATION_KILL, "");
	say(po, 1, RULE_VIOLATION, 0, VIOLATION_FAIL, "");
	say(po, 2, RULE_VIOLATION, 0, VIOLATION_KILL, "");
	say(po, 0, RULE_TIER, 0, TIER_SIDE_EFFECT, "");
	say(po, 1, RULE_TIER, 0, TIER_READ_ONLY, "");
}

static int
judge(struct policy *po)
{
	char why[TEXT_MAX_LEN] = "";
	int n = policy_check(po, why, sizeof(why));

	ck_assert(n == 0 || why[0] != '\0');
	return n;
}

START_TEST(wire)
{
	struct policy po, back;
	struct sender s;
	struct receiver r;
	int pair[2];
	size_t i;

	good(&po);
	policy_sort(&po);
	ck_assert_int_eq(judge(&po), 0);
	ck_assert_int_eq(channel_pair(pair), 0);
	ck_assert_int_eq(sender_init(&s, pair[0], -1), 0);
	ck_assert_int_eq(policy_send(&s, &po), 0);
	sender_free(&s);
	ck_assert_int_eq(receiver_init(&r, pair[1], -1, record_policy), 0);
	close(pair[0]);
	ck_assert_int_eq(policy_receive(&r, &back), 0);
	receiver_free(&r);
	close(pair[1]);
	ck_assert_uint_eq(back.nrules, po.nrules);
	for (i = 0; i < po.nrules; i++)
		ck_assert_int_eq(rule_cmp(&back.rules[i], &po.rules[i]), 0);
	ck_assert_int_eq(judge(&back), 0);
	policy_free(&back);
	policy_free(&po);
}
END_TEST

START_TEST(too_many)
{
	struct policy po;
	struct rule r = {RULE_ONCE, 0, 0, none, 0, 1};
	size_t i;

	three(&po);
	for (i = 0; i < RULES_MAX; i++)
		ck_assert_ptr_nonnull(policy_add_rule(&po, &r));
	ck_assert_ptr_null(policy_add_rule(&po, &r));
	ck_assert_uint_eq(po.nrules, RULES_MAX);
	policy_free(&po);
}
END_TEST

/* One rule beside good ones; only some of them a policy may hold. */
static const struct {
	struct rule r;
	int shown; /* 1: not even a policy that is only shown may */
} lies[] = {
    {{0, 0, 0, none, 0, 1}, 1},
    {{11, 0, 0, none, 0, 1}, 1},
    {{RULE_TIER, 0, 0, none, 2, 1}, 1},
    {{RULE_TIER, 0, 4, none, 2, 1}, 1},
    {{RULE_TIER, 1, 1, none, 2, 1}, 1},
    {{RULE_TIER, 0, 1, (char *)(uintptr_t) "x", 2, 1}, 0},
    {{RULE_TIER, 0, 1, none, 1, 99}, 0}, /* it says so already */
    {{RULE_TIER, 0, 2, none, 1, 99}, 0},
    {{RULE_TIER, 0, 2, none, 3, 1}, 1}, /* no such profile */
    {{RULE_INTERPRETER, 0, 0, none, 2, 1}, 0},
    {{RULE_INTERPRETER, 0, 0, (char *)(uintptr_t) "/", 2, 1}, 0},
    {{RULE_INTERPRETER, 0, 0, (char *)(uintptr_t) "a", 2, 1}, 0},
    {{RULE_INTERPRETER, 0, 0, (char *)(uintptr_t) "/a/..", 2, 1}, 0},
    {{RULE_INTERPRETER, 0, 0, (char *)(uintptr_t) "/a\x1b", 2, 1}, 0},
    {{RULE_INTERPRETER, 0, 1, (char *)(uintptr_t) "/a", 2, 1}, 1},
    {{RULE_INTERPRETER, 0, 0, (char *)(uintptr_t) "/usr/bin/w", 2, 99}, 0},
    {{RULE_LIBRARY, 1, 0, (char *)(uintptr_t) "/a", 2, 1}, 1},
    {{RULE_LIBRARY, 0, 0, (char *)(uintptr_t) "/a", 1, 1}, 0}, /* alone */
    {{RULE_NO_SPAWN, 0, 1, none, 1, 1}, 1},
    {{RULE_NO_UNIX, 0, 0, (char *)(uintptr_t) "no", 1, 1}, 0},
    {{RULE_ONCE, 0, 0, none, 2, 99}, 0},
    {{RULE_LIMIT, 0, 4096, none, 1, 1}, 1},
    {{RULE_LIMIT, 10, 4096, none, 1, 1}, 1},
    {{RULE_LIMIT, LIMIT_TMPFS, 4095, none, 1, 1}, 1},
    {{RULE_LIMIT, LIMIT_TMPFS, 1ULL << 51, none, 1, 1}, 1},
    {{RULE_LIMIT, LIMIT_PROCESSES, 0, none, 1, 1}, 1},
    {{RULE_LIMIT, LIMIT_MEMORY, 99 << 20, none, 1, 1}, 0}, /* a second */
    {{RULE_REPORT, 3, 0, none, 0, 1}, 1},
    {{RULE_REPORT, REPORT_EXEC, 0, none, 1, 99}, 0},
    {{RULE_VIOLATION, 0, VIOLATION_REPORT, none, 1, 1}, 1},
    {{RULE_EGRESS, 0, 0, none, 1, 1}, 0},
};

START_TEST(check)
{
	struct policy po;
	struct rule swap;
	size_t i;

	for (i = 0; i < NITEMS(lies); i++) {
		good(&po);
		ck_assert_ptr_nonnull(policy_add_rule(&po, &lies[i].r));
		policy_sort(&po);
		ck_assert_msg(judge(&po) == -1, "lie %zu", i);
		ck_assert_int_eq(policy_refuse(&po, "a", "/a", 1, "x", "y"), 0);
		ck_assert_msg(judge(&po) == -lies[i].shown, "lie %zu", i);
		policy_free(&po);
	}
	good(&po);
	policy_sort(&po);
	ck_assert_int_eq(judge(&po), 0);
	swap = po.rules[0];
	po.rules[0] = po.rules[1];
	po.rules[1] = swap;
	ck_assert_int_eq(judge(&po), -1);
	policy_free(&po);
}
END_TEST

static void
is(const struct policy *po, const struct rule *r, unsigned profile,
    uint64_t number)
{
	ck_assert_ptr_nonnull(r);
	ck_assert_str_eq(
	    po->profiles[r->profile].name, po->profiles[profile].name);
	ck_assert_uint_eq(r->number, number);
}

/* S2b: the strictest, and who asked for it; in whatever order they come. */
START_TEST(strictest)
{
	struct policy po;
	struct confine c;
	struct rule swap;
	int round;
	size_t i, k;

	good(&po);
	srand(1);
	for (round = 0; round < 200; round++) {
		for (i = po.nrules - 1; i > 0; i--) {
			k = (size_t)rand() % (i + 1);
			swap = po.rules[i];
			po.rules[i] = po.rules[k];
			po.rules[k] = swap;
		}
		policy_sort(&po);
		ck_assert_int_eq(confine_join(&po, &c), 0);
		is(&po, c.limit[LIMIT_MEMORY], 1, 32 << 20);
		is(&po, c.limit[LIMIT_WALL_TIME], 1, 5);
		is(&po, c.limit[LIMIT_FILE_SIZE], 0, 0);
		ck_assert_ptr_null(c.limit[LIMIT_CPU]);
		ck_assert_ptr_null(confine_limit(&po, LIMIT_CPU));
		ck_assert_ptr_eq(
		    confine_limit(&po, LIMIT_MEMORY), c.limit[LIMIT_MEMORY]);
		is(&po, c.tier, 1, TIER_READ_ONLY);
		is(&po, c.no_unix, 1, TIER_READ_ONLY);
		is(&po, c.no_spawn, 0, 0);
		is(&po, c.once, 2, 0);
		is(&po, c.report[REPORT_EXEC], 1, 0);
		is(&po, c.violation, 0, VIOLATION_KILL);
		ck_assert_uint_eq(c.ninterpreters, 2);
		ck_assert_str_eq(c.interpreters[0]->text, "/usr/bin/y");
		ck_assert_str_eq(c.interpreters[1]->text, "/usr/bin/z");
		is(&po, c.interpreters[0], 1, 0);
		ck_assert_uint_eq(c.nlibraries, 1);
		ck_assert_str_eq(c.libraries[0]->text, "/opt/lib");
		confine_free(&c);
	}
	policy_free(&po);
}
END_TEST

START_TEST(nothing)
{
	struct policy po;
	struct confine c;

	three(&po);
	ck_assert_int_eq(judge(&po), 0);
	ck_assert_int_eq(confine_join(&po, &c), 0);
	ck_assert_ptr_null(c.interpreters);
	ck_assert_ptr_null(c.libraries);
	ck_assert_ptr_null(c.no_unix);
	ck_assert_ptr_null(c.violation);
	confine_free(&c);
	/* nothing in common is not the same as nothing asked for */
	say(&po, 0, RULE_INTERPRETER, 0, 0, "/a");
	say(&po, 1, RULE_INTERPRETER, 0, 0, "/a");
	say(&po, 1, RULE_INTERPRETER, 0, 0, "/b");
	policy_sort(&po);
	ck_assert_int_eq(judge(&po), 0);
	ck_assert_uint_eq(confine_empty(&po), 0);
	say(&po, 2, RULE_INTERPRETER, 0, 0, "/b");
	policy_sort(&po);
	ck_assert_uint_eq(confine_empty(&po), RULE_INTERPRETER);
	ck_assert_int_eq(judge(&po), -1);
	ck_assert_int_eq(confine_join(&po, &c), 0);
	ck_assert_ptr_nonnull(c.interpreters);
	ck_assert_uint_eq(c.ninterpreters, 0);
	confine_free(&c);
	policy_free(&po);
}
END_TEST

/* S74: what is let out fits the tier, whoever says either. */
START_TEST(tiers_of_egress)
{
	static const struct {
		unsigned tier; /* 0: none says one */
		unsigned scheme;
		int ok;
	} cases[] = {
	    {0, EGRESS_HTTPS, 1},
	    {0, EGRESS_ALL, 0},
	    {TIER_READ_ONLY, EGRESS_HTTPS, 0},
	    {TIER_READ_ONLY, EGRESS_ALL, 0},
	    {TIER_SIDE_EFFECT, EGRESS_HTTPS, 1},
	    {TIER_SIDE_EFFECT, EGRESS_ALL, 0},
	    {TIER_UNRESTRICTED, EGRESS_HTTPS, 1},
	    {TIER_UNRESTRICTED, EGRESS_ALL, 1},
	};
	struct policy po;
	size_t i;

	for (i = 0; i < NITEMS(cases); i++) {
		three(&po);
		if (cases[i].tier != 0) {
			say(&po, 1, RULE_TIER, 0, cases[i].tier, "");
			say(&po, 2, RULE_TIER, 0, TIER_UNRESTRICTED, "");
		}
		if (cases[i].scheme == EGRESS_ALL)
			say(&po, 2, RULE_EGRESS, EGRESS_ALL, 0, "*");
		else
			say(&po, 2, RULE_EGRESS, cases[i].scheme, 443, "a.b");
		policy_sort(&po);
		ck_assert_msg((judge(&po) == 0) == cases[i].ok, "case %zu", i);
		policy_free(&po);
	}
}
END_TEST

START_TEST(many_of_egress)
{
	struct policy po;
	unsigned i;

	three(&po);
	for (i = 0; i < EGRESS_RULES_MAX; i++)
		say(&po, 1, RULE_EGRESS, EGRESS_TCP, i + 1, "a.b");
	policy_sort(&po);
	ck_assert_int_eq(judge(&po), 0);
	say(&po, 2, RULE_EGRESS, EGRESS_TCP, 1, "a.b");
	policy_sort(&po);
	ck_assert_int_eq(judge(&po), -1);
	policy_free(&po);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {tiers_of_egress, many_of_egress, values,
	    bad, wire, too_many, check, strictest, nothing};

	return run_suite("rule", tests, NITEMS(tests));
}
