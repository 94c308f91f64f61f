#ifndef CARREL_REGRESS_ANSWER_H
#define CARREL_REGRESS_ANSWER_H

struct plan;
struct policy;

/*
 * What is told to differ, on standard output: a line each, a letter and
 * fields behind tabs, in which blanks and control characters are %XX.
 */
void answer_policy(const struct policy *); /* who takes part; the refusals */
void answer_joined(const struct policy *); /* S2b: what the rules come to */
void answer_steps(const struct policy *, const struct plan *);
void answer_environ(const struct plan *);

#endif
