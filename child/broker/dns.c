#include <string.h>
#include <sys/socket.h>

#include "child/shared/hostname.h"
#include "dns.h"

#define LABEL_MAX   63
#define POINTER	    0xc0
#define CLASS_IN    1
#define FLAG_QR	    0x8000
#define FLAG_TC	    0x0200
#define FLAG_RD	    0x0100
#define FLAG_RA	    0x0080
#define OPCODE	    0x7800
#define RCODE	    0x000f
#define PAYLOAD_MAX 1232 /* of EDNS: what we would take, RFC 9715 */

static uint16_t
get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint8_t *
put16(uint8_t *p, unsigned v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
	return p + 2;
}

/* One label for a person; a dot or an odd byte in it cannot be mistaken. */
static char *
put_label(char *t, const uint8_t *p, size_t n)
{
	for (; n > 0; n--, p++) {
		if (*p > ' ' && *p < 0x7f && *p != '.' && *p != '\\') {
			*t++ = (char)*p;
			continue;
		}
		*t++ = '\\';
		*t++ = (char)('0' + *p / 100);
		*t++ = (char)('0' + *p / 10 % 10);
		*t++ = (char)('0' + *p % 10);
	}
	return t;
}

/*
 * A name without pointers: in a query there is nothing that it could point
 * to. Its length on the wire, or 0.
 */
static size_t
plain_name(const uint8_t *p, size_t len, char text[DNS_TEXT_MAX])
{
	size_t at = 0, n;
	char *t = text;

	for (;;) {
		if (at >= len || at >= DNS_NAME_MAX)
			return 0;
		if ((n = p[at++]) == 0)
			break;
		if (n > LABEL_MAX || n > len - at || n > DNS_NAME_MAX - at)
			return 0;
		if (t != text)
			*t++ = '.';
		t = put_label(t, p + at, n);
		at += n;
	}
	if (t == text)
		*t++ = '.';
	*t = '\0';
	return at;
}

/* The one additional record that a query may have. Its code. */
static int
read_opt(const uint8_t *p, size_t len, struct dns_question *q)
{
	/* root, type, class (size), rcode, version, flags, length */
	if (len < 11 || p[0] != 0 || get16(p + 1) != DNS_OPT ||
	    get16(p + 9) != len - 11)
		return DNS_FORMERR;
	q->edns = 1;
	return p[6] == 0 ? DNS_OK : DNS_BADVERS;
}

int
dns_read_query(const uint8_t *p, size_t len, struct dns_question *q)
{
	unsigned flags;
	size_t n;

	memset(q, 0, sizeof(*q));
	if (len < DNS_HEADER || (flags = get16(p + 2)) & FLAG_QR)
		return -1;
	q->id = get16(p);
	q->recurse = (flags & FLAG_RD) != 0;
	if ((flags & OPCODE) != 0)
		return DNS_NOTIMP;
	if (len > DNS_QUERY_MAX || get16(p + 4) != 1 || get16(p + 6) != 0 ||
	    get16(p + 8) != 0 || get16(p + 10) > 1)
		return DNS_FORMERR;
	n = plain_name(p + DNS_HEADER, len - DNS_HEADER, q->text);
	if (n == 0 || len - DNS_HEADER - n < 4) {
		q->text[0] = '\0';
		return DNS_FORMERR;
	}
	q->len = n + 4;
	memcpy(q->wire, p + DNS_HEADER, q->len);
	q->type = get16(q->wire + n);
	q->class = get16(q->wire + n + 2);
	n = DNS_HEADER + q->len;
	if (get16(p + 10) == 1)
		return read_opt(p + n, len - n, q);
	return n == len ? DNS_OK : DNS_FORMERR;
}

int
dns_host(const struct dns_question *q, char name[EGRESS_HOST_MAX + 1])
{
	/* a label with a dot in it has a backslash in the text */
	return hostname_normalise(name, q->text, strlen(q->text));
}

static uint8_t *
put_opt(uint8_t *p, unsigned high)
{
	*p++ = 0;
	p = put16(p, DNS_OPT);
	p = put16(p, PAYLOAD_MAX);
	*p++ = (uint8_t)high;
	*p++ = 0;
	p = put16(p, 0);
	return put16(p, 0);
}

