#include <sys/ioctl.h>
#include <sys/wait.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child/shared/json.h"
#include "child/shared/patient.h"
#include "ipc/tool.h"
#include "ipc/channel.h"
#include "ipc/limits.h"
#include "ipc/log.h"
#include "ipc/policy.h"
#include "ipc/text.h"
#include "lint.h"
#include "out.h"
#include "profile.h"

#define KEY_LEN	 (SECTION_MAX_LEN + KEY_MAX_LEN + 2)
#define JSON_MAX (16UL << 20)

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
	patient_end();
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

static void
say_json(struct json *j, const char *word, const char *key, const char *file,
    uint32_t line, const char *text)
{
	json_open(j, '{');
	json_pair(j, "weight",
	    strcmp(word, "err") == 0	? "error"
	    : strcmp(word, "warn") == 0 ? "warning"
					: word);
	json_pair(j, "key", key);
	if (file[0] != '\0')
		json_pair(j, "file", file);
	if (line != 0)
		json_count(j, "line", line);
	json_pair(j, "text", text);
	json_close(j, '}');
}

void
profile_say(struct profile_report *r, const char *word, const char *key,
    const char *file, uint32_t line, const char *text)
{
	struct cell c = {0};

	r->errors += strcmp(word, "err") == 0;
	r->warnings += strcmp(word, "warn") == 0;
	if (r->j != NULL) {
		say_json(r->j, word, key, file, line, text);
		return;
	}
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
	out_verdict(r->o, word, &c, strcmp(word, "err") != 0);
}

/* validate: what would stop every run. */
static void
say_refusals(struct profile_report *rep, const struct policy *po)
{
	char key[KEY_LEN], text[2 * TEXT_MAX_LEN];
	const struct refusal *r;
	size_t i;

	for (i = 0; i < po->nrefusals; i++) {
		r = &po->refusals[i];
		profile_key(r->file, r->line, key, sizeof(key));
		snprintf(text, sizeof(text), "%s%s%s", r->what,
		    r->fix[0] != '\0' ? "; " : "", r->fix);
		profile_say(rep, "err", key, r->file, r->line, text);
	}
	rep->errors += po->unkept;
}

static int
is_error(const struct profiled *p, const struct finding *f)
{
	return f->weight == FINDING_HARD ||
	       (f->weight == FINDING_SOFT && p->strict);
}

static void
say_findings(struct profile_report *r, const struct profiled *p,
    const struct findings *f)
{
	const char *file = p->policy.profiles[p->subject].file;
	size_t i;

	for (i = 0; i < f->n; i++)
		profile_say(r, is_error(p, &f->list[i]) ? "err" : "warn",
		    f->list[i].key, file, f->list[i].line, f->list[i].text);
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
judge(const struct profiled *p, struct profile_report *r)
{
	struct findings f = {.n = 0};

	say_refusals(r, &p->policy);
	if (r->errors == 0) {
		if (strcmp(p->verb, "lint") == 0)
			lint(&p->policy, p->subject, p->strict, &f);
		else if (strcmp(p->verb, "test") == 0)
			profile_test(p, r, &f);
		say_findings(r, p, &f);
	}
	findings_free(&f);
}

/* A line a message, and a last one with the counts. How many are errors. */
static size_t
for_person(const struct profiled *p)
{
	struct out o;
	struct profile_report r = {.o = &o};
	struct cell c = {0};

	out_open(&o, width(), 0);
	judge(p, &r);
	cell_quote(&c, p->what);
	cell_addf(&c, ": %zu error%s, %zu warning%s", r.errors,
	    r.errors == 1 ? "" : "s", r.warnings, r.warnings == 1 ? "" : "s");
	out_verdict(&o, r.errors == 0 ? "ok" : "no", &c, r.errors == 0);
	out_close(&o);
	write_all(o.text, o.len);
	out_free(&o);
	return r.errors;
}

/* One object. As above. */
static size_t
for_program(const struct profiled *p)
{
	char *buf = malloc(JSON_MAX);
	struct json j;
	struct profile_report r = {.j = &j};

	if (buf == NULL)
		fatal("out of memory");
	json_init(&j, buf, JSON_MAX - 1); /* room for the newline */
	json_open(&j, '{');
	json_count(&j, "v", 1);
	json_pair(&j, "profile", p->what);
	json_pair(&j, "verb", p->verb);
	json_key(&j, "messages");
	json_open(&j, '[');
	judge(p, &r);
	json_close(&j, ']');
	json_count(&j, "errors", r.errors);
	json_count(&j, "warnings", r.warnings);
	json_close(&j, '}');
	if (j.bad)
		fatal("that is more than %lu MiB; leave out --json",
		    JSON_MAX >> 20);
	strcpy(buf + j.len, "\n");
	write_all(buf, j.len + 1);
	free(buf);
	return r.errors;
}

int
profile_run(int argc, char *const *argv, int fd)
{
	struct profiled p = {.subject = SIZE_MAX};
	size_t errors;

	if (argc < 7)
		fatal("carrel-screen is started by carrel");
	p.verb = argv[0];
	p.strict = strcmp(argv[2], "strict") == 0;
	p.json = strcmp(argv[3], "json") == 0;
	p.what = argv[4];
	p.program = argv[5];
	p.target = argv[6];
	p.settings = argv + 7;
	receive(fd, (pid_t)strtol(argv[1], NULL, 10), &p.policy);
	p.subject = find_subject(&p.policy);
	if (p.subject == SIZE_MAX && p.policy.nrefusals == 0)
		fatal("the reader of profiles sent none");
	errors = p.json ? for_program(&p) : for_person(&p);
	policy_free(&p.policy);
	return errors == 0 ? 0 : 1;
}
