/* Lists and scalars of a plan whose policy and survey are made up. */
#include <check.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "child/setup/plan_parts.h"
#include "child/shared/hostenv.h"
#include "child/shared/survey.h"
#include "ipc/channel.h"
#include "ipc/environ.h"
#include "ipc/owned.h"
#include "world.h"

#define WRITABLE    " <- writable from inside"
#define NOT_GRANTED " <- not granted (0 grants inside)"

static struct policy po;
static struct survey sv;
static struct caller ca;
static struct hostenv he;
static struct plan pl;

/* Profile 0 is shipped, 1 the user's, 2 the host's. */
static void
setup(void)
{
	world_policy(&po);
	if (policy_add_profile(&po, "root", "/h/root.profile", LAYER_HOST,
		PROFILE_ASKED) == NULL)
		abort();
	world_caller(&ca);
	memset(&sv, 0, sizeof(sv));
	memset(&he, 0, sizeof(he));
	memset(&pl, 0, sizeof(pl));
	world_add(&po, VERB_READ, "/usr", NULL);
	world_add(&po, VERB_SYMLINK, "/bin", "usr/bin");
	world_add(&po, VERB_SYMLINK, "/sbin", "/usr/sbin");
}

static void
teardown(void)
{
	plan_free(&pl);
	survey_free(&sv);
	hostenv_free(&he);
	policy_free(&po);
	caller_free(&ca);
}

/* A claim of this profile; line is unique. Ends with NULL. */
static void
claim(uint16_t profile, enum env_verb verb, const char *name, ...)
{
	struct origin o = {profile, (uint8_t)verb, (uint32_t)po.nenv + 1};
	char *values[SEQUENCE_MAX];
	struct env_claim *c;
	size_t n = 0;
	va_list ap;

	va_start(ap, name);
	while ((values[n] = va_arg(ap, char *)) != NULL)
		n++;
	va_end(ap);
	c = policy_add_claim(&po, verb, name, values, n);
	ck_assert_ptr_nonnull(c);
	ck_assert_int_eq(environ_add_origin(c, &o), 0);
}

/* One more profile wants what the last claim wants. */
static void
too(uint16_t profile)
{
	struct env_claim *c = &po.env[po.nenv - 1];
	struct origin o = {profile, c->verb, 77};

	ck_assert_int_eq(environ_add_origin(c, &o), 0);
}

static int
plan(char *const *env)
{
	static char *const empty[] = {NULL};
	size_t i;

	world_check(&po);
	ck_assert_int_eq(survey_init(&sv, po.ngrants), 0);
	for (i = 0; i < po.ngrants; i++) {
		if (!grant_opens(&po.grants[i]))
			continue;
		sv.rows[i].type =
		    po.grants[i].kind == GRANT_BIND ? SURVEY_DIR : SURVEY_FILE;
		sv.rows[i].mode = 0755;
		sv.rows[i].real = strdup(po.grants[i].source);
	}
	ck_assert_int_eq(hostenv_pick(&he, &po, env != NULL ? env : empty), 0);
	return plan_make(&po, &sv, &ca, &he, &pl);
}

static void
make(const char *variable)
{
	char *env[] = {(char *)(uintptr_t)variable, NULL};

	if (plan(env) == -1)
		ck_abort_msg("refused: %s",
		    po.nrefusals > 0 ? po.refusals[0].what : "?");
}

static const struct env_row *
row(const char *name)
{
	size_t i;

	for (i = 0; i < pl.nenv; i++)
		if (strcmp(pl.env[i].name, name) == 0)
			return &pl.env[i];
	ck_abort_msg("no row %s", name);
	return NULL;
}

static void
is(const char *name, const char *value)
{
	const char *got = row(name)->value;

	if (value == NULL)
		ck_assert_msg(got == NULL, "%s=%s", name, got);
	else
		ck_assert_msg(got != NULL && strcmp(got, value) == 0,
		    "%s=%s, wanted %s", name, got != NULL ? got : "(unset)",
		    value);
}

