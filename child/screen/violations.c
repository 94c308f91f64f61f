#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "child/shared/advice.h"
#include "child/shared/catalogue.h"
#include "ipc/limits.h"
#include "ipc/log.h"
#include "ipc/policy.h"
#include "ipc/sha256.h"
#include "out.h"
#include "violations.h"

#define DIGEST_SHOWN  12 /* digits */
#define ALLOWED_SHOWN 60 /* lines of profiles, of one run */
#define LINES_SHOWN   5	 /* of the events of a run in a list */

char *
violations_time(uint64_t ms, char buf[VIOLATIONS_TIME_LEN], int utc)
{
	time_t t = (time_t)(ms / 1000);
	struct tm tm, *p;

	p = utc ? gmtime_r(&t, &tm) : localtime_r(&t, &tm);
	if (p == NULL ||
	    strftime(buf, VIOLATIONS_TIME_LEN,
		utc ? "%Y-%m-%dT%H:%M:%SZ" : "%Y-%m-%d %H:%M:%S", &tm) == 0)
		strcpy(buf, "?");
	return buf;
}

/* The path is the record's, and says no more than whether it is the same. */
enum violations_now
violations_now(const struct kept_file *f)
{
	char data[8192], hex[SHA256_HEX + 1];
	struct sha256 sum;
	struct stat st;
	ssize_t n = -1;
	size_t len = 0;
	int fd;

	if (f->data == NULL)
		return NOW_UNKNOWN;
	fd = open(f->kept.profiles[0].file,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd == -1)
		return NOW_UNKNOWN;
	sha256_init(&sum);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		while (len <= FILE_MAX_LEN &&
		       (n = read(fd, data, sizeof(data))) > 0) {
			sha256_add(&sum, data, (size_t)n);
			len += (size_t)n;
		}
	close(fd);
	if (n != 0)
		return NOW_UNKNOWN;
	sha256_end(&sum, hex);
	return strcmp(hex, f->name) == 0 ? NOW_SAME : NOW_OTHER;
}

/* A flag is of one profile, whose digest is its name. */
static void
judge_flags(struct kept_dir *d)
{
	struct kept_file *f;
	size_t i;

	for (i = 0; i < d->n; i++) {
		f = &d->files[i];
		if (f->data == NULL ||
		    (f->kept.nprofiles == 1 &&
			strcmp(f->kept.profiles[0].digest, f->name) == 0))
			continue;
		kept_free(&f->kept);
		free(f->data);
		f->data = NULL;
		d->unread++;
	}
}

static void
flag_row(struct out *o, const struct kept_file *f)
{
	static const char *const marks[] = {"<- the profile cannot be read",
	    "<- still this version: runs warn", "changed since"};
	struct cell left = {0}, right = {0};
	char when[VIOLATIONS_TIME_LEN];

	if (f->data == NULL) {
		cell_addf(&left, "? %.*s", DIGEST_SHOWN, f->name);
		out_row(o, "?", &left, &right, "<- no record can be read");
		return;
	}
	cell_add(&left, f->kept.profiles[0].name);
	cell_addf(&left, " %.*s", DIGEST_SHOWN, f->name);
	cell_add(&right, violations_time(f->kept.time, when, 0));
	out_row(o, policy_layer(f->kept.profiles[0].layer), &left, &right,
	    marks[violations_now(f)]);
	cell_quote(&left, f->kept.profiles[0].file);
	out_note(o, &left);
	cell_addf(&left, "run %s", f->kept.run);
	out_note(o, &left);
}

