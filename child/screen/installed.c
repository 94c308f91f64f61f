#include <sys/wait.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child/shared/patient.h"
#include "installed.h"
#include "ipc/channel.h"
#include "ipc/limits.h"
#include "ipc/log.h"
#include "ipc/text.h"
#include "out.h"

#define REFUSAL_LEN (3 * TEXT_MAX_LEN) /* what, fix, file and name */
#define NEAR	    3		       /* letters that are wrong, at most */

/* The answer of carrel-parse, whose exit status counts as everywhere. */
void
installed_receive(int fd, pid_t parser, struct catalogue *c)
{
	struct receiver r;
	int status = 0, n, err;

	if (receiver_init(&r, fd, channel_deadline(PARSER_SECONDS),
		record_catalogue) == -1)
		fatal("out of memory");
	n = catalogue_receive(&r, c);
	err = errno;
	receiver_free(&r);
	close(fd);
	while (n == 0 && waitpid(parser, &status, 0) == -1)
		if (errno != EINTR)
			fatal("wait for carrel-parse: %s", strerror(errno));
	if (n == -1)
		fatal("what carrel-parse sent of the profiles: %s; see carrel "
		      "doctor",
		    strerror(err));
	if (status != 0)
		fatal("carrel-parse failed; see carrel doctor");
	patient_end();
}

/* The first line at or behind this item: they are in order. */
static size_t
line_of(const struct catalogue *c, size_t item)
{
	size_t lo = 0, hi = c->nlines, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (c->lines[mid].item < item)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct catalogue_line *
installed_lines(const struct installed *in, size_t item, size_t *n)
{
	size_t first = line_of(&in->c, item);

	*n = line_of(&in->c, item + 1) - first;
	return in->c.lines + first;
}

const struct catalogue_line *
installed_line(const struct installed *in, size_t item, const char *section,
    const char *key, const struct catalogue_line *from)
{
	const struct catalogue_line *l, *end;
	size_t n;

	l = installed_lines(in, item, &n);
	end = l + n;
	for (l = from != NULL ? from : l; l < end; l++)
		if (strcmp(l->section, section) == 0 &&
		    strcmp(l->key, key) == 0)
			return l;
	return NULL;
}

const struct catalogue_item *
installed_find(const struct installed *in, const char *name)
{
	const struct catalogue_item *it;
	size_t lo = 0, hi = in->c.nitems, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		it = &in->c.items[mid];
		if (it->kind < ITEM_PROFILE || strcmp(it->name, name) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	it = &in->c.items[lo];
	return lo < in->c.nitems && it->state == ITEM_GOOD &&
		       strcmp(it->name, name) == 0
		   ? it
		   : NULL;
}

static void
find_defaults(struct installed *in)
{
	const struct catalogue_line *l;
	size_t i;

	for (i = 0; i < in->c.nlines && in->ndefaults < SELECT_MAX; i++) {
		l = &in->c.lines[i];
		if ((l->flags & LINE_COUNTS) != 0 &&
		    strcmp(l->key, "defaults") == 0)
			in->defaults[in->ndefaults++] = l->value;
	}
}

int
installed_default(const struct installed *in, const char *name)
{
	size_t i;

	for (i = 0; i < in->ndefaults; i++)
		if (strcmp(in->defaults[i], name) == 0)
			return 1;
	return 0;
}

/* How many letters are to be changed, put in or left out; both are short. */
static unsigned
distance(const char *a, const char *b)
{
	unsigned row[NAME_MAX_LEN + 2], last, k;
	size_t i, j, n = strlen(b);

	if (strlen(a) > NAME_MAX_LEN + 1 || n > NAME_MAX_LEN + 1)
		return NEAR + 1;
	for (j = 0; j <= n; j++)
		row[j] = (unsigned)j;
	for (i = 1; a[i - 1] != '\0'; i++) {
		last = row[0];
		row[0] = (unsigned)i;
		for (j = 1; j <= n; j++) {
			k = last + (a[i - 1] != b[j - 1]);
			last = row[j];
			if (row[j - 1] + 1 < k)
				k = row[j - 1] + 1;
			row[j] = last + 1 < k ? last + 1 : k;
		}
	}
	return row[n];
}

const char *
installed_nearest(const struct installed *in, const char *name)
{
	const struct catalogue_item *it;
	const char *best = NULL;
	unsigned least = NEAR + 1, d;
	size_t i;

	for (i = 0; i < in->c.nitems; i++) {
		it = &in->c.items[i];
		if (it->kind != ITEM_PROFILE)
			continue;
		/* sys is @sys, whatever else is near */
		if (it->name[0] == '@' && strcmp(it->name + 1, name) == 0)
			return it->name;
		d = distance(name, it->name);
		if (d < least && d < strlen(it->name)) {
			least = d;
			best = it->name;
		}
	}
	return best;
}

/* Loudly: on standard error, whatever the screen is. */
static int
tell_faults(const struct installed *in)
{
	char text[REFUSAL_LEN];
	size_t i;

	for (i = 0; i < in->c.nfaults; i++)
		log_warn("%s",
		    refusal_text(&in->c.faults[i].refusal, text, sizeof(text)));
	return in->c.nfaults > 0;
}

/* 1 if the profile that show is for is there, in whatever state. */
static int
find_subject(struct installed *in, const char *name)
{
	const struct catalogue_item *it;
	const char *near;

	for (in->subject = 0; in->subject < in->c.nitems; in->subject++) {
		it = &in->c.items[in->subject];
		if (it->kind == ITEM_PROFILE && strcmp(it->name, name) == 0)
			return 1;
	}
	near = installed_nearest(in, name);
	if (near != NULL)
		log_warn("unknown profile \"%s\"; did you mean %s? See carrel "
			 "profile list",
		    SHOWN(name), near);
	else
		log_warn("unknown profile \"%s\"; see carrel profile list",
		    SHOWN(name));
	return 0;
}

static void
draw(const struct installed *in, const char *verb, unsigned width, int colour)
{
	struct out o;

	out_open(&o, width, colour);
	if (strcmp(verb, "list") == 0)
		installed_list(&o, in);
	else if (strcmp(verb, "tree") == 0)
		installed_tree(&o, in);
	else if (strcmp(verb, "config") == 0)
		installed_config(&o, in);
	else
		installed_show(&o, in);
	installed_faults(&o, in);
	out_close(&o);
	out_write(o.text, o.len);
	out_free(&o);
}

int
installed_run(char *const argv[6], int fd)
{
	struct installed in = {.subject = 0};
	const char *verb = argv[0];
	char *text = NULL;
	int bad;

	installed_receive(fd, (pid_t)strtol(argv[1], NULL, 10), &in.c);
	find_defaults(&in);
	if (strcmp(verb, "show") == 0 && !find_subject(&in, argv[5])) {
		catalogue_free(&in.c);
		return 1;
	}
	if (strcmp(verb, "dot") == 0)
		text = installed_dot(&in);
	else if (strcmp(argv[2], "json") == 0)
		text = installed_json(&in, verb);
	else
		draw(&in, verb, (unsigned)strtoul(argv[3], NULL, 10),
		    argv[4][0] != '\0');
	if (text != NULL)
		out_write(text, strlen(text));
	free(text);
	bad = tell_faults(&in);
	catalogue_free(&in.c);
	return bad;
}
