/*
 * hosted WHAT [ARG...]: installed set-user-id root it is hosted mode with a
 * hostile user in it. The privileged part is carrel's own, linked from the
 * same objects; launch() and setup_born(), where a process is the user for
 * good, are replaced by what he could have there. Prints what he sees.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "child/monitor/launch.h"
#include "child/setup/setup.h"
#include "parent/hosted.h"
#include "parent/mountapi.h"
#include "parent/start.h"

static const char *
error(int r)
{
	return r == -1 ? strerrorname_np(errno) : "done";
}

/* One question, and its answer in a word. */
static int
ask(int fd, struct op q, int give, int *got)
{
	int r = op_ask(fd, &q, give, got);

	printf("op %u: %s\n", q.type, error(r));
	return r;
}

static int
new_tmpfs(int fd, uint64_t size)
{
	const struct op q = {.type = OP_NEW,
	    .number = OP_TMPFS,
	    .size = size,
	    .inodes = 64,
	    .mode = 0755};
	int got = -1;

	return ask(fd, q, -1, &got) == -1 ? -1 : got;
}

static int
move(int fd, int to)
{
	const struct op q = {.type = OP_MOVE};

	return ask(fd, q, to, NULL);
}

static void
pivot(int client)
{
	const struct op q = {.type = OP_PIVOT};
	int root = new_tmpfs(client, 1 << 20), top = open("/", O_PATH);

	if (root == -1 || move(client, top) == -1 ||
	    ask(client, q, -1, NULL) == -1)
		printf("pivot: failed\n");
}

/* What is open here, but for 0-2: names of the kernel. */
static void
descriptors(void)
{
	char path[64], to[256];
	ssize_t n;
	int fd;

	for (fd = 3; fd < 64; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if ((n = readlink(path, to, sizeof(to) - 1)) == -1)
			continue;
		to[n] = '\0';
		printf("fd %.*s\n", (int)strcspn(to, "["), to);
	}
}

/* What lies below a mount, seen over a descriptor after the pivot. */
static void
uncover(int client, const char *dir, const char *below)
{
	int fd = open(dir, O_PATH | O_DIRECTORY), file;
	char text[64];
	ssize_t n;

	pivot(client);
	file = openat(fd, below, O_RDONLY);
	n = file == -1 ? -1 : read(file, text, sizeof(text) - 1);
	if (n > 0)
		printf("%.*s", (int)n, text);
	else
		printf("uncover: %s\n", error(-1));
}

/* Every question with this descriptor. */
static void
with(int client, int fd, const char *name)
{
	static const uint32_t types[] = {OP_CLONE, OP_SET, OP_MOVE};
	size_t i;
	int got;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		const struct op q = {
		    .type = types[i], .flags = MOUNT_ATTR_RDONLY};

		if (types[i] == OP_MOVE)
			new_tmpfs(client, 4096);
		printf("%s: ", name);
		got = -1;
		ask(client, q, fd, types[i] == OP_CLONE ? &got : NULL);
		if (got != -1)
			close(got);
	}
}

static void
factories(int client, int n)
{
	const struct op q = {.type = OP_FACTORY, .number = 1};
	int pair[2], i;

	for (i = 0; i < n; i++) {
		if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == -1)
			err(1, "socketpair");
		ask(client, q, pair[1], NULL);
		close(pair[1]);
	}
}

static void
raw(int client, const void *data, size_t len, int nfds)
{
	struct op_answer a;
	int fds[PASS_FDS] = {1, 1, 1}, got[PASS_FDS];
	size_t n;

	printf("raw %zu %d: %s, ", len, nfds,
	    error(pass_send(client, data, len, fds, (size_t)nfds)));
	if (pass_receive(client, &a, sizeof(a), got, &n) != sizeof(a))
		printf("no answer\n");
	else
		printf("%s\n", a.err == 0 ? "done" : strerrorname_np(a.err));
}

