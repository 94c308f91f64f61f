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
#include "child/setup/confine.h"
#include "child/setup/pack.h"
#include "child/setup/protect.h"
#include "child/setup/setup.h"
#include "child/shared/cause.h"
#include "events.h"
#include "explain.h"
#include "helper.h"
#include "ipc/caller.h"
#include "ipc/channel.h"
#include "ipc/log.h"
#include "ipc/request.h"
#include "launch.h"
#include "monitor.h"
#include "options.h"
#include "outside.h"
#include "parent/start.h"
#include "status.h"
#include "terminal.h"

/* Its possessor all, its user to find it and to look: keyctl_setperm(3). */
#define KEYRING_PERM 0x3f1b0000UL

/*
 * The life of the process that the caller started, which has no privilege any
 * more: it starts the set-up beside the parser, and watches.
 */

static void __attribute__((noreturn)) setup_refused(int err)
{
	char why[TEXT_MAX_LEN];

	cause_of(CAUSE_USERNS, err, why, sizeof(why));
	log_warn("new namespaces: %s%s%s", strerror(err),
	    why[0] != '\0' ? "; " : "", why);
	exit(EXIT_CARREL);
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
name_run(char hex[MONITOR_RUN + 1])
{
	unsigned char bits[MONITOR_RUN / 2];
	size_t i;

	if (getrandom(bits, sizeof(bits), 0) != (ssize_t)sizeof(bits))
		fatal("getrandom: %s", strerror(errno));
	for (i = 0; i < sizeof(bits); i++)
		snprintf(hex + 2 * i, 3, "%02x", bits[i]);
}

/* Starts what builds the sandbox; it waits for the caller and the policy. */
static void
begin_run(const struct install *in, const struct options *o,
    const struct start *st, const struct asked *a, struct monitored *w)
{
	struct setup s = {.options = o,
	    .start = st,
	    .uid = getuid(),
	    .gid = getgid(),
	    .parser = a->fd,
	    .deadline = a->deadline};
	int control[2];

	session_keyring();
	outside_init(w->outside);
	terminal_find(w->terminal);
	name_run(w->run);
	events_open(o, s.uid, w->terminal->fd, w->run);
	s.run = w->run;
	s.audited = events_audited();
	if (channel_pair(control) == -1)
		fatal("socketpair: %s", strerror(errno));
	s.terminal = w->terminal->mode;
	s.tty = w->terminal->fd;
	s.control = control[1];
	s.outside[0] = control[0];
	s.outside[1] = a->peer;
	w->install = in;
	w->options = o;
	w->start = st;
	w->control = control[0];
	w->setup = setup_start(&s);
	if (w->setup == -1)
		setup_refused(errno);
	close(control[1]);
}

static void
tell(const struct monitored *w, const struct caller *c, const struct asked *a)
{
	/* it has ended: what it said of that is still to be read */
	if (setup_tell(w->control, c, a->deadline) == -1 && errno != EPIPE)
		fatal("cannot tell the set-up who calls: %s", strerror(errno));
}

static int
run(struct monitored *w, const struct caller *c, const struct asked *a)
{
	events_know(w->start, c);
	w->caller = c;
	w->parser = a->pid;
	close(a->fd);
	no_privilege();
	return monitor_run(w);
}

int
launch(int argc, char **argv, const struct start *st)
{
	struct install in;
	struct options o;
	struct asked a;
	struct caller c;
	struct terminal terminal;
	struct outside outside;
	struct monitored w = {.terminal = &terminal, .outside = &outside};

	read_options(argc, argv, &o);
	if (caps_privileged())
		fatal("installed with privilege (setuid or capabilities), "
		      "which is not in this version of carrel; remove it, "
		      "e.g. chmod u-s, setcap -r");
	start_close(o.status_fd);
	/* explain starts nothing, and so tells of no run */
	status_open(o.command == COMMAND_RUN ? o.status_fd : -1);
	install_find(&in);
	pack_place(&o);
	if (o.command == COMMAND_DOCTOR)
		explain_doctor(&in, &o, st);
	if (o.command == COMMAND_IMPORT)
		explain_import(&in, &o);
	if (o.command == COMMAND_VIOLATIONS) {
		account_find(st, &o, &c);
		explain_violations(&in, &o, account_state_dir(st, &c));
	}
	if (o.command == COMMAND_RUN)
		monitor_block(); /* before there is a child to wait for */
	/*
	 * The set-up makes its namespaces while this process finds out who
	 * calls. Then the parser works beside it, and this process is in
	 * nobody's way: each finds what it needs in its socket.
	 */
	ask_open(&a);
	if (o.command == COMMAND_INSTALLED)
		a.flags = REQUEST_CATALOGUE;
	if (o.command == COMMAND_RUN)
		begin_run(&in, &o, st, &a, &w);
	account_find(st, &o, &c);
	ask_send(&a, &in, &o, st, &c);
	if (o.command == COMMAND_PROFILE || o.command == COMMAND_INSTALLED) {
		ask_start(&in, &a);
		if (o.command == COMMAND_INSTALLED)
			explain_catalogue(&in, &o, st, &a);
		explain_profile(&in, &o, st, &c, &a);
	}
	protect_find(&in, st, o.pack, &c);
	if (o.command == COMMAND_RUN)
		tell(&w, &c, &a);
	ask_start(&in, &a);
	if (o.command == COMMAND_EXPLAIN || o.command == COMMAND_WHY)
		return explain_run(&in, &o, st, &c, &a);
	return run(&w, &c, &a);
}
