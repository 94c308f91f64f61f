#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child/shared/json.h"
#include "child/shared/kept.h"
#include "ipc/limits.h"
#include "ipc/log.h"
#include "ipc/text.h"
#include "learn.h"
#include "writing.h"

#define HEAD_MAX 2048 /* of JSON, beside the lines */

static const char *
times(uint64_t n)
{
	return n == 1 ? "time" : "times";
}

static void
put_line(FILE *f, const struct learn_line *l)
{
	const char *is = l->key[0] != '\0' ? " = " : "";

	if (l->against == NULL) {
		writing_line(f, "; %s, %llu %s", l->why,
		    (unsigned long long)l->times, times(l->times));
		writing_line(f, "%s = %s", l->key, l->value);
		return;
	}
	writing_line(f, "; NOT PROPOSED: %s", l->against);
	writing_line(f, "; (%s, %llu %s)", l->why, (unsigned long long)l->times,
	    times(l->times));
	writing_line(f, "; %s%s%s", l->key, is, l->value);
}

static void
put_head(FILE *f, const struct kept *k)
{
	writing_line(
	    f, "; Of this command, which ended with %u:", (unsigned)k->code);
	writing_line(f, "; %s", k->command);
	fprintf(f,
	    "; what it did not have, as carrel saw it (run %s).\n"
	    "; A program chooses what it looks for, so this is a proposal and "
	    "no answer:\n"
	    "; delete each line that you cannot explain. Then save it as\n"
	    "; ~/.config/carrel/profiles.d/NAME.profile, look at it with\n"
	    "; carrel profile lint NAME, and use it with carrel run -p NAME\n",
	    k->run);
}

static void
put_profile(FILE *f, const struct kept *k)
{
	size_t n = strlen(k->command);

	fprintf(f, "\n[profile]\n");
	if (n > 0 && n < VALUE_MAX_LEN / 4 && !text_unsafe(k->command, n) &&
	    text_utf8(k->command, n))
		writing_line(f, "description = learned from: %s", k->command);
	else
		fprintf(f, "description = learned from a run\n");
	fprintf(f, "; one sentence: what could a hostile program do with it?\n"
		   "; abuse = \n");
}

char *
learn_profile(const struct learned *l, const struct kept *k)
{
	const char *section = "";
	char *text;
	size_t len, i;
	FILE *f = open_memstream(&text, &len);

	if (f == NULL)
		fatal("out of memory");
	put_head(f, k);
	put_profile(f, k);
	for (i = 0; i < l->n; i++) {
		if (strcmp(section, l->lines[i].section) != 0)
			fprintf(f, "\n[%s]\n", l->lines[i].section);
		section = l->lines[i].section;
		put_line(f, &l->lines[i]);
	}
	if (k->lost > 0)
		fprintf(f,
		    "\n; and %llu of which no more is known: with this profile "
		    "learn once more\n",
		    (unsigned long long)k->lost);
	if (fclose(f) == EOF)
		fatal("out of memory");
	return text;
}

static size_t
room(const struct learned *l)
{
	size_t i, n = HEAD_MAX + 5 * KEPT_COMMAND_MAX;

	for (i = 0; i < l->n; i++)
		n += 8 * (strlen(l->lines[i].value) + strlen(l->lines[i].why)) +
		     HEAD_MAX;
	return n;
}

static void
json_line(struct json *j, const struct learn_line *l)
{
	json_open(j, '{');
	json_pair(j, "section", l->section);
	json_key(j, "key");
	if (l->key[0] != '\0')
		json_text(j, l->key);
	else
		json_null(j);
	json_pair(j, "value", l->value);
	json_key(j, "proposed");
	json_truth(j, l->against == NULL);
	json_key(j, "remark");
	if (l->against != NULL)
		json_text(j, l->against);
	else
		json_null(j);
	json_pair(j, "why", l->why);
	json_count(j, "times", l->times);
	json_close(j, '}');
}

char *
learn_json(const struct learned *l, const struct kept *k)
{
	size_t i, cap = room(l);
	struct json j;
	char *buf = malloc(cap + 2);

	if (buf == NULL)
		fatal("out of memory");
	json_init(&j, buf, cap);
	json_open(&j, '{');
	json_count(&j, "v", 1);
	json_pair(&j, "run", k->run);
	json_pair(&j, "command", k->command);
	json_count(&j, "code", k->code);
	json_count(&j, "lost", k->lost);
	json_key(&j, "lines");
	json_open(&j, '[');
	for (i = 0; i < l->n; i++)
		json_line(&j, &l->lines[i]);
	json_close(&j, ']');
	json_close(&j, '}');
	if (j.bad)
		fatal("internal: what was learned has no room");
	strcpy(buf + j.len, "\n");
	return buf;
}
