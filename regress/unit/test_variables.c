#include "ipc/environ.h"
#include "ipc/limits.h"
#include "ipc/owned.h"
#include "parse_help.h"

/*
 * The tables of names. What they shall say is written down here a second
 * time, row by row, and both must name the same rows.
 */

/* Lists: separators, whether it holds paths, merge and prepend, sanitise. */
static const struct {
	const char *name, *seps;
	int path, front, sanitise;
} lists[] = {
    {"PATH", ":", 1, 1, 1},
    {"LD_LIBRARY_PATH", ":;", 1, 0, 0},
    {"LD_PRELOAD", ": ", 1, 0, 0},
    {"MANPATH", ":", 1, 1, 0},
    {"CDPATH", ":", 1, 0, 0},
    {"PYTHONPATH", ":", 1, 1, 0},
    {"PKG_CONFIG_PATH", ":", 1, 1, 1},
    {"PERL5LIB", ":", 1, 1, 1},
    {"NODE_PATH", ":", 1, 1, 1},
    {"CLASSPATH", ":;", 1, 1, 1},
    {"GOPATH", ":", 1, 1, 1},
    {"INFOPATH", ":", 1, 1, 1},
    {"TERMINFO_DIRS", ":", 1, 1, 1},
    {"XDG_DATA_DIRS", ":", 1, 1, 1},
    {"XDG_CONFIG_DIRS", ":", 1, 1, 1},
    {"GOFLAGS", " ", 0, 0, 0},
};

/* Scalars: whether they hold a path, inherit, and need no grant for it. */
static const struct {
	const char *name;
	int path, inherit, uncoupled;
} scalars[] = {
    {"XDG_CONFIG_HOME", 1, 0, 0},
    {"XDG_CACHE_HOME", 1, 0, 0},
    {"XDG_STATE_HOME", 1, 0, 0},
    {"XDG_DATA_HOME", 1, 0, 0},
    {"XDG_RUNTIME_DIR", 1, 0, 0},
    {"CARGO_HOME", 1, 0, 0},
    {"DOCKER_CONFIG", 1, 0, 0},
    {"NPM_CONFIG_USERCONFIG", 1, 0, 0},
    {"PIP_CONFIG_FILE", 1, 0, 0},
    {"PYTHONUSERBASE", 1, 0, 0},
    {"EDITOR", 0, 1, 0},
    {"VISUAL", 0, 1, 0},
    {"PAGER", 0, 1, 0},
    {"NO_COLOR", 0, 1, 0},
    {"PYTHONDONTWRITEBYTECODE", 0, 1, 0},
    {"CI", 0, 1, 0},
    {"COLORTERM", 0, 1, 0},
    {"LC_*", 0, 1, 0},
    {"BASH_ENV", 1, 1, 1},
    {"ENV", 1, 1, 1},
    {"PYTHONSTARTUP", 1, 1, 1},
};

static const char code_always[] =
    "LD_* BASH_FUNC_* GIT_CONFIG_* GCONV_PATH LOCPATH NLSPATH HOSTALIASES "
    "RESOLV_HOST_CONF RES_OPTIONS TZDIR MALLOC_TRACE GETCONF_DIR NIS_PATH "
    "GIT_SSH GIT_SSH_COMMAND GIT_PROXY_COMMAND GIT_ASKPASS SSH_ASKPASS "
    "GIT_EXEC_PATH GIT_EXTERNAL_DIFF GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER "
    "GIT_TEMPLATE_DIR GIT_DIR GIT_COMMON_DIR GIT_ALLOW_PROTOCOL "
    "GIT_PROTOCOL_FROM_USER JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS "
    "RUBYOPT PS0 PS2 PS3 PS4 PROMPT_COMMAND RUSTC RUSTC_WRAPPER "
    "RUSTC_WORKSPACE_WRAPPER CARGO_* MAKEFLAGS GOFLAGS CC TAR_OPTIONS "
    "RSYNC_RSH";
static const char code_inherited[] =
    "BASH_ENV ENV PERL5OPT NODE_OPTIONS PYTHONSTARTUP PYTHONBREAKPOINT "
    "LESSOPEN PYTHONPATH PIP_* npm_config_*";

