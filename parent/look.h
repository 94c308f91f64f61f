#ifndef CARREL_LOOK_H
#define CARREL_LOOK_H

struct failure;
struct policy;
struct survey;

/*
 * Opens the source of every bind of a checked policy, O_PATH, with the
 * credentials that the process has now, and notes what is there: the rows of
 * a survey (to be freed). A source that is absent or cannot be reached is a
 * row, not a failure; nothing is read, no FIFO is waited for. 0 or -1.
 */
int look_survey(const struct policy *, struct survey *, struct failure *);

#endif
