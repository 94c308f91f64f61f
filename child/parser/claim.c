#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/tool.h"
#include "claim.h"
#include "expand.h"
#include "ipc/check.h"
#include "ipc/limits.h"
#include "ipc/owned.h"
#include "ipc/pack.h"
#include "ipc/path.h"
#include "child/shared/request.h"
#include "ipc/text.h"
#include "place.h"
#include "select.h"

/* What a tool of a profile writes. */
struct output {
	const char *path; /* the policy's */
	uint16_t profile;
};

/* The line being turned into a claim. */
struct making {
	const struct request *q;
	const struct place *at;
	const struct draft_grant *g;
	struct claim *claim;
	int pack;		/* 1: of a pack, whose paths are those inside */
	struct output *outputs; /* sorted */
	size_t noutputs;
};

void
claims_free(struct claims *cs)
{
	size_t i;

	for (i = 0; i < cs->n; i++) {
		free(cs->list[i].guest);
		free(cs->list[i].source);
	}
	free(cs->list);
	memset(cs, 0, sizeof(*cs));
}

/* What they want, without who wants it. */
static int
wish_cmp(const struct claim *x, const struct claim *y)
{
	int n;

	if ((n = path_cmp(x->guest, y->guest)) != 0)
		return n;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if ((n = strcmp(x->source, y->source)) != 0)
		return n;
	return x->size < y->size ? -1 : x->size > y->size;
}

