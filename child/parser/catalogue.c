#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue.h"
#include "child/shared/catalogue.h"
#include "claim.h"
#include "config.h"
#include "format.h"
#include "child/shared/caller.h"
#include "ipc/check.h"
#include "ipc/egress.h"
#include "ipc/limits.h"
#include "ipc/pack.h"
#include "child/shared/request.h"
#include "ipc/text.h"
#include "layers.h"
#include "listing.h"
#include "place.h"
#include "reader.h"
#include "resolve.h"
#include "select.h"

/* The catalogue in the making. */
struct listed_files {
	const struct request *q;
	const struct layers *ls;
	struct catalogue *c;
	size_t bytes; /* of all files so far */
	size_t first; /* the first line of the item added last */
	int full;     /* 1: no room for all lines */
};

/* Where the lines of one file go. */
struct taking {
	struct listed_files *all;
	uint32_t item;
	int full;
};

static int
take_line(void *arg, const struct reader_line *l)
{
	struct taking *t = arg;
	struct catalogue_line line = {
	    .item = t->item,
	    .number = l->line,
	    .section = (char *)l->section,
	    .key = (char *)(l->key != NULL ? l->key : ""),
	    .value = (char *)(l->key != NULL ? l->value : ""),
	    .inside = (char *)"",
	};

	if (catalogue_add_line(t->all->c, &line) == 0)
		return 0;
	t->full = errno == E2BIG;
	return t->full ? 0 : -1;
}

/*
 * 1 if that is told already: as the last fault, of two files with one name; or
 * of a file, where the verdict is about it.
 */
static int
told(const struct catalogue *c, unsigned verdict, const struct refusal *r)
{
	const struct refusal *f;
	size_t i;

	for (i = c->nfaults; i > 0; i--) {
		f = &c->faults[i - 1].refusal;
		if (strcmp(f->file, r->file) == 0 && f->line == r->line &&
		    strcmp(f->what, r->what) == 0)
			return 1;
		if (!verdict)
			break;
	}
	return 0;
}

/* What was refused into a scratch policy is the fault of a file. */
static int
take_faults(struct catalogue *c, unsigned verdict, struct policy *po)
{
	struct refusal more = {.profile = (char *)"",
	    .file = (char *)"",
	    .what = (char *)"further reasons are not told",
	    .fix = (char *)""};
	size_t i;
	int n = 0;

	policy_sort(po);
	for (i = 0; i < po->nrefusals && n == 0; i++)
		if (!told(c, verdict, &po->refusals[i]))
			n = catalogue_add_fault(c, verdict, &po->refusals[i]);
	if (n == 0 && po->unkept > 0)
		n = catalogue_add_fault(c, verdict, &more);
	policy_free(po);
	memset(po, 0, sizeof(*po));
	return n == -1 && errno == E2BIG ? 0 : n;
}

static int
add_item(struct catalogue *c, enum item_kind kind, enum item_state state,
    enum layer layer, const char *name, const char *file, const char *digest)
{
	struct catalogue_item i = {.kind = (uint8_t)kind,
	    .state = (uint8_t)state,
	    .layer = (uint8_t)layer,
	    .name = (char *)name,
	    .file = (char *)file};

	strcpy(i.digest, digest);
	return catalogue_add_item(c, &i);
}

/* The lines of a file that parses. data is another copy of it. */
static int
add_lines(struct listed_files *all, char *data, size_t len)
{
	struct policy po;
	struct place at = {&po, "", ""};
	struct taking t = {.all = all, .item = (uint32_t)all->c->nitems - 1};
	int n;

	memset(&po, 0, sizeof(po));
	all->first = all->c->nlines;
	n = reader_parse(&at, data, len, take_line, &t);
	policy_free(&po);
	all->full |= t.full;
	return n;
}

