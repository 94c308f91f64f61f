#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "failure.h"
#include "ipc/address.h"
#include "ipc/egress.h"
#include "rtnetlink.h"

#define BATCH_LEN 1024 /* all that is asked for at once */
#define LO	  1    /* lo is the first of each network namespace */

/* Requests that leave together; each is acknowledged. */
struct batch {
	union {
		struct nlmsghdr first;
		char data[BATCH_LEN];
	};
	size_t len;
	struct nlmsghdr *last;
	uint32_t n;
};

/* A message of this type, and its zeroed body. */
static void *
begin(struct batch *b, uint16_t type, size_t body)
{
	struct nlmsghdr *h = (struct nlmsghdr *)(void *)(b->data + b->len);

	memset(h, 0, NLMSG_SPACE(body));
	h->nlmsg_type = type;
	h->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;
	h->nlmsg_seq = ++b->n;
	h->nlmsg_len = (uint32_t)NLMSG_LENGTH(body);
	b->len += NLMSG_SPACE(body);
	b->last = h;
	return NLMSG_DATA(h);
}

static void
attribute(struct batch *b, uint16_t type, const void *data, size_t len)
{
	struct rtattr *a = (struct rtattr *)(void *)(b->data + b->len);

	memset(a, 0, RTA_SPACE(len));
	a->rta_type = type;
	a->rta_len = (uint16_t)RTA_LENGTH(len);
	memcpy(RTA_DATA(a), data, len);
	b->len += RTA_SPACE(len);
	b->last->nlmsg_len += (uint32_t)RTA_SPACE(len);
}

static void
add_address(struct batch *b, const struct address *a)
{
	size_t len = address_len(a);
	struct ifaddrmsg *m = begin(b, RTM_NEWADDR, sizeof(*m));

	m->ifa_family = (uint8_t)a->family;
	m->ifa_prefixlen = (uint8_t)(len * 8);
	m->ifa_flags = IFA_F_NODAD;
	m->ifa_scope = RT_SCOPE_UNIVERSE;
	m->ifa_index = LO;
	attribute(b, IFA_LOCAL, a->bytes, len);
	attribute(b, IFA_ADDRESS, a->bytes, len);
}

/* Everything is this host's own, and speaks with this address. */
static void
add_local(struct batch *b, const struct address *source)
{
	struct rtmsg *m = begin(b, RTM_NEWROUTE, sizeof(*m));
	uint32_t lo = LO;

	m->rtm_family = (uint8_t)source->family;
	m->rtm_table = RT_TABLE_LOCAL;
	m->rtm_protocol = RTPROT_BOOT;
	m->rtm_scope = RT_SCOPE_HOST;
	m->rtm_type = RTN_LOCAL;
	attribute(b, RTA_OIF, &lo, sizeof(lo));
	attribute(b, RTA_PREFSRC, source->bytes, address_len(source));
}

static void
add_prohibit(struct batch *b, const char *net, uint8_t bits)
{
	struct rtmsg *m = begin(b, RTM_NEWROUTE, sizeof(*m));
	struct address a;

	(void)address_read(net, &a);
	m->rtm_family = (uint8_t)a.family;
	m->rtm_dst_len = bits;
	m->rtm_table = RT_TABLE_LOCAL;
	m->rtm_protocol = RTPROT_BOOT;
	m->rtm_scope = RT_SCOPE_UNIVERSE;
	m->rtm_type = RTN_PROHIBIT;
	attribute(b, RTA_DST, a.bytes, address_len(&a));
}

/* All acknowledgements; the first that says no. 0 or -1. */
static int
acknowledged(int fd, uint32_t n)
{
	union {
		struct nlmsghdr h;
		char room[8192];
	} in;
	const struct nlmsgerr *e;
	struct nlmsghdr *h;
	ssize_t got;
	int left;

	while (n > 0) {
		do
			got = recv(fd, &in, sizeof(in), 0);
		while (got == -1 && errno == EINTR);
		if (got == -1)
			return -1;
		left = (int)got;
		for (h = &in.h; NLMSG_OK(h, (unsigned)left) && n > 0;
		     h = NLMSG_NEXT(h, left)) {
			if (h->nlmsg_type != NLMSG_ERROR ||
			    h->nlmsg_len < NLMSG_LENGTH(sizeof(*e))) {
				errno = EBADMSG;
				return -1;
			}
			e = NLMSG_DATA(h);
			if (e->error != 0) {
				errno = -e->error;
				return -1;
			}
			n--;
		}
	}
	return 0;
}

static int
ask(int fd, struct batch *b)
{
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};

	if (sendto(fd, b->data, b->len, 0, (struct sockaddr *)&kernel,
		sizeof(kernel)) != (ssize_t)b->len)
		return -1;
	return acknowledged(fd, b->n);
}

static int
has_v6(void)
{
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd != -1)
		close(fd);
	return fd != -1 || errno != EAFNOSUPPORT;
}

int
rtnetlink_local(int *v6, struct failure *f)
{
	struct batch b = {.len = 0};
	struct address a4, a6;
	int fd, n;

	egress_pair(EGRESS_SOURCE, &a4, &a6);
	add_address(&b, &a4);
	add_local(&b, &a4);
	add_prohibit(&b, "224.0.0.0", 4);
	if ((*v6 = has_v6())) {
		add_address(&b, &a6);
		add_local(&b, &a6);
		add_prohibit(&b, "ff00::", 8);
	}
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (fd == -1)
		return failure_set(f, CAUSE_NETNS, "open a netlink socket");
	n = ask(fd, &b);
	if (n == -1)
		failure_set(f, CAUSE_NETNS, "make every address local");
	close(fd);
	return n;
}
