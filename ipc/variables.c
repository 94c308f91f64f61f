#include <string.h>
#include <strings.h>

#include "limits.h"
#include "variables.h"

#define SET	 ENV_BIT(ENV_SET)
#define INHERIT	 ENV_BIT(ENV_INHERIT)
#define SANITISE ENV_BIT(ENV_SANITISE)
#define FRONT	 (ENV_BIT(ENV_MERGE) | ENV_BIT(ENV_PREPEND))
#define EVERY	 (SET | FRONT | INHERIT | SANITISE)

#define LIST   VARIABLE_LIST
#define SCALAR VARIABLE_SCALAR
#define PATH   VARIABLE_PATH

/*
 * A list takes neither set nor inherit. Those that take no list verb either
 * because their value is code can be set, to one element, by a profile of the
 * host, which alone may write code (S46).
 */
const struct variable variables[] = {
    {"PATH", LIST, FRONT | SANITISE, PATH, ':', 0, "the current directory"},
    {"LD_LIBRARY_PATH", LIST, SET, PATH, ':', ';', "the current directory"},
    {"LD_PRELOAD", LIST, SET, PATH, ':', ' ', "nothing"},
    /* an element less can be an operator more: not sanitised */
    {"MANPATH", LIST, FRONT, PATH, ':', 0, "the system's own path"},
    {"CDPATH", LIST, 0, PATH, ':', 0, "the current directory"},
    {"PYTHONPATH", LIST, FRONT, PATH, ':', 0, "the current directory"},
    {"PKG_CONFIG_PATH", LIST, FRONT | SANITISE, PATH, ':', 0, "ignored"},
    {"PERL5LIB", LIST, FRONT | SANITISE, PATH, ':', 0, "ignored"},
    {"NODE_PATH", LIST, FRONT | SANITISE, PATH, ':', 0, "ignored"},
    {"CLASSPATH", LIST, FRONT | SANITISE, PATH, ':', ';', "not known"},
    {"GOPATH", LIST, FRONT | SANITISE, PATH, ':', 0, "nothing"},
    {"INFOPATH", LIST, FRONT | SANITISE, PATH, ':', 0, "the system's own path"},
    {"TERMINFO_DIRS", LIST, FRONT | SANITISE, PATH, ':', 0,
	"the system's own path"},
    {"XDG_DATA_DIRS", LIST, FRONT | SANITISE, PATH, ':', 0, "ignored"},
    {"XDG_CONFIG_DIRS", LIST, FRONT | SANITISE, PATH, ':', 0, "ignored"},
    {"GOFLAGS", LIST, SET, 0, ' ', 0, "nothing"},
    /* the host's value names a place that the sandbox lacks */
    {"XDG_CONFIG_HOME", SCALAR, SET, PATH, 0, 0, NULL},
    {"XDG_CACHE_HOME", SCALAR, SET, PATH, 0, 0, NULL},
    {"XDG_STATE_HOME", SCALAR, SET, PATH, 0, 0, NULL},
    {"XDG_DATA_HOME", SCALAR, SET, PATH, 0, 0, NULL},
    {"XDG_RUNTIME_DIR", SCALAR, SET, PATH, 0, 0, NULL},
    {"CARGO_HOME", SCALAR, SET, PATH, 0, 0, NULL},
    {"DOCKER_CONFIG", SCALAR, SET, PATH, 0, 0, NULL},
    {"NPM_CONFIG_USERCONFIG", SCALAR, SET, PATH, 0, 0, NULL},
    {"PIP_CONFIG_FILE", SCALAR, SET, PATH, 0, 0, NULL},
    {"PYTHONUSERBASE", SCALAR, SET, PATH, 0, 0, NULL},
    {"EDITOR", SCALAR, SET | INHERIT, VARIABLE_RUN, 0, 0, NULL},
    {"VISUAL", SCALAR, SET | INHERIT, VARIABLE_RUN, 0, 0, NULL},
    {"PAGER", SCALAR, SET | INHERIT, VARIABLE_RUN, 0, 0, NULL},
    {"NO_COLOR", SCALAR, SET | INHERIT, 0, 0, 0, NULL},
    {"PYTHONDONTWRITEBYTECODE", SCALAR, SET | INHERIT, 0, 0, 0, NULL},
    {"CI", SCALAR, SET | INHERIT, 0, 0, 0, NULL},
    {"COLORTERM", SCALAR, SET | INHERIT, 0, 0, 0, NULL},
    {"LC_*", SCALAR, SET | INHERIT, 0, 0, 0, NULL},
    {"BASH_ENV", SCALAR, SET | INHERIT, PATH | VARIABLE_UNCOUPLED, 0, 0, NULL},
    {"ENV", SCALAR, SET | INHERIT, PATH | VARIABLE_UNCOUPLED, 0, 0, NULL},
    {"PYTHONSTARTUP", SCALAR, SET | INHERIT, PATH | VARIABLE_UNCOUPLED, 0, 0,
	NULL},
    {NULL, 0, 0, 0, 0, 0, NULL},
};

