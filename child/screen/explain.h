#ifndef CARREL_SCREEN_EXPLAIN_H
#define CARREL_SCREEN_EXPLAIN_H

#include "child/setup/plan.h"
#include "host.h"
#include "receive.h"

struct cell;
struct grant;
struct out;
struct rule;
struct survey_row;

/* What explain draws from: nothing else is asked. */
struct view {
	const struct scene *scene;
	const struct plan *plan; /* NULL: refused before there was one */
	const struct host *host;
};

/* The life of carrel-screen for `explain`: returns its exit code. */
int explain_run(int fd, int json);

/* For explain --diff: the same with fd, and what it is held against on next. */
int explain_diff(int fd, int next, int json);

/* What a run would be, as it was received. */
struct seen_run {
	struct scene scene;
	struct plan plan;
	struct host host;
	struct view view; /* of these three */
};

/* The exit code that it means; the program ends if there is none. */
int explain_receive(int fd, struct seen_run *);
void explain_forget(struct seen_run *);
void explain_warn(const struct policy *); /* its refusals */
/* The same rows, for a program. */
void explain_json(const struct view *);

/* The same view gives the same bytes. */
void explain_draw(struct out *, const struct view *);

/*
 * The blocks PROFILES, FILESYSTEM, NETWORK, LIMITS and ENVIRONMENT, and a part
 * of one.
 */
void explain_profiles(struct out *, const struct policy *);
void explain_ceiling(struct out *, const struct view *); /* CEILING */
void explain_fs(struct out *, const struct view *);
void explain_net(struct out *, const struct policy *);
void explain_limits(struct out *, const struct view *);
void explain_env(struct out *, const struct plan *);
void explain_exec(struct out *, const struct view *);  /* of CONFINEMENT */
void explain_audit(struct out *, const struct view *); /* likewise */
/* The same of a policy that was refused before there was a plan. */
void explain_env_claims(struct out *, const struct policy *);

/* " from HOST, a link that led to REAL", or as little of it as is needed. */
void explain_source(
    struct cell *, const struct grant *, const struct survey_row *);

/* Everyone who wrote the same: "interpreter a:5, interpreter b:6". */
void explain_asked(struct cell *, const struct policy *, const struct rule *);

/* "read @sys:12, write proj:4" */
void explain_origins(
    struct cell *, const struct policy *, const struct grant *);

#endif
