#include "ipc/factory.h"
#include "ipc/pass.h"
#include "judge.h"
#include "wire.h"

#include <fcntl.h>

/*
 * Datagrams of a fixed form, with descriptors beside them: what the broker asks
 * of the socket factory, and the factory's first. The first byte says how many
 * descriptors; afterwards none more may be open than were kept.
 */

static void
say(int fd, const uint8_t *data, size_t size, unsigned n)
{
	struct iovec iov = {
	    .iov_base = (void *)(uintptr_t)data, .iov_len = size};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	union {
		char room[CMSG_SPACE(8 * sizeof(int))];
		struct cmsghdr align;
	} c;
	int fds[8];
	unsigned i;

	for (i = 0; i < n; i++)
		fds[i] = fd;
	memset(&c, 0, sizeof(c));
	if (n > 0) {
		m.msg_control = c.room;
		m.msg_controllen = CMSG_LEN(n * sizeof(int));
		c.align.cmsg_level = SOL_SOCKET;
		c.align.cmsg_type = SCM_RIGHTS;
		c.align.cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(&c.align), fds, n * sizeof(int));
	}
	(void)sendmsg(fd, &m, MSG_NOSIGNAL);
}

static void
judge(const struct factory_ask *q)
{
	if (q->udp > 1 ||
	    (q->address.family != AF_INET && q->address.family != AF_INET6))
		broken("factory", "out of range");
}

/* One reader of the datagram; how many descriptors it kept. */
static unsigned
hear(int fd, unsigned which, size_t size, unsigned n)
{
	uint8_t buf[64];
	int fds[PASS_FDS], any;
	size_t got;
	struct factory_ask q;
	ssize_t len;

	switch (which) {
	case 0:
		if (factory_receive(fd, &q) != 1)
			return 0;
		judge(&q);
		if (n != 0 || size != sizeof(struct factory_wire))
			broken("factory", "another form");
		return 0;
	case 1:
		if (factory_receive_enter(fd, &fds[0], &fds[1], &any) != 1)
			return 0;
		if (n != 2 || any < 0 || any > 1)
			broken("factory", "entered by another form");
		close(fds[0]);
		close(fds[1]);
		return 0;
	default:
		len = pass_receive(fd, buf, sizeof(buf), fds, &got);
		if (len == -1)
			return 0;
		if ((size_t)len != size || got != n || n > PASS_FDS)
			broken("pass", "another form");
		while (got > 0)
			close(fds[--got]);
		return 0;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned which, n;
	int pair[2], before, after;

	if (size < 2)
		return 0;
	n = data[0] % 8;
	for (which = 0; which < 3; which++) {
		if (channel_pair(pair) == -1)
			abort();
		if ((before = dup(pair[1])) == -1 || close(before) == -1)
			abort();
		say(pair[0], data + 1, size - 1, n);
		shutdown(pair[0], SHUT_WR);
		(void)hear(pair[1], which, size - 1, n);
		if ((after = dup(pair[1])) == -1 || close(after) == -1)
			abort();
		if (after != before)
			broken("pass", "a descriptor stays open");
		close(pair[0]);
		close(pair[1]);
	}
	return 0;
}
