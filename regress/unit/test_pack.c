/* Packs: what the parser makes of one, and what the parent believes of it. */
#include <errno.h>

#include "answer.h"
#include "child/setup/look.h"
#include "child/setup/pack.h"
#include "child/shared/survey.h"
#include "ipc/environ.h"
#include "ipc/pack.h"
#include "ipc/rule.h"
#include "parent/failure.h"
#include "parse_help.h"
#include "world.h"

static struct layout l;
static char file[160];

static void
begin(const char *text)
{
	layout_init(&l);
	snprintf(file, sizeof(file), "%s/x.profile", l.root);
	put_bytes(file, text, strlen(text));
	l.q.pack = file;
}

static void
makes(const char *text, struct policy *out)
{
	begin(text);
	answer(&l, out);
	if (out->nrefusals > 0)
		ck_abort_msg("%s", out->refusals[0].what);
	layout_free(&l);
}

static void
refuses(const char *text, uint32_t line, const char *what)
{
	struct policy po;

	begin(text);
	answer(&l, &po);
	expect_refusal(&po, line, what, "");
	ck_assert_str_eq(po.refusals[0].file, file);
	policy_free(&po);
	layout_free(&l);
}

static const struct rule *
rule_of(const struct policy *po, unsigned kind)
{
	size_t i;

	for (i = 0; i < po->nrules; i++)
		if (po->rules[i].kind == kind)
			return &po->rules[i];
	return NULL;
}

START_TEST(what_a_pack_has)
{
	const struct grant *g;
	struct policy po;

	makes("[fs]\nread = /workdir\nread = /workdir/in\n"
	      "write = /workdir/out\ntmpfs = /scratch\n",
	    &po);
	ck_assert_uint_eq(po.nprofiles, 2);
	ck_assert_str_eq(po.profiles[0].name, "+x");
	ck_assert_int_eq(po.profiles[0].layer, LAYER_PACK);
	ck_assert_int_eq(po.profiles[0].flags, PROFILE_ASKED);
	ck_assert_str_eq(po.profiles[1].name, "@sys");
	ck_assert_int_eq(po.profiles[1].flags, PROFILE_DEFAULT);
	g = policy_find(&po, PACK_DIR);
	ck_assert(g != NULL && g->flags == 0 && g->norigins == 2);
	ck_assert_str_eq(g->source, "/srv/proj");
	ck_assert_uint_eq(g->origins[0].line, 0);
	g = policy_find(&po, "/workdir/out");
	ck_assert(g != NULL && g->flags == GRANT_WRITE);
	ck_assert_str_eq(g->source, "/srv/proj/out");
	ck_assert(policy_find(&po, "/workdir/in")->flags == 0);
	ck_assert(rule_of(&po, RULE_NO_UNIX) != NULL);
	ck_assert_uint_eq(rule_of(&po, RULE_REPORT)->what, REPORT_FS);
	ck_assert_uint_eq(rule_of(&po, RULE_VIOLATION)->number, VIOLATION_FAIL);
	ck_assert_int_eq(pack_find(&po), 0);
	policy_free(&po);
	/* what it says itself stands in its line */
	makes("[exec]\nunix = no\n[audit]\non-violation = kill\n", &po);
	ck_assert_uint_eq(po.nrules, 3);
	ck_assert_uint_eq(rule_of(&po, RULE_NO_UNIX)->line, 2);
	ck_assert_uint_eq(rule_of(&po, RULE_VIOLATION)->number, VIOLATION_KILL);
	policy_free(&po);
	/* another report does not take the place of it */
	makes("[audit]\nreport = exec\n", &po);
	ck_assert_uint_eq(po.nrules, 4);
	policy_free(&po);
	makes("[audit]\nreport = exec\nreport = fs\n", &po);
	ck_assert_uint_eq(po.nrules, 4);
	policy_free(&po);
}
END_TEST

