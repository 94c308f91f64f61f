#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "channel.h"
#include "sha256.h"

int
channel_pair(int fd[2])
{
	return socketpair(
	    AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fd);
}

int64_t
channel_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int64_t
channel_deadline(int seconds)
{
	return channel_now() + (int64_t)seconds * 1000;
}

int
channel_left(int64_t deadline)
{
	int64_t left;

	if (deadline < 0)
		return -1;
	left = deadline - channel_now();
	return left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

static int
wait_for(int fd, short events, int64_t deadline)
{
	struct pollfd p = {.fd = fd, .events = events};
	int n;

	for (;;) {
		n = poll(&p, 1, channel_left(deadline));
		if (n > 0)
			return 0;
		if (n == 0) {
			errno = ETIMEDOUT;
			return -1;
		}
		if (errno != EINTR)
			return -1;
	}
}

int
sender_init(struct sender *s, int fd, int64_t deadline)
{
	memset(s, 0, sizeof(*s));
	s->fd = fd;
	s->deadline = deadline;
	s->data = malloc(DATAGRAM_MAX);
	return s->data == NULL ? -1 : 0;
}

void
sender_free(struct sender *s)
{
	free(s->data);
	s->data = NULL;
}

/* Room for the descriptors of one datagram, aligned for struct cmsghdr. */
union control {
	char room[CMSG_SPACE(DATAGRAM_FDS * sizeof(int))];
	struct cmsghdr align;
};

/*
 * The datagram and what is attached to it, in one message. carrel-parse may
 * call send(2) alone, and has nothing to attach.
 */
static ssize_t
send_all(const struct sender *s)
{
	struct iovec iov = {.iov_base = s->data, .iov_len = s->len};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	union control control;
	struct cmsghdr *h;

	if (s->nfds == 0)
		return send(s->fd, s->data, s->len, MSG_NOSIGNAL);
	memset(&control, 0, sizeof(control));
	m.msg_control = control.room;
	m.msg_controllen = CMSG_LEN(s->nfds * sizeof(int));
	h = &control.align;
	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(s->nfds * sizeof(int));
	memcpy(CMSG_DATA(h), s->fds, s->nfds * sizeof(int));
	return sendmsg(s->fd, &m, MSG_NOSIGNAL);
}

/*
 * ETOOMANYREFS: a user may have so many descriptors on their way as one of
 * his processes may have open (unix(7)). The peer, or another run's, takes
 * them soon; there is nothing to poll for.
 */
static int
wait_to_send(const struct sender *s, int err)
{
	if (err == EAGAIN)
		return wait_for(s->fd, POLLOUT, s->deadline);
	if (err != ETOOMANYREFS || channel_left(s->deadline) == 0) {
		errno = err == ETOOMANYREFS ? ETIMEDOUT : err;
		return -1;
	}
	(void)poll(NULL, 0, 1);
	return 0;
}

int
sender_flush(struct sender *s)
{
	ssize_t n;

	while (s->len > 0) {
		n = send_all(s);
		if (n == (ssize_t)s->len) {
			s->len = s->nfds = 0;
			break;
		}
		if (n >= 0) {
			errno = EMSGSIZE;
			return -1;
		}
		if (errno != EINTR && wait_to_send(s, errno) == -1)
			return -1;
	}
	return 0;
}

void
sender_attach(struct sender *s, int fd)
{
	/* sender_begin() made room for one; more is a mistake of the caller */
	if (s->nfds == DATAGRAM_FDS)
		s->w.bad = 1;
	else
		s->fds[s->nfds++] = fd;
}

struct wbuf *
sender_begin(struct sender *s, enum record_type type)
{
	if ((s->len > DATAGRAM_MAX - RECORD_MAX || s->nfds == DATAGRAM_FDS) &&
	    sender_flush(s) == -1)
		s->len = DATAGRAM_MAX; /* every write fails, sender_end tells */
	wbuf_init(
	    &s->w, s->data + s->len, s->len == DATAGRAM_MAX ? 0 : RECORD_MAX);
	wbuf_u16(&s->w, type);
	wbuf_u32(&s->w, 0);
	return &s->w;
}

int
sender_end(struct sender *s)
{
	uint32_t n;

	if (s->w.bad) {
		if (s->len != DATAGRAM_MAX)
			errno = EMSGSIZE;
		return -1;
	}
	n = (uint32_t)(s->w.len - RECORD_HEADER);
	memcpy(s->w.data + sizeof(uint16_t), &n, sizeof(n));
	s->len += s->w.len;
	return 0;
}

int
receiver_init(struct receiver *r, int fd, int64_t deadline,
    const struct record_rule *rules)
{
	memset(r, 0, sizeof(*r));
	r->fd = fd;
	r->deadline = deadline;
	record_start(&r->state, rules);
	for (; rules->type != 0; rules++)
		r->takes_fds |= record_fds(rules->type) > 0;
	r->data = malloc(DATAGRAM_MAX + 1);
	return r->data == NULL ? -1 : 0;
}

static void
close_untaken(struct receiver *r)
{
	size_t i;

	for (i = 0; i < r->nfds; i++)
		if (r->fds[i] != -1)
			close(r->fds[i]);
	r->nfds = r->used = 0;
}

void
receiver_free(struct receiver *r)
{
	close_untaken(r);
	free(r->data);
	r->data = NULL;
}

int
receiver_take(struct receiver *r)
{
	size_t i;
	int fd;

	for (i = 0; i < r->used; i++)
		if ((fd = r->fds[i]) != -1) {
			r->fds[i] = -1;
			return fd;
		}
	errno = EBADMSG;
	return -1;
}

int
receiver_left(const struct receiver *r)
{
	return r->off != r->len || r->used != r->nfds;
}

/*
 * An empty datagram reads like the end of the stream; but at the end the peer
 * has closed, and nothing of what it said is left.
 */
static int
is_end(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLRDHUP};
	int left;

	return poll(&p, 1, 0) == 1 &&
	       (p.revents & (POLLRDHUP | POLLHUP)) != 0 &&
	       ioctl(fd, FIONREAD, &left) == 0 && left == 0;
}

