#ifndef CARREL_SCREEN_OUT_H
#define CARREL_SCREEN_OUT_H

#include <stddef.h>
#include <stdio.h>

/*
 * Text for a person, rendered into memory. Whatever comes from a file, a
 * path or a variable is handed over raw and becomes one line of harmless
 * UTF-8 here, before its columns are counted: nothing else writes.
 * Memory that cannot be had is fatal.
 */

/* A piece of a line, escaped while it grows. Start with all zero. */
struct cell {
	char *s; /* NULL while it is empty */
	size_t len, cap;
	int blank; /* it ends in one, which a value could continue */
};

void cell_add(struct cell *, const char *raw);
void cell_addf(struct cell *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* What is escaped already. */
void cell_harmless(struct cell *, const char *);
/* In double quotes if a reader could not tell where it ends. */
void cell_quote(struct cell *, const char *raw);
/* A value that is no list, as it is; blanks at its ends are made visible. */
void cell_scalar(struct cell *, const char *raw);
void cell_size(struct cell *, unsigned long long bytes); /* "64 MiB" */
void cell_free(struct cell *);

struct page;

struct out {
	FILE *f; /* open_memstream(3) */
	char *text;
	size_t len;
	unsigned width; /* columns, at which lines are broken */
	unsigned col;	/* where the cursor is */
	int colour;
	struct page *page; /* not NULL: rows go there, and no text is made */
};

/* A width that is not known (0) is 80. */
void out_open(struct out *, unsigned width, int colour);
/* The text is complete in text, len; to be freed with out_free(). */
void out_close(struct out *);
void out_free(struct out *);
/* To standard output, all of it; else the program ends. */
void out_write(const char *, size_t);

/* A heading, and what stands behind it (or ""). */
void out_block(struct out *, const char *title, const char *raw);
/*
 * A row: tag, left, and at the right who asked for it and a mark such as
 * "<- covers credentials" (or ""). The cells are empty afterwards.
 */
void out_row(struct out *, const char *tag, struct cell *left,
    struct cell *right, const char *mark);
/* The same with a mark that has values in it. */
void out_row_marked(struct out *, const char *tag, struct cell *left,
    struct cell *right, struct cell *mark);
/* A value of the next row by itself; of a page only. key: carrel's own. */
void out_fact(struct out *, const char *key, const char *raw);
/* A line moved in by this many steps, of a tree; the cell is empty then. */
void out_branch(struct out *, unsigned depth, struct cell *);
/* One more line below a row, or a sentence; the cell is empty afterwards. */
void out_note(struct out *, struct cell *);
/* A whole line that begins with a word of two or three letters. */
void out_verdict(struct out *, const char *word, struct cell *, int good);

#endif
