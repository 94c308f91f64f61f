#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "ipc/check.h"
#include "ipc/limits.h"
#include "ipc/text.h"
#include "layers.h"
#include "place.h"
#include "reader.h"

/* The file being read. */
struct reading {
	const struct place *at;
	struct config *c;
	uint32_t empty; /* the line that makes the list an empty one */
};

void
config_free(struct config *c)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		free(c->names[i].name);
	free(c->names);
	free(c->file);
	free(c->prompt);
	memset(c, 0, sizeof(*c));
}

/* S56: only what carrel fills in itself stands between braces. */
static int
take_prompt(struct reading *in, const struct reader_line *l)
{
	static const char *const words[] = {
	    "{lock}", "{profiles}", "{target}", "{cwd}"};
	const char *p = l->value;
	size_t i;

	if (in->c->prompt != NULL)
		return place_refuse(in->at, l->line, "remove one of the two",
		    "\"prompt\" in [carrel] stands a second time");
	if (*p == '\0' || strlen(p) > PROMPT_MAX_LEN)
		return place_refuse(in->at, l->line,
		    "write a short text or remove the line",
		    "prompt = \"%.64s\" is no prompt: it has 1 to %d bytes", p,
		    PROMPT_MAX_LEN);
	while ((p = strpbrk(p, "{}")) != NULL) {
		for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			if (strncmp(p, words[i], strlen(words[i])) == 0)
				break;
		if (i == sizeof(words) / sizeof(words[0]))
			return place_refuse(in->at, l->line,
			    "use one of {lock} {profiles} {target} {cwd}",
			    "prompt = \"%s\" has a brace that belongs to no "
			    "placeholder",
			    SHOWN(l->value));
		p += strlen(words[i]);
	}
	in->c->prompt = strdup(l->value);
	return in->c->prompt == NULL ? -1 : 0;
}

static int
take_line(void *arg, const struct reader_line *l)
{
	struct reading *in = arg;
	struct config *c = in->c;
	const struct key *k;

	if (l->key == NULL)
		return format_section(in->at, format_config, l) == NULL ? -1
									: 0;
	if ((k = format_key(in->at, format_config, l)) == NULL)
		return -1;
	if (k->kind == KEY_TEXT)
		return take_prompt(in, l);
	if (in->empty != 0 || (c->n > 0 && l->value[0] == '\0'))
		return place_refuse(in->at, l->line,
		    "let \"defaults =\" stand alone, or remove it",
		    "an empty list of defaults stands beside others");
	if (l->value[0] == '\0') {
		in->empty = l->line;
		c->set = 1;
		return 0;
	}
	if (!check_name(l->value))
		return place_refuse(in->at, l->line,
		    "write one name a line: a-z, 0-9 and \"-\", with \"@\" in "
		    "front of a shipped one",
		    "defaults = \"%s\" is not the name of a profile",
		    SHOWN(l->value));
	if (c->n == SELECT_MAX)
		return place_refuse(in->at, l->line, "name fewer",
		    "there are more than %d defaults", SELECT_MAX);
	c->names[c->n].line = l->line;
	if ((c->names[c->n].name = strdup(l->value)) == NULL)
		return -1;
	c->n++;
	c->set = 1;
	return 0;
}

/* One of the two files; it replaces what out has only if it sets it. */
static int
read_one(const struct layers *ls, struct policy *po, enum layer layer,
    struct config *out)
{
	struct place at = {po, "", ""};
	struct text_file f;
	struct config c;
	struct reading in = {.at = &at, .c = &c};
	int n;

	if ((n = layers_config(ls, &at, layer, &f)) <= 0)
		return n;
	memset(&c, 0, sizeof(c));
	at.file = f.path;
	c.names = calloc(SELECT_MAX, sizeof(*c.names));
	if (c.names == NULL ||
	    reader_parse(&at, f.data, f.len, take_line, &in) == -1) {
		config_free(&c);
		text_file_free(&f);
		return -1;
	}
	if (c.prompt == NULL) {
		c.prompt = out->prompt;
		out->prompt = NULL;
	}
	if (c.set) {
		c.file = f.path;
		f.path = NULL;
		config_free(out);
		*out = c;
	} else {
		free(out->prompt);
		out->prompt = c.prompt;
		c.prompt = NULL;
		config_free(&c);
	}
	text_file_free(&f);
	return 0;
}

int
config_read(const struct layers *ls, struct policy *po, struct config *out)
{
	struct config c;
	int n;

	memset(&c, 0, sizeof(c));
	n = read_one(ls, po, LAYER_HOST, &c);
	n |= read_one(ls, po, LAYER_USER, &c); /* both tell what is wrong */
	if (n != 0) {
		config_free(&c);
		return -1;
	}
	*out = c;
	return 0;
}
