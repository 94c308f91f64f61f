#include <stdlib.h>
#include <string.h>

#include "child/setup/plan.h"
#include "explain.h"
#include "host.h"
#include "ipc/log.h"
#include "ipc/pack.h"
#include "ipc/path.h"
#include "out.h"
#include "receive.h"

#define NITEMS(a) (sizeof(a) / sizeof((a)[0]))

static const char own[] = "(carrel)";

/* Files that carrel generates unless a grant brings the host's. */
static const char *const generated[] = {"/etc/passwd", "/etc/group",
    "/etc/hosts", "/etc/hostname", "/etc/resolv.conf"};

/* 1 if the step stands in one of the rows that sum up. */
static int
summed(const struct step *s)
{
	if (s->grant >= 0)
		return 0;
	return s->kind == STEP_DIR || path_covers("/dev", s->guest) ||
	       path_covers("/proc", s->guest);
}

/* Writes what carrel itself makes at or below dir, in one row. */
static void
summary(struct out *o, const struct plan *p, const char *dir, const char *tag,
    const char *text)
{
	struct cell left = {0}, right = {0};
	const char *below;
	size_t i, n = 0;

	cell_add(&left, dir);
	cell_add(&left, text);
	for (i = 0; i < p->nsteps; i++) {
		if (p->steps[i].grant >= 0 || p->steps[i].kind == STEP_DIR ||
		    (below = path_below(dir, p->steps[i].guest)) == NULL)
			continue;
		n++;
		if (below[0] == '\0')
			continue;
		cell_add(&left, " ");
		cell_quote(&left, below + 1);
		if (p->steps[i].kind == STEP_PIN &&
		    (p->steps[i].flags & STEP_RDONLY) != 0)
			cell_add(&left, " (ro)");
	}
	if (n > 0) {
		cell_add(&right, own);
		out_row(o, tag, &left, &right, "");
	}
	cell_free(&left);
	cell_free(&right);
}

static void
directories(struct out *o, const struct plan *p)
{
	struct cell left = {0}, right = {0};
	size_t i, n = 0;

	for (i = 0; i < p->nsteps; i++)
		n += p->steps[i].kind == STEP_DIR && summed(&p->steps[i]);
	if (n == 0)
		return;
	cell_addf(&left, "%zu director%s that lead%s there", n,
	    n == 1 ? "y" : "ies", n == 1 ? "s" : "");
	cell_add(&right, own);
	out_row(o, "dirs", &left, &right, "");
}

/* 1 if the plan has a file of carrel's own at this path. */
static int
is_generated(const struct plan *p, const char *guest)
{
	size_t i;

	for (i = 0; i < p->nsteps; i++)
		if (p->steps[i].kind == STEP_FILE &&
		    strcmp(p->steps[i].guest, guest) == 0)
			return 1;
	return 0;
}

/* 1 for a directory that is not there yet: see protect_missing(). */
static int
made_first(const struct survey_row *r)
{
	return r->type == SURVEY_DIR && r->ino == 0;
}

/* Where else the payload reaches it, and may write. 1 if there is such. */
static int
elsewhere(struct cell *c, const struct plan *p, size_t grant, const char *sep)
{
	const struct elsewhere_row *e;

	if (p->elsewhere == NULL || grant >= p->nelsewhere)
		return 0;
	e = &p->elsewhere[grant];
	switch (e->kind) {
	case ELSEWHERE_WHOLE:
		cell_addf(c, "%salso writable as ", sep);
		break;
	case ELSEWHERE_PART:
		cell_addf(c, "%sin part also writable, as ", sep);
		break;
	case ELSEWHERE_UNKNOWN:
		cell_addf(c, "%sperhaps also writable: too much to tell", sep);
		return 1;
	default:
		return 0;
	}
	cell_quote(c, e->guest);
	return 1;
}

/* "<- covers credentials, holds sockets, replaces the generated hosts" */
static void
marks(struct cell *c, const struct view *v, size_t grant)
{
	const struct grant *g = &v->scene->policy.grants[grant];
	const char *sep = "<- ";
	size_t i;

	if ((g->flags & GRANT_OWN) != 0) {
		cell_add(c, "<- carrel trusts it");
		if (made_first(&v->scene->survey.rows[grant]))
			cell_add(c, ", a run makes it");
		return;
	}
	if ((v->host->marks[grant] & HOST_CREDENTIALS) != 0) {
		cell_addf(c, "%scovers credentials", sep);
		sep = ", ";
	}
	if ((v->host->marks[grant] & HOST_SOCKETS) != 0) {
		cell_addf(c, "%sholds sockets", sep);
		sep = ", ";
	}
	if ((v->host->marks[grant] & HOST_STARTUP) != 0) {
		cell_addf(c, "%sruns outside later", sep);
		sep = ", ";
	}
	if (v->plan == NULL || g->kind == GRANT_TMPFS)
		return;
	if (elsewhere(c, v->plan, grant, sep))
		sep = ", ";
	for (i = 0; i < NITEMS(generated); i++) {
		if (!path_covers(g->guest, generated[i]) ||
		    is_generated(v->plan, generated[i]))
			continue;
		cell_addf(c, "%sreplaces the generated %s", sep, generated[i]);
		sep = ", ";
	}
}

/* Where a bind comes from, when its name inside does not say so. */
void
explain_source(
    struct cell *c, const struct grant *g, const struct survey_row *r)
{
	if (strcmp(g->source, g->guest) != 0) {
		cell_add(c, " from ");
		cell_quote(c, g->source);
	}
	if (r->type != SURVEY_NONE && strcmp(r->real, g->source) != 0) {
		cell_add(c, ", a link that led to ");
		cell_quote(c, r->real);
	}
}

