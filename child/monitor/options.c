#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#include "events_file.h"
#include "ipc/limits.h"
#include "login.h"
#include "ipc/path.h"
#include "options.h"

enum {
	OPT_NO_DEFAULTS = 256,
	OPT_STATUS_FD,
	OPT_WAIT_ALL,
	OPT_ALLOW_PTRACE,
	OPT_WITHOUT_LANDLOCK,
	OPT_USER_MODE,
	OPT_EVENTS,
	OPT_REQUIRE_AUDIT,
	OPT_JSON,
	OPT_USES,
	OPT_DIFF,
	OPT_RUN,
	OPT_VERSION
};

static const struct option long_options[] = {
    {"dry-run", no_argument, NULL, 'n'},
    {"verbose", no_argument, NULL, 'v'},
    {"profile", required_argument, NULL, 'p'},
    {"pack", required_argument, NULL, 'f'},
    {"directory", required_argument, NULL, 'C'},
    {"output", required_argument, NULL, 'o'},
    {"help", no_argument, NULL, 'h'},
    {"no-defaults", no_argument, NULL, OPT_NO_DEFAULTS},
    {"status-fd", required_argument, NULL, OPT_STATUS_FD},
    {"events", required_argument, NULL, OPT_EVENTS},
    {"require-audit", no_argument, NULL, OPT_REQUIRE_AUDIT},
    {"wait-all", no_argument, NULL, OPT_WAIT_ALL},
    {"allow-ptrace", no_argument, NULL, OPT_ALLOW_PTRACE},
    {"without-landlock", no_argument, NULL, OPT_WITHOUT_LANDLOCK},
    {"user-mode", no_argument, NULL, OPT_USER_MODE},
    {"json", no_argument, NULL, OPT_JSON},
    {"uses", required_argument, NULL, OPT_USES},
    {"run", required_argument, NULL, OPT_RUN},
    {"version", no_argument, NULL, OPT_VERSION},
    /* known by name, so that the refusal can say so */
    {"diff", no_argument, NULL, OPT_DIFF},
    {NULL, 0, NULL, 0},
};

static const char version_text[] = "carrel " CARREL_VERSION "\n";

static const char usage_text[] =
    "usage: carrel run [-nv] [-p PROFILE]... [--no-defaults] [-f PACK]\n"
    "                  [-C DIR] [--events FILE] [--status-fd N] [--wait-all]\n"
    "                  [--require-audit] [--allow-ptrace]\n"
    "                  [--without-landlock] [--user-mode] [--] COMMAND "
    "[ARG...]\n"
    "       carrel shell   [the same, no COMMAND]   your shell, inside\n"
    "       carrel learn   [the same] [-o FILE] [--json] COMMAND    what it "
    "lacked\n"
    "       carrel explain [the same] [--json] [COMMAND]    what run would "
    "do\n"
    "       carrel explain --diff -p PROFILE...     what PROFILE changes\n"
    "       carrel why [the same] [--json] PATH | HOST[:PORT] | "
    "'$VARIABLE'\n"
    "       carrel doctor [--json]                  can this host do it?\n"
    "       carrel why --run ID [--json] [SUBJECT]  what a run was refused\n"
    "       carrel profile list | show NAME | tree | dot [--json]\n"
    "       carrel import bwrap -- OPTION... | firejail FILE    a profile "
    "of it\n"
    "       carrel config [--json]                  preferences in force\n"
    "       carrel violations [--json] [--run ID]   what was refused\n"
    "       carrel profile validate|lint [--strict]|test NAME | -f PACK\n"
    "       carrel --version | --help\n"
    "\n"
    "Runs COMMAND in a sandbox that starts from nothing. Profiles grant what\n"
    "is visible; without -p these are the defaults: @sys @home @target.\n"
    "  -p NAME            add a profile\n"
    "  --no-defaults      start without the default profiles\n"
    "  -f PACK            a profile of a stranger's, for the target at "
    "/workdir\n"
    "  -C DIR             as if started in DIR; it is the target\n"
    "  -n                 print what would be done, as explain does\n"
    "  -v                 say more\n"
    "  --events FILE      append what was refused, as lines of JSON\n"
    "  --uses PLACE       with --events: tell what is used there, too\n"
    "  --require-audit    no run without the host's log\n"
    "  --status-fd N      write how it started and ended to descriptor N\n"
    "  --wait-all         wait for everything that COMMAND leaves behind\n"
    "  --allow-ptrace     let the payload trace its own processes\n"
    "  --without-landlock run without the second wall around the files\n"
    "  --user-mode        do without the privilege that carrel is installed "
    "with\n"
    "Exit: COMMAND's own code, 128+N for a signal, 127 not found inside,\n"
    "126 not executable, 125 carrel itself failed or refused.\n";

