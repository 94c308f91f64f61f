#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include "failure.h"
#include "ipc/address.h"
#include "ipc/egress.h"
#include "netlink.h"
#include "rtnetlink.h"

#define LO  1 /* lo is the first of each network namespace */
#define NEW (NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL)

static void
add_address(struct netlink *b, const struct address *a)
{
	size_t len = address_len(a);
	struct ifaddrmsg *m = netlink_begin(b, RTM_NEWADDR, NEW, sizeof(*m));

	m->ifa_family = (uint8_t)a->family;
	m->ifa_prefixlen = (uint8_t)(len * 8);
	m->ifa_flags = IFA_F_NODAD;
	m->ifa_scope = RT_SCOPE_UNIVERSE;
	m->ifa_index = LO;
	netlink_attribute(b, IFA_LOCAL, a->bytes, len);
	netlink_attribute(b, IFA_ADDRESS, a->bytes, len);
}

/* Everything is this host's own, and speaks with this address. */
static void
add_local(struct netlink *b, const struct address *source)
{
	struct rtmsg *m = netlink_begin(b, RTM_NEWROUTE, NEW, sizeof(*m));
	uint32_t lo = LO;

	m->rtm_family = (uint8_t)source->family;
	m->rtm_table = RT_TABLE_LOCAL;
	m->rtm_protocol = RTPROT_BOOT;
	m->rtm_scope = RT_SCOPE_HOST;
	m->rtm_type = RTN_LOCAL;
	netlink_attribute(b, RTA_OIF, &lo, sizeof(lo));
	netlink_attribute(b, RTA_PREFSRC, source->bytes, address_len(source));
}

static void
add_prohibit(struct netlink *b, const char *net, uint8_t bits)
{
	struct rtmsg *m = netlink_begin(b, RTM_NEWROUTE, NEW, sizeof(*m));
	struct address a;

	(void)address_read(net, &a);
	m->rtm_family = (uint8_t)a.family;
	m->rtm_dst_len = bits;
	m->rtm_table = RT_TABLE_LOCAL;
	m->rtm_protocol = RTPROT_BOOT;
	m->rtm_scope = RT_SCOPE_UNIVERSE;
	m->rtm_type = RTN_PROHIBIT;
	netlink_attribute(b, RTA_DST, a.bytes, address_len(&a));
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
	struct netlink b = {.len = 0};
	struct address a4, a6;

	egress_pair(EGRESS_SOURCE, &a4, &a6);
	add_address(&b, &a4);
	add_local(&b, &a4);
	add_prohibit(&b, "224.0.0.0", 4);
	if ((*v6 = has_v6())) {
		add_address(&b, &a6);
		add_local(&b, &a6);
		add_prohibit(&b, "ff00::", 8);
	}
	if (netlink_ask(&b, NETLINK_ROUTE, b.n) == -1)
		return failure_set(f, CAUSE_NETNS, "make every address local");
	return 0;
}