/* "VALUE | WHO MARK" of an element. */
static const char *
element(const char *name, size_t i)
{
	static char line[512];
	const struct env_row *r = row(name);

	if (i >= r->nentries)
		return "(none)";
	snprintf(line, sizeof(line), "%s | %s%s%s", r->entries[i].value,
	    r->entries[i].who, r->entries[i].mark[0] != '\0' ? " " : "",
	    r->entries[i].mark);
	return line;
}

/* "VALUE | WHO: WHY" of what was left out. */
static const char *
drop(const char *name, size_t i)
{
	static char line[512];
	const struct env_row *r = row(name);

	if (i >= r->ndrops)
		return "(none)";
	snprintf(line, sizeof(line), "%s | %s: %s", r->drops[i].value,
	    r->drops[i].who, r->drops[i].mark);
	return line;
}

/* Bands */

START_TEST(all_bands)
{
	world_add(&po, VERB_WRITE, "/opt", NULL);
	claim(1, ENV_MERGE, "PATH", "/opt/m2", NULL);
	claim(2, ENV_MERGE, "PATH", "/opt/M1", NULL);
	claim(1, ENV_PREPEND, "PATH", "/opt/z", "/opt/a", NULL);
	too(2);
	claim(1, ENV_SANITISE, "PATH", NULL);
	make("PATH=/usr/local/bin:/opt/host:/usr/games");
	is("PATH", "/opt/z:/opt/a:/opt/M1:/opt/m2:/usr/local/bin:/opt/host:"
		   "/usr/games:/usr/bin:/bin:/usr/sbin:/sbin");
	ck_assert_str_eq(element("PATH", 0),
	    "/opt/z | prepend mine:3, prepend root:77" WRITABLE);
	ck_assert_str_eq(element("PATH", 2), "/opt/M1 | merge root:2" WRITABLE);
	ck_assert_str_eq(element("PATH", 3), "/opt/m2 | merge mine:1" WRITABLE);
	ck_assert_str_eq(
	    element("PATH", 4), "/usr/local/bin | sanitise mine:4");
	ck_assert_str_eq(
	    element("PATH", 5), "/opt/host | sanitise mine:4" WRITABLE);
	ck_assert_str_eq(element("PATH", 7), "/usr/bin | (carrel)");
	ck_assert_str_eq(element("PATH", 8), "/bin | (carrel)");
	ck_assert_uint_eq(row("PATH")->nentries, 11);
	ck_assert_uint_eq(pl.npath, 11);
	ck_assert_str_eq(pl.path[0], "/opt/z");
	ck_assert_str_eq(pl.path[10], "/sbin");
}
END_TEST

/* A duplicate goes to its earliest band, and all who want it are named. */
START_TEST(duplicates)
{
	claim(1, ENV_PREPEND, "PATH", "/usr/b", "/usr/a", "/usr/b", NULL);
	claim(2, ENV_MERGE, "PATH", "/usr/a", NULL);
	claim(2, ENV_MERGE, "PATH", "/usr/sbin", NULL);
	claim(2, ENV_SANITISE, "PATH", NULL);
	make("PATH=/usr/sbin:/usr/b:/usr/bin:/usr/bin");
	is("PATH", "/usr/b:/usr/a:/usr/sbin:/usr/bin:/bin:/sbin");
	ck_assert_str_eq(
	    element("PATH", 1), "/usr/a | prepend mine:1, merge root:2");
	ck_assert_str_eq(element("PATH", 2),
	    "/usr/sbin | merge root:3, sanitise root:4 and (carrel)");
}
END_TEST

START_TEST(other_lists)
{
	claim(1, ENV_MERGE, "NODE_PATH", "/usr/b", NULL);
	claim(1, ENV_MERGE, "NODE_PATH", "/usr/a", NULL);
	claim(1, ENV_PREPEND, "CLASSPATH", "/usr/z", NULL);
	claim(2, ENV_SANITISE, "CLASSPATH", NULL);
	make("CLASSPATH=/usr/y:/usr/x");
	is("NODE_PATH", "/usr/a:/usr/b"); /* no base, no staging */
	is("CLASSPATH", "/usr/z:/usr/y:/usr/x");
	ck_assert_str_eq(element("CLASSPATH", 0), "/usr/z | prepend mine:3");
}
END_TEST

