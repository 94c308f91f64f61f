#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "account.h"
#include "ask.h"
#include "ceiling.h"
#include "child/setup/confine.h"
#include "child/setup/keyring.h"
#include "child/setup/pack.h"
#include "child/setup/protect.h"
#include "child/setup/setup.h"
#include "child/shared/cause.h"
#include "events.h"
#include "explain.h"
#include "helper.h"
#include "child/shared/caller.h"
#include "ipc/channel.h"
#include "ipc/log.h"
#include "child/shared/request.h"
#include "launch.h"
#include "learn.h"
#include "login.h"
#include "monitor.h"
#include "options.h"
#include "outside.h"
#include "patience.h"
#include "parent/start.h"
#include "status.h"
#include "terminal.h"

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

static void
session_keyring(void)
{
	char why[TEXT_MAX_LEN];
	int err;

	if (keyring_join() == 0)
		return;
	err = errno;
	fatal("a session keyring: %s; %s", strerror(err),
	    cause_of(CAUSE_KEYRING, err, why, sizeof(why)));
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

/* The payload's words are the last ones of this program's. */
static int
count(char **argv)
{
	int n = 0;

	while (argv != NULL && argv[n] != NULL)
		n++;
	return n;
}

/* Starts what builds the sandbox; it waits for the caller and the policy. */
static void
begin_run(const struct install *in, const struct options *o,
    const struct start *st, int server, const struct asked *a,
    const struct asked *ce, struct monitored *w)
{
	struct setup s = {.options = o,
	    .start = st,
	    .uid = getuid(),
	    .gid = getgid(),
	    .parser = a->fd,
	    .ceiling = ce->fd,
	    .deadline = a->deadline};
	int control[2], r;

	session_keyring();
	outside_init(w->outside);
	terminal_find(w->terminal);
	name_run(w->run);
	events_open(o, s.uid, w->terminal->fd, w->run, server);
	learn_open(o);
	s.run = w->run;
	s.audited = events_audited();
	if (channel_pair(control) == -1)
		fatal("socketpair: %s", strerror(errno));
	s.terminal = w->terminal->mode;
	s.tty = w->terminal->fd;
	s.control = control[1];
	s.outside[0] = control[0];
	s.outside[1] = a->peer;
	s.outside[2] = ce->peer;
	w->install = in;
	w->options = o;
	w->start = st;
	w->control = control[0];
	s.files[SETUP_STATUS] = o->status_file;
	s.files[SETUP_EVENTS] = events_path(0);
	s.files[SETUP_EVENTS_NAMED] = events_path(1);
	r = server != -1 ? setup_ask(&s, server, count(o->argv), &w->setup)
			 : setup_start(&s, &w->setup);
	if (r == -1 && server != -1 && errno == ENOTCONN)
		fatal("hosted mode writes to the host's log, and there is "
		      "none (/dev/log, /dev/kmsg): have it started, or run "
		      "with --user-mode");
	if (r == -1)
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
run(struct monitored *w, const struct caller *c, const struct asked *a,
    const struct asked *ce)
{
	events_know(w->start, c);
	w->caller = c;
	w->parser = a->pid;
	w->ceiling = ce->pid;
	close(a->fd);
	if (ce->fd != -1)
		close(ce->fd);
	no_privilege();
	patience_end(); /* the monitor waits for nothing but its poll(2) */
	return monitor_run(w);
}

/*
 * The server is only for runs: the rest needs none of its privileges. It ends
 * when nobody can ask it any more.
 */
static void
dismiss(int *server, pid_t pid)
{
	if (*server == -1)
		return;
	close(*server);
	*server = -1;
	while (waitpid(pid, NULL, 0) == -1 && errno == EINTR)
		;
}

int
launch(int argc, char **argv, const struct start *st, int server, pid_t pid)
{
	struct install in;
	struct options o;
	struct asked a, ce = {.pid = -1, .fd = -1, .peer = -1};
	struct caller c;
	struct terminal terminal;
	struct outside outside;
	struct monitored w = {.terminal = &terminal, .outside = &outside};
	int file = -1;

	read_options(argc, argv, &o);
	start_close(o.status_fd, server);
	o.hosted = server != -1 && !o.user_mode;
	if (o.command != COMMAND_RUN || o.user_mode)
		dismiss(&server, pid);
	if (o.user_mode && prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == -1)
		fatal("set dumpable: %s", strerror(errno));
	/* explain starts nothing, and so tells of no run */
	status_open(o.command == COMMAND_RUN ? o.status_fd : -1);
	install_find(&in);
	pack_place(&o);
	if (o.login != 0)
		login_find(&in, st, server, &o);
	if (o.command != COMMAND_RUN && o.command != COMMAND_IMPORT)
		patience_begin(o.command == COMMAND_DOCTOR ? PATIENCE_DOCTOR
							   : PATIENCE_CALLER);
	if (o.command == COMMAND_DOCTOR)
		explain_doctor(&in);
	if (o.command == COMMAND_IMPORT)
		explain_import(&in, &o);
	if (o.command == COMMAND_VIOLATIONS && o.run == NULL) {
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
	if (o.command == COMMAND_INSTALLED || o.run != NULL)
		a.flags = REQUEST_CATALOGUE;
	else if (o.command != COMMAND_PROFILE && (file = ceiling_open()) != -1)
		ask_open(&ce);
	if (o.command == COMMAND_RUN)
		w.setup.child = pid;
	if (o.command == COMMAND_RUN)
		begin_run(&in, &o, st, server, &a, &ce, &w);
	/* after that, for pid 1 would hold it open */
	if (o.command == COMMAND_RUN)
		patience_begin(PATIENCE_CALLER);
	account_find(st, &o, &c);
	ask_send(&a, &in, &o, st, &c);
	patience_next(PATIENCE_PROFILES);
	if (o.command == COMMAND_PROFILE || o.command == COMMAND_INSTALLED ||
	    o.run != NULL) {
		ask_start(&in, &a);
		if (o.run != NULL)
			explain_past(&in, &o, account_state_dir(st, &c), &a);
		if (o.command == COMMAND_INSTALLED)
			explain_catalogue(&in, &o, st, &a);
		explain_profile(&in, &o, st, &c, &a);
	}
	protect_find(&in, st, o.pack, &c);
	if (o.login != 0)
		protect_login(&c);
	if (o.command == COMMAND_RUN)
		tell(&w, &c, &a);
	ask_start(&in, &a);
	if (file != -1)
		ceiling_ask(&ce, &in, &o, &c, file);
	if (o.command == COMMAND_EXPLAIN || o.command == COMMAND_WHY)
		return explain_run(&in, &o, st, &c, &a, &ce);
	return run(&w, &c, &a, &ce);
}
