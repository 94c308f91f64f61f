#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "factory.h"
#include "pass.h"

int
factory_receive_enter(int fd, int *net, int *root, int *any)
{
	int fds[PASS_FDS];
	uint8_t hello;
	ssize_t len;
	size_t n;

	if ((len = pass_receive(fd, &hello, sizeof(hello), fds, &n)) <= 0)
		return (int)len;
	if (n != 2 || hello > 1) {
		while (n > 0)
			close(fds[--n]);
		errno = EBADMSG;
		return -1;
	}
	*net = fds[0];
	*root = fds[1];
	*any = hello;
	return 1;
}

int
factory_receive(int fd, struct factory_ask *q)
{
	struct factory_wire w;
	int fds[PASS_FDS];
	ssize_t len;
	size_t n;

	if ((len = pass_receive(fd, &w, sizeof(w), fds, &n)) <= 0)
		return (int)len;
	if (len != sizeof(w) || n != 0 || w.udp > 1 || w.v6 > 1) {
		while (n > 0)
			close(fds[--n]);
		errno = EBADMSG;
		return -1;
	}
	memset(q, 0, sizeof(*q));
	q->udp = w.udp;
	q->port = w.port;
	q->address.family = w.v6 ? AF_INET6 : AF_INET;
	memcpy(q->address.bytes, w.address, address_len(&q->address));
	return 1;
}

int
factory_answer(int fd, int made, int err)
{
	const uint32_t answer = made == -1 ? (uint32_t)err : 0;

	return pass_send(fd, &answer, sizeof(answer), &made, made != -1);
}
