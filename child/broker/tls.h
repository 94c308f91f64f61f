#ifndef BROKER_TLS_H
#define BROKER_TLS_H

#include <stddef.h>
#include <stdint.h>

/*
 * The first flight of a TLS client (RFC 8446, 5.1 and 4.1.2; RFC 6066, 3): the
 * host that it names. Pure; every byte is the payload's.
 */

#define TLS_RECORD_MAX	  16384
#define TLS_RECORDS_MAX	  8 /* that one hello may come in */
#define TLS_HANDSHAKE_MAX 16384
#define TLS_HELLO_MAX	  (TLS_HANDSHAKE_MAX + 4 + 5 * TLS_RECORDS_MAX)
#define TLS_NAME_MAX	  255
#define TLS_SECONDS	  5 /* for all of it to come */

enum tls_verdict {
	TLS_MORE,  /* so far it is a hello */
	TLS_HELLO, /* a whole one */
	TLS_NOT,   /* something else */
	TLS_BAD	   /* a hello that is none, or beyond the bounds above */
};

struct tls_hello {
	char name[TLS_NAME_MAX + 1]; /* as it came; "" if it names no host */
	int ech; /* it also carries a name that cannot be read */
};

/*
 * Looks at what came until now, from the first byte on. The hello ends where
 * the bytes end, or is still followed by the client's further records.
 */
enum tls_verdict tls_read(const uint8_t *, size_t, struct tls_hello *);

#endif
