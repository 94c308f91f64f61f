#include <sys/ioctl.h>
#include <sys/wait.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ipc/channel.h"
#include "ipc/limits.h"
#include "ipc/log.h"
#include "ipc/policy.h"
#include "ipc/text.h"
#include "ipc/tool.h"
#include "lint.h"
#include "out.h"
#include "profile.h"

#define KEY_LEN (SECTION_MAX_LEN + KEY_MAX_LEN + 2)

/* The answer of the parser, whose exit status counts as everywhere. */
static void
receive(int fd, pid_t parser, struct policy *po)
{
	struct receiver r;
	char why[TEXT_MAX_LEN];
	int status, n;

	if (receiver_init(&r, fd, channel_deadline(PARSER_SECONDS),
		record_described) == -1)
		fatal("out of memory");
	n = described_receive(&r, po);
	if (n == -1)
		log_warn(
		    "what the reader of profiles sent: %s", strerror(errno));
	receiver_free(&r);
	close(fd);
	while (waitpid(parser, &status, n == -1 ? WNOHANG : 0) == -1)
		if (errno != EINTR)
			fatal("wait for the reader of profiles: %s",
			    strerror(errno));
	if (n == -1 || status != 0)
		fatal("the reader of profiles failed; see: carrel doctor");
	if (policy_check(po, why, sizeof(why)) == -1)
		fatal("%s", why);
}

/* Who was asked for: the pack, or what stands in the place of -p. */
static size_t
find_subject(const struct policy *po)
{
	size_t i;

	for (i = 0; i < po->nprofiles; i++)
		if ((po->profiles[i].flags & PROFILE_ASKED) != 0)
			return i;
	return SIZE_MAX;
}

void
profile_say(struct out *o, const char *word, const char *key, const char *file,
    uint32_t line, const char *text)
{
	struct cell c = {0};

	cell_add(&c, key);
	if (file[0] != '\0') {
		cell_add(&c, " ");
		cell_add(&c, file);
		if (line != 0)
			cell_addf(&c, ":%u", (unsigned)line);
		cell_add(&c, ":");
	}
	cell_add(&c, " ");
	cell_add(&c, text);
	out_verdict(o, word, &c, strcmp(word, "err") != 0);
}

/* validate: what would stop every run. */
static size_t
say_refusals(struct out *o, const struct policy *po)
{
	char key[KEY_LEN], text[2 * TEXT_MAX_LEN];
	const struct refusal *r;
	size_t i;

	for (i = 0; i < po->nrefusals; i++) {
		r = &po->refusals[i];
		profile_key(r->file, r->line, key, sizeof(key));
		snprintf(text, sizeof(text), "%s%s%s", r->what,
		    r->fix[0] != '\0' ? "; " : "", r->fix);
		profile_say(o, "err", key, r->file, r->line, text);
	}
	return po->nrefusals + po->unkept;
}

static int
is_error(const struct profiled *p, const struct finding *f)
{
	return f->weight == FINDING_HARD ||
	       (f->weight == FINDING_SOFT && p->strict);
}

static void
say_findings(struct out *o, const struct profiled *p, const struct findings *f,
    size_t *errors, size_t *warnings)
{
	const char *file = p->policy.profiles[p->subject].file;
	size_t i;
	int bad;

	for (i = 0; i < f->n; i++) {
		bad = is_error(p, &f->list[i]);
		profile_say(o, bad ? "err" : "warn", f->list[i].key, file,
		    f->list[i].line, f->list[i].text);
		*errors += bad != 0;
		*warnings += bad == 0;
	}
}

static void
write_all(const char *p, size_t n)
{
	ssize_t k;

	for (; n > 0; p += k, n -= (size_t)k) {
		k = write(STDOUT_FILENO, p, n);
		if (k == -1 && errno == EINTR)
			k = 0;
		else if (k == -1)
			fatal("standard output: %s", strerror(errno));
	}
}

/* A line a message, unless a person reads it. */
static unsigned
width(void)
{
	struct winsize ws;

	if (isatty(STDOUT_FILENO) &&
	    ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_col > 0)
		return ws.ws_col;
	return UINT16_MAX;
}

static void
say_counts(
    struct out *o, const struct profiled *p, size_t errors, size_t warnings)
{
	struct cell c = {0};

	cell_quote(&c, p->what);
	cell_addf(&c, ": %zu error%s, %zu warning%s", errors,
	    errors == 1 ? "" : "s", warnings, warnings == 1 ? "" : "s");
	out_verdict(o, errors == 0 ? "ok" : "no", &c, errors == 0);
}

static int
look(struct profiled *p)
{
	struct findings f = {.n = 0};
	size_t errors, warnings = 0;
	struct out o;

	out_open(&o, width(), 0);
	errors = say_refusals(&o, &p->policy);
	if (errors == 0) {
		if (strcmp(p->verb, "lint") == 0)
			lint(&p->policy, p->subject, p->strict, &f);
		else if (strcmp(p->verb, "test") == 0)
			profile_test(p, &o, &f);
		say_findings(&o, p, &f, &errors, &warnings);
	}
	say_counts(&o, p, errors, warnings);
	out_close(&o);
	write_all(o.text, o.len);
	out_free(&o);
	findings_free(&f);
	return errors == 0 ? 0 : 1;
}

int
profile_run(int argc, char *const *argv, int fd)
{
	struct profiled p = {.subject = SIZE_MAX};
	int code;

	if (argc < 6)
		fatal("carrel-screen is started by carrel");
	p.verb = argv[0];
	p.strict = strcmp(argv[2], "strict") == 0;
	p.what = argv[3];
	p.program = argv[4];
	p.target = argv[5];
	p.settings = argv + 6;
	receive(fd, (pid_t)strtol(argv[1], NULL, 10), &p.policy);
	p.subject = find_subject(&p.policy);
	if (p.subject == SIZE_MAX && p.policy.nrefusals == 0)
		fatal("the reader of profiles sent none");
	code = look(&p);
	policy_free(&p.policy);
	return code;
}
