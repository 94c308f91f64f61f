#include <stdlib.h>
#include <string.h>

#include "installed.h"
#include "ipc/limits.h"
#include "ipc/log.h"
#include "ipc/text.h"
#include "out.h"

static const char *const titles[] = {
    [LAYER_SHIPPED] = "SHIPPED", [LAYER_HOST] = "HOST", [LAYER_USER] = "USER"};

void
installed_faults(struct out *o, const struct installed *in)
{
	char text[3 * TEXT_MAX_LEN];
	struct cell c = {0}, none = {0};
	size_t i;

	if (in->c.nfaults == 0)
		return;
	out_block(o, "REFUSED", "no run can use these");
	for (i = 0; i < in->c.nfaults; i++) {
		cell_add(&c,
		    refusal_text(&in->c.faults[i].refusal, text, sizeof(text)));
		out_row(o, "no", &c, &none, "");
	}
}

/* Everything that it includes itself. */
static void
includes(struct cell *c, const struct installed *in, size_t item)
{
	const struct catalogue_line *l = NULL;
	const char *sep = "includes ";

	while (
	    (l = installed_line(in, item, "profile", "include", l)) != NULL) {
		cell_add(c, sep);
		cell_add(c, l->value);
		sep = ", ";
		l++;
	}
}

static void
profile_row(struct out *o, const struct installed *in, size_t item)
{
	const struct catalogue_item *it = &in->c.items[item];
	const struct catalogue_line *l;
	struct cell left = {0}, right = {0};

	l = installed_line(in, item, "profile", "description", NULL);
	if (it->state == ITEM_BAD)
		cell_add(&left, "cannot be used");
	else if (l != NULL)
		cell_add(&left, l->value);
	includes(&right, in, item);
	out_row(o, it->name, &left, &right,
	    it->state == ITEM_BAD	      ? "<- refused, see below"
	    : installed_default(in, it->name) ? "<- a default"
					      : "");
}

void
installed_list(struct out *o, const struct installed *in)
{
	const struct catalogue_item *layer, *it;
	struct cell c = {0};
	size_t i, k, n;

	for (i = 0; i < in->c.nitems; i++) {
		layer = &in->c.items[i];
		if (layer->kind != ITEM_LAYER)
			continue;
		out_block(o, titles[layer->layer], layer->file);
		for (n = k = 0; k < in->c.nitems; k++) {
			it = &in->c.items[k];
			if (it->kind != ITEM_PROFILE ||
			    it->layer != layer->layer)
				continue;
			profile_row(o, in, k);
			n++;
		}
		if (n > 0)
			continue;
		cell_add(&c, layer->state == ITEM_ABSENT
				 ? "there is no such directory"
				 : "none");
		out_note(o, &c);
	}
}

/* The tree: who includes whom. Names are looked up once. */

struct forest {
	const struct installed *in;
	struct out *o;
	unsigned char *drawn, *path; /* by item; path: on the way here */
	unsigned char *below;	     /* somebody includes it */
};

static size_t
find(const struct installed *in, const char *name)
{
	const struct catalogue_item *it = installed_find(in, name);

	return it == NULL ? in->c.nitems : (size_t)(it - in->c.items);
}

/* Its includes, unless they stand above already. */
static void
branch(struct forest *f, size_t item, unsigned depth)
{
	const struct catalogue_line *l = NULL;
	struct cell c = {0};
	size_t k;

	f->path[item] = 1;
	while ((l = installed_line(f->in, item, "profile", "include", l)) !=
	       NULL) {
		k = find(f->in, l->value);
		cell_add(&c, l->value);
		if (k == f->in->c.nitems)
			cell_add(&c, " <- unknown");
		else if (f->path[k])
			cell_add(&c, " <- a cycle");
		else if (f->drawn[k] && installed_line(f->in, k, "profile",
					    "include", NULL) != NULL)
			cell_add(&c, " (as above)");
		if (installed_default(f->in, l->value))
			cell_add(&c, " <- a default");
		out_branch(f->o, depth, &c);
		if (k < f->in->c.nitems && !f->drawn[k] && !f->path[k] &&
		    depth < INCLUDE_DEPTH)
			branch(f, k, depth + 1);
		l++;
	}
	f->path[item] = 0;
	f->drawn[item] = 1;
}