/* To whom the set-up could lie if it had more than its own descriptors. */
static void
forge(int client)
{
	const struct born b = {.pid = 1};
	int fd;

	for (fd = 3; fd < 64; fd++)
		if (fd != client && fcntl(fd, F_GETFD) != -1)
			(void)send(
			    fd, &b, sizeof(b), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void
setup_born(const void *told, size_t len, const int *fds, size_t nfds,
    int client, int argc, char **argv, const struct start *st)
{
	const char *what = argv[1];
	char byte;
	int i;

	(void)told;
	(void)len;
	(void)nfds;
	(void)st;
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("set-up\n");
	if (strcmp(what, "fds") == 0)
		descriptors();
	else if (strcmp(what, "forge") == 0)
		forge(client);
	else if (strcmp(what, "uncover") == 0 && argc > 3)
		uncover(client, argv[2], argv[3]);
	else if (strcmp(what, "factories") == 0)
		factories(client, atoi(argv[2]));
	else if (strcmp(what, "size") == 0)
		new_tmpfs(client, strtoull(argv[2], NULL, 0));
	else if (strcmp(what, "unread") == 0) {
		struct op q = {.type = OP_SET};

		for (i = 0; i < 20000; i++)
			if (send(client, &q, sizeof(q),
				MSG_NOSIGNAL | MSG_DONTWAIT) == -1)
				break;
		printf("sent %d\n", i > 0);
	} else if (strcmp(what, "raw") == 0) {
		struct op q[2] = {{.type = (uint32_t)atoi(argv[2])}};

		raw(client, q, (size_t)atoi(argv[3]), atoi(argv[4]));
	} else if (strcmp(what, "with") == 0) {
		i = open(argv[2], argc > 3 ? O_RDONLY : O_PATH);
		with(client, i, argv[2]);
	} else if (strcmp(what, "with-given") == 0) {
		with(client, fds[1], "given");
	} else if (strcmp(what, "wait") == 0 || strcmp(what, "pivot") == 0) {
		if (what[0] == 'p') {
			factories(client, 1);
			pivot(client);
		}
		/* until the monitor has no more for it */
		(void)!read(fds[0], &byte, 1);
	} else if (strcmp(what, "hand-out") == 0) {
		(void)pass_send(fds[0], "", 1, &client, 1);
	}
	printf("end\n");
	_exit(0);
}

/* The monitor: starts the set-up, and waits for what the recorder says. */
static void
records(int server, const char *what, int control)
{
	static const char end[] = "6event=\"over\" exit=\"0\"";
	struct pollfd p = {.fd = server, .events = POLLIN};
	int i;

	if (strcmp(what, "forge-end") == 0)
		(void)send(server, end, sizeof(end) - 1, MSG_NOSIGNAL);
	if (strcmp(what, "flood") == 0) {
		close(control);
		for (i = 0; i < 3000000; i++)
			(void)send(
			    server, "6x=\"\"", 5, MSG_NOSIGNAL | MSG_DONTWAIT);
	}
	if (strcmp(what, "trickle") == 0) {
		close(control);
		for (i = 0; i < 12; i++) {
			(void)send(server, "6y=\"\"", 5, MSG_NOSIGNAL);
			usleep(1000000);
		}
	}
	(void)poll(&p, 1, 10000);
}

int
launch(int argc, char **argv, const struct start *st, int server, pid_t pid)
{
	struct over o;
	struct born b;
	int control[2], fds[PASS_FDS], given, client = -1;
	size_t n;
	char byte;

	(void)st;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (server == -1)
		errx(3, "no hosted mode");
	if (argc < 2)
		errx(3, "what?");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, control) == -1)
		err(3, "socketpair");
	given = open(argc > 2 ? argv[2] : "/", argc > 3 ? O_RDWR : O_PATH);
	fds[0] = control[1];
	fds[1] = given == -1 ? 2 : given;
	printf("recorder %d\n", (int)pid);
	if (strcmp(argv[1], "idle") == 0)
		(void)!read(0, &byte, 1);
	if (pass_send(server, "told", 4, fds, 2) == -1)
		err(3, "start");
	close(control[1]);
	if (pass_receive(server, &b, sizeof(b), fds, &n) != sizeof(b))
		errx(3, "not born");
	printf("born %d %d\n", b.err, (int)b.pid);
	if (strcmp(argv[1], "hand-out") == 0 &&
	    pass_receive(control[0], &byte, 1, fds, &n) == 1 && n == 1)
		client = fds[0];
	if (strcmp(argv[1], "wait") == 0 || strcmp(argv[1], "pivot") == 0)
		(void)!read(0, &byte, 1);
	if (strcmp(argv[1], "flood") != 0 && strcmp(argv[1], "trickle") != 0)
		close(control[0]);
	records(server, argv[1], control[0]);
	if (pass_receive(server, &o, sizeof(o), fds, &n) != sizeof(o))
		printf("no end\n");
	else
		printf("over %d\n", o.status);
	(void)client;
	return 0;
}