/* carrel's staging directory: with something staged, and only then. */
START_TEST(staging)
{
	static char root[] = "/", dir[] = OWNED_STAGING,
		    tool[] = OWNED_STAGING "/tool", none[] = "";
	struct step steps[] = {{.kind = STEP_TMPFS,
				   .flags = STEP_RDONLY,
				   .grant = -1,
				   .guest = root,
				   .text = none},
	    {.kind = STEP_TMPFS,
		.flags = STEP_RDONLY,
		.grant = -1,
		.guest = dir,
		.text = none},
	    {.kind = STEP_BIND,
		.flags = STEP_RDONLY,
		.grant = -1,
		.guest = tool,
		.text = none}};
	char *env[] = {(char[]){"PATH=" OWNED_STAGING}, NULL};
	uint8_t fate[8] = {0};
	struct draft d = {
	    .po = &po, .ca = &ca, .he = &he, .pl = &pl, .fate = fate};
	size_t i, n;

	claim(1, ENV_SANITISE, "PATH", NULL);
	world_check(&po);
	ck_assert_int_eq(hostenv_pick(&he, &po, env), 0);
	pl.steps = steps;
	for (i = 2; i <= 3; i++) {
		pl.nsteps = i; /* the directory alone; with a command */
		ck_assert_int_eq(
		    plan_list(&d, "PATH", policy_environ(&po, "PATH", &n), 1),
		    0);
		ck_assert_int_eq(plan_list(&d, "PATH", NULL, 0), 0);
	}
	/* nothing staged: neither from the host nor of carrel's own */
	ck_assert_str_eq(pl.env[0].value, "/usr/bin:/bin:/usr/sbin:/sbin");
	ck_assert_str_eq(pl.env[0].drops[0].mark, "nothing grants it");
	ck_assert_str_eq(pl.env[1].value, "/usr/bin:/bin:/usr/sbin:/sbin");
	/* the host may know it: a sandbox in a sandbox */
	ck_assert_str_eq(
	    pl.env[2].value, OWNED_STAGING ":/usr/bin:/bin:/usr/sbin:/sbin");
	ck_assert_str_eq(
	    pl.env[2].entries[0].who, "sanitise mine:1 and (carrel)");
	ck_assert_str_eq(pl.env[2].entries[0].mark, "");
	ck_assert_str_eq(
	    pl.env[3].value, OWNED_STAGING ":/usr/bin:/bin:/usr/sbin:/sbin");
	ck_assert_str_eq(pl.env[3].entries[0].who, "(carrel)");
	pl.steps = NULL;
	pl.nsteps = 0;
}
END_TEST

/* The same by a plan that has a command: below what profiles add. */
START_TEST(staged_command)
{
	claim(1, ENV_PREPEND, "PATH", "/usr/p", NULL);
	claim(1, ENV_MERGE, "PATH", "/usr/m", NULL);
	claim(1, ENV_SANITISE, "PATH", NULL);
	world_add(&po, VERB_COMMAND, OWNED_STAGING "/tool", "/srv/tool");
	make("PATH=/run/carrel:/usr/s:/run/carrel/none");
	is("PATH", "/usr/p:/usr/m:/usr/s:" OWNED_STAGING
		   ":/usr/bin:/bin:/usr/sbin:/sbin");
	ck_assert_str_eq(element("PATH", 3), OWNED_STAGING " | (carrel)");
	ck_assert_str_eq(drop("PATH", 0),
	    "/run/carrel | sanitise mine:3: nothing grants it");
	ck_assert_uint_eq(row("PATH")->ndrops, 2);
}
END_TEST

/* sanitise */

