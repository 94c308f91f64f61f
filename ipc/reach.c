#include <string.h>
#include <sys/socket.h>

#include "reach.h"

/*
 * The ranges of the IANA registries of special-purpose addresses. What is
 * documentation there counts as public: nothing of the host's can hide in it.
 */
struct range {
	uint8_t bytes[16];
	uint8_t bits;
	enum reach reach;
	const char *why;
};

/* The first that fits decides. */
static const struct range ranges4[] = {
    {{168, 63, 129, 16}, 32, REACH_NEVER, "metadata"},
    {{100, 100, 100, 200}, 32, REACH_NEVER, "metadata"},
    {{169, 254, 169, 254}, 32, REACH_NEVER, "metadata"},
    {{0}, 8, REACH_NEVER, "unspecified"},
    {{127}, 8, REACH_NEVER, "loopback"},
    {{169, 254}, 16, REACH_NEVER, "link-local"},
    {{192, 0, 0}, 24, REACH_NEVER, "reserved"},
    {{192, 88, 99}, 24, REACH_NEVER, "reserved"},
    {{198, 18}, 15, REACH_NEVER, "carrel's own range"},
    {{224}, 4, REACH_NEVER, "multicast"},
    {{255, 255, 255, 255}, 32, REACH_NEVER, "broadcast"},
    {{240}, 4, REACH_NEVER, "reserved"},
    {{10}, 8, REACH_PRIVATE, "private"},
    {{172, 16}, 12, REACH_PRIVATE, "private"},
    {{192, 168}, 16, REACH_PRIVATE, "private"},
    {{100, 64}, 10, REACH_PRIVATE, "private"},
    {{0}, 0, REACH_PUBLIC, "public"},
};

/* Embedded IPv4 is judged besides: a prefix for it must not be worse. */
static const struct range ranges6[] = {
    {{0xfd, 0, 0x0e, 0xc2, [15] = 0x54, [14] = 0x02}, 128, REACH_NEVER,
	"metadata"},
    {{0xfd, 0x20, 0, 0xce, [15] = 0x54, [14] = 0x02}, 128, REACH_NEVER,
	"metadata"},
    {{0xfd, 0, 0, 0x42, [15] = 0x42}, 128, REACH_NEVER, "metadata"},
    {{[15] = 1}, 128, REACH_NEVER, "loopback"},
    {{0}, 128, REACH_NEVER, "unspecified"},
    {{0}, 96, REACH_PUBLIC, "compatible"},
    {{[10] = 0xff, [11] = 0xff}, 96, REACH_PUBLIC, "mapped"},
    {{[8] = 0xff, [9] = 0xff}, 96, REACH_PUBLIC, "translated"},
    {{0, 0x64, 0xff, 0x9b}, 96, REACH_PUBLIC, "NAT64"},
    {{0xfd, 0x63, 0x61, 0x72, 0x72, 0x65, 0x6c}, 64, REACH_NEVER,
	"carrel's own range"},
    {{0xfc}, 7, REACH_PRIVATE, "private"},
    {{0xfe, 0x80}, 10, REACH_NEVER, "link-local"},
    {{0xfe, 0xc0}, 10, REACH_NEVER, "reserved"},
    {{0xff}, 8, REACH_NEVER, "multicast"},
    {{0x20, 0x01}, 32, REACH_PUBLIC, "Teredo"},
    {{0x20, 0x01}, 23, REACH_NEVER, "reserved"},
    {{0x20}, 3, REACH_PUBLIC, "public"},
    {{0}, 0, REACH_NEVER, "reserved"},
};

static int
in_range(const uint8_t *a, const struct range *r)
{
	size_t whole = r->bits / 8;
	unsigned rest = r->bits % 8;

	if (memcmp(a, r->bytes, whole) != 0)
		return 0;
	return rest == 0 ||
	       ((a[whole] ^ r->bytes[whole]) & (0xff00U >> rest) & 0xff) == 0;
}

static const struct range *
find(const struct address *a)
{
	const struct range *r = a->family == AF_INET ? ranges4 : ranges6;

	/* the last one of either table holds everything */
	while (!in_range(a->bytes, r))
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
		a->bytes[i] = p[i] ^ mask;
}

size_t
reach_inner(const struct address *a, struct address inner[REACH_INNER_MAX])
{
	static const uint8_t isatap[] = {0, 0, 0x5e, 0xfe};
	const uint8_t *b = a->bytes;
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

enum reach
reach_of(const struct address *a, const char **why)
{
	struct address inner[REACH_INNER_MAX];
	const struct range *r = find(a), *in;
	size_t i, n = reach_inner(a, inner);

	for (i = 0; i < n; i++) {
		in = find(&inner[i]);
		if (in->reach > r->reach)
			r = in;
	}
	*why = r->why;
	return r->reach;
}

void
reach_unmap(struct address *a)
{
	struct address inner[REACH_INNER_MAX];

	if (a->family == AF_INET6 && strcmp(find(a)->why, "mapped") == 0 &&
	    reach_inner(a, inner) == 1)
		*a = inner[0];
}
