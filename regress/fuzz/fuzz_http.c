#include "child/broker/http.h"
#include "judge.h"
#include "wire.h"

/* Requests as they come: at once, and byte by byte. */

static const struct http_want want = {"allowed.test", 80};

struct run {
	struct http s;
	size_t went;
	enum http_verdict last;
};

static void
feed(struct run *r, const uint8_t *data, size_t size, size_t step)
{
	uint8_t *buf = malloc(size + 1);
	size_t have = 0, came = 0, n;
	const char *why;

	if (buf == NULL)
		abort();
	memset(r, 0, sizeof(*r));
	r->last = HTTP_MORE;
	while (came < size && r->last == HTTP_MORE) {
		n = size - came < step ? size - came : step;
		memcpy(buf + have, data + came, n);
		came += n;
		have += n;
		while ((r->last = http_request(
			    &r->s, &want, buf, have, &n, &why)) == HTTP_PASS) {
			if (n == 0 || n > have)
				broken("http", "bytes out of nowhere");
			r->went += n;
			have -= n;
			memmove(buf, buf + n, have);
		}
		if (r->last == HTTP_MORE && have > HTTP_HEAD_MAX)
			broken("http", "no bound");
	}
	free(buf);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct http s = {.upgrade = 1};
	struct run once, split;
	size_t n;

	feed(&once, data, size, size);
	feed(&split, data, size, 1 + size / 64);
	if (once.went != split.went || once.last != split.last ||
	    once.s.state != split.s.state || once.s.count != split.s.count)
		broken("http", "two verdicts on the same bytes");
	if (http_answer(&s, data, size, &n) == HTTP_PASS &&
	    (n == 0 || n > size))
		broken("http", "bytes out of nowhere");
	return 0;
}
