#ifndef CARREL_SCREEN_PAGE_H
#define CARREL_SCREEN_PAGE_H

#include <stddef.h>

struct cell;
struct json;

/*
 * What a screen says, as rows and not as text: for --json and --diff, so that
 * they say the same as the text because the same code drew them. All strings
 * but the values of facts are escaped already, as cells are.
 */

enum page_kind {
	PAGE_BLOCK = 1, /* tag: the title, left: what stands behind it */
	PAGE_ROW,
	PAGE_NOTE /* left: a line below the row before it */
};

#define PAGE_FACTS 4

struct page_fact {
	const char *key; /* carrel's own, not freed */
	char *value;	 /* raw */
};

struct page_row {
	enum page_kind kind;
	char *tag, *left, *right, *mark;
	struct page_fact facts[PAGE_FACTS];
	size_t nfacts;
};

struct page {
	struct page_row *rows;
	size_t n;
	struct page_fact next[PAGE_FACTS]; /* of the next row */
	size_t nnext;
};

/* Memory that cannot be had is fatal. NULL cells are "". */
void page_add(struct page *, enum page_kind, const struct cell *tag,
    const struct cell *left, const struct cell *right, const struct cell *mark);
/* A value of the next row by itself, for a program. At most PAGE_FACTS. */
void page_fact(struct page *, const char *key, const char *raw);
void page_free(struct page *);

/* The array of blocks. */
void page_json(struct json *, const struct page *);
/* More bytes than that needs. */
size_t page_json_room(const struct page *);

#endif
