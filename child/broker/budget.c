#include "budget.h"

int
budget_take(struct budget *b, int64_t now)
{
	int64_t *oldest = &b->at[b->used % BUDGET_PER_SECOND];

	if (b->used == BUDGET_PER_RUN ||
	    (b->used >= BUDGET_PER_SECOND && now - *oldest < 1000))
		return -1;
	*oldest = now;
	b->used++;
	return 0;
}
