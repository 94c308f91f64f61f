#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "control.h"
#include "ipc/buf.h"
#include "ipc/channel.h"

#define HEAD 16 /* more than the fields before the text need */

/* Room for one descriptor, aligned as cmsg(3) wants it. */
union rights {
	char data[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

/* pass: a descriptor that goes along, or -1. */
static int
send_once(
    int fd, enum control_type type, int a, int b, const char *text, int pass)
{
	uint8_t data[TEXT_MAX_LEN + 1 + HEAD];
	struct iovec io = {.iov_base = data};
	struct msghdr h = {.msg_iov = &io, .msg_iovlen = 1};
	union rights rights = {.data = {0}};
	struct cmsghdr *c;
	struct wbuf w;

	wbuf_init(&w, data, sizeof(data));
	wbuf_u8(&w, type);
	wbuf_u32(&w, (uint32_t)a);
	wbuf_u32(&w, (uint32_t)b);
	wbuf_str(&w, text);
	io.iov_len = w.len;
	if (pass != -1) {
		h.msg_control = rights.data;
		h.msg_controllen = sizeof(rights.data);
		c = CMSG_FIRSTHDR(&h);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(pass));
		memcpy(CMSG_DATA(c), &pass, sizeof(pass));
	}
	return sendmsg(fd, &h, MSG_NOSIGNAL) == -1 ? -1 : 0;
}

/*
 * Without a deadline: a monitor that was stopped, as with ^Z, may be that for
 * hours, and one that ended is an error of the socket.
 */
static int
send_waiting(
    int fd, enum control_type type, int a, int b, const char *text, int pass)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};

	while (send_once(fd, type, a, b, text, pass) == -1) {
		if (errno == EAGAIN)
			(void)poll(&p, 1, -1);
		else if (errno != EINTR)
			return -1;
	}
	return 0;
}

int
control_send(int fd, enum control_type type, int a, int b, const char *text)
{
	char cut[TEXT_MAX_LEN + 1];

	cut[0] = '\0';
	if (text != NULL)
		strncat(cut, text, TEXT_MAX_LEN);
	return send_waiting(fd, type, a, b, cut, -1);
}

int
control_pass(int fd, enum control_type type, int a, int descriptor)
{
	return send_waiting(fd, type, a, 0, "", descriptor);
}

int
control_try(int fd, enum control_type type, int a, int b)
{
	int n;

	do
		n = send_once(fd, type, a, b, "", -1);
	while (n == -1 && errno == EINTR);
	return n;
}

/* The descriptor that came along, or -1. The kernel installed at most one. */
static int
passed(struct msghdr *h)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(h);
	int fd = -1;

	if (c != NULL && c->cmsg_level == SOL_SOCKET &&
	    c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(fd)))
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

static int
brings_fd(enum control_type type)
{
	return type == CONTROL_LISTENER || type == CONTROL_FACTORY ||
	       type == CONTROL_BROKER;
}

static int
decode(struct control *m, const uint8_t *data, size_t len)
{
	struct rcur c;

	rcur_init(&c, data, len);
	m->type = rcur_u8(&c);
	m->a = (int)rcur_u32(&c);
	m->b = (int)rcur_u32(&c);
	m->text[0] = '\0';
	strncat(m->text, rcur_str(&c, TEXT_MAX_LEN), TEXT_MAX_LEN);
	if (rcur_end(&c) == -1 || m->type < CONTROL_GO ||
	    m->type > CONTROL_LAST)
		return -1;
	return brings_fd(m->type) == (m->fd != -1) ? 0 : -1;
}

int
control_receive(int fd, struct control *m)
{
	uint8_t data[TEXT_MAX_LEN + 1 + HEAD];
	struct iovec io = {.iov_base = data, .iov_len = sizeof(data)};
	union rights rights;
	struct msghdr h;
	ssize_t n;

	m->fd = -1;
	/*
	 * ECONNRESET says, once, that the peer closed without reading all that
	 * it was sent; what it had sent itself is still to come, unix(7).
	 */
	do {
		memset(&h, 0, sizeof(h));
		h.msg_iov = &io;
		h.msg_iovlen = 1;
		h.msg_control = rights.data;
		/* for one: CMSG_SPACE() has room for a second */
		h.msg_controllen = CMSG_LEN(sizeof(int));
		n = recvmsg(fd, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	} while (n == -1 && (errno == EINTR || errno == ECONNRESET));
	if (n <= 0)
		return (int)n;
	m->fd = passed(&h);
	if ((h.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0 &&
	    decode(m, data, (size_t)n) == 0)
		return 1;
	if (m->fd != -1)
		close(m->fd);
	m->fd = -1;
	errno = EBADMSG;
	return -1;
}

int
control_wait(int fd, struct control *m, int64_t deadline)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int n;

	for (;;) {
		if ((n = control_receive(fd, m)) != -1 || errno != EAGAIN)
			return n;
		n = poll(&p, 1, channel_left(deadline));
		if (n == 0) {
			errno = ETIMEDOUT;
			return -1;
		}
		if (n == -1 && errno != EINTR)
			return -1;
	}
}
