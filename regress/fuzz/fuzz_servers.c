#include <netinet/in.h>

#include "child/broker/servers.h"
#include "judge.h"
#include "wire.h"

/* The host's resolv.conf(5), of which every line may be anything. */

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct servers s, t;
	char *text = malloc(size + 1);
	size_t i;

	if (text == NULL)
		abort();
	memcpy(text, data, size);
	memset(&s, 0, sizeof(s));
	memset(&t, 0, sizeof(t));
	servers_parse(&s, text, size);
	if (s.n == 0 || s.n > SERVERS_MAX)
		broken("servers", "none, or too many");
	for (i = 0; i < s.n; i++)
		if ((s.at[i].ss_family != AF_INET ||
			s.len[i] != sizeof(struct sockaddr_in)) &&
		    (s.at[i].ss_family != AF_INET6 ||
			s.len[i] != sizeof(struct sockaddr_in6)))
			broken("servers", "no address");
	/* read again, the same */
	memcpy(text, data, size);
	servers_parse(&t, text, size);
	if (memcmp(&s, &t, sizeof(s)) != 0)
		broken("servers", "not the same twice");
	free(text);
	return 0;
}
