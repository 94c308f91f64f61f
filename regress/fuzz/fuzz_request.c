#include "child/shared/request.h"
#include "judge.h"
#include "wire.h"

/* What carrel-parse is asked. */

static int
say(struct sender *s)
{
	static char dir[] = "/p", name[] = "@sys";
	static char *names[] = {name, dir + 1};
	struct request q = {.shipped = dir,
	    .host = dir,
	    .user = dir,
	    .host_config = dir,
	    .user_config = dir,
	    .select = names,
	    .nselect = 2};
	struct caller_group g = {.gid = 1000, .name = name};
	int n;

	judge_caller(&q.caller);
	q.caller.groups = &g;
	q.caller.ngroups = 1;
	n = request_send(s, &q);
	q.caller.groups = NULL;
	q.caller.ngroups = 0;
	caller_free(&q.caller);
	return n;
}

size_t
LLVMFuzzerCustomMutator(
    uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	static uint8_t good[4096];
	static size_t n;

	if (n == 0)
		n = wire_hear(say, good, sizeof(good));
	return wire_mutate(data, size, max_size, seed, good, n);
}

static void
decode(unsigned type, struct rcur *c, void *arg)
{
	struct caller *caller = arg;

	if (type == RECORD_CALLER && caller_get(c, caller) == 0)
		caller_free(caller);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct request q;
	struct receiver r;
	int accepted = 0, fd = wire_say(data, size);

	if (receiver_init(&r, fd, channel_deadline(1), record_request) == -1)
		abort();
	if (request_receive(&r, &q) == 0) {
		accepted = 1;
		if (q.nselect > SELECT_MAX ||
		    (q.flags & ~(uint32_t)REQUEST_FLAGS) != 0 ||
		    (q.caller.flags & ~(uint32_t)CALLER_FLAGS) != 0 ||
		    q.caller.ngroups > GROUPS_MAX_LEN)
			broken("request", "out of range");
		if (is_dirty(q.caller.home) || is_dirty(q.caller.home_real) ||
		    (q.caller.home_other[0] != '\0' &&
			is_dirty(q.caller.home_other)) ||
		    is_dirty(q.caller.guest_home) || is_dirty(q.caller.cwd) ||
		    (q.caller.target[0] != '\0' && is_dirty(q.caller.target)))
			broken("request", "path");
		request_free(&q);
	}
	receiver_free(&r);
	close(fd);
	wire_must(accepted);
	wire_each(data, size, decode, &q.caller);
	return 0;
}
