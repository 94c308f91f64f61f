#ifndef BROKER_DIAL_H
#define BROKER_DIAL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "ipc/address.h"

struct broker;
struct broker_rule;
struct dial;
struct watch;

/*
 * A connection to the outside: the name is looked up, each address is judged
 * (S84) and the very one that was judged is passed to connect(2); both
 * families are tried, the first that answers is taken (RFC 8305). Of UDP a
 * socket that is connected in the same way.
 */

#define DIAL_MAX	64  /* at a time; more wait their turn */
#define DIAL_SECONDS	30  /* for all of it */
#define DIAL_STAGGER_MS 250 /* until the next address is tried beside */
#define DIAL_RESOLVE_MS 50  /* how long IPv4 waits for IPv6 */
#define DIAL_TRIES	4   /* beside each other */

struct dialer {
	TAILQ_HEAD(dials, dial) waiting, running;
	struct dial *spare; /* the last one that ended: there will be others */
	size_t active;
	int said; /* that some have to wait */
};

struct target {
	const char *name; /* NULL: address */
	struct address address;
	uint16_t port;
	int udp;
	int private;			/* addresses may be */
	const struct broker_rule *rule; /* for reports */
};

void dialer_init(struct dialer *);

/*
 * done may be called before this returns, and is called once: with a
 * descriptor, or -1 and errno. Of TCP the descriptor is watched for reading
 * and writing (LOOP_EDGE), and done takes that over (watch_give()); of UDP w
 * is NULL. *where is the dial until then. 0, or -1 if there is no memory (done
 * is not called then).
 */
int dial_start(struct broker *, const struct target *, struct dial **where,
    void (*done)(void *arg, int fd, struct watch *w, int err), void *arg);
/* At the end of a run: what was never answered is told. */
void dialer_end(struct broker *);
void dial_cancel(struct dial *); /* done is not called; NULL is nothing */

#endif