/* What stays of one element, and why it does not. */
static const struct {
	const char *element, *why; /* NULL: it stays, as it is */
} elements[] = {
    {"/usr/bin", NULL},
    {"/usr", NULL},
    {"/usr/", NULL},
    {"//usr//bin/./", NULL},
    {"/opt/w/sub", NULL}, /* a bind that can be written is a bind */
    {"/bin", NULL},	  /* a granted link */
    {"/bin/below", NULL},
    {"/etc/passwd", NULL},	/* generated */
    {"/data/u/proj", NULL},	/* the home by its other name */
    {"/home/u/proj/bin", NULL}, /* binds in a tmpfs: the deepest decides */
    {"/home/u/a/deep", NULL},
    {"/opt/t/in/x", NULL},
    {"", "it is empty"},
    {".", "it is relative"},
    {"bin", "it is relative"},
    {"./usr/bin", "it is relative"},
    {"~/bin", "it is relative"},
    {"/", "nothing grants it"},
    {"//", "nothing grants it"},
    {"/us", "nothing grants it"},
    {"/usr-evil", "nothing grants it"},
    {"/srv/none", "nothing grants it"},
    {"/opt", "nothing grants it"}, /* a directory on the way */
    {"/opt/wx", "nothing grants it"},
    {"/opt/absent", "nothing grants it"},
    {"/run/carrel/bin", "nothing grants it"},
    {"/run/carrel", "nothing grants it"},
    {"/home/u/bin", "only an empty writable tmpfs is there"},
    {"/opt/t/in/t", "only an empty writable tmpfs is there"}, /* tmpfs in it */
    {"/opt/t/in", "only an empty writable tmpfs is there"},
    {"/opt/t/i", "only an empty writable tmpfs is there"},
    {"/home/u/a", "only an empty writable tmpfs is there"},
    {"/home/u", "only an empty writable tmpfs is there"},
    {"/data/u/bin", "only an empty writable tmpfs is there"},
    {"/tmp", "only an empty writable tmpfs is there"},
    {"/tmp/x/bin", "only an empty writable tmpfs is there"},
    {"/proc/self/cwd", "only /proc or /dev is there"},
    {"/proc", "only /proc or /dev is there"},
    {"/proc/1/root/usr/bin", "only /proc or /dev is there"},
    {"/dev/fd", "only /proc or /dev is there"},
    {"/dev/shm/bin", "only /proc or /dev is there"},
    {"//proc/self/cwd", "only /proc or /dev is there"},
    {"/./dev", "only /proc or /dev is there"},
    {"/usr/../tmp", "it has a \"..\" in it"},
    {"/usr/..", "it has a \"..\" in it"},
    {"/..usr", "nothing grants it"},
};

static void
sanitised_world(void)
{
	world_replace(&ca.home_real, "/data/u");
	world_add(&po, VERB_TMPFS, "/home/u", NULL);
	world_add(&po, VERB_WRITE, "/home/u/proj", NULL);
	world_add(&po, VERB_READ, "/home/u/a/deep", NULL);
	world_add(&po, VERB_TMPFS, "/opt/t", NULL);
	world_add(&po, VERB_READ, "/opt/t/in/x", "/srv/x");
	world_add(&po, VERB_TMPFS, "/opt/t/in/t", NULL);
	world_add(&po, VERB_WRITE, "/opt/w", NULL);
	claim(1, ENV_SANITISE, "PATH", NULL);
	claim(1, ENV_SANITISE, "INFOPATH", NULL);
}

START_TEST(what_stays)
{
	char variable[256], want[512];

	sanitised_world();
	snprintf(
	    variable, sizeof(variable), "INFOPATH=%s", elements[_i].element);
	make(variable);
	if (elements[_i].why == NULL) {
		is("INFOPATH", elements[_i].element);
		ck_assert_uint_eq(row("INFOPATH")->ndrops, 0);
		return;
	}
	is("INFOPATH", NULL);
	if (elements[_i].element[0] == '\0')
		return; /* an empty list has no element at all */
	snprintf(want, sizeof(want), "%s | sanitise mine:2: %s",
	    elements[_i].element, elements[_i].why);
	ck_assert_str_eq(drop("INFOPATH", 0), want);
	ck_assert_str_eq(drop("INFOPATH", 1), "(none)");
}
END_TEST

