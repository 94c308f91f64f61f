#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "account.h"
#include "ask.h"
#include "audit.h"
#include "child/shared/login.h"
#include "child/shared/request.h"
#include "config.h"
#include "child/shared/caller.h"
#include "ipc/channel.h"
#include "ipc/limits.h"
#include "ipc/log.h"
#include "ipc/text.h"
#include "login.h"
#include "options.h"
#include "parent/start.h"

#define LOGIN_CONF CARREL_SYSCONFDIR "/login.conf"
#define WAIT_MS	   500 /* for the log, once */

/*
 * The message, and a record of it: a login that is refused is what somebody
 * will ask the administrator about. There is no run yet that could tell.
 */
static void __attribute__((noreturn)) refuse(const struct options *o,
    const struct caller *c, int server, const char *why)
{
	char **words = options_words(o, NULL);
	struct audit_line l;
	struct audit a;

	if (audit_open(&a, server) == 0) {
		audit_begin(&l, AUDIT_WARNING, "refused");
		audit_text(&l, "mode", "login");
		audit_text(&l, "user", c->user);
		audit_number(&l, "uid", c->uid);
		audit_number(&l, "code", EXIT_CARREL);
		audit_text(&l, "reason", why);
		/* without the shell, which nothing has named */
		audit_words(&l, "command", words == NULL ? NULL : words + 1);
		(void)audit_send(&a, &l, WAIT_MS);
		audit_close(&a);
	}
	free(words);
	fatal("login of %s: %s", c->user, why);
}

/* Nothing that names a place of the user's is asked from here on. */
static void
forget_places(const struct start *st)
{
	char **from = st->env, **to = st->env;

	for (; *from != NULL; from++)
		if (strncmp(*from, "HOME=", 5) != 0 &&
		    strncmp(*from, "XDG_", 4) != 0)
			*to++ = *from;
	*to = NULL;
}

/* What the parser of login.conf says, or in why what became of it. */
static int
hear(const struct asked *a, struct login *l, char *why, size_t len)
{
	struct receiver r;
	int err = 0, status;

	if (receiver_init(&r, a->fd, a->deadline, record_login) == -1) {
		text_add(why, len, "out of memory");
		return -1;
	}
	if (login_receive(&r, l) == -1)
		err = errno;
	receiver_free(&r);
	close(a->fd);
	if (ask_wait(a, &status) == -1)
		err = errno;
	else if (status != 0) {
		ask_ended(status, why, len);
		err = -1;
	}
	if (err > 0)
		ask_broken(err, why, len);
	if (err != 0)
		login_free(l);
	return err == 0 ? 0 : -1;
}

/* Into the options: what is run is what login.conf says, and nothing else. */
static void
take(struct options *o, struct login *l)
{
	size_t i;

	for (i = 0; i < l->nprofiles; i++)
		o->select[i] = l->profiles[i];
	o->nselect = l->nprofiles;
	o->login_shell = l->shell;
	free(l->profiles); /* the names are the options' */
	l->profiles = NULL;
	l->nprofiles = 0;
	l->shell = NULL;
	login_free(l);
}

void
login_find(const struct install *in, const struct start *st, int server,
    struct options *o)
{
	char why[TEXT_MAX_LEN] = "";
	struct caller c;
	struct asked a;
	struct login l;

	forget_places(st);
	account_find(st, o, &c);
	if (c.uid == 0)
		refuse(o, &c, server,
		    "root cannot be confined by carrel-sh; give root "
		    "another shell: chsh -s /bin/bash root");
	if (server == -1)
		refuse(o, &c, server,
		    "carrel-sh needs hosted mode: as root install "
		    "carrel setuid root (chmod u+s, or "
		    "dpkg-reconfigure carrel)");
	if ((c.flags & CALLER_NO_ACCOUNT) != 0)
		refuse(o, &c, server, "the account has no row in /etc/passwd");
	ask_open(&a);
	a.flags = REQUEST_LOGIN;
	a.file = open(LOGIN_CONF,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (a.file == -1) {
		text_add(why, sizeof(why),
		    LOGIN_CONF ": %s; have root write "
			       "it, see carrel.conf(5)",
		    strerror(errno));
		refuse(o, &c, server, why);
	}
	ask_send(&a, in, o, st, &c);
	ask_start(in, &a);
	close(a.file);
	memset(&l, 0, sizeof(l));
	if (hear(&a, &l, why, sizeof(why)) == -1)
		refuse(o, &c, server, why);
	if (l.what[0] != '\0') {
		text_add(why, sizeof(why), LOGIN_CONF ":%u: %s%s%s", l.line,
		    l.what, l.fix[0] != '\0' ? "; " : "", l.fix);
		refuse(o, &c, server, why);
	}
	take(o, &l);
	caller_free(&c);
}
