#ifndef CARREL_OP_H
#define CARREL_OP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ipc/address.h"
#include "ipc/pass.h"

/*
 * What hosted mode's server is asked for: one datagram a question over a
 * SOCK_SEQPACKET pair, with at most PASS_FDS descriptors, and one answer. The
 * server resolves no path: what it works on comes as a descriptor.
 */

#define OP_TOLD_MAX 16384  /* bytes of OP_START, which the server hands on */
#define OP_MAX	    200000 /* questions of one set-up */
#define OP_SECONDS  30	   /* until an answer has to be there */

enum op_type {
	OP_CLONE = 1, /* a copy of a mount tree; fd: what; flags; gives a fd */
	OP_SET,	      /* flags for one mount; fd: it */
	OP_NEW,	      /* a new file system; number: enum op_new; gives a fd */
	OP_MOVE,      /* attach what the last CLONE or NEW gave; fd: where */
	OP_PIVOT,   /* the first thing moved becomes "/"; the last of mounts */
	OP_LOCAL,   /* every address is local; gives 1 if there is IPv6 */
	OP_LISTEN,  /* address, port, udp, flags 1: transparent; gives a fd */
	OP_OBSERVE, /* number: of listen_refused(); gives a fd */
	OP_DIVERT,  /* port, number 1: IPv6, too: nftables_divert() */
	OP_FACTORY, /* fd: of the socket factory; number 1: any address */
	OP_LAST = OP_FACTORY
};

enum op_new {
	OP_TMPFS,
	OP_DEVPTS,
	OP_PROC
};

struct op {
	uint32_t type;
	uint32_t flags;	       /* MOUNT_ATTR_ of CLONE, SET and NEW */
	uint32_t number;       /* see above */
	uint32_t mode;	       /* of a tmpfs */
	uint64_t size, inodes; /* of a tmpfs; inodes 0: no limit */
	uint16_t port;
	uint16_t udp;
	struct address address;
};

struct op_answer {
	int32_t err; /* 0, or an errno */
	int32_t number;
};

/*
 * Asks, and waits up to OP_SECONDS. give: a descriptor, or -1. got: where the
 * one of the answer goes; NULL: none is expected. The answer's number, which
 * is not negative, or -1 with errno: the server's, or ETIMEDOUT, EPIPE,
 * EBADMSG.
 */
int op_ask(int server, const struct op *, int give, int *got);

#endif
