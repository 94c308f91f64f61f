/* S102: what a ceiling covers, against an oracle that knows only sets. */
#include <check.h>
#include <errno.h>
#include <sys/socket.h>

#include "child/parser/ceiling.h"
#include "child/shared/ceiling.h"
#include "child/shared/survey.h"
#include "ipc/channel.h"
#include "ipc/confine.h"
#include "ipc/egress.h"
#include "ipc/rule.h"
#include "ipc/text.h"
#include "parse_help.h"
#include "world.h"

#define FILE_NAME "/etc/carrel/ceiling.conf"

static struct caller caller;

static void
setup(void)
{
	world_caller(&caller);
}

static void
teardown(void)
{
	caller_free(&caller);
}

/* The parser */

static int
parse(const char *text, struct ceiling *c, struct policy *faults)
{
	struct place at = {faults, "", FILE_NAME};
	char *data = malloc(strlen(text) + 2);
	int n;

	ck_assert_ptr_nonnull(data);
	strcpy(data, text);
	memset(faults, 0, sizeof(*faults));
	memset(c, 0, sizeof(*c));
	n = ceiling_parse(&at, &caller, data, strlen(text), c);
	free(data);
	return n;
}

static void
reads(const char *text, const char *want)
{
	struct ceiling c;
	struct policy faults;
	char got[8192] = "";
	size_t i;

	ck_assert_msg(parse(text, &c, &faults) == 0, "%s: %s", text,
	    faults.nrefusals > 0 ? faults.refusals[0].what : "?");
	for (i = 0; i < c.n; i++) {
		ceiling_who_text(&c.lines[i], got, sizeof(got));
		text_add(got, sizeof(got), " ");
		ceiling_line_text(&c.lines[i], got, sizeof(got));
		text_add(got, sizeof(got), ":%u\n", c.lines[i].line);
	}
	ck_assert_str_eq(got, want);
	ceiling_free(&c);
	policy_free(&faults);
}

static void
bad(const char *text, uint32_t line, const char *what, const char *fix)
{
	struct ceiling c;
	struct policy faults;

	ck_assert_int_eq(parse(text, &c, &faults), -1);
	expect_refusal(&faults, line, what, fix);
	policy_free(&faults);
}

START_TEST(parses)
{
	reads("", "");
	reads("[ceiling]\nallow-user = ann\nallow-group = 100\n",
	    "[ceiling] allow-user = ann:2\n[ceiling] allow-group = 100:3\n");
	reads("[everyone]\nread = /\nwrite = \"/srv/a b\"\ncommand = /opt\n"
	      "socket = /run/x\ndevice = /dev/kvm\n",
	    "[everyone] read = /:2\n[everyone] write = /srv/a b:3\n"
	    "[everyone] command = /opt:4\n[everyone] socket = /run/x:5\n"
	    "[everyone] device = /dev/kvm:6\n");
	reads("[group lab]\nallow = *\nallow = https://*:443\n"
	      "allow = *://*.example.org:*\nallow = *://*:* private\n"
	      "allow = tcp://[2001:db8::1]:5\n",
	    "[group lab] allow = *:2\n[group lab] allow = https://*:443:3\n"
	    "[group lab] allow = *://*.example.org:*:4\n"
	    "[group lab] allow = *://*:* private:5\n"
	    "[group lab] allow = tcp://[2001:db8::1]:5:6\n");
	reads("[user u]\nmemory = 64M\nwall-time = 2s\nrequire = spawn no\n"
	      "require = tier read-only\nrequire = audit\n",
	    "[user u] memory = 64M:2\n[user u] wall-time = 2s:3\n"
	    "[user u] require = spawn no:4\n"
	    "[user u] require = tier read-only:5\n"
	    "[user u] require = audit:6\n");
	reads("[everyone]\nread = {home}/x\nwrite = {tmp}/{user}-{uid}\n",
	    "[everyone] read = /home/u/x:2\n[everyone] write = "
	    "/tmp/u-1000:3\n");
}
END_TEST

/* A home that is none is not all there is, and one by a link has two names. */
START_TEST(homes)
{
	world_replace(&caller.home_real, "/data/u");
	reads("[everyone]\nread = {home}\n",
	    "[everyone] read = /home/u:2\n[everyone] read = /data/u:2\n");
	world_replace(&caller.home, "/");
	reads("[everyone]\nread = {home}\n", "");
	world_replace(&caller.home_real, "/");
	reads("[everyone]\nwrite = {home}/x\nwrite = /y\n",
	    "[everyone] write = /y:3\n");
}
END_TEST

