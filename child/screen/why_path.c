#include <sys/stat.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child/setup/plan.h"
#include "ipc/check.h"
#include "ipc/limits.h"
#include "ipc/path.h"
#include "out.h"
#include "receive.h"
#include "why.h"

#define LINE_LEN (PATH_MAX_LEN + 32)

static const char own[] = "(carrel)";

/* The deepest step that covers the path and is more than a way to others. */
static const struct step *
step_at(const struct plan *p, const char *path)
{
	const struct step *s, *best = NULL;
	size_t i;

	for (i = 0; i < p->nsteps; i++) {
		s = &p->steps[i];
		if (s->kind == STEP_DIR ||
		    (s->kind == STEP_PIN && (s->flags & STEP_RDONLY) == 0) ||
		    !path_covers(s->guest, path))
			continue;
		if (best == NULL || strlen(s->guest) >= strlen(best->guest))
			best = s;
	}
	return best;
}

/* 1 if something lies below the path, so that it is a directory inside. */
static int
leads(const struct plan *p, const char *path)
{
	size_t i;

	for (i = 0; i < p->nsteps; i++)
		if (path_covers(path, p->steps[i].guest))
			return 1;
	return 0;
}

static void
origins(struct cell *c, const struct why *w, const struct step *s)
{
	const struct policy *po = &w->v.scene->policy;

	if (s->grant >= 0 && (size_t)s->grant < po->ngrants)
		explain_origins(c, po, &po->grants[s->grant]);
	else
		cell_add(c, own);
}

static void
row(struct out *o, const struct why *w, const char *tag, const char *text,
    const struct step *s, const char *mark)
{
	struct cell left = {0}, right = {0};

	cell_add(&left, text);
	if (s != NULL)
		origins(&right, w, s);
	else
		cell_add(&right, own);
	out_row(o, tag, &left, &right, mark);
}

static void
link_row(struct out *o, const struct why *w, const struct step *s)
{
	struct cell left = {0}, right = {0};

	cell_quote(&left, s->guest);
	cell_add(&left, " -> ");
	cell_quote(&left, s->text);
	origins(&right, w, s);
	out_row(o, "link", &left, &right, "");
}

/* Through the symlinks of the plan; at is the path there. NULL: nowhere. */
static const struct step *
follow(struct out *o, const struct why *w, char *at)
{
	const struct step *s = step_at(w->v.plan, at);
	int n;

	for (n = 0; s != NULL && s->kind == STEP_SYMLINK; n++) {
		link_row(o, w, s);
		if (n == LINKS_MAX ||
		    path_follow(s->guest, s->text, at, at) == -1)
			return NULL;
		s = step_at(w->v.plan, at);
	}
	return s;
}

/* [exec]: what a list of interpreters leaves. */
static void
exec_row(struct out *o, const struct why *w, const char *at, int executable)
{
	const struct plan *p = w->v.plan;
	size_t i;

	if (!p->locked) {
		why_row(o, executable ? "yes" : "no",
		    executable ? "executable" : "executable: it is no program",
		    executable ? "no profile narrows it" : "", "");
		return;
	}
	for (i = 0; i < p->nexec; i++)
		if ((p->exec[i].flags & STEP_ISDIR) == 0 &&
		    strcmp(p->exec[i].guest, at) == 0)
			break;
	why_row(o, i < p->nexec ? "yes" : "no", "executable",
	    i < p->nexec ? "interpreter" : "profiles narrow what runs: [exec]",
	    "");
}

/* A part of the host. Returns 1 if it is there. */
static int
bind_rows(
    struct out *o, const struct why *w, const struct step *s, const char *at)
{
	const struct scene *sc = w->v.scene;
	const struct grant *g = &sc->policy.grants[s->grant];
	char host[2 * PATH_MAX_LEN + 2];
	struct cell left = {0}, right = {0};
	struct stat st;
	int there, writes = (s->flags & STEP_RDONLY) == 0;

