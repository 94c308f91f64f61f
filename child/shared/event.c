#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "event.h"
#include "ipc/buf.h"
#include "ipc/record.h"

_Static_assert(EVENT_RESOURCE_MAX + EVENT_RULE_MAX + EVENT_ACTION_MAX + 64 <
		   EVENT_BYTES_MAX,
    "an event fits its datagram");

static const char *const surfaces[] = {"?", "egress", "exec", "fs", "limit"};

const char *
event_surface(unsigned surface)
{
	return surfaces[surface <= EVENT_LAST ? surface : 0];
}

const char *
event_errno(uint32_t err, char buf[EVENT_ERRNO_LEN])
{
	static const struct {
		int err;
		const char *name;
	} names[] = {{EACCES, "EACCES"}, {EPERM, "EPERM"}, {EROFS, "EROFS"},
	    {ENOENT, "ENOENT"}, {ENOSYS, "ENOSYS"}, {ENOEXEC, "ENOEXEC"},
	    {EAGAIN, "EAGAIN"}, {ENOMEM, "ENOMEM"}, {EFBIG, "EFBIG"},
	    {EMFILE, "EMFILE"}, {ECONNREFUSED, "ECONNREFUSED"},
	    {ECONNRESET, "ECONNRESET"}, {EHOSTUNREACH, "EHOSTUNREACH"},
	    {ENETUNREACH, "ENETUNREACH"}, {EADDRNOTAVAIL, "EADDRNOTAVAIL"},
	    {ETIMEDOUT, "ETIMEDOUT"}, {EAFNOSUPPORT, "EAFNOSUPPORT"}};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (err == (uint32_t)names[i].err)
			return strcpy(buf, names[i].name);
	snprintf(buf, EVENT_ERRNO_LEN, "errno %u", (unsigned)err);
	return buf;
}

int
event_missing(const struct event *e)
{
	return (e->flags & EVENT_NOTE) != 0 && e->surface == EVENT_FS &&
	       e->profile == EVENT_NO_PROFILE && e->err != 0;
}

int
event_used(const struct event *e)
{
	return (e->flags & EVENT_NOTE) != 0 && e->err == 0;
}

static const char *
cut(char *buf, const char *s, size_t max)
{
	if (strlen(s) <= max)
		return s;
	memcpy(buf, s, max - 3);
	strcpy(buf + max - 3, "...");
	return buf;
}

void
event_put(struct wbuf *w, const struct event *e)
{
	char buf[EVENT_RESOURCE_MAX + 1];

	wbuf_u8(w, e->surface);
	wbuf_u8(w, e->flags);
	wbuf_u16(w, e->profile);
	wbuf_u32(w, e->line);
	wbuf_u32(w, e->err);
	wbuf_u32(w, e->count);
	wbuf_str(w, e->action);
	wbuf_str(w, cut(buf, e->resource, EVENT_RESOURCE_MAX));
	wbuf_str(w, cut(buf, e->rule, EVENT_RULE_MAX));
}

/* What is lost has no texts, everything else says what was done to what. */
static int
is_sound(const struct event *e)
{
	int lost = (e->flags & EVENT_LOST) != 0;

	if (e->surface < EVENT_EGRESS || e->surface > EVENT_LAST ||
	    (e->flags & ~EVENT_FLAGS) != 0 || e->count == 0)
		return 0;
	if (e->action[strspn(e->action, "abcdefghijklmnopqrstuvwxyz-")] != '\0')
		return 0;
	if (e->profile == EVENT_NO_PROFILE &&
	    ((e->rule[0] != '\0' && !event_missing(e)) || e->line != 0))
		return 0;
	if ((e->flags & EVENT_NOTE) != 0 && lost)
		return 0;
	return lost == (e->action[0] == '\0') &&
	       (!lost || (e->resource[0] == '\0' && e->rule[0] == '\0'));
}

int
event_get(struct rcur *c, struct event *e)
{
	e->surface = rcur_u8(c);
	e->flags = rcur_u8(c);
	e->profile = rcur_u16(c);
	e->line = rcur_u32(c);
	e->err = rcur_u32(c);
	e->count = rcur_u32(c);
	e->action = rcur_str(c, EVENT_ACTION_MAX);
	e->resource = rcur_str(c, EVENT_RESOURCE_MAX);
	e->rule = rcur_str(c, EVENT_RULE_MAX);
	return rcur_end(c) == 0 && is_sound(e) ? 0 : -1;
}

int
event_send(int fd, const struct event *e)
{
	uint8_t data[EVENT_BYTES_MAX];
	struct wbuf w;
	uint32_t n;
	ssize_t sent;

	wbuf_init(&w, data, sizeof(data));
	wbuf_u16(&w, RECORD_EVENT);
	wbuf_u32(&w, 0);
	event_put(&w, e);
	if (w.bad) {
		errno = EMSGSIZE;
		return -1;
	}
	n = (uint32_t)(w.len - RECORD_HEADER);
	memcpy(data + sizeof(uint16_t), &n, sizeof(n));
	do
		sent = send(fd, data, w.len, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (sent == -1 && errno == EINTR);
	return sent == (ssize_t)w.len ? 0 : -1;
}

int
event_receive(int fd, struct event *e, uint8_t buf[EVENT_BYTES_MAX])
{
	struct iovec iov = {.iov_base = buf, .iov_len = EVENT_BYTES_MAX};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	struct rcur c;
	ssize_t n;

	/* ECONNRESET: it closed without reading, and says so once, unix(7) */
	do
		n = recvmsg(fd, &m, MSG_DONTWAIT);
	while (n == -1 && (errno == EINTR || errno == ECONNRESET));
	if (n <= 0)
		return (int)n;
	rcur_init(&c, buf, (size_t)n);
	if ((m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 ||
	    rcur_u16(&c) != RECORD_EVENT ||
	    rcur_u32(&c) != (size_t)n - RECORD_HEADER ||
	    event_get(&c, e) == -1) {
		errno = EBADMSG;
		return -1;
	}
	return 1;
}
