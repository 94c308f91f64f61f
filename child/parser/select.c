#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "graph.h"
#include "child/shared/caller.h"
#include "ipc/check.h"
#include "ipc/limits.h"
#include "ipc/path.h"
#include "child/shared/request.h"
#include "ipc/text.h"
#include "layers.h"
#include "pack.h"
#include "place.h"
#include "select.h"

enum {
	MEMBER_NEW = 0,
	MEMBER_READ,
	MEMBER_UNKNOWN,
	MEMBER_BAD /* refused, or memory is out */
};

static const char *const builtin_defaults[] = {"@sys", "@home", "@target"};

const char *
select_builtin(size_t i)
{
	return i < sizeof(builtin_defaults) / sizeof(builtin_defaults[0])
		   ? builtin_defaults[i]
		   : NULL;
}

/* Who names a profile. */
struct wish {
	const char *name;
	const char *profile, *file; /* the place; "" for the command line */
	uint32_t line;
	uint8_t flag;
};

/* What is being put together. */
struct loading {
	const struct request *q;
	const struct layers *ls;
	struct policy *po;
	struct selection sel;
	uint16_t order[PROFILES_MAX]; /* the members by name */
	size_t bytes, claims;	      /* of all files so far */
	char pack[NAME_MAX_LEN + 2];  /* its name; "" if there is none */
	struct wish *wishes; /* of the command line and configuration */
	size_t nwishes;
};

void
selection_free(struct selection *s)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		free(s->members[i].name);
		free(s->members[i].file);
		draft_free(&s->members[i].draft);
	}
	free(s->members);
	memset(s, 0, sizeof(*s));
}

static int
member_cmp(const void *a, const void *b)
{
	return strcmp(
	    ((const struct member *)a)->name, ((const struct member *)b)->name);
}

