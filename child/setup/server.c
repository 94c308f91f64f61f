#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/address.h"
#include "parent/failure.h"
#include "parent/listen.h"
#include "parent/mountapi.h"
#include "parent/nftables.h"
#include "parent/op.h"
#include "parent/rtnetlink.h"
#include "server.h"

#define TERMINALS_MAX "256" /* of /dev/pts */

static int server = -1; /* -1: user mode */

void
server_use(int fd)
{
	server = fd;
}

int
server_used(void)
{
	return server != -1;
}

/* Questions that are answered with a descriptor. */
static int
ask_fd(const struct op *q, int give)
{
	int got;

	return op_ask(server, q, give, &got) == -1 ? -1 : got;
}

int
server_clone(int fd, uint64_t attr)
{
	struct op q = {.type = OP_CLONE, .flags = (uint32_t)attr};

	return server == -1 ? mountapi_clone(fd, attr) : ask_fd(&q, fd);
}

int
server_set(int fd, uint64_t attr)
{
	struct op q = {.type = OP_SET, .flags = (uint32_t)attr};

	return server == -1 ? mountapi_set(fd, attr)
			    : op_ask(server, &q, fd, NULL);
}

int
server_tmpfs(uint64_t size, uint64_t inodes, unsigned mode, uint64_t attr)
{
	struct op q = {.type = OP_NEW,
	    .number = OP_TMPFS,
	    .flags = (uint32_t)attr,
	    .mode = mode,
	    .size = size,
	    .inodes = inodes};
	char bytes[32], count[32], octal[16];
	const char *const opts[] = {
	    "size", bytes, "nr_inodes", count, "mode", octal, NULL};

	if (server != -1)
		return ask_fd(&q, -1);
	snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)size);
	snprintf(count, sizeof(count), "%llu", (unsigned long long)inodes);
	snprintf(octal, sizeof(octal), "%o", mode);
	return mountapi_new("tmpfs", opts, attr);
}

int
server_devpts(uint64_t attr)
{
	/* all of the host share the number of terminals that there can be */
	static const char *const pts[] = {
	    "ptmxmode", "0666", "max", TERMINALS_MAX, NULL};
	struct op q = {
	    .type = OP_NEW, .number = OP_DEVPTS, .flags = (uint32_t)attr};

	return server == -1 ? mountapi_new("devpts", pts, attr)
			    : ask_fd(&q, -1);
}

int
server_proc(uint64_t attr)
{
	static const char *const none[] = {NULL};
	struct op q = {.type = OP_NEW, .number = OP_PROC};

	return server == -1 ? mountapi_new("proc", none, attr) : ask_fd(&q, -1);
}

int
server_move(int mount, int dir, const char *name)
{
	struct op q = {.type = OP_MOVE};
	int fd, r, err;

	if (server == -1)
		return mountapi_move(mount, dir, name);
	/* it resolves no name */
	if (name[0] == '\0')
		return op_ask(server, &q, dir, NULL);
	fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return -1;
	r = op_ask(server, &q, fd, NULL);
	err = errno;
	close(fd);
	errno = err;
	return r;
}

int
server_private(void)
{
	return server == -1 ? mountapi_private() : 0;
}

int
server_pivot(void)
{
	struct op q = {.type = OP_PIVOT};

	return server == -1 ? mountapi_pivot() : op_ask(server, &q, -1, NULL);
}

int
server_local(int *v6, struct failure *f)
{
	struct op q = {.type = OP_LOCAL};

	if (server == -1)
		return rtnetlink_local(v6, f);
	*v6 = op_ask(server, &q, -1, NULL);
	return *v6 == -1
		   ? failure_set(f, CAUSE_NETNS, "make every address local")
		   : 0;
}

int
server_listen(const struct address *a, uint16_t port, int udp)
{
	struct op q = {.type = OP_LISTEN,
	    .address = *a,
	    .port = port,
	    .udp = (uint16_t)udp};

	return server == -1 ? listen_at(a, port, udp) : ask_fd(&q, -1);
}

int
server_listen_all(int family, uint16_t port, int udp)
{
	struct op q = {.type = OP_LISTEN,
	    .flags = 1,
	    .address = {.family = family},
	    .port = port,
	    .udp = (uint16_t)udp};

	return server == -1 ? listen_all(family, port, udp) : ask_fd(&q, -1);
}

int
server_observe(unsigned i)
{
	struct op q = {.type = OP_OBSERVE, .number = i};

	return server == -1 ? listen_refused(i) : ask_fd(&q, -1);
}

int
server_divert(uint16_t port, int v6, struct failure *f)
{
	struct op q = {.type = OP_DIVERT, .number = (uint32_t)v6, .port = port};

	if (server == -1)
		return nftables_divert(port, v6, f);
	return op_ask(server, &q, -1, NULL) == -1
		   ? failure_set(f, CAUSE_NFTABLES, "nf_tables")
		   : 0;
}

int
server_factory(int fd, int any)
{
	struct op q = {.type = OP_FACTORY, .number = (uint32_t)any};

	return op_ask(server, &q, fd, NULL);
}
