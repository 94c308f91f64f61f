#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "own.h"

#define TRIES 8 /* answers to somebody else's question are passed over */

int
own_open(void)
{
	struct sockaddr_nl nl = {.nl_family = AF_NETLINK};
	int fd;

	fd = socket(
	    AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
	if (fd == -1)
		return -1;
	if (connect(fd, (const struct sockaddr *)&nl, sizeof(nl)) == -1) {
		close(fd);
		return -1;
	}
	return fd;
}

struct question {
	struct nlmsghdr n;
	struct rtmsg r;
	struct rtattr a;
	uint8_t address[16];
};

static int
ask(int fd, const struct address *a, uint32_t seq)
{
	struct question q;
	size_t len = address_len(a);

	memset(&q, 0, sizeof(q));
	q.n.nlmsg_len = (uint32_t)(offsetof(struct question, address) + len);
	q.n.nlmsg_type = RTM_GETROUTE;
	q.n.nlmsg_flags = NLM_F_REQUEST;
	q.n.nlmsg_seq = seq;
	q.r.rtm_family = (unsigned char)a->family;
	q.r.rtm_dst_len = (unsigned char)(8 * len);
	q.a.rta_type = RTA_DST;
	q.a.rta_len = (unsigned short)RTA_LENGTH(len);
	memcpy(q.address, a->bytes, len);
	return send(fd, &q, q.n.nlmsg_len, 0) == (ssize_t)q.n.nlmsg_len ? 0
									: -1;
}

/*
 * The type of the route to an address, enum of rtnetlink.h; RTN_UNREACHABLE if
 * there is none; -1 if that cannot be found out. The kernel has answered when
 * the question is sent.
 */
static int
route_type(int fd, const struct address *a)
{
	union {
		struct nlmsghdr n;
		char room[2048];
	} u;
	const struct nlmsgerr *e = NLMSG_DATA(&u.n);
	const struct rtmsg *r = NLMSG_DATA(&u.n);
	static uint32_t seq;
	ssize_t len;
	int i;

	if (ask(fd, a, ++seq) == -1)
		return -1;
	for (i = 0; i < TRIES; i++) {
		if ((len = recv(fd, &u, sizeof(u), 0)) == -1)
			return -1;
		if (!NLMSG_OK(&u.n, (size_t)len) || u.n.nlmsg_seq != seq)
			continue;
		if (u.n.nlmsg_type == NLMSG_ERROR &&
		    u.n.nlmsg_len >= NLMSG_LENGTH(sizeof(*e)))
			return e->error == -ENETUNREACH ||
				       e->error == -EHOSTUNREACH ||
				       e->error == -EACCES ||
				       e->error == -EINVAL
				   ? RTN_UNREACHABLE
				   : -1;
		if (u.n.nlmsg_type == RTM_NEWROUTE &&
		    u.n.nlmsg_len >= NLMSG_LENGTH(sizeof(*r)))
			return r->rtm_type;
		return -1;
	}
	return -1;
}

static int
is_own(int fd, const struct address *a, const char **why)
{
	switch (route_type(fd, a)) {
	case RTN_UNICAST:
		return 0;
	case RTN_LOCAL:
	case RTN_ANYCAST:
		*why = "this host's own";
		return 1;
	case RTN_BROADCAST:
		*why = "broadcast";
		return 1;
	case RTN_UNREACHABLE:
	case RTN_BLACKHOLE:
	case RTN_PROHIBIT:
	case RTN_THROW:
		*why = "no route";
		return 1;
	default:
		*why = "of no known kind";
		return 1;
	}
}

enum reach
own_judge(int fd, const struct address *a, const char **why)
{
	struct address inner[REACH_INNER_MAX];
	size_t i, n = reach_inner(a, inner);
	enum reach reach = reach_of(a, why);
	const char *of;

	if (reach == REACH_NEVER)
		return reach;
	if (is_own(fd, a, why))
		return REACH_NEVER;
	/* an inner one need not be reachable by itself */
	for (i = 0; i < n; i++)
		if (is_own(fd, &inner[i], &of) && strcmp(of, "no route") != 0) {
			*why = of;
			return REACH_NEVER;
		}
	return reach;
}
