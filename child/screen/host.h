#ifndef CARREL_SCREEN_HOST_H
#define CARREL_SCREEN_HOST_H

#include <stddef.h>

#include "ipc/rule.h"

struct caller;
struct policy;
struct survey;

/*
 * What a reader of a plan wants to know of this host: which credentials
 * there are, which grants reach them, and which directories hold sockets.
 */

#define HOST_CREDENTIALS 0x01 /* the grant covers credentials */
#define HOST_SOCKETS	 0x02 /* the grant's directory holds a socket */
#define HOST_STARTUP	 0x04 /* what is written there runs by itself later */

struct host_place {
	char *path; /* of the host */
	char *real; /* where links lead; NULL: not looked at, or absent */
	int exists; /* as far as the caller can see */
	int inside; /* 1: a grant covers it, 2: one covers a part of it */
};

struct host {
	struct host_place *credentials; /* in the table's order */
	size_t ncredentials;
	struct host_place *startup; /* read or run at a login, or by name */
	size_t nstartup;
	unsigned char *marks;	       /* HOST_*, one for each grant */
	int unlimited[LIMIT_LAST + 1]; /* 1: this limit cannot be had here */
};

/*
 * The table of known credentials, with paths for this caller: nothing is
 * looked at. 0 and a host to be freed, or -1 with errno.
 */
int host_init(struct host *, const struct caller *, const struct policy *);
void host_free(struct host *);

/*
 * Looks, as the user: what exists and where, which hold sockets, and whether
 * the limits of the policy can be enforced; carrel is the parent process.
 */
void host_look(struct host *, const struct policy *, const struct survey *);

/* Judges: what the grants of the policy cover. Pure. */
void host_judge(struct host *, const struct caller *, const struct policy *,
    const struct survey *);

/* The same of one path of the host, if it were granted: HOST_*. Pure. */
int host_marks(
    struct host *, const struct caller *, const char *path, int writes);

#endif
