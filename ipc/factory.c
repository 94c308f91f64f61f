#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "buf.h"
#include "channel.h"
#include "factory.h"

#define ASK_LEN	   (1 + 1 + 2 + 16)
#define ANSWER_LEN 4

/* Room for one descriptor beside a message; aligned for struct cmsghdr. */
union one_fd {
	char room[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

static ssize_t
send_with(int fd, void *data, size_t len, int attached)
{
	struct iovec iov = {.iov_base = data, .iov_len = len};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	union one_fd control;
	struct cmsghdr *h;
	ssize_t n;

	memset(&control, 0, sizeof(control));
	if (attached != -1) {
		m.msg_control = control.room;
		m.msg_controllen = CMSG_LEN(sizeof(int));
		h = CMSG_FIRSTHDR(&m);
		h->cmsg_level = SOL_SOCKET;
		h->cmsg_type = SCM_RIGHTS;
		h->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(h), &attached, sizeof(int));
	}
	do
		n = sendmsg(fd, &m, MSG_NOSIGNAL);
	while (n == -1 && errno == EINTR);
	return n;
}

/* The descriptor that came along, or -1. */
static int
attached_to(struct msghdr *m)
{
	struct cmsghdr *h = CMSG_FIRSTHDR(m);
	int fd = -1;

	if (h != NULL && h->cmsg_level == SOL_SOCKET &&
	    h->cmsg_type == SCM_RIGHTS && h->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(h), sizeof(int));
	return fd;
}

static ssize_t
receive_with(int fd, void *data, size_t len, int *attached)
{
	struct iovec iov = {.iov_base = data, .iov_len = len};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	union one_fd control;
	ssize_t n;

	if (attached != NULL) {
		*attached = -1;
		m.msg_control = control.room;
		/* and not the whole room, where two would fit */
		m.msg_controllen = CMSG_LEN(sizeof(int));
	}
	do
		n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
	while (n == -1 && errno == EINTR);
	if (n <= 0)
		return n;
	if (attached != NULL)
		*attached = attached_to(&m);
	if ((m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0)
		return n;
	if (attached != NULL && *attached != -1)
		close(*attached);
	errno = EBADMSG;
	return -1;
}

static ssize_t
wait_answer(int fd, uint8_t *data, int *made, int64_t deadline)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int n;

	do
		n = poll(&p, 1, channel_left(deadline));
	while (n == -1 && errno == EINTR);
	if (n == 0)
		errno = ETIMEDOUT;
	return n == 1 ? receive_with(fd, data, ANSWER_LEN, made) : -1;
}

int
factory_ask(int fd, const struct factory_ask *q, int64_t deadline)
{
	uint8_t data[ASK_LEN];
	struct wbuf w;
	struct rcur c;
	ssize_t n;
	int made = -1, err;

	wbuf_init(&w, data, sizeof(data));
	wbuf_u8(&w, q->udp);
	wbuf_u8(&w, q->address.family == AF_INET6);
	wbuf_u16(&w, q->port);
	memcpy(data + w.len, q->address.bytes, sizeof(q->address.bytes));
	if (send_with(fd, data, sizeof(data), -1) == -1 ||
	    (n = wait_answer(fd, data, &made, deadline)) == -1)
		return -1;
	rcur_init(&c, data, (size_t)n);
	err = (int)rcur_u32(&c);
	if (n == 0)
		err = EPIPE;
	else if (rcur_end(&c) == -1 || (err == 0) != (made != -1))
		err = EBADMSG;
	if (err == 0)
		return made;
	if (made != -1)
		close(made);
	errno = err;
	return -1;
}

int
factory_receive(int fd, struct factory_ask *q)
{
	uint8_t data[ASK_LEN], v6;
	struct rcur c;
	ssize_t n;

	if ((n = receive_with(fd, data, sizeof(data), NULL)) <= 0)
		return (int)n;
	memset(q, 0, sizeof(*q));
	rcur_init(&c, data, (size_t)n);
	q->udp = rcur_u8(&c);
	v6 = rcur_u8(&c);
	q->port = rcur_u16(&c);
	if (n != ASK_LEN || q->udp > 1 || v6 > 1) {
		errno = EBADMSG;
		return -1;
	}
	q->address.family = v6 ? AF_INET6 : AF_INET;
	memcpy(q->address.bytes, c.p, address_len(&q->address));
	return 1;
}

int
factory_answer(int fd, int made, int err)
{
	uint8_t data[ANSWER_LEN];
	struct wbuf w;

	wbuf_init(&w, data, sizeof(data));
	wbuf_u32(&w, made == -1 ? (uint32_t)err : 0);
	return send_with(fd, data, sizeof(data), made) == -1 ? -1 : 0;
}
