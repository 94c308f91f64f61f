#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "ipc/pass.h"
#include "parent/op.h"

static int
wait_for(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int n;

	do
		n = poll(&p, 1, OP_SECONDS * 1000);
	while (n == -1 && errno == EINTR);
	if (n == 0)
		errno = ETIMEDOUT;
	return n == 1 ? 0 : -1;
}

int
op_ask(int server, const struct op *op, int give, int *got)
{
	struct op_answer a;
	int fds[PASS_FDS];
	size_t n;
	ssize_t len;

	if (pass_send(server, op, sizeof(*op), &give, give != -1) == -1 ||
	    wait_for(server) == -1)
		return -1;
	len = pass_receive(server, &a, sizeof(a), fds, &n);
	if (len == sizeof(a) && a.err == 0 && a.number >= 0 &&
	    n == (got != NULL)) {
		if (got != NULL)
			*got = fds[0];
		return a.number;
	}
	while (n > 0)
		close(fds[--n]);
	if (len == 0)
		errno = EPIPE;
	else if (len == sizeof(a) && a.err > 0)
		errno = a.err;
	else if (len != -1)
		errno = EBADMSG;
	return -1;
}