static const char owned_written[] =
    "HOME SHELL USER LOGNAME TMPDIR PS1 PATH TERM TZ LANG CARREL "
    "CARREL_PROFILES CARREL_TARGET CARREL_RUN";
static const char owned_reserved[] =
    "GIT_CONFIG_GLOBAL SSH_AUTH_SOCK GH_CONFIG_DIR GH_HOST CONTAINER_HOST "
    "DOCKER_HOST DOCKER_BUILDKIT";

#define FRONT (ENV_BIT(ENV_MERGE) | ENV_BIT(ENV_PREPEND))
#define LISTS (FRONT | ENV_BIT(ENV_SANITISE))

/* "A_*" with more behind it. */
static const char *
member_of(const char *name, char *buf)
{
	size_t n = strlen(name);

	strcpy(buf, name);
	if (name[n - 1] == '*')
		strcpy(buf + n - 1, "xY_9");
	return buf;
}

START_TEST(list_rows)
{
	const struct variable *v;
	unsigned verbs;
	size_t i;

	for (i = 0; i < NITEMS(lists); i++) {
		v = variable_find(lists[i].name);
		ck_assert_msg(v != NULL, "%s", lists[i].name);
		ck_assert_str_eq(v->name, lists[i].name);
		ck_assert_int_eq(v->kind, VARIABLE_LIST);
		ck_assert_int_eq(v->sep, lists[i].seps[0]);
		ck_assert_int_eq(v->alt, lists[i].seps[1]);
		ck_assert_int_eq(!!(v->flags & VARIABLE_PATH), lists[i].path);
		verbs = (lists[i].front ? FRONT : 0) |
			(lists[i].sanitise ? ENV_BIT(ENV_SANITISE) : 0);
		ck_assert_msg((v->verbs & LISTS) == verbs, "%s", v->name);
		/* never inherited, and set only where it is all code */
		ck_assert(!(v->verbs & ENV_BIT(ENV_INHERIT)));
		if (v->verbs & ENV_BIT(ENV_SET))
			ck_assert(verbs == 0 &&
				  variable_code(v->name, ENV_SET) != NULL);
		ck_assert_ptr_nonnull(v->empty);
	}
}
END_TEST

START_TEST(scalar_rows)
{
	const struct variable *v;
	char name[64];
	size_t i, n = 0;

	for (i = 0; i < NITEMS(scalars); i++) {
		v = variable_find(member_of(scalars[i].name, name));
		ck_assert_msg(v != NULL, "%s", name);
		ck_assert_str_eq(v->name, scalars[i].name);
		ck_assert_int_eq(v->kind, VARIABLE_SCALAR);
		ck_assert_int_eq(!!(v->flags & VARIABLE_PATH), scalars[i].path);
		ck_assert_int_eq(
		    !!(v->flags & VARIABLE_UNCOUPLED), scalars[i].uncoupled);
		ck_assert_uint_eq(v->verbs,
		    ENV_BIT(ENV_SET) |
			(scalars[i].inherit ? ENV_BIT(ENV_INHERIT) : 0));
	}
	for (v = variables; v->name != NULL; v++)
		n++;
	ck_assert_uint_eq(n, NITEMS(lists) + NITEMS(scalars));
}
END_TEST

/* Names without a row, those whose value only looks like a list among them */
START_TEST(no_row)
{
	static const char *const names[] = {"LS_COLORS", "TERMCAP",
	    "DBUS_SESSION_BUS_ADDRESS", "IFS", "MYLIST", "http_proxy", "L",
	    "LC", "path", "Path", "PATHS", "XPATH", "manpath", "lc_all"};
	size_t i;

	for (i = 0; i < NITEMS(names); i++) {
		ck_assert_msg(variable_find(names[i]) == NULL, "%s", names[i]);
		ck_assert_uint_eq(variable_verbs(names[i]),
		    ENV_BIT(ENV_SET) | ENV_BIT(ENV_INHERIT));
	}
}
END_TEST

/* Each name of a list of words. */
static void
each(const char *words, void (*fn)(const char *name, int arg), int arg)
{
	char *copy = strdup(words), *save = NULL, *w;

	for (w = strtok_r(copy, " ", &save); w != NULL;
	     w = strtok_r(NULL, " ", &save))
		fn(w, arg);
	free(copy);
}

static size_t count;

