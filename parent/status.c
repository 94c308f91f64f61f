#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ipc/event.h"
#include "ipc/log.h"
#include "status.h"

/* One file has one descriptor to write to; exit(3) passes no argument. */
static struct {
	int fd;
	pid_t owner;   /* a fork's exit is not the end */
	unsigned told; /* surfaces, as bits */
} status = {-1, 0, 0};

static void say(const char *, ...) __attribute__((format(printf, 1, 2)));

static void
say(const char *fmt, ...)
{
	va_list ap;
	int n;

	if (status.fd == -1)
		return;
	va_start(ap, fmt);
	n = vdprintf(status.fd, fmt, ap);
	va_end(ap);
	if (n < 0) {
		log_warn("--status-fd: %s; what follows is not written",
		    strerror(errno));
		status.fd = -1;
	}
}

static void
at_exit(void)
{
	if (status.owner == getpid())
		status_end("", 0, EXIT_CARREL, 0, 0);
}

void
status_open(int fd)
{
	status.fd = fd;
	status.owner = getpid();
	if (fd != -1 && atexit(at_exit) != 0)
		fatal("out of memory");
}

void
status_start(const char *run)
{
	say("{\"v\":1,\"event\":\"start\",\"run\":\"%s\"}\n", run);
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
	status.fd = -1; /* it ends once */
}
