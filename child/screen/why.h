#ifndef CARREL_SCREEN_WHY_H
#define CARREL_SCREEN_WHY_H

#include "child/shared/catalogue.h"
#include "explain.h"
#include "ipc/egress.h"

struct out;

/*
 * why PATH | HOST[:PORT] | $VARIABLE: which grant of the run that the options
 * describe makes it so; or that none does, which profiles of those installed
 * would, and the line to add.
 */
struct why {
	struct view v; /* of a policy that has a plan */
	const struct catalogue *c;
	const char *subject;
	int granted; /* the answer, for a program */
	/* of a host, in canonical form */
	char host[EGRESS_HOST_MAX + 3];
	unsigned port; /* 0: not said */
};

/*
 * The life of carrel-screen for why: on fd what explain is sent, on next what
 * is installed. Returns its exit code: 0 for an answer, 125 if the policy is
 * refused or the question is none.
 */
int why_run(int fd, int next, int json, const char *subject);

/* The blocks of an answer. */
void why_path(struct out *, struct why *);
void why_host(struct out *, struct why *);
void why_variable(struct out *, struct why *);

/*
 * The blocks that say how it could be had. A profile is named for a line that
 * grants by this test; those that take part already are left out.
 */
void why_profiles(struct out *, const struct why *,
    int (*grants)(const struct why *, const struct catalogue_line *));
void why_add(
    struct out *, const char *section, const char *line, const char *note);

/* Two cells of text, and a mark. */
void why_row(struct out *, const char *tag, const char *left, const char *right,
    const char *mark);

/* 1 if a line of [fs] has its place at or above the subject, a path. */
int why_covers(const struct why *, const struct catalogue_line *);
/* Reads the subject as a host, with a port or not. 0, or -1: it is none. */
int why_read_host(struct why *);
/* How a host could be had. */
void why_host_how(struct out *, const struct why *);
/* The answer for a program; run NULL: of none that was. */
struct page;
void why_json(const struct why *, const char *run, const struct page *);

/*
 * why --run: what was refused in a run that is kept in this directory, all of
 * it or what is about the subject, and what of the catalogue would grant it.
 * Returns the exit code: 1 if that run is not there.
 */
int why_past(const char *dir, int json, const char *run, const char *subject,
    const struct catalogue *);

#endif
