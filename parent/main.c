#include <errno.h>
#include <linux/keyctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "account.h"
#include "ask.h"
#include "confine.h"
#include "events.h"
#include "explain.h"
#include "helper.h"
#include "ipc/caller.h"
#include "ipc/cause.h"
#include "ipc/channel.h"
#include "ipc/log.h"
#include "monitor.h"
#include "options.h"
#include "outside.h"
#include "protect.h"
#include "setup.h"
#include "start.h"
#include "status.h"
#include "terminal.h"

#define RUN_BYTES 16 /* CARREL_RUN: 128 random bits */

/* Its possessor all, its user to find it and to look: keyctl_setperm(3). */
#define KEYRING_PERM 0x3f1b0000UL

/*
 * The life of the parent. Everything that could hold privilege is in the
 * set-up process; this one starts it beside the parser, and watches.
 */

static int
setup_refused(int err)
{
	char why[TEXT_MAX_LEN];

	cause_of(CAUSE_USERNS, err, why, sizeof(why));
	log_warn("new namespaces: %s%s%s", strerror(err),
	    why[0] != '\0' ? "; " : "", why);
	return EXIT_CARREL;
}

/* Ends the program after a usage error, or after --help and --version. */
static void
read_options(int argc, char **argv, struct options *o)
{
	const char *text = NULL;
	char why[TEXT_MAX_LEN];

	switch (options_read(argc, argv, o, &text, why, sizeof(why))) {
	case 0:
		return;
	case 1:
		if (fputs(text, stdout) == EOF || fflush(stdout) == EOF)
			fatal("standard output: %s", strerror(errno));
		exit(0);
	default:
		fatal("%s", why);
	}
}

/*
 * The payload shall not find the caller's keys through his session keyring
 * (session-keyring(7)). One empty keyring serves all runs of a user: each
 * run's own would count against the keys that he may have (200 by default),
 * and no payload may call keyctl(2) to put anything into it.
 */
static void
session_keyring(void)
{
	char why[TEXT_MAX_LEN];
	long key;
	int err;

	key = syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, "carrel, empty");
	if (key == -1 && errno != ENOSYS) {
		err = errno;
		fatal("a session keyring: %s; %s", strerror(err),
		    cause_of(CAUSE_KEYRING, err, why, sizeof(why)));
	}
	/* so that the next run finds it; it may be there for long already */
	if (key != -1)
		(void)syscall(SYS_keyctl, KEYCTL_SETPERM, key, KEYRING_PERM);
}

static void
no_privilege(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		fatal("no_new_privs: %s", strerror(errno));
}

static void
name_run(char hex[2 * RUN_BYTES + 1])
{
	unsigned char bits[RUN_BYTES];
	size_t i;

	if (getrandom(bits, sizeof(bits), 0) != (ssize_t)sizeof(bits))
		fatal("getrandom: %s", strerror(errno));
	for (i = 0; i < sizeof(bits); i++)
		snprintf(hex + 2 * i, 3, "%02x", bits[i]);
}

static int
run(const struct install *in, const struct options *o, const struct start *st,
    const struct caller *c, const struct asked *a)
{
	struct terminal terminal;
	struct outside outside;
	struct monitored w = {.options = o,
	    .install = in,
	    .outside = &outside,
	    .caller = c,
	    .start = st,
	    .terminal = &terminal,
	    .parser = a->pid};
	struct setup s = {.options = o,
	    .caller = c,
	    .start = st,
	    .parser = a->fd,
	    .deadline = a->deadline};
	char name[2 * RUN_BYTES + 1];
	int control[2];

	session_keyring();
	terminal_find(&terminal);
	name_run(name);
	events_open(o, st, c, terminal.fd, name);
	s.run = w.run = name;
	s.audited = events_audited();
	if (channel_pair(control) == -1 ||
	    outside_init(&outside, s.network) == -1)
		fatal("socketpair: %s", strerror(errno));
	s.terminal = terminal.mode;
	s.tty = terminal.fd;
	s.control = control[1];
	s.outside = control[0];
	s.serving[0] = outside.broker;
	s.serving[1] = outside.factory;
	w.setup = setup_start(&s);
	if (w.setup == -1)
		return setup_refused(errno);
	close(control[1]);
	close(s.network[0]);
	close(s.network[1]);
	close(s.parser);
	no_privilege();
	w.control = control[0];
	return monitor_run(&w);
}

int
main(int argc, char **argv, char **envp)
{
	struct install in;
	struct options o;
	struct asked a;
	struct caller c;
	struct start st;

	start_normalise(argc, argv, envp, &st);
	read_options(argc, argv, &o);
	if (caps_privileged())
		fatal("installed with privilege (setuid or capabilities), "
		      "which is not in this version of carrel; remove it, "
		      "e.g. chmod u-s, setcap -r");
	start_close(o.status_fd);
	status_open(o.status_fd);
	install_find(&in);
	if (o.command == COMMAND_DOCTOR)
		explain_doctor(&in);
	if (o.command == COMMAND_VIOLATIONS) {
		account_find(&st, &o, &c);
		explain_violations(&in, &o, account_state_dir(&st, &c));
	}
	if (o.command == COMMAND_RUN)
		monitor_block(); /* before there is a child to wait for */
	/* the parser starts up while this process finds out who calls */
	ask_start(&in, &a);
	account_find(&st, &o, &c);
	ask_send(&a, &in, &o, &st, &c);
	protect_find(&in, &st, &c);
	if (o.command == COMMAND_EXPLAIN)
		return explain_run(&in, &o, &st, &c, &a);
	return run(&in, &o, &st, &c, &a);
}
