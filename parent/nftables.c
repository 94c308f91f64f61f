#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>

#include "failure.h"
#include "ipc/address.h"
#include "netlink.h"
#include "nftables.h"

#define TABLE	     "carrel"
#define CHAIN	     "divert"
#define PRIORITY     (-150) /* that of mangle: before any redirection */
#define SUBSYS(type) ((uint16_t)(NFNL_SUBSYS_NFTABLES << 8 | (type)))

/* Where the destination is in the header, and how long. */
#define DST4	 16
#define DST4_LEN 4
#define DST6	 24
#define DST6_LEN 16

/*
 * By destination, the first that fits: what goes to the broker, which judges
 * it, and what is out of reach for everything public and is refused here, at
 * once and by the kernel itself. Of IPv6 only 2000::/3 is public.
 */
static const struct {
	const char *net;
	uint8_t bits, divert;
} nets[] = {{"0.0.0.0", 8, 0}, {"10.0.0.0", 8, 0}, {"100.64.0.0", 10, 0},
    {"127.0.0.0", 8, 0}, {"168.63.129.16", 32, 0}, {"169.254.0.0", 16, 0},
    {"172.16.0.0", 12, 0}, {"192.0.0.0", 24, 0}, {"192.88.99.0", 24, 0},
    {"192.168.0.0", 16, 0}, {"198.18.0.0", 24, 0}, {"240.0.0.0", 4, 0},
    /* carrel's own names, and those that a gateway translates */
    {"fd63:6172:7265:6c00::", 64, 1}, {"64:ff9b::", 96, 1}, {"::", 3, 0},
    {"4000::", 2, 0}, {"8000::", 1, 0}};

static void
begin(struct netlink *b, uint16_t type, uint16_t flags)
{
	struct nfgenmsg *m = netlink_begin(b, type, flags, sizeof(*m));

	m->version = NFNETLINK_V0;
	m->nfgen_family = NFPROTO_INET;
}

static void
batch(struct netlink *b, uint16_t type)
{
	struct nfgenmsg *m = netlink_begin(b, type, 0, sizeof(*m));

	m->nfgen_family = AF_UNSPEC;
	m->version = NFNETLINK_V0;
	m->res_id = htons(NFNL_SUBSYS_NFTABLES);
}

static void
text(struct netlink *b, uint16_t type, const char *s)
{
	netlink_attribute(b, type, s, strlen(s) + 1);
}

static void
number(struct netlink *b, uint16_t type, uint32_t n)
{
	n = htonl(n);
	netlink_attribute(b, type, &n, sizeof(n));
}

static void
data(struct netlink *b, uint16_t type, const void *p, size_t len)
{
	size_t nest = netlink_nest(b, type);

	netlink_attribute(b, NFTA_DATA_VALUE, p, len);
	netlink_nest_end(b, nest);
}

/* Expressions of a rule: each a name and attributes of its own. */

struct expression {
	size_t element, data;
};

static struct expression
expression(struct netlink *b, const char *name)
{
	struct expression e;

	e.element = netlink_nest(b, NFTA_LIST_ELEM);
	text(b, NFTA_EXPR_NAME, name);
	e.data = netlink_nest(b, NFTA_EXPR_DATA);
	return e;
}

static void
expression_end(struct netlink *b, struct expression e)
{
	netlink_nest_end(b, e.data);
	netlink_nest_end(b, e.element);
}

/* The rule goes on only if register 1 is this. */
static void
compare(struct netlink *b, const void *p, size_t len)
{
	struct expression e = expression(b, "cmp");

	number(b, NFTA_CMP_SREG, NFT_REG_1);
	number(b, NFTA_CMP_OP, NFT_CMP_EQ);
	data(b, NFTA_CMP_DATA, p, len);
	expression_end(b, e);
}

static void
if_family(struct netlink *b, int family)
{
	uint8_t proto = family == AF_INET ? NFPROTO_IPV4 : NFPROTO_IPV6;
	struct expression e = expression(b, "meta");

	number(b, NFTA_META_KEY, NFT_META_NFPROTO);
	number(b, NFTA_META_DREG, NFT_REG_1);
	expression_end(b, e);
	compare(b, &proto, sizeof(proto));
}

/* Somebody else has a socket for it: the payload, or one host's listener. */
static void
if_has_socket(struct netlink *b)
{
	uint8_t transparent = 0;
	struct expression e = expression(b, "socket");

	number(b, NFTA_SOCKET_KEY, NFT_SOCKET_TRANSPARENT);
	number(b, NFTA_SOCKET_DREG, NFT_REG_1);
	expression_end(b, e);
	compare(b, &transparent, sizeof(transparent));
}