int
selection_find(const struct selection *s, const char *name)
{
	size_t lo = 0, hi = s->n, mid;
	int n;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		n = strcmp(s->members[mid].name, name);
		if (n == 0)
			return (int)mid;
		if (n < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return -1;
}

int
selection_holds_home(const struct request *q, const char *dir)
{
	const struct caller *c = &q->caller;

	return dir[0] != '\0' &&
	       (path_covers(dir, c->home) || path_covers(dir, c->home_real) ||
		   path_covers(dir, c->guest_home) ||
		   (c->home_other[0] != '\0' &&
		       path_covers(dir, c->home_other)));
}

/* Wishes: what the command line and the configuration ask for */

static int
wish_cmp(const void *a, const void *b)
{
	const struct wish *x = a, *y = b;
	int n;

	if ((n = strcmp(x->name, y->name)) != 0)
		return n;
	if (x->flag != y->flag)
		return x->flag < y->flag ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static void
add_default(
    struct loading *l, const char *name, const char *file, uint32_t line)
{
	struct wish *w;

	/* S24: the implied target is the home, so none is mounted */
	if (strcmp(name, "@target") == 0 &&
	    (l->q->caller.flags & CALLER_IMPLIED) != 0 &&
	    selection_holds_home(l->q, l->q->caller.target))
		return;
	w = &l->wishes[l->nwishes++];
	w->name = name;
	w->profile = "";
	w->file = file;
	w->line = line;
	w->flag = PROFILE_DEFAULT;
}

static int
gather_wishes(struct loading *l, const struct config *c)
{
	const struct request *q = l->q;
	struct wish *w;
	size_t i;

	l->wishes = calloc(q->nselect + c->n + 3, sizeof(*l->wishes));
	if (l->wishes == NULL)
		return -1;
	for (i = 0; i < q->nselect; i++) {
		w = &l->wishes[l->nwishes++];
		w->name = q->select[i];
		w->profile = q->select[i];
		w->file = "";
		w->flag = PROFILE_ASKED;
	}
	if (l->pack[0] != '\0') {
		/* S13: -f is --no-defaults -p @sys */
		add_default(l, builtin_defaults[0], "", 0);
	} else if ((q->flags & REQUEST_NO_DEFAULTS) == 0) {
		for (i = 0; c->set && i < c->n; i++)
			add_default(
			    l, c->names[i].name, c->file, c->names[i].line);
		for (i = 0; !c->set && i < 3; i++)
			add_default(l, builtin_defaults[i], "", 0);
	}
	if (l->nwishes > 1)
		qsort(l->wishes, l->nwishes, sizeof(*l->wishes), wish_cmp);
	return 0;
}

/* Loading: a list that grows while it is walked */

/* The member of this name, or NULL: then *at is its place in the order. */
static struct member *
find_member(const struct loading *l, const char *name, size_t *at)
{
	size_t lo = 0, hi = l->sel.n, mid;
	struct member *m;
	int n;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		m = &l->sel.members[l->order[mid]];
		n = strcmp(m->name, name);
		if (n == 0)
			return m;
		if (n < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	*at = lo;
	return NULL;
}

static int
add_member(struct loading *l, const char *name, uint8_t flag)
{
	struct selection *s = &l->sel;
	struct place at = {l->po, "", ""};
	struct member *m;
	size_t i;

	if ((m = find_member(l, name, &i)) != NULL) {
		m->flags |= flag;
		return 0;
	}
	if (s->n == PROFILES_MAX)
		return place_refuse(&at, 0, "select fewer profiles",
		    "more than %d profiles take part", PROFILES_MAX);
	m = &s->members[s->n];
	/* no wish is without a name:
	   NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker) */
	if ((m->name = strdup(name)) == NULL)
		return -1;
	m->flags = flag;
	memmove(
	    &l->order[i + 1], &l->order[i], (s->n - i) * sizeof(l->order[0]));
	l->order[i] = (uint16_t)s->n++;
	return 0;
}

/* The version of a profile (S76), before the reader takes the text apart. */
static void
digest(const struct text_file *f, char hex[SHA256_HEX + 1])
{
	struct sha256 s;

	sha256_init(&s);
	sha256_add(&s, f->data, f->len);
	sha256_end(&s, hex);
}

static int
read_member(struct loading *l, size_t i)
{
	struct member *m = &l->sel.members[i];
	struct place at = {l->po, m->name, ""};
	struct text_file f;
	int n;

	m->state = MEMBER_BAD;
	/* add_member() gave each a name:
	   NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker) */
	n = strcmp(m->name, l->pack) == 0
		? layers_pack(l->ls, &at, &f)
		: layers_find(l->ls, &at, m->name, &f);
	if (n <= 0) {
		if (n == 0)
			m->state = MEMBER_UNKNOWN;
		return n;
	}
	m->file = f.path;
	f.path = NULL;
	m->layer = f.layer;
	at.file = m->file;
	l->bytes += f.len;
	digest(&f, m->digest);
	n = draft_parse(&at, m->layer, f.data, f.len, &m->draft);
	text_file_free(&f);
	l->claims += m->draft.ngrants;
	if (n == 0)
		m->state = MEMBER_READ;
	return n;
}

/* Whoever writes many profiles can make no more work than that. */
static int
judge_amount(const struct loading *l)
{
	struct place at = {l->po, "", ""};

	if (l->bytes > FILES_MAX_LEN)
		return place_refuse(&at, 0,
		    "select fewer profiles, or shorter ones",
		    "the profiles have more than %d KiB together",
		    FILES_MAX_LEN / 1024);
	if (l->claims > GRANT_LINES_MAX)
		return place_refuse(&at, 0, "grant directories above",
		    "the profiles have more than %d lines in [fs] together",
		    GRANT_LINES_MAX);
	return 0;
}

/* -1 only if there is no point in going on. */
static int
load_all(struct loading *l)
{
	struct draft *d;
	size_t i, k;
	int bad;

	l->sel.members = calloc(PROFILES_MAX, sizeof(*l->sel.members));
	if (l->sel.members == NULL ||
	    (l->pack[0] != '\0' && add_member(l, l->pack, PROFILE_ASKED) == -1))
		return -1;
	for (i = 0; i < l->nwishes; i++)
		if (check_name(l->wishes[i].name) &&
		    add_member(l, l->wishes[i].name, l->wishes[i].flag) == -1)
			return -1;
	for (i = 0; i < l->sel.n; i++) {
		bad = read_member(l, i);
		if (judge_amount(l) == -1)
			return -1;
		if (bad == -1)
			continue;
		d = &l->sel.members[i].draft;
		for (k = 0; k < d->nincludes; k++)
			if (add_member(
				l, d->includes[k].name, PROFILE_IMPLIED) == -1)
				return -1;
	}
	if (l->sel.n > 1)
		qsort(l->sel.members, l->sel.n, sizeof(*l->sel.members),
		    member_cmp);
	return 0;
}

/* What cannot be found is told to each that names it */

static int
refuse_unknown(struct loading *l, const struct wish *w)
{
	struct place at = {l->po, w->profile, w->file};
	char other[NAME_MAX_LEN + 2], fix[FIX_MAX_LEN] = "";
	int shipped = w->name[0] == '@';

	snprintf(other, sizeof(other), "%s%s", shipped ? "" : "@",
	    w->name + shipped);
	if (layers_has(l->ls, other))
		text_add(fix, sizeof(fix), "write %s", other);
	else if (shipped)
		text_add(fix, sizeof(fix),
		    "check the spelling: the shipped profiles are in \"%s\"",
		    l->q->shipped);
	else
		text_add(fix, sizeof(fix),
		    "check the spelling, or create \"%s/%s.profile\"",
		    l->q->user[0] != '\0' ? l->q->user : l->q->host, w->name);
	return place_refuse(
	    &at, w->line, fix, "unknown profile \"%s\"", SHOWN(w->name));
}

static int
refuse_name(struct loading *l, const struct wish *w)
{
	struct place at = {l->po, w->profile, w->file};

	return place_refuse(&at, w->line,
	    "use a name of a-z, 0-9 and \"-\", at most 63 bytes, with \"@\" "
	    "in front of a shipped one, and neither a folder nor \".profile\"",
	    "\"%s\" is not the name of a profile", SHOWN(w->name));
}

static int
is_unknown(const struct loading *l, const char *name)
{
	int i = selection_find(&l->sel, name);

	return i != -1 && l->sel.members[i].state == MEMBER_UNKNOWN;
}

/* 0 if every profile was found and read. */
static int
judge_names(struct loading *l)
{
	const struct member *m;
	struct wish w;
	size_t i, k;
	int n = 0;

	for (i = 0; i < l->nwishes; i++) {
		/* -p twice is -p once */
		if (i > 0 && wish_cmp(&l->wishes[i - 1], &l->wishes[i]) == 0)
			continue;
		/* the wishes are freed by selection_load():
		   NOLINTBEGIN(clang-analyzer-unix.Malloc) */
		if (!check_name(l->wishes[i].name))
			n |= refuse_name(l, &l->wishes[i]);
		else if (is_unknown(l, l->wishes[i].name))
			n |= refuse_unknown(l, &l->wishes[i]);
		/* NOLINTEND(clang-analyzer-unix.Malloc) */
	}
	for (i = 0; i < l->sel.n; i++) {
		m = &l->sel.members[i];
		if (m->state == MEMBER_BAD)
			n = -1; /* refused when it was read */
		for (k = 0; k < m->draft.nincludes; k++) {
			w.name = m->draft.includes[k].name;
			w.profile = m->name;
			w.file = m->file;
			w.line = m->draft.includes[k].line;
			if (is_unknown(l, w.name))
				n |= refuse_unknown(l, &w);
		}
	}
	return n;
}

int
selection_load(const struct request *q, const struct config *c,
    const struct layers *ls, struct policy *po, struct selection *out)
{
	struct loading l = {.q = q, .ls = ls, .po = po};
	struct place at = {po, "", q->pack};
	int n = 0;

	if (q->pack != NULL && q->pack[0] != '\0')
		n = pack_name(&at, q->pack, l.pack);
	if (n == 0)
		n = gather_wishes(&l, c);
	if (n == 0)
		n = load_all(&l);
	if (n == 0)
		n = judge_names(&l);
	if (n == 0)
		n = pack_judge_includes(&l.sel, po) | graph_check(&l.sel, po);
	free(l.wishes);
	if (n != 0) {
		selection_free(&l.sel);
		return -1;
	}
	*out = l.sel;
	return 0;
}
