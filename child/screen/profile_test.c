#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ipc/tool.h"
#include "ipc/channel.h"
#include "ipc/egress.h"
#include "ipc/limits.h"
#include "ipc/log.h"
#include "ipc/path.h"
#include "ipc/policy.h"
#include "ipc/rule.h"
#include "ipc/text.h"
#include "lint.h"
#include "profile.h"
#include "trial.h"

#define LINES_SHOWN 5	 /* of what an example says that fails */
#define OUTPUT_LEN  4096 /* of it that is looked at */
#define KEY_LEN	    (NAME_MAX_LEN + 32)

/* How one run of an example ended. */
struct ending {
	int code; /* of carrel; -1: it took too long */
	struct refusals refused;
};

static void
file_in(const struct trial *tr, const char *name, char *buf, size_t len)
{
	snprintf(buf, len, "%s/%s", tr->dir, name);
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *f)
{
	(void)st;
	(void)type;
	(void)f;
	return remove(path);
}

static void
begin(struct trial *tr)
{
	static const char *const dirs[] = {
	    "config", "config/carrel", "config/carrel/profiles.d", "state"};
	char path[128];
	size_t i;

	strcpy(tr->dir, "/tmp/carrel-test-XXXXXX");
	if (mkdtemp(tr->dir) == NULL)
		fatal("a temporary directory in /tmp: %s", strerror(errno));
	for (i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		file_in(tr, dirs[i], path, sizeof(path));
		if (mkdir(path, 0700) == -1)
			fatal("%s: %s", path, strerror(errno));
	}
}

