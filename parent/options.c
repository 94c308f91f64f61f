#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#include "ipc/limits.h"
#include "ipc/log.h"
#include "options.h"

enum {
	OPT_NO_DEFAULTS = 256,
	OPT_STATUS_FD,
	OPT_WAIT_ALL,
	OPT_ALLOW_PTRACE,
	OPT_WITHOUT_LANDLOCK,
	OPT_VERSION,
	OPT_LATER
};

static const struct option long_options[] = {
    {"dry-run", no_argument, NULL, 'n'},
    {"verbose", no_argument, NULL, 'v'},
    {"profile", required_argument, NULL, 'p'},
    {"directory", required_argument, NULL, 'C'},
    {"help", no_argument, NULL, 'h'},
    {"no-defaults", no_argument, NULL, OPT_NO_DEFAULTS},
    {"status-fd", required_argument, NULL, OPT_STATUS_FD},
    {"wait-all", no_argument, NULL, OPT_WAIT_ALL},
    {"allow-ptrace", no_argument, NULL, OPT_ALLOW_PTRACE},
    {"without-landlock", no_argument, NULL, OPT_WITHOUT_LANDLOCK},
    {"version", no_argument, NULL, OPT_VERSION},
    /* known by name, so that the refusal can say so */
    {"events", required_argument, NULL, OPT_LATER},
    {"user-mode", no_argument, NULL, OPT_LATER},
    {"require-audit", no_argument, NULL, OPT_LATER},
    {"json", no_argument, NULL, OPT_LATER},
    {"diff", no_argument, NULL, OPT_LATER},
    {NULL, 0, NULL, 0},
};

static const char *const later_commands[] = {
    "profile", "config", "why", "violations", "learn", "import", NULL};

static const char usage_text[] =
    "usage: carrel run [-nv] [-p PROFILE]... [--no-defaults] [-C DIR]\n"
    "                  [--status-fd N] [--wait-all] [--allow-ptrace]\n"
    "                  [--without-landlock] [--] COMMAND [ARG...]\n"
    "       carrel shell   [the same, no COMMAND]   your shell, inside\n"
    "       carrel explain [the same] [COMMAND]     what run would do\n"
    "       carrel doctor                           can this host do it?\n"
    "       carrel --version | --help\n"
    "\n"
    "Runs COMMAND in a sandbox that starts from nothing. Profiles grant what\n"
    "is visible; without -p these are the defaults: @sys @home @target.\n"
    "  -p NAME            add a profile\n"
    "  --no-defaults      start without the default profiles\n"
    "  -C DIR             as if started in DIR; it is the target\n"
    "  -n                 print what would be done, as explain does\n"
    "  -v                 say more\n"
    "  --status-fd N      write how it started and ended to descriptor N\n"
    "  --wait-all         wait for everything that COMMAND leaves behind\n"
    "  --allow-ptrace     let the payload trace its own processes\n"
    "  --without-landlock run without the second wall around the files\n"
    "Exit: COMMAND's own code, 128+N for a signal, 127 not found inside,\n"
    "126 not executable, 125 carrel itself failed or refused.\n";

static void
say(const char *text)
{
	if (fputs(text, stdout) == EOF || fflush(stdout) == EOF)
		fatal("standard output: %s", strerror(errno));
	exit(0);
}

static const struct {
	const char *name;
	enum command command;
	int shell;
} commands[] = {
    {"run", COMMAND_RUN, 0},
    {"shell", COMMAND_RUN, 1},
    {"explain", COMMAND_EXPLAIN, 0},
    {"doctor", COMMAND_DOCTOR, 0},
};

static void
read_command(const char *name, struct options *o)
{
	size_t i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(name, commands[i].name) == 0) {
			o->command = commands[i].command;
			o->shell = commands[i].shell;
			return;
		}
	for (i = 0; later_commands[i] != NULL; i++)
		if (strcmp(name, later_commands[i]) == 0)
			fatal("\"%s\" is not in this version of carrel; "
			      "see carrel --help for what is",
			    name);
	if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
		say("carrel " CARREL_VERSION "\n");
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 ||
	    strcmp(name, "help") == 0)
		say(usage_text);
	fatal("unknown command \"%s\"; to run a program use: carrel run -- %s",
	    name, name);
}

static char *
keep(const char *s)
{
	char *p = strdup(s);

	if (p == NULL)
		fatal("out of memory");
	return p;
}