START_TEST(refuses)
{
	bad("[nobody]\n", 1, "unknown section [nobody]",
	    "[ceiling], [everyone], [group NAME], [user NAME]");
	bad("[user]\nread = /\n", 1, "unknown section [user]", "[user NAME]");
	bad("[user a b]\n", 1, "[user a b] is of more than one name", "one");
	bad("[fs]\nread = /\n", 1, "unknown section [fs]", "[everyone]");
	bad("[everyone]\ntry-read = /\n", 2, "unknown key \"try-read\"",
	    "read, write, command, socket, device, allow");
	bad("[everyone]\nread =\n", 2, "has no value", "write a value");
	bad("[everyone]\nread = /a /b\n", 2, "is not one path", "one path");
	bad("[everyone]\nread = /a -> /b\n", 2, "is not one path", "one path");
	bad("[everyone]\nread = {target}/x\n", 2, "is no bound",
	    "name the directories");
	bad("[everyone]\nread = {target-parent}\n", 2, "is no bound", "");
	bad("[everyone]\nread = etc\n", 2, "is not an absolute path", "begin");
	bad("[everyone]\nallow = * private\n", 2, "is not of this form",
	    "(and private behind)");
	bad("[everyone]\nallow = ftp://a.example:1\n", 2,
	    "has an unknown scheme", "https");
	bad("[everyone]\nallow = https://a.example:0\n", 2, "has no such port",
	    "");
	bad("[everyone]\nmemory = lots\n", 2, "is not a value", "write a size");
	bad("[group a]\nmemory = 1G\n[group a]\nmemory = 2G\n", 4,
	    "\"memory\" in [group a] stands a second time, it was in line 2",
	    "remove one");
	bad("[everyone]\nrequire = spawn yes\n", 2, "nothing that a run",
	    "tier read-only, tier side-effect, spawn no");
	bad("[everyone]\nrequire = tier unrestricted\n", 2, "nothing that", "");
	bad("[ceiling]\nallow-user = a b\n", 2, "is no name", "one name");
	bad("[ceiling]\nread = /\n", 2, "unknown key \"read\" in [ceiling]",
	    "allow-user, allow-group");
	/* what a ceiling may say, a profile may not */
	reads(
	    "[everyone]\nallow = *://*:*\n", "[everyone] allow = *://*:*:2\n");
}
END_TEST

/* The wire */

/* What arrives of a ceiling; -1 with errno. */
static int
pass(const struct ceiling *in, struct ceiling *out)
{
	struct receiver r;
	struct sender s;
	int fd[2], n, err;

	ck_assert_int_eq(channel_pair(fd), 0);
	ck_assert_int_eq(sender_init(&s, fd[0], -1), 0);
	ck_assert_int_eq(ceiling_send(&s, in), 0);
	sender_free(&s);
	close(fd[0]);
	ck_assert_int_eq(receiver_init(&r, fd[1], -1, record_ceiling), 0);
	n = ceiling_receive(&r, out);
	err = errno;
	receiver_free(&r);
	close(fd[1]);
	errno = err;
	return n;
}

static void
line_make(struct ceiling_line *l, unsigned who, const char *name, unsigned kind,
    unsigned what, uint64_t number, const char *text)
{
	memset(l, 0, sizeof(*l));
	l->who = (uint8_t)who;
	l->name = (char *)(uintptr_t)name;
	l->kind = (uint8_t)kind;
	l->what = (uint8_t)what;
	l->number = number;
	l->text = (char *)(uintptr_t)text;
	l->line = 7;
}

