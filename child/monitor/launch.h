#ifndef CARREL_LAUNCH_H
#define CARREL_LAUNCH_H

#include <sys/types.h>

struct start;

/*
 * What carrel does for its arguments, as the caller and without privilege.
 * server, and its pid: of hosted_split(). Returns the exit code (carrel(1)), or
 * ends the process with it.
 */
int launch(int argc, char **argv, const struct start *, int server, pid_t pid);

#endif