/*
 * R027: one survivor at each place, and all others dropped: no separator is
 * left at either end, none is doubled.
 */
START_TEST(one_survivor)
{
	static const char *const bad[] = {
	    "/proc/self/cwd", "", "/tmp/x", "relative", "/srv", "/home/u/bin"};
	char variable[512];
	size_t n = sizeof(bad) / sizeof(bad[0]), at = (size_t)_i, i;

	sanitised_world();
	strcpy(variable, "PATH=");
	for (i = 0; i <= n; i++) {
		if (i > 0)
			strcat(variable, ":");
		strcat(variable, i == at ? "/opt/w" : bad[i < at ? i : i - 1]);
	}
	make(variable);
	is("PATH", "/opt/w:/usr/bin:/bin:/usr/sbin:/sbin");
	ck_assert_uint_eq(row("PATH")->ndrops, n);
	ck_assert_str_eq(drop("PATH", 1), " | sanitise mine:1: it is empty");
	ck_assert_str_eq(
	    element("PATH", 0), "/opt/w | sanitise mine:1" WRITABLE);
}
END_TEST

/* R028: nothing left, and the host's unset or empty. */
START_TEST(nothing_left)
{
	static const char *const hosts[] = {
	    "X=1", "PATH=", "INFOPATH=", "PATH=:::", "PATH=/tmp:/proc"};

	sanitised_world();
	make(hosts[_i]);
	is("PATH", "/usr/bin:/bin:/usr/sbin:/sbin");
	is("INFOPATH", NULL);
	ck_assert_str_eq(row("INFOPATH")->mark, "<- not set on this host");
	ck_assert_uint_eq(row("PATH")->ndrops, _i == 3 ? 4 : _i == 4 ? 2 : 0);
}
END_TEST

START_TEST(other_separator)
{
	claim(1, ENV_SANITISE, "CLASSPATH", NULL);
	make("CLASSPATH=/usr/a;/usr/b:/usr/c:/usr/d e");
	is("CLASSPATH", "/usr/c:/usr/d e");
	ck_assert_str_eq(drop("CLASSPATH", 0),
	    "/usr/a;/usr/b | sanitise mine:1: it holds another separator");
}
END_TEST

/* R032: bytes of the host are the host's, whatever they are. */
START_TEST(host_bytes)
{
	char *env[] = {(char[]){"PATH=/usr/\x1b[2J:/usr/\xff"},
	    (char[]){"COLORTERM=a\nb\xff\x01"}, (char[]){"COLORTERM=second"},
	    (char[]){"COLORTERM"}, (char[]){"=x"}, NULL};

	claim(1, ENV_SANITISE, "PATH", NULL);
	claim(1, ENV_INHERIT, "COLORTERM", NULL);
	ck_assert_int_eq(plan(env), 0);
	is("PATH", "/usr/\x1b[2J:/usr/\xff:/usr/bin:/bin:/usr/sbin:/sbin");
	is("COLORTERM", "a\nb\xff\x01"); /* the first one counts */
}
END_TEST

START_TEST(too_long)
{
	char *path = malloc(HOST_VALUE_MAX + 64), *color;
	char *env[] = {path, NULL, NULL};

	color = malloc(HOST_VALUE_MAX + 64);
	env[1] = color;
	strcpy(path, "PATH=/");
	memset(path + 6, 'x', HOST_VALUE_MAX);
	path[6 + HOST_VALUE_MAX] = '\0';
	strcpy(color, "NO_COLOR=");
	memset(color + 9, 'x', HOST_VALUE_MAX + 1);
	color[9 + HOST_VALUE_MAX + 1] = '\0';
	claim(1, ENV_SANITISE, "PATH", NULL);
	claim(1, ENV_INHERIT, "NO_COLOR", NULL);
	ck_assert_int_eq(plan(env), 0);
	is("PATH", "/usr/bin:/bin:/usr/sbin:/sbin");
	is("NO_COLOR", NULL);
	ck_assert_str_eq(
	    row("PATH")->mark, "<- left out: the host's value is too long");
	ck_assert_str_eq(
	    row("NO_COLOR")->mark, "<- left out: the host's value is too long");
	free(path);
	free(color);
}
END_TEST

