#ifndef CARREL_NETWORK_H
#define CARREL_NETWORK_H

#include <stdint.h>

struct failure;
struct policy;

/*
 * The set-up's half of egress: it makes the sockets of what is allowed in its
 * own network namespace and gives them to the broker, which serves them from
 * outside. Nothing of them stays here.
 */

/* 1 if the policy allows anything, so that a broker is needed. */
int network_wanted(const struct policy *);
/* 1 if names turn up only later: a wildcard. */
int network_factory(const struct policy *);
/* 1 if it allows everything. */
int network_all(const struct policy *);

struct network; /* what has been made and given so far */

/*
 * Makes the sockets and sends them. broker: to the broker; factory: to the
 * socket factory, which the broker gets as well, or -1 where there is no
 * wildcard. Both belong to the network from here on. uses: what is allowed and
 * used is told. Takes CAP_NET_ADMIN,
 * CAP_NET_RAW, CAP_NET_BIND_SERVICE and CAP_SYS_ADMIN over the namespaces.
 * 0, or -1 and the process must end.
 */
int network_make(struct network **, const struct policy *, int broker,
    int factory, int uses, int64_t deadline, struct failure *);

/*
 * Waits until both are ready, and leaves them alone: nothing of the network
 * is left, and it is freed. 0, or -1 and the process must end.
 */
int network_finish(struct network *, struct failure *);

#endif
