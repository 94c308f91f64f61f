#ifndef BROKER_RESOLVER_H
#define BROKER_RESOLVER_H

#include <stddef.h>
#include <sys/queue.h>

struct broker;
struct question;

/*
 * The name server inside, by UDP and TCP. It answers what the rules allow with
 * carrel's own addresses and asks nobody (S83): what the payload puts into a
 * question ends here. Only under "*" are names looked up, and the answer is
 * where they are.
 */

#define RESOLVER_TCP_MAX   16 /* connections */
#define RESOLVER_TCP_MS	   10000
#define RESOLVER_AGAIN_MS  100 /* after descriptors or memory ran out */
#define RESOLVER_ASKED_MAX 64  /* look-ups under "*" at a time */

struct resolver {
	size_t connections;
	size_t asked;
};

/* A socket of the name server. Takes fd in any case. 0 or -1. */
int resolver_add_udp(struct broker *, int fd);
int resolver_add_tcp(struct broker *, int fd);

#endif