/* Scalars */

/* R030: set and empty is a value, unset is nothing. */
START_TEST(empty_and_unset)
{
	claim(1, ENV_INHERIT, "NO_COLOR", NULL);
	claim(1, ENV_INHERIT, "CI", NULL);
	make("NO_COLOR=");
	is("NO_COLOR", "");
	is("CI", NULL);
	ck_assert_str_eq(row("CI")->mark, "<- not set on this host");
	ck_assert_str_eq(row("CI")->who, "inherit mine:2");
}
END_TEST

/* S51: one slot. What the host does not have cannot disagree. */
START_TEST(set_and_inherit)
{
	static const struct {
		const char *host;
		int agree;
	} c[] = {{"EDITOR=vi", 1}, {"EDITOR=", 0}, {"EDITOR=vim", 0},
	    {"X=1", 1}, {"EDITORS=x", 1}};
	char *env[] = {(char *)(uintptr_t)c[_i].host, NULL};

	claim(1, ENV_SET, "EDITOR", "vi", NULL);
	claim(2, ENV_INHERIT, "EDITOR", NULL);
	if (c[_i].agree) {
		ck_assert_int_eq(plan(env), 0);
		is("EDITOR", "vi");
		ck_assert_str_eq(
		    row("EDITOR")->who, "set mine:1, inherit root:2");
		return;
	}
	ck_assert_int_eq(plan(env), -1);
	ck_assert_int_eq(errno, EPERM);
	ck_assert_uint_eq(po.nrefusals, 1);
	ck_assert_str_eq(po.refusals[0].profile, "mine");
	ck_assert_ptr_nonnull(
	    strstr(po.refusals[0].what, "(set of mine, /c/mine.profile:1)"));
	ck_assert_ptr_nonnull(strstr(
	    po.refusals[0].what, "(inherit of root, /h/root.profile:2)"));
	ck_assert_str_ne(po.refusals[0].fix, "");
}
END_TEST

START_TEST(secrets_stay_unsaid)
{
	char *env[] = {(char[]){"GH_TOKEN=host-secret"}, NULL};

	claim(1, ENV_SET, "GH_TOKEN", "mine", NULL);
	claim(2, ENV_INHERIT, "GH_TOKEN", NULL);
	ck_assert_int_eq(plan(env), -1);
	ck_assert_ptr_null(strstr(po.refusals[0].what, "host-secret"));
	ck_assert_ptr_nonnull(strstr(po.refusals[0].what, "not shown"));
}
END_TEST

START_TEST(marks)
{
	static const struct {
		uint16_t profile;
		uint8_t verb;
		const char *name, *value, *mark;
	} c[] = {{1, ENV_SET, "FOO", "x", "<- unchecked"},
	    {1, ENV_INHERIT, "FOO", NULL, "<- unchecked"},
	    {1, ENV_INHERIT, "A_KEY", NULL, "<- unchecked <- credential"},
	    {1, ENV_SET, "A_KEY", "x", "<- unchecked"},
	    {1, ENV_SET, "EDITOR", "x", "<- programs run it as a command"},
	    {1, ENV_SET, "PAGER", "x", "<- programs run it as a command"},
	    {1, ENV_INHERIT, "VISUAL", NULL, "<- programs run it as a command"},
	    {0, ENV_SET, "LC_ALL", "C", ""},
	    {1, ENV_SET, "BASH_ENV", "/usr/x", ""},
	    {1, ENV_SET, "BASH_ENV", "/x", "<- not granted (0 grants inside)"},
	    {1, ENV_SET, "ENV", "/usr", ""},
	    {1, ENV_SET, "FOO", "/",
		"<- unchecked <- not granted (3 grants inside)"},
	    {1, ENV_SET, "FOO", "/a b/../c", "<- unchecked"},
	    {2, ENV_INHERIT, "BASH_ENV", NULL,
		"<- code: bash runs the file before each script"},
	    {2, ENV_SET, "LD_AUDIT", "/usr/x",
		"<- unchecked <- code: the dynamic loader obeys it"},
	    {2, ENV_SET, "LD_PRELOAD", "/usr/x.so",
		"<- code: the dynamic loader obeys it"},
	    {2, ENV_SET, "GIT_SSH", "/usr/bin/ssh",
		"<- unchecked <- code: git runs it"}};
	char variable[64];

	claim(c[_i].profile, c[_i].verb, c[_i].name, c[_i].value, NULL);
	snprintf(variable, sizeof(variable), "%s=host", c[_i].name);
	make(variable);
	ck_assert_str_eq(row(c[_i].name)->mark, c[_i].mark);
	is(c[_i].name, c[_i].value != NULL ? c[_i].value : "host");
}
END_TEST

