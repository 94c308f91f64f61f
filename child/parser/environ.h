#ifndef CARREL_PARSER_ENVIRON_H
#define CARREL_PARSER_ENVIRON_H

struct claims;
struct policy;
struct request;
struct selection;

/*
 * The claims of a selection on variables, joined and in canonical order, into
 * the policy, whose profiles are the selection's. fs are the sorted claims on
 * paths that coupling is judged by; NULL leaves that out. 0, or -1 after
 * refusals: then the claims that could be made are in it.
 */
int environ_resolve(const struct request *, const struct selection *,
    const struct claims *fs, struct policy *);

#endif
