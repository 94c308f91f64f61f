#include "child/broker/tls.h"
#include "judge.h"
#include "wire.h"

/* The first bytes of a client. */

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tls_hello all, part;
	enum tls_verdict v = tls_read(data, size, &all), w;
	size_t i;

	if (v != TLS_HELLO && (all.name[0] != '\0' || all.ech))
		broken("tls", "a name out of nowhere");
	/* a verdict once given stays: what comes later changes nothing */
	for (i = 0; i < size; i += 1 + size / 16) {
		w = tls_read(data, i, &part);
		if (w != TLS_MORE &&
		    (w != v || strcmp(part.name, all.name) != 0))
			broken("tls", "two verdicts on the same bytes");
	}
	if (v == TLS_MORE && size > TLS_HELLO_MAX + 5)
		broken("tls", "no bound");
	return 0;
}