static void
event_row(struct out *o, const struct kept *k, const struct event *e)
{
	struct cell left = {0}, right = {0};
	char name[EVENT_ERRNO_LEN], fix[ADVICE_MAX];

	cell_addf(&left, "%s ", e->action);
	cell_quote(&left, e->resource);
	if (e->err != 0)
		cell_addf(&left, " (%s)", event_errno(e->err, name));
	cell_addf(
	    &left, ", %u time%s", (unsigned)e->count, e->count == 1 ? "" : "s");
	cell_add(&right, e->rule[0] != '\0' ? e->rule : "no match");
	if (e->profile != EVENT_NO_PROFILE) {
		cell_addf(&right, " of %s", k->profiles[e->profile].name);
		if (e->line != 0)
			cell_addf(&right, ":%u", (unsigned)e->line);
	}
	out_row(o, event_surface(e->surface), &left, &right, "");
	if (advice_for(e, fix) == NULL)
		return;
	cell_add(&left, "if that is meant, add to a profile: ");
	cell_add(&left, fix);
	out_note(o, &left);
}

static void
note_more(struct out *o, unsigned long long n, const char *what)
{
	struct cell c = {0};

	if (n == 0)
		return;
	cell_addf(&c, "and %llu %s", n, what);
	out_note(o, &c);
}

static void
run_rows(struct out *o, const struct kept *k, size_t max)
{
	struct cell left = {0}, right = {0};
	char when[VIOLATIONS_TIME_LEN];
	size_t i;

	cell_addf(&left, "%s", k->run);
	cell_addf(&right, "%s, exit %u", violations_time(k->time, when, 0),
	    (unsigned)k->code);
	out_row(o, "run", &left, &right, "");
	cell_quote(&left, k->command);
	out_note(o, &left);
	for (i = 0; i < k->nevents && i < max; i++)
		event_row(o, k, &k->events[i]);
	note_more(o, k->nevents - i, "others: --run shows them");
	note_more(o, k->lost, "of which no more is known");
}

static void
charged_rows(struct out *o, const struct kept *k)
{
	struct cell left = {0}, right = {0};
	size_t i;

	for (i = 0; i < k->nprofiles; i++) {
		cell_add(&left, k->profiles[i].name);
		cell_addf(&left, " %.*s", DIGEST_SHOWN, k->profiles[i].digest);
		cell_addf(
		    &right, "charged with %u", (unsigned)k->profiles[i].times);
		out_row(
		    o, policy_layer(k->profiles[i].layer), &left, &right, "");
	}
}

static void
draw_list(const struct kept_dir *flagged, const struct kept_dir *runs)
{
	struct out o;
	size_t i;

	out_open(&o, 0, 0);
	out_block(&o, "FLAGGED",
	    flagged->n == 0 ? "no version of a profile was violated"
			    : "versions of profiles that were violated");
	for (i = 0; i < flagged->n; i++)
		flag_row(&o, &flagged->files[i]);
	out_block(&o, "RUNS", runs->n == 0 ? "none is known" : "");
	for (i = 0; i < runs->n; i++)
		if (runs->files[i].data != NULL)
			run_rows(&o, &runs->files[i].kept, LINES_SHOWN);
	out_close(&o);
	out_write(o.text, o.len);
	out_free(&o);
}

const struct catalogue_item *
violations_version(const struct catalogue *c, const struct kept_profile *p)
{
	size_t i;

	for (i = 0; i < c->nitems; i++)
		if (c->items[i].kind == ITEM_PROFILE &&
		    strcmp(c->items[i].digest, p->digest) == 0 &&
		    strcmp(c->items[i].name, p->name) == 0)
			return &c->items[i];
	return NULL;
}

