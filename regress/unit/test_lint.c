/* S94: whether grants, tools and examples of a profile fit each other. */
#include "answer.h"
#include "child/screen/lint.h"
#include "ipc/tool.h"
#include "parse_help.h"

#define HEAD "[profile]\ndescription = d\nabuse = a\n"

static struct layout l;
static struct findings f;

/* Looks at the user's profile a, which may include b. */
static void
look(const char *a, const char *b, int strict)
{
	struct policy po;
	size_t i;

	findings_free(&f);
	layout_init(&l);
	put_file(l.user, "a", a);
	put_file(l.user, "b", b);
	l.q.flags = REQUEST_NO_DEFAULTS;
	ask(&l, "a");
	answer(&l, &po);
	if (po.nrefusals > 0)
		ck_abort_msg("%s", po.refusals[0].what);
	for (i = 0; i < po.nprofiles; i++)
		if (strcmp(po.profiles[i].name, "a") == 0)
			lint(&po, i, strict, &f);
	policy_free(&po);
	layout_free(&l);
}

/* There is one finding, of this weight, with these words. */
static void
finds(const char *a, unsigned weight, uint32_t line, const char *key,
    const char *text)
{
	look(a, "", 1);
	ck_assert_msg(f.n == 1, "%zu: %s", f.n, f.n > 1 ? f.list[1].text : "");
	ck_assert_str_eq(f.list[0].key, key);
	ck_assert_msg(
	    strstr(f.list[0].text, text) != NULL, "%s", f.list[0].text);
	ck_assert_uint_eq(f.list[0].line, line);
	ck_assert_uint_eq(f.list[0].weight, weight);
}

static void
finds_nothing(const char *a, const char *b)
{
	look(a, b, 1);
	ck_assert_msg(f.n == 0, "%s: %s", f.n > 0 ? f.list[0].key : "",
	    f.n > 0 ? f.list[0].text : "");
}

#define EXAMPLE "[example e]\nrun = x\n"
#define TOOL(e) "[tool t]\ndescription = d\neffect = " e "\n"

START_TEST(in_order)
{
	finds_nothing(HEAD
	    "tier = side-effect\n[fs]\nread = /usr\n"
	    "write = /srv/out\ntmpfs = /t\n"
	    "[egress]\nallow = https://a.example:443\n" TOOL(
		"network") "needs = allow https://a.example:443\n"
			   "needs = write /srv/out/x\n" EXAMPLE
			   "needs = read /usr/bin\n"
			   "needs = write /t\n",
	    "");
	/* what is included grants as well */
	finds_nothing(HEAD "include = b\n" EXAMPLE "needs = read /usr/bin\n",
	    "[fs]\nread = /usr\n");
}
END_TEST

START_TEST(missing)
{
	finds("[profile]\nabuse = a\n", FINDING_SOFT, 0, "profile.description",
	    "is missing");
	finds("[profile]\ndescription = d\n", FINDING_SOFT, 0, "profile.abuse",
	    "is missing");
	finds(HEAD "[tool t]\neffect = none\n" EXAMPLE, FINDING_SOFT, 4,
	    "tool t.description", "is missing");
	finds(HEAD "[tool t]\ndescription = d\n" EXAMPLE, FINDING_SOFT, 4,
	    "tool t.effect", "is missing");
	finds(HEAD TOOL("none"), FINDING_NOTE, 0, "example", "there is none");
}
END_TEST

START_TEST(needs)
{
	static const char *const bad[] = {"read /srv", "write /usr/x",
	    "command y", "socket /run/y", "device /dev/kvm",
	    "allow https://b.example:443", "allow https://a.example:80",
	    "allow http://a.example:443", "allow *"};
	static const char grants[] =
	    HEAD "[fs]\nread = /usr\ncommand = /usr/bin/x\nsocket = /run/x\n"
		 "device = /dev/fuse\n[egress]\nallow = https://a.example:443\n"
		 "[example e]\nrun = x\nneeds = read /usr\nneeds = command x\n"
		 "needs = socket /run/x\nneeds = device /dev/fuse\n"
		 "needs = allow https://a.example:443\n";
	char text[1024];
	size_t i;

	finds_nothing(grants, "");
	for (i = 0; i < NITEMS(bad); i++) {
		snprintf(text, sizeof(text), "%sneeds = %s\n", grants, bad[i]);
		finds(text, FINDING_HARD, 18, "example e.needs",
		    "neither the profile nor what it includes");
	}
}
END_TEST

