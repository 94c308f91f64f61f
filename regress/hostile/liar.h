#ifndef CARREL_LIAR_H
#define CARREL_LIAR_H

#include <stddef.h>
#include <stdint.h>

#include "child/shared/ceiling.h"
#include "ipc/policy.h"

/* What the files of the liar share. */

#define PEER	3
#define RECORDS 64
#define WORDS	12

struct liar {
	char *word[WORDS]; /* the mode and its arguments; NULL at the end */
	struct policy policy;
	struct ceiling ceiling; /* file: it was asked for, instead */
	struct grant *extra;
	uint8_t *rec[RECORDS]; /* each record with its header */
	size_t len[RECORDS], n;
};

void broken(const char *what) __attribute__((noreturn));
long arg(const struct liar *, int);

/* One datagram; these records, one a datagram, with a pause after each. */
void put(const void *, size_t);
void put_records(const struct liar *, size_t from, size_t to, int pause);

/* A lie of liar_raw.c: 0, or -1 if the mode is none of them. */
int liar_raw(struct liar *);

#endif
