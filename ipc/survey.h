#ifndef CARREL_SURVEY_H
#define CARREL_SURVEY_H

#include <stddef.h>
#include <stdint.h>

struct rcur;
struct wbuf;

/*
 * What the caller's own eyes found at the source of each grant of a policy:
 * row i belongs to grant i. Rows of grants without a source are empty.
 */

enum survey_type {
	SURVEY_NONE = 0, /* no source, or absent (then err says why) */
	SURVEY_DIR,
	SURVEY_FILE,
	SURVEY_SOCKET,
	SURVEY_FIFO,
	SURVEY_DEVICE, /* of characters */
	SURVEY_BLOCK,
	SURVEY_LAST = SURVEY_BLOCK
};

struct survey_row {
	uint8_t type;
	/*
	 * Of a GRANT_OWN that is absent: nobody with the caller's credentials
	 * could make it.
	 */
	uint8_t shut;
	uint16_t mode;	   /* permission bits, st_mode & 07777 */
	int err;	   /* errno of the look-up, 0 if it was found */
	uint64_t dev, ino; /* st_dev, st_ino of what was opened */
	uint64_t rdev;	   /* of a device, its number */
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
/* Frees what is in dst, and leaves src empty. */
void survey_row_move(struct survey_row *dst, struct survey_row *src);

/* RECORD_SURVEY: one row. get: into an empty row, 0 or -1. */
void survey_put(struct wbuf *, const struct survey_row *);
int survey_get(struct rcur *, struct survey_row *);

#endif
