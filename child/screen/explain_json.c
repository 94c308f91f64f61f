#include <stdlib.h>
#include <string.h>

#include "child/shared/json.h"
#include "explain.h"
#include "ipc/log.h"
#include "out.h"
#include "page.h"

/* The rows of a screen for a program, and explain --diff: rows of two. */

static void
write_page(const struct page *page, int refused)
{
	size_t cap = page_json_room(page) + 64;
	struct json j;
	char *buf;

	if ((buf = malloc(cap + 2)) == NULL)
		fatal("out of memory");
	json_init(&j, buf, cap);
	json_open(&j, '{');
	json_count(&j, "v", 1);
	json_key(&j, "refused");
	json_truth(&j, refused);
	json_key(&j, "blocks");
	page_json(&j, page);
	json_close(&j, '}');
	if (j.bad)
		fatal("internal: the page has no room");
	strcpy(buf + j.len, "\n");
	out_write(buf, j.len + 1);
	free(buf);
}

void
explain_json(const struct view *v)
{
	struct page page = {.n = 0};
	struct out o = {.page = &page};

	explain_draw(&o, v);
	write_page(&page, v->scene->policy.nrefusals > 0);
	page_free(&page);
}

/* Which rows there are: of one block, and each as often. */

static int
same(const struct page_row *a, const struct page_row *b)
{
	return a->kind == b->kind && strcmp(a->tag, b->tag) == 0 &&
	       strcmp(a->left, b->left) == 0 &&
	       strcmp(a->right, b->right) == 0 && strcmp(a->mark, b->mark) == 0;
}

/* The rows behind the block of this title: its first, and one behind it. */
static void
find_block(const struct page *p, const char *title, size_t *from, size_t *to)
{
	size_t i;

	*from = *to = p->n;
	for (i = 0; i < p->n; i++) {
		if (p->rows[i].kind != PAGE_BLOCK)
			continue;
		if (*from < p->n) {
			*to = i;
			return;
		}
		if (strcmp(p->rows[i].tag, title) == 0)
			*from = i + 1;
	}
}

/*
 * Marks each row of a that has no like in b. A block may have tens of
 * thousands of them: each search begins behind the like that was found last,
 * for both are in the same order.
 */
static void
mark_own(const struct page *a, size_t a0, size_t a1, const struct page *b,
    size_t b0, size_t b1, unsigned char *own)
{
	size_t i, k, next = b0, n;

	for (i = a0; i < a1; i++) {
		for (n = 0, k = next; n < b1 - b0; n++) {
			if (same(&a->rows[i], &b->rows[k]))
				break;
			if (++k == b1)
				k = b0;
		}
		own[i] = n == b1 - b0;
		if (!own[i])
			next = k + 1 == b1 ? b0 : k + 1;
	}
}

static void
put_rows(struct out *o, const char *sign, const struct page *p, size_t from,
    size_t to, const unsigned char *own)
{
	struct cell left = {0}, right = {0}, mark = {0};
	const struct page_row *r;
	size_t i;

	for (i = from; i < to; i++) {
		r = &p->rows[i];
		if (!own[i])
			continue;
		if (r->kind == PAGE_ROW) {
			cell_harmless(&left, r->tag);
			cell_add(&left, " ");
		}
		cell_harmless(&left, r->left);
		cell_harmless(&right, r->right);
		cell_harmless(&mark, r->mark);
		out_row_marked(o, sign, &left, &right, &mark);
	}
}

static int
any(const unsigned char *own, size_t from, size_t to)
{
	for (; from < to; from++)
		if (own[from])
			return 1;
	return 0;
}

/* One block of both; returns 1 if it differs. */
static int
put_block(struct out *o, const char *title, const struct page *base,
    const struct page *with, unsigned char *gone, unsigned char *come)
{
	size_t b0, b1, w0, w1;

	find_block(base, title, &b0, &b1);
	find_block(with, title, &w0, &w1);
	mark_own(base, b0, b1, with, w0, w1, gone);
	mark_own(with, w0, w1, base, b0, b1, come);
	if (!any(gone, b0, b1) && !any(come, w0, w1))
		return 0;
	out_block(o, title, "");
	put_rows(o, "-", base, b0, b1, gone);
	put_rows(o, "+", with, w0, w1, come);
	return 1;
}

static void
put_diff(struct out *o, const struct page *base, const struct page *with,
    int refused)
{
	static const char *const titles[] = {"REFUSED", "TARGET", "PROFILES",
	    "CEILING", "FILESYSTEM", "COMMANDS", "NETWORK", "ENVIRONMENT",
	    "LIMITS", "CONFINEMENT", "NOT GRANTED"};
	unsigned char *gone = calloc(base->n + 1, 1);
	unsigned char *come = calloc(with->n + 1, 1);
	size_t i;
	int n = 0;

	if (gone == NULL || come == NULL)
		fatal("out of memory");
	/* what is refused has no other block that could be held against one */
	for (i = 0; i < (refused ? 1 : sizeof(titles) / sizeof(titles[0])); i++)
		n |= put_block(o, titles[i], base, with, gone, come);
	if (n == 0)
		out_block(o, "NO DIFFERENCE", "");
	free(gone);
	free(come);
}

static void
draw_page(struct page *p, const struct view *v)
{
	struct out o = {.page = p};

	explain_draw(&o, v);
}

int
explain_diff(int fd, int next, int json)
{
	struct page with = {.n = 0}, base = {.n = 0}, page = {.n = 0};
	struct seen_run r, b;
	struct out o = {.page = &page};
	int code = explain_receive(fd, &r);

	if (explain_receive(next, &b) != 0)
		code = EXIT_CARREL;
	draw_page(&with, &r.view);
	draw_page(&base, &b.view);
	if (json) {
		put_diff(&o, &base, &with, code != 0);
		write_page(&page, code != 0);
	} else {
		out_open(&o, r.scene.request.width,
		    (r.scene.request.flags & SCREEN_COLOUR) != 0);
		put_diff(&o, &base, &with, code != 0);
		out_close(&o);
		out_write(o.text, o.len);
		out_free(&o);
	}
	explain_warn(&r.scene.policy);
	explain_warn(&b.scene.policy);
	page_free(&with);
	page_free(&base);
	page_free(&page);
	explain_forget(&r);
	explain_forget(&b);
	return code;
}
