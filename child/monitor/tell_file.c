#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "child/shared/json.h"
#include "child/shared/caller.h"
#include "ipc/limits.h"
#include "ipc/policy.h"
#include "ipc/text.h"
#include "options.h"
#include "tell.h"

/* Lines of JSON: etc/carrel-events.schema.json has the same members. */

static const char *const on_names[] = {"?", "report", "fail", "kill"};

/* The members that each line has. */
static void
line_begin(struct tell *t, struct json *j, const char *event)
{
	char when[40] = "", all[64];
	struct timespec ts;
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &ts);
	if (gmtime_r(&ts.tv_sec, &tm) != NULL)
		(void)strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(all, sizeof(all), "%s.%03uZ", when,
	    (unsigned)(ts.tv_nsec / 1000000) % 1000);
	json_init(j, t->line, TELL_LINE_MAX - 1);
	json_open(j, '{');
	json_count(j, "v", 1);
	json_pair(j, "event", event);
	json_pair(j, "time", all);
	json_pair(j, "run", t->run);
}

static int
line_end(struct tell *t, struct json *j)
{
	json_close(j, '}');
	if (j->bad) {
		t->file.lost++;
		return -1;
	}
	t->line[j->len] = '\n';
	return events_file_write(&t->file, t->line, j->len + 1);
}

static void
put_profile(struct json *j, const struct tell_profile *p, int layer)
{
	json_open(j, '{');
	json_pair(j, "name", p->name);
	if (layer)
		json_pair(j, "layer", policy_layer(p->layer));
	json_pair(j, "digest", p->digest);
	json_close(j, '}');
}

static void
put_command(const struct tell *t, struct json *j)
{
	char **v = options_words(t->options, t->caller->shell);
	size_t n = 0;

	json_key(j, "command");
	json_open(j, '[');
	for (; v != NULL && v[n] != NULL; n++)
		if (n < SCREEN_WORDS)
			json_text(j, SHOWN(v[n]));
	json_close(j, ']');
	json_count(j, "words", n);
	free(v);
}

static void
put_weakened(struct json *j, const struct options *o)
{
	json_key(j, "weakened");
	json_open(j, '[');
	if (o->without_landlock)
		json_text(j, "landlock");
	if (o->allow_ptrace)
		json_text(j, "ptrace");
	json_close(j, ']');
}

/* What is known when the policy is. */
static void
put_policy(const struct tell *t, struct json *j)
{
	size_t i;

	json_key(j, "profiles");
	json_open(j, '[');
	for (i = 0; i < t->nprofiles; i++)
		put_profile(j, &t->profiles[i], 1);
	json_close(j, ']');
	json_pair(j, "policy", t->policy);
	json_key(j, "report");
	json_open(j, '[');
	json_text(j, "egress");
	if (t->reports & 1U << REPORT_EXEC)
		json_text(j, "exec");
	if (t->reports & 1U << REPORT_FS)
		json_text(j, "fs");
	json_close(j, ']');
	json_pair(j, "on_violation", on_names[t->on]);
}

int
tell_file_begin(struct tell *t, const char *name, int code)
{
	const struct caller *c = t->caller;
	struct json j;

	line_begin(t, &j, name);
	json_pair(&j, "mode", "user");
	json_pair(&j, "user", c->user);
	json_count(&j, "uid", c->uid);
	json_key(&j, "tty");
	if (t->tty[0] != '\0')
		json_text(&j, t->tty);
	else
		json_null(&j);
	json_pair(&j, "directory", c->cwd);
	put_command(t, &j);
	put_weakened(&j, t->options);
	if (code == 0)
		put_policy(t, &j);
	else
		json_count(&j, "code", (uint64_t)code);
	return line_end(t, &j);
}

int
tell_file_violation(struct tell *t, const struct event *e, uint64_t count)
{
	char name[EVENT_ERRNO_LEN];
	struct json j;
	size_t i;

	line_begin(t, &j, "violation");
	json_pair(&j, "surface", event_surface(e->surface));
	json_pair(&j, "action", e->action);
	json_pair(&j, "resource", e->resource);
	json_key(&j, "error");
	if (e->err != 0)
		json_text(&j, event_errno(e->err, name));
	else
		json_null(&j);
	json_pair(&j, "rule", e->rule[0] != '\0' ? e->rule : "no match");
	if (e->line != 0)
		json_count(&j, "line", e->line);
	if (tell_rule_profile(t, e) != NULL)
		json_pair(&j, "rule_profile", tell_rule_profile(t, e));
	json_key(&j, "profiles");
	json_open(&j, '[');
	for (i = 0; i < t->nprofiles; i++)
		if (tell_charges(t, e, i))
			put_profile(&j, &t->profiles[i], 0);
	json_close(&j, ']');
	json_count(&j, "count", count);
	return line_end(t, &j);
}

int
tell_file_note(struct tell *t, const struct event *e, uint64_t count)
{
	char name[EVENT_ERRNO_LEN];
	struct json j;

	line_begin(t, &j, "unreached");
	json_pair(&j, "surface", event_surface(e->surface));
	json_pair(&j, "action", e->action);
	json_pair(&j, "resource", e->resource);
	json_pair(&j, "error", event_errno(e->err, name));
	json_pair(&j, "rule", e->rule[0] != '\0' ? e->rule : "no match");
	if (e->line != 0)
		json_count(&j, "line", e->line);
	json_count(&j, "count", count);
	return line_end(t, &j);
}

int
tell_file_use(struct tell *t, const struct event *e)
{
	struct json j;

	line_begin(t, &j, "use");
	json_pair(&j, "surface", event_surface(e->surface));
	json_pair(&j, "action", e->action);
	json_pair(&j, "resource", e->resource);
	json_pair(&j, "rule", e->rule[0] != '\0' ? e->rule : "no match");
	if (e->line != 0)
		json_count(&j, "line", e->line);
	return line_end(t, &j);
}

int
tell_file_lost(struct tell *t, uint64_t count)
{
	struct json j;

	line_begin(t, &j, "lost");
	json_count(&j, "count", count);
	return line_end(t, &j);
}

int
tell_file_end(struct tell *t, const struct tell_end *end)
{
	const struct rusage *u = end->usage;
	struct json j;

	line_begin(t, &j, "end");
	json_pair(&j, "by", end->by_payload ? "payload" : "carrel");
	json_count(&j, "code", (uint64_t)end->code);
	if (end->signal != 0)
		json_count(&j, "signal", (uint64_t)end->signal);
	json_count(&j, "violations", end->violations);
	json_count(&j, "lost", end->lost);
	json_count(&j, "unwritten", t->file.lost);
	json_count(&j, "wall_ms", (uint64_t)end->wall);
	json_count(&j, "user_ms", tell_ms(&u->ru_utime));
	json_count(&j, "system_ms", tell_ms(&u->ru_stime));
	json_count(&j, "memory_kib", (uint64_t)u->ru_maxrss);
	return line_end(t, &j);
}