/* What is being read, and where what ends it is noted. */
struct reading {
	struct options *o;
	const char **say;
	char *why;
	size_t len;
};

/* Always -1. */
static int __attribute__((format(printf, 2, 3)))
wrong(const struct reading *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r->why, r->len, fmt, ap);
	va_end(ap);
	return -1;
}

/* Always 1. */
static int
say(const struct reading *r, const char *text)
{
	*r->say = text;
	return 1;
}

static const struct {
	const char *name;
	enum command command;
	int shell, learn;
} commands[] = {
    {"run", COMMAND_RUN, 0, 0},
    {"shell", COMMAND_RUN, 1, 0},
    {"learn", COMMAND_RUN, 0, 1},
    {"explain", COMMAND_EXPLAIN, 0, 0},
    {"doctor", COMMAND_DOCTOR, 0, 0},
    {"violations", COMMAND_VIOLATIONS, 0, 0},
    {"why", COMMAND_WHY, 0, 0},
    {"import", COMMAND_IMPORT, 0, 0},
    {"profile", COMMAND_PROFILE, 0, 0},
    {"config", COMMAND_INSTALLED, 0, 0},
};

static int
read_command(const struct reading *r, const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(name, commands[i].name) == 0) {
			r->o->command = commands[i].command;
			r->o->shell = commands[i].shell;
			r->o->learn = commands[i].learn;
			return 0;
		}
	if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
		return say(r, version_text);
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 ||
	    strcmp(name, "help") == 0)
		return say(r, usage_text);
	if (name[0] == '-')
		return wrong(r,
		    "\"%s\" stands before any command; options go behind it: "
		    "carrel run [OPTION...] -- COMMAND",
		    name);
	return wrong(r,
	    "unknown command \"%s\"; to run a program use: carrel run -- %s",
	    name, name);
}

/* A copy in *to, in the place of what is there. */
static int
keep(const struct reading *r, char **to, const char *s)
{
	free(*to);
	*to = strdup(s);
	return *to != NULL ? 0 : wrong(r, "out of memory");
}

/* Where the descriptor's file lies, if it is a regular one. */
static int
read_status_file(const struct reading *r)
{
	char link[32], path[PATH_MAX];
	struct stat st;
	ssize_t n;

	free(r->o->status_file);
	r->o->status_file = NULL;
	if (fstat(r->o->status_fd, &st) == -1 || !S_ISREG(st.st_mode))
		return 0;
	if (events_file_shared(&st))
		return wrong(r,
		    "--status-fd %d is a file that the payload has as a "
		    "standard descriptor, too; use another file, or a pipe",
		    r->o->status_fd);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", r->o->status_fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return wrong(r, "--status-fd: %s: %s", link, strerror(errno));
	path[n] = '\0';
	return keep(r, &r->o->status_file, path);
}

static int
read_descriptor(const struct reading *r, const char *s)
{
	char *end;
	int flags;
	long n;

	errno = 0;
	n = strtol(s, &end, 10);
	if (s[0] < '0' || s[0] > '9' || *end != '\0' || errno != 0 ||
	    n > INT_MAX || (flags = fcntl((int)n, F_GETFL)) == -1 ||
	    (flags & O_ACCMODE) == O_RDONLY || (flags & O_PATH) != 0)
		return wrong(r,
		    "--status-fd \"%s\" is not open for writing; open it in "
		    "the calling shell, e.g. carrel run --status-fd 3 ... "
		    "3>status",
		    s);
	r->o->status_fd = (int)n;
	return read_status_file(r);
}