static int
descriptor(const char *s)
{
	char *end;
	int flags;
	long n;

	errno = 0;
	n = strtol(s, &end, 10);
	if (s[0] < '0' || s[0] > '9' || *end != '\0' || errno != 0 ||
	    n > INT_MAX || (flags = fcntl((int)n, F_GETFL)) == -1 ||
	    (flags & O_ACCMODE) == O_RDONLY || (flags & O_PATH) != 0)
		fatal("--status-fd \"%s\" is not open for writing; open it in "
		      "the calling shell, e.g. carrel run --status-fd 3 ... "
		      "3>status",
		    s);
	return (int)n;
}

/* Where a descriptor's file lies, or NULL if it is no regular file. */
static char *
regular_file(int fd)
{
	char link[32], path[PATH_MAX];
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode))
		return NULL;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		fatal("--status-fd: %s: %s", link, strerror(errno));
	path[n] = '\0';
	return keep(path);
}

static void
read_option(int c, const char *word, struct options *o)
{
	switch (c) {
	case 'n':
		o->command = COMMAND_EXPLAIN;
		break;
	case 'v':
		o->verbose = 1;
		break;
	case 'p':
		if (o->nselect >= SELECT_MAX)
			fatal("more than %d profiles are named with -p",
			    SELECT_MAX);
		if (strlen(optarg) > VALUE_MAX_LEN)
			fatal("a name given to -p is longer than %d bytes",
			    VALUE_MAX_LEN);
		o->select[o->nselect++] = keep(optarg);
		break;
	case 'C':
		o->dir = keep(optarg);
		break;
	case OPT_NO_DEFAULTS:
		o->no_defaults = 1;
		break;
	case OPT_STATUS_FD:
		o->status_fd = descriptor(optarg);
		o->status_file = regular_file(o->status_fd);
		break;
	case OPT_WAIT_ALL:
		o->wait_all = 1;
		break;
	case OPT_ALLOW_PTRACE:
		o->allow_ptrace = 1;
		break;
	case OPT_WITHOUT_LANDLOCK:
		o->without_landlock = 1;
		break;
	case 'h':
		say(usage_text);
		break;
	case OPT_VERSION:
		say("carrel " CARREL_VERSION "\n");
		break;
	case 'f':
	case OPT_LATER:
		fatal("option \"%s\" is not in this version of carrel; leave "
		      "it out",
		    word);
		break;
	case ':':
		fatal("option \"%s\" needs a value; see carrel --help", word);
		break;
	default:
		fatal("unknown option \"%s\"; see carrel --help. An option of "
		      "the command goes behind \"--\"",
		    word);
	}
}

/* The payload's arguments outlive the memory that start_scrub() clears. */
static char **
copy(int n, char **v)
{
	char **out = calloc((size_t)n + 1, sizeof(*out));
	int i;

	if (out == NULL)
		fatal("out of memory");
	for (i = 0; i < n; i++)
		out[i] = keep(v[i]);
	return out;
}

void
options_read(int argc, char **argv, struct options *o)
{
	const char *word;
	int c, doctor;

	memset(o, 0, sizeof(*o));
	o->status_fd = -1;
	o->select = calloc(SELECT_MAX, sizeof(*o->select));
	if (o->select == NULL)
		fatal("out of memory");
	word = strrchr(argv[0], '/');
	word = word == NULL ? argv[0] : word + 1;
	if (argv[0][0] == '-' || strcmp(word, "carrel-sh") == 0)
		fatal("use as a login shell is not in this version of carrel");
	if (argc < 2)
		fatal("what shall be done? Try: carrel run -- COMMAND, "
		      "carrel doctor, or carrel --help");
	read_command(argv[1], o);
	argc--;
	argv++;
	doctor = o->command == COMMAND_DOCTOR;
	opterr = 0;
	optind = 1;
	for (;;) {
		word = optind < argc ? argv[optind] : "";
		c = getopt_long(argc, argv, "+:nvp:C:f:h", long_options, NULL);
		if (c == -1)
			break;
		read_option(c, word, o);
	}
	if (doctor && argc > 1)
		fatal("doctor takes no arguments");
	if (optind < argc && o->shell)
		fatal("shell takes no command; use: carrel run -- COMMAND");
	if (optind < argc && argv[optind][0] == '\0')
		fatal("the command is an empty word");
	if (optind < argc)
		o->argv = copy(argc - optind, argv + optind);
	else
		o->shell = 1;
}
