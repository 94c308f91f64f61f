#include "child/broker/dns.h"
#include "judge.h"
#include "wire.h"

/* A message of the name system: as a query, and as a reply. */

static void
as_query(const uint8_t *data, size_t size)
{
	uint8_t out[DNS_ANSWER_MAX];
	char name[EGRESS_HOST_MAX + 1];
	struct dns_question q;
	struct dns_found f;
	struct address a;
	int code = dns_read_query(data, size, &q);
	size_t n;

	if (code == -1)
		return;
	if (strlen(q.text) >= DNS_TEXT_MAX || q.len > sizeof(q.wire))
		broken("dns", "out of range");
	(void)address_read("198.18.1.0", &a);
	n = dns_write_answer(&q, code, &a, 0, out);
	if (n > sizeof(out))
		broken("dns", "a long answer");
	if (code != DNS_OK || dns_host(&q, name) == -1 || q.type != DNS_A ||
	    q.class != 1)
		return;
	/* what we answer, we understand */
	if (!egress_name(name, strlen(name)) ||
	    dns_read_reply(out, n, q.id, name, DNS_A, &f) != DNS_FOUND ||
	    f.n != 1 || !address_equal(&f.address[0], &a))
		broken("dns", "an answer that is none");
}

static void
as_reply(const uint8_t *data, size_t size)
{
	struct dns_found f;
	enum dns_verdict v;
	size_t i;
	int type;

	if (size < 2)
		return;
	for (type = DNS_A; type <= DNS_AAAA; type += DNS_AAAA - DNS_A) {
		v = dns_read_reply(data, size,
		    (uint16_t)(data[0] << 8 | data[1]), "allowed.test",
		    (enum dns_type)type, &f);
		if ((v == DNS_FOUND) != (f.n > 0) || f.n > DNS_FOUND_MAX)
			broken("dns", "addresses out of nowhere");
		for (i = 0; i < f.n; i++)
			if (address_len(&f.address[i]) !=
			    (type == DNS_A ? 4 : 16))
				broken("dns", "of another type");
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	as_query(data, size);
	as_reply(data, size);
	return 0;
}