static void
end(struct trial *tr)
{
	(void)nftw(tr->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Becomes carrel run; what it is told depends on nothing but the settings. */
static void __attribute__((noreturn))
become(const struct trial *tr, char **words, const char *input, int output)
{
	static char verb[] = "run", by_file[] = "-f", by_name[] = "-p",
		    in[] = "-C", tell[] = "--events", end_of_options[] = "--";
	const struct profiled *p = tr->p;
	const struct profile *pr = &p->policy.profiles[p->subject];
	char events[128], copy[256], state[160], config[160];
	char *argv[TOOL_WORDS_MAX + 12], *env[16];
	size_t n = 0, e = 0, i;
	int fd = open(input, O_RDONLY | O_CLOEXEC);

	if (fd == -1 || dup2(fd, 0) == -1 || dup2(output, 1) == -1 ||
	    dup2(output, 2) == -1)
		_exit(EXIT_CARREL);
	file_in(tr, "events", events, sizeof(events));
	trial_path(tr, copy, sizeof(copy));
	argv[n++] = (char *)(uintptr_t)p->program;
	argv[n++] = verb;
	argv[n++] = pr->layer == LAYER_PACK ? by_file : by_name;
	argv[n++] = pr->layer == LAYER_PACK ? copy : pr->name;
	argv[n++] = in;
	argv[n++] = (char *)(uintptr_t)p->target;
	argv[n++] = tell;
	argv[n++] = events;
	argv[n++] = end_of_options;
	for (i = 0; words[i] != NULL; i++)
		argv[n++] = words[i];
	argv[n] = NULL;
	snprintf(state, sizeof(state), "XDG_STATE_HOME=%s/state", tr->dir);
	snprintf(config, sizeof(config), "XDG_CONFIG_HOME=%s/config", tr->dir);
	env[e++] = state;
	/* a pack may stand beside nothing of the user's */
	if (trial_copies(p))
		env[e++] = config;
	for (i = 0; p->settings[i] != NULL; i++)
		if (strchr(p->settings[i], '=') != NULL &&
		    (strncmp(p->settings[i], "XDG_CONFIG_HOME=", 16) != 0 ||
			!trial_copies(p)))
			env[e++] = p->settings[i];
	env[e] = NULL;
	execve(p->program, argv, env);
	_exit(EXIT_CARREL);
}

/* Until it ends, EXAMPLE_SECONDS at the most: its exit code, or -1. */
static int
await(pid_t pid)
{
	struct pollfd p = {.events = POLLIN};
	int64_t by = channel_deadline(EXAMPLE_SECONDS);
	int status, n;

	p.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (p.fd == -1)
		fatal("pidfd_open: %s", strerror(errno));
	do
		n = poll(&p, 1, channel_left(by));
	while (n == -1 && errno == EINTR);
	close(p.fd);
	/* carrel takes everything inside with it */
	if (n == 0)
		(void)kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) == -1)
		if (errno != EINTR)
			fatal("wait for carrel: %s", strerror(errno));
	if (n == 0)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* One run, by this copy. 0, or -1 and it was told why there is none. */
static int
run(const struct trial *tr, unsigned flags, struct findings *f,
    struct ending *en)
{
	char input[128], output[128], events[128], key[KEY_LEN];
	char **words = tool_words(tr->t->text);
	const char *what = "";
	pid_t pid;
	FILE *in;
	int fd;

	snprintf(key, sizeof(key), "example %s.run", tr->t->name);
	if (words == NULL)
		fatal("out of memory");
	file_in(tr, "input", input, sizeof(input));
	file_in(tr, "output", output, sizeof(output));
	file_in(tr, "events", events, sizeof(events));
	(void)unlink(events);
	if (trial_copy(tr, flags, &what) == -1) {
		finding_add(f, FINDING_HARD, key, tr->t->line,
		    "cannot be run: %s: %s", what, strerror(errno));
		free(words);
		return -1;
	}
	if ((in = fopen(input, "we")) == NULL ||
	    (tr->t->input[0] != '\0' &&
		fprintf(in, "%s\n", tr->t->input) < 0) ||
	    fclose(in) == EOF ||
	    (fd = open(output, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) ==
		-1)
		fatal("%s: %s", tr->dir, strerror(errno));
	if ((pid = fork()) == -1)
		fatal("fork: %s", strerror(errno));
	if (pid == 0)
		become(tr, words, input, fd);
	close(fd);
	free(words);
	en->code = await(pid);
	if (trial_events(events, &en->refused) == -1)
		memset(&en->refused, 0, sizeof(en->refused));
	return 0;
}

/* The last lines of what it said, joined: it is one finding. */
static void
last_words(const struct trial *tr, char *buf, size_t len)
{
	char path[128], text[OUTPUT_LEN + 1], *p;
	struct stat st;
	ssize_t n = 0;
	int fd, lines = 0;

	buf[0] = '\0';
	file_in(tr, "output", path, sizeof(path));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return;
	if (fstat(fd, &st) == 0)
		n = pread(fd, text, OUTPUT_LEN,
		    st.st_size > OUTPUT_LEN ? st.st_size - OUTPUT_LEN : 0);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	for (p = text + strlen(text); p > text; p--)
		if (p[-1] == '\n' && p[0] != '\0' && ++lines == LINES_SHOWN)
			break;
	for (n = (ssize_t)strlen(p); n > 0 && p[n - 1] == '\n'; n--)
		p[n - 1] = '\0';
	for (n = 0; p[n] != '\0'; n++)
		if (p[n] == '\n')
			p[n] = '|';
	if (*p != '\0')
		snprintf(buf, len, "; it said: %s", p);
}

static void
judge_code(const struct trial *tr, const struct ending *en, struct findings *f)
{
	char key[KEY_LEN], words[OUTPUT_LEN + 32];

	snprintf(key, sizeof(key), "example %s.run", tr->t->name);
	last_words(tr, words, sizeof(words));
	if (en->code == -1)
		finding_add(f, FINDING_HARD, key, tr->t->line,
		    "has not ended after %d s", EXAMPLE_SECONDS);
	else if (!en->refused.ended ||
		 (!en->refused.by_payload && en->code == EXIT_CARREL))
		finding_add(
		    f, FINDING_HARD, key, tr->t->line, "was not run%s", words);
	else if (en->code != tr->t->expect)
		finding_add(f, FINDING_HARD, key, tr->t->line,
		    "ended with %d, and %u is expected%s", en->code,
		    (unsigned)tr->t->expect, words);
}

/* Whether a run with this profile would tell of it without being asked. */
static int
is_told(const struct policy *po, const struct refused *r)
{
	unsigned what =
	    strcmp(r->surface, "exec") == 0 ? REPORT_EXEC : REPORT_FS;
	size_t i;

	if (strcmp(r->surface, "egress") == 0)
		return 1;
	for (i = 0; i < po->nrules; i++)
		if (po->rules[i].kind == RULE_REPORT &&
		    po->rules[i].what == what)
			return 1;
	return 0;
}

/* What it used and had not declared: that was refused. */
static void
judge_refused(
    const struct trial *tr, const struct ending *en, struct findings *f)
{
	const struct refused *r;
	char key[KEY_LEN];
	size_t i;

	snprintf(key, sizeof(key), "example %s.needs", tr->t->name);
	for (i = 0; i < en->refused.n; i++) {
		r = &en->refused.list[i];
		/* which no profile can grant: it is unix = no */
		if (strcmp(r->action, "socket") == 0)
			continue;
		finding_add(f,
		    is_told(&tr->p->policy, r) ? FINDING_HARD : FINDING_NOTE,
		    key, tr->t->line,
		    "used and not declared: %s: %s %s, which was refused",
		    r->surface, r->action, r->resource);
	}
}

/* Only where what it was refused made that the run failed. */
static int
is_masked(const struct ending *en)
{
	return en->refused.ended && !en->refused.by_payload &&
	       en->refused.n > 0;
}

/* What it declared and did not use */

/* The place of the host that a need leads to; 0 if it cannot be seen there. */
static int
place_of(const struct policy *po, const struct need *n, char *buf, size_t len)
{
	const struct grant *g = policy_find(po, n->text);
	const char *below;

	if (n->verb != NEED_WRITE)
		return 0;
	if (g == NULL)
		g = policy_above(po, n->text);
	if (g == NULL || g->kind != GRANT_BIND ||
	    (below = path_below(g->guest, n->text)) == NULL)
		return 0;
	return (size_t)snprintf(buf, len, "%s%s", g->source, below) < len;
}

static void
say_unused(const struct trial *tr, const struct need *n, struct findings *f)
{
	char key[KEY_LEN];

	snprintf(key, sizeof(key), "example %s.needs", tr->t->name);
	finding_add(f, FINDING_NOTE, key, n->line,
	    "needs = %s %s: declared and not used", tool_verb(n->verb),
	    n->text);
}

/* The host of "scheme://host:port", without "*."; "" of "*". */
static void
host_of(const char *text, char *buf, size_t len)
{
	const char *p = strstr(text, "://"), *end;

	p = p == NULL ? "" : p + 3;
	if (strncmp(p, "*.", 2) == 0)
		p += 2;
	p += *p == '[';
	end = p + strcspn(p, *p != '\0' && p[-1] == '[' ? "]" : ":");
	snprintf(buf, len, "%.*s", (int)(end - p), p);
}

/* Without any way out: whoever does not even try needs none. */
static void
judge_network(const struct trial *tr, struct findings *f)
{
	char host[EGRESS_TEXT];
	struct ending en;
	const struct need *n;
	size_t i, k, allows = 0;

	for (i = 0; i < tr->t->nneeds; i++)
		allows += tr->t->needs[i].verb == NEED_ALLOW;
	if (allows == 0 || !trial_copies(tr->p) ||
	    run(tr, TRIAL_OFFLINE, f, &en) == -1)
		return;
	for (i = 0; i < tr->t->nneeds; i++) {
		n = &tr->t->needs[i];
		if (n->verb != NEED_ALLOW)
			continue;
		host_of(n->text, host, sizeof(host));
		for (k = 0; k < en.refused.n; k++)
			if (strcmp(en.refused.list[k].surface, "egress") == 0 &&
			    strstr(en.refused.list[k].resource, host) != NULL)
				break;
		if (k == en.refused.n)
			say_unused(tr, n, f);
	}
	trial_events_free(&en.refused);
}

static void
trial(struct trial *tr, struct findings *f)
{
	const struct policy *po = &tr->p->policy;
	const struct tool *t = tr->t;
	struct trial_place *places;
	char path[2 * PATH_MAX_LEN + 1];
	struct ending en;
	size_t i;

	places = calloc(t->nneeds + 1, sizeof(*places));
	if (places == NULL)
		fatal("out of memory");
	for (i = 0; i < t->nneeds; i++)
		if (place_of(po, &t->needs[i], path, sizeof(path)))
			trial_note(&places[i], path);
	if (run(tr, TRIAL_REPORT, f, &en) == 0) {
		judge_refused(tr, &en, f);
		for (i = 0; i < t->nneeds; i++)
			if (places[i].path != NULL &&
			    !trial_written(&places[i]))
				say_unused(tr, &t->needs[i], f);
		if (is_masked(&en)) {
			trial_events_free(&en.refused);
			if (run(tr, 0, f, &en) == -1)
				en.code = t->expect;
		}
		if (!is_masked(&en))
			judge_code(tr, &en, f);
		trial_events_free(&en.refused);
		judge_network(tr, f);
	}
	for (i = 0; i < t->nneeds; i++)
		free(places[i].path);
	free(places);
}

static void
example(const struct profiled *p, const struct tool *t,
    struct profile_report *r, struct findings *f)
{
	const struct policy *po = &p->policy;
	struct trial tr = {.p = p, .t = t};
	char key[KEY_LEN];
	size_t before = f->n, i;

	tr.use.grants = calloc(po->ngrants + 1, 1);
	tr.use.rules = calloc(po->nrules + 1, 1);
	if (tr.use.grants == NULL || tr.use.rules == NULL)
		fatal("out of memory");
	for (i = 0; i < t->nneeds; i++)
		(void)lint_need(po, &t->needs[i], &tr.use);
	begin(&tr);
	trial(&tr, f);
	end(&tr);
	free(tr.use.grants);
	free(tr.use.rules);
	if (f->n > before)
		return;
	snprintf(key, sizeof(key), "example %s", t->name);
	profile_say(r, "ok", key, "", 0, t->text);
}

void
profile_test(
    const struct profiled *p, struct profile_report *r, struct findings *f)
{
	const struct policy *po = &p->policy;
	size_t i, n = 0;

	for (i = 0; i < po->ntools; i++) {
		if (po->tools[i].kind != TOOL_EXAMPLE ||
		    po->tools[i].profile != p->subject)
			continue;
		n++;
		example(p, &po->tools[i], r, f);
	}
	if (n == 0)
		finding_add(f, FINDING_NOTE, "example", 0,
		    "there is none, so nothing was run");
}