/* Elements of PATH that are not there, or hold what can be changed. */
START_TEST(path_marks)
{
	world_add(&po, VERB_TMPFS, "/opt/t", NULL);
	world_add(&po, VERB_READ, "/opt/t/in/ro", NULL);
	world_add(&po, VERB_SYMLINK, "/opt/l1", "l2");
	world_add(&po, VERB_SYMLINK, "/opt/l2", "../opt/t/x");
	world_add(&po, VERB_SYMLINK, "/opt/loop", "loop");
	claim(1, ENV_PREPEND, "PATH", "/opt/t/in/ro", "/opt/t/in", "/opt/l1",
	    "/opt/l1/y", "/opt/loop", "/srv", NULL);
	make("X=1");
	ck_assert_str_eq(element("PATH", 0), "/opt/t/in/ro | prepend mine:1");
	/* a directory of carrel's in a tmpfs is the payload's */
	ck_assert_str_eq(element("PATH", 1),
	    "/opt/t/in | prepend mine:1" WRITABLE
	    " <- not granted (1 grant inside)");
	ck_assert_str_eq(
	    element("PATH", 2), "/opt/l1 | prepend mine:1" WRITABLE);
	ck_assert_str_eq(
	    element("PATH", 3), "/opt/l1/y | prepend mine:1" WRITABLE);
	ck_assert_str_eq(element("PATH", 4), "/opt/loop | prepend mine:1");
	ck_assert_str_eq(
	    element("PATH", 5), "/srv | prepend mine:1" NOT_GRANTED);
}
END_TEST

/* A variable is one string, and the kernel takes no longer one. */
START_TEST(length)
{
	char value[VALUE_MAX_LEN];
	int i;

	for (i = 0; i < 40; i++) {
		memset(value, 'x', sizeof(value));
		snprintf(value, sizeof(value), "/usr/%02d", i);
		value[7] = '/';
		for (size_t k = 200; k < 4000; k += 200)
			value[k] = '/';
		value[4000] = '\0';
		claim(1, ENV_MERGE, "PATH", value, NULL);
	}
	ck_assert_int_eq(plan(NULL), -1);
	ck_assert_uint_eq(po.nrefusals, 1);
	ck_assert_ptr_nonnull(strstr(po.refusals[0].what, "add up to"));
}
END_TEST

/* B031: a zone without its file would be UTC under another name. */
START_TEST(zones)
{
	static const struct {
		const char *tz;
		int granted, kept;
	} c[] = {{"Europe/Vienna", 1, 1}, {"Europe/Vienna", 0, 0},
	    {"CET", 0, 0}, {"CET", 1, 1}, {"UTC", 0, 1},
	    {"CET-1CEST,M3.5.0,M10.5.0/3", 0, 1}, {"CET-1", 0, 1},
	    {"Etc/GMT+5", 0, 0}};

	if (!c[_i].granted) {
		policy_free(&po);
		world_policy(&po);
	}
	world_replace(&ca.tz, c[_i].tz);
	make("X=1");
	is("TZ", c[_i].kept ? c[_i].tz : NULL);
	if (!c[_i].kept)
		ck_assert_str_eq(row("TZ")->mark,
		    "<- left out: the zone of the host is not granted");
}
END_TEST

