#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "caller.h"
#include "hostenv.h"
#include "ipc/channel.h"
#include "ipc/limits.h"
#include "ipc/policy.h"
#include "ceiling.h"
#include "screen.h"
#include "survey.h"

void
screen_request_free(struct screen_request *q)
{
	size_t i;

	for (i = 0; i < q->nwords; i++)
		free(q->words[i]);
	free(q->words);
	free(q->events);
	memset(q, 0, sizeof(*q));
}

/* At most max bytes of it. */
static const char *
cut(char buf[PATH_MAX_LEN + 1], const char *s, size_t max)
{
	buf[0] = '\0';
	return strncat(buf, s, max);
}

/* 1 if not all of the command fits. */
static int
is_cut(const struct screen_request *q)
{
	size_t i;

	if (q->nwords > SCREEN_WORDS)
		return 1;
	for (i = 0; i < q->nwords; i++)
		if (strlen(q->words[i]) > SCREEN_WORD_LEN)
			return 1;
	return 0;
}

void
screen_put(struct wbuf *w, const struct screen_request *q)
{
	char text[PATH_MAX_LEN + 1];
	uint32_t flags = q->flags;
	size_t i, n = q->nwords;

	if (is_cut(q))
		flags |= SCREEN_CUT;
	if (n > SCREEN_WORDS)
		n = SCREEN_WORDS;
	wbuf_u16(w, SCREEN_VERSION);
	wbuf_u32(w, flags);
	wbuf_u16(w, q->width);
	wbuf_u8(w, q->mode);
	wbuf_u16(w, q->landlock);
	wbuf_str(
	    w, cut(text, q->events != NULL ? q->events : "", PATH_MAX_LEN));
	wbuf_u16(w, (uint16_t)n);
	for (i = 0; i < n; i++)
		wbuf_str(w, cut(text, q->words[i], SCREEN_WORD_LEN));
}

int
screen_get(struct rcur *c, struct screen_request *out)
{
	struct screen_request q;
	const char *events;
	size_t i, n;

	memset(&q, 0, sizeof(q));
	if (rcur_u16(c) != SCREEN_VERSION)
		return -1;
	q.flags = rcur_u32(c);
	q.width = rcur_u16(c);
	q.mode = rcur_u8(c);
	q.landlock = rcur_u16(c);
	events = rcur_str(c, PATH_MAX_LEN);
	n = rcur_u16(c);
	if (c->bad || n > SCREEN_WORDS ||
	    (q.flags & ~(uint32_t)SCREEN_FLAGS) != 0 || q.mode < SCREEN_USER ||
	    q.mode > SCREEN_MODE_LAST)
		return -1;
	q.words = calloc(n + 1, sizeof(*q.words));
	q.events = strdup(events);
	if (q.words == NULL || q.events == NULL) {
		screen_request_free(&q);
		return -1;
	}
	for (i = 0; i < n; i++) {
		q.words[i] = strdup(rcur_str(c, SCREEN_WORD_LEN));
		if (q.words[i] == NULL)
			break;
		q.nwords++;
	}
	if (i < n || rcur_end(c) == -1) {
		screen_request_free(&q);
		return -1;
	}
	*out = q;
	return 0;
}

int
screen_send(struct sender *s, const struct screen_request *q,
    const struct caller *caller, const struct hostenv *host,
    const struct ceiling *ce, const struct policy *po, const struct survey *su)
{
	size_t i;

	if (su->n != po->ngrants && su->n != 0) {
		errno = EINVAL;
		return -1;
	}
	screen_put(sender_begin(s, RECORD_SCREEN), q);
	if (sender_end(s) == -1)
		return -1;
	caller_put(sender_begin(s, RECORD_CALLER), caller);
	if (sender_end(s) == -1)
		return -1;
	for (i = 0; i < host->n; i++) {
		hostenv_put(sender_begin(s, RECORD_VARIABLE), &host->vars[i]);
		if (sender_end(s) == -1)
			return -1;
	}
	if (ce->file != NULL && ceiling_put(s, ce) == -1)
		return -1;
	if (policy_send(s, po) == -1)
		return -1;
	for (i = 0; i < su->n; i++) {
		survey_put(sender_begin(s, RECORD_SURVEY), &su->rows[i]);
		if (sender_end(s) == -1)
			return -1;
	}
	for (i = 0; i < su->nexec; i++) {
		survey_exec_put(sender_begin(s, RECORD_EXEC), &su->exec[i]);
		if (sender_end(s) == -1)
			return -1;
	}
	sender_begin(s, RECORD_SCREEN_END);
	if (sender_end(s) == -1)
		return -1;
	return sender_flush(s);
}
