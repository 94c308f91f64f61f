#ifndef CARREL_ASK_H
#define CARREL_ASK_H

#include <sys/types.h>

struct caller;
struct install;
struct options;
struct start;

/*
 * Starts carrel-parse and sends it what to resolve. Returns its pid and in
 * fd the socket on which the policy will come, or ends the program.
 */
pid_t ask_parser(const struct install *, const struct options *,
    const struct start *, const struct caller *, int *fd);

#endif