size_t
dns_write_answer(const struct dns_question *q, int rcode,
    const struct address *a, uint32_t ttl, uint8_t out[DNS_ANSWER_MAX])
{
	size_t n = a == NULL || rcode != DNS_OK ? 0 : address_len(a);
	uint8_t *p = out;

	p = put16(p, q->id);
	p = put16(p, FLAG_QR | FLAG_RA | (q->recurse ? FLAG_RD : 0U) |
			 ((unsigned)rcode & RCODE));
	p = put16(p, q->len > 0);
	p = put16(p, n > 0);
	p = put16(p, 0);
	p = put16(p, q->edns);
	memcpy(p, q->wire, q->len);
	p += q->len;
	if (n > 0) {
		p = put16(p, POINTER << 8 | DNS_HEADER);
		p = put16(p, n == 4 ? DNS_A : DNS_AAAA);
		p = put16(p, CLASS_IN);
		p = put16(p, ttl >> 16);
		p = put16(p, ttl);
		p = put16(p, (unsigned)n);
		memcpy(p, a->bytes, n);
		p += n;
	}
	if (q->edns)
		p = put_opt(p, (unsigned)rcode >> 4);
	return (size_t)(p - out);
}

size_t
dns_write_query(uint16_t id, const char *name, enum dns_type type,
    uint8_t out[DNS_QUERY_MAX])
{
	uint8_t *p = out, *length;

	p = put16(p, id);
	p = put16(p, FLAG_RD);
	p = put16(p, 1);
	p = put16(p, 0);
	p = put16(p, 0);
	p = put16(p, 0);
	/* egress_name() holds it: labels of 1 to 63 bytes, 253 in all */
	for (length = p++; *name != '\0'; name++) {
		if (*name != '.') {
			*p++ = (uint8_t)*name;
			continue;
		}
		*length = (uint8_t)(p - length - 1);
		length = p++;
	}
	*length = (uint8_t)(p - length - 1);
	*p++ = 0;
	p = put16(p, type);
	p = put16(p, CLASS_IN);
	return (size_t)(p - out);
}

/*
 * What is no name of a host may stand in the middle of a chain of aliases, as
 * it is and in lower case; "" if nothing printable can.
 */
static void
odd_name(char name[EGRESS_HOST_MAX + 1], const char *text, size_t n)
{
	size_t i;

	name[0] = '\0';
	if (n == 0 || n - 1 > EGRESS_HOST_MAX)
		return;
	for (i = 0; i < n; i++)
		if (text[i] <= ' ' || text[i] >= 0x7f)
			return;
	for (i = 0; i < n - 1; i++) /* without the dot at its end */
		name[i] = (char)(text[i] >= 'A' && text[i] <= 'Z'
				     ? text[i] - 'A' + 'a'
				     : text[i]);
	name[i] = '\0';
}

/*
 * The name at *at, which is moved behind it, in lower case; "" for one that is
 * none. A pointer leads only backwards, so there is no loop. 0 or -1.
 */
static int
packed_name(
    const uint8_t *p, size_t len, size_t *at, char name[EGRESS_HOST_MAX + 1])
{
	char text[DNS_NAME_MAX + 1];
	size_t here = *at, limit = here, used = 0, n;
	int jumped = 0, odd = 0;

	for (;;) {
		if (here >= len)
			return -1;
		if ((p[here] & POINTER) == POINTER) {
			if (len - here < 2)
				return -1;
			n = get16(p + here) & 0x3fffU;
			if (!jumped)
				*at = here + 2;
			jumped = 1;
			if (n >= limit)
				return -1;
			here = limit = n;
			continue;
		}
		if ((n = p[here++]) == 0)
			break;
		if (n > LABEL_MAX || n > len - here ||
		    used + n + 1 > DNS_NAME_MAX - 1)
			return -1;
		odd |= memchr(p + here, '.', n) != NULL;
		memcpy(text + used, p + here, n);
		used += n;
		text[used++] = '.';
		here += n;
	}
	if (!jumped)
		*at = here;
	if (odd)
		name[0] = '\0';
	else if (hostname_normalise(name, text, used) == -1)
		odd_name(name, text, used);
	return 0;
}

/* A record of an answer, as far as it matters. */
struct found_record {
	char owner[EGRESS_HOST_MAX + 1]; /* "": no name */
	uint16_t type;
	uint32_t ttl;
	size_t data, len; /* in the message */
};

