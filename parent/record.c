#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record.h"

#define LOG_PATH     "/dev/log"
#define KMSG_PATH    "/dev/kmsg"
#define LOG_AUTHPRIV (10 << 3) /* syslog(3) */
#define INFO	     6
#define OVER	     "event=\"over\"" /* says the recorder alone */

static int
join(void)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX, .sun_path = LOG_PATH};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd != -1 && connect(fd, (struct sockaddr *)&to, sizeof(to)) == -1) {
		close(fd);
		fd = -1;
	}
	return fd;
}

int
record_open(struct record *r, uid_t uid)
{
	memset(r, 0, sizeof(*r));
	r->uid = uid;
	r->kmsg = -1;
	r->log = join();
	if (r->log == -1)
		r->kmsg = open(KMSG_PATH, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	return r->log != -1 || r->kmsg != -1 ? 0 : -1;
}

void
record_close(struct record *r)
{
	if (r->log != -1)
		close(r->log);
	if (r->kmsg != -1)
		close(r->kmsg);
	r->log = r->kmsg = -1;
}

static int
try(const struct record *r, const char *line, size_t len)
{
	struct iovec io[] = {{.iov_base = (char *)(uintptr_t)line},
	    {.iov_base = (char[]){'\n'}, .iov_len = 1}};
	ssize_t n;

	if (r->kmsg == -1 && r->log == -1) {
		errno = ENOTCONN;
		return -1;
	}
	if (r->kmsg != -1) {
		if (len > RECORD_KMSG_MAX)
			len = RECORD_KMSG_MAX;
		/* a record without an end might go on, and is not shown */
		io[0].iov_len = len;
		return writev(r->kmsg, io, 2) == (ssize_t)len + 1 ? 0 : -1;
	}
	do
		n = send(r->log, line, len, MSG_NOSIGNAL);
	while (n == -1 && errno == EINTR);
	return n == (ssize_t)len ? 0 : -1;
}

int64_t
record_now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* A full log gets some time; one that was started anew is another socket. */
static int
put(struct record *r, const char *line, size_t len)
{
	struct pollfd p = {.fd = r->log, .events = POLLOUT};
	int64_t since = record_now();

	if (try(r, line, len) == 0)
		return 0;
	while (errno == EAGAIN && r->waited < RECORD_WAIT_MS) {
		(void)poll(&p, 1, RECORD_WAIT_MS - r->waited);
		r->waited += (int)(record_now() - since) + 1;
		since = record_now();
		if (try(r, line, len) == 0)
			return 0;
	}
	if (errno != EAGAIN && r->kmsg == -1) {
		close(r->log);
		if ((r->log = join()) != -1 && try(r, line, len) == 0)
			return 0;
	}
	return -1;
}

static int
write_record(struct record *r, int severity, const char *text)
{
	char line[RECORD_TEXT_MAX + 128], stamp[32] = "";
	time_t now = time(NULL);
	struct tm tm;
	int n;

	memset(&tm, 0, sizeof(tm));
	(void)gmtime_r(&now, &tm);
	/* daemons take their own clock, and the kernel has one */
	if (r->kmsg == -1)
		(void)strftime(stamp, sizeof(stamp), "%b %e %T ", &tm);
	n = snprintf(line, sizeof(line), "<%d>%scarrel[%ld]: caller=\"%u\" %s",
	    LOG_AUTHPRIV | severity, stamp, (long)getpid(), (unsigned)r->uid,
	    text);
	if (n <= 0 || (size_t)n >= sizeof(line))
		return -1;
	return put(r, line, (size_t)n);
}

static int
printable(const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (s[i] < ' ' || s[i] > '~')
			return 0;
	return 1;
}

void
record_take(struct record *r, const char *s, size_t len)
{
	char text[RECORD_TEXT_MAX + 1];

	if (len < 2 || len > RECORD_TEXT_MAX || s[0] < '0' || s[0] > '7' ||
	    !printable(s, len) || r->written == RECORDS_MAX ||
	    memmem(s, len, OVER, strlen(OVER)) != NULL) {
		r->lost++;
		return;
	}
	memcpy(text, s + 1, len - 1);
	text[len - 1] = '\0';
	r->written++;
	if (write_record(r, s[0] - '0', text) == -1)
		r->lost++;
}

int
record_from(struct record *r, int fd)
{
	char text[RECORD_TEXT_MAX + 1];
	ssize_t n;
	int i;

	if (fd == -1)
		return 0;
	for (i = 0; i < RECORD_ROUND; i++) {
		/* no descriptor is taken: there is no room for one */
		if ((n = recv(fd, text, sizeof(text), MSG_DONTWAIT)) <= 0)
			break;
		record_take(r, text, (size_t)n);
	}
	if (i == RECORD_ROUND)
		return 1;
	return n == -1 && (errno == EAGAIN || errno == EINTR);
}

static unsigned long long
ms(const struct timeval *t)
{
	return (unsigned long long)t->tv_sec * 1000 +
	       (unsigned long long)t->tv_usec / 1000;
}

void
record_end(struct record *r, int status, const struct rusage *u)
{
	char text[512];
	int by = WIFSIGNALED(status);

	snprintf(text, sizeof(text),
	    OVER " %s=\"%d\" user-ms=\"%llu\" system-ms=\"%llu\" "
		 "memory-kib=\"%ld\" records=\"%u\" unwritten=\"%llu\"",
	    by ? "signal" : "exit", by ? WTERMSIG(status) : WEXITSTATUS(status),
	    ms(&u->ru_utime), ms(&u->ru_stime), (long)u->ru_maxrss, r->written,
	    (unsigned long long)r->lost);
	r->waited = 0;
	if (r->kmsg == -1 && write_record(r, INFO, text) == 0)
		return;
	/* opened anew: the kernel lets each through only a few times */
	record_close(r);
	r->kmsg = open(KMSG_PATH, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	(void)write_record(r, INFO, text);
}
