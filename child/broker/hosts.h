#ifndef BROKER_HOSTS_H
#define BROKER_HOSTS_H

#include "budget.h"
#include "child/shared/broker.h"

struct broker;

/*
 * Who is who inside: the names and literals that the set-up made addresses
 * for, and the names under wildcards that turned up since.
 */

struct host {
	const char *name; /* of a literal its text */
	struct address v4, v6;
	int literal; /* it stands for itself */
};

struct hosts {
	struct host *list;
	size_t n, max;
	char *more; /* names that turned up, EGRESS_HOST_MAX + 1 each */
	size_t nmore;
	struct budget budget;
	int said; /* that the budget is used up */
};

int hosts_init(struct broker *); /* 0, or -1: no memory */

struct host *hosts_by_name(struct broker *, const char *name);
struct host *hosts_by_address(struct broker *, const struct address *);

/*
 * A name that no rule has but a wildcard fits gets an address and sockets.
 * NULL: errno is EAGAIN if the budget is used up, else what went wrong.
 */
struct host *hosts_add(struct broker *, const char *name, int64_t now);

/*
 * What the rules say of a host at a port. Any rule that fits is enough; each
 * is NULL if there is none.
 */
struct allowed {
	const struct broker_rule *plain; /* tcp, udp, "*": unchecked */
	const struct broker_rule *tls, *http;
	int plain_private, tls_private, http_private;
};

/* host NULL: an address that stands for no host; only "*" fits. */
void hosts_allowed(const struct broker *, const struct host *, uint16_t port,
    int udp, struct allowed *);

/* 1 if any rule, of any port, fits the name. */
int hosts_granted(const struct broker *, const char *name);
/* 1 if there is a rule "*". */
int hosts_all(const struct broker *);

#endif
