#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "login.h"
#include "options.h"

#define NAME "carrel-sh"

static const char version_text[] = NAME " " CARREL_VERSION "\n";

static const char usage_text[] =
    "usage: " NAME " [-il] [-c COMMAND [NAME [ARG...]]]\n"
    "       " NAME " --version | --help\n"
    "\n"
    "The login shell of an account that lives in a sandbox: what it sees is\n"
    "in " CARREL_SYSCONFDIR "/login.conf. It starts the shell named there.\n"
    "  -c COMMAND   have the shell run COMMAND\n"
    "  -l           as the first one of a login; so does a name with \"-\"\n"
    "  -i           taken, and of no meaning\n";

int
login_named(const char *argv0)
{
	const char *base = strrchr(argv0, '/');

	return argv0[0] == '-' ||
	       strcmp(base == NULL ? argv0 : base + 1, NAME) == 0;
}

static int __attribute__((format(printf, 3, 4)))
wrong(char *why, size_t len, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, len, fmt, ap);
	va_end(ap);
	return -1;
}

/* "-lc" and the like: which of l and c are in it; -1 if anything else is. */
static int
cluster(const char *word)
{
	int flags = 0;

	if (word[0] != '-' || word[1] == '\0')
		return -1;
	if (strcmp(word, "--login") == 0)
		return OPTIONS_FIRST;
	for (word++; *word != '\0'; word++) {
		if (*word == 'c')
			flags |= OPTIONS_COMMAND;
		else if (*word == 'l')
			flags |= OPTIONS_FIRST;
		else if (*word != 'i')
			return -1;
	}
	return flags;
}

/* The words behind -c: its argument, and what the shell makes $0, $1... of. */
static int
take_command(int n, char **v, struct options *o, char *why, size_t len)
{
	int i;

	if (n == 0)
		return wrong(
		    why, len, "-c needs a COMMAND; see " NAME " --help");
	o->argv = calloc((size_t)n + 1, sizeof(*o->argv));
	for (i = 0; o->argv != NULL && i < n; i++)
		if ((o->argv[i] = strdup(v[i])) == NULL)
			break;
	return i == n ? 0 : wrong(why, len, "out of memory");
}

int
login_options(int argc, char **argv, struct options *o, const char **say,
    char *why, size_t len)
{
	int i, flags;

	o->command = COMMAND_RUN;
	o->shell = 1;
	o->no_defaults = 1;
	o->login = OPTIONS_LOGIN;
	if (argv[0][0] == '-')
		o->login |= OPTIONS_FIRST;
	for (i = 1; i < argc && (o->login & OPTIONS_COMMAND) == 0; i++) {
		if (strcmp(argv[i], "--version") == 0 ||
		    strcmp(argv[i], "--help") == 0) {
			*say = argv[i][2] == 'v' ? version_text : usage_text;
			return 1;
		}
		if ((flags = cluster(argv[i])) == -1)
			return wrong(why, len,
			    "%s \"%s\" is not for a login shell of carrel; it "
			    "takes -c COMMAND, -l and -i",
			    argv[i][0] == '-' ? "option" : "the word", argv[i]);
		o->login |= flags;
	}
	if ((o->login & OPTIONS_COMMAND) != 0)
		return take_command(argc - i, argv + i, o, why, len);
	return 0;
}