/*
 * Takes over the descriptors of a message. The room is for so many and not
 * one more: what does not fit the kernel does not install, and says
 * MSG_CTRUNC. Anything else that may come beside a message was not asked for.
 */
static int
take_over(struct receiver *r, struct msghdr *m)
{
	struct cmsghdr *h;

	for (h = CMSG_FIRSTHDR(m); h != NULL; h = CMSG_NXTHDR(m, h)) {
		if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS ||
		    r->nfds != 0)
			return -1;
		r->nfds = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(r->fds, CMSG_DATA(h), r->nfds * sizeof(int));
	}
	return 0;
}

/*
 * One datagram into r->data: its length, 0 at the end of the stream, or -1.
 * Where no record brings a descriptor there is no room for control data: one
 * that a peer sends is never installed here (closing it can take as long as
 * its owner likes), and the kernel says MSG_CTRUNC.
 */
static ssize_t
receive(struct receiver *r)
{
	struct iovec iov = {.iov_base = r->data, .iov_len = DATAGRAM_MAX + 1};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	union control control;
	ssize_t n;

	if (r->takes_fds) {
		m.msg_control = control.room;
		m.msg_controllen = CMSG_LEN(DATAGRAM_FDS * sizeof(int));
	}
	while ((n = recvmsg(r->fd, &m, MSG_CMSG_CLOEXEC)) == -1) {
		/* it closed without reading all of ours, and said it once */
		if (errno == EINTR || errno == ECONNRESET)
			continue;
		if (errno != EAGAIN ||
		    wait_for(r->fd, POLLIN, r->deadline) == -1)
			return -1;
	}
	if (take_over(r, &m) == -1 || (m.msg_flags & MSG_CTRUNC) != 0 ||
	    (n == 0 && !is_end(r->fd))) {
		errno = EBADMSG;
		return -1;
	}
	if ((m.msg_flags & MSG_TRUNC) != 0 || n > DATAGRAM_MAX) {
		errno = EMSGSIZE;
		return -1;
	}
	r->total += (size_t)n;
	if (r->total > POLICY_BYTES_MAX) {
		errno = EFBIG;
		return -1;
	}
	return n;
}

int
receiver_next(struct receiver *r, unsigned *type, struct rcur *c)
{
	struct rcur h;
	uint32_t n;
	ssize_t got;

	if (r->off == r->len) {
		if (r->used != r->nfds) {
			errno = EBADMSG;
			return -1;
		}
		close_untaken(r);
		if ((got = receive(r)) <= 0) {
			if (got == 0 && record_done(&r->state))
				return 0;
			if (got == 0)
				errno = EPIPE;
			return -1;
		}
		r->off = 0;
		r->len = (size_t)got;
	}
	rcur_init(&h, r->data + r->off, r->len - r->off);
	*type = rcur_u16(&h);
	n = rcur_u32(&h);
	if (h.bad || n > RECORD_MAX - RECORD_HEADER ||
	    n > (size_t)(h.end - h.p) || record_step(&r->state, *type) == -1 ||
	    record_fds(*type) > r->nfds - r->used) {
		errno = EBADMSG;
		return -1;
	}
	rcur_init(c, h.p, n);
	if (r->digest != NULL)
		sha256_add(r->digest, r->data + r->off, RECORD_HEADER + n);
	r->used += record_fds(*type);
	r->off += RECORD_HEADER + n;
	return 1;
}

int
receiver_finish(struct receiver *r)
{
	struct rcur c;
	unsigned type;
	int n;

	if (!record_done(&r->state)) {
		errno = EBADMSG;
		return -1;
	}
	n = receiver_next(r, &type, &c);
	if (n == 1)
		errno = EBADMSG;
	return n == 0 ? 0 : -1;
}
