#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "child/shared/broker.h"
#include "ipc/channel.h"
#include "ipc/egress.h"
#include "ipc/factory.h"
#include "ipc/limits.h"
#include "ipc/policy.h"
#include "ipc/rule.h"
#include "network.h"
#include "parent/failure.h"
#include "parent/listen.h"
#include "parent/mountapi.h"
#include "server.h"

#define DNS_PORT 53

struct network {
	int broker, factory; /* factory: -1 if there is none */
	int64_t deadline;
	struct sender s; /* to the broker */
	struct egress rules[EGRESS_RULES_MAX];
	struct broker_host hosts[EGRESS_HOSTS_MAX]; /* names are the policy's */
	struct broker_setup sent;		    /* only the counts */
	int open[DATAGRAM_FDS]; /* sent with what is not flushed yet */
	size_t nopen;
	int v6;
	int all; /* allow = * */
	struct failure *f;
};

int
network_wanted(const struct policy *po)
{
	size_t i;

	for (i = 0; i < po->nrules; i++)
		if (po->rules[i].kind == RULE_EGRESS)
			return 1;
	return 0;
}

int
network_all(const struct policy *po)
{
	size_t i;

	for (i = 0; i < po->nrules; i++)
		if (po->rules[i].kind == RULE_EGRESS &&
		    po->rules[i].what == EGRESS_ALL)
			return 1;
	return 0;
}

int
network_factory(const struct policy *po)
{
	size_t i;

	for (i = 0; i < po->nrules; i++)
		if (po->rules[i].kind == RULE_EGRESS &&
		    (po->rules[i].what == EGRESS_ALL ||
			egress_host(po->rules[i].text) == EGRESS_WILD))
			return 1;
	return 0;
}

/* EPIPE says nothing to a person. */
static int
broken(struct network *g, const char *what)
{
	if (errno == EPIPE || errno == ECONNRESET) {
		errno = 0;
		return failure_set(g->f, CAUSE_OTHER,
		    "carrel-broker ended before it was ready");
	}
	return failure_set(g->f, CAUSE_OTHER, "tell carrel-broker %s", what);
}

static int
give_rules(struct network *g, const struct policy *po)
{
	struct broker_rule b;
	const struct rule *r;
	size_t i;

	for (i = 0; i < po->nrules; i++) {
		r = &po->rules[i];
		if (r->kind != RULE_EGRESS)
			continue;
		if (g->sent.nrules == EGRESS_RULES_MAX) {
			errno = E2BIG;
			return broken(g, "what is allowed");
		}
		egress_of(r, &b.egress);
		g->rules[g->sent.nrules++] = b.egress;
		g->all |= b.egress.scheme == EGRESS_ALL;
		b.text = r->text;
		b.profile = r->profile;
		b.line = r->line;
		if (broker_send_rule(&g->s, &b) == -1)
			return broken(g, "what is allowed");
	}
	return 0;
}

