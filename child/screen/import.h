#ifndef CARREL_SCREEN_IMPORT_H
#define CARREL_SCREEN_IMPORT_H

/*
 * import bwrap: prints a profile that grants what a command line of
 * bubblewrap does, with a remark for what cannot be said in one. words are
 * its options, and perhaps a command, NULL-terminated. Returns the exit code.
 */
int import_bwrap(char *const *words);

/*
 * import firejail: the same of a profile of firejail's, which is read. What
 * carrel does not know of it ends the program.
 */
int import_firejail(const char *file);

#endif
