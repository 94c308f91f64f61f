#ifndef CARREL_GROW_H
#define CARREL_GROW_H

#include <stddef.h>
#include <stdlib.h>

/*
 * Room for one more item in an array of n: arrays grow when their length is a
 * power of two. As realloc(3): NULL with errno, and p is still there.
 */
static inline void *
grow(void *p, size_t n, size_t size)
{
	if (n != 0 && (n & (n - 1)) != 0)
		return p;
	return realloc(p, (n == 0 ? 1 : n * 2) * size);
}

#endif
