#include <arpa/inet.h>
#include <string.h>

#include "address.h"

/*
 * The ranges of the IANA registries of special-purpose addresses. What is
 * documentation there counts as public: nothing of the host's can hide in it.
 */
struct range {
	uint8_t byte[16];
	uint8_t bits;
	enum address_class class;
	const char *why;
};

/* The first that fits decides. */
static const struct range ranges4[] = {
    {{168, 63, 129, 16}, 32, ADDRESS_NEVER, "metadata"},
    {{100, 100, 100, 200}, 32, ADDRESS_NEVER, "metadata"},
    {{169, 254, 169, 254}, 32, ADDRESS_NEVER, "metadata"},
    {{0}, 8, ADDRESS_NEVER, "unspecified"},
    {{127}, 8, ADDRESS_NEVER, "loopback"},
    {{169, 254}, 16, ADDRESS_NEVER, "link-local"},
    {{192, 0, 0}, 24, ADDRESS_NEVER, "reserved"},
    {{192, 88, 99}, 24, ADDRESS_NEVER, "reserved"},
    {{198, 18}, 15, ADDRESS_NEVER, "carrel's own range"},
    {{224}, 4, ADDRESS_NEVER, "multicast"},
    {{255, 255, 255, 255}, 32, ADDRESS_NEVER, "broadcast"},
    {{240}, 4, ADDRESS_NEVER, "reserved"},
    {{10}, 8, ADDRESS_PRIVATE, "private"},
    {{172, 16}, 12, ADDRESS_PRIVATE, "private"},
    {{192, 168}, 16, ADDRESS_PRIVATE, "private"},
    {{100, 64}, 10, ADDRESS_PRIVATE, "private"},
    {{0}, 0, ADDRESS_PUBLIC, "public"},
};

/* Embedded IPv4 is judged besides: a prefix for it must not be worse. */
static const struct range ranges6[] = {
    {{0xfd, 0, 0x0e, 0xc2, [15] = 0x54, [14] = 0x02}, 128, ADDRESS_NEVER,
	"metadata"},
    {{[15] = 1}, 128, ADDRESS_NEVER, "loopback"},
    {{0}, 128, ADDRESS_NEVER, "unspecified"},
    {{0}, 96, ADDRESS_PUBLIC, "compatible"},
    {{[10] = 0xff, [11] = 0xff}, 96, ADDRESS_PUBLIC, "mapped"},
    {{[8] = 0xff, [9] = 0xff}, 96, ADDRESS_PUBLIC, "translated"},
    {{0, 0x64, 0xff, 0x9b}, 96, ADDRESS_PUBLIC, "NAT64"},
    {{0xfd, 0x63, 0x61, 0x72, 0x72, 0x65, 0x6c}, 64, ADDRESS_NEVER,
	"carrel's own range"},
    {{0xfc}, 7, ADDRESS_PRIVATE, "private"},
    {{0xfe, 0x80}, 10, ADDRESS_NEVER, "link-local"},
    {{0xfe, 0xc0}, 10, ADDRESS_NEVER, "reserved"},
    {{0xff}, 8, ADDRESS_NEVER, "multicast"},
    {{0x20, 0x01}, 32, ADDRESS_PUBLIC, "Teredo"},
    {{0x20, 0x01}, 23, ADDRESS_NEVER, "reserved"},
    {{0x20}, 3, ADDRESS_PUBLIC, "public"},
    {{0}, 0, ADDRESS_NEVER, "reserved"},
};

static int
in_range(const uint8_t *a, const struct range *r)
{
	size_t whole = r->bits / 8;
	unsigned rest = r->bits % 8;

	if (memcmp(a, r->byte, whole) != 0)
		return 0;
	return rest == 0 ||
	       ((a[whole] ^ r->byte[whole]) & (0xff00U >> rest) & 0xff) == 0;
}

static const struct range *
find(const struct address *a)
{
	const struct range *r = a->family == AF_INET ? ranges4 : ranges6;

	/* the last one of either table holds everything */
	while (!in_range(a->byte, r))
		r++;
	return r;
}

