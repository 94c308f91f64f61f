#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/channel.h"
#include "ipc/check.h"
#include "ipc/limits.h"
#include "ipc/path.h"
#include "login.h"

void
login_free(struct login *l)
{
	size_t i;

	for (i = 0; i < l->nprofiles; i++)
		free(l->profiles[i]);
	free(l->profiles);
	free(l->shell);
	free(l->what);
	free(l->fix);
	memset(l, 0, sizeof(*l));
}

int
login_add(struct login *l, const char *name)
{
	if (l->nprofiles == SELECT_MAX) {
		errno = E2BIG;
		return -1;
	}
	if (l->profiles == NULL)
		l->profiles = calloc(SELECT_MAX, sizeof(*l->profiles));
	if (l->profiles == NULL ||
	    (l->profiles[l->nprofiles] = strdup(name)) == NULL)
		return -1;
	l->nprofiles++;
	return 0;
}

static void
put_login(struct wbuf *w, const struct login *l)
{
	wbuf_u16(w, LOGIN_VERSION);
	wbuf_u32(w, l->line);
	wbuf_str(w, l->shell);
	wbuf_str(w, l->what);
	wbuf_str(w, l->fix);
}

static int
get_login(struct rcur *r, struct login *l)
{
	if (rcur_u16(r) != LOGIN_VERSION)
		return -1;
	l->line = rcur_u32(r);
	l->shell = strdup(rcur_str(r, PATH_MAX_LEN));
	/* nothing to lose: the receiver's table lets one of these through.
	   NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
	l->what = strdup(rcur_str(r, TEXT_MAX_LEN));
	l->fix = strdup(rcur_str(r, FIX_MAX_LEN));
	if (l->shell == NULL || l->what == NULL || l->fix == NULL)
		return -1;
	return rcur_end(r);
}

/* A name that is taken for one layer's is that of no other. */
static int
get_name(struct rcur *r, struct login *l)
{
	const char *name = rcur_str(r, VALUE_MAX_LEN);

	if (rcur_end(r) == -1 || !check_name(name))
		return -1;
	return login_add(l, name);
}

static void
put_end(struct wbuf *w, const struct login *l)
{
	wbuf_u32(w, (uint32_t)l->nprofiles);
}

static int
get_end(struct rcur *r, const struct login *l)
{
	uint32_t n = rcur_u32(r);

	return rcur_end(r) == -1 || n != l->nprofiles ? -1 : 0;
}

/* A reason alone, or a shell and what it is started with. */
static int
is_whole(const struct login *l)
{
	if (l->what == NULL || l->shell == NULL || l->fix == NULL)
		return 0; /* the table never lets that through */
	if (l->what[0] != '\0')
		return l->nprofiles == 0 && l->shell[0] == '\0';
	return l->nprofiles > 0 && path_clean(l->shell) && l->fix[0] == '\0';
}

int
login_send(struct sender *s, const struct login *l)
{
	size_t i;

	put_login(sender_begin(s, RECORD_LOGIN), l);
	if (sender_end(s) == -1)
		return -1;
	for (i = 0; i < l->nprofiles; i++) {
		wbuf_str(sender_begin(s, RECORD_SELECT), l->profiles[i]);
		if (sender_end(s) == -1)
			return -1;
	}
	put_end(sender_begin(s, RECORD_LOGIN_END), l);
	if (sender_end(s) == -1)
		return -1;
	return sender_flush(s);
}

int
login_receive(struct receiver *r, struct login *out)
{
	struct login l;
	struct rcur c;
	unsigned type;
	int err, ok = 1;

	memset(&l, 0, sizeof(l));
	while (ok && receiver_next(r, &type, &c) == 1) {
		if (type == RECORD_LOGIN)
			ok = get_login(&c, &l) == 0;
		else if (type == RECORD_SELECT)
			ok = get_name(&c, &l) == 0;
		else
			ok = get_end(&c, &l) == 0 && is_whole(&l) &&
			     receiver_finish(r) == 0;
		if (ok && type == RECORD_LOGIN_END) {
			*out = l;
			return 0;
		}
	}
	if (!ok)
		errno = EBADMSG;
	err = errno;
	login_free(&l);
	errno = err;
	return -1;
}