START_TEST(wildcards)
{
#define ALLOW(r, n)                                                            \
	HEAD "[egress]\nallow = " r "\n" EXAMPLE "needs = allow " n "\n"
	finds(ALLOW("https://*.a.example:443", "https://x.a.example:443"),
	    FINDING_SOFT, 5, "egress.allow", "every name below a.example");
	finds(ALLOW("tcp://192.0.2.1:80", "tcp://192.0.2.1:80"), FINDING_SOFT,
	    5, "egress.allow", "names an address");
	finds("[profile]\ndescription = d\nabuse = a\ntier = unrestricted\n"
	      "[egress]\nallow = *\n" EXAMPLE
	      "needs = allow tcp://x.example:1\n",
	    FINDING_SOFT, 6, "egress.allow", "every public host");
	look(ALLOW("https://*.a.example:443", "https://a.example:443"), "", 1);
	ck_assert_uint_eq(f.n, 3); /* nor does it stand for the name itself */
	look(ALLOW("https://*.a.example:443", "https://evila.example:443"), "",
	    1);
	ck_assert_uint_eq(f.n, 3);
	/* the wider one wins */
	look(HEAD "[egress]\nallow = https://*.a.example:443\n"
		  "allow = https://x.a.example:443\n",
	    "", 0);
	ck_assert_uint_eq(f.n, 2);
	ck_assert_uint_eq(f.list[1].weight, FINDING_NOTE);
	ck_assert(strstr(f.list[1].text, "says nothing beside") != NULL);
}
END_TEST

START_TEST(unused)
{
	finds(HEAD "[fs]\nread = /usr\n", FINDING_SOFT, 5, "fs.read",
	    "no tool and no example");
	finds(HEAD "[egress]\nallow = https://a.example:443\n", FINDING_SOFT, 5,
	    "egress.allow", "no tool and no example");
	/* without tools only who asks for it is told */
	look(HEAD "[fs]\nread = /usr\n", "", 0);
	ck_assert_uint_eq(f.n, 0);
	look(HEAD "[fs]\nread = /usr\n" EXAMPLE, "", 0);
	ck_assert_uint_eq(f.n, 1);
	/* what is included is not this profile's */
	finds_nothing(HEAD "include = b\n", "[fs]\nread = /usr\n");
}
END_TEST

START_TEST(effects)
{
#define WITH(e, n)                                                             \
	HEAD "[fs]\nwrite = /srv\n[egress]\nallow = https://a.example:443\n"   \
	     "[tool t]\ndescription = d\neffect = " e "\n" n EXAMPLE           \
	     "needs = write /srv\nneeds = allow https://a.example:443\n"
	finds(WITH("none", "needs = write /srv\n"), FINDING_SOFT, 8,
	    "tool t.effect", "is none, but");
	finds(WITH("none", "needs = allow https://a.example:443\n"),
	    FINDING_SOFT, 8, "tool t.effect", "is none, but");
	finds(WITH("write", "needs = allow https://a.example:443\n"),
	    FINDING_SOFT, 8, "tool t.effect", "is write, but");
	finds(WITH("write", ""), FINDING_SOFT, 8, "tool t.effect",
	    "needs to write nothing");
	finds(WITH("network", ""), FINDING_SOFT, 8, "tool t.effect",
	    "needs no \"allow\"");
	finds_nothing(WITH("none", ""), "");
	finds_nothing(WITH("write", "needs = write /srv\n"), "");
	finds_nothing(HEAD
	    "[fs]\ntmpfs = /t\n" TOOL("none") "needs = write /t\n" EXAMPLE,
	    "");
}
END_TEST

START_TEST(tiers)
{
	finds("[profile]\ndescription = d\nabuse = a\ntier = unrestricted\n"
	      "[egress]\nallow = https://a.example:443\n" EXAMPLE
	      "needs = allow https://a.example:443\n",
	    FINDING_SOFT, 4, "profile.tier", "side-effect fits");
	finds("[profile]\ndescription = d\nabuse = a\ntier = side-effect\n",
	    FINDING_SOFT, 4, "profile.tier", "read-only fits");
	finds_nothing(
	    "[profile]\ndescription = d\nabuse = a\ntier = read-only\n", "");
	finds_nothing("[profile]\ndescription = d\nabuse = a\n", "");
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
	    in_order, missing, needs, wildcards, unused, effects, tiers};

	return run_suite("lint", tests, NITEMS(tests));
}
