#include <stdlib.h>
#include <string.h>

#include "child/shared/json.h"
#include "installed.h"
#include "ipc/log.h"

static const char *
state(const struct catalogue_item *it)
{
	static const char *const names[] = {[ITEM_GOOD] = "good",
	    [ITEM_ABSENT] = "absent",
	    [ITEM_BAD] = "refused"};

	return names[it->state];
}

/* More than all strings can need, each byte as \\xHH and that in JSON. */
static size_t
room(const struct catalogue *c)
{
	const struct refusal *r;
	size_t i, n = 4096;

	for (i = 0; i < c->nitems; i++)
		n += 512 + 5 * (2 * strlen(c->items[i].name) +
				   strlen(c->items[i].file));
	for (i = 0; i < c->nlines; i++)
		n += 256 + 5 * (strlen(c->lines[i].section) +
				   strlen(c->lines[i].key) +
				   2 * strlen(c->lines[i].value) +
				   strlen(c->lines[i].inside));
	for (i = 0; i < c->nfaults; i++) {
		r = &c->faults[i].refusal;
		n += 256 + 5 * (strlen(r->profile) + strlen(r->file) +
				   strlen(r->what) + strlen(r->fix));
	}
	return n;
}

static void
put_line(struct json *j, const struct catalogue_line *l)
{
	json_open(j, '{');
	json_pair(j, "section", l->section);
	json_pair(j, "key", l->key);
	json_pair(j, "value", l->value);
	json_count(j, "line", l->number);
	json_key(j, "inside");
	if (l->inside[0] != '\0')
		json_text(j, l->inside);
	else
		json_null(j);
	json_key(j, "writes");
	json_truth(j, (l->flags & LINE_WRITES) != 0);
	json_close(j, '}');
}

static void
put_includes(struct json *j, const struct installed *in, size_t item)
{
	const struct catalogue_line *l = NULL;

	json_key(j, "includes");
	json_open(j, '[');
	while ((l = installed_line(in, item, "profile", "include", l)) != NULL)
		json_text(j, l++->value);
	json_close(j, ']');
}

static void
put_profile(struct json *j, const struct installed *in, size_t item, int lines)
{
	const struct catalogue_item *it = &in->c.items[item];
	const struct catalogue_line *l;
	size_t i;

	json_open(j, '{');
	json_pair(j, "name", it->name);
	json_pair(j, "layer", policy_layer(it->layer));
	json_pair(j, "file", it->file);
	json_pair(j, "state", state(it));
	json_key(j, "digest");
	if (it->digest[0] != '\0')
		json_text(j, it->digest);
	else
		json_null(j);
	json_key(j, "default");
	json_truth(j, installed_default(in, it->name));
	l = installed_line(in, item, "profile", "description", NULL);
	json_pair(j, "description", l != NULL ? l->value : "");
	put_includes(j, in, item);
	if (lines) {
		json_key(j, "lines");
		json_open(j, '[');
		for (i = 0; i < in->c.nlines; i++)
			if (in->c.lines[i].item == item &&
			    in->c.lines[i].key[0] != '\0')
				put_line(j, &in->c.lines[i]);
		json_close(j, ']');
	}
	json_close(j, '}');
}

static void
put_profiles(struct json *j, const struct installed *in, int show)
{
	size_t i;

	json_key(j, "profiles");
	json_open(j, '[');
	for (i = 0; i < in->c.nitems; i++)
		if (in->c.items[i].kind == ITEM_PROFILE &&
		    (!show || i == in->subject))
			put_profile(j, in, i, show);
	json_close(j, ']');
}

static void
put_files(struct json *j, const struct installed *in)
{
	const struct catalogue_item *it;
	size_t i;

	json_key(j, "files");
	json_open(j, '[');
	for (i = 0; i < in->c.nitems; i++) {
		it = &in->c.items[i];
		if (it->kind == ITEM_PROFILE)
			continue;
		json_open(j, '{');
		json_pair(j, "kind",
		    it->kind == ITEM_LAYER ? "profiles" : "preferences");
		json_pair(j, "layer", policy_layer(it->layer));
		json_pair(j, "file", it->file);
		json_pair(j, "state", state(it));
		json_close(j, '}');
	}
	json_close(j, ']');
}

/* Those in force. */
static void
put_preferences(struct json *j, const struct installed *in)
{
	const struct catalogue_line *l, *prompt = NULL;
	size_t i;

	json_key(j, "defaults");
	json_open(j, '[');
	for (i = 0; i < in->c.nlines; i++) {
		l = &in->c.lines[i];
		if ((l->flags & LINE_COUNTS) == 0)
			continue;
		if (strcmp(l->key, "prompt") == 0)
			prompt = l;
		else if (l->value[0] != '\0')
			json_text(j, l->value);
	}
	json_close(j, ']');
	json_key(j, "prompt");
	if (prompt != NULL)
		json_text(j, prompt->value);
	else
		json_null(j);
}

static void
put_faults(struct json *j, const struct installed *in)
{
	const struct refusal *r;
	size_t i;

	json_key(j, "refused");
	json_open(j, '[');
	for (i = 0; i < in->c.nfaults; i++) {
		r = &in->c.faults[i].refusal;
		json_open(j, '{');
		json_pair(j, "profile", r->profile);
		json_pair(j, "file", r->file);
		json_count(j, "line", r->line);
		json_pair(j, "what", r->what);
		json_pair(j, "fix", r->fix);
		json_close(j, '}');
	}
	json_close(j, ']');
}

char *
installed_json(const struct installed *in, const char *verb)
{
	size_t cap = room(&in->c);
	struct json j;
	char *buf;

	if (cap > INSTALLED_JSON_MAX)
		cap = INSTALLED_JSON_MAX;
	if ((buf = malloc(cap + 2)) == NULL)
		fatal("out of memory");
	json_init(&j, buf, cap);
	json_open(&j, '{');
	json_count(&j, "v", 1);
	if (strcmp(verb, "config") == 0) {
		put_files(&j, in);
		put_preferences(&j, in);
	} else
		put_profiles(&j, in, strcmp(verb, "show") == 0);
	put_faults(&j, in);
	json_close(&j, '}');
	if (j.bad)
		fatal("that is more than %lu MiB; remove profiles that are not "
		      "used",
		    INSTALLED_JSON_MAX >> 20);
	strcpy(buf + j.len, "\n");
	return buf;
}
