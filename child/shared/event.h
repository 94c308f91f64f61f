#ifndef CARREL_EVENT_H
#define CARREL_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include "ipc/limits.h"

struct rcur;
struct wbuf;

/*
 * A violation: the payload tried what no profile grants, and got an ordinary
 * error (S75). Whoever sees one (the broker, the loop that answers the exec
 * lock, the observer of the network) hands it to the monitor, which counts it
 * and tells the outside (child/monitor/events.h). Which run it was is not said:
 * one sender belongs to one run, and the monitor knows which.
 */

enum event_surface {
	EVENT_EGRESS = 1,
	EVENT_EXEC,
	EVENT_FS,
	EVENT_LIMIT,
	EVENT_LAST = EVENT_LIMIT
};

#define EVENT_LOST  0x01 /* count events could not be described; no texts */
#define EVENT_NOTE  0x02 /* no violation; err: what is allowed did not work */
#define EVENT_FLAGS 0x03

#define EVENT_NO_PROFILE UINT16_MAX

/*
 * Texts are raw, as long as they want, and the caller's: what is too long is
 * cut when it is sent, and the sink copies what it keeps.
 */
struct event {
	uint8_t surface, flags;
	/* whose rule refused, as an index in the policy; or none, nothing */
	uint16_t profile; /* matched: EVENT_NO_PROFILE, line 0, rule "" */
	uint32_t line;
	uint32_t err;	      /* errno that the payload got; 0: none */
	uint32_t count;	      /* how often, at least 1 */
	const char *action;   /* EVENT_ACTION_MAX of a-z and "-": "connect" */
	const char *resource; /* "tcp 192.0.2.1:443", "/bin/sh" */
	const char *rule;     /* as in a profile: "interpreter = /bin/x" */
};

/* "egress", "exec", "fs", "limit"; "?" for what is none. */
const char *event_surface(unsigned surface);

/* "EACCES" for one that is usual here, else "errno 99". Returns buf. */
#define EVENT_ERRNO_LEN 24
const char *event_errno(uint32_t err, char buf[EVENT_ERRNO_LEN]);

/*
 * 1 for what carrel learn alone is told of: a file that is not there inside,
 * and is on the host. It is no violation, and rule is the name of the process.
 */
int event_missing(const struct event *);
/* 1 for what --uses alone is told of: a note without an error. */
int event_used(const struct event *);

/* RECORD_EVENT. get: texts point into the cursor's memory. 0 or -1. */
void event_put(struct wbuf *, const struct event *);
int event_get(struct rcur *, struct event *);

/*
 * One event, one datagram of a channel_pair(). Neither waits. send: 0, or -1
 * with errno (EAGAIN: no room; the sender counts it and says EVENT_LOST when
 * there is room again). receive: 1 and an event whose texts are in buf; 0 when
 * the other end is gone; -1 with errno (EAGAIN: none now; EBADMSG: no event,
 * the sender is not to be believed any more). A descriptor that is sent along
 * is never installed.
 */
int event_send(int fd, const struct event *);
int event_receive(int fd, struct event *, uint8_t buf[EVENT_BYTES_MAX]);

#endif
