#ifndef BROKER_HTTP_H
#define BROKER_HTTP_H

#include <stddef.h>
#include <stdint.h>

/*
 * The requests of one connection of HTTP/1 (RFC 9112), followed from the first
 * to the last: each head is read whole and must name the one host, each body
 * is counted or its chunks are walked, so that the next head is found where
 * the server finds it. What two readers could understand in two ways is
 * refused: a bare CR or LF, a folded line, a length said twice, a coding other
 * than chunked. Pure; every byte is the payload's, or the server's.
 */

#define HTTP_HEAD_MAX 16384
#define HTTP_LINE_MAX 1024 /* of a chunk's size with its extension */

/* Whom each request must name, and at which port if it names one. */
struct http_want {
	const char *host; /* a name, or the text of an address */
	uint16_t port;
};

enum http_state {
	HTTP_HEAD,	 /* a request begins */
	HTTP_LENGTH,	 /* left bytes of a body */
	HTTP_CHUNK,	 /* the line with the size of a chunk */
	HTTP_CHUNK_DATA, /* left bytes of it, with its CRLF */
	HTTP_TRAILER,	 /* what follows the last chunk */
	HTTP_OPAQUE	 /* the server switched protocols */
};

struct http {
	enum http_state state;
	uint64_t left;
	size_t seen;	/* of the head at hand: looked through already */
	size_t trailer; /* bytes of trailers until now */
	unsigned count; /* heads until now */
	int upgrade;	/* the first one asks for another protocol, and the
			 * server has not said yet */
};

enum http_verdict {
	HTTP_PASS, /* the first *n bytes may go on */
	HTTP_MORE, /* not before there are more of them */
	HTTP_WAIT, /* not before the server has answered the first request */
	HTTP_BAD   /* never: *why says it in a few words */
};

/*
 * Looks at the len bytes that came and were not passed yet. A later request
 * that asks for another protocol is made an ordinary one: the name of that
 * field is overwritten in data (RFC 9110, 7.8: an intermediary may).
 */
enum http_verdict http_request(struct http *, const struct http_want *,
    uint8_t *data, size_t len, size_t *n, const char **why);

/* How many bytes may go on unseen: of a body, or all of them (SIZE_MAX). */
size_t http_unseen(const struct http *);
/* So many did. */
void http_unseen_went(struct http *, size_t);

/*
 * The server's side, while http.upgrade is set. HTTP_PASS as above; upgrade
 * is then clear if that was the final answer, and the state HTTP_OPAQUE if it
 * was 101.
 */
enum http_verdict http_answer(
    struct http *, const uint8_t *data, size_t len, size_t *n);

#endif
