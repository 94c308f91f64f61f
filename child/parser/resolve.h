#ifndef CARREL_PARSER_RESOLVE_H
#define CARREL_PARSER_RESOLVE_H

struct policy;
struct request;
struct selection;

/*
 * From a selection to the policy: every claim is gathered first and judged
 * after that, so a refusal names all who are concerned, in an order that no
 * option can change. Pure: no system call, no global. Adds to an empty
 * policy: the profiles, the grants in canonical order, the refusals.
 *
 * 0, or -1: the policy has refusals, and the claims that could be made (or
 * none when memory is out).
 */
int resolve(const struct request *, const struct selection *, struct policy *);

#endif
