#ifndef CARREL_LOGIN_H
#define CARREL_LOGIN_H

#include <stddef.h>

struct install;
struct options;
struct start;

/*
 * carrel-sh(1): carrel as a login shell (S103). What may be run and seen is
 * not the caller's to say but login.conf's, so there is none of the options of
 * carrel(1), and all that a user has written is left alone.
 */

/* 1 if a program that was started by this name is a login shell. */
int login_named(const char *argv0);

/*
 * Its command line: [-l] [-i] [-c COMMAND [NAME [ARG...]]], as sshd(8),
 * login(1) and su(1) give it. What is behind -c are the last words of argv,
 * which options->argv then are; options->login says what goes in front. As
 * options_read() in all else.
 */
int login_options(int argc, char **argv, struct options *, const char **say,
    char *why, size_t len);

/*
 * Has login.conf read, and puts its answer into the options: profiles and
 * shell. server: of hosted mode, or -1. Takes what a user could say of places
 * out of the environment (HOME, XDG_*). Ends the program, with a record in the
 * host's log, where there is no hosted mode or login.conf does not say how this
 * account logs in.
 */
void login_find(
    const struct install *, const struct start *, int server, struct options *);

#endif
