#ifndef CARREL_BROKER_H
#define CARREL_BROKER_H

#include <stddef.h>
#include <stdint.h>

#include "ipc/address.h"
#include "ipc/egress.h"

struct receiver;
struct sender;

/*
 * From the set-up to the broker: what is allowed, which addresses stand for
 * which hosts inside, and the sockets that were made there (record_broker).
 * The broker answers once, when it is ready for the payload (record_ready).
 */

#define BROKER_VERSION 1

/* A rule, and the claim in a profile that it comes from. */
struct broker_rule {
	struct egress egress; /* host points into text */
	char *text;
	uint16_t profile; /* index in the policy */
	uint32_t line;
};

/* A name or the text of an address, and where it is inside. */
struct broker_host {
	char *name;
	struct address v4, v6; /* of a name both, of an address itself */
};

enum broker_kind {
	BROKER_LISTENER = 1, /* TCP, listens on an address of a host */
	BROKER_FLOW,	     /* UDP, bound to an address of a host */
	BROKER_DNS_LISTENER, /* TCP, listens at EGRESS_DNS */
	BROKER_DNS_FLOW,     /* UDP, bound there */
	BROKER_OBSERVER,     /* raw: how nobody listened */
	BROKER_FACTORY,	     /* to the socket factory, factory.h */
	BROKER_ALL_LISTENER, /* TCP, takes what is for any address and port */
	BROKER_ALL_FLOW,     /* UDP, likewise */
	BROKER_LAST = BROKER_ALL_FLOW
};

struct broker_socket {
	uint8_t kind;
	uint16_t host; /* index, of a LISTENER or FLOW; else 0 */
	uint16_t port; /* likewise */
	int fd;	       /* non-blocking, close-on-exec */
};

struct broker_setup {
	struct broker_rule *rules;
	size_t nrules;
	struct broker_host *hosts;
	size_t nhosts;
	struct broker_socket *sockets;
	size_t nsockets;
	int uses; /* what is allowed and used is told, too */
};

/*
 * The stream, in this order. A socket is sent as it is attached and must stay
 * open until the sender is flushed. 0, or -1 with errno.
 */
int broker_begin(struct sender *, int uses);
int broker_send_rule(struct sender *, const struct broker_rule *);
int broker_send_host(struct sender *, const struct broker_host *);
int broker_send_socket(struct sender *, const struct broker_socket *);
int broker_end(
    struct sender *, const struct broker_setup *counts); /* flushes */

/*
 * All of it; what came is checked but for what a socket really is. 0 and a
 * setup to be freed, or -1 with errno, and no descriptor is left open. Does
 * not wait for the peer to close.
 */
int broker_receive(struct receiver *, struct broker_setup *);
void broker_setup_free(struct broker_setup *); /* closes what is not -1 */

/* The answer: "" if it is ready, else a sentence for a person. Flushes. */
int broker_send_ready(struct sender *, const char *why);
/* 0 and the text in why, or -1 with errno (EPIPE: it ended without a word). */
int broker_receive_ready(struct receiver *, char *why, size_t len);

#endif
