#ifndef CARREL_LISTEN_H
#define CARREL_LISTEN_H

#include <stdint.h>

struct address;

/*
 * Sockets of this network namespace that somebody else will serve: each
 * non-blocking and close-on-exec. A descriptor, or -1 with errno.
 */

/* Bound there, and where it is not udp it listens. */
int listen_at(const struct address *, uint16_t port, int udp);

/*
 * Sees what the kernel refuses here (packet(7)): resets that answer the first
 * packet of a connection, and "unreachable" that answers a datagram. What it
 * hears begins with the header of the internet protocol. Needs CAP_NET_RAW.
 */
int listen_refused(void);

#endif
