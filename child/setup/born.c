#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child/monitor/options.h"
#include "child/shared/caller.h"
#include "ipc/limits.h"
#include "keyring.h"
#include "parent/hosted.h"
#include "server.h"
#include "setup.h"
#include "setup_parts.h"

/*
 * The set-up of hosted mode is a child of the server and not of the launcher,
 * so what it would have found in its memory is told.
 */

/* What a new process of the server is told; descriptors come beside it. */
struct told {
	int32_t terminal, has_tty, has_ceiling, audited, nargs;
	int32_t shell, login, verbose, wait_all, allow_ptrace, without_landlock;
	int32_t learn, uses;
	int32_t require_audit;
	int64_t deadline;
	char run[64];
	char files[SETUP_FILES][PATH_MAX_LEN + 1]; /* "": none */
};
_Static_assert(sizeof(struct told) <= OP_TOLD_MAX, "it has to fit");

static int
copy(char *dst, size_t cap, const char *src)
{
	size_t n = src != NULL ? strlen(src) + 1 : 1;

	if (n > cap) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(dst, src != NULL ? src : "", n);
	return 0;
}

int
setup_ask(
    const struct setup *s, int server, int nargs, struct setup_process *out)
{
	const struct options *o = s->options;
	struct told *t = calloc(1, sizeof(*t));
	int fds[PASS_FDS] = {s->control, s->parser}, got[PASS_FDS];
	struct born b;
	size_t i, n, nfds = 2;
	int r;

	if (t == NULL)
		return -1;
	t->terminal = (int32_t)s->terminal;
	if ((t->has_tty = s->tty != -1))
		fds[nfds++] = s->tty;
	if ((t->has_ceiling = s->ceiling != -1))
		fds[nfds++] = s->ceiling;
	t->audited = s->audited;
	t->nargs = nargs;
	t->shell = o->shell;
	t->login = (int32_t)o->login;
	t->verbose = o->verbose;
	t->wait_all = o->wait_all;
	t->allow_ptrace = o->allow_ptrace;
	t->learn = o->learn;
	t->without_landlock = o->without_landlock;
	t->uses = o->nuses > 0;
	t->require_audit = o->require_audit;
	t->deadline = s->deadline;
	r = copy(t->run, sizeof(t->run), s->run);
	for (i = 0; r == 0 && i < SETUP_FILES; i++)
		r = copy(t->files[i], sizeof(t->files[i]), s->files[i]);
	if (r == 0)
		r = pass_send(server, t, sizeof(*t), fds, nfds);
	free(t);
	if (r == -1)
		return -1;
	n = 0;
	if (pass_receive(server, &b, sizeof(b), got, &n) != sizeof(b))
		b.err = EPIPE;
	if (b.err == 0 && n == 1) {
		out->inside = b.pid;
		out->pidfd = got[0];
		out->server = server;
		return 0;
	}
	while (n > 0)
		close(got[--n]);
	errno = b.err != 0 ? b.err : EBADMSG;
	return -1;
}

/* Copies: start_scrub() overwrites those of the kernel. Or ends. */
static char **
words(char **argv, int n)
{
	char **w = calloc((size_t)n + 1, sizeof(*w));
	int i;

	for (i = 0; w != NULL && i < n; i++)
		if ((w[i] = strdup(argv[i])) == NULL)
			_exit(1);
	if (w == NULL)
		_exit(1);
	return w;
}

void
setup_born(const void *told, size_t len, const int *fds, size_t nfds,
    int client, int argc, char **argv, const struct start *st)
{
	static struct options o;
	static struct setup s;
	struct caller caller;
	struct told t;
	size_t i;

	if (len != sizeof(t))
		_exit(1);
	memcpy(&t, told, sizeof(t));
	if (nfds != 2U + (t.has_tty != 0) + (t.has_ceiling != 0) ||
	    t.nargs < 0 || t.nargs >= argc)
		_exit(1);
	server_use(client);
	o.shell = t.shell;
	o.login = (unsigned)t.login;
	o.verbose = t.verbose;
	o.wait_all = t.wait_all;
	o.allow_ptrace = t.allow_ptrace;
	o.without_landlock = t.without_landlock;
	o.learn = t.learn;
	o.nuses = t.uses != 0; /* only whether there are any */
	o.require_audit = t.require_audit;
	o.argv = t.shell && t.login == 0
		     ? NULL
		     : words(argv + argc - t.nargs, t.nargs);
	s.options = &o;
	s.start = st;
	s.uid = getuid();
	s.gid = getgid();
	s.caller = &caller;
	s.terminal = (enum terminal_mode)t.terminal;
	s.control = fds[0];
	s.parser = fds[1];
	s.tty = t.has_tty ? fds[2] : -1;
	s.ceiling = t.has_ceiling ? fds[nfds - 1] : -1;
	s.deadline = t.deadline;
	s.audited = t.audited;
	s.run = strdup(t.run);
	for (i = 0; i < sizeof(s.outside) / sizeof(s.outside[0]); i++)
		s.outside[i] = -1;
	for (i = 0; i < SETUP_FILES; i++)
		if (t.files[i][0] != '\0')
			s.files[i] = strdup(t.files[i]);
	if (s.run == NULL || keyring_join() == -1)
		_exit(1);
	setup_main(&s, &caller);
}
