#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ipc/buf.h"
#include "ipc/limits.h"
#include "ipc/policy.h"
#include "ipc/record.h"
#include "ipc/sha256.h"
#include "kept.h"

static void
put_run(struct wbuf *w, const struct kept *k)
{
	char command[KEPT_COMMAND_MAX + 1] = "";

	strncat(command, k->command, KEPT_COMMAND_MAX);
	wbuf_u16(w, KEPT_VERSION);
	wbuf_str(w, k->run);
	wbuf_u64(w, k->time);
	wbuf_str(w, command);
}

static int
get_run(struct rcur *c, struct kept *k)
{
	if (rcur_u16(c) != KEPT_VERSION)
		return -1;
	k->run = rcur_str(c, KEPT_RUN_HEX);
	k->time = rcur_u64(c);
	k->command = rcur_str(c, KEPT_COMMAND_MAX);
	return rcur_end(c) == 0 && strlen(k->run) == KEPT_RUN_HEX &&
		       strspn(k->run, "0123456789abcdef") == KEPT_RUN_HEX
		   ? 0
		   : -1;
}

static void
put_kept_profile(struct wbuf *w, const struct kept_profile *p)
{
	wbuf_str(w, p->name);
	wbuf_str(w, p->file);
	wbuf_str(w, p->digest);
	wbuf_u8(w, p->layer);
	wbuf_u32(w, p->times);
}

static int
get_kept_profile(struct rcur *c, struct kept *k)
{
	struct kept_profile *p = &k->profiles[k->nprofiles++];

	p->name = rcur_str(c, NAME_MAX_LEN + 1);
	p->file = rcur_str(c, PATH_MAX_LEN);
	p->digest = rcur_str(c, SHA256_HEX);
	p->layer = rcur_u8(c);
	p->times = rcur_u32(c);
	return rcur_end(c) == 0 && sha256_is_hex(p->digest) &&
		       p->layer >= LAYER_SHIPPED && p->layer <= LAYER_LAST
		   ? 0
		   : -1;
}

static int
get_event(struct rcur *c, struct kept *k)
{
	struct event *e = &k->events[k->nevents++];

	if (event_get(c, e) == -1)
		return -1;
	return e->profile == EVENT_NO_PROFILE || e->profile < k->nprofiles ? 0
									   : -1;
}

static void
put_run_end(struct wbuf *w, const struct kept *k)
{
	wbuf_u64(w, k->violations);
	wbuf_u64(w, k->lost);
	wbuf_u32(w, k->code);
}

static int
get_run_end(struct rcur *c, struct kept *k)
{
	k->violations = rcur_u64(c);
	k->lost = rcur_u64(c);
	k->code = rcur_u32(c);
	return rcur_end(c);
}

/* One record, as it is framed everywhere. */
static void
begin(struct wbuf *w, void *buf, enum record_type type)
{
	wbuf_init(w, buf, RECORD_MAX);
	wbuf_u16(w, type);
	wbuf_u32(w, 0);
}

static int
end(struct wbuf *w, int fd)
{
	uint32_t n = (uint32_t)(w->len - RECORD_HEADER);
	const uint8_t *p = w->data;
	ssize_t k;

	if (w->bad) {
		errno = EMSGSIZE;
		return -1;
	}
	memcpy(w->data + sizeof(uint16_t), &n, sizeof(n));
	for (; w->len > 0; p += k, w->len -= (size_t)k)
		if ((k = write(fd, p, w->len)) == -1) {
			if (errno != EINTR)
				return -1;
			k = 0;
		}
	return 0;
}

int
kept_write(int fd, const struct kept *k)
{
	uint8_t buf[RECORD_MAX];
	struct wbuf w;
	size_t i;

	begin(&w, buf, RECORD_RUN);
	put_run(&w, k);
	if (end(&w, fd) == -1)
		return -1;
	for (i = 0; i < k->nprofiles; i++) {
		begin(&w, buf, RECORD_KEPT_PROFILE);
		put_kept_profile(&w, &k->profiles[i]);
		if (end(&w, fd) == -1)
			return -1;
	}
	for (i = 0; i < k->nevents; i++) {
		begin(&w, buf, RECORD_EVENT);
		event_put(&w, &k->events[i]);
		if (end(&w, fd) == -1)
			return -1;
	}
	begin(&w, buf, RECORD_RUN_END);
	put_run_end(&w, k);
	return end(&w, fd);
}

static int
get(unsigned type, struct rcur *c, struct kept *k)
{
	switch (type) {
	case RECORD_RUN:
		return get_run(c, k);
	case RECORD_KEPT_PROFILE:
		return get_kept_profile(c, k);
	case RECORD_EVENT:
		return get_event(c, k);
	default:
		return get_run_end(c, k);
	}
}

static int
read_all(struct rcur *c, struct kept *k)
{
	struct record_state st;
	struct rcur fields;
	unsigned type;
	uint32_t n;

	record_start(&st, record_kept);
	while (c->p < c->end) {
		type = rcur_u16(c);
		n = rcur_u32(c);
		if (c->bad || n > (size_t)(c->end - c->p) ||
		    record_step(&st, type) == -1)
			return -1;
		rcur_init(&fields, c->p, n);
		if (get(type, &fields, k) == -1)
			return -1;
		c->p += n;
	}
	return record_done(&st) ? 0 : -1;
}

int
kept_read(const void *data, size_t len, struct kept *out)
{
	struct kept k;
	struct rcur c;

	memset(&k, 0, sizeof(k));
	if (len > STATE_FILE_MAX)
		return -1;
	k.profiles = calloc(PROFILES_MAX, sizeof(*k.profiles));
	k.events = calloc(EVENTS_MAX, sizeof(*k.events));
	rcur_init(&c, data, len);
	if (k.profiles == NULL || k.events == NULL || read_all(&c, &k) == -1) {
		kept_free(&k);
		return -1;
	}
	*out = k;
	return 0;
}

void
kept_free(struct kept *k)
{
	free(k->profiles);
	free(k->events);
	memset(k, 0, sizeof(*k));
}
