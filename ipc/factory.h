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

/* As it crosses: on one machine, between programs of one build. */
struct factory_wire {
	uint8_t udp, v6;
	uint16_t port;
	uint8_t address[16];
};

/*
 * Before the first question the set-up gives it what it needs, over the end
 * that the broker gets later: a socket of the sandbox's network namespace, and
 * an empty directory to be locked into, and whether it may use any address or
 * only carrel's own; its first answer, of no descriptor, is for the set-up.
 * enter: 0 or -1. entered: waits; 0, or -1 with errno, the
 * factory's own or as below. receive_enter: 1, 0 or -1 as factory_receive().
 */
int factory_enter(int fd, int net, int root, int any);
int factory_entered(int fd, int64_t deadline);
int factory_receive_enter(int fd, int *net, int *root, int *any);

/*
 * Asks and waits: a descriptor (non-blocking, close-on-exec), or -1 with
 * errno, the factory's own or ETIMEDOUT, EPIPE, EBADMSG.
 */
int factory_ask(int fd, const struct factory_ask *, int64_t deadline);

/*
 * The other side. receive: waits; 1 and a question, 0 when the broker is
 * gone, -1 with errno. answer: made is a descriptor that stays the caller's,
 * or -1 and err (0 for the set-up alone). 0 or -1. Both work on the stack and
 * make no call but recvmsg(2) and sendmsg(2); fd blocks.
 */
int factory_receive(int fd, struct factory_ask *);
int factory_answer(int fd, int made, int err);

#endif
