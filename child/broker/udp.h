#ifndef BROKER_UDP_H
#define BROKER_UDP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "ipc/address.h"

struct broker;
struct host;
struct udp_flow;
struct watch;

/*
 * Datagrams of the payload: who sends from one port to one host has a flow, a
 * socket of the outside that is connected to an address that was judged. Only
 * what comes back from there reaches him, from the address that he sent to.
 */

#define UDP_FLOWS_MAX 256
#define UDP_IDLE_MS   180000 /* then a flow is over */
#define UDP_SPARE_MS  15000  /* then it is, if another one needs its place */
#define UDP_HELD      8	     /* datagrams kept until the outside is found */
#define UDP_HELD_SIZE 65536  /* bytes of them */

struct udp {
	TAILQ_HEAD(udp_flows, udp_flow) flows; /* the longest idle first */
	size_t n, max;
	struct watch *tidy;
	int64_t said;
	uint8_t *room; /* one datagram */
};

int udp_init(struct broker *, size_t max); /* 0 or -1 */

/*
 * A socket bound to the address of a host at a port, or (host NULL) one that
 * takes what goes to any. Takes fd in any case. 0 or -1.
 */
int udp_add(struct broker *, int fd, struct host *, uint16_t port);

#endif
