#include "child/shared/ceiling.h"
#include "ipc/limits.h"
#include "explain.h"
#include "out.h"

/* Of the host's ceiling, what counts for the caller. */

static const char *const tags[] = {
    [CEILING_USE] = "may use",
    [CEILING_PATH] = "at most",
    [CEILING_EGRESS] = "at most",
    [CEILING_LIMIT] = "at most",
    [CEILING_REQUIRE] = "has to",
    [CEILING_AUDIT] = "has to",
};

static void
line_row(struct out *o, const struct ceiling_line *l)
{
	struct cell left = {0}, right = {0};
	char text[TEXT_MAX_LEN] = "", who[IDENT_MAX_LEN + 16] = "";

	ceiling_line_text(l, text, sizeof(text));
	ceiling_who_text(l, who, sizeof(who));
	cell_add(&left, text);
	cell_add(&right, who);
	if (l->line != 0)
		cell_addf(&right, ":%u", (unsigned)l->line);
	out_row(o, tags[l->kind], &left, &right, "");
}

/* A limit that a narrower section sets is not in force. */
static int
is_shown(const struct ceiling *c, const struct caller *ca,
    const struct ceiling_line *l)
{
	return ceiling_counts(l, ca) &&
	       (l->kind != CEILING_LIMIT || ceiling_limit(c, ca, l->what) == l);
}

void
explain_ceiling(struct out *o, const struct view *v)
{
	const struct ceiling *c = &v->scene->ceiling;
	struct cell file = {0}, none = {0};
	size_t i;

	if (c->file == NULL)
		return;
	out_block(o, "CEILING", "of this host, for this user");
	cell_quote(&file, c->file[0] != '\0' ? c->file : "the default");
	out_row(o, "file", &file, &none, "");
	for (i = 0; i < c->n; i++)
		if (is_shown(c, &v->scene->caller, &c->lines[i]))
			line_row(o, &c->lines[i]);
}
