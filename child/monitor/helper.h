#ifndef CARREL_HELPER_H
#define CARREL_HELPER_H

#include <limits.h>
#include <sys/types.h>

/* Where the other programs and the shipped profiles are. */
struct install {
	char program[PATH_MAX]; /* carrel itself */
	char libexec[PATH_MAX];
	char shipped[PATH_MAX];
};

/*
 * PREFIX's; but a program without privilege that lies outside PREFIX uses
 * what lies beside itself: DIR/bin/carrel, DIR/libexec, DIR/share.
 */
void install_find(struct install *);

/*
 * Starts libexec/NAME with an empty environment, default signals, and fd as
 * its descriptor 3, and next, unless it is -1, as its descriptor 4 (the rest is
 * close-on-exec). argv[0] is NAME. Returns its pid, or ends the program.
 */
pid_t helper_start(
    const struct install *, const char *name, char **argv, int fd, int next);

/*
 * The same for one that serves a whole run: it has a process group of its own,
 * which no terminal sends to, and next as its descriptor 4.
 */
pid_t helper_serve(
    const struct install *, const char *name, char **argv, int fd, int next);

/*
 * Becomes libexec/NAME in the same way, with fd, unless it is -1, as its
 * descriptor 3; does not return.
 */
void helper_become(const struct install *, const char *name, char **argv,
    int fd) __attribute__((noreturn));

#endif