static void
is_code(const char *pattern, int always)
{
	const struct code_name *c;
	char name[64];
	unsigned verb;

	member_of(pattern, name);
	for (verb = ENV_SET; verb <= ENV_LAST; verb++) {
		c = variable_code(name, verb);
		ck_assert_msg((c != NULL) == (always || verb == ENV_INHERIT),
		    "%s %s", variable_verb(verb), name);
		if (c == NULL)
			continue;
		ck_assert_str_eq(c->name, pattern);
		ck_assert_str_ne(c->why, "");
	}
	count++;
}

START_TEST(code_rows)
{
	const struct code_name *c;
	size_t n = 0;

	count = 0;
	each(code_always, is_code, 1);
	each(code_inherited, is_code, 0);
	for (c = code_names; c->name != NULL; c++)
		n++;
	ck_assert_uint_eq(n, count);
}
END_TEST

/* R037: one rule for a family, whatever comes behind its prefix. */
START_TEST(families)
{
	static const char *const yes[] = {"LD_PRELOAD", "LD_LIBRARY_PATH",
	    "LD_AUDIT", "LD_", "LD_DEBUG", "LD_ORIGIN_PATH", "LD_x",
	    "BASH_FUNC_", "BASH_FUNC_x", "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0",
	    "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_GLOBALS", "CARGO_BUILD_RUSTC",
	    "CARGO_HOMES", "CARGO_TARGET_DIR"};
	static const char *const no[] = {"LDX", "ld_preload", "XLD_PRELOAD",
	    "Ld_PRELOAD", "BASH_FUN", "GIT_CONFIG", "GIT_CONFIG_GLOBAL",
	    "GIT_CONFIG_SYSTEM", "CARGO", "cargo_x", "CARGO_HOME", "EDITOR",
	    "VISUAL", "PAGER", "PERL5LIB", "NPM_CONFIG_USERCONFIG", "CCX", "PS",
	    "GIT_SSH_VARIANT"};
	unsigned verb;
	size_t i;

	for (verb = ENV_SET; verb <= ENV_LAST; verb++) {
		for (i = 0; i < NITEMS(yes); i++)
			ck_assert_msg(
			    variable_code(yes[i], verb) != NULL, "%s", yes[i]);
		for (i = 0; i < NITEMS(no); i++)
			ck_assert_msg(
			    variable_code(no[i], verb) == NULL, "%s", no[i]);
	}
}
END_TEST

/* npm reads its variables in any case; only one of them has a row. */
START_TEST(case_folds)
{
	static const char *const names[] = {"npm_config_x", "NPM_CONFIG_x",
	    "Npm_Config_registry", "nPM_cONFIG_", "npm_config_userconfig",
	    "NPM_CONFIG_userconfig"};
	size_t i;

	for (i = 0; i < NITEMS(names); i++) {
		ck_assert_msg(variable_code(names[i], ENV_INHERIT) != NULL,
		    "%s", names[i]);
		ck_assert_msg(
		    variable_code(names[i], ENV_SET) == NULL, "%s", names[i]);
	}
	ck_assert_ptr_null(variable_code("NPM_CONFIG_USERCONFIG", ENV_INHERIT));
	ck_assert_ptr_null(variable_code("pip_x", ENV_INHERIT));
	ck_assert_ptr_null(variable_code("PIP_CONFIG_FILE", ENV_INHERIT));
	ck_assert_ptr_nonnull(variable_code("PIP_CONFIG", ENV_INHERIT));
}
END_TEST

static void
is_owned(const char *name, int written)
{
	const struct owned *o = owned_find(name);

	ck_assert_msg(o != NULL && o->written == written, "%s", name);
	count++;
}

START_TEST(owned_rows)
{
	const struct owned *o;
	size_t n = 0;

	count = 0;
	each(owned_written, is_owned, 1);
	each(owned_reserved, is_owned, 0);
	for (o = owned_names; o->name != NULL; o++)
		n++;
	ck_assert_uint_eq(n, count);
	/* PATH alone has a row: it takes the list verbs */
	for (o = owned_names; o->name != NULL; o++)
		ck_assert_msg((variable_find(o->name) != NULL) ==
				  (strcmp(o->name, "PATH") == 0),
		    "%s", o->name);
}
END_TEST

