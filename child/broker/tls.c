#include <string.h>

#include "tls.h"

#define RECORD_HANDSHAKE 22
#define CLIENT_HELLO	 1
#define SERVER_NAME	 0
#define ECH		 0xfe0d
#define HOST_NAME	 0
#define SESSION_MAX	 32

/* Bytes in network order; the first one too many is remembered. */
struct view {
	const uint8_t *p;
	size_t len;
	int bad;
};

static struct view
take(struct view *v, size_t n)
{
	struct view t = {v->p, n, 0};

	if (v->bad || n > v->len) {
		v->bad = 1;
		t.len = 0;
		t.bad = 1;
		return t;
	}
	v->p += n;
	v->len -= n;
	return t;
}

static unsigned
number(struct view *v, size_t bytes)
{
	struct view t = take(v, bytes);
	unsigned n = 0;

	while (t.len > 0) {
		n = n << 8 | *t.p++;
		t.len--;
	}
	return n;
}

/* What a length of so many bytes says is there. */
static struct view
vector(struct view *v, size_t bytes)
{
	return take(v, number(v, bytes));
}

/* A list of exactly one name, of a host. 0 or -1. */
static int
server_name(struct view ext, struct tls_hello *h)
{
	struct view list = vector(&ext, 2), name;

	if (ext.bad || ext.len != 0 || number(&list, 1) != HOST_NAME)
		return -1;
	name = vector(&list, 2);
	if (list.bad || list.len != 0 || name.len == 0 ||
	    name.len > TLS_NAME_MAX || memchr(name.p, '\0', name.len) != NULL)
		return -1;
	memcpy(h->name, name.p, name.len);
	h->name[name.len] = '\0';
	return 0;
}

static int
extensions(struct view all, struct tls_hello *h)
{
	struct view ext;
	unsigned type;
	int named = 0;

	while (all.len > 0) {
		type = number(&all, 2);
		ext = vector(&all, 2);
		if (all.bad)
			return -1;
		if (type == ECH)
			h->ech = 1;
		if (type != SERVER_NAME)
			continue;
		if (named || server_name(ext, h) == -1)
			return -1;
		named = 1;
	}
	return 0;
}

static int
client_hello(struct view v, struct tls_hello *h)
{
	struct view session, suites, methods, ext;

	take(&v, 2 + 32); /* version, random */
	session = vector(&v, 1);
	suites = vector(&v, 2);
	methods = vector(&v, 1);
	if (v.bad || session.len > SESSION_MAX || suites.len < 2 ||
	    suites.len % 2 != 0 || methods.len == 0)
		return -1;
	if (v.len == 0)
		return 0; /* from before there were extensions */
	ext = vector(&v, 2);
	if (v.bad || v.len != 0)
		return -1;
	return extensions(ext, h);
}

/*
 * The handshake message out of its records. TLS_HELLO when it is whole and
 * ends with a record; *n is how much of it there is.
 */
static enum tls_verdict
join(struct view v, uint8_t *out, size_t *n)
{
	size_t want = 4, records, part;

	*n = 0;
	for (records = 0; records < TLS_RECORDS_MAX; records++) {
		if (v.len > 0 && v.p[0] != RECORD_HANDSHAKE)
			return records == 0 ? TLS_NOT : TLS_BAD;
		if (v.len > 1 && v.p[1] != 3)
			return records == 0 ? TLS_NOT : TLS_BAD;
		if (v.len < 5)
			return TLS_MORE;
		take(&v, 3);
		part = number(&v, 2);
		if (part == 0 || part > TLS_RECORD_MAX ||
		    part > TLS_HANDSHAKE_MAX + 4 - *n)
			return TLS_BAD;
		if (v.len > 0 && *n == 0 && v.p[0] != CLIENT_HELLO)
			return TLS_BAD;
		if (part > v.len)
			return TLS_MORE;
		memcpy(out + *n, take(&v, part).p, part);
		*n += part;
		if (*n >= 4)
			want = 4 + ((size_t)out[1] << 16 | (size_t)out[2] << 8 |
				       out[3]);
		if (want > TLS_HANDSHAKE_MAX + 4 || *n > want)
			return TLS_BAD;
		if (*n >= 4 && *n == want)
			return TLS_HELLO;
	}
	return TLS_BAD;
}

enum tls_verdict
tls_read(const uint8_t *p, size_t len, struct tls_hello *h)
{
	uint8_t message[TLS_HANDSHAKE_MAX + 4];
	struct view v = {p, len, 0};
	enum tls_verdict verdict;
	size_t n;

	memset(h, 0, sizeof(*h));
	verdict = join(v, message, &n);
	if (verdict != TLS_HELLO)
		return verdict;
	v.p = message + 4;
	v.len = n - 4;
	if (client_hello(v, h) == 0)
		return TLS_HELLO;
	memset(h, 0, sizeof(*h));
	return TLS_BAD;
}
