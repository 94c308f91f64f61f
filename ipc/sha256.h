#ifndef CARREL_SHA256_H
#define CARREL_SHA256_H

#include <stddef.h>
#include <stdint.h>

/*
 * SHA-256 (FIPS 180-4), to name a file's bytes or a policy's: the launcher
 * and the parser link no library for it. Nothing secret is hashed.
 */

#define SHA256_HEX 64 /* digits, without the NUL */

struct sha256 {
	uint32_t h[8];
	uint64_t len; /* bytes so far */
	uint8_t block[64];
};

void sha256_init(struct sha256 *);
void sha256_add(struct sha256 *, const void *, size_t);
/* Lower-case digits. The state is used up. */
void sha256_end(struct sha256 *, char hex[SHA256_HEX + 1]);

/* 1 if the text is what sha256_end() writes. */
int sha256_is_hex(const char *);

#endif
