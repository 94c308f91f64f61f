#ifndef CARREL_ADDRESS_H
#define CARREL_ADDRESS_H

#include <stddef.h>
#include <stdint.h>

/* An address of the internet protocol. The family is in <sys/socket.h>. */
struct address {
	int family; /* AF_INET, AF_INET6, or 0: none */
	uint8_t bytes[16];
};

#define ADDRESS_TEXT 46 /* INET6_ADDRSTRLEN: the longest text, with its NUL */

/* How many of the bytes count, in network order: 4, 16 or 0. */
size_t address_len(const struct address *);

/*
 * Reads four decimal numbers with dots between, or the text of RFC 4291
 * without a zone; nothing else is an address. 0 or -1.
 */
int address_read(const char *, struct address *);

/* Its one canonical text (RFC 5952, but no dots in an IPv6 address). */
char *address_text(const struct address *, char buf[ADDRESS_TEXT]);

int address_equal(const struct address *, const struct address *);

#endif
