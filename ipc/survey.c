#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "limits.h"
#include "path.h"
#include "survey.h"

_Static_assert(LINKS_LEN + LINKS_MAX * 3 + PATH_MAX_LEN + 64 < RECORD_MAX,
    "a row of the survey fits a record");

int
survey_init(struct survey *s, size_t n)
{
	size_t i;

	s->n = 0;
	s->rows = calloc(n + 1, sizeof(*s->rows));
	if (s->rows == NULL)
		return -1;
	for (i = 0; i < n; i++)
		s->rows[i].fd = -1;
	s->n = n;
	return 0;
}

static void
row_free(struct survey_row *r)
{
	size_t k;

	for (k = 0; k < r->nlinks; k++)
		free(r->links[k]);
	free(r->links);
	free(r->real);
	if (r->fd != -1)
		close(r->fd);
	memset(r, 0, sizeof(*r));
	r->fd = -1;
}

void
survey_row_move(struct survey_row *dst, struct survey_row *src)
{
	row_free(dst);
	*dst = *src;
	memset(src, 0, sizeof(*src));
	src->fd = -1;
}

void
survey_free(struct survey *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		row_free(&s->rows[i]);
	free(s->rows);
	memset(s, 0, sizeof(*s));
}

void
survey_put(struct wbuf *w, const struct survey_row *r)
{
	size_t i;

	wbuf_u8(w, r->type);
	wbuf_u8(w, r->shut);
	wbuf_u16(w, r->mode);
	wbuf_u32(w, (uint32_t)r->err);
	wbuf_u64(w, r->dev);
	wbuf_u64(w, r->ino);
	wbuf_u64(w, r->rdev);
	wbuf_str(w, r->real);
	wbuf_u8(w, (uint8_t)r->nlinks);
	for (i = 0; i < r->nlinks; i++)
		wbuf_str(w, r->links[i]);
}

int
survey_get(struct rcur *c, struct survey_row *r)
{
	size_t i, n;

	r->type = rcur_u8(c);
	r->shut = rcur_u8(c);
	r->mode = rcur_u16(c);
	r->err = (int)rcur_u32(c);
	r->dev = rcur_u64(c);
	r->ino = rcur_u64(c);
	r->rdev = rcur_u64(c);
	r->real = strdup(rcur_str(c, PATH_MAX_LEN));
	n = rcur_u8(c);
	if (c->bad || r->real == NULL || n > LINKS_MAX ||
	    r->type > SURVEY_LAST ||
	    (r->type != SURVEY_NONE && !path_clean(r->real)))
		return -1;
	r->links = calloc(n + 1, sizeof(*r->links));
	if (r->links == NULL)
		return -1;
	for (i = 0; i < n; i++) {
		r->links[i] = strdup(rcur_str(c, PATH_MAX_LEN));
		if (r->links[i] == NULL)
			return -1;
		r->nlinks++;
	}
	return rcur_end(c);
}
