/* The five verbs, from the text of profiles to the payload's variables. */
#include <stdarg.h>

#include "answer.h"
#include "child/parser/config.h"
#include "child/parser/format.h"
#include "child/parser/layers.h"
#include "child/parser/resolve.h"
#include "child/parser/select.h"
#include "child/setup/plan.h"
#include "child/shared/hostenv.h"
#include "child/shared/survey.h"
#include "ipc/environ.h"
#include "ipc/limits.h"
#include "parse_help.h"

/* What a profile says by itself */

/* One line in a section [environ.VERB] of a profile of this layer. */
static int
reads(enum layer layer, const char *verb, const char *line, struct policy *po)
{
	static char text[2 * VALUE_MAX_LEN];
	struct place at = {po, "x", "/x.profile"};
	struct draft d;
	size_t len;

	memset(po, 0, sizeof(*po));
	len = (size_t)snprintf(
	    text, sizeof(text), "[environ.%s]\n%s\n", verb, line);
	if (draft_parse(&at, layer, text, len, &d) == -1)
		return -1;
	ck_assert_uint_eq(d.nvariables, 1);
	draft_free(&d);
	return 0;
}

static void
line_refused(enum layer layer, const char *verb, const char *line,
    const char *what, const char *fix)
{
	struct policy po;

	ck_assert_msg(
	    reads(layer, verb, line, &po) == -1, "%s: %s", verb, line);
	expect_refusal(&po, 2, what, fix);
	policy_free(&po);
}

static void
line_reads(enum layer layer, const char *verb, const char *line)
{
	struct policy po;

	if (reads(layer, verb, line, &po) == -1)
		ck_abort_msg("%s: %s", line, po.refusals[0].what);
}

/* R022, R023, S42: the wrong verb, and the right one named. */
START_TEST(verbs)
{
	line_refused(LAYER_USER, "set", "PATH = /usr/bin", "is a list",
	    "[environ.merge], [environ.prepend], [environ.sanitise]");
	line_refused(LAYER_USER, "inherit", "PATH = yes", "is a list",
	    "use [environ.merge], [environ.prepend]");
	line_refused(LAYER_USER, "merge", "EDITOR = vi", "is a scalar",
	    "use [environ.set], [environ.inherit]");
	line_refused(
	    LAYER_USER, "prepend", "LC_ALL = C", "is a scalar", "environ.set");
	line_refused(LAYER_USER, "sanitise", "EDITOR = yes", "is a scalar",
	    "[environ.inherit]");
	line_refused(LAYER_USER, "inherit", "CARGO_HOME = yes",
	    "names a place of the host", "use [environ.set]");
	line_refused(LAYER_USER, "sanitise", "MANPATH = yes",
	    "cannot be sanitised", "use [environ.merge], [environ.prepend]");
	line_refused(LAYER_USER, "merge", "CDPATH = /usr",
	    "this verb cannot write", "no verb can write it");
	line_refused(LAYER_USER, "set", "CDPATH = /usr", "list", "no verb");
	line_refused(LAYER_USER, "inherit", "CDPATH = yes", "list", "no verb");
	line_refused(LAYER_USER, "merge", "MYLIST = /usr",
	    "not known to be a list", "use [environ.set], [environ.inherit]");
	line_refused(LAYER_USER, "sanitise", "IFS = yes",
	    "not known to be a list", "environ.set");
	/* the value of a list that only the host may write is one element */
	line_refused(LAYER_HOST, "merge", "LD_PRELOAD = /usr/x.so",
	    "this verb cannot write", "use [environ.set]");
	line_refused(LAYER_HOST, "inherit", "LD_PRELOAD = yes", "is a list",
	    "use [environ.set]");
	line_reads(LAYER_HOST, "set", "LD_PRELOAD = /usr/x.so");
	line_refused(LAYER_HOST, "set", "LD_PRELOAD = /usr/x.so /usr/y.so",
	    "holds \" \"", "one element only");
	line_reads(LAYER_USER, "set", "EDITOR = vi");
	line_reads(LAYER_USER, "set", "EDITOR =");
	line_reads(LAYER_USER, "inherit", "EDITOR = yes");
	line_reads(LAYER_USER, "merge", "PATH = /usr/bin");
	line_reads(LAYER_USER, "sanitise", "PATH = yes");
}
END_TEST

