#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue.h"
#include "ipc/buf.h"
#include "ipc/channel.h"
#include "ipc/check.h"
#include "ipc/grow.h"
#include "ipc/limits.h"

static void
item_free(struct catalogue_item *i)
{
	free(i->name);
	free(i->file);
}

static void
line_free(struct catalogue_line *l)
{
	free(l->section);
	free(l->key);
	free(l->value);
	free(l->inside);
}

static void
fault_free(struct catalogue_fault *f)
{
	free(f->refusal.profile);
	free(f->refusal.file);
	free(f->refusal.what);
	free(f->refusal.fix);
}

void
catalogue_free(struct catalogue *c)
{
	size_t i;

	for (i = 0; i < c->nitems; i++)
		item_free(&c->items[i]);
	for (i = 0; i < c->nlines; i++)
		line_free(&c->lines[i]);
	for (i = 0; i < c->nfaults; i++)
		fault_free(&c->faults[i]);
	free(c->items);
	free(c->lines);
	free(c->faults);
	memset(c, 0, sizeof(*c));
}

int
catalogue_add_item(struct catalogue *c, const struct catalogue_item *from)
{
	struct catalogue_item *i;

	if (c->nitems == CATALOGUE_MAX) {
		errno = E2BIG;
		return -1;
	}
	if ((i = grow_from(64, c->items, c->nitems, sizeof(*i))) == NULL)
		return -1;
	c->items = i;
	i += c->nitems;
	*i = *from;
	i->name = strdup(from->name);
	i->file = strdup(from->file);
	if (i->name == NULL || i->file == NULL) {
		item_free(i);
		return -1;
	}
	c->nitems++;
	return 0;
}

int
catalogue_add_line(struct catalogue *c, const struct catalogue_line *from)
{
	struct catalogue_line *l;

	if (c->nlines == CATALOGUE_LINES) {
		errno = E2BIG;
		return -1;
	}
	if ((l = grow_from(256, c->lines, c->nlines, sizeof(*l))) == NULL)
		return -1;
	c->lines = l;
	l += c->nlines;
	*l = *from;
	l->section = strdup(from->section);
	l->key = strdup(from->key);
	l->value = strdup(from->value);
	l->inside = strdup(from->inside);
	if (l->section == NULL || l->key == NULL || l->value == NULL ||
	    l->inside == NULL) {
		line_free(l);
		return -1;
	}
	c->nlines++;
	return 0;
}

int
catalogue_add_fault(
    struct catalogue *c, unsigned verdict, const struct refusal *from)
{
	struct catalogue_fault *f;

	if (c->nfaults == CATALOGUE_MAX) {
		errno = E2BIG;
		return -1;
	}
	if ((f = grow_from(8, c->faults, c->nfaults, sizeof(*f))) == NULL)
		return -1;
	c->faults = f;
	f += c->nfaults;
	f->verdict = verdict != 0;
	f->refusal.line = from->line;
	f->refusal.profile = strdup(from->profile);
	f->refusal.file = strdup(from->file);
	f->refusal.what = strdup(from->what);
	f->refusal.fix = strdup(from->fix);
	if (f->refusal.profile == NULL || f->refusal.file == NULL ||
	    f->refusal.what == NULL || f->refusal.fix == NULL) {
		fault_free(f);
		return -1;
	}
	c->nfaults++;
	return 0;
}

/* struct catalogue_item: RECORD_ITEM */

static void
put_item(struct wbuf *w, const struct catalogue_item *i)
{
	wbuf_u8(w, i->kind);
	wbuf_u8(w, i->state);
	wbuf_u8(w, i->layer);
	wbuf_str(w, i->name);
	wbuf_str(w, i->file);
	wbuf_str(w, i->digest);
}

/* The name of a profile may be one that none can have; then it is bad. */
static int
check_item(const struct catalogue_item *i)
{
	size_t n = strlen(i->digest);

	if (i->kind < ITEM_LAYER || i->kind > ITEM_LAST ||
	    i->state < ITEM_GOOD || i->state > ITEM_STATE_LAST ||
	    i->layer < LAYER_SHIPPED || i->layer > LAYER_USER)
		return -1;
	if (i->kind != ITEM_PROFILE)
		return i->name[0] == '\0' && n == 0 ? 0 : -1;
	if (i->state == ITEM_ABSENT ||
	    (i->state == ITEM_GOOD && !check_name(i->name)))
		return -1;
	if (i->state == ITEM_GOOD &&
	    (i->name[0] == '@') != (i->layer == LAYER_SHIPPED))
		return -1;
	return (n == 0 || n == SHA256_HEX) &&
		       strspn(i->digest, "0123456789abcdef") == n
		   ? 0
		   : -1;
}

/* In order: by kind, profiles by name and layer, and each once. */
static int
follows(const struct catalogue *c, const struct catalogue_item *i)
{
	const struct catalogue_item *last;
	int n;

	if (c->nitems == 0)
		return 1;
	last = &c->items[c->nitems - 1];
	if (last->kind != i->kind)
		return last->kind < i->kind;
	n = strcmp(last->name, i->name);
	return n < 0 || (n == 0 && last->layer < i->layer);
}

static int
get_item(struct rcur *c, struct catalogue *out)
{
	struct catalogue_item i;

	memset(&i, 0, sizeof(i));
	i.kind = rcur_u8(c);
	i.state = rcur_u8(c);
	i.layer = rcur_u8(c);
	i.name = (char *)rcur_str(c, COMPONENT_MAX + 1);
	i.file = (char *)rcur_str(c, PATH_MAX_LEN);
	strcpy(i.digest, rcur_str(c, SHA256_HEX));
	if (rcur_end(c) == -1 || check_item(&i) == -1 || !follows(out, &i))
		return -1;
	return catalogue_add_item(out, &i);
}

