#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/buf.h"
#include "ipc/channel.h"
#include "ipc/environ.h"
#include "ipc/limits.h"
#include "ipc/policy.h"
#include "ipc/rule.h"

/* struct profile: RECORD_PROFILE */

static void
put_profile(struct wbuf *w, const struct profile *p)
{
	size_t i;

	wbuf_str(w, p->name);
	wbuf_str(w, p->file);
	wbuf_str(w, p->description);
	wbuf_str(w, p->abuse);
	wbuf_str(w, p->digest);
	wbuf_u8(w, p->layer);
	wbuf_u8(w, p->flags);
	wbuf_u16(w, (uint16_t)p->nincludes);
	for (i = 0; i < p->nincludes; i++)
		wbuf_u16(w, p->includes[i]);
}

static int
get_profile(struct rcur *c, struct policy *po)
{
	struct profile *p;
	const char *name, *file, *description, *abuse, *digest;
	uint8_t layer, flags;
	size_t i, n;

	name = rcur_str(c, NAME_MAX_LEN + 1);
	file = rcur_str(c, PATH_MAX_LEN);
	description = rcur_str(c, VALUE_MAX_LEN);
	abuse = rcur_str(c, VALUE_MAX_LEN);
	digest = rcur_str(c, SHA256_HEX);
	layer = rcur_u8(c);
	flags = rcur_u8(c);
	n = rcur_u16(c);
	if (c->bad || n > PROFILES_MAX)
		return -1;
	if ((p = policy_add_profile(po, name, file, layer, flags)) == NULL)
		return -1;
	strcpy(p->digest, digest);
	free(p->description);
	free(p->abuse);
	p->description = strdup(description);
	p->abuse = strdup(abuse);
	p->includes = calloc(n + 1, sizeof(*p->includes));
	if (p->description == NULL || p->abuse == NULL || p->includes == NULL)
		return -1;
	for (i = 0; i < n; i++)
		p->includes[i] = rcur_u16(c);
	p->nincludes = n;
	return rcur_end(c);
}

/* struct grant: RECORD_GRANT */

static void
put_grant(struct wbuf *w, const struct grant *g)
{
	size_t i;

	wbuf_u8(w, g->kind);
	wbuf_u8(w, g->flags);
	wbuf_str(w, g->guest);
	wbuf_str(w, g->source);
	wbuf_u64(w, g->size);
	wbuf_u16(w, (uint16_t)g->norigins);
	for (i = 0; i < g->norigins; i++) {
		wbuf_u16(w, g->origins[i].profile);
		wbuf_u8(w, g->origins[i].verb);
		wbuf_u32(w, g->origins[i].line);
	}
}

static int
get_grant(struct rcur *c, struct policy *po)
{
	struct grant *g;
	struct origin o;
	const char *guest, *source;
	uint64_t size;
	uint8_t kind, flags;
	size_t i, n;

	kind = rcur_u8(c);
	flags = rcur_u8(c);
	guest = rcur_str(c, PATH_MAX_LEN);
	source = rcur_str(c, PATH_MAX_LEN);
	size = rcur_u64(c);
	n = rcur_u16(c);
	if (c->bad || n > ORIGINS_MAX)
		return -1;
	g = policy_add_grant(po, kind, flags, guest, source, size);
	if (g == NULL)
		return -1;
	for (i = 0; i < n; i++) {
		o.profile = rcur_u16(c);
		o.verb = rcur_u8(c);
		o.line = rcur_u32(c);
		if (c->bad || grant_add_origin(g, &o) == -1)
			return -1;
	}
	return rcur_end(c);
}

/* struct refusal: RECORD_REFUSAL */

void
refusal_put(struct wbuf *w, const struct refusal *r)
{
	wbuf_str(w, r->profile);
	wbuf_str(w, r->file);
	wbuf_u32(w, r->line);
	wbuf_str(w, r->what);
	wbuf_str(w, r->fix);
}

static int
get_refusal(struct rcur *c, struct policy *po)
{
	const char *profile, *file, *what, *fix;
	uint32_t line;

	profile = rcur_str(c, VALUE_MAX_LEN);
	file = rcur_str(c, PATH_MAX_LEN);
	line = rcur_u32(c);
	what = rcur_str(c, TEXT_MAX_LEN);
	fix = rcur_str(c, TEXT_MAX_LEN);
	if (rcur_end(c) == -1)
		return -1;
	return policy_refuse(po, profile, file, line, fix, "%s", what);
}

/* RECORD_POLICY opens the stream, RECORD_POLICY_END says what it held. */

static void
put_head(struct wbuf *w, const struct policy *po)
{
	wbuf_u16(w, POLICY_VERSION);
	wbuf_str(w, po->prompt);
}

