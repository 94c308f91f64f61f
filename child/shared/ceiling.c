#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ceiling.h"
#include "ipc/channel.h"
#include "ipc/egress.h"
#include "ipc/grow.h"
#include "ipc/limits.h"
#include "ipc/path.h"
#include "ipc/rule.h"
#include "ipc/text.h"

void
ceiling_free(struct ceiling *c)
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		free(c->lines[i].name);
		free(c->lines[i].text);
	}
	free(c->lines);
	free(c->file);
	policy_free(&c->faults);
	memset(c, 0, sizeof(*c));
}

int
ceiling_add(struct ceiling *c, const struct ceiling_line *l)
{
	struct ceiling_line *p, copy = *l;

	if (c->n >= CEILING_LINES_MAX) {
		errno = E2BIG;
		return -1;
	}
	p = grow_from(16, c->lines, c->n, sizeof(*p));
	if (p == NULL)
		return -1;
	c->lines = p;
	copy.name = strdup(l->name);
	copy.text = strdup(l->text);
	if (copy.name == NULL || copy.text == NULL) {
		free(copy.name);
		free(copy.text);
		return -1;
	}
	c->lines[c->n++] = copy;
	return 0;
}

int
ceiling_default(struct ceiling *c)
{
	static char none[] = "", root[] = "/", any[] = CEILING_HOST;
	static const struct ceiling_line lines[] = {
	    {CEILING_EVERYONE, CEILING_PATH, VERB_READ, 0, none, root, 0},
	    {CEILING_EVERYONE, CEILING_PATH, VERB_WRITE, 0, none, root, 0},
	    {CEILING_EVERYONE, CEILING_EGRESS, 0, EGRESS_PRIVATE, none, any, 0},
	};
	size_t i;

	memset(c, 0, sizeof(*c));
	c->file = strdup("");
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (c->file == NULL || ceiling_add(c, &lines[i]) == -1) {
			ceiling_free(c);
			return -1;
		}
	return 0;
}

/* As text, and what is wrong with it */

static void
egress_line(const struct ceiling_line *l, char *buf, size_t cap)
{
	const char *v6 = strchr(l->text, ':');

	if (l->what == EGRESS_ALL) {
		text_add(buf, cap, "*");
		return;
	}
	text_add(buf, cap,
	    "%s://%s%s%s:", l->what == 0 ? "*" : egress_scheme(l->what),
	    v6 ? "[" : "", SHOWN(l->text), v6 ? "]" : "");
	if ((l->number & EGRESS_PORT) == 0)
		text_add(buf, cap, "*");
	else
		text_add(buf, cap, "%u", (unsigned)(l->number & EGRESS_PORT));
	if ((l->number & EGRESS_PRIVATE) != 0)
		text_add(buf, cap, " private");
}

/* The words behind "require =". */
static const struct duty {
	uint8_t what;
	uint64_t number;
	const char *text;
} duties[] = {
    {RULE_TIER, TIER_READ_ONLY, "tier read-only"},
    {RULE_TIER, TIER_SIDE_EFFECT, "tier side-effect"},
    {RULE_NO_SPAWN, 0, "spawn no"},
    {RULE_NO_UNIX, 0, "unix no"},
    {RULE_ONCE, 0, "once yes"},
    {RULE_REPORT, REPORT_EXEC, "report exec"},
    {RULE_REPORT, REPORT_FS, "report fs"},
    {RULE_VIOLATION, VIOLATION_FAIL, "on-violation fail"},
    {RULE_VIOLATION, VIOLATION_KILL, "on-violation kill"},
};

#define NDUTIES (sizeof(duties) / sizeof(duties[0]))
#define AUDIT	"audit"

static const struct duty *
duty_of(const struct ceiling_line *l)
{
	size_t i;

	for (i = 0; i < NDUTIES; i++)
		if (duties[i].what == l->what && duties[i].number == l->number)
			return &duties[i];
	return NULL;
}

const char *
ceiling_duty_text(size_t i)
{
	if (i < NDUTIES)
		return duties[i].text;
	return i == NDUTIES ? AUDIT : NULL;
}

