#ifndef CARREL_EGRESS_H
#define CARREL_EGRESS_H

#include <stddef.h>
#include <stdint.h>

#include "address.h"

struct rule;

/*
 * [egress] allow: SCHEME://HOST:PORT, or everything public. As a rule of the
 * policy (RULE_EGRESS): what is the scheme, text the host, number the port
 * and EGRESS_PRIVATE.
 */

enum egress_scheme {
	EGRESS_HTTPS = 1, /* TLS whose server name is the host */
	EGRESS_HTTP,	  /* each request names the host */
	EGRESS_TLS,	  /* as https */
	EGRESS_TCP,	  /* unchecked */
	EGRESS_UDP,
	EGRESS_ALL, /* "*": TCP and UDP to every public host and port */
	EGRESS_LAST = EGRESS_ALL
};

#define EGRESS_PORT    0xffffU	/* of number: the port, of EGRESS_ALL 0 */
#define EGRESS_PRIVATE 0x10000U /* the name may lead to private addresses */

#define EGRESS_HOST_MAX 253 /* a name, without "*." */
#define EGRESS_TEXT	300 /* more than egress_text() writes */

struct egress {
	uint8_t scheme;
	uint8_t private;
	uint16_t port;
	const char *host; /* of the rule */
};

/*
 * What a host is in canonical form: a name of labels (a-z, 0-9 and "-", at
 * most 63 bytes each, not the hyphen at an end) in lower case without a dot
 * at its end, whose last label is no number; "*." and a name, for one or more
 * labels below it; an address, as address_text() writes it.
 */
enum egress_host {
	EGRESS_BAD,
	EGRESS_NAME,
	EGRESS_WILD,
	EGRESS_ADDRESS
};
enum egress_host egress_host(const char *);

/* 1 if the n bytes are such a name, never a wildcard or an address. */
int egress_name(const char *, size_t n);

/* Takes a checked rule apart. */
void egress_of(const struct rule *, struct egress *);

/* NULL, or what is wrong with a rule of RULE_EGRESS: "has no such scheme". */
const char *egress_check(const struct rule *);

/* 1 if the rule is about this host: a name or the text of an address. */
int egress_match(const struct egress *, const char *host);
/* 1 if the rule is about UDP; every other scheme is about TCP. */
static inline int
egress_udp(const struct egress *e)
{
	return e->scheme == EGRESS_UDP;
}

/* As a profile spells it: "https://example.org:443", "tcp://[::1]:5 private" */
char *egress_text(const struct egress *, char buf[EGRESS_TEXT]);
const char *egress_scheme(unsigned); /* "https"; "*" of EGRESS_ALL */

/*
 * carrel's own addresses inside: 198.18.0.0/15 (RFC 2544) and
 * EGRESS_PREFIX/64 (RFC 4193), where the last 32 bits are the IPv4 address.
 */
#define EGRESS_PREFIX	  "fd63:6172:7265:6c00::"
#define EGRESS_NET4	  0xc6120000U /* 198.18.0.0, 15 bits */
#define EGRESS_NET4_MASK  0xfffe0000U
#define EGRESS_SOURCE	  0xc6120001U /* where the payload comes from */
#define EGRESS_DNS	  0xc6120002U /* its name server, UDP and TCP 53 */
#define EGRESS_FIRST_NAME 0xc6120100U /* 198.18.1.0: exact names */
#define EGRESS_FIRST_WILD 0xc6130000U /* 198.19.0.0: names under wildcards */
#define EGRESS_WILD_NAMES 256	      /* of them in one run, S81 */

/* The pair of one of these addresses, an IPv4 address in host order. */
void egress_pair(uint32_t, struct address *v4, struct address *v6);
/* 1 if the address is one of carrel's own. */
int egress_own(const struct address *);

#endif