/* struct catalogue_line: RECORD_LINE */

static void
put_line(struct wbuf *w, const struct catalogue_line *l)
{
	wbuf_u32(w, l->item);
	wbuf_u32(w, l->number);
	wbuf_u8(w, l->flags);
	wbuf_str(w, l->section);
	wbuf_str(w, l->key);
	wbuf_str(w, l->value);
	wbuf_str(w, l->inside);
}

static int
get_line(struct rcur *c, struct catalogue *out)
{
	struct catalogue_line l;

	memset(&l, 0, sizeof(l));
	l.item = rcur_u32(c);
	l.number = rcur_u32(c);
	l.flags = rcur_u8(c);
	l.section = (char *)rcur_str(c, SECTION_MAX_LEN);
	l.key = (char *)rcur_str(c, KEY_MAX_LEN);
	l.value = (char *)rcur_str(c, VALUE_MAX_LEN);
	l.inside = (char *)rcur_str(c, PATH_MAX_LEN);
	if (out->nlines > 0 && l.item < out->lines[out->nlines - 1].item)
		return -1;
	if (rcur_end(c) == -1 || (l.flags & ~LINE_FLAGS) != 0 ||
	    (l.item != CATALOGUE_NOWHERE &&
		(l.item >= out->nitems ||
		    out->items[l.item].state != ITEM_GOOD)))
		return -1;
	return catalogue_add_line(out, &l);
}

/* struct catalogue_fault: RECORD_FAULT */

static void
put_fault(struct wbuf *w, const struct catalogue_fault *f)
{
	wbuf_u8(w, f->verdict);
	wbuf_str(w, f->refusal.profile);
	wbuf_str(w, f->refusal.file);
	wbuf_u32(w, f->refusal.line);
	wbuf_str(w, f->refusal.what);
	wbuf_str(w, f->refusal.fix);
}

static int
get_fault(struct rcur *c, struct catalogue *out)
{
	struct refusal r;
	unsigned verdict = rcur_u8(c);

	r.profile = (char *)rcur_str(c, VALUE_MAX_LEN);
	r.file = (char *)rcur_str(c, PATH_MAX_LEN);
	r.line = rcur_u32(c);
	r.what = (char *)rcur_str(c, TEXT_MAX_LEN);
	r.fix = (char *)rcur_str(c, TEXT_MAX_LEN);
	if (rcur_end(c) == -1 || verdict > 1)
		return -1;
	return catalogue_add_fault(out, verdict, &r);
}

/* RECORD_CATALOGUE opens the stream, the last record says what it held. */

static void
put_head(struct wbuf *w)
{
	wbuf_u16(w, CATALOGUE_VERSION);
}

static void
put_end(struct wbuf *w, const struct catalogue *c)
{
	wbuf_u32(w, (uint32_t)c->nitems);
	wbuf_u32(w, (uint32_t)c->nlines);
	wbuf_u32(w, (uint32_t)c->nfaults);
}

static int
get_end(struct rcur *c, const struct catalogue *out)
{
	if (rcur_u32(c) != out->nitems || rcur_u32(c) != out->nlines ||
	    rcur_u32(c) != out->nfaults)
		return -1;
	return rcur_end(c);
}

int
catalogue_send(struct sender *s, const struct catalogue *c)
{
	size_t i;

	put_head(sender_begin(s, RECORD_CATALOGUE));
	if (sender_end(s) == -1)
		return -1;
	for (i = 0; i < c->nitems; i++) {
		put_item(sender_begin(s, RECORD_ITEM), &c->items[i]);
		if (sender_end(s) == -1)
			return -1;
	}
	for (i = 0; i < c->nlines; i++) {
		put_line(sender_begin(s, RECORD_LINE), &c->lines[i]);
		if (sender_end(s) == -1)
			return -1;
	}
	for (i = 0; i < c->nfaults; i++) {
		put_fault(sender_begin(s, RECORD_FAULT), &c->faults[i]);
		if (sender_end(s) == -1)
			return -1;
	}
	put_end(sender_begin(s, RECORD_CATALOGUE_END), c);
	if (sender_end(s) == -1)
		return -1;
	return sender_flush(s);
}

int
catalogue_get(unsigned type, struct rcur *c, struct catalogue *out)
{
	switch (type) {
	case RECORD_CATALOGUE:
		return rcur_u16(c) == CATALOGUE_VERSION ? rcur_end(c) : -1;
	case RECORD_ITEM:
		return get_item(c, out);
	case RECORD_LINE:
		return get_line(c, out);
	case RECORD_FAULT:
		return get_fault(c, out);
	case RECORD_CATALOGUE_END:
		return get_end(c, out);
	default:
		return -1;
	}
}

int
catalogue_receive(struct receiver *r, struct catalogue *out)
{
	struct catalogue ca;
	struct rcur c;
	unsigned type;
	int n;

	memset(&ca, 0, sizeof(ca));
	while ((n = receiver_next(r, &type, &c)) == 1) {
		if (catalogue_get(type, &c, &ca) == -1) {
			errno = EBADMSG;
			n = -1;
			break;
		}
		if (type == RECORD_CATALOGUE_END) {
			n = receiver_finish(r);
			break;
		}
	}
	if (n == -1 || !record_done(&r->state)) {
		catalogue_free(&ca);
		return -1;
	}
	*out = ca;
	return 0;
}
