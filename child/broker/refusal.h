#ifndef BROKER_REFUSAL_H
#define BROKER_REFUSAL_H

#include <stddef.h>
#include <stdint.h>

#include "ipc/address.h"

/*
 * What the kernel says inside to whom nobody listens for: a TCP reset without
 * a sequence number, which only answers a SYN, or an ICMP that the port is
 * unreachable, with the head of what was sent. Pure; the payload cannot make
 * such packets, but it chooses most of what is in them.
 */

struct refusal_seen {
	uint8_t udp;
	uint16_t port;
	struct address to;
};

/*
 * A packet as a raw socket gives it (raw(7)): of IPv4 with its header, of IPv6
 * without it, but then who sent it and its protocol are known. 1, or 0 if it
 * is none of these.
 */
int refusal_read4(const uint8_t *, size_t, struct refusal_seen *);
int refusal_read6(const uint8_t *, size_t, int proto,
    const struct address *from, struct refusal_seen *);

#endif
