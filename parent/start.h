#ifndef CARREL_START_H
#define CARREL_START_H

#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

/* What the caller's process had and the payload gets back. */
struct start {
	mode_t umask;
	struct rlimit nofile;
	rlim_t core;	  /* the hard limit; see limit_core() */
	sigset_t ignored; /* of SIGHUP, SIGINT and SIGQUIT: see nohup(1) */
	char **env;	  /* the caller's environment, NULL-terminated */
	char *area;	  /* where the kernel put arguments and environment */
	size_t area_len;
};

/*
 * Brings this process into a known state, whatever the caller left: the
 * first act of main(). Descriptors 0-2 are open and no directories, every
 * other one is close-on-exec; timers are off, nothing is pending, every
 * signal has its default and is unblocked; personality and timer slack are
 * set, and the core size is 1. The environment is saved and emptied. Ends the
 * program with a message if that cannot be had.
 */
void start_normalise(int argc, char **argv, char **envp, struct start *);

/* Overwrites the arguments and the environment that /proc would show. */
void start_scrub(const struct start *);

/* Closes every descriptor from 3 on but these two (-1: none). */
void start_close(int keep, int other);

/* The value of a variable in the saved environment, or NULL. */
const char *start_getenv(const struct start *, const char *name);

#endif
