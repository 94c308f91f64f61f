#ifndef BROKER_TCP_H
#define BROKER_TCP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

struct broker;
struct host;
struct listener;
struct watch;

/*
 * Connections of the payload: accepted, checked as far as the rules want it,
 * dialled, relayed. Its end always gets a reset unless both directions came
 * to their end: so, too, when the broker dies.
 */

#define TCP_FLOWS_MAX 1024

struct tcp {
	TAILQ_HEAD(listeners, listener) listeners;
	size_t flows, max;
	int paused; /* no listener is watched */
	struct watch *resume;
	int64_t said; /* when a pause was reported last */
};

int tcp_init(struct broker *, size_t max); /* 0 or -1 */

/*
 * A listening socket for a host at a port, or (host NULL) for any address and
 * port. Takes fd in any case. 0 or -1.
 */
int tcp_add(struct broker *, int fd, struct host *, uint16_t port);

#endif
