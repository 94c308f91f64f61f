#ifndef CARREL_SHARED_LOGIN_H
#define CARREL_SHARED_LOGIN_H

#include <stddef.h>
#include <stdint.h>

struct receiver;
struct sender;

/*
 * What login.conf says of one account (S103): the answer of the parser that
 * was asked with REQUEST_LOGIN and given the file. Either a reason why there
 * is no login, or names of profiles, of the shipped and host layers alone, and
 * a shell.
 */

#define LOGIN_VERSION 1
#define LOGIN_SHELL   "/bin/sh" /* where the file names none */

struct login {
	uint32_t line;	 /* of the section that decided, or at fault */
	char *shell;	 /* a clean path inside */
	char *what;	 /* "", or why not; raw text */
	char *fix;	 /* of that, or "" */
	char **profiles; /* at least one, unless there is a reason */
	size_t nprofiles;
};

void login_free(struct login *); /* the contents */

/* A copy of the name. 0, or -1 with errno (E2BIG: SELECT_MAX). */
int login_add(struct login *, const char *name);

/*
 * The whole stream record_login. send flushes. receive: 0 and a login to be
 * freed whose every field was judged, or -1 with errno and nothing.
 */
int login_send(struct sender *, const struct login *);
int login_receive(struct receiver *, struct login *);

#endif
