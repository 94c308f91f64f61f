#ifndef BROKER_PIPES_H
#define BROKER_PIPES_H

#include <stddef.h>

/*
 * Pipes for splice(2), lent while bytes are in them. Beyond 64 MiB of pipes
 * the kernel gives a user only small ones (pipe(7)), so the large are few and
 * kept; what is lent beyond them is small and closed when it comes back.
 */

#define PIPES_LARGE 64
#define PIPE_BYTES  (256 * 1024)
#define PIPE_SMALL  (16 * 1024)

struct pipes {
	int (*kept)[2]; /* PIPES_LARGE of them */
	size_t nkept;
	size_t nlarge; /* kept or lent */
};

struct lent {
	int fd[2]; /* -1: none */
	int large;
};

int pipes_init(struct pipes *);		       /* 0 or -1 */
int pipes_lend(struct pipes *, struct lent *); /* 0, or -1 with errno */
/* It must be empty, or is_empty be 0. */
void pipes_take_back(struct pipes *, struct lent *, int is_empty);

#endif
