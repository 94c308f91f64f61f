#ifndef CARREL_SCREEN_EXPLAIN_H
#define CARREL_SCREEN_EXPLAIN_H

struct cell;
struct grant;
struct survey_row;
struct host;
struct out;
struct plan;
struct policy;
struct rule;
struct scene;

/* What explain draws from: nothing else is asked. */
struct view {
	const struct scene *scene;
	const struct plan *plan; /* NULL: refused before there was one */
	const struct host *host;
};

/* The life of carrel-screen for `explain`: returns its exit code. */
int explain_run(int fd, int json);

/* The same view gives the same bytes. */
void explain_draw(struct out *, const struct view *);

/*
 * The blocks PROFILES, FILESYSTEM, NETWORK, LIMITS and ENVIRONMENT, and a part
 * of one.
 */
void explain_profiles(struct out *, const struct policy *);
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
