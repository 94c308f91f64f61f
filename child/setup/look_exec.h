#ifndef CARREL_LOOK_EXEC_H
#define CARREL_LOOK_EXEC_H

struct failure;
struct policy;
struct survey;

/*
 * For a policy with an interpreter list: looks at each interpreter, at the
 * loader that its file names, at the directories of shared objects that these
 * need and at those of the list, all as look_survey() does it, and appends
 * what was found to the survey of the grants. Of the files only the headers
 * are read. 0 or -1.
 */
int look_exec(const struct policy *, struct survey *, struct failure *);

#endif