	snprintf(host, sizeof(host), "%s%s", sc->survey.rows[s->grant].real,
	    path_below(s->guest, at));
	there = access(host, F_OK) == 0 || errno != ENOENT;
	cell_add(&left, there ? "visible" : "visible, if it were there: ");
	if (!there || strcmp(host, w->subject) != 0) {
		cell_add(&left, there ? ", it is " : "");
		cell_quote(&left, host);
		cell_add(&left, there ? "" : " does not exist");
	}
	explain_origins(&right, &sc->policy, g);
	out_fact(o, "host", host);
	out_row(o, there ? "yes" : "no", &left, &right,
	    there && access(host, R_OK) == -1
		? "<- but you cannot read it yourself"
		: "");
	row(o, w, writes ? "yes" : "no", "writable", s,
	    writes && access(host, W_OK) == -1 && there
		? "<- but you cannot write it yourself"
		: "");
	if (there && stat(host, &st) == 0 && S_ISREG(st.st_mode))
		exec_row(o, w, at, access(host, X_OK) == 0);
	return there;
}

/* What carrel makes. Returns 1 if the path is there. */
static int
own_rows(
    struct out *o, const struct why *w, const struct step *s, const char *at)
{
	int here = strcmp(s->guest, at) == 0 || leads(w->v.plan, at);
	int writes = (s->flags & STEP_RDONLY) == 0;

	switch (s->kind) {
	case STEP_TMPFS:
		if (here) {
			row(o, w, "yes", "visible, a directory in memory", s,
			    "");
		} else if (writes) {
			row(o, w, "no",
			    "visible: there is empty memory, where a payload "
			    "can make something of this name",
			    s, "");
		} else {
			why_row(o, "no", "visible: nothing grants it", "", "");
			return 0;
		}
		row(o, w, writes ? "yes" : "no",
		    writes ? "writable, and gone after the run" : "writable", s,
		    "");
		return here;
	case STEP_FILE:
		row(o, w, "yes", "visible, generated for each run", s, "");
		why_row(o, "no", "writable", own, "");
		return 1;
	case STEP_MASK:
		row(o, w, "no", "visible: it is masked", s, "");
		return 1;
	default:
		row(o, w, "yes", "visible: carrel's own /proc or /dev", s, "");
		return 1;
	}
}

int
why_covers(const struct why *w, const struct catalogue_line *l)
{
	return strcmp(l->section, "fs") == 0 && l->inside[0] != '\0' &&
	       strcmp(l->key, "symlink") != 0 && strcmp(l->key, "tmpfs") != 0 &&
	       path_covers(l->inside, w->subject);
}

static void
how(struct out *o, const struct why *w)
{
	const char *path = w->subject, *bad = check_source(path);
	char line[LINE_LEN];
	int blank = strpbrk(path, " \"") != NULL;

	why_profiles(o, w, why_covers);
	snprintf(line, sizeof(line), "read = %s%s%s", blank ? "\"" : "", path,
	    blank ? "\"" : "");
	if (path_covers("/dev", path) && check_device(path) == NULL)
		snprintf(line, sizeof(line), "device = %s", path);
	else if (bad != NULL || strchr(path, '"') != NULL) {
		out_block(o, "ADD", "");
		why_row(o, "never", "no profile can grant this path", "", "");
		return;
	}
	why_add(o, "[fs]", line,
	    access(path, F_OK) == -1 && errno == ENOENT
		? "there is nothing of this name on this host yet"
	    : access(path, R_OK) == -1
		? "you cannot read it yourself, and no grant changes that"
		: "write = in its place makes it writable");
}

void
why_path(struct out *o, struct why *w)
{
	char at[PATH_MAX_LEN + 1];
	const struct step *s;

	out_block(o, "WHY", w->subject);
	strcpy(at, w->subject);
	s = follow(o, w, at);
	if (s == NULL)
		why_row(o, "no", "visible: the link leads nowhere", "", "");
	else if (s->kind == STEP_BIND && s->grant >= 0)
		w->granted = bind_rows(o, w, s, at);
	else
		w->granted = own_rows(o, w, s, at);
	/* a grant that covers what is not there needs no other one */
	if (!w->granted && (s == NULL || s->kind != STEP_BIND))
		how(o, w);
}
