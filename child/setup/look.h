#ifndef CARREL_LOOK_H
#define CARREL_LOOK_H

struct failure;
struct policy;
struct survey;
struct survey_row;

/*
 * Opens the source of every grant of a checked policy, O_PATH, with the
 * credentials that the process has now, and notes what is there: the rows of
 * a survey (to be freed). A source that is absent or cannot be reached is a
 * row, not a failure; nothing is read, no FIFO is waited for. 0 or -1.
 *
 * Descriptors are kept as far as the limit (RLIMIT_NOFILE) goes with room for
 * others; the rows beyond have fd -1 and are opened again by look_again().
 */
int look_survey(const struct policy *, struct survey *, struct failure *);

/*
 * Looks at one path (clean), as look_survey() does, into a row that was
 * filled before; the descriptor is kept. 0, or -1 with errno.
 */
int look_one(const char *path, struct survey_row *);

/*
 * The source of a row that was found, opened again by its canonical path: the
 * same device, inode and type, or it fails with ESTALE. Returns the
 * descriptor (O_PATH, close-on-exec) or -1 with errno.
 */
int look_again(const struct survey_row *);

#endif
