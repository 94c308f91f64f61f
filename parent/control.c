#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "control.h"
#include "ipc/buf.h"
#include "ipc/channel.h"

#define HEAD 16 /* more than the fields before the text need */

static int
send_once(int fd, enum control_type type, int a, int b, const char *text)
{
	uint8_t data[TEXT_MAX_LEN + 1 + HEAD];
	struct wbuf w;

	wbuf_init(&w, data, sizeof(data));
	wbuf_u8(&w, type);
	wbuf_u32(&w, (uint32_t)a);
	wbuf_u32(&w, (uint32_t)b);
	wbuf_str(&w, text);
	return send(fd, data, w.len, MSG_NOSIGNAL) == -1 ? -1 : 0;
}

int
control_send(int fd, enum control_type type, int a, int b, const char *text)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	char cut[TEXT_MAX_LEN + 1];

	cut[0] = '\0';
	if (text != NULL)
		strncat(cut, text, TEXT_MAX_LEN);
	while (send_once(fd, type, a, b, cut) == -1) {
		if (errno == EAGAIN)
			(void)poll(&p, 1, -1);
		else if (errno != EINTR)
			return -1;
	}
	return 0;
}

int
control_try(int fd, enum control_type type, int a, int b)
{
	int n;

	do
		n = send_once(fd, type, a, b, "");
	while (n == -1 && errno == EINTR);
	return n;
}

int
control_receive(int fd, struct control *m)
{
	uint8_t data[TEXT_MAX_LEN + 1 + HEAD];
	struct rcur c;
	ssize_t n;

	/*
	 * ECONNRESET says, once, that the peer closed without reading all that
	 * it was sent; what it had sent itself is still to come, unix(7).
	 */
	do
		n = recv(fd, data, sizeof(data), MSG_TRUNC | MSG_DONTWAIT);
	while (n == -1 && (errno == EINTR || errno == ECONNRESET));
	if (n == 0)
		return 0;
	if (n == -1)
		return -1;
	rcur_init(&c, data, (size_t)n > sizeof(data) ? 0 : (size_t)n);
	m->type = rcur_u8(&c);
	m->a = (int)rcur_u32(&c);
	m->b = (int)rcur_u32(&c);
	m->text[0] = '\0';
	strncat(m->text, rcur_str(&c, TEXT_MAX_LEN), TEXT_MAX_LEN);
	if (rcur_end(&c) == -1 || m->type < CONTROL_GO ||
	    m->type > CONTROL_LAST) {
		errno = EBADMSG;
		return -1;
	}
	return 1;
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
