#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "account.h"
#include "ask.h"
#include "config.h"
#include "helper.h"
#include "ipc/channel.h"
#include "ipc/log.h"
#include "ipc/pack.h"
#include "child/shared/request.h"
#include "options.h"

#define PARSER	     "carrel-parse"
#define SELECT_EARLY 8 /* a request that a socket holds without a reader */

static char *
join(const char *dir, const char *name)
{
	char *p;

	if (asprintf(&p, "%s/%s", dir, name) == -1)
		fatal("out of memory");
	if (strlen(p) > PATH_MAX_LEN)
		fatal("the path of your profiles is longer than %d bytes; use "
		      "a shorter HOME or XDG_CONFIG_HOME",
		    PATH_MAX_LEN);
	return p;
}

/* Of a login nothing that a user may have written is read. */
static char *
own(const struct options *o, const char *config, const char *name)
{
	return o->login != 0 ? strdup("") : join(config, name);
}

void
ask_tell(const struct asked *a, const struct request *q)
{
	struct sender s;
	char why[TEXT_MAX_LEN];
	int err, status;

	if (sender_init(&s, a->fd, a->deadline) == -1)
		fatal("out of memory");
	if (request_send(&s, q) == -1) {
		err = errno;
		if (a->pid == -1)
			fatal("cannot ask " PARSER ": %s", strerror(err));
		if (err != EPIPE || ask_wait(a, &status) == -1)
			(void)kill(a->pid, SIGKILL);
		else if (status != 0)
			fatal("%s", ask_ended(status, why, sizeof(why)));
		if (err != EPIPE && err != ETIMEDOUT)
			fatal("cannot ask " PARSER ": %s", strerror(err));
		fatal("%s", ask_broken(err, why, sizeof(why)));
	}
	sender_free(&s);
}

void
ask_open(struct asked *a)
{
	int pair[2];

	if (channel_pair(pair) == -1)
		fatal("socketpair: %s", strerror(errno));
	a->deadline = channel_deadline(PARSER_SECONDS);
	a->pid = -1;
	a->flags = 0;
	a->file = -1;
	a->fd = pair[0];
	a->peer = pair[1];
}

void
ask_start(const struct install *in, struct asked *a)
{
	char *argv[] = {(char[]){PARSER}, NULL};

	if (a->pid != -1)
		return;
	a->pid = helper_start(in, PARSER, argv, a->peer, a->file);
	close(a->peer);
	a->peer = -1;
}

/* Of a profile itself nothing depends on where that is asked. */
static void
describe(const struct options *o, struct request *q)
{
	static char dir[] = PACK_DIR "/target"; /* its parent is no root */

	q->flags |= REQUEST_DESCRIBE;
	if (strcmp(o->verb, "test") == 0)
		return;
	q->caller.target = dir;
	q->caller.flags &= ~(uint32_t)CALLER_IMPLIED;
}

void
ask_send(struct asked *a, const struct install *in, const struct options *o,
    const struct start *st, const struct caller *c)
{
	char *config = account_config_dir(st, c);
	struct request q;

	if (o->nselect > SELECT_EARLY)
		ask_start(in, a);
	memset(&q, 0, sizeof(q));
	q.flags = a->flags | (o->no_defaults ? REQUEST_NO_DEFAULTS : 0) |
		  (o->without_landlock ? REQUEST_WITHOUT_LANDLOCK : 0);
	q.shipped = (char *)in->shipped; /* borrowed, as select and caller */
	q.host = join(CARREL_SYSCONFDIR, "profiles.d");
	q.host_config = join(CARREL_SYSCONFDIR, "carrel.conf");
	q.user = own(o, config, "profiles.d");
	q.user_config = own(o, config, "config");
	q.pack = o->pack; /* NULL: none */
	q.select = o->select;
	q.nselect = o->nselect;
	q.caller = *c;
	if (o->command == COMMAND_PROFILE)
		describe(o, &q);
	ask_tell(a, &q);
	free(q.host);
	free(q.host_config);
	free(q.user);
	free(q.user_config);
	free(config);
}

