#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdlib.h>
#include <unistd.h>

#include "loop.h"

struct watch {
	struct event ev;
	void (*call)(unsigned, void *);
	void *arg;
};

/* Its words would go to descriptor 2, which nobody reads. */
static void
silent(int severity, const char *text)
{
	(void)severity;
	(void)text;
}

struct loop *
loop_new(void)
{
	struct event_config *c;
	struct event_base *base;

	event_set_log_callback(silent);
	if ((c = event_config_new()) == NULL)
		return NULL;
	base = NULL;
	if (event_config_require_features(c, EV_FEATURE_ET) == 0 &&
	    event_config_set_flag(
		c, EVENT_BASE_FLAG_NOLOCK | EVENT_BASE_FLAG_IGNORE_ENV) == 0)
		base = event_base_new_with_config(c);
	event_config_free(c);
	return (struct loop *)base;
}

void
loop_free(struct loop *l)
{
	if (l != NULL)
		event_base_free((struct event_base *)l);
}

int
loop_run(struct loop *l)
{
	return event_base_dispatch((struct event_base *)l) == 0 ? 0 : -1;
}

void
loop_stop(struct loop *l)
{
	event_base_loopbreak((struct event_base *)l);
}

static void
called(evutil_socket_t fd, short what, void *arg)
{
	struct watch *w = arg;

	(void)fd;
	w->call(((what & EV_READ) != 0 ? LOOP_READ : 0) |
		    ((what & EV_WRITE) != 0 ? LOOP_WRITE : 0) |
		    ((what & EV_TIMEOUT) != 0 ? LOOP_TIMEOUT : 0),
	    w->arg);
}

struct watch *
watch_new(struct loop *l, int fd, unsigned what, void (*call)(unsigned, void *),
    void *arg)
{
	struct watch *w = calloc(1, sizeof(*w));
	short flags = 0;

	if (w == NULL)
		return NULL;
	w->call = call;
	w->arg = arg;
	if ((what & LOOP_READ) != 0)
		flags |= EV_READ;
	if ((what & LOOP_WRITE) != 0)
		flags |= EV_WRITE;
	if ((what & LOOP_EDGE) != 0)
		flags |= EV_ET;
	if (fd != -1)
		flags |= EV_PERSIST;
	if (event_assign(
		&w->ev, (struct event_base *)l, fd, flags, called, w) == -1) {
		free(w);
		return NULL;
	}
	return w;
}

void
watch_give(struct watch *w, void (*call)(unsigned, void *), void *arg)
{
	w->call = call;
	w->arg = arg;
}

void
watch_free(struct watch *w)
{
	if (w == NULL)
		return;
	(void)event_del(&w->ev);
	free(w);
}

int
watch_start(struct watch *w, int ms)
{
	struct timeval tv = {ms / 1000, ms % 1000 * 1000};

	return event_add(&w->ev, ms == -1 ? NULL : &tv);
}

void
watch_stop(struct watch *w)
{
	(void)event_del(&w->ev);
}

void
watch_again(struct watch *w, unsigned what)
{
	event_active(&w->ev,
	    (short)(((what & LOOP_READ) != 0 ? EV_READ : 0) |
		    ((what & LOOP_WRITE) != 0 ? EV_WRITE : 0)),
	    1);
}