/* R037, R033: one rule for each family, at every verb that it has. */
START_TEST(code)
{
	static const char *const always[] = {"LD_PRELOAD", "LD_LIBRARY_PATH",
	    "LD_AUDIT", "LD_DEBUG", "LD_ANY", "BASH_FUNC_x", "GIT_CONFIG_COUNT",
	    "GIT_SSH", "TZDIR", "PS4", "CARGO_TARGET_DIR", "GOFLAGS", "CC",
	    "RSYNC_RSH", "PROMPT_COMMAND", "_JAVA_OPTIONS"};
	static const char *const inherited[] = {"BASH_ENV", "ENV", "PERL5OPT",
	    "NODE_OPTIONS", "PYTHONSTARTUP", "PYTHONBREAKPOINT", "LESSOPEN",
	    "PIP_INDEX_URL", "npm_config_x", "NPM_CONFIG_X", "Npm_Config_x"};
	static const enum layer layers[] = {LAYER_USER, LAYER_SHIPPED};
	char line[64];
	unsigned verb;
	size_t i, k;

	for (k = 0; k < NITEMS(layers); k++) {
		for (i = 0; i < NITEMS(always); i++)
			for (verb = ENV_SET; verb <= ENV_LAST; verb++) {
				snprintf(
				    line, sizeof(line), "%s = yes", always[i]);
				line_refused(layers[k], variable_verb(verb),
				    line,
				    "is code: ", "only a profile of the host");
			}
		for (i = 0; i < NITEMS(inherited); i++) {
			snprintf(line, sizeof(line), "%s = yes", inherited[i]);
			line_refused(layers[k], "inherit", line,
			    "is code: ", "use [environ.set]");
		}
	}
	line_refused(LAYER_USER, "inherit", "PYTHONPATH = yes",
	    "is code: ", "use [environ.merge], [environ.prepend]");
	for (i = 0; i < NITEMS(inherited); i++) {
		snprintf(line, sizeof(line), "%s = /yes", inherited[i]);
		line_reads(LAYER_USER, "set", line);
		line[strlen(line) - 4] = '\0';
		strcat(line, "yes");
		line_reads(LAYER_HOST, "inherit", line);
	}
	line_reads(LAYER_HOST, "set", "GIT_SSH = ssh");
	line_reads(LAYER_HOST, "inherit", "BASH_FUNC_x = yes");
	line_reads(LAYER_USER, "set", "GIT_CONFIG_SYSTEM = /x");
	line_reads(LAYER_USER, "set", "PIP_INDEX_URL = x");
	/* decided: these say what to run, and stay legal */
	line_reads(LAYER_USER, "set", "EDITOR = vi");
	line_reads(LAYER_USER, "set", "VISUAL = vi");
	line_reads(LAYER_USER, "inherit", "PAGER = yes");
}
END_TEST

/* R029, S47 */
START_TEST(owned)
{
	static const char *const names[] = {"HOME", "SHELL", "USER", "LOGNAME",
	    "TMPDIR", "PS1", "TERM", "TZ", "LANG", "CARREL", "CARREL_PROFILES",
	    "CARREL_TARGET", "CARREL_RUN", "GIT_CONFIG_GLOBAL", "SSH_AUTH_SOCK",
	    "GH_CONFIG_DIR", "GH_HOST", "CONTAINER_HOST", "DOCKER_HOST",
	    "DOCKER_BUILDKIT"};
	static const enum layer layers[] = {
	    LAYER_SHIPPED, LAYER_HOST, LAYER_USER};
	char line[64];
	unsigned verb;
	size_t i, k;

	for (i = 0; i < NITEMS(names); i++)
		for (k = 0; k < NITEMS(layers); k++)
			for (verb = ENV_SET; verb <= ENV_LAST; verb++) {
				snprintf(
				    line, sizeof(line), "%s = yes", names[i]);
				line_refused(layers[k], variable_verb(verb),
				    line, "is carrel's own", "remove");
			}
}
END_TEST