/* The lines of the item added last ascend, and each is once. */
static struct catalogue_line *
line_at(const struct listed_files *all, uint32_t number)
{
	struct catalogue_line *lines = all->c->lines;
	size_t lo = all->first, hi = all->c->nlines, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (lines[mid].number == number)
			return &lines[mid];
		if (lines[mid].number < number)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

static int
set_inside(const struct listed_files *all, uint32_t number, const char *text,
    int writes)
{
	struct catalogue_line *l = line_at(all, number);

	if (l == NULL)
		return 0;
	free(l->inside);
	if (writes)
		l->flags |= LINE_WRITES;
	return (l->inside = strdup(text)) == NULL ? -1 : 0;
}

/* What its grants come to, for this caller and target, if they do. */
static int
add_meaning(const struct listed_files *all, struct member *m)
{
	const struct selection sel = {.members = m, .n = 1};
	struct policy po;
	struct claims cs;
	struct egress e;
	char text[EGRESS_TEXT];
	const struct claim *k;
	size_t i;
	int n = 0;

	memset(&po, 0, sizeof(po));
	(void)claims_gather(all->q, &sel, &po, &cs); /* what cannot be is "" */
	policy_free(&po);
	for (i = 0; i < cs.n && n == 0; i++) {
		k = &cs.list[i];
		n = set_inside(all, k->line, k->guest,
		    k->verb == VERB_WRITE || k->verb == VERB_TRY_WRITE ||
			k->verb == VERB_TMPFS);
	}
	claims_free(&cs);
	for (i = 0; i < m->draft.nrules && n == 0; i++) {
		if (m->draft.rules[i].kind != RULE_EGRESS)
			continue;
		egress_of(&m->draft.rules[i], &e);
		n = set_inside(
		    all, m->draft.rules[i].line, egress_text(&e, text), 0);
	}
	return n;
}

static void
digest(const struct text_file *f, char hex[SHA256_HEX + 1])
{
	struct sha256 s;

	sha256_init(&s);
	sha256_add(&s, f->data, f->len);
	sha256_end(&s, hex);
}

/* A profile whose text was read: its item, lines, faults. */
static int
add_text(struct listed_files *all, const struct place *at, const char *name,
    struct text_file *f)
{
	struct member m;
	char hex[SHA256_HEX + 1], *copy;
	int n, good;

	if ((copy = malloc(f->len + 2)) == NULL)
		return -1;
	memcpy(copy, f->data, f->len + 1);
	memset(&m, 0, sizeof(m));
	digest(f, hex);
	good = draft_parse(at, f->layer, f->data, f->len, &m.draft) == 0;
	n = add_item(all->c, ITEM_PROFILE, good ? ITEM_GOOD : ITEM_BAD,
	    f->layer, name, f->path, hex);
	if (n == 0 && good) {
		m.name = (char *)name;
		m.file = f->path;
		m.layer = f->layer;
		n = add_lines(all, copy, f->len);
		if (n == 0)
			n = add_meaning(all, &m);
		draft_free(&m.draft);
	}
	free(copy);
	return n;
}

/* S12: of two with one name neither can be read, and each says so. */
static int
add_profile(struct listed_files *all, const struct listed *l)
{
	const char *dir = all->ls->dir[l->layer].path;
	char path[PATH_MAX_LEN + 1];
	struct policy po;
	struct place at = {&po, l->name, path};
	struct text_file f;
	int n;

	memset(&po, 0, sizeof(po));
	snprintf(path, sizeof(path), "%s/%s.profile", dir,
	    l->name + (l->layer == LAYER_SHIPPED));
	if (!check_name(l->name)) {
		place_refuse(&at, 0,
		    "rename it: a-z, 0-9 and \"-\", at most 63 bytes, and "
		    "\".profile\"",
		    "\"%s\" is not the name of a profile", SHOWN(l->name));
		n = -1;
	} else if (all->bytes > CATALOGUE_BYTES) {
		place_refuse(&at, 0, "remove what is not used",
		    "it was not looked at: the profiles have more than %d MiB "
		    "together",
		    CATALOGUE_BYTES >> 20);
		n = -1;
	} else if ((n = layers_find(all->ls, &at, l->name, &f)) == 1) {
		all->bytes += f.len;
		at.file = f.path;
		n = add_text(all, &at, l->name, &f);
		text_file_free(&f);
		return n == -1 ? -1 : take_faults(all->c, 0, &po);
	}
	if (n == 0) /* it is gone again */
		return 0;
	if (add_item(all->c, ITEM_PROFILE, ITEM_BAD, l->layer, l->name, path,
		"") == -1)
		return -1;
	return take_faults(all->c, 0, &po);
}

static int
add_layer(struct listed_files *all, enum layer layer, int err)
{
	const struct layer_fd *l = &all->ls->dir[layer];
	struct policy po;
	struct place at = {&po, "", l->path};
	enum item_state state = l->fd == -1 ? ITEM_ABSENT : ITEM_GOOD;

	memset(&po, 0, sizeof(po));
	if (err == 0)
		err = l->err;
	if (err != 0)
		place_refuse(&at, 0, "make it readable or remove it",
		    "the profiles in \"%s\" cannot be listed: %s", l->path,
		    strerror(err));
	if (l->bad != NULL)
		place_refuse(&at, 0,
		    "make it belong to who decides, and run \"chmod go-w\" on "
		    "it",
		    "the directory \"%s\" %s", l->path, l->bad);
	if (po.nrefusals > 0)
		state = ITEM_BAD;
	if (l->path[0] == '\0')
		return 0;
	if (add_item(all->c, ITEM_LAYER, state, layer, "", l->path, "") == -1)
		return -1;
	return take_faults(all->c, 0, &po);
}

/* A configuration file, read as for a run and then line by line. */
static int
add_config(struct listed_files *all, enum layer layer)
{
	const char *path = all->ls->config[layer].path;
	struct layers one = *all->ls;
	struct policy po;
	struct place at = {&po, "", path};
	struct text_file f;
	struct config c;
	int n, good;

	memset(&po, 0, sizeof(po));
	memset(&c, 0, sizeof(c));
	one.config[layer == LAYER_USER ? LAYER_HOST : LAYER_USER] =
	    (struct layer_fd){.path = "", .fd = -1};
	good = config_read(&one, &po, &c) == 0;
	config_free(&c);
	n = layers_config(all->ls, &at, layer, &f);
	if (n == -1 && po.nrefusals == 0)
		return -1;
	if (add_item(all->c, ITEM_CONFIG,
		!good	 ? ITEM_BAD
		: n == 0 ? ITEM_ABSENT
			 : ITEM_GOOD,
		layer, "", path, "") == -1 ||
	    (n == 1 && good && add_lines(all, f.data, f.len) == -1))
		n = -2;
	if (n == 1 || n == -2)
		text_file_free(&f);
	return n == -2 ? -1 : take_faults(all->c, 0, &po);
}

/* S20: the user's list, else the host's. 1 if there is one. */
static int
mark_preferences(struct catalogue *c)
{
	struct catalogue_line *l;
	uint8_t from_user[2] = {0, 0}, any[2] = {0, 0};
	size_t i, n = c->nlines;
	int k, user;

	for (i = 0; i < n; i++) {
		l = &c->lines[i];
		if (l->key[0] == '\0')
			continue;
		k = strcmp(l->key, "defaults") == 0;
		any[k] = 1;
		if (c->items[l->item].layer == LAYER_USER)
			from_user[k] = 1;
	}
	for (i = 0; i < n; i++) {
		l = &c->lines[i];
		k = strcmp(l->key, "defaults") == 0;
		user = c->items[l->item].layer == LAYER_USER;
		if (l->key[0] != '\0' && user == from_user[k])
			l->flags |= LINE_COUNTS;
	}
	return any[1];
}

/* The last lines: the defaults that are built in. */
static int
add_builtin(struct catalogue *c, int replaced)
{
	struct catalogue_line builtin;
	size_t i;

	memset(&builtin, 0, sizeof(builtin));
	builtin.item = CATALOGUE_NOWHERE;
	builtin.section = (char *)"carrel";
	builtin.key = (char *)"defaults";
	builtin.inside = (char *)"";
	builtin.flags = replaced ? 0 : LINE_COUNTS;
	for (i = 0; select_builtin(i) != NULL; i++) {
		builtin.value = (char *)select_builtin(i);
		if (catalogue_add_line(c, &builtin) == -1)
			return -1;
	}
	return 0;
}

/* The profiles that are asked for, as a run at any target would have them. */
static int
add_verdict(struct listed_files *all)
{
	static char dir[] = PACK_DIR;
	struct request q = *all->q;
	struct config none;
	struct selection sel;
	struct policy po;
	char why[TEXT_MAX_LEN];
	struct place nowhere = {&po, "", ""};
	int n;

	if (q.nselect == 0)
		return 0;
	memset(&po, 0, sizeof(po));
	memset(&none, 0, sizeof(none));
	q.flags |= REQUEST_NO_DEFAULTS;
	q.caller.target = dir;
	q.caller.flags &= ~(uint32_t)CALLER_IMPLIED;
	n = selection_load(&q, &none, all->ls, &po, &sel);
	if (n == 0) {
		n = resolve(&q, &sel, &po);
		selection_free(&sel);
	}
	policy_sort(&po);
	if (n == 0 && policy_check(&po, why, sizeof(why)) == -1)
		n = place_refuse(&nowhere, 0, "", "%s", why);
	if (n == -1 && po.nrefusals == 0) {
		policy_free(&po);
		return -1;
	}
	return take_faults(all->c, 1, &po);
}

/* Not all is here: that is a fault of its own. */
static int
add_missing(struct listed_files *all, const struct listing *l)
{
	struct policy po;
	struct place at = {&po, "", ""};

	memset(&po, 0, sizeof(po));
	if (l->more > 0)
		place_refuse(&at, 0, "remove what is not used",
		    "%zu more profiles were not looked at", l->more);
	if (all->full)
		place_refuse(&at, 0, "remove what is not used",
		    "the profiles have more than %d lines together",
		    CATALOGUE_LINES);
	return take_faults(all->c, 0, &po);
}

int
catalogue_make(const struct request *q, const struct layers *ls,
    const struct listing *l, struct catalogue *out)
{
	struct listed_files all = {.q = q, .ls = ls, .c = out};
	size_t i;
	int layer, replaced = 0, n = 0;

	for (layer = LAYER_SHIPPED; layer <= LAYER_USER && n == 0; layer++)
		n = add_layer(&all, (enum layer)layer, l->err[layer]);
	for (layer = LAYER_HOST; layer <= LAYER_USER && n == 0; layer++)
		n = add_config(&all, (enum layer)layer);
	if (n == 0)
		replaced = mark_preferences(out);
	for (i = 0; i < l->n && n == 0; i++)
		n = add_profile(&all, &l->list[i]);
	if (n == 0)
		n = add_builtin(out, replaced);
	if (n == 0)
		n = add_verdict(&all);
	return n == 0 ? add_missing(&all, l) : -1;
}