static void
root(struct forest *f, size_t item)
{
	struct cell c = {0};

	cell_add(&c, f->in->c.items[item].name);
	if (f->in->c.items[item].state == ITEM_BAD)
		cell_add(&c, " <- refused, see below");
	else if (installed_default(f->in, f->in->c.items[item].name))
		cell_add(&c, " <- a default");
	out_branch(f->o, 0, &c);
	branch(f, item, 1);
}

void
installed_tree(struct out *o, const struct installed *in)
{
	struct forest f = {.in = in, .o = o};
	size_t i, k, n = in->c.nitems;

	f.drawn = calloc(n + 1, 1);
	f.path = calloc(n + 1, 1);
	f.below = calloc(n + 1, 1);
	if (f.drawn == NULL || f.path == NULL || f.below == NULL)
		fatal("out of memory");
	for (i = 0; i < in->c.nlines; i++)
		if (in->c.lines[i].item != CATALOGUE_NOWHERE &&
		    strcmp(in->c.lines[i].key, "include") == 0 &&
		    (k = find(in, in->c.lines[i].value)) < n &&
		    k != in->c.lines[i].item)
			f.below[k] = 1;
	out_block(o, "PROFILES", "and below each what it includes");
	for (i = 0; i < n; i++)
		if (in->c.items[i].kind == ITEM_PROFILE && !f.below[i])
			root(&f, i);
	/* what only a cycle leads to */
	for (i = 0; i < n; i++)
		if (in->c.items[i].kind == ITEM_PROFILE && f.below[i] &&
		    !f.drawn[i])
			root(&f, i);
	free(f.drawn);
	free(f.path);
	free(f.below);
}

/* The preferences: which files there are, and what is in force. */

static void
file_rows(struct out *o, const struct installed *in)
{
	static const char *const states[] = {[ITEM_GOOD] = "",
	    [ITEM_ABSENT] = ", absent",
	    [ITEM_BAD] = ", refused"};
	const struct catalogue_item *it;
	struct cell left = {0}, right = {0};
	size_t i, k, n;

	out_block(o, "FILES", "");
	for (i = 0; i < in->c.nitems; i++) {
		it = &in->c.items[i];
		if (it->kind == ITEM_PROFILE)
			continue;
		cell_quote(&left, it->file);
		cell_add(&left, states[it->state]);
		for (n = k = 0; k < in->c.nitems; k++)
			n += in->c.items[k].kind == ITEM_PROFILE &&
			     in->c.items[k].layer == it->layer;
		if (it->kind == ITEM_LAYER)
			cell_addf(
			    &right, "%zu profile%s", n, n == 1 ? "" : "s");
		else
			cell_add(&right, "preferences");
		out_row(o, policy_layer(it->layer), &left, &right, "");
	}
}

static void
preference_row(
    struct out *o, const struct installed *in, const struct catalogue_line *l)
{
	struct cell left = {0}, right = {0};

	if (strcmp(l->key, "defaults") == 0)
		cell_add(&left, l->value[0] != '\0' ? l->value : "none");
	else
		cell_scalar(&left, l->value);
	if (l->item == CATALOGUE_NOWHERE) {
		cell_add(&right, "(carrel)");
	} else {
		cell_add(&right, in->c.items[l->item].file);
		cell_addf(&right, ":%u", (unsigned)l->number);
	}
	out_row(o, l->key, &left, &right,
	    (l->flags & LINE_COUNTS) == 0 ? "<- not in force" : "");
}

void
installed_config(struct out *o, const struct installed *in)
{
	const struct catalogue_line *l;
	size_t i;

	file_rows(o, in);
	out_block(o, "PREFERENCES", "");
	for (i = 0; i < in->c.nlines; i++) {
		l = &in->c.lines[i];
		if (l->key[0] != '\0' &&
		    (l->item == CATALOGUE_NOWHERE
			    ? (l->flags & LINE_COUNTS) != 0
			    : in->c.items[l->item].kind == ITEM_CONFIG))
			preference_row(o, in, l);
	}
}
