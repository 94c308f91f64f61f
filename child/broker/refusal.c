#include <netinet/in.h>
#include <string.h>

#include "refusal.h"

#define HEAD4	     20
#define HEAD6	     40
#define TCP_HEAD     20
#define TCP_RST	     0x04
#define ICMP_HEAD    8
#define UNREACHABLE4 3
#define UNREACHABLE6 1
#define FRAGMENT     0x1fff /* an offset: not the beginning */

static uint16_t
get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

/* What an IP header says; p and len are moved behind it. */
struct packet {
	const uint8_t *p;
	size_t len;
	uint8_t proto;
	struct address from, to;
};

static int
header(struct packet *k)
{
	const uint8_t *p = k->p;
	size_t head = HEAD6, n = 16, at = 8;

	memset(&k->from, 0, sizeof(k->from));
	memset(&k->to, 0, sizeof(k->to));
	if (k->len < 1)
		return -1;
	if (p[0] >> 4 == 4) {
		head = (size_t)(p[0] & 0xf) * 4;
		if (k->len < HEAD4 || head < HEAD4 ||
		    (get16(p + 6) & FRAGMENT) != 0)
			return -1;
		n = 4;
		at = 12;
		k->proto = p[9];
		k->from.family = k->to.family = AF_INET;
	} else {
		if (p[0] >> 4 != 6 || k->len < HEAD6)
			return -1;
		k->proto = p[6];
		k->from.family = k->to.family = AF_INET6;
	}
	if (k->len < head)
		return -1;
	memcpy(k->from.bytes, p + at, n);
	memcpy(k->to.bytes, p + at + n, n);
	k->p += head;
	k->len -= head;
	return 0;
}

static int
body(struct packet *k, struct refusal_seen *r)
{
	static const uint8_t zero[4];
	int six = k->from.family == AF_INET6;

	memset(r, 0, sizeof(*r));
	if (k->proto == IPPROTO_TCP) {
		if (k->len < TCP_HEAD || (k->p[13] & TCP_RST) == 0 ||
		    memcmp(k->p + 4, zero, 4) != 0)
			return 0;
		r->to = k->from;
		r->port = get16(k->p);
		return 1;
	}
	if (k->proto != (six ? IPPROTO_ICMPV6 : IPPROTO_ICMP) ||
	    k->len < ICMP_HEAD ||
	    k->p[0] != (six ? UNREACHABLE6 : UNREACHABLE4))
		return 0;
	k->p += ICMP_HEAD;
	k->len -= ICMP_HEAD;
	if (header(k) == -1 || k->len < 4 ||
	    (k->from.family == AF_INET6) != six ||
	    (k->proto != IPPROTO_UDP && k->proto != IPPROTO_UDPLITE &&
		k->proto != IPPROTO_TCP))
		return 0;
	r->udp = k->proto != IPPROTO_TCP;
	r->to = k->to;
	r->port = get16(k->p + 2);
	return 1;
}

int
refusal_read4(const uint8_t *p, size_t len, struct refusal_seen *r)
{
	struct packet k = {.p = p, .len = len};

	if (header(&k) == 0 && k.from.family == AF_INET)
		return body(&k, r);
	memset(r, 0, sizeof(*r));
	return 0;
}

int
refusal_read6(const uint8_t *p, size_t len, int proto,
    const struct address *from, struct refusal_seen *r)
{
	struct packet k = {.p = p, .len = len, .proto = (uint8_t)proto};

	k.from = *from;
	return body(&k, r);
}
