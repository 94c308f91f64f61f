#include <stdlib.h>
#include <string.h>

#include "child/shared/advice.h"
#include "child/shared/catalogue.h"
#include "child/shared/json.h"
#include "ipc/log.h"
#include "ipc/policy.h"
#include "violations.h"

static void
begin(struct json *j)
{
	char *buf = malloc(VIOLATIONS_JSON_MAX);

	if (buf == NULL)
		fatal("out of memory");
	/* room for the newline */
	json_init(j, buf, VIOLATIONS_JSON_MAX - 1);
	json_open(j, '{');
	json_count(j, "v", 1);
}

static char *
end(struct json *j)
{
	json_close(j, '}');
	if (j->bad)
		fatal("that is more than %lu MiB; name one run with --run",
		    VIOLATIONS_JSON_MAX >> 20);
	strcpy(j->buf + j->len, "\n");
	return j->buf;
}

static void
put_time(struct json *j, uint64_t ms)
{
	char when[VIOLATIONS_TIME_LEN];

	json_pair(j, "time", violations_time(ms, when, 1));
}

static void
put_profile(struct json *j, const struct kept_profile *p)
{
	json_pair(j, "name", p->name);
	json_pair(j, "layer", policy_layer(p->layer));
	json_pair(j, "file", p->file);
	json_pair(j, "digest", p->digest);
}

static void
put_flag(struct json *j, const struct kept_file *f)
{
	enum violations_now now = violations_now(f);

	json_open(j, '{');
	if (f->data == NULL) {
		json_pair(j, "digest", f->name);
	} else {
		put_profile(j, &f->kept.profiles[0]);
		json_pair(j, "run", f->kept.run);
		put_time(j, f->kept.time);
	}
	json_key(j, "current");
	if (now == NOW_UNKNOWN)
		json_null(j);
	else
		json_truth(j, now == NOW_SAME);
	json_close(j, '}');
}

static void
put_run(struct json *j, const struct kept *k)
{
	json_pair(j, "run", k->run);
	put_time(j, k->time);
	json_pair(j, "command", k->command);
	json_count(j, "code", k->code);
	json_count(j, "violations", k->violations);
	json_count(j, "lost", k->lost);
}

char *
violations_json_list(
    const struct kept_dir *flagged, const struct kept_dir *runs)
{
	struct json j;
	size_t i;

	begin(&j);
	json_key(&j, "flagged");
	json_open(&j, '[');
	for (i = 0; i < flagged->n; i++)
		put_flag(&j, &flagged->files[i]);
	json_close(&j, ']');
	json_key(&j, "runs");
	json_open(&j, '[');
	for (i = 0; i < runs->n; i++) {
		if (runs->files[i].data == NULL)
			continue;
		json_open(&j, '{');
		put_run(&j, &runs->files[i].kept);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_count(&j, "unread", flagged->unread + runs->unread);
	return end(&j);
}

static void
put_event(struct json *j, const struct kept *k, const struct event *e)
{
	char name[EVENT_ERRNO_LEN], fix[ADVICE_MAX];

	json_open(j, '{');
	json_pair(j, "surface", event_surface(e->surface));
	json_pair(j, "action", e->action);
	json_pair(j, "resource", e->resource);
	json_key(j, "error");
	if (e->err != 0)
		json_text(j, event_errno(e->err, name));
	else
		json_null(j);
	json_pair(j, "rule", e->rule[0] != '\0' ? e->rule : "no match");
	json_key(j, "profile");
	if (e->profile != EVENT_NO_PROFILE)
		json_text(j, k->profiles[e->profile].name);
	else
		json_null(j);
	if (e->line != 0)
		json_count(j, "line", e->line);
	if (advice_for(e, fix) != NULL)
		json_pair(j, "fix", fix);
	json_count(j, "count", e->count);
	json_close(j, '}');
}

/* null: that version is not installed any more. */
static void
put_allowed(
    struct json *j, const struct kept_profile *p, const struct catalogue *c)
{
	const struct catalogue_item *it = violations_version(c, p);
	const struct catalogue_line *l;
	size_t i;

	json_key(j, "allowed");
	if (it == NULL) {
		json_null(j);
		return;
	}
	json_open(j, '[');
	for (i = 0; i < c->nlines; i++) {
		l = &c->lines[i];
		if (l->item != (size_t)(it - c->items) || !violations_grants(l))
			continue;
		json_open(j, '{');
		json_pair(j, "section", l->section);
		json_pair(j, "key", l->key);
		json_pair(j, "value", l->value);
		json_count(j, "line", l->number);
		json_close(j, '}');
	}
	json_close(j, ']');
}

char *
violations_json_one(const struct kept *k, const struct catalogue *c)
{
	struct json j;
	size_t i;

	begin(&j);
	put_run(&j, k);
	json_key(&j, "profiles");
	json_open(&j, '[');
	for (i = 0; i < k->nprofiles; i++) {
		json_open(&j, '{');
		put_profile(&j, &k->profiles[i]);
		json_count(&j, "violations", k->profiles[i].times);
		put_allowed(&j, &k->profiles[i], c);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_key(&j, "events");
	json_open(&j, '[');
	for (i = 0; i < k->nevents; i++)
		put_event(&j, k, &k->events[i]);
	json_close(&j, ']');
	return end(&j);
}
