#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child/shared/event.h"
#include "ipc/log.h"
#include "status.h"

#define OUT_MAX                                                                \
	1024 /* all lines of a run, of which none is longer than 200           \
	      */

/* One file has one descriptor to write to; exit(3) passes no argument. */
static struct {
	int fd;	       /* -1: none, or given up */
	int is_socket; /* which is told in each call not to wait */
	pid_t owner;   /* a fork's exit is not the end */
	unsigned told; /* surfaces, as bits */
	char out[OUT_MAX];
	size_t len; /* of what is still to be written */
} status = {.fd = -1};

/* -1 with errno; EAGAIN: there is no room now. */
static ssize_t
put(const char *p, size_t n)
{
	struct pollfd ready = {.fd = status.fd, .events = POLLOUT};

	if (status.is_socket)
		return send(status.fd, p, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	/* a pipe that is ready has room for a page, and a line is less */
	if (poll(&ready, 1, 0) == 0) {
		errno = EAGAIN;
		return -1;
	}
	return write(status.fd, p, n);
}

/* Until the reader has made room; SIGTERM, blocked by now, ends that. */
static void
wait_for_room(void)
{
	struct pollfd p = {.fd = status.fd, .events = POLLOUT};
	sigset_t mask;

	sigfillset(&mask);
	sigdelset(&mask, SIGTERM);
	(void)ppoll(&p, 1, NULL, &mask);
}

/* Writes what it can; to the end if it may wait for the reader. */
static void
flush(int wait)
{
	ssize_t n;

	while (status.fd != -1 && status.len > 0) {
		n = put(status.out, status.len);
		if (n > 0) {
			status.len -= (size_t)n;
			memmove(status.out, status.out + n, status.len);
		} else if (n == -1 && errno == EAGAIN) {
			if (!wait)
				return;
			wait_for_room();
		} else if (n == 0 || errno != EINTR) {
			log_warn("--status-fd: %s; what follows is not written",
			    strerror(n == 0 ? ENOSPC : errno));
			status.fd = -1;
		}
	}
}

static void say(const char *, ...) __attribute__((format(printf, 1, 2)));

static void
say(const char *fmt, ...)
{
	size_t room = sizeof(status.out) - status.len;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(status.out + status.len, room, fmt, ap);
	va_end(ap);
	if (n > 0 && (size_t)n < room)
		status.len += (size_t)n;
}

static void
at_exit(void)
{
	if (status.owner == getpid())
		status_end("", 0, EXIT_CARREL, 0, 0);
}

/*
 * The payload may share a pipe or a terminal, fill it, and so keep whoever
 * writes to it waiting. Opened anew it does not wait, and O_NONBLOCK is not
 * the others'. One that another user has made cannot be opened: then it is
 * asked before each write.
 */
static void
never_wait(void)
{
	char name[32];
	struct stat st;
	int fd;

	if (fstat(status.fd, &st) == -1)
		return;
	status.is_socket = S_ISSOCK(st.st_mode);
	if (!S_ISFIFO(st.st_mode) && !isatty(status.fd))
		return;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", status.fd);
	fd = open(name, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd == -1)
		return;
	if (status.fd > STDERR_FILENO)
		close(status.fd);
	status.fd = fd;
}

void
status_open(int fd)
{
	status.fd = fd;
	status.owner = getpid();
	if (fd == -1)
		return;
	never_wait();
	if (atexit(at_exit) != 0)
		fatal("out of memory");
}

void
status_forget(void)
{
	if (status.fd > STDERR_FILENO)
		close(status.fd);
	status.fd = -1;
}

void
status_start(const char *run)
{
	say("{\"v\":1,\"event\":\"start\",\"run\":\"%s\"}\n", run);
	flush(0);
}

void
status_surfaces(const char *run, unsigned surfaces)
{
	unsigned i;

	for (i = EVENT_EGRESS; i <= EVENT_LAST; i++)
		if ((surfaces & ~status.told & 1U << i) != 0)
			say("{\"v\":1,\"event\":\"violation\",\"run\":\"%s\","
			    "\"surface\":\"%s\"}\n",
			    run, event_surface(i));
	status.told |= surfaces;
	flush(0);
}

void
status_end(
    const char *run, int by_payload, int code, int sig, uint64_t violations)
{
	char signal[32] = "";

	if (sig != 0)
		snprintf(signal, sizeof(signal), ",\"signal\":%d", sig);
	say("{\"v\":1,\"event\":\"end\",\"run\":\"%s\",\"by\":\"%s\","
	    "\"code\":%d%s,\"violations\":%llu}\n",
	    run, by_payload ? "payload" : "carrel", code, signal,
	    (unsigned long long)violations);
	flush(1);
	status.fd = -1; /* it ends once */
}
