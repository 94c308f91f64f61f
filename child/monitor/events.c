#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "account.h"
#include "events.h"
#include "child/shared/caller.h"
#include "ipc/channel.h"
#include "ipc/limits.h"
#include "ipc/log.h"
#include "ipc/policy.h"
#include "learn.h"
#include "options.h"
#include "remember.h"
#include "seen.h"
#include "state.h"
#include "summary.h"
#include "tell.h"

#define PATIENCE_MS  500  /* for the log, of all of a run */
#define REQUIRED_MS  2000 /* for one record, with --require-audit */
#define NOTES_LOGGED 16	  /* in the log, of all of a run */
#define GET_DEVICE   _IOR('T', 0x32, unsigned) /* TIOCGDEV, ioctl_tty(2) */
#define PTS_MAJOR    136 /* to 143: Documentation/admin-guide/devices.txt */
#define TTY_MAJOR    4

/* One run has one sink; exit(3) passes no argument. */
static struct {
	pid_t owner; /* a fork's exit is not the end; 0: not opened */
	int begun;   /* "start" was told */
	unsigned surfaces;
	int64_t began;
	struct tell t;
	struct state state;
	struct seen_list seen;
	struct seen_list notes; /* no violations: EVENT_NOTE */
	struct seen_list aside; /* --uses: nobody asked for, and not counted */
} ev = {.t = {.on = VIOLATION_REPORT,
	    .audit = {.fd = -1},
	    .file = {.fd = -1, .dir = -1}}};

/* The kernel's own number of the terminal: no name is looked up. */
static void
name_tty(int fd, char *buf, size_t len)
{
	unsigned dev, major, minor;

	if (fd == -1)
		return;
	if (ioctl(fd, GET_DEVICE, &dev) == -1) {
		snprintf(buf, len, "unknown");
		return;
	}
	major = dev >> 8 & 0xfff;
	minor = (dev & 0xff) | (dev >> 12 & 0xfff00);
	if (major >= PTS_MAJOR && major < PTS_MAJOR + 8)
		snprintf(buf, len, "pts/%u", (major - PTS_MAJOR) << 20 | minor);
	else if (major == TTY_MAJOR && minor < 64)
		snprintf(buf, len, "tty%u", minor);
	else
		snprintf(buf, len, "%u:%u", major, minor);
}

static void
at_exit(void)
{
	struct rusage none;
	struct events_end end = {.code = EXIT_CARREL, .usage = &none};

	memset(&none, 0, sizeof(none));
	if (ev.owner == getpid())
		(void)events_end(&end);
}

static void
open_audit(int required, int recorder)
{
	if (audit_open(&ev.t.audit, recorder) == -1 && required)
		fatal("--require-audit: /dev/log: %s; start the host's log "
		      "daemon (rsyslog, or journald), or leave the option out",
		    strerror(errno));
}

void
events_open(
    const struct options *o, uid_t uid, int tty, const char *run, int recorder)
{
	char why[TEXT_MAX_LEN];

	ev.t.options = o;
	ev.t.run = run;
	ev.t.tokens = TELL_BURST;
	ev.began = ev.t.since = channel_now();
	name_tty(tty, ev.t.tty, sizeof(ev.t.tty));
	ev.state.run = run;
	ev.t.uid = ev.state.uid = uid;
	ev.t.profiles = calloc(PROFILES_MAX, sizeof(*ev.t.profiles));
	if (ev.t.profiles == NULL || atexit(at_exit) != 0)
		fatal("out of memory");
	open_audit(o->require_audit, recorder);
	ev.owner = getpid();
	if (o->events == NULL)
		return;
	if ((ev.t.line = malloc(TELL_LINE_MAX)) == NULL)
		fatal("out of memory");
	if (events_file_open(&ev.t.file, o->events, uid, why, sizeof(why)) ==
	    -1)
		fatal("%s", why);
}

void
events_know(const struct start *st, const struct caller *c)
{
	ev.t.caller = c;
	ev.state.path = account_state_dir(st, c);
}

void
events_forget(void)
{
	if (ev.t.audit.fd != -1)
		close(ev.t.audit.fd);
	if (ev.t.file.fd != -1)
		close(ev.t.file.fd);
	if (ev.t.file.dir != -1)
		close(ev.t.file.dir);
}

