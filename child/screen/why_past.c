#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/limits.h"
#include "ipc/log.h"
#include "ipc/path.h"
#include "ipc/text.h"
#include "kept_dir.h"
#include "out.h"
#include "page.h"
#include "receive.h"
#include "violations.h"
#include "why.h"

#define LINE_LEN (PATH_MAX_LEN + 32)

/*
 * why --run: of a run that has ended, what is kept of it is what was refused.
 * What would have let that through is looked for in what is installed now.
 */
struct past {
	struct why w;	  /* of one event */
	struct why asked; /* host and port, if the question is a host */
	const struct kept *k;
	size_t shown;
};

/* The file, or the directory that a new name would have been in. */
static void
place_of(const struct event *e, char path[PATH_MAX_LEN + 1])
{
	static const char *const names[] = {"create", "mkdir", "mknod",
	    "symlink", "link", "rename", "remove", "bind"};
	char *slash;
	size_t i;

	snprintf(path, PATH_MAX_LEN + 1, "%s", e->resource);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(e->action, names[i]) == 0 &&
		    (slash = strrchr(path, '/')) != NULL)
			slash[slash == path] = '\0';
}

static int
writes(const struct why *w, const struct catalogue_line *l)
{
	return (l->flags & LINE_WRITES) != 0 && why_covers(w, l);
}

static void
fs_how(struct out *o, struct past *p, const struct event *e)
{
	char path[PATH_MAX_LEN + 1], line[LINE_LEN];

	place_of(e, path);
	if (!path_clean(path) || strchr(path, '"') != NULL)
		return;
	p->w.subject = path;
	why_profiles(o, &p->w, writes);
	snprintf(line, sizeof(line), "write = %s%s%s",
	    strchr(path, ' ') != NULL ? "\"" : "", path,
	    strchr(path, ' ') != NULL ? "\"" : "");
	why_add(o, "[fs]", line, "");
}

/* "tcp HOST:PORT: why" and "name HOST": 0 and the host, or -1. */
static int
host_of(const struct event *e, char host[PATH_MAX_LEN + 1], struct why *w)
{
	const char *p = strchr(e->resource, ' ');
	size_t n;

	if (p == NULL || strlen(p) > PATH_MAX_LEN)
		return -1;
	n = strcspn(++p, " ");
	if (n > 0 && p[n - 1] == ':')
		n--;
	memcpy(host, p, n);
	host[n] = '\0';
	w->subject = host;
	w->port = 0;
	return n > 0 ? why_read_host(w) : -1;
}

static void
how(struct out *o, struct past *p, const struct event *e)
{
	char host[PATH_MAX_LEN + 1];
	struct cell c = {0};

	if (e->surface == EVENT_FS)
		fs_how(o, p, e);
	else if (e->surface == EVENT_EGRESS && e->rule[0] == '\0' &&
		 host_of(e, host, &p->w) == 0)
		why_host_how(o, &p->w);
	else if (e->rule[0] != '\0') {
		cell_add(&c, "what a line narrows no other one widens: change "
			     "that line, if it is meant, or leave its profile "
			     "out");
		out_note(o, &c);
	}
	p->w.subject = ""; /* host is gone */
}

static void
show(struct out *o, struct past *p, const struct event *e)
{
	struct cell left = {0}, right = {0};
	char name[EVENT_ERRNO_LEN];

	p->shown++;
	out_block(o, "REFUSED", e->resource);
	cell_addf(&left, "%s", e->action);
	if (e->err != 0)
		cell_addf(&left, " (%s)", event_errno(e->err, name));
	cell_addf(
	    &left, ", %u time%s", (unsigned)e->count, e->count == 1 ? "" : "s");
	cell_add(&right, e->rule[0] != '\0' ? e->rule : "no match");
	if (e->profile != EVENT_NO_PROFILE)
		cell_addf(&right, " of %s:%u", p->k->profiles[e->profile].name,
		    (unsigned)e->line);
	out_row(o, event_surface(e->surface), &left, &right, "");
	how(o, p, e);
}

static int
matches(struct past *p, const struct event *e, const char *subject)
{
	char host[PATH_MAX_LEN + 1];
	int is;

	if (subject[0] == '\0')
		return 1;
	if (subject[0] == '/')
		return e->resource[0] == '/' &&
		       (path_covers(subject, e->resource) ||
			   path_covers(e->resource, subject));
	is = e->surface == EVENT_EGRESS && host_of(e, host, &p->w) == 0 &&
	     strcmp(p->w.host, p->asked.host) == 0 &&
	     (p->asked.port == 0 || p->w.port == 0 ||
		 p->asked.port == p->w.port);
	p->w.subject = ""; /* host is gone */
	return is;
}

static void
answer(struct out *o, struct past *p, const char *subject)
{
	size_t i;

	for (i = 0; i < p->k->nevents; i++)
		if (matches(p, &p->k->events[i], subject))
			show(o, p, &p->k->events[i]);
	if (p->shown > 0)
		return;
	out_block(o, "WHY", subject);
	why_row(o, "--",
	    "nothing of this was refused in that run: it was allowed, or not "
	    "there, or not tried",
	    "", "");
}

/* A question that a run can answer; else the program ends. */
static void
judge(struct past *p, const char *subject)
{
	p->asked.subject = subject;
	if (subject[0] == '\0')
		return;
	if (subject[0] == '$')
		fatal("nothing is kept of the variables of a run; ask without "
		      "--run");
	if (subject[0] == '/' ? !path_clean(subject)
			      : why_read_host(&p->asked) == -1)
		fatal("\"%s\" is neither a clean path nor a host with or "
		      "without a port",
		    SHOWN(subject));
}

/* Of the policy that the run had the names of the profiles are known. */
static void
take_part(struct scene *sc, const struct kept *k)
{
	size_t i;

	memset(sc, 0, sizeof(*sc));
	sc->policy.profiles =
	    calloc(k->nprofiles + 1, sizeof(*sc->policy.profiles));
	if (sc->policy.profiles == NULL)
		fatal("out of memory");
	for (i = 0; i < k->nprofiles; i++)
		sc->policy.profiles[i].name =
		    (char *)(uintptr_t)k->profiles[i].name;
	sc->policy.nprofiles = k->nprofiles;
}

int
why_past(const char *dir, int json, const char *run, const char *subject,
    const struct catalogue *c)
{
	struct page page = {.n = 0};
	struct out o = {.page = &page};
	struct kept_dir runs;
	struct scene sc;
	struct past p = {.w = {.v = {.scene = &sc}, .c = c}};

	judge(&p, subject);
	if ((p.k = violations_find(&runs, dir, run)) == NULL)
		return 1;
	take_part(&sc, p.k);
	if (!json)
		out_open(&o, 0, 0);
	answer(&o, &p, subject);
	p.w.subject = subject;
	if (json) {
		why_json(&p.w, run, &page);
		page_free(&page);
	} else {
		out_close(&o);
		out_write(o.text, o.len);
		out_free(&o);
	}
	free(sc.policy.profiles);
	kept_dir_free(&runs);
	return 0;
}
