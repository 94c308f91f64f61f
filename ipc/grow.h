#ifndef CARREL_GROW_H
#define CARREL_GROW_H

#include <stddef.h>
#include <stdlib.h>

/*
 * Room for one more item in an array of n: there is room for first items (a
 * power of two) at once, and arrays grow when their length is a power of two.
 * As realloc(3): NULL with errno, and p is still there.
 */
static inline void *
grow_from(size_t first, void *p, size_t n, size_t size)
{
	if (n != 0 && (n < first || (n & (n - 1)) != 0))
		return p;
	return realloc(p, (n == 0 ? first : n * 2) * size);
}

/* The same for what rarely has more than one item, or is there very often. */
static inline void *
grow(void *p, size_t n, size_t size)
{
	return grow_from(1, p, n, size);
}

#endif
