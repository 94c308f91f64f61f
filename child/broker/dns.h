#ifndef BROKER_DNS_H
#define BROKER_DNS_H

#include <stddef.h>
#include <stdint.h>

#include "ipc/address.h"
#include "ipc/egress.h"

/*
 * Messages of the domain name system (RFC 1035, EDNS: RFC 6891), as much of
 * them as carrel needs. Pure. Both sides are hostile: who asks is the payload,
 * who answers is the outside.
 */

#define DNS_HEADER	12
#define DNS_NAME_MAX	255  /* of a name on the wire, RFC 1035 */
#define DNS_TEXT_MAX	1024 /* more than its text, each byte as \DDD */
#define DNS_QUERY_MAX	512  /* of a query that is read: one name, one OPT */
#define DNS_ANSWER_MAX	320  /* header, question, one address, OPT */
#define DNS_REPLY_MAX	65535
#define DNS_RECORDS_MAX 256 /* of a reply that are looked at */
#define DNS_CHAIN_MAX	16  /* CNAMEs that are followed */
#define DNS_FOUND_MAX	16  /* addresses that are kept */
#define DNS_TTL_MAX	300 /* seconds that an answer may be kept inside */

enum dns_type {
	DNS_A = 1,
	DNS_CNAME = 5,
	DNS_AAAA = 28,
	DNS_OPT = 41
};

enum dns_rcode {
	DNS_OK = 0,
	DNS_FORMERR = 1,
	DNS_SERVFAIL = 2,
	DNS_NXDOMAIN = 3,
	DNS_NOTIMP = 4,
	DNS_REFUSED = 5,
	DNS_BADVERS = 16
};

/* What the payload asks. */
struct dns_question {
	uint16_t id, type, class;
	uint8_t recurse, edns;
	uint8_t wire[DNS_NAME_MAX + 4]; /* as it came, to be sent back */
	size_t len;			/* 0: there was none to be read */
	char text[DNS_TEXT_MAX];	/* odd bytes as \DDD, no NUL */
};

/*
 * Reads a query: DNS_OK, or the code to answer it with; -1 for what must not
 * be answered at all: too short for a header, or itself an answer.
 */
int dns_read_query(const uint8_t *, size_t, struct dns_question *);

/* The name of a question as a host name (hostname.h). 0, or -1: it is none. */
int dns_host(const struct dns_question *, char name[EGRESS_HOST_MAX + 1]);

/*
 * Answers: the code, and the address if there is one of the type that was
 * asked for (else NULL: nothing of this type), which may be kept for ttl
 * seconds. The length.
 */
size_t dns_write_answer(const struct dns_question *, int rcode,
    const struct address *, uint32_t ttl, uint8_t out[DNS_ANSWER_MAX]);

/* Asks for a host name, which is normalised. The length. */
size_t dns_write_query(
    uint16_t id, const char *name, enum dns_type, uint8_t out[DNS_QUERY_MAX]);

enum dns_verdict {
	DNS_FOUND,     /* at least one address */
	DNS_NONE,      /* the name has no address of this type */
	DNS_NO_NAME,   /* there is no such name */
	DNS_TRUNCATED, /* ask by TCP */
	DNS_FAILED,    /* the server says it cannot */
	DNS_STRAY /* no answer to this question, or nonsense: go on waiting */
};

struct dns_found {
	struct address address[DNS_FOUND_MAX];
	size_t n;
	uint32_t ttl; /* seconds, the least of what led here; DNS_TTL_MAX */
};

/*
 * Reads the reply to dns_write_query(). Only addresses of the very name count,
 * or of the name that a chain of its CNAMEs leads to; whatever else is in the
 * message is passed over.
 */
enum dns_verdict dns_read_reply(const uint8_t *, size_t, uint16_t id,
    const char *name, enum dns_type, struct dns_found *);

#endif
