#include <stdlib.h>
#include <string.h>

#include "child/shared/json.h"
#include "doctor_parts.h"
#include "ipc/log.h"

#define DOCTOR_VERSION 1

static const char *const words[] = {
    [JUDGED_OK] = "ok", [JUDGED_NOTE] = "--", [JUDGED_NO] = "no"};
static const char *const names[] = {
    [JUDGED_OK] = "ok", [JUDGED_NOTE] = "note", [JUDGED_NO] = "no"};

static const char *
text_of(const struct cell *c)
{
	return c->s != NULL ? c->s : "";
}

static const char *
mode(const struct visit *v)
{
	return v->hosted ? "hosted" : "user";
}

void
doctor_text(const struct visit *v, unsigned width, int colour)
{
	struct cell c = {0};
	struct out o;
	size_t i;

	out_open(&o, width, colour);
	for (i = 0; i < v->n; i++) {
		cell_harmless(&c, text_of(&v->list[i].what));
		if (v->list[i].fix.len > 0) {
			cell_harmless(&c, "; ");
			cell_harmless(&c, text_of(&v->list[i].fix));
		}
		out_verdict(
		    &o, words[v->list[i].as], &c, v->list[i].as != JUDGED_NO);
	}
	if (v->bad == 0)
		cell_addf(
		    &c, "%s mode works on this host: carrel run", mode(v));
	else
		cell_addf(&c,
		    "not everything is as carrel run needs it: %zu of the "
		    "lines above %s no",
		    v->bad, v->bad == 1 ? "says" : "say");
	out_block(&o, v->bad == 0 ? "YES" : "NO", text_of(&c));
	cell_free(&c);
	out_close(&o);
	out_write(o.text, o.len);
	out_free(&o);
}

/* The cells are escaped already; JSON escapes their backslashes and quotes. */
static size_t
room(const struct visit *v)
{
	size_t i, n = 256;

	for (i = 0; i < v->n; i++)
		n += 128 + 2 * (v->list[i].what.len + v->list[i].fix.len);
	return n;
}

static void
put(struct json *j, const struct judgement *d)
{
	json_open(j, '{');
	json_pair(j, "id", d->id);
	json_pair(j, "state", names[d->as]);
	json_key(j, "text");
	json_harmless(j, text_of(&d->what));
	json_key(j, "fix");
	json_harmless(j, text_of(&d->fix));
	json_close(j, '}');
}

void
doctor_json(const struct visit *v)
{
	size_t i, cap = room(v);
	struct json j;
	char *buf;

	if ((buf = malloc(cap + 2)) == NULL)
		fatal("out of memory");
	json_init(&j, buf, cap);
	json_open(&j, '{');
	json_count(&j, "v", DOCTOR_VERSION);
	json_key(&j, "works");
	json_truth(&j, v->bad == 0);
	json_pair(&j, "mode", mode(v));
	json_key(&j, "checks");
	json_open(&j, '[');
	for (i = 0; i < v->n; i++)
		put(&j, &v->list[i]);
	json_close(&j, ']');
	json_close(&j, '}');
	if (j.bad)
		fatal("what doctor found does not fit into its JSON; see "
		      "carrel doctor");
	strcpy(buf + j.len, "\n");
	out_write(buf, strlen(buf));
	free(buf);
}
