#ifndef CARREL_REACH_H
#define CARREL_REACH_H

#include <stddef.h>

#include "address.h"

/*
 * Which addresses of the outside a payload may ever reach (S84), as far as
 * the address alone says it: whether it is this host's own, only the kernel
 * knows (child/broker/own.h). Pure.
 */

enum reach {
	REACH_PUBLIC,
	REACH_PRIVATE, /* only where a rule says so */
	REACH_NEVER
};

/*
 * What one address is; *why gets a word for it ("loopback"). An IPv4 address
 * that is packed into an IPv6 one is judged as well, and the worse verdict
 * counts.
 */
enum reach reach_of(const struct address *, const char **why);

/*
 * The IPv4 addresses that an IPv6 address carries: mapped, compatible,
 * translated, NAT64, 6to4, Teredo (server and client), ISATAP. Their number.
 */
#define REACH_INNER_MAX 2
size_t reach_inner(
    const struct address *, struct address inner[REACH_INNER_MAX]);

/* An IPv4-mapped one becomes the IPv4 address that it means. */
void reach_unmap(struct address *);

#endif
