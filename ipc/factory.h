#ifndef CARREL_FACTORY_H
#define CARREL_FACTORY_H

#include <stdint.h>

#include "address.h"

/*
 * The socket factory stays in the sandbox's network namespace when the set-up
 * is gone and makes sockets for names that only turn up later, under a
 * wildcard. A SOCK_SEQPACKET pair between it and the broker: a question, an
 * answer, one at a time.
 */

struct factory_ask {
	uint8_t udp; /* 1: UDP, bound; 0: TCP, listening */
	uint16_t port;
	struct address address;
};

/*
 * Asks and waits: a descriptor (non-blocking, close-on-exec), or -1 with
 * errno, the factory's own or ETIMEDOUT, EPIPE, EBADMSG.
 */
int factory_ask(int fd, const struct factory_ask *, int64_t deadline);

/*
 * The other side. receive: waits; 1 and a question, 0 when the broker is
 * gone, -1 with errno. answer: made is a descriptor that stays the caller's,
 * or -1 and err. 0 or -1. Both work on the stack and make no call but
 * recvmsg(2) and sendmsg(2); fd blocks.
 */
int factory_receive(int fd, struct factory_ask *);
int factory_answer(int fd, int made, int err);

#endif
