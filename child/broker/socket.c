#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

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

union control {
	char room[256];
	struct cmsghdr align;
};

ssize_t
socket_receive_to(int fd, void *data, size_t len, struct sockaddr_storage *from,
    socklen_t *from_len, struct address *to, uint16_t *port)
{
	struct iovec iov = {.iov_base = data, .iov_len = len};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	struct sockaddr_storage ss;
	union control control;
	struct cmsghdr *h;
	ssize_t n;

	m.msg_name = from;
	m.msg_namelen = sizeof(*from);
	m.msg_control = control.room;
	m.msg_controllen = sizeof(control.room);
	if ((n = recvmsg(fd, &m, 0)) == -1)
		return -1;
	*from_len = m.msg_namelen;
	memset(&ss, 0, sizeof(ss));
	for (h = CMSG_FIRSTHDR(&m); h != NULL; h = CMSG_NXTHDR(&m, h)) {
		if (h->cmsg_level == IPPROTO_IP &&
		    h->cmsg_type == IP_RECVORIGDSTADDR)
			memcpy(&ss, CMSG_DATA(h), sizeof(struct sockaddr_in));
		if (h->cmsg_level == IPPROTO_IPV6 &&
		    h->cmsg_type == IPV6_RECVORIGDSTADDR)
			memcpy(&ss, CMSG_DATA(h), sizeof(struct sockaddr_in6));
	}
	return sockaddr_read(&ss, to, port) == -1 ? -1 : n;
}
