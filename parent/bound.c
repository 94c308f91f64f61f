#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "bound.h"
#include "control.h"
#include "ipc/channel.h"
#include "ipc/log.h"

#define BEHIND 2 /* seconds that pid 1 is given to be first */

void
bound_init(struct bounds *b)
{
	memset(b, 0, sizeof(*b));
	b->wall_by = -1;
}

int
bound_hear(struct bounds *b, const struct control *c)
{
	if (c->a < LIMIT_MEMORY || c->a > LIMIT_LAST || c->b < 0 ||
	    c->b > (int)LIMIT_SECONDS_MAX || b->told[c->a] != NULL)
		return -1;
	if ((b->told[c->a] = strdup(c->text)) == NULL)
		return -1;
	b->seconds[c->a] = c->b;
	if (c->a == LIMIT_WALL_TIME)
		b->wall_by = channel_now() + (int64_t)(c->b + BEHIND) * 1000;
	return 0;
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
	if (signal == SIGXCPU)
		return LIMIT_CPU_TIME;
	if (signal == SIGKILL && b->told[LIMIT_CPU_TIME] != NULL &&
	    seconds >= b->seconds[LIMIT_CPU_TIME])
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
}
