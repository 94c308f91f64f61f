#ifndef CARREL_EXPLAIN_H
#define CARREL_EXPLAIN_H

struct asked;
struct caller;
struct install;
struct options;
struct start;

/*
 * With the answer of carrel-parse: shows what a run would do and starts
 * nothing: the same policy, checked in the same way, and the same survey, drawn
 * by carrel-screen. Returns the exit code: 0, or 125 when the policy is refused
 * or cannot be had. ceiling: who reads the host's; its fd is -1 if it has
 * none, and then there is one in hosted mode all the same.
 */
int explain_run(const struct install *, const struct options *,
    const struct start *, const struct caller *, const struct asked *,
    const struct asked *ceiling);

/*
 * Becomes carrel-screen for profile and config, with the answer of
 * carrel-parse, which is its child then.
 */
void explain_catalogue(const struct install *, const struct options *,
    const struct start *, const struct asked *) __attribute__((noreturn));

/*
 * Becomes carrel-screen for violations and why of one run, with the answer of
 * carrel-parse, which is its child then.
 */
void explain_past(const struct install *, const struct options *,
    const char *dir, const struct asked *) __attribute__((noreturn));

/* Becomes carrel-screen for violations: what DIR/carrel of the state has. */
void explain_violations(const struct install *, const struct options *,
    const char *dir) __attribute__((noreturn));

/*
 * Becomes carrel-screen for profile VERB, with the answer of carrel-parse,
 * which is its child then.
 */
void explain_profile(const struct install *, const struct options *,
    const struct start *, const struct caller *, const struct asked *)
    __attribute__((noreturn));

/* Becomes carrel-screen for import: nothing but words is read. */
void explain_import(const struct install *, const struct options *)
    __attribute__((noreturn));

/* Becomes carrel-screen for the doctor. */
void explain_doctor(const struct install *) __attribute__((noreturn));

#endif
