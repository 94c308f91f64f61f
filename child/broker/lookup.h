#ifndef BROKER_LOOKUP_H
#define BROKER_LOOKUP_H

#include "dns.h"

struct loop;
struct lookup;
struct servers;

/*
 * Asks the host's name servers for the addresses of a name. Each question goes
 * out from a socket, and so a port, of its own, which takes answers from the
 * server that it went to and from nobody else; what is cut off is asked again
 * by TCP. Nothing of the payload's is in it but the name, which a rule allows,
 * and no domain is ever appended.
 *
 * Not evdns: it keeps one port a server, takes every address in an answer
 * for one of the name's, and has no TCP.
 */

#define LOOKUP_TRY_MS 2000 /* until the next server is asked */
#define LOOKUP_ROUNDS 3	   /* each server is asked so often */

/*
 * done is called once for each family (0: both, else AF_INET or AF_INET6):
 * found is empty unless the verdict is DNS_FOUND, and never DNS_STRAY. The
 * lookup may be freed in it.
 */
struct lookup *lookup_start(struct loop *, const struct servers *,
    const char *name, int family,
    void (*done)(
	void *arg, int family, enum dns_verdict, const struct dns_found *),
    void *arg);			   /* NULL: no memory, or no more descriptors */
void lookup_free(struct lookup *); /* stops; NULL is nothing */

#endif
