#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/channel.h"
#include "request.h"

void
request_free(struct request *q)
{
	size_t i;

	free(q->shipped);
	free(q->host);
	free(q->user);
	free(q->host_config);
	free(q->user_config);
	free(q->pack);
	for (i = 0; i < q->nselect; i++)
		free(q->select[i]);
	free(q->select);
	caller_free(&q->caller);
	memset(q, 0, sizeof(*q));
}

static void
put_head(struct wbuf *w, const struct request *q)
{
	wbuf_u16(w, REQUEST_VERSION);
	wbuf_u32(w, q->flags);
	wbuf_str(w, q->shipped);
	wbuf_str(w, q->host);
	wbuf_str(w, q->user);
	wbuf_str(w, q->host_config);
	wbuf_str(w, q->user_config);
	wbuf_str(w, q->pack);
}

static int
get_head(struct rcur *r, struct request *q)
{
	if (rcur_u16(r) != REQUEST_VERSION)
		return -1;
	q->flags = rcur_u32(r);
	q->shipped = strdup(rcur_str(r, PATH_MAX_LEN));
	/* nothing to lose: the receiver's table lets one of these through.
	   NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
	q->host = strdup(rcur_str(r, PATH_MAX_LEN));
	q->user = strdup(rcur_str(r, PATH_MAX_LEN));
	q->host_config = strdup(rcur_str(r, PATH_MAX_LEN));
	q->user_config = strdup(rcur_str(r, PATH_MAX_LEN));
	q->pack = strdup(rcur_str(r, PATH_MAX_LEN));
	if (q->shipped == NULL || q->host == NULL || q->user == NULL ||
	    q->host_config == NULL || q->user_config == NULL ||
	    q->pack == NULL || (q->flags & ~(uint32_t)REQUEST_FLAGS) != 0)
		return -1;
	return rcur_end(r);
}

static int
get_select(struct rcur *r, struct request *q)
{
	if (q->select == NULL)
		q->select = calloc(SELECT_MAX, sizeof(*q->select));
	if (q->select == NULL)
		return -1;
	/* record_request allows no more than SELECT_MAX of them */
	q->select[q->nselect] = strdup(rcur_str(r, VALUE_MAX_LEN));
	if (q->select[q->nselect] == NULL)
		return -1;
	q->nselect++;
	return rcur_end(r);
}

int
request_send(struct sender *s, const struct request *q)
{
	size_t i;

	if (q->nselect > SELECT_MAX) {
		errno = E2BIG;
		return -1;
	}
	put_head(sender_begin(s, RECORD_REQUEST), q);
	if (sender_end(s) == -1)
		return -1;
	for (i = 0; i < q->nselect; i++) {
		wbuf_str(sender_begin(s, RECORD_SELECT), q->select[i]);
		if (sender_end(s) == -1)
			return -1;
	}
	caller_put(sender_begin(s, RECORD_CALLER), &q->caller);
	if (sender_end(s) == -1)
		return -1;
	sender_begin(s, RECORD_REQUEST_END);
	if (sender_end(s) == -1)
		return -1;
	return sender_flush(s);
}

int
request_receive(struct receiver *r, struct request *out)
{
	struct request q;
	struct rcur c;
	unsigned type;
	int ok = 0;

	memset(&q, 0, sizeof(q));
	while (receiver_next(r, &type, &c) == 1) {
		if (type == RECORD_REQUEST)
			ok = get_head(&c, &q) == 0;
		else if (type == RECORD_SELECT)
			ok = get_select(&c, &q) == 0;
		else if (type == RECORD_CALLER)
			ok = caller_get(&c, &q.caller) == 0;
		else
			ok = rcur_end(&c) == 0 && r->off == r->len;
		if (!ok || type == RECORD_REQUEST_END)
			break;
	}
	if (!ok || !record_done(&r->state)) {
		request_free(&q);
		errno = EBADMSG;
		return -1;
	}
	*out = q;
	return 0;
}
