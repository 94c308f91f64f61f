#include <string.h>
#include <sys/socket.h>

#include "egress.h"

/* The addresses of carrel's own, inside. */

void
egress_pair(uint32_t host, struct address *v4, struct address *v6)
{
	int i;

	memset(v4, 0, sizeof(*v4));
	(void)address_read(EGRESS_PREFIX, v6);
	v4->family = AF_INET;
	for (i = 0; i < 4; i++) {
		v4->bytes[i] = (uint8_t)(host >> (24 - 8 * i));
		v6->bytes[12 + i] = v4->bytes[i];
	}
}

int
egress_own(const struct address *a)
{
	const uint8_t *b = a->bytes;
	struct address net;

	if (a->family == AF_INET)
		return (((uint32_t)b[0] << 24 | (uint32_t)b[1] << 16) &
			   EGRESS_NET4_MASK) == EGRESS_NET4;
	(void)address_read(EGRESS_PREFIX, &net);
	return a->family == AF_INET6 && memcmp(b, net.bytes, 8) == 0;
}