static int
claim_cmp(const void *a, const void *b)
{
	const struct claim *x = a, *y = b;
	int n;

	if ((n = wish_cmp(x, y)) != 0)
		return n;
	if (x->profile != y->profile)
		return x->profile < y->profile ? -1 : 1;
	if (x->verb != y->verb)
		return x->verb < y->verb ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

int
claims_agree(const struct claim *x, const struct claim *y)
{
	return wish_cmp(x, y) == 0;
}

static int
set_guest(struct making *m, const char *text)
{
	char path[VALUE_MAX_LEN + 1];
	const char *bad;

	if (expand_path(m->at, m->g->line, text, &m->q->caller, EXPAND_GUEST,
		path) == -1)
		return -1;
	if ((bad = check_guest(path)) != NULL)
		return place_refuse(m->at, m->g->line,
		    "choose another place inside", "guest path \"%s\" %s",
		    SHOWN(path), bad);
	m->claim->guest = strdup(path);
	return m->claim->guest == NULL ? -1 : 0;
}

/* S37: what would be a device is told which key is for that. */
static int
refuse_source(struct making *m, const char *path, const char *bad)
{
	char fix[FIX_MAX_LEN] = "";

	if (path_covers("/dev", path) && m->g->verb == VERB_SOCKET)
		text_add(fix, sizeof(fix),
		    "name the place outside /dev where the socket lies");
	else if (path_covers("/dev", path) && check_device(path) == NULL)
		text_add(
		    fix, sizeof(fix), "write \"device = %s\"", SHOWN(path));
	else if (path_covers("/dev", path) && strcmp(path, "/dev") != 0)
		text_add(fix, sizeof(fix), "remove the line: it %s",
		    check_device(path));
	else
		text_add(fix, sizeof(fix),
		    "grant what is needed, and nothing above it");
	return place_refuse(
	    m->at, m->g->line, fix, "host path \"%s\" %s", SHOWN(path), bad);
}

static int
set_host(struct making *m, const char *text)
{
	char path[VALUE_MAX_LEN + 1];
	const char *bad;

	if (expand_path(m->at, m->g->line, text, &m->q->caller, EXPAND_HOST,
		path) == -1)
		return -1;
	if ((bad = check_source(path)) != NULL)
		return refuse_source(m, path, bad);
	m->claim->source = strdup(path);
	return m->claim->source == NULL ? -1 : 0;
}

/* What the target has there; the text is at PACK_DIR. */
static int
set_target(struct making *m, const char *text)
{
	const char *top = m->q->caller.target;
	char path[PATH_MAX_LEN + VALUE_MAX_LEN + 1];
	const char *bad;

	snprintf(path, sizeof(path), "%s%s", strcmp(top, "/") == 0 ? "" : top,
	    path_below(PACK_DIR, text));
	if ((bad = check_source(path)) != NULL)
		return refuse_source(m, path, bad);
	m->claim->source = strdup(path);
	return m->claim->source == NULL ? -1 : 0;
}

/* A name below the staging directory: the one given, or the file's own. */
static int
set_name(struct making *m, const char *text)
{
	char name[VALUE_MAX_LEN + 1];
	char path[sizeof(OWNED_STAGING) + 1 + VALUE_MAX_LEN];
	const char *bad;

	if (text == NULL)
		/* set_source() or set_target() has set it:
		   NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker) */
		strcpy(name, strrchr(m->claim->source, '/') + 1);
	else if (expand_text(m->at, m->g->line, text, &m->q->caller,
		     EXPAND_GUEST, name) == -1)
		return -1;
	snprintf(path, sizeof(path), "%s/%s", OWNED_STAGING, name);
	if ((bad = check_command(path)) != NULL)
		return place_refuse(m->at, m->g->line,
		    "write the bare name that it shall have on PATH",
		    "the name \"%s\" of a command %s", SHOWN(name), bad);
	m->claim->guest = strdup(path);
	return m->claim->guest == NULL ? -1 : 0;
}

static int
set_device(struct making *m, const char *text)
{
	char path[VALUE_MAX_LEN + 1];
	const char *bad;

	if (expand_path(m->at, m->g->line, text, &m->q->caller, EXPAND_HOST,
		path) == -1)
		return -1;
	if ((bad = check_device(path)) != NULL)
		return place_refuse(m->at, m->g->line,
		    "name a character device below /dev, or remove the line",
		    "device \"%s\" %s", SHOWN(path), bad);
	m->claim->guest = strdup(path);
	m->claim->source = strdup(path);
	return m->claim->guest == NULL || m->claim->source == NULL ? -1 : 0;
}

static int
set_text(struct making *m, const char *text)
{
	char buf[VALUE_MAX_LEN + 1];

	if (expand_text(m->at, m->g->line, text, &m->q->caller, EXPAND_GUEST,
		buf) == -1)
		return -1;
	if (strlen(buf) > PATH_MAX_LEN || text_unsafe(buf, strlen(buf)))
		return place_refuse(m->at, m->g->line, "write another path",
		    "\"%s\" cannot be the text of a symbolic link", SHOWN(buf));
	m->claim->source = strdup(buf);
	return m->claim->source == NULL ? -1 : 0;
}

static int
make_claim(struct making *m)
{
	const struct value *v = &m->g->value;
	struct claim *c = m->claim;

	c->verb = m->g->verb;
	c->line = m->g->line;
	switch (c->verb) {
	case VERB_TMPFS:
		c->kind = GRANT_TMPFS;
		c->size = v->size;
		c->source = strdup("");
		if (c->source == NULL)
			return -1;
		return set_guest(m, v->left);
	case VERB_SYMLINK:
		c->kind = GRANT_SYMLINK;
		return set_guest(m, v->left) | set_text(m, v->right);
	case VERB_COMMAND:
		c->kind = GRANT_COMMAND;
		return set_host(m, v->left) == -1 ? -1 : set_name(m, v->right);
	case VERB_DEVICE:
		c->kind = GRANT_DEVICE;
		return set_device(m, v->left);
	case VERB_SOCKET:
		c->kind = GRANT_SOCKET;
		if (set_host(m, v->left) == -1)
			return -1;
		return set_guest(m, v->right != NULL ? v->right : v->left);
	default:
		/* one path alone stands for both sides */
		c->kind = GRANT_BIND;
		if ((m->pack ? set_target(m, v->left) : set_host(m, v->left)) ==
		    -1)
			return -1;
		return set_guest(m, v->right != NULL ? v->right : v->left);
	}
}

/* S74: what the tools of a profile say that they write. */

static int
output_cmp(const void *a, const void *b)
{
	const struct output *x = a, *y = b;

	if (x->profile != y->profile)
		return x->profile < y->profile ? -1 : 1;
	return path_cmp(x->path, y->path);
}

static int
outputs_gather(struct making *m)
{
	const struct policy *po = m->at->po;
	const struct tool *t;
	size_t i, k, n = 0;

	for (i = 0; i < po->ntools; i++)
		n += po->tools[i].nneeds;
	if (n == 0)
		return 0;
	if ((m->outputs = calloc(n, sizeof(*m->outputs))) == NULL)
		return -1;
	for (i = 0; i < po->ntools; i++) {
		t = &po->tools[i];
		for (k = 0; t->effect == EFFECT_WRITE && k < t->nneeds; k++)
			if (t->needs[k].verb == NEED_WRITE)
				m->outputs[m->noutputs++] = (struct output){
				    t->needs[k].text, t->profile};
	}
	qsort(m->outputs, m->noutputs, sizeof(*m->outputs), output_cmp);
	return 0;
}

/* All that the claim makes writable is declared: it, or what is above it. */
static int
is_output(const struct making *m, const struct claim *c)
{
	char path[VALUE_MAX_LEN + 1];
	const struct output want = {path, c->profile};
	char *end;

	if (m->noutputs == 0 ||
	    (c->verb != VERB_WRITE && c->verb != VERB_TRY_WRITE))
		return 0;
	snprintf(path, sizeof(path), "%s", c->guest);
	for (;;) {
		if (bsearch(&want, m->outputs, m->noutputs, sizeof(want),
			output_cmp) != NULL)
			return 1;
		end = strrchr(path, '/');
		if (end == NULL || end == path)
			return 0;
		*end = '\0';
	}
}

/* One more claim, if it can be made. */
static int
add_claim(struct making *m, struct claims *cs, size_t profile)
{
	m->claim = &cs->list[cs->n];
	m->claim->profile = (uint16_t)profile;
	if (make_claim(m) == 0) {
		m->claim->output = (uint8_t)is_output(m, m->claim);
		cs->n++;
		return 0;
	}
	free(m->claim->guest);
	free(m->claim->source);
	memset(m->claim, 0, sizeof(*m->claim));
	return -1;
}

/* S13: a pack has the target, whether it says so or not. */
static int
add_workdir(const struct making *m, struct claims *cs, size_t profile)
{
	char dir[] = PACK_DIR;
	const struct draft_grant g = {
	    .value = {.left = dir}, .verb = VERB_READ};

	struct making mine = *m;

	mine.g = &g;
	return add_claim(&mine, cs, profile);
}

int
claims_gather(const struct request *q, const struct selection *sel,
    struct policy *po, struct claims *cs)
{
	const struct member *mb;
	struct place at = {po, "", ""};
	struct making m = {.q = q, .at = &at};
	size_t i, k, n = 0;
	int bad = 0;

	for (i = 0; i < sel->n; i++)
		n += sel->members[i].draft.ngrants + 1;
	cs->n = 0;
	cs->list = calloc(n + 1, sizeof(*cs->list));
	if (cs->list == NULL || outputs_gather(&m) == -1)
		return -1;
	for (i = 0; i < sel->n; i++) {
		mb = &sel->members[i];
		at.profile = mb->name;
		at.file = mb->file;
		m.pack = mb->layer == LAYER_PACK;
		if (m.pack)
			bad |= add_workdir(&m, cs, i);
		for (k = 0; k < mb->draft.ngrants; k++) {
			m.g = &mb->draft.grants[k];
			bad |= add_claim(&m, cs, i);
		}
	}
	free(m.outputs);
	if (cs->n > 1)
		qsort(cs->list, cs->n, sizeof(*cs->list), claim_cmp);
	return bad;
}