START_TEST(what_it_may_not_say)
{
	static const char *const bad[] = {"[fs]\nread = /usr\n",
	    "[fs]\nwrite = /workdir\n", "[fs]\nwrite = /workdirs\n",
	    "[fs]\nread = /workdir/a -> /b\n", "[fs]\nread = /workdir/{uid}\n",
	    "[fs]\ntmpfs = {target}\n",
	    "[fs]\nsymlink = {target-parent} -> x\n",
	    "[fs]\ncommand = /usr/bin/env\n", "[fs]\ndevice = /dev/fuse\n",
	    "[fs]\nsocket = /run/x\n", "[environ.inherit]\nCI = yes\n",
	    "[environ.sanitise]\nPATH = yes\n", "[environ.set]\nFOO = x\n",
	    "[environ.set]\nLD_PRELOAD = x\n", "[profile]\npacks = yes\n",
	    "[profile]\ninclude = mine\n", "[profile]\ninclude = @home\n",
	    "[exec]\ninterpreter = /workdir/x\n"};
	struct policy po;
	size_t i;

	for (i = 0; i < NITEMS(bad); i++)
		refuses(bad[i], 2, "");
	/* controls: the nearest that it may */
	makes("[profile]\ndescription = {target} of @sys\ninclude = @sys\n"
	      "[fs]\ntry-read = /workdir/a\ntmpfs = {home}\n"
	      "symlink = /opt/x -> /usr/x\n"
	      "[environ.set]\nEDITOR = vi\nCARGO_HOME = /workdir/c\n"
	      "[exec]\ninterpreter = /usr/bin/env\nlibrary = /usr/lib/x\n"
	      "[egress]\nallow = https://example.org:443\n",
	    &po);
	policy_free(&po);
}
END_TEST

START_TEST(its_name)
{
	static const char *const names[] = {
	    "x", "X.profile", "@x.profile", ".profile", "-x.profile", "x.y"};
	struct policy po;
	size_t i;

	for (i = 0; i < NITEMS(names); i++) {
		begin("");
		snprintf(file, sizeof(file), "%s/%s", l.root, names[i]);
		answer(&l, &po);
		expect_refusal(&po, 0, "has not the name", "NAME.profile");
		policy_free(&po);
		layout_free(&l);
	}
	begin("");
	snprintf(file, sizeof(file), "%s/none.profile", l.root);
	answer(&l, &po);
	expect_refusal(&po, 0, "there is no such file", "name the file");
	policy_free(&po);
	layout_free(&l);
}
END_TEST

START_TEST(the_target)
{
	static char none[] = "", home[] = "/home", proj[] = "/home/u/proj";
	char *const bad[] = {none, home, (char[]){"/home/u"}};
	struct policy po;
	size_t i;

	for (i = 0; i < NITEMS(bad); i++) {
		begin("");
		l.q.caller.target = bad[i];
		answer(&l, &po);
		expect_refusal(&po, 0, "target directory", "-C DIR");
		policy_free(&po);
		layout_free(&l);
	}
	begin("");
	l.q.caller.target = proj;
	answer(&l, &po);
	ck_assert_uint_eq(po.nrefusals, 0);
	policy_free(&po);
	layout_free(&l);
}
END_TEST

/* Policies that no parser of carrel's would send. */

static struct policy po;

static struct grant *
add(enum verb verb, const char *guest, const char *source)
{
	struct grant *g = world_add(&po, verb, guest, source);

	g->origins[0].profile = 0;
	return g;
}

static void
add_rule(unsigned kind, uint64_t number)
{
	struct rule r = {
	    .kind = (uint8_t)kind, .number = number, .text = (char[]){""}};

	ck_assert_ptr_nonnull(policy_add_rule(&po, &r));
}

