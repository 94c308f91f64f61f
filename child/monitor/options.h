#ifndef CARREL_OPTIONS_H
#define CARREL_OPTIONS_H

#include <stddef.h>

enum command {
	COMMAND_RUN = 1,
	COMMAND_EXPLAIN,
	COMMAND_DOCTOR,
	COMMAND_VIOLATIONS,
	COMMAND_PROFILE,
	COMMAND_INSTALLED, /* profile list, show, tree and dot; and config */
	COMMAND_WHY,
	COMMAND_IMPORT,
	COMMAND_LAST = COMMAND_IMPORT
};

/* The command line. Strings and the lists point into copies of argv. */
struct options {
	enum command command;
	int shell; /* no COMMAND, or the verb shell: run the user's shell */
	int no_defaults, verbose, wait_all, allow_ptrace, without_landlock;
	int learn;     /* RUN: and propose what it wanted */
	char *output;  /* -o of learn, or NULL */
	int hosted;    /* not an option: installed with privilege */
	int user_mode; /* without the privilege that carrel is installed with */
	int require_audit; /* no run that the host's log does not see */
	char *events;	   /* --events FILE, or NULL */
	char **uses;	   /* --uses, in order; NULL: none */
	size_t nuses;
	int status_fd;	   /* -1: none */
	char *status_file; /* its path if it is a regular file, or NULL */
	const char *verb;  /* of profile, of import; "config" */
	int strict;	   /* profile lint */
	char *subject;	   /* why: what is asked about; or NULL */
	int diff;	   /* explain: what -p changes */
	int json;	   /* of a screen: for a program */
	char *run;	   /* violations, why: of one run, or NULL */
	char *dir;	   /* -C, or NULL */
	char *pack;	   /* -f, or NULL; see pack_place() */
	char **select;	   /* -p, in order */
	size_t nselect;
	/*
	 * The payload's, NULL-terminated; NULL if shell. Of carrel-sh what is
	 * behind -c, or NULL: options_words() says what runs.
	 */
	char **argv;
	unsigned login;	   /* OPTIONS_*: carrel-sh, and shell is set; or 0 */
	char *login_shell; /* of login.conf, or NULL */
};

#define OPTIONS_LOGIN	0x01
#define OPTIONS_FIRST	0x02 /* the first of a login: with -l */
#define OPTIONS_COMMAND 0x04 /* with -c, and argv */

/*
 * Reads the command line as getopt_long(3) does; options behind the first
 * operand belong to the payload. Copies what it keeps, to be freed in any
 * case. Returns 0; or 1 and in *say the text that --help or --version asks
 * for; or -1 and in why what is wrong, raw.
 */
int options_read(int argc, char **argv, struct options *, const char **say,
    char *why, size_t len);
void options_free(struct options *);

/*
 * The words of the payload, where the caller's shell is this one: a list of
 * its own, the words are borrowed. NULL without memory.
 */
char **options_words(const struct options *, char *shell);

#endif