/* S56 */
START_TEST(prompts)
{
	static const struct {
		const char *prompt, *ps1;
	} c[] = {{NULL, "[carrel] \\w \\$ "}, {"", "[carrel] \\w \\$ "},
	    {"x", "x "}, {"{cwd}", "\\w "},
	    {"{lock}{lock}", "[carrel][carrel] "},
	    {"{profiles}>", "@sys mine root> "},
	    /* a directory's name is text, for every shell */
	    {"{target}", "/srv/a?(b)?c??d "},
	    {"\\u {target}", "\\u /srv/a?(b)?c??d "}};

	if (c[_i].prompt != NULL)
		po.prompt = strdup(c[_i].prompt);
	world_add(&po, VERB_WRITE, "/srv/a$(b)`c\\!d", NULL);
	world_replace(&ca.target, "/srv/a$(b)`c\\!d");
	make("PS1=evil");
	is("PS1", c[_i].ps1);
}
END_TEST

/* RECORD_VARIABLE */

START_TEST(host_record)
{
	static const char *const names[] = {"PATH", "", "A=B", "1"};
	struct host_variable v = {.too_long = _i == 4 ? 2 : 0};
	uint8_t data[RECORD_MAX];
	struct wbuf w;
	struct rcur c;

	v.name = (char *)(uintptr_t)names[_i < 4 ? _i : 0];
	v.value = (char[]){"a\nb"};
	wbuf_init(&w, data, sizeof(data));
	hostenv_put(&w, &v);
	rcur_init(&c, data, w.len);
	ck_assert_int_eq(hostenv_get(&c, &he), _i == 0 ? 0 : -1);
	if (_i > 0)
		return;
	ck_assert_str_eq(hostenv_find(&he, "PATH")->value, "a\nb");
	ck_assert_ptr_null(hostenv_find(&he, "PAT"));
	rcur_init(&c, data, w.len); /* no name twice */
	ck_assert_int_eq(hostenv_get(&c, &he), -1);
	rcur_init(&c, data, w.len - 1);
	hostenv_free(&he);
	ck_assert_int_eq(hostenv_get(&c, &he), -1);
}
END_TEST

/* Nothing is taken along but what the policy names. */
START_TEST(only_what_is_named)
{
	char *env[] = {(char[]){"SECRET=1"}, (char[]){"EDITOR=vi"},
	    (char[]){"CI=1"}, (char[]){"PATH=/usr"}, NULL};

	claim(1, ENV_SET, "EDITOR", "nano", NULL);
	claim(1, ENV_INHERIT, "CI", NULL);
	claim(1, ENV_MERGE, "PATH", "/usr", NULL);
	ck_assert_int_eq(hostenv_pick(&he, &po, env), 0);
	ck_assert_uint_eq(he.n, 1);
	ck_assert_str_eq(he.vars[0].name, "CI");
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("bands");
	TCase *t = tcase_create("bands");
	SRunner *sr;
	int failed;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, all_bands);
	tcase_add_test(t, duplicates);
	tcase_add_test(t, other_lists);
	tcase_add_test(t, staging);
	tcase_add_test(t, staged_command);
	tcase_add_loop_test(
	    t, what_stays, 0, (int)(sizeof(elements) / sizeof(elements[0])));
	tcase_add_loop_test(t, one_survivor, 0, 7);
	tcase_add_loop_test(t, nothing_left, 0, 5);
	tcase_add_test(t, other_separator);
	tcase_add_test(t, host_bytes);
	tcase_add_test(t, too_long);
	tcase_add_test(t, empty_and_unset);
	tcase_add_loop_test(t, set_and_inherit, 0, 5);
	tcase_add_test(t, secrets_stay_unsaid);
	tcase_add_loop_test(t, marks, 0, 17);
	tcase_add_test(t, path_marks);
	tcase_add_test(t, length);
	tcase_add_loop_test(t, zones, 0, 8);
	tcase_add_loop_test(t, prompts, 0, 8);
	tcase_add_loop_test(t, host_record, 0, 5);
	tcase_add_test(t, only_what_is_named);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? 0 : 1;
}
