#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "address.h"

size_t
address_len(const struct address *a)
{
	return a->family == AF_INET ? 4 : a->family == AF_INET6 ? 16 : 0;
}

int
address_read(const char *text, struct address *out)
{
	struct address a;

	memset(&a, 0, sizeof(a));
	a.family = strchr(text, ':') != NULL ? AF_INET6 : AF_INET;
	if (inet_pton(a.family, text, a.bytes) != 1)
		return -1;
	*out = a;
	return 0;
}

/* The first of the longest runs of at least two zero groups; its length. */
static int
longest_zeros(const unsigned group[8], int *at)
{
	int i, k, best = 1;

	for (i = 0; i < 8; i += k + 1) {
		for (k = 0; i + k < 8 && group[i + k] == 0; k++)
			;
		if (k > best) {
			best = k;
			*at = i;
		}
	}
	return best > 1 ? best : 0;
}

/*
 * Not inet_ntop(3): C libraries differ in what they shorten, and two programs
 * of one installation have to agree.
 */
char *
address_text(const struct address *a, char buf[ADDRESS_TEXT])
{
	const uint8_t *b = a->bytes;
	unsigned group[8];
	int i, at = -1, zeros, n = 0;

	buf[0] = '\0';
	if (a->family == AF_INET)
		snprintf(
		    buf, ADDRESS_TEXT, "%u.%u.%u.%u", b[0], b[1], b[2], b[3]);
	if (a->family != AF_INET6)
		return buf;
	for (i = 0; i < 8; i++)
		group[i] = (unsigned)b[2 * i] << 8 | b[2 * i + 1];
	zeros = longest_zeros(group, &at);
	for (i = 0; i < 8; i++) {
		if (i == at) {
			n += snprintf(buf + n, ADDRESS_TEXT - (size_t)n, "::");
			i += zeros - 1;
			continue;
		}
		n += snprintf(buf + n, ADDRESS_TEXT - (size_t)n, "%s%x",
		    n > 0 && buf[n - 1] != ':' ? ":" : "", group[i]);
	}
	return buf;
}

int
address_equal(const struct address *a, const struct address *b)
{
	return a->family == b->family &&
	       memcmp(a->bytes, b->bytes, address_len(a)) == 0;
}