static int
get_head(struct rcur *c, struct policy *po)
{
	if (rcur_u16(c) != POLICY_VERSION)
		return -1;
	po->prompt = strdup(rcur_str(c, PROMPT_MAX_LEN));
	/* nothing to lose: the receiver's table lets one of these through.
	   NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
	return po->prompt == NULL ? -1 : rcur_end(c);
}

/*
 * Of what policy_protect() added nothing is said: who receives a policy adds
 * it again. A claim with that flag is no such thing, and is sent.
 */
static int
is_own(const struct grant *g)
{
	return g->flags == GRANT_OWN && g->norigins == 0;
}

static size_t
count_sent(const struct policy *po)
{
	size_t i, n = 0;

	for (i = 0; i < po->ngrants; i++)
		n += !is_own(&po->grants[i]);
	return n;
}

/* The same of what a ceiling imposed. */
static size_t
count_profiles(const struct policy *po)
{
	size_t n = po->nprofiles;

	while (n > 0 && po->profiles[n - 1].flags == PROFILE_CEILING)
		n--;
	return n;
}

static size_t
count_rules(const struct policy *po, size_t profiles)
{
	size_t i, n = 0;

	for (i = 0; i < po->nrules; i++)
		n += po->rules[i].profile < profiles;
	return n;
}

static void
put_end(struct wbuf *w, const struct policy *po)
{
	size_t profiles = count_profiles(po);

	wbuf_u8(w, po->nrefusals > 0);
	wbuf_u32(w, (uint32_t)profiles);
	wbuf_u32(w, (uint32_t)count_sent(po));
	wbuf_u32(w, (uint32_t)po->nenv);
	wbuf_u32(w, (uint32_t)count_rules(po, profiles));
	wbuf_u32(w, (uint32_t)po->nrefusals);
	wbuf_u32(w, (uint32_t)po->unkept);
}

static int
get_end(struct rcur *c, struct policy *po)
{
	if (rcur_u8(c) != (po->nrefusals > 0) || rcur_u32(c) != po->nprofiles ||
	    rcur_u32(c) != po->ngrants || rcur_u32(c) != po->nenv ||
	    rcur_u32(c) != po->nrules || rcur_u32(c) != po->nrefusals)
		return -1;
	po->unkept = rcur_u32(c);
	if (po->unkept > 0 && po->nrefusals < REFUSALS_MAX)
		return -1;
	return rcur_end(c);
}

int
policy_send(struct sender *s, const struct policy *po)
{
	size_t i, profiles = count_profiles(po);

	put_head(sender_begin(s, RECORD_POLICY), po);
	if (sender_end(s) == -1)
		return -1;
	for (i = 0; i < profiles; i++) {
		put_profile(sender_begin(s, RECORD_PROFILE), &po->profiles[i]);
		if (sender_end(s) == -1)
			return -1;
	}
	for (i = 0; i < po->ngrants; i++) {
		if (is_own(&po->grants[i]))
			continue;
		put_grant(sender_begin(s, RECORD_GRANT), &po->grants[i]);
		if (sender_end(s) == -1)
			return -1;
	}
	for (i = 0; i < po->nenv; i++) {
		environ_put(sender_begin(s, RECORD_ENVIRON), &po->env[i]);
		if (sender_end(s) == -1)
			return -1;
	}
	for (i = 0; i < po->nrules; i++) {
		if (po->rules[i].profile >= profiles)
			continue;
		rule_put(sender_begin(s, RECORD_RULE), &po->rules[i]);
		if (sender_end(s) == -1)
			return -1;
	}
	for (i = 0; i < po->nrefusals; i++) {
		refusal_put(sender_begin(s, RECORD_REFUSAL), &po->refusals[i]);
		if (sender_end(s) == -1)
			return -1;
	}
	put_end(sender_begin(s, RECORD_POLICY_END), po);
	if (sender_end(s) == -1)
		return -1;
	return sender_flush(s);
}

int
policy_get(unsigned type, struct rcur *c, struct policy *po)
{
	switch (type) {
	case RECORD_POLICY:
		return get_head(c, po);
	case RECORD_PROFILE:
		return get_profile(c, po);
	case RECORD_GRANT:
		return get_grant(c, po);
	case RECORD_ENVIRON:
		return environ_get(c, po);
	case RECORD_RULE:
		return rule_get(c, po);
	case RECORD_REFUSAL:
		return get_refusal(c, po);
	case RECORD_POLICY_END:
		return get_end(c, po);
	default:
		return -1;
	}
}

int
policy_receive_until(
    struct receiver *r, unsigned end, policy_getter *get, struct policy *out)
{
	struct policy po;
	struct rcur c;
	unsigned type;
	int n;

	memset(&po, 0, sizeof(po));
	while ((n = receiver_next(r, &type, &c)) == 1) {
		if (get(type, &c, &po) == -1) {
			errno = EBADMSG;
			n = -1;
			break;
		}
		if (type == end) {
			n = receiver_finish(r);
			break;
		}
	}
	if (n == -1 || !record_done(&r->state)) {
		policy_free(&po);
		return -1;
	}
	*out = po;
	return 0;
}

int
policy_receive(struct receiver *r, struct policy *out)
{
	return policy_receive_until(r, RECORD_POLICY_END, policy_get, out);
}