/*
 * A grant, or where it went: text is a symlink that the plan puts in its
 * place, or NULL.
 */
static void
grant_row(struct out *o, const struct view *v, size_t i, const char *tag,
    const char *text)
{
	const struct scene *sc = v->scene;
	const struct grant *g = &sc->policy.grants[i];
	struct cell left = {0}, right = {0}, mark = {0};

	cell_quote(&left, g->guest);
	if (text != NULL) {
		cell_add(&left, " -> ");
		cell_quote(&left, text);
	} else if (grant_opens(g)) {
		explain_source(&left, g, &sc->survey.rows[i]);
	} else {
		cell_add(&left, " of ");
		cell_size(&left, g->size);
	}
	explain_origins(&right, &sc->policy, g);
	out_fact(o, "path", g->guest);
	if (grant_opens(g))
		out_fact(o, "source", g->source);
	marks(&mark, v, i);
	out_row_marked(o, tag, &left, &right, &mark);
}

static const char *
tag_of_grant(const struct grant *g)
{
	if (g->kind == GRANT_TMPFS)
		return "tmpfs";
	if (g->kind == GRANT_SYMLINK)
		return "link";
	if (g->kind == GRANT_SOCKET)
		return "socket";
	if (g->kind == GRANT_DEVICE)
		return "device";
	return (g->flags & GRANT_WRITE) != 0 ? "rw" : "ro";
}

/* A step of carrel's own. */
static void
own_row(struct out *o, const struct step *s)
{
	struct cell left = {0}, right = {0};
	const char *tag = "own";

	cell_quote(&left, s->guest);
	switch (s->kind) {
	case STEP_FILE:
		tag = "made";
		cell_add(&left, ", ");
		cell_size(&left, strlen(s->text));
		break;
	case STEP_SYMLINK:
		tag = "link";
		cell_add(&left, " -> ");
		cell_quote(&left, s->text);
		break;
	case STEP_TMPFS:
		tag = "tmpfs";
		cell_add(&left, " of ");
		cell_size(&left, s->size);
		if ((s->flags & STEP_RDONLY) != 0)
			cell_add(&left, ", read-only");
		break;
	case STEP_PIN:
		tag = "pin";
		cell_add(&left, ", which cannot be renamed");
		break;
	case STEP_BIND:
		tag = (s->flags & STEP_RDONLY) != 0 ? "ro" : "rw";
		break;
	case STEP_MASK:
		tag = "mask";
		break;
	}
	cell_add(&right, own);
	out_row(o, tag, &left, &right, "");
}

/* What is claimed, for a policy that has no plan. */
static void
draw_claims(struct out *o, const struct view *v)
{
	const struct policy *po = &v->scene->policy;
	size_t i;

	out_block(o, "FILESYSTEM", "what the profiles claim");
	for (i = 0; i < po->ngrants; i++)
		if (po->grants[i].kind != GRANT_COMMAND)
			grant_row(o, v, i, tag_of_grant(&po->grants[i]),
			    po->grants[i].kind == GRANT_SYMLINK
				? po->grants[i].source
				: NULL);
}

static void
step_row(struct out *o, const struct view *v, const struct step *s)
{
	const struct grant *g = &v->scene->policy.grants[s->grant];
	const char *tag = "tmpfs", *text = NULL;

	if (s->kind == STEP_BIND) {
		tag = tag_of_grant(g);
		/* what is only expected has no identity yet: pack_expect() */
		if ((g->flags & GRANT_WRITE) != 0 &&
		    v->scene->survey.rows[s->grant].ino == 0 &&
		    pack_claims(&v->scene->policy, g))
			tag = "makes";
	} else if (s->kind == STEP_SYMLINK) {
		tag = "link";
		text = s->text;
	}
	grant_row(o, v, (size_t)s->grant, tag, text);
}

/* A grant that has no step. */
static const char *
tag_of_rest(const struct view *v, size_t grant)
{
	if (v->scene->survey.rows[grant].shut ||
	    (v->plan->absent != NULL && v->plan->absent[grant]))
		return "absent";
	if (v->scene->policy.nrefusals > 0)
		return "refused";
	return "same"; /* a link in another grant leads there */
}

static void
draw_steps(struct out *o, const struct view *v)
{
	const struct policy *po = &v->scene->policy;
	const struct plan *p = v->plan;
	unsigned char *drawn;
	const struct step *s;
	size_t i;

	if ((drawn = calloc(po->ngrants + 1, 1)) == NULL)
		fatal("out of memory");
	for (i = 0; i < p->nsteps; i++) {
		s = &p->steps[i];
		if (summed(s))
			continue;
		if (s->grant < 0 || (size_t)s->grant >= po->ngrants) {
			own_row(o, s);
			continue;
		}
		drawn[s->grant] = 1;
		/* commands have a block of their own */
		if (po->grants[s->grant].kind != GRANT_COMMAND)
			step_row(o, v, s);
	}
	summary(o, p, "/dev", "dev", ":");
	summary(o, p, "/proc", "proc", ", new; read-only or masked:");
	directories(o, p);
	for (i = 0; i < po->ngrants; i++)
		if (!drawn[i] && po->grants[i].kind != GRANT_COMMAND)
			grant_row(o, v, i, tag_of_rest(v, i), NULL);
	free(drawn);
}

void
explain_fs(struct out *o, const struct view *v)
{
	if (v->plan == NULL) {
		draw_claims(o, v);
		return;
	}
	out_block(o, "FILESYSTEM", "");
	draw_steps(o, v);
}
