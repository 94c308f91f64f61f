#ifndef CARREL_CHANNEL_H
#define CARREL_CHANNEL_H

#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "limits.h"
#include "record.h"

struct sha256;

/*
 * Records over a SOCK_SEQPACKET socketpair (unix(7)): a datagram arrives
 * whole or is an error, so nothing is ever put together again.
 */

/* A connected pair, both ends close-on-exec and non-blocking. 0 or -1. */
int channel_pair(int fd[2]);

/* CLOCK_MONOTONIC in milliseconds, and that plus seconds. */
int64_t channel_now(void);
int64_t channel_deadline(int seconds);
/* What is left of a deadline, for poll(2); -1 of -1. */
int channel_left(int64_t deadline);

/* Sends records; full datagrams leave on their own, the rest by a flush. */
struct sender {
	int fd;
	int64_t deadline; /* of the whole stream; -1: none */
	uint8_t *data;	  /* DATAGRAM_MAX, freed by sender_free() */
	size_t len;
	struct wbuf w;	       /* the record being written */
	int fds[DATAGRAM_FDS]; /* what goes with data, the caller's own */
	size_t nfds;
};

int sender_init(struct sender *, int fd, int64_t deadline);
void sender_free(struct sender *); /* does not close fd */
/* Begin a record and get its buffer; end it. -1 with errno on any failure. */
struct wbuf *sender_begin(struct sender *, enum record_type);
int sender_end(struct sender *);
/*
 * Before the end of a record of record_fds(): a descriptor that goes with it.
 * It is sent by a flush, of one's own when DATAGRAM_FDS are waiting, and must
 * stay open until then.
 */
void sender_attach(struct sender *, int fd);
int sender_flush(struct sender *);

/*
 * Receives records in the order of a table. Next record: 1 and its type and
 * fields (valid until the next call), or 0 when the peer closed after the
 * table was used up, or -1 with errno:
 *	EMSGSIZE	a datagram of more than DATAGRAM_MAX
 *	EBADMSG		a short, long or unknown record, one out of turn, an
 *			unexpected descriptor, an empty datagram
 *	EPIPE		the peer closed too early
 *	ETIMEDOUT	the deadline passed
 *	EFBIG		more than POLICY_BYTES_MAX in all
 * A descriptor is never installed in this process, unless the table has a
 * record of record_fds(). Then each such record brings exactly as many as
 * that says, close-on-exec, and one more or less in a datagram is EBADMSG.
 */
struct receiver {
	int fd;
	int64_t deadline;
	uint8_t *data; /* DATAGRAM_MAX + 1, freed by receiver_free() */
	size_t len, off, total;
	struct record_state state;
	struct sha256 *digest; /* NULL, or of all records so far */
	int takes_fds;
	int fds[DATAGRAM_FDS]; /* of this datagram; -1: taken */
	size_t nfds, used;     /* used: by its records so far */
};

int receiver_init(
    struct receiver *, int fd, int64_t deadline, const struct record_rule *);
/* Does not close fd, but what came over it and was not taken. */
void receiver_free(struct receiver *);
int receiver_next(struct receiver *, unsigned *type, struct rcur *);
/* A descriptor of the record at hand, now the caller's; -1 if it has none. */
int receiver_take(struct receiver *);
/* 1 if something is left of the datagram of the last record. */
int receiver_left(const struct receiver *);
/* After the last record: the peer must close and say nothing more. 0 or -1. */
int receiver_finish(struct receiver *);

#endif
