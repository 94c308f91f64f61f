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

#define FDS_MAX 2

/* Descriptors beside a message; -1: none, and none behind it. */
struct fds {
	int fd[FDS_MAX];
};

/* Room for them, aligned for struct cmsghdr. */
union control {
	char room[CMSG_SPACE(FDS_MAX * sizeof(int))];
	struct cmsghdr align;
};

static ssize_t
send_with(int fd, void *data, size_t len, const struct fds *fds, size_t n)
{
	struct iovec iov = {.iov_base = data, .iov_len = len};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	union control control;
	struct cmsghdr *h;
	ssize_t sent;

	memset(&control, 0, sizeof(control));
	if (n > 0) {
		m.msg_control = control.room;
		m.msg_controllen = CMSG_LEN(n * sizeof(int));
		h = CMSG_FIRSTHDR(&m);
		h->cmsg_level = SOL_SOCKET;
		h->cmsg_type = SCM_RIGHTS;
		h->cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(h), fds->fd, n * sizeof(int));
	}
	do
		sent = sendmsg(fd, &m, MSG_NOSIGNAL);
	while (sent == -1 && errno == EINTR);
	return sent;
}

static void
take_over(struct msghdr *m, struct fds *fds)
{
	struct cmsghdr *h = CMSG_FIRSTHDR(m);

	if (h != NULL && h->cmsg_level == SOL_SOCKET &&
	    h->cmsg_type == SCM_RIGHTS)
		memcpy(fds->fd, CMSG_DATA(h), h->cmsg_len - CMSG_LEN(0));
}

static void
close_all(const struct fds *fds)
{
	size_t i;

	for (i = 0; i < FDS_MAX; i++)
		if (fds->fd[i] != -1)
			close(fds->fd[i]);
}

/* At most n descriptors: the room is for so many and not one more. */
static ssize_t
receive_with(int fd, void *data, size_t len, struct fds *fds, size_t n)
{
	struct iovec iov = {.iov_base = data, .iov_len = len};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	union control control;
	ssize_t got;

	memset(fds, 0xff, sizeof(*fds)); /* all -1 */
	if (n > 0) {
		m.msg_control = control.room;
		m.msg_controllen = CMSG_LEN(n * sizeof(int));
	}
	do
		got = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
	while (got == -1 && errno == EINTR);
	if (got <= 0)
		return got;
	take_over(&m, fds);
	if ((m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0)
		return got;
	close_all(fds);
	errno = EBADMSG;
	return -1;
}

int
factory_enter(int fd, int net, int root, int any)
{
	struct fds fds = {{net, root}};
	uint8_t hello = any != 0;

	return send_with(fd, &hello, 1, &fds, 2) == 1 ? 0 : -1;
}

int
factory_receive_enter(int fd, int *net, int *root, int *any)
{
	struct fds fds;
	uint8_t hello;
	ssize_t n;

	if ((n = receive_with(fd, &hello, 1, &fds, 2)) <= 0)
		return (int)n;
	if (fds.fd[1] == -1 || hello > 1) {
		close_all(&fds);
		errno = EBADMSG;
		return -1;
	}
	*net = fds.fd[0];
	*root = fds.fd[1];
	*any = hello;
	return 1;
}

/* An answer: 0 and *made (-1: it came without one), or -1 with errno. */
static int
wait_answer(int fd, int *made, int64_t deadline)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	uint8_t data[ANSWER_LEN];
	struct fds fds;
	struct rcur c;
	ssize_t n;
	int err;

	do
		n = poll(&p, 1, channel_left(deadline));
	while (n == -1 && errno == EINTR);
	if (n == 0)
		errno = ETIMEDOUT;
	if (n != 1 || (n = receive_with(fd, data, sizeof(data), &fds, 1)) == -1)
		return -1;
	rcur_init(&c, data, (size_t)n);
	err = (int)rcur_u32(&c);
	if (n == 0)
		err = EPIPE;
	else if (rcur_end(&c) == -1 || (err != 0 && fds.fd[0] != -1))
		err = EBADMSG;
	if (err != 0) {
		close_all(&fds);
		errno = err;
		return -1;
	}
	*made = fds.fd[0];
	return 0;
}

int
factory_entered(int fd, int64_t deadline)
{
	int made;

	if (wait_answer(fd, &made, deadline) == -1)
		return -1;
	if (made == -1)
		return 0;
	close(made);
	errno = EBADMSG;
	return -1;
}

int
factory_ask(int fd, const struct factory_ask *q, int64_t deadline)
{
	uint8_t data[ASK_LEN];
	struct wbuf w;
	int made;

	wbuf_init(&w, data, sizeof(data));
	wbuf_u8(&w, q->udp);
	wbuf_u8(&w, q->address.family == AF_INET6);
	wbuf_u16(&w, q->port);
	memcpy(data + w.len, q->address.bytes, sizeof(q->address.bytes));
	if (send_with(fd, data, sizeof(data), NULL, 0) == -1)
		return -1;
	if (wait_answer(fd, &made, deadline) == -1) {
		/* what comes late would be taken for the next one's answer */
		if (errno == ETIMEDOUT && shutdown(fd, SHUT_RDWR) == 0)
			errno = ETIMEDOUT;
		return -1;
	}
	if (made == -1)
		errno = EBADMSG;
	return made;
}

int
factory_receive(int fd, struct factory_ask *q)
{
	uint8_t data[ASK_LEN], v6;
	struct fds none;
	struct rcur c;
	ssize_t n;

	if ((n = receive_with(fd, data, sizeof(data), &none, 0)) <= 0)
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
	struct fds fds = {{made, -1}};
	struct wbuf w;

	wbuf_init(&w, data, sizeof(data));
	wbuf_u32(&w, made == -1 ? (uint32_t)err : 0);
	return send_with(fd, data, sizeof(data), &fds, made != -1) == -1 ? -1
									 : 0;
}