/* R031, R032 */
START_TEST(spelling)
{
	char line[5000];

	line_refused(LAYER_USER, "set", "A-B = c", "is no name", "letters");
	line_refused(LAYER_USER, "set", "A.B = c", "is no name", "letters");
	line_refused(LAYER_USER, "set", "A B = c", "is no name", "letters");
	line_refused(
	    LAYER_USER, "set", "1A = c", "begins with a digit", "letters");
	line_refused(LAYER_USER, "set", "\xc3\x84 = c", "no name", "letters");
	line_refused(LAYER_USER, "set", "= c", "no key", "KEY = VALUE");
	line_refused(LAYER_USER, "set", "A", "has no \"=\"", "KEY = VALUE");
	line_refused(LAYER_USER, "set", "A\x1b = c", "control", "remove");
	line_refused(LAYER_USER, "set", "A = \x1b", "control", "remove");
	line_refused(LAYER_USER, "set", "A = \x7f", "control", "remove");
	line_refused(LAYER_USER, "set", "A = \xc2\x9b", "control", "remove");
	line_refused(
	    LAYER_USER, "set", "A = \xe2\x80\xae", "control", "remove");
	line_refused(
	    LAYER_USER, "set", "A = \xe2\x80\xa8", "control", "remove");
	memset(line, 'A', sizeof(line));
	strcpy(line + 4096, " = c");
	line_refused(LAYER_USER, "set", line, "is no name: it is too long", "");
	line_reads(LAYER_USER, "set", "http_proxy = http://x");
	line_reads(LAYER_USER, "set", "_ = x");
	/* the rest of the line is the value, whatever stands in it */
	line_reads(LAYER_USER, "set", "A = B = \"c\" ; # \\0 \\n {\"x\": 1}");
	line_refused(LAYER_USER, "inherit", "EDITOR = no", "a negation", "");
	line_refused(LAYER_USER, "inherit", "EDITOR = vi", "is not yes",
	    "[environ.set]");
	line_refused(LAYER_USER, "inherit", "EDITOR =", "is not yes", "yes");
	line_refused(LAYER_USER, "sanitise", "PATH = no", "negation", "");
}
END_TEST

START_TEST(separators)
{
	line_refused(LAYER_USER, "merge", "PATH = /usr/bin:/usr/sbin",
	    "holds \":\"",
	    "write \"PATH = /usr/bin\" and \"PATH = /usr/sbin\", one element "
	    "a line");
	line_refused(LAYER_USER, "prepend", "CLASSPATH = /a;/b", "holds \";\"",
	    "\"CLASSPATH = /a\" and \"CLASSPATH = /b\"");
	line_refused(LAYER_USER, "merge", "CLASSPATH = :", "holds \":\"", "");
	line_refused(
	    LAYER_USER, "merge", "PATH =", "empty element", "write an element");
	line_refused(LAYER_HOST, "set", "GOFLAGS = -a -b", "holds \" \"", "");
	line_reads(LAYER_USER, "merge", "PATH = /a;b c");
}
END_TEST

START_TEST(shipped)
{
	line_refused(LAYER_SHIPPED, "set", "FOO = x", "no row", "the table");
	line_refused(LAYER_SHIPPED, "inherit", "FOO = yes", "no row", "");
	line_refused(LAYER_SHIPPED, "sanitise", "PATH = yes",
	    "no shipped profile", "remove");
	line_reads(LAYER_SHIPPED, "inherit", "NO_COLOR = yes");
	line_reads(LAYER_SHIPPED, "set", "LC_ALL = C");
	line_reads(LAYER_USER, "set", "FOO = x");
	line_reads(LAYER_USER, "inherit", "FOO = yes");
}
END_TEST

START_TEST(twice)
{
	static char text[] = "[environ.set]\nA = 1\nB = 1\nA = 1\n";
	struct policy po;
	struct place at = {&po, "x", "/x.profile"};
	struct draft d;

	memset(&po, 0, sizeof(po));
	ck_assert_int_eq(
	    draft_parse(&at, LAYER_USER, text, strlen(text), &d), -1);
	expect_refusal(
	    &po, 4, "stands a second time, it was in line 2", "remove");
	policy_free(&po);
}
END_TEST

/* What profiles say together */

/* These profiles and nothing else. Ends with NULL. */
static void
only(struct layout *l, ...)
{
	const char *name;
	va_list ap;

	l->q.flags = REQUEST_NO_DEFAULTS;
	l->q.nselect = 0;
	va_start(ap, l);
	while ((name = va_arg(ap, const char *)) != NULL)
		ask(l, name);
	va_end(ap);
}

static void
refused(struct layout *l, uint32_t line, const char *what, const char *fix)
{
	struct policy po;

	answer(l, &po);
	expect_refusal(&po, line, what, fix);
	policy_free(&po);
}

static void
resolves(struct layout *l)
{
	struct policy po;

	answer(l, &po);
	if (po.nrefusals > 0)
		ck_abort_msg("%s", po.refusals[0].what);
	policy_free(&po);
}