static int
read_profile(const struct reading *r, const char *name)
{
	struct options *o = r->o;

	if (o->nselect >= SELECT_MAX)
		return wrong(r,
		    "more than %d profiles are named with -p; name one that "
		    "includes them",
		    SELECT_MAX);
	if (strlen(name) > VALUE_MAX_LEN)
		return wrong(r,
		    "a name given to -p is longer than %d bytes; the name of a "
		    "profile has 63 at most, see carrel profile list",
		    VALUE_MAX_LEN);
	return keep(r, &o->select[o->nselect++], name);
}

/* What --events tells more of then; "" names nothing. */
static int
read_uses(const struct reading *r, const char *path)
{
	struct options *o = r->o;

	if (path[0] != '\0' && !path_clean(path))
		return wrong(r,
		    "--uses \"%s\" is no absolute path without \".\", \"..\" "
		    "and \"//\"; name a place inside",
		    path);
	if (o->nuses >= NEEDS_MAX)
		return wrong(
		    r, "more than %d places are named with --uses", NEEDS_MAX);
	if (o->uses == NULL &&
	    (o->uses = calloc(NEEDS_MAX, sizeof(*o->uses))) == NULL)
		return wrong(r, "out of memory");
	return keep(r, &o->uses[o->nuses++], path);
}

/* A run has one. */
static int
read_pack(const struct reading *r, const char *file)
{
	if (r->o->pack != NULL)
		return wrong(r,
		    "-f is given twice, and a run has one pack; name profiles "
		    "of your own with -p");
	if (file[0] == '\0')
		return wrong(r, "-f needs the file of a pack: carrel run -f "
				"FILE -- COMMAND");
	return keep(r, &r->o->pack, file);
}

/* --run ID of why: one that has ended. */
static int
read_run(const struct reading *r, const char *id)
{
	if (r->o->command != COMMAND_WHY)
		return wrong(r,
		    "--run is of carrel violations and carrel why, which tell "
		    "of a run that has ended");
	return keep(r, &r->o->run, id);
}

/* A question about a run that has ended, which had its options. */
static int
is_of_past(const struct options *o)
{
	return o->run != NULL && o->nselect == 0 && o->pack == NULL &&
	       o->dir == NULL && !o->no_defaults;
}

/* -o: of learn alone. */
static int
read_output(const struct reading *r, const char *file)
{
	const char *slash = strrchr(file, '/');
	const char *last = slash == NULL ? file : slash + 1;

	if (!r->o->learn)
		return wrong(r,
		    "-o is of learn, which writes what it proposes to a new "
		    "file: carrel learn -o FILE -- COMMAND");
	if (last[0] == '\0' || strcmp(last, ".") == 0 ||
	    strcmp(last, "..") == 0 || strlen(file) >= PATH_MAX)
		return wrong(r, "-o \"%s\" is no name of a file", file);
	return keep(r, &r->o->output, file);
}

static int
read_option(const struct reading *r, int c, const char *word)
{
	struct options *o = r->o;

	switch (c) {
	case 'n':
		if (o->learn)
			return wrong(r,
			    "learn runs the command; to see what would be "
			    "done use: carrel run -n");
		if (o->command == COMMAND_RUN)
			o->command = COMMAND_EXPLAIN;
		return 0;
	case 'v':
		o->verbose = 1;
		return 0;
	case 'p':
		return read_profile(r, optarg);
	case 'C':
		return keep(r, &o->dir, optarg);
	case 'f':
		return read_pack(r, optarg);
	case 'o':
		return read_output(r, optarg);
	case OPT_NO_DEFAULTS:
		o->no_defaults = 1;
		return 0;
	case OPT_STATUS_FD:
		return read_descriptor(r, optarg);
	case OPT_EVENTS:
		return keep(r, &o->events, optarg);
	case OPT_USES:
		return read_uses(r, optarg);
	case OPT_REQUIRE_AUDIT:
		o->require_audit = 1;
		return 0;
	case OPT_WAIT_ALL:
		o->wait_all = 1;
		return 0;
	case OPT_ALLOW_PTRACE:
		o->allow_ptrace = 1;
		return 0;
	case OPT_WITHOUT_LANDLOCK:
		o->without_landlock = 1;
		return 0;
	case OPT_USER_MODE:
		o->user_mode = 1;
		return 0;
	case OPT_JSON:
		o->json = 1;
		return 0;
	case OPT_DIFF:
		o->diff = 1;
		return 0;
	case OPT_RUN:
		return read_run(r, optarg);
	case 'h':
		return say(r, usage_text);
	case OPT_VERSION:
		return say(r, version_text);
	case ':':
		return wrong(
		    r, "option \"%s\" needs a value; see carrel --help", word);
	default:
		return wrong(r,
		    "unknown option \"%s\"; see carrel --help. An option of "
		    "the command goes behind \"--\"",
		    word);
	}
}