/* What makes something visible, reachable or possible, or bounds it. */
int
violations_grants(const struct catalogue_line *l)
{
	static const char *const sections[] = {
	    "fs", "egress", "exec", "limits", "environ.inherit"};
	size_t i;

	for (i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		if (l->key[0] != '\0' && strcmp(sections[i], l->section) == 0)
			return 1;
	return 0;
}

/* What one of the profiles allowed. */
static void
allowed_rows(struct out *o, const struct catalogue *c,
    const struct kept_profile *p, size_t *shown)
{
	const struct catalogue_item *it = violations_version(c, p);
	struct cell left = {0}, right = {0};
	const struct catalogue_line *l;
	size_t i;

	if (it == NULL) {
		cell_addf(&left,
		    "%s: it is not installed in that version any more",
		    p->name);
		out_row(o, "?", &left, &right, "");
		return;
	}
	for (i = 0; i < c->nlines; i++) {
		l = &c->lines[i];
		if (l->item != (size_t)(it - c->items) || !violations_grants(l))
			continue;
		if (++*shown > ALLOWED_SHOWN)
			continue;
		cell_addf(&left, "%s = ", l->key);
		cell_scalar(&left, l->value);
		cell_addf(&right, "%s:%u", p->name, (unsigned)l->number);
		out_row(o, l->section, &left, &right, "");
	}
}

static void
draw_one(const struct kept *k, const struct catalogue *c)
{
	size_t i, shown = 0;
	struct out o;

	out_open(&o, 0, 0);
	out_block(&o, "RUN", "and what was refused in it");
	run_rows(&o, k, k->nevents);
	out_block(&o, "PROFILES", k->nprofiles == 0 ? "none" : "");
	charged_rows(&o, k);
	out_block(&o, "ALLOWED", "by the lines of these profiles");
	for (i = 0; i < k->nprofiles; i++)
		allowed_rows(&o, c, &k->profiles[i], &shown);
	note_more(&o, shown > ALLOWED_SHOWN ? shown - ALLOWED_SHOWN : 0,
	    "lines: carrel profile show NAME has them");
	out_close(&o);
	out_write(o.text, o.len);
	out_free(&o);
}

/* What a person does not see is said on standard error, too. */
static int
tell_unread(const struct kept_dir *d, const char *dir, const char *sub)
{
	if (d->err != 0)
		log_warn("%s/%s: %s; it is no directory of carrel's, remove it",
		    dir, sub, strerror(d->err));
	else if (d->unread > 0)
		log_warn("%s/%s: %zu files are no records of this version of "
			 "carrel, or too many; remove them",
		    dir, sub, d->unread);
	return d->err != 0 || d->unread > 0;
}

const struct kept *
violations_find(struct kept_dir *runs, const char *dir, const char *run)
{
	kept_dir_load(runs, dir, "runs", KEPT_RUN_HEX, run);
	if (runs->n == 1 && runs->files[0].data != NULL &&
	    strcmp(runs->files[0].kept.run, run) == 0)
		return &runs->files[0].kept;
	if (tell_unread(runs, dir, "runs") == 0)
		log_warn("no violations of run \"%s\" are kept; see: carrel "
			 "violations",
		    run);
	kept_dir_free(runs);
	return NULL;
}

int
violations_one(
    const char *dir, int json, const char *run, const struct catalogue *c)
{
	struct kept_dir runs;
	const struct kept *k = violations_find(&runs, dir, run);
	char *text;

	if (k == NULL)
		return 1;
	if (json) {
		text = violations_json_one(k, c);
		out_write(text, strlen(text));
		free(text);
	} else
		draw_one(k, c);
	kept_dir_free(&runs);
	return 0;
}

int
violations_run(const char *dir, int json)
{
	struct kept_dir flagged, runs;
	char *text;
	int bad;

	kept_dir_load(&flagged, dir, "flagged", SHA256_HEX, NULL);
	judge_flags(&flagged);
	kept_dir_load(&runs, dir, "runs", KEPT_RUN_HEX, NULL);
	if (json) {
		text = violations_json_list(&flagged, &runs);
		out_write(text, strlen(text));
		free(text);
	} else
		draw_list(&flagged, &runs);
	bad = tell_unread(&flagged, dir, "flagged");
	bad |= tell_unread(&runs, dir, "runs");
	kept_dir_free(&flagged);
	kept_dir_free(&runs);
	return bad;
}