START_TEST(wire)
{
	static const struct {
		unsigned who, kind, what;
		uint64_t number;
		const char *name, *text;
		int good;
	} t[] = {
	    {CEILING_EVERYONE, CEILING_PATH, VERB_READ, 0, "", "/", 1},
	    {CEILING_EVERYONE, CEILING_PATH, VERB_READ, 0, "", "x", 0},
	    {CEILING_EVERYONE, CEILING_PATH, VERB_READ, 0, "", "/a/../b", 0},
	    {CEILING_EVERYONE, CEILING_PATH, VERB_READ, 1, "", "/", 0},
	    {CEILING_EVERYONE, CEILING_PATH, VERB_TMPFS, 0, "", "/", 0},
	    {CEILING_EVERYONE, CEILING_PATH, VERB_TRY_READ, 0, "", "/", 0},
	    {CEILING_EVERYONE, CEILING_PATH, VERB_READ, 0, "a", "/", 0},
	    {CEILING_GROUP, CEILING_PATH, VERB_READ, 0, "", "/", 0},
	    {CEILING_GROUP, CEILING_PATH, VERB_READ, 0, "a\033", "/", 0},
	    {4, CEILING_PATH, VERB_READ, 0, "a", "/", 0},
	    {0, CEILING_PATH, VERB_READ, 0, "", "/", 0},
	    {CEILING_USER, CEILING_USE, 0, 0, "a", "", 1},
	    {CEILING_EVERYONE, CEILING_USE, 0, 0, "", "", 0},
	    {CEILING_USER, CEILING_USE, 1, 0, "a", "", 0},
	    {CEILING_USER, CEILING_USE, 0, 0, "a", "/", 0},
	    {CEILING_EVERYONE, CEILING_EGRESS, 0, 0, "", "*", 1},
	    {CEILING_EVERYONE, CEILING_EGRESS, EGRESS_ALL, 0, "", "*", 1},
	    {CEILING_EVERYONE, CEILING_EGRESS, EGRESS_ALL, 1, "", "*", 0},
	    {CEILING_EVERYONE, CEILING_EGRESS, EGRESS_ALL + 1, 1, "", "*", 0},
	    {CEILING_EVERYONE, CEILING_EGRESS, EGRESS_TCP, 5, "", "a b", 0},
	    {CEILING_EVERYONE, CEILING_EGRESS, EGRESS_TCP, 1 << 20, "", "a", 0},
	    {CEILING_EVERYONE, CEILING_EGRESS, EGRESS_TCP, 5, "", "a.b", 1},
	    {CEILING_EVERYONE, CEILING_EGRESS, EGRESS_TCP, 5, "", "127.0.0.1",
		0},
	    {CEILING_EVERYONE, CEILING_LIMIT, LIMIT_MEMORY, 1 << 20, "", "", 1},
	    {CEILING_EVERYONE, CEILING_LIMIT, 0, 1 << 20, "", "", 0},
	    {CEILING_EVERYONE, CEILING_LIMIT, LIMIT_LAST + 1, 9, "", "", 0},
	    {CEILING_EVERYONE, CEILING_LIMIT, LIMIT_MEMORY, UINT64_MAX, "", "",
		0},
	    {CEILING_EVERYONE, CEILING_REQUIRE, RULE_TIER, 1, "", "", 1},
	    {CEILING_EVERYONE, CEILING_REQUIRE, RULE_TIER, 3, "", "", 0},
	    {CEILING_EVERYONE, CEILING_REQUIRE, RULE_REPORT, 9, "", "", 0},
	    {CEILING_EVERYONE, CEILING_REQUIRE, RULE_EGRESS, 0, "", "", 0},
	    {CEILING_EVERYONE, CEILING_AUDIT, 0, 0, "", "", 1},
	    {CEILING_EVERYONE, CEILING_AUDIT, 0, 1, "", "", 0},
	    {CEILING_EVERYONE, CEILING_AUDIT + 1, 0, 0, "", "", 0},
	    {CEILING_EVERYONE, 0, 0, 0, "", "", 0},
	};
	struct ceiling in, out;
	struct ceiling_line l;
	size_t i;

	for (i = 0; i < NITEMS(t); i++) {
		memset(&in, 0, sizeof(in));
		in.file = strdup(FILE_NAME);
		line_make(&l, t[i].who, t[i].name, t[i].kind, t[i].what,
		    t[i].number, t[i].text);
		ck_assert_int_eq(ceiling_add(&in, &l), 0);
		if (t[i].good) {
			ck_assert_msg(pass(&in, &out) == 0, "%zu", i);
			ck_assert_int_eq(out.n, 1);
			ck_assert_str_eq(out.lines[0].text, t[i].text);
			ck_assert_int_eq(out.lines[0].line, 7);
			ceiling_free(&out);
		} else {
			ck_assert_msg(pass(&in, &out) == -1, "%zu", i);
			ck_assert_int_eq(errno, EBADMSG);
		}
		ceiling_free(&in);
	}
}
END_TEST

/* A refusal of the file comes along, and is one of the policy then. */
START_TEST(faults)
{
	struct ceiling in, out;
	struct policy po;

	memset(&in, 0, sizeof(in));
	world_policy(&po);
	in.file = strdup(FILE_NAME);
	ck_assert_int_eq(
	    policy_refuse(&in.faults, "", FILE_NAME, 3, "fix", "what"), 0);
	ck_assert_int_eq(pass(&in, &out), 0);
	ck_assert_int_eq(ceiling_blame(&out, &po), 0);
	expect_refusal(&po, 3, "what", "fix");
	policy_free(&po);
	ceiling_free(&in);
	ceiling_free(&out);
}
END_TEST

