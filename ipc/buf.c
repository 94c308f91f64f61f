#include <string.h>

#include "buf.h"

void
wbuf_init(struct wbuf *w, void *data, size_t cap)
{
	w->data = data;
	w->len = 0;
	w->cap = cap;
	w->bad = 0;
}

static void
put(struct wbuf *w, const void *p, size_t n)
{
	if (w->bad || n > w->cap - w->len) {
		w->bad = 1;
		return;
	}
	memcpy(w->data + w->len, p, n);
	w->len += n;
}

void
wbuf_u8(struct wbuf *w, uint8_t v)
{
	put(w, &v, sizeof(v));
}

void
wbuf_u16(struct wbuf *w, uint16_t v)
{
	put(w, &v, sizeof(v));
}

void
wbuf_u32(struct wbuf *w, uint32_t v)
{
	put(w, &v, sizeof(v));
}

void
wbuf_u64(struct wbuf *w, uint64_t v)
{
	put(w, &v, sizeof(v));
}

void
wbuf_str(struct wbuf *w, const char *s)
{
	size_t n;

	if (s == NULL)
		s = "";
	n = strlen(s);
	if (n > UINT16_MAX) {
		w->bad = 1;
		return;
	}
	wbuf_u16(w, (uint16_t)n);
	put(w, s, n + 1);
}

void
rcur_init(struct rcur *c, const void *p, size_t n)
{
	c->p = p;
	c->end = c->p + n;
	c->bad = 0;
}

static void
get(struct rcur *c, void *v, size_t n)
{
	memset(v, 0, n);
	if (c->bad || n > (size_t)(c->end - c->p)) {
		c->bad = 1;
		return;
	}
	memcpy(v, c->p, n);
	c->p += n;
}

uint8_t
rcur_u8(struct rcur *c)
{
	uint8_t v;

	get(c, &v, sizeof(v));
	return v;
}

uint16_t
rcur_u16(struct rcur *c)
{
	uint16_t v;

	get(c, &v, sizeof(v));
	return v;
}

uint32_t
rcur_u32(struct rcur *c)
{
	uint32_t v;

	get(c, &v, sizeof(v));
	return v;
}

uint64_t
rcur_u64(struct rcur *c)
{
	uint64_t v;

	get(c, &v, sizeof(v));
	return v;
}

const char *
rcur_str(struct rcur *c, size_t max)
{
	const char *s;
	size_t n;

	n = rcur_u16(c);
	if (c->bad || n > max || n + 1 > (size_t)(c->end - c->p) ||
	    memchr(c->p, '\0', n + 1) != c->p + n) {
		c->bad = 1;
		return "";
	}
	s = (const char *)c->p;
	c->p += n + 1;
	return s;
}

int
rcur_end(const struct rcur *c)
{
	return c->bad || c->p != c->end ? -1 : 0;
}
