#ifndef CARREL_NFTABLES_H
#define CARREL_NFTABLES_H

#include <stdint.h>

struct failure;

/*
 * allow = *: gives to one socket what is for any address and port of this
 * network namespace and nobody listens for, with the address that it was for
 * (kernel: Documentation/networking/tproxy.rst). The sockets listen at this
 * port of any address and are transparent. What no rule but a private one
 * reaches is left to the kernel, which refuses it. Needs CAP_NET_ADMIN. 0 or
 * -1.
 */
int nftables_divert(uint16_t port, int v6, struct failure *);

#endif
