#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "account.h"
#include "ask.h"
#include "ceiling.h"
#include "child/shared/ceiling.h"
#include "child/setup/confine.h"
#include "child/setup/look.h"
#include "child/setup/look_exec.h"
#include "child/setup/pack.h"
#include "child/setup/protect.h"
#include "child/shared/hostenv.h"
#include "child/shared/screen.h"
#include "child/shared/survey.h"
#include "explain.h"
#include "helper.h"
#include "child/shared/caller.h"
#include "ipc/channel.h"
#include "ipc/log.h"
#include "ipc/policy.h"
#include "child/shared/request.h"
#include "options.h"
#include "patience.h"
#include "parent/failure.h"
#include "parent/start.h"
#include "remember.h"
#include "state.h"

#define SCREEN "carrel-screen"

/*
 * The peer's exit status counts: only 0 after END is a policy. If it ended
 * too early, how it ended says more.
 */
static void
receive_policy(const struct asked *a, struct policy *po)
{
	struct receiver r;
	char why[TEXT_MAX_LEN];
	int err = 0, status = 0, ended = 0;

	if (receiver_init(&r, a->fd, a->deadline, record_policy) == -1 ||
	    policy_receive(&r, po) == -1)
		err = errno;
	receiver_free(&r);
	close(a->fd);
	if (err == 0 || err == EPIPE) {
		ended = ask_wait(a, &status) == 0;
		if (!ended)
			err = errno;
	}
	if (status != 0)
		fatal("%s", ask_ended(status, why, sizeof(why)));
	if (err != 0) {
		if (!ended)
			(void)kill(a->pid, SIGKILL);
		fatal("%s", ask_broken(err, why, sizeof(why)));
	}
	if (policy_check(po, why, sizeof(why)) == -1)
		fatal("%s", why);
}

static void
describe(
    const struct options *o, const struct start *st, struct screen_request *q)
{
	const char *term = start_getenv(st, "TERM");
	const char *no_color = start_getenv(st, "NO_COLOR");
	struct winsize ws;

	memset(q, 0, sizeof(*q));
	q->mode = o->hosted ? SCREEN_HOSTED : SCREEN_USER;
	q->landlock = (uint16_t)landlock_abi();
	q->flags = (o->without_landlock ? SCREEN_WITHOUT_LANDLOCK : 0) |
		   (o->allow_ptrace ? SCREEN_ALLOW_PTRACE : 0);
	if (o->require_audit)
		q->flags |= SCREEN_REQUIRE_AUDIT;
	q->events = o->events;
	if (isatty(STDOUT_FILENO) &&
	    ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_col > 0)
		q->width = ws.ws_col;
	if (q->width > 0 && term != NULL && strcmp(term, "dumb") != 0 &&
	    (no_color == NULL || no_color[0] == '\0'))
		q->flags |= SCREEN_COLOUR;
	if (!o->shell)
		q->words = o->argv;
	while (q->words != NULL && q->words[q->nwords] != NULL)
		q->nwords++;
}

/* What a run would be, for a screen. */
struct shown {
	struct policy po;
	struct survey sv;
	struct hostenv host;
	const struct ceiling *ceiling;
};

static void
shown_free(struct shown *sh)
{
	hostenv_free(&sh->host);
	survey_free(&sh->sv);
	policy_free(&sh->po);
}

/* What else the run would be judged by: the same for all that is shown. */
struct bounded {
	const struct ceiling *ceiling; /* its file is NULL: there is none */
	const struct options *options;
	const struct caller *caller;
};

/* As the set-up does it. */
static void
judge(const struct bounded *b, const struct survey *sv, struct policy *po)
{
	if (b->ceiling->file == NULL || po->nrefusals > 0)
		return;
	if ((sv == NULL && ceiling_blame(b->ceiling, po) == -1) ||
	    (po->nrefusals == 0 &&
		ceiling_judge(b->ceiling, b->caller,
		    b->options->require_audit || b->options->hosted, sv,
		    po) == -1))
		fatal("judge by the ceiling: %s", strerror(errno));
}

/* The answer of carrel-parse, and what it comes to on this host. */
static void
gather(const struct start *st, const struct bounded *b, const struct asked *a,
    struct shown *sh)
{
	const struct caller *c = b->caller;
	struct failure f;

