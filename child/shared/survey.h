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
	uint8_t twice;	   /* a file that the caller owns and has hard links */
	uint16_t mode;	   /* permission bits, st_mode & 07777 */
	int err;	   /* errno of the look-up, 0 if it was found */
	uint64_t dev, ino; /* st_dev, st_ino of what was opened */
	uint64_t rdev;	   /* of a device, its number */
	char *real;	   /* canonical path; "" when not found */
	char **links;	   /* each symlink followed: its own canonical path */
	size_t nlinks;	   /* at most LINKS_MAX */
	int fd;		   /* O_PATH, or -1; never sent */
};

/*
 * With an interpreter list (RULE_INTERPRETER) there are rows more: for each
 * file and directory that is to stay executable.
 */
enum exec_kind {
	EXEC_INTERPRETER = 1, /* of the list */
	EXEC_LOADER,	      /* that an interpreter names, as ELF has it */
	EXEC_SYSTEM,	      /* a directory of the loader's: its own files */
	EXEC_OWN,	      /* an interpreter's directory, and all in it */
	EXEC_LIBRARY,	      /* of the list (RULE_LIBRARY), and all in it */
	EXEC_LAST = EXEC_LIBRARY
};

enum exec_fault {
	EXEC_FINE = 0,	 /* the row says whether it is there */
	EXEC_NOWHERE,	 /* no grant holds the guest path */
	EXEC_UNREADABLE, /* so that its loader is not known */
	EXEC_FOREIGN,	 /* a program for another kind of machine */
	EXEC_FAULT_LAST = EXEC_FOREIGN
};

struct survey_exec {
	uint8_t kind, fault;
	uint32_t rule; /* index in the policy: who asked */
	char *guest;   /* as it was named; "" if nobody did */
	struct survey_row row;
};

struct survey {
	struct survey_row *rows;
	size_t n;
	struct survey_exec *exec; /* at most EXEC_MAX */
	size_t nexec;
};

/* All rows empty, fd -1. 0, or -1 with errno. */
int survey_init(struct survey *, size_t n);
/* One more row, empty, with a copy of guest; NULL with errno. */
struct survey_exec *survey_add_exec(
    struct survey *, enum exec_kind, size_t rule, const char *guest);
void survey_free(struct survey *);	   /* closes what is open */
void survey_row_free(struct survey_row *); /* the contents, not the struct */
/* Frees what is in dst, and leaves src empty. */
void survey_row_move(struct survey_row *dst, struct survey_row *src);

/* RECORD_SURVEY: one row. get: into an empty row, 0 or -1. */
void survey_put(struct wbuf *, const struct survey_row *);
int survey_get(struct rcur *, struct survey_row *);
/* RECORD_EXEC: appends one. 0 or -1. */
void survey_exec_put(struct wbuf *, const struct survey_exec *);
int survey_exec_get(struct rcur *, struct survey *);

#endif
