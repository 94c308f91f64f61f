#ifndef CARREL_PARSER_LOGIN_H
#define CARREL_PARSER_LOGIN_H

#include <stddef.h>

struct caller;
struct login;
struct place;
struct policy;

/*
 * login.conf, which says with what an account logs in by carrel-sh:
 *
 *	[user NAME]  [group NAME]  [default]
 *	profile = NAME		of the shipped (@) or the host's layer; a list
 *	shell = PATH		once; inside
 *
 * The user's own section decides alone; where there is none, those of all his
 * groups do, together; where there is none of these, [default] does. The whole
 * file has to be right, whoever it is read for.
 */

/* Reads the text, as reader_parse(). 0 and a login, or -1: refused. */
int login_parse(const struct place *, char *data, size_t len,
    const struct caller *, struct login *);

/*
 * Reads the file, which has to be root's and writable by nobody else; fd -1:
 * it is not to be read, for what the policy has been refused for already. 0
 * and a login to be freed, which is a reason where anything is wrong; -1 for
 * want of memory.
 */
int login_read(struct policy *, int fd, const struct caller *, struct login *);

#endif
