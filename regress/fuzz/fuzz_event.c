#include "child/shared/broker.h"
#include "child/shared/event.h"
#include "judge.h"
#include "wire.h"

/*
 * What the broker and the notifier may say to the monitor: a datagram that is
 * an event, or that the broker is ready.
 */

static void
judge(const struct event *e)
{
	if (strlen(e->action) > EVENT_ACTION_MAX || e->count == 0 ||
	    (e->flags & ~EVENT_FLAGS) != 0)
		broken("event", "out of range");
	if (event_surface(e->surface)[0] == '?')
		broken("event", "of no surface");
}

/* An event has one form. */
static void
again(const int pair[2], const struct event *e, const uint8_t *data, size_t n)
{
	uint8_t back[EVENT_BYTES_MAX];

	if (event_send(pair[1], e) == -1 ||
	    recv(pair[0], back, sizeof(back), 0) != (ssize_t)n ||
	    memcmp(back, data, n) != 0)
		broken("event", "two forms");
}

static void
ready(const uint8_t *data, size_t size)
{
	struct receiver r;
	char why[64];
	int fd = wire_say(data, size);

	if (receiver_init(&r, fd, channel_now() + 1000, record_ready) == -1)
		abort();
	(void)broker_receive_ready(&r, why, sizeof(why));
	receiver_free(&r);
	close(fd);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t buf[EVENT_BYTES_MAX];
	struct event e;
	int pair[2], n, good = 0;

	if (channel_pair(pair) == -1)
		abort();
	if (size > 0 && send(pair[0], data, size, MSG_NOSIGNAL) != -1) {
		n = event_receive(pair[1], &e, buf);
		if (n == 1) {
			good = 1;
			judge(&e);
			again(pair, &e, data, size);
		} else if (n != -1 || errno != EBADMSG) {
			broken("event", strerror(errno));
		}
	}
	close(pair[0]);
	if (event_receive(pair[1], &e, buf) != 0)
		broken("event", "not the end");
	close(pair[1]);
	ready(data, size);
	wire_must(good);
	return 0;
}
