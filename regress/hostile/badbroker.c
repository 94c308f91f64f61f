#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "child/shared/broker.h"
#include "child/shared/event.h"
#include "ipc/channel.h"
#include "ipc/factory.h"
#include "ipc/limits.h"

/*
 * A broker that lies, or fails. It is installed in the place of carrel-broker,
 * whose word in the file "mode" beside it says what it does. What is not said
 * below it does as it should, but for serving anything.
 *
 *	deaf		ends at once, having heard nothing
 *	quiet		ends well without a word
 *	garbage		says what is no record
 *	empty		an empty datagram
 *	other		a record of another stream
 *	twice		that it is ready, twice in one datagram
 *	long		more than a text may have
 *	attached	that it is ready, with a descriptor
 *	why		why it is not ready, with control characters
 *	fails		is ready, and ends with 1
 *	event-garbage	is ready, and says what is no event
 *	event-attached	an event with a descriptor
 *	flood		100,000 different events
 *	notes		100,000 that are no violations
 *	stays		does not end when the run does
 *	factory		asks the socket factory for what it may not make, and
 *says what came of it on standard error
 */

#define SET_UP	3
#define MONITOR 4

static void __attribute__((noreturn)) broken(const char *what)
{
	fprintf(stderr, "badbroker: %s: %s\n", what, strerror(errno));
	exit(99);
}

static void
read_mode(char *mode, size_t len)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 8);
	FILE *f;

	if (n <= 0)
		broken("readlink");
	path[n] = '\0';
	strcpy(strrchr(path, '/') + 1, "mode");
	if ((f = fopen(path, "r")) == NULL || fgets(mode, (int)len, f) == NULL)
		broken(path);
	fclose(f);
	mode[strcspn(mode, "\n")] = '\0';
}

/* What the factory does with a question. */
static void
ask(int fd, const char *address, unsigned port, unsigned udp)
{
	struct factory_ask q = {.udp = (uint8_t)udp, .port = (uint16_t)port};
	int made;

	if (address_read(address, &q.address) == -1)
		broken(address);
	made = factory_ask(fd, &q, channel_deadline(2));
	fprintf(stderr, "%s %u %s: %s\n", address, port, udp ? "udp" : "tcp",
	    made != -1 ? "made" : strerror(errno));
	if (made != -1)
		close(made);
}

static void
ask_factory(const struct broker_setup *b)
{
	size_t i;

	for (i = 0; i < b->nsockets; i++)
		if (b->sockets[i].kind == BROKER_FACTORY)
			break;
	if (i == b->nsockets)
		broken("there is no factory");
	ask(b->sockets[i].fd, "198.19.0.9", 80, 0);
	ask(b->sockets[i].fd, "198.19.0.9", 80, 1);
	ask(b->sockets[i].fd, "fd63:6172:7265:6c00::c613:9", 443, 0);
	ask(b->sockets[i].fd, "198.19.0.9", 80, 0); /* it is taken */
	ask(b->sockets[i].fd, "192.0.2.1", 80, 0);
	ask(b->sockets[i].fd, "127.0.0.1", 80, 0);
	ask(b->sockets[i].fd, "::", 80, 0);
	ask(b->sockets[i].fd, "2001:db8::1", 53, 1);
	/* no question at all: it ends */
	(void)send(b->sockets[i].fd, "x", 1, MSG_NOSIGNAL);
	ask(b->sockets[i].fd, "198.19.0.10", 80, 0);
}

static void
hear(const char *mode)
{
	struct broker_setup b;
	struct receiver r;

	if (receiver_init(&r, SET_UP, channel_deadline(10), record_broker) ==
		-1 ||
	    broker_receive(&r, &b) == -1)
		broken("what the set-up says");
	if (strcmp(mode, "factory") == 0)
		ask_factory(&b);
	broker_setup_free(&b);
	receiver_free(&r);
}

