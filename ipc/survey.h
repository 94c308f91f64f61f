#ifndef CARREL_SURVEY_H
#define CARREL_SURVEY_H

#include <stddef.h>
#include <stdint.h>

struct rcur;
struct wbuf;

/*
 * What the caller's own eyes found at the source of each grant of a policy:
 * row i belongs to grant i. Rows of grants that are no binds are empty.
 */

enum survey_type {
	SURVEY_NONE = 0, /* no bind, or absent (then err says why) */
	SURVEY_DIR,
	SURVEY_FILE,
	SURVEY_SOCKET,
	SURVEY_FIFO,
	SURVEY_DEVICE,
	SURVEY_LAST = SURVEY_DEVICE
};

struct survey_row {
	uint8_t type;
	int err;	   /* errno of the look-up, 0 if it was found */
	uint64_t dev, ino; /* st_dev, st_ino of what was opened */
	char *real;	   /* canonical path; "" when not found */
	char **links;	   /* each symlink followed: its own canonical path */
	size_t nlinks;	   /* at most LINKS_MAX */
	int fd;		   /* O_PATH, or -1; never sent */
};

struct survey {
	struct survey_row *rows;
	size_t n;
};

/* All rows empty, fd -1. 0, or -1 with errno. */
int survey_init(struct survey *, size_t n);
void survey_free(struct survey *); /* closes what is open */

/* RECORD_SURVEY: one row. get: into an empty row, 0 or -1. */
void survey_put(struct wbuf *, const struct survey_row *);
int survey_get(struct rcur *, struct survey_row *);

#endif