/* The payload's arguments outlive the memory that start_scrub() clears. */
static int
read_payload(const struct reading *r, int n, char **v)
{
	int i;

	if (n == 0) {
		r->o->shell = 1;
		return 0;
	}
	if (r->o->shell)
		return wrong(
		    r, "shell takes no command; use: carrel run -- COMMAND");
	if (v[0][0] == '\0')
		return wrong(r, "the command is an empty word; is a variable "
				"in its place not set?");
	r->o->argv = calloc((size_t)n + 1, sizeof(*r->o->argv));
	if (r->o->argv == NULL)
		return wrong(r, "out of memory");
	for (i = 0; i < n; i++)
		if (keep(r, &r->o->argv[i], v[i]) == -1)
			return -1;
	return 0;
}

/* argv[0] is the command: violations [--json] [--run ID]. */
static int
read_violations(const struct reading *r, int argc, char **argv)
{
	static const struct option words[] = {{"json", no_argument, NULL, 'j'},
	    {"run", required_argument, NULL, 'r'},
	    {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
	int c;

	opterr = 0;
	optind = 0;
	while ((c = getopt_long(argc, argv, "+:h", words, NULL)) != -1) {
		if (c == 'h')
			return say(r, usage_text);
		if (c == 'j')
			r->o->json = 1;
		else if (c != 'r' || keep(r, &r->o->run, optarg) == -1)
			break;
	}
	if (c != -1 || optind != argc)
		return wrong(r,
		    "violations takes --json and --run ID, where ID is "
		    "the 32 digits of a run, and nothing else");
	return read_payload(r, 0, NULL);
}

/* What is installed; 1: a NAME is taken. */
static const struct {
	const char *verb;
	int name;
} screens[] = {{"list", 0}, {"show", 1}, {"tree", 0}, {"dot", 0}, {"config", 0},
    {NULL, 0}};

/* argv[0] is the verb of profile, or config: [--json] [NAME]. */
static int
read_screen(const struct reading *r, int argc, char **argv)
{
	static const struct option words[] = {{"json", no_argument, NULL, 'j'},
	    {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
	struct options *o = r->o;
	size_t i;
	int c;

	for (i = 0; strcmp(screens[i].verb, argv[0]) != 0; i++)
		;
	o->command = COMMAND_INSTALLED;
	o->verb = screens[i].verb;
	opterr = 0;
	optind = 0;
	while ((c = getopt_long(argc, argv, ":h", words, NULL)) != -1) {
		if (c == 'h')
			return say(r, usage_text);
		if (c != 'j' || strcmp(o->verb, "dot") == 0)
			break;
		o->json = 1;
	}
	if ((c != -1 || argc - optind != 0) && strcmp(o->verb, "dot") == 0)
		return wrong(r, "carrel profile dot takes nothing else");
	if (c != -1 || argc - optind != screens[i].name)
		return wrong(r, "carrel %s%s takes %s--json, and nothing else",
		    strcmp(o->verb, "config") == 0 ? "" : "profile ", o->verb,
		    screens[i].name ? "one NAME and " : "");
	return screens[i].name ? read_profile(r, argv[optind]) : 0;
}

/* argv[0] is the command: profile VERB [--strict] [-C DIR] NAME | -f PACK. */
static int
read_profile_verb(const struct reading *r, int argc, char **argv)
{
	static const char *const verbs[] = {"validate", "lint", "test", NULL};
	static const struct option words[] = {
	    {"strict", no_argument, NULL, 's'},
	    {"json", no_argument, NULL, 'j'},
	    {"pack", required_argument, NULL, 'f'},
	    {"directory", required_argument, NULL, 'C'},
	    {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
	int c = -1, i = 0, k = 0, bad = 0;

	if (argc > 1 &&
	    (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
		return say(r, usage_text);
	while (argc > 1 && verbs[i] != NULL && strcmp(verbs[i], argv[1]) != 0)
		i++;
	while (argc > 1 && screens[k].verb != NULL &&
	       strcmp(screens[k].verb, argv[1]) != 0)
		k++;
	/* config is a command of its own */
	if (argc > 1 && screens[k].verb != NULL &&
	    strcmp(argv[1], "config") != 0)
		return read_screen(r, argc - 1, argv + 1);
	if (argc < 2 || verbs[i] == NULL)
		return wrong(r,
		    "carrel profile \"%s\": it takes list, tree or dot, show "
		    "NAME, or validate, lint or test and then a NAME or -f "
		    "PACK",
		    argc < 2 ? "" : argv[1]);
	r->o->verb = verbs[i];
	opterr = 0;
	optind = 0;
	while (bad == 0 && (c = getopt_long(argc - 1, argv + 1, ":f:C:h", words,
				NULL)) != -1) {
		if (c == 'h')
			return say(r, usage_text);
		if (c == 'f')
			bad = read_pack(r, optarg);
		else if (c == 'j')
			r->o->json = 1;
		else if (c == 'C' && strcmp(verbs[i], "test") == 0)
			bad = keep(r, &r->o->dir, optarg);
		else if (c == 's' && strcmp(verbs[i], "lint") == 0)
			r->o->strict = 1;
		else
			break;
	}
	if (bad != 0)
		return bad;
	if (c != -1 || argc - 1 - optind != (r->o->pack == NULL))
		return wrong(r,
		    "carrel profile %s takes --json, %sone NAME or -f PACK, "
		    "and nothing else",
		    verbs[i],
		    strcmp(verbs[i], "lint") == 0   ? "--strict and "
		    : strcmp(verbs[i], "test") == 0 ? "-C DIR and "
						    : "");
	r->o->no_defaults = 1;
	if (r->o->pack == NULL && read_profile(r, argv[1 + optind]) == -1)
		return -1;
	return read_payload(r, 0, NULL);
}

static int
read_doctor(const struct reading *r, int argc, char **argv)
{
	if (argc == 2 &&
	    (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
		return say(r, usage_text);
	if (argc == 2 && strcmp(argv[1], "--version") == 0)
		return say(r, version_text);
	r->o->json = argc == 2 && strcmp(argv[1], "--json") == 0;
	if (argc > 1 + r->o->json)
		return wrong(r, "carrel doctor takes --json, and nothing else");
	return 0;
}

/* argv[0] is the command: import bwrap [--] WORD... | firejail FILE */
static int
read_import(const struct reading *r, int argc, char **argv)
{
	int n = argc > 2 && strcmp(argv[2], "--") == 0 ? 3 : 2;
	int firejail = argc > 1 && strcmp(argv[1], "firejail") == 0;

	if (argc > 1 &&
	    (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
		return say(r, usage_text);
	if (argc > 1 && !firejail && strcmp(argv[1], "bwrap") != 0)
		return wrong(r,
		    "\"%s\" cannot be imported: import takes bwrap, \"--\", "
		    "and its options, or firejail and a file",
		    argv[1]);
	if (firejail && argc - n != 1)
		return wrong(r,
		    "import firejail needs one file, a profile of firejail, "
		    "e.g. /etc/firejail/wget.profile");
	if (argc <= n)
		return wrong(r,
		    "import bwrap needs the options of a command line of "
		    "bubblewrap behind \"--\"");
	r->o->verb = firejail ? "firejail" : "bwrap";
	return read_payload(r, argc - n, argv + n);
}

/* What is asked about, behind the options of a run. */
static int
read_subject(const struct reading *r, int n, char **v)
{
	if (r->o->run != NULL && !is_of_past(r->o))
		return wrong(r,
		    "why --run is about a run that has ended: it takes --json "
		    "and a subject, and no option of a run to come");
	if (r->o->run != NULL && n == 0)
		return 0;
	if (n != 1 || v[0][0] == '\0' || strlen(v[0]) > PATH_MAX_LEN)
		return wrong(r,
		    "why takes one PATH, HOST, HOST:PORT or '$VARIABLE'; "
		    "options go in front of it");
	return keep(r, &r->o->subject, v[0]);
}

/* argv[0] is the command. */
static int
read_words(const struct reading *r, int argc, char **argv)
{
	int c, n;
	const char *word;

	if (r->o->command == COMMAND_VIOLATIONS)
		return read_violations(r, argc, argv);
	if (r->o->command == COMMAND_PROFILE)
		return read_profile_verb(r, argc, argv);
	if (r->o->command == COMMAND_IMPORT)
		return read_import(r, argc, argv);
	if (r->o->command == COMMAND_INSTALLED)
		return read_screen(r, argc, argv);
	if (r->o->command == COMMAND_DOCTOR)
		return read_doctor(r, argc, argv);
	opterr = 0;
	optind = 0; /* begin anew, getopt(3) */
	for (;;) {
		n = optind == 0 ? 1 : optind;
		word = n < argc ? argv[n] : "";
		c = getopt_long(
		    argc, argv, "+:nvp:C:f:o:h", long_options, NULL);
		if (c == -1)
			break;
		if ((n = read_option(r, c, word)) != 0)
			return n;
	}
	if (r->o->json && r->o->command != COMMAND_EXPLAIN &&
	    r->o->command != COMMAND_WHY && !r->o->learn)
		return wrong(r,
		    "--json is of the screens: carrel explain --json, carrel "
		    "run -n --json");
	if (r->o->nuses > 0 &&
	    (r->o->events == NULL || r->o->command != COMMAND_RUN))
		return wrong(r,
		    "--uses is of a run, and told in the file of --events: "
		    "carrel run --events FILE --uses PATH -- COMMAND");
	if (r->o->diff &&
	    (r->o->command != COMMAND_EXPLAIN || r->o->nselect == 0))
		return wrong(r,
		    "--diff is of explain, and needs the profiles whose change "
		    "it shows: carrel explain --diff -p NAME");
	if (r->o->command == COMMAND_WHY)
		return read_subject(r, argc - optind, argv + optind);
	return read_payload(r, argc - optind, argv + optind);
}

int
options_read(int argc, char **argv, struct options *o, const char **text,
    char *why, size_t len)
{
	struct reading r = {.o = o, .say = text, .why = why, .len = len};
	int n;

	memset(o, 0, sizeof(*o));
	o->status_fd = -1;
	o->select = calloc(SELECT_MAX, sizeof(*o->select));
	if (o->select == NULL)
		return wrong(&r, "out of memory");
	if (login_named(argv[0]))
		return login_options(argc, argv, o, text, why, len);
	if (argc < 2)
		return wrong(&r,
		    "what shall be done? Try: carrel run -- COMMAND, "
		    "carrel doctor, or carrel --help");
	if ((n = read_command(&r, argv[1])) != 0)
		return n;
	return read_words(&r, argc - 1, argv + 1);
}

void
options_free(struct options *o)
{
	size_t i;

	for (i = 0; i < o->nselect; i++)
		free(o->select[i]);
	for (i = 0; o->argv != NULL && o->argv[i] != NULL; i++)
		free(o->argv[i]);
	for (i = 0; i < o->nuses; i++)
		free(o->uses[i]);
	free(o->uses);
	free(o->select);
	free(o->argv);
	free(o->dir);
	free(o->pack);
	free(o->events);
	free(o->output);
	free(o->run);
	free(o->subject);
	free(o->status_file);
	free(o->login_shell);
	memset(o, 0, sizeof(*o));
}

char **
options_words(const struct options *o, char *shell)
{
	static char first[] = "-l", command[] = "-c";
	size_t i, n = 0;
	char **v;

	while (o->argv != NULL && o->argv[n] != NULL)
		n++;
	if ((v = calloc(n + 4, sizeof(*v))) == NULL)
		return NULL;
	n = 0;
	if (o->shell)
		v[n++] = shell;
	if ((o->login & OPTIONS_FIRST) != 0)
		v[n++] = first;
	if ((o->login & OPTIONS_COMMAND) != 0)
		v[n++] = command;
	for (i = 0; o->argv != NULL && o->argv[i] != NULL; i++)
		v[n++] = o->argv[i];
	return v;
}