int
ask_wait(const struct asked *a, int *status)
{
	struct pollfd p = {.events = POLLIN};
	int n;

	/* pidfd_open(2): readable when the process has ended */
	if ((p.fd = (int)syscall(SYS_pidfd_open, a->pid, 0)) == -1)
		return -1;
	do
		n = poll(&p, 1, channel_left(a->deadline));
	while (n == -1 && errno == EINTR);
	close(p.fd);
	if (n == 0)
		errno = ETIMEDOUT;
	return n == 1 && waitpid(a->pid, status, 0) == a->pid ? 0 : -1;
}

#define STR(x)	STR_(x)
#define STR_(x) #x
#define SECONDS STR(PARSER_SECONDS)
#define FIND	"find the profile that does it: carrel run --no-defaults -p NAME"

static const struct {
	int sig;
	const char *text;
} deaths[] = {
    {SIGSYS, "was stopped at a system call that its filter does not allow "
	     "(SIGSYS): a profile made it misbehave, or this kernel or libc "
	     "is new to carrel; " FIND ", and report it"},
    {SIGKILL, "was killed (SIGKILL): memory ran out, it used " SECONDS " s of "
	      "processor time, or someone killed it; see the kernel's log, "
	      "and name fewer or smaller profiles"},
    {SIGXCPU,
	"used " SECONDS " s of processor time (SIGXCPU); name fewer or smaller "
	"profiles"},
    {SIGSEGV, "crashed (SIGSEGV); " FIND ", and report it"},
    {SIGBUS, "crashed (SIGBUS); " FIND ", and report it"},
    {SIGABRT, "crashed (SIGABRT); " FIND ", and report it"},
    {SIGILL, "crashed (SIGILL); " FIND ", and report it"},
    {SIGFPE, "crashed (SIGFPE); " FIND ", and report it"},
};

const char *
ask_ended(int status, char *buf, size_t len)
{
	int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	size_t i;

	for (i = 0; i < sizeof(deaths) / sizeof(deaths[0]); i++)
		if (sig == deaths[i].sig) {
			snprintf(buf, len, PARSER " %s", deaths[i].text);
			return buf;
		}
	if (sig != 0)
		snprintf(buf, len,
		    PARSER " was ended by signal %d: someone sent it; try "
			   "again",
		    sig);
	else if (WEXITSTATUS(status) == EXIT_CARREL)
		snprintf(buf, len,
		    PARSER " gave up without a policy (exit %d): it ran out of "
			   "memory, or could not make itself ready; name fewer "
			   "or smaller profiles, and see carrel doctor",
		    EXIT_CARREL);
	else
		snprintf(buf, len,
		    PARSER " failed (exit %d), which carrel's own never does; "
			   "install carrel again",
		    WEXITSTATUS(status));
	return buf;
}

const char *
ask_broken(int err, char *buf, size_t len)
{
	if (err == ETIMEDOUT)
		snprintf(buf, len,
		    PARSER " has not ended after %d s; is a directory of "
			   "profiles on a file system that does not answer?",
		    PARSER_SECONDS);
	else if (err == EPIPE)
		snprintf(buf, len,
		    PARSER " ended well, but before the end of its policy; "
			   "install carrel again");
	else if (err == EFBIG)
		snprintf(buf, len,
		    "the policy has more than %lu MiB; name fewer or smaller "
		    "profiles",
		    POLICY_BYTES_MAX >> 20);
	else if (err == ENOMEM)
		snprintf(buf, len, "out of memory for the policy");
	else
		snprintf(buf, len,
		    PARSER " does not keep to the protocol (%s): it is of "
			   "another version, damaged or hostile; install "
			   "carrel again, and report it if that does not help",
		    strerror(err));
	return buf;
}
