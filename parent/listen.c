#include <errno.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/address.h"
#include "listen.h"

#ifndef IPV6_FREEBIND
#define IPV6_FREEBIND 78
#endif

#ifndef IPV6_TRANSPARENT
#define IPV6_TRANSPARENT 75
#endif
#ifndef IPV6_RECVORIGDSTADDR
#define IPV6_RECVORIGDSTADDR 74
#endif
#ifndef IP_RECVORIGDSTADDR
#define IP_RECVORIGDSTADDR 20
#endif

#define BACKLOG 4096 /* as much as net.core.somaxconn allows */

static int
close_with(int fd, int err)
{
	close(fd);
	errno = err;
	return -1;
}

static int
bind_to(int fd, const struct address *a, uint16_t port)
{
	struct sockaddr_in in = {
	    .sin_family = AF_INET, .sin_port = htons(port)};
	struct sockaddr_in6 in6 = {
	    .sin6_family = AF_INET6, .sin6_port = htons(port)};
	int on = 1;

	if (a->family == AF_INET) {
		memcpy(&in.sin_addr, a->bytes, sizeof(in.sin_addr));
		return bind(fd, (struct sockaddr *)&in, sizeof(in));
	}
	memcpy(&in6.sin6_addr, a->bytes, sizeof(in6.sin6_addr));
	/* an address that only the local route makes ours: ipv6(7) has none */
	if (setsockopt(fd, IPPROTO_IPV6, IPV6_FREEBIND, &on, sizeof(on)) ==
		-1 ||
	    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) == -1)
		return -1;
	return bind(fd, (struct sockaddr *)&in6, sizeof(in6));
}

int
listen_at(const struct address *a, uint16_t port, int udp)
{
	int fd = socket(a->family,
	    (udp ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd == -1)
		return -1;
	if (bind_to(fd, a, port) == -1 || (!udp && listen(fd, BACKLOG) == -1))
		return close_with(fd, errno);
	return fd;
}

static int
be_transparent(int fd, int family)
{
	int on = 1;

	if (family == AF_INET)
		return setsockopt(fd, IPPROTO_IP, IP_TRANSPARENT, &on,
			   sizeof(on)) == -1 ||
			       setsockopt(fd, IPPROTO_IP, IP_RECVORIGDSTADDR,
				   &on, sizeof(on)) == -1
			   ? -1
			   : 0;
	return setsockopt(
		   fd, IPPROTO_IPV6, IPV6_TRANSPARENT, &on, sizeof(on)) == -1 ||
		       setsockopt(fd, IPPROTO_IPV6, IPV6_RECVORIGDSTADDR, &on,
			   sizeof(on)) == -1
		   ? -1
		   : 0;
}

int
listen_all(int family, uint16_t port, int udp)
{
	const struct address any = {.family = family};
	int fd = listen_at(&any, port, udp);

	if (fd != -1 && be_transparent(fd, family) == -1)
		return close_with(fd, errno);
	return fd;
}

/* Offsets in the headers: RFC 9293, 792, 4443. */
#define TCP_SEQUENCE  4
#define TCP_FLAGS     13
#define TCP_RST	      0x04
#define ICMP4_UNREACH 3
#define ICMP6_UNREACH 1

/*
 * Of IPv4 a raw socket hears the header, too: X is its length. Of IPv6 it
 * does not, and X stays 0.
 */
#define HEADER_LEN(at)	      BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, at)
#define LOAD_BEHIND(size, at) BPF_STMT(BPF_LD | BPF_##size | BPF_IND, at)
#define UNLESS(test, k, skip) BPF_JUMP(BPF_JMP | BPF_##test | BPF_K, k, 0, skip)
#define TAKE		      BPF_STMT(BPF_RET | BPF_K, UINT32_MAX)
#define LEAVE		      BPF_STMT(BPF_RET | BPF_K, 0)

/*
 * A reset that refuses a SYN has sequence number 0 (RFC 9293, 3.10.7.1); one
 * that ends a connection has not, as good as always.
 */
#define IF_REFUSED                                                             \
	LOAD_BEHIND(B, TCP_FLAGS), UNLESS(JSET, TCP_RST, 3),                   \
	    LOAD_BEHIND(W, TCP_SEQUENCE), UNLESS(JEQ, 0, 1), TAKE, LEAVE
#define IF_UNREACHABLE(type)                                                   \
	LOAD_BEHIND(B, 0), UNLESS(JEQ, type, 1), TAKE, LEAVE

static const struct sock_filter tcp4[] = {HEADER_LEN(0), IF_REFUSED};
static const struct sock_filter icmp4[] = {
    HEADER_LEN(0), IF_UNREACHABLE(ICMP4_UNREACH)};
static const struct sock_filter tcp6[] = {IF_REFUSED};
static const struct sock_filter icmp6[] = {IF_UNREACHABLE(ICMP6_UNREACH)};

#define NITEMS(a) (sizeof(a) / sizeof((a)[0]))

static const struct {
	int family, protocol;
	unsigned short len;
	const struct sock_filter *filter;
} observers[LISTEN_OBSERVERS] = {
    {AF_INET, IPPROTO_TCP, NITEMS(tcp4), tcp4},
    {AF_INET, IPPROTO_ICMP, NITEMS(icmp4), icmp4},
    {AF_INET6, IPPROTO_TCP, NITEMS(tcp6), tcp6},
    {AF_INET6, IPPROTO_ICMPV6, NITEMS(icmp6), icmp6},
};

/*
 * Not packet(7): closing such a socket waits until the kernel has forgotten
 * it, which took 9 ms at the end of each run here. Between socket(2) and the
 * filter nothing happens in this namespace that could be heard.
 */
int
listen_refused(size_t i)
{
	struct sock_fprog prog = {observers[i].len,
	    (struct sock_filter *)(uintptr_t)observers[i].filter};
	int fd, on = 1;

	fd = socket(observers[i].family,
	    SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, observers[i].protocol);
	if (fd == -1)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog)) ==
		-1 ||
	    setsockopt(fd, SOL_SOCKET, SO_LOCK_FILTER, &on, sizeof(on)) == -1)
		return close_with(fd, errno);
	return fd;
}
