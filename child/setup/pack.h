#ifndef CARREL_PARENT_PACK_H
#define CARREL_PARENT_PACK_H

#include <sys/types.h>

struct failure;
struct options;
struct policy;
struct survey;

/*
 * The path given with -f as a clean one, without symlinks but for its last
 * component, which is read as it is. Ends the program if there is no such
 * directory.
 */
void pack_place(struct options *);

/*
 * S13: what a pack writes and what is not there. Before the plan the rows of
 * the survey say what will be there, a directory; after it, when nothing can
 * refuse the run any more, they are made as the caller, with this umask, from
 * the descriptor of the target on and through no symlink. 0, or -1 and a
 * failure or, of pack_make(), refusals in the policy.
 */
int pack_expect(const struct policy *, struct survey *, struct failure *);
int pack_make(struct policy *, struct survey *, mode_t umask, struct failure *);

#endif
