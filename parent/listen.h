#ifndef CARREL_LISTEN_H
#define CARREL_LISTEN_H

#include <stddef.h>
#include <stdint.h>

struct address;

/*
 * Sockets of this network namespace that somebody else will serve: each
 * non-blocking and close-on-exec. A descriptor, or -1 with errno.
 */

/* Bound there, and where it is not udp it listens. */
int listen_at(const struct address *, uint16_t port, int udp);

/*
 * Bound to any address, and transparent: it may be given what is for others.
 * A datagram tells for whom it was (IP_RECVORIGDSTADDR, ip(7)). Needs
 * CAP_NET_ADMIN or CAP_NET_RAW.
 */
int listen_all(int family, uint16_t port, int udp);

/*
 * What sees the refusals of the kernel here, raw(7): resets that answer the
 * first packet of a connection, and "unreachable" that answers a datagram; one
 * for each protocol, the last two of IPv6. Needs CAP_NET_RAW.
 */
#define LISTEN_OBSERVERS    4
#define LISTEN_OBSERVERS_V4 2
int listen_refused(size_t i);

#endif
