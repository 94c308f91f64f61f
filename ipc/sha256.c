#include <stdio.h>
#include <string.h>

#include "sha256.h"

#define BLOCK 64

/* FIPS 180-4, 4.2.2: of the cube roots of the first primes. */
static const uint32_t k[BLOCK] = {0x428a2f98, 0x71374491, 0xb5c0fbcf,
    0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
    0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7,
    0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
    0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
    0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e,
    0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
    0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c,
    0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee,
    0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2};

static uint32_t
turn(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

static uint32_t
word(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	       (uint32_t)p[2] << 8 | p[3];
}

/* 6.2.2: one block of the message. */
static void
mix(uint32_t sum[8], const uint8_t *p)
{
	uint32_t w[BLOCK], a, b, c, d, e, f, g, h, x, y;
	unsigned i;

	for (i = 0; i < 16; i++)
		w[i] = word(p + 4 * i);
	for (; i < BLOCK; i++) {
		x = w[i - 15];
		y = w[i - 2];
		w[i] = w[i - 16] + (turn(x, 7) ^ turn(x, 18) ^ x >> 3) +
		       w[i - 7] + (turn(y, 17) ^ turn(y, 19) ^ y >> 10);
	}
	a = sum[0], b = sum[1], c = sum[2], d = sum[3];
	e = sum[4], f = sum[5], g = sum[6], h = sum[7];
	for (i = 0; i < BLOCK; i++) {
		x = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) +
		    ((e & f) ^ (~e & g)) + k[i] + w[i];
		y = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) +
		    ((a & b) ^ (a & c) ^ (b & c));
		h = g, g = f, f = e, e = d + x;
		d = c, c = b, b = a, a = x + y;
	}
	sum[0] += a, sum[1] += b, sum[2] += c, sum[3] += d;
	sum[4] += e, sum[5] += f, sum[6] += g, sum[7] += h;
}

void
sha256_init(struct sha256 *s)
{
	/* 5.3.3: of the square roots of the first primes */
	static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372,
	    0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

	memcpy(s->h, first, sizeof(first));
	s->len = 0;
}

void
sha256_add(struct sha256 *s, const void *data, size_t n)
{
	const uint8_t *p = data;
	size_t at = s->len % BLOCK, part;

	s->len += n;
	while (n > 0) {
		if (at == 0 && n >= BLOCK) {
			mix(s->h, p);
			part = BLOCK;
		} else {
			part = n < BLOCK - at ? n : BLOCK - at;
			memcpy(s->block + at, p, part);
			at = (at + part) % BLOCK;
			if (at == 0)
				mix(s->h, s->block);
		}
		p += part;
		n -= part;
	}
}

void
sha256_end(struct sha256 *s, char hex[SHA256_HEX + 1])
{
	uint8_t pad[BLOCK + 8] = {0x80};
	uint64_t bits = s->len * 8;
	size_t n = BLOCK - (s->len + 8) % BLOCK, i;

	/* 5.1.1: a one, zeros, and the length behind them ends a block */
	for (i = 0; i < 8; i++)
		pad[n + i] = (uint8_t)(bits >> (56 - 8 * i));
	sha256_add(s, pad, n + 8);
	for (i = 0; i < 8; i++)
		snprintf(hex + 8 * i, 9, "%08x", (unsigned)s->h[i]);
}

int
sha256_is_hex(const char *s)
{
	return strlen(s) == SHA256_HEX &&
	       strspn(s, "0123456789abcdef") == SHA256_HEX;
}
