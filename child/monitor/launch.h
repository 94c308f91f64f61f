#ifndef CARREL_LAUNCH_H
#define CARREL_LAUNCH_H

struct start;

/*
 * What carrel does for its arguments, as the caller and without privilege.
 * Returns the exit code (carrel(1)), or ends the process with it.
 */
int launch(int argc, char **argv, const struct start *);

#endif
