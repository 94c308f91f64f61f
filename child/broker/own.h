#ifndef BROKER_OWN_H
#define BROKER_OWN_H

#include "ipc/reach.h"

/*
 * Whether an address is this host's own: the kernel is asked for the route to
 * it each time (rtnetlink(7)), since addresses come and go, and whole prefixes
 * can be local.
 */

/* A descriptor for the questions, or -1 with errno. */
int own_open(void);

/*
 * reach_of() and the kernel's word: REACH_NEVER for what is local, a
 * broadcast address, or cannot be asked about; so is an address inside. *why
 * as there; "no route" if none leads there.
 */
enum reach own_judge(int fd, const struct address *, const char **why);

#endif
