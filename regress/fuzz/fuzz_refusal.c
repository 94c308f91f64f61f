#include <netinet/in.h>

#include "child/broker/refusal.h"
#include "judge.h"
#include "wire.h"

/* A packet that a raw socket of the sandbox heard; of IPv6 with its sender. */

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct refusal_seen r;
	struct address from;
	int proto, n;

	n = refusal_read4(data, size, &r);
	if (n && r.to.family != AF_INET)
		broken("refusal", "of another family");
	if (size < 1)
		return 0;
	(void)address_read("2001:db8::7", &from);
	proto = data[0] % 2 == 0 ? IPPROTO_TCP : IPPROTO_ICMPV6;
	n = refusal_read6(data + 1, size - 1, proto, &from, &r);
	if (n && r.to.family != AF_INET6)
		broken("refusal", "of another family");
	return 0;
}
