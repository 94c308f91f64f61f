#include <errno.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netlink.h"

/* Room for so many bytes, aligned and zeroed; NULL: there is none. */
static void *
room(struct netlink *b, size_t len)
{
	uint8_t *p = b->data + b->len;

	len = NLMSG_ALIGN(len);
	if (b->bad || len > sizeof(b->data) - b->len) {
		b->bad = 1;
		return NULL;
	}
	memset(p, 0, len);
	b->len += len;
	return p;
}

static struct nlmsghdr *
message(struct netlink *b)
{
	return (struct nlmsghdr *)(void *)(b->data + b->message);
}

/* The message grows with what is in it. */
static void
measure(struct netlink *b)
{
	message(b)->nlmsg_len = (uint32_t)(b->len - b->message);
}

void *
netlink_begin(struct netlink *b, uint16_t type, uint16_t flags, size_t body)
{
	static uint8_t nowhere[64]; /* of a batch that is not sent */
	size_t at = b->len;
	struct nlmsghdr *h = room(b, NLMSG_LENGTH(body));

	if (h == NULL)
		return nowhere;
	b->message = at;
	h->nlmsg_type = type;
	h->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
	h->nlmsg_seq = ++b->n;
	measure(b);
	return NLMSG_DATA(h);
}

void
netlink_attribute(
    struct netlink *b, uint16_t type, const void *data, size_t len)
{
	struct nlattr *a = room(b, NLA_HDRLEN + len);

	if (a == NULL)
		return;
	a->nla_type = type;
	a->nla_len = (uint16_t)(NLA_HDRLEN + len);
	if (len > 0)
		memcpy((uint8_t *)a + NLA_HDRLEN, data, len);
	measure(b);
}

size_t
netlink_nest(struct netlink *b, uint16_t type)
{
	size_t at = b->len;

	netlink_attribute(b, type | NLA_F_NESTED, NULL, 0);
	return at;
}

void
netlink_nest_end(struct netlink *b, size_t nest)
{
	struct nlattr *a = (struct nlattr *)(void *)(b->data + nest);

	if (!b->bad)
		a->nla_len = (uint16_t)(b->len - nest);
}

/* One datagram of answers: how many say that it is done, or -1. */
static int
answers(int fd)
{
	union {
		struct nlmsghdr h;
		char room[8192];
	} in;
	const struct nlmsgerr *e;
	struct nlmsghdr *h;
	ssize_t got;
	int left, n = 0;

	do
		got = recv(fd, &in, sizeof(in), 0);
	while (got == -1 && errno == EINTR);
	if (got == -1)
		return -1;
	left = (int)got;
	for (h = &in.h; NLMSG_OK(h, (unsigned)left); h = NLMSG_NEXT(h, left)) {
		e = NLMSG_DATA(h);
		if (h->nlmsg_type != NLMSG_ERROR ||
		    h->nlmsg_len < NLMSG_LENGTH(sizeof(*e))) {
			errno = EBADMSG;
			return -1;
		}
		if (e->error != 0) {
			errno = -e->error;
			return -1;
		}
		n++;
	}
	return n;
}

static int
talk(const struct netlink *b, int fd, uint32_t acks)
{
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	int n;

	if (sendto(fd, b->data, b->len, 0, (struct sockaddr *)&kernel,
		sizeof(kernel)) != (ssize_t)b->len)
		return -1;
	for (; acks > 0; acks -= (uint32_t)n) {
		if ((n = answers(fd)) == -1)
			return -1;
		if ((uint32_t)n > acks)
			n = (int)acks;
	}
	return 0;
}

int
netlink_ask(struct netlink *b, int protocol, uint32_t acks)
{
	int fd, n, err;

	if (b->bad) {
		errno = EMSGSIZE;
		return -1;
	}
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
	if (fd == -1)
		return -1;
	n = talk(b, fd, acks);
	err = errno;
	close(fd);
	errno = err;
	return n;
}
