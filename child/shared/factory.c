#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/channel.h"
#include "ipc/factory.h"
#include "ipc/pass.h"

/* The side that asks: the set-up at first, and the broker. */

int
factory_enter(int fd, int net, int root, int any)
{
	const int fds[] = {net, root};
	uint8_t hello = any != 0;

	return pass_send(fd, &hello, sizeof(hello), fds, 2);
}

/* An answer: 0 and *made (-1: it came without one), or -1 with errno. */
static int
wait_answer(int fd, int *made, int64_t deadline)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int fds[PASS_FDS], err;
	uint32_t answer;
	ssize_t len;
	size_t n;

	do
		len = poll(&p, 1, channel_left(deadline));
	while (len == -1 && errno == EINTR);
	if (len == 0)
		errno = ETIMEDOUT;
	if (len != 1 ||
	    (len = pass_receive(fd, &answer, sizeof(answer), fds, &n)) == -1)
		return -1;
	if (len == 0)
		err = EPIPE;
	else if (len != sizeof(answer) || n > 1 || (answer != 0 && n > 0))
		err = EBADMSG;
	else
		err = (int)answer;
	if (err == 0) {
		*made = n > 0 ? fds[0] : -1;
		return 0;
	}
	while (n > 0)
		close(fds[--n]);
	errno = err;
	return -1;
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
	struct factory_wire w = {.udp = q->udp,
	    .v6 = q->address.family == AF_INET6,
	    .port = q->port};
	int made;

	memcpy(w.address, q->address.bytes, sizeof(w.address));
	if (pass_send(fd, &w, sizeof(w), NULL, 0) == -1)
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
