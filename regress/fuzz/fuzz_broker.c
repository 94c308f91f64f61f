#include <fcntl.h>

#include "child/shared/broker.h"
#include "judge.h"
#include "wire.h"

/*
 * What carrel-broker is given. Each datagram brings as many descriptors as it
 * has records of sockets, one more or one less where the first byte says so:
 * of the first 64 alone.
 */

static int
say(struct sender *s)
{
	static char name[] = "a.example", address[] = "192.0.2.7";
	struct broker_rule r = {
	    .egress = {EGRESS_HTTPS, 0, 443, name}, .text = name, .line = 4};
	struct broker_host h[2] = {{.name = address}, {.name = name}};
	struct broker_setup counts = {.nrules = 1, .nhosts = 2, .nsockets = 2};
	struct broker_socket k[2] = {
	    {BROKER_LISTENER, 1, 443, 0}, {BROKER_DNS_FLOW, 0, 0, 0}};

	egress_pair(EGRESS_FIRST_NAME, &h[1].v4, &h[1].v6);
	(void)address_read(address, &h[0].v4);
	return broker_begin(s, 0) | broker_send_rule(s, &r) |
	       broker_send_host(s, &h[0]) | broker_send_host(s, &h[1]) |
	       broker_send_socket(s, &k[0]) | broker_send_socket(s, &k[1]) |
	       broker_end(s, &counts);
}

size_t
LLVMFuzzerCustomMutator(
    uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	static uint8_t good[4096];
	static size_t n;

	if (n == 0)
		n = wire_hear(say, good, sizeof(good));
	return wire_mutate(data, size, max_size, seed, good, n);
}

/* How many records of sockets are among these bytes. */
static size_t
count(const uint8_t *p, size_t left)
{
	struct wire w;
	uint16_t type;
	size_t i, n = 0;

	wire_cut(&w, p, left);
	for (i = 0; i < w.n; i++) {
		if (w.len[i] < RECORD_HEADER)
			continue;
		memcpy(&type, w.rec[i], sizeof(type));
		n += type == RECORD_BROKER_SOCKET;
	}
	return n;
}

static int
say_all(const uint8_t *data, size_t size)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE((DATAGRAM_FDS + 1) * sizeof(int))];
	} ctl;
	struct iovec iov = {(void *)(uintptr_t)(data + 1), size - 1};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	int pair[2], list[DATAGRAM_FDS + 1] = {0};
	size_t n = count(data + 1, size - 1);

	n += data[0] == 2;
	n -= data[0] == 3 && n > 0;
	if (n > DATAGRAM_FDS + 1)
		n = DATAGRAM_FDS + 1;
	if (channel_pair(pair) == -1)
		abort();
	if (n > 0) {
		memset(&ctl, 0, sizeof(ctl));
		m.msg_control = &ctl;
		m.msg_controllen = CMSG_LEN(n * sizeof(int));
		ctl.h.cmsg_level = SOL_SOCKET;
		ctl.h.cmsg_type = SCM_RIGHTS;
		ctl.h.cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(&ctl.h), list, n * sizeof(int));
	}
	(void)sendmsg(pair[0], &m, MSG_NOSIGNAL);
	close(pair[0]);
	return pair[1];
}

/* What broker.h promises of a set-up that was received. */
static void
judge(const struct broker_setup *b)
{
	const struct broker_socket *k;
	size_t i;

	/* without a rule it only tells what was wanted: carrel learn */
	if (b->nrules > EGRESS_RULES_MAX || b->nhosts > EGRESS_HOSTS_MAX ||
	    b->nsockets > EGRESS_SOCKETS_MAX)
		broken("broker", "counts");
	for (i = 0; i < b->nrules; i++)
		if (b->rules[i].egress.host != b->rules[i].text)
			broken("broker", "rule");
	for (i = 0; i < b->nhosts; i++)
		if (egress_host(b->hosts[i].name) == EGRESS_BAD ||
		    egress_host(b->hosts[i].name) == EGRESS_WILD ||
		    (b->hosts[i].v4.family == 0 && b->hosts[i].v6.family == 0))
			broken("broker", "host");
	for (i = 0; i < b->nsockets; i++) {
		k = &b->sockets[i];
		if (k->kind < BROKER_LISTENER || k->kind > BROKER_LAST ||
		    (k->host != 0 && k->host >= b->nhosts))
			broken("broker", "socket");
		if (fcntl(k->fd, F_GETFD) != FD_CLOEXEC)
			broken("broker", "descriptor");
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct broker_setup b;
	struct receiver r;
	int accepted = 0, fd, before, after;

	if (size < 2 || size > DATAGRAM_MAX)
		return 0;
	before = dup(0);
	close(before);
	fd = say_all(data, size);
	if (receiver_init(&r, fd, channel_deadline(1), record_broker) == -1)
		abort();
	if (broker_receive(&r, &b) == 0) {
		accepted = 1;
		judge(&b);
		broker_setup_free(&b);
	}
	receiver_free(&r);
	close(fd);
	/* whatever it was, nothing of it stays open */
	after = dup(0);
	close(after);
	if (before != after)
		broken("broker", "a descriptor is left");
	wire_must(accepted);
	return 0;
}