#define CODE(name, why)                                                        \
	{                                                                      \
		name, 0, EVERY, {NULL, NULL}, why                              \
	}
#define CODE_INHERITED(name, why)                                              \
	{                                                                      \
		name, 0, INHERIT, {NULL, NULL}, why                            \
	}

#define LIBC  "the C library opens what it names"
#define GIT   "git runs it"
#define PLACE "git takes its configuration and hooks from there"
#define JAVA  "every Java machine takes options from it, agents among them"
#define SHELL "a shell expands it, and runs what it substitutes"
#define CARGO "cargo runs what it names or takes options from it"

const struct code_name code_names[] = {
    {"LD_*", 0, EVERY, {NULL, NULL}, "the dynamic loader obeys it"},
    {"BASH_FUNC_*", 0, EVERY, {NULL, NULL}, "bash defines a function of it"},
    {"GIT_CONFIG_*", 0, EVERY, {"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"},
	"git takes configuration from it, and with it commands"},
    CODE("GCONV_PATH", "the C library loads modules from there"),
    CODE("LOCPATH", LIBC),
    CODE("NLSPATH", LIBC),
    CODE("HOSTALIASES", LIBC),
    CODE("RESOLV_HOST_CONF", LIBC),
    CODE("RES_OPTIONS", "the resolver obeys it"),
    CODE("TZDIR", LIBC),
    CODE("MALLOC_TRACE", "the C library writes to what it names"),
    CODE("GETCONF_DIR", "getconf runs programs from there"),
    CODE("NIS_PATH", LIBC),
    CODE("GIT_SSH", GIT),
    CODE("GIT_SSH_COMMAND", GIT),
    CODE("GIT_PROXY_COMMAND", GIT),
    CODE("GIT_ASKPASS", GIT),
    CODE("SSH_ASKPASS", "ssh and git run it"),
    CODE("GIT_EXEC_PATH", "git runs programs from there"),
    CODE("GIT_EXTERNAL_DIFF", GIT),
    CODE("GIT_EDITOR", GIT),
    CODE("GIT_SEQUENCE_EDITOR", GIT),
    CODE("GIT_PAGER", GIT),
    CODE("GIT_TEMPLATE_DIR", "git copies hooks from there"),
    CODE("GIT_DIR", PLACE),
    CODE("GIT_COMMON_DIR", PLACE),
    CODE("GIT_ALLOW_PROTOCOL", "git talks by what it allows"),
    CODE("GIT_PROTOCOL_FROM_USER", "git talks by what it allows"),
    CODE("JAVA_TOOL_OPTIONS", JAVA),
    CODE("_JAVA_OPTIONS", JAVA),
    CODE("JDK_JAVA_OPTIONS", JAVA),
    CODE("RUBYOPT", "ruby takes options from it, and loads what they name"),
    CODE("PS0", SHELL),
    CODE("PS2", SHELL),
    CODE("PS3", SHELL),
    CODE("PS4", SHELL),
    CODE("PROMPT_COMMAND", "bash runs it before each prompt"),
    CODE("RUSTC", "cargo runs it"),
    CODE("RUSTC_WRAPPER", "cargo runs it"),
    CODE("RUSTC_WORKSPACE_WRAPPER", "cargo runs it"),
    {"CARGO_*", 0, EVERY, {"CARGO_HOME", NULL}, CARGO},
    CODE("MAKEFLAGS", "make takes options from it, and runs what they say"),
    CODE("GOFLAGS", "go takes options from it, and runs what they name"),
    CODE("CC", "make and many others run it"),
    CODE("TAR_OPTIONS", "tar takes options from it, and runs what they name"),
    CODE("RSYNC_RSH", "rsync runs it"),
    CODE_INHERITED("BASH_ENV", "bash runs the file before each script"),
    CODE_INHERITED("ENV", "sh runs the file when it is interactive"),
    CODE_INHERITED("PERL5OPT", "perl takes options from it"),
    CODE_INHERITED("NODE_OPTIONS", "node takes options from it"),
    CODE_INHERITED("PYTHONSTARTUP", "python runs the file"),
    CODE_INHERITED("PYTHONBREAKPOINT", "python calls what it names"),
    CODE_INHERITED("LESSOPEN", "less runs it"),
    CODE_INHERITED("PYTHONPATH", "python loads modules from there"),
    {"PIP_*", 0, INHERIT, {"PIP_CONFIG_FILE", NULL},
	"pip takes options from it"},
    {"npm_config_*", 1, INHERIT, {"NPM_CONFIG_USERCONFIG", NULL},
	"npm takes options from it, and runs what they name"},
    {NULL, 0, 0, {NULL, NULL}, NULL},
};