/* R032: one grammar, and a message for each way to break it. */
START_TEST(names)
{
	static const char *const good[] = {
	    "A", "_", "a", "http_proxy", "A1", "_9", "CARREL_X"};
	static const struct {
		const char *name, *why;
		size_t n;
	} bad[] = {{"", "empty", 0}, {"A=B", "=", 3}, {"A\0B", "NUL", 3},
	    {"A\nB", "newline", 3}, {"1A", "digit", 2}, {"A B", "letter", 3},
	    {"A-B", "letter", 3}, {"A.B", "letter", 3},
	    {"\xc3\x84", "letter", 2}, {"A\x1b", "letter", 2}};
	char longest[VARIABLE_NAME_MAX + 2];
	size_t i, k;

	for (i = 0; i < NITEMS(good); i++)
		ck_assert_ptr_null(variable_name_bad(good[i], strlen(good[i])));
	for (i = 0; i < NITEMS(bad); i++) {
		ck_assert_msg(strstr(variable_name_bad(bad[i].name, bad[i].n),
				  bad[i].why) != NULL,
		    "%s", bad[i].why);
		/* the first five are told apart */
		for (k = 0; k < i && i < 6; k++)
			ck_assert_str_ne(
			    variable_name_bad(bad[i].name, bad[i].n),
			    variable_name_bad(bad[k].name, bad[k].n));
	}
	memset(longest, 'A', sizeof(longest));
	ck_assert_ptr_null(variable_name_bad(longest, VARIABLE_NAME_MAX));
	ck_assert_ptr_nonnull(
	    variable_name_bad(longest, VARIABLE_NAME_MAX + 1));
}
END_TEST

START_TEST(secrets)
{
	static const char *const yes[] = {"GH_TOKEN", "A_KEY", "X_SECRET",
	    "MY_PASSWORD", "_KEY", "npm_token"};
	static const char *const no[] = {
	    "TOKEN", "KEYS", "A_KEYS", "MONKEY", "A_TOKEN_", "EDITOR"};
	size_t i;

	for (i = 0; i < NITEMS(yes); i++)
		ck_assert_msg(variable_secret(yes[i]), "%s", yes[i]);
	for (i = 0; i < NITEMS(no); i++)
		ck_assert_msg(!variable_secret(no[i]), "%s", no[i]);
}
END_TEST

/* What an element and a value may hold (S44). */
START_TEST(values)
{
	static const struct {
		const char *name, *value;
		int good;
	} v[] = {{"PATH", "/a", 1}, {"PATH", "/a b", 1}, {"PATH", "/a;b", 1},
	    {"PATH", "", 0}, {"PATH", "a", 0}, {"PATH", "/a:/b", 0},
	    {"PATH", "/a/", 0}, {"PATH", "/a/../b", 0}, {"PATH", "/a\n", 0},
	    {"CLASSPATH", "/a;b", 0}, {"CLASSPATH", "/a b", 1},
	    {"LD_PRELOAD", "/a b", 0}, {"LD_PRELOAD", "/a.so", 1},
	    {"GOFLAGS", "-x -y", 0}, {"GOFLAGS", "-x:y", 1}, {"GOFLAGS", "", 0},
	    {"EDITOR", "", 1}, {"EDITOR", "vi -x:y", 1}, {"EDITOR", "a\x1b", 0},
	    {"EDITOR", "a\x7f", 0}, {"EDITOR", "\xc2\x9b", 0},
	    {"EDITOR", "\xe2\x80\xae", 0}, {"EDITOR", "\xe2\x80\xa8", 0},
	    {"EDITOR", "\xe2\x80\xa9", 0}, {"CARGO_HOME", "/a", 1},
	    {"CARGO_HOME", "a", 0}, {"CARGO_HOME", "", 0}, {"BASH_ENV", "x", 0},
	    {"BASH_ENV", "/x", 1}, {"ANY", "\xc3\xa4:;", 1}};
	size_t i;

	for (i = 0; i < NITEMS(v); i++)
		ck_assert_msg((environ_value_bad(v[i].name, v[i].value) ==
				  NULL) == v[i].good,
		    "%s=%s", v[i].name, v[i].value);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {list_rows, scalar_rows, no_row, code_rows,
	    families, case_folds, owned_rows, names, secrets, values};

	return run_suite("variables", tests, NITEMS(tests));
}