static void
inner4(struct address *a, const uint8_t *p, uint8_t mask)
{
	size_t i;

	memset(a, 0, sizeof(*a));
	a->family = AF_INET;
	for (i = 0; i < 4; i++)
		a->byte[i] = p[i] ^ mask;
}

size_t
address_inner(const struct address *a, struct address inner[ADDRESS_INNER_MAX])
{
	static const uint8_t isatap[] = {0, 0, 0x5e, 0xfe};
	const uint8_t *b = a->byte;
	const char *why;

	if (a->family != AF_INET6)
		return 0;
	why = find(a)->why;
	if (strcmp(why, "compatible") == 0 || strcmp(why, "mapped") == 0 ||
	    strcmp(why, "translated") == 0 || strcmp(why, "NAT64") == 0) {
		inner4(&inner[0], b + 12, 0);
		return 1;
	}
	if (strcmp(why, "Teredo") == 0) {
		inner4(&inner[0], b + 4, 0);
		inner4(&inner[1], b + 12, 0xff);
		return 2;
	}
	if (b[0] == 0x20 && b[1] == 0x02) { /* 6to4 */
		inner4(&inner[0], b + 2, 0);
		return 1;
	}
	if ((b[8] & ~2U) == isatap[0] && memcmp(b + 9, isatap + 1, 3) == 0) {
		inner4(&inner[0], b + 12, 0);
		return 1;
	}
	return 0;
}

enum address_class
address_class(const struct address *a, const char **why)
{
	struct address inner[ADDRESS_INNER_MAX];
	const struct range *r = find(a), *in;
	size_t i, n = address_inner(a, inner);

	for (i = 0; i < n; i++) {
		in = find(&inner[i]);
		if (in->class > r->class)
			r = in;
	}
	*why = r->why;
	return r->class;
}

void
address_unmap(struct address *a)
{
	struct address inner[ADDRESS_INNER_MAX];

	if (a->family == AF_INET6 && strcmp(find(a)->why, "mapped") == 0 &&
	    address_inner(a, inner) == 1)
		*a = inner[0];
}

int
address_equal(const struct address *a, const struct address *b)
{
	return a->family == b->family &&
	       memcmp(a->byte, b->byte, a->family == AF_INET ? 4 : 16) == 0;
}

int
address_parse(struct address *a, const char *s)
{
	memset(a, 0, sizeof(*a));
	a->family = strchr(s, ':') == NULL ? AF_INET : AF_INET6;
	return inet_pton(a->family, s, a->byte) == 1 ? 0 : -1;
}

const char *
address_text(const struct address *a, char buf[ADDRESS_TEXT])
{
	if (inet_ntop(a->family, a->byte, buf, ADDRESS_TEXT) == NULL)
		memcpy(buf, "?", sizeof("?"));
	return buf;
}

void
address_set4(struct address *a, const struct in_addr *in)
{
	memset(a, 0, sizeof(*a));
	a->family = AF_INET;
	memcpy(a->byte, in, sizeof(*in));
}

void
address_set6(struct address *a, const struct in6_addr *in)
{
	memset(a, 0, sizeof(*a));
	a->family = AF_INET6;
	memcpy(a->byte, in, sizeof(*in));
}

int
address_from(
    struct address *a, uint16_t *port, const struct sockaddr_storage *ss)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)ss;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)ss;

	if (ss->ss_family == AF_INET) {
		address_set4(a, &in->sin_addr);
		*port = ntohs(in->sin_port);
		return 0;
	}
	if (ss->ss_family == AF_INET6) {
		address_set6(a, &in6->sin6_addr);
		*port = ntohs(in6->sin6_port);
		return 0;
	}
	return -1;
}

socklen_t
address_to(const struct address *a, uint16_t port, struct sockaddr_storage *ss)
{
	struct sockaddr_in *in = (struct sockaddr_in *)ss;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)ss;

	memset(ss, 0, sizeof(*ss));
	ss->ss_family = (sa_family_t)a->family;
	if (a->family == AF_INET) {
		memcpy(&in->sin_addr, a->byte, sizeof(in->sin_addr));
		in->sin_port = htons(port);
		return sizeof(*in);
	}
	memcpy(&in6->sin6_addr, a->byte, sizeof(in6->sin6_addr));
	in6->sin6_port = htons(port);
	return sizeof(*in6);
}