static const char *const verb_names[] = {
    [ENV_SET] = "set",
    [ENV_MERGE] = "merge",
    [ENV_PREPEND] = "prepend",
    [ENV_INHERIT] = "inherit",
    [ENV_SANITISE] = "sanitise",
};

const char *
variable_verb(unsigned verb)
{
	return verb >= ENV_SET && verb <= ENV_LAST ? verb_names[verb] : "?";
}

/* 1 if the name is the pattern, or begins as one that ends in '*' does. */
static int
matches(const char *pattern, const char *name, int fold)
{
	size_t n;

	if (!fold && pattern[0] != name[0] && pattern[0] != '*')
		return 0; /* most end here */
	n = strlen(pattern);
	if (n > 0 && pattern[n - 1] == '*')
		return (fold ? strncasecmp : strncmp)(pattern, name, n - 1) ==
		       0;
	return (fold ? strcasecmp : strcmp)(pattern, name) == 0;
}

const struct variable *
variable_find(const char *name)
{
	const struct variable *v;

	for (v = variables; v->name != NULL; v++)
		if (matches(v->name, name, 0))
			return v;
	return NULL;
}

unsigned
variable_verbs(const char *name)
{
	const struct variable *v = variable_find(name);

	return v != NULL ? v->verbs : SET | INHERIT;
}

const struct code_name *
variable_code(const char *name, unsigned verb)
{
	const struct code_name *c;
	size_t i;

	for (c = code_names; c->name != NULL; c++) {
		if (!(c->verbs & ENV_BIT(verb)) ||
		    !matches(c->name, name, c->fold))
			continue;
		for (i = 0; i < 2 && c->except[i] != NULL; i++)
			if (strcmp(c->except[i], name) == 0)
				break;
		if (i == 2 || c->except[i] == NULL)
			return c;
	}
	return NULL;
}

const char *
variable_name_bad(const char *name, size_t n)
{
	static const char letters[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
	size_t i;

	if (n == 0)
		return "is empty";
	if (memchr(name, '=', n) != NULL)
		return "holds a \"=\"";
	if (memchr(name, '\0', n) != NULL)
		return "holds a NUL byte";
	if (memchr(name, '\n', n) != NULL)
		return "holds a newline";
	if (name[0] >= '0' && name[0] <= '9')
		return "begins with a digit";
	for (i = 0; i < n; i++)
		if (strchr(letters, name[i]) == NULL)
			return "holds a character that is no letter of ASCII, "
			       "no digit and no \"_\"";
	if (n > VARIABLE_NAME_MAX)
		return "is too long";
	return NULL;
}

int
variable_secret(const char *name)
{
	static const char *const ends[] = {
	    "_TOKEN", "_KEY", "_SECRET", "_PASSWORD"};
	size_t i, n = strlen(name), k;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		k = strlen(ends[i]);
		if (n >= k && strcasecmp(name + n - k, ends[i]) == 0)
			return 1;
	}
	return 0;
}
