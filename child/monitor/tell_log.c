#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "child/shared/caller.h"
#include "ipc/channel.h"
#include "ipc/limits.h"
#include "ipc/text.h"
#include "options.h"
#include "tell.h"

/* Records for the host's log. */

int
tell_charges(const struct tell *t, const struct event *e, size_t i)
{
	unsigned bit = 1U << e->surface;

	/* that a shipped default grants no more is for those who know of it */
	if (e->profile < t->nprofiles &&
	    (e->surface != EVENT_FS ||
		(t->profiles[e->profile].charged & bit) != 0))
		return e->profile == i;
	return (t->profiles[i].charged & bit) != 0;
}

const char *
tell_rule_profile(const struct tell *t, const struct event *e)
{
	return e->profile < t->nprofiles ? t->profiles[e->profile].name : NULL;
}

uint64_t
tell_ms(const struct timeval *tv)
{
	return (uint64_t)tv->tv_sec * 1000 + (uint64_t)tv->tv_usec / 1000;
}

/* Names of profiles with commas between, and digests if they are asked for. */
static void
audit_profiles(
    const struct tell *t, struct audit_line *l, const struct event *e)
{
	char names[AUDIT_VALUE_MAX] = "";
	struct text_list list = {.buf = names, .cap = sizeof(names)};
	size_t i, n = 0;

	for (i = 0; i < t->nprofiles; i++) {
		if (e != NULL && !tell_charges(t, e, i))
			continue;
		text_list_add(&list, "%s%s%s%s", n++ > 0 ? "," : "",
		    t->profiles[i].name, e != NULL ? ":" : "",
		    e != NULL ? t->profiles[i].digest : "");
	}
	text_list_end(&list);
	audit_text(l, "profiles", names);
}

int
tell_log_begin(struct tell *t, const char *name, int code, int wait)
{
	const struct caller *c = t->caller;
	char **words = options_words(t->options, c != NULL ? c->shell : NULL);
	const struct options *o = t->options;
	struct audit_line l;

	audit_begin(&l, code == 0 ? AUDIT_INFO : AUDIT_WARNING, name);
	audit_text(&l, "run", t->run);
	audit_text(&l, "mode", t->audit.recorder ? "hosted" : "user");
	if (c != NULL)
		audit_text(&l, "user", c->user);
	audit_number(&l, "uid", t->uid);
	audit_text(&l, "tty", t->tty[0] != '\0' ? t->tty : "none");
	if (code == 0)
		audit_text(&l, "policy", t->policy);
	if (o->without_landlock || o->allow_ptrace)
		audit_text(&l, "weakened",
		    !o->allow_ptrace	  ? "landlock"
		    : o->without_landlock ? "landlock,ptrace"
					  : "ptrace");
	if (code != 0)
		audit_number(&l, "code", (uint64_t)code);
	else
		audit_profiles(t, &l, NULL);
	if (c != NULL)
		audit_text(&l, "directory", c->cwd);
	audit_words(&l, "command", words);
	free(words);
	return audit_send(&t->audit, &l, wait);
}

/* A burst, and then so many a second; 1 if there may be one now. */
static int
take_token(struct tell *t)
{
	int64_t now = channel_now(), n = (now - t->since) / TELL_MS;

	if (n > 0) {
		t->since += n * TELL_MS;
		t->tokens = n >= TELL_BURST - (int64_t)t->tokens
				? TELL_BURST
				: t->tokens + (unsigned)n;
	}
	if (t->tokens == 0)
		return 0;
	t->tokens--;
	return 1;
}

int
tell_log_violation(
    struct tell *t, const struct event *e, uint64_t count, int wait)
{
	char name[EVENT_ERRNO_LEN];
	struct audit_line l;

	if (!take_token(t)) {
		t->untold++;
		return 0;
	}
	audit_begin(&l, AUDIT_WARNING, "violation");
	audit_text(&l, "run", t->run);
	audit_text(&l, "user", t->caller->user);
	audit_number(&l, "uid", t->uid);
	audit_text(&l, "surface", event_surface(e->surface));
	audit_text(&l, "action", e->action);
	if (e->err != 0)
		audit_text(&l, "error", event_errno(e->err, name));
	audit_text(&l, "rule", e->rule[0] != '\0' ? e->rule : "no match");
	if (tell_rule_profile(t, e) != NULL)
		audit_text(&l, "rule-profile", tell_rule_profile(t, e));
	audit_number(&l, "count", count);
	audit_profiles(t, &l, e);
	audit_text(&l, "resource", e->resource);
	return audit_send(&t->audit, &l, wait);
}

int
tell_log_note(struct tell *t, const struct event *e, uint64_t count, int wait)
{
	char name[EVENT_ERRNO_LEN];
	struct audit_line l;

	audit_begin(&l, AUDIT_INFO, "unreached");
	audit_text(&l, "run", t->run);
	audit_text(&l, "user", t->caller->user);
	audit_number(&l, "uid", t->uid);
	audit_text(&l, "surface", event_surface(e->surface));
	audit_text(&l, "action", e->action);
	audit_text(&l, "error", event_errno(e->err, name));
	audit_text(&l, "rule", e->rule[0] != '\0' ? e->rule : "no match");
	audit_number(&l, "count", count);
	audit_text(&l, "resource", e->resource);
	return audit_send(&t->audit, &l, wait);
}

int
tell_log_lost(struct tell *t, uint64_t count, int wait)
{
	struct audit_line l;

	audit_begin(&l, AUDIT_WARNING, "lost");
	audit_text(&l, "run", t->run);
	audit_number(&l, "count", count);
	return audit_send(&t->audit, &l, wait);
}

int
tell_log_end(struct tell *t, const struct tell_end *end, int wait)
{
	const struct rusage *u = end->usage;
	struct audit_line l;

	audit_begin(&l, AUDIT_INFO, "end");
	audit_text(&l, "run", t->run);
	audit_text(&l, "user", t->caller->user);
	audit_number(&l, "uid", t->uid);
	audit_text(&l, "by", end->by_payload ? "payload" : "carrel");
	audit_number(&l, "code", (uint64_t)end->code);
	if (end->signal != 0)
		audit_number(&l, "signal", (uint64_t)end->signal);
	audit_number(&l, "violations", end->violations);
	audit_number(&l, "lost", end->lost);
	audit_number(&l, "untold", t->untold);
	audit_number(&l, "unsent", t->audit.lost);
	audit_number(&l, "wall-ms", (uint64_t)end->wall);
	audit_number(&l, "user-ms", tell_ms(&u->ru_utime));
	audit_number(&l, "system-ms", tell_ms(&u->ru_stime));
	audit_number(&l, "memory-kib", (uint64_t)u->ru_maxrss);
	return audit_send(&t->audit, &l, wait);
}
