#include "child/shared/login.h"
#include "ipc/check.h"
#include "judge.h"
#include "wire.h"

/* What carrel-parse may say of login.conf. */

static int
say(struct sender *s)
{
	static char sh[] = "/bin/sh", none[] = "", a[] = "a", b[] = "@sys";
	char *names[] = {a, b};
	const struct login l = {2, sh, none, none, names, 2};

	return login_send(s, &l);
}

size_t
LLVMFuzzerCustomMutator(
    uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	static uint8_t buf[4096];
	static size_t n;

	if (n == 0)
		n = wire_hear(say, buf, sizeof(buf));
	return wire_mutate(data, size, max_size, seed, buf, n);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct receiver r;
	struct login l;
	int fd = wire_say(data, size), accepted = 0;
	size_t i;

	if (receiver_init(&r, fd, channel_deadline(1), record_login) == -1)
		abort();
	if (login_receive(&r, &l) == 0) {
		if ((l.nprofiles > 0) != (l.what[0] == '\0') ||
		    (l.nprofiles > 0 && !path_clean(l.shell)))
			broken("login", "neither an answer nor a reason");
		for (i = 0; i < l.nprofiles; i++)
			if (!check_name(l.profiles[i]))
				broken("login", l.profiles[i]);
		login_free(&l);
		accepted = 1;
	}
	receiver_free(&r);
	close(fd);
	wire_must(accepted);
	return 0;
}
