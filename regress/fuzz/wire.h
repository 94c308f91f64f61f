#ifndef CARREL_FUZZ_WIRE_H
#define CARREL_FUZZ_WIRE_H

/*
 * Streams of records for the fuzzer. An input is a byte that says how the
 * rest is cut into datagrams, and the records as they stand on the wire. The
 * mutator takes the framing apart, changes a record, and frames it again: most
 * of what it makes gets past the receiver and is decoded.
 */

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/channel.h"
#include "ipc/limits.h"
#include "ipc/record.h"
#include "judge.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(
    uint8_t *data, size_t size, size_t max_size, unsigned seed);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define WIRE_RECORDS 256

struct wire {
	const uint8_t *rec[WIRE_RECORDS];
	size_t len[WIRE_RECORDS], n; /* the last may be a rest */
};

static inline size_t
wire_size(const uint8_t *p, size_t left)
{
	uint32_t n;

	if (left < RECORD_HEADER)
		return left;
	memcpy(&n, p + sizeof(uint16_t), sizeof(n));
	return n > left - RECORD_HEADER ? left : n + RECORD_HEADER;
}

static inline void
wire_cut(struct wire *w, const uint8_t *p, size_t left)
{
	for (w->n = 0; left > 0 && w->n < WIRE_RECORDS; w->n++) {
		w->rec[w->n] = p;
		w->len[w->n] =
		    w->n == WIRE_RECORDS - 1 ? left : wire_size(p, left);
		p += w->len[w->n];
		left -= w->len[w->n];
	}
}

/* The reading end of a socket on which all of it was said. */
static inline int
wire_say(const uint8_t *data, size_t size)
{
	struct wire w;
	size_t i, n;
	int pair[2];
	uint8_t how = size > 0 ? data[0] : 0;

	if (channel_pair(pair) == -1)
		abort();
	if (size > 0) {
		data++;
		size--;
	}
	if (how == 1) { /* a record a datagram */
		wire_cut(&w, data, size);
		for (i = 0; i < w.n; i++)
			if (send(pair[0], w.rec[i], w.len[i], MSG_NOSIGNAL) ==
			    -1)
				break;
	} else {
		/* what does not fit the socket is not said */
		for (; size > 0; data += n, size -= n) {
			n = how == 0 ? size : 16U * how;
			if (n > size)
				n = size;
			if (send(pair[0], data, n, MSG_NOSIGNAL) == -1)
				break;
		}
	}
	close(pair[0]);
	return pair[1];
}

/* What an honest sender says, as an input; the sender is given a socket. */
static inline size_t
wire_hear(int (*say)(struct sender *), uint8_t *data, size_t max)
{
	struct sender s;
	ssize_t n;
	size_t len = 1;
	int pair[2];

	if (channel_pair(pair) == -1 || sender_init(&s, pair[0], 0) == -1 ||
	    say(&s) == -1)
		abort();
	sender_free(&s);
	close(pair[0]);
	data[0] = 0;
	while ((n = recv(pair[1], data + len, max - len, 0)) > 0)
		len += (size_t)n;
	close(pair[1]);
	return len;
}

/*
 * Each record's fields once more, in memory that ends where they end, so that
 * a sanitizer sees a decoder that reads past them.
 */
static inline void
wire_each(const uint8_t *data, size_t size,
    void (*fn)(unsigned type, struct rcur *, void *), void *arg)
{
	struct wire w;
	struct rcur c;
	size_t i, n;
	uint16_t type;
	uint8_t *p;

	w.n = 0;
	if (size > 0)
		wire_cut(&w, data + 1, size - 1);
	for (i = 0; i < w.n; i++) {
		if (w.len[i] < RECORD_HEADER)
			continue;
		memcpy(&type, w.rec[i], sizeof(type));
		n = w.len[i] - RECORD_HEADER;
		if ((p = malloc(n)) == NULL && n > 0)
			abort();
		if (n > 0)
			memcpy(p, w.rec[i] + RECORD_HEADER, n);
		rcur_init(&c, p, n);
		fn(type, &c, arg);
		free(p);
	}
}

/* The file "good" of a corpus is one, or the records have changed. */
static inline void
wire_must(int accepted)
{
	if (!accepted && getenv("FUZZ_MUST_ACCEPT") != NULL)
		broken("not accepted", "make the corpus anew: seeds.py");
}

/* A generator of its own: the fuzzer's seed must give the same again. */
static inline unsigned
wire_below(unsigned *state, size_t n)
{
	*state = *state * 1664525U + 1013904223U;
	return n == 0 ? 0 : (unsigned)((*state >> 8) % n);
}

static inline void
wire_number(uint8_t *p, size_t len, unsigned *st)
{
	static const uint32_t odd[] = {0, 1, 2, 3, 5, 0x7f, 0xff, 0x1ff, 0x200,
	    0x400, 0xfff, 0x1000, 0x7fff, 0xffff, 0x7fffffff, 0x80000000,
	    0xffffffff};
	uint32_t v = odd[wire_below(st, sizeof(odd) / sizeof(odd[0]))];
	size_t n = 1U << wire_below(st, 3), at;

	if (len < n)
		return;
	at = wire_below(st, len - n + 1);
	memcpy(p + at, &v, n);
}

