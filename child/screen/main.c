#include <sys/prctl.h>
#include <sys/resource.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ipc/log.h"
#include "doctor.h"
#include "explain.h"
#include "import.h"
#include "installed.h"
#include "learn.h"
#include "profile.h"
#include "violations.h"
#include "why.h"

#define CHANNEL_FD 3
#define SECOND_FD  4

/*
 * carrel-screen: talks to a person. It is executed without privilege and
 * with an empty environment, and makes sure that it stays so.
 */
static void
enter(int runs)
{
	struct rlimit core = {0, 0};

	if (getuid() != geteuid() || getgid() != getegid())
		fatal("carrel-screen must not be set-user-id");
	/* what runs carrel again leaves it what it may be installed with */
	if (setrlimit(RLIMIT_CORE, &core) == -1 ||
	    (!runs && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1))
		fatal("carrel-screen cannot give up what it could gain");
}

/*
 * Of a run that has ended: VERB DIR RUN PID FORM SUBJECT. PID is carrel-parse,
 * which says what is installed.
 */
static int
past(char *const *v)
{
	int json = strcmp(v[4], "json") == 0;
	struct catalogue c;
	int r;

	installed_receive(CHANNEL_FD, (pid_t)strtol(v[3], NULL, 10), &c);
	if (strcmp(v[0], "why") == 0)
		r = why_past(v[1], json, v[2], v[5], &c);
	else
		r = violations_one(v[1], json, v[2], &c);
	catalogue_free(&c);
	return r;
}

/* There is a file for it if it has a name. */
static int
learn(char *const *v)
{
	const struct learn_place place = {v[1], v[2], v[3]};

	return learn_run(CHANNEL_FD, strcmp(v[0], "json") == 0, &place,
	    v[4][0] != '\0' ? SECOND_FD : -1, v[4]);
}

int
main(int argc, char *argv[])
{
	enter(argc > 2 && strcmp(argv[1], "profile") == 0 &&
	      strcmp(argv[2], "test") == 0);
	if (argc == 3 && strcmp(argv[1], "explain") == 0)
		return explain_run(CHANNEL_FD, strcmp(argv[2], "json") == 0);
	if (argc > 3 && strcmp(argv[1], "import") == 0)
		return strcmp(argv[2], "firejail") == 0
			   ? import_firejail(argv[3])
			   : import_bwrap(argv + 3);
	if (argc == 3 && strcmp(argv[1], "diff") == 0)
		return explain_diff(
		    CHANNEL_FD, SECOND_FD, strcmp(argv[2], "json") == 0);
	if (argc == 4 && strcmp(argv[1], "why") == 0)
		return why_run(CHANNEL_FD, SECOND_FD,
		    strcmp(argv[2], "json") == 0, argv[3]);
	if (argc == 8 && strcmp(argv[1], "catalogue") == 0)
		return installed_run(argv + 2, CHANNEL_FD);
	if (argc == 4 && strcmp(argv[1], "doctor") == 0)
		return doctor_run(argv[2], argv[3]);
	if (argc == 4 && strcmp(argv[1], "violations") == 0)
		return violations_run(argv[2], strcmp(argv[3], "json") == 0);
	if (argc == 8 && strcmp(argv[1], "past") == 0)
		return past(argv + 2);
	if (argc == 7 && strcmp(argv[1], "learn") == 0)
		return learn(argv + 2);
	if (argc > 2 && strcmp(argv[1], "profile") == 0)
		return profile_run(argc - 2, argv + 2, CHANNEL_FD);
	fatal("carrel-screen is started by carrel");
}
