#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "audit.h"
#include "ipc/channel.h"
#include "ipc/text.h"

#define LOG_PATH     "/dev/log"
#define LOG_AUTHPRIV (10 << 3) /* syslog(3) */

static int
join(struct audit *a)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX, .sun_path = LOG_PATH};
	int err;

	a->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (a->fd == -1)
		return -1;
	if (connect(a->fd, (struct sockaddr *)&to, sizeof(to)) == 0)
		return 0;
	err = errno;
	close(a->fd);
	a->fd = -1;
	errno = err;
	return -1;
}

int
audit_open(struct audit *a, int recorder)
{
	memset(a, 0, sizeof(*a));
	a->recorder = recorder != -1;
	a->fd = recorder;
	a->there = a->recorder || join(a) == 0;
	return a->there ? 0 : -1;
}

void
audit_close(struct audit *a)
{
	if (a->fd != -1)
		close(a->fd);
	a->fd = -1;
	a->there = 0;
}

/* Never too long: what is put together here is carrel's own, and bounded. */
static void
put(struct audit_line *l, const char *s)
{
	size_t n = strlen(s);

	if (n >= sizeof(l->text) - l->len)
		return;
	memcpy(l->text + l->len, s, n + 1);
	l->len += n;
}

void
audit_begin(struct audit_line *l, enum audit_severity sev, const char *event)
{
	char head[64];
	time_t now = time(NULL);
	struct tm tm;

	l->len = 0;
	l->severity = sev;
	memset(&tm, 0, sizeof(tm));
	(void)gmtime_r(&now, &tm);
	snprintf(head, sizeof(head), "<%d>", LOG_AUTHPRIV | (int)sev);
	put(l, head);
	/* daemons take their own clock; English names, whatever the locale */
	if (strftime(head, sizeof(head), "%b %e %T ", &tm) > 0)
		put(l, head);
	snprintf(head, sizeof(head), "carrel[%ld]: ", (long)getpid());
	put(l, head);
	l->event = l->len;
	snprintf(head, sizeof(head), "event=\"%s\"", event);
	put(l, head);
}

/* The value is escaped. One that there is no room for is left out, whole. */
static void
pair(struct audit_line *l, const char *key, const char *value)
{
	if (strlen(key) + strlen(value) + 5 > sizeof(l->text) - l->len)
		return;
	put(l, " ");
	put(l, key);
	put(l, "=\"");
	put(l, value);
	put(l, "\"");
}

void
audit_text(struct audit_line *l, const char *key, const char *raw)
{
	char safe[AUDIT_VALUE_MAX];

	pair(l, key, text_quote(safe, sizeof(safe), raw, "\""));
}

void
audit_number(struct audit_line *l, const char *key, uint64_t n)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRIu64, n);
	pair(l, key, digits);
}

void
audit_words(struct audit_line *l, const char *key, char *const *words)
{
	char safe[AUDIT_VALUE_MAX] = "", word[AUDIT_VALUE_MAX / 2];
	size_t i;

	for (i = 0; words != NULL && words[i] != NULL; i++) {
		text_quote(word, sizeof(word), words[i], " \"'");
		if (text_add(safe, sizeof(safe) - 4, "%s%s", i > 0 ? " " : "",
			words[i][0] == '\0' ? "''" : word) == -1) {
			strcat(safe, " ...");
			break;
		}
	}
	pair(l, key, safe);
}

static int
try(const struct audit *a, const struct audit_line *l)
{
	char severity = (char)('0' + (int)l->severity);
	struct iovec io[] = {{.iov_base = &severity, .iov_len = 1},
	    {.iov_base = (char *)(uintptr_t)l->text, .iov_len = l->len}};
	struct msghdr m = {.msg_iov = &io[1], .msg_iovlen = 1};
	ssize_t n;

	/* the recorder makes a head of its own */
	if (a->recorder) {
		m.msg_iov = io;
		m.msg_iovlen = 2;
		io[1].iov_base = (char *)io[1].iov_base + l->event;
		io[1].iov_len -= l->event;
	}
	do
		n = sendmsg(a->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n == -1 && errno == EINTR);
	return n == -1 ? -1 : 0; /* a datagram goes whole or not at all */
}

/* A daemon that was started anew has another socket. */
static int
again(struct audit *a, const struct audit_line *l)
{
	if (a->recorder)
		return -1;
	if (a->fd != -1)
		close(a->fd);
	return join(a) == -1 ? -1 : try(a, l);
}

int
audit_send(struct audit *a, const struct audit_line *l, int wait)
{
	struct pollfd p = {.events = POLLOUT};
	int64_t by = channel_now() + wait;
	int n = -1;

	if (!a->there)
		return 0;
	if (a->fd != -1 && (n = try(a, l)) == -1 && errno == EAGAIN) {
		p.fd = a->fd;
		while (n == -1 && errno == EAGAIN && channel_left(by) > 0) {
			(void)poll(&p, 1, channel_left(by));
			n = try(a, l);
		}
		a->waited += wait - channel_left(by);
	} else if (n == -1)
		n = again(a, l);
	if (n == 0)
		return 0;
	a->err = errno;
	a->lost++;
	return -1;
}