const char *
events_path(int named)
{
	if (ev.t.file.fd == -1)
		return NULL;
	return named ? ev.t.file.named : ev.t.file.path;
}

int
events_audited(void)
{
	return ev.t.file.fd != -1 || ev.t.audit.there;
}

/*
 * How long the log may keep this process waiting: a burst is more than a
 * socket holds, and one that stands still is given up.
 */
static int
patience(void)
{
	if (ev.t.options->require_audit)
		return REQUIRED_MS;
	return ev.t.audit.waited < PATIENCE_MS ? PATIENCE_MS - ev.t.audit.waited
					       : 0;
}

static enum events_verdict
verdict(int kill)
{
	if (ev.t.options->require_audit && ev.t.audit.lost > 0)
		return EVENTS_BROKEN;
	return kill ? EVENTS_KILL : EVENTS_GO_ON;
}

int
events_profile(unsigned layer, unsigned charged, const char *text)
{
	struct tell_profile *p = &ev.t.profiles[ev.t.nprofiles];
	const char *name = text + SHA256_HEX + 1, *file = strchr(text, '/');

	if (ev.t.nprofiles == PROFILES_MAX || layer < LAYER_SHIPPED ||
	    layer > LAYER_LAST || strlen(text) < SHA256_HEX + 2 ||
	    text[SHA256_HEX] != ' ' || file == NULL || file < name + 2 ||
	    file - name > NAME_MAX_LEN + 2)
		return -1;
	memcpy(p->digest, text, SHA256_HEX);
	p->name = strndup(name, (size_t)(file - name - 1));
	p->file = strdup(file);
	if (!sha256_is_hex(p->digest) || p->name == NULL || p->file == NULL)
		return -1;
	p->layer = (uint8_t)layer;
	p->charged = (uint8_t)charged;
	ev.t.nprofiles++;
	remember_warn(&ev.state, p->digest, p->name, p->file);
	return 0;
}

static void
begin(const char *name, int code)
{
	if (ev.t.file.fd != -1 && ev.t.caller != NULL)
		(void)tell_file_begin(&ev.t, name, code);
	if (ev.t.audit.there)
		(void)tell_log_begin(&ev.t, name, code, patience());
}

enum events_verdict
events_policy(enum on_violation on, unsigned reports, const char *digest)
{
	ev.t.on = on;
	ev.t.reports = (uint8_t)reports;
	if (sha256_is_hex(digest))
		strcpy(ev.t.policy, digest);
	ev.begun = 1;
	begin("start", 0);
	return verdict(0);
}

static void
tell(struct seen *s, uint64_t count)
{
	s->told += count;
	if (ev.t.file.fd != -1)
		(void)tell_file_violation(&ev.t, &s->e, count);
	if (ev.t.audit.there)
		(void)tell_log_violation(&ev.t, &s->e, count, patience());
}

/* What is allowed and did not work: nobody is to blame, and nothing ends. */
static void
take_note(const struct event *e)
{
	struct seen *s = seen_add(&ev.notes, e);

	if (s == NULL || s->told > 0)
		return;
	s->told = s->times;
	if (ev.t.file.fd != -1)
		(void)tell_file_note(&ev.t, &s->e, s->times);
	if (ev.t.audit.there && ev.notes.n <= NOTES_LOGGED)
		(void)tell_log_note(&ev.t, &s->e, s->times, patience());
}

/*
 * --uses, which the file alone is told of: what is allowed and used, and what
 * is refused where no profile reports it. 1 if nobody else has to know.
 */
static int
take_aside(const struct event *e)
{
	unsigned asked = e->surface == EVENT_EXEC ? REPORT_EXEC : REPORT_FS;
	struct seen *s;

	if (event_used(e)) {
		(void)tell_file_use(&ev.t, e);
		return 1;
	}
	if ((e->surface != EVENT_EXEC && e->surface != EVENT_FS) ||
	    (e->flags & EVENT_LOST) != 0 || (ev.t.reports & 1U << asked) != 0)
		return 0;
	s = seen_add(&ev.aside, e);
	if (s != NULL && s->told == 0) {
		s->told = s->times;
		(void)tell_file_violation(&ev.t, &s->e, s->times);
	}
	return 1;
}