static int
host_cmp(const void *a, const void *b)
{
	const struct broker_host *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* The names and addresses of the rules, each once, in order. */
static void
find_hosts(struct network *g)
{
	struct broker_host *h = g->hosts;
	enum egress_host is;
	size_t i, n = 0, kept = 0;

	for (i = 0; i < g->sent.nrules; i++) {
		is = egress_host(g->rules[i].host);
		if (is == EGRESS_NAME || is == EGRESS_ADDRESS)
			h[n++].name = (char *)(uintptr_t)g->rules[i].host;
	}
	if (n > 1)
		qsort(h, n, sizeof(*h), host_cmp);
	for (i = 0; i < n; i++)
		if (kept == 0 || strcmp(h[kept - 1].name, h[i].name) != 0)
			h[kept++].name = h[i].name;
	g->sent.nhosts = kept;
}

/* A name gets addresses of carrel's, an address stands for itself. */
static int
give_hosts(struct network *g)
{
	struct broker_host *h;
	size_t i;

	find_hosts(g);
	for (i = 0; i < g->sent.nhosts; i++) {
		h = &g->hosts[i];
		if (egress_host(h->name) == EGRESS_NAME)
			egress_pair(
			    EGRESS_FIRST_NAME + (uint32_t)i, &h->v4, &h->v6);
		else if (strchr(h->name, ':') != NULL)
			(void)address_read(h->name, &h->v6);
		else
			(void)address_read(h->name, &h->v4);
		if (broker_send_host(&g->s, h) == -1)
			return broken(g, "which hosts are allowed");
	}
	return 0;
}

/* What was attached has left: this process needs it no more. */
static int
flush(struct network *g)
{
	if (sender_flush(&g->s) == -1)
		return broken(g, "of its sockets");
	while (g->nopen > 0)
		close(g->open[--g->nopen]);
	return 0;
}

/* fd becomes the broker's alone; -1: it could not be made. */
static int
give(struct network *g, unsigned kind, size_t host, uint16_t port, int fd)
{
	struct broker_socket k = {.kind = (uint8_t)kind,
	    .host = (uint16_t)host,
	    .port = port,
	    .fd = fd};
	int n;

	if (fd == -1)
		return failure_set(
		    g->f, CAUSE_NETNS, "make a socket for the broker");
	if (g->sent.nsockets == EGRESS_SOCKETS_MAX) {
		close(fd);
		errno = 0;
		return failure_set(g->f, CAUSE_OTHER,
		    "[egress] allows more than %d hosts and ports together; "
		    "allow fewer",
		    EGRESS_SOCKETS_MAX / 2);
	}
	if (g->nopen == DATAGRAM_FDS && flush(g) == -1) {
		close(fd);
		return -1;
	}
	g->open[g->nopen++] = fd;
	g->sent.nsockets++;
	n = broker_send_socket(&g->s, &k);
	return n == -1 ? broken(g, "of its sockets") : 0;
}

/* At both addresses, where there are two. */
static int
give_pair(struct network *g, unsigned kind, const struct broker_host *h,
    size_t host, uint16_t port)
{
	const struct address *both[] = {&h->v4, &h->v6};
	int udp = kind == BROKER_FLOW || kind == BROKER_DNS_FLOW;
	int of_host = kind == BROKER_FLOW || kind == BROKER_LISTENER;
	size_t i;

	for (i = 0; i < 2; i++) {
		if (both[i]->family == 0 ||
		    (both[i]->family == AF_INET6 && !g->v6))
			continue;
		if (give(g, kind, host, of_host ? port : 0,
			server_listen(both[i], port, udp)) == -1)
			return -1;
	}
	return 0;
}

static int
door_cmp(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The ports of one host, of all rules that are about it: wildcards, too. */
static int
give_doors(struct network *g, size_t host)
{
	uint32_t doors[EGRESS_RULES_MAX]; /* port, and above it: UDP */
	const struct broker_host *h = &g->hosts[host];
	size_t i, n = 0;

	for (i = 0; i < g->sent.nrules; i++)
		if (egress_match(&g->rules[i], h->name) &&
		    g->rules[i].scheme != EGRESS_ALL)
			doors[n++] = g->rules[i].port |
				     (uint32_t)egress_udp(&g->rules[i]) << 16;
	if (n > 1)
		qsort(doors, n, sizeof(*doors), door_cmp);
	for (i = 0; i < n; i++) {
		if (i > 0 && doors[i] == doors[i - 1])
			continue;
		if (give_pair(g, doors[i] >> 16 ? BROKER_FLOW : BROKER_LISTENER,
			h, host, (uint16_t)doors[i]) == -1)
			return -1;
	}
	return 0;
}

/* A port that the payload cannot bind, and that no rule is about. */
static uint16_t
spare_port(const struct network *g)
{
	uint16_t port = 1;
	size_t i;

	for (i = 0; i < g->sent.nrules; i++)
		if (g->rules[i].port == port) {
			port++;
			i = (size_t)-1; /* once more from the beginning */
		}
	return port;
}

/* allow = *: what nobody else has a socket for comes to these. */
static int
give_everything(struct network *g)
{
	static const int families[] = {AF_INET, AF_INET6};
	uint16_t port = spare_port(g);
	size_t i;

	for (i = 0; i < (g->v6 ? 2 : 1); i++)
		if (give(g, BROKER_ALL_LISTENER, 0, 0,
			server_listen_all(families[i], port, 0)) == -1 ||
		    give(g, BROKER_ALL_FLOW, 0, 0,
			server_listen_all(families[i], port, 1)) == -1)
			return -1;
	return server_divert(port, g->v6, g->f);
}

static int
give_sockets(struct network *g)
{
	struct broker_host dns;
	size_t i, observers = g->v6 ? LISTEN_OBSERVERS : LISTEN_OBSERVERS_V4;

	egress_pair(EGRESS_DNS, &dns.v4, &dns.v6);
	if (give_pair(g, BROKER_DNS_FLOW, &dns, 0, DNS_PORT) == -1 ||
	    give_pair(g, BROKER_DNS_LISTENER, &dns, 0, DNS_PORT) == -1)
		return -1;
	for (i = 0; i < observers; i++)
		if (give(g, BROKER_OBSERVER, 0, 0,
			server_observe((unsigned)i)) == -1)
			return -1;
	for (i = 0; i < g->sent.nhosts; i++)
		if (give_doors(g, i) == -1)
			return -1;
	return g->all ? give_everything(g) : 0;
}

static int
finish_giving(struct network *g)
{
	if (broker_end(&g->s, &g->sent) == -1)
		return broken(g, "all");
	return flush(g);
}

/*
 * The factory lives outside, and comes into this network namespace by a
 * socket of it, SIOCGSKNS of netdevice(7); its root is nobody else's.
 */
static int
let_factory_in(struct network *g)
{
	static const char *const opts[] = {"mode", "500", "size", "4096", NULL};
	int net, root, n = -1;

	if (server_used())
		return 0; /* its process is there already */
	net = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	root = mountapi_new("tmpfs", opts, MOUNT_ATTR_RDONLY);
	if (net != -1 && root != -1)
		n = factory_enter(g->factory, net, root, g->all);
	if (n == -1)
		failure_set(g->f, CAUSE_OTHER, "let the socket factory in");
	if (net != -1)
		close(net);
	if (root != -1)
		close(root);
	return n;
}

int
network_make(struct network **out, const struct policy *po, int broker,
    int factory, int uses, int64_t deadline, struct failure *f)
{
	struct network *g = calloc(1, sizeof(*g));

	if (g == NULL || sender_init(&g->s, broker, deadline) == -1)
		return failure_set(f, CAUSE_OTHER, "make the network");
	g->broker = broker;
	g->factory = factory;
	g->deadline = deadline;
	g->f = f;
	if (broker_begin(&g->s, uses) == -1)
		return broken(g, "anything");
	if (give_rules(g, po) == -1 ||
	    (factory != -1 && let_factory_in(g) == -1) ||
	    server_local(&g->v6, f) == -1 || give_hosts(g) == -1 ||
	    give_sockets(g) == -1)
		return -1;
	*out = g;
	return factory == -1 ? finish_giving(g) : flush(g);
}

/* The factory's first answer is for us, the others are the broker's. */
static int
give_factory(struct network *g)
{
	if (factory_entered(g->factory, g->deadline) == -1)
		return failure_set(
		    g->f, CAUSE_OTHER, "the socket factory is not ready");
	if (give(g, BROKER_FACTORY, 0, 0, g->factory) == -1)
		return -1;
	return finish_giving(g);
}

static int
wait_ready(struct network *g)
{
	char why[sizeof(g->f->what)];
	struct receiver r;
	int n;

	if (receiver_init(&r, g->broker, g->deadline, record_ready) == -1)
		return broken(g, "anything");
	n = broker_receive_ready(&r, why, sizeof(why));
	receiver_free(&r);
	if (n == -1 && errno == ETIMEDOUT) {
		errno = 0;
		return failure_set(g->f, CAUSE_OTHER,
		    "carrel-broker is not ready after %d s; is this host "
		    "very busy? try again",
		    BROKER_SECONDS);
	}
	if (n == -1)
		return broken(g, "anything");
	if (why[0] == '\0')
		return 0;
	errno = 0;
	return failure_set(g->f, CAUSE_OTHER, "%s", why);
}

int
network_finish(struct network *g, struct failure *f)
{
	g->f = f;
	if (g->factory != -1 && give_factory(g) == -1)
		return -1;
	if (wait_ready(g) == -1)
		return -1;
	close(g->broker);
	sender_free(&g->s);
	free(g);
	return 0;
}