static void
say(const void *data, size_t len, int fd)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} ctl;
	struct iovec iov = {(void *)(uintptr_t)data, len};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	memset(&ctl, 0, sizeof(ctl));
	ctl.h.cmsg_level = SOL_SOCKET;
	ctl.h.cmsg_type = SCM_RIGHTS;
	ctl.h.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&ctl.h), &null, sizeof(null));
	if (fd < 0) { /* with it */
		m.msg_control = &ctl;
		m.msg_controllen = CMSG_LEN(sizeof(int));
		fd = -fd;
	}
	if (sendmsg(fd, &m, MSG_NOSIGNAL) == -1)
		broken("sendmsg");
	close(null);
}

/* Says a record whose only field is this text, so many times in a datagram. */
static void
say_text(unsigned type, const char *text, int times, int fd)
{
	static uint8_t data[DATAGRAM_MAX];
	struct wbuf w;

	wbuf_init(&w, data, sizeof(data));
	while (times-- > 0) {
		wbuf_u16(&w, (uint16_t)type);
		wbuf_u32(&w, (uint32_t)strlen(text) + 3);
		wbuf_str(&w, text);
	}
	say(data, w.len, fd);
}

/* Before it is ready; 1 if the mode was one of these. */
static int
lie_before(const char *mode)
{
	static char text[TEXT_MAX_LEN + 2];

	if (strcmp(mode, "quiet") == 0)
		exit(0);
	if (strcmp(mode, "garbage") == 0)
		say("xyz", 3, SET_UP);
	else if (strcmp(mode, "empty") == 0)
		say("", 0, SET_UP);
	else if (strcmp(mode, "other") == 0)
		say_text(RECORD_SELECT, "", 1, SET_UP);
	else if (strcmp(mode, "twice") == 0)
		say_text(RECORD_READY, "", 2, SET_UP);
	else if (strcmp(mode, "long") == 0) {
		memset(text, 'a', TEXT_MAX_LEN + 1);
		say_text(RECORD_READY, text, 1, SET_UP);
	} else if (strcmp(mode, "attached") == 0)
		say_text(RECORD_READY, "", 1, -SET_UP);
	else if (strcmp(mode, "why") == 0)
		say_text(RECORD_READY, "no \033[31mname server\n\342\200\256x",
		    1, SET_UP);
	else
		return 0;
	return 1;
}

static void
flood(uint8_t flags)
{
	char resource[64];
	struct event e = {.surface = EVENT_EGRESS,
	    .flags = flags,
	    .profile = EVENT_NO_PROFILE,
	    .err = ECONNREFUSED,
	    .count = 1,
	    .action = "connect",
	    .resource = resource,
	    .rule = ""};
	struct pollfd p = {.fd = MONITOR, .events = POLLOUT};
	int i;

	for (i = 0; i < 100000; i++) {
		snprintf(resource, sizeof(resource), "tcp 192.0.2.1:%d", i);
		while (event_send(MONITOR, &e) == -1)
			if (errno != EAGAIN || poll(&p, 1, 5000) != 1)
				broken("event");
	}
}

static void
lie_after(const char *mode)
{
	if (strcmp(mode, "fails") == 0)
		exit(1);
	if (strcmp(mode, "event-garbage") == 0)
		say("xyz", 3, MONITOR);
	if (strcmp(mode, "event-attached") == 0)
		say("xyz", 3, -MONITOR);
	if (strcmp(mode, "flood") == 0)
		flood(0);
	if (strcmp(mode, "notes") == 0)
		flood(EVENT_NOTE);
	if (strcmp(mode, "stays") == 0)
		for (;;)
			pause();
}

int
main(void)
{
	char mode[64], byte;

	read_mode(mode, sizeof(mode));
	signal(SIGPIPE, SIG_IGN);
	if (strcmp(mode, "deaf") == 0)
		return 0;
	hear(mode);
	if (!lie_before(mode))
		say_text(RECORD_READY, "", 1, SET_UP);
	lie_after(mode);
	if (fcntl(MONITOR, F_SETFL, 0) == -1)
		broken("fcntl");
	while (read(MONITOR, &byte, 1) > 0)
		continue;
	return 0;
}
