#include <stdlib.h>
#include <string.h>

#include "child/shared/json.h"
#include "ipc/grow.h"
#include "ipc/log.h"
#include "out.h"
#include "page.h"

static char *
copy(const char *s)
{
	char *p = strdup(s);

	if (p == NULL)
		fatal("out of memory");
	return p;
}

static char *
text(const struct cell *c)
{
	return copy(c == NULL || c->s == NULL ? "" : c->s);
}

void
page_add(struct page *p, enum page_kind kind, const struct cell *tag,
    const struct cell *left, const struct cell *right, const struct cell *mark)
{
	struct page_row *r;

	if ((r = grow_from(64, p->rows, p->n, sizeof(*r))) == NULL)
		fatal("out of memory");
	p->rows = r;
	r += p->n++;
	memset(r, 0, sizeof(*r));
	r->kind = kind;
	r->tag = text(tag);
	r->left = text(left);
	r->right = text(right);
	r->mark = text(mark);
	memcpy(r->facts, p->next, sizeof(r->facts));
	r->nfacts = p->nnext;
	p->nnext = 0;
}

void
page_fact(struct page *p, const char *key, const char *raw)
{
	if (p->nnext == PAGE_FACTS)
		return;
	p->next[p->nnext].key = key;
	p->next[p->nnext++].value = copy(raw);
}

void
page_free(struct page *p)
{
	struct page_row *r;
	size_t i, k;

	for (i = 0; i < p->n; i++) {
		r = &p->rows[i];
		free(r->tag);
		free(r->left);
		free(r->right);
		free(r->mark);
		for (k = 0; k < r->nfacts; k++)
			free(r->facts[k].value);
	}
	for (k = 0; k < p->nnext; k++)
		free(p->next[k].value);
	free(p->rows);
	memset(p, 0, sizeof(*p));
}

size_t
page_json_room(const struct page *p)
{
	const struct page_row *r;
	size_t i, k, n = 64;

	for (i = 0; i < p->n; i++) {
		r = &p->rows[i];
		n += 128 + 2 * (strlen(r->tag) + strlen(r->left) +
				   strlen(r->right) + strlen(r->mark));
		/* a raw byte is 4 when it is escaped, its backslash 2 */
		for (k = 0; k < r->nfacts; k++)
			n += 64 + 5 * strlen(r->facts[k].value);
	}
	return n;
}

static void
pair(struct json *j, const char *key, const char *harmless)
{
	json_key(j, key);
	json_harmless(j, harmless);
}

static void
put_row(struct json *j, const struct page_row *r)
{
	size_t k;

	pair(j, "tag", r->tag);
	pair(j, "text", r->left);
	pair(j, "by", r->right);
	pair(j, "mark", r->mark);
	for (k = 0; k < r->nfacts; k++)
		json_pair(j, r->facts[k].key, r->facts[k].value);
}

/* The notes below row i. Returns the next row that is none. */
static size_t
put_notes(struct json *j, const struct page *p, size_t i)
{
	json_key(j, "notes");
	json_open(j, '[');
	for (; i < p->n && p->rows[i].kind == PAGE_NOTE; i++)
		json_harmless(j, p->rows[i].left);
	json_close(j, ']');
	return i;
}

void
page_json(struct json *j, const struct page *p)
{
	size_t i = 0;

	json_open(j, '[');
	while (i < p->n) {
		json_open(j, '{');
		pair(j, "title", p->rows[i].tag);
		pair(j, "text", p->rows[i].left);
		json_key(j, "rows");
		json_open(j, '[');
		i++;
		while (i < p->n && p->rows[i].kind != PAGE_BLOCK) {
			json_open(j, '{');
			put_row(j, &p->rows[i]);
			i = put_notes(j, p, i + 1);
			json_close(j, '}');
		}
		json_close(j, ']');
		json_close(j, '}');
	}
	json_close(j, ']');
}