/* R034, S50, S51: both named, the same bytes in any order. */
START_TEST(conflicts)
{
	struct layout l;
	struct policy po;
	char what[1024];

	layout_init(&l);
	put_file(l.user, "a", "[environ.set]\nEDITOR = vi\n");
	put_file(l.user, "b", "[environ.set]\n;\nEDITOR = nano\n");
	put_file(l.user, "c", "[environ.set]\nEDITOR = vi\n");
	put_file(l.user, "i", "[environ.inherit]\nEDITOR = yes\n");
	only(&l, "a", "c", "i", NULL);
	resolves(&l);
	only(&l, "b", "a", "i", "c", NULL);
	snprintf(what, sizeof(what),
	    "\"EDITOR\" is set to different values: \"nano\" (set of b, "
	    "%s/b.profile:3), \"vi\" (set of a, %s/a.profile:2; set of c, "
	    "%s/c.profile:2), the host's value (inherit of i, "
	    "%s/i.profile:2)",
	    l.user, l.user, l.user, l.user);
	answer(&l, &po);
	ck_assert_uint_eq(po.nrefusals, 1);
	ck_assert_str_eq(po.refusals[0].what, what);
	ck_assert_str_eq(po.refusals[0].profile, "a");
	policy_free(&po);
	only(&l, "c", "i", "a", "b", "b", NULL);
	answer(&l, &po);
	ck_assert_str_eq(po.refusals[0].what, what);
	policy_free(&po);
	layout_free(&l);
}
END_TEST

/* R035: sequences are equal element by element, and in no other way. */
START_TEST(sequences)
{
	static const char *const texts[] = {"PATH = /usr/a\nPATH = /usr/b\n",
	    "PATH = /usr/b\nPATH = /usr/a\n", "PATH = /usr/a\n",
	    "PATH = /usr/a /usr/b\n",
	    "PATH = /usr/a\nPATH = /usr/b\nPATH = /usr/b\n"};
	struct layout l;
	struct policy po;
	char text[256];
	size_t i, k;

	layout_init(&l);
	for (i = 0; i < NITEMS(texts); i++)
		for (k = 0; k < NITEMS(texts); k++) {
			snprintf(text, sizeof(text),
			    "[profile]\ninclude = @sys\n[environ.prepend]\n%s",
			    texts[i]);
			put_file(l.user, "a", text);
			snprintf(text, sizeof(text),
			    "[profile]\ninclude = @sys\n[environ.prepend]\n%s",
			    texts[k]);
			put_file(l.user, "b", text);
			only(&l, "a", "b", NULL);
			if (i == k) {
				resolves(&l);
				continue;
			}
			refused(&l, 4,
			    "\"PATH\" is prepended with different sequences",
			    "leave out");
		}
	put_file(l.user, "a",
	    "[profile]\ninclude = @sys\n[environ.prepend]\nPATH = /usr/a\n"
	    "PATH = /usr/b\n");
	put_file(l.user, "b",
	    "[profile]\ninclude = @sys\n[environ.prepend]\nPATH = /usr/a "
	    "/usr/b\n");
	only(&l, "b", "a", NULL);
	answer(&l, &po);
	ck_assert_ptr_nonnull(strstr(
	    po.refusals[0].what, "\"/usr/a\" \"/usr/b\" (prepend of a, "));
	ck_assert_ptr_nonnull(
	    strstr(po.refusals[0].what, "\"/usr/a /usr/b\" (prepend of b, "));
	policy_free(&po);
	layout_free(&l);
}
END_TEST