/* The judgement, by examples */

/* Refused with this; NULL: admitted. The policy is kept. */
static void
judges(const char *text, struct policy *po, const struct survey *sv,
    const char *what, const char *fix)
{
	struct ceiling c;
	struct policy none;
	size_t n = po->nrefusals;

	ck_assert_int_eq(parse(text, &c, &none), 0);
	ck_assert_int_eq(ceiling_judge(&c, &caller, 0, sv, po), 0);
	if (what == NULL)
		ck_assert_msg(
		    po->nrefusals == n, "%s: %s", text, po->refusals[n].what);
	else {
		ck_assert_msg(po->nrefusals == n + 1, "%s: %s", text, what);
		ck_assert_msg(strstr(po->refusals[n].what, what) != NULL,
		    "%s not in %s", what, po->refusals[n].what);
		ck_assert_msg(strstr(po->refusals[n].fix, fix) != NULL,
		    "%s not in %s", fix, po->refusals[n].fix);
	}
	ceiling_free(&c);
}

static void
rule_add(struct policy *po, unsigned kind, unsigned what, uint64_t number,
    const char *text)
{
	const struct rule r = {.kind = (uint8_t)kind,
	    .what = (uint8_t)what,
	    .number = number,
	    .text = (char *)(uintptr_t)text,
	    .profile = 1,
	    .line = 30};

	ck_assert_ptr_nonnull(policy_add_rule(po, &r));
}

START_TEST(names)
{
	struct policy po;

	world_policy(&po);
	world_add(&po, VERB_WRITE, "/w", "/srv/lab/a");
	judges("[everyone]\nwrite = /srv/lab\n", &po, NULL, NULL, "");
	judges("[group u]\nwrite = /srv/lab/a\n", &po, NULL, NULL, "");
	judges("[group v]\nwrite = /srv\n", &po, NULL,
	    "write = /srv/lab/a goes beyond the ceiling, " FILE_NAME
	    ", which grants u nothing of the kind",
	    "leave it out, or have root write \"write = /srv/lab/a\" "
	    "in " FILE_NAME);
	judges("[everyone]\nread = /\nwrite = /home\nwrite = /srv/labor\n", &po,
	    NULL, "which ends at " FILE_NAME ":4 (write = /srv/labor)", "");
	judges("[everyone]\nread = /srv\n", &po, NULL,
	    "which ends at " FILE_NAME ":2 (read = /srv)", "");
	ck_assert_str_eq(po.refusals[0].profile, "mine");
	ck_assert_int_eq(po.refusals[0].line, 1);
	policy_free(&po);
}
END_TEST

START_TEST(users)
{
	struct policy po;

	world_policy(&po);
	judges("[ceiling]\nallow-user = u\n", &po, NULL, NULL, "");
	judges("[ceiling]\nallow-user = v\nallow-group = u\n", &po, NULL, NULL,
	    "");
	judges("[ceiling]\nallow-user = 1000\n", &po, NULL, NULL, "");
	judges("[ceiling]\nallow-group = 1000\n", &po, NULL, NULL, "");
	judges("[ceiling]\nallow-user = v\n", &po, NULL,
	    "u (uid 1000) is not among those who may use carrel on this "
	    "host: " FILE_NAME ":2 (allow-user = v)",
	    "allow-user = u");
	judges("[ceiling]\nallow-user = 1001\nallow-group = v\n", &po, NULL,
	    "not among", "");
	/* the name of who has none is carrel's invention */
	caller.flags |= CALLER_NO_ACCOUNT;
	judges("[ceiling]\nallow-user = u\n", &po, NULL, "not among", "UID");
	judges("[user u]\nrequire = spawn no\n", &po, NULL, NULL, "");
	judges("[user 1000]\nrequire = spawn no\n", &po, NULL, "spawn no", "");
	/* a group without a name is nobody's "" */
	world_replace(&caller.groups[0].name, "");
	judges("[ceiling]\nallow-group = u\n", &po, NULL, "not among", "");
	policy_free(&po);
}
END_TEST

