#ifndef CARREL_SUMMARY_H
#define CARREL_SUMMARY_H

struct seen_list;
struct tell;

/*
 * What a person reads on standard error when nothing is left inside: the
 * violations of a run (failed: they decided how it ended), and what is allowed
 * and did not work.
 */
void summary_violations(
    const struct tell *, const struct seen_list *, int failed);
void summary_notes(const struct seen_list *);

#endif
