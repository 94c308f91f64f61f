#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "child/shared/hostname.h"
#include "http.h"
#include "ipc/egress.h"

#define DIGITS_MAX 15 /* of a length: less than 2^63 */

/* A part of a head. */
struct span {
	const char *p;
	size_t len;
};

/* What a head says that matters. */
struct head {
	struct span method, target, host;
	unsigned minor, hosts, lengths, codings;
	uint64_t length;
	int upgrade;
	uint8_t *upgrade_name; /* where that field begins */
};

static int
is_token(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') ||
	       (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static int
is_word(struct span s, const char *word)
{
	return s.len == strlen(word) && strncasecmp(s.p, word, s.len) == 0;
}

static struct span
trim(struct span s)
{
	while (s.len > 0 && (*s.p == ' ' || *s.p == '\t'))
		s.p++, s.len--;
	while (s.len > 0 && (s.p[s.len - 1] == ' ' || s.p[s.len - 1] == '\t'))
		s.len--;
	return s;
}

static int
decimal(struct span s, uint64_t max, uint64_t *out)
{
	if (s.len == 0 || s.len > DIGITS_MAX)
		return -1;
	for (*out = 0; s.len > 0; s.p++, s.len--) {
		if (*s.p < '0' || *s.p > '9')
			return -1;
		*out = *out * 10 + (uint64_t)(*s.p - '0');
	}
	return *out <= max ? 0 : -1;
}

/* HOST[:PORT] or [ADDRESS][:PORT], and nothing about a user. */
static int
is_wanted(struct span s, const struct http_want *want)
{
	char name[EGRESS_HOST_MAX + 1], text[ADDRESS_TEXT];
	const char *end, *open = s.p;
	int bracket = s.len > 0 && *s.p == '[';
	struct address a;
	uint64_t port;
	size_t n;

	if (bracket) {
		open++;
		if ((end = memchr(s.p, ']', s.len)) == NULL)
			return 0;
		n = (size_t)(end++ - open);
	} else {
		if ((end = memchr(s.p, ':', s.len)) == NULL)
			end = s.p + s.len;
		n = (size_t)(end - open);
	}
	s.len -= (size_t)(end - s.p);
	s.p = end;
	if (s.len > 0) {
		s.p++, s.len--;
		/* one spelling: no zero in front */
		if (*end != ':' || decimal(s, UINT16_MAX, &port) == -1 ||
		    *s.p == '0' || port != want->port)
			return 0;
	}
	if (hostname_normalise(name, open, n) == 0)
		return !bracket && strcmp(name, want->host) == 0;
	if (n >= ADDRESS_TEXT)
		return 0;
	memcpy(name, open, n);
	name[n] = '\0';
	return strlen(name) == n && address_read(name, &a) == 0 &&
	       bracket == (a.family == AF_INET6) &&
	       strcmp(address_text(&a, text), want->host) == 0;
}

/* METHOD SP TARGET SP HTTP/1.x */
static const char *
request_line(struct span line, struct head *h)
{
	const char *sp;
	size_t i;

	for (i = 0; i < line.len && is_token(line.p[i]); i++)
		;
	h->method = (struct span){line.p, i};
	if (i == 0 || i == line.len || line.p[i] != ' ')
		return "no request of HTTP/1";
	line.p += i + 1;
	line.len -= i + 1;
	if ((sp = memchr(line.p, ' ', line.len)) == NULL)
		return "no request of HTTP/1";
	h->target = (struct span){line.p, (size_t)(sp - line.p)};
	line.len -= h->target.len + 1;
	line.p = sp + 1;
	if (line.len != 8 || memcmp(line.p, "HTTP/1.", 7) != 0 ||
	    (line.p[7] != '0' && line.p[7] != '1'))
		return "no request of HTTP/1";
	h->minor = line.p[7] == '1';
	for (i = 0; i < h->target.len; i++)
		if ((unsigned char)h->target.p[i] <= ' ' ||
		    h->target.p[i] == 0x7f)
			return "a target with odd characters";
	return NULL;
}

static const char *
field(struct span line, struct head *h)
{
	struct span name = {line.p, 0}, value;
	size_t i;

	while (name.len < line.len && is_token(line.p[name.len]))
		name.len++;
	if (name.len == 0 || name.len == line.len || line.p[name.len] != ':')
		return "a header line that is none";
	value =
	    trim((struct span){line.p + name.len + 1, line.len - name.len - 1});
	for (i = 0; i < value.len; i++)
		if (((unsigned char)value.p[i] < ' ' && value.p[i] != '\t') ||
		    value.p[i] == 0x7f)
			return "a control character in a header";
	if (is_word(name, "Host")) {
		h->host = value;
		h->hosts++;
	} else if (is_word(name, "Content-Length")) {
		h->lengths++;
		if (decimal(value, UINT64_MAX, &h->length) == -1)
			return "a bad Content-Length";
	} else if (is_word(name, "Transfer-Encoding")) {
		h->codings++;
		if (!is_word(value, "chunked"))
			return "a Transfer-Encoding other than chunked";
	} else if (is_word(name, "Upgrade")) {
		h->upgrade++;
		h->upgrade_name = (uint8_t *)(uintptr_t)name.p;
	}
	return NULL;
}

/* "http://HOST[:PORT]/..." is the absolute form; it must agree. */
static const char *
judge_target(struct span t, const struct http_want *want)
{
	static const char scheme[] = "http://";
	size_t n = sizeof(scheme) - 1, i;

	if (t.len > 0 && t.p[0] == '/')
		return NULL;
	if (t.len == 1 && t.p[0] == '*')
		return NULL;
	if (t.len < n || strncasecmp(t.p, scheme, n) != 0)
		return "a target that is no path";
	t.p += n;
	t.len -= n;
	for (i = 0; i < t.len && strchr("/?", t.p[i]) == NULL; i++)
		;
	t.len = i;
	return is_wanted(t, want) ? NULL : "a target at another host";
}

static const char *
judge_head(const struct head *h, const struct http_want *want)
{
	if (is_word(h->method, "CONNECT"))
		return "CONNECT";
	if (h->hosts != 1)
		return h->hosts == 0 ? "no Host" : "more than one Host";
	if (!is_wanted(h->host, want))
		return "another Host";
	if (h->lengths + h->codings > 1)
		return "the length of a body said twice";
	if (h->codings > 0 && h->minor == 0)
		return "a Transfer-Encoding in HTTP/1.0";
	return judge_target(h->target, want);
}

/* Line by line; each ends in CRLF, and the last one is empty. */
static const char *
read_head(uint8_t *data, size_t len, struct head *h)
{
	struct span line;
	const char *p = (const char *)data, *end = p + len, *lf, *why;
	int first = 1;

	memset(h, 0, sizeof(*h));
	for (; p < end; p = lf + 1) {
		lf = memchr(p, '\n', (size_t)(end - p));
		if (lf == NULL || lf == p || lf[-1] != '\r')
			return "a line that does not end in CRLF";
		line = (struct span){p, (size_t)(lf - p) - 1};
		if (memchr(line.p, '\r', line.len) != NULL)
			return "a line that does not end in CRLF";
		if (line.len == 0)
			break;
		why = first ? request_line(line, h) : field(line, h);
		if (why != NULL)
			return why;
		first = 0;
	}
	return first ? "no request of HTTP/1" : NULL;
}

/*
 * The length of a head with its empty line; 0 as long as that is missing. What
 * is no head shows in its first line: an LF without CR ends the search.
 */
static size_t
head_length(const uint8_t *data, size_t len, size_t *seen)
{
	const uint8_t *lf;

	while (*seen < len) {
		lf = memchr(data + *seen, '\n', len - *seen);
		if (lf == NULL) {
			*seen = len;
			break;
		}
		*seen = (size_t)(lf - data) + 1;
		if (*seen < 2 || lf[-1] != '\r' || *seen == 2 ||
		    (*seen >= 4 && memcmp(lf - 3, "\r\n\r", 3) == 0))
			return *seen;
	}
	return 0;
}

static enum http_verdict
bad(const char **why, const char *what)
{
	*why = what;
	return HTTP_BAD;
}

static enum http_verdict
request_head(struct http *s, const struct http_want *want, uint8_t *data,
    size_t len, size_t *n, const char **why)
{
	const char *wrong;
	struct head h;

	/* a later head is of no use before it is clear that it is one */
	if (s->upgrade)
		return HTTP_WAIT;
	*n = head_length(
	    data, len < HTTP_HEAD_MAX ? len : HTTP_HEAD_MAX, &s->seen);
	if (*n == 0 && len < HTTP_HEAD_MAX)
		return HTTP_MORE;
	if (*n == 0)
		return bad(why, "a head of more than 16 KiB");
	if ((wrong = read_head(data, *n, &h)) != NULL ||
	    (wrong = judge_head(&h, want)) != NULL)
		return bad(why, wrong);
	if (h.upgrade > 1)
		return bad(why, "more than one Upgrade");
	if (h.upgrade && s->count == 0)
		s->upgrade = 1;
	else if (h.upgrade)
		memcpy(h.upgrade_name, "X-Other", strlen("X-Other"));
	s->count++;
	s->seen = 0;
	s->left = h.length;
	s->state = h.codings > 0  ? HTTP_CHUNK
		   : h.length > 0 ? HTTP_LENGTH
				  : HTTP_HEAD;
	return HTTP_PASS;
}

/* The line in front of a chunk, or a trailer: up to and with its CRLF. */
static enum http_verdict
whole_line(
    const uint8_t *data, size_t len, size_t max, size_t *n, const char **why)
{
	const uint8_t *lf = memchr(data, '\n', len < max ? len : max);
	size_t i;

	if (lf == NULL)
		return len < max ? HTTP_MORE
				 : bad(why, "a line that is too long");
	*n = (size_t)(lf - data) + 1;
	if (*n < 2 || lf[-1] != '\r')
		return bad(why, "a line that does not end in CRLF");
	for (i = 0; i + 2 < *n; i++)
		if ((data[i] < ' ' && data[i] != '\t') || data[i] == 0x7f)
			return bad(why, "a control character in a chunk");
	return HTTP_PASS;
}

static int
hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static enum http_verdict
chunk_line(struct http *s, const uint8_t *data, size_t len, size_t *n,
    const char **why)
{
	enum http_verdict v = whole_line(data, len, HTTP_LINE_MAX, n, why);
	uint64_t size = 0;
	size_t i;
	int d;

	if (v != HTTP_PASS)
		return v;
	for (i = 0; (d = hex_digit(data[i])) != -1; i++)
		size = size << 4 | (uint64_t)d;
	if (i == 0 || i > DIGITS_MAX || (data[i] != '\r' && data[i] != ';'))
		return bad(why, "a chunk without its size");
	s->state = size == 0 ? HTTP_TRAILER : HTTP_CHUNK_DATA;
	s->left = size;
	s->trailer = 0;
	return HTTP_PASS;
}

static enum http_verdict
trailer_line(struct http *s, const uint8_t *data, size_t len, size_t *n,
    const char **why)
{
	enum http_verdict v =
	    whole_line(data, len, HTTP_HEAD_MAX - s->trailer, n, why);

	if (v != HTTP_PASS)
		return v;
	s->trailer += *n;
	if (*n == 2)
		s->state = HTTP_HEAD;
	return HTTP_PASS;
}

/* What ends a chunk, once its bytes are through. */
static enum http_verdict
chunk_end(struct http *s, const uint8_t *data, size_t len, size_t *n,
    const char **why)
{
	if (len < 2)
		return data[0] == '\r' ? HTTP_MORE
				       : bad(why, "a chunk that does not end");
	if (memcmp(data, "\r\n", 2) != 0)
		return bad(why, "a chunk that does not end");
	*n = 2;
	s->state = HTTP_CHUNK;
	return HTTP_PASS;
}

size_t
http_unseen(const struct http *s)
{
	if (s->state == HTTP_OPAQUE)
		return SIZE_MAX;
	return s->state == HTTP_LENGTH || s->state == HTTP_CHUNK_DATA ? s->left
								      : 0;
}

void
http_unseen_went(struct http *s, size_t n)
{
	if (s->state == HTTP_OPAQUE)
		return;
	s->left -= n;
	if (s->left == 0 && s->state == HTTP_LENGTH)
		s->state = HTTP_HEAD;
}

enum http_verdict
http_request(struct http *s, const struct http_want *want, uint8_t *data,
    size_t len, size_t *n, const char **why)
{
	size_t unseen = http_unseen(s);

	*n = 0;
	if (len == 0)
		return HTTP_MORE;
	if (unseen > 0) {
		*n = len < unseen ? len : unseen;
		http_unseen_went(s, *n);
		return HTTP_PASS;
	}
	switch (s->state) {
	case HTTP_CHUNK:
		return chunk_line(s, data, len, n, why);
	case HTTP_CHUNK_DATA:
		return chunk_end(s, data, len, n, why);
	case HTTP_TRAILER:
		return trailer_line(s, data, len, n, why);
	default:
		return request_head(s, want, data, len, n, why);
	}
}

enum http_verdict
http_answer(struct http *s, const uint8_t *data, size_t len, size_t *n)
{
	size_t seen = 0, i;
	unsigned status = 0;

	*n =
	    head_length(data, len < HTTP_HEAD_MAX ? len : HTTP_HEAD_MAX, &seen);
	if (*n == 0)
		return len < HTTP_HEAD_MAX ? HTTP_MORE : HTTP_BAD;
	/* HTTP/1.x NNN */
	if (*n < 14 || memcmp(data, "HTTP/1.", 7) != 0 || data[8] != ' ' ||
	    memcmp(data + *n - 4, "\r\n\r\n", 4) != 0)
		return HTTP_BAD;
	for (i = 9; i < 12; i++) {
		if (data[i] < '0' || data[i] > '9')
			return HTTP_BAD;
		status = status * 10 + (unsigned)(data[i] - '0');
	}
	if (status == 101)
		s->state = HTTP_OPAQUE;
	if (status == 101 || status >= 200)
		s->upgrade = 0;
	return HTTP_PASS;
}