/* R024, S52 */
START_TEST(coupling)
{
	static const struct {
		const char *fs, *line; /* of a profile that includes "lib" */
		int good;
	} c[] = {{"read = /opt/x", "merge]\nPATH = /opt/x", 1},
	    {"read = /opt/x", "merge]\nPATH = /opt/x/bin", 1},
	    {"read = /opt/x", "prepend]\nPATH = /opt/x/bin", 1},
	    {"read = /opt/x/bin", "merge]\nPATH = /opt/x", 0},
	    {"read = /opt/x", "merge]\nPATH = /opt/xy", 0},
	    {"read = /opt/x", "merge]\nPATH = /opt", 0},
	    {"read = /opt/x -> /y", "merge]\nPATH = /opt/x", 0},
	    {"read = /opt/x -> /y", "merge]\nPATH = /y/bin", 1},
	    {"tmpfs = /c", "set]\nXDG_CACHE_HOME = /c/cache", 1},
	    {"write = /c", "set]\nXDG_CACHE_HOME = /c", 1},
	    {"try-read = /opt/none", "merge]\nPATH = /opt/none/bin", 1},
	    {"try-write = /opt/none", "merge]\nPATH = /opt/none", 1},
	    /* by an include, and by what that one includes */
	    {"read = /q", "merge]\nPATH = /lib/of/include", 1},
	    {"read = /q", "merge]\nPATH = /usr/bin", 1},
	    /* what others in the selection grant is no matter */
	    {"read = /q", "merge]\nPATH = /other", 0},
	    /* links are applied, and are no grants */
	    {"symlink = /l -> /opt/x", "merge]\nPATH = /l", 0},
	    {"symlink = /l -> /usr/x", "merge]\nPATH = /l", 1},
	    {"symlink = /l -> usr/x", "merge]\nPATH = /l/bin", 1},
	    {"symlink = /m/l -> ../usr", "merge]\nPATH = /m/l", 1},
	    {"symlink = /m/l -> ../other", "merge]\nPATH = /m/l", 0},
	    {"symlink = /l -> /k\nsymlink = /k -> /usr", "merge]\nPATH = /l/a",
		1},
	    {"symlink = /l -> /l", "merge]\nPATH = /l", 0},
	    {"symlink = /l -> /k\nsymlink = /k -> l", "merge]\nPATH = /l/x", 0},
	    {"tmpfs = /t\nsymlink = /t/l -> /other", "merge]\nPATH = /t/l/x",
		0},
	    {"tmpfs = /t\nsymlink = /t/l -> /usr", "merge]\nPATH = /t/l/x", 1},
	    {"tmpfs = /t\nsymlink = /t/l -> /usr", "merge]\nPATH = /t/lx", 1},
	    {"symlink = /l -> ../../../..", "merge]\nPATH = /l/usr", 1},
	    /* no paths, or none that has to be there */
	    {"read = /q", "set]\nEDITOR = /nowhere/vi", 1},
	    {"read = /q", "set]\nBASH_ENV = /nowhere/rc", 1},
	    {"read = /q", "set]\nPYTHONSTARTUP = /nowhere/rc", 1},
	    {"read = /q", "set]\nFOO = /nowhere", 1},
	    {"read = /q", "set]\nCARGO_HOME = /nowhere", 0},
	    {"write = {home}/c", "set]\nCARGO_HOME = {home}/c/x", 1},
	    {"write = {target}", "merge]\nPATH = {target}/bin", 1},
	    {"write = {target}", "merge]\nPATH = {home}/bin", 0}};
	struct layout l;
	char text[512];
	size_t i;

	layout_init(&l);
	put_file(l.user, "lib",
	    "[profile]\ninclude = @sys\n[fs]\nread = /lib/of/include\n");
	put_file(l.user, "other", "[fs]\nread = /other\nread = /opt\n");
	for (i = 0; i < NITEMS(c); i++) {
		snprintf(text, sizeof(text),
		    "[profile]\ninclude = lib\n[fs]\n%s\n[environ.%s\n",
		    c[i].fs, c[i].line);
		put_file(l.user, "x", text);
		only(&l, "x", NULL);
		if (strstr(c[i].fs, "read = /opt/x") == NULL)
			ask(&l, "other");
		if (c[i].good) {
			resolves(&l);
			continue;
		}
		refused(&l, strchr(c[i].fs, '\n') != NULL ? 7 : 6,
		    "is granted neither by the profile nor by what it includes",
		    "grant it in the same profile");
	}
	layout_free(&l);
}
END_TEST

