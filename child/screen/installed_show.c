#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "installed.h"
#include "ipc/log.h"
#include "ipc/rule.h"
#include "out.h"

static void
row(struct out *o, const char *tag, const char *raw)
{
	struct cell left = {0}, right = {0};

	cell_add(&left, raw);
	out_row(o, tag, &left, &right, "");
}

/* Marks everything that an item includes, by way of others too. */
static void
reach(const struct installed *in, unsigned char *in_it, size_t item)
{
	const struct catalogue_item *it;
	const struct catalogue_line *l;
	size_t i;
	int again = 1;

	in_it[item] = 1;
	while (again) {
		again = 0;
		for (i = 0; i < in->c.nlines; i++) {
			l = &in->c.lines[i];
			if (l->item == CATALOGUE_NOWHERE || !in_it[l->item] ||
			    strcmp(l->key, "include") != 0 ||
			    (it = installed_find(in, l->value)) == NULL ||
			    in_it[it - in->c.items])
				continue;
			in_it[it - in->c.items] = 1;
			again = 1;
		}
	}
}

static void
list_row(struct out *o, const struct installed *in, const char *tag,
    const unsigned char *set)
{
	struct cell left = {0}, right = {0};
	size_t i;

	for (i = 0; i < in->c.nitems; i++)
		if (set[i] && i != in->subject) {
			if (left.len > 0)
				cell_add(&left, ", ");
			cell_add(&left, in->c.items[i].name);
		}
	if (left.len > 0)
		out_row(o, tag, &left, &right, "");
}

static void
kin_rows(struct out *o, const struct installed *in)
{
	const struct catalogue_item *it = &in->c.items[in->subject];
	const struct catalogue_line *l;
	unsigned char *set;
	size_t i;

	if ((set = calloc(in->c.nitems + 1, 1)) == NULL)
		fatal("out of memory");
	reach(in, set, in->subject);
	list_row(o, in, "brings", set);
	memset(set, 0, in->c.nitems);
	for (i = 0; i < in->c.nlines; i++) {
		l = &in->c.lines[i];
		if (l->item != CATALOGUE_NOWHERE &&
		    strcmp(l->key, "include") == 0 &&
		    strcmp(l->value, it->name) == 0)
			set[l->item] = 1;
	}
	list_row(o, in, "part of", set);
	free(set);
}

/* S22: whether a run may have it; what is wrong stands in a block below. */
static void
verdict_row(struct out *o, const struct installed *in)
{
	struct cell left = {0}, right = {0};
	size_t i, n = 0;

	for (i = 0; i < in->c.nfaults; i++)
		n += in->c.faults[i].verdict;
	if (in->c.items[in->subject].state == ITEM_BAD)
		cell_add(&left, "refused: it cannot be read");
	else if (n > 0)
		cell_add(&left, "refused, whatever the target is");
	else
		cell_add(&left, "legal, with all that it includes");
	out_row(o, "verdict", &left, &right,
	    n > 0 || in->c.items[in->subject].state == ITEM_BAD ? "<- see below"
								: "");
}

static void
line_row(struct out *o, const struct catalogue_line *l)
{
	struct cell left = {0}, right = {0};

	cell_scalar(&left, l->value);
	if (l->inside[0] != '\0' && strcmp(l->inside, l->value) != 0) {
		cell_add(&right, "= ");
		cell_quote(&right, l->inside);
		cell_add(&right, ", ");
	}
	cell_addf(&right, "line %u", (unsigned)l->number);
	out_row(o, l->key, &left, &right,
	    (l->flags & LINE_WRITES) != 0 ? "<- writable" : "");
}

void
installed_show(struct out *o, const struct installed *in)
{
	const struct catalogue_item *it = &in->c.items[in->subject];
	const struct catalogue_line *l;
	char title[SECTION_MAX_LEN + 3];
	struct cell c = {0};
	size_t i;

	out_block(o, "PROFILE", it->name);
	cell_quote(&c, it->file);
	row(o, "layer", policy_layer(it->layer));
	out_row(o, "file", &c, &(struct cell){0}, "");
	if (it->digest[0] != '\0')
		row(o, "version", it->digest);
	verdict_row(o, in);
	if (installed_default(in, it->name))
		row(o, "default", "yes");
	kin_rows(o, in);
	for (i = 0; i < in->c.nlines; i++) {
		l = &in->c.lines[i];
		if (l->item != in->subject)
			continue;
		if (l->key[0] != '\0') {
			line_row(o, l);
			continue;
		}
		snprintf(title, sizeof(title), "[%s]", l->section);
		out_block(o, title, "");
	}
}