int
ceiling_duty(const char *text, struct ceiling_line *l)
{
	size_t i;

	if (strcmp(text, AUDIT) == 0) {
		l->kind = CEILING_AUDIT;
		return 0;
	}
	for (i = 0; i < NDUTIES; i++)
		if (strcmp(duties[i].text, text) == 0) {
			l->kind = CEILING_REQUIRE;
			l->what = duties[i].what;
			l->number = duties[i].number;
			return 0;
		}
	return -1;
}

void
ceiling_line_text(const struct ceiling_line *l, char *buf, size_t cap)
{
	const struct rule limit = {.kind = RULE_LIMIT, .what = l->what};
	const struct duty *d;

	switch (l->kind) {
	case CEILING_USE:
		text_add(buf, cap, "allow-%s = %s",
		    l->who == CEILING_USER ? "user" : "group", SHOWN(l->name));
		break;
	case CEILING_PATH:
		text_add(
		    buf, cap, "%s = %s", policy_verb(l->what), SHOWN(l->text));
		break;
	case CEILING_EGRESS:
		text_add(buf, cap, "allow = ");
		egress_line(l, buf, cap);
		break;
	case CEILING_LIMIT:
		text_add(buf, cap, "%s = ", rule_key(&limit));
		rule_number(buf, cap, l->what, l->number);
		break;
	case CEILING_REQUIRE:
		d = duty_of(l);
		text_add(buf, cap, "require = %s", d == NULL ? "?" : d->text);
		break;
	default:
		text_add(buf, cap, "require = " AUDIT);
	}
}

void
ceiling_who_text(const struct ceiling_line *l, char *buf, size_t cap)
{
	if (l->kind == CEILING_USE)
		text_add(buf, cap, "[ceiling]");
	else if (l->who == CEILING_EVERYONE)
		text_add(buf, cap, "[everyone]");
	else
		text_add(buf, cap, "[%s %s]",
		    l->who == CEILING_USER ? "user" : "group", l->name);
}

/* Wider than egress_check(): every scheme, host and port has a sign. */
static int
egress_is_bad(const struct ceiling_line *l)
{
	struct rule r = {.kind = RULE_EGRESS,
	    .what = l->what != 0 ? l->what : EGRESS_TCP,
	    .number = l->number,
	    .text = l->text};
	char any[] = "a.example";

	if (l->what != EGRESS_ALL) {
		if ((r.number & EGRESS_PORT) == 0)
			r.number |= 1;
		if (strcmp(l->text, CEILING_HOST) == 0)
			r.text = any;
	}
	return egress_check(&r) != NULL;
}

static int
what_is_bad(const struct ceiling_line *l)
{
	uint64_t min, max;

	if (l->kind != CEILING_PATH && l->kind != CEILING_EGRESS &&
	    l->text[0] != '\0')
		return 1;
	switch (l->kind) {
	case CEILING_PATH:
		return (l->what != VERB_READ && l->what != VERB_WRITE &&
			   l->what != VERB_COMMAND && l->what != VERB_SOCKET &&
			   l->what != VERB_DEVICE) ||
		       l->number != 0 || !path_clean(l->text) ||
		       text_unsafe(l->text, strlen(l->text));
	case CEILING_EGRESS:
		return egress_is_bad(l);
	case CEILING_LIMIT:
		if (l->what < LIMIT_MEMORY || l->what > LIMIT_LAST)
			return 1;
		rule_range(l->what, &min, &max);
		return l->number < min || l->number > max;
	case CEILING_REQUIRE:
		return duty_of(l) == NULL;
	default:
		return l->what != 0 || l->number != 0;
	}
}

static int
line_is_bad(const struct ceiling_line *l)
{
	size_t n = strlen(l->name);

	if (l->who < CEILING_EVERYONE || l->who > CEILING_WHO_LAST ||
	    l->kind < CEILING_USE || l->kind > CEILING_KIND_LAST)
		return 1;
	if ((l->who == CEILING_EVERYONE) != (n == 0) ||
	    (l->kind == CEILING_USE && n == 0) || text_unsafe(l->name, n))
		return 1;
	return what_is_bad(l);
}

/* struct ceiling_line: RECORD_CEILING_LINE */

