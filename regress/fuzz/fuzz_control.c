#include "child/setup/control.h"
#include "child/setup/places.h"
#include "judge.h"
#include "wire.h"

/* One message between monitor and set-up, from either. */

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct control m;
	static struct places places;
	uint8_t back[2 * TEXT_MAX_LEN];
	int pair[2];

	if (channel_pair(pair) == -1)
		abort();
	if (size > 0 && send(pair[0], data, size, MSG_NOSIGNAL) != -1) {
		if (control_receive(pair[1], &m) == 1) {
			if (m.type < CONTROL_GO || m.type > CONTROL_LAST ||
			    strlen(m.text) > TEXT_MAX_LEN)
				broken("control", "out of range");
			if (m.type == CONTROL_PLACE)
				(void)places_hear(&places, &m);
			places_free(&places);
			/* one message has one form */
			if (control_send(pair[1], m.type, m.a, m.b, m.text) ==
				-1 ||
			    recv(pair[0], back, sizeof(back), 0) !=
				(ssize_t)size ||
			    memcmp(back, data, size) != 0)
				broken("control", "two forms of a message");
		} else if (errno != EBADMSG) {
			broken("control", strerror(errno));
		}
	}
	close(pair[0]);
	if (control_receive(pair[1], &m) != 0)
		broken("control", "not the end");
	close(pair[1]);
	return 0;
}