	sh->ceiling = b->ceiling;
	memset(&sh->po, 0, sizeof(sh->po));
	receive_policy(a, &sh->po);
	patience_next(PATIENCE_FILES);
	memset(&sh->sv, 0, sizeof(sh->sv));
	judge(b, NULL, &sh->po);
	if (policy_protect(&sh->po, c) == -1)
		fatal("protect what carrel trusts: %s", strerror(errno));
	if (sh->po.nrefusals == 0 &&
	    (look_survey(&sh->po, &sh->sv, &f) == -1 ||
		protect_missing(&sh->po, &sh->sv, c, 0, &f) == -1 ||
		pack_expect(&sh->po, &sh->sv, &f) == -1 ||
		look_exec(&sh->po, &sh->sv, &f) == -1))
		fatal("%s%s%s", f.what, f.err != 0 ? ": " : "",
		    f.err != 0 ? strerror(f.err) : "");
	if (sh->sv.n > 0)
		judge(b, &sh->sv, &sh->po);
	if (hostenv_pick(&sh->host, &sh->po, st->env) == -1)
		fatal("the caller's environment: %s", strerror(errno));
}

static void
tell(int fd, const struct screen_request *q, const struct caller *c,
    const struct shown *sh)
{
	struct sender s;

	if (sender_init(&s, fd, -1) == -1 ||
	    screen_send(&s, q, c, &sh->host, sh->ceiling, &sh->po, &sh->sv) ==
		-1)
		log_warn("cannot tell " SCREEN ": %s", strerror(errno));
	sender_free(&s);
	close(fd);
}

/*
 * argv: of carrel-screen. On its descriptor 3 it is told of sh; its 4 is next,
 * or where it is told of base, or there is none. Returns the exit code.
 */
static int
draw(const struct install *in, char **argv, int next,
    const struct screen_request *q, const struct caller *c,
    const struct shown *sh, const struct shown *base)
{
	int pair[2], second[2], status;
	pid_t pid;

	if (channel_pair(pair) == -1 ||
	    (base != NULL && channel_pair(second) == -1))
		fatal("socketpair: %s", strerror(errno));
	if (base != NULL)
		next = second[1];
	patience_end();
	pid = helper_start(in, SCREEN, argv, pair[1], next);
	close(pair[1]);
	if (next != -1)
		close(next);
	tell(pair[0], q, c, sh);
	if (base != NULL)
		tell(second[0], q, c, base);
	while (waitpid(pid, &status, 0) == -1)
		if (errno != EINTR)
			fatal("wait for " SCREEN ": %s", strerror(errno));
	if (WIFSIGNALED(status))
		return 128 + WTERMSIG(status);
	return WEXITSTATUS(status);
}

/*
 * With why, another carrel-parse tells the screen what is installed; how it
 * ended counts as everywhere. Returns the exit code.
 */
static int
draw_why(const struct install *in, const struct options *o,
    const struct start *st, const struct screen_request *q,
    const struct caller *c, const struct shown *sh)
{
	char json[] = "json", text[] = "text", why[TEXT_MAX_LEN];
	char *argv[] = {(char[]){SCREEN}, (char[]){"why"},
	    o->json ? json : text, o->subject, NULL};
	struct asked a;
	int code, status;

	ask_open(&a);
	a.flags = REQUEST_CATALOGUE;
	ask_send(&a, in, o, st, c);
	ask_start(in, &a);
	code = draw(in, argv, a.fd, q, c, sh, NULL);
	if (ask_wait(&a, &status) == -1)
		fatal("%s", ask_broken(errno, why, sizeof(why)));
	if (status != 0)
		fatal("%s", ask_ended(status, why, sizeof(why)));
	return code;
}

/* What the profiles named with -p change: the same run without them, too. */
static int
draw_diff(const struct install *in, const struct bounded *b,
    const struct start *st, const struct screen_request *q,
    const struct shown *sh)
{
	const struct options *o = b->options;
	const struct caller *c = b->caller;
	char json[] = "json", text[] = "text";
	char *argv[] = {
	    (char[]){SCREEN}, (char[]){"diff"}, o->json ? json : text, NULL};
	struct options without = *o;
	struct shown base;
	struct asked a;
	int code;

	without.nselect = 0;
	ask_open(&a);
	ask_send(&a, in, &without, st, c);
	ask_start(in, &a);
	gather(st, b, &a, &base);
	code = draw(in, argv, -1, q, c, sh, &base);
	shown_free(&base);
	return code;
}

/* As a run does (S76). */
static void
warn_flagged(
    const struct start *st, const struct caller *c, const struct policy *po)
{
	struct state state = {.path = account_state_dir(st, c)};
	size_t i;

	for (i = 0; i < po->nprofiles; i++)
		remember_warn(&state, po->profiles[i].digest,
		    po->profiles[i].name, po->profiles[i].file);
}