static void
put_line(struct wbuf *w, const struct ceiling_line *l)
{
	wbuf_u8(w, l->who);
	wbuf_u8(w, l->kind);
	wbuf_u8(w, l->what);
	wbuf_u64(w, l->number);
	wbuf_str(w, l->name);
	wbuf_str(w, l->text);
	wbuf_u32(w, l->line);
}

static int
get_line(struct rcur *c, struct ceiling *out)
{
	struct ceiling_line l;

	memset(&l, 0, sizeof(l));
	l.who = rcur_u8(c);
	l.kind = rcur_u8(c);
	l.what = rcur_u8(c);
	l.number = rcur_u64(c);
	l.name = (char *)rcur_str(c, IDENT_MAX_LEN);
	l.text = (char *)rcur_str(c, PATH_MAX_LEN);
	l.line = rcur_u32(c);
	if (rcur_end(c) == -1 || line_is_bad(&l) || out->file == NULL)
		return -1;
	return ceiling_add(out, &l);
}

/* RECORD_CEILING opens the stream, RECORD_CEILING_END says what it held. */

static void
put_head(struct wbuf *w, const struct ceiling *c)
{
	wbuf_u16(w, CEILING_VERSION);
	wbuf_str(w, c->file);
}

static int
get_head(struct rcur *c, struct ceiling *out)
{
	const char *file;

	if (rcur_u16(c) != CEILING_VERSION)
		return -1;
	file = rcur_str(c, PATH_MAX_LEN);
	if (rcur_end(c) == -1 || (file[0] != '\0' && !path_clean(file)))
		return -1;
	out->file = strdup(file);
	/* nothing to lose: the receiver's table lets one of these through.
	   NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
	return out->file == NULL ? -1 : 0;
}

static void
put_end(struct wbuf *w, const struct ceiling *c)
{
	wbuf_u32(w, (uint32_t)c->n);
	wbuf_u32(w, (uint32_t)c->faults.nrefusals);
}

static int
get_end(struct rcur *c, const struct ceiling *out)
{
	if (out->file == NULL || rcur_u32(c) != out->n ||
	    rcur_u32(c) != out->faults.nrefusals)
		return -1;
	return rcur_end(c);
}

int
ceiling_put(struct sender *s, const struct ceiling *c)
{
	const struct policy *f = &c->faults;
	size_t i;

	put_head(sender_begin(s, RECORD_CEILING), c);
	if (sender_end(s) == -1)
		return -1;
	for (i = 0; i < c->n; i++) {
		put_line(sender_begin(s, RECORD_CEILING_LINE), &c->lines[i]);
		if (sender_end(s) == -1)
			return -1;
	}
	for (i = 0; i < f->nrefusals; i++) {
		refusal_put(
		    sender_begin(s, RECORD_CEILING_FAULT), &f->refusals[i]);
		if (sender_end(s) == -1)
			return -1;
	}
	put_end(sender_begin(s, RECORD_CEILING_END), c);
	return sender_end(s);
}

int
ceiling_send(struct sender *s, const struct ceiling *c)
{
	return ceiling_put(s, c) == -1 ? -1 : sender_flush(s);
}

int
ceiling_get(unsigned type, struct rcur *c, struct ceiling *out)
{
	switch (type) {
	case RECORD_CEILING:
		return get_head(c, out);
	case RECORD_CEILING_LINE:
		return get_line(c, out);
	case RECORD_CEILING_FAULT:
		if (out->file == NULL)
			return -1;
		return policy_get(RECORD_REFUSAL, c, &out->faults);
	case RECORD_CEILING_END:
		return get_end(c, out);
	default:
		return -1;
	}
}

int
ceiling_receive(struct receiver *r, struct ceiling *out)
{
	struct ceiling ce;
	struct rcur c;
	unsigned type;
	int n;

	memset(&ce, 0, sizeof(ce));
	while ((n = receiver_next(r, &type, &c)) == 1) {
		if (ceiling_get(type, &c, &ce) == -1) {
			errno = EBADMSG;
			n = -1;
			break;
		}
		if (type == RECORD_CEILING_END) {
			n = receiver_finish(r);
			break;
		}
	}
	if (n == -1 || !record_done(&r->state)) {
		ceiling_free(&ce);
		return -1;
	}
	*out = ce;
	return 0;
}
