#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/*
 * The packaged libevent_core.a expects glibc. Only the musl build links this
 * file, which holds what musl lacks: the checked variants of FORTIFY_SOURCE,
 * each with its check, and the random numbers of an evutil that nobody calls.
 */

void *__memcpy_chk(void *, const void *, size_t, size_t);
int __fprintf_chk(FILE *, int, const char *, ...);
int __vsnprintf_chk(char *, size_t, int, size_t, const char *, va_list);
long __fdelt_chk(long);
uint32_t arc4random(void);
void arc4random_buf(void *, size_t);

void *
__memcpy_chk(void *to, const void *from, size_t n, size_t room)
{
	if (n > room)
		abort();
	return memcpy(to, from, n);
}

int
__fprintf_chk(FILE *f, int flag, const char *fmt, ...)
{
	va_list ap;
	int n;

	(void)flag;
	va_start(ap, fmt);
	n = vfprintf(f, fmt, ap);
	va_end(ap);
	return n;
}

int
__vsnprintf_chk(
    char *buf, size_t len, int flag, size_t room, const char *fmt, va_list ap)
{
	(void)flag;
	if (len > room)
		abort();
	return vsnprintf(buf, len, fmt, ap);
}

/* The word of an fd_set: for select(2), which is not used. */
long
__fdelt_chk(long fd)
{
	if (fd < 0 || fd >= 1024)
		abort();
	return fd / (8 * (long)sizeof(long));
}

void
arc4random_buf(void *buf, size_t len)
{
	if (getrandom(buf, len, 0) != (ssize_t)len)
		abort();
}

uint32_t
arc4random(void)
{
	uint32_t n;

	arc4random_buf(&n, sizeof(n));
	return n;
}