enum events_verdict
events_take(const struct event *e)
{
	struct seen *s;

	if (ev.t.options->learn && learn_take(e, ev.t.reports))
		return verdict(0);
	if (event_used(e) && ev.t.options->nuses == 0)
		return verdict(0);
	if (ev.t.options->nuses > 0 && take_aside(e))
		return verdict(0);
	if ((e->flags & EVENT_NOTE) != 0) {
		take_note(e);
		return verdict(0);
	}
	s = seen_add(&ev.seen, e);

	ev.surfaces |= 1U << e->surface;
	if (s != NULL && s->told == 0) {
		tell(s, s->times);
		remember_flag(&ev.state, &ev.t, &ev.seen, &s->e);
	}
	return verdict(ev.t.on == VIOLATION_KILL);
}

int
events_keep(int fd, const struct seen_list *l, int code)
{
	return remember_write(fd, &ev.t, l, code);
}

uint64_t
events_times(void)
{
	return ev.seen.times;
}

unsigned
events_surfaces(void)
{
	return ev.surfaces;
}

/* What nobody will find where he looks for it. */
static void
tell_unwritten(void)
{
	if (ev.t.file.lost > 0)
		log_warn("--events %s: %s; %llu lines are missing",
		    ev.t.file.path, strerror(ev.t.file.err),
		    (unsigned long long)ev.t.file.lost);
	if (ev.t.audit.lost > 0)
		log_warn("/dev/log: %s; %llu records are missing",
		    strerror(ev.t.audit.err),
		    (unsigned long long)ev.t.audit.lost);
	remember_end(&ev.state);
}

/*
 * The repeated ones, and how it ended: first where the run may not be without,
 * since it is another end if that is not told. Returns the code that it has.
 */
static int
finish(const struct events_end *end, int code, int by_payload)
{
	struct tell_end te = {.by_payload = by_payload,
	    .code = code,
	    .signal = by_payload ? end->signal : 0,
	    .violations = ev.seen.times,
	    .lost = ev.seen.lost,
	    .wall = channel_now() - ev.began,
	    .usage = end->usage};
	size_t i;

	for (i = 0; i < ev.seen.n; i++)
		if (ev.seen.list[i].told < ev.seen.list[i].times)
			tell(&ev.seen.list[i],
			    ev.seen.list[i].times - ev.seen.list[i].told);
	for (i = 0; i < ev.notes.n && ev.t.file.fd != -1; i++)
		if (ev.notes.list[i].told < ev.notes.list[i].times)
			(void)tell_file_note(&ev.t, &ev.notes.list[i].e,
			    ev.notes.list[i].times - ev.notes.list[i].told);
	if (ev.t.audit.there) {
		if (ev.seen.lost > 0)
			(void)tell_log_lost(&ev.t, ev.seen.lost, patience());
		(void)tell_log_end(&ev.t, &te, patience());
	}
	if (verdict(0) == EVENTS_BROKEN) {
		te.code = EXIT_CARREL;
		te.by_payload = te.signal = 0;
	}
	if (ev.t.file.fd != -1) {
		if (ev.seen.lost > 0)
			(void)tell_file_lost(&ev.t, ev.seen.lost);
		(void)tell_file_end(&ev.t, &te);
	}
	return te.code;
}

int
events_end(const struct events_end *end)
{
	int code = end->code, mine = end->by_payload;

	ev.owner = 0; /* it ends once */
	if (ev.seen.times > 0 && ev.t.on >= VIOLATION_FAIL &&
	    (end->by_payload || end->code != EXIT_CARREL)) {
		code = EVENTS_EXIT;
		mine = 0;
	}
	if (ev.begun)
		code = finish(end, code, mine);
	else
		begin("refused", code);
	if (ev.seen.times > 0) {
		remember_run(&ev.state, &ev.t, &ev.seen, code);
		summary_violations(
		    &ev.t, &ev.seen, code == EVENTS_EXIT && !mine);
	}
	if (ev.notes.times > 0 && (code != 0 || ev.t.options->verbose))
		summary_notes(&ev.notes);
	if (verdict(0) == EVENTS_BROKEN)
		code = EXIT_CARREL;
	/* what was refused leaves nothing behind */
	events_file_close(
	    &ev.t.file, !end->started && end->code == EXIT_CARREL);
	tell_unwritten();
	audit_close(&ev.t.audit);
	seen_free(&ev.seen);
	seen_free(&ev.notes);
	seen_free(&ev.aside);
	return code;
}
