#ifndef CARREL_PLACES_H
#define CARREL_PLACES_H

#include <stddef.h>
#include <stdint.h>

struct control;
struct policy;
struct plan;

/*
 * Where inside which grant holds: for a report of what was refused there.
 * The set-up tells it the monitor, where a profile asks for such reports.
 */

struct place {
	char *guest;
	uint8_t verb;	  /* enum verb; 0: a read grant of carrel's own */
	uint8_t writes;	  /* what is refused there carrel did not refuse */
	uint16_t profile; /* the first who asked, or EVENT_NO_PROFILE */
	uint32_t line;
};

struct places {
	struct place *list; /* by path_cmp() of guest */
	size_t n;
};

/* Of the set-up: each grant that is there. 0, or -1 with errno. */
int places_tell(int control, const struct policy *, const struct plan *);
/*
 * CONTROL_PLACE: a: the profile, and above its 16 bits the verb and above its
 * 8 bits writes; b: the line; text: guest. 0, or -1: that is none, or is not
 * in order.
 */
int places_hear(struct places *, const struct control *);
void places_free(struct places *); /* the contents */

/* The deepest at or above this clean path; NULL if there is none. Pure. */
const struct place *places_at(const struct places *, const char *path);

#endif