START_TEST(values)
{
	struct layout l;
	struct policy po;
	const struct env_claim *c;
	size_t n;

	layout_init(&l);
	put_file(l.user, "a", "[environ.set]\nCARGO_HOME = cargo\n");
	only(&l, "a", NULL);
	refused(&l, 2, "is not an absolute path", "begins with");
	put_file(l.user, "a", "[environ.set]\nCARGO_HOME =\n");
	refused(&l, 2, "the value is empty", "write a path");
	put_file(l.user, "a", "[environ.set]\nBASH_ENV = rc\n");
	refused(&l, 2, "is not an absolute path", "begins with");
	put_file(l.user, "a", "[environ.set]\nBASH_ENV = /a/../b\n");
	refused(&l, 2, "is not a clean path", "");
	put_file(l.user, "a", "[environ.merge]\nPATH = /a/\n");
	refused(&l, 2, "is not a clean path", "write \"/a\"");
	put_file(l.user, "a", "[environ.set]\nA = {hoem}/x\n");
	refused(&l, 2, "\"{hoem}\" in \"{hoem}\" is not a placeholder",
	    "{home} {target}");
	put_file(l.user, "a", "[environ.set]\nCARGO_HOME = /{x\n");
	refused(&l, 2, "brace", "");
	/* in a text a brace is a brace; what is filled in is final */
	put_file(l.user, "a",
	    "[environ.set]\nA = {\"a\": {}} ${B} {home}:{target}:{uid {A}\n");
	l.q.caller.target = (char[]){"/srv/{home}"};
	answer(&l, &po);
	c = policy_environ(&po, "A", &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_str_eq(
	    c->values[0], "{\"a\": {}} ${B} /home/u:/srv/{home}:{uid {A}");
	policy_free(&po);
	/* the target's name can break a list */
	put_file(l.user, "a",
	    "[fs]\nwrite = {target}\n[environ.merge]\nPATH = {target}/bin\n");
	l.q.caller.target = (char[]){"/srv/a:b"};
	refused(&l, 4, "holds \":\"", "rename the directory");
	l.q.caller.target = (char[]){"/srv/a\nb"};
	put_file(l.user, "a", "[environ.set]\nA = {target}\n");
	refused(&l, 2, "control", "another value");
	layout_free(&l);
}
END_TEST

START_TEST(too_much)
{
	struct layout l;
	char *text = malloc(FILE_MAX_LEN + 64), *p;
	int i;

	layout_init(&l);
	p = stpcpy(text, "[environ.set]\n");
	for (i = 0; i <= CLAIMS_MAX; i++)
		p += sprintf(p, "A%d = x\n", i);
	put_file(l.user, "a", text);
	only(&l, "a", NULL);
	refused(&l, CLAIMS_MAX + 2, "more than 4096 lines", "write fewer");
	p = stpcpy(text, "[fs]\nread = /usr\n[environ.prepend]\n");
	for (i = 0; i <= SEQUENCE_MAX; i++)
		p += sprintf(p, "PATH = /usr/%d\n", i);
	put_file(l.user, "a", text);
	refused(&l, SEQUENCE_MAX + 4, "is prepended with more than 64",
	    "prepend less");
	for (i = 0; i < 3; i++) {
		char name[8];

		p = stpcpy(text, "[environ.set]\n");
		for (int k = 0; k < 2000; k++)
			p += sprintf(p, "A%d_%d = x\n", i, k);
		snprintf(name, sizeof(name), "p%d", i);
		put_file(l.user, name, text);
	}
	only(&l, "p0", "p1", "p2", NULL);
	refused(&l, 0, "more than 4096 claims", "claim less");
	free(text);
	layout_free(&l);
}
END_TEST

/* A whole world of profiles, for what must hold for all selections. */

static const char *const world[] = {
    "m1", "m2", "m3", "s1", "s2", "i1", "z1", "z2", "f1", "f2"};

static void
world_make(struct layout *l)
{
	layout_init(l);
	put_file(l->user, "m1",
	    "[profile]\ninclude = @sys\n[environ.merge]\nPATH = /usr/m2\n"
	    "PATH = /usr/m1\nNODE_PATH = /usr/n\nPATH = /usr/m1\n");
	put_file(l->user, "m2",
	    "[profile]\ninclude = @sys\n[environ.merge]\nPATH = /usr/m0\n"
	    "PATH = /usr/m2\nPATH = /usr/f\n");
	put_file(l->user, "m3",
	    "[profile]\ninclude = m1\n[environ.merge]\nPATH = /usr/sbin\n"
	    "XDG_DATA_DIRS = /usr/share\n");
	put_file(l->user, "s1",
	    "[environ.set]\nEDITOR = vi\nFOO = {home}\nLC_ALL = C\n");
	put_file(l->user, "s2", "[environ.set]\nEDITOR = vi\nBAR = 2\n");
	put_file(l->user, "i1",
	    "[environ.inherit]\nEDITOR = yes\nCI = yes\nNO_COLOR = yes\n");
	put_file(l->user, "z1",
	    "[profile]\ninclude = @sys\n[environ.sanitise]\nPATH = yes\n"
	    "NODE_PATH = yes\n");
	put_file(l->user, "z2",
	    "[profile]\ninclude = z1\n[environ.sanitise]\nPATH = yes\n");
	put_file(l->user, "f1",
	    "[profile]\ninclude = @sys\n[environ.prepend]\nPATH = /usr/f\n"
	    "PATH = /usr/m1\n");
	put_file(l->user, "f2",
	    "[profile]\ninclude = @sys\n[environ.prepend]\nPATH = /usr/f\n"
	    "PATH = /usr/m1\nINFOPATH = /usr/info\n");
	l->q.flags = REQUEST_NO_DEFAULTS;
	l->q.nselect = 0;
}

/* The plan of what was asked for, as text: every row and its reasons. */
static char *
print_plan(struct layout *l, struct plan *pl)
{
	char *env[] = {(char[]){"EDITOR=vi"}, (char[]){"NO_COLOR="},
	    (char[]){"PATH=/usr/h2:/tmp/x:/usr/h1:/usr/m2::/proc/self/cwd"},
	    (char[]){"NODE_PATH=/usr/h1"}, NULL};
	struct policy po;
	struct survey sv;
	struct hostenv he;
	char *text;
	size_t len, i, k;
	FILE *f = open_memstream(&text, &len);

	answer(l, &po);
	for (i = 0; i < po.nrefusals; i++)
		fprintf(f, "%s\n", po.refusals[i].what);
	ck_assert_int_eq(survey_init(&sv, po.ngrants), 0);
	for (i = 0; i < po.ngrants; i++)
		if (po.grants[i].kind == GRANT_BIND) {
			sv.rows[i].type = SURVEY_DIR;
			sv.rows[i].real = strdup(po.grants[i].source);
		}
	ck_assert_int_eq(hostenv_pick(&he, &po, env), 0);
	memset(pl, 0, sizeof(*pl));
	if (po.nrefusals == 0)
		ck_assert_int_eq(plan_make(&po, &sv, &l->q.caller, &he, pl), 0);
	for (i = 0; i < pl->nenv; i++) {
		fprintf(f, "%s=%s|%s|%s\n", pl->env[i].name,
		    pl->env[i].value != NULL ? pl->env[i].value : "(unset)",
		    pl->env[i].who, pl->env[i].mark);
		for (k = 0; k < pl->env[i].nentries; k++)
			fprintf(f, " %s|%s|%s\n", pl->env[i].entries[k].value,
			    pl->env[i].entries[k].who,
			    pl->env[i].entries[k].mark);
		for (k = 0; k < pl->env[i].ndrops; k++)
			fprintf(f, " -%s|%s|%s\n", pl->env[i].drops[k].value,
			    pl->env[i].drops[k].who, pl->env[i].drops[k].mark);
	}
	fclose(f);
	hostenv_free(&he);
	survey_free(&sv);
	policy_free(&po);
	return text;
}

static void
shuffle(const char **names, size_t n)
{
	const char *t;
	size_t i, k;

	for (i = n; i > 1; i--) {
		k = (size_t)rand() % i;
		t = names[i - 1];
		names[i - 1] = names[k];
		names[k] = t;
	}
}

/* S3: 200 orders, names twice among them, the same bytes; also refused. */
START_TEST(any_order)
{
	const char *names[NITEMS(world) + 1];
	char *first = NULL, *text;
	struct layout l;
	struct plan pl;
	size_t n = NITEMS(world), i;
	int round;

	world_make(&l);
	put_file(l.user, "bad",
	    "[environ.set]\nEDITOR = nano\nFOO = x\n[environ.prepend]\n"
	    "INFOPATH = /usr/share\n[fs]\nread = /usr/share\n");
	memcpy(names, world, sizeof(world));
	if (_i == 1)
		names[n++] = "bad";
	srand(1);
	for (round = 0; round < 200; round++) {
		shuffle(names, n);
		l.q.nselect = 0;
		for (i = 0; i < n; i++)
			ask(&l, names[i]);
		for (i = (size_t)rand() % 4; i > 0; i--)
			ask(&l, names[(size_t)rand() % n]);
		text = print_plan(&l, &pl);
		plan_free(&pl);
		if (first == NULL)
			first = text;
		else {
			ck_assert_str_eq(text, first);
			free(text);
		}
	}
	ck_assert_msg(
	    (strstr(first, "different") != NULL) == (_i == 1), "%s", first);
	free(first);
	layout_free(&l);
}
END_TEST

/* 1 if the list of this row has the element. */
static int
has(const struct plan *pl, const char *name, const char *element)
{
	size_t i, k;

	for (i = 0; i < pl->nenv; i++)
		if (strcmp(pl->env[i].name, name) == 0)
			for (k = 0; k < pl->env[i].nentries; k++)
				if (strcmp(pl->env[i].entries[k].value,
					element) == 0)
					return 1;
	return 0;
}

/*
 * S4: a profile more never takes an element away, nor a variable. 300 random
 * selections, each with one more of the rest.
 */
START_TEST(monotone)
{
	const char *names[NITEMS(world)];
	struct layout l;
	struct plan less, more;
	size_t n, i, k, m;
	int round;

	world_make(&l);
	memcpy(names, world, sizeof(world));
	srand(2);
	for (round = 0; round < 300; round++) {
		shuffle(names, NITEMS(world));
		n = 1 + (size_t)rand() % (NITEMS(world) - 1);
		l.q.nselect = 0;
		for (i = 0; i < n; i++)
			ask(&l, names[i]);
		free(print_plan(&l, &less));
		ask(&l, names[n]);
		free(print_plan(&l, &more));
		ck_assert_uint_gt(more.nenv, 10);
		for (i = 0; i < less.nenv; i++) {
			for (k = 0; k < more.nenv; k++)
				if (strcmp(less.env[i].name,
					more.env[k].name) == 0)
					break;
			ck_assert_msg(k < more.nenv, "%s", less.env[i].name);
			ck_assert(less.env[i].value == NULL ||
				  more.env[k].value != NULL);
			for (m = 0; m < less.env[i].nentries; m++)
				ck_assert_msg(has(&more, less.env[i].name,
						  less.env[i].entries[m].value),
				    "%s lost %s with %s", less.env[i].name,
				    less.env[i].entries[m].value, names[n]);
		}
		plan_free(&less);
		plan_free(&more);
	}
	layout_free(&l);
}
END_TEST

static void
path_is(struct layout *l, const char *want)
{
	struct plan pl;
	size_t i;

	free(print_plan(l, &pl));
	for (i = 0; i < pl.nenv; i++)
		if (strcmp(pl.env[i].name, "PATH") == 0)
			ck_assert_str_eq(pl.env[i].value, want);
	plan_free(&pl);
}

/* S4: the order is not monotone: a prepend goes before what was there. */
START_TEST(prepend_reorders)
{
	struct layout l;

	world_make(&l);
	only(&l, "m1", "m2", NULL);
	path_is(&l, "/usr/f:/usr/m0:/usr/m1:/usr/m2:/usr/bin:/bin:/usr/sbin:"
		    "/sbin");
	ask(&l, "f1");
	path_is(&l, "/usr/f:/usr/m1:/usr/m0:/usr/m2:/usr/bin:/bin:/usr/sbin:"
		    "/sbin");
	ask(&l, "z1");
	path_is(&l, "/usr/f:/usr/m1:/usr/m0:/usr/m2:/usr/h2:/usr/h1:/usr/bin:"
		    "/bin:/usr/sbin:/sbin");
	layout_free(&l);
}
END_TEST

/* S56: the preference, and whose it is. */
START_TEST(prompt)
{
	static const struct {
		const char *text, *want; /* NULL: refused */
	} c[] = {{"prompt = {lock} {cwd} >", "{lock} {cwd} >"},
	    {"prompt = {profiles} {target} $", "{profiles} {target} $"},
	    {"prompt =", NULL}, {"prompt = {home}", NULL},
	    {"prompt = a}", NULL}, {"prompt = a\nprompt = a", NULL}};
	struct layout l;
	struct layers ls;
	struct policy po;
	struct config k;
	char text[256];

	layout_init(&l);
	if (geteuid() == 0)
		put_bytes(l.hconf, "[carrel]\nprompt = host\n", 23);
	snprintf(text, sizeof(text), "[carrel]\n%s\n", c[_i].text);
	put_bytes(l.uconf, text, strlen(text));
	memset(&po, 0, sizeof(po));
	layers_open(&ls, &l.q);
	ck_assert_int_eq(
	    config_read(&ls, &po, &k), c[_i].want != NULL ? 0 : -1);
	if (c[_i].want != NULL) {
		ck_assert_str_eq(k.prompt, c[_i].want);
		ck_assert_int_eq(k.set, 0);
		config_free(&k);
		/* without a word of the user's the host's stands */
		put_bytes(l.uconf, "[carrel]\ndefaults = x\n", 22);
		layers_close(&ls);
		layers_open(&ls, &l.q);
		ck_assert_int_eq(config_read(&ls, &po, &k), 0);
		ck_assert_int_eq(k.set, 1);
		if (geteuid() == 0)
			ck_assert_str_eq(k.prompt, "host");
		config_free(&k);
	}
	layers_close(&ls);
	policy_free(&po);
	layout_free(&l);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("environ");
	TCase *t = tcase_create("environ");
	SRunner *sr;
	int failed;

	tcase_set_timeout(t, 120);
	tcase_add_test(t, verbs);
	tcase_add_test(t, code);
	tcase_add_test(t, owned);
	tcase_add_test(t, spelling);
	tcase_add_test(t, separators);
	tcase_add_test(t, shipped);
	tcase_add_test(t, twice);
	tcase_add_test(t, conflicts);
	tcase_add_test(t, sequences);
	tcase_add_test(t, coupling);
	tcase_add_test(t, values);
	tcase_add_test(t, too_much);
	tcase_add_loop_test(t, any_order, 0, 2);
	tcase_add_test(t, monotone);
	tcase_add_test(t, prepend_reorders);
	tcase_add_loop_test(t, prompt, 0, 6);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? 0 : 1;
}
