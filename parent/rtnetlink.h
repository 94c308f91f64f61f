#ifndef CARREL_RTNETLINK_H
#define CARREL_RTNETLINK_H

struct failure;

/*
 * Makes every address of the new network namespace one of its own
 * (rtnetlink(7)): EGRESS_SOURCE on lo, and in the routing table "local" a
 * route for everything, from there. Where nobody listens the kernel itself
 * refuses, at once. Multicast is prohibited, for it would be swallowed
 * without a word. Needs CAP_NET_ADMIN there, and lo up. *v6 is 0 if this
 * kernel has no IPv6. 0 or -1.
 */
int rtnetlink_local(int *v6, struct failure *);

#endif
