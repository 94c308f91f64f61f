#ifndef CARREL_NETLINK_H
#define CARREL_NETLINK_H

#include <stddef.h>
#include <stdint.h>

/*
 * Requests to the kernel that leave together, netlink(7): headers, bodies and
 * attributes in memory of a fixed size. What does not fit is remembered.
 */

#define NETLINK_LEN 8192

struct nlmsghdr;

struct netlink {
	_Alignas(4) uint8_t data[NETLINK_LEN];
	size_t len;
	size_t message; /* where the one being written begins */
	uint32_t n;	/* messages so far */
	int bad;
};

/* Begins a message and returns its zeroed body; flags beside NLM_F_REQUEST. */
void *netlink_begin(
    struct netlink *, uint16_t type, uint16_t flags, size_t body);
void netlink_attribute(
    struct netlink *, uint16_t type, const void *data, size_t len);
/* An attribute that holds those up to its end: what end is given. */
size_t netlink_nest(struct netlink *, uint16_t type);
void netlink_nest_end(struct netlink *, size_t nest);

/*
 * Sends it, and waits for acks answers that something is done (NLM_F_ACK); an
 * answer that it is not is the end. 0, or -1 with errno.
 */
int netlink_ask(struct netlink *, int protocol, uint32_t acks);

#endif
