#ifndef CARREL_LOOK_WALK_H
#define CARREL_LOOK_WALK_H

struct survey_row;

/*
 * Opens path (clean) O_PATH, one component at a time, and follows symlinks by
 * hand: each one's own canonical path is noted in row->links, the canonical
 * path of the end in row->real. Never followed are links of procfs, which
 * lead where their text does not say, and links that somebody else put into
 * a sticky directory that all can write (proc(5), protected_symlinks).
 * Returns the descriptor, close-on-exec, or -1 with errno.
 */
int look_walk(const char *path, struct survey_row *row);

#endif
