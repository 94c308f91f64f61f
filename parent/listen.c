#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/address.h"
#include "listen.h"

#ifndef IPV6_FREEBIND
#define IPV6_FREEBIND 78
#endif
#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23
#endif

#define BACKLOG 4096 /* as much as net.core.somaxconn allows */
#define LO	1    /* lo is the first of each network namespace */

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

/* Offsets in the headers: RFC 791, 8200, 9293, 792, 4443. */
#define IP4_PROTOCOL  9
#define IP6_NEXT      6
#define IP6_LEN	      40
#define TCP_SEQUENCE  4
#define TCP_FLAGS     13
#define TCP_RST	      0x04
#define ICMP4_UNREACH 3
#define ICMP6_UNREACH 1

#define LOAD(size, at)	      BPF_STMT(BPF_LD | BPF_##size | BPF_ABS, at)
#define LOAD_BEHIND(size, at) BPF_STMT(BPF_LD | BPF_##size | BPF_IND, at)
#define HEADER_LEN(at)	      BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, at)
#define RETURN(k)	      BPF_STMT(BPF_RET | BPF_K, k)
/* Line line: on to line yes or no. */
#define IF(line, test, k, yes, no)                                             \
	BPF_JUMP(BPF_JMP | BPF_##test | BPF_K, k, (yes) - (line)-1,            \
	    (no) - (line)-1)

/*
 * A reset that refuses a SYN has sequence number 0 (RFC 9293, 3.10.7.1); one
 * that ends a connection has not, as good as always. The stack's own answers
 * have no extension header.
 */
enum {
	V4 = 3,
	TCP4 = 9,
	V6 = 13,
	TCP6 = 18,
	TAKE = 22,
	LEAVE = 23
};
static const struct sock_filter refusals[] = {
    LOAD(W, (uint32_t)(SKF_AD_OFF + SKF_AD_PROTOCOL)),
    IF(1, JEQ, ETH_P_IP, V4, 2), IF(2, JEQ, ETH_P_IPV6, V6, LEAVE),
    /* V4 */
    LOAD(B, IP4_PROTOCOL), HEADER_LEN(0), IF(5, JEQ, IPPROTO_TCP, TCP4, 6),
    IF(6, JEQ, IPPROTO_ICMP, 7, LEAVE), LOAD_BEHIND(B, 0),
    IF(8, JEQ, ICMP4_UNREACH, TAKE, LEAVE),
    /* TCP4 */
    LOAD_BEHIND(B, TCP_FLAGS), IF(10, JSET, TCP_RST, 11, LEAVE),
    LOAD_BEHIND(W, TCP_SEQUENCE), IF(12, JEQ, 0, TAKE, LEAVE),
    /* V6 */
    LOAD(B, IP6_NEXT), IF(14, JEQ, IPPROTO_TCP, TCP6, 15),
    IF(15, JEQ, IPPROTO_ICMPV6, 16, LEAVE), LOAD(B, IP6_LEN),
    IF(17, JEQ, ICMP6_UNREACH, TAKE, LEAVE),
    /* TCP6 */
    LOAD(B, IP6_LEN + TCP_FLAGS), IF(19, JSET, TCP_RST, 20, LEAVE),
    LOAD(W, IP6_LEN + TCP_SEQUENCE), IF(21, JEQ, 0, TAKE, LEAVE),
    RETURN(UINT32_MAX), /* TAKE */
    RETURN(0),		/* LEAVE */
};

/* The filter before the address: until then the socket hears nothing. */
int
listen_refused(void)
{
	struct sock_fprog prog = {sizeof(refusals) / sizeof(refusals[0]),
	    (struct sock_filter *)(uintptr_t)refusals};
	struct sockaddr_ll lo = {.sll_family = AF_PACKET,
	    .sll_protocol = htons(ETH_P_ALL),
	    .sll_ifindex = LO};
	int fd, on = 1;

	fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog)) ==
		-1 ||
	    setsockopt(fd, SOL_SOCKET, SO_LOCK_FILTER, &on, sizeof(on)) == -1 ||
	    setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on,
		sizeof(on)) == -1 ||
	    bind(fd, (struct sockaddr *)&lo, sizeof(lo)) == -1)
		return close_with(fd, errno);
	return fd;
}