int
explain_run(const struct install *in, const struct options *o,
    const struct start *st, const struct caller *c, const struct asked *a,
    const struct asked *ce)
{
	struct screen_request q;
	struct shown sh;
	struct ceiling ceiling = {.file = NULL};
	const struct bounded b = {&ceiling, o, c};
	char json[] = "json", text[] = "text";
	char *argv[] = {
	    (char[]){SCREEN}, (char[]){"explain"}, o->json ? json : text, NULL};
	int code;

	if (ce->fd != -1)
		ceiling_hear(ce, &ceiling);
	else if (o->hosted && ceiling_default(&ceiling) == -1)
		fatal("out of memory");
	gather(st, &b, a, &sh);
	warn_flagged(st, c, &sh.po);
	describe(o, st, &q);
	if (o->command == COMMAND_WHY)
		code = draw_why(in, o, st, &q, c, &sh);
	else if (o->diff)
		code = draw_diff(in, &b, st, &q, &sh);
	else
		code = draw(in, argv, -1, &q, c, &sh, NULL);
	shown_free(&sh);
	ceiling_free(&ceiling);
	return code;
}

void
explain_violations(
    const struct install *in, const struct options *o, const char *dir)
{
	char json[] = "json", text[] = "text";
	char *argv[] = {(char[]){SCREEN}, (char[]){"violations"}, (char *)dir,
	    o->json ? json : text, NULL};

	helper_become(in, SCREEN, argv, -1);
}

void
explain_past(const struct install *in, const struct options *o, const char *dir,
    const struct asked *a)
{
	char json[] = "json", text[] = "text", none[] = "", pid[16];
	char why[] = "why", violations[] = "violations";
	char *argv[] = {(char[]){SCREEN}, (char[]){"past"},
	    o->command == COMMAND_WHY ? why : violations, (char *)dir, o->run,
	    pid, o->json ? json : text, o->subject != NULL ? o->subject : none,
	    NULL};

	snprintf(pid, sizeof(pid), "%ld", (long)a->pid);
	helper_become(in, SCREEN, argv, a->fd);
}

/* What carrel finds its files by, for who runs it again. */
static char *
setting(const struct start *st, const char *name)
{
	const char *value = start_getenv(st, name);
	char *p;

	if (asprintf(&p, "%s%s%s", name, value != NULL ? "=" : "",
		value != NULL ? value : "") == -1)
		fatal("out of memory");
	return p;
}

void
explain_doctor(
    const struct install *in, const struct options *o, const struct start *st)
{
	char json[] = "json", text[] = "text", none[] = "", width[8];
	char colour[] = "colour", hosted[] = "hosted";
	char *argv[] = {(char[]){SCREEN}, (char[]){"doctor"},
	    (char *)in->program, (char *)in->libexec, (char *)in->shipped,
	    o->json ? json : text, width, none, o->hosted ? hosted : none,
	    setting(st, "HOME"), setting(st, "XDG_CONFIG_HOME"),
	    setting(st, "PATH"), NULL};
	struct screen_request q;

	describe(o, st, &q);
	snprintf(width, sizeof(width), "%u", q.width);
	if ((q.flags & SCREEN_COLOUR) != 0)
		argv[7] = colour;
	helper_become(in, SCREEN, argv, -1);
}

void
explain_profile(const struct install *in, const struct options *o,
    const struct start *st, const struct caller *c, const struct asked *a)
{
	char pid[16], strict[] = "strict", none[] = "";
	char json[] = "json", text[] = "text";
	char *argv[] = {(char[]){SCREEN}, (char[]){"profile"}, (char *)o->verb,
	    pid, o->strict ? strict : none, o->json ? json : text,
	    o->pack != NULL ? o->pack : o->select[0], (char *)in->program,
	    c->target, setting(st, "HOME"), setting(st, "XDG_CONFIG_HOME"),
	    setting(st, "PATH"), NULL};

	snprintf(pid, sizeof(pid), "%ld", (long)a->pid);
	helper_become(in, SCREEN, argv, a->fd);
}

void
explain_catalogue(const struct install *in, const struct options *o,
    const struct start *st, const struct asked *a)
{
	char json[] = "json", text[] = "text", none[] = "", width[8], pid[16];
	char colour[] = "colour";
	char *argv[] = {(char[]){SCREEN}, (char[]){"catalogue"},
	    (char *)o->verb, pid, o->json ? json : text, width, none,
	    o->nselect > 0 ? o->select[0] : none, NULL};
	struct screen_request q;

	describe(o, st, &q);
	snprintf(pid, sizeof(pid), "%ld", (long)a->pid);
	snprintf(width, sizeof(width), "%u", q.width);
	if ((q.flags & SCREEN_COLOUR) != 0)
		argv[6] = colour;
	helper_become(in, SCREEN, argv, a->fd);
}

void
explain_import(const struct install *in, const struct options *o)
{
	size_t i, n = 0;
	char **argv;

	while (o->argv[n] != NULL)
		n++;
	if ((argv = calloc(n + 4, sizeof(*argv))) == NULL)
		fatal("out of memory");
	argv[0] = (char[]){SCREEN};
	argv[1] = (char[]){"import"};
	argv[2] = (char *)(uintptr_t)o->verb;
	for (i = 0; i < n; i++)
		argv[i + 3] = o->argv[i];
	helper_become(in, SCREEN, argv, -1);
}
