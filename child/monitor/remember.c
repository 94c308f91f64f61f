#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "child/shared/kept.h"
#include "child/shared/caller.h"
#include "ipc/limits.h"
#include "ipc/log.h"
#include "ipc/text.h"
#include "options.h"
#include "remember.h"
#include "seen.h"
#include "state.h"
#include "tell.h"

void
remember_warn(const struct state *st, const char *digest, const char *name,
    const char *file)
{
	if (state_flagged(st, digest))
		log_warn("profile %s (%s) was violated before, in this very "
			 "version; see: carrel violations",
		    name, file);
}

/*
 * Told in the end: a payload that shares standard error could fill it, and keep
 * this process from what it has to do about the violation.
 */
static void
no_state(struct state *st)
{
	if (st->err == 0)
		st->err = errno;
}

void
remember_end(const struct state *st)
{
	if (st->err != 0)
		log_warn("violations cannot be kept in %s: %s; make it a "
			 "directory of your own that nobody else may write",
		    st->path, strerror(st->err));
}

static void
command_line(const struct tell *t, char *buf, size_t len)
{
	char **v = options_words(t->options, t->caller->shell);
	size_t i;

	buf[0] = '\0';
	for (i = 0; v != NULL && v[i] != NULL; i++)
		if (text_add(buf, len, "%s%s", i > 0 ? " " : "", SHOWN(v[i])) ==
		    -1)
			break;
	free(v);
}

/* With bare the file shall be there even if nothing can be written to it. */
static void
save(struct state *st, const char *sub, const char *name, size_t max,
    const struct kept *k, int bare)
{
	struct state_file f;
	int good;

	if (state_begin(st, sub, name, max, &f) == -1) {
		no_state(st);
		return;
	}
	if (!(good = kept_write(f.fd, k) == 0)) {
		no_state(st);
		good = bare && ftruncate(f.fd, 0) == 0;
	}
	if (state_end(&f, good) == -1)
		no_state(st);
}

static void
keep_begin(const struct tell *t, struct kept *k, struct kept_profile *p,
    char *command, size_t len)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	command_line(t, command, len);
	memset(k, 0, sizeof(*k));
	k->run = t->run;
	k->time = (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
	k->command = command;
	k->profiles = p;
}

static void
keep_profile(const struct tell *t, const struct seen_list *l,
    struct kept_profile *to, size_t i)
{
	const struct tell_profile *p = &t->profiles[i];
	uint64_t n = 0;
	size_t k;

	for (k = 0; k < l->n; k++)
		if (tell_charges(t, &l->list[k].e, i))
			n += l->list[k].times;
	to->name = p->name;
	to->file = p->file;
	to->digest = p->digest;
	to->layer = p->layer;
	to->times = n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

/* At the first one already: it stays if this process is killed. */
void
remember_flag(struct state *st, struct tell *t, const struct seen_list *l,
    const struct event *e)
{
	char command[KEPT_COMMAND_MAX];
	struct kept_profile p;
	struct tell_profile *pr;
	struct kept k;
	size_t i;

	for (i = 0; i < t->nprofiles; i++) {
		pr = &t->profiles[i];
		if (pr->flagged || !tell_charges(t, e, i))
			continue;
		pr->flagged = 1;
		keep_begin(t, &k, &p, command, sizeof(command));
		keep_profile(t, l, &p, i);
		k.nprofiles = 1;
		/* who fills the disk first shall not go without a flag */
		save(st, "flagged", p.digest, STATE_FLAGS_MAX, &k, 1);
	}
}

/* 128 runs of 256 events with whole paths would be 160 MB. */
static const char *
short_of(char buf[KEPT_RESOURCE_MAX + 1], const char *s)
{
	snprintf(buf, KEPT_RESOURCE_MAX + 1, "%s", s);
	if (strlen(s) > KEPT_RESOURCE_MAX)
		strcpy(buf + KEPT_RESOURCE_MAX - 3, "...");
	return buf;
}

/* Points into static memory: one process has one run. */
static void
keep_run(
    const struct tell *t, const struct seen_list *l, int code, struct kept *k)
{
	static struct event events[EVENTS_MAX];
	static char resource[EVENTS_MAX][KEPT_RESOURCE_MAX + 1];
	static struct kept_profile profiles[PROFILES_MAX];
	static char command[KEPT_COMMAND_MAX];
	size_t i;

	keep_begin(t, k, profiles, command, sizeof(command));
	for (i = 0; i < t->nprofiles; i++)
		keep_profile(t, l, &profiles[i], i);
	for (i = 0; i < l->n; i++) {
		events[i] = l->list[i].e;
		events[i].resource = short_of(resource[i], events[i].resource);
		events[i].count = l->list[i].times > UINT32_MAX
				      ? UINT32_MAX
				      : (uint32_t)l->list[i].times;
	}
	k->nprofiles = t->nprofiles;
	k->events = events;
	k->nevents = l->n;
	k->violations = l->times;
	k->lost = l->lost;
	k->code = (uint32_t)code;
}

void
remember_run(
    struct state *st, const struct tell *t, const struct seen_list *l, int code)
{
	struct kept k;

	keep_run(t, l, code, &k);
	if (st->err == 0)
		save(st, "runs", t->run, STATE_RUNS_MAX, &k, 0);
}

int
remember_write(
    int fd, const struct tell *t, const struct seen_list *l, int code)
{
	struct kept k;

	keep_run(t, l, code, &k);
	return kept_write(fd, &k);
}
