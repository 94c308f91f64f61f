#include "child/parser/expand.h"
#include "child/shared/caller.h"
#include "ipc/limits.h"
#include "parse_help.h"

static char home[] = "/home/u", guest_home[] = "/home/guest",
	    target[PATH_MAX_LEN + 1] = "/srv/proj", user[64] = "u", none[] = "";

static struct caller
a_caller(void)
{
	struct caller c;

	memset(&c, 0, sizeof(c));
	c.uid = 1001;
	c.user = user;
	c.home = c.home_real = home;
	c.guest_home = guest_home;
	c.home_other = none;
	c.target = target;
	return c;
}

static void
expands(const char *text, enum expand_side side, const char *want)
{
	struct caller c = a_caller();
	struct policy po;
	struct place at = {&po, "p", "/p.profile"};
	char buf[VALUE_MAX_LEN + 1];
	int n;

	memset(&po, 0, sizeof(po));
	n = expand_path(&at, 7, text, &c, side, buf);
	ck_assert_msg(n == 0, "%s: %s", text,
	    po.nrefusals > 0 ? po.refusals[0].what : "");
	ck_assert_str_eq(buf, want);
}

static void
refused(const char *text, const char *what, const char *fix)
{
	struct caller c = a_caller();
	struct policy po;
	struct place at = {&po, "p", "/p.profile"};
	char buf[VALUE_MAX_LEN + 1];

	memset(&po, 0, sizeof(po));
	ck_assert_int_eq(expand_path(&at, 7, text, &c, EXPAND_HOST, buf), -1);
	expect_refusal(&po, 7, what, fix);
	policy_free(&po);
}

START_TEST(each)
{
	strcpy(target, "/srv/proj");
	strcpy(user, "u");
	expands("/usr", EXPAND_HOST, "/usr");
	expands("{home}/x", EXPAND_HOST, "/home/u/x");
	expands("{home}/x", EXPAND_GUEST, "/home/guest/x");
	expands("{target}", EXPAND_HOST, "/srv/proj");
	expands("{target}", EXPAND_GUEST, "/srv/proj");
	expands("{target-parent}/y", EXPAND_HOST, "/srv/y");
	expands("/run/user/{uid}", EXPAND_HOST, "/run/user/1001");
	expands("/var/{user}-{user}", EXPAND_HOST, "/var/u-u");
	expands("{tmp}/a", EXPAND_HOST, "/tmp/a");
	expands("/x{home}", EXPAND_HOST, "/x/home/u");
}
END_TEST

/* S21: what came out of a placeholder is never looked at again. */
START_TEST(one_pass)
{
	strcpy(target, "/srv/{home}/{target}");
	strcpy(user, "{uid}");
	expands("{target}", EXPAND_HOST, "/srv/{home}/{target}");
	expands("{target-parent}{tmp}x", EXPAND_HOST, "/srv/{home}/tmpx");
	expands("/a/{user}", EXPAND_HOST, "/a/{uid}");
	strcpy(target, "/{x");
	expands("{target}/a", EXPAND_HOST, "/{x/a");
	expands("{target-parent}/a", EXPAND_HOST, "/a");
}
END_TEST

START_TEST(roots)
{
	strcpy(target, "/");
	expands("{target}", EXPAND_HOST, "/");
	expands("{target}/a", EXPAND_HOST, "/a");
	expands("{target-parent}", EXPAND_HOST, "/");
	strcpy(target, "/a");
	expands("{target-parent}/b", EXPAND_HOST, "/b");
}
END_TEST

START_TEST(no_value)
{
	strcpy(target, "");
	refused("{target}", "{target} in \"{target}\" has no value", "-C DIR");
	refused("{target-parent}/a", "{target-parent} in", "-C DIR");
	strcpy(user, "a/b");
	refused("/x/{user}", "{user} in", "{uid}");
	strcpy(user, "..");
	refused("/x/{user}", "{user} in", "{uid}");
	strcpy(user, "");
	refused("/x{user}", "{user} in", "{uid}");
}
END_TEST

START_TEST(unclean)
{
	char text[VALUE_MAX_LEN + 1];

	strcpy(target, "/srv/proj");
	strcpy(user, "u");
	refused("/a//b", "\"/a//b\" is not a clean", "write \"/a/b\"");
	refused("/a/./b", "is not a clean", "write \"/a/b\"");
	refused("/a/b/", "is not a clean", "write \"/a/b\"");
	refused("//a///b/.//", "is not a clean", "write \"/a/b\"");
	refused("/a/.", "is not a clean", "write \"/a\"");
	refused("//", "is not a clean", "write \"/\"");
	refused("{home}/", "\"/home/u/\" is not a clean", "write \"{home}\"");
	refused("/x/{home}", "is not a clean", "write \"/x/home/u\"");
	refused("/a/../b", "is not a clean", "without \"..\"");
	refused("/..", "is not a clean", "without \"..\"");
	refused("{target}/../x", "is not a clean", "without \"..\"");
	refused("a", "\"a\" is not an absolute", "begins with \"/\"");
	refused("./a", "is not an absolute", "begins with \"/\"");
	refused("{uid}/a", "is not an absolute", "begins with \"/\"");
	refused("~", "is not an absolute", "write {home}");
	refused("~/a b", "is not an absolute", "write \"{home}/a b\"");
	expands("/a/...", EXPAND_HOST, "/a/...");
	expands("/a/.b", EXPAND_HOST, "/a/.b");
	expands("/a/..b", EXPAND_HOST, "/a/..b");
	memset(text, 'a', sizeof(text));
	text[0] = '/';
	text[257] = '\0';
	refused(text, "is not a clean", "components");
	text[256] = '\0';
	expands(text, EXPAND_HOST, text);
}
END_TEST

START_TEST(too_long)
{
	char text[VALUE_MAX_LEN + 1];
	size_t i;

	memset(target, 0, sizeof(target));
	for (i = 0; i < 4000; i += 100)
		memcpy(target + i,
		    "/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		    100);
	expands("{target}/b", EXPAND_HOST, strcat(strcpy(text, target), "/b"));
	refused("{target}{target}", "too long", "shorter");
	text[0] = '\0';
	for (i = 0; i + 8 < VALUE_MAX_LEN; i += 8)
		memcpy(text + i, "{target}", 9);
	refused(text, "too long", "shorter");
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
	    each, one_pass, roots, no_value, unclean, too_long};

	return run_suite("expand", tests, NITEMS(tests));
}
