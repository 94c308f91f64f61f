#ifndef CARREL_JSON_H
#define CARREL_JSON_H

#include <stddef.h>
#include <stdint.h>

/*
 * JSON (RFC 8259) into memory that the caller owns, for events and screens.
 * A string is given raw and goes through text_escape() first: what a reader
 * decodes is one line of harmless UTF-8, and its bytes can be recovered. The
 * writer puts the commas; who opens something closes it. A string of more than
 * TEXT_MAX_LEN bytes is cut.
 */
struct json {
	char *buf;
	size_t cap, len;
	int bad; /* it did not fit: what is there must not be used */
};

void json_init(struct json *, char *buf, size_t cap);
void json_open(struct json *, char bracket); /* '{' or '[' */
void json_close(struct json *, char bracket);
void json_key(struct json *, const char *); /* carrel's own: letters, '_' */
void json_text(struct json *, const char *raw);
void json_harmless(struct json *, const char *); /* is escaped already */
void json_number(struct json *, uint64_t);
void json_truth(struct json *, int);
void json_null(struct json *);

/* A key and its value. */
void json_pair(struct json *, const char *key, const char *raw);
void json_count(struct json *, const char *key, uint64_t);

#endif