static int
next_record(const uint8_t *p, size_t len, size_t *at, struct found_record *r)
{
	uint16_t class;

	if (packed_name(p, len, at, r->owner) == -1 || len - *at < 10)
		return -1;
	r->type = get16(p + *at);
	class = get16(p + *at + 2);
	r->ttl = (uint32_t)get16(p + *at + 4) << 16 | get16(p + *at + 6);
	if (r->ttl > INT32_MAX)
		r->ttl = 0; /* RFC 2181, 8 */
	r->len = get16(p + *at + 8);
	r->data = *at + 10;
	if (r->len > len - r->data)
		return -1;
	*at = r->data + r->len;
	if (class != CLASS_IN)
		r->type = 0;
	return 0;
}

static void
keep(struct dns_found *f, const uint8_t *p, enum dns_type type)
{
	struct address *a = &f->address[f->n];

	if (f->n == DNS_FOUND_MAX)
		return;
	memset(a, 0, sizeof(*a));
	a->family = type == DNS_A ? AF_INET : AF_INET6;
	memcpy(a->bytes, p, address_len(a));
	f->n++;
}

/*
 * One pass over the answers: addresses of this name are kept, and if it is an
 * alias next gets what for. 1: an alias; 0; -1: nonsense.
 */
static int
one_pass(const uint8_t *p, size_t len, size_t at, const char *owner,
    enum dns_type type, struct dns_found *f, char next[EGRESS_HOST_MAX + 1])
{
	size_t n = get16(p + 6), end;
	struct found_record r;
	int alias = 0;

	if (n > DNS_RECORDS_MAX)
		n = DNS_RECORDS_MAX;
	for (; n > 0; n--) {
		if (next_record(p, len, &at, &r) == -1)
			return -1;
		if (strcmp(r.owner, owner) != 0)
			continue;
		if (r.type == type && r.len == (type == DNS_A ? 4U : 16U)) {
			keep(f, p + r.data, type);
			f->ttl = r.ttl < f->ttl ? r.ttl : f->ttl;
		}
		if (r.type != DNS_CNAME || alias)
			continue;
		f->ttl = r.ttl < f->ttl ? r.ttl : f->ttl;
		end = r.data;
		if (packed_name(p, r.data + r.len, &end, next) == -1 ||
		    end != r.data + r.len)
			return -1;
		alias = next[0] != '\0';
	}
	return alias;
}

/* The header and the question are those of the query. The end of both, or 0. */
static size_t
is_reply(const uint8_t *p, size_t len, uint16_t id, const char *name,
    enum dns_type type)
{
	char asked[EGRESS_HOST_MAX + 1];
	size_t at = DNS_HEADER;

	if (len < DNS_HEADER || get16(p) != id || get16(p + 4) != 1 ||
	    (get16(p + 2) & (FLAG_QR | OPCODE)) != FLAG_QR ||
	    packed_name(p, len, &at, asked) == -1 || strcmp(asked, name) != 0 ||
	    len - at < 4 || get16(p + at) != type ||
	    get16(p + at + 2) != CLASS_IN)
		return 0;
	return at + 4;
}

enum dns_verdict
dns_read_reply(const uint8_t *p, size_t len, uint16_t id, const char *name,
    enum dns_type type, struct dns_found *f)
{
	char owner[EGRESS_HOST_MAX + 1], next[EGRESS_HOST_MAX + 1];
	size_t at = is_reply(p, len, id, name, type);
	int i, alias = 1;

	f->n = 0;
	f->ttl = DNS_TTL_MAX;
	if (at == 0)
		return DNS_STRAY;
	if ((get16(p + 2) & FLAG_TC) != 0)
		return DNS_TRUNCATED;
	if ((get16(p + 2) & RCODE) == DNS_NXDOMAIN)
		return DNS_NO_NAME;
	if ((get16(p + 2) & RCODE) != DNS_OK)
		return DNS_FAILED;
	strcpy(owner, name);
	for (i = 0; i < DNS_CHAIN_MAX && alias == 1 && f->n == 0; i++) {
		alias = one_pass(p, len, at, owner, type, f, next);
		if (alias == 1)
			strcpy(owner, next);
	}
	if (alias == -1) {
		f->n = 0;
		return DNS_FAILED;
	}
	return f->n > 0 ? DNS_FOUND : DNS_NONE;
}