/* A pack that is in order: profile 0, with @sys and the user's mine. */
static void
setup(void)
{
	memset(&po, 0, sizeof(po));
	ck_assert_ptr_nonnull(policy_add_profile(
	    &po, "+x", "/t/x.profile", LAYER_PACK, PROFILE_ASKED));
	ck_assert_ptr_nonnull(policy_add_profile(
	    &po, "@sys", "/p/sys.profile", LAYER_SHIPPED, PROFILE_DEFAULT));
	ck_assert_ptr_nonnull(policy_add_profile(
	    &po, "mine", "/u/mine.profile", LAYER_USER, PROFILE_ASKED));
	add(VERB_READ, PACK_DIR, "/t");
	add(VERB_WRITE, PACK_DIR "/out", "/t/out");
	add_rule(RULE_NO_UNIX, 0);
	add_rule(RULE_VIOLATION, VIOLATION_FAIL);
	add_rule(RULE_REPORT, 0);
	po.rules[po.nrules - 1].what = REPORT_FS;
}

static void
teardown(void)
{
	policy_free(&po);
}

static void
lies(const char *what)
{
	char why[TEXT_MAX_LEN];

	policy_sort(&po);
	ck_assert_int_eq(policy_check(&po, why, sizeof(why)), -1);
	ck_assert_msg(strstr(why, what) != NULL, "%s", why);
}

START_TEST(in_order)
{
	struct caller c;

	world_check(&po);
	world_caller(&c);
	world_replace(&c.target, "/t");
	ck_assert_int_eq(policy_protect(&po, &c), 0);
	world_replace(&c.target, "/home/u");
	ck_assert_int_eq(policy_protect(&po, &c), -1);
	ck_assert_int_eq(errno, EBADMSG);
	caller_free(&c);
}
END_TEST

START_TEST(another_place)
{
	add(VERB_READ, "/etc/x", NULL);
	lies("another place");
}
END_TEST

START_TEST(another_name)
{
	add(VERB_TMPFS, "/mnt", NULL);
	add(VERB_READ, "/mnt/x", "/t/x");
	lies("another place");
}
END_TEST

START_TEST(all_of_it)
{
	struct origin o = {0, VERB_WRITE, 9};

	ck_assert_int_eq(grant_add_origin(&po.grants[0], &o), 0);
	po.grants[0].flags |= GRANT_WRITE;
	lies("the whole of");
}
END_TEST

START_TEST(a_command)
{
	add(VERB_COMMAND, "/run/carrel/bin/x", "/usr/bin/x");
	lies("nothing that a pack can have");
}
END_TEST

START_TEST(no_directory)
{
	po.grants[0].origins[0].profile = 2;
	lies("without a directory");
}
END_TEST

START_TEST(no_rules)
{
	po.nrules = 1;
	lies("without unix = no");
	po.nrules = 2;
	lies("without unix = no, report = fs");
	po.nrules = 3;
	world_check(&po);
}
END_TEST

START_TEST(two_packs)
{
	ck_assert_ptr_nonnull(policy_add_profile(
	    &po, "+y", "/t/y.profile", LAYER_PACK, PROFILE_ASKED));
	lies("out of order");
}
END_TEST

START_TEST(two_packs_in_order)
{
	free(po.profiles[1].name);
	po.profiles[1].name = strdup("+y");
	po.profiles[1].layer = LAYER_PACK;
	lies("one of two packs");
}
END_TEST

START_TEST(an_include)
{
	po.profiles[0].includes = calloc(1, sizeof(uint16_t));
	po.profiles[0].includes[0] = 2;
	po.profiles[0].nincludes = 1;
	lies("not shipped");
	po.profiles[0].includes[0] = 1;
	world_check(&po);
}
END_TEST

START_TEST(a_name)
{
	static const char *const bad[] = {"x", "@x", "+@x", "+", "+X"};
	size_t i;

	for (i = 0; i < NITEMS(bad); i++) {
		free(po.profiles[0].name);
		po.profiles[0].name = strdup(bad[i]);
		lies("misnamed");
	}
}
END_TEST

