#ifndef CARREL_ADDRESS_H
#define CARREL_ADDRESS_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/*
 * Which addresses of the outside a payload may ever reach (S84), as far as
 * the address alone says it: whether it is this host's own, only the kernel
 * knows (child/broker/own.h). Pure.
 */

struct address {
	int family; /* AF_INET or AF_INET6 */
	uint8_t byte[16];
};

enum address_class {
	ADDRESS_PUBLIC,
	ADDRESS_PRIVATE, /* only where a rule says so */
	ADDRESS_NEVER
};

/*
 * The class of one address; *why gets a word for it ("loopback"). An IPv4
 * address that is packed into an IPv6 one is judged as well, and the worse
 * verdict counts.
 */
enum address_class address_class(const struct address *, const char **why);

/*
 * The IPv4 addresses that an IPv6 address carries: mapped, compatible,
 * translated, NAT64, 6to4, Teredo (server and client), ISATAP. Their number.
 */
#define ADDRESS_INNER_MAX 2
size_t address_inner(
    const struct address *, struct address inner[ADDRESS_INNER_MAX]);

/* An IPv4-mapped one becomes the IPv4 address that it means. */
void address_unmap(struct address *);

int address_equal(const struct address *, const struct address *);

/* Text of a literal: dotted quad, or RFC 4291 without a zone. 0 or -1. */
int address_parse(struct address *, const char *);
#define ADDRESS_TEXT INET6_ADDRSTRLEN
const char *address_text(const struct address *, char[ADDRESS_TEXT]);

/* From and to what the kernel takes; port in host order. */
void address_set4(struct address *, const struct in_addr *);
void address_set6(struct address *, const struct in6_addr *);
int address_from(
    struct address *, uint16_t *port, const struct sockaddr_storage *);
socklen_t address_to(
    const struct address *, uint16_t port, struct sockaddr_storage *);

#endif
