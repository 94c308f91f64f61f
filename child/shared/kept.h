#ifndef CARREL_KEPT_H
#define CARREL_KEPT_H

#include <stddef.h>
#include <stdint.h>

#include "event.h"

/*
 * What is kept of violations in the user's state directory (S76): a file for
 * a run that had any, and one for each version of a profile that is flagged,
 * which is the same with that profile alone and no events. The monitor writes
 * them, carrel-screen reads them; a file is a row of records, by a table, and
 * what is no such thing is told and left alone. Texts are raw.
 */

#define KEPT_VERSION 1
#define KEPT_RUN_HEX 32

struct kept_profile {
	const char *name, *file, *digest;
	uint8_t layer;	/* enum layer */
	uint32_t times; /* violations that it is charged with */
};

struct kept {
	const char *run; /* hex */
	uint64_t time;	 /* ms since the Epoch */
	const char *command;
	struct kept_profile *profiles; /* as the run's policy had them */
	size_t nprofiles;
	struct event *events; /* count: of all that were the same */
	size_t nevents;
	uint64_t violations, lost;
	uint32_t code;
};

/* Writes all of it; texts that are too long are cut. 0, or -1 with errno. */
int kept_write(int fd, const struct kept *);

/*
 * 0 and a struct to be freed, whose texts point into the data; or -1: it is
 * torn, of another version or none at all.
 */
int kept_read(const void *data, size_t len, struct kept *);
void kept_free(struct kept *);

#endif