START_TEST(a_variable)
{
	char *values[1] = {(char[]){"x"}};
	struct origin o = {0, ENV_INHERIT, 3};
	struct env_claim *c;

	c = policy_add_claim(&po, ENV_INHERIT, "CI", NULL, 0);
	ck_assert_int_eq(environ_add_origin(c, &o), 0);
	lies("inherited by a pack");
	c->origins[0].profile = 2;
	world_check(&po);
	c = policy_add_claim(&po, ENV_SET, "FOO", values, 1);
	o.verb = ENV_SET;
	ck_assert_int_eq(environ_add_origin(c, &o), 0);
	lies("a pack names it");
	c = &po.env[1];
	ck_assert_str_eq(c->name, "FOO");
	c->origins[0].profile = 2;
	world_check(&po);
}
END_TEST

/* Between the look and the making somebody puts a link there. */
START_TEST(a_race)
{
	char dir[] = "/tmp/carrel-test-XXXXXX", path[128], to[128];
	struct failure f;
	struct survey sv;
	struct stat st;
	int i;

	ck_assert(mkdtemp(dir) != NULL);
	snprintf(path, sizeof(path), "%s/in", dir);
	ck_assert_int_eq(mkdir(path, 0755), 0);
	world_replace(&po.grants[0].source, path);
	snprintf(to, sizeof(to), "%s/in/a/out", dir);
	world_replace(&po.grants[1].source, to);
	world_replace(&po.grants[1].guest, PACK_DIR "/a/out");
	world_check(&po);
	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(look_survey(&po, &sv, &f), 0);
		ck_assert_int_eq(pack_expect(&po, &sv, &f), 0);
		ck_assert_int_eq(sv.rows[1].type, SURVEY_DIR);
		ck_assert_uint_eq(sv.rows[1].ino, 0);
		snprintf(path, sizeof(path), "%s/in/a", dir);
		if (i == 0) {
			ck_assert_int_eq(symlink("..", path), 0);
			ck_assert_int_eq(pack_make(&po, &sv, 022, &f), -1);
			ck_assert_uint_eq(po.nrefusals, 1);
			ck_assert(
			    strstr(po.refusals[0].what, "cannot be made"));
			ck_assert_uint_eq(po.refusals[0].line, 2);
			policy_free(&po);
			setup();
			ck_assert_int_eq(unlink(path), 0);
			snprintf(path, sizeof(path), "%s/out", dir);
			ck_assert_int_eq(stat(path, &st), -1);
			snprintf(path, sizeof(path), "%s/in", dir);
			world_replace(&po.grants[0].source, path);
			world_replace(&po.grants[1].source, to);
			world_replace(&po.grants[1].guest, PACK_DIR "/a/out");
		} else {
			ck_assert_int_eq(pack_make(&po, &sv, 022, &f), 0);
			ck_assert_int_eq(stat(to, &st), 0);
			ck_assert_uint_eq(sv.rows[1].ino, st.st_ino);
		}
		survey_free(&sv);
	}
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
END_TEST

int
main(void)
{
	const TTest *const parsed[] = {
	    what_a_pack_has, what_it_may_not_say, its_name, the_target};
	const TTest *const sent[] = {in_order, another_place, another_name,
	    all_of_it, a_command, no_directory, no_rules, two_packs,
	    two_packs_in_order, an_include, a_name, a_variable, a_race};
	Suite *s = suite_create("lying packs");
	TCase *tc = tcase_create("lying packs");
	SRunner *sr;
	size_t i;
	int bad;

	tcase_add_checked_fixture(tc, setup, teardown);
	for (i = 0; i < NITEMS(sent); i++)
		tcase_add_test(tc, sent[i]);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	bad = srunner_ntests_failed(sr) != 0;
	srunner_free(sr);
	return run_suite("packs", parsed, NITEMS(parsed)) | bad;
}
