#ifndef CARREL_BUF_H
#define CARREL_BUF_H

#include <stddef.h>
#include <stdint.h>

/*
 * Fields of a record, written and read in host byte order: both ends are
 * programs of one installation on one machine. A string is a 16-bit length,
 * its bytes and a NUL that the length does not count.
 */

/* Writes into memory that the caller owns; the first overflow is remembered. */
struct wbuf {
	uint8_t *data;
	size_t len, cap;
	int bad; /* something did not fit: the record must not be sent */
};

void wbuf_init(struct wbuf *, void *, size_t);
void wbuf_u8(struct wbuf *, uint8_t);
void wbuf_u16(struct wbuf *, uint16_t);
void wbuf_u32(struct wbuf *, uint32_t);
void wbuf_u64(struct wbuf *, uint64_t);
void wbuf_str(struct wbuf *, const char *); /* NULL is written as "" */

/*
 * A cursor over bytes that somebody else chose. No getter reads outside; the
 * first fault is remembered and every later getter returns 0 or "". Call
 * rcur_end() last: it returns 0 only if nothing was wrong and nothing is left.
 */
struct rcur {
	const uint8_t *p, *end;
	int bad;
};

void rcur_init(struct rcur *, const void *, size_t);
uint8_t rcur_u8(struct rcur *);
uint16_t rcur_u16(struct rcur *);
uint32_t rcur_u32(struct rcur *);
uint64_t rcur_u64(struct rcur *);
/* At most max bytes, none of them NUL; points into the cursor's memory. */
const char *rcur_str(struct rcur *, size_t max);
int rcur_end(const struct rcur *);

#endif
