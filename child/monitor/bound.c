#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "bound.h"
#include "child/setup/control.h"
#include "child/shared/cgroup.h"
#include "ipc/channel.h"
#include "ipc/log.h"

void
bound_init(struct bounds *b)
{
	memset(b, 0, sizeof(*b));
	b->wall_by = -1;
	cgroup_init(&b->group);
}

void
bound_free(struct bounds *b)
{
	int what;

	for (what = LIMIT_MEMORY; what <= LIMIT_LAST; what++)
		free(b->told[what]);
	bound_init(b);
}

int
bound_hear(struct bounds *b, const struct control *c)
{
	uint64_t min, max, n;
	char *who;

	if (c->a < LIMIT_MEMORY || c->a > LIMIT_LAST || b->told[c->a] != NULL)
		return -1;
	n = strtoull(c->text, &who, 10);
	rule_range((unsigned)c->a, &min, &max);
	if (*who != ' ' || n < min || n > max)
		return -1;
	if ((b->told[c->a] = strdup(who + 1)) == NULL)
		return -1;
	b->value[c->a] = n;
	if (c->a == LIMIT_WALL_TIME)
		b->wall_by = channel_now() + (int64_t)n + BOUND_BEHIND;
	return 0;
}

int
bound_group(struct bounds *b, int limits, pid_t pid)
{
	char why[TEXT_MAX_LEN];
	unsigned bits = (unsigned)limits;
	int what;

	for (what = LIMIT_MEMORY; what <= LIMIT_LAST; what++)
		if ((bits & CGROUP_BIT(what)) && b->told[what] == NULL)
			bits = 0;
	if (bits == 0 || (bits & ~CGROUP_ALL) != 0 || b->group.dir != -1) {
		log_warn(
		    "unexpected limits %d from inside; the run ends", limits);
		return -1;
	}
	if (cgroup_make(&b->group, bits, b->value, pid, why, sizeof(why)) == 0)
		return 0;
	what = (int)b->group.lacks;
	while (what == 0 || !(bits & CGROUP_BIT(what)))
		what++;
	log_warn("%s: cannot be enforced here: %s", b->told[what], why);
	return -1;
}

void
bound_leave(struct bounds *b)
{
	b->killed = cgroup_killed(&b->group);
	cgroup_leave(&b->group);
}

void
bound_over(const struct bounds *b)
{
	const char *told = b->told[LIMIT_WALL_TIME];

	log_warn("the wall time is over, and the run ended: %s",
	    told != NULL ? told : "?");
}

/* The limit that ends a process like that; 0: none. */
static int
limit_of(const struct bounds *b, int signal, int seconds)
{
	if (signal == SIGXFSZ)
		return LIMIT_FILE_SIZE;
	/* a payload can send it to itself; whole seconds are what is known */
	if (signal == SIGXCPU &&
	    (uint64_t)seconds + 1 >= b->value[LIMIT_CPU_TIME])
		return LIMIT_CPU_TIME;
	if (signal == SIGKILL && b->killed > 0)
		return LIMIT_MEMORY;
	if (signal == SIGKILL && b->told[LIMIT_CPU_TIME] != NULL &&
	    (uint64_t)seconds >= b->value[LIMIT_CPU_TIME])
		return LIMIT_CPU_TIME;
	return 0;
}

void
bound_ended(const struct bounds *b, int signal, int seconds)
{
	int limit = limit_of(b, signal, seconds);

	if (limit != 0 && b->told[limit] != NULL)
		log_warn("a limit ended the payload (signal %d): %s", signal,
		    b->told[limit]);
	else if (b->killed > 0 && b->told[LIMIT_MEMORY] != NULL)
		log_warn("a limit ended %u of the payload's processes (signal "
			 "%d): %s",
		    b->killed, SIGKILL, b->told[LIMIT_MEMORY]);
}
