#ifndef CARREL_SEEN_H
#define CARREL_SEEN_H

#include <stddef.h>
#include <stdint.h>

#include "child/shared/event.h"
#include "ipc/limits.h"

/* The different events of a run, each with how often it was seen. */

struct seen {
	struct event e; /* its texts are copies */
	uint32_t hash;
	uint64_t times, told; /* told: of which were told one by one */
};

struct seen_list {
	struct seen list[EVENTS_MAX];
	size_t n;
	uint64_t times; /* of all, the lost ones too */
	uint64_t lost;	/* that could not be described or kept */
};

/* Counts it. The row, or NULL if it is lost. */
struct seen *seen_add(struct seen_list *, const struct event *);
void seen_free(struct seen_list *); /* the contents */

#endif
