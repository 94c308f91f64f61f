#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/buf.h"
#include "ipc/channel.h"
#include "ipc/check.h"
#include "ipc/grow.h"
#include "ipc/limits.h"
#include "ipc/policy.h"
#include "ipc/tool.h"

#define NITEMS(a) (sizeof(a) / sizeof((a)[0]))

static const char *const verbs[] = {
    "?", "read", "write", "command", "socket", "device", "allow"};
static const char *const effects[] = {"?", "none", "write", "network"};

const char *
tool_verb(unsigned verb)
{
	return verbs[verb < NITEMS(verbs) ? verb : 0];
}

const char *
tool_effect(unsigned effect)
{
	return effects[effect < NITEMS(effects) ? effect : 0];
}

unsigned
tool_verb_named(const char *word, size_t n)
{
	unsigned i;

	for (i = 1; i < NITEMS(verbs); i++)
		if (strlen(verbs[i]) == n && memcmp(verbs[i], word, n) == 0)
			return i;
	return 0;
}

unsigned
tool_effect_named(const char *word)
{
	unsigned i;

	for (i = 1; i < NITEMS(effects); i++)
		if (strcmp(effects[i], word) == 0)
			return i;
	return 0;
}

/* Cuts one word off and ends it; NULL if its quotes are odd. */
static char *
cut_word(char **at)
{
	char *p = *at, *end;

	if (*p == '"') {
		p++;
		end = strchr(p, '"');
		if (end == NULL || (end[1] != ' ' && end[1] != '\0'))
			return NULL;
	} else {
		end = p + strcspn(p, " ");
		if (memchr(p, '"', (size_t)(end - p)) != NULL)
			return NULL;
	}
	*at = end + (*end != '\0');
	*end = '\0';
	return p;
}

char **
tool_words(const char *run)
{
	const size_t head = (TOOL_WORDS_MAX + 1) * sizeof(char *);
	size_t len = strlen(run) + 1, n = 0;
	char **list = malloc(head + len), *p;

	if (list == NULL)
		return NULL;
	p = (char *)list + head;
	memcpy(p, run, len);
	while (*(p += strspn(p, " ")) != '\0') {
		if (n == TOOL_WORDS_MAX || (list[n++] = cut_word(&p)) == NULL) {
			free(list);
			return NULL;
		}
	}
	list[n] = NULL;
	if (n > 0 && list[0][0] != '\0')
		return list;
	free(list);
	return NULL;
}

int
policy_add_tool(struct policy *po, struct tool *t)
{
	struct tool *p;

	if (po->ntools >= TOOLS_MAX) {
		errno = E2BIG;
		return -1;
	}
	if ((p = grow(po->tools, po->ntools, sizeof(*p))) == NULL)
		return -1;
	po->tools = p;
	p[po->ntools++] = *t;
	memset(t, 0, sizeof(*t));
	return 0;
}

/* struct tool: RECORD_TOOL */

void
tool_put(struct wbuf *w, const struct tool *t)
{
	size_t i;

	wbuf_u8(w, t->kind);
	wbuf_u16(w, t->profile);
	wbuf_u32(w, t->line);
	wbuf_str(w, t->name);
	wbuf_str(w, t->text);
	wbuf_str(w, t->input);
	wbuf_u8(w, t->effect);
	wbuf_u8(w, t->expect);
	wbuf_u16(w, (uint16_t)t->nneeds);
	for (i = 0; i < t->nneeds; i++) {
		wbuf_u8(w, t->needs[i].verb);
		wbuf_str(w, t->needs[i].text);
		wbuf_u32(w, t->needs[i].line);
	}
}

static int
is_good(const struct policy *po, const struct tool *t)
{
	char **words;
	size_t i;

	if (t->kind < TOOL_PROGRAM || t->kind > TOOL_EXAMPLE ||
	    t->profile >= po->nprofiles || t->name[0] == '@' ||
	    !check_name(t->name) || t->effect > EFFECT_NETWORK)
		return 0;
	if (t->kind == TOOL_PROGRAM ? t->input[0] != '\0' || t->expect != 0
				    : t->effect != 0)
		return 0;
	for (i = 0; i < t->nneeds; i++)
		if (t->needs[i].verb < NEED_READ ||
		    t->needs[i].verb > NEED_LAST)
			return 0;
	if (t->kind == TOOL_PROGRAM)
		return 1;
	words = tool_words(t->text);
	free(words);
	return words != NULL;
}

static int
get(struct rcur *c, struct tool *t)
{
	size_t n, i;

	t->kind = rcur_u8(c);
	t->profile = rcur_u16(c);
	t->line = rcur_u32(c);
	t->name = strdup(rcur_str(c, NAME_MAX_LEN));
	t->text = strdup(rcur_str(c, VALUE_MAX_LEN));
	t->input = strdup(rcur_str(c, VALUE_MAX_LEN));
	t->effect = rcur_u8(c);
	t->expect = rcur_u8(c);
	n = rcur_u16(c);
	if (c->bad || n > NEEDS_MAX || t->name == NULL || t->text == NULL ||
	    t->input == NULL)
		return -1;
	if ((t->needs = calloc(n + 1, sizeof(*t->needs))) == NULL)
		return -1;
	for (i = 0; i < n; i++) {
		t->needs[i].verb = rcur_u8(c);
		t->needs[i].text = strdup(rcur_str(c, VALUE_MAX_LEN));
		t->needs[i].line = rcur_u32(c);
		t->nneeds = i + 1;
		if (t->needs[i].text == NULL)
			return -1;
	}
	return rcur_end(c);
}

int
tool_get(struct rcur *c, struct policy *po)
{
	struct tool t;

	memset(&t, 0, sizeof(t));
	if (get(c, &t) == 0 && is_good(po, &t) && policy_add_tool(po, &t) == 0)
		return 0;
	tool_free(&t);
	return -1;
}

static void
put_end(struct wbuf *w, const struct policy *po)
{
	wbuf_u32(w, (uint32_t)po->ntools);
}

int
described_send(struct sender *s, const struct policy *po)
{
	size_t i;

	if (policy_send(s, po) == -1)
		return -1;
	for (i = 0; i < po->ntools; i++) {
		tool_put(sender_begin(s, RECORD_TOOL), &po->tools[i]);
		if (sender_end(s) == -1)
			return -1;
	}
	put_end(sender_begin(s, RECORD_DESCRIBED_END), po);
	return sender_end(s) == -1 ? -1 : sender_flush(s);
}

/* One record of the stream. 0 or -1. */
static int
take(unsigned type, struct rcur *c, struct policy *po)
{
	if (type == RECORD_TOOL)
		return tool_get(c, po);
	if (type == RECORD_DESCRIBED_END)
		return rcur_u32(c) == po->ntools ? rcur_end(c) : -1;
	return policy_get(type, c, po);
}

int
described_receive(struct receiver *r, struct policy *out)
{
	return policy_receive_until(r, RECORD_DESCRIBED_END, take, out);
}
