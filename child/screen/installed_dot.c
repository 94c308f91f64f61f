#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "installed.h"
#include "ipc/limits.h"
#include "ipc/log.h"
#include "ipc/text.h"

/* A name between quotes: escaped, and no quote or backslash is left in it. */
static void
put_name(FILE *f, const char *raw)
{
	char safe[4 * VALUE_MAX_LEN + 8];
	char *p;

	text_quote(safe, sizeof(safe), raw, "\"\\");
	for (p = safe; *p != '\0'; p++)
		if (*p == '\\')
			*p = '?';
	fprintf(f, "\"%s\"", safe);
}

static void
put_node(FILE *f, const struct installed *in, const struct catalogue_item *it)
{
	static const char *const shapes[] = {[LAYER_SHIPPED] = "box",
	    [LAYER_HOST] = "hexagon",
	    [LAYER_USER] = "ellipse"};

	fprintf(f, "  ");
	put_name(f, it->name);
	fprintf(f, " [shape=%s%s%s];\n", shapes[it->layer],
	    it->state == ITEM_BAD	      ? ", color=red"
	    : installed_default(in, it->name) ? ", style=bold"
					      : "",
	    "");
}

/* The includes as a graph for dot(1): the same catalogue, the same bytes. */
char *
installed_dot(const struct installed *in)
{
	const struct catalogue_line *l;
	char *text = NULL;
	size_t len, i;
	FILE *f;

	if ((f = open_memstream(&text, &len)) == NULL)
		fatal("out of memory");
	fprintf(f, "digraph carrel {\n  rankdir=LR;\n");
	for (i = 0; i < in->c.nitems; i++)
		if (in->c.items[i].kind == ITEM_PROFILE)
			put_node(f, in, &in->c.items[i]);
	for (i = 0; i < in->c.nlines; i++) {
		l = &in->c.lines[i];
		if (l->item == CATALOGUE_NOWHERE ||
		    strcmp(l->key, "include") != 0)
			continue;
		fprintf(f, "  ");
		put_name(f, in->c.items[l->item].name);
		fprintf(f, " -> ");
		put_name(f, l->value);
		fprintf(f, ";\n");
	}
	fprintf(f, "}\n");
	if (fclose(f) == EOF)
		fatal("out of memory");
	return text;
}