START_TEST(limits)
{
	static const char both[] = "[everyone]\nmemory = 1G\n"
				   "[group u]\nmemory = 2G\n"
				   "[group 1000]\nmemory = 3G\n";
	struct policy po;
	struct ceiling c;
	struct policy none;
	const struct rule *r;

	world_policy(&po);
	rule_add(&po, RULE_LIMIT, LIMIT_MEMORY, 2ULL << 30, "");
	judges(both, &po, NULL, NULL, "");
	judges("[everyone]\nmemory = 1G\n", &po, NULL,
	    "memory = 2G is more than the ceiling, " FILE_NAME
	    ":2 (memory = 1G)",
	    "lower it to 1G");
	judges("[everyone]\nmemory = 1G\n[user u]\nmemory = 4G\n", &po, NULL,
	    NULL, "");
	judges("[everyone]\nmemory = 9G\n[user u]\nmemory = 1G\n", &po, NULL,
	    "is more than", "");
	/* what another profile says as well is what counts */
	rule_add(&po, RULE_LIMIT, LIMIT_MEMORY, 1ULL << 30, "");
	judges("[everyone]\nmemory = 1G\n", &po, NULL, NULL, "");
	ck_assert_int_eq(parse("[everyone]\nmemory = 1G\nprocesses = 9\n"
			       "core-size = 1G\ntmpfs = 2G\ncpu = 50%\n",
			     &c, &none),
	    0);
	ck_assert_int_eq(ceiling_impose(&c, &caller, &po), 0);
	ck_assert_int_eq(confine_limit(&po, LIMIT_MEMORY)->profile, 1);
	r = confine_limit(&po, LIMIT_PROCESSES);
	ck_assert_int_eq(r->number, 9);
	ck_assert_int_eq(r->line, 3);
	ck_assert_str_eq(po.profiles[r->profile].file, FILE_NAME);
	ck_assert_int_eq(confine_limit(&po, LIMIT_CPU)->number, 50);
	/* these two would widen what holds without */
	ck_assert_ptr_null(confine_limit(&po, LIMIT_CORE_SIZE));
	ck_assert_ptr_null(confine_limit(&po, LIMIT_TMPFS));
	ceiling_free(&c);
	ck_assert_int_eq(parse("[everyone]\ntmpfs = 1M\n", &c, &none), 0);
	ck_assert_int_eq(ceiling_impose(&c, &caller, &po), 0);
	ck_assert_int_eq(confine_limit(&po, LIMIT_TMPFS)->number, 1 << 20);
	ceiling_free(&c);
	policy_free(&po);
}
END_TEST

START_TEST(duties)
{
	static const struct {
		const char *require, *fix;
		unsigned kind, what;
		uint64_t number;
	} t[] = {
	    {"spawn no", "write \"spawn = no\" in [exec]", RULE_NO_SPAWN, 0, 0},
	    {"unix no", "write \"unix = no\" in [exec]", RULE_NO_UNIX, 0, 0},
	    {"unix no", "", RULE_TIER, 0, TIER_READ_ONLY},
	    {"once yes", "write \"once = yes\" in [exec]", RULE_ONCE, 0, 0},
	    {"tier read-only", "write \"tier = read-only\" in [profile]",
		RULE_TIER, 0, TIER_READ_ONLY},
	    {"report exec", "write \"report = exec\" in [audit]", RULE_REPORT,
		REPORT_EXEC, 0},
	    {"report fs", "write \"report = fs\" in [audit]", RULE_REPORT,
		REPORT_FS, 0},
	    {"on-violation fail", "write \"on-violation = fail\" in [audit]",
		RULE_VIOLATION, 0, VIOLATION_KILL},
	    {"on-violation kill", "", RULE_VIOLATION, 0, VIOLATION_KILL},
	};
	struct policy po, faults_of;
	struct ceiling c;
	char text[128], want[160];
	size_t i;

	for (i = 0; i < NITEMS(t); i++) {
		world_policy(&po);
		snprintf(text, sizeof(text), "[everyone]\nrequire = %s\n",
		    t[i].require);
		snprintf(want, sizeof(want),
		    FILE_NAME ":2 (require = %s) is not met by this run",
		    t[i].require);
		judges(text, &po, NULL, want, t[i].fix);
		rule_add(&po, t[i].kind, t[i].what, t[i].number, "");
		judges(text, &po, NULL, NULL, "");
		policy_free(&po);
	}
	world_policy(&po);
	judges("[everyone]\nrequire = tier side-effect\n", &po, NULL, NULL, "");
	rule_add(&po, RULE_VIOLATION, 0, VIOLATION_FAIL, "");
	judges("[everyone]\nrequire = on-violation kill\n", &po, NULL,
	    "on-violation kill", "");
	rule_add(&po, RULE_TIER, 0, TIER_UNRESTRICTED, "");
	judges("[everyone]\nrequire = tier side-effect\n", &po, NULL,
	    "tier side-effect", "");
	judges("[everyone]\nrequire = audit\n", &po, NULL, "require = audit",
	    "--require-audit");
	policy_free(&po);
	world_policy(&po);
	ck_assert_int_eq(
	    parse("[everyone]\nrequire = audit\n", &c, &faults_of), 0);
	ck_assert_int_eq(ceiling_judge(&c, &caller, 1, NULL, &po), 0);
	ck_assert_int_eq(po.nrefusals, 0);
	ceiling_free(&c);
	policy_free(&po);
}
END_TEST

