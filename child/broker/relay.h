#ifndef BROKER_RELAY_H
#define BROKER_RELAY_H

#include <stddef.h>
#include <stdint.h>

#include "pipes.h"

/*
 * One direction of a connection. What need not be looked at goes by splice(2)
 * through a pipe that is lent while bytes are in it; what must be goes through
 * a buffer. Nothing is read before what was read is gone, so a reader that is
 * slow holds one pipe or one buffer, and no more.
 */

struct end {
	int fd;			/* non-blocking */
	int readable, writable; /* as far as is known (EPOLLET) */
};

enum look {
	LOOK_PASS, /* half.pass was set */
	LOOK_MORE, /* not without more bytes */
	LOOK_WAIT, /* not before something else happens */
	LOOK_BAD
};

struct half {
	struct end *from, *to;
	struct lent pipe;
	size_t piped;	   /* in it */
	uint8_t *buf;	   /* RELAY_BUFFER, or NULL: nothing is looked at */
	size_t have, pass; /* in buf; of them to be sent */
	int eof, shut;
	int few; /* bytes came last: perhaps there are no more */
	/* What may pass: called when there is a buffer. */
	enum look (*look)(struct half *, void *arg);
	/* How much may pass unseen, and that it did. NULL: all of it. */
	size_t (*unseen)(const struct half *, void *arg);
	void (*unseen_went)(struct half *, size_t, void *arg);
	void *arg;
};

#define RELAY_BUFFER (16384 + 64)
#define RELAY_ROUNDS 16 /* at a time, then others have their turn */

enum relay {
	RELAY_WAIT,  /* until an end is ready again */
	RELAY_MORE,  /* it can go on at once */
	RELAY_DONE,  /* all was sent, and its end */
	RELAY_RESET, /* one of the ends failed */
	RELAY_BAD    /* LOOK_BAD */
};

void relay_init(struct half *, struct end *from, struct end *to);
/* The pipe goes back, the buffer is freed. */
void relay_free(struct half *, struct pipes *);
enum relay relay_run(struct half *, struct pipes *);

#endif
