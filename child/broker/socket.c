#include <string.h>

#include "socket.h"

void
sockaddr_v4(struct address *a, const struct in_addr *in)
{
	memset(a, 0, sizeof(*a));
	a->family = AF_INET;
	memcpy(a->bytes, in, sizeof(*in));
}

void
sockaddr_v6(struct address *a, const struct in6_addr *in)
{
	memset(a, 0, sizeof(*a));
	a->family = AF_INET6;
	memcpy(a->bytes, in, sizeof(*in));
}

int
sockaddr_read(
    const struct sockaddr_storage *ss, struct address *a, uint16_t *port)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)ss;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)ss;

	if (ss->ss_family == AF_INET) {
		sockaddr_v4(a, &in->sin_addr);
		*port = ntohs(in->sin_port);
		return 0;
	}
	if (ss->ss_family == AF_INET6) {
		sockaddr_v6(a, &in6->sin6_addr);
		*port = ntohs(in6->sin6_port);
		return 0;
	}
	return -1;
}

socklen_t
sockaddr_write(
    const struct address *a, uint16_t port, struct sockaddr_storage *ss)
{
	struct sockaddr_in *in = (struct sockaddr_in *)ss;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)ss;

	memset(ss, 0, sizeof(*ss));
	ss->ss_family = (sa_family_t)a->family;
	if (a->family == AF_INET) {
		memcpy(&in->sin_addr, a->bytes, sizeof(in->sin_addr));
		in->sin_port = htons(port);
		return sizeof(*in);
	}
	memcpy(&in6->sin6_addr, a->bytes, sizeof(in6->sin6_addr));
	in6->sin6_port = htons(port);
	return sizeof(*in6);
}