/* What was opened counts, whatever it was called. */
START_TEST(opened)
{
	struct policy po;
	struct survey sv;
	struct survey_row *r;

	world_policy(&po);
	world_add(&po, VERB_WRITE, "/w", "/srv/a");
	ck_assert_int_eq(survey_init(&sv, 1), 0);
	r = &sv.rows[0];
	judges("[everyone]\nread = /\n", &po, &sv, NULL, ""); /* absent */
	r->type = SURVEY_DIR;
	r->real = strdup("/srv/a");
	judges("[everyone]\nwrite = /srv\n", &po, &sv, NULL, "");
	world_replace(&r->real, "/etc/x");
	judges("[everyone]\nwrite = /srv\n", &po, &sv,
	    "write = /srv/a leads to /etc/x, which goes beyond the ceiling, "
	    "which ends at " FILE_NAME ":2 (write = /srv)",
	    "\"write = /etc/x\"");
	world_replace(&r->real, "/srv/a");
	r->type = SURVEY_SOCKET;
	judges("[everyone]\nwrite = /srv\n", &po, &sv,
	    "write = /srv/a is a socket and goes beyond", "socket = /srv/a");
	judges("[everyone]\nsocket = /srv\n", &po, &sv, NULL, "");
	r->type = SURVEY_BLOCK;
	judges("[everyone]\nwrite = /srv\n", &po, &sv, "is a device and",
	    "device = /srv/a");
	/* what carrel adds itself is no way around, either */
	po.grants[0].flags = GRANT_OWN;
	po.grants[0].norigins = 0;
	r->type = SURVEY_DIR;
	judges("[everyone]\nwrite = /home\n", &po, &sv,
	    "(carrel) read = /srv/a goes beyond", "");
	survey_free(&sv);
	policy_free(&po);
}
END_TEST

START_TEST(defaults)
{
	struct ceiling c;
	struct policy po;

	ck_assert_int_eq(ceiling_default(&c), 0);
	world_policy(&po);
	world_add(&po, VERB_WRITE, "/w", "/srv");
	world_add(&po, VERB_COMMAND, "/run/carrel/bin/x", "/opt/x");
	rule_add(&po, RULE_EGRESS, EGRESS_TCP, 22 | EGRESS_PRIVATE, "a.lan");
	rule_add(&po, RULE_EGRESS, EGRESS_UDP, 53, "10.0.0.1");
	ck_assert_int_eq(ceiling_judge(&c, &caller, 0, NULL, &po), 0);
	ck_assert_int_eq(po.nrefusals, 0);
	world_add(&po, VERB_SOCKET, "/s", "/run/s");
	world_add(&po, VERB_DEVICE, "/dev/fuse", "/dev/fuse");
	rule_add(&po, RULE_EGRESS, EGRESS_ALL, 0, "*");
	ck_assert_int_eq(ceiling_judge(&c, &caller, 0, NULL, &po), 0);
	ck_assert_int_eq(po.nrefusals, 3);
	ck_assert_ptr_nonnull(strstr(po.refusals[0].what,
	    "socket = /run/s goes beyond the ceiling, the default ceiling"));
	ceiling_free(&c);
	policy_free(&po);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("ceiling");
	TCase *c = tcase_create("ceiling");
	SRunner *r;
	int n;

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, parses);
	tcase_add_test(c, homes);
	tcase_add_test(c, refuses);
	tcase_add_test(c, wire);
	tcase_add_test(c, faults);
	tcase_add_test(c, names);
	tcase_add_test(c, users);
	tcase_add_test(c, limits);
	tcase_add_test(c, duties);
	tcase_add_test(c, opened);
	tcase_add_test(c, defaults);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	n = srunner_ntests_failed(r);
	srunner_free(r);
	return n != 0;
}
