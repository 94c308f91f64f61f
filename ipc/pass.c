#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pass.h"

union rights {
	struct cmsghdr align;
	char space[CMSG_SPACE(PASS_FDS * sizeof(int))];
};

int
pass_send(int fd, const void *data, size_t len, const int *fds, size_t n)
{
	struct iovec io = {.iov_base = (void *)(uintptr_t)data, .iov_len = len};
	struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1};
	union rights r;
	struct cmsghdr *c;
	ssize_t sent;

	if (n > PASS_FDS) {
		errno = EINVAL;
		return -1;
	}
	if (n > 0) {
		memset(&r, 0, sizeof(r));
		m.msg_control = r.space;
		m.msg_controllen = CMSG_SPACE(n * sizeof(int));
		c = &r.align;
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(c), fds, n * sizeof(int));
	}
	do
		sent = sendmsg(fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (sent == -1 && errno == EINTR);
	return sent == (ssize_t)len ? 0 : -1;
}

/* All that came, whatever it is: what is not wanted must be closed. */
static void
take(struct msghdr *m, int fds[PASS_FDS], size_t *n)
{
	struct cmsghdr *c;
	size_t i, had;
	int fd;

	for (c = CMSG_FIRSTHDR(m); c != NULL; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		had = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (i = 0; i < had; i++) {
			memcpy(&fd, CMSG_DATA(c) + i * sizeof(fd), sizeof(fd));
			if (*n < PASS_FDS)
				fds[(*n)++] = fd;
			else {
				/* padding had room for it */
				close(fd);
				m->msg_flags |= MSG_CTRUNC;
			}
		}
	}
}

ssize_t
pass_receive(int fd, void *data, size_t cap, int fds[PASS_FDS], size_t *n)
{
	struct iovec io = {.iov_base = data, .iov_len = cap};
	union rights r;
	struct msghdr m = {.msg_iov = &io,
	    .msg_iovlen = 1,
	    .msg_control = r.space,
	    .msg_controllen = sizeof(r.space)};
	ssize_t len;

	*n = 0;
	do
		len = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
	while (len == -1 && errno == EINTR);
	if (len == -1)
		return errno == ECONNRESET ? 0 : -1;
	take(&m, fds, n);
	if ((m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0)
		return len;
	while (*n > 0)
		close(fds[--*n]);
	errno = EBADMSG;
	return -1;
}
