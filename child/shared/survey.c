#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ipc/buf.h"
#include "ipc/grow.h"
#include "ipc/limits.h"
#include "ipc/path.h"
#include "survey.h"

_Static_assert(LINKS_LEN + LINKS_MAX * 3 + 2 * (PATH_MAX_LEN + 64) < RECORD_MAX,
    "a row of the survey fits a record, also with another path");

int
survey_init(struct survey *s, size_t n)
{
	size_t i;

	memset(s, 0, sizeof(*s));
	s->rows = calloc(n + 1, sizeof(*s->rows));
	if (s->rows == NULL)
		return -1;
	for (i = 0; i < n; i++)
		s->rows[i].fd = -1;
	s->n = n;
	return 0;
}

void
survey_row_free(struct survey_row *r)
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
	survey_row_free(dst);
	*dst = *src;
	memset(src, 0, sizeof(*src));
	src->fd = -1;
}

struct survey_exec *
survey_add_exec(
    struct survey *s, enum exec_kind kind, size_t rule, const char *guest)
{
	struct survey_exec *e;

	if (s->nexec == EXEC_MAX) {
		errno = E2BIG;
		return NULL;
	}
	if ((e = grow(s->exec, s->nexec, sizeof(*e))) == NULL)
		return NULL;
	s->exec = e;
	e += s->nexec;
	memset(e, 0, sizeof(*e));
	e->kind = (uint8_t)kind;
	e->rule = (uint32_t)rule;
	e->row.fd = -1;
	if ((e->guest = strdup(guest)) == NULL)
		return NULL;
	s->nexec++;
	return e;
}

void
survey_free(struct survey *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		survey_row_free(&s->rows[i]);
	free(s->rows);
	for (i = 0; i < s->nexec; i++) {
		free(s->exec[i].guest);
		survey_row_free(&s->exec[i].row);
	}
	free(s->exec);
	memset(s, 0, sizeof(*s));
}

void
survey_put(struct wbuf *w, const struct survey_row *r)
{
	size_t i;

	wbuf_u8(w, r->type);
	wbuf_u8(w, r->shut);
	wbuf_u8(w, r->twice);
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

/* Up to its last field; more may follow in the record. */
static int
get_row(struct rcur *c, struct survey_row *r)
{
	size_t i, n;

	r->type = rcur_u8(c);
	r->shut = rcur_u8(c);
	r->twice = rcur_u8(c);
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
	return 0;
}

int
survey_get(struct rcur *c, struct survey_row *r)
{
	return get_row(c, r) == -1 ? -1 : rcur_end(c);
}

void
survey_exec_put(struct wbuf *w, const struct survey_exec *e)
{
	wbuf_u8(w, e->kind);
	wbuf_u8(w, e->fault);
	wbuf_u32(w, e->rule);
	wbuf_str(w, e->guest);
	survey_put(w, &e->row);
}

int
survey_exec_get(struct rcur *c, struct survey *s)
{
	unsigned kind = rcur_u8(c), fault = rcur_u8(c);
	uint32_t rule = rcur_u32(c);
	const char *guest = rcur_str(c, PATH_MAX_LEN);
	struct survey_exec *e;

	if (c->bad || kind < EXEC_INTERPRETER || kind > EXEC_LAST ||
	    fault > EXEC_FAULT_LAST || (guest[0] != '\0' && !path_clean(guest)))
		return -1;
	if ((e = survey_add_exec(s, kind, rule, guest)) == NULL)
		return -1;
	e->fault = (uint8_t)fault;
	return get_row(c, &e->row) == -1 ? -1 : rcur_end(c);
}