/* What a string of a record may be changed to. */
static const char *const wire_words[] = {"/", "/proc", "/proc/1/root", "/dev",
    "/dev/null", "/sys", "/run/carrel", "/run/carrel/bin/sh", "/run", "/etc",
    "/etc/passwd", "/var", "/tmp", "/home", "/home/u", "/home/u/p", "/usr",
    "/usr/lib", "/usr/src", "/w", "/w/a", "/w/a/b", "/bin", "/x/../y", "/x/",
    "/x//y", "x", "", "/\x1b[m", "/\xe2\x80\xae", "/\xff", "@sys", "@home",
    "work", "@A"};

/* Changes one string of the n bytes at p, where max fit; the new length. */
static inline size_t
wire_string(uint8_t *p, size_t n, size_t max, unsigned *st)
{
	size_t at[64], found = 0, i, len;
	const char *word = wire_words[wire_below(
	    st, sizeof(wire_words) / sizeof(wire_words[0]))];
	uint16_t k;

	for (i = 0; i + sizeof(k) < n && found < 64; i++) {
		memcpy(&k, p + i, sizeof(k));
		if (k > 0 && i + sizeof(k) + k < n &&
		    memchr(p + i + sizeof(k), '\0', k + 1U) ==
			p + i + sizeof(k) + k) {
			at[found++] = i;
			i += sizeof(k) + k;
		}
	}
	len = strlen(word);
	if (found == 0 || n + len > max)
		return n;
	i = at[wire_below(st, found)];
	memcpy(&k, p + i, sizeof(k));
	memmove(p + i + 2 + len, p + i + 2 + k, n - i - 2 - k);
	memcpy(p + i + 2, word, len);
	n = n - k + len;
	k = (uint16_t)len;
	memcpy(p + i, &k, sizeof(k));
	return n;
}

/* The counts of a policy's end are made right. */
static inline void
wire_mend(uint8_t *p, size_t left)
{
	uint32_t count[RECORD_TYPES] = {0};
	uint16_t type;
	size_t n;

	for (; left >= RECORD_HEADER; p += n, left -= n) {
		n = wire_size(p, left);
		memcpy(&type, p, sizeof(type));
		if (type < RECORD_TYPES)
			count[type]++;
		if (type != RECORD_POLICY_END || n < RECORD_HEADER + 21)
			continue;
		p[RECORD_HEADER] = count[RECORD_REFUSAL] > 0;
		memcpy(p + RECORD_HEADER + 1, &count[RECORD_PROFILE], 8);
		memcpy(p + RECORD_HEADER + 9, &count[RECORD_ENVIRON], 4);
		memcpy(p + RECORD_HEADER + 13, &count[RECORD_RULE], 4);
		memcpy(p + RECORD_HEADER + 17, &count[RECORD_REFUSAL], 4);
	}
}

/* Changes one record of w; the result is written to out. */
static inline size_t
wire_change(struct wire *w, uint8_t *out, size_t max, unsigned *st)
{
	size_t i, k = wire_below(st, w->n), j = wire_below(st, w->n);
	unsigned op = wire_below(st, 10);
	size_t at = 0, n, times;
	const uint8_t *rec;
	uint32_t size;

	if (op == 0) { /* two change places */
		rec = w->rec[k];
		n = w->len[k];
		w->rec[k] = w->rec[j];
		w->len[k] = w->len[j];
		w->rec[j] = rec;
		w->len[j] = n;
	}
	for (i = 0; i < w->n; i++) {
		times = i != k ? 1 : op == 1 ? 0 : op == 2 ? 2 : 1;
		for (; times > 0 && at + w->len[i] + RECORD_HEADER <= max;
		     times--) {
			n = w->len[i];
			memcpy(out + at, w->rec[i], n);
			if (i == k && op > 2 && n > RECORD_HEADER) {
				if (op == 3)
					wire_number(out + at + RECORD_HEADER,
					    n - RECORD_HEADER, st);
				else if (op < 7)
					n = RECORD_HEADER +
					    wire_string(
						out + at + RECORD_HEADER,
						n - RECORD_HEADER,
						max - at - RECORD_HEADER, st);
				else
					n = RECORD_HEADER +
					    LLVMFuzzerMutate(
						out + at + RECORD_HEADER,
						n - RECORD_HEADER,
						max - at - RECORD_HEADER);
				size = (uint32_t)(n - RECORD_HEADER);
				memcpy(out + at + sizeof(uint16_t), &size,
				    sizeof(size));
			}
			at += n;
		}
	}
	return at;
}

/* good: an honest stream of this kind, to begin with. */
static inline size_t
wire_mutate(uint8_t *data, size_t size, size_t max, unsigned seed,
    const uint8_t *good, size_t ngood)
{
	static uint8_t copy[1 << 20];
	struct wire w;
	unsigned st = seed, times;
	size_t n;

	if (ngood <= max &&
	    (size < RECORD_HEADER || wire_below(&st, 100) == 0)) {
		memcpy(data, good, ngood);
		size = ngood;
	}
	if (wire_below(&st, 20) == 0 || max > sizeof(copy) || size < 2)
		return LLVMFuzzerMutate(data, size, max);
	if (wire_below(&st, 20) == 0)
		data[0] = (uint8_t)wire_below(&st, 256);
	for (times = 1 + wire_below(&st, 3); times > 0; times--) {
		n = size - 1;
		memcpy(copy, data + 1, n);
		wire_cut(&w, copy, n);
		if (w.n > 0)
			size = 1 + wire_change(&w, data + 1, max - 1, &st);
		if (size < 2)
			break;
	}
	if (wire_below(&st, 8) != 0)
		wire_mend(data + 1, size - 1);
	return size;
}

#endif