static void
if_for_net(struct netlink *b, const struct address *net, uint8_t bits)
{
	size_t i, len = net->family == AF_INET ? DST4_LEN : DST6_LEN;
	static const uint8_t none[DST6_LEN];
	uint8_t mask[DST6_LEN];
	struct expression e;

	for (i = 0; i < len; i++)
		mask[i] = bits >= 8 * (i + 1) ? 0xff
			  : bits <= 8 * i     ? 0
					      : (uint8_t)(0xff00U >> bits % 8);
	e = expression(b, "payload");
	number(b, NFTA_PAYLOAD_DREG, NFT_REG_1);
	number(b, NFTA_PAYLOAD_BASE, NFT_PAYLOAD_NETWORK_HEADER);
	number(b, NFTA_PAYLOAD_OFFSET, net->family == AF_INET ? DST4 : DST6);
	number(b, NFTA_PAYLOAD_LEN, (uint32_t)len);
	expression_end(b, e);
	e = expression(b, "bitwise");
	number(b, NFTA_BITWISE_SREG, NFT_REG_1);
	number(b, NFTA_BITWISE_DREG, NFT_REG_1);
	number(b, NFTA_BITWISE_LEN, (uint32_t)len);
	data(b, NFTA_BITWISE_MASK, mask, len);
	data(b, NFTA_BITWISE_XOR, none, len);
	expression_end(b, e);
	compare(b, net->bytes, len);
}

static void
accept_it(struct netlink *b)
{
	struct expression e = expression(b, "immediate");
	size_t value, verdict;

	number(b, NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
	value = netlink_nest(b, NFTA_IMMEDIATE_DATA);
	verdict = netlink_nest(b, NFTA_DATA_VERDICT);
	number(b, NFTA_VERDICT_CODE, NF_ACCEPT);
	netlink_nest_end(b, verdict);
	netlink_nest_end(b, value);
	expression_end(b, e);
}

static void
divert_it(struct netlink *b, int family, uint16_t port)
{
	struct expression e = expression(b, "immediate");

	port = htons(port);
	number(b, NFTA_IMMEDIATE_DREG, NFT_REG_1);
	data(b, NFTA_IMMEDIATE_DATA, &port, sizeof(port));
	expression_end(b, e);
	e = expression(b, "tproxy");
	number(b, NFTA_TPROXY_FAMILY,
	    family == AF_INET ? NFPROTO_IPV4 : NFPROTO_IPV6);
	number(b, NFTA_TPROXY_REG_PORT, NFT_REG_1);
	expression_end(b, e);
}

static size_t
rule(struct netlink *b, uint16_t flags)
{
	begin(b, SUBSYS(NFT_MSG_NEWRULE), NLM_F_CREATE | NLM_F_APPEND | flags);
	text(b, NFTA_RULE_TABLE, TABLE);
	text(b, NFTA_RULE_CHAIN, CHAIN);
	return netlink_nest(b, NFTA_RULE_EXPRESSIONS);
}

static void
table_and_chain(struct netlink *b)
{
	size_t hook;

	begin(b, SUBSYS(NFT_MSG_NEWTABLE), NLM_F_CREATE);
	text(b, NFTA_TABLE_NAME, TABLE);
	begin(b, SUBSYS(NFT_MSG_NEWCHAIN), NLM_F_CREATE);
	text(b, NFTA_CHAIN_TABLE, TABLE);
	text(b, NFTA_CHAIN_NAME, CHAIN);
	hook = netlink_nest(b, NFTA_CHAIN_HOOK);
	number(b, NFTA_HOOK_HOOKNUM, NF_INET_PRE_ROUTING);
	number(b, NFTA_HOOK_PRIORITY, (uint32_t)PRIORITY);
	netlink_nest_end(b, hook);
	text(b, NFTA_CHAIN_TYPE, "filter");
}

static void
rules(struct netlink *b, uint16_t port, int v6)
{
	struct address net;
	size_t i, at;

	at = rule(b, 0);
	if_has_socket(b);
	accept_it(b);
	netlink_nest_end(b, at);
	for (i = 0; i < sizeof(nets) / sizeof(nets[0]); i++) {
		(void)address_read(nets[i].net, &net);
		if (net.family == AF_INET6 && !v6)
			continue;
		at = rule(b, 0);
		if_family(b, net.family);
		if_for_net(b, &net, nets[i].bits);
		if (nets[i].divert)
			divert_it(b, net.family, port);
		else
			accept_it(b);
		netlink_nest_end(b, at);
	}
	for (i = 0; i < (v6 ? 2 : 1); i++) {
		at = rule(b, i + 1 == (v6 ? 2U : 1U) ? NLM_F_ACK : 0);
		if_family(b, i == 0 ? AF_INET : AF_INET6);
		divert_it(b, i == 0 ? AF_INET : AF_INET6, port);
		netlink_nest_end(b, at);
	}
}

int
nftables_divert(uint16_t port, int v6, struct failure *f)
{
	struct netlink b = {.len = 0};

	batch(&b, NFNL_MSG_BATCH_BEGIN);
	table_and_chain(&b);
	rules(&b, port, v6);
	batch(&b, NFNL_MSG_BATCH_END);
	if (netlink_ask(&b, NETLINK_NETFILTER, 1) == -1)
		return failure_set(f, CAUSE_NFTABLES, "allow = * by nf_tables");
	return 0;
}
