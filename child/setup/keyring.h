#ifndef CARREL_KEYRING_H
#define CARREL_KEYRING_H

/*
 * The payload shall not find the caller's keys through his session keyring
 * (session-keyring(7)). One empty keyring serves all runs of a user: each
 * run's own would count against the keys that he may have (200 by default),
 * and no payload may call keyctl(2) to put anything into it. 0, also where the
 * kernel has no keys; or -1 with errno.
 */
int keyring_join(void);

#endif
